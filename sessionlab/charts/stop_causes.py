"""The view ``health.stop_causes`` in, a bar per cause with the runs it ended out."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from sessionlab.charts._ranked import UNTOLD, labelled, place, rest
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    ROW,
    VERMILLION,
    WIDTH,
    Picture,
    finished,
    hues,
    nothing,
)
from sessionlab.charts._wording import counted, sentence, share

COLUMNS: Final[dict[str, Kind]] = {"stop_cause": "VARCHAR", "stop_class": "VARCHAR", "runs": "BIGINT"}
CLASSES: Final = {"completed": GREEN, "cut short": BLUE, "interrupted": ORANGE, "failed": VERMILLION, UNTOLD: GREY}
_STRANGE: Final = "another class"
_CAUSES: Final = 15


def stop_causes(causes: ArrowStream) -> Picture:
    """Why runs stopped: a bar per recorded cause, as long as the runs it ended, in the colour of its class.

    The fifteen commonest causes have a bar of their own; the others share one per class, so that every run is drawn.

    Args:
        causes: the view ``health.stop_causes``: rows of ``stop_cause`` (the recorded word), ``stop_class``
            (``completed``, ``cut_short``, ``interrupted``, ``failed``; null where nothing tells), ``runs``.

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    rows = frame("stop_causes", causes, COLUMNS).with_columns(
        pl.col("stop_class").str.replace_all("_", " ", literal=True).fill_null(UNTOLD)
    )
    house = pl.col("stop_class").is_in(list(CLASSES))
    rows = rows.with_columns(stop_class=pl.when(house).then("stop_class").otherwise(pl.lit(_STRANGE)))
    rows = rows.group_by("stop_cause", "stop_class").agg(pl.col("runs").sum()).filter(pl.col("runs") > 0)
    if rows.is_empty():
        return nothing("Why runs stopped")
    runs = int(rows["runs"].sum())
    bars = labelled(rows, "stop_cause", "stop_class").sort("runs", "label", descending=[True, False])
    bars = _gathered(bars).with_columns(share=pl.col("runs") / runs)
    bars = bars.with_columns(
        pl.Series(
            "words", [f"{n:,} · {share(part)}" for n, part in bars.select("runs", "share").iter_rows()], pl.String
        )
    )
    by_class = dict(rows.group_by("stop_class").agg(pl.col("runs").sum()).iter_rows())
    classes = [name for name in (*CLASSES, _STRANGE) if name in by_class]
    told = sentence(f"{name} {by_class[name]:,}" for name in classes)
    completed = by_class.get("completed", 0)
    title = f"How runs ended: {completed:,} of {counted(runs, 'run')} completed ({share(completed / runs)})"
    if by_class.keys() == {UNTOLD}:
        title = f"How runs ended: nothing tells for {counted(runs, 'run')}"
    return finished(_drawn(bars, classes), title, [told])


def _gathered(bars: pl.DataFrame) -> pl.DataFrame:
    """The commonest causes one by one, then what is left of each class in one bar."""
    bars = bars.with_columns(place=place(_CAUSES))
    left = bars.filter(pl.col("place") == _CAUSES)
    if left.height <= 1:
        return bars
    words = [
        f"{rest(causes, 'cause')} · {name}"
        for name, causes in left.group_by("stop_class", maintain_order=True).len().iter_rows()
    ]
    gathered = left.group_by("stop_class", maintain_order=True).agg(pl.col("runs").sum())
    return pl.concat(
        [bars.filter(pl.col("place") < _CAUSES), gathered.with_columns(label=pl.Series(words))], how="diagonal"
    )


def _drawn(bars: pl.DataFrame, classes: list[str]) -> alt.LayerChart:
    longest: int = bars.select(pl.col("runs").max()).item()
    base = alt.Chart(bars, width=WIDTH, height=alt.Step(ROW)).encode(
        y=alt.Y(
            "label:N",
            title=None,
            scale=alt.Scale(domain=bars["label"].to_list()),
            axis=alt.Axis(ticks=False, domain=False),
        ),
        x=alt.X(
            "runs:Q",
            title="runs",
            scale=alt.Scale(domain=[0, longest * 1.2], nice=False),
            axis=alt.Axis(format=",d", tickMinStep=1, tickCount=6),
        ),
        tooltip=[
            alt.Tooltip("label:N", title="stop cause"),
            alt.Tooltip("stop_class:N", title="class"),
            alt.Tooltip("runs:Q", title="runs", format=","),
            alt.Tooltip("share:Q", title="share of runs", format=".1%"),
        ],
    )
    colour = alt.Color(
        "stop_class:N", title="class", scale=hues(classes, [CLASSES.get(name, GREY) for name in classes])
    )
    solid = base.mark_bar(size=ROW * 0.6).encode(color=colour)
    words = base.mark_text(align="left", dx=6).encode(text="words:N")
    return alt.LayerChart(layer=[solid, words])
