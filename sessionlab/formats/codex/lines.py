"""The lines of a rollout in, JSON objects with their place out; every byte that gives no object gives a problem."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal

import msgspec

from sessionlab.formats.codex.members import UNREADABLE, Envelope, Members, Notes, envelope_of, members_of
from sessionlab.formats.recording import Lines
from sessionlab.tables import Problem

UTF8_BOM = b"\xef\xbb\xbf"
_SHOWN = 80
_BIGINT_DIGITS = 19
_LONE = re.compile(r"[\ud800-\udfff]")
_OPENING = re.compile(r'\{\s*"')
_KNOWN = frozenset({"payload", "record_type", "call_id", "content", "instructions", "summary"})
_encode = msgspec.json.Encoder(decimal_format="number").encode


class Records:
    """One pass over the lines of a file.

    Iterating yields ``(record, text)`` pairs: a line's envelope, or its members where it has others than those of an
    envelope, and the line itself. ``problems`` holds the `Problem`
    rows of bytes that gave no object; the reader empties it. ``torn`` is why the file is not whole, or None.
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.problems: list[Problem] = []
        self.torn: str | None = None

    def __iter__(self) -> Iterator[tuple[Envelope | Members, bytes]]:
        """Yield each object in the order of the file."""
        first = True
        for line in self.lines:
            text = line
            if first:
                first = False
                if text.startswith(UTF8_BOM):
                    self._note([("byte_order_mark", "the file begins with a UTF-8 byte order mark")])
                    text = text[len(UTF8_BOM) :]
            found: Envelope | Members | None = None
            if _is_clean(text):
                try:
                    found = envelope_of(text)
                except UNREADABLE:
                    found = members_of(text, [])
            if found is not None:
                yield found, text
            else:
                yield from self._mended(text)

    def _mended(self, text: bytes) -> Iterator[tuple[Members, bytes]]:
        lines = self.lines
        notes: Notes = []
        nuls = text.count(0)
        if nuls:
            notes.append(("nul_bytes", f"{nuls} NUL bytes left out"))
            text = text.replace(b"\0", b"")
        bare = text.strip()
        if not bare:
            if nuls:
                self.problems.append(lines.problem("nul_bytes", f"{nuls} NUL bytes and nothing else"))
            else:
                lines.fate = "blank"
            return
        try:
            decoded = bare.decode()
        except UnicodeDecodeError as error:
            notes.append(("not_utf8", f"bytes that are not UTF-8 replaced by U+FFFD, the first at {error.start}"))
            decoded = bare.decode("utf-8", "replace")
        else:
            whole = members_of(bare, notes)
            if whole is not None:
                yield whole, bare
                return
        yield from self._recovered(decoded, notes)

    def _recovered(self, text: str, notes: Notes) -> Iterator[tuple[Members, bytes]]:
        lines = self.lines
        objects, others, lost = recover(text, notes)
        if len(objects) > 1:
            notes.append(("glued_records", f"{len(objects)} records on one line"))
        read = 0
        for whole in objects:
            found = members_of(whole, notes if read == 0 else [])
            if found is None:
                self.problems.append(lines.problem("unreadable_record", "a record is nested too deeply to be read"))
                continue
            read += 1
            yield found, whole
        if read == 0:
            self._note(notes)
        for value in others:
            words = f"a record is a JSON object; this is {value[:_SHOWN]}"
            self.problems.append(lines.problem("not_an_object", words))
        for start, end in lost:
            kind = "torn_line" if lines.terminated or end < len(text) else "torn_tail"
            words = f"no whole record in {end - start} characters: {text[start : min(end, start + _SHOWN)]}"
            self.problems.append(lines.problem(kind, words))
        if read:
            lines.fate = "read"
        if others or lost:
            self.torn = self.torn or f"line {lines.number} is not a whole record"

    def _note(self, notes: Notes) -> None:
        for kind, words in notes:
            self.problems.append(self.lines.problem(kind, words, severity="note"))


def _is_clean(text: bytes) -> bool:
    if b"\0" in text:
        return False
    try:
        return text.isascii() or text.decode() is not None
    except UnicodeDecodeError:
        return False


def recover(text: str, notes: Notes) -> tuple[list[bytes], list[str], list[tuple[int, int]]]:
    """Every whole record of a line, the JSON values that are no objects, and the spans (from, to) that are lost.

    Behind a tear an object is believed only when it looks like a record and ends where the line or the next object
    does: an object inside the torn record is none of its own (rules 43, 44). The work stays within a multiple of the
    length of the line.
    """
    repairs = _Repairs()
    decoder = json.JSONDecoder(
        parse_constant=repairs.constant, parse_int=repairs.integer, object_pairs_hook=repairs.members
    )
    objects: list[bytes] = []
    others: list[str] = []
    lost: list[tuple[int, int]] = []
    budget = 16 * len(text) + 65_536
    at, torn_at = 0, -1
    while at < len(text):
        if torn_at < 0 and text[at].isspace():
            at += 1
            continue
        value, end, read_to = _value_at(decoder, text, at)
        budget -= read_to - at
        if end >= 0 and (torn_at < 0 or _stands_alone(value, text, end)):
            if torn_at >= 0:
                lost.append((torn_at, at))
                torn_at = -1
            if isinstance(value, dict):
                objects.append(_encode(repairs.clean(value)))
            else:
                others.append(text[at:end])
            at = end
            continue
        torn_at = at if torn_at < 0 else torn_at
        following = _OPENING.search(text, at + 1) if budget > 0 else None
        at = following.start() if following else len(text)
    if torn_at >= 0:
        lost.append((torn_at, len(text)))
    notes += repairs.notes()
    return objects, others, lost


def _value_at(decoder: json.JSONDecoder, text: str, at: int) -> tuple[object, int, int]:
    """The JSON value that begins there and its end (-1: there is none), and how far was read."""
    try:
        value, end = decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, -1, error.pos
    except (*UNREADABLE, ValueError):
        return None, -1, len(text)
    return value, end, end


def _stands_alone(value: object, text: str, end: int) -> bool:
    if not isinstance(value, dict) or not value.keys() & _KNOWN or not ({"type", "record_type", "id"} & value.keys()):
        return False
    if "payload" not in value and "timestamp" not in value:
        return False
    rest = text[end : end + 64].lstrip()
    return not rest or rest.startswith("{")


class _Repairs:
    """What the tolerant road changes, counted for the notes."""

    def __init__(self) -> None:
        self.constants = self.surrogates = 0
        self.duplicates: set[str] = set()

    def constant(self, _word: str) -> None:
        """A bare NaN or Infinity, which JSON does not have, is null (rule 49)."""
        self.constants += 1

    def integer(self, digits: str) -> int | Decimal:
        """An integer of any length, written back digit by digit."""
        return int(digits) if len(digits) < _BIGINT_DIGITS else Decimal(digits)

    def members(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        """An object; of two members with one name the last stands (rule 50)."""
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _value in pairs]
            self.duplicates.update(name for name in names if names.count(name) > 1)
        return found

    def clean(self, value: object) -> object:
        """``value`` with each lone surrogate as U+FFFD (rule 47)."""
        if isinstance(value, str):
            text, count = _LONE.subn("�", value)
            self.surrogates += count
            return text
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, dict):
            return {self.clean(name): self.clean(item) for name, item in value.items()}
        return value

    def notes(self) -> Notes:
        """What was changed, in words."""
        found: Notes = []
        if self.constants:
            found.append(("not_a_number", f"{self.constants} bare NaN or Infinity read as null"))
        if self.surrogates:
            found.append(("lone_surrogate", f"{self.surrogates} lone surrogates replaced by U+FFFD"))
        if self.duplicates:
            names = ", ".join(sorted(self.duplicates))
            found.append(("duplicate_key", f"members given twice, the last stands: {names}"))
        return found
