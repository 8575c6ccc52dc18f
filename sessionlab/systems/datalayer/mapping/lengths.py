"""Texts of a session in; the same texts, cut to the lengths the runtime of the format keeps, out (section 11)."""

from __future__ import annotations

import re

SAID = 4000
"""Characters kept of a question, an answer and other words of the conversation."""
ARGUMENTS = 500
RESULT = 300
"""Of a tool's result, an error, and the rest of an event."""
COMMENT = 2000
SUMMARY = 2000
_RUN = re.compile(r"[A-Za-z0-9_+/=~.-]")
_RUN_AT_END = re.compile(r"[A-Za-z0-9_+/=~.-]{8,}\Z")


class Lengths:
    """Cuts texts, and counts how many it cut.

    Attributes:
        cut: texts that lost their end.
        characters: what they lost.
    """

    def __init__(self, *, whole: bool) -> None:
        """``whole``: cut nothing but summaries."""
        self._whole = whole
        self.cut = self.characters = 0

    def said(self, text: str) -> str:
        """A question, an answer, or what else was said."""
        return self._kept(text, SAID)

    def arguments(self, text: str) -> str:
        """The arguments of a tool call."""
        return self._kept(text, ARGUMENTS)

    def result(self, text: str) -> str:
        """A result, an error, the rest of an event."""
        return self._kept(text, RESULT)

    def comment(self, text: str) -> str:
        """What a person wrote beside a thumb."""
        return self._kept(text, COMMENT)

    def _kept(self, text: str, points: int) -> str:
        if self._whole or len(text) <= points:
            return text
        kept = cut(text, points)
        self.cut += 1
        self.characters += len(text) - len(kept)
        return kept


def cut(text: str, points: int) -> str:
    """The first ``points`` characters, and no half of a credential: what looks like one is left out whole.

    Half a credential has not the shape by which redaction would find it.
    """
    kept = text[:points]
    run = _RUN_AT_END.search(kept)
    if run is None or _RUN.match(text, points) is None:
        return kept
    return kept[: run.start()] if _looks_random(run[0]) else kept


def _looks_random(run: str) -> bool:
    kinds = (str.isdigit, str.islower, str.isupper)
    return sum(any(map(kind, run)) for kind in kinds) > 1


def summary(*parts: str | None) -> str:
    """A short sentence: the first line of each part that has one, joined by a colon."""
    lines = [line for part in parts if (line := first_line(part))]
    return cut(": ".join(lines), SUMMARY)


def first_line(text: str | None) -> str:
    """The first line of a text that is not blank, without the space around it."""
    lines = (text or "").lstrip()[:SUMMARY].splitlines()
    return lines[0].strip() if lines else ""
