"""Spend over time: what is unpriced and what is undated is told, and the models beyond the seventh are gathered."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa

from sessionlab import charts


def rows_of(*rows: tuple[Any, ...]) -> pl.DataFrame:
    """A table of day, model, cost, calls, unpriced."""
    schema = {"day": pl.Date, "model": pl.String, "cost_usd": pl.Float64, "calls": pl.Int64, "unpriced": pl.Int64}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def test_words_tell_total_unpriced_and_undated(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """4.25 + 0.5 + 2 + 1.2 = 7.95 with 5 + 7 charges unpriced; 1.20 of it in 3 calls without a day."""
    chart = read(charts.spend(tables["spend"]))
    assert chart.title == "Spend per day, by model: at least $7.95"
    assert chart.notes == [
        "12 charges unpriced: at least $7.95",
        "triangle: a day whose bar is a lower bound",
        "undated, not drawn: $1.20 in 3 calls",
    ]


def test_bars_are_stacked_dearest_first_with_the_day_total(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """On the second of March opus reaches from 0 to 4.25 and mini from there to 4.75, the total of the day."""
    bars = read(charts.spend(tables["spend"])).having("label", "low")
    assert [(bar["day"], bar["label"], bar["low"], bar["high"], bar["cost"], bar["total"]) for bar in bars] == [
        ("2026-03-02T00:00:00", "opus", 0.0, 4.25, "$4.25", "$4.75"),
        ("2026-03-02T00:00:00", "mini", 4.25, 4.75, "$0.50", "$4.75"),
        ("2026-03-04T00:00:00", "opus", 0.0, 2.0, "≥ $2.00", "≥ $2.00"),
        ("2026-03-04T00:00:00", "mystery", 2.0, 2.0, "—", "≥ $2.00"),
    ]
    assert [bar["calls_of_all"] for bar in bars] == [46, 46, 18, 18]


def test_triangle_stands_over_the_lower_bound_only(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """Only the fourth of March has unpriced charges: its triangle stands at noon, at the two dollars known."""
    bounds = [row for row in read(charts.spend(tables["spend"])).having("middle", "high") if "label" not in row]
    assert [(row["middle"], row["high"], row["unpriced"]) for row in bounds] == [("2026-03-04T12:00:00", 2.0, 12)]


def test_everything_priced_has_nothing_to_note(read: Any) -> None:
    """A plain sum is stated plainly."""
    chart = read(charts.spend(rows_of((date(2026, 3, 2), "opus", 3.5, 4, 0))))
    assert (chart.title, chart.notes) == ("Spend per day, by model: $3.50", [])


def test_free_is_zero_and_unpriced_is_unknown(read: Any) -> None:
    """A cost of zero is $0.00; without any price the sum is unknown, never zero."""
    free = read(charts.spend(rows_of((date(2026, 3, 2), "local", 0.0, 4, 0))))
    assert (free.title, free.notes) == ("Spend per day, by model: $0.00", [])
    unknown = read(charts.spend(rows_of((date(2026, 3, 2), "mystery", None, 4, 4))))
    assert unknown.title == "Spend per day, by model: unknown, nothing is priced"
    assert unknown.notes[0] == "4 charges unpriced"


def test_nothing_dated_says_so_and_keeps_the_sum(read: Any) -> None:
    """Rows without a day are no empty table."""
    chart = read(charts.spend(rows_of((None, "opus", 2.5, 4, 0), (None, "mystery", None, 6, 6))))
    assert chart.title == "Spend: at least $2.50"
    assert chart.notes == [
        "6 charges unpriced: at least $2.50",
        "undated, not drawn: at least $2.50 in 10 calls",
    ]
    assert chart.rows == [{"words": "nothing has a date"}]


def test_undated_calls_without_a_price_are_counted(read: Any) -> None:
    """What has neither day nor price still has its calls."""
    chart = read(charts.spend(rows_of((date(2026, 3, 2), "opus", 2.5, 4, 0), (None, "mystery", None, 6, 6))))
    assert chart.notes[-1] == "undated, not drawn: 6 calls, none of them priced"


def test_models_after_the_seventh_are_gathered(read: Any) -> None:
    """Of nine models the two cheapest, 1 and 2 dollars, share the grey bar of 3 dollars."""
    chart = read(charts.spend(rows_of(*((date(2026, 3, 2), f"m{n}", float(n), n, 0) for n in range(1, 10)))))
    bars = chart.having("label", "low")
    assert [bar["label"] for bar in bars] == ["m9", "m8", "m7", "m6", "m5", "m4", "m3", "2 other models"]
    assert (bars[-1]["cost_usd"], bars[-1]["calls"]) == (3.0, 3)
    assert chart.parts("range")[0][-1] == "#999999"


def test_an_eighth_model_alone_keeps_its_name(read: Any) -> None:
    """A rest of one is no rest."""
    chart = read(charts.spend(rows_of(*((date(2026, 3, 2), f"m{n}", float(n), n, 0) for n in range(1, 9)))))
    assert [bar["label"] for bar in chart.having("label", "low")][-1] == "m1"


def test_providers_of_one_model_are_added(read: Any) -> None:
    """The view has a row per provider; the chart adds them: 1.5 + 2.25 = 3.75."""
    day = date(2026, 3, 2)
    bars = read(charts.spend(rows_of((day, "opus", 1.5, 3, 0), (day, "opus", 2.25, 5, 0)))).having("label", "low")
    assert [(bar["cost_usd"], bar["calls"]) for bar in bars] == [(3.75, 8)]


def test_a_long_corpus_is_drawn_by_week_and_loses_nothing(read: Any) -> None:
    """200 days at 0.5 dollars are 100 dollars, in bars of a week."""
    days = [(date(2026, 1, 1) + timedelta(n), "opus", 0.5, 1, 0) for n in range(200)]
    chart = read(charts.spend(rows_of(*days)))
    assert chart.title == "Spend per week, by model: $100.00"
    bars = chart.having("label", "low")
    assert sum(bar["cost_usd"] for bar in bars) == 100.0
    # The first of January 2026 is a Thursday: its week has four days of the table.
    assert (bars[0]["day"], bars[0]["cost_usd"]) == ("2025-12-29T00:00:00", 2.0)


def test_decimals_dictionaries_and_times_are_read(read: Any) -> None:
    """DuckDB's DECIMAL and HUGEINT, dictionary text, and a time of 23:30 in New York that is the next day in UTC."""
    moment = datetime(2026, 3, 2, 23, 30, tzinfo=timezone(-timedelta(hours=5)))
    table = pa.table(
        {
            "day": pa.array([moment], pa.timestamp("us", "America/New_York")),
            "model": pa.array(["opus"]).dictionary_encode(),
            "cost_usd": pa.array([Decimal("1.250")], pa.decimal128(18, 3)),
            "calls": pa.array([Decimal(7)], pa.decimal128(38, 0)),
            "unpriced": pa.array([0], pa.uint8()),
        }
    )
    [bar] = read(charts.spend(table)).having("label", "low")
    assert (bar["day"], bar["label"], bar["cost_usd"], bar["calls"]) == ("2026-03-03T00:00:00", "opus", 1.25, 7)


def test_a_cost_that_is_no_number_is_unknown(read: Any) -> None:
    """NaN and infinity are no cost."""
    day = date(2026, 3, 2)
    chart = read(
        charts.spend(rows_of((day, "a", float("nan"), 2, 2), (day, "b", float("inf"), 3, 3), (day, "c", 1.0, 1, 0)))
    )
    assert chart.title == "Spend per day, by model: at least $1.00"


def test_a_cost_known_to_be_higher_is_a_lower_bound(read: Any) -> None:
    """Where the view counts lower bounds, a sum with one says at least, and so does its bar."""
    table = rows_of((date(2026, 3, 2), "opus", 3.5, 4, 0)).with_columns(lower_bounds=pl.lit(2))
    chart = read(charts.spend(table))
    assert chart.title == "Spend per day, by model: at least $3.50"
    assert chart.notes[0] == "2 charges known to be higher: at least $3.50"
    assert [bar["cost"] for bar in chart.having("label", "low")] == ["≥ $3.50"]
