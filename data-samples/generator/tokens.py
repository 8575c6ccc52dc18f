"""What model calls use: a context that grows and is cached, tokens by class, and the books of who used how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from random import Random

CACHE_MISS = 0.15
"""Share of calls that come after the cache has expired, because somebody took a break."""
FULL = 165_000
"""Context size above which a conversation takes in only little more: no request crosses the 200,000 token band."""


class Tokens(NamedTuple):
    """Tokens by class; the classes are disjoint, output includes reasoning."""

    uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """Both together."""
        return Tokens(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def context(self) -> int:
        """All input of the request."""
        return self.uncached + self.cache_read + self.cache_write + self.cache_write_1h


class Rates(NamedTuple):
    """US dollars per million tokens, as a recorder's own price list has them."""

    uncached: float
    cache_read: float
    cache_write: float
    output: float

    def cost(self, used: Tokens) -> float:
        """US dollars, rounded as the recorders write them."""
        writes = (used.cache_write + used.cache_write_1h) * self.cache_write
        reads = used.cache_read * self.cache_read
        return round((used.uncached * self.uncached + reads + writes + used.output * self.output) / 1e6, 6)


class Ledger:
    """The true use per (format, model): every call once, however often it was written down."""

    def __init__(self) -> None:
        self.used: dict[tuple[str, str], Tokens] = {}

    def add(self, format_name: str, model: str, used: Tokens) -> None:
        """One call, or one run where the recorder tells no finer."""
        key = (format_name, model)
        self.used[key] = self.used.get(key, Tokens()).plus(used)


class Context:
    """One agent's conversation with a model, as the provider sees it.

    ``caching`` says how the provider works: ``explicit`` (the client marks what to keep; writes are billed apart),
    ``implicit`` (the provider keeps what it sees again, in steps of 128 tokens) or ``none``.
    """

    def __init__(self, rng: Random, size: int, *, caching: str = "explicit", hourly: bool = False) -> None:
        self._rng, self.size, self.caching, self.hourly = rng, size, caching, hourly
        self._opening, self._cached = size, 0

    def take(self, tokens: int) -> None:
        """The conversation grows by what was said or what a tool brought."""
        self.size += tokens if self.size < FULL else tokens // 10

    def call(self, output: int) -> Tokens:
        """One request with everything so far, and its reply."""
        if self._rng.random() < CACHE_MISS:
            self._cached = 0
        if self.caching == "explicit":
            fresh = self._rng.randint(3, 19)
            written = max(self.size - self._cached, 0)
            halves = (0, written) if self.hourly else (written, 0)
            used = Tokens(fresh, self._cached, *halves, output)
        elif self.caching == "implicit":
            read = self._cached // 128 * 128
            used = Tokens(self.size - read, read, 0, 0, output)
        else:
            used = Tokens(self.size, 0, 0, 0, output)
        self._cached = self.size
        self.take(output)
        return used

    def compact(self, summary: int) -> None:
        """The conversation is replaced by a summary of so many tokens, behind the opening that stays cached."""
        self._cached = min(self._opening, self._cached)
        self.size = self._opening + summary
