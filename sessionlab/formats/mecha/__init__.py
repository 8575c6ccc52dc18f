"""mecha transcripts: ``<id>.jsonl`` in, rows of the common tables out.

A transcript is one JSON object per line behind a header, written by appending. A line that mecha cannot read is one
problem row and nothing else, and the source is short; a file whose first record is no header is refused (section
8.1). The submodules: ``sniffing`` (whose file it is), ``wire`` and ``lenient`` (a line as a typed record), ``walk``
(records as rows), ``conversation`` (the list and the pool), ``turns`` and ``calls`` (who speaks, calls with results),
``ledger`` (configurations, figures, outcomes), ``bodies``, ``marks``. ``loading`` gives one whole transcript instead
of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessionlab.formats.byte_order import mark_of
from sessionlab.formats.mecha import wire
from sessionlab.formats.mecha.lenient import Recovered, Unreadable, is_blank, recover
from sessionlab.formats.mecha.sniffing import is_mecha
from sessionlab.formats.mecha.walk import Walk
from sessionlab.formats.recording import Recording
from sessionlab.tables import Problem, Row

__all__ = ["IGNORED", "NAME", "OPEN", "USED", "read", "sniff"]

NAME = "mecha"

USED: frozenset[str] = wire.MEMBERS
"""Every member of a record, a message, a block, a usage or taint object that becomes part of a row."""

OPEN: frozenset[str] = frozenset(
    {"input", "tool_provenance", "planning", "homeostat", "delivered", "goal", "goal_anchor", "kind"}
    | {"rules_goal", "rules_surface"}
)
"""Members whose value is JSON of any shape, kept whole (``tool_provenance``: its keys are call ids)."""

IGNORED: frozenset[str] = frozenset()
"""No known member is left out."""

_NO_HEADER = "Expected a header (`record` is `meta`) as the first record, found {}: no session header"
_ROWS = 256
"""Rows are handed over so many at a time."""


def sniff(head: bytes, /) -> bool:
    """Whether any of the first lines is a record of mecha's: the header, or what shows that it is lost."""
    return is_mecha(head)


def read(recording: Recording, /) -> Iterator[Row]:
    """The rows of one transcript; one refusal when its first record is no header."""
    lines = recording.lines()
    walk: Walk | None = None
    refusal: tuple[int, str] | None = None
    rows: list[Row] = []
    unread = last_unread = 0
    decode, unreadable = wire.decode, wire.UNREADABLE
    for line in lines:
        if refusal is not None:
            lines.fate = "problem"
            continue
        found: Recovered | None = None
        try:
            record = decode(line)
        except unreadable:
            if is_blank(line):
                lines.fate = "blank"
                continue
            try:
                found = recover(line)
                record = found.record
            except Unreadable as why:
                if walk is None:
                    refusal = lines.number, _NO_HEADER.format(_unread(line, why))
                    lines.fate = "problem"
                else:
                    rows.append(walk.unreadable(line, why))
                    unread += 1
                    last_unread = lines.number
                continue
        if walk is None:
            if type(record) is not wire.Meta:
                refusal = lines.number, _NO_HEADER.format(f"a record of another kind ({wire.word(record)})")
                lines.fate = "problem"
                continue
            walk = Walk(lines, record, bodies=recording.bodies, figures=recording.figures)
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
    if unread:
        reason = _short(unread, is_torn=last_unread == lines.number and not lines.terminated)
        yield from recording.end(state="short", reason="; ".join(filter(None, (reason, recording.cut))))
    else:
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


def _short(unread: int, *, is_torn: bool) -> str:
    """Why a transcript is short, in words: how many of its lines told nothing."""
    lines = "1 line" if unread == 1 else f"{unread} lines"
    return f"{lines} could not be read{', the last line being torn' if is_torn else ''}"


def _unread(line: bytes, why: Unreadable) -> str:
    """What stands where the header should, in words; a byte order mark is the reason before any other."""
    mark = mark_of(line)
    if mark is not None:
        return f"a line that begins with a byte order mark ({mark})"
    return f"a line that is no record ({why})"
