"""The view ``health.by_tool`` in, a row per tool with its rates, counts and durations side by side out."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from sessionlab.charts._ranked import UNTOLD
from sessionlab.charts._sums import judged, total
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import BLUE, GREY, INK, ROW, VERMILLION, Picture, finished, nothing
from sessionlab.charts._wording import UNKNOWN, counted, lasting, sentence, share

COLUMNS: Final[dict[str, Kind]] = {
    "tool": "VARCHAR",
    "calls": "BIGINT",
    "errors": "BIGINT",
    "denied": "BIGINT",
    "unanswered": "BIGINT",
    "error_rate": "DOUBLE",
    "median_ms": "DOUBLE",
    "p95_ms": "DOUBLE",
}
_TOOLS: Final = 20
_MEASURES: Final = {"errors": VERMILLION, "denied": BLUE, "unanswered": GREY}
_SHAPES: Final = ("circle", "diamond", "triangle-down")
_LEAST: Final = 0.05
"""The share at the right edge at least: without a floor, one error in a thousand calls would fill the panel."""
_COUNTS: Final = ("calls", *_MEASURES)
_PANELS: Final = (250, 240, 180)
"""Widths of the rates, of the counts and of the durations, in pixels."""

_LASTING: Final = (
    "datum.value < 1e3 ? datum.value + ' ms' : datum.value < 6e4 ? datum.value / 1e3 + ' s' : "
    "format(datum.value / 6e4, ',.3~r') + ' min'"
)
"""How the axis of durations writes milliseconds (a Vega expression)."""


def tool_reliability(by_tool: ArrowStream) -> Picture:
    """How far each tool can be relied on: its share of failed calls, of denied ones and of those never answered.

    The three are separate marks and are never added: a denied call did not fail. Beside them stand the counts they
    come from, and the duration from the median to the 95th percentile where any is known. The twenty tools called
    most are drawn, the rest are told under the title.

    Args:
        by_tool: the view ``health.by_tool``: rows of ``tool``, ``calls``, ``errors``, ``denied``, ``unanswered``,
            ``error_rate`` (errors per call whose end is known; null where none is), ``median_ms``, ``p95_ms``
            (milliseconds; null where no duration is known). Where one tool has several rows, counts are added and the
            rate taken anew; durations are left out: no percentile of the whole follows from those of the parts.

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    rows = frame("tool_reliability", by_tool, COLUMNS).with_columns(pl.col("tool").fill_null(UNTOLD))
    if rows.is_empty():
        return nothing("How reliable the tools are")
    rows = rows.with_columns(judged=judged("errors", "error_rate", "calls"))
    tools = _one_row_each(rows)
    calls, errors, ended, rate = rows.select(total("calls"), total("errors"), total("judged"), _rate()).row(0)
    title = f"Tool reliability: {share(rate)} of {counted(ended, 'call')} failed"
    if rate is None:
        title = f"Tool reliability: no error rate for {counted(calls, 'call')}"
    notes = [
        sentence(
            [
                counted(tools.height, "tool"),
                counted(calls, "call"),
                counted(errors, "error"),
                *(f"{_count(tools.select(total(name)).item())} {name}" for name in ("denied", "unanswered")),
            ]
        ),
        _left_out(tools),
    ]
    if tools["split"].any():
        notes.append("a tool on several rows has no duration: percentiles do not add up")
    return finished(_drawn(tools.head(_TOOLS)), title, notes)


def _rate() -> pl.Expr:
    """Failed calls per call whose end is known, over the rows whose rate is known; null where none is."""
    failed = pl.when(pl.col("judged").is_not_null()).then("errors").sum()
    return pl.when(pl.col("judged").sum() > 0).then(failed / pl.col("judged").sum()).alias("error_rate")


def _one_row_each(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per tool, the one called most first."""
    single = pl.len() == 1
    return (
        rows.group_by("tool")
        .agg(
            *(total(name) for name in _COUNTS),
            pl.when(single).then(pl.col("error_rate").first()).otherwise(_rate()),
            *(pl.when(single).then(pl.col(name).first()).alias(name) for name in ("median_ms", "p95_ms")),
            split=~single,
        )
        .sort("calls", "tool", descending=[True, False], nulls_last=True)
    )


def _left_out(tools: pl.DataFrame) -> str:
    """What the rows past the last one drawn come to."""
    left = tools.tail(-_TOOLS)
    if left.is_empty():
        return ""
    calls, errors, denied, unanswered = left.select(total(name) for name in _COUNTS).row(0)
    return (
        f"not drawn: {counted(left.height, 'other tool')} with {counted(calls, 'call')}, {counted(errors, 'error')}, "
        f"{_count(denied)} denied, {_count(unanswered)} unanswered"
    )


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _drawn(tools: pl.DataFrame) -> alt.HConcatChart:
    panels: list[alt.Chart | alt.LayerChart] = [_rates(tools), _counts(tools)]
    if tools["median_ms"].count() + tools["p95_ms"].count():
        panels.append(_durations(tools))
    side_by_side: alt.HConcatChart = alt.hconcat(*panels, spacing=18)
    return side_by_side


def _rows_axis(tools: pl.DataFrame, *, named: bool, grid: bool = True) -> alt.Y:
    """A row per tool, named at the left edge only."""
    # Room for a mark at zero, which reaches beyond the panel.
    axis = alt.Axis(ticks=False, domain=False, labels=named, labelPadding=12, grid=grid)
    return alt.Y("tool:N", title=None, scale=alt.Scale(domain=tools["tool"].to_list()), axis=axis)


def _rates(tools: pl.DataFrame) -> alt.Chart:
    """Errors, denials and unanswered calls as shares of the calls: three marks a row."""
    marks = pl.concat(
        [
            tools.select(
                "tool",
                "calls",
                measure=pl.lit(name),
                count=pl.col(name),
                share=pl.col("error_rate")
                if name == "errors"
                else pl.col(name) / pl.when(pl.col("calls") > 0).then("calls"),
            )
            for name in _MEASURES
        ]
    ).drop_nulls("share")
    names, highest = list(_MEASURES), marks.select(pl.col("share").max().fill_null(0.0)).item()
    panel: alt.Chart = (
        alt.Chart(marks, width=_PANELS[0], height=alt.Step(ROW))
        .mark_point(filled=False, size=60, strokeWidth=2, opacity=1)
        .encode(
            y=_rows_axis(tools, named=True),
            x=alt.X(
                "share:Q",
                title="share of calls",
                axis=alt.Axis(format=".0~%", tickCount=5),
                scale=alt.Scale(domain=[0, max(_LEAST, highest * 1.05)], nice=False),
            ),
            color=alt.Color(
                "measure:N",
                title=None,
                scale=alt.Scale(domain=names, range=list(_MEASURES.values())),
                legend=alt.Legend(orient="bottom"),
            ),
            shape=alt.Shape("measure:N", title=None, scale=alt.Scale(domain=names, range=list(_SHAPES))),
            tooltip=[
                alt.Tooltip("tool:N", title="tool"),
                alt.Tooltip("measure:N", title="what"),
                alt.Tooltip("share:Q", title="share of calls", format=".1%"),
                alt.Tooltip("count:Q", title="count", format=","),
                alt.Tooltip("calls:Q", title="calls", format=","),
            ],
        )
    )
    return panel


def _counts(tools: pl.DataFrame) -> alt.Chart:
    """The counts in figures, a column for each."""
    figures = pl.concat(
        [
            tools.select(
                "tool", column=pl.lit(name), words=pl.Series([_count(n) for n in tools[name]], dtype=pl.String)
            )
            for name in _COUNTS
        ]
    )
    panel: alt.Chart = (
        alt.Chart(figures, width=_PANELS[1], height=alt.Step(ROW))
        .mark_text(align="center")
        .encode(
            y=_rows_axis(tools, named=False, grid=False),
            x=alt.X(
                "column:N",
                title=None,
                sort=list(_COUNTS),
                axis=alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False),
            ),
            text="words:N",
        )
    )
    return panel


def _durations(tools: pl.DataFrame) -> alt.LayerChart:
    """The median and the 95th percentile of each tool, on a logarithmic scale from one millisecond."""
    spans = tools.select(
        "tool",
        # A logarithmic scale has no place for less than its beginning; the tooltip has the figure itself.
        low=pl.col("median_ms").clip(lower_bound=1),
        high=pl.col("p95_ms").clip(lower_bound=1),
        median=pl.Series([lasting(ms) for ms in tools["median_ms"]], dtype=pl.String),
        p95=pl.Series([lasting(ms) for ms in tools["p95_ms"]], dtype=pl.String),
    )
    base = alt.Chart(spans, width=_PANELS[2], height=alt.Step(ROW)).encode(
        y=_rows_axis(tools, named=False),
        tooltip=[
            alt.Tooltip("tool:N", title="tool"),
            alt.Tooltip("median:N", title="median"),
            alt.Tooltip("p95:N", title="95th percentile"),
        ],
    )
    time = alt.X(
        "low:Q",
        title="median (dot) to 95th percentile (tick)",
        scale=alt.Scale(type="log", domainMin=1),
        axis=alt.Axis(labelExpr=_LASTING, labelOverlap=True, tickCount=4),
    )
    rule = (
        base.transform_filter("datum.low !== null && datum.high !== null")
        .mark_rule(color=INK, strokeWidth=1.5)
        .encode(x=time, x2="high:Q")
    )
    middle = (
        base.transform_filter("datum.low !== null")
        .mark_point(filled=True, color=INK, size=60, opacity=1)
        .encode(x=time)
    )
    end = (
        base.transform_filter("datum.high !== null")
        .mark_tick(color=INK, thickness=1.5, size=10)
        .encode(x=alt.X("high:Q"))
    )
    return alt.LayerChart(layer=[rule, middle, end])
