"""A model of genai-prices → the pieces of its price history: who pays what, when, at which context size.

genai-prices decides per call; here its decisions are taken once for every stretch of time and context in which they
cannot change, so that a join can make them for a million calls.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from sessionlab.prices.rates import ALWAYS, DAY_S, FOREVER, Band, Piece, Rates, bands_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genai_prices.types import ModelInfo, ModelPrice, Provider, StartDateConstraint, TimeOfDateConstraint

ORIGIN = "genai-prices"
TIER_KEYS = ("processing", "service_tier", "speed")
"""Context keys of genai-prices whose values recorders write down as the service tier or speed of a call."""

_EPOCH = date(1970, 1, 1)
_DAY_US = DAY_S * 1_000_000
_PRICE_KEYS: dict[str, tuple[str, ...]] = {
    "input": ("input_mtok",),
    "cache_read": ("cache_read_mtok",),
    "cache_write": ("cache_write_5m_mtok", "cache_write_mtok"),
    "cache_write_1h": ("cache_write_1h_mtok", "cache_write_mtok"),
    "output": ("output_mtok",),
    "reasoning": ("output_reasoning_mtok",),
    "web_search": ("web_searches_kcount",),
    "request": ("requests_kcount",),
}
"""The prices that may stand behind each of our units, the closest first."""

_FREE = Rates(0.0, 0.0, 0.0, 0.0, 0.0)


def listed_pieces(provider: Provider, model: ModelInfo) -> dict[str, list[Piece]]:
    """The price history of ``model`` by variant: `standard` always, others where they ever cost something else."""
    from genai_prices import __version__  # noqa: PLC0415 - heavy; only needed when rates are asked for

    standard = _history(model, None, __version__)
    histories = {"standard": standard}
    # genai-prices applies variants only to a provider's own models, not to those it borrows from another
    own = any(model is candidate for candidate in provider.models)
    for tier in sorted(_tiers(model)) if own else ():
        history = _history(model, dict.fromkeys(TIER_KEYS, tier), __version__)
        if history != standard:
            histories[tier] = history
    return histories


def _tiers(model: ModelInfo) -> set[str]:
    variants = model.price_variants or []
    return {
        value
        for variant in variants
        if set(variant.when) <= set(TIER_KEYS)
        for value in variant.when.values()
        if value != "standard"
    }


def _history(model: ModelInfo, context: dict[str, str] | None, version: str) -> list[Piece]:
    """The pieces of one variant in order; stretches with equal prices are joined."""
    pieces: list[Piece] = []
    days, times = _edges(model)
    for from_day, until_day in zip([None, *days], [*days, None], strict=True):
        probe = from_day or (until_day or _EPOCH) - timedelta(days=1)
        span = (_micros(from_day, ALWAYS), _micros(until_day, FOREVER))
        day = list(_of_day(model, context, probe, times))
        if len(day) == 1 and pieces and pieces[-1].until_time - pieces[-1].from_time == DAY_S:
            last = pieces[-1]
            if last.bands == day[0][2]:
                pieces[-1] = last._replace(until_at=span[1])
                continue
        pieces += [Piece(*span, start, end, bands, ORIGIN, version) for start, end, bands in day]
    return pieces


def _of_day(
    model: ModelInfo, context: dict[str, str] | None, day: date, times: list[int]
) -> Iterator[tuple[int, int, tuple[Band, ...]]]:
    """The bands in force through one day: from second, until second, bands."""
    current: tuple[int, int, tuple[Band, ...]] | None = None
    for start, end in zip([0, *times], [*times, DAY_S], strict=True):
        instant = datetime.combine(day, time(), UTC) + timedelta(seconds=start)
        bands = _bands(model.get_prices(instant, context))
        if current and current[2] == bands:
            current = (current[0], end, bands)
            continue
        if current:
            yield current
        current = (start, end, bands)
    if current:
        yield current


def _edges(model: ModelInfo) -> tuple[list[date], list[int]]:
    """The days and the seconds of day at which any price of ``model`` can change."""
    from genai_prices.types import ModelPrice, StartDateConstraint, TimeOfDateConstraint  # noqa: PLC0415 - heavy

    conditional = [] if isinstance(model.prices, ModelPrice) else model.prices
    constraints: list[StartDateConstraint | TimeOfDateConstraint | None] = [
        *(price.constraint for price in conditional),
        *(variant.constraint for variant in model.price_variants or ()),
    ]
    days = {rule.start_date for rule in constraints if isinstance(rule, StartDateConstraint)}
    times = {
        _second(edge)
        for rule in constraints
        if isinstance(rule, TimeOfDateConstraint)
        for edge in (rule.start_time, rule.end_time)
    }
    return sorted(days), sorted(times - {0})


def _second(edge: time) -> int:
    """A time of day as seconds since midnight UTC; without a zone it is UTC, as genai-prices reads it."""
    aware = edge if edge.tzinfo else edge.replace(tzinfo=UTC)
    moment = datetime.combine(_EPOCH, aware).astimezone(UTC)
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def _micros(day: date | None, otherwise: int) -> int:
    return otherwise if day is None else (day - _EPOCH).days * _DAY_US


def _bands(price: ModelPrice) -> tuple[Band, ...]:
    """The bands of one price set: a tier holds for the whole request once its input exceeds the tier's start."""
    from genai_prices.types import TieredPrices  # noqa: PLC0415 - heavy

    values = {key: value for key, value in vars(price).items() if value is not None and not key.startswith("_")}
    if not values:
        return (Band(0, None, _FREE),)  # an empty price set is how genai-prices writes "free of charge"
    named = {unit: next((values[key] for key in keys if key in values), None) for unit, keys in _PRICE_KEYS.items()}
    tiered = [value for value in named.values() if isinstance(value, TieredPrices)]
    starts = sorted({0} | {tier.start + 1 for value in tiered for tier in value.tiers})

    def rate(unit: str, tokens: int) -> float | None:
        value = named[unit]
        if isinstance(value, TieredPrices):
            passed = [tier.price for tier in value.tiers if tokens > tier.start]
            value = passed[-1] if passed else value.base
        return None if value is None else float(value)

    return bands_from((start, Rates.resolve({unit: rate(unit, start) for unit in named})) for start in starts)
