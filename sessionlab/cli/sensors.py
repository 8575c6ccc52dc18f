"""A corpus in; what optional sensors of its runs measured, as members of `sessionlab health --json`, out (mecha 11.4).

A sum is null, and so is a rate, where no run has the sensor. What the specification names and does not define is
counted as its name says: see each member below.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sessionlab.cli.output import records

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

STEPS = ("step_completions", "step_measured", "step_nulls", "step_reopens")
WRITES = ("goal_plan_writes", "goal_drift_writes", "goal_unnamed_writes")
GOAL_KINDS = ("charter", "project", "task", "setpoint", "trigger", "request")
"""Kinds of goals that mecha knows; any other word is no reference to a goal (4.9)."""


def as_members(corpus: Corpus) -> dict[str, object]:
    """The members of generation B about sensors, goals and readings."""
    rows = records(corpus.view("health.sensors"))
    sums, present, above = ({name: _total(rows, name, column) for name in _names(rows)} for column in _COLUMNS)
    goals = records(corpus.view("health.goals"))
    anchored = [row for row in goals if row["goal_kind"] in GOAL_KINDS]
    kinds: dict[str, int] = {}
    for row in anchored:
        kinds[str(row["goal_kind"])] = kinds.get(str(row["goal_kind"]), 0) + _count(row["runs"])
    rates = {
        name: above[sensor] / present[sensor] if present.get(sensor) else None
        for name, sensor in (
            ("overflow_rate", "context_overflows"),
            ("boredom_rate", "boredom_notices"),
            ("step_null_rate", "step_nulls"),
            ("step_reopen_rate", "step_reopens"),
            ("goal_drift_rate", "goal_drift_writes"),
        )
    }
    return {
        "context_overflows": sums.get("context_overflows"),
        "runs_with_overflow_sensor": present.get("context_overflows", 0),
        "overflow_rate": rates["overflow_rate"],
        "boredom_rate": rates["boredom_rate"],
        "step_null_rate": rates["step_null_rate"],
        "step_reopen_rate": rates["step_reopen_rate"],
        "runs_with_step_sensor": _runs_with(corpus, STEPS),
        "runs_with_a_plan_step": above.get("step_completions", 0),
        "runs_with_a_measured_completion": above.get("step_measured", 0),
        **{name: sums.get(name) for name in STEPS},
        "goal_drift_rate": rates["goal_drift_rate"],
        "runs_with_goal_sensor": sum(_count(row["runs_with_sensor"]) for row in goals),
        "runs_with_a_goal_anchor": sum(kinds.values()),
        "runs_planned_under_an_anchor": sum(_count(row["planned"]) for row in anchored),
        "runs_named_under_an_anchor": sum(_count(row["named"]) for row in anchored),
        **{name: sums.get(name) for name in WRITES},
        "runs_anchored_by_kind": dict(sorted(kinds.items())),
        "runs_planned_under_an_unjudged_anchor": sum(_count(row["unjudged"]) for row in anchored),
        "charter_readings": _readings(corpus, "charter"),
        "situation_brief": _readings(corpus, "situation"),
    }


_COLUMNS = ("total", "runs_with_sensor", "runs_above_zero")


def overflow_by_model(corpus: Corpus) -> dict[object, float | None]:
    """The overflow rate of each model that has the sensor."""
    rows = records(corpus.view("health.sensors", sensor="context_overflows"))
    return {row["model"]: float(str(row["rate"])) for row in rows}


def as_lines(corpus: Corpus) -> Iterable[tuple[str, str]]:
    """A label and a text for each sensor that any run has."""
    rows = records(corpus.view("health.sensors"))
    for name in _names(rows):
        present, above = _total(rows, name, "runs_with_sensor"), _total(rows, name, "runs_above_zero")
        total = f"{_total(rows, name, 'total'):,}"
        yield name.replace("_", " "), f"{total} in {above:,} of {present:,} measured runs ({above / present:.1%})"


def _runs_with(corpus: Corpus, names: Iterable[str]) -> int:
    """Runs that carry any of these sensors."""
    held = ", ".join(f"(o.sensors->>'$.{name}')" for name in names)
    found = corpus.sql(
        "SELECT count(*) FROM outcomes o JOIN sessions s ON s.session_id = o.session_id"
        f" WHERE s.same_as_session_id IS NULL AND coalesce({held}) IS NOT NULL"
    )
    return int(found.item())


def _names(rows: list[dict[str, object]]) -> list[str]:
    return sorted({str(row["sensor"]) for row in rows})


def _total(rows: list[dict[str, object]], sensor: str, column: str) -> int:
    return sum(_count(row[column]) for row in rows if row["sensor"] == sensor)


def _readings(corpus: Corpus, word: str) -> int | None:
    """Runs that carry a reading whose name begins so; null where none does: its members are not specified."""
    rows = corpus.sql("SELECT sensors FROM outcomes WHERE sensors LIKE ?", [f'%"{word}%']).height
    return rows or None


def _count(value: object) -> int:
    return int(str(value))
