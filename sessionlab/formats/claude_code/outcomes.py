"""Runs in, `Outcome` rows out: one per prompt worked to its end, where the log tells how it ended."""

from __future__ import annotations

from typing import Literal

from sessionlab.formats.claude_code.state import Run, Transcript, provider_of
from sessionlab.tables import Outcome

StopClass = Literal["completed", "cut_short", "interrupted", "failed"]
CUT_SHORT = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
"""Recorded stop reasons of a reply that was not finished."""


def begin(t: Transcript) -> None:
    """A person's prompt begins the agent's next run."""
    agent = t.agent
    agent.prompts = (agent.prompts or 0) + 1
    agent.run = Run(t.at)


def stop_class(run: Run | None, *, interrupted: bool) -> StopClass:
    """How a run ended whose end the log marks (`turn_duration`, or the mark of an interruption).

    `interrupted` when a person stopped it; `failed` when the last thing in the model's place was an error; `cut_short`
    when the last reply names a limit; else `completed`: the recorder writes `turn_duration` when the model has
    finished and no hook asked it to go on.
    """
    if interrupted:
        return "interrupted"
    if run is None:
        return "completed"
    if run.failed:
        return "failed"
    return "cut_short" if run.stop_reason in CUT_SHORT else "completed"


def outcome(t: Transcript, *, duration_ms: int | None = None, interrupted: bool = False) -> None:
    """The outcome of the agent's run as far as it has come.

    A line that the file repeats (`is_copy`) ends nothing a second time, so it gives no row.
    Before the first prompt (a file that begins in the middle of a run) the counts are unknown, hence null.
    """
    if t.is_copy:
        return
    agent = t.agent
    run = agent.run
    ended = stop_class(run, interrupted=interrupted)
    t.out.append(
        Outcome(
            session_id=t.session.session_id,
            seq=t.seq,
            line=t.number,
            agent_id=agent.agent_id,
            run=agent.prompts,
            provider=provider_of(agent.model),
            model=agent.model,
            started_at=run.started_at if run is not None else None,
            ended_at=t.at,
            duration_ms=duration_ms,
            turns=run.turns if run is not None else None,
            stop_cause=run.stop_reason if run is not None else None,
            stop_class=ended,
            ended_on_failed_call=run.last_status == "failed" if run is not None and ended == "completed" else None,
            tool_calls=run.calls if run is not None else None,
            tool_errors=run.errors if run is not None else None,
            tool_denied=run.denied if run is not None else None,
            compactions=run.compactions if run is not None else None,
        )
    )
