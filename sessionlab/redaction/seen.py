"""A text goes in; the text as a reader sees it, without what only a terminal or a page interprets, comes out.

Colours and characters without width hide a credential from rules that look at what stands beside it, and so do wide
letters, blanks that are no blanks, and entities of HTML for quotes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

_UNSEEN: Final = re.compile(
    r"(?P<none>(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;:?]{0,40}[A-Za-z]"
    r"|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff])"
    r"|(?P<quote>&(?:quot|#34|#[xX]22);|[\u201c-\u201f\u2033])|(?P<single>&(?:apos|#39|#[xX]27);)"
    r"|(?P<blank>&nbsp;|[\u00a0\u2002-\u200a\u202f\u3000])|(?P<wide>[\uff01-\uff5e])"
)
_HINTS: Final = ("\x1b", "\\", "&")
_WIDE: Final = 0xFEE0  # from a wide letter to the one it is a wide form of
_BECOMES: Final = {"none": "", "quote": '"', "single": "'", "blank": " "}


class Seen:
    """A text as it is seen, and where its characters stand in the text it was made of.

    Attributes:
        text: as it is seen.
    """

    def __init__(self, text: str) -> None:
        parts: list[str] = []
        self._at: list[int] = []
        self._from: list[int] = []
        self._ends: list[int | None] = []
        self._length = end = 0
        for found in _UNSEEN.finditer(text):
            kind = str(found.lastgroup)
            parts.append(self._taken(text[end : found.start()], end, None))
            became = _BECOMES[kind] if kind in _BECOMES else chr(ord(found[0]) - _WIDE)
            parts.append(self._taken(became, found.start(), found.end()))
            end = found.end()
        parts.append(self._taken(text[end:], end, None))
        self.text = "".join(parts)

    def _taken(self, part: str, begin: int, end: int | None) -> str:
        if part:
            self._at.append(self._length)
            self._from.append(begin)
            self._ends.append(end)
            self._length += len(part)
        return part

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where what stands between ``start`` and ``end`` of the seen text stands in the other one."""
        first, last = bisect_right(self._at, start) - 1, bisect_right(self._at, end - 1) - 1
        stop = self._ends[last]
        if stop is None:
            stop = self._from[last] + end - self._at[last]
        return self._from[first] + start - self._at[first], stop


def seen(text: str) -> Seen | None:
    """``text`` as it is seen; None when that is the text itself."""
    if text.isascii() and not any(hint in text for hint in _HINTS):
        return None
    return None if _UNSEEN.search(text) is None else Seen(text)
