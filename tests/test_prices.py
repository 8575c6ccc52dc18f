"""Compiled rates against genai-prices itself: for every model it knows, the joined figure is its own `calc_price`."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Any

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelPrice, StartDateConstraint, TieredPrices, TimeOfDateConstraint

from sessionlab import views
from sessionlab.arrow import from_rows
from sessionlab.errors import UnknownName
from sessionlab.prices import compile_rates, parse_rates, price_checks, unmatched
from sessionlab.tables import Usage
from tests.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from genai_prices.types import ModelInfo, Provider

    from sessionlab.tables import Price


ONE_TIER = {"batch": "processing", "flex": "service_tier", "priority": "service_tier"}
LISTED = [(provider, model) for provider in get_snapshot().providers for model in provider.models]


def micros(when: datetime) -> int:
    """A time as the tables hold it."""
    return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def price_sets(model: ModelInfo) -> list[tuple[Any, ModelPrice]]:
    """Every price set of a model with its constraint."""
    if isinstance(model.prices, ModelPrice):
        standard = [(None, model.prices)]
    else:
        standard = [(price.constraint, price.prices) for price in model.prices]
    return standard + [(variant.constraint, variant.prices) for variant in model.price_variants or ()]


def contexts(model: ModelInfo) -> list[int]:
    """Request sizes that matter: nothing, small, huge, and the tokens around every tier's start."""
    tiers = {
        tier.start
        for _, prices in price_sets(model)
        for value in vars(prices).values()
        if isinstance(value, TieredPrices)
        for tier in value.tiers
    }
    return sorted({0, 7_321, 1_900_001} | {start + step for start in tiers for step in (-1, 0, 1)})


def instants(model: ModelInfo) -> list[datetime]:
    """Times that matter: long ago, now, 400 days on, and both sides of every date and time of day."""
    found = {datetime(2024, 2, 29, 3, 4, 5, tzinfo=UTC), NOW, NOW + timedelta(days=400)}
    for constraint, _ in price_sets(model):
        if isinstance(constraint, StartDateConstraint):
            start = datetime.combine(constraint.start_date, datetime.min.time(), UTC)
            found |= {start, start - timedelta(microseconds=1), start + timedelta(hours=13)}
        if isinstance(constraint, TimeOfDateConstraint):
            for edge in (constraint.start_time, constraint.end_time):
                start = datetime.combine(date(2026, 11, 29), edge.replace(tzinfo=None), UTC)
                found |= {start, start - timedelta(microseconds=1), start - timedelta(days=500)}
    return sorted(found)


def drawn(chance: random.Random, context: int, turn: int, **fields: Any) -> Usage:
    """One call whose whole input is ``context`` tokens, cut at random into the four kinds."""
    cuts = sorted(chance.randint(0, context) for _ in range(3))
    reads, writes, hourly = cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1]
    output = chance.choice((0, chance.randint(1, 90_000)))
    return Usage(
        session_id="test:one", seq=turn, grain="call", standing="ledger",
        uncached_input_tokens=context - cuts[2], cache_read_tokens=reads, cache_write_tokens=writes,
        cache_write_1h_tokens=hourly, output_tokens=output, reasoning_tokens=chance.randint(0, output),
        context_tokens=chance.choice((context, None)), web_searches=chance.choice((0, None, chance.randint(1, 9))),
        **fields,
    )  # fmt: skip


def oracle(usage: Usage, provider: str | None, model: str, when: datetime, tier: str | None = None) -> float:
    """What genai-prices itself charges for the call."""
    writes = (usage.cache_write_tokens or 0) + (usage.cache_write_1h_tokens or 0)
    counts = genai_prices.Usage(
        input_tokens=(usage.uncached_input_tokens or 0) + (usage.cache_read_tokens or 0) + writes,
        cache_read_tokens=usage.cache_read_tokens, cache_write_tokens=writes,
        cache_write_5m_tokens=usage.cache_write_tokens, cache_write_1h_tokens=usage.cache_write_1h_tokens,
        output_tokens=usage.output_tokens, output_reasoning_tokens=usage.reasoning_tokens,
        web_searches=usage.web_searches,
    )  # fmt: skip
    context = None if tier is None else {ONE_TIER.get(tier, "speed"): tier, "service_tier": tier}
    found = genai_prices.calc_price(
        counts, model, provider_id=provider, genai_request_timestamp=when, price_context=context
    )
    return float(found.total_price)


def priced(
    usage: list[Usage], rows: list[Price], *, price_at: datetime | None = None, now: datetime = NOW
) -> list[Any]:
    """The rows of cost.by_call in the order of ``usage``, as dictionaries."""
    con = views.connect()
    con.register("_usage", from_rows(usage, "usage"))
    con.execute("CREATE TABLE usage AS SELECT *, NULL::BIGINT AS figures, NULL::BIGINT AS sources FROM _usage")
    con.execute("CREATE TABLE sessions AS SELECT * FROM raw.sessions")
    views.set_prices(con, from_rows(rows, "prices"))
    views.settings(con, now=now.replace(tzinfo=None), tz="UTC", price_at=price_at and price_at.replace(tzinfo=None))
    con.execute("CREATE SCHEMA cost")
    for name in ("cost._priced", "cost.by_call"):
        con.execute(f"CREATE VIEW {name} AS {views.library()[name].text}")
    table: pa.Table = con.sql("SELECT * FROM cost.by_call ORDER BY seq").to_arrow_table()
    return table.to_pylist()


def every_model(tiers: bool) -> Iterator[tuple[Provider, ModelInfo, str | None]]:
    """Each model genai-prices finds under its own id, with each tier it prices apart."""
    for provider, model in LISTED:
        try:
            found = get_snapshot().find_provider_model(model.id, None, provider.id, None)
        except LookupError:
            continue
        known = {value for variant in found[1].price_variants or () for value in variant.when.values()}
        for tier in sorted(known & {"batch", "flex", "priority", "fast"}) if tiers else [None]:
            yield *found, tier


@pytest.mark.parametrize("tiers", [False, True], ids=["standard", "tiers"])
def test_every_figure_is_what_genai_prices_charges(tiers: bool) -> None:
    """All models, dates, times of day, band edges, tiers: cost.by_call equals calc_price to 1e-9, or says unpriced."""
    chance = random.Random(20261130)
    usage: list[Usage] = []
    expected: list[float] = []
    pairs: set[tuple[str, str]] = set()
    unnamed: set[tuple[str, str]] = set()
    for (provider, model), (_found, info, tier) in zip(
        ((p.id, m.id) for p, m, _ in every_model(tiers)), every_model(tiers), strict=True
    ):
        pairs.add((provider, model))
        if any(prices.__dict__ and "output_mtok" not in prices.__dict__ for _, prices in price_sets(info)[:1]):
            unnamed.add((provider, model))
        for when, context in itertools.product(instants(info), contexts(info)):
            usage.append(
                drawn(chance, context, len(usage), provider=provider, model=model, tier=tier, recorded_at=micros(when))
            )
            expected.append(oracle(usage[-1], provider, model, when, tier))
    rows = compile_rates(pairs)
    assert [problem for problem in price_checks(rows) if "two rates" in problem] == []
    got = priced(usage, rows)
    assert len(got) == len(usage) > 1_000
    unpriced = set()
    for call, right in zip(got, expected, strict=True):
        if call["cost_usd"] is None:
            unpriced.add((call["provider"], call["model"]))
        else:
            assert call["cost_usd"] == pytest.approx(right, rel=1e-9, abs=1e-15), call
            assert call["rate_origin"] == "genai-prices"
    assert unpriced <= unnamed, "only a model whose list has no price for input or output may be left unpriced"


@pytest.mark.parametrize("days", [0, 400])
def test_golden_figures_hold_with_the_file_alone(days: int) -> None:
    """Mecha 20: 1500 in, 125 out, 1200 written and 1000 read at 5 and 25 dollars a million are 0.018625, on any day."""
    file = parse_rates(
        "[providers.anthropic]\ninput_price_per_mtok = 5.0\noutput_price_per_mtok = 25.0\n", "config.toml"
    )
    runs = [(1200, 80, 1000, 0), (300, 45, 200, 1000)]
    usage = [
        Usage(
            session_id="mecha:one", seq=seq, grain="run", standing="ledger", provider="anthropic",
            model="claude-opus-5", turns=2, uncached_input_tokens=given, output_tokens=answered,
            cache_write_tokens=written, cache_read_tokens=read,
        )
        for seq, (given, answered, written, read) in enumerate(runs)
    ]  # fmt: skip
    got = priced(
        usage,
        compile_rates([("anthropic", "claude-opus-5")], rates="file", rate_file=file),
        now=NOW + timedelta(days=days),
    )
    assert [call["cost_usd"] for call in got] == pytest.approx([0.01425, 0.004375], rel=1e-12)
    assert sum(call["cost_usd"] for call in got) == pytest.approx(0.018625, rel=1e-12)
    assert {call["rate_origin"] for call in got} == {"file"}


def test_mecha_unit_check() -> None:
    """Mecha 10.2: one token of each of the four kinds at 1 and 2 dollars a token is 4.35."""
    file = parse_rates("[providers.p]\ninput_price_per_mtok = 1e6\noutput_price_per_mtok = 2e6\n")
    one = Usage(
        session_id="s", seq=0, grain="run", standing="ledger", provider="p", model="m", uncached_input_tokens=1,
        output_tokens=1, cache_write_tokens=1, cache_read_tokens=1,
    )  # fmt: skip
    [call] = priced([one], compile_rates([("p", "m")], rates="file", rate_file=file))
    assert call["cost_usd"] == pytest.approx(4.35, rel=1e-12)


def test_price_at_reprices_at_the_rates_of_that_day() -> None:
    """A call of January at Opus 4.6's old long-context rates costs the flat rate when priced as of April."""
    call = Usage(
        session_id="s", seq=0, grain="call", standing="ledger", provider="anthropic", model="claude-opus-4-6",
        uncached_input_tokens=300_000, output_tokens=1_000, context_tokens=300_000,
        recorded_at=micros(datetime(2026, 1, 5, tzinfo=UTC)),
    )  # fmt: skip
    rows = compile_rates([("anthropic", "claude-opus-4-6")])
    own, later = priced([call], rows)[0], priced([call], rows, price_at=datetime(2026, 4, 1, tzinfo=UTC))[0]
    assert own["cost_usd"] == pytest.approx(0.3 * 10 + 0.001 * 37.5)
    assert later["cost_usd"] == pytest.approx(0.3 * 5 + 0.001 * 25)
    assert own["called_at"] == later["called_at"]


def test_like_gives_every_pair_another_models_rates() -> None:
    """`like` prices a local model, a nameless one and a foreign one all as Claude Sonnet 5: 2 and 10 dollars."""
    pairs = [("ollama", "qwen3:8b"), (None, None), ("openai", "gpt-5.5")]
    for like in ("claude-sonnet-5", ("anthropic", "claude-sonnet-5")):
        rows = [row for row in compile_rates(pairs, like=like) if row.variant == "standard"]
        assert {(row.provider, row.model) for row in rows} == set(pairs)
        assert {(row.input_usd_per_mtok, row.output_usd_per_mtok) for row in rows} == {(2.0, 10.0)}


def test_like_an_unknown_model_is_an_error_with_suggestions() -> None:
    """A model nobody prices cannot be the measure; the message offers close names."""
    with pytest.raises(UnknownName, match="no priced model named 'claude-sonet-5'; did you mean: claude-sonnet-5"):
        compile_rates([("a", "b")], like="claude-sonet-5")


def test_what_nothing_prices_is_listed_and_has_no_row() -> None:
    """Unknown models, unknown gateways and usage without a model are unmatched, never priced at zero."""
    pairs = [("ollama", "qwen3:8b"), ("anthropic", "claude-opus-5"), (None, None), (None, "<synthetic>")]
    rows = compile_rates(pairs)
    assert {(row.provider, row.model) for row in rows} == {("anthropic", "claude-opus-5")}
    assert unmatched(pairs, rows) == [(None, None), (None, "<synthetic>"), ("ollama", "qwen3:8b")]


def test_free_is_zero_and_unknown_is_null() -> None:
    """A model genai-prices lists without any price is free (0.0); one it does not list has no cost."""
    usage = [
        Usage(
            session_id="s", seq=seq, grain="call", standing="ledger", provider=provider, model=model,
            uncached_input_tokens=10, output_tokens=10,
        )
        for seq, (provider, model) in enumerate([("github-copilot", "gpt-4.1"), ("nobody", "gpt-4.1")])
    ]  # fmt: skip
    got = priced(usage, compile_rates([("github-copilot", "gpt-4.1"), ("nobody", "gpt-4.1")]))
    assert [call["cost_usd"] for call in got] == [0.0, None]


def test_order_and_repeats_of_pairs_do_not_matter() -> None:
    """The rows depend on the set of pairs alone, and asking twice does not double them."""
    pairs = [("openai", "gpt-5.5"), (None, "gpt-5.5"), ("anthropic", "claude-opus-4-6")]
    assert compile_rates(pairs) == compile_rates([*reversed(pairs), *pairs])


def test_a_million_calls_are_priced_within_seconds() -> None:
    """The join hashes on the pair: a million calls over a dozen priced histories take seconds, not minutes."""
    con = views.connect()
    names = ["claude-opus-4-6", "claude-sonnet-4-5", "claude-opus-5", "claude-haiku-5-5"]
    views.set_prices(con, from_rows(compile_rates(("anthropic", name) for name in names), "prices"))
    views.settings(con, now=NOW.replace(tzinfo=None), tz="UTC", price_at=None)
    con.execute("CREATE TABLE sessions AS SELECT * FROM raw.sessions")
    con.execute("CREATE TABLE usage AS SELECT *, NULL::BIGINT AS figures, NULL::BIGINT AS sources FROM raw.usage")
    con.execute(
        """INSERT INTO usage (source_id, session_id, seq, agent_id, grain, standing, provider, model, recorded_at,
            uncached_input_tokens, output_tokens, context_tokens, is_lower_bound)
        SELECT 1, 's', i, 'root', 'call', 'ledger', 'anthropic', (?::VARCHAR[])[1 + i % 4],
            TIMESTAMP '2026-01-01' + INTERVAL (i * 20) SECOND, 100, 10, i % 400000, false
        FROM range(1000000) AS numbers(i)""",
        [names],
    )
    con.execute("CREATE SCHEMA cost")
    for name in ("cost._priced", "cost.by_call"):
        con.execute(f"CREATE VIEW {name} AS {views.library()[name].text}")
    began = perf_counter()
    answer = con.sql("SELECT count(*), count(cost_usd) FROM cost.by_call").fetchall()
    assert answer == [(1_000_000, 1_000_000)]
    assert perf_counter() - began < 10, "a nested-loop join would take minutes; a second is usual"


def test_importing_prices_is_light() -> None:
    """Importing the module loads neither genai-prices nor DuckDB: only asking for rates does."""
    code = (
        "import sys, sessionlab.prices; print([m for m in ('genai_prices', 'duckdb', 'pydantic') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
