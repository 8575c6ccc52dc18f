"""A provider and a model in; what one of their requests costs at today's rates out (10.2)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sessionlab.formats.mecha.wire import Tokens
from sessionlab.prices import RateFile, compile_rates
from sessionlab.replay.model import prompt_size
from sessionlab.tables import Price

_PER_MILLION = 1_000_000
_STANDARD = "standard"


def price_of(
    provider: str, model: str, *, rate_file: RateFile | None = None, now: datetime | None = None
) -> Callable[[Tokens], float | None] | None:
    """What a request's usage costs in US dollars; None when nothing prices the model today.

    Args:
        provider: who was asked.
        model: for which model.
        rate_file: the user's own rates, which come before the listed ones.
        now: the clock; default: the real one.
    """
    when = (now or datetime.now(UTC)).astimezone(UTC)
    rows = [
        row
        for row in compile_rates([(provider, model)], rate_file=rate_file)
        if row.variant == _STANDARD and _holds(row, when)
    ]
    return (lambda usage: _cost(rows, usage)) if rows else None


def _holds(row: Price, when: datetime) -> bool:
    instant = int(when.timestamp() * _PER_MILLION)
    second = when.hour * 3600 + when.minute * 60 + when.second
    return (
        (row.from_at is None or row.from_at <= instant)
        and (row.until_at is None or instant < row.until_at)
        and (row.from_time is None or row.from_time <= second)
        and (row.until_time is None or second < row.until_time)
    )


def _cost(rows: list[Price], usage: Tokens) -> float | None:
    size = prompt_size(usage)
    for row in rows:
        if row.band_from_tokens <= size and (row.band_until_tokens is None or size < row.band_until_tokens):
            paid = (
                (usage.input_tokens, row.input_usd_per_mtok),
                (usage.output_tokens, row.output_usd_per_mtok),
                (usage.cache_creation_input_tokens, row.cache_write_usd_per_mtok),
                (usage.cache_read_input_tokens, row.cache_read_usd_per_mtok),
            )
            if any(tokens and rate is None for tokens, rate in paid):
                return None
            fee = (row.request_usd_per_thousand or 0.0) / 1000
            return fee + sum(tokens * (rate or 0.0) / _PER_MILLION for tokens, rate in paid)
    return None
