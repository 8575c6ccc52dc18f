"""Run quality: rates over days, lines over windows, and what cannot be told left open."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest

from sessionlab import charts


def days_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """A table of day, runs, tool calls, errors and their rate, runs ended on a failed call, of how many, cut short."""
    rates = {"tool_error_rate": pl.Float64}
    names = ["runs", "tool_calls", "tool_errors", "tool_error_rate", "ended_on_failed_call"]
    names += ["runs_with_ending", "cut_short"]
    schema: dict[str, Any] = {"day": pl.Date} | dict.fromkeys(names, pl.Int64) | rates
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_words_tell_rates_with_their_denominators(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """5 + 21 + 4 of 200 calls; cut short 1 + 3 + 0 of the 24 runs where it is told; 6 of 23 ended on a failure."""
    chart = read(charts.run_quality(tables["run_quality"]))
    assert chart.title == "Run quality per day: 15.0% of tool calls failed, 16.7% of runs cut short"
    # 2 of 10 runs, 1 of 5 (one of the six does not tell), 3 of 8.
    endings = "ended on a failed call 26.1% of 23 runs"
    assert chart.notes == [
        f"28 runs · tool errors 15.0% of 200 tool calls · runs cut short 16.7% of 24 runs · {endings}",
        "marks: one day each, larger with more runs · lines: the 7 days up to then",
        "undated, not drawn: 8 runs",
    ]


def test_line_is_errors_by_calls_not_a_mean_of_rates(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """After 5 of 100 and 21 of 60 the line stands at 26 of 160; it holds over days without calls."""
    rows = read(charts.run_quality(tables["run_quality"])).having("recent", "share")
    errors = [(row["when"], row["share"], row["recent"]) for row in rows if row["measure"] == "tool errors"]
    assert errors == [
        ("Mon 2 Mar 2026", 0.05, 0.05),
        ("Tue 3 Mar 2026", 0.35, pytest.approx(26 / 160, rel=1e-12)),
    ]
    line = [row for row in read(charts.run_quality(tables["run_quality"])).having("recent") if "share" not in row]
    assert len([row for row in line if row["measure"] == "tool errors"]) == 4


def test_line_breaks_where_a_whole_window_is_empty(read: Any) -> None:
    """Two days twelve apart: the line holds for six days more, breaks, and begins anew."""
    first = date(2026, 3, 1)
    table = days_of([(first, 2, 10, 1, 0.1, 0, 2, 0), (first + timedelta(12), 2, 10, 3, 0.3, 0, 2, 0)])
    line = [row for row in read(charts.run_quality(table)).having("recent") if "share" not in row]
    errors = [row["recent"] for row in line if row["measure"] == "tool errors"]
    assert errors == [0.1] * 7 + [None] * 5 + [pytest.approx(0.3)]


def test_regression_in_the_middle_is_named_and_visible(read: Any) -> None:
    """Ten errors a hundred calls, forty in the ten days from the twentieth on, ten again: the line rises and falls."""
    first = date(2026, 3, 1)
    table = days_of(
        [(first + timedelta(n), 5, 100, bad := 40 if 20 <= n < 30 else 10, bad / 100, 0, 5, 0) for n in range(60)]
    )
    chart = read(charts.run_quality(table))
    # The first full week of it is that of the days 20 to 26: 21 to 27 March.
    assert "most tool errors over 7 days: 40.0% of 700 tool calls, in those to 27 Mar 2026" in chart.notes
    line = [row["recent"] for row in chart.having("recent") if "share" not in row and row["measure"] == "tool errors"]
    assert (line[19], line[26], line[40]) == (pytest.approx(0.1), pytest.approx(0.4), pytest.approx(0.1))
    assert line[20] == pytest.approx((6 * 10 + 40) / 700)


def test_no_denominator_is_no_rate(read: Any) -> None:
    """Runs without tool calls have no error rate, and nothing told about endings is not zero of them."""
    chart = read(charts.run_quality(days_of([(date(2026, 3, 2), 3, 0, 0, None, None, 0, None)])))
    assert chart.title == "Run quality per day: — of tool calls failed, — of runs cut short"
    assert chart.notes[0] == "3 runs"
    assert chart.having("share") == []


def test_a_small_bad_day_does_not_flatten_the_lines(read: Any) -> None:
    """One run cut short of one, among days of 1 in 20: its mark is at the upper edge, and that is said."""
    first = date(2026, 3, 1)
    rows = [(first + timedelta(n), 20, 100, 5, 0.05, 0, 20, 1) for n in range(20)]
    chart = read(charts.run_quality(days_of([*rows, (first + timedelta(20), 1, 5, 0, 0.0, 0, 1, 1)])))
    # The highest line is 7 of 121 runs; half as much again, rounded up to a twentieth, is 10 %.
    assert {tuple(scale["domain"]) for scale in chart.parts("scale") if scale.get("clamp")} == {(0, 0.1)}
    assert "1 mark above 10% drawn at the upper edge" in chart.notes


def test_nothing_dated_keeps_the_rates(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """Undated runs have rates and no picture."""
    chart = read(charts.run_quality(tables["run_quality"].tail(1)))
    assert chart.title == "Run quality: 10.0% of tool calls failed, 0.0% of runs cut short"
    assert chart.rows == [{"words": "nothing has a date"}]
