"""Files in, Arrow record batches out: detects each file's format, reads it, in parallel when there is much to read."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from types import ModuleType
from typing import NamedTuple

import pyarrow as pa

from sessionlab.arrow import Batcher
from sessionlab.errors import BadInput, Refused
from sessionlab.formats import Recording, all_formats, detect
from sessionlab.formats.recording import digest63
from sessionlab.paths import Found
from sessionlab.tables import Problem, Row, Source

BATCH_BYTES = 24 << 20
"""Input after which the rows read so far become batches: larger ones cost more than they save."""
PARALLEL_BYTES = 48 << 20
"""Below this much input a second process costs more than it saves."""
_CHUNK_ROWS = 8192


class Read(NamedTuple):
    """What came of a part of the files: batches by table, the files no format claims, the bytes that were read."""

    batches: dict[str, pa.RecordBatch]
    unclaimed: list[str]
    bytes: int


def read_files(files: Sequence[Found], *, bodies: bool = True, strict: bool = False) -> Iterator[Read]:
    """Read ``files`` one after the other; memory holds about BATCH_BYTES of input at a time.

    Raises:
        BadInput, Refused: with ``strict``, at the first problem worse than a note.
    """
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
                    bodies=bodies,
                )
                fmt = detect(recording.head())
                if fmt is None:
                    unclaimed.append(found.uri)
                    continue
                recording.format = fmt.NAME
                rows = fmt.read(recording)
                while chunk := list(islice(rows, _CHUNK_ROWS)):
                    if strict:
                        _raise_first(chunk, found.uri)
                    batcher.add(source_id, chunk)
                    pending += recording.decoded_bytes - read_before
                    read_before = recording.decoded_bytes
                    if pending >= BATCH_BYTES:
                        yield Read(batcher.take(), unclaimed, pending)
                        unclaimed, pending = [], 0
        except OSError as error:
            if strict:
                raise BadInput(found.uri, None, "unreadable_file", str(error)) from error
            detail = f"the file could not be read: {error.strerror or error}"
            batcher.add(source_id, _lost(found, "unreadable_file", detail))
        except BadInput:
            raise
        except Exception as error:
            # A reader never raises for bad input. Should one do so all the same, it costs its own file, not the load.
            if strict:
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


def _read_part(files: list[Found], bodies: bool, strict: bool) -> list[Read]:
    return list(read_files(files, bodies=bodies, strict=strict))


def read_all(
    files: Sequence[Found],
    *,
    bodies: bool = True,
    strict: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Read]:
    """Read ``files``, in worker processes when it pays, and hand over what each part gave, in no fixed order.

    Args:
        files: as `paths.find` gives them.
        bodies: whether `pools` and `blocks` are wanted.
        strict: raise at the first problem worse than a note.
        workers: processes to use; default: one per core, none for small loads.
        executor: any ``concurrent.futures.Executor`` to use instead, e.g. a Dask cluster's.
        progress: called with (bytes done, bytes in all).
    """
    total = sum(f.size_bytes or 0 for f in files)
    count = max(workers if workers is not None else os.cpu_count() or 1, 1)
    local = [f for f in files if f.stream is not None]
    parts = _parts([f for f in files if f.stream is None], total, count)
    done = 0
    alone = count == 1 or len(parts) <= 1 or (total < PARALLEL_BYTES and workers is None)
    if executor is None and alone:
        for part in read_files(files, bodies=bodies, strict=strict):
            done += part.bytes
            if progress:
                progress(min(done, total), total)
            yield part
        return
    yield from read_files(local, bodies=bodies, strict=strict)
    with _pool(executor, count) as pool, _main_hidden():
        waiting: set[Future[list[Read]]] = {pool.submit(_read_part, part, bodies, strict) for part in parts}
        while waiting:
            finished, waiting = wait(waiting, return_when="FIRST_COMPLETED")
            for future in finished:
                for part_read in future.result():
                    done += part_read.bytes
                    if progress:
                        progress(min(done, total), total)
                    yield part_read


def _parts(files: list[Found], total: int, workers: int) -> list[list[Found]]:
    """Files in groups of about equal size, several per worker, the largest first."""
    target = max(total // (workers * 4), BATCH_BYTES)
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
def _pool(executor: Executor | None, workers: int) -> Iterator[Executor]:
    if executor is not None:
        yield executor
        return
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method)) as pool:
        yield pool


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
