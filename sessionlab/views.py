"""Raw tables in a DuckDB connection become plain tables and views: ``sql/`` is the library, one SELECT per file.

``sql/plain/<table>.sql`` folds the raw tables into what is true of the whole; ``sql/<subject>/<name>.sql`` is the view
``<subject>.<name>``. A name that starts with an underscore is private.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

import duckdb
import pyarrow as pa

from sessionlab.arrow import SCHEMAS
from sessionlab.tables import TABLES, columns, plain_columns

BODY_TABLES = frozenset({"pools", "blocks"})
"""The tables that hold what was said: a load without bodies leaves them out."""

STEP_TABLES = frozenset({"entries", "windows", "tool_calls", "configs"})
"""The tables that hold what was done, step by step: a load of figures alone leaves them out too."""
FOLDED = ("sources", "_tellings", "copies", "sessions", "agents", "usage")
"""The plain tables that are computed once per load, in the order they need each other."""
WHOLE = "memory"
"""Catalog of the whole load, as DuckDB names the database a connection opens with."""
INSERTED_ROWS, INSERTED_BYTES = 32_768, 16 << 20
"""A statement is made for so many rows or bytes: each costs some milliseconds, however few it appends."""
RAW_TABLES = tuple(name for name in TABLES if name != "prices")


class ViewColumn(NamedTuple):
    """A column of a view, as its header documents it."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True)
class View:
    """A view of the library: its text and what its header says."""

    name: str
    text: str

    @property
    def sentence(self) -> str:
        """What it answers, in one sentence."""
        return self._prose().split(". ")[0].rstrip(".") + "."

    @property
    def grain(self) -> str:
        """What one row is."""
        return self._prose().partition(". ")[2]

    @property
    def columns(self) -> tuple[ViewColumn, ...]:
        """The documented columns, in order."""
        found = re.findall(r"^-- ([a-z_][a-z0-9_]*) {2,}([A-Z]+) +(\S.*)$", self.text, re.MULTILINE)
        return tuple(ViewColumn(*parts) for parts in found)

    @property
    def needs_bodies(self) -> bool:
        """Whether it reads what was said, directly or through another view."""
        return self._reads_any(BODY_TABLES)

    @property
    def needs_steps(self) -> bool:
        """Whether it reads what was done step by step, directly or through another view."""
        return self._reads_any(STEP_TABLES)

    def can_be_made(self, *, bodies: bool, figures: bool) -> bool:
        """Whether a load with or without bodies, or of figures alone, holds what it reads."""
        return (bodies or not self.needs_bodies) and not (figures and self.needs_steps)

    def _reads_any(self, tables: Iterable[str]) -> bool:
        wanted = rf"\b(?:FROM|JOIN)\s+(?:raw\.)?(?:{'|'.join(sorted(tables))})\b(?!\.)"
        return any(re.search(wanted, library()[name].text, re.IGNORECASE) for name in closure([self.name]))

    def _prose(self) -> str:
        lines = []
        for line in self.text.splitlines():
            if not line.startswith("-- "):
                break
            lines.append(line[3:].strip())
        return " ".join(lines)


def reads(text: str, name: str) -> bool:
    """Whether SQL ``text`` names the table or view ``name`` outside comments, in any case, quoted or not."""
    return name.lower() in _named(text)


@lru_cache(512)
def _named(text: str) -> frozenset[str]:
    """The names in SQL text, with their schema where it is told, in lower case; those of functions are left out."""
    code = re.sub(r"--.*", "", text).replace('"', "")
    return frozenset(re.findall(r"[\w.]++(?!\()", code.lower()))


@cache
def library() -> dict[str, View]:
    """Every view by name, private ones included, plain tables not."""
    return {name: View(name, text) for name, text in _statements().items() if not name.startswith("plain.")}


def public_views() -> dict[str, View]:
    """The views a user may name, in order."""
    return {name: view for name, view in sorted(library().items()) if not name.split(".")[1].startswith("_")}


@cache
def _statements() -> dict[str, str]:
    found: dict[str, str] = {}
    root: Traversable = files("sessionlab") / "sql"
    for subject in sorted(root.iterdir(), key=lambda p: p.name):
        if subject.is_dir():
            for path in sorted(subject.iterdir(), key=lambda p: p.name):
                if path.name.endswith(".sql"):
                    text = path.read_text(encoding="utf-8")
                    found[f"{subject.name}.{path.name.removesuffix('.sql')}"] = text
    return found


def connect() -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB in UTC with empty raw tables."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    con.execute("CREATE SCHEMA raw")
    for name in RAW_TABLES:
        specs = ", ".join(f'"{c.name}" {c.type}' for c in columns(TABLES[name]))
        con.execute(f"CREATE TABLE raw.{name} ({specs})")
    return con


def insert(con: duckdb.DuckDBPyConnection, tables: dict[str, pa.Table]) -> None:
    """Append rows to the raw tables."""
    for name, part in tables.items():
        con.register("_part", part)
        con.execute(f"INSERT INTO raw.{name} SELECT * FROM _part")
        con.unregister("_part")


@contextmanager
def inserter(con: duckdb.DuckDBPyConnection) -> Iterator[Callable[[dict[str, pa.Table]], None]]:
    """A function like `insert` that returns at once: DuckDB works while the next part is read.

    Small tables are held until they are worth a statement, at most to the end. One insertion is under way at a time,
    so that memory stays bounded. Nothing else may use ``con`` inside.
    """
    held: dict[str, list[pa.Table]] = {}
    under_way: Future[None] | None = None

    def settled() -> None:
        if under_way is not None:
            under_way.result()

    with ThreadPoolExecutor(1, thread_name_prefix="sessionlab-insert") as thread:

        def start(tables: dict[str, pa.Table]) -> None:
            nonlocal under_way
            for name, part in tables.items():
                held.setdefault(name, []).append(part)
            large = [name for name, parts in held.items() if _worth_inserting(parts)]
            if large:
                ready = {name: pa.concat_tables(held.pop(name)) for name in large}
                settled()
                under_way = thread.submit(insert, con, ready)

        yield start
        settled()
    insert(con, {name: pa.concat_tables(parts) for name, parts in held.items()})


def _worth_inserting(parts: list[pa.Table]) -> bool:
    rows, size = sum(part.num_rows for part in parts), sum(part.nbytes for part in parts)
    return bool(rows >= INSERTED_ROWS or size >= INSERTED_BYTES)


def left_out(*, bodies: bool, figures: bool) -> frozenset[str]:
    """The tables a load leaves out."""
    return (frozenset() if bodies and not figures else BODY_TABLES) | (STEP_TABLES if figures else frozenset())


def fold(con: duckdb.DuckDBPyConnection, *, bodies: bool, figures: bool = False) -> None:
    """Make the plain tables: the heavy folds once, as tables; the rest as views on ``raw``.

    Of ``figures`` alone, what raw rows of steps there are serve the folds only; how many entries a session has is not
    known then.
    """
    absent = left_out(bodies=bodies, figures=figures)
    statements = _statements()
    for name in BODY_TABLES & absent:
        con.execute(f"DROP TABLE raw.{name}")
    for name in FOLDED:
        con.execute(f"CREATE TABLE {name} AS {statements[f'plain.{name}']}")
    for name in RAW_TABLES:
        if name not in FOLDED and name not in absent:
            con.execute(f"CREATE VIEW {name} AS {statements[f'plain.{name}']}")
    if figures:
        con.execute("UPDATE sessions SET entries = NULL")


def narrow(con: duckdb.DuckDBPyConnection, *, absent: frozenset[str], scoped: bool) -> None:
    """In the (empty) catalog that ``con`` uses, plain and raw tables of the load, cut to the sessions in ``scope``.

    Not ``scoped``: all of them. Files stay whole: `sources`, `problems` and `extents` are cut by file.
    """
    con.execute("CREATE SCHEMA raw")
    for schema in ("raw", "main"):
        for name in RAW_TABLES:
            if name not in absent:
                kept = _scope_of(name) if scoped else ""
                con.execute(f"CREATE VIEW {schema}.{name} AS SELECT x.* FROM {WHOLE}.{schema}.{name} x {kept}")
    for name in ("copies", "_tellings"):
        con.execute(f"CREATE VIEW {name} AS SELECT * FROM {WHOLE}.main.{name}")


def _scope_of(name: str) -> str:
    if "session_id" in SCHEMAS[name].names and name != "problems":
        return "SEMI JOIN scope AS kept ON kept.session_id = x.session_id"
    told = f"SELECT s.source_id FROM {WHOLE}.raw.sessions s SEMI JOIN scope AS kept ON kept.session_id = s.session_id"
    return f"SEMI JOIN ({told}) AS files ON files.source_id = x.source_id"


def settings(con: duckdb.DuckDBPyConnection, *, now: datetime | None, tz: str, price_at: datetime | None) -> None:
    """Set what views ask for: the clock, the zone of days, and the date of the rates (None: each call's own)."""
    con.execute("CREATE OR REPLACE TABLE settings (now_at TIMESTAMP, tz VARCHAR, price_at TIMESTAMP)")
    con.execute("INSERT INTO settings VALUES (?, ?, ?)", [now, tz, price_at])


def set_prices(con: duckdb.DuckDBPyConnection, prices: pa.Table) -> None:
    """Replace the ``prices`` table."""
    con.register("_prices", prices)
    con.execute("CREATE OR REPLACE TABLE prices AS SELECT * FROM _prices")
    con.unregister("_prices")


def define(
    con: duckdb.DuckDBPyConnection, names: Iterable[str] | None = None, *, bodies: bool = True, figures: bool = False
) -> None:
    """Create views (default: every one) and those they read, unless they are there.

    Creating a view binds it at once, so what it reads is made first.
    """
    known = library()
    there = {f"{schema}.{name}" for schema, name in _existing(con)}
    wanted = [n for n in (known if names is None else names) if known[n].can_be_made(bodies=bodies, figures=figures)]
    for name in closure(wanted):
        if name not in there:
            con.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
            con.execute(f"CREATE VIEW IF NOT EXISTS {name} AS {known[name].text}")


def closure(names: Iterable[str]) -> list[str]:
    """``names`` and every view they read, what is read before what reads it."""
    done: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise RecursionError(f"views that read each other in a circle: {' > '.join((*above, name))}")
        if name not in done:
            for inner in _read_by()[name]:
                visit(inner, (*above, name))
            done[name] = None

    for name in names:
        visit(name, ())
    return list(done)


def named_in(text: str) -> list[str]:
    """The views that SQL text names."""
    return [name for name in library() if reads(text, name)]


def need_prices(names: Iterable[str]) -> bool:
    """Whether any of these views reads ``prices``, directly or through another."""
    return any(reads(library()[name].text, "prices") for name in closure(names))


@cache
def _read_by() -> dict[str, tuple[str, ...]]:
    known = library()
    return {name: tuple(o for o in known if o != name and reads(view.text, o)) for name, view in known.items()}


def _existing(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    return con.sql(
        "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal AND database_name = current_database()"
    ).fetchall()


def documented(name: str) -> tuple[ViewColumn, ...]:
    """The columns of a common table as `ViewColumn`s: what the plain table has."""
    return tuple(ViewColumn(c.name, c.type, c.doc) for c in plain_columns(TABLES[name]))
