"""Who speaks, which calls are made and which are answered: the blocks of a message in, those facts out (8.7, 12.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sessionlab.formats.mecha import marks
from sessionlab.formats.mecha.calls import Calls
from sessionlab.formats.mecha.wire import AnyBlock, Free, Message, Text, ToolResult, ToolUse
from sessionlab.tables import Row

NONE_TOLD: Mapping[str, bool] = {}
"""The provenance of results whose message tells none."""


class Turns:
    """Counts the model's turns and pairs its calls.

    Attributes:
        seq, line, run: the entry being looked at.
        turn: assistant messages so far.
        moved_on_seq: the last entry that shows the conversation went on: the model spoke, or a run ended.
    """

    def __init__(self, session_id: str, rows: list[Row], orphan: Callable[[str], None], *, arguments: bool) -> None:
        """Rows of answered calls go into ``rows``; ``orphan`` is told ids of results without a call."""
        self._rows = rows
        self._orphan = orphan
        self.seq = -1
        self.line = 0
        self.run = 1
        self.turn = 0
        self.moved_on_seq = -1
        self.calls = Calls(session_id, arguments=arguments)

    def reply(self, content: Sequence[AnyBlock]) -> str | None:
        """Blocks of the model: its calls wait from here on. `interrupted` when its text says so, else None."""
        status = None
        ordinal = 0
        for block in content:
            kind = type(block)
            if kind is ToolUse:
                self.calls.ask(block, self.seq, self.line, ordinal, self.run, self.turn)  # type: ignore[arg-type]
                ordinal += 1
            elif kind is Text and marks.INTERRUPTED in block.text:  # type: ignore[union-attr]
                status = "interrupted"
        return status

    def heard(
        self,
        content: Sequence[AnyBlock],
        message_ix: int,
        provenance: Mapping[str, bool] = NONE_TOLD,
        harness: bool = False,
        first: int = 0,
    ) -> tuple[str | None, dict[str, str] | None]:
        """A message in the user role, or blocks added to one, which then begin at block ``first``.

        Returns:
            the voice: `tool` when it brings results, else who says its text, None when it says nothing; and what the
            entry's ``detail`` tells of it: ``steered`` (who spoke beside the results), ``command``.
        """
        texts: list[str] = []
        results = False
        for at, block in enumerate(content, first):
            kind = type(block)
            if kind is ToolResult:
                results = True
                call_id: str = block.tool_use_id  # type: ignore[union-attr]
                row = self.calls.answer(block, self.seq, message_ix, at, provenance.get(call_id))  # type: ignore[arg-type]
                if row is None:
                    self._orphan(call_id)
                else:
                    self._rows.append(row)
            elif kind is Text:
                texts.append(block.text)  # type: ignore[union-attr]
        voice = marks.speaker(texts, harness=harness) if texts else None
        members: dict[str, str] | None = None
        if results:
            self.calls.batch += 1
            if voice is None:
                return "tool", None
            members = {"steered": voice}
        if voice == "person":
            command = marks.command(texts)
            if command is not None:
                members = {**(members or {}), "command": command}
        return "tool" if results else voice, members

    def retold_reply(self, message: Message, ordinal: int, *, at_end: bool) -> int:
        """A message of the model that only a rewrite holds: new when it has a call never met, or none and stands last.

        An edited copy of an older message brings no call: the ids of its calls are known. Gives the next ordinal.
        """
        uses = [block for block in message.content if isinstance(block, ToolUse)]
        fresh = [use for use in uses if not self.calls.was_asked(use.id)]
        if fresh or (at_end and not uses):
            self.turn += 1
            self.moved_on_seq = self.seq
        for at, use in enumerate(fresh, ordinal):
            self.calls.ask(use, self.seq, self.line, at, self.run, self.turn)
        return ordinal + len(fresh)

    def retold_results(self, message: Message, message_ix: int) -> None:
        """A message in the user role that only a rewrite holds: it may answer waiting calls, or be an edited copy."""
        answers = False
        for at, block in enumerate(message.content):
            if isinstance(block, ToolResult):
                call_id = block.tool_use_id
                row = self.calls.answer(block, self.seq, message_ix, at, message.tool_provenance.get(call_id))
                if row is not None:
                    answers = True
                    self._rows.append(row)
                elif not self.calls.was_asked(call_id):
                    self._orphan(call_id)
        if answers:
            self.calls.batch += 1


def plan_checks(planning: Mapping[str, Free] | None) -> dict[str, list[str]]:
    """Verification words of the plan's steps, as a member of ``detail``: whether checks were dispatched (12.6)."""
    steps = planning.get("steps") if planning else None
    words = [step.get("verification") for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    found = [word for word in words if isinstance(word, str)]
    return {"plan_checks": found} if found else {}
