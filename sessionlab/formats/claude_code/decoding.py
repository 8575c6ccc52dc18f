"""Text of one line in, records out: the strict road for whole lines, a tolerant one that says what it had to change.

Notes are (kind, words) pairs about text that was read all the same; the caller makes them `Problem` rows.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from sessionlab.columns import BIGINT_MAX, Fault, tokens_fault
from sessionlab.formats.claude_code.records import REST, Line, Message, Strict, TokenUsage, Whole

Notes = list[tuple[str, str]]
Members = dict[str, object]
S = TypeVar("S", bound=Struct)
T = TypeVar("T")

UNREADABLE = (msgspec.DecodeError, msgspec.ValidationError, RecursionError)
"""What the strict decoders raise."""

encode = msgspec.json.Encoder(decimal_format="number").encode
"""JSON text of a value; numbers of any length are written as they were read."""
decode_line: Callable[[bytes], Line] = msgspec.json.Decoder(Line).decode
_decode_message: Callable[[bytes], Message] = msgspec.json.Decoder(Message).decode
_whole = msgspec.json.Decoder(Whole)
_decode_usage: Callable[[bytes], TokenUsage] = msgspec.json.Decoder(TokenUsage).decode
_decode_members: Callable[[bytes], dict[str, Raw]] = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_items: Callable[[bytes], list[Raw]] = msgspec.json.Decoder(list[Raw]).decode
NULL = Raw(b"null")
_LONE = re.compile(r"[\ud800-\udfff]")
_OPENING = re.compile(r'\{\s*"')
_BIGINT_DIGITS = 19
_NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_FLOAT = re.compile(rb"-?\d+(?=[.eE])(\.\d+)?([eE][+-]?\d+)?")
_SHOWN = 40


class Repairs:
    """What reading a text with the tolerant road changes, counted for the notes."""

    def __init__(self) -> None:
        self.constants = 0
        self.surrogates = 0
        self.duplicates: list[str] = []

    def constant(self, _word: str) -> None:
        """A bare NaN or Infinity, which JSON does not have: read as null (rule 49)."""
        self.constants += 1

    def integer(self, digits: str) -> int | Decimal:
        """An integer of any length; past 64 bits a Decimal, which is written back digit by digit."""
        if len(digits) < _BIGINT_DIGITS:
            return int(digits)
        exact = Decimal(digits)
        return int(exact) if -BIGINT_MAX <= exact <= BIGINT_MAX else exact

    def members(self, pairs: list[tuple[str, object]]) -> Members:
        """An object; of two members with one name the last stands (rule 50)."""
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _value in pairs]
            self.duplicates += sorted({name for name in names if names.count(name) > 1})
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
            found.append(("duplicate_key", f"members given twice, the last stands: {', '.join(self.duplicates)}"))
        return found


class Recovered(typing.NamedTuple):
    """What a line that is not one JSON object still holds."""

    objects: list[bytes]
    others: list[str]
    lost: list[tuple[int, int]]
    notes: Notes


def recover(text: str) -> Recovered:
    """Every whole record of ``text``, the JSON values that are no objects, and the spans (from, to) that are lost.

    After a tear a record is only believed when it looks like one and ends where the line or the next record does, so
    that a nested object of the torn record is never taken for a record of its own (rules 43, 44). The work is bounded
    by a multiple of the length of the text.
    """
    repairs = Repairs()
    decoder = json.JSONDecoder(
        parse_constant=repairs.constant, parse_int=repairs.integer, object_pairs_hook=repairs.members
    )
    objects: list[bytes] = []
    others: list[str] = []
    lost: list[tuple[int, int]] = []
    at, torn, size, budget = 0, False, len(text), 16 * len(text) + 65_536
    start = 0
    while at < size:
        if text[at].isspace():
            at += 1
            continue
        if not torn:
            start = at
        try:
            value, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            budget -= error.pos - at
            value, end = None, -1
        except (RecursionError, ValueError):
            budget -= size - at
            value, end = None, -1
        if end >= 0:
            budget -= end - at
        if end >= 0 and (not torn or (isinstance(value, dict) and _stands_alone(value, text, end))):
            if torn:
                lost.append((start, at))
                torn = False
            if isinstance(value, dict):
                objects.append(encode(repairs.clean(value)))
            else:
                others.append(text[at:end])
            at = end
            continue
        torn = True
        following = _OPENING.search(text, at + 1) if budget > 0 else None
        at = following.start() if following else size
    if torn:
        lost.append((start, size))
    return Recovered(objects, others, lost, repairs.notes())


def _stands_alone(value: Members, text: str, end: int) -> bool:
    rest = text[end : end + 64].lstrip()
    named = "sessionId" in value or "leafUuid" in value or "messageId" in value
    return isinstance(value.get("type"), str) and named and (not rest or rest.startswith("{"))


def line_of(text: bytes, notes: Notes) -> Line | None:
    """The record of a line, whatever members it has; None when the text is not one JSON object."""
    try:
        return tolerant(_decode_members(text), Line, notes)
    except UNREADABLE:
        return None


def message_of(raw: Raw, notes: Notes) -> Message | None:
    """The message of a chat line; None when there is none or it is no object."""
    return _strict_or_tolerant(raw, Message, _decode_message, notes)


def message_bytes(text: bytes) -> int | None:
    """How long the message of a line is, as it stands in the file."""
    try:
        return len(memoryview(_whole.decode(text).message)) or None
    except UNREADABLE:
        return None


def usage_of(raw: Raw, notes: Notes) -> TokenUsage | None:
    """A usage object that stands outside a message; None when there is none or it is no object."""
    return _strict_or_tolerant(raw, TokenUsage, _decode_usage, notes)


def _strict_or_tolerant(raw: Raw, struct: type[S], decode: Callable[[bytes], S], notes: Notes) -> S | None:
    if not raw:
        return None
    try:
        return decode(raw)
    except UNREADABLE:
        pass
    try:
        return tolerant(_decode_members(raw), struct, notes)
    except UNREADABLE:
        return None


def tolerant(members: dict[str, Raw], struct: type[S], notes: Notes) -> S:
    """``members`` as a ``struct``; a member that no field knows or that does not fit its field goes to ``rest``."""
    known = _members_of(struct)
    kept: dict[str, object] = {}
    rest: dict[str, Raw] = {}
    for name, raw in members.items():
        member = known.get(name)
        if member is None:
            rest[name] = raw
        elif member.decode is None:
            kept[member.attribute] = raw
        else:
            try:
                kept[member.attribute] = member.decode(raw)
            except UNREADABLE:
                inner = _inside(raw, member, notes) if member.inner is not None else _integral(name, raw, member, notes)
                if inner is None:
                    rest[name] = raw
                    _misfit(name, bytes(raw), struct, member, notes)
                else:
                    kept[member.attribute] = inner
    return struct(**kept, rest=rest or None) if issubclass(struct, Strict) else struct(**kept)


def _inside(raw: Raw, member: _Member, notes: Notes) -> object:
    """An object or a list of objects that the strict decoder refused, each read with the tolerant road."""
    text = bytes(raw)
    assert member.inner is not None
    if text[:1] == b"{" and not member.is_list:
        return tolerant(_decode_members(text), member.inner, notes)
    if text[:1] == b"[" and member.is_list:
        return [_item(item, member.inner, notes) for item in _decode_items(text)]
    return None


def _item(raw: Raw, struct: type[S], notes: Notes) -> S:
    text = bytes(raw)
    if text[:1] == b"{":
        return tolerant(_decode_members(text), struct, notes)
    notes.append(("wrong_type", f"{text[:40].decode(errors='replace')} where {struct.__name__} objects were expected"))
    return struct(type="", rest={"value": raw})


def _integral(name: str, raw: Raw, member: _Member, notes: Notes) -> int | None:
    """A whole number that is written as a float (``5.0``, ``1E2``) where an integer belongs."""
    text = bytes(raw)
    if member.whole is None or not _FLOAT.fullmatch(text):
        return None
    try:
        value = member.whole(text)
    except UNREADABLE:
        return None
    notes.append(("float_for_integer", f"{name} {text[:_SHOWN].decode()} is read as {value}"))
    return value


def _misfit(name: str, text: bytes, struct: type[Struct], member: _Member, notes: Notes) -> None:
    """Say what does not fit; of a record whose members are a tool's own, only of numbers."""
    shown = text[:_SHOWN].decode(errors="replace")
    fault = _fault(text, member) if member.is_number else None
    if fault is not None:
        notes.append((fault, f"{name} {shown} cannot be meant; read as null"))
    elif issubclass(struct, Strict):
        notes.append(("wrong_type", f"{name} {shown} is not what {struct.__name__} holds there; kept in detail"))


def _fault(text: bytes, member: _Member) -> Fault | None:
    """What is wrong with a number its field refuses."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        value = Decimal(text.decode())
    except ArithmeticError:  # an exponent of more digits than a Decimal knows
        return "number_too_large"
    if member.whole is None:
        return "number_too_large"
    return "number_too_large" if abs(value) > BIGINT_MAX else tokens_fault(int(value))


class _Member(typing.NamedTuple):
    attribute: str
    decode: Callable[[bytes], object] | None
    whole: Callable[[bytes], int] | None
    """Reads an integer however it is written; None where the field holds something else."""
    is_number: bool
    inner: type[Struct] | None
    is_list: bool


@cache
def _members_of(struct: type[Struct]) -> dict[str, _Member]:
    """Member name → how it is read, without the member that stands for the rest."""
    return {
        found.encode_name: _Member(
            found.name,
            None if found.type is Raw else msgspec.json.Decoder(found.type).decode,
            cast("Callable[[bytes], int]", msgspec.json.Decoder(found.type, strict=False).decode)
            if _holds(found.type, int)
            else None,
            _holds(found.type, int) or _holds(found.type, float),
            *_inner(found.type),
        )
        for found in msgspec.structs.fields(struct)
        if found.encode_name != REST
    }


def _holds(kind: object, number: type) -> bool:
    """Whether an annotation means that number or null."""
    parts = (kind, *typing.get_args(kind))
    return number in parts or any(number in typing.get_args(part) for part in parts if part is not kind)


def _inner(kind: object) -> tuple[type[Struct] | None, bool]:
    """The struct inside an annotation, and whether a list of it is meant."""
    for arg in (kind, *typing.get_args(kind)):
        if isinstance(arg, type) and issubclass(arg, Struct):
            return arg, False
        if typing.get_origin(arg) is list:
            return _inner(typing.get_args(arg)[0])[0], True
    return None, False


def text_of(raw: Raw) -> str | None:
    """A JSON value as text: a string as it reads, anything else as JSON; None when absent or null."""
    if not raw:
        return None
    value = bytes(raw)
    if value[:1] == b'"':
        return cast("str", msgspec.json.decode(value))
    return None if value == b"null" else value.decode()


def value_of(raw: Raw) -> Raw | None:
    """A JSON value as it stands, for a `detail`; None when absent or null."""
    return raw if raw and raw != NULL else None


def lenient(raw: Raw, decoder: msgspec.json.Decoder[T]) -> T | None:
    """``raw`` as what the decoder makes of it; None when it is absent or something else."""
    if not raw:
        return None
    try:
        return decoder.decode(raw)
    except UNREADABLE:
        return None


def partly(raw: Raw, decoder: msgspec.json.Decoder[S], notes: Notes) -> S | None:
    """Like `lenient`, but a member that does not fit costs itself only; a number that cannot be meant is noted."""
    if not raw:
        return None
    return _strict_or_tolerant(raw, cast("type[S]", decoder.type), decoder.decode, notes)
