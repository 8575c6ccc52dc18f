"""Anything with ``__arrow_c_stream__`` goes in; checked columns, and the compact ones JavaScript reads, come out."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from sessionlab.errors import MissingColumns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BIG = pa.int64()
REAL = pa.float64()
FLAG = pa.bool_()
TEXT = pa.large_string()
TIME = pa.timestamp("us")


class Table(Protocol):
    """A table of any library that speaks the Arrow C stream interface: polars, pyarrow, pandas, DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as a PyCapsule holding an ArrowArrayStream."""


def arrow(table: Table, columns: Mapping[str, pa.DataType], picture: str) -> pa.Table:
    """``table``'s ``columns`` in the given order and types, in one chunk each; other columns are left out.

    Raises:
        TypeError: ``table`` does not speak the Arrow C stream interface, or a column has a type that does not fit.
        MissingColumns: a column is not there; the message lists those that are.
    """
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(
            f"{picture} takes a table with __arrow_c_stream__ (polars, pyarrow, pandas 2.2+, DuckDB); "
            f"found {type(table).__name__}",
        )
    given = pa.table(table)
    if missing := [name for name in columns if name not in given.column_names]:
        raise MissingColumns(picture, missing, given.column_names)
    taken = []
    for name, kind in columns.items():
        column = given[name]
        try:
            taken.append(column.cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise TypeError(f"{picture}: column {name} must be {kind}; found {column.type} ({error})") from error
    return pa.table(taken, names=list(columns)).combine_chunks()


def rows(table: pa.Table) -> dict[str, list[Any]]:
    """The columns as Python lists; times as microseconds since 1970 UTC, and what is no finite number as None."""
    lists: dict[str, list[Any]] = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        values = column.to_pylist()
        if pa.types.is_floating(column.type):
            values = [None if value is None or not math.isfinite(value) else value for value in values]
        lists[name] = values
    return lists


def _number(value: float | None) -> float | int | None:
    """Whole floats travel as integers: shorter, and the same number in JavaScript."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def pack(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Columns as JSON-ready values: ``{"count": rows, "columns": {...}}``.

    A text column is its distinct values and a code per row (-1 is null); a flag is 1, 0 or null; numbers stand as they
    are. A column without a value is left out: JavaScript reads null for it.
    """
    packed: dict[str, Any] = {}
    count = 0
    for name, values in columns.items():
        count = len(values)
        first = next((value for value in values if value is not None), None)
        if first is None:
            continue
        if isinstance(first, str):
            codes: dict[str, int] = {}
            packed[name] = {
                "codes": [-1 if value is None else codes.setdefault(value, len(codes)) for value in values],
                "values": list(codes),
            }
        else:
            packed[name] = [_number(value) for value in values]
    return {"count": count, "columns": packed}


def encode(payload: Mapping[str, Any]) -> str:
    """``payload`` as compact JSON text, never with NaN: browsers refuse it."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encoded_bytes(payload: object) -> int:
    """How many bytes ``payload`` takes as UTF-8 JSON: what the byte budget counts."""
    return len(json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode())
