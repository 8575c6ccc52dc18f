"""Lists that are told whole on every turn, in; their JSON out, at the price of what is new in them.

A conversation is sent whole with every model call, and a window is told whole in every frame. What stands at the same
place as the last time is known by identity: bodies and items that were taken in do not change.
"""

from __future__ import annotations

from itertools import compress, count
from operator import is_not
from typing import TYPE_CHECKING, Any

import msgspec

from sessionlab.formats.gg.records import OLD_BANDS, OLD_SLOTS, Item, Region
from sessionlab.systems.gg.pooling import Body, Json, Pools, utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNKEPT = object()
"""Stands for a body that was not taken in: it may have changed by the next time, and is not kept in memory."""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Item).decode


class WindowItem:
    """One item of an agent's context window (1.11). Keep it as long as it stands in the window: it is told once.

    Args:
        message: the body, or what `JournalWriter.message` made of it.
        slot: ``system``, ``thread`` or ``context_usage``.
        source: the band it is attributed to: ``user_prompt``, ``tool_output``, ``file_view`` ...
        retention: ``pinned`` or ``ephemeral``.
        turn: the turn it was pushed on; 0 before the first.
        label: a selector tag, such as the path of a file view.
        region: the lines a paged file view covers.
    """

    __slots__ = ("label", "message", "owner", "region", "retention", "slot", "source", "told", "turn")

    def __init__(
        self,
        message: Json | Body,
        *,
        slot: str,
        source: str,
        retention: str,
        turn: int,
        label: str | None = None,
        region: Region | None = None,
    ) -> None:
        """Nothing is checked here, where an error would be the observed run's: a bad item stops capture."""
        self.message, self.slot, self.source, self.retention = message, slot, source, retention
        self.turn, self.label, self.region = turn, label, region
        self.owner: Pools | None = None
        self.told = b""

    def tell(self, pools: Pools) -> bytes:
        """The item as JSON, kept in ``told`` as long as ``owner`` is the same; its message is interned.

        Raises:
            TypeError, ValueError: it is no window item.
        """
        index = pools.intern_message(self.message)
        members = {
            "slot": self.slot,
            "source": self.source,
            "retention": self.retention,
            "turn": self.turn,
            "label": None if self.label is None else utf8(self.label).decode(),
            "region": self.region,
        }
        stated = {name: value for name, value in members.items() if value is not None}
        if self.slot in OLD_SLOTS or self.source in OLD_BANDS:
            raise ValueError(f"slot `{self.slot}`, source `{self.source}`: a word of older recorders")
        item = _decode(b'{"message":%b,%b' % (index, _encode(stated)[1:]))
        self.told, self.owner = _encode(item), pools
        return self.told


class Told:
    """A list as it was last told."""

    __slots__ = ("_elements", "_joined", "_parts")

    def __init__(self) -> None:
        """Nothing told yet."""
        self._elements: list[object] = []
        self._parts: list[bytes] = []
        self._joined = b""

    def messages(self, messages: Iterable[Json | Body], pools: Pools) -> bytes:
        """The indices of ``messages``, comma between them; new bodies are interned in order."""
        elements = list(messages)

        def part(at: int) -> bytes:
            body = elements[at]
            if type(body) is Body and body.owner is pools and body.part:
                return body.part
            index = pools.intern_message(body)
            if type(body) is not Body:
                elements[at] = _UNKEPT
            return index

        return self._tell(elements, part)

    def items(self, items: Iterable[WindowItem], pools: Pools) -> bytes:
        """The items, comma between them; new bodies are interned in order."""
        elements = list(items)

        def part(at: int) -> bytes:
            item = elements[at]
            if not isinstance(item, WindowItem):
                raise TypeError(f"expected window items, found {type(item).__name__}")
            return item.told if item.owner is pools else item.tell(pools)

        return self._tell(elements, part)

    def _tell(self, elements: list[Any], part: Callable[[int], bytes]) -> bytes:
        """The parts of all elements; ``part`` is asked for those that stood not there the last time, in order.

        Compared by identity: elements that were taken in are what they were. What stood behind an element that was
        taken out, or that another took the place of, stands there still.
        """
        before, parts = self._elements, self._parts
        size = len(before)
        if size <= len(elements) and elements[:size] == before:
            new = [part(at) for at in range(size, len(elements))]
            if new:
                self._joined = b"%b,%b" % (self._joined, b",".join(new)) if parts else b",".join(new)
                parts += new
        else:
            kept = next(compress(count(), map(is_not, elements, before)), min(size, len(elements)))
            told = parts[:kept]
            for put in (0, 1):
                at = kept + put
                found = _place(before, elements[at], kept) if at < len(elements) else None
                if found is not None and elements[at : at + size - found] == before[found:]:
                    told += [part(kept)][:put]
                    told += parts[found:]
                    break
            told += [part(at) for at in range(len(told), len(elements))]
            self._parts, self._joined = told, b",".join(told)
        self._elements = elements
        return self._joined


def _place(elements: list[object], element: object, start: int) -> int | None:
    try:
        return elements.index(element, start)
    except ValueError:
        return None
