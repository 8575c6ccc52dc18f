"""Secret values go in; where they stand in a text, as they are or written another way, comes out."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import quote, quote_plus

from sessionlab.redaction.strict_values import is_common, is_placeholder

LEARNED_LENGTH: Final = 8
"""Characters from which on a value is looked for elsewhere: a shorter one would be found in innocent words."""

_FORM_LENGTH: Final = 4  # of a value that is looked for in other forms
_CORE_LENGTH: Final = 8  # of what base64 makes of it, whatever stands beside it
_FEW: Final = 24
_ANCHOR: Final = 8
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_DENSE: Final = re.compile(r"\S{8,}")


def is_learnable(value: str) -> bool:
    """Whether a credential is worth looking for everywhere: long enough, no placeholder, no word people write."""
    stripped = value.strip()
    return len(stripped) >= LEARNED_LENGTH and not is_common(stripped) and not is_placeholder(stripped)


@lru_cache(maxsize=4096)
def forms(value: str) -> tuple[tuple[str, bool], ...]:
    """How ``value`` is written elsewhere, itself first; and of each form whether it is a part of base64 text.

    As JSON writes it, once and twice; as URLs do; as hexadecimal digits; and as base64 does behind any text, without
    the characters that depend on what stands beside it.
    """
    found: dict[str, bool] = {value: False}
    if len(value) >= _FORM_LENGTH:
        for ascii_only in (True, False):
            once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
            found.setdefault(once, False)
            found.setdefault(json.dumps(once, ensure_ascii=ascii_only)[1:-1], False)
        data = value.encode("utf-8", "surrogatepass")
        for quoted in (quote(data, safe=""), quote(data), quote_plus(data), quote(quote(data, safe=""), safe="")):
            found.setdefault(quoted, False)
            found.setdefault(re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), quoted), False)
        found.setdefault(data.hex(), False)
        found.setdefault(data.hex().upper(), False)
        for shift in range(3):
            first = (shift * 8 + 5) // 6
            last = (shift + len(data)) * 8 // 6
            core = base64.b64encode(b"\0" * shift + data + b"\0\0")[first:last].decode()
            if len(core) >= _CORE_LENGTH:
                found.setdefault(core, True)
                found.setdefault(core.replace("+", "-").replace("/", "_"), True)
    return tuple(found.items())


class Known:
    """Secret values, and how to find them in a text whatever their number."""

    def __init__(self) -> None:
        self._forms: dict[str, bool] = {}
        self._values: set[str] = set()
        self._indexed: dict[str, list[str]] = {}
        self._plain: list[str] = []

    def __contains__(self, value: str) -> bool:
        return value in self._values

    def begins(self, start: str) -> bool:
        """Whether ``start``, of the length from which on values are looked for, is the beginning of one."""
        return len(start) >= LEARNED_LENGTH and any(value.startswith(start) for value in self._values)

    def add(self, values: Iterable[str]) -> bool:
        """Take ``values``, each in all its forms; whether one of them is new."""
        new = [value for value in dict.fromkeys(values) if value and value not in self._values]
        for value in new:
            self._values.add(value)
            for form, is_base64 in forms(value):
                if form not in self._forms:
                    self._forms[form] = is_base64
                    if len(form) < _ANCHOR or any(character.isspace() for character in form):
                        self._plain.append(form)
                    else:
                        self._indexed.setdefault(form[:_ANCHOR], []).append(form)
        return bool(new)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """First character and end of every occurrence; they may overlap. Linear in the text, whatever it holds."""
        if not self._forms:
            return
        if len(self._forms) <= _FEW:
            wanted: Iterable[str] = [form for form in self._forms if form in text]
        else:
            wanted = [form for form in self._plain if form in text]
            wanted += self._in_words(text)
        for form in wanted:
            at = text.find(form)
            while at >= 0:
                end = at + len(form)
                if self._forms[form]:
                    at, end = _around(text, at, end)
                yield at, end
                at = text.find(form, end)

    def _in_words(self, text: str) -> list[str]:
        """The indexed forms in ``text``: those without whitespace, looked for in what has none."""
        found: dict[str, None] = {}
        for word in set(_DENSE.findall(text)):
            for at in range(len(word) - _ANCHOR + 1):
                forms_here = self._indexed.get(word[at : at + _ANCHOR])
                if forms_here is not None:
                    found.update((form, None) for form in forms_here if word.startswith(form, at))
        return list(found)


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole of the base64 text of which ``start`` to ``end`` is a part."""
    while start > 0 and (text[start - 1].isascii() and (text[start - 1].isalnum() or text[start - 1] in "+/_-")):
        start -= 1
    match = _BASE64.match(text, end)
    return start, end if match is None else match.end()
