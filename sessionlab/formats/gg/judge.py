"""The lines of one journal in, in file order; whether each may follow those before it, and how the walk ended, out.

The reader, the assembly and the salvage of a journal all ask here, so that they agree (sections 4.2 to 4.5): damage
keeps what stands before it, a refusal keeps nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from sessionlab.formats.gg.lines import (
    EndLine,
    EntryLine,
    HeaderLine,
    Line,
    MessageLine,
    TextLine,
    ToolsetLine,
)
from sessionlab.formats.gg.records import FORMAT_VERSION, U32, Truncation
from sessionlab.formats.gg.references import Counts, dangling
from sessionlab.formats.gg.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable


class _Gate(msgspec.Struct):
    """What is looked at first on a header line, whatever else it lacks."""

    type: Literal["header"]
    version: U32 = msgspec.field(name="formatVersion")


_gate = msgspec.json.Decoder(_Gate).decode


class Judge:
    """What is known of a journal so far.

    Attributes:
        line: 1-based number of the line in hand, for refusals; set by who walks.
        counts: bodies of each pool so far.
        entries: entries so far.
        last_seq: what the last of them says of itself.
        header: the header, once it was met.
        end: the end line, once it was met: nothing behind it is read.
        damaged: a line could not be read: nothing behind it is, either.
    """

    __slots__ = ("_checks", "counts", "damaged", "end", "entries", "header", "last_seq", "line")

    def __init__(self) -> None:
        """Nothing read yet."""
        self.line = 0
        self.counts = Counts()
        self.entries = 0
        self.last_seq: int | None = None
        self.header: HeaderLine | None = None
        self.end: EndLine | None = None
        self.damaged = False
        self._checks: dict[type, Callable[[Any], None]] = {
            EntryLine: self._entry,
            MessageLine: lambda line: self.message(line.index),
            ToolsetLine: lambda line: self.toolset(line.index),
            TextLine: lambda line: self.text(line.index),
            HeaderLine: self._header,
            EndLine: self._end,
        }

    def take(self, line: Line) -> None:
        """Admit the next line.

        Raises:
            Refusal: with it in the file, the journal must not be read in part.
        """
        check = self._checks.get(type(line))
        if check is not None:
            check(line)

    def message(self, index: int) -> None:
        """Admit a message line of this index."""
        if index != self.counts.message:
            raise self._gap("message", index, self.counts.message)
        self.counts.message += 1

    def toolset(self, index: int) -> None:
        """Admit a toolset line of this index."""
        if index != self.counts.toolset:
            raise self._gap("toolset", index, self.counts.toolset)
        self.counts.toolset += 1

    def text(self, index: int) -> None:
        """Admit a text line of this index."""
        if index != self.counts.text:
            raise self._gap("text", index, self.counts.text)
        self.counts.text += 1

    def entry(self, seq: int) -> None:
        """Count an entry whose references are known to be good."""
        self.entries += 1
        self.last_seq = seq

    def unparseable(self, data: bytes) -> None:
        """The line in hand cannot be read, which ends the walk.

        Raises:
            Refusal: it is a header line of another format: refused for that, even where it lacks members of this one.
        """
        try:
            gate = _gate(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            gate = None
        if gate is not None and gate.version != FORMAT_VERSION:
            raise self._other_format(gate.version)
        self.damaged = True

    def close(self) -> HeaderLine:
        """The header, at the end of the walk.

        Raises:
            Refusal: there was none.
        """
        if self.header is None:
            raise Refusal("no_header", "has no header line, so the session it belongs to is unknown", line=None)
        return self.header

    def truncation(self) -> Truncation | None:
        """Why the journal is short (4.4): its structure outranks what it says of itself."""
        if self.end is None:
            return Truncation("corrupt_journal" if self.damaged else "session_killed", self.last_seq)
        reported = self.end.truncation
        if self.end.entries != self.entries:
            return Truncation("corrupt_journal", self.last_seq, None if reported is None else reported.bytes)
        return reported

    def _entry(self, line: EntryLine) -> None:
        entry = line.entry
        if (found := dangling(entry, self.counts)) is not None:
            raise Refusal("dangling_reference", found.sentence(entry.seq), line=self.line)
        self.entry(entry.seq)

    def _header(self, header: HeaderLine) -> None:
        if header.format_version != FORMAT_VERSION:
            raise self._other_format(header.format_version)
        if self.header is not None:
            sentence = "carries a second header line; a journal records exactly one session"
            raise Refusal("second_header", sentence, line=self.line)
        self.header = header

    def _end(self, line: EndLine) -> None:
        self.end = line

    def _gap(self, pool: str, index: int, count: int) -> Refusal:
        sentence = (
            f"has a gap in its {pool} pool (a line claims index {index}, but {count} {pool} entries have been read)"
        )
        return Refusal("gap", sentence, line=self.line)

    def _other_format(self, version: int) -> Refusal:
        return Refusal(
            "format",
            f"is in journal format {version}, which this build does not assemble (it writes {FORMAT_VERSION})",
            line=self.line,
            format_version=version,
        )
