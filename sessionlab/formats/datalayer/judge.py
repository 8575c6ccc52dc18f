"""Whether a session file is taken: its bytes go in; all its lines, typed, or the one refusal of the file come out.

The order of checks, the sentences and the statuses are those of the published importer (datalayer.md sections 3 to
5): the whole file is judged, the first failure is the answer, and a file is taken whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal

import msgspec

from sessionlab.formats._collection import uncollected
from sessionlab.formats.datalayer import deep
from sessionlab.formats.datalayer.fields import (
    FORMAT_ID,
    KIND_SET,
    KINDS,
    NO_SEATS,
    NUMBER_DIGITS,
    EntryLine,
    FieldRefusal,
    SessionLine,
    TeamLine,
    entry_line,
    session_line,
    team_line,
)
from sessionlab.formats.datalayer.text import LineCounter, decoded, ends_at_lf_alone, lines

MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 20_000
NESTING = 980
"""Levels of objects and lists a line may have, itself the first. The published importer overflows at about so many,
whatever the caller's stack leaves; here deep lines are read without the stack, so the answer is one everywhere."""

RefusalName = Literal[
    "unversioned", "other_version", "not_a_line", "unknown_kind", "entry_without_at", "team_without_seats",
    "too_large", "not_json", "field_refusal", "team_refusal", "second_head", "entry_without_seat",
]  # fmt: skip

SENTENCES: dict[RefusalName, str] = {
    "unversioned": (
        "A session file's first line is a session line that says its format, datalayer-session/1; "
        "this file's first line does not."
    ),
    "other_version": "The file is {format}; this runtime reads datalayer-session/1.",
    "not_a_line": (
        "Line {line} of the file is not a session, team_session or entry line: it says record_type {record_type!r}."
    ),
    "unknown_kind": "Line {line} is an entry of kind {kind!r}, which the record does not have: one of {kinds}.",
    "entry_without_at": "Line {line} is an entry that does not say when it was recorded (`at`).",
    "team_without_seats": (
        "A team session line names its seats, in order, each with its session uid; this one names none."
    ),
    "too_large": (
        "The file has {entries} entries over {megabytes} MB; a session file holds at most 20 000 entries in 64 MB."
    ),
    "not_json": "Line {line} of the file is not JSON.",
    "field_refusal": "Line {line} is refused: {path} {reason}.",
    "team_refusal": (
        "This file starts with a team session: bring it in with the team tool, or bring in one seat's own file here."
    ),
    "second_head": "One session line is allowed, at the start of the file; line {line} is another head further down.",
    "entry_without_seat": "Line {line} of the team file is an entry that stands before the first seat's session line.",
}
"""The eight sentences of the format (4.1) word for word, the three cases it words freely (4.2), and one that only a
reader of team files meets."""

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_TOO_LARGE_STATUS = 413
_REFUSED_STATUS = 422


class Refusal(msgspec.Struct, frozen=True):
    """Why a file is refused: the name of the case, the HTTP status, the sentence, and the line (None: the file)."""

    name: RefusalName
    status: int
    sentence: str
    line: int | None = None
    format: str | None = None
    """The format the file states, where that is the reason."""


class Section(msgspec.Struct, frozen=True):
    """One session of a file: its head, its entries, and the lines they stand on (1-based)."""

    head: SessionLine
    line: int
    entries: list[EntryLine]
    numbers: list[int]


class Accepted(msgspec.Struct, frozen=True):
    """A file that is taken: its sessions in order (one, but in a team file), and what is worth a note.

    Attributes:
        team: the team line, when the file is a team's.
        sections: the sessions.
        lines: lines in the file, blank ones counted.
        blank: the numbers of the blank ones.
        unusual: lines that hold what strict JSON or Unicode does not: not-finite numbers, unpaired surrogates, a key
            twice with two types. Their payloads need a second look before they become text.
        replaced: invalid UTF-8 was replaced by U+FFFD.
    """

    team: TeamLine | None
    sections: list[Section]
    lines: int
    blank: frozenset[int]
    unusual: frozenset[int]
    replaced: bool


class _Shown:
    """A list or an object in a sentence, however deep it is."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return deep.shown(self._value)


class _Stop(Exception):
    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal


def judge(data: bytes, *, teams: bool = False, lf_only: bool = False) -> Accepted | Refusal:
    r"""Judge a whole file.

    Args:
        data: the body as received.
        teams: take team files, seat by seat; without it one is refused as the importer refuses it.
        lf_only: split lines at ``\n`` alone instead of wherever the importer does.
    """
    with uncollected():
        if lf_only or ends_at_lf_alone(data):
            judged = _judged_as_bytes(data, teams=teams)
            if judged is not None:
                return judged
        text, replaced = decoded(data)
        found = [line.encode() for line in lines(text, lf_only=lf_only)]
        return _judged(found, len(data), teams=teams, replaced=replaced)


def _judged_as_bytes(data: bytes, *, teams: bool) -> Accepted | Refusal | None:
    """The verdict on a file whose lines end at LF alone, made without its text; None: it is not valid UTF-8.

    Typed decoding checks the UTF-8 of every line it takes. A refusal stands only for a file that is valid to its end:
    what is replaced weighs more, and the caps come before the lines.
    """
    found = data.split(b"\n")
    if not found[-1]:
        found.pop()
    try:
        judged = _judged(found, len(data), teams=teams, replaced=False)
        if isinstance(judged, Refusal):
            data.decode()
    except UnicodeDecodeError:
        return None
    return judged


def _judged(found: list[bytes], size: int, *, teams: bool, replaced: bool) -> Accepted | Refusal:
    entries = max(len(found) - 1, 0)
    try:
        _hold_caps(entries, size)
        _hold_caps(entries, sum(map(len, found)) + len(found))
        records = _records(found)
        team, sections = _arranged(records, teams=teams)
    except _Stop as stop:
        return stop.refusal
    return Accepted(team, sections, len(found), frozenset(records.blank), frozenset(records.unusual), replaced)


def whole(blocks: Iterable[bytes]) -> bytes | Refusal:
    """A file's blocks joined; of a file over the cap only its size and number of lines, which the refusal tells.

    Not even a file that is too large as it lies there can be refused unread: the sentence counts its lines. It is never
    held, though.
    """
    held: list[bytes] = []
    size = 0
    counter: LineCounter | None = None
    for block in blocks:
        held.append(block)
        size += len(block)
        if counter is None and size > MAX_BYTES:
            counter = LineCounter()
        if counter is not None:
            for part in held:
                counter.add(part)
            held.clear()
    if counter is None:
        return b"".join(held)
    counter.add(b"", final=True)
    return too_large(max(counter.lines - 1, 0), size)


def refusal(name: RefusalName, *, line: int | None = None, **facts: object) -> Refusal:
    """The refusal of that name, its sentence filled in with ``line`` and ``facts``; unpaired surrogates become ?."""
    facts = {fact: _Shown(said) if isinstance(said, list | dict) else said for fact, said in facts.items()}
    sentence = SENTENCES[name].format(line=line, kinds=", ".join(KINDS), **facts)
    status = _TOO_LARGE_STATUS if name == "too_large" else _REFUSED_STATUS
    stated = facts.get("format")
    return Refusal(name, status, _unicode(sentence), line, None if stated is None else _unicode(str(stated)))


def too_large(entries: int, size_bytes: int) -> Refusal:
    """The refusal of a file over a cap: both numbers are told, whichever it was."""
    grouped = f"{entries:,}".replace(",", " ")
    return refusal("too_large", entries=grouped, megabytes=round(size_bytes / 1_048_576))


def _hold_caps(entries: int, size_bytes: int) -> None:
    if size_bytes > MAX_BYTES or entries > MAX_ENTRIES:
        raise _Stop(too_large(entries, size_bytes))


def _is_blank(line: str) -> bool:
    return not line or line.isspace()


_Head = SessionLine | TeamLine


class _Records(msgspec.Struct):
    """The lines that passed: heads and entries in order, each with its number, and the numbers of the odd ones."""

    heads: list[tuple[int, int, _Head]] = []  # how many entries stand before it, its number, itself
    entries: list[EntryLine] = []
    numbers: list[int] = []  # of the entries
    unusual: list[int] = []
    blank: list[int] = []


_decode_entry = msgspec.json.Decoder(EntryLine).decode


def _records(found: list[bytes]) -> _Records:
    if not found or _is_blank(found[0].decode()):
        raise _Stop(refusal("unversioned", line=1 if found else None))
    passed = _Records()
    add, add_number = passed.entries.append, passed.numbers.append
    for number, raw in enumerate(found, 1):
        entry = _strict(raw)
        if entry is None:
            line = raw.decode()
            if _is_blank(line):
                passed.blank.append(number)
                continue
            looked_at = _looked_at(line, number)
            if not isinstance(looked_at, EntryLine):
                passed.heads.append((len(passed.entries), number, looked_at))
                continue
            entry = looked_at
            passed.unusual.append(number)
        else:
            at = entry.at
            if entry.kind not in KIND_SET or entry.record_type != "entry" or not at or at.isspace():
                _looked_at(raw.decode(), number)  # not sound: it stops there
        add(entry)
        add_number(number)
    return passed


def _strict(line: bytes) -> EntryLine | None:
    """The entry, when strict typed decoding takes it: then it is sound JSON. All else is looked at the long way."""
    if not _is_shallow(line):
        return None
    try:
        return _decode_entry(line)
    except msgspec.DecodeError:
        return None


def _is_shallow(line: bytes) -> bool:
    """Whether no more than SHALLOW levels are open at once as far as the line is JSON; False may be doubt.

    Brackets outside strings are left, and taken away in pairs: each time round at least the innermost level goes, and
    at most two do.
    """
    if len(line) <= 2 * deep.SHALLOW or line.count(b"[") + line.count(b"{") <= deep.SHALLOW:
        return True
    if b'\\"' in line:
        line = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = b"".join(line.split(b'"')[::2]).translate(None, _NO_BRACKETS)
    for _ in range(deep.SHALLOW // 2):
        if not brackets:
            return True
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return not brackets


def _looked_at(line: str, number: int) -> _Head | EntryLine:
    try:
        value = value_of(line)
    except ValueError:
        raise _Stop(refusal("not_json", line=number)) from None
    if not isinstance(value, dict):
        raise _Stop(refusal("not_a_line", line=number, record_type=type(value).__name__))
    record_type = value.get("record_type")
    try:
        if record_type == "entry":
            return _entry(value, number)
        if record_type == "session":
            _hold_format(value.get("format"), number)
            return session_line(value)
        if record_type == "team_session":
            _hold_format(value.get("format"), number)
            return team_line(value)
    except FieldRefusal as field:
        if field.reason == NO_SEATS:
            raise _Stop(refusal("team_without_seats", line=number)) from None
        raise _Stop(refusal("field_refusal", line=number, path=field.path, reason=field.reason)) from None
    if number == 1:
        raise _Stop(refusal("unversioned", line=1))
    raise _Stop(refusal("not_a_line", line=number, record_type=record_type))


def value_of(line: str) -> object:
    """The JSON value of a line.

    Raises:
        ValueError: it is not JSON, or nested or counted beyond what is read (section 5).
    """
    levels = deep.depth(line)
    if levels > NESTING:
        raise ValueError(f"nested deeper than {NESTING} levels")
    return deep.parsed(line, _integer) if levels else json.loads(line, parse_int=_integer)


def _hold_format(stated: object, number: int) -> None:
    if not stated:
        raise _Stop(refusal("unversioned", line=number))
    if stated != FORMAT_ID:
        raise _Stop(refusal("other_version", line=number, format=stated))


def _entry(value: dict[str, object], number: int) -> EntryLine:
    kind, at = value.get("kind"), value.get("at")
    if not isinstance(kind, str) or kind not in KIND_SET:
        raise _Stop(refusal("unknown_kind", line=number, kind=kind))
    if not at or (isinstance(at, str) and _is_blank(at)):
        raise _Stop(refusal("entry_without_at", line=number))
    return entry_line(value)


def _arranged(records: _Records, *, teams: bool) -> tuple[TeamLine | None, list[Section]]:
    """The records as sessions, or the refusal of steps 7 to 9."""
    first = records.heads[0] if records.heads and records.heads[0][0] == 0 else None
    if first is None:
        raise _Stop(refusal("unversioned", line=1))
    team = first[2] if isinstance(first[2], TeamLine) else None
    if team is not None and not teams:
        raise _Stop(refusal("team_refusal", line=1))
    sections: list[Section] = []
    heads = records.heads[1:] if team else records.heads
    if records.entries and (not heads or heads[0][0] > 0):
        raise _Stop(refusal("entry_without_seat", line=records.numbers[0]))
    for n, (start, number, head) in enumerate(heads):
        if not isinstance(head, SessionLine) or (team is None and n > 0):
            raise _Stop(refusal("second_head", line=number))
        end = heads[n + 1][0] if n + 1 < len(heads) else len(records.entries)
        sections.append(Section(head, number, records.entries[start:end], records.numbers[start:end]))
    return team, sections


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > NUMBER_DIGITS:
        raise ValueError(digits)
    return int(digits)


def _unicode(text: str) -> str:
    return text.encode(errors="replace").decode()
