"""The conversation as it is walked: messages in, their place in the pool and in the list out.

Two messages are the same when their canonical forms are (section 5.4): members in declared order with defaults filled
in, object keys sorted, unknown members dropped, ``1`` and ``1.0`` apart. The pool is therefore the union of everything
recorded, each message once, in order of first sighting (section 14). What is kept of a message is a 64-bit digest per
block, so that a key can be carried on when blocks are added, never its text; they are compared inside one read only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sessionlab.formats.mecha.wire import AnyBlock, Message

_Key = tuple[str, tuple[int, ...], int]

HELD_BYTES = 8 << 20
"""How much of the latest messages is held, so that a body can be told whole when blocks are added to it."""

_sorted = msgspec.json.Encoder(order="sorted").encode
_encode = msgspec.json.Encoder().encode


class Pooled(NamedTuple):
    """What is kept of a pooled message: its role, the digest of each block, and that of the rest."""

    role: str
    blocks: tuple[int, ...]
    rest: int


class Change(msgspec.Struct, frozen=True, gc=False):
    """What a rewrite did to the list.

    Attributes:
        kept: length of the common prefix.
        before: length of the list before.
        new: for each message of the new list, whether it had not been recorded before.
        in_place: nothing was summarised (section 8.6): the list did not get shorter, or was only cut.
    """

    kept: int
    before: int
    new: list[bool]
    in_place: bool


class Conversation:
    """The current message list as pool indices, and the pool's digests.

    Attributes:
        list: the pool index at each position.
    """

    def __init__(self, *, hold: bool) -> None:
        self.list: list[int] = []
        self._pool: list[_Key] = []
        self._ix: dict[_Key, int] = {}
        self._hold = hold
        self._held: OrderedDict[int, tuple[Message, int]] = OrderedDict()
        self._held_bytes = 0

    def append(self, message: Message) -> bool:
        """The list is longer by this message; whether it had not been recorded before."""
        rest = 0
        if message.tool_provenance or message.harness or message.planning is not None:
            rest = hash((frozenset(message.tool_provenance.items()), message.harness, _sorted(message.planning)))
        key = (message.role, tuple(map(hash, message.content)), rest)
        size = len(self._pool)
        ix = self._ix.setdefault(key, size)
        self.list.append(ix)
        if ix < size:
            return False
        self._pool.append(key)
        if self._hold:
            self._keep(ix, message)
        return True

    def rewrite(self, messages: Sequence[Message]) -> Change:
        """The list is this one from now on."""
        old = self.list
        self.list = []
        new = [self.append(message) for message in messages]
        kept = next(
            (at for at, (was, now) in enumerate(zip(old, self.list, strict=False)) if was != now),
            min(len(old), len(self.list)),
        )
        return Change(kept, len(old), new, len(self.list) >= len(old) or kept == len(self.list))

    def extend(self, position: int, blocks: Sequence[AnyBlock]) -> tuple[bool, Message | None]:
        """The message at ``position`` has these blocks too from now on.

        Returns:
            whether such a message had not been recorded before; and the whole message, where it was still held.
        """
        was_ix, size = self.list[position], len(self._pool)
        role, digests, rest = self._pool[was_ix]
        key = (role, digests + tuple(map(hash, blocks)), rest)
        ix = self.list[position] = self._ix.setdefault(key, size)
        held = self._held.get(was_ix)
        whole = msgspec.structs.replace(held[0], content=(*held[0].content, *blocks)) if held else None
        if ix == size:
            self._pool.append(key)
            if whole is not None:
                self._keep(ix, whole)
        return ix == size, whole

    def pooled(self, position: int) -> Pooled:
        """What is kept of the message at a position of the list."""
        return Pooled(*self._pool[self.list[position]])

    def _keep(self, ix: int, message: Message) -> None:
        size = len(_encode(message))
        self._held[ix] = message, size
        self._held_bytes += size
        while self._held_bytes > HELD_BYTES and len(self._held) > 1:
            _, (_, gone) = self._held.popitem(last=False)
            self._held_bytes -= gone


def body_bytes(message: Message) -> int:
    """Bytes of the message in its canonical form, without the word that names the record."""
    return len(_encode(message)) - (len(b'"record":"message",') if message.__struct_config__.tag else 0)
