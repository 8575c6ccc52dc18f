"""Lines of a session file: members go in; UTF-8 JSON that the importer takes back, and a digest, come out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer import deep
from sessionlab.formats.datalayer.fields import NUMBER_DIGITS
from sessionlab.formats.datalayer.judge import NESTING

_ESCAPED = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\x85\u2028\u2029\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def line_of(members: Mapping[str, object], *, number: int) -> bytes:
    r"""One line with its LF (datalayer.md sections 7 and 17).

    Separators are ``", "`` and ``": "``, other than ASCII stands raw, not-finite numbers bare, and what JSON has no
    form for as its text. Beyond that, so that the line survives being read again: U+0085, U+2028 and U+2029, which
    would end it, and unpaired surrogates, which UTF-8 cannot hold, are written as ``\u`` escapes; a pair of
    surrogates is the character that it spells.

    Args:
        members: in the order they are written.
        number: the line's, for the sentence of a refusal.

    Raises:
        SessionRefused: ``not_json`` (422), where no reader would take the line back: it is nested deeper than 980
            levels, or holds an integer of more than 4300 digits.
    """
    try:
        text = _text(members)
    except ValueError:
        raise _unreadable(number, f"hold an integer of more than {NUMBER_DIGITS} digits") from None
    if deep.depth(text) > NESTING:
        raise _unreadable(number, f"be nested deeper than {NESTING} levels")
    return (_ESCAPED.sub(_escape, text) + "\n").encode()


def valid(text: str) -> str:
    """``text`` without unpaired surrogates, which a head's fields may not hold: each is U+FFFD, pairs are joined."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def digest_of(blocks: Iterable[bytes]) -> str:
    """``sha256:`` and the 64 lower-case hexadecimal digits of the blocks joined (section 7)."""
    sha = hashlib.sha256()
    for block in blocks:
        sha.update(block)
    return f"sha256:{sha.hexdigest()}"


def _text(members: Mapping[str, object]) -> str:
    try:
        return _scalar(members)
    except RecursionError:
        return deep.written(dict(members), _scalar, ", ", ": ")


_scalar = json.JSONEncoder(ensure_ascii=False, default=str).encode


def _escape(found: re.Match[str]) -> str:
    text = found[0]
    return valid(text) if len(text) > 1 else f"\\u{ord(text):04x}"


def _unreadable(number: int, why: str) -> SessionRefused:
    said = f"Line {number} would {why}, which no importer takes back; leave that entry out, or shorten it."
    return SessionRefused("not_json", 422, said, line=number)
