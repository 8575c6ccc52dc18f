"""JSON text in; its values with the places where they stand out, and the text without some of them.

A row that points at a session loses what points, and every other byte of it stays as it was: numbers as they were
written, members nobody knows, white space, the order. That takes knowing where each value begins and ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

_BLANK = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")

Span = tuple[int, int]
Change = tuple[int, int, str]
"""The text from the first place to the second becomes this one."""


class Value(NamedTuple):
    """A value and where it stands.

    Attributes:
        kind: what it is; ``scalar`` is a number, a truth value or null.
        start, end: its first character, and the one behind its last.
        text: of a string: what it says.
        names: of an object: its members' names, as often as they are written.
        parts: of an object: its members, from the name's quote to the end of the value; of an array: its entries.
        values: of an object: the values of its members; of an array: its entries.
    """

    kind: Literal["object", "array", "string", "scalar"]
    start: int
    end: int
    text: str | None = None
    names: Sequence[str] = ()
    parts: Sequence[Span] = ()
    values: Sequence[Value] = ()

    def member(self, name: str) -> int | None:
        """Which member has this name; None when none has it, or several: then nobody can say which of them counts."""
        return self.names.index(name) if self.names.count(name) == 1 else None


def parse(text: str) -> Value:
    """The value that ``text`` is, with nothing but white space around it.

    Raises:
        ValueError: it is no JSON, or nested too deeply to be read.
    """
    try:
        value, end = _value(text, _skip(text, 0))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _skip(text, end) != len(text):
        raise ValueError(f"expected the end at {end}")
    return value


def changed(text: str, changes: Iterable[Change]) -> str:
    """``text`` with the changes made; one that lies inside another is covered by it."""
    out, at = [], 0
    for start, end, new in sorted(changes, key=lambda change: (change[0], -change[1])):
        if start >= at:
            out += [text[at:start], new]
            at = end
    return "".join([*out, text[at:]])


def cut(parts: Sequence[Span], gone: Iterable[int], inside: Span) -> list[Change]:
    """The changes that take some of a list's parts away, each with one of the commas beside it.

    Args:
        parts: where the parts stand, in order.
        gone: which of them go.
        inside: where the list's inside begins and ends; it is emptied when all go.
    """
    going = sorted(set(gone))
    if len(going) == len(parts):
        return [(*inside, "")] if going else []
    first_kept = next(index for index in range(len(parts)) if index not in going)
    return [
        (parts[index][0], parts[index + 1][0], "") if index < first_kept else (parts[index - 1][1], parts[index][1], "")
        for index in going
    ]


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None, "nothing is blank too"
    return found.end()


def _value(text: str, at: int) -> tuple[Value, int]:
    sign = text[at : at + 1]
    if sign == "{":
        return _container(text, at, "}")
    if sign == "[":
        return _container(text, at, "]")
    if sign == '"':
        told, end = _string(text, at)
        return Value("string", at, end, told), end
    found = _SCALAR.match(text, at)
    if found is None:
        raise ValueError(f"expected a value at {at}")
    return Value("scalar", at, found.end()), found.end()


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError(f"expected a string at {at}")
    told = json.loads(found.group())
    assert isinstance(told, str)
    return told, found.end()


def _container(text: str, start: int, closing: str) -> tuple[Value, int]:
    names: list[str] = []
    parts: list[Span] = []
    values: list[Value] = []
    at = _skip(text, start + 1)
    if text[at : at + 1] != closing:
        while True:
            begin = at
            if closing == "}":
                name, at = _string(text, at)
                names.append(name)
                at = _skip(text, at)
                if text[at : at + 1] != ":":
                    raise ValueError(f"expected a colon at {at}")
                at = _skip(text, at + 1)
            value, at = _value(text, at)
            values.append(value)
            parts.append((begin, at))
            at = _skip(text, at)
            if text[at : at + 1] == closing:
                break
            if text[at : at + 1] != ",":
                raise ValueError(f"expected a comma at {at}")
            at = _skip(text, at + 1)
    kind: Literal["object", "array"] = "object" if closing == "}" else "array"
    return Value(kind, start, at + 1, None, names, parts, values), at + 1
