"""What holds for every view of the library: its header is true, its text travels, its figures mean one thing."""

from __future__ import annotations

import re
from datetime import datetime

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sessionlab import views
from sessionlab.arrow import from_rows
from sessionlab.tables import TABLES

LIBRARY = views.library()
EVERYTHING = views._statements()
BANNED = {
    "ASOF joins": r"\bASOF\b",
    "ordered aggregates of lists": r"\b(array_agg|list|string_agg|group_concat)\s*\(",
    "interpolated quantiles": r"\bquantile(_cont|_disc)?\b|\bmedian\s*\(",
    "pivots": r"\bPIVOT\b",
    "COLUMNS()": r"\bCOLUMNS\s*\(",
    "positional joins": r"\bPOSITIONAL\b",
    "recursion": r"\bRECURSIVE\b",
    "engine hashes": r"(?<![\w.])hash\s*\(",
    "distinct counts over windows": r"count\s*\(\s*DISTINCT[^)]*\)\s*OVER",
}
ERRORS = re.compile(r"error|failed|failure", re.IGNORECASE)
DENIALS = re.compile(r"denied|denial|refus", re.IGNORECASE)


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    """An empty corpus with every view."""
    con = views.connect()
    views.fold(con, bodies=True)
    views.settings(con, now=datetime(2026, 11, 30), tz="UTC", price_at=None)
    views.set_prices(con, from_rows([], "prices"))
    views.define(con, bodies=True)
    return con


def _code(text: str) -> str:
    return re.sub(r"--.*", "", text)


@pytest.mark.parametrize("name", sorted(LIBRARY))
def test_header_matches_describe(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """A view's header lists its columns as DESCRIBE does: names, types, order; with a sentence and a grain."""
    described = [(row[0], row[1]) for row in con.sql(f"DESCRIBE {name}").fetchall()]
    assert [(c.name, c.type) for c in LIBRARY[name].columns] == described
    assert LIBRARY[name].sentence.endswith(".")
    assert "ne row" in LIBRARY[name].grain


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_text_travels(name: str) -> None:
    """A view is one SELECT that sqlglot parses and carries to Spark, without what would be carried wrongly."""
    code = _code(EVERYTHING[name])
    for what, pattern in BANNED.items():
        assert not re.search(pattern, code, re.IGNORECASE), f"{name} uses {what}"
    [parsed] = sqlglot.parse(code, read="duckdb")
    assert isinstance(parsed, exp.Query)
    assert sqlglot.transpile(code, read="duckdb", write="spark")
    for ordered in parsed.find_all(exp.Ordered):
        bare = ordered.this
        if re.search(r"\bDESC\b", ordered.sql("duckdb")) and not isinstance(bare, exp.Literal):
            assert ordered.args.get("nulls_first") is not None


def test_no_view_bears_a_tables_name() -> None:
    """No view can be mistaken for a table: a view that reads a table of its own name would read itself."""
    assert not set(TABLES) & {name.split(".")[1] for name in LIBRARY if name.split(".")[0] == "main"}
    assert not set(TABLES) & set(LIBRARY)
    for name in LIBRARY:
        assert name.split(".")[1] not in TABLES, name


@pytest.mark.parametrize("name", sorted(LIBRARY))
def test_errors_and_denials_are_never_added(name: str) -> None:
    """No sum, and no test of a status, puts failed calls and refused calls into one figure (mecha 4.4)."""
    parsed = sqlglot.parse_one(_code(LIBRARY[name].text), read="duckdb")
    for added in parsed.find_all(exp.Add):
        words = " ".join(c.name for c in added.find_all(exp.Column))
        assert not (ERRORS.search(words) and DENIALS.search(words)), added.sql("duckdb")
    for counted in parsed.find_all(exp.Filter):
        words = counted.sql("duckdb")
        assert not ("'failed'" in words and "'refused'" in words), words


def test_errors_and_denials_stay_apart_in_figures() -> None:
    """With 7 errors and 1,000 denials, no figure of any view about health is 1,007."""
    con = views.connect()
    con.execute("INSERT INTO raw.sources (source_id, uri, format, state) VALUES (1, 'a', 'mecha', 'whole')")
    con.execute("INSERT INTO raw.sessions (source_id, session_id, format, part) VALUES (1, 's', 'mecha', 'log')")
    con.execute(
        "INSERT INTO raw.outcomes (source_id, session_id, agent_id, run, model, tool_calls, tool_errors, tool_denied)"
        " VALUES (1, 's', 'root', 1, 'm', 5000, 7, 1000)"
    )
    con.execute(
        "INSERT INTO raw.tool_calls (source_id, session_id, seq, agent_id, ordinal, name, status)"
        " SELECT 1, 's', range, 'root', 0, 't', CASE WHEN range < 7 THEN 'failed' WHEN range < 1007 THEN 'refused'"
        " ELSE 'ok' END FROM range(5000)"
    )
    views.fold(con, bodies=True)
    views.settings(con, now=datetime(2026, 11, 30), tz="UTC", price_at=None)
    views.set_prices(con, from_rows([], "prices"))
    views.define(con, bodies=True)
    seen = set()
    for name in sorted(n for n in LIBRARY if n.startswith("health.")):
        for row in con.sql(f"FROM {name}").fetchall():
            seen |= {value for value in row if isinstance(value, int | float)}
    assert {7, 1000} <= seen
    assert not {1007, 1007 / 5000} & seen
