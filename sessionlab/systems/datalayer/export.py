"""Export: a session's record and a redactor go in; a `datalayer-session/1` file that any importer takes comes out.

Every exporter here writes from the same parts: `learn` shows the redactor the whole record, `redacted` writes its
entries, `names` and `head` its session line, `held_to_caps` refuses what is too large, `packed` makes the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import KIND_SET, EntryLine
from sessionlab.formats.datalayer.judge import MAX_BYTES, MAX_ENTRIES, too_large
from sessionlab.redaction import Finding, Redactor
from sessionlab.redaction.marks import UNCOUNTED
from sessionlab.systems.datalayer.heads import Counts, Stamp, head, is_time, learn, names, stamp
from sessionlab.systems.datalayer.record import Record
from sessionlab.systems.datalayer.serialising import digest_of, line_of, valid
from sessionlab.systems.datalayer.wording import counted

MEDIA_TYPE = "application/x-ndjson"
EXTENSION = ".session.jsonl"


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was made and not yet written anywhere.

    Attributes:
        data: the file's bytes.
        digest: ``sha256:`` and 64 hexadecimal digits, of ``data``.
        uid: of the session (of a team file: the run's execution id) as the file says it.
        file_name: ``{uid}.session.jsonl``, a name without folders.
        turns: as the head says; of a team file those of all its seats.
        entries: how many entry lines there are.
        redactions: as the head says: all removals but those of a runtime's address.
        counts: removals of each rule that removed anything.
        findings: removals by rule and place; the line is the file's.
        notes: what was left out or changed beyond redaction, in sentences.
        exported_entry: what the session's own record gets afterwards; it is never in the file it describes.
    """

    data: bytes
    digest: str
    uid: str
    file_name: str
    turns: int
    entries: int
    redactions: int
    counts: dict[str, int]
    findings: list[Finding]
    notes: tuple[str, ...]
    exported_entry: EntryLine

    def headers(self) -> dict[str, str]:
        """The headers under which a server hands the file out (section 7)."""
        return {
            "Content-Type": MEDIA_TYPE,
            "Content-Disposition": f'attachment; filename="{self.file_name}"',
            "X-Session-Digest": self.digest,
            "X-Session-Turns": str(self.turns),
            "X-Session-Redactions": str(self.redactions),
        }


class Written(NamedTuple):
    """The entries of a record as they are written: kept ones, their lines, what was left out."""

    entries: list[EntryLine]
    lines: list[bytes]
    notes: list[str]

    @property
    def kinds(self) -> list[str]:
        """The kinds present, sorted."""
        return sorted({entry.kind for entry in self.entries})

    @property
    def turns(self) -> int:
        """How many `turn` entries there are."""
        return sum(entry.kind == "turn" for entry in self.entries)


class Tally:
    """What a redactor found from here on; one redactor may serve several files."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._before = _found(redactor)

    def findings(self) -> list[Finding]:
        """By rule and place, in the order in which they were first met."""
        now = _found(self._redactor)
        return [
            Finding(rule, place, count - self._before[rule, place])
            for (rule, place), count in now.items()
            if count > self._before[rule, place]
        ]


def export(
    record: Record,
    *,
    by: str,
    now: datetime,
    redactor: Redactor,
    kinds: Sequence[str] | None = None,
    turns: int | None = None,
) -> Exported:
    """A session as one file (datalayer.md section 7), redacted by ``redactor``.

    Args:
        record: the session; it is not changed.
        by: uid of who exports.
        now: time of export, with its zone.
        redactor: the exact rules, or stricter ones.
        kinds: what the head says the record keeps; no entry is left out for it. Unsaid: the kinds present.
        turns: the number of turns the head says; nothing is cut for it. Unsaid: the number of `turn` entries.

    Raises:
        SessionRefused: ``too_large`` (413), with the counts; ``field_refusal`` (422), where the head would be refused
            on import; ``not_json`` (422), where an entry would be.
        WrongUse: ``now`` says no zone, or ``by`` is nobody.
    """
    tally = Tally(redactor)
    learn(record, redactor)
    signed = stamp(now, by, redactor)
    notes = list(record.notes)
    named = names(record, redactor, notes)
    written = redacted(record.entries, redactor, signed, number=2)
    notes += written.notes
    findings = tally.findings()
    held = written.turns
    if turns is not None and turns != held:
        notes.append(f"the head says {counted(turns, 'turn')} as asked; the file holds {held}")
    if kinds and (unnamed := [kind for kind in written.kinds if kind not in kinds]):
        notes.append(f"the file holds entries of kinds that the head does not list, as asked: {', '.join(unnamed)}")
    counts = Counts(
        turns=held if turns is None else turns,
        entries=len(written.entries),
        redactions=redactions(findings),
        kinds=sorted(set(kinds or written.kinds)),
    )
    lines = [line_of(head(named, counts, signed), number=1), *written.lines]
    held_to_caps(lines)
    return packed(lines, uid=named.uid, counts=counts, findings=findings, notes=notes, signed=signed, by=by)


def redacted(entries: Iterable[EntryLine], redactor: Redactor, signed: Stamp, *, number: int) -> Written:
    """Entries as lines, in order, the first on line ``number``; another kind than the 25 is left out.

    An entry that does not say when it was recorded gets the time of export.

    Raises:
        SessionRefused: ``not_json`` (422), for an entry that no importer takes back.
    """
    kept: list[EntryLine] = []
    lines: list[bytes] = []
    left_out: Counter[str] = Counter()
    undated = 0
    for entry in entries:
        if entry.kind not in KIND_SET:
            left_out[entry.kind] += 1
            continue
        line = number + len(lines)
        redactor.place = f"line {line}.at"
        at = entry.at if is_time(entry.at) else valid(redactor.title(entry.at))
        if not at.strip():
            at = signed.at
            undated += 1
        redactor.place = f"line {line}.summary"
        summary = redactor.text(entry.summary)
        redactor.place = f"line {line}.payload"
        members = {
            "record_type": "entry",
            "kind": entry.kind,
            "at": at,
            "summary": summary,
            "payload": redactor.value(entry.payload),
        }
        lines.append(line_of(members, number=line))
        kept.append(entry)
    notes = []
    if left_out:
        told = ", ".join(f"{kind!r} ({count})" for kind, count in sorted(left_out.items()))
        many = counted(left_out.total(), "entry", "entries")
        notes.append(f"left out, being of kinds that the format does not have: {many}, {told}")
    if undated:
        many = counted(undated, "entry", "entries")
        notes.append(f"the time of export stands where none was recorded: {many}")
    return Written(kept, lines, notes)


def redactions(findings: Iterable[Finding]) -> int:
    """How many removals a head counts (section 6.6)."""
    return sum(finding.count for finding in findings if finding.rule != UNCOUNTED)


def held_to_caps(lines: Sequence[bytes]) -> None:
    """Refuse a file over 20 000 entries, every line after the first counted, or over 64 MB.

    Raises:
        SessionRefused: ``too_large`` (413), with both counts.
    """
    entries, size = len(lines) - 1, sum(map(len, lines))
    if entries > MAX_ENTRIES or size > MAX_BYTES:
        raise SessionRefused("too_large", 413, too_large(entries, size).sentence)


def packed(
    lines: Sequence[bytes],
    *,
    uid: str,
    counts: Counts,
    findings: list[Finding],
    notes: Iterable[str],
    signed: Stamp,
    by: str,
    file_name: str = "",
) -> Exported:
    """A file of these lines, and what is told of it."""
    data = b"".join(lines)
    digest = digest_of([data])
    by_rule: Counter[str] = Counter()
    for finding in findings:
        by_rule[finding.rule] += finding.count
    entry = EntryLine(
        record_type="entry",
        kind="exported",
        at=signed.at,
        summary=f"Exported by {by}: {counted(counts.entries, 'entry', 'entries')},"
        f" {counted(counts.redactions, 'redaction')}.",
        payload={"by": by, "entries": counts.entries, "redactions": counts.redactions, "digest": digest},
    )
    return Exported(
        data=data, digest=digest, uid=uid, file_name=file_name or f"{uid}{EXTENSION}", turns=counts.turns,
        entries=counts.entries, redactions=counts.redactions, counts=dict(by_rule), findings=findings,
        notes=tuple(notes), exported_entry=entry,
    )  # fmt: skip


def _found(redactor: Redactor) -> dict[tuple[str, str], int]:
    found: Counter[tuple[str, str]] = Counter()
    for rule, place, count in redactor.findings:
        found[rule, place] += count
    return found
