"""A text goes in; the values of headers that carry credentials come out: lines, options of commands, pairs.

``Authorization: Bearer x``, ``Cookie: a=b; c=d``, ``-H 'X-Api-Key: x'``, ``{"name": "Cookie", "value": "a=b"}``,
``("Authorization", "x")``. A sentence that speaks of a header is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sessionlab.redaction.learned import is_learnable
from sessionlab.redaction.quoted import closed, opened, past_quote, run_at, whole_run
from sessionlab.redaction.spans import SIGN, Find
from sessionlab.redaction.strict_names import is_header
from sessionlab.redaction.strict_values import is_clean, is_code, is_words, looks_random

HINTS: Final = ("authorization", "cookie", "-key", "-token", "-auth", "-secret", "-signature", "x-api", "apikey")
"""A text without one of these, in small letters, names no such header."""

_NAME_END: Final = re.compile(
    r"(?:authorization|cookie|x-auth|-key|-token|-secret|-signature|api_?key)(?P<close>\\{0,7}[\"'`]|)\]?"
    r"(?:(?P<sign>[ \t]{0,8}(?:=>|[:=])[ \t]{0,8})"
    r"|(?P<pair>\s{0,40},\s{0,40}(?:\\{0,7}[\"']val(?:ue)?\\{0,7}[\"']\s{0,8}(?:=>|[:=])\s{0,8})?))"
)
_NAME: Final = re.compile(r"[\w\-]*")
_QUOTE_BEFORE: Final = re.compile(r"[\"'`]\\{0,7}")
_SCHEME: Final = re.compile(
    r"(?:bearer|basic|token|digest|negotiate|ntlm|hmac|apikey|api-key|key|hawk|oauth|aws4-hmac-sha256|signature|splunk)"
    r"[ \t]+(?=\S)",
    re.IGNORECASE,
)
_LINE: Final = re.compile(r"(?:[^\n\r\\]|\\(?![nr]))*+")
_COOKIE: Final = re.compile(r"[^\s=;,\"'\\]{1,128}=(?=[^\s=])")
_LONGEST_NAME: Final = 48
_SHORTEST: Final = 6


def header_lines(text: str, low: str) -> Iterator[Find]:
    """Where values of such headers stand, in order and apart; ``low`` is ``text`` in small letters, as long as it."""
    at = 0
    while (found := _NAME_END.search(low, at)) is not None:
        at = found.end()
        start = _name_start(text, found.start())
        name = low[start : found.start("close")]
        if is_header(name) and (found["sign"] is not None or found["close"]):
            span = _value(text, start, at, name, is_pair=found["sign"] is None, is_closed=bool(found["close"]))
            if span is not None:
                value = text[slice(*span)]
                yield Find(*span, "header_pair", known=is_learnable(value) and not is_words(value))
                at = max(at, span[1])


def _name_start(text: str, keyword: int) -> int:
    before = _NAME.match(text[max(0, keyword - _LONGEST_NAME) : keyword][::-1])
    return keyword - (0 if before is None else before.end())


def _value(text: str, start: int, at: int, name: str, *, is_pair: bool, is_closed: bool) -> tuple[int, int] | None:
    quoted = opened(text, at)
    if quoted is not None:
        value = quoted.of(text)
        is_harmless = is_clean(value) or (quoted.is_template and "{" in value)
        return None if is_harmless or _is_marked(value) else (quoted.start, quoted.end)
    if is_pair:
        return None
    before = _QUOTE_BEFORE.match(text[max(0, start - 8) : start][::-1])
    if not is_closed and before is not None:
        end = closed(text, at, before[0][::-1])
        if end >= 0:  # the quote that opens before the name closes behind the value
            value = text[at:end]
            is_harmless = is_clean(value) or _is_marked(value) or value[:1] in {"$", "{"}
            return None if is_harmless or is_code(value, is_spaced=False) else (at, end)
    return _bare(text, past_quote(text, at), name)


def _bare(text: str, at: int, name: str) -> tuple[int, int] | None:
    """A value without quotes: the line, when it reads as a header's; else the first run of it, when it does."""
    if name.endswith("cookie"):
        return _line(text, at) if _COOKIE.match(text, at) else None
    scheme = _SCHEME.match(text, at) if name.endswith("authorization") else None
    if scheme is not None:
        end = run_at(text, scheme.end(), "")
        value = text[scheme.end() : end]
        return None if is_clean(value) or value[:1] in {"$", "{"} else _line(text, at)
    end = run_at(text, at, "")
    value = text[at:end].rstrip(",;)]}")
    is_whole = text[at + len(value) : at + len(value) + 1] in {"", "\n", "\r"}
    if len(value) < (1 if is_whole else _SHORTEST) or is_clean(value) or value[0] in "$%{<@&|([":
        return None
    if is_code(value, is_spaced=False):
        return None
    if is_words(value) and not is_whole:
        return None
    if not is_whole and not looks_random(value):
        return None
    further = whole_run(text, at, end, "")
    return at, further if further > end else at + len(value)


def _line(text: str, at: int) -> tuple[int, int] | None:
    line = _LINE.match(text, at)
    end = at if line is None else line.end()
    return None if _is_marked(text[at:end]) else (at, end)


def _is_marked(value: str) -> bool:
    """Whether nothing but marks and the name of a scheme is left of a value."""
    scheme = _SCHEME.match(value)
    rest = value if scheme is None else value[scheme.end() :]
    return not rest.strip(SIGN + " \t.,;)]}'\"`\\")
