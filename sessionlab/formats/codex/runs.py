"""Tasks in, runs and `Outcome` rows out: one per task worked to its end, where the log tells how it ended."""

from __future__ import annotations

from typing import Literal

from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.thread import Work
from sessionlab.tables import Outcome

StopClass = Literal["completed", "cut_short", "interrupted", "failed"]
INTERRUPTED = frozenset({"interrupted", "replaced", "review_ended"})
"""Recorded reasons of an abort by a person: stopped, or replaced by the next prompt."""
LIMITS = frozenset({"budget_limited", "max_turns"})
"""Recorded reasons of an abort by a limit."""


def task_started(log: Log) -> None:
    """A task begins the next run, unless the prompt that stands before it has begun it."""
    thread, work = log.thread, log.thread.work
    if work is not None and work.by_message and not work.said:
        work.by_message = False
        return
    thread.run = (thread.run or 0) + 1
    thread.work = Work(log.at, by_message=False)


def person_speaks(log: Log) -> None:
    """A prompt begins a run where no task is told to be at work; within a task it steers."""
    thread, work = log.thread, log.thread.work
    if work is not None and (not work.by_message or not work.said):
        return
    thread.run = (thread.run or 0) + 1
    thread.work = Work(log.at, by_message=True)


def spoken(log: Log) -> None:
    """The model has said or asked something in this run."""
    if log.thread.work is not None:
        log.thread.work.said = True


def stop_class(work: Work | None, reason: str | None, error: str | None) -> StopClass:
    """How a task ended: ``reason`` is the word of an abort, ``error`` that of a task that ended in one."""
    if reason is not None:
        return "cut_short" if reason in LIMITS else "interrupted"
    if error is not None or (work is not None and work.failed is not None):
        return "failed"
    return "completed"


def task_ended(
    log: Log, *, reason: str | None = None, error: str | None = None, duration_ms: int | None = None
) -> StopClass:
    """The outcome of the run that ends here; a replayed end ends nothing a second time, so it gives no row."""
    thread, work = log.thread, log.thread.work
    ended = stop_class(work, reason, error)
    thread.work = None
    if log.is_copy:
        return ended
    failure = error or (work.failed if work is not None else None)
    log.out.append(
        Outcome(
            session_id=thread.session_id,
            seq=log.seq,
            line=log.number,
            agent_id=thread.agent_id,
            run=thread.run,
            provider=thread.provider,
            model=thread.model,
            started_at=work.started_at if work is not None else None,
            ended_at=log.at,
            duration_ms=duration_ms,
            turns=work.turns if work is not None else None,
            stop_cause=reason or (failure if ended == "failed" else None) or "task_complete",
            stop_class=ended,
            exhausted=True if ended == "cut_short" else None,
            ended_on_failed_call=work.last_status == "failed" if work is not None and ended == "completed" else None,
            tool_calls=work.calls if work is not None else None,
            tool_errors=work.errors if work is not None else None,
            tool_denied=work.denied if work is not None else None,
            compactions=work.compactions if work is not None else None,
        )
    )
    return ended
