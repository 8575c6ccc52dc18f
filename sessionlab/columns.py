"""What a column may hold: six types that DuckDB, Delta, Spark and polars agree on, and how a class declares a table.

A table is a subclass of :class:`Row`; an attribute is a column; its annotation carries the SQL type and one
sentence of meaning. :func:`columns` reads both back, so the classes are the data dictionary.
"""

from __future__ import annotations

import math
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args, get_type_hints

import msgspec

Flag = Annotated[bool | None, "BOOLEAN"]
Small = Annotated[int | None, "INTEGER"]
Big = Annotated[int | None, "BIGINT"]
Real = Annotated[float | None, "DOUBLE"]
Text = Annotated[str | None, "VARCHAR"]
Time = Annotated[int | None, "TIMESTAMP"]
"""Microseconds since 1970-01-01 UTC on the way in; TIMESTAMP without zone, UTC by convention, in every table."""

SQL_TYPES = ("BOOLEAN", "INTEGER", "BIGINT", "DOUBLE", "VARCHAR", "TIMESTAMP")
PYTHON_TYPES: dict[str, type] = {
    "BOOLEAN": bool,
    "INTEGER": int,
    "BIGINT": int,
    "DOUBLE": float,
    "VARCHAR": str,
    "TIMESTAMP": int,
}
BIGINT_MAX = 2**63 - 1
TOKENS_MAX = 10**15
"""Most tokens one figure can mean: nine thousand such rows still add up in a BIGINT."""
USD_MAX = 1e12
"""Most dollars one figure can mean."""

Fault = Literal["number_too_large", "negative_number", "not_a_number"]
"""What is wrong with a number that is read as null; the kind of the problem that says so."""


class Column(NamedTuple):
    """One column of a common table: its name, SQL type, meaning, and whether it may be null."""

    name: str
    type: str
    doc: str
    nullable: bool
    plain_only: bool = False


class Row(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One row of a common table, as one file tells it.

    ``plain`` are the columns that only the folded table has (name → (type, meaning)).
    ``source_id`` is filled in by the loader: a format never needs to know it; a table that is not ``from_files`` has
    none.
    """

    plain: ClassVar[dict[str, tuple[str, str]]] = {}
    from_files: ClassVar[bool] = True

    source_id: Annotated[int, "BIGINT", "File the row comes from: 63-bit digest of its uri."] = 0


_CACHE: dict[type[Row], tuple[Column, ...]] = {}


def columns(row: type[Row]) -> tuple[Column, ...]:
    """The columns a format writes, in order (the schema ``raw``)."""
    if row not in _CACHE:
        hints = get_type_hints(row, include_extras=True)
        _CACHE[row] = tuple(
            Column(name, *_meaning(hints[name]))
            for name in row.__struct_fields__
            if row.from_files or name != "source_id"
        )
    return _CACHE[row]


def _meaning(hint: Any) -> tuple[str, str, bool]:  # noqa: ANN401 (an annotation is of no type that can be named)
    kind, doc = hint.__metadata__
    return kind, doc, NoneType in get_args(hint.__origin__)


def plain_columns(row: type[Row]) -> tuple[Column, ...]:
    """The columns of the folded table: what the format writes, then what only the whole can tell."""
    extra = tuple(Column(name, kind, doc, nullable=True, plain_only=True) for name, (kind, doc) in row.plain.items())
    return columns(row) + extra


def big(value: int | None) -> int | None:
    """``value`` when a BIGINT can hold it, else None (the caller adds a ``number_too_large`` problem)."""
    return value if value is None or -BIGINT_MAX <= value <= BIGINT_MAX else None


def tokens_fault(value: float | None) -> Fault | None:
    """Why ``value`` cannot be a count of tokens; None when it can, or when there is none."""
    if value is None or 0 <= value <= TOKENS_MAX:
        return None
    if math.isnan(value):
        return "not_a_number"
    return "negative_number" if value < 0 else "number_too_large"


def tokens(value: int | None) -> int | None:
    """``value`` when it can be a count of tokens, else None (the caller adds the problem `tokens_fault` names)."""
    return value if value is None or 0 <= value <= TOKENS_MAX else None


def usd_fault(value: float | None) -> Fault | None:
    """Why ``value`` cannot be an amount of dollars; None when it can, or when there is none."""
    if value is None or -USD_MAX <= value <= USD_MAX:
        return None
    return "not_a_number" if math.isnan(value) else "number_too_large"


def usd(value: float | None) -> float | None:
    """``value`` when it can be an amount of dollars, else None (the caller adds the problem `usd_fault` names)."""
    return value if value is None or -USD_MAX <= value <= USD_MAX else None
