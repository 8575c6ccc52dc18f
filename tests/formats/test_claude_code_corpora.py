"""Real files: every Claude Code transcript loads whole, nothing else is claimed, known figures come out."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessionlab.formats import claude_code
from sessionlab.formats.recording import HEAD_BYTES, Recording
from sessionlab.tables import TABLE_OF, Entry, Extent, Outcome, Problem, Row, ToolCall, Usage

pytestmark = pytest.mark.corpora

NO_TRANSCRIPTS = ("journal.jsonl", "duplicate-assistant-response-2.jsonl")
"""A workflow journal and a console log that stand among the transcripts."""


def files(corpora: Path) -> Iterator[Path]:
    """The recordings, without the counts and the description beside them."""
    for path in sorted(corpora.rglob("*")):
        if path.is_file() and path.name != "README.md" and not path.name.endswith(".expected-usage.json"):
            yield path


def mine(corpora: Path) -> Iterator[Path]:
    """The Claude Code transcripts."""
    for path in files(corpora / "claude-code"):
        if path.name not in NO_TRANSCRIPTS:
            yield path


def read(path: Path, *, bodies: bool = True) -> list[Row]:
    """The rows of one real file."""
    recording = Recording(io.BytesIO(path.read_bytes()), uri=str(path), format=claude_code.NAME, bodies=bodies)
    return list(claude_code.read(recording))


def test_transcripts_are_claimed_and_nothing_else(corpora: Path) -> None:
    """Content decides: all transcripts, hand-made ones too, and no journal, log or other agent's file."""
    claimed = {path for path in files(corpora) if claude_code.sniff(path.read_bytes()[:HEAD_BYTES])}
    assert claimed == set(mine(corpora))


def test_every_byte_of_every_file_is_in_an_extent_or_a_problem(corpora: Path) -> None:
    """Extents tile the file; each line without an entry of its own is blank or has a problem; text is valid."""
    for path in mine(corpora):
        found, data = read(path), path.read_bytes()
        at = 0
        for extent in (row for row in found if isinstance(row, Extent)):
            assert extent.byte_offset == at, path
            at += extent.byte_length
        assert at == len(data), path
        told = {row.line for row in found if isinstance(row, Entry)}
        told |= {row.line for row in found if isinstance(row, Problem) and row.severity == "loss"}
        for number, line in enumerate(data.split(b"\n"), 1):
            assert number in told or not line.strip(), f"{path}:{number}"
        for row in found:
            for name in row.__struct_fields__:
                value = getattr(row, name)
                if isinstance(value, str):
                    value.encode()


def test_bodies_or_not_the_other_rows_are_as_many(corpora: Path) -> None:
    """A light load counts the same entries, calls, figures and outcomes."""
    for path in mine(corpora):
        full = Counter(TABLE_OF[type(row)] for row in read(path))
        light = Counter(TABLE_OF[type(row)] for row in read(path, bodies=False))
        assert {name: n for name, n in full.items() if name not in {"pools", "blocks"}} == light, path


def test_the_file_of_the_data_model_gives_its_figures(corpora: Path) -> None:
    """236 entries, 197 of them messages, 60 calls, 127 figures of 49 replies, 8 outcomes and 1 compaction."""
    path = corpora / "claude-code/entireio+cli/entire/76/62d755ef9f/2/full.jsonl"
    found = read(path)
    entries = [row for row in found if isinstance(row, Entry)]
    usage = [row for row in found if isinstance(row, Usage)]
    assert len(entries) == 236
    assert sum(row.message_ix is not None for row in entries) == 197
    assert sum(isinstance(row, ToolCall) for row in found) == 60
    assert len(usage) == 127
    assert len({row.charge_id for row in usage}) == 49
    assert sum(isinstance(row, Outcome) for row in found) == 8
    assert sum(row.kind == "compaction" for row in entries) == 1
    assert sum(row.kind == "rewrite" for row in entries) == 1  # the microcompaction, which summarises nothing


def test_placeholders_of_old_versions_are_lower_bounds_and_new_figures_are_not(corpora: Path) -> None:
    """CLI 2.1.14 never wrote the real output; 2.1.140 writes it on every line."""
    old = read(corpora / "claude-code/entireio+cli/entire/76/62d755ef9f/2/full.jsonl")
    new = read(corpora / "claude-code/entireio+git-sync/entire/46/c64a68d58f/0/full.jsonl")
    flagged = [{row.is_lower_bound for row in found if isinstance(row, Usage)} for found in (old, new)]
    assert flagged[0] == {True}
    assert flagged[1] == {False}


def test_the_refused_model_of_the_real_fallback_is_listed_and_not_charged(corpora: Path) -> None:
    """21,874 cache tokens of the model that refused stand in check rows only."""
    found = read(corpora / "claude-code/JanDeDobbeleer+oh-my-posh/entire/1b/006db4f6c6/1/full.jsonl")
    checks = [row for row in found if isinstance(row, Usage) and row.standing == "check"]
    assert {(row.model, row.cache_write_1h_tokens) for row in checks} == {("claude-fable-5", 21874)}
    charged = {row.model for row in found if isinstance(row, Usage) and row.standing == "ledger"}
    assert "claude-fable-5" not in charged
