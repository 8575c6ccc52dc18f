"""Tool calls asked for and tool results in; one `ToolCall` row per call out, held back until its result is met.

A result belongs to the current model call of its agent and answers the first open call of its id (section 5.4). An
id beginning ``program:`` was made by a program the model submitted: no reply asks for it by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sessionlab.formats._values import compact
from sessionlab.formats.gg.agents import AgentState, OpenCall
from sessionlab.tables import ToolCall

if TYPE_CHECKING:
    from sessionlab.formats.gg.output import Output
    from sessionlab.formats.gg.records import ToolResult
    from sessionlab.formats.gg.replies import AskedCall


class Answer(NamedTuple):
    """How a call came out: status, the recorded word for a failure, and the exit code of a command."""

    status: str
    reason: str | None
    exit_code: int | None


class ToolCalls:
    """Writes the tool calls of all agents into an output and counts them on their agents."""

    def __init__(self, out: Output) -> None:
        """Write into ``out``."""
        self._out = out

    def asked(self, state: AgentState, calls: list[AskedCall]) -> None:
        """The calls of the reply that has just become the agent's current one."""
        assert state.call is not None
        bodies = self._out.bodies
        state.tool_calls += len(calls)
        state.call.open = [
            OpenCall(ordinal, call_id, name, compact(arguments) if bodies and arguments is not None else None)
            for ordinal, (call_id, name, arguments) in enumerate(calls)
        ]

    def answered(self, state: AgentState, entry: ToolResult, arguments: object, seq: int, answer: Answer) -> None:
        """A result: the row of its call, or of a call that only the result tells of. ``arguments`` as dispatched."""
        out, call, current = self._out, entry.call, state.call
        by_program = call.id.startswith("program:")
        asked = current.answer(call.id) if current is not None and not by_program else None
        if asked is None:
            state.tool_calls += 1
            if current is not None and not by_program:
                out.note("unmatched_result", f"no open call of the agent's current turn has id `{call.id}`", seq=seq)
        state.tool_errors += answer.status == "failed"
        state.tool_denied += answer.status == "refused"
        state.last_failed = answer.status == "failed"
        told = OpenCall(0, call.id, call.name, None) if asked is None else asked
        if out.bodies and told.arguments is None:
            told.arguments = compact(arguments)
        self._row(
            state,
            told,
            seq=seq if asked is None or current is None else current.seq,
            line=out.line if asked is None or current is None else current.line,
            result_seq=seq,
            name=told.name or call.name,
            caller="program" if by_program else "model",
            output_pool="text",
            output_ix=entry.outcome.output,
            status=answer.status,
            refused_by="policy" if answer.status == "refused" else None,
            reason=answer.reason,
            exit_code=answer.exit_code,
        )

    def close(self, state: AgentState, status: str | None) -> None:
        """The calls of the agent's current turn that got no result."""
        current = state.call
        if current is None:
            return
        for call in current.open:
            self._row(state, call, seq=current.seq, line=current.line, name=call.name, caller="model", status=status)
        current.open = []

    def _row(self, state: AgentState, call: OpenCall, **columns: Any) -> None:  # noqa: ANN401 (columns of the row)
        current = state.call
        self._out.rows.append(
            ToolCall(
                session_id=self._out.session_id,
                agent_id=state.agent_id,
                ordinal=call.ordinal,
                call_id=call.call_id,
                charge_id=None if current is None else current.charge_id,
                run=1,
                turn=None if current is None else current.turn,
                arguments=call.arguments,
                **columns,
            )
        )
