"""The text of a block and a text searched for in; the lines that match, each with its surroundings, out.

Both sides are lower-cased by Unicode's rules and compared literally, line by line (mecha section 14).
"""

from __future__ import annotations

from typing import NamedTuple

from sessionlab.errors import WrongUse
from sessionlab.recall.probe import Probe

AROUND = 2
"""Lines shown before and after a matching line."""
MAX_MATCHES = 20
"""Matching blocks shown unless told otherwise."""


class Excerpt(NamedTuple):
    """Lines of a block that stand together: the number of the first one (1-based), and their texts."""

    first: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1


class Hit(NamedTuple):
    """A block that matches.

    Attributes:
        pool: ``message``; of formats that pool replies and outputs apart also ``response`` and ``text``.
        message: index of the message in everything ever recorded (not in the conversation), 0-based.
        role: of the message; None where the format tells none.
        block: position of the block in its message, 0-based.
        kind: ``text``, ``thinking``, ``tool_use``, ``tool_result`` or ``image``.
        excerpts: the matching lines with those around them, in order.
    """

    pool: str
    message: int
    role: str | None
    block: int
    kind: str
    excerpts: tuple[Excerpt, ...]


class Found(NamedTuple):
    """What one recording holds.

    Attributes:
        hits: the first matching blocks, as many as were wanted.
        more: matching blocks beyond them.
        messages: how many messages were ever recorded.
        session_id: the session, as ``sessions`` names it; None where nothing tells.
    """

    hits: list[Hit]
    more: int
    messages: int
    session_id: str | None = None


class Needle:
    """A text searched for.

    Attributes:
        query: as it was given.
        lower: as it is compared.
        probe: how raw bytes show that they cannot hold it.
    """

    def __init__(self, query: str) -> None:
        """``query`` is used as it is, spaces around it included; a blank one is WrongUse."""
        if not query.strip():
            raise WrongUse(f"query: expected a text to search for, found {query!r}, which is blank")
        self.query = query
        self.lower = query.lower()
        self.probe = Probe(self.lower)
        self._in_any_line = not {"\n", "\r"} & set(self.lower)  # what ends lines is in none of them

    def matches(self, text: str) -> bool:
        """Whether a line of ``text`` holds the query; faster than its excerpts."""
        if self.lower not in text.lower():
            return False
        return self._in_any_line or bool(self.excerpts(text))

    def excerpts(self, text: str) -> tuple[Excerpt, ...]:
        """The lines of ``text`` that hold the query, each with those around it; empty: none does.

        Windows that overlap or touch are one.
        """
        lower = self.lower
        if lower not in text.lower():
            return ()
        lines = split_lines(text)
        spans: list[list[int]] = []
        for at, line in enumerate(lines):
            if lower not in line.lower():
                continue
            start, end = max(at - AROUND, 0), min(at + AROUND, len(lines) - 1)
            if spans and start <= spans[-1][1] + 1:
                spans[-1][1] = end
            else:
                spans.append([start, end])
        return tuple(Excerpt(start + 1, tuple(lines[start : end + 1])) for start, end in spans)


def split_lines(text: str) -> list[str]:
    r"""The lines of ``text``: parted at ``\n`` alone, a ``\r`` before it dropped; the empty text has none.

    ``str.splitlines`` would part at U+2028, U+0085 and others, too, which are letters of a line here.
    """
    *ended, last = text.split("\n")
    lines = [line.removesuffix("\r") for line in ended]
    return [*lines, last] if last else lines


def image_placeholder(name: str | None, media_type: str | None) -> str:
    """What stands for a picture, never its data (mecha section 5.2)."""
    if name is None or media_type is None:
        told = name or media_type
        return "[image]" if told is None else f"[image: {told}]"
    return f"[image: {name} ({media_type})]"


def block_text(hit: Hit) -> str:
    """A matching block as text: what it is, then its windows, parted by a line with ``⋮``."""
    index = hit.message if hit.pool == "message" else f"{hit.message} of pool {hit.pool}"
    head = f"[message {index} · {hit.role or 'unknown role'} · {hit.kind}]"
    windows = ("\n".join(f"  {line}" for line in excerpt.lines) for excerpt in hit.excerpts)
    return f"{head}\n" + "\n  ⋮\n".join(windows)
