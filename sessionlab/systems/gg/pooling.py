"""Message bodies, toolsets and texts in; pool indices and the journal lines of new bodies out (gg.md section 3).

A body is addressed as it was sent, then reduced or clipped, and written once: a repeat gives the index it already has.
Taking a body in (hashing, escaping) is apart from interning it, so that a caller who keeps the `Body` pays once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec

from sessionlab.formats.gg.addresses import canonical_json, fingerprint_exact

STREAM_CEILING = 32_768
"""Bytes kept of one recorded stdout or stderr (3.7)."""
TOOL_CEILING = 262_144
"""Bytes kept of one recorded tool output or lifted data text (3.7)."""

T = TypeVar("T")
_encode = msgspec.json.Encoder().encode

Json: TypeAlias = object
"""What `json.loads` can give."""


class Clipped(NamedTuple):
    """The kept tail of a text, and the size in bytes and address of the whole (3.6)."""

    tail: str
    original_bytes: int
    original_id: str


def clip(text: str, ceiling: int | None) -> Clipped | None:
    """The tail of ``text`` that fits into ``ceiling`` bytes of UTF-8, or None when all of it does (3.6)."""
    data = text.encode()
    if ceiling is None or len(data) <= ceiling:
        return None
    return Clipped(_tail(data, ceiling).decode(), len(data), fingerprint_exact(data))


def without_image_payloads(value: Json) -> Json:
    """``value`` with each inline image reduced to its descriptor; the very object where there is none (3.4).

    An image is an object with a member ``mediaType``, of any type, and a string ``dataBase64``; nothing below it is
    looked at.
    """
    if isinstance(value, dict):
        if "mediaType" in value and isinstance(value.get("dataBase64"), str):
            return {name: member for name, member in value.items() if name != "dataBase64"}
        reduced = {name: without_image_payloads(member) for name, member in value.items()}
        return reduced if any(reduced[name] is not member for name, member in value.items()) else value
    if isinstance(value, list | tuple):
        members = [without_image_payloads(member) for member in value]
        return members if any(a is not b for a, b in zip(members, value, strict=True)) else value
    return value


class Taken:
    """A body taken in: addressed and ready to be written, once.

    Attributes:
        owner: the pools that took it in.
        address: content address of the body as it was sent.
        part: its index there as JSON, from when it is first recorded; empty before.
    """

    __slots__ = ("_stored", "address", "owner", "part")

    def __init__(self, owner: Pools, address: str, *stored: bytes) -> None:
        """Made by `Pools`; ``stored`` is what follows the index on its line, cut where the index stands again."""
        self.owner, self.address = owner, address
        self._stored = stored
        self.part = b""

    def spend(self) -> tuple[bytes, ...]:
        """What is to be written; given away, so that no body stays in memory."""
        stored, self._stored = self._stored, ()
        return stored


class Body(Taken):
    """A message body taken in."""

    __slots__ = ()


class Tools(Taken):
    """An offered list of tools taken in."""

    __slots__ = ()


class Text(Taken):
    """A text taken in under a ceiling."""

    __slots__ = ()


class Pools:
    """The three pools of a session: address to index, and the lines of bodies not yet taken away."""

    def __init__(self) -> None:
        """Three empty pools."""
        self._messages: dict[str, bytes] = {}
        self._toolsets: dict[str, bytes] = {}
        self._texts: dict[str, bytes] = {}
        self._fresh: list[bytes] = []

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many messages, toolsets and texts are interned."""
        return len(self._messages), len(self._toolsets), len(self._texts)

    def take_message(self, body: Json) -> Body:
        """Take a message body in, without interning it.

        Raises:
            TypeError, ValueError: it is no JSON.
        """
        canonical = json_bytes(body)
        reduced = without_image_payloads(body)
        stored = canonical if reduced is body else json_bytes(reduced)
        address = fingerprint_exact(canonical)
        return Body(self, address, b',"message":{"id":"%b","body":%b}}\n' % (address.encode(), stored))

    def take_toolset(self, tools: Json) -> Tools:
        """Take a list of tool definitions in, without interning it.

        Raises:
            TypeError, ValueError: it is no JSON.
        """
        if not isinstance(tools, list | tuple):
            raise TypeError(f"expected a list of tools, found {type(tools).__name__}")
        canonical = json_bytes(tools)
        address = fingerprint_exact(canonical)
        return Tools(self, address, b',"toolset":{"id":"%b","tools":%b}}\n' % (address.encode(), canonical))

    def take_text(self, text: str, ceiling: int | None = None) -> Text:
        """Take a text in, of which ``ceiling`` bytes of tail are kept, without interning it."""
        data = utf8(text)
        address = fingerprint_exact(data)
        if ceiling is None or len(data) <= ceiling:
            return Text(self, address, b',"text":%b}\n' % canonical_json(data.decode()))
        tail = canonical_json(_tail(data, ceiling).decode())
        whole = b',"originalBytes":%d,"originalId":"%b"}}\n' % (len(data), address.encode())
        return Text(self, address, b',"text":%b,"clip":{"text":' % tail, whole)

    def intern_message(self, body: Json | Body) -> bytes:
        """The index of a message, as JSON; a new one is due to be written."""
        taken = body if type(body) is Body and body.owner is self else self.take_message(_sent(body))
        return self._intern(taken, self._messages, b"message")

    def intern_toolset(self, tools: Json | Tools) -> bytes:
        """The index of a toolset, as JSON; a new one is due to be written."""
        taken = tools if type(tools) is Tools and tools.owner is self else self.take_toolset(_sent(tools))
        return self._intern(taken, self._toolsets, b"toolset")

    def intern_text(self, text: Text) -> bytes:
        """The index of a text, as JSON. A text once recorded under a smaller ceiling stays clipped (3.5)."""
        return self._intern(text, self._texts, b"text")

    def message(self, body: Json | Body) -> int:
        """The index of a message body, interned if it is new."""
        return int(self.intern_message(body))

    def toolset(self, tools: Json | Tools) -> int:
        """The index of a list of tools, interned if it is new."""
        return int(self.intern_toolset(tools))

    def text(self, text: str, ceiling: int | None = None) -> int:
        """The index of a text, interned if it is new."""
        return int(self.intern_text(self.take_text(text, ceiling)))

    def take_lines(self) -> list[bytes]:
        """The lines of what was interned since the last time, in order."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def _intern(self, taken: Taken, pool: dict[str, bytes], kind: bytes) -> bytes:
        index = pool.get(taken.address)
        stored = taken.spend()
        if index is None:
            index = pool[taken.address] = b"%d" % len(pool)
            self._fresh.append(b'{"type":"%b","index":%b%b' % (kind, index, index.join(stored)))
        taken.part = index
        return index


def json_bytes(value: Json) -> bytes:
    """``value`` as canonical JSON. A lone surrogate, which JSON cannot carry, becomes U+FFFD.

    Raises:
        TypeError, ValueError: it is no JSON.
    """
    try:
        return canonical_json(value)
    except UnicodeEncodeError:
        return canonical_json(plain_json(value))


def utf8(text: str) -> bytes:
    """``text`` as UTF-8; a lone surrogate becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _without_surrogates(text).encode()


def plain_json(value: Json) -> Json:
    """``value`` in plain types, its members in their order, lone surrogates as U+FFFD.

    Raises:
        TypeError, ValueError: it is no JSON.
    """
    if isinstance(value, str):
        return _without_surrogates(value)
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("a key of an object is no string")
        return {_without_surrogates(name): plain_json(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(member) for member in value]
    canonical_json(value)  # raises for what is none
    return value


def checked(value: msgspec.Struct, decoder: msgspec.json.Decoder[T]) -> T:
    """A typed object as a reader will find it; lone surrogates are U+FFFD in it.

    Raises:
        msgspec.ValidationError: a member is of the wrong type or out of range.
    """
    try:
        return decoder.decode(_encode(value))
    except UnicodeEncodeError:
        return decoder.decode(_encode(plain_json(msgspec.to_builtins(value))))


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sent(value: Json) -> Json:
    """A body as it was sent: one taken in by other pools has been given away."""
    if isinstance(value, Taken):
        raise TypeError("this body was taken in by another journal; hand over the body itself")
    return value


def _tail(data: bytes, ceiling: int) -> bytes:
    """The last ``ceiling`` bytes of UTF-8, from the first character that is whole."""
    start = len(data) - ceiling
    while start < len(data) and data[start] & 0xC0 == 0x80:  # noqa: PLR2004 (10xxxxxx continues a character)
        start += 1
    return data[start:]
