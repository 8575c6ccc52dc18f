"""(provider, model) pairs of a corpus and the user's own rates → rows of the `prices` table.

Rates are looked up in the user's file, then in genai-prices; `rates="file"` asks the file alone. For one pair,
variant, instant and context size the rows hold exactly one rate or none, so that a join cannot count a call twice.
A pair that nothing prices has no row: its cost is unknown, never zero.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Literal

from sessionlab.errors import UnknownName
from sessionlab.prices.listed import listed_pieces
from sessionlab.prices.names import Pair, find_listed, listed_models
from sessionlab.prices.rate_file import RateFile, default_rate_file, parse_rates, read_mecha_config, read_rate_file
from sessionlab.prices.rates import ALWAYS, DAY_S, FOREVER, Piece, overlay
from sessionlab.tables import Price

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Pair",
    "RateFile",
    "compile_rates",
    "default_rate_file",
    "parse_rates",
    "price_checks",
    "read_mecha_config",
    "read_rate_file",
    "unmatched",
]

STANDARD = "standard"


def compile_rates(
    pairs: Iterable[Pair],
    *,
    rates: Literal["all", "file"] = "all",
    rate_file: RateFile | None = None,
    like: str | Pair | None = None,
) -> list[Price]:
    """The rates in force for ``pairs``, which are (provider, model) as the usage names them; either may be null.

    ``rates``: `all` asks ``rate_file`` first and genai-prices for what it leaves open (also in time); `file` asks
    ``rate_file`` alone. ``like``: a model, or a (provider, model), whose rates every pair gets instead of its own.
    A variant (`batch`, `flex`, `fast`) has rows only where it ever costs something else than `standard`.
    Rows come in order of provider, model, variant, time and band. Raises UnknownName when nothing prices ``like``.
    """
    asked: Pair | None = (None, like) if isinstance(like, str) else like
    wanted = sorted(dict.fromkeys(pairs), key=lambda pair: (pair[0] or "", pair[1] or "", pair.count(None)))
    rate_file = rate_file or RateFile()
    if asked is not None:
        histories = _histories(asked, rates, rate_file)
        if not histories:
            raise UnknownName("priced model", "/".join(part for part in asked if part), listed_models())
        return [row for pair in wanted for row in _rows(pair, histories)]
    return [row for pair in wanted for row in _rows(pair, _histories(pair, rates, rate_file))]


def unmatched(pairs: Iterable[Pair], rows: Iterable[Price]) -> list[Pair]:
    """The pairs that no row prices, sorted: models to name to the user, never to price at zero."""
    priced = {(row.provider, row.model) for row in rows}
    return sorted(set(pairs) - priced, key=lambda pair: (pair[0] or "", pair[1] or ""))


def price_checks(rows: Iterable[Price]) -> list[str]:
    """What looks wrong in ``rows``, a sentence each: rates that overlap, reads above input, writes below it.

    Overlaps would count a call twice. The other two are no errors of ours, but of a price list more often than not.
    """

    def key(row: Price) -> tuple[str, str, str]:
        return (row.provider or "", row.model or "", row.variant)

    problems: list[str] = []
    for names, group in groupby(sorted(rows, key=key), key=key):
        told = list(group)
        label = "/".join(name for name in names if name)
        problems += [
            f"{label}: two rates hold at once"
            for ix, one in enumerate(told)
            for other in told[ix + 1 :]
            if _meet(one, other)
        ]
        for row in told:
            paid, reads, writes = row.input_usd_per_mtok, row.cache_read_usd_per_mtok, row.cache_write_usd_per_mtok
            hourly = row.cache_write_1h_usd_per_mtok
            if paid is not None and reads is not None and reads > paid:
                problems.append(f"{label}: cache reads cost {reads:g}, input costs {paid:g}")
            for low, high in pairwise((paid, writes, hourly)):
                if low is not None and high is not None and high < low:
                    problems.append(f"{label}: cache writes cost {high:g}, less than {low:g}")
    return list(dict.fromkeys(problems))


def _meet(one: Price, other: Price) -> bool:
    """Whether some instant and context size is in both rows."""
    spans = (
        (one.from_at, one.until_at, other.from_at, other.until_at),
        (one.from_time, one.until_time, other.from_time, other.until_time),
        (one.band_from_tokens, one.band_until_tokens, other.band_from_tokens, other.band_until_tokens),
    )
    return all(
        (until is None or start is None or start < until) and (end is None or begin is None or begin < end)
        for begin, until, start, end in spans
    )


def _histories(pair: Pair, rates: Literal["all", "file"], rate_file: RateFile) -> dict[str, list[Piece]]:
    """The price history of a pair by variant: the file's rates, genai-prices where and when the file has none."""
    layers = rate_file.layers(pair)
    found = find_listed(pair) if rates == "all" else None
    listed = listed_pieces(*found) if found else {}
    variants = {STANDARD, *listed, *(variant for layer in layers for variant in layer)}
    standard = overlay(_stack(STANDARD, layers, listed))
    histories = {STANDARD: standard}
    for variant in sorted(variants - {STANDARD}):
        history = overlay(_stack(variant, layers, listed))
        if history != standard:
            histories[variant] = history
    return {variant: history for variant, history in histories.items() if history}


def _stack(
    variant: str, layers: Sequence[dict[str, list[Piece]]], listed: dict[str, list[Piece]]
) -> list[Sequence[Piece]]:
    """What to ask for a variant, in order: the file for it, the file for the standard rate, genai-prices.

    So a file's rate without a variant holds for every tier, as mecha's does.
    """
    own = [layer[variant] for layer in layers if variant in layer]
    general = [layer[STANDARD] for layer in layers if STANDARD in layer and variant != STANDARD]
    last = listed.get(variant, listed.get(STANDARD))
    return [*own, *general, *([last] if last else [])]


def _rows(pair: Pair, histories: dict[str, list[Piece]]) -> Iterable[Price]:
    for variant in sorted(histories, key=lambda name: (name != STANDARD, name)):
        for piece in histories[variant]:
            all_day = piece.until_time - piece.from_time == DAY_S
            for band in piece.bands:
                yield Price(
                    provider=pair[0],
                    model=pair[1],
                    variant=variant,
                    input_usd_per_mtok=band.rates.input,
                    cache_read_usd_per_mtok=band.rates.cache_read,
                    cache_write_usd_per_mtok=band.rates.cache_write,
                    cache_write_1h_usd_per_mtok=band.rates.cache_write_1h,
                    output_usd_per_mtok=band.rates.output,
                    reasoning_usd_per_mtok=band.rates.reasoning,
                    web_search_usd_per_thousand=band.rates.web_search,
                    request_usd_per_thousand=band.rates.request,
                    from_at=None if piece.from_at == ALWAYS else piece.from_at,
                    until_at=None if piece.until_at == FOREVER else piece.until_at,
                    from_time=None if all_day else piece.from_time,
                    until_time=None if all_day else piece.until_time,
                    band_from_tokens=band.from_tokens,
                    band_until_tokens=band.until_tokens,
                    origin=piece.origin,
                    origin_version=piece.origin_version,
                )
