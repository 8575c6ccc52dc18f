"""Runs of one session: what its entries say of the run they fall in goes in; one `Outcome` per ended run comes out.

A run is a `run` entry up to the next `output` that has a status (datalayer.md section 11); one that is followed by
another `run`, or by nothing, never ended and has no outcome.
"""

from __future__ import annotations

import msgspec

from sessionlab.formats._values import detail
from sessionlab.formats.datalayer.payloads import has_error, time
from sessionlab.tables import Outcome, ToolCall

_STOP_CLASSES = {"answered": "completed", "stopped": "interrupted", "gone": "interrupted"}


class _Run(msgspec.Struct):
    started_at: int | None
    seq: int | None = None  # of the output that ended it
    line: int | None = None
    word: str | None = None
    ended_at: int | None = None
    failed: bool = False
    exhausted: bool = False
    checks_passed: int = 0
    checks_failed: int = 0
    liked: bool | None = None


class Runs:
    """The runs of one session so far. ``open`` is the one being worked, 1-based, or None between runs."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self.open: int | None = None

    @property
    def latest(self) -> int | None:
        """The run begun last, ended or not."""
        return len(self._runs) or None

    def begin(self, started_at: int | None) -> int:
        """A `run` entry: its number."""
        self._runs.append(_Run(started_at))
        self.open = len(self._runs)
        return self.open

    def end(self, seq: int, line: int, word: str, payload: dict[str, object]) -> None:
        """The `output` with a status that ends the open run."""
        run = self._runs[-1]
        run.seq, run.line, run.word = seq, line, word
        run.ended_at = time(payload, "ended_at")
        run.failed = has_error(payload)
        self.open = None

    def check(self, status: str | None) -> None:
        """A `check` entry inside a run."""
        if self.open is not None and status is not None:
            run = self._runs[-1]
            run.checks_passed += status == "ok"
            run.checks_failed += status == "failed"

    def limit(self, because: str | None) -> None:
        """A `decision` entry: budgets show only as its reason."""
        if self.open is not None and because is not None and (because == "limit" or because.startswith("shield_limit")):
            self._runs[-1].exhausted = True

    def like(self, liked: object) -> None:
        """A `feedback` entry speaks of the run before it; the last one stands."""
        if self._runs and type(liked) is bool:
            self._runs[-1].liked = liked

    def rows(
        self, session_id: str, calls: list[ToolCall], *, calls_told: bool, refusals_told: bool, checks_told: bool
    ) -> list[Outcome]:
        """One row per ended run. Counts are null where the record keeps no such entries: not told is not zero."""
        by_run: dict[int | None, list[ToolCall]] = {}
        for call in calls:
            by_run.setdefault(call.run, []).append(call)
        rows = []
        for number, run in enumerate(self._runs, 1):
            if run.word is None:
                continue
            mine = by_run.get(number, [])
            failed_last = bool(mine) and mine[-1].status == "failed"
            rows.append(
                Outcome(
                    session_id=session_id,
                    seq=run.seq,
                    line=run.line,
                    run=number,
                    started_at=run.started_at,
                    ended_at=run.ended_at,
                    stop_cause=run.word,
                    stop_class=_stop_class(run),
                    exhausted=run.exhausted if refusals_told else None,
                    ended_on_failed_call=run.word == "answered" and failed_last if calls_told else None,
                    tool_calls=len(mine) if calls_told else None,
                    tool_errors=sum(call.status == "failed" for call in mine) if calls_told else None,
                    tool_denied=sum(call.status == "refused" for call in mine) if refusals_told else None,
                    sensors=detail(
                        checks_passed=run.checks_passed if checks_told else None,
                        checks_failed=run.checks_failed if checks_told else None,
                        liked=run.liked,
                    ),
                )
            )
        return rows


def _stop_class(run: _Run) -> str | None:
    """`stopped` is `cut_short` where a budget refused in the run, `failed` where an error is named."""
    if run.word == "stopped" and run.exhausted:
        return "cut_short"
    found = _STOP_CLASSES.get(run.word or "")
    return "failed" if found == "interrupted" and run.failed else found
