"""Figures and recorded text go in; short words that are safe to show come out."""

from __future__ import annotations

import re

EXCERPT_CHARACTERS = 240
"""Longest one-line text a timeline carries per entry; whole texts travel as details."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]",
)
"""Characters that steer a terminal or the direction of text, or hide: C0 and C1 controls but tab and newline, line and
paragraph separators, bidirectional marks, embeddings and isolates, zero-width space, tags, the byte order mark. Joiners
stay: Persian and emoji need them."""

_CONTROLS = {0: "NUL", 7: "BEL", 8: "BS", 12: "FF", 13: "CR", 27: "ESC", 127: "DEL"}
"""Controls by the names people know; Unicode's own pictures of them are missing from too many fonts."""


def _named(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"⟨{_CONTROLS.get(code, f'U+{code:04X}')}⟩"


def visible(text: str) -> str:
    """``text`` with every hidden or steering character replaced by its name; tabs and line ends stay.

    An ANSI escape becomes ``⟨ESC⟩[31m``, a right-to-left override ``⟨U+202E⟩``: seen, and without effect.
    """
    return _HIDDEN.sub(_named, text.replace("\r\n", "\n"))


def one_line(text: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """``text`` made visible, on one line, cut to ``characters`` with an ellipsis."""
    head = text if len(text) <= characters else text[: characters - 1] + "…"
    return visible(head).replace("\n", " ⏎ ").replace("\t", " ")


def tokens(count: int) -> str:
    """A count of tokens, 0 or more, to three figures: 950, 18.2k, 64k, 1.05M."""
    if count < 1_000:  # noqa: PLR2004 - the unit itself
        return str(count)
    # what rounds to 1000k is a million
    scaled, unit = (count / 1_000, "k") if count < 999_500 else (count / 1_000_000, "M")  # noqa: PLR2004 - see above
    digits = 2 if scaled < 9.995 else 1 if scaled < 99.95 else 0  # noqa: PLR2004 - three figures, also after rounding
    text = f"{scaled:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + unit


def window_use(context: int | None, window: int | None) -> str | None:
    """How full a context window was: ``18.2k of 64k window (28 %)``; None when neither figure is told."""
    if context is None:
        return None if window is None else f"{tokens(window)} window, use not told"
    if not window:
        return f"{tokens(context)} in context, window not told"
    return f"{tokens(context)} of {tokens(window)} window ({context / window:.0%})".replace("%", " %")


def written(count: int | None) -> str | None:
    """How much a call wrote: ``1 token``, ``18.2k tokens``; None when that is not told."""
    return None if count is None else f"{tokens(count)} token{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """A number of bytes in decimal units: 812 B, 4.1 kB, 1.0 MB."""
    if count < 1_000:  # noqa: PLR2004 - the unit itself
        return f"{count} B"
    for unit, scale in (("kB", 1_000), ("MB", 1_000_000)):
        if count < scale * 999.95:
            return f"{count / scale:.1f} {unit}"
    return f"{count / 1_000_000_000:.1f} GB"


def duration(milliseconds: float) -> str:
    """A length of time in its two largest units: 340 ms, 4.2 s, 3 min 05 s, 2 h 07 min, 1 d 03 h."""
    if milliseconds < 1_000:  # noqa: PLR2004 - the unit itself
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    if seconds < 59.95:  # noqa: PLR2004 - below what rounds to a minute
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3_600:  # noqa: PLR2004 - an hour
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    if minutes < 1_440:  # noqa: PLR2004 - a day
        return f"{minutes // 60} h {minutes % 60:02d} min"
    hours = round(seconds / 3_600)
    return f"{hours // 24} d {hours % 24:02d} h"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 agent``, ``1,204 agents``, ``2 entries`` (``many`` where an s is not enough)."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
