"""The view ``cost.by_model`` in, a bar per model with what was spent on it out."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from sessionlab.charts._ranked import labelled, place, rest
from sessionlab.charts._sums import total
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import BLUE, GREY, INK, ROW, WIDTH, Picture, finished, nothing
from sessionlab.charts._wording import counted, left_out, money, sentence, spent

COLUMNS: Final[dict[str, Kind]] = {
    "provider": "VARCHAR",
    "model": "VARCHAR",
    "calls": "BIGINT",
    "cost_usd": "DOUBLE",
    "unpriced": "BIGINT",
}
WELCOME: Final[dict[str, Kind]] = {"lower_bounds": "BIGINT"}
_MODELS: Final = 20


def spend_by_model(by_model: ArrowStream) -> Picture:
    """What was spent on each model, in US dollars: a bar with its sum, dearest first, the twenty dearest by name.

    A model without a price has a hollow mark and ``—``; one that costs nothing has ``$0.00``; where some of the
    charges have no price, or are known to have cost more, the bar is a lower bound, hollow at its end: ``≥ $1.23``.

    Args:
        by_model: the view ``cost.by_model``: rows of ``provider``, ``model``, ``calls``, ``cost_usd`` (US dollars;
            null: nothing is priced), ``unpriced`` (charges whose cost is not in ``cost_usd``; a charge is a call, or a
            run where nothing finer is recorded) and, where it is there, ``lower_bounds`` (charges known to have cost
            more than they say).

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    rows = frame("spend_by_model", by_model, COLUMNS, WELCOME).with_columns(
        pl.col("unpriced", "lower_bounds").fill_null(0)
    )
    if rows.is_empty():
        return nothing("Spend per model")
    sums = (
        total("cost_usd"),
        total("calls"),
        pl.col("unpriced").sum(),
        pl.col("lower_bounds").sum(),
        pl.col("cost_usd").is_null().any().alias("gap"),
    )
    models = labelled(rows.group_by("provider", "model").agg(sums), "model", "provider").sort(
        "cost_usd", "calls", "label", descending=[True, True, False], nulls_last=True
    )
    gathered = models.with_columns(place=place(_MODELS))
    others = gathered.filter(pl.col("place") == _MODELS).height
    bars = gathered.group_by("place").agg(
        pl.col("label").first(),
        pl.col("provider").first(),
        total("cost_usd"),
        total("calls"),
        pl.col("unpriced").sum(),
        pl.col("lower_bounds").sum(),
        (pl.col("gap") | (pl.col("unpriced") + pl.col("lower_bounds") > 0)).any().alias("open"),
    )
    bars = bars.with_columns(rest=(pl.col("place") == _MODELS) & (others > 1)).with_columns(
        label=pl.when("rest").then(pl.lit(rest(others, "model"))).otherwise("label"),
        provider=pl.when("rest").then(None).otherwise("provider"),
    )
    bars = bars.sort("place")
    bars = bars.with_columns(pl.Series("words", [_words(**row) for row in bars.iter_rows(named=True)], pl.String))
    cost, calls, unpriced, lower_bounds, at_least = bars.select(
        total("cost_usd"), total("calls"), pl.col("unpriced").sum(), pl.col("lower_bounds").sum(), pl.col("open").any()
    ).row(0)
    missing = left_out(unpriced, lower_bounds)
    notes = [
        sentence([counted(models.height, "model"), counted(calls, "call")]),
        f"hollow mark: a lower bound, for {missing}" if missing else "",
    ]
    return finished(_drawn(bars), f"Spend per model: {spent(cost, at_least=at_least)}", notes)


def _words(cost_usd: float | None, unpriced: int, lower_bounds: int, *, open: bool, **_: object) -> str:  # noqa: A002
    """What stands at the end of a bar: its sum, and how many charges are not, or not wholly, in it."""
    return sentence([money(cost_usd, at_least=open), left_out(unpriced, lower_bounds)])


def _drawn(bars: pl.DataFrame) -> alt.LayerChart:
    labels = bars["label"].to_list()
    # More than half as much again beyond the longest bar, for the words behind it.
    dearest = bars["cost_usd"].max()
    reach = dearest * 1.6 if isinstance(dearest, float) and dearest > 0 else 1.0
    base = alt.Chart(bars, width=WIDTH, height=alt.Step(ROW)).encode(
        y=alt.Y("label:N", title=None, scale=alt.Scale(domain=labels), axis=alt.Axis(ticks=False, domain=False)),
        x=alt.X(
            "sum:Q",
            title="cost (US dollars)",
            scale=alt.Scale(domain=[0, reach], nice=False),
            axis=alt.Axis(format="$,~f", tickCount=6),
        ),
        tooltip=[
            alt.Tooltip("label:N", title="model"),
            alt.Tooltip("provider:N", title="provider"),
            alt.Tooltip("words:N", title="cost"),
            alt.Tooltip("calls:Q", title="calls", format=","),
            alt.Tooltip("unpriced:Q", title="unpriced charges", format=","),
        ],
    )
    base = base.transform_calculate(sum="datum.cost_usd === null ? 0 : datum.cost_usd")
    solid = base.mark_bar(size=ROW * 0.6).encode(
        color=alt.when("datum.rest").then(alt.value(GREY)).otherwise(alt.value(BLUE))
    )
    hollow = base.transform_filter("datum.open").mark_point(
        shape="diamond", filled=False, color=INK, size=50, opacity=1, xOffset=8
    )
    beyond = base.transform_filter("datum.open").mark_text(align="left", dx=17).encode(text="words:N")
    behind = base.transform_filter("!datum.open").mark_text(align="left", dx=6).encode(text="words:N")
    return alt.LayerChart(layer=[solid, hollow, beyond, behind])
