"""The view ``cost.by_model`` in, a bar per model with what was spent on it out."""

from __future__ import annotations

from typing import Final

import altair as alt
import polars as pl

from sessionlab.charts._ranked import labelled, place, rest, total
from sessionlab.charts._table import ArrowStream, Kind, frame
from sessionlab.charts._theme import BLUE, GREY, INK, ROW, WIDTH, Picture, finished, nothing
from sessionlab.charts._wording import counted, money, sentence, spent

COLUMNS: Final[dict[str, Kind]] = {
    "provider": "VARCHAR",
    "model": "VARCHAR",
    "calls": "BIGINT",
    "cost_usd": "DOUBLE",
    "unpriced": "BIGINT",
}
_MODELS: Final = 20


def spend_by_model(by_model: ArrowStream) -> Picture:
    """What was spent on each model, in US dollars: a bar with its sum, dearest first, the twenty dearest by name.

    A model without a price has a hollow mark and ``—``; one that costs nothing has ``$0.00``; where only some of the
    calls have a price the bar is a lower bound, marked hollow at its end and written ``≥ $1.23``.

    Args:
        by_model: the view ``cost.by_model``: rows of ``provider``, ``model``, ``calls``, ``cost_usd`` (US dollars;
            null: unpriced), ``unpriced`` (calls whose cost is not in ``cost_usd``).

    Raises:
        MissingColumns: a column is missing.
        TypeError: no table was given, or a column holds something else.
    """
    rows = frame("spend_by_model", by_model, COLUMNS).with_columns(pl.col("unpriced").fill_null(0))
    if rows.is_empty():
        return nothing("Spend per model")
    sums = (
        total("cost_usd"),
        total("calls"),
        pl.col("unpriced").sum(),
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
        (pl.col("gap") | (pl.col("unpriced") > 0)).any().alias("open"),
    )
    bars = bars.with_columns(rest=(pl.col("place") == _MODELS) & (others > 1)).with_columns(
        label=pl.when("rest").then(pl.lit(rest(others, "model"))).otherwise("label"),
        provider=pl.when("rest").then(None).otherwise("provider"),
    )
    bars = bars.sort("place")
    bars = bars.with_columns(pl.Series("words", [_words(**row) for row in bars.iter_rows(named=True)], pl.String))
    cost, calls, unpriced, lower_bound = bars.select(
        total("cost_usd"), total("calls"), pl.col("unpriced").sum(), pl.col("open").any()
    ).row(0)
    notes = [
        sentence([counted(models.height, "model"), counted(calls, "call")]),
        f"{counted(unpriced, 'call')} unpriced (hollow mark): their cost is in no bar" if unpriced else "",
    ]
    return finished(_drawn(bars), f"Spend per model: {spent(cost, at_least=lower_bound)}", notes)


def _words(cost_usd: float | None, unpriced: int, calls: int | None, *, open: bool, **_: object) -> str:  # noqa: A002
    """What stands at the end of a bar: its sum, and how many calls are not in it."""
    left_out = f"{unpriced:,} of {counted(calls, 'call')} unpriced" if unpriced else ""
    if unpriced and cost_usd is None:
        left_out = f"{counted(unpriced, 'call')} unpriced"
    return sentence([money(cost_usd, at_least=open), left_out])


def _drawn(bars: pl.DataFrame) -> alt.LayerChart:
    labels = bars["label"].to_list()
    # Half as much again beyond the longest bar, for the words behind it.
    dearest = bars["cost_usd"].max()
    reach = dearest * 1.5 if isinstance(dearest, float) and dearest > 0 else 1.0
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
            alt.Tooltip("unpriced:Q", title="unpriced calls", format=","),
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
