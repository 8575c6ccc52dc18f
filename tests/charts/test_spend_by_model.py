"""Spend per model: free, unpriced and partly priced are three different things."""

from __future__ import annotations

from typing import Any

import polars as pl

from sessionlab import charts


def test_labels_tell_free_unpriced_and_lower_bounds(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """Dearest first, a free model before an unpriced one, and two models of one name with their providers."""
    chart = read(charts.spend_by_model(tables["spend_by_model"]))
    assert [(row["label"], row["words"], row["open"]) for row in chart.rows] == [
        ("opus", "≥ $6.25 · 5 charges unpriced", True),
        ("mini · acme", "$1.70", False),
        ("mini · home", "$0.00", False),
        ("mystery", "— · 7 charges unpriced", True),
    ]
    assert chart.title == "Spend per model: at least $7.95"
    assert chart.notes == ["4 models · 108 calls", "hollow mark: a lower bound, for 12 charges unpriced"]


def test_hollow_mark_is_for_what_is_left_out(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """The diamond is hollow and drawn for the rows that leave something out only."""
    layers = read(charts.spend_by_model(tables["spend_by_model"])).spec["layer"]
    [hollow] = [layer for layer in layers if layer["mark"]["type"] == "point"]
    assert hollow["mark"]["filled"] is False
    assert hollow["transform"][-1] == {"filter": "datum.open"}


def test_nothing_priced_is_unknown(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """No price at all is no sum."""
    chart = read(charts.spend_by_model(tables["spend_by_model"].tail(1)))
    assert chart.title == "Spend per model: unknown, nothing is priced"


def test_models_after_the_twentieth_are_gathered(read: Any) -> None:
    """Of 23 models costing 1 to 23 dollars the three cheapest are one bar of 6 dollars; the sum is all 276."""
    table = pl.DataFrame(
        {
            "provider": ["acme"] * 23,
            "model": [f"m{n}" for n in range(1, 24)],
            "calls": list(range(101, 124)),
            "cost_usd": [float(n) for n in range(1, 24)],
            "unpriced": [0] * 23,
        }
    )
    chart = read(charts.spend_by_model(table))
    assert len(chart.rows) == 21
    last = chart.rows[-1]
    assert (last["label"], last["cost_usd"], last["calls"]) == ("3 other models", 6.0, 306)
    assert (last["provider"], last["rest"]) == (None, True)
    assert chart.title == "Spend per model: $276.00"


def test_a_model_without_a_name_is_a_row(read: Any) -> None:
    """A null model is told as such."""
    table = pl.DataFrame({"provider": [None], "model": [None], "calls": [2], "cost_usd": [0.25], "unpriced": [0]})
    assert [row["label"] for row in read(charts.spend_by_model(table)).rows] == ["(not told)"]


def test_a_cost_known_to_be_higher_is_a_lower_bound(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """Where the view counts lower bounds, the label tells them beside what is unpriced."""
    table = tables["spend_by_model"].head(1).with_columns(lower_bounds=pl.lit(3))
    assert [row["words"] for row in read(charts.spend_by_model(table)).rows] == [
        "≥ $6.25 · 5 charges unpriced, 3 known to be higher"
    ]
