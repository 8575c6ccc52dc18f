"""What each kind of datalayer entry becomes: common kind, status, reason, name, times, detail, the step tree."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.tables import Problem
from tests.formats.datalayer_files import (
    T0,
    US,
    at_second,
    entries,
    entry,
    head,
    of,
    one,
    read,
)


def test_the_epoch_of_these_tests() -> None:
    """The microseconds used below are those of the time they name."""
    assert T0 == (20_729 * 86_400 + 8 * 3_600) * US
    assert one(entry("run", at_second(0))).recorded_at == T0


@pytest.mark.parametrize(
    ("kind", "common"),
    [
        ("session", "state"), ("run", "run_start"), ("tool_call", "tool_call"), ("decision", "decision"),
        ("check", "check"), ("approval", "approval"), ("output", "other"), ("feedback", "feedback"),
        ("turn", "message"), ("notification", "note"), ("step", "step"), ("thread", "note"), ("asked", "note"),
        ("audio", "other"), ("diff", "other"), ("terminal", "command"), ("file", "other"), ("rule", "config"),
        ("paused", "state"), ("ended", "state"), ("swapped", "config"), ("cloned", "note"), ("imported", "note"),
        ("exported", "note"), ("titled", "title"),
    ],
)  # fmt: skip
def test_every_kind_becomes_one(kind: str, common: str) -> None:
    """Each of the 25 kinds has one common kind, even with an empty payload, and keeps its own word."""
    row = one(entry(kind))
    assert (row.kind, row.native_kind, row.seq, row.line, row.agent_id) == (common, kind, 0, 2, "root")
    assert (row.message_ix, row.output_ix) == (None, None)


@pytest.mark.parametrize(
    ("line", "status", "reason"),
    [
        (entry("decision", behaviour="do_it", because="permission"), "ok", "permission"),
        (entry("decision", behaviour="refused", because="shield"), "refused", "shield"),
        (entry("decision", behaviour="leave_to_me", because="default"), "refused", "default"),
        (entry("decision", behaviour="ask_first", because="rule_on_tool"), "asked", "rule_on_tool"),
        (entry("decision", behaviour="if_asked", because="unclassed"), "asked", "unclassed"),
        (entry("decision", behaviour="ask_first", approved_in_advance=True), "ok", None),
        (entry("decision", behaviour="do_it", refused=True), "refused", None),
        (entry("decision", approvals_unread=2), None, None),
        (entry("approval", outcome="approved"), "ok", "approved"),
        (entry("approval", outcome="declined"), "refused", "declined"),
        (entry("approval", outcome="unanswered"), "unanswered", "unanswered"),
        (entry("approval", outcome="lost"), None, "lost"),
        (entry("check", passed=True, action="proceed"), "ok", "proceed"),
        (entry("check", passed=False, action="stop"), "failed", "stop"),
        (entry("check", action="ask"), None, "ask"),
        (entry("check", passed=1), None, None),
        (entry("notification", delivery="sent"), "ok", "sent"),
        (entry("notification", delivery="refused"), "refused", "refused"),
        (entry("notification", delivery="failed"), "failed", "failed"),
        (entry("turn", asked="q", answered="a"), "ok", None),
        (entry("turn", asked="q", answered="Stopped: no more"), "failed", None),
        (entry("turn", asked="q"), None, None),
        (entry("asked", kind="choice"), "asked", None),
        (entry("session", state="paused"), None, "paused"),
        (entry("step", event="turn", stop_reason="end_turn"), "ok", "end_turn"),
        (entry("step", event="turn", stop_reason="refusal"), "refused", "refusal"),
        (entry("step", name="n", error="KeyError", ended_at="x"), "failed", None),
        (entry("step", name="n", error="", ended_at="x"), "ok", None),
        (entry("step", name="n", ended_at=""), None, None),
        (entry("terminal", exit_code=0), "ok", None),
        (entry("terminal", exit_code=127), "failed", None),
        (entry("feedback", liked=True), None, None),
    ],
)
def test_status_and_reason(line: Any, status: str | None, reason: str | None) -> None:
    """Status is a closed word, reason the recorded one."""
    row = one(line)
    assert (row.status, row.reason) == (status, reason)


@pytest.mark.parametrize(
    ("payload", "status", "reason", "exit_code"),
    [
        ({"result": "found"}, "ok", None, None),
        ({"result": "trace", "error": True}, "failed", None, None),
        ({"error": "ValueError"}, "failed", "ValueError", None),
        ({"result": "x", "error": False}, "ok", None, None),
        ({}, None, None, None),
        ({"status": "completed"}, "ok", "completed", None),
        ({"status": "failed"}, "failed", "failed", None),
        ({"status": "in_progress"}, None, "in_progress", None),
        ({"status": "completed", "exit_code": 3}, "ok", "completed", 3),
        ({"exit_code": 0}, "ok", None, 0),
        ({"exit_code": 130, "signal": "SIGINT"}, "failed", "SIGINT", 130),
        ({"signal": "SIGKILL"}, "failed", "SIGKILL", None),
        ({"display": {"type": "terminal", "data": {"exit_code": 4}}}, "failed", None, 4),
        ({"exit_code": "1"}, None, None, None),
        ({"exit_code": True}, None, None, None),
    ],
)
def test_status_of_a_tool_call(
    payload: dict[str, Any], status: str | None, reason: str | None, exit_code: int | None
) -> None:
    """An error outweighs the word, the word the exit code, the exit code a result."""
    row = one(entry("tool_call", tool="grep", **payload))
    assert (row.name, row.status, row.reason, row.exit_code) == ("grep", status, reason, exit_code)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (entry("tool_call", tool="grep", name="other"), "grep"),
        (entry("tool_call", name="by_hand", input={}), "by_hand"),
        (entry("decision", tool="mail"), "mail"),
        (entry("check", gate="secrets", guard="scan"), "secrets"),
        (entry("check", guard="scan"), "scan"),
        (entry("step", name="plan", kind="tool"), "plan"),
        (entry("step", event="policy"), "policy"),
        (entry("notification", channel="email"), "email"),
        (entry("thread", title="Berths"), "Berths"),
        (entry("titled", title="Tides"), "Tides"),
        (entry("rule", rule={"name": "no-mail"}), "no-mail"),
        (entry("rule", removed="no-night"), "no-night"),
        (entry("swapped", to="cartographer"), "cartographer"),
        (entry("file", name="a.csv"), "a.csv"),
        (entry("terminal", command="ls"), "ls"),
        (entry("titled", title=""), None),
        (entry("titled", title=5), None),
        (entry("rule", rule="no-mail"), None),
    ],
)
def test_names(line: Any, name: str | None) -> None:
    """What an entry is about stands in `name`; a member of another type names nothing."""
    assert one(line).name == name


def test_times() -> None:
    """`recorded_at` is when it was stored; a run, a step and a question also say when they began."""
    run, step, asked, none = entries(
        entry("run", at_second(5)),
        entry("step", at_second(9), id="a", started_at="2026-10-03T10:00:07+02:00", ended_at="2026-10-03T08:00:08Z"),
        entry("asked", at_second(9), asked_at=at_second(8.25)),
        entry("turn", "yesterday", asked="q"),
    )
    assert (run.recorded_at, run.started_at) == (T0 + 5 * US, T0 + 5 * US)
    assert (step.recorded_at, step.started_at, step.duration_ms) == (T0 + 9 * US, T0 + 7 * US, None)
    assert asked.started_at == T0 + 8 * US + 250_000
    assert (none.recorded_at, none.started_at) == (None, None)


def test_a_time_that_is_none_is_noted() -> None:
    """An `at` that is no time, or has no zone, is null with a note that quotes it."""
    rows = read(head(entries=2), entry("thread", "noon"), entry("thread", "2026-10-03T08:00:00"))
    notes = of(rows, Problem)
    assert [(n.kind, n.severity, n.seq, n.line) for n in notes] == [
        ("time_not_read", "note", 0, 2),
        ("time_not_read", "note", 1, 3),
    ]
    assert "'noon'" in (notes[0].detail or "")
