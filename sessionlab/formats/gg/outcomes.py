"""What is known of an agent at the end of the file in; its `Outcome` row out.

gg records no outcome as such: the agent's terminal status and the ceiling that stopped it tell how it ended, its
entries give the counts. A failed loop is ``failed``; one that met a ceiling ``cut_short``; one that last read a
cancellation ``interrupted``; one that is done, and none of these, ``completed``; without a terminal status nothing
tells, and the class is null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.formats._values import compact
from sessionlab.tables import Outcome

if TYPE_CHECKING:
    from sessionlab.formats.gg.agents import AgentState
    from sessionlab.formats.gg.output import Output

_BUDGETS = frozenset({"turns", "runtime", "cost"})


def outcome(out: Output, state: AgentState) -> Outcome:
    """How the agent ended and what it did. ``sensors`` holds both sums of section 6.3.

    ``all`` sums every model call; ``turns`` leaves out compactions and replies cut off at their length, as the
    totals of gg itself do. A class no call told is null. ``unrecorded``, where there is any, says by reason how many
    entries tell of spend that the recording does not hold (6.1), and which is the first.
    """
    row = state.row
    status = row.terminal_status if row is not None else None
    hit = row.limit_hit if row is not None else None
    cause, kind = _stop(state, status, hit.limit if hit is not None else None)
    return Outcome(
        session_id=out.session_id,
        line=state.line,
        agent_id=state.agent_id,
        run=1,
        model=state.profile.model,
        turns=state.turns,
        stop_cause=cause,
        stop_class=kind,
        exhausted=hit.limit in _BUDGETS if hit is not None else False if status in {"done", "failed"} else None,
        ended_on_failed_call=state.last_failed if kind == "completed" else None,
        tool_calls=state.tool_calls,
        tool_errors=state.tool_errors,
        tool_denied=state.tool_denied,
        compactions=state.epoch,
        recorded_usd=state.all_sums.usd,
        usage_complete=False if state.unrecorded else True if state.ended else None,
        sensors=compact(_sensors(state)),
    )


def _sensors(state: AgentState) -> dict[str, object]:
    told: dict[str, object] = {"all": state.all_sums.told(), "turns": state.turn_sums.told()}
    if state.unrecorded:
        told["unrecorded"] = {why: {"cases": len(at), "seq": at[0]} for why, at in state.unrecorded.items()}
    return told


def _stop(state: AgentState, status: str | None, limit: str | None) -> tuple[str | None, str | None]:
    """Cause and class of the stop; a ceiling is the cause even of a failure."""
    if status == "failed":
        return limit or status, "failed"
    if limit is not None:
        return limit, "cut_short"
    if state.canceled:
        return "canceled", "interrupted"
    if status == "done":
        return status, "completed"
    return status, None
