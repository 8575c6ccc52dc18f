"""A file of learned rules (TOML) and reflections to forget in; the file without them out, its other bytes untouched.

A rule with other sources loses only these; one whose every source is forgotten goes, and is not retired, which would
keep its text (15.3). Tables are found in the text by a scan that knows TOML's strings, comments and brackets; what
comes out is read again and must say exactly what was meant, else nothing is changed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

from sessionlab.systems.mecha.forgetting.spans import Change, Span, changed, cut

_HEADER = re.compile(r"\[\[?\s*(?:rules|\"rules\"|'rules')\s*([\].])")
_KEY = re.compile(r"(?:sources|\"sources\"|'sources')[ \t]*=[ \t]*\[")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"#[^\n]*")


class NotToml(ValueError):
    """The file cannot be read: whether it names a reflection is unknown."""


class UnknownShape(ValueError):
    """The file names a reflection in a way that this module does not know how to take out."""


class _Statement(NamedTuple):
    """A table's header, or a key with its value: from its first sign, a comment right above it included."""

    start: int
    sign: int
    end: int


def without_sources(content: bytes, gone: frozenset[str]) -> tuple[bytes, int]:
    """The file without these reflections, and how many rules that concerned.

    Raises:
        NotToml: it is no TOML.
        UnknownShape: it names one of them in a shape that is not known; nothing should be changed.
    """
    try:
        text = content.decode()
        told = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotToml(str(error)) from error
    kept, indexes = _kept(told.get("rules"), gone)
    if not indexes:
        return content, 0
    try:
        new = changed(text, _changes(text, indexes, gone))
        found = tomllib.loads(new)
    except ValueError as error:
        raise UnknownShape(str(error)) from error
    if {**told, "rules": kept} != {**found, "rules": found.get("rules", [])}:
        raise UnknownShape("its rules are not written as an array of tables `[[rules]]` with an array `sources`")
    return new.encode(), len(indexes)


def _kept(rules: object, gone: frozenset[str]) -> tuple[list[object], dict[int, bool]]:
    """The rules that should be left, and of those that change, by their place, whether they go whole."""
    kept: list[object] = []
    indexes: dict[int, bool] = {}
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        sources = rule.get("sources") if isinstance(rule, dict) else None
        if not isinstance(sources, list) or not any(isinstance(one, str) and one in gone for one in sources):
            kept.append(rule)
            continue
        left = [one for one in sources if not (isinstance(one, str) and one in gone)]
        indexes[index] = not left
        if left:
            kept.append({**rule, "sources": left})
    return kept, indexes


def _changes(text: str, indexes: dict[int, bool], gone: frozenset[str]) -> Iterator[Change]:
    for index, table in enumerate(_tables(text)):
        if index not in indexes:
            continue
        if indexes[index]:
            yield table[0].start, table[-1].end, ""
            continue
        for statement in table[1:]:
            if text.startswith("[", statement.sign):
                break  # a table below the rule has sources of its own
            found = _KEY.match(text, statement.sign)
            if found is not None:
                parts, end = _strings(text, found.end())
                named = [i for i, (start, stop) in enumerate(parts) if _told(text[start:stop]) in gone]
                yield from cut(parts, named, (found.end(), end))


def _tables(text: str) -> Iterator[list[_Statement]]:
    """The statements of each table of ``rules``, its header first, and what stands below it, up to the next table."""
    table: list[_Statement] = []
    for statement in _statements(text):
        if text.startswith("[", statement.sign):
            header = _HEADER.match(text, statement.sign)
            is_rule = header is not None and header[1] == "]" and text.startswith("[[", statement.sign)
            if table and (is_rule or header is None):
                yield _closed(table, statement.start)
                table = []
            if is_rule:
                table = [statement]
                continue
        if table:
            table.append(statement)
    if table:
        yield _closed(table, len(text))


def _closed(table: list[_Statement], end: int) -> list[_Statement]:
    """The table with all that stands behind it up to the next one."""
    return [*table[:-1], table[-1]._replace(end=end)]


def _statements(text: str) -> Iterator[_Statement]:
    at, above = 0, None
    while at < len(text):
        line = text.find("\n", at)
        line = len(text) if line < 0 else line + 1
        first = text[at:line].lstrip(" \t")
        sign = line - len(first)
        if first.startswith("#"):
            above = at if above is None else above
            at = line
        elif not first.strip():
            above, at = None, line
        else:
            end = line if first.startswith("[") else _end(text, sign)
            yield _Statement(at if above is None else above, sign, end)
            above, at = None, end


def _end(text: str, at: int) -> int:
    """The end of the key and value that begin at ``at``: the line end at which no bracket and no string is open."""
    depth = 0
    while at < len(text):
        sign = text[at]
        if sign in "\"'":
            found = _STRING.match(text, at)
            if found is None:
                raise ValueError(f"a string at {at} does not end")
            at = found.end()
            continue
        if sign == "#":
            found = _COMMENT.match(text, at)
            assert found is not None, "the sign begins a comment"
            at = found.end()
            continue
        depth += (sign in "[{") - (sign in "]}")
        at += 1
        if sign == "\n" and depth == 0:
            break
    return at


def _strings(text: str, at: int) -> tuple[list[Span], int]:
    """Where the strings of an array stand whose inside begins at ``at``, and where the inside ends."""
    parts: list[Span] = []
    while True:
        at = _skip(text, at)
        if text.startswith("]", at):
            return parts, at
        found = _STRING.match(text, at)
        if found is None:
            raise ValueError(f"expected a string at {at}")
        parts.append((at, found.end()))
        at = _skip(text, found.end())
        if text.startswith(",", at):
            at += 1
        elif not text.startswith("]", at):
            raise ValueError(f"expected a comma at {at}")


def _skip(text: str, at: int) -> int:
    while True:
        found = _BLANK.match(text, at)
        assert found is not None, "nothing is blank too"
        at = found.end()
        comment = _COMMENT.match(text, at)
        if comment is None:
            return at
        at = comment.end()


def _told(text: str) -> object:
    return tomllib.loads(f"v = {text}")["v"]
