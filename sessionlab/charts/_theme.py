"""A drawn chart and its words in, the same chart in the one look that all of them share out.

The colours are those of Okabe and Ito (*Color Universal Design*, 2008), told apart by every common kind of colour
vision. The background is transparent, and the ink is the grey that stands out equally from white paper and from the
dark theme of JupyterLab (#111111): a contrast of 4.3 to 1 on both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import altair as alt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Picture = alt.Chart | alt.LayerChart | alt.HConcatChart
_Drawn = TypeVar("_Drawn", alt.Chart, alt.LayerChart, alt.HConcatChart)

ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
YELLOW: Final = "#F0E442"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
GREY: Final = "#999999"
"""Stands in for the palette's black, which a dark page would swallow: the rest, and what is not told."""
SERIES: Final = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW)
"""The order in which series without a meaning of their own take a colour."""

INK: Final = "#797979"
WIDTH: Final = 640
HEIGHT: Final = 280
ROW: Final = 24
"""Height of one row of a chart that lists names, in pixels."""
NAME_WIDTH: Final = 220
"""Pixels a name may take before it is cut short; the tooltip has it whole."""


def finished(chart: _Drawn, title: str, notes: Iterable[str] = ()) -> _Drawn:
    """The chart under its title, with a line for each note that says something."""
    lines: list[str] = [note for note in notes if note]
    heading = alt.TitleParams(text=title, subtitle=lines) if lines else alt.TitleParams(text=title)
    dressed: _Drawn = chart.properties(title=heading, description=" ".join([title, *lines]))
    styled: _Drawn = dressed.configure(
        background="transparent",
        font="system-ui, sans-serif",
        view=alt.ViewConfig(stroke=None, continuousWidth=WIDTH, continuousHeight=HEIGHT),
        title=alt.TitleConfig(
            anchor="start",
            frame="group",
            color=INK,
            subtitleColor=INK,
            fontSize=15,
            fontWeight=600,
            subtitleFontSize=12,
            subtitlePadding=4,
            offset=14,
        ),
        axis=alt.AxisConfig(
            labelColor=INK,
            titleColor=INK,
            domainColor=INK,
            tickColor=INK,
            gridColor=INK,
            gridOpacity=0.25,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            labelLimit=NAME_WIDTH,
            labelPadding=5,
        ),
        legend=alt.LegendConfig(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            labelLimit=NAME_WIDTH,
            symbolStrokeWidth=1.5,
        ),
        text=alt.MarkConfig(color=INK, fontSize=11),
    )
    return styled


def nothing(title: str, notes: Iterable[str] = (), *, words: str = "no data") -> alt.Chart:
    """A chart that says in its middle that there is nothing to draw."""
    said = pl.DataFrame({"words": [words]})
    chart: alt.Chart = (
        alt.Chart(said, width=WIDTH, height=HEIGHT).mark_text(fontSize=16, color=INK).encode(text="words:N")
    )
    return finished(chart, title, notes)


def hues(labels: Sequence[str], colours: Sequence[str]) -> alt.Scale:
    """The scale that gives each label its colour; labels past the last colour are grey."""
    padded = [*colours[: len(labels)], *[GREY] * (len(labels) - len(colours))]
    return alt.Scale(domain=list(labels), range=padded)
