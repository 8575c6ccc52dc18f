"""mecha transcripts: ``<id>.jsonl`` in, rows of the common tables out.

A transcript is one JSON object per line behind a header, written by appending. A line that mecha cannot read is one
problem row and nothing else; a file whose first record is no header is refused (section 8.1). The submodules: ``wire``
and ``lenient`` (a line as a typed record), ``walk`` (records as rows), ``conversation`` (the list and the pool),
``turns`` and ``calls`` (who speaks, calls with results), ``ledger`` (configurations, figures, outcomes), ``bodies``,
``marks``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessionlab.formats.mecha import wire
from sessionlab.formats.mecha.lenient import Recovered, Unreadable, recover
from sessionlab.formats.mecha.walk import Walk
from sessionlab.formats.recording import HEAD_BYTES, Recording
from sessionlab.tables import Problem, Row

__all__ = ["IGNORED", "NAME", "OPEN", "USED", "read", "sniff"]

NAME = "mecha"

USED: frozenset[str] = wire.MEMBERS
"""Every member of a record, a message, a block, a usage or taint object that becomes part of a row."""

OPEN: frozenset[str] = frozenset(
    {"input", "tool_provenance", "planning", "homeostat", "delivered", "goal", "goal_anchor", "kind"}
)
"""Members whose value is JSON of any shape, kept whole (``tool_provenance``: its keys are call ids)."""

IGNORED: frozenset[str] = frozenset()
"""No known member is left out."""

_NO_HEADER = "Expected a header (`record` is `meta`) as the first record, found {}: no session header"
_ROWS = 256
"""Rows are handed over so many at a time."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')


def sniff(head: bytes, /) -> bool:
    """Whether the first line that is not blank is a header; of a longer line its beginning decides."""
    line, end, _ = head.lstrip().partition(b"\n")
    try:
        return type(recover(line).record) is wire.Meta
    except Unreadable:
        return not end and len(head) >= HEAD_BYTES and _begins_header(line)


def read(recording: Recording, /) -> Iterator[Row]:
    """The rows of one transcript; one refusal when its first record is no header."""
    lines = recording.lines()
    walk: Walk | None = None
    refusal: tuple[int, str] | None = None
    rows: list[Row] = []
    decode, unreadable = wire.decode, wire.UNREADABLE
    for line in lines:
        if refusal is not None:
            lines.fate = "problem"
            continue
        found: Recovered | None = None
        try:
            record = decode(line)
        except unreadable:
            if _is_blank(line):
                lines.fate = "blank"
                continue
            try:
                found = recover(line)
                record = found.record
            except Unreadable as why:
                if walk is None:
                    refusal = lines.number, _NO_HEADER.format(f"a line that is no record ({why})")
                    lines.fate = "problem"
                else:
                    rows.append(walk.unreadable(line, why))
                continue
        if walk is None:
            if type(record) is not wire.Meta:
                refusal = lines.number, _NO_HEADER.format(f"a record of another kind ({wire.word(record)})")
                lines.fate = "problem"
                continue
            walk = Walk(lines, record, bodies=recording.bodies)
            rows = walk.rows
        walk.take(record, line, found)
        if len(rows) >= _ROWS:
            yield from rows
            rows.clear()
    if walk is None:
        yield from _refused(recording, *(refusal or (None, _NO_HEADER.format("no record at all"))))
        return
    yield from rows
    yield from walk.end()
    yield from recording.end()


def _refused(recording: Recording, line: int | None, reason: str) -> Iterator[Row]:
    yield Problem(
        line=line,
        byte_offset=0,
        byte_length=recording.decoded_bytes,
        kind="no_session_header",
        severity="refusal",
        detail=reason,
    )
    yield from recording.end(state="refused", reason=reason)


def _is_blank(line: bytes) -> bool:
    """White space as Unicode has it, which is what mecha trims."""
    if not line or line.isspace():
        return True
    try:
        return line.decode().isspace()
    except UnicodeDecodeError:
        return False


def _begins_header(line: bytes) -> bool:
    """Whether a cut line is the beginning of an object with ``"record":"meta"`` among its own members."""
    depth, key, expects_value = 0, b"", False
    for match in _TOKEN.finditer(line):
        token = match[0]
        if token in b"{[":
            depth += 1
            if depth == 1 and token == b"[":
                return False
        elif token in b"}]":
            depth -= 1
        elif depth == 1 and token == b":":
            expects_value = True
        elif depth == 1 and token == b",":
            expects_value = False
        elif depth == 1 and token.startswith(b'"'):
            if expects_value and key == b'"record"':
                return token == b'"meta"'
            if not expects_value:
                key = token
    return False
