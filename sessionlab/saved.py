"""Tables in, a folder of Parquet files and a small ``sessionlab.json`` out, and back again.

A saved corpus holds its raw tables (``usage.parquet``) and beside them what was folded out of them
(``folded.usage.parquet``): a corpus that was narrowed, or redacted, gives the same figures when it is loaded again,
though what decided them is not in the folder.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sessionlab.arrow import SCHEMAS
from sessionlab.errors import LoadError, WrongUse
from sessionlab.formats.recording import digest63
from sessionlab.paths import Found, PathLike

if TYPE_CHECKING:
    import duckdb
    import polars as pl

FORMAT = "sessionlab-tables"
VERSION = 1
MANIFEST = "sessionlab.json"
FINDINGS = "findings"
"""Name of the table of what was redacted."""
BODY_TABLES = frozenset({"pools", "blocks"})
STEP_TABLES = frozenset({"windows", "tool_calls", "configs"})
"""What a load of figures alone leaves out; of entries it keeps those that tell which figures are copies."""
_FOLDED = "folded."
_FOLDED_ALONE = frozenset({"_tellings", "copies"})
"""Tables that are folded out of others, and have no raw rows."""
_FINDING = frozenset({"rule", "table", "column", "source_id", "count"})
_BATCH_ROWS = 32_768
_MANIFEST_BYTES = 1 << 20


class Saved:
    """A saved corpus among the files of a load.

    Attributes:
        uri: its ``sessionlab.json``.
        bodies, figures: what it was loaded with, before it was saved.
    """

    def __init__(self, manifest: Found, told: Mapping[str, object]) -> None:
        self.uri = manifest.uri
        self.bodies, self.figures = told.get("bodies") is True, told.get("figures") is True
        if told.get("version") != VERSION:
            raise self._damaged(
                f"expected version {VERSION}, found {told.get('version')!r}; a newer sessionlab wrote it"
            )
        self._raw, self._folded = self._counts(told, "tables"), self._counts(told, "folded")
        self.redacted = told.get(FINDINGS) is not None
        unknown = sorted((self._raw.keys() - SCHEMAS.keys()) | (self._folded.keys() - SCHEMAS.keys() - _FOLDED_ALONE))
        if unknown:  # these names become names of files and of tables
            raise self._damaged(f"expected common tables, found {', '.join(unknown)}")

    def sources(self) -> dict[int, str]:
        """The files it holds rows of: their uris by source id."""
        table = pa.Table.from_batches(self._raw_batches("sources"), SCHEMAS["sources"])
        return dict(zip(table["source_id"].to_pylist(), table["uri"].to_pylist(), strict=True))

    def parts(self, *, bodies: bool, figures: bool) -> Iterator[dict[str, pa.Table]]:
        """Its raw rows, some ten thousand of a table at a time; only those a load so told holds."""
        for name in self._raw:
            if (name in BODY_TABLES and (figures or not bodies)) or (name in STEP_TABLES and figures):
                continue
            for batch in self._raw_batches(name):
                part = pa.Table.from_batches([batch], SCHEMAS[name])
                yield {name: part if bodies else _without_bodies(name, part)}

    def folded(self, *, bodies: bool, figures: bool) -> dict[str, pa.Table]:
        """What was folded out of the rows, by the name of the plain table."""
        found = {}
        for name in self._folded:
            if name in STEP_TABLES and figures:
                continue
            stem = f"{_FOLDED}{name}"
            batches = list(self._batches(stem, self._folded[name]))
            table = pa.Table.from_batches(batches, batches[0].schema if batches else self._schema(stem))
            found[name] = table if bodies else _without_bodies(name, table)
        return found

    def findings(self) -> pa.Table:
        """What was redacted before it was saved."""
        with self._opened(FINDINGS) as file:
            if unlike := sorted(_FINDING ^ set(file.schema_arrow.names)):
                raise self._damaged(
                    f"{FINDINGS}.parquet: expected {', '.join(sorted(_FINDING))}; apart: {', '.join(unlike)}"
                )
            return file.read()

    def _raw_batches(self, name: str) -> Iterator[pa.RecordBatch]:
        wanted = SCHEMAS[name]
        for batch in self._batches(name, self._raw.get(name, 0)):
            yield self._shaped(name, batch, wanted)

    def _shaped(self, name: str, batch: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
        """The batch in the columns of today: one that an older sessionlab did not know is null."""
        types = {field.name: field.type for field in batch.schema}
        if unknown := sorted(types.keys() - set(wanted.names)):
            raise self._damaged(f"{name}.parquet has columns that this version does not know: {', '.join(unknown)}")
        arrays = []
        for field in wanted:
            if field.name not in types and field.nullable:
                arrays.append(pa.nulls(batch.num_rows, field.type))
                continue
            if types.get(field.name) != field.type:
                found = types.get(field.name, "no such column")
                raise self._damaged(f"{name}.parquet: expected {field.name} of type {field.type}, found {found}")
            column = batch.column(field.name)
            if column.null_count and not field.nullable:
                raise self._damaged(f"{name}.parquet: expected no nulls in {field.name}, found {column.null_count}")
            arrays.append(column)
        return pa.RecordBatch.from_arrays(arrays, schema=wanted)

    def _batches(self, stem: str, rows: int) -> Iterator[pa.RecordBatch]:
        found = 0
        with self._opened(stem) as file:
            batches = file.iter_batches(_BATCH_ROWS)
            while True:
                try:
                    batch = next(batches, None)
                except (pa.ArrowException, OSError, ValueError) as error:
                    raise self._damaged(f"{stem}.parquet cannot be read to its end: {error}") from error
                if batch is None:
                    break
                found += batch.num_rows
                yield batch
        if found != rows:
            raise self._damaged(f"{stem}.parquet: expected {rows:,} rows, found {found:,}")

    def _schema(self, stem: str) -> pa.Schema:
        with self._opened(stem) as file:
            return file.schema_arrow

    @contextmanager
    def _opened(self, stem: str) -> Iterator[pq.ParquetFile]:
        beside = f"{self.uri.removesuffix(MANIFEST)}{stem}.parquet"
        try:
            stream = Found(beside, None, None).open()
        except (FileNotFoundError, IsADirectoryError) as error:
            raise self._damaged(f"expected {stem}.parquet beside it, found none") from error
        with stream:
            try:
                file = pq.ParquetFile(stream, page_checksum_verification=True)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise self._damaged(f"{stem}.parquet is no Parquet file that can be read: {error}") from error
            yield file

    def _counts(self, told: Mapping[str, object], key: str) -> dict[str, int]:
        counts = told.get(key)
        if not isinstance(counts, dict) or not all(type(rows) is int for rows in counts.values()):
            raise self._damaged(f"expected the rows of each table under {key!r}, found {_short(counts)}")
        return counts

    def _damaged(self, why: str) -> LoadError:
        return LoadError(f"saved corpus {self.uri}: {why}. Save it again, or load the files it was made of")


class Sorted(NamedTuple):
    """The files of a load: saved corpora, and all others."""

    saved: list[Saved]
    files: list[Found]


def sort(found: Iterable[Found], given: Iterable[PathLike]) -> Sorted:
    """Tell saved corpora from session files; what lies beside a ``sessionlab.json`` of ours belongs to it.

    Args:
        found: as `paths.find` gives them.
        given: what the user named: a ``sessionlab.json`` named there must be one of ours.

    Raises:
        LoadError: a damaged or foreign ``sessionlab.json``, or a file that two of the parts hold rows of.
    """
    files = list(found)
    manifests = [file for file in files if file.stream is None and _base(file.uri) == MANIFEST]
    if not manifests:
        return Sorted([], files)
    named = {os.path.abspath(os.path.expanduser(os.fsdecode(path))) for path in given if not hasattr(path, "read")}  # noqa: PTH100, PTH111 (as `paths.find` spells them)
    saved: list[Saved] = []
    for manifest in manifests:
        told = _told(manifest)
        if told is not None:
            saved.append(Saved(manifest, told))
        elif manifest.uri in named or _folder(manifest.uri) in named or "://" in manifest.uri:
            raise LoadError(f"{manifest.uri}: expected a saved corpus, an object whose `format` is {FORMAT!r}")
    folders = {_folder(one.uri) for one in saved}
    rest = [file for file in files if file.stream is not None or _folder(file.uri) not in folders]
    _check_apart(saved, rest)
    return Sorted(saved, rest)


def _check_apart(saved: list[Saved], files: list[Found]) -> None:
    """A file whose rows stood twice would be counted twice: its rows have one key."""
    place = {digest63(file.uri): "the files to read" for file in files}
    for one in saved:
        for source_id, uri in one.sources().items():
            if source_id in place:
                raise LoadError(
                    f"{uri} stands in {place[source_id]} and in {one.uri}: expected each file once; load one of them"
                )
            place[source_id] = one.uri


def _told(manifest: Found) -> dict[str, object] | None:
    """What a ``sessionlab.json`` says; None when it is not of ours."""
    try:
        with manifest.open() as stream:
            told = json.loads(stream.read(_MANIFEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and told.get("format") == FORMAT else None


def parts(saved: Iterable[Saved], *, bodies: bool, figures: bool) -> Iterator[dict[str, pa.Table]]:
    """The raw rows of saved corpora, some ten thousand of a table at a time."""
    for one in saved:
        yield from one.parts(bodies=bodies, figures=figures)


def folded(saved: Sequence[Saved], *, bodies: bool, figures: bool) -> dict[str, pa.Table]:
    """What was folded out of one saved corpus; several are folded anew, together."""
    return saved[0].folded(bodies=bodies, figures=figures) if len(saved) == 1 else {}


def findings(saved: Sequence[Saved]) -> pl.DataFrame | None:
    """What was redacted in saved corpora; None unless all of them were gone through."""
    if not saved or not all(one.redacted for one in saved):
        return None
    import polars as pl  # noqa: PLC0415 (few loads need it)

    return pl.concat([pl.DataFrame(one.findings()) for one in saved])


def folds(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Of tables by the stem of their file, those that were folded, by the name of the plain table."""
    return {stem.removeprefix(_FOLDED): table for stem, table in tables.items() if stem.startswith(_FOLDED)}


def selects(tables: Iterable[str], folds: Iterable[str], whole: str, *, scoped: bool, figures: bool) -> dict[str, str]:
    """SQL for what is saved of a corpus, by the stem of its file.

    Args:
        tables: the raw tables it holds.
        folds: the plain tables that were computed when it was loaded.
        whole: catalog of the whole load.
        scoped: whether it was narrowed to some sessions.
        figures: whether it holds figures alone, so that of its entries only those stand that decide copies.
    """
    asked = {name: f"FROM raw.{name}" for name in tables}
    kept = "SEMI JOIN raw.sessions k ON k.session_id = x.session_id"
    entries = "raw.entries"
    if figures:
        entries = f"(SELECT x.* FROM {whole}.raw.entries x {kept})"
        asked["entries"] = f"FROM {entries}"
    narrower = {
        "_tellings": f"SELECT x.* FROM _tellings x {kept}",
        "copies": f"SELECT x.* FROM copies x SEMI JOIN {entries} e ON e.source_id = x.source_id AND e.seq = x.seq",
    }
    for name in folds:
        asked[f"{_FOLDED}{name}"] = narrower[name] if scoped and name in narrower else f"FROM main.{name}"
    if scoped and not figures:  # a call may have got its result from a copy in a session that is left out
        asked[f"{_FOLDED}tool_calls"] = "FROM main.tool_calls"
    return asked


def restore(con: duckdb.DuckDBPyConnection, folded: Mapping[str, pa.Table], *, figures: bool) -> None:
    """Put plain tables that were folded before in the place of those folded out of what was inserted.

    Raises:
        LoadError: one that has not the columns of the table it is put in the place of.
    """
    for name, table in folded.items():
        con.register("_part", _in_columns(name, table, con.table(name).columns))
        con.execute(f"DROP {'VIEW' if name in STEP_TABLES else 'TABLE'} {name}")
        con.execute(f"CREATE TABLE {name} AS FROM _part")
        con.unregister("_part")
    if figures and "sessions" in folded:
        con.execute("UPDATE sessions SET entries = NULL")  # as `views.fold` says it of figures alone


def _in_columns(name: str, table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The table in the columns of today: one that may be null, and that an older sessionlab did not know, is null."""
    types = {field.name: field.type for field in SCHEMAS.get(name, ()) if field.nullable}
    missing = [column for column in columns if column not in table.column_names]
    if unlike := sorted((set(missing) - types.keys()) | (set(table.column_names) - set(columns))):
        raise LoadError(
            f"saved corpus: {_FOLDED}{name}.parquet has not the columns of today: {', '.join(unlike)}."
            " Save it again, or load the files it was made of"
        )
    for column in missing:
        table = table.append_column(column, pa.nulls(table.num_rows, types[column]))
    return table.select(columns)


def write(
    folder: str | os.PathLike[str],
    tables: Iterable[tuple[str, pa.Table | pa.RecordBatchReader]],
    *,
    bodies: bool,
    figures: bool,
    findings: pa.Table | None = None,
) -> Path:
    """Write a saved corpus into a new or empty folder: all of it, or nothing.

    Args:
        folder: where; folders above it are made.
        tables: stem of the file (``usage``, ``folded.usage``) and rows.
        bodies: whether the corpus holds what was said.
        figures: whether it holds figures alone.
        findings: what was redacted, if anything was gone through.

    Raises:
        WrongUse: there is a file of that name, or a folder that holds something.
        OSError: it cannot be written.
    """
    target = Path(folder).expanduser().absolute()
    check_free(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    made = target.with_name(f".{target.name}.{token_hex(4)}.part")
    made.mkdir()
    try:
        counts: dict[str, dict[str, int]] = {"tables": {}, "folded": {}}
        for stem, rows in tables:
            kind, _, name = stem.rpartition(".")
            counts["folded" if kind else "tables"][name] = _write_table(made / f"{stem}.parquet", rows, stem)
        told: dict[str, object] = {"format": FORMAT, "version": VERSION, "bodies": bodies, "figures": figures}
        told |= {**counts, FINDINGS: None if findings is None else findings.num_rows}
        if findings is not None:
            _write_table(made / f"{FINDINGS}.parquet", findings, FINDINGS)
        (made / MANIFEST).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        check_free(target)
        with suppress(FileNotFoundError):
            target.rmdir()  # not every system renames onto an empty folder
        made.rename(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return target


def check_free(target: Path) -> None:
    """Refuse to save where something is: raises WrongUse unless ``target`` is new, or an empty folder."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise WrongUse(f"{target}: expected a new or empty folder to save into, found a file or a link")
    if target.is_dir() and (first := next(target.iterdir(), None)):
        raise WrongUse(f"{target}: expected a new or empty folder to save into, found {first.name} in it")


def _write_table(path: Path, rows: pa.Table | pa.RecordBatchReader, stem: str) -> int:
    reader = rows.to_reader(_BATCH_ROWS) if isinstance(rows, pa.Table) else rows
    schema = SCHEMAS.get(stem, reader.schema)
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        for batch in reader:
            count += batch.num_rows
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return count


def _without_bodies(name: str, table: pa.Table) -> pa.Table:
    """The arguments of calls are null in a load without bodies."""
    if name != "tool_calls":
        return table
    at = table.schema.get_field_index("arguments")
    return table.set_column(at, table.schema.field(at), pa.nulls(table.num_rows, pa.string()))


def _base(uri: str) -> str:
    return uri.replace(os.sep, "/").rpartition("/")[2]


def _folder(uri: str) -> str:
    return uri[: -len(_base(uri))].rstrip("/" + os.sep)


def _short(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
