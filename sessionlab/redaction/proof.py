"""Tables in; what two scanners still find in their texts out: our own strict rules, and detect-secrets.

Never a value: which rule, in which column, how often. detect-secrets is an extra (``share``); it is asked with its own
plugins and heuristics at their defaults, but a comment in a text that tells it to look away is not obeyed, and nothing
it finds is sent anywhere to be verified.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

import pyarrow as pa

from sessionlab.redaction import leaks
from sessionlab.redaction.marks import MARK
from sessionlab.redaction.sharing import secret_values
from sessionlab.redaction.stored import parsed
from sessionlab.redaction.tables import Held
from sessionlab.redaction.treatments import TREATMENTS, Treatment, by_kind

if TYPE_CHECKING:
    import polars as pl
    from detect_secrets.plugins.base import BasePlugin

OURS: Final = "sessionlab"
THEIRS: Final = "detect-secrets"
WITHOUT_SHAPE: Final = frozenset({"Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"})
"""Plugins that find what a secret has in common with hashes, ids and addresses: reported, and decide nothing."""
NOT_INSTALLED: Final = "not installed: pip install 'sessionlab[share]'"

_PIECE: Final = 4_096
_OVERLAP: Final = 1_024
"""A longer line is scanned in pieces, which share so much that a secret stands whole in one of them."""
_REMEMBERED: Final = 32 << 20
_PLACEHOLDER: Final = re.compile(
    rf"{re.escape(MARK)}|(?:user|host|mail|entropy|redacted)-[0-9a-f]{{12}}[0-9a-f]*|\b(?:bearer|basic|token)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]")
_NUMBER: Final = re.compile("[0-9]+")
_SHORTEST: Final = 6
"""Characters below which a line is not asked about: no plugin knows a secret that short with its name."""
_LONG_BASE64: Final = re.compile(r"""['"][A-Za-z0-9+/\-_=]{23}""")
"""A shorter string cannot have the 4.5 bits a character from which on it counts as random."""


@dataclass(frozen=True)
class Proof:
    """What two scanners still find.

    Attributes:
        found: a row per scanner, rule, table and column: `count` suspected places; `has_shape` false for what is only
            told by its entropy, or is an address.
        missing: why a scanner could not be asked, in words; None when both were.
        characters: how many characters of distinct texts were scanned.
    """

    found: pl.DataFrame
    missing: str | None
    characters: int

    @property
    def ok(self) -> bool:
        """Whether both scanners were asked, and nothing that has the shape of a secret is left."""
        return self.missing is None and not self.left

    @property
    def left(self) -> int:
        """Places that have the shape of a secret, by either scanner."""
        return int(self.found.filter("has_shape")["count"].sum())

    @property
    def without_shape(self) -> int:
        """Places that look random, or are public addresses: hashes and ids among them."""
        return int(self.found.filter(~self.found["has_shape"])["count"].sum())

    def sentences(self) -> list[str]:
        """The proof in plain sentences."""
        told = [f"{self.characters:,} characters were scanned again."]
        for scanner, name in ((OURS, "The strict rules find"), (THEIRS, f"{THEIRS} finds")):
            if scanner == THEIRS and self.missing:
                told.append(f"{THEIRS} was not asked ({self.missing}): this is half a proof.")
                continue
            rows = self.found.filter((self.found["scanner"] == scanner) & self.found["has_shape"]).rows()
            places = [f"{count:,} x {rule} in {table}.{column}" for _, rule, table, column, count, _ in rows]
            told.append(f"{name} {', '.join(places) or 'nothing that has the shape of a secret'}.")
        if self.without_shape:
            told.append(f"Beyond shapes, {THEIRS} names {self.without_shape:,} random strings and addresses.")
            told.append("Hashes, ids and signatures are among them; `found` says where (with --json under `proof`).")
        return told

    def __str__(self) -> str:
        """The sentences, one behind the other."""
        return " ".join(self.sentences())


def prove(held: Held, *, declared: Iterable[str] | Mapping[str, str] = ()) -> Proof:
    """Scan every text of every table again.

    Args:
        held: gives the tables by stem, anew each time it is called.
        declared: values that must not be found anywhere, or name and value.

    Raises:
        WrongUse: ``declared`` is one string.
    """
    import polars as pl  # noqa: PLC0415 (brought when first needed)

    found = _by_our_rules(held, secret_values(declared))
    missing, characters = None, sum(len(cell.text) for cell in _cells(held))
    try:
        found += _by_detect_secrets(held)
    except ImportError:
        missing = NOT_INSTALLED
    rows = [(*place, count, place[1] not in WITHOUT_SHAPE) for place, count in sorted(found.items())]
    schema = dict.fromkeys(("scanner", "rule", "table", "column"), pl.String)
    frame = pl.DataFrame(rows, {**schema, "count": pl.Int64, "has_shape": pl.Boolean}, orient="row")
    return Proof(frame, missing, characters)


class _Cell(NamedTuple):
    """A text of a column; the same one stands in so many rows of a part of the table."""

    place: tuple[str, str]
    is_json: bool
    text: str
    rows: int


def _cells(held: Held) -> Iterator[_Cell]:
    """Every text of every raw table: no column is left out, whatever was done to it."""
    for stem, reader in held():
        if stem.startswith("folded."):
            continue
        for batch in reader:
            for name, treatment in TREATMENTS[stem].items():
                if name not in batch.schema.names:
                    continue
                if treatment is Treatment.BODY:
                    for kind, part in by_kind(batch).items():
                        yield from _counted((stem, name), batch.column(name).filter(part), kind)
                else:
                    yield from _counted((stem, name), batch.column(name), treatment)


def _counted(place: tuple[str, str], column: pa.Array, treatment: Treatment) -> Iterator[_Cell]:
    for one in column.value_counts().to_pylist():
        if one["values"]:
            yield _Cell(place, treatment is Treatment.JSON, one["values"], one["counts"])


def _by_our_rules(held: Held, declared: Iterable[str]) -> Counter[tuple[str, str, str, str]]:
    met: list[tuple[tuple[str, str], int]] = []

    def lines() -> Iterator[tuple[str, object]]:
        for cell in _cells(held):
            value = parsed(cell.text) if cell.is_json else None
            yield str(len(met)), cell.text if value is None else value
            met.append((cell.place, cell.rows))

    found: Counter[tuple[str, str, str, str]] = Counter()
    for finding in leaks(lines(), declared=declared):
        number = _NUMBER.match(finding.place)
        assert number is not None, "a place begins with what it was called"
        (table, column), rows = met[int(number[0])]
        found[OURS, finding.rule, table, column] += finding.count * rows
    return found


def _by_detect_secrets(held: Held) -> Counter[tuple[str, str, str, str]]:
    """Raises ImportError where detect-secrets is not installed."""
    found: Counter[tuple[str, str, str, str]] = Counter()
    with _Scanner.opened() as scanner:
        for cell in _cells(held):
            suspects = {suspect for line in _lines(cell) for suspect in scanner.suspects(line)}
            for plugin, _ in suspects:
                found[THEIRS, plugin, *cell.place] += cell.rows
    return found


def _lines(cell: _Cell) -> Iterator[str]:
    """The lines of a text, and of the strings in JSON that say something else than their escapes look like."""
    texts = [cell.text]
    if cell.is_json and "\\" in cell.text:
        texts += _strings(parsed(cell.text))
    for text in texts:
        for line in text.split("\n"):
            if len(line) <= _PIECE:
                yield line
                continue
            for start in range(0, len(line) - _OVERLAP, _PIECE - _OVERLAP):
                yield line[start : start + _PIECE]


def _strings(value: object) -> Iterator[str]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            todo += item
        elif isinstance(item, str):
            yield item


class _Plugin(Protocol):
    """What is asked of a plugin of detect-secrets."""

    def analyze_line(self, filename: str, line: str, line_number: int) -> Iterable[_Suspect]:
        """What it suspects in a line."""


class _Suspect(Protocol):
    """What a plugin of detect-secrets suspects."""

    secret_value: str | None


class _Scanner:
    """detect-secrets' plugins and heuristics, at their defaults."""

    def __init__(self, plugins: Iterable[_Plugin]) -> None:
        from detect_secrets.filters import heuristic  # noqa: PLC0415 (an extra)
        from detect_secrets.plugins import keyword  # noqa: PLC0415 (the same)

        self._plugins = [(type(plugin).__name__, plugin) for plugin in plugins]
        self._of_value = (
            heuristic.is_sequential_string,
            heuristic.is_potential_uuid,
            heuristic.is_templated_secret,
            heuristic.is_prefixed_with_dollar_sign,
            heuristic.is_not_alphanumeric_string,
        )
        self._of_line, self._is_id = heuristic.is_indirect_reference, heuristic.is_likely_id_string
        # its patterns are slow, and each of them looks for one of these words
        self._keywords = re.compile("|".join(keyword.DENYLIST), re.IGNORECASE)
        self._known: dict[str, frozenset[tuple[str, str]]] = {}
        self._left = _REMEMBERED

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[_Scanner]:
        """A scanner; the settings of detect-secrets are this process's, so they are put back at the end."""
        from detect_secrets.settings import default_settings, get_plugins  # noqa: PLC0415 (an extra)

        with default_settings():
            yield cls(get_plugins())

    def suspects(self, line: str) -> frozenset[tuple[str, str]]:
        """Plugin and value of what is suspected in a line."""
        known = self._known.get(line)
        if known is None:
            known = frozenset(self._asked(line)) if len(line) >= _SHORTEST else frozenset()
            if self._left > 0:
                self._left -= len(line)
                self._known[line] = known
        return known

    def _asked(self, line: str) -> Iterator[tuple[str, str]]:
        for name, plugin in self._plugins:
            if name == "KeywordDetector" and not self._keywords.search(line):
                continue
            if name == "Base64HighEntropyString" and not _LONG_BASE64.search(line):
                continue
            for suspect in plugin.analyze_line(filename="text", line=line, line_number=1):
                value = suspect.secret_value
                if (
                    value
                    and _WORD.search(_PLACEHOLDER.sub("", value))
                    and not self._is_harmless(name, plugin, line, value)
                ):
                    yield name, value

    def _is_harmless(self, name: str, plugin: _Plugin, line: str, value: str) -> bool:
        if name == "IPPublicDetector":  # no address has a letter, which one of the heuristics asks of a secret
            return False
        if self._of_line(line) or any(judge(value) for judge in self._of_value):
            return True
        return self._is_id(value, line, cast("BasePlugin", plugin))
