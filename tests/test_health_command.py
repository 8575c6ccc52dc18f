"""`sessionlab health` and `stats`: every case of mecha 18.6, both generations of JSON, sensors, intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from sessionlab.cli import health, stats
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import line
from tests.systems.mecha.recalled import HEADER

app = typer.Typer()
health.register(app)
stats.register(app)
GOLDEN = str(next((SAMPLES / "mecha/golden").glob("*.jsonl")))
NOW = ("--now", "2026-11-30T12:00:00")
A_MEMBERS = [
    "runs", "sessions_read", "tool_calls", "tool_errors", "tool_error_rate", "ended_on_failed_call",
    "ended_on_failed_call_rate", "compactions", "cost_usd", "runs_priced", "by_model",
]  # fmt: skip
"""In the order of the example of mecha 11.4."""
B_MEMBERS = {
    "sessions_unreadable", "tests_hidden", "experiments_hidden", "context_overflows", "runs_with_overflow_sensor",
    "overflow_rate", "boredom_rate", "step_null_rate", "step_reopen_rate", "runs_with_step_sensor",
    "runs_with_a_plan_step", "runs_with_a_measured_completion", "step_completions", "step_measured", "step_nulls",
    "step_reopens", "goal_drift_rate", "runs_with_goal_sensor", "runs_with_a_goal_anchor",
    "runs_planned_under_an_anchor", "runs_named_under_an_anchor", "goal_plan_writes", "goal_drift_writes",
    "goal_unnamed_writes", "runs_anchored_by_kind", "runs_planned_under_an_unjudged_anchor", "charter_readings",
    "situation_brief",
}  # fmt: skip
"""What later builds add, as mecha 11.4 lists it."""


def _run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def _health(folder: Path | str, *options: str) -> dict[str, Any]:
    told = json.loads(_run("health", str(folder), "--json", *options).stdout)
    assert isinstance(told, dict)
    return told


def _write(folder: Path, name: str, *records: dict[str, Any], **header: Any) -> None:
    lines = [line(**{**HEADER, "id": name, **header}), *(line(**record) for record in records)]
    (folder / f"{name}.jsonl").write_bytes(b"".join(each + b"\n" for each in lines))


def _outcome(calls: int, errors: int, **members: Any) -> dict[str, Any]:
    return {"record": "outcome", "tool_calls": calls, "tool_errors": errors, **members}


def test_golden_json_of_generation_a() -> None:
    """The very object of mecha 11.4, members in its order."""
    text = _run("health", GOLDEN, "--json", "--generation", "a").stdout
    assert list(json.loads(text)) == A_MEMBERS
    assert json.loads(text) == {
        "runs": 2, "sessions_read": 1, "tool_calls": 3, "tool_errors": 1, "tool_error_rate": 0.3333333333333333,
        "ended_on_failed_call": 1, "ended_on_failed_call_rate": 0.5, "compactions": 0, "cost_usd": 0.01425,
        "runs_priced": 1, "by_model": [{"model": "claude-opus-5", "runs": 2, "tool_error_rate": 0.3333333333333333,
                                        "ended_on_failed_call_rate": 0.5}],
    }  # fmt: skip


def test_generation_b_adds_its_members_and_no_others() -> None:
    """All that 11.4 lists; the overflow rate also per model; our own JSON holds all of them and more."""
    told = _health(GOLDEN, "--generation", "b")
    assert set(told) == {*A_MEMBERS, *B_MEMBERS}
    assert list(told["by_model"][0])[-1] == "overflow_rate"
    assert set(_health(GOLDEN)) > set(told)


def test_stats_json_of_both_generations(tmp_path: Path) -> None:
    """An array of rows (a), or an object around it (b); an empty array without sessions."""
    rows = json.loads(_run("stats", GOLDEN, "--json", "--generation", "a").stdout)
    assert [(row["provider"], row["sessions"], row["turns"]) for row in rows] == [("anthropic", 1, 4)]
    whole = json.loads(_run("stats", GOLDEN, "--json", "--generation", "b").stdout)
    assert whole == {"rows": rows, "sessions_unreadable": 0}
    assert json.loads(_run("stats", str(tmp_path), "--json", "--generation", "a").stdout) == []
    assert json.loads(_run("stats", str(tmp_path), "--json").stdout) == {"rows": [], "sessions_unreadable": 0}


def test_18_6_two_sessions(tmp_path: Path) -> None:
    """3 runs, 2 sessions, 20 calls, 5 errors, 3 compactions, 1 ended failed, cost 0.75 of 3 priced; causes."""
    each = {"compactions": 1, "cost_usd": 0.25}
    _write(tmp_path, "a", _outcome(4, 1, stop_cause="completed", **each),
           _outcome(6, 0, stop_cause="max_turns", ended_on_failed_call=True, **each))  # fmt: skip
    _write(tmp_path, "b", _outcome(10, 4, stop_cause="completed", **each))
    told = _health(tmp_path)
    wanted = {"runs": 3, "sessions_read": 2, "tool_calls": 20, "tool_errors": 5, "compactions": 3,
              "ended_on_failed_call": 1, "cost_usd": 0.75, "runs_priced": 3}  # fmt: skip
    assert {name: told[name] for name in wanted} == wanted
    assert list(told["stop_causes"].items()) == [("completed", 2), ("max_turns", 1)]


def test_18_6_a_run_is_its_nearest_configs(tmp_path: Path) -> None:
    """Outcome (4, 0) under the header's model, then (6, 3) under a second one: 0.0 and 0.5."""
    _write(tmp_path, "a", _outcome(4, 0), {"record": "config", "provider": "p", "model": "second"}, _outcome(6, 3),
           model="first")  # fmt: skip
    found = [(row["model"], row["tool_error_rate"]) for row in _health(tmp_path)["by_model"]]
    assert found == [("first", 0.0), ("second", 0.5)]


def test_18_6_empty_store_and_a_run_without_calls(tmp_path: Path) -> None:
    """No runs: rates null. One run without calls: the error rate null, the rate of failed ends 0.0."""
    empty = _health(tmp_path)
    assert (empty["tool_error_rate"], empty["ended_on_failed_call_rate"], empty["cost_usd"]) == (None, None, 0)
    assert empty["intervals"]["tool_error_rate"] is None
    assert _run("health", str(tmp_path)).stdout.startswith("no finished run in 0 sessions read")
    _write(tmp_path, "a", _outcome(0, 0))
    told = _health(tmp_path)
    assert (told["tool_error_rate"], told["ended_on_failed_call_rate"], told["runs"]) == (None, 0.0, 1)


def test_18_6_limit_and_cutoff(tmp_path: Path) -> None:
    """5 sessions, limit 2: 2 read, 2 runs, the newest. A cutoff after all of them: none, 0 read."""
    for number in range(1, 6):
        _write(tmp_path, f"s{number}", _outcome(10**number, 0), created_at=f"2026-10-0{number}T00:00:00Z")
    told = _health(tmp_path, "-n", "2")
    assert (told["sessions_read"], told["runs"], told["tool_calls"]) == (2, 2, 110_000)
    told = _health(tmp_path, "--days", "10", *NOW)
    assert (told["sessions_read"], told["runs"]) == (0, 0)
    edge = _health(tmp_path, "--days", "56.5", *NOW)  # 5 October, midnight: the boundary itself is in
    assert edge["sessions_read"] == 1


def test_18_6_a_session_without_outcomes_is_read(tmp_path: Path) -> None:
    """Beside one of (4, 2): 2 read, 1 run, 0.5."""
    _write(tmp_path, "a")
    _write(tmp_path, "b", _outcome(4, 2))
    told = _health(tmp_path)
    assert (told["sessions_read"], told["runs"], told["tool_error_rate"]) == (2, 1, 0.5)


def test_18_6_blended_and_split(tmp_path: Path) -> None:
    """Models at 0.1 and 0.9: 0.5 together."""
    _write(tmp_path, "a", _outcome(10, 1), model="m1")
    _write(tmp_path, "b", _outcome(10, 9), model="m2")
    told = _health(tmp_path)
    assert told["tool_error_rate"] == 0.5
    assert [row["tool_error_rate"] for row in told["by_model"]] == [0.1, 0.9]


def test_18_6_tests_are_hidden_and_counted_unless_the_generation_knew_none(tmp_path: Path) -> None:
    """Later builds hide test and experiment sessions; 0.1.11 read them all."""
    for kind in ("run", "test", "experiment"):
        _write(tmp_path, kind, _outcome(1, 0), kind=kind)
    told = _health(tmp_path, "--generation", "b")
    assert (told["runs"], told["tests_hidden"], told["experiments_hidden"]) == (1, 1, 1)
    assert _health(tmp_path, "--generation", "a")["runs"] == 3
    told = _health(tmp_path, "--include-tests")
    assert (told["runs"], told["tests_hidden"]) == (3, 0)


def test_18_6_workspace_by_path_prefix(tmp_path: Path) -> None:
    """The folder itself and what lies below it, not what merely begins so."""
    for number, workspace in enumerate(("/home/ada", "/home/ada/birds", "/home/adam", "/home/o'ada")):
        _write(tmp_path, f"s{number}", _outcome(10**number, 0), workspace=workspace)
    assert _health(tmp_path, "--workspace", "/home/ada/")["tool_calls"] == 11
    assert _health(tmp_path, "--workspace", "/home/o'ada")["tool_calls"] == 1000


def test_18_6_sensor_rates_are_null_when_no_row_has_the_sensor(tmp_path: Path) -> None:
    """Rates and sums alike; the counts of runs that have it are 0."""
    _write(tmp_path, "a", _outcome(1, 0))
    told = _health(tmp_path, "--generation", "b")
    rates = [name for name in B_MEMBERS if name.endswith("_rate")]
    assert {told[name] for name in [*rates, "context_overflows", "step_nulls", "goal_plan_writes"]} == {None}
    assert {told[name] for name in B_MEMBERS if name.startswith("runs_with")} == {0}
    assert told["by_model"][0]["overflow_rate"] is None


def test_sensors(tmp_path: Path) -> None:
    """Rows above zero over rows that have the sensor (11.2); sums of what was measured; goals by kind."""
    _write(
        tmp_path, "a",
        _outcome(1, 0, context_overflows=3, boredom_notices=0, step_completions=4, step_measured=2, step_nulls=1),
        _outcome(1, 0, context_overflows=0, step_reopens=0, goal_anchor="task:t1", goal_plan_writes=5,
                 goal_drift_writes=2, goal_unnamed_writes=5),
        _outcome(1, 0, goal_anchor="task:t2", goal_plan_writes=1, goal_unnamed_writes=0),
        _outcome(1, 0, goal_anchor="epic:7", charter_reading={"held": True}),
        _outcome(1, 0, context_overflows=1, goal_anchor="project:p", goal_drift_writes=0),
    )  # fmt: skip
    told = _health(tmp_path, "--generation", "b")
    assert (told["context_overflows"], told["runs_with_overflow_sensor"], told["overflow_rate"]) == (4, 3, 2 / 3)
    assert (told["boredom_rate"], told["step_null_rate"], told["step_reopen_rate"]) == (0.0, 1.0, 0.0)
    assert (told["runs_with_step_sensor"], told["runs_with_a_plan_step"]) == (2, 1)
    assert (told["runs_with_a_measured_completion"], told["step_completions"], told["step_reopens"]) == (1, 4, 0)
    assert (told["goal_drift_rate"], told["runs_with_goal_sensor"], told["goal_plan_writes"]) == (0.5, 3, 6)
    assert (told["runs_with_a_goal_anchor"], told["runs_anchored_by_kind"]) == (3, {"project": 1, "task": 2})
    assert (told["runs_planned_under_an_anchor"], told["runs_named_under_an_anchor"]) == (2, 1)
    assert told["runs_planned_under_an_unjudged_anchor"] == 1
    assert (told["charter_readings"], told["situation_brief"]) == (1, None)
    assert told["by_model"][0]["overflow_rate"] == 2 / 3
    assert "  context overflows        4 in 2 of 3 measured runs (66.7%)" in _run("health", str(tmp_path)).stdout


def test_intervals_and_findings_have_parameters(tmp_path: Path) -> None:
    """Wilson of 1 in 2 is 0.0945 to 0.9055 at 95 %; findings fire by the thresholds that are told."""
    told = _health(GOLDEN)
    span = told["intervals"]["ended_on_failed_call_rate"]
    assert (round(span["low"], 4), round(span["high"], 4)) == (0.0945, 0.9055)
    assert (told["confidence"], told["interval_method"], told["findings"]) == (0.95, "wilson", [])
    narrower = _health(GOLDEN, "--confidence", "0.5")["intervals"]["ended_on_failed_call_rate"]
    assert span["low"] < narrower["low"] < 0.5
    [found] = _health(GOLDEN, "--threshold", "min_runs=2")["findings"]
    assert (found["finding"], found["observed"], found["cases"]) == ("ends runs on a failed call", 0.5, 1)
    assert "95% intervals" in _run("health", GOLDEN).stdout


def test_stop_causes_stand_in_the_order_of_the_specification(tmp_path: Path) -> None:
    """Unrecorded first, then as in 11.2, then stopped, then unknown words by name (section 22)."""
    causes = ["zeal", "stopped", "no_output", "loop", "interrupted", "cost_budget", "output_token_budget", "max_turns",
              "completed", None, "apathy"]  # fmt: skip
    _write(tmp_path, "a", *(_outcome(1, 0, stop_cause=cause) for cause in causes))
    assert list(_health(tmp_path)["stop_causes"]) == [
        "unrecorded", "completed", "max_turns", "output_token_budget", "cost_budget", "interrupted", "loop",
        "no_output", "stopped", "apathy", "zeal",
    ]  # fmt: skip


@pytest.mark.parametrize("generation", ["a", "b", "own"])
def test_health_as_text_is_the_same_whatever_the_json(generation: str) -> None:
    """The lines of 11.3: runs and sessions, causes, failed ends, calls, rates with one decimal, the lower bound."""
    lines = _run("health", GOLDEN, "--generation", generation).stdout.splitlines()
    assert lines[:8] == [
        "2 runs in 1 session read",
        "  stopped                 completed 2",
        "  ended on a failed call  1 (50.0%)",
        "  tool calls              3, errors 1 (33.3%)",
        "                          denied 0, staged 0",
        "  malformed arguments     0, blocked sends 0",
        "  compactions             0",
        "  recorded cost           at least $0.01, of 1 of 2 runs",
    ]
