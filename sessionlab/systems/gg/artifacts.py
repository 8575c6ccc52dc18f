"""A folder of run directories and a run's id go in; a file of that run, as stored or decompressed, comes out."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from isal import igzip, isal_zlib

from sessionlab.errors import SessionlabError

RECORD = "replay.json.gz"
"""The session record's name in a run directory (gg 0.1)."""
ARTIFACTS: Mapping[str, str] = {"replay": RECORD, "code-analysis": "code-analysis.json.gz"}
"""What a run can be asked for: the last part of the route, and the file in the run directory."""
BLOCK_BYTES = 1 << 18
"""Read, decompressed and sent at a time: what a client costs in memory, however large the record."""

_MAGIC = b"\x1f\x8b"


class CutShort(SessionlabError):
    """What is stored cannot be had to its end."""


class Stored(NamedTuple):
    """A run's file, open: its bytes are those of one version even when another takes its place meanwhile.

    Attributes:
        name: what it is called in a sentence.
        file: the open file, at its beginning.
        size: bytes stored.
        modified: when it was last written, in nanoseconds.
        version: a word that is another one when the file is another one.
        is_gzip: whether it begins like gzip; whatever else it may be.
    """

    name: str
    file: FileIO
    size: int
    modified: int
    version: str
    is_gzip: bool


class Body(NamedTuple):
    """What is sent: blocks, and their bytes in all where that is certain."""

    blocks: Iterator[bytes]
    size: int | None


def recorded(root: Path) -> list[tuple[str, int]]:
    """The runs that have a session record, ordered by id, each with the bytes stored.

    A run whose name is not UTF-8 is left out, as no address can name it.
    """
    names = sorted(path.name for path in root.iterdir() if _is_text(path.name))
    places = ((name, _place(root, name, RECORD)) for name in names)
    return [(name, place[1].st_size) for name, place in places if place]


def open_stored(root: Path, run: str, name: str) -> Stored | None:
    """The file ``name`` of a run; None where there is none inside ``root``, which is free of links.

    Raises:
        OSError: it is there and cannot be read.
    """
    place = _place(root, run, name)
    if place is None:
        return None
    # No link, and no pipe to wait for, can have come there in the meantime.
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = FileIO(place[0], opener=lambda path, flags: os.open(path, flags | careful))
    try:
        found = os.fstat(file.fileno())
        is_gzip = file.read(len(_MAGIC)) == _MAGIC
        file.seek(0)
    except BaseException:
        file.close()
        raise
    marks = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
    version = hashlib.blake2b(repr(marks).encode(), digest_size=12).hexdigest()
    return Stored(f"{name} of run {run!r}", file, found.st_size, found.st_mtime_ns, version, is_gzip)


def as_stored(stored: Stored) -> Body:
    """The bytes of the file as they are; taking them raises ``CutShort`` when it is written to meanwhile."""
    return Body(_stored_blocks(stored), stored.size)


def decoded(stored: Stored, *, counted: bool = False) -> Body:
    """The decompressed bytes; taking them raises ``CutShort`` where they are damaged.

    How many there are is certain where all are in the first block, and where they are ``counted``, which takes reading
    the file twice.

    Raises:
        CutShort: the damage is in the first block, or anywhere in what was counted.
    """
    if counted:
        size = sum(map(len, _gunzipped(stored)))
        stored.file.seek(0)
        return Body(_gunzipped(stored), size)
    blocks = _gunzipped(stored)
    first = next(blocks, b"")
    return Body(_after(first, blocks), len(first) if len(first) < BLOCK_BYTES else None)


def _after(first: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from blocks


def _place(root: Path, run: str, name: str) -> tuple[Path, os.stat_result] | None:
    """Where a run's file really is and what it is like; None unless it is a file, and inside ``root``.

    Links inside the folder are followed; one that leads out of it is no different from one that leads nowhere.
    """
    if run in {"", ".", ".."} or not {"/", "\\", "\0"}.isdisjoint(run):
        return None
    try:
        place = (root / run / name).resolve(strict=True)
        found = place.lstat()
    except (OSError, RuntimeError, ValueError):  # links in a circle; a name that no file can have
        return None
    return (place, found) if stat.S_ISREG(found.st_mode) and place.is_relative_to(root) else None


def _stored_blocks(stored: Stored) -> Iterator[bytes]:
    sent = 0
    while sent < stored.size:
        block = stored.file.read(min(BLOCK_BYTES, stored.size - sent))
        now = os.fstat(stored.file.fileno())
        if not block or (now.st_size, now.st_mtime_ns) != (stored.size, stored.modified):
            raise CutShort(f"{stored.name} was changed while it was sent")
        sent += len(block)
        yield block


def _gunzipped(stored: Stored) -> Iterator[bytes]:
    """Whole blocks, then a last one that may be shorter: when it comes, the end mark and checksum were there."""
    reader = igzip.IGzipFile(fileobj=stored.file, mode="rb")  # type: ignore[no-untyped-call]
    while True:
        try:
            block = reader.read(BLOCK_BYTES)
        except (OSError, EOFError, isal_zlib.error) as error:  # type: ignore[misc]  # the stubs take the class for a value
            raise CutShort(f"{stored.name} is damaged: {error}") from error
        if block:
            yield block
        if len(block) < BLOCK_BYTES:
            return


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
