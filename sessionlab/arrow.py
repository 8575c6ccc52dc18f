"""Rows in, Arrow tables out: one schema per common table, built in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import attrgetter

import pyarrow as pa
from msgspec.structs import astuple

from sessionlab.columns import BIGINT_MAX, Row, columns
from sessionlab.tables import TABLE_OF, TABLES

_ARROW_TYPES = {
    "BOOLEAN": pa.bool_(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "TIMESTAMP": pa.timestamp("us"),
}
Batches = dict[str, list[pa.RecordBatch]]

BATCH_ROWS = 2048
"""Rows of a record batch, about: as many as DuckDB works on at a time."""


def schema(row: type[Row]) -> pa.Schema:
    """The Arrow schema of a raw table; a column that is never null says so."""
    return pa.schema([pa.field(c.name, _ARROW_TYPES[c.type], nullable=c.nullable) for c in columns(row)])


SCHEMAS: dict[str, pa.Schema] = {name: schema(row) for name, row in TABLES.items()}
_FIELDS = {row: [(c.name, _ARROW_TYPES[c.type]) for c in columns(row)] for row in TABLES.values()}


class Batcher:
    """Collects rows of any table from file after file, and hands them over as tables of record batches.

    Rows become columns BATCH_ROWS at a time, while the processor's caches still hold them.
    """

    def __init__(self) -> None:
        self._rows: dict[type[Row], list[Row]] = {row: [] for row in TABLES.values()}
        self._sources: dict[type[Row], list[tuple[int, int]]] = {row: [] for row in TABLES.values()}
        self._batches: Batches = {}

    def add(self, source_id: int, rows: Iterable[Row]) -> None:
        """Take rows of one source: all of them, or the next part."""
        held = self._rows
        before = [len(found) for found in held.values()]
        appends = {row: found.append for row, found in held.items()}
        for row in rows:
            appends[type(row)](row)
        for (kind, found), count in zip(held.items(), before, strict=True):
            if len(found) > count:
                self._sources[kind].append((source_id, len(found) - count))
                if len(found) >= BATCH_ROWS:
                    self._close(kind)

    def take(self) -> dict[str, pa.Table]:
        """What was added since the last call, by table; tables without rows are left out."""
        for kind, rows in self._rows.items():
            if rows:
                self._close(kind)
        out = {name: pa.Table.from_batches(found, SCHEMAS[name]) for name, found in self._batches.items()}
        self._batches = {}
        return out

    def _close(self, kind: type[Row]) -> None:
        batch = _batch(kind, self._rows[kind], self._sources[kind])
        self._batches.setdefault(TABLE_OF[kind], []).append(batch)
        self._rows[kind], self._sources[kind] = [], []


def _batch(kind: type[Row], rows: list[Row], sources: list[tuple[int, int]]) -> pa.RecordBatch:
    ids: list[int] = []
    for source_id, count in sources:
        ids.extend(repeat(source_id, count))
    values = zip(*map(astuple, rows), strict=True)
    next(values)  # a row does not know its source
    arrays = [pa.array(ids, pa.int64())]
    arrays += [_array(column, arrow_type) for column, (_, arrow_type) in zip(values, _FIELDS[kind][1:], strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMAS[TABLE_OF[kind]])


def _array(values: Sequence[object], arrow_type: pa.DataType) -> pa.Array:
    first = values[0]
    if first is None and values[-1] is None and values.count(None) == len(values):  # most columns of most tables
        return pa.nulls(len(values), arrow_type)
    try:
        return pa.array(values, arrow_type)
    except UnicodeEncodeError:  # a lone surrogate that a format let through must not cost the whole load
        return pa.array([_clean(v) for v in values], arrow_type)
    except (OverflowError, pa.ArrowInvalid):
        return pa.array([v if v is None or abs(v) <= BIGINT_MAX else None for v in values], arrow_type)  # type: ignore[arg-type]


def _clean(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def from_rows(rows: Iterable[Row], table: str) -> pa.Table:
    """One table out of rows that carry their own source_id, such as ``prices``."""
    kind = TABLES[table]
    held = list(rows)
    if not held:
        return SCHEMAS[table].empty_table()
    arrays = [_array(list(map(attrgetter(name), held)), arrow_type) for name, arrow_type in _FIELDS[kind]]
    return pa.Table.from_arrays(arrays, schema=SCHEMAS[table])
