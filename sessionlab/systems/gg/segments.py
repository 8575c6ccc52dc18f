"""Elements of a record's arrays in, as they are met; the gzipped document out, without ever being held.

Each array grows in a segment file of its own. It is compressed on the way there, on a thread beside the walk, as a run
of deflate blocks that begins and ends at a byte: the runs are then put one behind the other into a single gzip member.
"""

from __future__ import annotations

import os
import threading
from queue import Queue
from typing import IO, TYPE_CHECKING

from isal import isal_zlib

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LEVEL = isal_zlib.ISAL_BEST_COMPRESSION
"""Of the levels isal has, the one whose files are nearest to deflate's default."""
_PIECE_BYTES = 1 << 22
"""How much of a segment is gathered before it is compressed."""
_WAITING = 3
"""Pieces that may wait for the compressor: more would only take memory."""
_COPY_BYTES = 1 << 20
_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""A gzip header without name and time: the same journal gives the same file."""
_LAST_BLOCK = b"\x03\0"
"""An empty deflate block that says it is the last."""


class Deflated:
    """A run of deflate blocks in a file, with the checksum and size of what it holds."""

    def __init__(self, file: IO[bytes]) -> None:
        """Write into ``file``."""
        self.file = file
        self.crc = self.size = 0
        self._stream = isal_zlib.compressobj(LEVEL, wbits=-15)

    def add(self, data: bytes) -> None:
        """Compress ``data`` onto the end."""
        self.crc = isal_zlib.crc32(data, self.crc)
        self.size += len(data)
        self.file.write(self._stream.compress(data))

    def end(self) -> None:
        """Come to a byte boundary."""
        self.file.write(self._stream.flush(isal_zlib.Z_FULL_FLUSH))
        self.file.flush()


class Segment:
    """One array: its elements, comma between them."""

    def __init__(self, path: Path, compressor: Compressor) -> None:
        """Grow in a new file at ``path``."""
        self.deflated = Deflated(path.open("w+b"))
        self.count = 0
        self._compressor = compressor
        self._elements: list[bytes] = []
        self._held = 0

    def add(self, element: bytes) -> None:
        """Append an element, as JSON.

        Raises:
            OSError: the segment files cannot be written.
        """
        self.count += 1
        self._elements.append(element)
        self._held += len(element)
        if self._held > _PIECE_BYTES:
            self.pass_on()

    def pass_on(self) -> None:
        """Hand what is gathered to the compressor."""
        if self._elements:
            first = self.count == len(self._elements)
            self._compressor.put(self.deflated, self._elements if first else [b"", *self._elements])
            self._elements, self._held = [], 0

    def close(self) -> None:
        """Let go of the file."""
        self.deflated.file.close()


class Compressor:
    """The thread that compresses: it works while the walk goes on, as compressing holds no lock of Python's."""

    def __init__(self) -> None:
        """Start it."""
        self._queue: Queue[tuple[Deflated, list[bytes]] | None] = Queue(_WAITING)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="gg-assembly", daemon=True)
        self._thread.start()

    def put(self, target: Deflated, elements: list[bytes]) -> None:
        """Compress ``elements``, comma between them, onto ``target``.

        Raises:
            OSError: an earlier piece could not be written.
        """
        self._queue.put((target, elements))
        self._check()

    def close(self, *, quietly: bool = False) -> None:
        """Wait until everything is compressed.

        Raises:
            OSError: a piece could not be written, unless ``quietly``.
        """
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
        if not quietly:
            self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while (piece := self._queue.get()) is not None:
            if self._error is None:  # after an error the queue is only emptied, so that nobody waits
                target, elements = piece
                try:
                    target.add(b",".join(elements))
                except BaseException as error:  # noqa: BLE001 (raised again at the walk)
                    self._error = error


def write_document(path: Path, parts: Sequence[bytes | Segment]) -> int:
    """Write ``parts`` as one gzip member and have it on the disk; its size.

    Raises:
        OSError: it cannot be written.
    """
    crc = size = 0
    with path.open("w+b") as out:
        out.write(_HEADER)
        for part in parts:
            if isinstance(part, Segment):
                deflated = part.deflated
                deflated.end()
                _copy(deflated.file, out)
            else:
                deflated = Deflated(out)
                deflated.add(part)
                deflated.end()
            crc = isal_zlib.crc32_combine(crc, deflated.crc, deflated.size)
            size += deflated.size
        out.write(_LAST_BLOCK + crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little"))
        out.flush()
        os.fsync(out.fileno())  # the journal is removed when the record stands
        return out.tell()


def _copy(source: IO[bytes], out: IO[bytes]) -> None:
    source.seek(0)
    while block := source.read(_COPY_BYTES):
        out.write(block)
