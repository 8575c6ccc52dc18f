"""A capture journal in (`.gg/replay.ndjson`); its rows out, or one refusal.

Lines are judged in file order; the first that stops the walk decides (sections 4.2 to 4.5). Damage keeps what stands
before it; a refusal keeps nothing, so rows are held until the walk is over. Replies that loop detection or a failed
decoding threw away are not in a journal, nor is what they cost; a journal writer that died leaves no end line, so it
reads as `session_killed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from sessionlab.formats.byte_order import mark_of
from sessionlab.formats.gg.frames import line_parser
from sessionlab.formats.gg.judge import Judge
from sessionlab.formats.gg.lines import (
    AgentLine,
    EntryLine,
    HeaderLine,
    Line,
    MessageLine,
    SeedLine,
    TextLine,
    ToolsetLine,
)
from sessionlab.formats.gg.records import FORMAT_VERSION
from sessionlab.formats.gg.refusals import Refusal, refused
from sessionlab.formats.gg.rows import SessionRows
from sessionlab.formats.gg.strict import Parsed, Unparseable
from sessionlab.tables import Problem, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionlab.formats.recording import Recording

_Kept = tuple[int, int, int, Parsed[Line]]
"""A line that stands before the header: number, offset, length, what it holds."""


def read_journal(recording: Recording) -> Iterator[Row]:
    """The rows of a journal."""
    mark = mark_of(recording.head())
    walk = Walk(recording)
    try:
        walk.run()
    except Refusal as refusal:
        walk.drain()
        yield from refused(recording, refusal, mark)
        return
    yield from walk.finish()


class Walk:
    """One journal on its way from line to line.

    Attributes:
        rows: what was told so far; None until the header was met.
        judge: how far the journal can be relied on.
        problems: the damage that ended the walk, if one did.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lines = recording.lines()
        self._iterator = iter(self._lines)
        self.rows: SessionRows | None = None
        self._early: list[_Kept] = []
        self.judge = Judge()
        self.problems: list[Problem] = []
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
                self.judge.damaged = True
                self._damage("torn_line", "the last line does not end: it was cut while it was written")
            elif not data:
                lines.fate = "blank"
            else:
                try:
                    parsed = parse_line(data)
                except Unparseable as error:
                    self.judge.line = lines.number
                    self.judge.unparseable(data)
                    self._damage("corrupt_line", f"the line does not parse: {error}")
                    self._behind = (lines.number + 1, lines.offset + lines.length)
                    lines.rest("problem")
                else:
                    self._accept(parsed)
        self.judge.close()

    def drain(self) -> None:
        """Read what is left of the file, for its size and digest."""
        self._lines.rest("problem")
        for _ in self._iterator:
            pass

    def finish(self) -> Iterator[Row]:
        """The rows held so far and those that speak of the whole."""
        rows = self.rows
        assert rows is not None
        truncation = self.judge.truncation()
        rows.finish("log", truncation)
        session_id = rows.out.session_id
        session = rows.out.rows.pop()
        yield from rows.out.rows
        for problem in self.problems:
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
        line, lines = parsed[0], self._lines
        self.judge.line = lines.number
        self.judge.take(line)
        if type(line) is HeaderLine:
            self.rows = SessionRows(
                line.session_id,
                line.routing_key,
                line.capability_set,
                line.recorder,
                bodies=self._recording.bodies,
            )
        elif self.judge.end is not None:
            lines.rest("after_end")
        rows = self.rows
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

    def _damage(self, kind: str, words: str) -> None:
        self.problems.append(self._lines.problem(kind, words))


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
