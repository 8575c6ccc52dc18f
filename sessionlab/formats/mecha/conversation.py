"""The conversation as it is walked: messages in, their place in the pool and in the list out.

Two messages are the same when their canonical forms are (section 5.4): members in declared order with defaults filled
in, object keys sorted, unknown members dropped, ``1`` and ``1.0`` apart. The pool is therefore the union of everything
recorded, each message once, in order of first sighting (section 14). What is kept of a message is a 64-bit digest that
can be carried on when blocks are added to it, never its text; digests are compared inside one read only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sessionlab.formats.mecha.wire import AnyBlock, Message

HELD_BYTES = 8 << 20
"""How much of the latest messages is held, so that a body can be told whole when blocks are added to it."""
WHOLE_BLOCKS = 256
"""A body of more blocks is not told again for each block added to it."""

RECORD_WORD = b'"record":"message",'
"""What a message record has beside the message."""

_sorted = msgspec.json.Encoder(order="sorted").encode
_encode = msgspec.json.Encoder().encode


class Pooled(NamedTuple):
    """What is kept of a pooled message: its role, how many blocks it has, and digests of them and of the rest."""

    role: str
    blocks: int
    key: int
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
        list: the pool index at each position; one list object for good.
    """

    def __init__(self, *, hold: bool) -> None:
        """An empty conversation; ``hold``: whether whole bodies will be asked for."""
        self.list: list[int] = []
        self._pool: list[tuple[str, int, int, int]] = []
        self._ix: dict[int, int] = {}
        self._hold = hold
        self._held: OrderedDict[int, tuple[Message, int]] = OrderedDict()
        self._held_bytes = 0

    def append(self, message: Message, size: int) -> bool:
        """The list is longer by this message of about ``size`` bytes; whether it had not been recorded before."""
        role, content, provenance = message.role, message.content, message.tool_provenance
        key = hash(role)
        for block in content:
            key = hash((key, block))
        rest = hash(frozenset(provenance.items())) if provenance else 0
        if message.harness or message.planning is not None:
            rest = hash((rest, message.harness, _sorted(message.planning)))
        pool = self._pool
        at = len(pool)
        ix = self._ix.setdefault(hash((key, rest)) if rest else key, at)
        self.list.append(ix)
        if ix < at:
            return False
        pool.append((role, len(content), key, rest))
        if self._hold:
            self._keep(ix, message, size)
        return True

    def rewrite(self, messages: Sequence[Message], size: int) -> Change:
        """The list is this one, of about ``size`` bytes, from now on."""
        old = self.list[:]
        self.list.clear()
        each = size // max(len(messages), 1)
        new = [self.append(message, each) for message in messages]
        kept = next(
            (at for at, (was, now) in enumerate(zip(old, self.list, strict=False)) if was != now),
            min(len(old), len(self.list)),
        )
        return Change(kept, len(old), new, len(self.list) >= len(old) or kept == len(self.list))

    def extend(self, position: int, blocks: Sequence[AnyBlock], size: int) -> tuple[bool, Message | None]:
        """The message at ``position`` has these blocks, of about ``size`` bytes, too from now on.

        Returns:
            whether such a message had not been recorded before; and the whole message, where it is still held and
            has no more than WHOLE_BLOCKS blocks.
        """
        was_ix, at = self.list[position], len(self._pool)
        role, count, key, rest = self._pool[was_ix]
        for block in blocks:
            key = hash((key, block))
        ix = self.list[position] = self._ix.setdefault(hash((key, rest)) if rest else key, at)
        if ix < at:
            return False, None
        count += len(blocks)
        self._pool.append((role, count, key, rest))
        held = self._held.get(was_ix)
        if held is None or count > WHOLE_BLOCKS:
            return True, None
        whole = msgspec.structs.replace(held[0], content=[*held[0].content, *blocks])
        self._keep(ix, whole, held[1] + size)
        return True, whole

    def pooled(self, position: int) -> Pooled:
        """What is kept of the message at a position of the list."""
        return Pooled(*self._pool[self.list[position]])

    def _keep(self, ix: int, message: Message, size: int) -> None:
        self._held[ix] = message, size
        self._held_bytes += size
        while self._held_bytes > HELD_BYTES and len(self._held) > 1:
            _, (_, gone) = self._held.popitem(last=False)
            self._held_bytes -= gone


def body_bytes(message: Message) -> int:
    """Bytes of the message in its canonical form, without the word that names the record."""
    return len(_encode(message)) - (len(RECORD_WORD) if message.__struct_config__.tag else 0)
