r"""A lower-cased text in; a quick look that tells which raw bytes of a recording cannot hold it, out.

What is searched are texts of JSON strings, and calls as compact JSON. Of the text searched for, one run of letters (or
digits) is taken that can never straddle a seam: wherever the whole matches, the run stands in the raw bytes too, as it
is, in other case, or hidden in an escape. The look says "perhaps" for all of these, and "no" for the rest. It may say
"perhaps" in vain; it never says "no" wrongly.

What could hide a run: an escape such as ``\u0041`` for a letter; ``\u000a`` for what compact JSON spells ``\n``, with a
letter; the two signs beyond ASCII whose lower case is ASCII (the Kelvin sign, and İ, which becomes i and a dot); a
number that is written anew (``1e5`` as ``100000.0``); and NUL bytes, which some readers drop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import NamedTuple

LONG_ENOUGH = 4
"""A run of so many letters is not made longer at the cost of a further look."""
SHORTEST_ASCII = 2
"""A single ASCII letter may come from an escape or an exponent, a single digit from a number."""
SHORTEST_DIGITS = 3
LONGEST_SPELLED = 6
"""Signs of a run beyond ASCII that are looked for: each has several spellings."""

_DOT_ABOVE = "\u0307"
_REPLACEMENT = "\ufffd"
_KELVIN, _DOTTED_I = "\u212a", "\u0130"


class Look(NamedTuple):
    """One pattern that means "perhaps"; a literal one is compared as it is. ``any_case`` speaks of ASCII."""

    pattern: str
    is_literal: bool
    any_case: bool = True


_HIDING_ASCII = Look(
    r"u00(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|0[89acdACD])",
    is_literal=False,
    any_case=False,  # JSON knows no other u; without the backslash, and in one case, it is found half as fast again
)
_HIDING_MORE = Look(r"\\u(?:00(?:3[0-9]|[46][1-9a-f]|[57][0-9a]|0[89acd])|0130|212a)", is_literal=False)
"""The Kelvin sign and İ, too."""
_HIDING_ANYTHING = Look(
    r"\\u(?:[1-9a-f][0-9a-f]{3}|0[1-9a-f][0-9a-f]{2}|00[2-9a-f][0-9a-f]|000[89acd])", is_literal=False
)
_REWRITTEN_NUMBER = Look(r"[:,\[]\s*-?(?:[0-9.]{17}|[0-9.]+e)", is_literal=False)


class Probe:
    """What to look for in raw bytes.

    Attributes:
        looks: any of them found means "perhaps"; None: every recording has to be read.
        run: the run that has to be there, lower-cased; empty where there is none.
        overlap: how many bytes of one block have to be seen again with the next.
    """

    def __init__(self, lower: str) -> None:
        """For a text that is lower-cased already."""
        self.run = _best(lower)
        self.looks = _looks(self.run) if self.run else None
        longest = 12 * (len(self.run) + 1)
        self.overlap = max(longest, 64)
        self._literals = [look.pattern.encode().lower() for look in self.looks or () if look.is_literal]
        patterns = [look.pattern for look in self.looks or () if not look.is_literal]
        self._pattern = re.compile("|".join(patterns).encode(), re.IGNORECASE) if patterns else None

    def may_hold(self, raw: bytes | bytearray) -> bool:
        """Whether these raw bytes could hold the text; False is certain."""
        if self.looks is None or b"\0" in raw:
            return True
        lower = raw.lower()
        if any(literal in lower for literal in self._literals):
            return True
        return self._pattern is not None and self._pattern.search(lower) is not None


def _looks(run: str) -> tuple[Look, ...]:
    digits = (_REWRITTEN_NUMBER,) if any(map(_is_digit, run)) else ()
    if run.isascii():
        # in one case, a pattern that begins with a rare byte is found at the speed of looking for that byte
        beyond = [
            Look(sign, is_literal=False, any_case=False)
            for letter, sign in (("k", _KELVIN), ("i", _DOTTED_I))
            if letter in run
        ]
        return Look(run, is_literal=True), *beyond, _HIDING_MORE if beyond else _HIDING_ASCII, *digits
    spelled = "".join(f"(?:{'|'.join(map(re.escape, sorted(_spellings(sign))))})" for sign in run)
    return Look(spelled, is_literal=False), _HIDING_ANYTHING, *digits


def _best(lower: str) -> str:
    """The run to look for: the longest of ASCII letters, else the longest of any signs, else of digits."""
    letters = list(_runs(lower, lambda sign: sign.isascii() and sign.isalpha()))
    plain = [part for run in letters for part in re.split("[ki]", run)]
    for runs, least in ((plain, LONG_ENOUGH), (letters, SHORTEST_ASCII)):
        if (longest := max(runs, key=len, default="")) and len(longest) >= least:
            return longest
    beyond = max(_runs(lower, lambda sign: not sign.isascii() and sign not in _SEAMS), key=len, default="")
    if beyond:
        return beyond[:LONGEST_SPELLED]
    digits = max(_runs(lower, _is_digit), key=len, default="")
    return digits if len(digits) >= SHORTEST_DIGITS else ""


_SEAMS = frozenset({_DOT_ABOVE, _REPLACEMENT})
"""Signs that may come from others: the dot from İ, the replacement from bytes that are no text."""


def _is_digit(sign: str) -> bool:
    return "0" <= sign <= "9"


def _runs(text: str, belongs: Callable[[str], bool]) -> Iterable[str]:
    cuts = [-1, *(at for at, sign in enumerate(text) if not belongs(sign)), len(text)]
    return (text[a + 1 : b] for a, b in pairwise(cuts) if b > a + 1)


def _spellings(sign: str) -> frozenset[str]:
    return _capitals().get(sign, frozenset()) | {sign}


@cache
def _capitals() -> dict[str, frozenset[str]]:
    """For each sign beyond ASCII, the other signs whose lower case holds it."""
    found: dict[str, set[str]] = {"ς": {"Σ", "σ"}}  # the last sigma of a word is one of its two lower cases
    for code in (*range(0x80, 0xD800), *range(0xE000, 0x1F000)):
        lower = chr(code).lower()
        if lower != chr(code):
            for sign in lower:
                found.setdefault(sign, set()).add(chr(code))
    return {sign: frozenset(capitals) for sign, capitals in found.items()}
