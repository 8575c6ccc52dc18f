"""What the searches of the strict rules share: words in a text go in, their set comes out; and the type of a find."""

from __future__ import annotations

from typing import Final, NamedTuple

SIGN: Final = "\ufdd0"
"""Stands for the mark while a text is searched, so that no rule reads into it: no letter, no word, no text has it."""


class Find(NamedTuple):
    """Where something stands that is not to be shared.

    ``becomes`` is what stands there afterwards. ``known``: the value is sure enough to be looked for everywhere.
    """

    start: int
    end: int
    rule: str
    becomes: str = SIGN
    known: bool = False


def words(text: str) -> frozenset[str]:
    """The words of ``text``, as a set."""
    return frozenset(text.split())
