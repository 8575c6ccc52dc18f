"""The tables of a corpus in, the same tables without what must not be shared out, with a table of what was removed.

Two passes: a redactor learns from every text of every table, then every text is gone through after the treatment its
column has (`TREATMENTS`). Numbers and times stay as they are. What is a digest of something that was changed is
replaced as well: a file's `source_id` where its uri was changed; content addresses and checksums where the body or
the file they were taken of was; `record_id` of every entry of a file anything of which was. Equal ones stay equal in
every table, so that rows join as they did; a corpus redacted with another key has nothing in common with this one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sessionlab.redaction.exact import Redactor
from sessionlab.redaction.identifiers import KeyedDigests, with_sources
from sessionlab.redaction.stored import Texts
from sessionlab.redaction.treatments import RECORD_IDS, SOURCE_IDS, TREATMENTS, Treatment, by_kind

if TYPE_CHECKING:
    import polars as pl

_CHANGED: Final = (Treatment.TEXT, Treatment.JSON, Treatment.IDENTIFIER, Treatment.SESSION)
_DIGEST: Final = re.compile(r"(?:[a-z0-9]{2,12}[:_-])?[0-9a-f]{8,128}")
_NAMES = ("rule", "table", "column")
FINDINGS: Final = pa.schema({**dict.fromkeys(_NAMES, pa.string()), "source_id": pa.int64(), "count": pa.int64()})
"""One row per rule, column and file: how many removals, each counted in every row it stands in; never a value."""
Held = Callable[[], Iterable[tuple[str, pa.RecordBatchReader]]]


class Redacted(NamedTuple):
    """What came of the tables of a corpus.

    Attributes:
        tables: by stem: ``usage`` is a raw table, ``folded.usage`` what was folded out of it.
        findings: as `FINDINGS`.
    """

    tables: dict[str, pa.Table]
    findings: pl.DataFrame


def redact(held: Held, redactor: Redactor, key: bytes) -> Redacted:
    """Go through the tables of a corpus.

    Args:
        held: gives its tables by stem, anew each time it is called.
        redactor: made for this corpus alone.
        key: of the pseudonyms of digests.
    """
    texts = Texts(redactor)
    for stem, reader in held():
        if not stem.startswith("folded."):
            for batch in reader:
                _learn(texts, stem, batch)
    walk = _Walk(texts)
    tables = {stem: walk.table(stem, reader) for stem, reader in held()}
    digests = _Digests(walk, KeyedDigests(key), tables)
    tables = {stem: digests.replaced(stem, table) for stem, table in tables.items()}
    found: list[dict[str, object]] = [
        {
            **dict(zip(_NAMES, names, strict=True)),
            "source_id": digests.sources.get(source_id, source_id),
            "count": count,
        }
        for (*names, source_id), count in sorted(walk.found.items())
    ]
    import polars as pl  # noqa: PLC0415 (brought when first needed)

    return Redacted(tables, pl.DataFrame(pa.Table.from_pylist(found, FINDINGS)))


def _learn(texts: Texts, stem: str, batch: pa.RecordBatch) -> None:
    for name, treatment in TREATMENTS[stem].items():
        if treatment is Treatment.BODY:
            for kind, part in by_kind(batch).items():
                _learn_all(texts, kind, batch.column(name).filter(part))
        elif treatment in _CHANGED and name in batch.schema.names:
            _learn_all(texts, treatment, batch.column(name))


def _learn_all(texts: Texts, treatment: Treatment, column: pa.Array) -> None:
    for text in column.unique().to_pylist():
        if text:
            texts.learn(treatment, text)


class _Walk:
    """The second pass: tables with their texts redacted, and what was found.

    Attributes:
        found: removals by rule, table, column and source id.
        sources: files of which anything but the uri was changed.
        bodies: bodies that were changed: source id, pool, ix.
        moved: files whose uri was changed.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self.found: Counter[tuple[str, str, str, int]] = Counter()
        self.sources: set[int] = set()
        self.bodies: set[tuple[int, str, int]] = set()
        self.moved: set[int] = set()

    def is_secret(self, digest: str) -> bool:
        """Whether what is called a digest is none, and not to be shared."""
        return _DIGEST.fullmatch(digest) is None and self._texts.became(Treatment.IDENTIFIER, digest).text is not None

    def table(self, stem: str, reader: pa.RecordBatchReader) -> pa.Table:
        """A table with its texts redacted, its digests as they were."""
        return pa.Table.from_batches((self._batch(stem, batch) for batch in reader), reader.schema)

    def _batch(self, stem: str, batch: pa.RecordBatch) -> pa.RecordBatch:
        is_folded, name = stem.startswith("folded."), stem.removeprefix("folded.")
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for column, treatment in TREATMENTS[name].items():
            if column not in columns:
                continue
            if treatment is Treatment.BODY:
                treatments = by_kind(batch)
            elif treatment in _CHANGED:
                treatments = {treatment: None}
            else:
                continue
            for one, part in treatments.items():
                columns[column], changed = self._column(one, columns[column], part)
                if changed and not is_folded:
                    self._note(name, column, batch, changed)
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=batch.schema)

    def _column(
        self, treatment: Treatment, column: pa.Array, part: pa.Array | None
    ) -> tuple[pa.Array, dict[int, tuple[tuple[str, int], ...]]]:
        """The column, and by the row what each changed one lost; ``part``: the rows this treatment is for."""
        encoded = (
            column if part is None else pc.if_else(part, column, pa.scalar(None, column.type))
        ).dictionary_encode()
        told = encoded.dictionary.to_pylist()
        became = [self._texts.became(treatment, text) if text else None for text in told]
        lost = {at: one.counts for at, one in enumerate(became) if one is not None and one.text is not None}
        if not lost:
            return column, {}
        words = [old if one is None or one.text is None else one.text for old, one in zip(told, became, strict=True)]
        places = encoded.indices.to_pylist()
        redacted = pa.array(words, column.type).take(encoded.indices)
        if part is not None:
            redacted = pc.if_else(part, redacted, column)
        return redacted, {row: lost[at] for row, at in enumerate(places) if at in lost}

    def _note(
        self, table: str, column: str, batch: pa.RecordBatch, changed: Mapping[int, tuple[tuple[str, int], ...]]
    ) -> None:
        source_ids = batch.column("source_id").to_pylist()
        for row, counts in changed.items():
            for rule, count in counts:
                self.found[rule, table, column, source_ids[row]] += count
        told = {source_ids[row] for row in changed}
        if (table, column) == ("sources", "uri"):
            self.moved |= told
            return
        self.sources |= told
        if table in {"pools", "blocks"}:
            pools, places = batch.column("pool").to_pylist(), batch.column("ix").to_pylist()
            self.bodies |= {(source_ids[row], pools[row], places[row]) for row in changed}


class _Digests:
    """The third step: digests of what was changed, replaced in every table.

    Attributes:
        sources: source ids by what they were.
    """

    def __init__(self, walk: _Walk, keyed: KeyedDigests, tables: Mapping[str, pa.Table]) -> None:
        self.sources = {digest: keyed.number(digest, "source") for digest in walk.moved}
        self._records = {digest: keyed.number(digest, "record") for digest in _records_of(tables, walk.sources)}
        self._contents = {digest: keyed.content_id(digest) for digest in _contents_of(tables, walk)}

    def replaced(self, stem: str, table: pa.Table) -> pa.Table:
        """The table with what was digested of a changed thing replaced."""
        treatments = TREATMENTS[stem.removeprefix("folded.")]
        for at, field in enumerate(table.schema):
            treatment = treatments.get(field.name)
            new: Mapping[int, int] | Mapping[str, str]
            if field.name in SOURCE_IDS:
                new = self.sources
            elif field.name in RECORD_IDS:
                new = self._records
            elif treatment is Treatment.DIGEST:
                new = self._contents
            elif treatment in {Treatment.SESSION, Treatment.IDENTIFIER} and self.sources:
                told = table.column(at).unique().drop_null().to_pylist()
                new = {one: other for one in told if (other := with_sources(one, self.sources)) != one}
            else:
                continue
            if new:
                table = table.set_column(at, field, _mapped(table.column(at), new))
        return table


def _mapped(column: pa.ChunkedArray, new: Mapping[int, int] | Mapping[str, str]) -> pa.ChunkedArray:
    chunks = []
    for chunk in column.chunks:
        encoded = chunk.dictionary_encode()
        words = [new.get(word, word) for word in encoded.dictionary.to_pylist()]
        chunks.append(pa.array(words, column.type).take(encoded.indices))
    return pa.chunked_array(chunks, column.type)


def _records_of(tables: Mapping[str, pa.Table], sources: set[int]) -> Iterator[int]:
    """The record ids of all entries of these files: an id may be taken over any part of its line."""
    entries = tables.get("entries")
    if entries is not None and sources:
        wanted = pc.is_in(entries["source_id"], value_set=pa.array(sorted(sources), pa.int64()))
        yield from entries["record_id"].filter(wanted).unique().drop_null().to_pylist()


def _contents_of(tables: Mapping[str, pa.Table], walk: _Walk) -> Iterator[str]:
    """The content ids of changed bodies, and what other digests the rows of changed files hold."""
    for stem, table in tables.items():
        names = [name for name, treatment in TREATMENTS.get(stem, {}).items() if treatment is Treatment.DIGEST]
        if not names or stem.startswith("folded."):
            continue
        of_bodies = stem == "pools"
        keys = table.select(["source_id", *(("pool", "ix") if of_bodies else ())]).to_pydict().values()
        changed: set[object] = set(walk.bodies if of_bodies else walk.sources)
        rows = [row for row, key in enumerate(zip(*keys, strict=True)) if (key if of_bodies else key[0]) in changed]
        for name in names:
            yield from table[name].take(pa.array(rows, pa.int64())).unique().drop_null().to_pylist()
            # what a file calls a digest need not be one
            yield from (told for told in table[name].unique().drop_null().to_pylist() if walk.is_secret(told))
