"""The first bytes of a file in, whether they are a Claude Code transcript out: content decides, never the name."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator

from sessionlab.formats.claude_code.bookkeeping import BOOKKEEPING

CHAT = frozenset({"user", "assistant", "system", "progress", "attachment"})
STRANGE_LINES = 8
"""Lines that may stand before the first record without being one: torn lines, comments."""
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_decoder = json.JSONDecoder()


def sniff(head: bytes) -> bool:
    """Whether one of the first lines is a record of a transcript: an envelope, or a bookkeeping line of its kind.

    A line cut off by the end of ``head`` is judged by the members that stand whole before the cut. A workflow journal,
    the logs of other agents and a console log that shows records among other text are not claimed.
    """
    strange = 0
    for line in _lines(head):
        members = _members(line)
        if _is_record(members):
            return True
        if "sessionId" not in members:
            strange += 1
            if strange > STRANGE_LINES:
                return False
    return False


def _is_record(members: dict[str, object]) -> bool:
    kind = members.get("type")
    named = "sessionId" in members
    if "parentUuid" in members and (named or "isSidechain" in members):
        return True
    if kind in CHAT and named and members.keys() & {"uuid", "message", "isSidechain"}:
        return True
    if isinstance(kind, str) and kind in BOOKKEEPING:
        return named or "leafUuid" in members or "messageId" in members
    message = members.get("message")
    usage = message.get("usage") if isinstance(message, dict) and (kind == "assistant" or named) else None
    return kind in (None, "assistant") and isinstance(usage, dict) and "input_tokens" in usage


def _members(line: str) -> dict[str, object]:
    """The members of the object a line begins with, as far as they stand whole; none for anything else."""
    found: dict[str, object] = {}
    at = 1
    try:
        while line[at - 1] in "{,":
            name, at = _decoder.raw_decode(line, _skip(line, at))
            at = _skip(line, at)
            if not isinstance(name, str) or line[at] != ":":
                break
            found[name], at = _decoder.raw_decode(line, _skip(line, at + 1))
            at = _skip(line, at) + 1
    except (ValueError, IndexError, RecursionError):
        pass
    return found


def _skip(line: str, at: int) -> int:
    while line[at].isspace():
        at += 1
    return at


def _lines(head: bytes) -> Iterator[str]:
    encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), "utf-8")
    text = head.decode(encoding, "replace").lstrip("\ufeff")
    for line in text.split("\n"):
        bare = line.strip("\0 \t\r")
        if bare:
            yield bare
