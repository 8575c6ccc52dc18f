"""The members of a JSON object in, typed values out; what is not asked for, or does not fit, stays for `detail`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import Raw

from sessionlab.columns import BIGINT_MAX

Notes = list[tuple[str, str]]
T = TypeVar("T")

UNREADABLE = (msgspec.DecodeError, msgspec.ValidationError, RecursionError)
"""What the decoders raise."""


class Envelope(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An enveloped line that holds nothing else; the number of the line is not used."""

    type: str
    payload: Raw
    timestamp: str | None = None
    ordinal: int | None = None


envelope_of: Callable[[bytes], Envelope] = msgspec.json.Decoder(Envelope).decode
_members = msgspec.json.Decoder(dict[str, Raw])
_list = msgspec.json.Decoder(list[Raw])
_integer = msgspec.json.Decoder(int)
_flag = msgspec.json.Decoder(bool)
_string = msgspec.json.Decoder(str)
_text = msgspec.json.Decoder(str | None)
_LONE = re.compile(r"[\ud800-\udfff]")
_WHOLE_FLOAT = re.compile(rb"-?\d+\.0*|-?\d+(?:\.\d+)?[eE]\+?\d{1,2}")
_SHOWN = 40


class Members:
    """One JSON object, taken apart member by member.

    A member is gone once it was taken; `rest` is what is left, so that nothing is lost by not being known. ``notes``
    says which members were not of the type expected: they are null, and stay in the rest.
    """

    __slots__ = ("notes", "raws")

    def __init__(self, raws: dict[str, Raw], notes: Notes) -> None:
        self.raws, self.notes = raws, notes

    def raw(self, name: str) -> bytes | None:
        """The member as it stands; None when it is absent or null."""
        found = self.raws.pop(name, None)
        text = None if found is None else bytes(found)
        return None if text == b"null" else text

    def text(self, name: str) -> str | None:
        """A string."""
        found = self.raws.pop(name, None)
        if found is None:
            return None
        try:
            return _text.decode(found)
        except UNREADABLE:
            raw = bytes(found)
        if raw[:1] != b'"':
            self._misfit(name, raw, "a string")
            return None
        return string(raw, self.notes)

    def integer(self, name: str) -> int | None:
        """A whole number a BIGINT can hold, however it is written."""
        raw = self.raw(name)
        if raw is None:
            return None
        value = _decode(raw, _integer)
        if value is None and _WHOLE_FLOAT.fullmatch(raw):
            whole = float(raw)
            value = int(whole) if whole.is_integer() else None
        if value is None:
            self._misfit(name, raw, "an integer")
            return None
        if not -BIGINT_MAX <= value <= BIGINT_MAX:
            self.notes.append(("number_too_large", f"{name} {raw[:_SHOWN].decode()} cannot be meant; read as null"))
            self.raws[name] = Raw(raw)
            return None
        return value

    def flag(self, name: str) -> bool | None:
        """A truth value."""
        raw = self.raw(name)
        if raw is None:
            return None
        value = _decode(raw, _flag)
        if value is None:
            self._misfit(name, raw, "true or false")
        return value

    def inner(self, name: str) -> Members | None:
        """An object; None when the member is absent, null, or something else, which then stays in the rest."""
        found = self.raws.get(name)
        inside = None if found is None else members_of(bytes(found), self.notes)
        if inside is not None:
            del self.raws[name]
        return inside

    def rest(self) -> dict[str, Raw] | None:
        """What nobody took, without nulls; None when nothing is left."""
        left = {name: raw for name, raw in self.raws.items() if bytes(raw) != b"null"}
        return left or None

    def _misfit(self, name: str, raw: bytes, wanted: str) -> None:
        shown = raw[:_SHOWN].decode(errors="replace")
        self.notes.append(("wrong_type", f"{name} {shown} where {wanted} was expected; kept in detail"))
        self.raws[name] = Raw(raw)


def members_of(raw: bytes, notes: Notes) -> Members | None:
    """The object a JSON text is; None when it is no object."""
    found = _decode(raw, _members) if raw.lstrip()[:1] == b"{" else None
    return None if found is None else Members(found, notes)


def items_of(raw: bytes | None) -> list[bytes] | None:
    """The items of a JSON list, as they stand; None when it is no list."""
    if raw is None or raw[:1] != b"[":
        return None
    found = _decode(raw, _list)
    return None if found is None else [bytes(item) for item in found]


def string(raw: bytes, notes: Notes) -> str:
    """What a JSON string says; a lone surrogate becomes U+FFFD (rule 47)."""
    try:
        return _string.decode(raw)
    except UNREADABLE:
        text, count = _LONE.subn("�", str(json.loads(raw, strict=False)))
        if count:
            notes.append(("lone_surrogate", f"{count} lone surrogates replaced by U+FFFD"))
        return text


def shown(raw: bytes | None, notes: Notes) -> str | None:
    """A JSON value as text: a string as it reads, anything else as JSON; None when absent or null."""
    if raw is None or raw == b"null":
        return None
    return string(raw, notes) if raw[:1] == b'"' else raw.decode()


def _decode(raw: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    try:
        return decoder.decode(raw)
    except UNREADABLE:
        return None
