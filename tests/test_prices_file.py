"""The user's own rates: what a file may say, what it may not, and how it is laid over genai-prices."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionlab.errors import PriceFileError
from sessionlab.prices import (
    compile_rates,
    default_rate_file,
    parse_rates,
    price_checks,
    read_mecha_config,
    read_rate_file,
)
from sessionlab.prices.rates import ALWAYS, DAY_S, FOREVER, Piece, overlay
from sessionlab.tables import Price

if TYPE_CHECKING:
    from pathlib import Path

PAIR = ("acme", "wren-2-mini")
WREN = '[[rates]]\nmodel = "wren-2-mini"\ninput = 3.0\noutput = 15.0\n'


def day(year: int, month: int, number: int, hour: int = 0) -> int:
    """A UTC time as the tables hold it."""
    return (datetime(year, month, number, hour, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


def spans(rows: list[Price]) -> list[tuple[int | None, int | None, float | None]]:
    """When which input rate holds."""
    return [(row.from_at, row.until_at, row.input_usd_per_mtok) for row in rows]


def compiled(text: str, pair: tuple[str | None, str | None] = PAIR) -> list[Price]:
    """The rows of one pair by the file alone."""
    return compile_rates([pair], rates="file", rate_file=parse_rates(text, "own.toml"))


def test_a_rate_says_all_its_units() -> None:
    """Each unit of a [[rates]] table lands in its own column; origin and file name come along."""
    [row] = compiled(
        '[[rates]]\nprovider = "acme"\nmodel = "wren-2-mini"\ninput = 3\noutput = 15.5\ncache_read = 0.25\n'
        "cache_write = 3.75\ncache_write_1h = 6.5\nweb_search = 9.0\n"
    )
    assert row == Price(
        provider="acme", model="wren-2-mini", input_usd_per_mtok=3.0, output_usd_per_mtok=15.5,
        cache_read_usd_per_mtok=0.25, cache_write_usd_per_mtok=3.75, cache_write_1h_usd_per_mtok=6.5,
        web_search_usd_per_thousand=9.0,
        origin="file", origin_version="own.toml",
    )  # fmt: skip


def test_a_cache_rate_left_out_is_charged_as_genai_prices_would() -> None:
    """Reads and writes without a rate cost what input costs; hourly writes what writes cost; searches stay unknown."""
    [row] = compiled(WREN + "cache_write = 4.0\n")
    assert (row.cache_read_usd_per_mtok, row.cache_write_usd_per_mtok, row.cache_write_1h_usd_per_mtok) == (
        3.0,
        4.0,
        4.0,
    )
    assert row.web_search_usd_per_thousand is None


def test_a_providers_price_has_mechas_multipliers() -> None:
    """Mecha 10.2: writes cost 1.25 times input and reads a tenth; hourly writes twice; every model of the provider."""
    text = "[providers.acme]\ninput_price_per_mtok = 4.0\noutput_price_per_mtok = 20\napi_key_env = 'X'\n"
    for model in ("anything", None):
        [row] = compiled(text, ("acme", model))
        assert (row.provider, row.model) == ("acme", model)
        assert (row.input_usd_per_mtok, row.output_usd_per_mtok) == (4.0, 20.0)
        assert row.cache_read_usd_per_mtok == pytest.approx(0.4)
        assert (row.cache_write_usd_per_mtok, row.cache_write_1h_usd_per_mtok) == (5.0, 8.0)
    assert compiled(text, ("other", "anything")) == []
    assert compiled(text, (None, "anything")) == []


@pytest.mark.parametrize("key", ["input_price_per_mtok", "output_price_per_mtok"])
def test_one_price_alone_prices_nothing(key: str) -> None:
    """Mecha 10.2: one of the two prices alone leaves the provider unpriced."""
    assert compiled(f"[providers.acme]\n{key} = 4.0\n") == []


def test_both_prices_zero_are_a_price() -> None:
    """A local provider at zero is free, which is not the same as unpriced."""
    [row] = compiled("[providers.acme]\ninput_price_per_mtok = 0\noutput_price_per_mtok = 0.0\n")
    assert (row.input_usd_per_mtok, row.cache_write_usd_per_mtok, row.output_usd_per_mtok) == (0.0, 0.0, 0.0)


def test_the_most_telling_entry_wins_whatever_the_order() -> None:
    """A whole model name beats a pattern, a longer pattern a shorter one, a provider's own entry one for all."""
    tables = [
        '[[rates]]\nmodel = "*"\ninput = 1\noutput = 1\n',
        '[[rates]]\nmodel = "wren-*"\ninput = 2\noutput = 1\n',
        '[[rates]]\nprovider = "acme"\nmodel = "wren-*"\ninput = 3\noutput = 1\n',
        '[[rates]]\nmodel = "wren-2-mini"\ninput = 4\noutput = 1\n',
        '[[rates]]\nprovider = "acme"\nmodel = "wren-2-mini"\ninput = 5\noutput = 1\n',
    ]
    provider = "[providers.acme]\ninput_price_per_mtok = 9\noutput_price_per_mtok = 9\n"
    for count in range(1, 6):
        for chosen in (tables[:count], tables[count - 1 :: -1]):
            [row] = compiled(provider + "".join(chosen))
            assert row.input_usd_per_mtok == count
    [row] = compiled(provider + tables[1], ("acme", "robin-1"))
    assert row.input_usd_per_mtok == 9.0


def test_a_star_stands_for_characters_and_a_dot_for_itself() -> None:
    """`*` matches any run of characters, nothing else in a name is special."""
    text = '[[rates]]\nmodel = "wren-2.5*mini"\ninput = 1\noutput = 1\n'
    assert compiled(text, (None, "wren-2.5-q4-mini"))
    assert not compiled(text, (None, "wren-2x5-q4-mini"))
    assert not compiled(text, (None, "wren-2.5-q4-minis"))


def test_a_rate_holds_until_the_next_begins() -> None:
    """Without `until`, rates of one model follow one another by `from`; dates are midnight UTC, zones are heeded."""
    rows = compiled(
        WREN + '[[rates]]\nmodel = "wren-2-mini"\nfrom = 2026-03-01\ninput = 2\noutput = 9\n'
        '[[rates]]\nmodel = "wren-2-mini"\nfrom = 2026-05-01T02:00:00+02:00\nuntil = 2026-06-01T06:00:00\n'
        "input = 1\noutput = 9\n"
    )
    assert spans(rows) == [
        (None, day(2026, 3, 1), 3.0),
        (day(2026, 3, 1), day(2026, 5, 1), 2.0),
        (day(2026, 5, 1), day(2026, 6, 1, 6), 1.0),
    ]


def test_bands_price_the_whole_request() -> None:
    """A band begins at its first token and takes what it does not name from the entry."""
    rows = compiled(WREN + "cache_read = 0.3\nbands = [{ from_tokens = 200_001, input = 6.0, output = 22.5 }]\n")
    assert [(r.band_from_tokens, r.band_until_tokens) for r in rows] == [(0, 200_001), (200_001, None)]
    assert [r.input_usd_per_mtok for r in rows] == [3.0, 6.0]
    assert [r.cache_read_usd_per_mtok for r in rows] == [0.3, 0.3]
    assert [r.cache_write_usd_per_mtok for r in rows] == [3.0, 6.0]


def test_the_file_is_asked_first_and_genai_prices_for_what_it_leaves_open() -> None:
    """A file's rate for March replaces the listed one for March only, for every tier; `rates="file"` knows no other."""
    file = parse_rates(
        '[[rates]]\nmodel = "claude-opus-5"\nfrom = 2026-03-01\nuntil = 2026-04-01\ninput = 1.0\noutput = 2.0\n',
        "own.toml",
    )
    pair = ("anthropic", "claude-opus-5")
    rows = compile_rates([pair], rate_file=file)
    standard = [row for row in rows if row.variant == "standard"]
    assert [(*span, row.origin) for span, row in zip(spans(standard), standard, strict=True)] == [
        (None, day(2026, 3, 1), 5.0, "genai-prices"),
        (day(2026, 3, 1), day(2026, 4, 1), 1.0, "file"),
        (day(2026, 4, 1), None, 5.0, "genai-prices"),
    ]
    fast = [row for row in rows if row.variant == "fast"]
    assert [rate for _, _, rate in spans(fast)] == [10.0, 1.0, 10.0]
    assert price_checks(rows) == []
    assert spans(compile_rates([pair], rates="file", rate_file=file)) == [(day(2026, 3, 1), day(2026, 4, 1), 1.0)]


def test_a_variant_of_the_file_is_its_own() -> None:
    """An entry for a tier prices that tier; where it has ended, the tier falls back to the standard rate."""
    rows = compiled(
        WREN + '[[rates]]\nmodel = "wren-2-mini"\nvariant = "batch"\nuntil = 2026-02-01\ninput = 1.5\noutput = 7\n'
    )
    assert spans([row for row in rows if row.variant == "batch"]) == [
        (None, day(2026, 2, 1), 1.5),
        (day(2026, 2, 1), None, 3.0),
    ]
    assert spans([row for row in rows if row.variant == "standard"]) == [(None, None, 3.0)]


BAD = {
    "not TOML": ("[[rates]\n", "own.toml: expected TOML, found: "),
    "stray key": ("rate = 1\n", "own.toml: rate: expected [[rates]] or [providers.NAME], found this key"),
    "misspelt unit": (
        WREN + "ouput = 2\n",
        "own.toml: rates[0].ouput: expected one of provider, model, variant, from, ",
    ),
    "text for a price": (
        '[[rates]]\nmodel = "m"\ninput = "3"\noutput = 1\n',
        "own.toml: rates[0].input: expected US dollars, a number of 0 or more, found '3'",
    ),
    "negative": (
        WREN + "cache_read = -0.1\n",
        "own.toml: rates[0].cache_read: expected US dollars, a number of 0 or more, found -0.1",
    ),
    "not a number": (WREN + "web_search = nan\n", "own.toml: rates[0].web_search: expected US dollars, a number"),
    "true is no price": (
        WREN + "cache_write = true\n",
        "own.toml: rates[0].cache_write: expected US dollars, a number",
    ),
    "no model": ("[[rates]]\ninput = 1\noutput = 1\n", "own.toml: rates[0].model: expected a value, found none"),
    "one alone": ('[[rates]]\nmodel = "m"\ninput = 1\n', "own.toml: rates[0].output: expected a value, found none"),
    "empty model": (
        '[[rates]]\nmodel = ""\ninput = 1\noutput = 1\n',
        "own.toml: rates[0].model: expected a text, found ''",
    ),
    "quoted date": (
        WREN + 'from = "2026-01-01"\n',
        "own.toml: rates[0].from: expected a date or a date-time, unquoted, found",
    ),
    "ends early": (
        WREN + "from = 2026-02-01\nuntil = 2026-01-01\n",
        "own.toml: rates[0].until: expected a time after `from`, found datetime.date(2026, 1, 1)",
    ),
    "band without start": (
        WREN + "bands = [{ input = 1 }]\n",
        "own.toml: rates[0].bands[0].from_tokens: expected a whole number of 1 or more, once, found None",
    ),
    "band of zero": (
        WREN + "bands = [{ from_tokens = 0 }]\n",
        "own.toml: rates[0].bands[0].from_tokens: expected a whole",
    ),
    "stray in band": (
        WREN + "bands = [{ from_tokens = 5, x = 1 }]\n",
        "own.toml: rates[0].bands[0].x: expected one of from_",
    ),
    "bands no list": (WREN + "bands = 3\n", "own.toml: rates[0].bands: expected a list of tables, found 3"),
    "one table": ("[rates]\ninput = 1\n", "own.toml: rates: expected [[rates]] tables, found {'input': 1}"),
    "provider no table": ("providers = 1\n", "own.toml: providers: expected a table, found 1"),
    "provider price": (
        "[providers.p]\ninput_price_per_mtok = '5'\n",
        "own.toml: providers.p.input_price_per_mtok: expected US dollars, a number of 0 or more, found '5'",
    ),
    "same time twice": (
        WREN + WREN,
        (
            "own.toml: rates[1]: expected rates of 'wren-2-mini' that begin when those of rates[0] have ended, "
            "found rates for the same time"
        ),
    ),
    "overlap": (
        WREN + 'until = 2026-05-01\n[[rates]]\nmodel = "wren-2-mini"\nfrom = 2026-04-01\ninput = 1\noutput = 1\n',
        "own.toml: rates[1]: expected rates of 'wren-2-mini' that begin when those of rates[0] have ended",
    ),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_what_is_no_rate_is_refused_by_name(case: str) -> None:
    """File, key, what was expected and what was found stand in the message."""
    text, message = BAD[case]
    with pytest.raises(PriceFileError) as caught:
        parse_rates(text, "own.toml")
    assert str(caught.value).startswith(message)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are errors that name the path."""
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe[")
    for name in ("none.toml", "odd.toml"):
        with pytest.raises(PriceFileError, match=rf"{name}: expected a readable TOML file, found: "):
            read_rate_file(tmp_path / name)


def test_where_rates_are_kept(tmp_path: Path) -> None:
    """`$SESSIONLAB_RATES`, else the configuration folder; behind it mecha's own configuration, read for prices only."""
    env = {"HOME": str(tmp_path), "MECHA_HOME": str(tmp_path / "m")}
    assert default_rate_file(env) is None
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.toml").write_text(
        "default = 'x'\n[providers.acme]\nkind = 'y'\ninput_price_per_mtok = 4\noutput_price_per_mtok = 8\n"
    )
    assert default_rate_file(env) == read_mecha_config(tmp_path / "m" / "config.toml")
    own = tmp_path / ".config" / "sessionlab" / "rates.toml"
    own.parent.mkdir(parents=True)
    own.write_text(WREN)
    told = tmp_path / "told.toml"
    told.write_text(WREN.replace("3.0", "7.0"))
    expected = [(env, 3.0, "rates.toml"), (env | {"SESSIONLAB_RATES": str(told)}, 7.0, "told.toml")]
    for variables, rate, name in expected:
        file = default_rate_file(variables)
        rows = compile_rates([PAIR, ("acme", "robin-1")], rates="file", rate_file=file)
        found = [(row.model, row.input_usd_per_mtok, row.origin_version) for row in rows]
        assert found == [("robin-1", 4.0, "config.toml"), ("wren-2-mini", rate, name)]
    with pytest.raises(PriceFileError, match="gone"):
        default_rate_file(env | {"SESSIONLAB_RATES": str(tmp_path / "gone.toml")})


def test_checks_name_what_looks_wrong() -> None:
    """Overlaps in time and context, reads above input and writes below it are each a sentence."""
    names = {"provider": "p", "model": "m", "origin": "file"}
    assert price_checks([
        Price(**names, input_usd_per_mtok=2.0, until_at=100),
        Price(**names, input_usd_per_mtok=2.0, from_at=100, band_until_tokens=10),
        Price(**names, input_usd_per_mtok=2.0, from_at=100, band_from_tokens=10),
    ]) == []  # fmt: skip
    assert price_checks([Price(**names, until_at=101), Price(**names, from_at=100)]) == [
        "p/m/standard: two rates hold at once"
    ]
    assert price_checks(
        [Price(**names, input_usd_per_mtok=2.0, cache_read_usd_per_mtok=3.0, cache_write_usd_per_mtok=1.5)]
    ) == [
        "p/m/standard: cache reads cost 3, input costs 2",
        "p/m/standard: cache writes cost 1.5, less than 2",
    ]


@st.composite
def layers(draw: st.DrawFn) -> list[list[Piece]]:
    """Layers of pieces that do not meet inside a layer; each piece is told apart by its name."""
    found = []
    for layer in range(draw(st.integers(1, 4))):
        cuts = sorted(draw(st.sets(st.integers(-9, 9), max_size=6)))
        edges = [ALWAYS, *cuts, FOREVER] if draw(st.booleans()) else cuts
        kept = [
            Piece(start, end, 0, DAY_S, (), "test", f"{layer}:{start}")
            for start, end in itertools.pairwise(edges)
            if draw(st.booleans())
        ]
        found.append(kept)
    return found


@given(layers())
def test_at_every_instant_the_first_layer_that_speaks_is_heard(stack: list[list[Piece]]) -> None:
    """Laying histories over one another gives, at any time, the piece of the first layer that has one, and only it."""
    laid = overlay(stack)
    for instant in range(-11, 12):
        heard = [piece.origin_version for piece in laid if piece.from_at <= instant < piece.until_at]
        wanted = [
            piece.origin_version for layer in stack for piece in layer if piece.from_at <= instant < piece.until_at
        ]
        assert heard == wanted[:1]
