"""A text that is JSON goes in; the text of its value, redacted, comes out, written as before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

Walk = Callable[[object], tuple[object, dict[str, int]]]
"""Redacts a JSON value, and says how often each rule removed something."""

_ENDS: Final = {"{": "}", "[": "]", '"': '"'}
_INDENT: Final = re.compile(r"[{\[]\r?\n( +|\t+)")
_LONGEST: Final = 4_000_000
_DEEPEST: Final = 60  # brackets open at once: deeper text is read as text


def json_redacted(text: str, walk: Walk, hits: dict[str, int]) -> str | None:
    """``text`` written again with its JSON value redacted, ``hits`` told; None when nothing in it is removed.

    A text of JSON Lines is taken line by line.
    """
    if text[:1] not in '{["' and text[:64].lstrip()[:1] not in {"{", "[", '"'}:
        return None
    whole = _redacted(text, walk, hits)
    if whole is not None or "\n" not in text or text.count("\n") > len(text) // 20:
        return whole
    lines = text.split("\n")
    written = [_redacted(line, walk, hits) if line[:1] in {"{", "["} else None for line in lines]
    if not any(line is not None for line in written):
        return None
    return "\n".join(line if new is None else new for line, new in zip(lines, written, strict=True))


def _redacted(text: str, walk: Walk, hits: dict[str, int]) -> str | None:
    body = text.strip(" \t\r\n")
    if len(body) < 4 or len(body) > _LONGEST or _ENDS.get(body[0]) != body[-1]:  # noqa: PLR2004 - too short for a secret
        return None
    if _is_deep(body):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    became, found = walk(value)
    if not found:
        return None
    for rule, count in found.items():
        hits[rule] = hits.get(rule, 0) + count
    indent = _INDENT.match(body)
    spaced = '": ' in body or '", ' in body
    written = json.dumps(
        became,
        ensure_ascii=body.isascii(),
        indent=None if indent is None else len(indent[1]) if indent[1][0] == " " else "\t",
        separators=(", ", ": ") if spaced and indent is None else (",", ": " if spaced or indent is not None else ":"),
    )
    start = text.find(body)
    return text[:start] + written + text[start + len(body) :]


def _is_deep(text: str) -> bool:
    if text.count("{") + text.count("[") <= _DEEPEST:
        return False
    level = 0
    for mark in re.findall(r"[\[\]{}]", text):
        level += 1 if mark in "[{" else -1
        if level > _DEEPEST:
            return True
    return False
