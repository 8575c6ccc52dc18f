"""Session files of any format and a text in; the blocks that hold it, newest file first, out.

A quick look at the raw bytes passes over the files that cannot hold the text; the others are read, one after the
other, in memory that does not grow with them. The looks run ahead in threads: they leave the interpreter to the reader.
"""

from __future__ import annotations

import os
import threading
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import entry_points
from typing import IO, NamedTuple

from sessionlab.formats import FORMATS, HEAD_BYTES, Format, Recording, all_formats, detect
from sessionlab.formats.recording import GZIP_MAGIC
from sessionlab.paths import Found as File
from sessionlab.recall.matching import MAX_MATCHES, Found, Hit, Needle
from sessionlab.recall.probe import Probe
from sessionlab.recall.transcript import search_transcript

BLOCK_BYTES = 1 << 20
"""How much of a file is looked at at a time."""
COMPILED_BYTES = 32 << 20
"""From so much input on, looking is left to pyarrow: twice as fast, but it takes a while to import."""
_MARKS = (GZIP_MAGIC, b"\xff\xfe", b"\xfe\xff")
"""Beginnings of files whose bytes are not those of their text: they are read without a look."""


class FileHit(NamedTuple):
    """A block that matches, and where: the file, its format, the session (None where nothing tells)."""

    uri: str
    format: str
    session_id: str | None
    hit: Hit


class Sweep(NamedTuple):
    """What the files hold.

    Attributes:
        hits: the matching blocks shown, newest file first.
        more: matching blocks beyond them, of the files that were read.
        messages: messages ever recorded in the files that were read.
        files: how many files there are.
        read: files read, for they could hold the text.
        left: files not looked at, because enough was found before; 0 where every match was counted.
        unreadable: files that could not be opened or read to their end, with the reason.
    """

    hits: list[FileHit]
    more: int
    messages: int
    files: int
    read: int
    left: int
    unreadable: list[tuple[str, str]]


def sweep(files: Sequence[File], query: str, *, max_matches: int = MAX_MATCHES, count_all: bool = False) -> Sweep:
    """Search everything that these files ever held.

    Args:
        files: as `paths.find` gives them.
        query: searched as it is, in any case, line by line.
        max_matches: blocks shown; below 1 means 1.
        count_all: read on when enough is found, to say how many more there are.

    Raises:
        WrongUse: a blank query.
    """
    needle, wanted = Needle(query), max(max_matches, 1)
    ordered = sorted(files, key=lambda file: (-(file.modified_at or 0), file.uri))
    hits: list[FileHit] = []
    unreadable: list[tuple[str, str]] = []
    more = messages = read = done = 0
    for file, may_hold in _looked_at(ordered, needle.probe):
        done += 1
        try:
            searched = _search(file, needle, wanted - len(hits)) if may_hold.result() else None
        except OSError as error:
            unreadable.append((file.uri, str(error.strerror or error)))
            continue
        if searched is None:
            continue
        name, found, cut = searched
        if cut is not None:
            unreadable.append((file.uri, cut))
        read += 1
        messages += found.messages
        more += found.more
        hits += [FileHit(file.uri, name, found.session_id, hit) for hit in found.hits]
        if len(hits) == wanted and not count_all:
            break
    return Sweep(hits, more, messages, len(ordered), read, len(ordered) - done, unreadable)


def _search(file: File, needle: Needle, wanted: int) -> tuple[str, Found, str | None] | None:
    """Format, finds and damage of one file; None: no format claims it."""
    from sessionlab.recall.pooled import search_pooled  # noqa: PLC0415 (only where there are other formats)

    with file.open() as stream:
        recording = Recording(stream, uri=file.uri, size_bytes=file.size_bytes, modified_at=file.modified_at)
        fmt = detect(recording.head())
        if fmt is None:
            return None
        recording.format = fmt.NAME
        if fmt.NAME == "mecha":
            found = search_transcript(recording.lines(), needle, wanted)
        else:
            found = search_pooled(fmt, recording, needle, wanted)
        return fmt.NAME, found, recording.cut


def _looked_at(files: Sequence[File], probe: Probe) -> Iterator[tuple[File, Future[bool]]]:
    """Each file and whether it could hold the text; a few looks are always under way ahead of the reader."""
    outside = _outside_formats()
    compiled = sum(file.size_bytes or 0 for file in files) >= COMPILED_BYTES
    look = _Look(probe, outside, compiled=compiled)
    workers = min(os.cpu_count() or 1, 4)
    waiting: deque[tuple[File, Future[bool]]] = deque()
    rest = iter(files)
    with ThreadPoolExecutor(workers, thread_name_prefix="sessionlab-recall") as pool:
        try:
            while True:
                while len(waiting) < 4 * workers and (file := next(rest, None)) is not None:
                    waiting.append((file, pool.submit(look, file)))
                if not waiting:
                    return
                yield waiting.popleft()
        finally:
            pool.shutdown(cancel_futures=True)


def _outside_formats() -> list[Format]:
    """The formats of other packages; the built-in ones are imported only when a file has to be read."""
    if all(point.name in FORMATS for point in entry_points(group="sessionlab.formats")):
        return []
    return [fmt for name, fmt in all_formats().items() if name not in FORMATS]


class _Look:
    """Whether a file could hold the text, by its raw bytes; every thread has a buffer of its own."""

    def __init__(self, probe: Probe, outside: Sequence[Format], *, compiled: bool) -> None:
        """Formats of other packages may store text in ways not known here: their files are always read."""
        self._probe, self._outside, self._compiled = probe, outside, compiled
        self._mine = threading.local()

    def __call__(self, file: File) -> bool:
        """True: perhaps; False: certainly not."""
        if self._probe.looks is None or file.stream is not None:
            return True
        held = self._held()
        with file.open() as stream:
            size = _fill(stream, held, 0)
            head = bytes(held[: min(size, HEAD_BYTES)])
            if head.startswith(_MARKS) or any(fmt.sniff(head) for fmt in self._outside):
                return True
            while not self._may_hold(held, size):
                if size < len(held):
                    return False
                kept = self._probe.overlap
                held[:kept] = held[size - kept :]
                size = _fill(stream, held, kept)
        return True

    def _held(self) -> bytearray:
        held = getattr(self._mine, "held", None)
        if held is None:
            held = self._mine.held = bytearray(BLOCK_BYTES)
        return held

    def _may_hold(self, held: bytearray, size: int) -> bool:
        if not self._compiled:
            return self._probe.may_hold(held if size == len(held) else held[:size])
        if held.find(0, 0, size) >= 0:
            return True
        import pyarrow as pa  # noqa: PLC0415 (worth its import only where there is much to look at)
        import pyarrow.compute as pc  # noqa: PLC0415

        ends = pa.py_buffer(array("q", (0, size)))
        text = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(memoryview(held)[:size])])
        for look in self._probe.looks or ():
            match = pc.match_substring if look.is_literal else pc.match_substring_regex
            if match(text, look.pattern, ignore_case=look.any_case)[0].as_py():
                return True
        return False


def _fill(stream: IO[bytes], held: bytearray, size: int) -> int:
    """Read until ``held`` is full, from ``size`` on; how much it holds then."""
    readinto = getattr(stream, "readinto", None)
    view = memoryview(held)
    while size < len(held):
        if readinto is not None:
            count = readinto(view[size:])
        else:  # an object of the caller, or a remote file, may have nothing but `read`
            data = stream.read(len(held) - size)
            count = len(data)
            view[size : size + count] = data
        if not count:
            break
        size += count
    return size
