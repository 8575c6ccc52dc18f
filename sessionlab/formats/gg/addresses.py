"""Values in, gg content addresses out: SHA-256 of exact bytes or of canonical JSON, cut to 128 bits (section 3)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any, Literal

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
_WORDS: dict[object, str] = {None: "null", True: "true", False: "false"}
_string = json.encoder.encode_basestring
"""A string as JSON, non-ASCII raw: what section 3.2 asks for."""
_SMALL_EXPONENT = re.compile(r"e-0(\d)$")
_ADDRESS = re.compile(r"[0-9a-f]{32}")

Verdict = Literal["match", "mismatch", "unverifiable"]


def fingerprint_exact(data: bytes) -> str:
    """The address of ``data``: the first 32 lowercase hex digits of its SHA-256 (3.1)."""
    return hashlib.sha256(data).hexdigest()[:32]


def fingerprint_json(value: object, *, plus: bool = True) -> str:
    """The address of a JSON value: of its canonical form (3.1)."""
    return fingerprint_exact(canonical_json(value, plus=plus))


def canonical_json(value: object, *, plus: bool = True) -> bytes:
    """The canonical compact JSON of ``value`` as UTF-8: keys sorted by code point, no white space (3.2).

    ``plus``: whether an exponent of 16 and more is written ``e+X`` (newer recorders) or ``eX`` (older ones).
    Integers outside -2^63..2^64-1 are the floats they were parsed as.

    Raises:
        TypeError: ``value`` holds what JSON has no word for, a key that is no string among it.
        ValueError: it holds a number that is not finite, or a lone surrogate.
    """
    parts: list[str] = []
    _write(value, parts, plus=plus)
    return "".join(parts).encode()


def parse_json(data: bytes) -> Any:  # noqa: ANN401 (free-form JSON)
    """Free-form JSON with the number types the addresses need: integers apart from floats, ``-0`` a float."""
    return json.loads(data.decode(), parse_int=lambda text: -0.0 if text == "-0" else int(text))


def is_address(text: str) -> bool:
    """Whether ``text`` is spelled like an address: 32 lowercase hex digits."""
    return _ADDRESS.fullmatch(text) is not None


def verify(raw: bytes, address: str, *, images: bool) -> Verdict:
    """Whether ``address`` is that of the JSON in ``raw``.

    ``images``: the value may have lost image payloads after it was addressed (message bodies); one that looks so
    cannot be checked (3.4). Both exponent spellings are tried before a mismatch is reported.
    """
    if fingerprint_exact(raw) == address:  # gg writes bodies in canonical form
        return "match"
    value = parse_json(raw)
    if images and _lost_an_image(value):
        return "unverifiable"
    canonical = canonical_json(value)
    if fingerprint_exact(canonical) == address:
        return "match"
    return "match" if fingerprint_exact(canonical_json(value, plus=False)) == address else "mismatch"


def _lost_an_image(value: object) -> bool:
    if isinstance(value, dict):
        if "mediaType" in value and "dataBase64" not in value:
            return True
        return any(_lost_an_image(member) for member in value.values())
    return isinstance(value, list) and any(_lost_an_image(member) for member in value)


def _write(value: object, parts: list[str], *, plus: bool) -> None:
    """Append the canonical form of ``value``; strings, which are most of a body, are escaped in one call."""
    if isinstance(value, str):
        parts.append(_string(value))
    elif isinstance(value, dict):
        before = "{"
        for name in sorted(value):
            member = value[name]
            if type(member) is str:
                parts.append(f"{before}{_string(name)}:{_string(member)}")
            else:
                parts.append(f"{before}{_string(name)}:")
                _write(member, parts, plus=plus)
            before = ","
        parts.append("}" if value else "{}")
    elif value is None or isinstance(value, bool):
        parts.append(_WORDS[value])
    elif isinstance(value, int):
        parts.append(str(value) if _INT_MIN <= value <= _INT_MAX else _float(float(value), plus=plus))
    elif isinstance(value, float):
        parts.append(_float(value, plus=plus))
    elif isinstance(value, list | tuple):
        before = "["
        for member in value:
            parts.append(before)
            _write(member, parts, plus=plus)
            before = ","
        parts.append("]" if value else "[]")
    else:
        raise TypeError(f"{type(value).__name__} is no JSON value")


def _float(value: float, *, plus: bool) -> str:
    """Shortest digits that round-trip, laid out as section 3.3 says: Python's, but for exponents -5 to -9 and plus."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no JSON number")
    text = repr(value)
    if text.endswith("e-05"):
        sign, digits = ("-", text[1:-4]) if text[0] == "-" else ("", text[:-4])
        return f"{sign}0.0000{digits.replace('.', '')}"
    text = _SMALL_EXPONENT.sub(r"e-\1", text)
    return text if plus else text.replace("e+", "e")
