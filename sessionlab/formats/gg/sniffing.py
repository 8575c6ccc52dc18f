"""The first bytes of a file in; whether they begin a gg journal, a gg record, or neither, out."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from sessionlab.formats.byte_order import without_mark

_LINES_LOOKED_AT = 8
"""A damaged first line must not hide whose file it is."""

_RECORD_START = re.compile(
    rb'\s*\{\s*"(?:formatVersion|recorder|sessionId|routingKey|capabilitySet|seed|agents|messages|toolsets|texts|clips'
    rb'|entries|truncation)"\s*:'
)
_RECORD_MEMBERS = re.compile(rb'(?<!\\)"(formatVersion|recorder|sessionId|capabilitySet)"\s*:')
_HEADER_START = re.compile(rb'\s*\{\s*"type"\s*:\s*"header"\s*,\s*"formatVersion"\s*:\s*\d')
_MEMBERS: dict[str, tuple[str, ...]] = {
    "header": ("formatVersion", "sessionId"),
    "seed": ("seed",),
    "agent": ("agent",),
    "message": ("index", "message"),
    "toolset": ("index", "toolset"),
    "text": ("index", "text"),
    "entry": ("entry",),
    "end": ("entries",),
}


def kind_of(head: bytes) -> Literal["journal", "record"] | None:
    """Which of the two files begins so; None when neither does.

    A header line longer than ``head`` is known by its start, a record by its first member and two more of its own. A
    byte order mark hides neither: such a file is gg's, and refused.
    """
    head = without_mark(head)
    lines = head.split(b"\n", _LINES_LOOKED_AT)
    if any(_is_journal_line(line) for line in lines[:_LINES_LOOKED_AT]) or _HEADER_START.match(head):
        return "journal"
    if _RECORD_START.match(head) and len(set(_RECORD_MEMBERS.findall(head))) > 2:  # noqa: PLR2004 (as said above)
        return "record"
    return None


def _is_journal_line(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    needed = _MEMBERS.get(value["type"]) if isinstance(value.get("type"), str) else None
    if needed is None or not all(name in value for name in needed):
        return False
    inner = value.get(value["type"])
    match value["type"]:
        case "entry":
            return isinstance(inner, dict) and {"agentId", "seq", "type"} <= inner.keys()
        case "agent":
            return isinstance(inner, dict) and "agentId" in inner and "origin" in inner
        case "message" | "toolset":
            return isinstance(inner, dict) and "id" in inner
        case "seed":
            return isinstance(inner, dict) and "prompt" in inner
        case "end":
            return isinstance(value["entries"], int)
    return True
