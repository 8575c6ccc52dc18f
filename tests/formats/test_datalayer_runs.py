"""Runs of a datalayer session and the outcomes they end in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.tables import Entry, Outcome
from tests.formats.datalayer_files import (
    T0,
    US,
    at_second,
    entries,
    entry,
    head,
    notes,
    of,
    outcomes,
    read,
)


def test_a_run_is_a_run_entry_up_to_the_output_with_a_status() -> None:
    """Entries between are of the run; a kept output ends nothing; feedback speaks of the run before it."""
    rows = entries(
        entry("session"), entry("run"), entry("output", message="kept"), entry("turn", asked="q"),
        entry("output", status="answered"), entry("titled", title="t"), entry("feedback", liked=True), entry("run"),
        entry("run"), entry("check", passed=True),
    )  # fmt: skip
    assert [row.run for row in rows] == [None, 1, 1, 1, 1, None, 1, 2, 3, 3]
    assert [row.kind for row in rows if row.native_kind == "output"] == ["other", "run_end"]


def test_a_status_outside_a_run_ends_nothing() -> None:
    """An output kept by code may have a status of its own."""
    rows = read(head(), entry("output", status="draft"))
    assert of(rows, Entry)[0].kind == "other"
    assert not of(rows, Outcome)


def test_a_run_without_end_has_no_outcome() -> None:
    """Followed by another run or by the end of the file, a run never ended."""
    ended = outcomes(entry("run"), entry("run"), entry("output", status="gone"), entry("run"))
    assert [row.run for row in ended] == [2]


def test_times_of_an_outcome() -> None:
    """From the run's `at` to the output's `ended_at`, not to when it was stored; the duration is not recorded."""
    ended = "2026-10-03T08:00:41.500Z"
    (outcome,) = outcomes(entry("run", at_second(3)), entry("output", at_second(50), status="answered", ended_at=ended))
    assert (outcome.started_at, outcome.ended_at) == (T0 + 3 * US, T0 + 41 * US + 500_000)
    assert (outcome.duration_ms, outcome.seq, outcome.line, outcome.turns) == (None, 1, 3, None)
    (bare,) = outcomes(entry("run"), entry("output", status="answered"))
    assert bare.ended_at is None


LIMIT = entry("decision", tool="t", behaviour="refused", because="shield_limit:spend")


@pytest.mark.parametrize(
    ("between", "end", "stop_class", "status"),
    [
        ([], {"status": "answered"}, "completed", "ok"),
        ([], {"status": "answered", "error": "Late"}, "completed", "ok"),
        ([], {"status": "stopped"}, "interrupted", "interrupted"),
        ([], {"status": "stopped", "error": "KeyError"}, "failed", "failed"),
        ([], {"status": "gone"}, "interrupted", "interrupted"),
        ([], {"status": "gone", "error": "the seat fell silent"}, "failed", "failed"),
        ([LIMIT], {"status": "stopped", "error": "LimitReached"}, "cut_short", "failed"),
        ([LIMIT], {"status": "answered"}, "completed", "ok"),
        ([], {"status": "postponed"}, None, None),
    ],
)
def test_how_a_run_stopped(between: list[Any], end: dict[str, Any], stop_class: str | None, status: str | None) -> None:
    """The recorded word decides, a limit and an error beside it refine."""
    rows = read(head(), entry("run"), *between, entry("output", **end))
    (outcome,) = of(rows, Outcome)
    assert (outcome.stop_cause, outcome.stop_class) == (end["status"], stop_class)
    assert (of(rows, Entry)[-1].status, of(rows, Entry)[-1].reason) == (status, end["status"])
    assert outcome.exhausted == (True if between else None)


def test_counts_of_a_run() -> None:
    """Calls with the refused ones, failures without them, checks, and the thumb that came after."""
    first, second = outcomes(
        entry("tool_call", tool="before", result="x"),
        entry("run"),
        entry("tool_call", tool="a", result="x"),
        entry("tool_call", tool="b", error=True),
        entry("decision", tool="c", behaviour="refused", because="rule"),
        entry("approval", tool="d", outcome="declined"),
        entry("approval", tool="e", outcome="unanswered"),
        entry("check", passed=True),
        entry("check", passed=True),
        entry("check", passed=False),
        entry("output", status="answered"),
        entry("feedback", liked=False),
        entry("feedback", liked=True),
        entry("run"),
        entry("tool_call", tool="g", error=True),
        entry("output", status="answered"),
    )
    assert (first.tool_calls, first.tool_errors, first.tool_denied) == (5, 1, 2)
    assert (first.ended_on_failed_call, first.exhausted) == (False, False)
    assert json.loads(first.sensors or "") == {"checks_passed": 2, "checks_failed": 1, "liked": True}
    assert (second.tool_calls, second.tool_errors, second.tool_denied, second.ended_on_failed_call) == (1, 1, 0, True)


def test_a_failed_call_before_a_sound_one_did_not_end_the_run() -> None:
    """Only the last call counts, and only where the model ended the run itself."""
    bad, good = entry("tool_call", tool="a", error=True), entry("tool_call", tool="b", result="x")
    ends = [
        outcomes(entry("run"), *told, entry("output", status=word))[0].ended_on_failed_call
        for told, word in (((bad, good), "answered"), ((good, bad), "answered"), ((good, bad), "stopped"))
    ]
    assert ends == [False, True, False]


@pytest.mark.parametrize("because", ["limit", "shield_limit:tool_calls"])
def test_a_limit_exhausts_the_run_it_refused_in(because: str) -> None:
    """A budget shows only as the reason of a decision (section 11)."""
    refusal = entry("decision", tool="t", behaviour="refused", because=because)
    end = entry("output", status="answered")
    assert [row.exhausted for row in outcomes(entry("run"), refusal, end, entry("run"), end)] == [True, False]


def test_what_is_not_kept_is_not_zero() -> None:
    """A file of `session`, `run` and bare outputs tells nothing of calls, refusals and checks (section 11)."""
    (outcome,) = outcomes(entry("session"), entry("run"), entry("output", status="answered", ended_at=at_second(9)))
    assert (outcome.tool_calls, outcome.tool_errors, outcome.tool_denied, outcome.sensors) == (None, None, None, None)
    assert (outcome.ended_on_failed_call, outcome.exhausted) == (None, None)


def test_a_limit_that_names_no_tool_still_cuts_the_run_short() -> None:
    """A budget of tokens stops a run, not a call: its decision names the limit and no tool."""
    limit = entry("decision", at_second(2), behaviour="refused", because="shield_limit:model_tokens", classes=[])
    (run,) = outcomes(
        entry("run", at_second(1)), limit, entry("output", at_second(3), status="stopped", ended_at=at_second(3))
    )
    assert (run.stop_class, run.exhausted) == ("cut_short", True)


def test_an_exit_code_where_no_column_holds_it_is_no_number_too_large() -> None:
    """A check's `exit_code` stays in `detail`; only one beyond a BIGINT is worth a note."""
    assert notes(entry("check", stage="post_run", exit_code=0), kinds=["check"], entries=1) == []
    assert notes(entry("tool_call", tool="sh", exit_code=2**63), kinds=["tool_call"], entries=1) == ["number_too_large"]
