"""Named rows in, the foremost of them under labels that tell them apart, and the rest gathered, out."""

from __future__ import annotations

import polars as pl

UNTOLD = "(not told)"
"""The label of a null name."""


def labelled(rows: pl.DataFrame, name: str, beside: str) -> pl.DataFrame:
    """The rows, one per pair of names, with ``label``: the name, and what is beside it where a name stands twice."""
    plain, extra = pl.col(name).fill_null(UNTOLD), pl.col(beside).fill_null(UNTOLD)
    return rows.with_columns(label=pl.when(plain.is_duplicated()).then(plain + " · " + extra).otherwise(plain))


def place(most: int) -> pl.Expr:
    """The place of each row of a sorted frame, from 0; all after the ``most`` foremost share the place ``most``.

    A rest of one is no rest: one row more than ``most`` keeps its own place and name.
    """
    return pl.int_range(pl.len()).clip(upper_bound=most).cast(pl.Int64)


def rest(gathered: int, thing: str) -> str:
    """The label of the gathered rows: ``12 other models``."""
    return f"{gathered:,} other {thing}{'' if gathered == 1 else 's'}"
