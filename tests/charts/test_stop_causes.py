"""Stop causes: every run is in a bar, in the colour of its class."""

from __future__ import annotations

from typing import Any

import polars as pl

from sessionlab import charts


def test_runs_are_counted_by_cause_and_class(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """12 of 24 runs completed; a cause in two classes is two bars."""
    chart = read(charts.stop_causes(tables["stop_causes"]))
    assert chart.title == "How runs ended: 12 of 24 runs completed (50.0%)"
    assert chart.notes == ["completed 12 · cut short 5 · interrupted 4 · failed 2 · (not told) 1"]
    assert [(row["label"], row["words"]) for row in chart.rows] == [
        ("completed", "12 · 50.0%"),
        ("max_turns", "5 · 20.8%"),
        ("stopped", "4 · 16.7%"),
        ("error · failed", "2 · 8.3%"),
        ("error · (not told)", "1 · 4.2%"),
    ]


def test_nothing_told_is_not_nothing_completed(read: Any) -> None:
    """Where no class is known, no share of completed runs is stated."""
    table = pl.DataFrame({"stop_cause": [None], "stop_class": [None], "runs": [9]}, schema_overrides={"runs": pl.Int64})
    assert read(charts.stop_causes(table)).title == "How runs ended: nothing tells for 9 runs"


def test_rare_causes_are_gathered_by_class(read: Any) -> None:
    """The 15 commonest of 18 causes have a bar; of the others, 2 + 3 failed runs and 1 completed one are two bars."""
    runs = [*range(10, 25), 3, 2, 1]
    table = pl.DataFrame(
        {
            "stop_cause": [f"c{n}" for n in runs],
            "stop_class": ["cut_short"] * 15 + ["failed", "failed", "completed"],
            "runs": runs,
        }
    )
    rows = read(charts.stop_causes(table)).rows
    assert [(row["label"], row["runs"]) for row in rows[15:]] == [
        ("2 other causes · failed", 5),
        ("1 other cause · completed", 1),
    ]
    assert sum(row["runs"] for row in rows) == sum(runs)


def test_an_unheard_of_class_is_kept_apart(read: Any) -> None:
    """A class that is none of the four is neither dropped nor taken for one of them."""
    table = pl.DataFrame({"stop_cause": ["x"], "stop_class": ["vanished"], "runs": [3]})
    assert [row["stop_class"] for row in read(charts.stop_causes(table)).rows] == ["another class"]
