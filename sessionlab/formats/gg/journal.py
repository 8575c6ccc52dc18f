"""A capture journal in (`.gg/replay.ndjson`); its rows out, or one refusal.

Lines are judged in file order; the first that stops the walk decides (sections 4.2 to 4.5). Damage keeps what stands
before it; a refusal keeps nothing, so rows are held until the walk is over. Replies that loop detection or a failed
decoding threw away are not in a journal, nor is what they cost; a journal writer that died leaves no end line, so it
reads as `session_killed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from sessionlab.formats.byte_order import mark_of
from sessionlab.formats.gg.frames import line_parser
from sessionlab.formats.gg.lines import (
    AgentLine,
    EndLine,
    EntryLine,
    HeaderLine,
    Line,
    MessageLine,
    SeedLine,
    TextLine,
    ToolsetLine,
)
from sessionlab.formats.gg.records import FORMAT_VERSION, U32, Truncation
from sessionlab.formats.gg.references import Counts, dangling
from sessionlab.formats.gg.refusals import Refusal, refused
from sessionlab.formats.gg.rows import SessionRows
from sessionlab.formats.gg.strict import Parsed, Unparseable
from sessionlab.tables import Problem, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessionlab.formats.recording import Recording

_Kept = tuple[int, int, int, Parsed[Line]]
"""A line that stands before the header: number, offset, length, what it holds."""


class _Gate(msgspec.Struct):
    """What is looked at first on a header line, whatever else it lacks."""

    type: Literal["header"]
    version: U32 = msgspec.field(name="formatVersion")


_gate = msgspec.json.Decoder(_Gate).decode


def read_journal(recording: Recording) -> Iterator[Row]:
    """The rows of a journal."""
    mark = mark_of(recording.head())
    walk = _Walk(recording)
    try:
        walk.run()
    except Refusal as refusal:
        walk.drain()
        yield from refused(recording, refusal, mark)
        return
    yield from walk.finish()


class _Walk:
    """One journal on its way from line to line."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lines = recording.lines()
        self._iterator = iter(self._lines)
        self._rows: SessionRows | None = None
        self._early: list[_Kept] = []
        self._counts = Counts()
        self._entries = 0
        self._checks: dict[type, Callable[[Any], None]] = {
            EntryLine: self._entry,
            MessageLine: self._message,
            ToolsetLine: self._toolset,
            TextLine: self._text,
            HeaderLine: self._header,
            EndLine: self._stop,
        }
        self._last_seq: int | None = None
        self._end: EndLine | None = None
        self._damaged = False
        self._problems: list[Problem] = []
        self._behind: tuple[int, int] | None = None  # line and offset of what a corrupt line hides

    def run(self) -> None:
        """Walk to the end line, the first damage or the end of the file.

        Raises:
            Refusal: the journal must not be read in part.
        """
        lines = self._lines
        parse_line = line_parser()
        for data in self._iterator:
            if not lines.terminated:
                self._damage("torn_line", "the last line does not end: it was cut while it was written")
            elif not data:
                lines.fate = "blank"
            else:
                try:
                    parsed = parse_line(data)
                except Unparseable as error:
                    self._refuse_other_format(data)
                    self._damage("corrupt_line", f"the line does not parse: {error}")
                    self._behind = (lines.number + 1, lines.offset + lines.length)
                    lines.rest("problem")
                else:
                    self._accept(parsed)
        if self._rows is None:
            raise Refusal("no_header", "has no header line, so the session it belongs to is unknown", line=None)

    def drain(self) -> None:
        """Read what is left of the file, for its size and digest."""
        self._lines.rest("problem")
        for _ in self._iterator:
            pass

    def finish(self) -> Iterator[Row]:
        """The rows held so far and those that speak of the whole."""
        rows = self._rows
        assert rows is not None
        truncation = self._truncation()
        rows.finish("log", truncation)
        session_id = rows.out.session_id
        session = rows.out.rows.pop()
        yield from rows.out.rows
        for problem in self._problems:
            yield msgspec.structs.replace(problem, session_id=session_id)
        if self._behind is not None:
            line, offset = self._behind
            size = self._recording.decoded_bytes - offset
            if size:
                yield Problem(
                    session_id=session_id,
                    line=line,
                    byte_offset=offset,
                    byte_length=size,
                    kind="after_damage",
                    severity="loss",
                    detail="these lines stand behind a corrupt line and are not read",
                )
        yield session
        reason = None if truncation is None else truncation.reason
        yield from self._recording.end(
            state="whole" if reason is None else "short", reason=reason, format_version=str(FORMAT_VERSION)
        )

    def _accept(self, parsed: Parsed[Line]) -> None:
        """Check the line against those before it and pass it on; lines before the header wait for it."""
        line = parsed[0]
        check = self._checks.get(type(line))
        if check is not None:
            check(line)
        lines, rows = self._lines, self._rows
        if rows is None:
            self._early.append((lines.number, lines.offset, lines.length, parsed))
            return
        if self._early:
            rows.out.at(lines.number, lines.offset, lines.length)
            rows.out.note("late_header", "the header is not the first line")
            for number, offset, length, before in self._early:
                rows.out.at(number, offset, length)
                _tell(rows, before)
            self._early = []
        rows.out.at(lines.number, lines.offset, lines.length)
        _tell(rows, parsed)

    def _entry(self, line: EntryLine) -> None:
        entry = line.entry
        if (found := dangling(entry, self._counts)) is not None:
            raise Refusal("dangling_reference", found.sentence(entry.seq), line=self._lines.number)
        self._entries += 1
        self._last_seq = entry.seq

    def _message(self, line: MessageLine) -> None:
        if line.index != self._counts.message:
            raise self._gap("message", line.index, self._counts.message)
        self._counts.message += 1

    def _toolset(self, line: ToolsetLine) -> None:
        if line.index != self._counts.toolset:
            raise self._gap("toolset", line.index, self._counts.toolset)
        self._counts.toolset += 1

    def _text(self, line: TextLine) -> None:
        if line.index != self._counts.text:
            raise self._gap("text", line.index, self._counts.text)
        self._counts.text += 1

    def _stop(self, line: EndLine) -> None:
        self._end = line
        self._lines.rest("after_end")

    def _header(self, header: HeaderLine) -> None:
        if header.format_version != FORMAT_VERSION:
            raise self._other_format(header.format_version)
        if self._rows is not None:
            raise Refusal(
                "second_header",
                "carries a second header line; a journal records exactly one session",
                line=self._lines.number,
            )
        self._rows = SessionRows(
            header.session_id,
            header.routing_key,
            header.capability_set,
            header.recorder,
            bodies=self._recording.bodies,
        )

    def _gap(self, pool: str, index: int, count: int) -> Refusal:
        sentence = (
            f"has a gap in its {pool} pool (a line claims index {index}, but {count} {pool} entries have been read)"
        )
        return Refusal("gap", sentence, line=self._lines.number)

    def _refuse_other_format(self, data: bytes) -> None:
        """A header line of another format is refused for that, even where it lacks members of this one."""
        try:
            gate = _gate(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if gate.version != FORMAT_VERSION:
            raise self._other_format(gate.version)

    def _other_format(self, version: int) -> Refusal:
        return Refusal(
            "format",
            f"is in journal format {version}, which this build does not assemble (it writes {FORMAT_VERSION})",
            line=self._lines.number,
            format_version=version,
        )

    def _damage(self, kind: str, words: str) -> None:
        self._damaged = True
        self._problems.append(self._lines.problem(kind, words))

    def _truncation(self) -> Truncation | None:
        """Why the journal is short (4.4): its structure outranks what it says of itself."""
        if self._end is None:
            reason: Literal["corrupt_journal", "session_killed"] = (
                "corrupt_journal" if self._damaged else "session_killed"
            )
            return Truncation(reason, self._last_seq)
        reported = self._end.truncation
        if self._end.entries != self._entries:
            return Truncation("corrupt_journal", self._last_seq, None if reported is None else reported.bytes)
        return reported


def _tell(rows: SessionRows, parsed: Parsed[Line]) -> None:
    """Turn one accepted line into rows."""
    line, free, unknown = parsed
    if unknown:
        rows.unknown(unknown)
    match line:
        case EntryLine():
            rows.entry(line.entry, free, {"unknown": unknown} if unknown else None)
        case TextLine():
            clip = line.clip
            if clip is not None and clip.text != line.index:
                rows.out.note("misplaced_clip", f"the clip of text {line.index} names text {clip.text}")
                clip = None
            rows.text(line.index, line.text, clip)
        case MessageLine():
            rows.message(line.index, line.message, free)
        case ToolsetLine():
            rows.toolset(line.index, line.toolset, free)
        case AgentLine():
            rows.agent(line.agent, unknown)
        case SeedLine():
            rows.seed(line.seed, unknown)
