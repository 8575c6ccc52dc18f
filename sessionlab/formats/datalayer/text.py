"""Where a line of a session file ends: bytes or text go in; lines, their number, or their byte ranges come out.

More than LF ends a line (datalayer.md section 5): whatever `str.splitlines` splits at.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

LINE_ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""The characters that end a line; CR LF is one end."""
_ASCII_ENDS = tuple(end.encode() for end in LINE_ENDS if end.isascii() and end != "\n")
_WIDE_ENDS = tuple(end for end in LINE_ENDS if not end.isascii())
_LAST_OF_WIDE_ENDS = tuple(end.encode()[-1:] for end in _WIDE_ENDS)
_END_BYTES = re.compile(rb"\r\n|[\n\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
_LF = re.compile(rb"\n")
_RAW_IN_STRINGS = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")


def decoded(data: bytes) -> tuple[str, bool]:
    """The text, and whether invalid UTF-8 was replaced by U+FFFD in it. A byte-order mark is kept."""
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.decode(errors="replace"), True


def ends_at_lf_alone(data: bytes) -> bool:
    """Whether LF is the only line end there is: sought in the bytes, and in the text where they leave doubt."""
    if any(end in data for end in _ASCII_ENDS):
        return False
    if data.isascii() or not any(last in data for last in _LAST_OF_WIDE_ENDS):
        return True
    text, replaced = decoded(data)
    return not replaced and not any(end in text for end in _WIDE_ENDS)


def lines(text: str, *, lf_only: bool = False) -> list[str]:
    r"""The lines without their ends, as the importer splits them, or split at ``\n`` alone."""
    if not lf_only:
        return text.splitlines()
    parts = text.split("\n")
    if not parts[-1]:
        parts.pop()
    return parts


def breaks_inside_strings(data: bytes) -> bool:
    """Whether U+0085, U+2028 or U+2029 occurs raw: it ends a line, and JSON allows it in a string."""
    return any(character in data for character in _RAW_IN_STRINGS)


def byte_ranges(data: bytes, *, lf_only: bool = False) -> Iterator[tuple[int, int]]:
    """First byte and length, line end included, of each line.

    Each end is a whole UTF-8 sequence that starts with a lead byte, so the ends found in the bytes are those found in
    the text, invalid sequences replaced or not.
    """
    start = 0
    for end in (_LF if lf_only else _END_BYTES).finditer(data):
        yield start, end.end() - start
        start = end.end()
    if start < len(data):
        yield start, len(data) - start


class LineCounter:
    """Counts the lines of a file that is too large to hold, block by block."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ends = 0
        self._last = ""

    def add(self, block: bytes, *, final: bool = False) -> None:
        """Count the ends in the next block; ``final`` after the last one."""
        text = self._decoder.decode(block, final)
        if not text:
            return
        if self._last == "\r" and text.startswith("\n"):
            self._ends -= 1  # one end, of which the block border has made two
        self._ends += len(text.splitlines()) - (text[-1] not in LINE_ENDS)
        self._last = text[-1]

    @property
    def lines(self) -> int:
        """Lines so far, one without an end included."""
        return self._ends + (self._last not in LINE_ENDS if self._last else 0)
