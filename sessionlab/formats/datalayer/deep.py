"""JSON nested too deep to trust to the stack: its text goes in, its value comes out; a value goes in, text comes out.

The usual readers and writers call themselves once a level. How far that carries depends on the stack of the thread
and on who called, and past it a process may end rather than fail. Here a list holds what is open, so that the answer
is the same everywhere. Slower, and needed for few lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from sessionlab.formats._values import compact

SHALLOW = 100
"""Levels that are left to the usual readers and writers: they fit into the smallest stack a thread can have."""

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?')
_BRACKET = re.compile(r"[\[\]{}]")


def depth(text: str) -> int:
    """Levels of objects and lists open at once, 0 for any number up to SHALLOW; of what is not JSON, anything."""
    if text.count("[") + text.count("{") <= SHALLOW:
        return 0
    bare = _STRING.sub("", text)  # what brackets stand in strings open nothing
    if bare.count("[") + bare.count("{") <= SHALLOW:
        return 0
    level = deepest = 0
    for mark in _BRACKET.findall(bare):
        if mark in "[{":
            level += 1
            deepest = max(deepest, level)
        else:
            level -= 1
    return deepest if deepest > SHALLOW else 0


def parsed(text: str, integer: Callable[[str], int]) -> object:
    """The value of a JSON text, as ``json.loads`` gives it, whole numbers read by ``integer``.

    Raises:
        ValueError: it is not JSON.
    """
    scalar = json.JSONDecoder(parse_int=integer).raw_decode
    found: list[object] = []
    open_: list[list[object] | dict[str, object]] = [found]
    key, at = "", 0
    while True:
        at = _past_space(text, at)
        mark = text[at : at + 1]
        opened: list[object] | dict[str, object] | None = [] if mark == "[" else {} if mark == "{" else None
        value, at = scalar(text, at) if opened is None else (opened, at + 1)
        holder = open_[-1]
        if isinstance(holder, dict):
            holder[key] = value
        else:
            holder.append(value)
        if opened is not None:
            open_.append(opened)
        at = _closed(text, at, open_, is_fresh=opened is not None)
        if len(open_) == 1:
            if _past_space(text, at) != len(text):
                raise ValueError("Extra data")
            return found[0]
        if isinstance(open_[-1], dict):
            key, at = _key(text, at, scalar)


def _closed(text: str, at: int, open_: list[list[object] | dict[str, object]], *, is_fresh: bool) -> int:
    """Close what ends here, and step over the comma before the next value; where that begins.

    ``is_fresh``: what is open last was opened just now, so that no comma stands before its first member.
    """
    while len(open_) > 1:
        at = _past_space(text, at)
        mark = text[at : at + 1]
        if mark == ("}" if isinstance(open_[-1], dict) else "]"):
            open_.pop()
            at += 1
            is_fresh = False
        elif is_fresh:
            return at
        elif mark == ",":
            return at + 1
        else:
            raise ValueError("Expecting ',' delimiter")
    return at


def _key(text: str, at: int, scalar: Callable[[str, int], tuple[object, int]]) -> tuple[str, int]:
    at = _past_space(text, at)
    if text[at : at + 1] != '"':
        raise ValueError("Expecting property name enclosed in double quotes")
    key, at = scalar(text, at)
    at = _past_space(text, at)
    if text[at : at + 1] != ":":
        raise ValueError("Expecting ':' delimiter")
    return str(key), at + 1


def _past_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def text_of(value: object) -> str:
    """``value`` as compact JSON text, members in the order given."""
    return written(value, compact, ",", ":")


def shown(value: object) -> str:
    """``value`` as Python shows it (`repr`)."""
    return written(value, repr, ", ", ": ")


def written(value: object, scalar: Callable[[object], str], comma: str, colon: str) -> str:
    """``value`` as text without the stack: ``scalar`` writes what is neither object nor list."""
    parts: list[str] = []
    todo: list[tuple[bool, object]] = [(True, value)]  # values still to be written, and between them what is written
    while todo:
        is_value, item = todo.pop()
        if not is_value:
            parts.append(str(item))
        elif isinstance(item, dict):
            todo.append((False, "}"))
            for n, (name, member) in reversed(list(enumerate(item.items()))):
                todo += (True, member), (False, (comma if n else "") + scalar(name) + colon)
            parts.append("{")
        elif isinstance(item, list):
            todo.append((False, "]"))
            for n, member in reversed(list(enumerate(item))):
                todo += (True, member), (False, comma if n else "")
            parts.append("[")
        else:
            parts.append(scalar(item))
    return "".join(parts)
