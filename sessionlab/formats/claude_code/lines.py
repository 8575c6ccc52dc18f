"""The lines of a transcript in, records with their place out; every byte that gives no record gives a problem."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from sessionlab.formats.claude_code.decoding import UNREADABLE, Notes, decode_line, line_of, recover
from sessionlab.formats.claude_code.records import Line
from sessionlab.formats.recording import Lines
from sessionlab.tables import Problem

UTF8_BOM = b"\xef\xbb\xbf"
UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_LITTLE_ENDS = (b"", b"}\0", b"\r\0")
_SHOWN = 80


class Records:
    """One pass over the lines of a file.

    Iterating yields ``(record, notes)`` pairs; ``notes`` says what was changed to read it (None when nothing was).
    ``problems`` holds the `Problem` rows of the bytes that gave no record; the reader empties it. ``torn`` is why the
    file is not whole, in words, or None. ``text`` is the line the record just given stands on.
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.problems: list[Problem] = []
        self.torn: str | None = None
        self.text = b""

    def __iter__(self) -> Iterator[tuple[Line, Notes | None]]:
        """Yield each record in the order of the file."""
        for text in self._texts():
            self.text = text
            try:
                if b"\0" not in text and (text.isascii() or text.decode()):
                    yield decode_line(text), None
                    continue
            except (*UNREADABLE, UnicodeDecodeError):
                pass
            yield from self._mended(text)

    def _mended(self, text: bytes) -> Iterator[tuple[Line, Notes]]:
        lines = self.lines
        notes: Notes = []
        nuls = text.count(0)
        if nuls:
            notes.append(("nul_bytes", f"{nuls} NUL bytes left out"))
            text = text.replace(b"\0", b"")
        bare = text.strip()
        record = line_of(bare, notes) if bare.isascii() or _is_utf8(bare) else None
        if record is not None:
            self.text = bare
            yield record, notes
            return
        if not bare:
            if notes:
                self.problems.append(lines.problem("nul_bytes", f"{nuls} NUL bytes and nothing else"))
            else:
                lines.fate = "blank"
            return
        try:
            decoded = bare.decode()
        except UnicodeDecodeError as error:
            notes.append(("not_utf8", f"bytes that are not UTF-8 replaced by U+FFFD, the first at {error.start}"))
            decoded = bare.decode("utf-8", "replace")
        found = recover(decoded)
        notes += found.notes
        if len(found.objects) > 1:
            notes.append(("glued_records", f"{len(found.objects)} records on one line"))
        read = 0
        for whole in found.objects:
            mine: Notes = notes if read == 0 else []
            record = line_of(whole, mine)
            if record is None:
                self.problems.append(
                    self.lines.problem("unreadable_record", "a record is nested too deeply to be read")
                )
                continue
            read += 1
            self.text = whole
            yield record, mine
        if read == 0:
            self._note(notes)
        self._lose(decoded, found.others, found.lost, unread=read == 0)

    def _note(self, notes: Notes) -> None:
        for kind, words in notes:
            self.problems.append(self.lines.problem(kind, words, severity="note"))

    def _lose(self, text: str, others: list[str], lost: list[tuple[int, int]], *, unread: bool) -> None:
        lines = self.lines
        for value in others:
            words = f"a record is a JSON object; this is {value[:_SHOWN]}"
            self.problems.append(lines.problem("not_an_object", words))
        tail = not lines.terminated
        for start, end in lost:
            kind = "torn_tail" if tail and end == len(text) else "torn_line"
            words = f"no whole record in {end - start} characters: {text[start : min(end, start + _SHOWN)]}"
            self.problems.append(lines.problem(kind, words))
        if not unread:
            lines.fate = "read"
        if others or lost:
            self.torn = self.torn or f"line {lines.number} is not a whole record"

    def _texts(self) -> Iterator[bytes]:
        """Each line as UTF-8; a byte order mark is noted and taken off (rule 46)."""
        lines = iter(self.lines)
        first = next(lines, None)
        if first is None:
            return
        encoding = UTF16.get(first[:2])
        if encoding is not None:
            self._note([("byte_order_mark", f"the file is {encoding.upper()}")])
            yield from self._utf16(first[2:], lines, encoding)
            return
        if first.startswith(UTF8_BOM):
            self._note([("byte_order_mark", "the file begins with a UTF-8 byte order mark")])
            first = first[len(UTF8_BOM) :]
        yield first
        yield from lines

    @staticmethod
    def _utf16(first: bytes, lines: Iterator[bytes], encoding: str) -> Iterator[bytes]:
        """Lines of 16-bit units, out of pieces that were cut at each byte 0A, which is half of a unit.

        In little-endian text a piece ends a line when a record ends there, or when the next one begins with the other
        half of the line feed; so that a line is given out while it is the current one wherever it is whole.
        """
        little = encoding == "utf-16-le"
        kept: bytes | None = first
        pieces: Iterator[bytes | None] = itertools.chain([None], lines)
        for piece in pieces:
            if piece is not None:
                if kept is None:
                    kept = piece[1:] if little and piece[:1] == b"\0" else piece
                elif little and len(kept) % 2 == 0 and piece[:1] == b"\0":
                    yield kept.decode(encoding, "replace").encode()
                    kept = piece[1:]
                else:
                    kept += b"\n" + piece
            assert kept is not None
            if little:
                ended = len(kept) % 2 == 0 and kept[-2:] in _LITTLE_ENDS
            else:
                ended = len(kept) % 2 == 1 and kept[-1:] == b"\0"
            if ended:
                yield (kept if little else kept[:-1]).decode(encoding, "replace").encode()
                kept = None
        if kept is not None:
            yield kept.decode(encoding, "replace").encode()


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
