"""A user's own rates: TOML text → entries that say whose calls they price, from when until when, and at what.

Two shapes stand side by side in one file. mecha's prices a provider (mecha 10.2)::

    [providers.anthropic]
    input_price_per_mtok = 5.0      # US dollars per million tokens; both or neither
    output_price_per_mtok = 25.0    # cache writes cost 1.25 times input, hourly ones 2, reads 0.1

The richer one prices a model::

    [[rates]]
    provider = "acme"               # left out: whoever serves the model
    model = "wren-2*"               # `*` stands for any characters
    variant = "batch"               # left out: every tier without rates of its own
    from = 2026-03-01               # a date or a date-time, UTC; left out: always
    until = 2026-09-01              # exclusive; left out: until the same model's next `from`
    input = 3.0                     # US dollars per million tokens
    output = 15.0
    cache_read = 0.3                # left out: as input
    cache_write = 3.75              # left out: as input
    cache_write_1h = 6.0            # left out: as cache_write
    web_search = 10.0               # US dollars per thousand searches
    bands = [{ from_tokens = 200_001, input = 6.0, output = 22.5 }]   # the rest as above
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sessionlab.errors import PriceFileError
from sessionlab.prices.rates import ALWAYS, DAY_S, FOREVER, Band, Piece, Rates, bands_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessionlab.prices.names import Pair

ORIGIN = "file"
WRITE_FACTOR, WRITE_1H_FACTOR, READ_FACTOR = 1.25, 2.0, 0.1
"""What cache writes, hourly cache writes and cache reads cost in units of input, in mecha's shape (mecha 10.2)."""

_UNITS = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "web_search")
_NAMES = ("provider", "model", "variant")
_KEYS = (*_NAMES, "from", "until", *_UNITS, "bands")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Entry(NamedTuple):
    """One priced thing of a file; ``model`` None prices every model of the provider, in mecha's shape."""

    provider: str | None
    model: str | None
    variant: str
    from_at: int
    until_at: int
    bands: tuple[Band, ...]
    origin_version: str
    place: str

    @property
    def rank(self) -> tuple[bool, bool, bool, int, str, str]:
        """Sorts the most telling first: a whole model name, then a pattern, then a provider's price."""
        model = self.model or ""
        return (self.model is None, "*" in model, self.provider is None, -len(model), self.provider or "", model)

    def fits(self, pair: Pair) -> bool:
        """Whether the entry prices what ``pair`` names."""
        provider, model = pair
        if self.provider is not None and self.provider != provider:
            return False
        if self.model is None:
            return True
        pattern = ".*".join(re.escape(part) for part in self.model.split("*"))
        return model is not None and re.fullmatch(pattern, model, re.DOTALL) is not None

    @property
    def piece(self) -> Piece:
        """The entry as a stretch of a price history."""
        return Piece(self.from_at, self.until_at, 0, DAY_S, self.bands, ORIGIN, self.origin_version)


class RateFile(NamedTuple):
    """The entries of one or more files; an earlier file is asked before a later one."""

    files: tuple[tuple[Entry, ...], ...] = ()

    def over(self, other: RateFile) -> RateFile:
        """Both, this one asked first."""
        return RateFile(self.files + other.files)

    def layers(self, pair: Pair) -> list[dict[str, list[Piece]]]:
        """What prices ``pair``, the most telling first: pieces by variant."""
        layers: list[dict[str, list[Piece]]] = []
        for entries in self.files:
            fitting = sorted((entry for entry in entries if entry.fits(pair)), key=lambda entry: entry.rank)
            for _, group in groupby(fitting, key=lambda entry: entry.rank):
                layer: dict[str, list[Piece]] = {}
                for entry in group:
                    layer.setdefault(entry.variant, []).append(entry.piece)
                layers.append(layer)
        return layers


def read_rate_file(path: str | os.PathLike[str]) -> RateFile:
    """Read a rates file; `prices.origin_version` and errors call it by its name.

    Raises PriceFileError naming file, key, what was expected and what was found.
    """
    return parse_rates(*_read(path))


def parse_rates(text: str, name: str = "rates") -> RateFile:
    """The rates of TOML ``text``, as :func:`read_rate_file` reads them from a file called ``name``."""
    document = _document(text, name)
    found = [*_model_entries(name, document.get("rates", [])), *_provider_entries(name, document.get("providers", {}))]
    if stray := sorted(document.keys() - {"rates", "providers"}):
        raise PriceFileError(f"{name}: {stray[0]}: expected [[rates]] or [providers.NAME], found this key")
    return RateFile((tuple(found),))


def read_mecha_config(path: str | os.PathLike[str]) -> RateFile:
    """The provider prices of a mecha configuration (mecha 10.2); everything else in it is passed over."""
    text, name = _read(path)
    return RateFile((tuple(_provider_entries(name, _document(text, name).get("providers", {}))),))


def default_rate_file(env: Mapping[str, str] | None = None) -> RateFile | None:
    """The rates this machine's user keeps; None when there are none.

    `$SESSIONLAB_RATES` (which must exist), else `~/.config/sessionlab/rates.toml`; then the `config.toml` of the
    mecha home (`$MECHA_HOME`, else `~/.mecha`).
    """
    env = os.environ if env is None else env
    home = Path(env.get("HOME") or Path.home())
    own = home / ".config" / "sessionlab" / "rates.toml"
    mecha = Path(env.get("MECHA_HOME") or home / ".mecha").expanduser() / "config.toml"
    found = RateFile()
    if told := env.get("SESSIONLAB_RATES"):
        found = read_rate_file(Path(told).expanduser())
    elif own.is_file():
        found = read_rate_file(own)
    if mecha.is_file():
        found = found.over(read_mecha_config(mecha))
    return found if any(found.files) else None


def _read(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Text and name of a file."""
    try:
        return Path(path).read_text(encoding="utf-8-sig"), Path(path).name
    except (OSError, UnicodeDecodeError) as error:
        raise PriceFileError(f"{path}: expected a readable TOML file, found: {error}") from error


def _document(text: str, name: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PriceFileError(f"{name}: expected TOML, found: {error}") from error


def _provider_entries(name: str, providers: object) -> Iterable[Entry]:
    """The `[providers.NAME]` tables that give both prices; one alone prices nothing (mecha 10.2)."""
    for provider, table in _table(name, "providers", providers).items():
        place = f"providers.{provider}"
        members = _table(name, place, table)
        keys = ("input_price_per_mtok", "output_price_per_mtok")
        found = [_price(name, f"{place}.{key}", members[key]) for key in keys if key in members]
        if len(found) == len(keys):
            paid, answered = found
            rates = Rates(paid, paid * READ_FACTOR, paid * WRITE_FACTOR, paid * WRITE_1H_FACTOR, answered)
            yield Entry(provider, None, "standard", ALWAYS, FOREVER, (Band(0, None, rates),), name, place)


def _model_entries(name: str, tables: object) -> list[Entry]:
    """The `[[rates]]` tables; those of one model and variant follow one another in time and may not overlap."""
    if not isinstance(tables, list):
        raise _wrong(name, "rates", "[[rates]] tables", tables)
    read = [_model_entry(name, f"rates[{ix}]", table) for ix, table in enumerate(tables)]
    entries: list[Entry] = []
    read.sort(key=lambda entry: (entry.rank, entry.variant, entry.from_at))
    for _, group in groupby(read, key=lambda entry: (entry.rank, entry.variant)):
        told = list(group)
        for entry, after in zip(told, [*told[1:], None], strict=True):
            if after and (after.from_at == entry.from_at or FOREVER > entry.until_at > after.from_at):
                raise PriceFileError(
                    f"{name}: {after.place}: expected rates of {after.model!r} that begin when those of {entry.place} "
                    "have ended, found rates for the same time"
                )
            entries.append(entry._replace(until_at=min(entry.until_at, after.from_at)) if after else entry)
    return entries


def _model_entry(name: str, place: str, given: object) -> Entry:
    table = _table(name, place, given)
    for key in table:
        if key not in _KEYS:
            raise _wrong(name, f"{place}.{key}", f"one of {', '.join(_KEYS)}", key)
    texts = {key: _text(name, f"{place}.{key}", table[key]) for key in _NAMES if key in table}
    for key in ("model", "input", "output"):
        if key not in table:
            raise PriceFileError(f"{name}: {place}.{key}: expected a value, found none")
    from_at = _instant(name, f"{place}.from", table["from"]) if "from" in table else ALWAYS
    until_at = _instant(name, f"{place}.until", table["until"]) if "until" in table else FOREVER
    if until_at <= from_at:
        raise _wrong(name, f"{place}.until", "a time after `from`", table["until"])
    return Entry(
        provider=texts.get("provider"),
        model=texts["model"],
        variant=texts.get("variant", "standard").lower(),
        from_at=from_at,
        until_at=until_at,
        bands=_bands(name, place, table),
        origin_version=name,
        place=place,
    )


def _bands(name: str, place: str, table: Mapping[str, object]) -> tuple[Band, ...]:
    named: dict[str, float | None] = {}
    for unit in _UNITS:
        if unit in table:
            named[unit] = _price(name, f"{place}.{unit}", table[unit])
    steps = {0: Rates.resolve(named)}
    bands = table.get("bands", [])
    if not isinstance(bands, list):
        raise _wrong(name, f"{place}.bands", "a list of tables", bands)
    for ix, given in enumerate(bands):
        spot = f"{place}.bands[{ix}]"
        band = _table(name, spot, given)
        start = band.get("from_tokens")
        if not isinstance(start, int) or isinstance(start, bool) or start < 1 or start in steps:
            raise _wrong(name, f"{spot}.from_tokens", "a whole number of 1 or more, once", start)
        for key in band:
            if key not in ("from_tokens", *_UNITS):
                raise _wrong(name, f"{spot}.{key}", f"one of from_tokens, {', '.join(_UNITS)}", key)
        told: dict[str, float | None] = {
            unit: _price(name, f"{spot}.{unit}", band[unit]) for unit in _UNITS if unit in band
        }
        steps[start] = Rates.resolve(named | told)
    return bands_from(sorted(steps.items()))


def _table(name: str, place: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _wrong(name, place, "a table", value)
    return value


def _text(name: str, place: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(name, place, "a text", value)
    return value


def _price(name: str, place: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise _wrong(name, place, "US dollars, a number of 0 or more", value)
    return float(value)


def _instant(name: str, place: str, value: object) -> int:
    """A TOML date or date-time as microseconds since 1970; without a zone it is UTC."""
    if not isinstance(value, date):
        raise _wrong(name, place, "a date or a date-time, unquoted", value)
    moment = value if isinstance(value, datetime) else datetime.combine(value, time(), UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _wrong(name: str, place: str, expected: str, found: object) -> PriceFileError:
    return PriceFileError(f"{name}: {place}: expected {expected}, found {found!r}")
