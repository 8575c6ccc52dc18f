"""Two runs side by side in, a picture of both out: call by call which stands for which, and where they part."""

from __future__ import annotations

from typing import Final, Literal

import altair as alt
import polars as pl

from sessionlab.charts._ranked import UNTOLD
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import (
    BLUE,
    GREY,
    INK,
    NAME_WIDTH,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    finished,
    hues,
    nothing,
)
from sessionlab.charts._wording import counted, sentence

COLUMNS: Final[dict[str, Kind]] = {
    "side": "VARCHAR",
    "position": "BIGINT",
    "batch": "BIGINT",
    "tool": "VARCHAR",
    "standing": "VARCHAR",
    "mate": "BIGINT",
}
_SIDES: Final = ("recorded", "replayed")
_STANDINGS: Final = {
    "same": SKY,
    "arguments": ORANGE,
    "tool": VERMILLION,
    "missing": BLUE,
    "extra": PURPLE,
    "not compared": GREY,
}
_WORDS: Final = {"arguments": "other arguments", "tool": "another tool"}
"""Standings as the legend has them, where that is more than their word."""
_STRUCTURAL: Final = ("tool", "missing", "extra")

_ROWS: Final = 30
"""Calls drawn one by one. Of longer runs these are the ones around the place where they part."""
_BEFORE: Final = 10
"""How many of them stand before that place."""
_ROW: Final = 20
_CELLS: Final = 120
"""Cells of the strip that shows long runs whole."""
_STRIP: Final = (0, 22, 26, 48)
"""Where the two lanes of the strip begin and end, in pixels."""
_MARK: Final = 14
_LINK: Final = 70
_LEFT: Final = NAME_WIDTH
"""Where the marks of the recorded run begin, behind its names."""
_EDGES: Final = {"recorded": (_LEFT, _LEFT + _MARK), "replayed": (_LEFT + _MARK + _LINK, _LEFT + 2 * _MARK + _LINK)}
_WIDTH: Final = 2 * NAME_WIDTH + 2 * _MARK + _LINK
_ALIGN: Final[dict[str, Literal["left", "right"]]] = {"recorded": "right", "replayed": "left"}
_HALF: Final = 0.5


def divergence(calls: ArrowStream) -> Picture:
    """Where two runs part: the calls of both side by side, linked where one stands for the other.

    A line links calls that were paired: solid where their arguments are equal, dashed where they differ. Calls of one
    batch, whose order is free, share a bar. Runs of more than thirty calls are drawn one by one around the place where
    they part, or first differ, beside a strip that shows them whole.

    Args:
        calls: what ``replay.alignment`` gives: rows of ``side`` (``recorded``, ``replayed``), ``position`` (0-based in
            its run), ``batch`` (null where none is told), ``tool``, ``standing`` (``same``, ``arguments``, ``tool``,
            ``missing``, ``extra``, ``not compared``) and ``mate`` (position of the call in the other run that stands
            for it; null where none does).

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    rows = frame("divergence", calls, COLUMNS)
    rows = rows.filter(pl.col("side").is_in(_SIDES) & (pl.col("position") >= 0)).sort(rows.columns, nulls_last=True)
    rows = rows.unique(["side", "position"], keep="first", maintain_order=True).with_columns(
        pl.col("tool").fill_null(UNTOLD),
        standing=pl.when(pl.col("standing").is_in(list(_STANDINGS))).then("standing").otherwise(pl.lit("not compared")),
        call=pl.col("position") + 1,
    )
    if rows.is_empty():
        return nothing("Where two runs part")
    length = int(rows["call"].max())  # type: ignore[arg-type]  # a whole number: the frame is not empty
    first, last = _window(rows, length)
    present = [name for name in _STANDINGS if name in set(rows["standing"])]
    colour = alt.Color(
        "word:N",
        title=None,
        scale=hues([_WORDS.get(name, name) for name in present], [_STANDINGS[name] for name in present]),
        legend=alt.Legend(orient="bottom", symbolType="square"),
    )
    rows = rows.with_columns(word=pl.col("standing").replace(_WORDS))
    shown = rows.filter(pl.col("position").is_between(first, last))
    title, notes = _title(rows), [_counts(rows)]
    if length <= _ROWS:
        return finished(_detail(shown, first, last, colour), title, notes)
    cell = -(-length // _CELLS)
    notes.append(
        f"calls {first + 1:,} to {last + 1:,} of {length:,}; "
        f"on the left all of them, {counted(cell, 'call')} to a cell, the worst of them telling its colour"
    )
    both = alt.hconcat(_strip(rows, length, cell, first, last, colour), _detail(shown, first, last, colour), spacing=18)
    return finished(both, title, notes)


def _window(rows: pl.DataFrame, length: int) -> tuple[int, int]:
    """The first and the last position drawn one by one."""
    if length <= _ROWS:
        return 0, length - 1
    at = _parting(rows)
    if at is None:
        differing = rows.filter(pl.col("standing") == "arguments")["position"]
        at = 0 if differing.is_empty() else int(differing.min())  # type: ignore[arg-type]  # of whole numbers
    first = max(0, min(at - _BEFORE, length - _ROWS))
    return first, first + _ROWS - 1


def _parting(rows: pl.DataFrame) -> int | None:
    """The position from which the runs make other calls; None: they never do."""
    found = rows.filter(pl.col("standing").is_in(_STRUCTURAL))["position"]
    return None if found.is_empty() else int(found.min())  # type: ignore[arg-type]  # of whole numbers


def _title(rows: pl.DataFrame) -> str:
    by = dict(rows.group_by("standing").len().iter_rows())
    parted = rows.filter(pl.col("standing") == "tool").sort("position")
    if not parted.is_empty():
        at: int = parted["position"][0]
        names = {
            side: tool
            for side, position, tool in parted.select("side", "position", "tool").iter_rows()
            if position == at
        }
        told = [f"{tool} was {side}" for side, tool in ((s, names[s]) for s in _SIDES if s in names)]
        return f"The runs part at call {at + 1:,}: {', '.join(told)}"
    if by.get("missing"):
        return f"The replay ended {counted(by['missing'], 'call')} before the recording"
    if by.get("extra"):
        return f"The replay made {counted(by['extra'], 'call')} more than the recording"
    recorded = rows.filter(pl.col("side") == "recorded")
    if by.get("arguments"):
        differing = recorded.filter(pl.col("standing") == "arguments").height
        return f"The same tools, {differing:,} of {counted(recorded.height, 'call')} with other arguments"
    return f"Both runs made the same {counted(recorded.height, 'call')}"


def _counts(rows: pl.DataFrame) -> str:
    sides = dict(rows.group_by("side").len().iter_rows())
    ours = rows.filter(pl.col("side") == "recorded")
    by = dict(ours.group_by("standing").len().iter_rows())
    extra = rows.filter(pl.col("standing") == "extra").height
    return sentence(
        [
            *(f"{sides.get(side, 0):,} {side}" for side in _SIDES),
            f"{by.get('same', 0):,} the same",
            *(
                f"{by[name]:,} {words}"
                for name, words in (("arguments", "with other arguments"), ("missing", "missing"))
                if name in by
            ),
            f"{extra:,} extra" if extra else "",
            f"{by['not compared']:,} not compared" if "not compared" in by else "",
        ]
    )


def _strip(rows: pl.DataFrame, length: int, cell: int, first: int, last: int, colour: alt.Color) -> alt.LayerChart:
    """Both runs whole, so many calls to a cell; a frame stands around the calls drawn one by one."""
    worst = {name: rank for rank, name in enumerate(("not compared", "same", "arguments", "missing", "extra", "tool"))}
    cells = (
        rows.with_columns(cell=pl.col("position") // cell, rank=pl.col("standing").replace_strict(worst))
        .sort("side", "cell", "rank", descending=[False, False, True])
        .group_by("side", "cell", maintain_order=True)
        .agg(pl.col("word").first())
        .group_by("side", "word", stretch=pl.struct("side", "word").rle_id(), maintain_order=True)
        .agg(begin=pl.col("cell").min() * cell, end=((pl.col("cell").max() + 1) * cell).clip(upper_bound=length))
        .select("side", "word", "begin", "end", since=pl.col("begin") + 1)
    )
    height = _ROWS * _ROW
    axis = alt.Axis(orient="left", tickCount=8, format=",d", tickMinStep=1, grid=False)
    y = alt.Y("begin:Q", title="call", scale=alt.Scale(domain=[0, length], nice=False, reverse=True), axis=axis)
    lanes = [
        alt.Chart(cells, width=_STRIP[3], height=height)
        .transform_filter(alt.datum.side == side)
        .mark_rect()
        .encode(
            x=alt.value(_STRIP[2 * lane]),
            x2=alt.value(_STRIP[2 * lane + 1]),
            y=y,
            y2="end:Q",
            color=colour,
            tooltip=[
                alt.Tooltip("side:N", title="run"),
                alt.Tooltip("since:Q", title="from call", format=","),
                alt.Tooltip("end:Q", title="to call", format=","),
                alt.Tooltip("word:N", title="the worst there"),
            ],
        )
        for lane, side in enumerate(_SIDES)
    ]
    around = (
        alt.Chart(pl.DataFrame({"begin": [first], "end": [last + 1]}))
        .mark_rect(filled=False, stroke=INK, strokeWidth=2)
        .encode(x=alt.value(-3), x2=alt.value(_STRIP[3] + 3), y=y, y2="end:Q")
    )
    return alt.LayerChart(layer=[*lanes, around])


def _detail(shown: pl.DataFrame, first: int, last: int, colour: alt.Color) -> alt.LayerChart:
    """Call by call: names on the outside, marks beside them, links between the marks."""
    height = (last - first + 1) * _ROW
    domain = [first + 1 - _HALF, last + 1 + _HALF]
    axis = alt.Axis(
        orient="left", format=",d", tickMinStep=1, tickCount=min(last - first + 1, 15), grid=False, domain=False
    )
    y = alt.Y("call:Q", title="call", scale=alt.Scale(domain=domain, nice=False, zero=False, reverse=True), axis=axis)
    base = alt.Chart(shown, width=_WIDTH, height=height).encode(
        tooltip=[
            alt.Tooltip("side:N", title="run"),
            alt.Tooltip("call:Q", title="call", format=","),
            alt.Tooltip("tool:N", title="tool"),
            alt.Tooltip("word:N", title="standing"),
            alt.Tooltip("batch:Q", title="batch", format=","),
        ]
    )
    layers: list[alt.Chart] = [*_batches(shown, y), *_links(shown, first, last, y, colour)]
    for side, (begin, end) in _EDGES.items():
        lane = base.transform_filter(alt.datum.side == side)
        inner = (begin + end) / 2
        layers.append(lane.mark_square(size=_MARK**2 * 0.75, opacity=1).encode(x=alt.value(inner), y=y, color=colour))
        outside = begin - 8 if side == "recorded" else end + 8
        named = lane.mark_text(align=_ALIGN[side], limit=NAME_WIDTH - 12)
        layers.append(named.encode(x=alt.value(outside), y=y, text="tool:N"))
    layers.append(_heads())
    parting = _parting(shown)
    if parting is not None:
        layers.append(
            alt.Chart(pl.DataFrame({"call": [parting + _HALF]}))
            .mark_rule(color=INK, strokeWidth=1.5, strokeDash=[2, 3])
            .encode(x=alt.value(0), x2=alt.value(_WIDTH), y=y)
        )
    return alt.LayerChart(layer=layers)


def _heads() -> alt.Chart:
    """The names of the two runs above their columns."""
    heads = pl.DataFrame({"side": list(_SIDES), "x": [_EDGES["recorded"][1], _EDGES["replayed"][0]]})
    picture: alt.Chart = (
        alt.Chart(heads)
        .mark_text(
            fontWeight=600, dy=-10, baseline="bottom", align={"expr": "datum.side === 'recorded' ? 'right' : 'left'"}
        )
        .encode(
            x=alt.X("x:Q", scale=alt.Scale(domain=[0, _WIDTH], nice=False), axis=None), y=alt.value(0), text="side:N"
        )
    )
    return picture


def _batches(shown: pl.DataFrame, y: alt.Y) -> list[alt.Chart]:
    """A bar behind the marks of calls that share a batch."""
    bars = (
        shown.drop_nulls("batch")
        .group_by("side", "batch", maintain_order=True)
        .agg(pl.col("call").min() - 0.42, end=pl.col("call").max() + 0.42, calls=pl.len())
        .filter(pl.col("calls") > 1)
    )
    return [
        alt.Chart(bars.filter(pl.col("side") == side))
        .mark_rect(color=INK, opacity=0.25, cornerRadius=3)
        .encode(x=alt.value(begin - 3), x2=alt.value(end + 3), y=y, y2="end:Q")
        for side, (begin, end) in _EDGES.items()
        if side in set(bars["side"])
    ]


def _links(shown: pl.DataFrame, first: int, last: int, y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """A line between each two calls that were paired and are both drawn, and a sign where another tool stands."""
    ours = shown.filter((pl.col("side") == "recorded") & pl.col("mate").is_between(first, last))
    links = ours.select("call", "word", "standing", end=pl.col("mate") + 1)
    begin, end = _EDGES["recorded"][1] + 4, _EDGES["replayed"][0] - 4
    drawn = [
        alt.Chart(links.filter(pl.col("standing") == standing))
        .mark_rule(strokeWidth=1.5, strokeDash=dash, opacity=1)
        .encode(x=alt.value(begin), x2=alt.value(end), y=y, y2="end:Q", color=colour)
        for standing, dash in (("same", [1, 0]), ("arguments", [5, 4]))
        if standing in set(links["standing"])
    ]
    parted = ours.filter(pl.col("standing") == "tool").select("call")
    if not parted.is_empty():
        drawn.append(
            alt.Chart(parted)
            .mark_text(fontSize=16, fontWeight=600, text="≠")
            .encode(x=alt.value((begin + end) / 2), y=y)
        )
    return drawn
