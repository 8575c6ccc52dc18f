"""Runs every case folder ``<view>/<case>/``: small input tables, and what the view must say about them.

``<table>.csv`` is a plain table (``raw.<table>.csv`` a raw one; where only one is given both hold the same),
``settings.csv`` the clock and zone, ``prices.csv`` the rates, ``expect.csv`` the rows expected, in order, of the
columns it names. A case of ``plain.<table>`` gives raw tables and expects what the fold makes of them, in any order.
"""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from sessionlab import views
from sessionlab.tables import TABLES, columns, plain_columns
from tests.conftest import read_csv

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/expect.csv"))
FILLED = {"BIGINT": "0", "INTEGER": "0", "VARCHAR": "", "BOOLEAN": "false", "DOUBLE": "0"}
INNER = {
    "copies": {"source_id": "BIGINT", "seq": "BIGINT", "rule": "VARCHAR"},
    "_tellings": {
        "session_id": "VARCHAR", "source_id": "BIGINT", "ended_at": "TIMESTAMP", "entries": "BIGINT", "rank": "BIGINT",
    },
}  # fmt: skip


def _types(table: str) -> dict[str, str]:
    if table in INNER:
        return INNER[table]
    return {c.name: c.type for c in plain_columns(TABLES[table])}


def _required(table: str) -> set[str]:
    return set() if table in INNER else {c.name for c in columns(TABLES[table]) if not c.nullable}


def _fill(con: duckdb.DuckDBPyConnection, where: str, table: str, path: Path) -> None:
    header, rows = read_csv(path)
    types = _types(table)
    unknown = set(header) - set(types)
    assert not unknown, f"{path}: no such columns in {table}: {unknown}"
    missing = [name for name in _required(table) if name not in header]
    names = [*header, *missing]
    marks = ", ".join(f"CAST(? AS {types[name]})" for name in names)
    listed = ", ".join(f'"{name}"' for name in names)
    for row in rows:
        values = [*row, *(FILLED[types[name]] for name in missing)]
        con.execute(f"INSERT INTO {where} ({listed}) VALUES ({marks})", values)


def _prepared(case: Path) -> duckdb.DuckDBPyConnection:
    con = views.connect()
    given = {path.stem for path in case.glob("*.csv")} - {"expect", "settings", "prices"}
    folding = case.parent.name.startswith("plain.")
    if folding:
        for name in given:
            _fill(con, f"raw.{name.removeprefix('raw.')}", name.removeprefix("raw."), case / f"{name}.csv")
        views.fold(con, bodies=True)
    else:
        for name in [*views.RAW_TABLES, *INNER]:
            specs = ", ".join(f'"{column}" {kind}' for column, kind in _types(name).items())
            con.execute(f"CREATE TABLE {name} ({specs})")
            source = name if name in given else f"raw.{name}" if f"raw.{name}" in given else None
            if source:
                _fill(con, name, name, case / f"{source}.csv")
            if name in views.RAW_TABLES and f"raw.{name}" in given:
                _fill(con, f"raw.{name}", name, case / f"raw.{name}.csv")
            elif name in views.RAW_TABLES and name in given:
                listed = ", ".join(f'"{c.name}"' for c in columns(TABLES[name]))
                con.execute(f"INSERT INTO raw.{name} SELECT {listed} FROM {name}")
    clock, zone, price_at = datetime(2026, 11, 30, 12), "UTC", None
    if (case / "settings.csv").exists():
        header, [row] = read_csv(case / "settings.csv")
        told = dict(zip(header, row, strict=True))
        clock = datetime.fromisoformat(told["now_at"]) if told.get("now_at") else clock
        zone = told.get("tz") or zone
        price_at = datetime.fromisoformat(told["price_at"]) if told.get("price_at") else None
    views.settings(con, now=clock.replace(tzinfo=None), tz=zone, price_at=price_at)
    specs = ", ".join(f'"{c.name}" {c.type}' for c in columns(TABLES["prices"]))
    con.execute(f"CREATE TABLE prices ({specs})")
    if (case / "prices.csv").exists():
        _fill(con, "prices", "prices", case / "prices.csv")
    views.define(con, bodies=True)
    return con


def _same(found: object, wanted: object) -> bool:
    if isinstance(found, float) and isinstance(wanted, float):
        return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-15)
    return found == wanted


@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_case(case: Path) -> None:
    """The view says of the input tables exactly what expect.csv says, in its order."""
    con = _prepared(case)
    view = case.parent.name.removeprefix("plain.")
    header, rows = read_csv(case / "expect.csv")
    kinds = {row[0]: row[1] for row in con.sql(f"DESCRIBE {view}").fetchall()}
    assert not set(header) - set(kinds), f"{view} has no columns {set(header) - set(kinds)}"
    listed = ", ".join(f'"{name}"' for name in header)
    found = con.sql(f"SELECT {listed} FROM {view}").fetchall()
    marks = ", ".join(f"CAST(? AS {kinds[name]})" for name in header)
    wanted = [con.execute(f"SELECT {marks}", row).fetchone() for row in rows]
    if case.parent.name.startswith("plain."):  # tables have no order
        found, wanted = sorted(found, key=repr), sorted(wanted, key=repr)
    assert len(found) == len(wanted), f"{len(found)} rows for {len(wanted)}: {found}"
    for number, (a, b) in enumerate(zip(found, wanted, strict=True), 1):
        differing = {n: (x, y) for n, x, y in zip(header, a, b, strict=True) if not _same(x, y)}
        assert not differing, f"row {number}: found, expected: {differing}"
