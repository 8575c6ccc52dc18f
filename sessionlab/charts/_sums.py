"""Columns of counts and rates in, sums and denominators in which unknown stays unknown out."""

from __future__ import annotations

import polars as pl


def total(column: str) -> pl.Expr:
    """The sum of what is known: null, not zero, where nothing is."""
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum())


def judged(count: str, rate: str, most: str) -> pl.Expr:
    """Out of how many a rate was taken: rates of several rows are put together over these, never averaged.

    A view leaves out of the denominator what cannot be told (a call whose end nothing records), so it is what count and
    rate imply; where nothing was counted they imply none, and it is ``most``. Null where the rate is unknown.
    """
    known = pl.col(count).is_not_null() & pl.col(rate).is_not_null() & (pl.col(most) > 0)
    implied = pl.when((pl.col(count) > 0) & (pl.col(rate) > 0)).then((pl.col(count) / pl.col(rate)).round())
    return pl.when(known).then(pl.coalesce(implied, pl.col(most).cast(pl.Float64))).cast(pl.Int64)
