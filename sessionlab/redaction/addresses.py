"""A text goes in; what of its URLs names a user, and what follows the name of a scheme, comes out.

Rules 4 and 5 of section 6.3 of the specification of ``datalayer-session/1``, the second one up to the last ``@``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sessionlab.redaction.learned import is_learnable
from sessionlab.redaction.spans import SIGN, Find, words
from sessionlab.redaction.strict_values import is_code, is_number, is_placeholder, is_words, looks_random

_SCHEME: Final = re.compile(rf"(bearer|basic|token)(\s+)(?!{SIGN})(\\{{0,7}}[\"'`])?([^\s\"'`<>\\{SIGN}]+|<[^\s<>]*>)")
_SCHEME_IN_ANY_CASE: Final = re.compile(_SCHEME.pattern, re.IGNORECASE)
_EXACT_SCHEME: Final = re.compile(rf"\b(bearer|basic|token)(\s+)(?!{SIGN})(\S+)", re.IGNORECASE)
_USERINFO: Final = re.compile(r"(?:[^/\s@:]++(?::[^/\s@]*+)?+|:[^/\s@]++)@(?:[^/\s@\"'<>]*+@)*+")
_AFTER_BEARER: Final = words(
    "and are as auth authentication authorization credential credentials flow for format from has header "
    "headers in is of or scheme schemes that to token tokens was with"
)
_AROUND: Final = "\"'`()[]{}<>,;:.!?\\"
_OPENINGS: Final = "([{*_|"
_EDGES: Final = ",;:.!?)]}*_|"


def schemes(text: str, low: str) -> Iterator[Find]:
    """What follows ``bearer``, ``basic`` and ``token``: a blank and a run of anything but blanks and quotes.

    ``low`` is ``text`` in small letters, as long as it.

    Unlike the exact rule, this one leaves placeholders and code (``token = x``), and words of a sentence after
    ``basic`` and ``token``: credentials that read as words are found by the names that stand before them.
    """
    finds = _SCHEME.finditer(low) if text.isascii() else _SCHEME_IN_ANY_CASE.finditer(text)
    for found in finds:
        start, end = found.span(4)
        if text[found.start() - 1 : found.start()].isalnum() or text[found.start() - 1 : found.start()] == "_":
            continue
        run = text[start:end]
        value = run.rstrip(_EDGES)
        is_bearer = found[1].lower() == "bearer"
        if not any(mark.isalnum() for mark in value) or is_placeholder(value) or value[0] in "$%{<":
            continue
        word = value.lstrip(_OPENINGS)
        if run.startswith("(") and not (is_bearer and looks_random(word)):
            continue  # an aside, or the arguments of a call
        if is_bearer and word.lower() in _AFTER_BEARER:
            continue
        if not is_bearer and (is_words(word) or is_number(word) or is_code(word, is_spaced=False)):
            continue
        known = is_bearer or found[1].lower() == "basic"
        known = known and looks_random(value) and any(mark.isdigit() for mark in value)
        becomes = SIGN
        if found[3] is None:
            start, becomes = found.start(2), f" {SIGN}"
        if known:
            yield Find(end - len(run), end - len(run) + len(value), "bearer_token", known=True)
        yield Find(start, end - len(run) + len(value), "bearer_token", becomes)


def every_scheme(text: str) -> Iterator[Find]:
    """The same as the exact rule has it: whatever follows, words of a sentence and code too.

    Only quotes and brackets round it are left, without which what they stand in could not be read any more.
    """
    for found in _EXACT_SCHEME.finditer(text):
        run = found[3]
        inner = run.lstrip(_AROUND)
        start, end = found.end() - len(inner), found.start(3) + len(run.rstrip(_AROUND))
        if start == found.start(3):
            yield Find(found.start(2), end, "bearer_token", f" {SIGN}")
        elif start < end:
            yield Find(start, end, "bearer_token")


def userinfo(text: str) -> Iterator[Find]:
    """What stands between ``://`` and the last ``@`` before a slash or blank: it is dropped."""
    at = text.find("://") if "@" in text else -1
    while at >= 0:
        start = at + len("://")
        found = _USERINFO.match(text, start)
        if found is not None and at > 0 and (text[at - 1].isascii() and text[at - 1].isalnum()):
            end = found.end()
            yield Find(start, end, "url_userinfo", "")
            password = found[0].partition(":")[2].rstrip("@").partition("@")[0]
            if is_learnable(password) and looks_random(password) and SIGN not in password:
                first = text.index(password, start)
                yield Find(first, first + len(password), "url_userinfo", known=True)
            start = end
        at = text.find("://", start)
