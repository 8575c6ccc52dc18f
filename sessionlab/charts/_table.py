"""Anything with ``__arrow_c_stream__`` in, a polars frame with exactly the columns a chart draws out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Protocol, runtime_checkable

import polars as pl

from sessionlab.errors import MissingColumns

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["DATE", "VARCHAR", "BIGINT", "DOUBLE"]
"""What a chart makes of a column, in the words of the views."""

_WANTED: Final[dict[Kind, pl.DataType]] = {
    "DATE": pl.Date(),
    "VARCHAR": pl.String(),
    "BIGINT": pl.Int64(),
    "DOUBLE": pl.Float64(),
}


@runtime_checkable
class ArrowStream(Protocol):
    """A table that can hand itself over: polars, pyarrow, pandas, a DuckDB relation and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """An Arrow C stream in a PyCapsule."""


def frame(
    picture: str, table: ArrowStream, wanted: Mapping[str, Kind], welcome: Mapping[str, Kind] | None = None
) -> pl.DataFrame:
    """The columns ``wanted`` and then ``welcome`` of ``table``, in that order, in the types a chart can draw.

    A welcome column that is not there is null.

    Decimals become floats and times become UTC days, because Altair takes neither as they are; what is not a finite
    number becomes null, because pandas writes unknown as NaN and unknown is never drawn as a value.

    Raises:
        TypeError: what was given is no table, or a column holds something else than it should.
        MissingColumns: some of the columns are not there.
    """
    if not isinstance(table, ArrowStream):
        raise TypeError(
            f"{picture} draws a table with __arrow_c_stream__ "
            "(polars, pyarrow, pandas 2.2 or newer, a DuckDB relation); "
            f"found {type(table).__name__}{': collect() it first' if isinstance(table, pl.LazyFrame) else ''}"
        )
    try:
        given = pl.DataFrame(table)
    except pl.exceptions.SchemaError as error:
        raise TypeError(f"{picture} draws a table of columns; found one column: {type(table).__name__}") from error
    missing = [name for name in wanted if name not in given.columns]
    if missing:
        raise MissingColumns(picture, missing, given.columns)
    absent = pl.Series([None] * given.height, dtype=pl.Null)
    columns = dict(wanted) | dict(welcome or {})
    return pl.DataFrame(
        [
            _column(picture, given[name] if name in given.columns else absent.alias(name), kind)
            for name, kind in columns.items()
        ]
    )


def _column(picture: str, column: pl.Series, kind: Kind) -> pl.Series:
    """The column in the type of its kind, or TypeError when it holds something else."""
    if column.dtype == pl.Null:
        return column.cast(_WANTED[kind])
    if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if not _fits(column.dtype, kind):
        raise TypeError(f"{picture} needs {column.name} as {kind}; found {column.dtype}: cast it first")
    if kind in ("BIGINT", "DOUBLE"):
        number = column.cast(pl.Float64)
        finite = number.is_finite()
        if kind == "DOUBLE":
            return number.set(~finite, None)
        # By way of the integers where it can: a float holds whole numbers to 2**53 only.
        return (number.set(~finite, None).round() if column.dtype.is_float() else column).cast(pl.Int64)
    return column.cast(_WANTED[kind])


def _fits(found: pl.DataType, kind: Kind) -> bool:
    """Whether a value of the type found can be read as the kind without guessing."""
    if kind == "DATE":
        return found in (pl.Date, pl.Datetime)
    if kind == "VARCHAR":
        return found in (pl.String, pl.Categorical) or isinstance(found, pl.Enum)
    return found.is_numeric()
