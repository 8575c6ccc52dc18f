"""Tool calls paired with their results as both are met: blocks in, `ToolCall` rows out (section 12.1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from sessionlab.formats._values import compact_sorted
from sessionlab.formats.mecha.marks import verdict
from sessionlab.formats.mecha.wire import ToolResult, ToolUse
from sessionlab.tables import ToolCall


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A call that waits for its result; ``order`` counts the calls of the transcript."""

    order: int
    seq: int
    line: int
    ordinal: int
    call_id: str
    name: str
    arguments: str | None
    run: int
    turn: int


class Calls:
    """The calls of a transcript that wait for their results.

    A result goes to the first waiting call of its id; calls may repeat an id. A call that is never answered waits
    until the end of the file.

    Attributes:
        batch: number of the next batch of results, 0-based.
    """

    def __init__(self, session_id: str, *, arguments: bool) -> None:
        """No call waits; ``arguments``: whether the rows are to hold them."""
        self.batch = 0
        self._session_id = session_id
        self._arguments = arguments
        self._waiting: dict[str, Asked | deque[Asked]] = {}  # a queue only where an id repeats
        self._order = 0
        self._seen: set[str] = set()

    def was_asked(self, call_id: str) -> bool:
        """Whether any call of this id was met."""
        return call_id in self._seen

    def ask(self, use: ToolUse, seq: int, line: int, ordinal: int, run: int, turn: int) -> None:
        """A call is made; its row waits for the result."""
        call_id = use.id
        arguments = compact_sorted(use.input) if self._arguments else None
        asked = Asked(self._order, seq, line, ordinal, call_id, use.name, arguments, run, turn)
        self._order += 1
        self._seen.add(call_id)
        before = self._waiting.setdefault(call_id, asked)
        if before is asked:
            return
        if isinstance(before, deque):
            before.append(asked)
        else:
            self._waiting[call_id] = deque((before, asked))

    def answer(
        self, result: ToolResult, seq: int, message_ix: int, block: int, external: bool | None
    ) -> ToolCall | None:
        """The row of the call this result answers; None when no call of its id waits."""
        asked = self._waiting.pop(result.tool_use_id, None)
        if asked is None:
            return None
        if isinstance(asked, deque):
            queue, asked = asked, asked.popleft()
            if queue:
                self._waiting[result.tool_use_id] = queue
        refused_by = reason = None
        status = "ok"
        if result.is_error:
            status, refused_by, reason = verdict(result.content)
        return ToolCall(
            session_id=self._session_id,
            seq=asked.seq,
            line=asked.line,
            ordinal=asked.ordinal,
            result_seq=seq,
            call_id=asked.call_id,
            run=asked.run,
            turn=asked.turn,
            batch=self.batch,
            name=asked.name,
            caller="model",
            arguments=asked.arguments,
            output_pool="message",
            output_ix=message_ix,
            output_block=block,
            status=status,
            refused_by=refused_by,
            reason=reason,
            external=external,
        )

    def unanswered(self, moved_on_seq: int) -> Iterator[ToolCall]:
        """Rows of the calls that still wait at the end of the file, in the order they were made.

        ``moved_on_seq`` is the last entry that shows the conversation went on without a result (the model spoke
        again, or the run ended): calls before it are ``unanswered``; of later ones nothing can be said.
        """
        waiting = [asked for held in self._waiting.values() for asked in (held if isinstance(held, deque) else (held,))]
        for asked in sorted(waiting, key=lambda one: one.order):
            yield ToolCall(
                session_id=self._session_id,
                seq=asked.seq,
                line=asked.line,
                ordinal=asked.ordinal,
                call_id=asked.call_id,
                run=asked.run,
                turn=asked.turn,
                name=asked.name,
                caller="model",
                arguments=asked.arguments,
                status="unanswered" if moved_on_seq > asked.seq else None,
            )
