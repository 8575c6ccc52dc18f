"""The view ``cost.tokens`` in, stacked bars of tokens per day and kind out."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from sessionlab.charts._days import Calendar, dated, placed, stacked
from sessionlab.charts._ranked import UNTOLD
from sessionlab.charts._sums import total
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import (
    BLUE,
    GREEN,
    GREY,
    HEIGHT,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    WIDTH,
    YELLOW,
    Picture,
    finished,
    hues,
    nothing,
)
from sessionlab.charts._wording import brief, counted, sentence

COLUMNS: Final[dict[str, Kind]] = {"day": "DATE", "kind": "VARCHAR", "tokens": "BIGINT"}
KINDS: Final = {
    "uncached input": BLUE,
    "cache read": SKY,
    "cache write": PURPLE,
    "cache write 1h": VERMILLION,
    "output": ORANGE,
    "unsplit": GREY,
}
"""The kinds that a total is made of, in the order they are stacked."""
_PART: Final = "reasoning"
"""The kind that is a part of another, output: stacked on it, it would count twice."""
_FURTHER: Final = (GREEN, YELLOW)
"""Colours for kinds this module has never heard of; past them, kinds share one grey."""
_BARS: Final = 120


def tokens(by_kind: ArrowStream) -> Picture:
    """The tokens used, day by day, stacked by kind. The kinds are disjoint, so a bar is the total of its day.

    Reasoning tokens are a part of the output and are told, not stacked; so is what has no day. A long corpus is drawn
    by week, month or more.

    Args:
        by_kind: the view ``cost.tokens``: rows of ``day`` (null: undated), ``kind`` (``uncached input``,
            ``cache read``, ``cache write``, ``output``; underscores and a final ``_tokens`` are read the same),
            ``tokens`` (null: not told).

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    kind = pl.col("kind").str.replace_all("_", " ", literal=True).str.strip_suffix(" tokens").fill_null(UNTOLD)
    rows = frame("tokens", by_kind, COLUMNS).with_columns(kind=kind)
    if rows.is_empty():
        return nothing("Tokens per day")
    part = rows.filter(pl.col("kind") == _PART).select(total("tokens")).item()
    rows = rows.filter(pl.col("kind") != _PART)
    strange = sorted(set(rows["kind"]) - KINDS.keys())[len(_FURTHER) :]
    rows = rows.with_columns(kind=pl.when(pl.col("kind").is_in(strange)).then(pl.lit("other kinds")).otherwise("kind"))
    undated = rows.filter(pl.col("day").is_null())
    whole, untold = rows.select(total("tokens"), pl.col("tokens").null_count().alias("untold")).row(0)
    sums = dict(rows.group_by("kind").agg(total("tokens")).sort("kind").iter_rows())
    further = sorted(sums.keys() - KINDS.keys(), key=lambda name: (name == "other kinds", name))
    named = [name for name in (*KINDS, *further) if name in sums]
    notes = [
        sentence(f"{name} {brief(sums[name])}" for name in named),
        "" if part is None else f"reasoning, part of the output: {brief(part)}",
        f"{counted(untold, 'row')} without a figure" if untold else "",
        "" if undated.is_empty() else f"undated, not drawn: {brief(undated.select(total('tokens')).item())} tokens",
    ]
    known = dated(rows, _BARS)
    if known is None:
        return nothing(f"Tokens: {brief(whole)}", notes, words="nothing has a date")
    rows, calendar = known
    bars = placed(_summed(rows, named), calendar)
    return finished(
        _drawn(bars, calendar, named), f"Tokens per {calendar.stretch.name}, by kind: {brief(whole)}", notes
    )


def _summed(rows: pl.DataFrame, named: list[str]) -> pl.DataFrame:
    """A row per day and kind, with the figures of the kind and of the day in words."""
    days = rows.group_by("day").agg(total("tokens"))
    bars = rows.group_by("day", "kind").agg(total("tokens")).join(days, on="day", suffix="_of_all")
    order = {name: at for at, name in enumerate(named)}
    return (
        bars.with_columns(
            pl.col("kind").replace_strict(order, return_dtype=pl.Int64).alias("place"),
            pl.Series("words", [brief(n) for n in bars["tokens"]], pl.String),
            pl.Series("total", [brief(n) for n in bars["tokens_of_all"]], pl.String),
        )
        .sort("day", "place")
        .select(pl.exclude("place", "tokens_of_all"), *stacked("tokens"))
    )


def _drawn(bars: pl.DataFrame, calendar: Calendar, named: list[str]) -> alt.Chart:
    further = iter(_FURTHER)
    colours = [KINDS[name] if name in KINDS else next(further, GREY) for name in named]
    chart: alt.Chart = (
        alt.Chart(bars, width=WIDTH, height=HEIGHT)
        .mark_bar(xOffset=calendar.gap, x2Offset=-calendar.gap)
        .encode(
            x=calendar.axis(),
            x2="until:T",
            # Vega's G for a thousand million is B in English.
            y=alt.Y("high:Q", title="tokens", axis=alt.Axis(labelExpr="replace(format(datum.value, '~s'), 'G', 'B')")),
            y2="low:Q",
            color=alt.Color("kind:N", title="kind", scale=hues(named, colours)),
            tooltip=[
                alt.Tooltip("when:N", title="when"),
                alt.Tooltip("kind:N", title="kind"),
                alt.Tooltip("words:N", title="tokens"),
                alt.Tooltip("tokens:Q", title="exactly", format=","),
                alt.Tooltip("total:N", title="all kinds"),
            ],
        )
    )
    return chart
