"""A transcript's path in; its header out, after a look at the first line that is not blank and no further (8.1)."""

from __future__ import annotations

import os

from sessionlab.formats.mecha import wire
from sessionlab.formats.mecha.lenient import Unreadable, is_blank, record_in

BLOCK_BYTES = 4096
HEADER_BYTES = 1 << 20
"""A first line longer than this is taken for no header: nothing that could be one comes near it."""
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe would be waited at for ever
_BLANK = b" \t\r\n"


def peek(path: str | os.PathLike[str]) -> wire.Meta | None:
    """The header of a transcript; None when its first line that is not blank is anything else.

    However large the file, no more than that line is read, in blocks of 4 kB.

    Raises:
        OSError: the file cannot be opened or read (FileNotFoundError: it has gone meanwhile).
    """
    file = os.open(path, _FLAGS)
    try:
        line = first_line(file)
    finally:
        os.close(file)
    return None if line is None else header(line)


def first_line(file: int) -> bytes | None:
    r"""The first line that is not blank, without its ``\n``; None when there is none, or none within HEADER_BYTES."""
    held = b""
    while block := os.read(file, BLOCK_BYTES):
        held = (held + block).lstrip(_BLANK)
        while (end := held.find(b"\n")) >= 0:
            line, held = held[:end], held[end + 1 :]
            if not is_blank(line):
                return line
        if len(held) > HEADER_BYTES:
            return None
    return None if is_blank(held) else held


def header(line: bytes) -> wire.Meta | None:
    """The header that ``line`` is, members nobody knows left out; None when it is none."""
    try:
        record = record_in(line)
    except Unreadable:
        return None
    return record if type(record) is wire.Meta else None
