"""A journal line in, the parsed line out: of a frame that continues the one before it only what is new is parsed.

A conversation's frame is told whole on every turn, so that most of a long journal repeats itself. As far as the items
of a frame are the very bytes of the agent's last one, they are known to be well-formed, and what they say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sessionlab.formats.gg.lines import EntryLine, Line
from sessionlab.formats.gg.records import OLD_BANDS, OLD_SLOTS, Item, PromptFrame
from sessionlab.formats.gg.strict import Parsed, Strict, Unparseable

if TYPE_CHECKING:
    from collections.abc import Callable

_FRAME = re.compile(
    rb'\{"type":"entry","entry":\{(?:"agentId":"([^"\\]*)","seq":\d+,"type":"prompt_frame"'
    rb'|"type":"prompt_frame","agentId":"([^"\\]*)","seq":\d+),"items":\['
)
"""A frame line up to its items, with every other member of it told: behind the items it can only end."""
_END = b"]}}"
_NEXT = b'},{"message":'
"""Where an item ends and another begins: in no string, as its quotes would be escaped there, and nowhere else."""

_parse: Strict[Line] = Strict(Line)


def line_parser(*, old_words: bool = True) -> Callable[[bytes], Parsed[Line]]:
    """A function that parses the lines of one journal, in order.

    It raises Unparseable as a :class:`~sessionlab.formats.gg.strict.Strict` decoder of single lines does; without
    ``old_words`` also where a frame uses a slot or a band of older recorders (section 7, row 12).
    """
    parse_line = _parse if old_words else _parse_without_old_words
    before: dict[bytes, tuple[bytes, list[Item]]] = {}  # by agent: the items of the last frame, as bytes and parsed

    def parse(data: bytes) -> Parsed[Line]:
        match = _FRAME.match(data)
        if match is None:
            return parse_line(data)
        agent, start = match[match.lastindex or 1], match.end()
        parsed = _continued(parse_line, data, start, *before[agent]) if agent in before else None
        if parsed is None:
            parsed = parse_line(data)
        line, _, unknown = parsed
        if unknown is None and data.endswith(_END) and len(data) > start + len(_END):
            assert isinstance(line, EntryLine)
            assert isinstance(line.entry, PromptFrame)
            before[agent] = data[start : -len(_END)], line.entry.items
        return parsed

    return parse


def _parse_without_old_words(data: bytes) -> Parsed[Line]:
    parsed = _parse(data)
    line = parsed[0]
    if type(line) is EntryLine and type(line.entry) is PromptFrame:
        for item in line.entry.items:
            if item.slot in OLD_SLOTS or item.source in OLD_BANDS:
                raise Unparseable(f"slot `{item.slot}`, source `{item.source}`: a word of older recorders")
    return parsed


def _continued(
    parse_line: Callable[[bytes], Parsed[Line]], data: bytes, start: int, listed: bytes, items: list[Item]
) -> Parsed[Line] | None:
    """The frame line whose items begin at ``start``, as those ``listed`` before do; None if they share none."""
    same = _shared(data, start, listed)
    if same == len(listed) and data.startswith(_END, start + same):
        rest, kept = start + same, len(items)
    elif same == len(listed) and data.startswith(_NEXT[1:], start + same):
        rest, kept = start + same + 1, len(items)
    else:
        at = listed.rfind(_NEXT, 0, same)
        if at < 0:
            return None
        rest, kept = start + at + 2, listed.count(_NEXT, 0, at) + 1
    try:
        line, free, unknown = parse_line(data[:start] + data[rest:])
    except Unparseable:
        return None  # the whole line tells where it is wrong
    if unknown is not None or not isinstance(line, EntryLine) or not isinstance(line.entry, PromptFrame):
        return None
    return replace(line, entry=replace(line.entry, items=items[:kept] + line.entry.items)), free, None


def _shared(data: bytes, start: int, listed: bytes) -> int:
    """How many bytes of ``listed`` stand in ``data`` from ``start`` on."""
    if data.startswith(listed, start):
        return len(listed)
    low, high = 0, len(listed) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if data.startswith(listed[low:middle], start + low):
            low = middle
        else:
            high = middle - 1
    return low
