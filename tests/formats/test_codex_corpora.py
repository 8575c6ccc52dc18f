"""Real files: every Codex rollout loads whole, nothing else is claimed, other tools' counts come out to the token."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest

from sessionlab.formats import codex
from sessionlab.formats.recording import HEAD_BYTES, Recording
from sessionlab.tables import TABLE_OF, Entry, Extent, Outcome, Problem, Row, ToolCall, Usage
from tests.formats.test_claude_code_corpora import files

pytestmark = pytest.mark.corpora


def mine(corpora: Path) -> list[Path]:
    """The rollouts."""
    return list(files(corpora / "codex"))


def read(data: bytes, *, bodies: bool = True) -> list[Row]:
    """The rows of one real file."""
    return list(codex.read(Recording(io.BytesIO(data), uri="mem:real", format=codex.NAME, bodies=bodies)))


def own(found: list[Row]) -> tuple[list[Entry], list[Usage]]:
    """The entries and the charges that are no replay."""
    copies = {row.seq for row in found if isinstance(row, Entry) and row.is_copy}
    entries = [row for row in found if isinstance(row, Entry) and not row.is_copy]
    charges = [row for row in found if isinstance(row, Usage) and row.standing == "ledger" and row.seq not in copies]
    return entries, charges


def test_rollouts_are_claimed_and_nothing_else(corpora: Path) -> None:
    """Content decides."""
    claimed = {path for path in files(corpora) if codex.sniff(path.read_bytes()[:HEAD_BYTES])}
    assert claimed == set(mine(corpora))


def test_every_byte_of_every_file_is_in_an_extent_and_every_line_in_an_entry(corpora: Path) -> None:
    """Extents tile the file; a line without an entry of its own is blank or has a problem; text is valid."""
    for path in mine(corpora):
        data = path.read_bytes()
        found = read(data)
        assert sum(row.byte_length for row in found if isinstance(row, Extent)) == len(data), path
        told = {row.line for row in found if isinstance(row, Entry)}
        told |= {row.line for row in found if isinstance(row, Problem) and row.severity == "loss"}
        for number, text in enumerate(data.split(b"\n"), 1):
            assert number in told or not text.strip(), f"{path}:{number}"
        for row in found:
            for name in row.__struct_fields__:
                value = getattr(row, name)
                if isinstance(value, str):
                    value.encode()


def test_bodies_or_not_the_other_rows_are_as_many(corpora: Path) -> None:
    """A light load counts the same entries, calls, figures and outcomes."""
    for path in mine(corpora):
        full = Counter(TABLE_OF[type(row)] for row in read(path.read_bytes()))
        light = Counter(TABLE_OF[type(row)] for row in read(path.read_bytes(), bodies=False))
        assert {name: n for name, n in full.items() if name not in {"pools", "blocks"}} == light, path


def test_independent_counts_come_out_to_the_token(corpora: Path) -> None:
    """Fresh input, cache reads and output, as another tool counted them over the lines from `first_line` on."""
    counted = sorted((corpora / "codex").rglob("*.expected-usage.json"))
    assert len(counted) == 4
    for path in counted:
        wanted = json.loads(path.read_text())
        data = path.with_name(path.name.removesuffix(".expected-usage.json")).read_bytes()
        charges = [row for row in own(read(data))[1] if (row.line or 0) >= wanted["first_line"]]
        sums = [
            sum(getattr(row, name) or 0 for row in charges)
            for name in ("uncached_input_tokens", "cache_read_tokens", "output_tokens")
        ]
        assert sums == [wanted["input"], wanted["cache_read"], wanted["output"]], path


def test_the_real_fork_is_charged_for_what_it_did_itself(corpora: Path) -> None:
    """276,780 tokens in 2 of 57 figures; 20 entries behind its opening, 3 tool calls and one task of its own."""
    found = read((corpora / "codex/entireio+git-sync/entire/ed/ee273e9e3b/2/full.jsonl").read_bytes())
    entries, charges = own(found)
    names = ("uncached_input_tokens", "cache_read_tokens", "output_tokens")
    assert sum(getattr(row, name) or 0 for row in charges for name in names) == 276_780
    assert sum(isinstance(row, Usage) for row in found) == 57
    assert len(charges) == 2
    assert len(entries) == 1 + 20
    calls = [row for row in found if isinstance(row, ToolCall) and row.seq in {entry.seq for entry in entries}]
    assert [row.name for row in calls] == ["exec_command"] * 3
    assert [row.stop_class for row in found if isinstance(row, Outcome)] == ["completed"]


def test_the_real_fork_repeats_the_records_of_its_parent(corpora: Path) -> None:
    """Its replay as a parent's file of its own: all 337 lines behind the parent's opening have the same ids."""
    data = (corpora / "codex/entireio+git-sync/entire/ed/ee273e9e3b/2/full.jsonl").read_bytes()
    child = [row for row in read(data) if isinstance(row, Entry) and row.is_copy]
    parent = b"\n".join(data.split(b"\n")[1:339]) + b"\n"
    rebuilt = [row for row in read(parent) if isinstance(row, Entry)]
    assert [row.record_id for row in child] == [row.record_id for row in rebuilt]
    assert len(child) == 1 + 337
