"""Texts as tables hold them go in; each after its treatment comes out, with what was removed from it."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from sessionlab.formats.datalayer import deep
from sessionlab.redaction.exact import Redactor
from sessionlab.redaction.treatments import Treatment

_SESSION: Final = re.compile(r"([a-z][a-z0-9_]*:)(.*)", re.DOTALL)
_OPENING: Final = frozenset('{["')
_REMEMBERED: Final = 32 << 20
"""Characters of texts whose answer is remembered: most texts of a corpus stand in it more than once."""


class Became(NamedTuple):
    """What became of a text: None where it stays as it is; and how often each rule removed something."""

    text: str | None
    counts: tuple[tuple[str, int], ...]


_SAME: Final = Became(None, ())


class Texts:
    """Goes through texts with one redactor, equal ones once.

    ``redactor`` has learned from everything before the first text is redacted.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: dict[tuple[Treatment, str], Became] = {}
        self._left = _REMEMBERED
        self._counts = redactor.counts

    def learn(self, treatment: Treatment, text: str) -> None:
        """First pass: what a text teaches about all others."""
        value = parsed(text) if treatment is Treatment.JSON else None
        self._redactor.learn(text if value is None else value)

    def became(self, treatment: Treatment, text: str) -> Became:
        """Second pass: what becomes of a text."""
        key = (treatment, text)
        known = self._known.get(key)
        if known is None:
            known = self._asked(treatment, text)
            if self._left > 0:
                self._left -= len(text)
                self._known[key] = known
        return known

    def _asked(self, treatment: Treatment, text: str) -> Became:
        new = self._redacted(treatment, text)
        if new == text:
            return _SAME
        before, self._counts = self._counts, self._redactor.counts
        grown = ((rule, count - before.get(rule, 0)) for rule, count in self._counts.items())
        return Became(new, tuple((rule, count) for rule, count in grown if count) or (("identifier", 1),))

    def _redacted(self, treatment: Treatment, text: str) -> str:
        redactor = self._redactor
        if treatment is Treatment.IDENTIFIER:
            return redactor.identifier(text)
        if treatment is Treatment.SESSION:
            parts = _SESSION.fullmatch(text)
            return redactor.identifier(text) if parts is None else parts[1] + redactor.identifier(parts[2])
        value = parsed(text) if treatment is Treatment.JSON else None
        if value is None:
            return redactor.text(text)
        told = _written(value, text)
        new = _written(redactor.value(value), text)
        return text if new == told else new


def parsed(text: str) -> object:
    """The value of a JSON text that loses nothing by being read; else None.

    An object that names a member twice would lose one, with what it holds, and one nested too deep is no business of
    the stack: both are gone through as text.
    """
    if text[:1] not in _OPENING and text.lstrip()[:1] not in _OPENING:
        return None
    try:
        value: object = None if deep.depth(text) else json.loads(text, object_pairs_hook=_members)
    except ValueError:
        return None
    return value


class _Twice(ValueError):
    """An object names a member twice."""


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Twice
    return members


def _written(value: object, like: str) -> str:
    separators = (", ", ": ") if '": ' in like else (",", ":")
    told = json.dumps(value, ensure_ascii=False, separators=separators)
    if told.isascii():
        return told
    try:
        told.encode()
    except UnicodeEncodeError:  # a lone surrogate stands only as an escape
        return json.dumps(value, separators=separators)
    return told
