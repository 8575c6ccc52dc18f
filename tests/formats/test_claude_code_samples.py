"""The Claude Code samples give the rows that were worked out by hand for them."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessionlab.columns import columns
from sessionlab.formats import claude_code
from sessionlab.formats.recording import HEAD_BYTES, Recording
from sessionlab.tables import TABLE_OF, TABLES, Row

SAMPLES = Path(__file__).parents[2] / "data-samples" / "claude_code"
CASES = sorted(path for path in SAMPLES.iterdir() if path.is_dir())
FILES = sorted(SAMPLES.rglob("*.jsonl"))


def read(data: bytes, name: str, *, bodies: bool = True) -> list[Row]:
    """The rows of one file."""
    recording = Recording(io.BytesIO(data), uri=f"mem:{name}", format=claude_code.NAME, bodies=bodies)
    return list(claude_code.read(recording))


def inputs(case: Path) -> list[Path]:
    """The files of a case in order: a session's folder stands before its file."""
    return sorted(case.rglob("*.jsonl"))


def cell(value: object, kind: str) -> str:
    """A value as the CSV files write it."""
    if value is None:
        return ""
    if kind == "BOOLEAN":
        return "true" if value else "false"
    if kind == "TIMESTAMP":
        assert isinstance(value, int)
        text = datetime.fromtimestamp(value // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        fraction = f"{value % 1_000_000:06d}".rstrip("0")
        return f"{text}.{fraction}Z" if fraction else f"{text}Z"
    return "''" if value == "" else str(value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_of_a_case_are_those_worked_out(case: Path) -> None:
    """Each table named in `expect/` has exactly the rows and the cells written there."""
    rows = [row for path in inputs(case) for row in read(path.read_bytes(), path.name)]
    for wanted in sorted((case / "expect").glob("*.csv")):
        header, *lines = list(csv.reader(io.StringIO(wanted.read_text(encoding="utf-8"))))
        table = TABLES[wanted.stem]
        kinds = {column.name: column.type for column in columns(table)}
        found = [
            [cell(getattr(row, name), kinds[name]) for name in header]
            for row in rows
            if TABLE_OF[type(row)] == wanted.stem
        ]
        assert found == [line + [""] * (len(header) - len(line)) for line in lines], wanted.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_sample_is_claimed_by_its_content(path: Path) -> None:
    """Every sample file, also a damaged one, is recognised from its first bytes."""
    assert claude_code.sniff(path.read_bytes()[:HEAD_BYTES])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_without_bodies_all_other_rows_are_the_same(path: Path) -> None:
    """A load without bodies loses pools, blocks and arguments, and nothing else: numbering included."""
    data = path.read_bytes()
    lean = [str(row) for row in read(data, path.name, bodies=False)]
    full = []
    for row in read(data, path.name):
        if TABLE_OF[type(row)] == "tool_calls":
            members = {name: getattr(row, name) for name in row.__struct_fields__}
            full.append(str(type(row)(**{**members, "arguments": None})))
        elif TABLE_OF[type(row)] not in {"pools", "blocks"}:
            full.append(str(row))
    assert lean == full


def keys(value: object, *, within: frozenset[str]) -> set[str]:
    """Every object key of a JSON value, without those below a key of ``within``."""
    if isinstance(value, list):
        return {key for item in value for key in keys(item, within=within)}
    if isinstance(value, dict):
        below = {key for name, item in value.items() if name not in within for key in keys(item, within=within)}
        return set(value) | below
    return set()


@pytest.mark.parametrize("path", [p for p in FILES if "damaged" not in p.parts], ids=lambda path: path.name)
def test_every_key_is_used_or_named_as_ignored(path: Path) -> None:
    """A key that the reader neither uses nor ignores would be drift nobody has looked at."""
    seen: set[str] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        seen |= keys(json.loads(line), within=claude_code.OPEN)
    assert seen - claude_code.USED - claude_code.IGNORED == set()
