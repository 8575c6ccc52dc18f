"""What a rate is: prices per unit, when and at which context size they hold; lists of them laid over one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALWAYS, FOREVER = -(2**63), 2**63 - 1
"""The open ends of a period, microseconds since 1970 UTC."""
DAY_S = 86_400
"""Seconds of a day."""


class Rates(NamedTuple):
    """US dollars per million tokens, per thousand searches and per thousand requests; None: no rate is named."""

    input: float | None
    cache_read: float | None
    cache_write: float | None
    cache_write_1h: float | None
    output: float | None
    reasoning: float | None = None
    web_search: float | None = None
    request: float | None = None

    @classmethod
    def resolve(cls, named: dict[str, float | None]) -> Rates:
        """Rates with every gap filled the way genai-prices charges it.

        A unit without a price of its own is charged as the unit it is a part of: reads and writes as input, hourly
        writes as writes. ``reasoning`` stays None where it costs what output costs.
        """
        price = named.get
        reads = _first(price("cache_read"), price("input"))
        writes = _first(price("cache_write"), price("input"))
        output, reasoning = price("output"), price("reasoning")
        return cls(
            input=price("input"),
            cache_read=reads,
            cache_write=writes,
            cache_write_1h=_first(price("cache_write_1h"), writes),
            output=output,
            reasoning=None if reasoning == output else reasoning,
            web_search=price("web_search"),
            request=price("request"),
        )


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


class Band(NamedTuple):
    """Rates of requests whose whole input has at least ``from_tokens`` and fewer than ``until_tokens`` tokens."""

    from_tokens: int
    until_tokens: int | None
    rates: Rates


class Piece(NamedTuple):
    """Bands in force from ``from_at`` until before ``until_at``, between two times of day (seconds, UTC)."""

    from_at: int
    until_at: int
    from_time: int
    until_time: int
    bands: tuple[Band, ...]
    origin: str
    origin_version: str | None


def bands_from(steps: Iterable[tuple[int, Rates]]) -> tuple[Band, ...]:
    """Bands of ascending (first token, rates) steps; neighbours with equal rates become one."""
    kept: list[tuple[int, Rates]] = []
    for start, rates in steps:
        if not kept or kept[-1][1] != rates:
            kept.append((start, rates))
    ends = [start for start, _ in kept[1:]]
    return tuple(Band(start, end, rates) for (start, rates), end in zip(kept, [*ends, None], strict=True))


def overlay(layers: Iterable[Sequence[Piece]]) -> list[Piece]:
    """The pieces of the first layer, then of each later one what the earlier ones leave open in time.

    Within one layer no two pieces may hold at the same instant. The result has that property too.
    """
    free = [(ALWAYS, FOREVER)]
    laid: list[Piece] = []
    for layer in layers:
        for piece in layer:
            for start, end in free:
                low, high = max(start, piece.from_at), min(end, piece.until_at)
                if low < high:
                    laid.append(piece._replace(from_at=low, until_at=high))
        for piece in layer:
            free = [part for span in free for part in _without(span, piece.from_at, piece.until_at)]
    return sorted(laid, key=lambda piece: (piece.from_at, piece.from_time))


def _without(span: tuple[int, int], low: int, high: int) -> list[tuple[int, int]]:
    """What is left of ``span`` outside ``low`` ≤ t < ``high``."""
    start, end = span
    parts = [(start, min(end, low)), (max(start, high), end)]
    return [(first, last) for first, last in parts if first < last]
