"""Tool reliability: errors, denials and unanswered calls are three rates beside their counts, never one."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sessionlab import charts


def test_words_add_counts_of_one_kind_only(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """6 + 3 errors in 90 calls are 10 %; 7 denials and 1 unanswered call stand beside them."""
    chart = read(charts.tool_reliability(tables["tool_reliability"]))
    assert chart.title == "Tool reliability: 10.0% of 90 calls failed"
    assert chart.notes == ["3 tools · 90 calls · 9 errors · 7 denied · 1 unanswered"]


def test_each_rate_is_a_mark_of_its_own(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """Of 40 Bash calls 15 % failed, 5 % were denied, 2.5 % never answered; a tool never called has no rate."""
    marks = read(charts.tool_reliability(tables["tool_reliability"])).having("measure")
    assert {(row["tool"], row["measure"]): row["share"] for row in marks} == {
        ("Bash", "errors"): 0.15,
        ("Bash", "denied"): 0.05,
        ("Bash", "unanswered"): 0.025,
        ("Read", "errors"): 0.06,
        ("Read", "denied"): 0.1,
        ("Read", "unanswered"): 0.0,
    }


def test_counts_and_durations_are_in_words(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """The counts stand in figures; durations in the unit one would say."""
    chart = read(charts.tool_reliability(tables["tool_reliability"]))
    counts = [(row["tool"], row["column"], row["words"]) for row in chart.having("column")]
    assert [words for tool, _, words in counts if tool == "Read"] == ["50", "3", "5", "0"]
    spans = {row["tool"]: (row["median"], row["p95"]) for row in chart.having("low")}
    assert spans == {"Bash": ("830 ms", "22.0 s"), "Read": ("12 ms", "1 min 30 s"), "Odd": ("—", "—")}


def test_without_durations_there_is_no_panel_for_them(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """Two panels, not an empty third."""
    table = tables["tool_reliability"].with_columns(median_ms=None, p95_ms=None)
    assert len(read(charts.tool_reliability(table)).spec["hconcat"]) == 2


def test_unknown_counts_are_dashes(read: Any) -> None:
    """What a format does not record is no zero."""
    schema = {"tool": pl.String, "calls": pl.Int64, "errors": pl.Int64, "denied": pl.Int64, "unanswered": pl.Int64}
    table = pl.DataFrame([("Bash", 9, None, None, None)], schema=schema, orient="row")
    chart = read(charts.tool_reliability(table.with_columns(error_rate=None, median_ms=None, p95_ms=None)))
    assert [row["words"] for row in chart.having("column")] == ["9", "—", "—", "—"]
    assert chart.title == "Tool reliability: no error rate for 9 calls"
    assert chart.notes == ["1 tool · 9 calls · an unknown number of errors · — denied · — unanswered"]


def test_rows_of_one_tool_are_put_together(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """40 calls at 15 % and 60 at 5 % are 100 at 9 %; their percentiles have no sum."""
    bash = tables["tool_reliability"].head(1)
    more = bash.with_columns(calls=pl.lit(60, pl.Int64), errors=pl.lit(3, pl.Int64), error_rate=0.05)
    chart = read(charts.tool_reliability(pl.concat([bash, more])))
    [errors] = [row for row in chart.having("measure") if row["measure"] == "errors"]
    assert errors["share"] == pytest.approx(0.09, rel=1e-12)
    assert (errors["calls"], errors["count"]) == (100, 9)
    assert chart.notes[-1] == "a tool on several rows has no duration: percentiles do not add up"
    assert chart.having("low") == []


def test_tools_past_the_twentieth_are_told(read: Any) -> None:
    """Of 22 tools the two called least, with 1 and 2 calls, are named by number under the title."""
    calls = list(range(1, 23))
    table = pl.DataFrame({"tool": [f"t{n}" for n in calls], "calls": calls}).with_columns(
        errors=pl.lit(1),
        denied=pl.lit(0),
        unanswered=pl.lit(0),
        error_rate=1 / pl.col("calls"),
        median_ms=5.0,
        p95_ms=6.0,
    )
    chart = read(charts.tool_reliability(table))
    assert len(chart.having("low")) == 20
    assert chart.notes[-1] == "not drawn: 2 other tools with 3 calls, 2 errors, 0 denied, 0 unanswered"


def test_calls_whose_end_is_unknown_are_in_no_denominator(read: Any) -> None:
    """4 errors at a rate of 0.5 are of 8 calls, though 10 were made; with 1 of 2 that is 5 of 10."""
    table = pl.DataFrame(
        {"tool": ["a", "b"], "calls": [10, 2], "errors": [4, 1], "error_rate": [0.5, 0.5]}
    ).with_columns(denied=pl.lit(0), unanswered=pl.lit(0), median_ms=None, p95_ms=None)
    chart = read(charts.tool_reliability(table))
    assert chart.title == "Tool reliability: 50.0% of 10 calls failed"
    assert chart.notes == ["2 tools · 12 calls · 5 errors · 0 denied · 0 unanswered"]
