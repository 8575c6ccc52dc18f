"""A name in, a stream of drawn characters, numbers and choices out: the same on every Python, from SHA-256 alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
DIGITS = "0123456789"
ALNUM = UPPER + LOWER + DIGITS
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
BASE32 = UPPER + "234567"
HEX = DIGITS + "abcdef"
WORDS = (
    "tern", "ballast", "gravel", "lantern", "keel", "willow", "plover", "cinder", "harbour", "mallet", "quartz",
    "saffron", "thistle", "umber", "velvet", "walnut", "zephyr", "anchor", "bramble", "cobalt", "drizzle", "ember",
    "fathom", "girder", "hazel", "indigo", "juniper", "kestrel", "lagoon", "marble", "nectar", "otter", "pebble",
    "russet", "sparrow", "tundra", "copper", "barnacle", "cedar", "dapple",
)  # fmt: skip
"""Words of invented sentences, names and pass phrases."""


class Drawing:
    """A stream of choices that depends on its name only."""

    def __init__(self, name: str) -> None:
        """Begin the stream of that name."""
        self._name, self._block = name, 0
        self._bytes: list[int] = []

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit`` - 1; ``limit`` is at most 2**32."""
        number = int.from_bytes(self._take(8), "big")
        return number % limit  # the bias is below 2**-32

    def between(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def one(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.below(len(choices))]

    def text(self, alphabet: str, length: int) -> str:
        """So many characters of an alphabet."""
        return "".join(self.one(alphabet) for _ in range(length))

    def octets(self, length: int) -> bytes:
        """So many bytes."""
        return bytes(self._take(length))

    def words(self, count: int) -> list[str]:
        """So many words."""
        return [self.one(WORDS) for _ in range(count)]

    def _take(self, count: int) -> list[int]:
        while len(self._bytes) < count:
            self._bytes += hashlib.sha256(f"{self._name}/{self._block}".encode()).digest()
            self._block += 1
        taken, self._bytes = self._bytes[:count], self._bytes[count:]
        return taken
