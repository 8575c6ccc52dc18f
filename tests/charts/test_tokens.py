"""Tokens by kind: disjoint kinds are stacked, a part of another is not."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl

from sessionlab import charts

DAY = date(2026, 3, 2)


def test_words_tell_each_kind_and_the_undated(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """1,500 + 64,000 + 2,300 + 9,100 + 77 = 76,977, of which 77 have no day."""
    chart = read(charts.tokens(tables["tokens"]))
    assert chart.title == "Tokens per day, by kind: 77k"
    assert chart.notes == [
        "uncached input 1.5k · cache read 64k · cache write 9.1k · output 2.38k",
        "undated, not drawn: 77 tokens",
    ]


def test_kinds_are_stacked_in_one_order(read: Any, tables: dict[str, pl.DataFrame]) -> None:
    """Input at the bottom, output on top; the last bar ends at the total of the day."""
    bars = read(charts.tokens(tables["tokens"])).rows
    assert [(bar["kind"], bar["low"], bar["high"], bar["total"]) for bar in bars] == [
        ("uncached input", 0, 1_500, "67.8k"),
        ("cache read", 1_500, 65_500, "67.8k"),
        ("output", 65_500, 67_800, "67.8k"),
        ("cache write", 0, 9_100, "9.1k"),
    ]


def test_column_names_of_usage_are_read_as_kinds(read: Any) -> None:
    """``cache_read_tokens`` and ``cache read`` are one kind."""
    table = pl.DataFrame({"day": [DAY, DAY], "kind": ["cache_read_tokens", "cache read"], "tokens": [5, 8]})
    assert [(bar["kind"], bar["tokens"]) for bar in read(charts.tokens(table)).rows] == [("cache read", 13)]


def test_reasoning_is_told_and_not_counted_twice(read: Any) -> None:
    """30 tokens of output, 20 of them reasoning, are 30."""
    table = pl.DataFrame({"day": [DAY, DAY], "kind": ["output", "reasoning_tokens"], "tokens": [30, 20]})
    chart = read(charts.tokens(table))
    assert chart.title == "Tokens per day, by kind: 30"
    assert chart.notes == ["output 30", "reasoning, part of the output: 20"]


def test_unheard_of_kinds_are_drawn(read: Any) -> None:
    """Two kinds nobody knows have colours, the others share a grey; nothing is dropped."""
    table = pl.DataFrame({"day": [DAY] * 4, "kind": ["a", "b", "c", "d"], "tokens": [1, 2, 4, 8]})
    assert [(bar["kind"], bar["tokens"]) for bar in read(charts.tokens(table)).rows] == [
        ("a", 1),
        ("b", 2),
        ("other kinds", 12),
    ]


def test_rows_without_a_figure_are_counted(read: Any) -> None:
    """A null is not told, and that is told."""
    table = pl.DataFrame({"day": [DAY, DAY], "kind": ["output", "cache read"], "tokens": [3, None]})
    chart = read(charts.tokens(table))
    assert chart.notes == ["cache read — · output 3", "1 row without a figure"]
