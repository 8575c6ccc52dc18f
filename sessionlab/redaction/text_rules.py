"""A text goes in; the text after each of the rules of section 6.3 of ``datalayer-session/1`` comes out, with counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from sessionlab.redaction.marks import MARK, WITHHELD
from sessionlab.redaction.shapes import SHAPES, may_hold_shapes

Hit = Callable[[str, int], None]
"""What is told of each removal: the rule and how many."""

_SCHEME_WORDS: Final = ("bearer", "basic", "token")
_SCHEME: Final = re.compile(rf"\b({'|'.join(_SCHEME_WORDS)})\s+(?!\[redacted\])\S+", re.IGNORECASE)
_OTHER_CASES: Final = "\u017f\u0130\u0131"
"""Long s, and i with and without its dot: other cases of the letters of ``basic`` that `str.lower` does not undo."""
_LETTER_AT_BOUNDARY: Final = re.compile(r"\b[a-z]", re.IGNORECASE)
_SCHEME_NAME: Final = re.compile(r"[a-z0-9+.\-]*", re.IGNORECASE)
_USERINFO: Final = re.compile(r"[^/\s@:]++(?::[^/\s@]*+)?+@")


def held_pattern(held: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern of the values a runtime holds, the longest first; None when there are none (section 6.4)."""
    values = sorted({value for value in held if value}, key=lambda value: (-len(value), value))
    return re.compile("|".join(map(re.escape, values))) if values else None


def without_withheld(text: str) -> tuple[str, int]:
    """Rule 1: the placeholders a recorder has written already, and how many they were."""
    count = text.count(WITHHELD)
    return (text.replace(WITHHELD, MARK), count) if count else (text, 0)


def without_declared(text: str, declared: Sequence[str]) -> tuple[str, int]:
    """Rule 2: the values of declared secrets, in the order given, and how many of the values occurred."""
    count = 0
    for value in declared:
        if value and value in text:
            text = text.replace(value, MARK)
            count += 1
    return text, count


def without_shapes(text: str, held: re.Pattern[str] | None = None) -> tuple[str, int]:
    """Rule 3: held values, then credentials of a known shape, and how many places they left.

    A private key that holds a held value is one place. No placeholder of a recorder may be left in ``text``.
    """
    cleaned = text if held is None else held.sub(WITHHELD, text)
    for shape in SHAPES:
        cleaned, _ = shape.replaced(cleaned, WITHHELD)
    if cleaned is text or cleaned == text:
        return text, 0
    return cleaned.replace(WITHHELD, MARK), max(1, cleaned.count(WITHHELD))


def without_schemes(text: str) -> tuple[str, int]:
    """Rule 4: what follows the words ``bearer``, ``basic`` and ``token``, and how many times."""
    low = text.lower()
    if not text.isascii() and any(letter in text for letter in _OTHER_CASES):
        return _SCHEME.subn(rf"\1 {MARK}", text)
    if "token" not in low and "bearer" not in low and "basic" not in low:
        return text, 0
    # Now each letter of low stands where it stands in text, and words are found faster in one case than in any.
    parts: list[str] = []
    end = 0
    for start in sorted(found.start() for word in _SCHEME_WORDS for found in re.finditer(word, low)):
        scheme = _SCHEME.match(text, start) if start >= end else None
        if scheme is not None:
            parts += text[end : scheme.end(1)], f" {MARK}"
            end = scheme.end()
    return ("".join(parts) + text[end:], len(parts) // 2) if parts else (text, 0)


def without_userinfo(text: str) -> tuple[str, int]:
    """Rule 5: the userinfo of URLs, and how many had one.

    Each ``://`` is looked at for itself, what stands before it backwards: looked for from its first letter, a long
    run of ``a.a.a`` would be read again from each of its letters.
    """
    parts: list[str] = []
    end = 0
    at = text.find("://") if "@" in text else -1
    while at >= 0:
        after = at + len("://")
        userinfo = _USERINFO.match(text, after)
        if userinfo is not None and _is_scheme_before(text, max(end, text.rfind(":", end, at) + 1), at):
            parts.append(text[end:after])
            end = after = userinfo.end()
        at = text.find("://", after)
    return ("".join(parts) + text[end:], len(parts)) if parts else (text, 0)


def _is_scheme_before(text: str, floor: int, at: int) -> bool:
    """Whether a URL's scheme ends at ``at``: a letter at a word boundary, then characters of a scheme alone."""
    name = _SCHEME_NAME.match(text[floor:at][::-1])
    return _LETTER_AT_BOUNDARY.search(text, at - (0 if name is None else name.end()), at) is not None


def text_rules(text: str, declared: Sequence[str], held: re.Pattern[str] | None, hit: Hit) -> str:
    """``text`` after all five rules, each removal told to ``hit``; the number of URLs in a text counts as 1 (6.3)."""
    text, count = without_withheld(text)
    if count:
        hit("bearer_token", count)
    if declared:
        text, count = without_declared(text, declared)
        if count:
            hit("declared_secret", count)
    if held is not None or may_hold_shapes(text):
        text, count = without_shapes(text, held)
        if count:
            hit("bearer_token", count)
    text, count = without_schemes(text)
    if count:
        hit("bearer_token", count)
    if "@" in text:
        text, count = without_userinfo(text)
        if count:
            hit("url_userinfo", 1)
    return text
