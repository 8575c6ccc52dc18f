"""Entries of the input log in, in file order; `Entry`, `Window`, `ToolCall`, `Usage` and reply `Pool` rows out.

Per agent the latest model call of its turn loop is kept: frames and tool results attach to it (section 5.4).
Columns with a gg meaning of their own: ``seq`` is the ordinal of the entry; ``output_ix`` of a model call is its reply
in the pool ``response``, of everything else a text; errors and compactions belong to no turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionlab.columns import BIGINT_MAX
from sessionlab.formats._values import compact, detail
from sessionlab.formats.gg.agents import AgentState, AgentTable, CurrentCall
from sessionlab.formats.gg.bodies import Bodies
from sessionlab.formats.gg.calls import Answer, ToolCalls
from sessionlab.formats.gg.records import (
    OLD_BANDS,
    OLD_SLOTS,
    Absolute,
    CancelProbe,
    Clock,
    Command,
    Cwd,
    Entry,
    Git,
    ModelError,
    ModelIo,
    PromptFrame,
    Relative,
    Seed,
    Shell,
    ToolResult,
)
from sessionlab.formats.gg.replies import Reply
from sessionlab.formats.gg.windows import frame_changes, request_changes
from sessionlab.tables import Entry as EntryRow
from sessionlab.tables import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessionlab.formats.gg.output import Output

_UNTOLD_SPEND = frozenset({"parse", "provider_mismatch", "response_loop"})
"""Errors after which a reply was paid for that the recording does not hold (6.1)."""

_UNKNOWN = (None, None, None, None)


class Entries:
    """Turns entries into rows.

    Attributes:
        count: entries so far, which is the ``seq`` of the next one.
        seed: the seed in force.
    """

    def __init__(self, out: Output, agents: AgentTable) -> None:
        """Write into ``out`` what the entries of ``agents`` say."""
        self._out, self._agents = out, agents
        self._bodies, self._calls = Bodies(out), ToolCalls(out)
        self.count = 0
        self._due = 0
        self.seed: Seed | None = None
        self._replies = 0
        self._rows: dict[type, Callable[[Any, Any, int, AgentState, dict[str, object]], None]] = {
            ModelIo: self._model_io,
            ToolResult: self._tool_result,
            ModelError: self._model_error,
            PromptFrame: self._prompt_frame,
            Shell: self._shell,
            Git: self._git,
            CancelProbe: self._cancel_probe,
            Clock: self._clock,
        }

    def take(self, entry: Entry, free: Any, beside: dict[str, object] | None) -> None:  # noqa: ANN401 (free-form JSON)
        """The rows of the next entry, whose free-form values are ``free``; ``beside`` joins its detail."""
        seq = self.count
        self.count += 1
        recorded = entry.seq
        if recorded != self._due:
            kind = "seq_gap" if recorded > self._due else "seq_order"
            self._out.note(kind, f"the entry has seq {recorded} where {self._due} was due", seq=seq)
        self._due = recorded + 1
        if beside is None:
            beside = {}
        if recorded != seq:
            beside["seq"] = recorded
        state = self._agents.states.get(entry.agent_id)
        if state is None or state.row is None:
            state = self._agents.rowless(entry.agent_id, seq)
        self._rows[type(entry)](entry, free, seq, state, beside)

    def finish(self) -> None:
        """Calls still open: unanswered where their agent's loop has ended, else unknown."""
        for state in self._agents.states.values():
            self._calls.close(state, "unanswered" if state.ended else None)

    def _entry(self, kind: str, native_kind: str, seq: int, state: AgentState, **columns: Any) -> None:  # noqa: ANN401
        out = self._out
        out.rows.append(
            EntryRow(
                session_id=out.session_id,
                seq=seq,
                line=out.line,
                agent_id=state.agent_id,
                kind=kind,
                native_kind=native_kind,
                run=1,
                epoch=state.epoch,
                **columns,
            )
        )

    def _model_io(self, entry: ModelIo, free: object, seq: int, state: AgentState, beside: dict[str, object]) -> None:
        out = self._out
        request, purpose = entry.request, entry.request.role
        reply = Reply(free)
        for kind, words in reply.oddities:
            out.note(kind, words, seq=seq)
        charge_id = f"{out.native_id}/{seq}"
        turn = None
        if purpose == "agent":
            self._calls.close(state, "unanswered")
            state.turns += 1
            turn = state.turns
            state.call = CurrentCall(seq, out.line, charge_id, turn)
        members = reply.members
        finish = members.get("finishReason")
        self._entry(
            "model_call",
            "model_io",
            seq,
            state,
            turn=turn,
            duration_ms=out.whole(entry.duration_ms, "durationMs", seq=seq),
            voice="model",
            purpose=purpose,
            charge_id=charge_id,
            messages=len(request.messages),
            toolset_ix=request.toolset,
            output_ix=self._replies,
            status="ok",
            reason=reply.finish_reason,
            detail=detail(
                shape=request.shape,
                provider=members.get("provider"),
                finishReason=None if isinstance(finish, str) else finish,
                loopAborts=members.get("loopAborts"),
                usageWire=members.get("usageWire"),
                usageReconciled=members.get("usageReconciled"),
                **beside,
            ),
        )
        if out.bodies:
            self._bodies.reply(self._replies, len(bytes(entry.response)), free)
        self._replies += 1
        request_changes(out, seq, state.agent_id, purpose, old=state.requests[purpose], new=request.messages)
        state.requests[purpose] = request.messages
        self._usage(reply, seq, state, purpose=purpose, turn=turn, charge_id=charge_id)
        if purpose == "agent":
            self._calls.asked(state, reply.calls)
        else:
            state.epoch += 1

    def _usage(
        self, reply: Reply, seq: int, state: AgentState, *, purpose: str, turn: int | None, charge_id: str
    ) -> None:
        """The one figure of a call.

        More was spent than it says when replies were discarded before it (6.1), and when a number of it is none that
        can be meant.
        """
        out = self._out
        state.all_sums.add(reply.spend)
        if purpose == "agent" and reply.finish_reason != "length":
            state.turn_sums.add(reply.spend)
        if reply.had_aborts:
            state.hides("discarded_replies", seq)
        if reply.is_short:
            state.hides("impossible_numbers", seq)
        elif reply.tokens == _UNKNOWN:
            state.hides("no_tokens", seq)
        model = state.profile.model if purpose == "agent" else state.profile.compaction_model
        uncached, cached, _, reasoning = reply.tokens
        window = self.seed.model_windows.get(model) if self.seed is not None and model is not None else None
        out.rows.append(
            Usage(
                session_id=out.session_id,
                seq=seq,
                line=out.line,
                agent_id=state.agent_id,
                run=1,
                turn=turn,
                charge_id=charge_id,
                grain="call",
                standing="ledger",
                recorded_in="response",
                served_by=reply.served_by,
                model=model,
                purpose=purpose,
                turns=1,
                uncached_input_tokens=uncached,
                cache_read_tokens=cached,
                output_tokens=reply.written_tokens,
                reasoning_tokens=reasoning,
                context_tokens=reply.context_tokens,
                window_tokens=out.tokens(window, "modelWindows", seq=seq),
                recorded_usd=reply.actual_usd,
                recorded_list_usd=reply.comparable_usd,
                is_lower_bound=reply.had_aborts or reply.is_short,
                detail=detail(
                    lower_bound="discarded_replies"
                    if reply.had_aborts
                    else "impossible_numbers"
                    if reply.is_short
                    else None
                ),
            )
        )

    def _model_error(self, entry: ModelError, _: None, seq: int, state: AgentState, beside: dict[str, object]) -> None:
        request, error = entry.request, entry.error
        self._entry(
            "model_error",
            "model_error",
            seq,
            state,
            duration_ms=self._out.whole(entry.duration_ms, "durationMs", seq=seq),
            purpose=request.role,
            messages=len(request.messages),
            toolset_ix=request.toolset,
            status="failed",
            reason=error.kind,
            detail=detail(
                shape=request.shape,
                message=error.message,
                status=error.status,
                attempts=error.attempts,
                modelId=error.model_id,
                **beside,
            ),
        )
        request_changes(
            self._out, seq, state.agent_id, request.role, old=state.requests[request.role], new=request.messages
        )
        state.requests[request.role] = request.messages
        if error.kind in _UNTOLD_SPEND:
            state.hides(error.kind, seq)

    def _tool_result(
        self,
        entry: ToolResult,
        free: tuple[object, object, object],
        seq: int,
        state: AgentState,
        beside: dict[str, object],
    ) -> None:
        out, call, outcome = self._out, entry.call, entry.outcome
        current = state.call
        if current is None:
            out.note("orphan", "a tool result before any model call of its agent", seq=seq)
        arguments, data, failure = free
        reason = failure if failure is None or isinstance(failure, str) else compact(failure)
        status = "ok" if outcome.ok else "refused" if reason == "refused" else "failed"
        exit_code = _exit_code(data)
        self._entry(
            "tool_result",
            "tool_result",
            seq,
            state,
            turn=None if current is None else current.turn,
            voice="tool",
            name=call.name,
            call_id=call.id,
            charge_id=None if current is None else current.charge_id,
            output_ix=outcome.output,
            status=status,
            reason=reason,
            exit_code=exit_code,
            detail=detail(
                attached_seq=None if current is None else current.seq,
                summary_ix=outcome.summary,
                data_text_ix=outcome.data_text,
                images=outcome.images or None,
                cwd=None if call.cwd is None else _folder(call.cwd),
                data=data if out.bodies else None,
                **beside,
            ),
        )
        self._calls.answered(state, entry, arguments, seq, Answer(status, reason, exit_code))

    def _prompt_frame(
        self, entry: PromptFrame, _: None, seq: int, state: AgentState, beside: dict[str, object]
    ) -> None:
        out, current = self._out, state.call
        if current is None:
            out.note("orphan", "a frame before any model call of its agent", seq=seq)
        self._entry(
            "window",
            "prompt_frame",
            seq,
            state,
            turn=None if current is None else current.turn,
            charge_id=None if current is None else current.charge_id,
            messages=len(entry.items),
            detail=detail(attached_seq=None if current is None else current.seq, **beside),
        )
        for item in frame_changes(out, seq, state.agent_id, state.frame, entry.items):
            if item.slot in OLD_SLOTS or item.source in OLD_BANDS:
                word = item.slot if item.slot in OLD_SLOTS else item.source
                out.note_once("old_word", word, f"`{word}` is a word of older recorders", seq=seq)
        state.frame = entry.items

    def _shell(self, entry: Shell, _: None, seq: int, state: AgentState, beside: dict[str, object]) -> None:
        asked = state.call if entry.origin != "hook" else None
        self._command(
            entry.command,
            "shell",
            seq,
            state,
            {"origin": entry.origin, **beside},
            turn=None if asked is None else asked.turn,
            charge_id=None if asked is None else asked.charge_id,
            voice="harness" if entry.origin == "hook" else "model",
        )

    def _git(self, entry: Git, _: None, seq: int, state: AgentState, beside: dict[str, object]) -> None:
        self._command(entry.command, "git", seq, state, beside, voice="harness")

    def _command(
        self,
        command: Command,
        native_kind: str,
        seq: int,
        state: AgentState,
        beside: dict[str, object],
        **columns: Any,  # noqa: ANN401
    ) -> None:
        self._entry(
            "command",
            native_kind,
            seq,
            state,
            name=command.command,
            output_ix=command.stdout,
            status="ok" if command.exit_code == 0 else "failed",
            exit_code=command.exit_code,
            detail=detail(cwd=_folder(command.cwd), stderr_ix=command.stderr, **beside),
            **columns,
        )

    def _cancel_probe(
        self, entry: CancelProbe, _: None, seq: int, state: AgentState, beside: dict[str, object]
    ) -> None:
        state.canceled = entry.canceled
        self._entry("probe", "cancel_probe", seq, state, detail=detail(canceled=entry.canceled, **beside))

    def _clock(self, entry: Clock, _: None, seq: int, state: AgentState, beside: dict[str, object]) -> None:
        self._entry(
            "clock",
            "clock",
            seq,
            state,
            elapsed_ms=self._out.whole(entry.elapsed_ms, "elapsedMs", seq=seq),
            detail=detail(remaining_ms=entry.remaining_ms, **beside),
        )


def _exit_code(data: object) -> int | None:
    """The exit code in the facts of a shell tool (1.10)."""
    if not isinstance(data, dict) or data.get("kind") != "shell":
        return None
    facts = data.get("data")
    code = facts.get("exitCode") if isinstance(facts, dict) else None
    return code if type(code) is int and abs(code) <= BIGINT_MAX else None


def _folder(cwd: Cwd) -> str:
    """A working folder as a path: ``.`` is the agent's workspace root, others hang from it unless absolute."""
    return cwd.path if isinstance(cwd, Relative | Absolute) else "."
