"""What a format is, which ones there are, and which one a file is written in.

A format is a module (or package) with four names::

    NAME: str                                  # "mecha"; the prefix of its session ids
    IGNORED: frozenset[str]                    # keys of the recording it knows of and knowingly does not use
    def sniff(head: bytes, /) -> bool: ...     # is a file that begins so mine? content decides, never the file name
    def read(recording: Recording, /) -> Iterator[Row]: ...   # rows of any common table, in one pass

``read`` yields rows of :mod:`sessionlab.tables` in one stream: `Entry`, `Pool`, `Block`, … as they are met, `Problem`
rows among them, then `Session`, and the rows of ``recording.end(...)`` at the end: `Extent` rows and one `Source` row.
It never raises for bad input. It stays local to the file: every row depends only on what stands before it, except
`Source`, `Session` and a `ToolCall`, which may wait for its result. Formats of other people enter by the entry point
group ``sessionlab.formats``: its value is a module with the same four names.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Protocol, cast

from sessionlab.errors import UnknownName
from sessionlab.formats.recording import HEAD_BYTES, Lines, Recording
from sessionlab.tables import Row

__all__ = ["FORMATS", "HEAD_BYTES", "Format", "Lines", "Recording", "all_formats", "detect", "get_format"]

FORMATS = ("claude_code", "codex", "datalayer", "gg", "mecha")
"""The built-in formats, by module name, which is also their ``NAME``."""


class Format(Protocol):
    """The four names; a module satisfies it."""

    NAME: str
    IGNORED: frozenset[str]

    def sniff(self, head: bytes, /) -> bool:
        """Whether a file beginning with ``head`` (up to HEAD_BYTES, decompressed) is written in this format."""

    def read(self, recording: Recording, /) -> Iterator[Row]:
        """The rows of one recording."""


@cache
def all_formats() -> dict[str, Format]:
    """Every format by name: the built-in ones, then those of installed packages. A taken name is not replaced."""
    found = {name: cast("Format", import_module(f"sessionlab.formats.{name}")) for name in FORMATS}
    for point in sorted(entry_points(group="sessionlab.formats"), key=lambda p: p.name):
        found.setdefault(point.name, cast("Format", point.load()))
    return found


def get_format(name: str) -> Format:
    """The format of that name, or UnknownName listing those there are."""
    known = all_formats()
    if name not in known:
        raise UnknownName("format", name, known)
    return known[name]


def detect(head: bytes) -> Format | None:
    """The one format that claims a file beginning with ``head``; None when none does."""
    return next((fmt for fmt in all_formats().values() if fmt.sniff(head)), None)
