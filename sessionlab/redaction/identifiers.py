"""Digests in, keyed digests out: equal ones stay equal, and nobody without the key can confirm what they were made of.

A digest of something that was redacted still tells it: who guesses the password can put it back, take the digest and
compare. So a digest is replaced wherever what it was made of was changed, by one that needs the key as well.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

_SOURCE_ID: Final = re.compile(r"(?<![0-9])[0-9]{1,19}(?![0-9])")


class KeyedDigests:
    """Keyed digests of one key; of two keys they have nothing in common."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def number(self, digest: int, purpose: str) -> int:
        """What stands for a 63-bit digest: of the same width, so that it fits its column."""
        return int.from_bytes(self._digest(purpose, str(digest))[:8], "big") >> 1

    def content_id(self, digest: str) -> str:
        """What stands for a content address, a checksum or a fingerprint."""
        return f"redacted-{self._digest('content', digest)[:16].hex()}"

    def _digest(self, purpose: str, text: str) -> bytes:
        return hmac.digest(self._key, f"{purpose}\0{text}".encode("utf-8", "surrogatepass"), sha256)


def with_sources(text: str, replaced: Mapping[int, int]) -> str:
    """An identifier with the source ids in it replaced: a session that its file does not name is called by one."""

    def other(found: re.Match[str]) -> str:
        number = replaced.get(int(found[0]))
        return found[0] if number is None else str(number)

    return _SOURCE_ID.sub(other, text) if replaced else text
