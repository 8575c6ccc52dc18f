"""A text goes in; where credentials of a known shape stand in it comes out (section 6.4 of ``datalayer-session/1``).

Every search is linear in the text, whatever it holds. What must stand before a shape is looked at after its first
characters are found, so that a search skips from one occurrence of these to the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

Span = tuple[int, int]

PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )?PRIVATE KEY-----|\Z)", re.DOTALL
)
"""A block to its nearest end, or to the end of the text."""
AWS_ACCESS_KEY: Final = re.compile(r"A(?:KIA|SIA)(?<!\w[A-Z]{4})[0-9A-Z]{16}\b")
GITHUB_TOKEN: Final = re.compile(r"gh[pousr]_(?<!\wgh._)[A-Za-z0-9]{36,}\b")
SLACK_TOKEN: Final = re.compile(r"xox[abposr]-(?<!\wxox.-)[A-Za-z0-9-]{10,}\b")
API_KEY: Final = re.compile(r"sk-(?<!\wsk-)(?:ant-|proj-)?[A-Za-z0-9_-]{20,}\b")
GOOGLE_API_KEY: Final = re.compile(r"AIza(?<!\wAIza)[0-9A-Za-z_-]{35}\b")

_TOKEN_ENDS: Final = re.compile(r"\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\b")
_TOKEN_START: Final = re.compile(r"eyJ(?<!\weyJ)")
_TOKEN_PART: Final = re.compile(r"[A-Za-z0-9_-]*")
_FIRST_PART: Final = 13
"""Characters of a signed token's first part, ``eyJ`` among them."""


class Shape(NamedTuple):
    """A shape of credentials.

    ``hints``: a text that has none of these has no such credential. ``spans``: of a text, the first character and the
    end of each, in order and apart.
    """

    name: str
    hints: tuple[str, ...]
    spans: Callable[[str], Iterator[Span]]

    def replaced(self, text: str, mark: str) -> tuple[str, int]:
        """``text`` with ``mark`` in place of each, and how many there were."""
        for hint in self.hints:
            if hint in text:
                break
        else:
            return text, 0
        parts: list[str] = []
        end = 0
        for start, stop in self.spans(text):
            parts += text[end:start], mark
            end = stop
        return ("".join(parts) + text[end:], len(parts) // 2) if parts else (text, 0)


def signed_tokens(text: str) -> Iterator[Span]:
    """Where signed tokens stand: three parts joined by dots, of which two begin with ``eyJ``.

    The last two parts are looked for first, the first one backwards from there: looked for in their order, a row of
    ``eyJ-`` without a dot would be read again from each of its members.
    """
    end = at = 0
    while (found := _TOKEN_ENDS.search(text, at)) is not None:
        dot = found.start()
        floor = max(end, text.rfind(".", end, dot) + 1)
        # How far back from the dot the characters of a part reach: the text up to it is read in reverse.
        part = _TOKEN_PART.match(text[floor:dot][::-1])
        start = _TOKEN_START.search(text, dot - (0 if part is None else part.end()), dot)
        if start is not None and dot - start.start() >= _FIRST_PART:
            yield start.start(), found.end()
            end = at = found.end()
        else:
            at = dot + 1


def _by(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Span]]:
    def spans(text: str) -> Iterator[Span]:
        return (found.span() for found in pattern.finditer(text))

    return spans


SHAPES: Final = (
    Shape("private key", ("PRIVATE KEY-----",), _by(PRIVATE_KEY)),
    Shape("AWS access key", ("AKIA", "ASIA"), _by(AWS_ACCESS_KEY)),
    Shape("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _by(GITHUB_TOKEN)),
    Shape("Slack token", ("xox",), _by(SLACK_TOKEN)),
    Shape("API key", ("sk-",), _by(API_KEY)),
    Shape("Google API key", ("AIza",), _by(GOOGLE_API_KEY)),
    Shape("signed token", (".eyJ",), signed_tokens),
)
"""Every shape, in the order in which they are looked for: each in what the one before has left."""

_HINTS: Final = tuple(hint for shape in SHAPES for hint in shape.hints)


def may_hold_shapes(text: str) -> bool:
    """Whether ``text`` may have a credential of any shape: False says that it has none, and is soon said."""
    for hint in _HINTS:  # noqa: SIM110  # a generator for each of many short strings takes longer than the search
        if hint in text:
            return True
    return False
