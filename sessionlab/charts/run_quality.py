"""The view ``health.by_day`` in, lines of failing tool calls and of runs that ended badly over time out."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, NamedTuple

import altair as alt
import polars as pl

from sessionlab.charts._days import Calendar, dated, placed
from sessionlab.charts._sums import judged, total
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import BLUE, HEIGHT, INK, ORANGE, VERMILLION, WIDTH, Picture, finished, nothing
from sessionlab.charts._wording import counted, sentence, share

COLUMNS: Final[dict[str, Kind]] = {
    "day": "DATE",
    "runs": "BIGINT",
    "tool_calls": "BIGINT",
    "tool_errors": "BIGINT",
    "tool_error_rate": "DOUBLE",
    "ended_on_failed_call": "BIGINT",
    "runs_with_ending": "BIGINT",
    "cut_short": "BIGINT",
}
_STRETCHES: Final = 370
_WINDOWS: Final = {"day": 7, "week": 4, "month": 3, "quarter": 4, "year": 3, "decade": 2, "century": 2}
"""How many stretches the line looks back over."""
_ENOUGH: Final = 20
"""Tool calls, or runs, from which a rate is worth a headline."""


class _Measure(NamedTuple):
    """One rate: how often it happened, out of how many."""

    name: str
    part: str
    whole: str
    of: str
    colour: str
    shape: str


_MEASURES: Final = (
    _Measure("tool errors", "tool_errors", "judged_calls", "tool call", VERMILLION, "circle"),
    _Measure("runs cut short", "cut_short", "cut_runs", "run", BLUE, "diamond"),
    _Measure("ended on a failed call", "ended_on_failed_call", "ended_runs", "run", ORANGE, "triangle-up"),
)


def run_quality(by_day: ArrowStream) -> Picture:
    """How well runs went, day by day: the share of tool calls that failed, of runs cut short or ended on a failure.

    A mark is one day, as large as its runs are many; the line is the share over the seven days up to it (all errors
    by all calls, no mean of rates), so that a change in the middle of the period shows as a step and a bad day with
    two runs does not. A line breaks where seven days have nothing. A long corpus is drawn by week, month or more.

    Args:
        by_day: the view ``health.by_day``: rows of ``day`` (null: undated), ``runs``, ``tool_calls``,
            ``tool_errors``, ``tool_error_rate`` (null without a denominator), ``ended_on_failed_call`` (runs),
            ``runs_with_ending`` (runs that record whether their last call had failed), ``cut_short`` (runs; null
            where nothing tells).

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    rows = frame("run_quality", by_day, COLUMNS)
    if rows.is_empty():
        return nothing("Run quality per day")
    rows = _counted(rows)
    undated = rows.filter(pl.col("day").is_null())
    rates = [_overall(rows, measure) for measure in _MEASURES]
    answer = f"{share(rates[0][0])} of tool calls failed, {share(rates[1][0])} of runs cut short"
    said = sentence(
        [
            counted(rows.select(total("runs")).item(), "run"),
            *(
                f"{measure.name} {share(rate)} of {counted(whole, measure.of)}"
                for measure, (rate, whole) in zip(_MEASURES, rates, strict=True)
                if whole
            ),
        ]
    )
    missing = (
        "" if undated.is_empty() else f"undated, not drawn: {counted(undated.select(total('runs')).item(), 'run')}"
    )
    known = dated(rows, _STRETCHES)
    if known is None:
        return nothing(f"Run quality: {answer}", [said, missing], words="nothing has a date")
    rows, calendar = known
    name, window = calendar.stretch.name, _WINDOWS[calendar.stretch.name]
    marks = placed(_rates(rows, calendar, window), calendar)
    top = _top(marks)
    above = marks.filter(pl.col("share") > top).height
    notes = [
        said,
        _worst(marks, window, name),
        f"marks: one {name} each, larger with more runs · lines: the {window} {name}s up to then",
        f"{counted(above, 'mark')} above {top:.0%} drawn at the upper edge" if above else "",
        missing,
    ]
    return finished(_drawn(marks, calendar, top), f"Run quality per {name}: {answer}", notes)


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with, for each rate, what it counts and out of how many: null both where either is not told."""
    rows = rows.with_columns(
        judged_calls=judged("tool_errors", "tool_error_rate", "tool_calls"),
        cut_runs=pl.when(pl.col("cut_short").is_not_null()).then("runs"),
        ended_runs=pl.when(pl.col("runs_with_ending") > 0).then("runs_with_ending"),
    )
    return rows.with_columns(
        pl.when(pl.col(measure.whole).is_not_null()).then(measure.part).alias(measure.part) for measure in _MEASURES
    )


def _overall(rows: pl.DataFrame, measure: _Measure) -> tuple[float | None, int]:
    """The rate over all rows, and out of how many; null where that is none."""
    part, whole = rows.select(total(measure.part), total(measure.whole)).row(0)
    return (part / whole, whole) if whole else (None, 0)


def _rates(rows: pl.DataFrame, calendar: Calendar, window: int) -> pl.DataFrame:
    """A row per measure and stretch, those without a run included: the share of the stretch and of its window."""
    columns = {name for measure in _MEASURES for name in (measure.part, measure.whole)} | {"runs"}
    sums = rows.group_by("day").agg(*(total(name).cast(pl.Float64) for name in sorted(columns)))
    every = calendar.starts().to_frame().join(sums, on="day", how="left").sort("day")
    return pl.concat([_rate(every, measure, window) for measure in _MEASURES])


def _rate(every: pl.DataFrame, measure: _Measure, window: int) -> pl.DataFrame:
    part, whole = pl.col(measure.part), pl.col(measure.whole)
    recent, recent_of = (column.rolling_sum(window, min_samples=1) for column in (part, whole))
    return every.select(
        "day",
        "runs",
        measure=pl.lit(measure.name),
        of=pl.lit(f"{measure.of}s"),
        count=part,
        whole=whole,
        share=pl.when(whole > 0).then(part / whole),
        recent=pl.when(recent_of > 0).then(recent / recent_of),
        recent_of=recent_of,
        # The first windows look back on less than their length; they are drawn, and never the headline.
        filled=pl.int_range(pl.len()) >= window - 1,
    )


def _top(marks: pl.DataFrame) -> float:
    """The share at the upper edge: room for the lines and, unless a few small days would flatten them, all marks."""
    highest, lines = (_most(marks, name) for name in ("share", "recent"))
    top = highest if highest <= 2 * lines else 1.5 * lines
    return min(1.0, max(0.05, -(-top * 1.05 // 0.05) * 0.05))


def _most(marks: pl.DataFrame, column: str) -> float:
    most = marks[column].max()
    return float(most) if isinstance(most, float) else 0.0


def _worst(marks: pl.DataFrame, window: int, name: str) -> str:
    """Where the line of tool errors stands highest, over a full window with enough calls to mean something."""
    line = marks.filter(
        pl.col("filled")
        & (pl.col("measure") == _MEASURES[0].name)
        & (pl.col("recent_of") >= _ENOUGH)
        & (pl.col("recent") > 0)
    ).sort("recent", "day", descending=[True, False])
    if line.is_empty():
        return ""
    row = line.row(0, named=True)
    last: date = row["until"] - timedelta(days=1)
    return (
        f"most tool errors over {window} {name}s: {share(row['recent'])} of "
        f"{counted(round(row['recent_of']), 'tool call')}, in those to {last.day} {last:%b %Y}"
    )


def _drawn(marks: pl.DataFrame, calendar: Calendar, top: float) -> alt.LayerChart:
    names = [measure.name for measure in _MEASURES]
    colour = alt.Color("measure:N", title=None, scale=alt.Scale(domain=names, range=[m.colour for m in _MEASURES]))
    scale = alt.Scale(domain=[0, top], clamp=True, nice=False)
    y = alt.Y("share:Q", title="share (of tool calls, of runs)", axis=alt.Axis(format=".0~%"), scale=scale)
    points = (
        alt.Chart(marks.drop_nulls("share"), width=WIDTH, height=HEIGHT)
        .mark_point(filled=False, strokeWidth=0.9, opacity=1)
        .encode(
            x=calendar.axis("middle"),
            y=y,
            color=colour,
            shape=alt.Shape("measure:N", title=None, scale=alt.Scale(domain=names, range=[m.shape for m in _MEASURES])),
            size=alt.Size(
                "runs:Q",
                title="runs",
                scale=alt.Scale(range=[8, 110], zero=True),
                legend=alt.Legend(tickCount=3, format=",d", symbolFillColor=INK, symbolStrokeColor=INK),
            ),
            tooltip=[
                alt.Tooltip("when:N", title="when"),
                alt.Tooltip("measure:N", title="what"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
                alt.Tooltip("count:Q", title="count", format=","),
                alt.Tooltip("whole:Q", title="out of", format=","),
                alt.Tooltip("of:N", title="of what"),
                alt.Tooltip("recent:Q", title="share of the line", format=".1%"),
                alt.Tooltip("runs:Q", title="runs", format=","),
            ],
        )
    )
    lines = (
        alt.Chart(marks.select("middle", "measure", "recent"))
        .mark_line(strokeWidth=2.2, invalid="break-paths-show-domains")
        .encode(
            x=calendar.axis("middle"),
            y=alt.Y("recent:Q", title="share (of tool calls, of runs)", axis=alt.Axis(format=".0~%"), scale=scale),
            color=colour,
        )
    )
    return alt.LayerChart(layer=[points, lines])
