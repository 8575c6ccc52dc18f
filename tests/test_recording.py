"""A file on its way in: lines, their fates, compression, and what is told when it is cut."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sessionlab.formats import FORMATS, get_format
from sessionlab.formats import recording as room
from sessionlab.formats.recording import Recording, digest63
from sessionlab.tables import Problem
from tests.conftest import SAMPLES


def _read(data: bytes) -> tuple[list[bytes], Recording]:
    recording = Recording(io.BytesIO(data), uri="mem:x", format="test")
    return list(recording.lines()), recording


@given(st.lists(st.binary(max_size=9).map(lambda b: b.replace(b"\n", b"")), max_size=20), st.booleans())
def test_lines_are_split_at_lf_only(lines: list[bytes], ended: bool) -> None:
    """Lines come back as they were, whatever other line separators they hold; extents tile the bytes."""
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    assume(not data.startswith(b"\x1f\x8b"))
    found, recording = _read(data)
    assert found == (data.removesuffix(b"\n").split(b"\n") if data else [])
    assert sum(e.byte_length for e in recording.extents()) == len(data)


@given(st.binary(max_size=400), st.integers(1, 50))
def test_any_block_size_gives_the_same_lines(data: bytes, size: int) -> None:
    """Where a read ends plays no part, not even inside a line, and not in a compressed file."""

    class Slow(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            return super().read(size)

    assume(not data.startswith(b"\x1f\x8b"))
    whole, _ = _read(data)
    assert list(Recording(Slow(data), uri="mem:x").lines()) == whole
    packed = gzip.compress(data)
    if data:
        assert list(Recording(Slow(packed), uri="mem:x").lines()) == whole


def test_fates_become_runs_of_lines() -> None:
    """Neighbouring lines of one fate are one extent; what is behind `rest` is one too, unread."""
    recording = Recording(io.BytesIO(b"a\nb\n\nbad\nend\nmore\nand more"), uri="mem:x")
    lines = recording.lines()
    for line in lines:
        if not line:
            lines.fate = "blank"
        elif line == b"bad":
            problem = lines.problem("bad_line", "expected good, found bad")
            assert (problem.line, problem.byte_offset, problem.byte_length) == (4, 5, 4)
        elif line == b"end":
            lines.rest("after_end")
    assert [(e.from_line, e.to_line, e.byte_offset, e.byte_length, e.fate) for e in recording.extents()] == [
        (1, 2, 0, 4, "read"),
        (3, 3, 4, 1, "blank"),
        (4, 4, 5, 4, "problem"),
        (5, 5, 9, 4, "read"),
        (6, None, 13, 13, "after_end"),
    ]
    assert recording.source().decoded_bytes == 26


def test_a_note_leaves_its_line_read() -> None:
    """A problem that loses nothing does not change what became of the line."""
    recording = Recording(io.BytesIO(b"odd\n"), uri="mem:x")
    lines = recording.lines()
    for _ in lines:
        lines.problem("odd", "oddly put", severity="note")
    [extent] = recording.extents()
    assert extent.fate == "read"


def test_source_row_tells_size_and_checksum() -> None:
    """`content_id` is the stored size and the CRC-32 of the stored bytes."""
    packed = gzip.compress(b"one\ntwo\n", mtime=0)
    _, recording = _read(packed)
    row = recording.source()
    assert row.content_id == f"{len(packed)}-{zlib.crc32(packed):08x}"
    assert (row.size_bytes, row.decoded_bytes, row.lines, row.state) == (len(packed), 8, 2, "whole")


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_a_cut_gzip_keeps_its_whole_lines_and_says_so(keep: float) -> None:
    """What was decompressed before the cut is read; the source is short."""
    lines = [str(n * n).encode() for n in range(20_000)]
    packed = gzip.compress(b"\n".join(lines) + b"\n")
    found, recording = _read(packed[: int(len(packed) * keep)])
    assert found[:-1] == lines[: len(found) - 1]
    row = recording.source()
    assert row.state == "short"
    assert row.reason == "the compressed stream ends before its end mark"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_a_cut_stream(name: str) -> None:
    """Whatever the format, and whether it takes the rest or refuses it, one problem says why the stream ended."""
    sample = min((SAMPLES / name).rglob("*.*"), key=lambda path: (path.suffix in {".md", ".csv"}, path.as_posix()))
    packed = gzip.compress(sample.read_bytes(), mtime=0)
    recording = Recording(io.BytesIO(packed[:-8]), uri="mem:x", format=name)
    rows = list(get_format(name).read(recording))
    [loss] = [row for row in rows if isinstance(row, Problem) and row.kind == "cut_stream"]
    assert (loss.severity, loss.detail) == ("loss", "the compressed stream ends before its end mark")
    whole = get_format(name).read(Recording(io.BytesIO(gzip.compress(sample.read_bytes())), uri="mem:x", format=name))
    assert "cut_stream" not in {row.kind for row in whole if isinstance(row, Problem)}


def test_damaged_gzip_and_trailing_bytes_are_told() -> None:
    """A flipped byte, or bytes that are no gzip member behind one, end the reading with a reason."""
    packed = bytearray(gzip.compress(b"hello\n" * 1000, mtime=0))
    _, recording = _read(bytes(packed) + b"trailing")
    assert recording.source().reason == "bytes that are no gzip member follow the compressed stream"
    packed[12] ^= 0xFF
    _, recording = _read(bytes(packed))
    assert recording.source().state == "short"


NUMBERS = b"".join(b"%d\n" % (n * n * n) for n in range(40_000))


@pytest.mark.parametrize("level", [0, 1, 9], ids=["stored", "fast", "small"])
def test_a_wrong_checksum_costs_no_line(level: int) -> None:
    """Everything came out before the checksum at the end turned out wrong; the source is short all the same."""
    packed = gzip.compress(NUMBERS, level, mtime=0)
    found, recording = _read(packed[:-8] + bytes(8))
    assert b"\n".join(found) + b"\n" == NUMBERS
    row = recording.source()
    assert row.state == "short"
    assert row.reason is not None
    assert row.reason.startswith("the compressed stream is damaged: ")
    assert row.size_bytes == len(packed)


@pytest.mark.parametrize("at", [0.2, 0.5, 0.9])
def test_a_damage_costs_nothing_before_it(at: float) -> None:
    """A flipped byte in a later member, block or slice: the lines it does not touch are read."""
    packed = gzip.compress(NUMBERS, 1, mtime=0)
    flipped = bytearray(packed)
    flipped[int(len(packed) * at)] ^= 0xFF
    whole = zlib.decompressobj(wbits=31).decompress(packed[: int(len(packed) * at)])
    first = gzip.compress(b"first\n") + bytes(100_000)
    recording = Recording(io.BytesIO(first + bytes(flipped)), uri="mem:x")
    assert recording.read_all().startswith(b"first\n" + whole)
    assert recording.cut is not None


def test_a_stream_that_cannot_be_read_twice_loses_a_block_at_most() -> None:
    """Of a pipe what is gone is gone: the last 64 kB before the damage; a small one is had again whole."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    packed = gzip.compress(NUMBERS, 0, mtime=0)
    found = Recording(Pipe(packed[:-8] + bytes(8)), uri="mem:x").read_all()
    assert NUMBERS.startswith(found)
    assert len(found) >= len(NUMBERS) - 2 * room.HEAD_BYTES
    small = gzip.compress(b"a\nb\n", mtime=0)
    assert Recording(Pipe(small[:-8] + bytes(8)), uri="mem:x").read_all() == b"a\nb\n"


def test_a_stream_is_read_from_where_it_stands() -> None:
    """A file object handed over in the middle is read again from there too."""
    stream = io.BytesIO(b"something else" + gzip.compress(NUMBERS, 1)[:-8] + bytes(8))
    stream.seek(len(b"something else"))
    assert Recording(stream, uri="mem:x").read_all() == NUMBERS


@pytest.mark.parametrize("damage", ["cut", "checksum", "trailing"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_stream_is_one_loss_in_every_format(name: str, damage: str) -> None:
    """However the stream is damaged, one problem says so, as a loss, with the reason of the source."""
    sample = min((SAMPLES / name).rglob("*.*"), key=lambda path: (path.suffix in {".md", ".csv"}, path.as_posix()))
    packed = gzip.compress(sample.read_bytes(), mtime=0)
    data = {"cut": packed[:-8], "checksum": packed[:-8] + bytes(8), "trailing": packed + b"more"}[damage]
    recording = Recording(io.BytesIO(data), uri="mem:x", format=name)
    rows = list(get_format(name).read(recording))
    told = [(row.severity, row.detail) for row in rows if isinstance(row, Problem) and row.kind == "cut_stream"]
    assert told == [("loss", recording.cut)]


def test_several_members_and_zero_padding_are_one_file() -> None:
    """Concatenated gzip members, and the zeros some tools pad with, read as one stream."""
    found, recording = _read(gzip.compress(b"a\n") + gzip.compress(b"b\n") + b"\0" * 64)
    assert found == [b"a", b"b"]
    assert recording.source().state == "whole"


def test_a_line_longer_than_any_block_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no limit to a line's length."""
    monkeypatch.setattr(room, "BLOCK_BYTES", 1000)
    line = b"x" * 200_000
    found, _ = _read(b"short\n" + line + b"\nlast")
    assert [len(f) for f in found] == [5, 200_000, 4]


def test_digest_is_63_bits_and_fixed() -> None:
    """The digest fits a BIGINT and never changes: BLAKE2b of 8 bytes, the top bit cleared."""
    import hashlib

    wanted = int.from_bytes(hashlib.blake2b(b"mem:x", digest_size=8).digest(), "big") & (2**63 - 1)
    assert digest63("mem:x") == wanted
    assert digest63("\ud800") >= 0
