"""A kept session's bytes in, head and entries out; a head and entries in, the bytes they are kept as out.

A record may outgrow what one session file may hold (an import adds to a file of 20 000 entries): it is judged in
parts then, each by the reader's own rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import KIND_SET, EntryLine, SessionLine
from sessionlab.formats.datalayer.judge import MAX_BYTES, MAX_ENTRIES, Refusal, judge
from sessionlab.formats.datalayer.text import byte_ranges, decoded, lines
from sessionlab.systems.datalayer.record import Record, facts
from sessionlab.systems.datalayer.serialising import line_of, valid


class Kept(NamedTuple):
    """A session as it is kept."""

    head: SessionLine
    entries: list[EntryLine]
    data: bytes


def head_line(head: SessionLine) -> bytes:
    """The head as a line."""
    return line_of(msgspec.to_builtins(head), number=1)


def lines_of(entries: Iterable[EntryLine]) -> bytes:
    """The entries as lines, the first of them the second of a file.

    Raises:
        SessionRefused: ``not_json`` (422), where no reader would take one back.
    """
    return b"".join(
        line_of(
            {
                "record_type": entry.record_type, "kind": entry.kind, "at": entry.at, "summary": entry.summary,
                "payload": entry.payload,
            },
            number=number,
        )
        for number, entry in enumerate(entries, 2)
    )  # fmt: skip


def new(head: SessionLine, entries: list[EntryLine]) -> Kept:
    """A session as it is first kept: of the head what no entry tells, and its entries.

    Raises:
        SessionRefused: why its lines would be no session file; ``no_session_entry`` or ``unknown_state`` (422).
    """
    text = lines_of(entries)
    data = head_line(_counted(head, entries)) + text
    return Kept(*judged(data), data)


def longer(kept: Kept, added: list[EntryLine]) -> Kept:
    """The session with entries added at its end: its head moved, its other lines as they were to the byte.

    Raises:
        SessionRefused: what is added would be no line of a session file (counted as if it followed the head); it
            states no state there is (``unknown_state``).
    """
    text = lines_of(added)
    opening = head_line(_counted(_moved(kept.head, added), kept.entries + added))
    head, read = judged(opening + text)
    _, first_bytes = next(byte_ranges(kept.data))
    rest = kept.data[first_bytes:]
    end = b"\n" if rest and rest[-1:] not in b"\r\n" else b""
    return Kept(head, kept.entries + read, b"".join((opening, rest, end, text)))


def record_of_kept(kept: Kept) -> Record:
    """The session's record: names, marks and lineage as the head says, state and turns as the entries tell.

    Raises:
        SessionRefused: ``no_session_entry`` or ``unknown_state`` (422).
    """
    head, told = kept.head, facts(kept.entries)
    if told.started is None:
        raise _unlisted(head.uid)
    return Record(
        uid=head.uid, app=head.app, agent=head.agent, harness=head.harness or None, owner=head.owner.uid,
        state=told.state, turns=told.turns, title=head.title or told.title, archived=head.archived,
        lineage=head.lineage, entries=list(kept.entries),
    )  # fmt: skip


def judged(data: bytes) -> tuple[SessionLine, list[EntryLine]]:
    """The head and entries of a kept file of any size.

    Raises:
        SessionRefused: why it is no session file, in the reader's sentence.
    """
    verdict = judge(data)
    if not isinstance(verdict, Refusal):
        (section,) = verdict.sections
        return section.head, section.entries
    if verdict.name != "too_large":
        raise SessionRefused(verdict.name, verdict.status, verdict.sentence, line=verdict.line)
    found = lines(decoded(data)[0])
    opening = (found[0] + "\n").encode()
    head: SessionLine | None = None
    entries: list[EntryLine] = []
    for before, part in _parts(found, len(opening)):
        verdict = judge(opening + part)
        if isinstance(verdict, Refusal):
            said = f" (lines counted as if line {before + 2} of the record were line 2)" if before else ""
            line = verdict.line + before if verdict.line is not None and verdict.line > 1 else verdict.line
            raise SessionRefused(verdict.name, verdict.status, verdict.sentence + said, line=line)
        (section,) = verdict.sections
        head = section.head
        entries += section.entries
    assert head is not None, "a file over the caps has lines"
    return head, entries


def _parts(found: list[str], head_bytes: int) -> Iterator[tuple[int, bytes]]:
    """The lines after the first in parts that keep to the caps, each with how many lines stand before it."""
    part: list[bytes] = []
    size, before = head_bytes, 0
    for line in found[1:]:
        text = (line + "\n").encode()
        if part and (len(part) == MAX_ENTRIES or size + len(text) > MAX_BYTES):
            yield before, b"".join(part)
            before += len(part)
            part, size = [], head_bytes
        part.append(text)
        size += len(text)
    yield before, b"".join(part)


def _moved(head: SessionLine, added: list[EntryLine]) -> SessionLine:
    """The head after entries were added: what they tell replaces what it said (section 10)."""
    said: dict[str, object] = {
        "agent": head.agent, "harness": head.harness, "title": head.title, "archived": head.archived,
        "lineage": msgspec.to_builtins(head.lineage),
    }  # fmt: skip
    told = facts([EntryLine(record_type="entry", kind="session", at="-", payload=said), *added])
    return msgspec.structs.replace(
        head, agent=valid(told.agent or head.agent), harness=told.harness, title=told.title, archived=told.archived,
        lineage=told.lineage,
    )  # fmt: skip


def _counted(head: SessionLine, entries: list[EntryLine]) -> SessionLine:
    """The head with what the whole record tells: state, turns, kinds, how many entries, the last one's time."""
    told = facts(entries)
    if told.started is None:
        raise _unlisted(head.uid)
    return msgspec.structs.replace(
        head, state=told.state, turns=told.turns, title=valid(head.title or told.title), entries=len(entries),
        kinds=sorted({entry.kind for entry in entries} & KIND_SET), exported_at=valid(entries[-1].at) or "-",
    )  # fmt: skip


def _unlisted(uid: str) -> SessionRefused:
    said = f"the record of {uid} has no `session` entry: it is not a session that can be kept and listed (section 10)"
    return SessionRefused("no_session_entry", 422, said)
