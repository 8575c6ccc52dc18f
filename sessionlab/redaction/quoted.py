"""A text and a place in it go in; the quoted or bare value that begins there comes out, under any number of escapes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from sessionlab.redaction.spans import SIGN

_OPENING: Final = re.compile(r"(?P<prefix>[fbruFBRU@$]{0,2})(?P<quote>(?P<escapes>\\{0,7})[\"'`])")
_WITHIN: Final = {quote: re.compile(rf"[^{quote}\\\n]*+(?:\\.[^{quote}\\\n]*+)*+") for quote in "\"'`"}
_ESCAPED: Final = 4096  # characters in which an escaped or a threefold quote is closed
LOOKED_AT: Final = 512
"""Characters of a bare value by which it is judged, so that no text makes a search read its end again and again."""


class Quoted(NamedTuple):
    """A quoted value: its first character and end, how wide the closing quote is, and whether it is a template."""

    start: int
    end: int
    width: int
    is_template: bool

    def of(self, text: str) -> str:
        """The value itself."""
        return text[self.start : self.end]


def opened(text: str, at: int) -> Quoted | None:
    """The quoted value whose quote, with an optional prefix, stands at ``at``; None without one that is closed."""
    opening = _OPENING.match(text, at)
    if opening is None:
        return None
    quote = opening["quote"]
    start = opening.end()
    is_template = "f" in opening["prefix"].lower() or "$" in opening["prefix"] or quote == "`"
    if not opening["escapes"] and text.startswith(quote * 2, start):
        start += 2
        end = text.find(quote * 3, start, start + _ESCAPED)
        return None if end < 0 else Quoted(start, end, 3, is_template)
    end = closed(text, start, quote)
    return None if end < 0 else Quoted(start, end, len(quote), is_template)


def closed(text: str, start: int, quote: str) -> int:
    """Where ``quote``, with its escapes, closes what begins at ``start`` on the same line; -1 when it does not."""
    if len(quote) == 1:
        within = _WITHIN[quote].match(text, start)
        end = start if within is None else within.end()
        return end if text.startswith(quote, end) else -1
    end = text.find(quote, start, start + _ESCAPED)
    return -1 if end < 0 or "\n" in text[start:end] else end


def past_quote(text: str, at: int) -> int:
    """Where the value begins behind a quote that may stand at ``at`` and is never closed, as in a text cut short."""
    opening = _OPENING.match(text, at)
    return at if opening is None else opening.end()


@lru_cache(maxsize=8)
def _run(stops: str) -> re.Pattern[str]:
    # Up to a blank, a quote, a tag or a mark; an escape of a line's end or of a quote ends it too.
    return re.compile(rf"(?:[^\s\"'`<>{SIGN}\\{re.escape(stops)}]|\\(?![nrtu\"'\\])){{0,{LOOKED_AT}}}+")


def run_at(text: str, at: int, stops: str = ",;&") -> int:
    """The end of the bare value that begins at ``at``, or where `LOOKED_AT` characters of it end."""
    run = _run(stops).match(text, at)
    return at if run is None else run.end()


def whole_run(text: str, at: int, end: int, stops: str = ",;&") -> int:
    """The end of the bare value of which what stands between ``at`` and ``end`` was looked at."""
    while end - at >= LOOKED_AT and (further := run_at(text, end, stops)) > end:
        at, end = end, further
    return end
