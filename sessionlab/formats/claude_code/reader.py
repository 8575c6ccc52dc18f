"""A Claude Code transcript in, rows of the common tables out, in one pass over its lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from sessionlab.formats._values import detail
from sessionlab.formats.claude_code.additions import attachment, progress
from sessionlab.formats.claude_code.bookkeeping import bookkeeping
from sessionlab.formats.claude_code.calls import Calls
from sessionlab.formats.claude_code.decoding import Notes, lenient
from sessionlab.formats.claude_code.lines import Records
from sessionlab.formats.claude_code.messages import assistant, user
from sessionlab.formats.claude_code.records import Fork, Line
from sessionlab.formats.claude_code.state import Transcript
from sessionlab.formats.claude_code.system import system
from sessionlab.formats.claude_code.usage import settle
from sessionlab.formats.recording import Recording
from sessionlab.tables import Row

HELD_RECORDS = 1000
"""How many records may wait for the first one that names the session."""


class Held(NamedTuple):
    """A record that waits for the session's name."""

    line: Line
    notes: Notes | None
    number: int
    offset: int
    length: int
    text: bytes


_fork = msgspec.json.Decoder(Fork)
_SESSION_FILE = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl(?:\.gz)?$")
_OTHERS: dict[str, Callable[[Transcript, Line, Notes], None]] = {
    "system": system,
    "progress": progress,
    "attachment": attachment,
}


def read(recording: Recording) -> Iterator[Row]:
    """The rows of one transcript, a main file or a subagent's.

    Records that stand before the first one to name a session belong to that session; they are held until it is met.
    Where no record names one, the file's name does if it is a session id, else the session has the source's id.
    """
    t = Transcript(recording)
    calls = Calls(t)
    lines = recording.lines()
    records = Records(lines)
    held: list[Held] | None = []
    out = t.out
    for line, notes in records:
        t.number, t.offset, t.length, t.source = lines.number, lines.offset, lines.length, records.text
        if held is None:
            _take(t, calls, line, notes)
        else:
            held.append(Held(line, notes, t.number, t.offset, t.length, t.source))
            t.main = line.session_id or line.other_session_id
            if t.main is None and len(held) < HELD_RECORDS:
                continue
            t.main = t.main or _named(recording.uri)
            _take_held(t, calls, held)
            held = None
        if records.problems:
            yield from records.problems
            records.problems.clear()
        yield from out
        out.clear()
    if held:
        t.main = _named(recording.uri)
        _take_held(t, calls, held)
    yield from records.problems
    for session in t.sessions.values():
        for agent in session.agents.values():
            settle(t, agent)
    calls.close()
    yield from out
    out.clear()
    for session in t.sessions.values():
        yield t.session_row(session)
    version = next((session.version for session in t.sessions.values() if session.version), None)
    yield from recording.end(state="short" if records.torn else "whole", reason=records.torn, format_version=version)


def _named(uri: str) -> str | None:
    match = _SESSION_FILE.search(uri)
    return match.group(1) if match else None


def _take_held(t: Transcript, calls: Calls, held: list[Held]) -> None:
    for line, notes, number, offset, length, text in held:
        t.number, t.offset, t.length, t.source = number, offset, length, text
        _take(t, calls, line, notes)


def _take(t: Transcript, calls: Calls, line: Line, notes: Notes | None) -> None:
    """The rows of one record."""
    noted: Notes = [] if notes is None else notes
    t.place(line, t.time(line.timestamp, noted))
    kind = line.type
    if kind == "assistant" or (kind is None and line.message is not None and line.message.usage is not None):
        assistant(t, calls, line, noted)
    elif kind == "user" or (kind is None and line.message is not None and line.message.usage is None):
        user(t, calls, line, noted)
    else:
        _OTHERS.get(kind or "", bookkeeping)(t, line, noted)
    if line.forked_from:
        fork = lenient(line.forked_from, _fork)
        if fork is not None and fork.session_id is not None:
            t.forked(fork.session_id, detail(message_uuid=fork.message_uuid))
    if noted:
        t.notes(noted)
