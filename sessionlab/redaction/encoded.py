"""A text goes in; what in it is base64, hexadecimal, URL or JSON escapes for something secret comes out.

Whether the plain text holds something secret is for the caller to say: it is asked for every text that decodes.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote, unquote_plus

from sessionlab.redaction.spans import Find

SHORTEST: Final = 16
"""Characters from which on a run is taken for encoded text."""

_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}+={0,2}")
_JOINTS: Final = re.compile(r"[-_/]")
_WRAPPED: Final = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{60,80}\r?\n)+[A-Za-z0-9+/]{1,80}={0,2}")
_HEXADECIMAL: Final = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){8,}+(?![0-9A-Za-z])")
_DELIMITERS: Final = re.compile(r"[\"'<>&=?/;#,\\`()\[\]{}]+")
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPE: Final = re.compile(r"(?<!\\)\\++(?:u00|x)([2-7][0-9A-Fa-f])")
_CONTROL: Final = str.maketrans("", "", "\n\r\t")
_GLUED: Final = 8192  # characters up to which parts of a run are tried

Holds = Callable[[str], bool]


def encoded(text: str, words: Sequence[str], holds: Holds, holds_escaped: Holds) -> Iterator[Find]:
    """Where encoded text stands that ``holds`` something; ``words`` are the long words of ``text``.

    Of percent signs and other escapes it is asked whether the plain text ``holds_escaped`` something.
    """
    secret: dict[str, None] = {}
    wrapped = False
    for word in dict.fromkeys(words):
        if len(word) >= SHORTEST:
            secret.update((run, None) for run in _secret_runs(word, holds))
            wrapped = wrapped or 60 <= len(word) <= 80  # noqa: PLR2004 - a line of wrapped base64
        if "%" in word and _PERCENT.search(word):
            secret.update((part, None) for part in _secret_parts(word, holds_escaped))
        if "\\" in word and _ESCAPE.search(word):
            plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), word)
            if holds_escaped(plain):
                secret[word] = None
    for run in secret:
        at = text.find(run)
        while at >= 0:
            yield Find(at, at + len(run), "encoded")
            at = text.find(run, at + len(run))
    if wrapped:
        for found in _WRAPPED.finditer(text):
            if _holds_plain(_plain(re.sub(r"\s+", "", found[0])), holds):
                yield Find(*found.span(), "encoded")


def decoded(run: str) -> str | None:
    """The printable text that ``run`` is base64 for, in either alphabet; None when it is for none."""
    return _plain(run)


def _secret_runs(word: str, holds: Holds) -> Iterator[str]:
    for found in _RUN.finditer(word):
        run = found[0]
        if run[0] in "nrt" and word[found.start() - 1 : found.start()] == "\\":
            run = run[1:]  # the escape of a line's end stands before it
        if _holds_plain(_plain(run), holds):
            yield run
            continue
        if len(run) <= _GLUED and _JOINTS.search(run):
            for part in _JOINTS.split(run):
                if len(part) >= SHORTEST and _holds_plain(_plain(part), holds):
                    yield part
    for found in _HEXADECIMAL.finditer(word):
        if _holds_plain(_printable(bytes.fromhex(found[0])), holds):
            yield found[0]


def _holds_plain(plain: str | None, holds: Holds) -> bool:
    return plain is not None and holds(plain)


def _plain(run: str) -> str | None:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) % 4 == 1:
        bare = bare[:-1]
    if "=" in bare:
        return None  # padding stands at the end of base64, and nowhere else
    return _printable(base64.b64decode(bare + "=" * (-len(bare) % 4)))


def _printable(data: bytes) -> str | None:
    try:
        if data[1:2] == b"\0" and data[3:4] == b"\0":  # two bytes a character, as some shells encode commands
            plain = data[: len(data) // 2 * 2].decode("utf-16-le")
        else:
            plain = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return plain if plain.translate(_CONTROL).isprintable() else None


def _secret_parts(word: str, holds: Holds) -> Iterator[str]:
    for part in _DELIMITERS.split(word):
        if "%" in part and _PERCENT.search(part):
            plain = unquote(part)
            if plain != part and (holds(plain) or ("+" in part and holds(unquote_plus(part)))):
                yield part
