"""The view ``cost.by_day`` in, stacked bars of what was spent per day and model out."""

from __future__ import annotations

from typing import Final, NamedTuple

import altair as alt
import polars as pl

from sessionlab.charts._days import Calendar, dated, placed, stacked
from sessionlab.charts._ranked import UNTOLD, place, rest
from sessionlab.charts._sums import total
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import HEIGHT, INK, SERIES, WIDTH, Picture, finished, hues, nothing
from sessionlab.charts._wording import counted, left_out, money, spent

COLUMNS: Final[dict[str, Kind]] = {
    "day": "DATE",
    "model": "VARCHAR",
    "cost_usd": "DOUBLE",
    "calls": "BIGINT",
    "unpriced": "BIGINT",
}
WELCOME: Final[dict[str, Kind]] = {"lower_bounds": "BIGINT"}
_MODELS: Final = len(SERIES)
_BARS: Final = 120
_SUMS: Final = (
    total("cost_usd").alias("cost_usd"),
    total("calls").alias("calls"),
    pl.col("unpriced").sum(),
    pl.col("lower_bounds").sum(),
    ((pl.col("unpriced") + pl.col("lower_bounds") > 0) | pl.col("cost_usd").is_null()).any().alias("open"),
)


def spend(by_day: ArrowStream) -> Picture:
    """What was spent, day by day, in US dollars: a bar per day, a colour for each of the seven dearest models.

    The rest of the models is grey. A triangle marks a day whose bar is a lower bound, because some of its charges
    have no price or are known to have cost more; what has no day is told under the title and not drawn. A long corpus
    is drawn by week, month or more.

    Args:
        by_day: the view ``cost.by_day``: rows of ``day`` (null: undated), ``model``, ``cost_usd`` (US dollars; null:
            nothing is priced), ``calls`` (null: not told), ``unpriced`` (charges whose cost is not in ``cost_usd``; a
            charge is a call, or a run where nothing finer is recorded) and, where it is there, ``lower_bounds``
            (charges known to have cost more than they say).

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    rows = frame("spend", by_day, COLUMNS, WELCOME).with_columns(
        pl.col("model").fill_null(UNTOLD), pl.col("unpriced", "lower_bounds").fill_null(0)
    )
    if rows.is_empty():
        return nothing("Spend per day")
    whole, undated = _Sum.of(rows), _Sum.of(rows.filter(pl.col("day").is_null()))
    notes = [whole.open_words(), f"undated, not drawn: {undated.words()}" if undated.rows else ""]
    known = dated(rows, _BARS)
    if known is None:
        return nothing(f"Spend: {whole.cost_words()}", notes, words="nothing has a date")
    rows, calendar = known
    title = f"Spend per {calendar.stretch.name}, by model: {whole.cost_words()}"
    rows, labels = _foremost(rows)
    days = placed(rows.group_by("day").agg(_SUMS).sort("day"), calendar)
    bars = (
        rows.group_by("day", "place")
        .agg(pl.col("label").first(), *_SUMS)
        .join(days, on="day", suffix="_of_all")
        .sort("day", "place")
        .with_columns(cost=_figures("cost_usd", "open"), total=_figures("cost_usd_of_all", "open_of_all"))
        .select(
            *stacked("cost_usd"),
            "day",
            "until",
            "when",
            "label",
            "cost_usd",
            "cost",
            "calls",
            "unpriced",
            "total",
            "calls_of_all",
        )
    )
    bounds = days.filter("open").select(
        "middle", "when", "unpriced", "lower_bounds", high=pl.col("cost_usd").fill_null(0.0)
    )
    if not bounds.is_empty():
        notes.insert(1, f"triangle: a {calendar.stretch.name} whose bar is a lower bound")
    return finished(_drawn(bars, bounds, calendar, labels), title, notes)


class _Sum(NamedTuple):
    """What some rows come to."""

    cost_usd: float | None
    calls: int | None
    unpriced: int
    lower_bounds: int
    open: bool
    rows: int

    @classmethod
    def of(cls, rows: pl.DataFrame) -> _Sum:
        """The sum of the rows."""
        return cls(*rows.select(*_SUMS, pl.len()).row(0))

    def cost_words(self) -> str:
        """The cost in a sentence."""
        return spent(self.cost_usd, at_least=self.open)

    def words(self) -> str:
        """``$1.20 in 3 calls``."""
        if self.cost_usd is None:
            return f"{counted(self.calls, 'call')}, none of them priced"
        return f"{self.cost_words()} in {counted(self.calls, 'call')}"

    def open_words(self) -> str:
        """``12 charges unpriced: at least $1.23``; nothing to say where every charge has its price."""
        if not self.open:
            return ""
        which = left_out(self.unpriced, self.lower_bounds) or "some rows without a cost"
        return which if self.cost_usd is None else f"{which}: {self.cost_words()}"


def _foremost(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The rows with the place and label of their model, dearest first, and the labels in that order."""
    models = (
        rows.group_by("model")
        .agg(total("cost_usd"), total("calls"))
        .sort("cost_usd", "calls", "model", descending=[True, True, False], nulls_last=True)
    )
    models = models.select("model", place=place(_MODELS))
    gathered = models.filter(pl.col("place") == _MODELS).height
    label = pl.col("model")
    if gathered > 1:
        label = pl.when(pl.col("place") == _MODELS).then(pl.lit(rest(gathered, "model"))).otherwise(label)
    models = models.with_columns(label=label)
    return rows.join(models, on="model"), models["label"].unique(maintain_order=True).to_list()


def _figures(cost: str, lower_bound: str) -> pl.Expr:
    """The costs in words."""
    return pl.struct(cost, lower_bound).map_elements(
        lambda row: money(row[cost], at_least=row[lower_bound]), return_dtype=pl.String
    )


def _drawn(bars: pl.DataFrame, bounds: pl.DataFrame, calendar: Calendar, labels: list[str]) -> alt.LayerChart:
    """Bars stacked from the dearest model up, and a triangle over every one that leaves something out."""
    dearest: float = bars.select(pl.col("high").max().fill_null(0)).item()
    cost = alt.Y(
        "high:Q",
        title="cost (US dollars)",
        scale=alt.Undefined if dearest else alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="$,~f"),
    )
    stacked = (
        alt.Chart(bars, width=WIDTH, height=HEIGHT)
        .mark_bar(xOffset=calendar.gap, x2Offset=-calendar.gap)
        .encode(
            x=calendar.axis(),
            x2="until:T",
            y=cost,
            y2="low:Q",
            color=alt.Color("label:N", title="model", scale=hues(labels, SERIES)),
            tooltip=[
                alt.Tooltip("when:N", title="when"),
                alt.Tooltip("label:N", title="model"),
                alt.Tooltip("cost:N", title="cost"),
                alt.Tooltip("calls:Q", title="calls", format=","),
                alt.Tooltip("unpriced:Q", title="unpriced charges", format=","),
                alt.Tooltip("total:N", title="total of all models"),
                alt.Tooltip("calls_of_all:Q", title="calls of all models", format=","),
            ],
        )
    )
    if bounds.is_empty():
        return alt.LayerChart(layer=[stacked])
    triangles = (
        alt.Chart(bounds)
        .mark_point(shape="triangle-up", filled=False, color=INK, size=40, yOffset=-7, opacity=1)
        .encode(
            x=calendar.axis("middle"),
            y=cost,
            tooltip=[
                alt.Tooltip("when:N", title="when"),
                alt.Tooltip("unpriced:Q", title="unpriced charges", format=","),
                alt.Tooltip("lower_bounds:Q", title="charges known to be higher", format=","),
            ],
        )
    )
    return alt.LayerChart(layer=[stacked, triangles])
