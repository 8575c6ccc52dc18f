"""Split: a record too large for one file goes in; several files, each linked to the one before it, come out."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

from msgspec import structs, to_builtins

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.formats.datalayer.fields import TITLE_POINTS, EntryLine, ForkedFrom, Lineage, session_line
from sessionlab.formats.datalayer.judge import MAX_BYTES, MAX_ENTRIES, Section, too_large
from sessionlab.formats.datalayer.lineage import copies
from sessionlab.formats.datalayer.payloads import text
from sessionlab.redaction import Finding, Redactor
from sessionlab.systems.datalayer.export import Exported, Tally, packed, redacted, redactions
from sessionlab.systems.datalayer.heads import Counts, head, learn, names, stamp
from sessionlab.systems.datalayer.record import Record, facts
from sessionlab.systems.datalayer.serialising import line_of

UID_CHARACTERS = 128
_LEAST_ENTRIES = 2
_LINE = re.compile(r"line (\d+)")


def split(
    record: Record,
    *,
    by: str,
    now: datetime,
    redactor: Redactor,
    kinds: Sequence[str] | None = None,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
) -> list[Exported]:
    """A session as as many linked files as the caps need; one that fits is the file `export` makes.

    The first part keeps the session's uid, the nth has ``{uid}-{n}``, opens with a `session` entry of its own and is
    forked from the part before it at the turns so far, so that a reader takes the parts for one chain and no entry for
    a copy. Parts end between two runs (between two turns, where there are no runs) when one of these ends fits, else
    between two entries. Each part says state, title, archive mark, agent and harness as they stood at its end. Turns
    add up to the session's, entries to the session's and one more for each part after the first.

    Args:
        record: the session; it is not changed.
        by: uid of who exports.
        now: time of export, with its zone.
        redactor: the exact rules, or stricter ones.
        kinds: what each head says the record keeps. Unsaid: the kinds present in the part.
        max_bytes: largest part, up to the format's cap.
        max_entries: most entry lines of a part, 2 at least, up to the format's cap.

    Raises:
        SessionRefused: as `export`; ``too_large`` (413) where one entry alone is over the cap, with its counts.
        WrongUse: as `export`; a cap that cannot be kept.
    """
    if not 0 < max_bytes <= MAX_BYTES or not _LEAST_ENTRIES <= max_entries <= MAX_ENTRIES:
        raise WrongUse(
            f"expected caps of up to {MAX_BYTES} bytes and of {_LEAST_ENTRIES} to {MAX_ENTRIES} entries, "
            f"found max_bytes={max_bytes}, max_entries={max_entries}"
        )
    return _Splitter(record, redactor, now, by, kinds, (max_bytes, max_entries)).parts()


class _Part(NamedTuple):
    """One part on trial: it is kept when its lines fit."""

    lines: list[bytes]
    uid: str
    counts: Counts
    findings: list[Finding]
    notes: list[str]

    @property
    def size(self) -> int:
        return sum(map(len, self.lines))


class _Splitter:
    """One session on its way into parts; entries, and ends of parts, are counted from 0."""

    def __init__(
        self, record: Record, redactor: Redactor, now: datetime, by: str, kinds: Sequence[str] | None,
        caps: tuple[int, int],
    ) -> None:  # fmt: skip
        self._record, self._redactor, self._by, self._kinds = record, redactor, by, kinds
        self._max_bytes, self._max_entries = caps
        learn(record, redactor)
        tally = Tally(redactor)
        self._signed = stamp(now, by, redactor)
        self._of_stamp = tally.findings()
        tally = Tally(redactor)
        self._written = redacted(record.entries, redactor, self._signed, number=2)
        self._found = _by_entry(tally.findings())
        self._sizes = [0, *accumulate(map(len, self._written.lines))]
        self._turns = [0, *accumulate(entry.kind == "turn" for entry in self._written.entries)]
        self._told = facts(self._written.entries)
        self._between = _between_runs(self._written.entries)
        self._uid = redactor.identifier(record.uid)
        self._before: list[_Part] = []

    def parts(self) -> list[Exported]:
        """The parts, in order."""
        start = 0
        while start < len(self._written.lines) or not self._before:
            end, part = self._next(start)
            if start == 0:
                part.notes[:0] = [*self._record.notes, *self._written.notes, *self._taken_over(end)]
            self._before.append(part)
            start = end
        return [
            packed(
                part.lines, uid=part.uid, counts=part.counts, findings=part.findings, notes=part.notes,
                signed=self._signed, by=self._by,
            )
            for part in self._before
        ]  # fmt: skip

    def _next(self, start: int) -> tuple[int, _Part]:
        """Where the part that begins at ``start`` ends, and the part."""
        opening = self._part(start, start)  # without any entry of the record: what the first lines weigh, nearly
        most = bisect_right(self._sizes, self._sizes[start] + self._max_bytes - opening.size) - 1
        end = max(min(most, start + self._max_entries - opening.counts.entries), min(start + 1, len(self._sizes) - 1))
        if end < len(self._written.lines):
            end = next((n for n in range(end, start, -1) if self._between[n]), end)
        while (part := self._part(start, end)).size > self._max_bytes:
            if end <= start + 1:
                raise SessionRefused("too_large", 413, too_large(len(part.lines) - 1, part.size).sentence)
            end -= 1  # a head may have grown by a digit, a kind or a title
        return end, part

    def _part(self, start: int, end: int) -> _Part:
        tally = Tally(self._redactor)
        notes: list[str] = []
        record = self._as_of(start, end)
        named = names(record, self._redactor, notes)
        lines: list[bytes] = []
        if start:
            lines += redacted([self._opening(start, record)], self._redactor, self._signed, number=2).lines
            notes.append(f"goes on from {self._before[-1].uid} after turn {self._turns[start]} of the session")
        shift = len(lines) + 2 - start
        findings = self._of_stamp + tally.findings()
        for n in range(start, end):
            for rule, path, count in self._found.get(n, ()):
                findings.append(Finding(rule, f"line {n + shift}{path}", count))
        lines += self._written.lines[start:end]
        kinds = {entry.kind for entry in self._written.entries[start:end]} | ({"session"} if start else set())
        counts = Counts(
            turns=self._turns[end] - self._turns[start],
            entries=len(lines),
            redactions=redactions(findings),
            kinds=sorted(set(self._kinds or kinds)),
        )
        return _Part([line_of(head(named, counts, self._signed), number=1), *lines], named.uid, counts, findings, notes)

    def _as_of(self, start: int, end: int) -> Record:
        """The record as the part's head tells it: as it stood after the entry before ``end``.

        What its entries do not tell, or tell otherwise than the record, is as the record says.
        """
        record, told, entries = self._record, self._told, self._written.entries
        then = facts(entries[:end]) if end < len(entries) else told
        stood: dict[str, object] = {}
        if then.started is not None:
            for field in ("state", "title", "archived", "agent", "harness"):
                if getattr(told, field) == getattr(record, field):
                    stood[field] = getattr(then, field)
        if start:
            imported = any(entry.kind == "imported" for entry in entries[start:])
            stood["uid"] = _numbered(self._uid, len(self._before) + 1)
            stood["lineage"] = Lineage(
                forked_from=ForkedFrom(uid=self._before[-1].uid, at_turn=self._turns[start]),
                imported_from=record.lineage.imported_from if imported else None,
            )
        return structs.replace(record, **stood)

    def _opening(self, start: int, part: Record) -> EntryLine:
        """The `session` entry of a later part: its session as it stood where the part begins."""
        stood = self._as_of(0, start)
        return EntryLine(
            record_type="entry",
            kind="session",
            at=self._written.entries[start].at,
            summary="",
            payload={
                "app": to_builtins(stood.app),
                "state": stood.state,
                "agent": stood.agent,
                "harness": stood.harness,
                "title": stood.title[:TITLE_POINTS],
                "archived": stood.archived,
                "lineage": to_builtins(part.lineage),
            },
        )

    def _taken_over(self, end: int) -> list[str]:
        """A word of warning where a clone is cut among the entries it took over: later parts cannot say so."""
        if end == len(self._written.lines) or self._record.lineage.forked_from is None:
            return []
        first = session_line(json.loads(self._part(0, end).lines[0]))
        numbers = list(range(2, len(self._written.lines) + 2))
        copied, _ = copies(Section(first, 1, self._written.entries, numbers))
        if not any(n >= end for n in copied):
            return []
        return ["entries that the session took over when it was cloned stand in later parts too, which do not say so"]


def _between_runs(entries: Sequence[EntryLine]) -> list[bool]:
    """For each place between entries whether no run is cut there: before a run, or after a turn that no run holds."""
    between = [False]
    is_running = False
    for n, entry in enumerate(entries):
        if n:
            between.append(
                entry.kind == "run" or (not is_running and entries[n - 1].kind == "turn" and entry.kind != "feedback")
            )
        if entry.kind == "run":
            is_running = True
        elif entry.kind == "output" and text(entry.payload, "status") is not None:
            is_running = False
    return [*between, True]


def _by_entry(findings: Sequence[Finding]) -> dict[int, list[Finding]]:
    """Findings by the entry they are in, their places without the line, which a part numbers anew."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for rule, place, count in findings:
        line = _LINE.match(place)
        assert line is not None
        found[int(line[1]) - 2].append(Finding(rule, place[line.end() :], count))
    return found


def _numbered(uid: str, part: int) -> str:
    """The uid of a part after the first, within the length a uid may have."""
    ending = f"-{part}"
    return uid[: UID_CHARACTERS - len(ending)] + ending
