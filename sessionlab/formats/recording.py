"""A file to be read: where it is, its bytes (decompressed), its lines, and what became of each of them."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, Literal

from isal import isal_zlib

from sessionlab.columns import BIGINT_MAX
from sessionlab.tables import Extent, Problem, Row, Source

HEAD_BYTES = 65_536
"""How much of a file ``sniff`` sees."""
BLOCK_BYTES = 1 << 20
SLICE_BYTES = 4096
"""How much is decompressed at a time where a damage may be: all before it is still wanted."""
GZIP_MAGIC = b"\x1f\x8b"

Fate = Literal["read", "blank", "problem", "after_end"]
State = Literal["whole", "short", "refused"]
Severity = Literal["note", "loss", "refusal"]


def digest63(text: str | bytes) -> int:
    """A 63-bit digest of ``text``, the same on every machine and in every run (BLAKE2b)."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") & BIGINT_MAX


class Recording:
    """One file on its way in.

    Attributes:
        uri: where it is.
        source_id: 63-bit digest of the uri.
        format: NAME of the format that claimed it.
        bodies: whether `Pool` and `Block` rows and other bodies are wanted; a format may skip making them if not.
        figures: whether figures alone are wanted: sessions, agents, usage and outcomes. A format may then skip making
            `Window`, `ToolCall` and `Config` rows, those `Entry` rows that are no copy and that no figure names, and
            notes about them.
        size_bytes, modified_at: as the file system tells (µs); None where it does not.
        cut: why the compressed stream ended early, or None.
    """

    def __init__(
        self,
        stream: IO[bytes],
        *,
        uri: str,
        format: str = "",  # noqa: A002 (the column's own name)
        size_bytes: int | None = None,
        modified_at: int | None = None,
        bodies: bool = True,
        figures: bool = False,
    ) -> None:
        self.uri, self.format, self.bodies, self.figures = uri, format, bodies and not figures, figures
        self.source_id = digest63(uri)
        self.size_bytes, self.modified_at = size_bytes, modified_at
        self.decoded_bytes = 0
        self.cut: str | None = None
        self._stored = 0
        self._crc = 0
        self._stream = stream
        self._start = _start_of(stream)
        self._blocks = self._decoded()
        self._head = self._first()
        self._lines: Lines | None = None
        self._extents: list[Extent] = []

    def head(self) -> bytes:
        """The first HEAD_BYTES, decompressed."""
        return self._head[:HEAD_BYTES]

    def blocks(self) -> Iterator[bytes]:
        """The bytes in order, decompressed, in blocks of some megabytes. Once."""
        head, self._head = self._head, b""
        if head:
            self.decoded_bytes += len(head)
            yield head
        for block in self._blocks:
            self.decoded_bytes += len(block)
            yield block

    def lines(self) -> Lines:
        """The lines, split at LF only. Once."""
        self._lines = Lines(self)
        return self._lines

    def read_all(self) -> bytes:
        """The whole file, decompressed: for formats that are taken whole or not at all."""
        parts = list(self.blocks())
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def whole(self, fate: Fate) -> None:
        """Say what became of a file that is not lines: all of it has one fate."""
        self._extents = [Extent(byte_offset=0, byte_length=self.decoded_bytes, fate=fate)] if self.decoded_bytes else []

    def end(
        self,
        *,
        state: State = "whole",
        reason: str | None = None,
        lines: int | None = None,
        format_version: str | None = None,
    ) -> Iterator[Row]:
        """The rows that end every recording: the loss where the compressed stream was cut, extents, the `Source`."""
        if self.cut is not None:
            yield Problem(kind="cut_stream", severity="loss", detail=self.cut)
        yield from self.extents()
        yield self.source(state=state, reason=reason, lines=lines, format_version=format_version)

    def extents(self) -> list[Extent]:
        """What became of every byte, as rows; call it after reading."""
        return self._lines.extents() if self._lines is not None and not self._extents else self._extents

    def source(
        self,
        *,
        state: State = "whole",
        reason: str | None = None,
        lines: int | None = None,
        format_version: str | None = None,
    ) -> Source:
        """The `Source` row; call it after reading."""
        if state == "whole" and self.cut is not None:
            state, reason = "short", self.cut
        return Source(
            uri=self.uri,
            format=self.format,
            format_version=format_version,
            size_bytes=self._stored,
            decoded_bytes=self.decoded_bytes,
            modified_at=self.modified_at,
            content_id=f"{self._stored}-{self._crc:08x}",
            lines=lines if lines is not None or self._lines is None else self._lines.number,
            state=state,
            reason=reason,
        )

    def _first(self) -> bytes:
        """What ``sniff`` sees and what came with it: a stream may hand over less than that at a time."""
        parts: list[bytes] = []
        size = 0
        while size < HEAD_BYTES and (block := next(self._blocks, b"")):
            parts.append(block)
            size += len(block)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _stored_blocks(self) -> Iterator[bytes]:
        size = HEAD_BYTES  # a small first block: most files of a folder are only sniffed
        while block := self._stream.read(size):
            self._stored += len(block)
            self._crc = isal_zlib.crc32(block, self._crc)
            yield block
            if self._start is not None:
                size = BLOCK_BYTES  # of a stream that cannot be read twice, a damage costs a block

    def _decoded(self) -> Iterator[bytes]:
        stored = self._stored_blocks()
        first = next(stored, b"")
        while 0 < len(first) < len(GZIP_MAGIC) and (more := next(stored, b"")):  # a stream may hand over single bytes
            first += more
        if not first.startswith(GZIP_MAGIC):
            if first:
                yield first
            yield from stored
            return
        yield from self._gunzipped(first, stored)

    def _gunzipped(self, first: bytes, stored: Iterator[bytes]) -> Iterator[bytes]:
        member = isal_zlib.decompressobj(wbits=31)
        block: bytes | None = first
        begin, given = 0, 0  # where the member begins among the stored bytes; how much came out of it
        while block is not None:
            try:
                out = member.decompress(block)
            except isal_zlib.error as error:  # type: ignore[misc]  # the stubs take the class for a value
                self.cut = f"the compressed stream is damaged: {error}"
                yield from self._before_damage(begin, given, block)
                for _rest in stored:
                    pass
                return
            if out:
                given += len(out)
                yield out
            if member.eof:
                block = _after_padding(member.unused_data, stored)
                if block is not None:
                    if not block.startswith(GZIP_MAGIC):
                        self.cut = "bytes that are no gzip member follow the compressed stream"
                        for _rest in stored:
                            pass
                        return
                    begin, given = self._stored - len(block), 0
                    member = isal_zlib.decompressobj(wbits=31)
            else:
                block = next(stored, None)
        if not member.eof:
            self.cut = "the compressed stream ends before its end mark"

    def _before_damage(self, begin: int, given: int, block: bytes) -> Iterator[bytes]:
        """What comes out of ``block`` before its damage, of a member that begins at the stored byte ``begin``.

        A decompressor that fails gives nothing of the piece it failed in, and cannot be asked again. So the member is
        decompressed once more, in slices and at last byte by byte; the first ``given`` bytes of it came out before.
        Of a stream that cannot be read twice only a member that begins in the block can be had again.
        """
        earlier = self._stored - len(block) - begin
        if earlier and self._start is None:
            return
        member = zlib.decompressobj(wbits=31)
        at = 0
        slices = (block[start : start + SLICE_BYTES] for start in range(0, len(block), SLICE_BYTES))
        for piece in chain(self._again(begin, earlier), slices):
            before = member.copy()
            try:
                out, damaged = member.decompress(piece), False
            except zlib.error:
                out, damaged = _until_damage(before, piece), True
            new = out[max(given - at, 0) :]
            at += len(out)
            if new:
                yield new
            if damaged or member.eof:
                return

    def _again(self, begin: int, length: int) -> Iterator[bytes]:
        """Stored bytes that were read before; the stream then stands where it stood."""
        here = self._stream.tell()
        try:
            self._stream.seek((self._start or 0) + begin)
            while length and (piece := self._stream.read(min(length, BLOCK_BYTES))):
                length -= len(piece)
                yield piece
        finally:
            self._stream.seek(here)


def _start_of(stream: IO[bytes]) -> int | None:
    """Where a stream that can be read twice stands; None for any other."""
    try:
        return stream.tell() if stream.seekable() else None
    except (AttributeError, OSError):  # an object of the caller may have nothing but `read`
        return None


def _after_padding(rest: bytes, stored: Iterator[bytes]) -> bytes | None:
    """What follows a gzip member: the zeros some tools pad with left out, long enough to tell a member by."""
    rest = rest.lstrip(b"\0")
    while len(rest) < len(GZIP_MAGIC) and (more := next(stored, b"")):
        rest = rest + more if rest else more.lstrip(b"\0")
    return rest or None


def _until_damage(member: zlib._Decompress, piece: bytes) -> bytes:
    """What ``member`` makes of ``piece``, taken byte by byte up to the one it fails at."""
    out = bytearray()
    with suppress(zlib.error):
        for at in range(len(piece)):
            out += member.decompress(piece[at : at + 1])
    return bytes(out)


class Lines:
    r"""The lines of a recording, as bytes without their ``\n``, and what became of each.

    While iterating, ``number`` (1-based), ``offset`` (of the line's first byte) and ``terminated`` (it ended in LF)
    speak of the line just yielded. Every line counts as read unless ``fate`` is set before the next one is taken, or
    ``problem`` is called. ``rest("after_end")`` gives everything behind the current line one fate, unread.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.number = 0
        self.offset = 0
        self.length = 0
        self.terminated = True
        self.fate: Fate = "read"
        self._runs: list[tuple[int, int, int, int, Fate]] = []  # from_line, to_line, offset, length, fate
        self._run_line, self._run_offset = 1, 0  # where the run being extended begins
        self._run_fate: Fate = "read"
        self._rest: tuple[int, int, Fate] | None = None

    def __iter__(self) -> Iterator[bytes]:
        """Yield each line; a last line without LF is yielded too."""
        tail: list[bytes] = []
        fate: Fate = "read"
        for block in self._recording.blocks():
            if self._rest is not None:
                continue
            parts = block.split(b"\n")
            if tail:
                tail.append(parts[0])
                if len(parts) == 1:
                    continue
                parts[0] = b"".join(tail)
            last = parts.pop()
            tail = [last] if last else []
            number, offset = self.number, self.offset
            for part in parts:
                self.number = number = number + 1
                self.length = length = len(part) + 1
                yield part
                if self.fate != fate:
                    fate = self._settle()
                if fate != "read":
                    self.fate = "read"
                self.offset = offset = offset + length
                if self._rest is not None:  # set by whoever took the line
                    tail = []  # type: ignore[unreachable]
                    break
        if tail:
            line = b"".join(tail)
            self.number += 1
            self.length = len(line)
            self.terminated = False
            yield line
            if self.fate != fate:
                self._settle()
            self.offset += self.length
        if self.offset > self._run_offset:
            self._close(self.number)

    def problem(
        self,
        kind: str,
        detail: str,
        *,
        severity: Severity = "loss",
        session_id: str | None = None,
        seq: int | None = None,
    ) -> Problem:
        """A `Problem` row about the current line. With severity ``loss`` the line's fate becomes ``problem``."""
        if severity != "note":
            self.fate = "problem"
        return Problem(
            session_id=session_id,
            seq=seq,
            line=self.number,
            byte_offset=self.offset,
            byte_length=self.length,
            kind=kind,
            severity=severity,
            detail=detail,
        )

    def rest(self, fate: Fate) -> None:
        """Everything behind the current line is not read and has this fate; the iteration ends."""
        self._rest = (self.number + 1, self.offset + self.length, fate)

    def extents(self) -> list[Extent]:
        """The runs of lines of one fate, in order, covering every byte; call it after iterating."""
        rows = [Extent(from_line=a, to_line=b, byte_offset=o, byte_length=n, fate=f) for a, b, o, n, f in self._runs]
        if self._rest is not None:
            line, offset, fate = self._rest
            size = self._recording.decoded_bytes - offset
            if size:
                rows.append(Extent(from_line=line, to_line=None, byte_offset=offset, byte_length=size, fate=fate))
        return rows

    def _settle(self) -> Fate:
        """The current line has another fate than those before it: a run ends and another begins; the new fate."""
        if self.offset > self._run_offset:
            self._close(self.number - 1)
        self._run_line, self._run_offset, self._run_fate = self.number, self.offset, self.fate
        return self.fate

    def _close(self, last: int) -> None:
        length = self.offset - self._run_offset
        self._runs.append((self._run_line, last, self._run_offset, length, self._run_fate))
