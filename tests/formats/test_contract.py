"""The contract every format keeps on every sample, built in or not: rows valid, references whole, no byte lost."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sessionlab import formats
from sessionlab.columns import BIGINT_MAX, PYTHON_TYPES
from sessionlab.formats import Recording
from sessionlab.tables import ENTRY_KINDS, TABLE_OF, TABLES, Extent, Row, columns
from tests.conftest import SAMPLES, read_csv

WHOLE_CUT_BYTES = 8_000
"""A sample up to this size is cut at every byte, a larger one at line ends and 200 places drawn at random."""
CLOSED = {
    ("entries", "kind"): set(ENTRY_KINDS),
    ("entries", "voice"): {"person", "harness", "model", "tool", "agent"},
    ("entries", "status"): {"ok", "failed", "refused", "asked", "interrupted", "unanswered", "staged"},
    ("tool_calls", "status"): {"ok", "failed", "refused", "interrupted", "unanswered", "staged"},
    ("tool_calls", "refused_by"): {"person", "policy", "hook"},
    ("tool_calls", "caller"): {"model", "program", "harness"},
    ("usage", "grain"): {"call", "run", "agent", "session"},
    ("usage", "standing"): {"ledger", "stand_in", "check"},
    ("outcomes", "stop_class"): {"completed", "cut_short", "interrupted", "failed"},
    ("problems", "severity"): {"note", "loss", "refusal"},
    ("extents", "fate"): {"read", "blank", "problem", "after_end"},
    ("sources", "state"): {"whole", "short", "refused"},
    ("sessions", "part"): {"log", "snapshot", "mark"},
    ("pools", "pool"): {"message", "toolset", "text", "response"},
    ("blocks", "kind"): {"text", "thinking", "call", "result", "image", "tool", "extra"},
    ("windows", "queue"): {"agent", "compaction", "frame"},
}


def _inputs() -> Iterator[Path]:
    for case in sorted(SAMPLES.glob("*/*")):
        if case.is_dir():
            for path in sorted(case.rglob("*")):
                if path.is_file() and "expect" not in path.parts and path.name != "README.md":
                    yield path


INPUTS = list(_inputs())


def _name(path: Path) -> str:
    return str(path.relative_to(SAMPLES))


def _data(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _rows(data: bytes, *, bodies: bool = True, figures: bool = False, uri: str = "mem:sample") -> list[Row] | None:
    recording = Recording(io.BytesIO(data), uri=uri, bodies=bodies, figures=figures)
    found = formats.detect(recording.head())
    if found is None:
        return None
    recording.format = found.NAME
    return list(found.read(recording))


def _by_table(rows: list[Row]) -> dict[str, list[Row]]:
    out: dict[str, list[Row]] = {}
    for row in rows:
        out.setdefault(TABLE_OF[type(row)], []).append(row)
    return out


def _table(rows: list[Row], name: str) -> list[Row]:
    return _by_table(rows).get(name, [])


SAMPLES_READ = [path for path in INPUTS if _rows(_data(path)) is not None]


def test_there_are_samples_of_every_format() -> None:
    """Each built-in format has samples, and every file among the samples is somebody's."""
    seen = {_name(path).split("/")[0] for path in SAMPLES_READ}
    assert set(formats.FORMATS) <= seen


@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_exactly_one_format_claims_it(path: Path) -> None:
    """Content decides whose a file is, and no two formats decide differently."""
    head = _data(path)[: formats.HEAD_BYTES]
    claims = [name for name, fmt in formats.all_formats().items() if fmt.sniff(head)]
    folder = _name(path).split("/")[0]
    assert claims == ([folder] if folder in formats.FORMATS else claims)
    assert len(claims) == 1


@pytest.mark.parametrize("bodies", [True, False], ids=["bodies", "no-bodies"])
@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_rows_are_valid(path: Path, bodies: bool) -> None:
    """Every value is of its column's type, null only where it may be, from the closed list where there is one."""
    rows = _rows(_data(path), bodies=bodies) or []
    for row in rows:
        table = TABLE_OF[type(row)]
        for column in columns(type(row)):
            value = getattr(row, column.name)
            if value is None:
                assert column.nullable, f"{table}.{column.name} is null"
                continue
            kind = PYTHON_TYPES[column.type]
            assert type(value) is kind or (kind is float and type(value) is int), f"{table}.{column.name} = {value!r}"
            if kind is int:
                assert abs(value) <= BIGINT_MAX
            if kind is str:
                value.encode()
            if (table, column.name) in CLOSED:
                assert value in CLOSED[table, column.name], f"{table}.{column.name} = {value!r}"
            if column.name in {"detail", "sensors"} and table != "problems":
                assert isinstance(json.loads(value, parse_constant=_no_constant), dict | list)


def _no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_references_resolve_inside_the_source(path: Path) -> None:
    """Whatever a row points at stands in the same file; seq grows; keys are keys."""
    tables = _by_table(_rows(_data(path)) or [])
    entries = tables.get("entries", [])
    seqs = [e.seq for e in entries]  # type: ignore[attr-defined]
    assert seqs == list(range(len(seqs)))
    lines = [e.line for e in entries if e.line is not None]  # type: ignore[attr-defined]
    assert lines == sorted(lines)
    pools = {(p.pool, p.ix) for p in tables.get("pools", [])}  # type: ignore[attr-defined]
    assert len(pools) == len(tables.get("pools", []))
    for pool in {name for name, _ in pools}:
        assert {ix for name, ix in pools if name == pool} == set(range(sum(name == pool for name, _ in pools)))
    sessions = {s.session_id for s in tables.get("sessions", [])}  # type: ignore[attr-defined]
    known = set(seqs)
    for name, rows in tables.items():
        for row in rows:
            if getattr(row, "session_id", None) is not None and name != "problems":
                assert row.session_id in sessions, f"{name}: {row.session_id}"  # type: ignore[attr-defined]
            for column in ("seq", "result_seq"):
                value = getattr(row, column, None)
                if value is not None and name not in {"agents", "problems"}:
                    assert value in known, f"{name}.{column} = {value}"
            for column, pool in (("message_ix", "message"), ("toolset_ix", "toolset"), ("system_ix", "text")):
                value = getattr(row, column, None)
                if value is not None:
                    assert (pool, value) in pools, f"{name}.{column} = {value}"
    blocks = tables.get("blocks", [])
    assert all((b.pool, b.ix) in pools for b in blocks)  # type: ignore[attr-defined]
    assert len({(b.pool, b.ix, b.block) for b in blocks}) == len(blocks)  # type: ignore[attr-defined]
    for call in tables.get("tool_calls", []):
        if call.output_ix is not None:  # type: ignore[attr-defined]
            assert (call.output_pool, call.output_ix) in pools  # type: ignore[attr-defined]
    calls = [(c.seq, c.ordinal) for c in tables.get("tool_calls", [])]  # type: ignore[attr-defined]
    assert len(set(calls)) == len(calls)
    agents = {(a.session_id, a.agent_id) for a in tables.get("agents", [])}  # type: ignore[attr-defined]
    if "gg" not in _name(path):  # a damaged journal may lack the row of an agent that spoke; gg 5.2 reports it
        assert {(e.session_id, e.agent_id) for e in entries} <= agents  # type: ignore[attr-defined]
    assert len(tables.get("sources", [])) == 1


def _covered(rows: list[Row], size: int) -> None:
    at = 0
    for extent in _table(rows, "extents"):
        assert isinstance(extent, Extent)
        assert extent.byte_offset == at
        assert extent.byte_length > 0
        at += extent.byte_length
    assert at == size


@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_every_byte_is_covered(path: Path) -> None:
    """Extents tile the file; a line of fate `problem` has a problem, a blank one is blank, entries lie in `read`."""
    data = _data(path)
    rows = _rows(data) or []
    _covered(rows, len(data))
    tables = _by_table(rows)
    problems = [(p.byte_offset, p.byte_length) for p in tables.get("problems", []) if p.severity != "note"]  # type: ignore[attr-defined]
    for extent in tables.get("extents", []):
        assert isinstance(extent, Extent)
        begin, end = extent.byte_offset, extent.byte_offset + extent.byte_length
        text = data[begin:end]
        if extent.fate == "blank":
            assert not text.strip()
        if extent.fate == "problem":
            assert problems
            if any(o is None for o, _ in problems):
                continue
            assert any(o < end and o + n > begin for o, n in problems)
        if extent.from_line is not None:
            assert data[:begin].count(b"\n") == extent.from_line - 1
    read = [(x.from_line, x.to_line) for x in tables.get("extents", []) if x.fate == "read"]  # type: ignore[attr-defined]
    for entry in tables.get("entries", []):
        if entry.line is not None:  # type: ignore[attr-defined]
            assert any(a <= entry.line <= b for a, b in read)  # type: ignore[attr-defined]


def _keys(value: object, opened: frozenset[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in opened:
                yield from _keys(inner, opened)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner, opened)


@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_every_key_is_used_or_ignored_on_purpose(path: Path) -> None:
    """Read once more as plain JSON, a sample holds no key that its format neither uses nor names as ignored."""
    data = _data(path)
    found = formats.detect(data[: formats.HEAD_BYTES])
    assert found is not None
    used: frozenset[str] = getattr(found, "USED", frozenset())
    opened: frozenset[str] = getattr(found, "OPEN", frozenset())
    unknown: Counter[str] = Counter()
    read = [(x.from_line, x.to_line) for x in _table(_rows(data) or [], "extents") if x.fate == "read"]  # type: ignore[attr-defined]
    for number, line in enumerate(data.split(b"\n"), 1):
        if not any(a is None or a <= number <= b for a, b in read):
            continue
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            unknown.update(key for key in _keys(value, opened) if key not in used and key not in found.IGNORED)
    assert not unknown


def _comparable(rows: list[Row], table: str, before: int) -> list[Row]:
    return [row for row in _table(rows, table) if (row.line or 0) <= before]  # type: ignore[attr-defined]


KNOWN_LATER = {
    "tool_calls": {"result_seq", "batch", "output_pool", "output_ix", "output_block", "status", "refused_by", "reason",
                   "external", "exit_code", "returned_at", "duration_ms", "arguments"},
}  # fmt: skip


def _places(data: bytes) -> list[int]:
    if len(data) <= WHOLE_CUT_BYTES:
        return list(range(len(data)))
    ends = [i for i, byte in enumerate(data) if byte == 0x0A]
    drawn = random.Random(len(data)).sample(range(len(data)), min(200, len(data)))
    return sorted({p for e in ends for p in (e - 1, e, e + 1, e + 2) if 0 <= p < len(data)} | set(drawn))


@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_cutting_never_raises_and_keeps_what_stood_before(path: Path) -> None:
    """Cut anywhere, a log keeps the rows of its complete lines; a file taken whole or not at all is refused once."""
    data = _data(path)
    whole = _rows(data)
    assert whole is not None
    session_parts = {s.part for s in _table(whole, "sessions")}  # type: ignore[attr-defined]
    refused = any(s.state == "refused" for s in _table(whole, "sources"))  # type: ignore[attr-defined]
    places = _places(data)
    if len(places) > 600:
        places = sorted(random.Random(7).sample(places, 600))
    for cut in places:
        rows = _rows(data[:cut])
        if rows is None:
            continue
        _covered(rows, cut)
        if refused:
            continue
        if session_parts == {"log"}:
            complete = data[:cut].count(b"\n")
            if any(s.state == "refused" for s in _table(rows, "sources")):  # type: ignore[attr-defined]
                assert len(_table(rows, "entries")) == 0
                continue
            for table in ("entries", "pools", "blocks", "windows"):
                assert _comparable(rows, table, complete) == _comparable(whole, table, complete), (
                    f"{table} cut at {cut}"
                )
        else:
            refusals = [p for p in _table(rows, "problems") if p.severity == "refusal"]  # type: ignore[attr-defined]
            assert len(refusals) == 1 or not refusals


@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_without_bodies_the_rest_is_the_same(path: Path) -> None:
    """Leaving out what was said changes no entry, figure or status."""
    full, light = _by_table(_rows(_data(path)) or []), _by_table(_rows(_data(path), bodies=False) or [])
    assert not light.get("blocks")
    for table in ("entries", "usage", "outcomes", "agents", "windows", "configs", "links", "extents"):
        a = [_without_texts(row) for row in full.get(table, [])]
        assert a == [_without_texts(row) for row in light.get(table, [])], table
    for a_call, b_call in zip(full.get("tool_calls", []), light.get("tool_calls", []), strict=True):
        for column in columns(type(a_call)):
            if column.name != "arguments":
                assert getattr(a_call, column.name) == getattr(b_call, column.name), column.name


@pytest.mark.parametrize("path", SAMPLES_READ, ids=_name)
def test_figures_alone_are_the_same(path: Path) -> None:
    """A load of figures alone passes by the steps; no figure, session, agent, loss or byte of coverage changes."""
    full, light = _by_table(_rows(_data(path)) or []), _by_table(_rows(_data(path), figures=True) or [])
    for table in ("usage", "outcomes", "agents", "extents", "sources"):
        assert [_without_texts(r) for r in full.get(table, [])] == [_without_texts(r) for r in light.get(table, [])], (
            table
        )
    losses = [[p for p in rows.get("problems", []) if p.severity != "note"] for rows in (full, light)]  # type: ignore[attr-defined]
    assert losses[0] == losses[1]
    for a, b in zip(full.get("sessions", []), light.get("sessions", []), strict=True):
        assert _without_texts(a) == _without_texts(b)
    kept = {e.seq: e for e in light.get("entries", [])}  # type: ignore[attr-defined]
    for row in (*light.get("usage", []), *light.get("outcomes", [])):
        if row.seq is not None:  # type: ignore[attr-defined]
            assert row.seq in kept  # type: ignore[attr-defined]
    for entry in full.get("entries", []):
        assert not entry.is_copy or entry.seq in kept  # type: ignore[attr-defined]


def _without_texts(row: Row) -> dict[str, object]:
    return {c.name: getattr(row, c.name) for c in columns(type(row)) if c.name != "detail"}


EXPECTED = sorted(SAMPLES.glob("*/*/expect/*.csv"))


@pytest.mark.parametrize("path", EXPECTED, ids=_name)
def test_samples_read_to_the_tables_expected(path: Path) -> None:
    """A sample's files, read in order of name, give the rows its ``expect/`` tables list, in the columns they list."""
    case = path.parent.parent
    rows: list[Row] = []
    for file in INPUTS:
        if case in file.parents:
            rows += _rows(_data(file), uri=f"mem:{file.name}") or []
    header, wanted = read_csv(path)
    found = [[getattr(row, name) for name in header] for row in _table(rows, path.stem)]
    assert [dict(zip(header, row, strict=True)) for row in found] == [
        dict(zip(header, _typed(row, header, path.stem), strict=True)) for row in wanted
    ]


def _typed(row: list[str | None], header: list[str], table: str) -> list[object]:
    kinds = {c.name: c.type for c in columns(TABLES[table])}
    out: list[object] = []
    for name, cell in zip(header, row, strict=True):
        if cell is None:
            out.append(None)
        elif kinds[name] == "TIMESTAMP":
            when = datetime.fromisoformat(cell)
            out.append((when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))
        elif kinds[name] == "BOOLEAN":
            out.append({"true": True, "false": False}[cell])
        else:
            out.append(PYTHON_TYPES[kinds[name]](cell))
    return out
