"""Rows in, Arrow record batches out: one schema per common table, built in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from operator import attrgetter

import pyarrow as pa

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


def schema(row: type[Row]) -> pa.Schema:
    """The Arrow schema of a raw table; a column that is never null says so."""
    return pa.schema([pa.field(c.name, _ARROW_TYPES[c.type], nullable=c.nullable) for c in columns(row)])


SCHEMAS: dict[str, pa.Schema] = {name: schema(row) for name, row in TABLES.items()}
_FIELDS = {row: [(c.name, _ARROW_TYPES[c.type]) for c in columns(row)] for row in TABLES.values()}


class Batcher:
    """Collects rows of any table from file after file, and hands them over as record batches."""

    def __init__(self) -> None:
        self._rows: dict[type[Row], list[Row]] = {row: [] for row in TABLES.values()}
        self._sources: dict[type[Row], list[tuple[int, int]]] = {row: [] for row in TABLES.values()}

    def add(self, source_id: int, rows: Iterable[Row]) -> None:
        """Take rows of one source: all of them, or the next part."""
        held = self._rows
        before = {row: len(found) for row, found in held.items()}
        appends = {row: found.append for row, found in held.items()}
        for row in rows:
            appends[type(row)](row)
        for kind, found in held.items():
            if len(found) > before[kind]:
                self._sources[kind].append((source_id, len(found) - before[kind]))

    def take(self) -> dict[str, pa.RecordBatch]:
        """The batches of what was added since the last call, by table; tables without rows are left out."""
        out = {}
        for kind, rows in self._rows.items():
            if rows:
                out[TABLE_OF[kind]] = _batch(kind, rows, self._sources[kind])
                self._rows[kind], self._sources[kind] = [], []
        return out


def _batch(kind: type[Row], rows: list[Row], sources: list[tuple[int, int]]) -> pa.RecordBatch:
    ids: list[int] = []
    for source_id, count in sources:
        ids.extend(repeat(source_id, count))
    arrays = [pa.array(ids, pa.int64())]
    for name, arrow_type in _FIELDS[kind][1:]:
        values = list(map(attrgetter(name), rows))
        arrays.append(_array(values, arrow_type))
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMAS[TABLE_OF[kind]])


def _array(values: list[object], arrow_type: pa.DataType) -> pa.Array:
    if values[0] is None and values.count(None) == len(values):
        return pa.nulls(len(values), arrow_type)
    try:
        return pa.array(values, arrow_type)
    except UnicodeEncodeError:  # a lone surrogate that a format let through must not cost the whole load
        return pa.array([_clean(v) for v in values], arrow_type)
    except (OverflowError, pa.ArrowInvalid):
        return pa.array([v if v is None or abs(v) <= BIGINT_MAX else None for v in values], arrow_type)  # type: ignore[arg-type]


def _clean(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def tables(batches: Iterable[dict[str, pa.RecordBatch]]) -> dict[str, pa.Table]:
    """Every common table (``prices`` apart) out of batches; a table without rows is empty, not missing."""
    parts: Batches = {name: [] for name in TABLES if name != "prices"}
    for batch in batches:
        for name, part in batch.items():
            parts[name].append(part)
    return {name: pa.Table.from_batches(found, SCHEMAS[name]) for name, found in parts.items()}


def from_rows(rows: Iterable[Row], table: str) -> pa.Table:
    """One table out of rows that carry their own source_id, such as ``prices``."""
    kind = TABLES[table]
    held = list(rows)
    if not held:
        return SCHEMAS[table].empty_table()
    arrays = [_array(list(map(attrgetter(name), held)), arrow_type) for name, arrow_type in _FIELDS[kind]]
    return pa.Table.from_arrays(arrays, schema=SCHEMAS[table])
