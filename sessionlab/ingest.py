"""Files in, Arrow tables out: detects each file's format, reads it, in parallel when there is much to read."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from types import ModuleType
from typing import NamedTuple

import pyarrow as pa

from sessionlab.arrow import Batcher
from sessionlab.errors import BadInput, Refused
from sessionlab.formats import Recording, all_formats, detect
from sessionlab.formats._collection import uncollected
from sessionlab.formats.recording import digest63
from sessionlab.paths import Found
from sessionlab.tables import Config, Problem, Row, Source, ToolCall, Window

BATCH_BYTES = 8 << 20
"""Input after which the rows read so far are handed over: larger parts cost more memory than they save time."""
PARALLEL_BYTES = 64 << 20
"""Below this much input a second process costs more than it saves."""
_CHUNK_ROWS = 2048


_STEPS = frozenset({Config, ToolCall, Window})
"""Rows no figure needs. `Entry` rows stay as far as a format makes them: they tell which figures are copies."""


class Read(NamedTuple):
    """What came of a part of the files: rows by table, the files no format claims, the bytes that were read."""

    tables: dict[str, pa.Table]
    unclaimed: list[str]
    bytes: int


class Wanted(NamedTuple):
    """What is wanted of the files.

    Attributes:
        bodies: `pools` and `blocks`, too.
        figures: sessions, agents, usage and outcomes are all that is wanted.
        strict: raise at the first problem worse than a note.
    """

    bodies: bool = True
    figures: bool = False
    strict: bool = False


def read_files(files: Sequence[Found], wanted: Wanted = Wanted()) -> Iterator[Read]:  # noqa: B008 (a constant)
    """Read ``files`` one after the other; memory holds the rows of about BATCH_BYTES of input at a time.

    Raises:
        BadInput, Refused: with ``strict``, at the first problem worse than a note.
    """
    reads = _read_files(files, wanted)
    while True:
        with uncollected():
            read = next(reads, None)
        if read is None:
            return
        yield read


def _read_files(files: Sequence[Found], wanted: Wanted) -> Iterator[Read]:
    all_formats()  # a format that cannot be imported is an error of the installation, not of the first file
    batcher = Batcher()
    unclaimed: list[str] = []
    pending = 0
    for found in files:
        source_id = digest63(found.uri)
        read_before = 0
        try:
            with found.open() as stream:
                recording = Recording(
                    stream,
                    uri=found.uri,
                    size_bytes=found.size_bytes,
                    modified_at=found.modified_at,
                    bodies=wanted.bodies,
                    figures=wanted.figures,
                )
                fmt = detect(recording.head())
                if fmt is None:
                    if recording.cut is None:
                        unclaimed.append(found.uri)
                        continue
                    # too little came out of a damaged stream to tell whose it is: that is no file of somebody else
                    lost = _lost(found, "cut_stream", recording.cut)
                    if wanted.strict:
                        _raise_first(lost, found.uri)
                    batcher.add(source_id, lost)
                    continue
                recording.format = fmt.NAME
                rows = fmt.read(recording)
                while chunk := list(islice(rows, _CHUNK_ROWS)):
                    if wanted.strict:
                        _raise_first(chunk, found.uri)
                    if wanted.figures:
                        chunk = [row for row in chunk if type(row) not in _STEPS]
                    batcher.add(source_id, chunk)
                    pending += recording.decoded_bytes - read_before
                    read_before = recording.decoded_bytes
                    if pending >= BATCH_BYTES:
                        yield Read(batcher.take(), unclaimed, pending)
                        unclaimed, pending = [], 0
        except OSError as error:
            if wanted.strict:
                raise BadInput(found.uri, None, "unreadable_file", str(error)) from error
            detail = f"the file could not be read: {error.strerror or error}"
            batcher.add(source_id, _lost(found, "unreadable_file", detail))
        except BadInput:
            raise
        except Exception as error:
            # A reader never raises for bad input. Should one do so all the same, it costs its own file, not the load.
            if wanted.strict:
                raise
            batcher.add(source_id, _lost(found, "reader_failed", f"{type(error).__name__}: {error}"))
    yield Read(batcher.take(), unclaimed, pending)


def _raise_first(rows: list[Row], uri: str) -> None:
    for row in rows:
        if isinstance(row, Problem) and row.severity != "note":
            kind = Refused if row.severity == "refusal" else BadInput
            raise kind(uri, row.line, row.kind, row.detail or "")


def _lost(found: Found, kind: str, detail: str) -> list[Row]:
    return [
        Problem(kind=kind, severity="refusal", detail=detail),
        Source(uri=found.uri, format="unknown", size_bytes=found.size_bytes, state="refused", reason=detail),
    ]


def _read_part(files: list[Found], wanted: Wanted) -> list[Read]:
    return list(read_files(files, wanted))


def read_all(
    files: Sequence[Found],
    wanted: Wanted = Wanted(),  # noqa: B008 (a constant)
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Read]:
    """Read ``files``, with the help of worker processes when it pays; hand over what each part gave, in no fixed order.

    Args:
        files: as `paths.find` gives them.
        wanted: what of them.
        workers: processes to use, this one included; default: one per core, this one alone for small loads.
        executor: any ``concurrent.futures.Executor`` to use instead, e.g. a Dask cluster's.
        progress: called with (bytes done, bytes in all).
    """
    total = sum(f.size_bytes or 0 for f in files)
    count = max(workers if workers is not None else os.cpu_count() or 1, 1)
    alone = count == 1 or (total < PARALLEL_BYTES and workers is None)
    local = [f for f in files if f.stream is not None]
    parts = _parts([f for f in files if f.stream is None], total, count)
    reads: Iterator[Read]
    if executor is not None:
        reads = chain(
            read_files(local, wanted),
            _sent(executor, parts, wanted),
        )
    elif alone or len(parts) <= 1:
        reads = read_files(files, wanted)
    else:
        reads = chain(
            read_files(local, wanted),
            _shared(count - 1, parts, wanted),
        )
    done = 0
    for read in reads:
        done += read.bytes
        if progress:
            progress(min(done, total), total)
        yield read


def _sent(executor: Executor, parts: list[list[Found]], wanted: Wanted) -> Iterator[Read]:
    """The parts as somebody's executor reads them, which may be on other machines."""
    waiting = {executor.submit(_read_part, part, wanted) for part in parts}
    while waiting:
        finished, waiting = wait(waiting, return_when="FIRST_COMPLETED")
        for future in finished:
            yield from future.result()


def _shared(workers: int, parts: list[list[Found]], wanted: Wanted) -> Iterator[Read]:
    """The parts as ``workers`` processes and this one read them.

    This process takes a part whenever no other has one ready, so that it does not wait for them to start. What they
    read comes back in files, which are mapped into memory, not copied through pipes.
    """
    queue = deque(parts)
    waiting: set[Future[list[_Stored]]] = set()
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    with (
        TemporaryDirectory(prefix="sessionlab-", ignore_cleanup_errors=True) as folder,
        ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method)) as pool,
        _main_hidden(),
    ):
        while queue or waiting:
            while queue and len(waiting) <= workers:
                waiting.add(pool.submit(_store_part, queue.popleft(), wanted, folder))
            finished = {future for future in waiting if future.done()}
            if queue and not finished:
                yield from read_files(queue.popleft(), wanted)
                continue
            if not finished:
                finished, _ = wait(waiting, return_when="FIRST_COMPLETED")
            waiting -= finished
            for future in finished:
                yield from map(_fetched, future.result())


class _Stored(NamedTuple):
    """A `Read` whose tables lie in a file, one Arrow stream behind the other."""

    path: str
    names: list[str]
    unclaimed: list[str]
    bytes: int


def _store_part(files: list[Found], wanted: Wanted, folder: str) -> list[_Stored]:
    stored = []
    for read in read_files(files, wanted):
        with NamedTemporaryFile(dir=folder, delete=False) as file:
            for table in read.tables.values():
                with pa.ipc.new_stream(file, table.schema) as stream:
                    stream.write_table(table)
        stored.append(_Stored(file.name, list(read.tables), read.unclaimed, read.bytes))
    return stored


def _fetched(stored: _Stored) -> Read:
    if not stored.names:
        return Read({}, stored.unclaimed, stored.bytes)
    mapped = pa.memory_map(stored.path)
    tables = {name: pa.ipc.open_stream(mapped).read_all() for name in stored.names}
    with suppress(OSError):  # where a mapped file cannot be removed, the folder is, at the end
        Path(stored.path).unlink()
    return Read(tables, stored.unclaimed, stored.bytes)


def _parts(files: list[Found], total: int, workers: int) -> list[list[Found]]:
    """Files in groups of about equal size, several per worker, the largest first."""
    target = max(total // (workers * 8), BATCH_BYTES)
    parts: list[list[Found]] = []
    held: list[Found] = []
    size = 0
    for found in sorted(files, key=lambda f: -(f.size_bytes or 0)):
        held.append(found)
        size += found.size_bytes or 0
        if size >= target:
            parts.append(held)
            held, size = [], 0
    if held:
        parts.append(held)
    return parts


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Hide ``__main__`` while workers start.

    They need nothing of it, and importing it again would run an unguarded script once more in each of them.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
