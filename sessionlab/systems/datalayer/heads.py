"""Session lines as they are written: a record's facts go in; a head, redacted, that the importer takes comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.formats._values import micros
from sessionlab.formats.datalayer.fields import (
    FORMAT_ID,
    TITLE_POINTS,
    App,
    FieldRefusal,
    ForkedFrom,
    ImportedFrom,
    Lineage,
    session_line,
)
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer.record import Record
from sessionlab.systems.datalayer.serialising import valid


class Names(NamedTuple):
    """The texts of one session line as they are written."""

    uid: str
    app: App
    agent: str
    harness: str | None
    owner: str
    state: str
    title: str
    archived: bool
    lineage: Lineage


class Counts(NamedTuple):
    """What a session line counts: turns, entries, redactions; and the kinds it lists."""

    turns: int
    entries: int
    redactions: int
    kinds: Sequence[str]


class Stamp(NamedTuple):
    """When and by whom a file is written."""

    at: str
    by: str


def stamp(now: datetime, by: str, redactor: Redactor) -> Stamp:
    """The stamp of an export: UTC, microseconds, ending in ``Z``.

    Raises:
        WrongUse: ``now`` says no zone, or ``by`` is nobody.
    """
    if now.tzinfo is None:
        raise WrongUse(f"now: expected a time with a zone, found {now.isoformat()}; give datetime.now(UTC)")
    if not by:
        raise WrongUse("by: expected the uid of who exports, found an empty text; an importer refuses a file of nobody")
    return Stamp(
        now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"), valid(redactor.title(by))
    )


def learn(record: Record, redactor: Redactor) -> None:
    """Show the redactor all texts of a record before any of them is redacted."""
    for text in (record.title, record.agent, record.harness or "", record.owner, record.app.id):
        redactor.learn(text)
    for entry in record.entries:
        redactor.learn(entry.summary)
        redactor.learn(entry.payload)


class HeadTexts:
    """The texts of one head on their way into it: redacted as names are, and free of unpaired surrogates.

    Args:
        redactor: its `place` becomes the field.
        notes: what is changed beyond redaction is added, in sentences.
        number: the line the head will be.
    """

    def __init__(self, redactor: Redactor, notes: list[str], number: int) -> None:
        self._redactor, self._notes, self._number = redactor, notes, number

    def name(self, field: str, text: str) -> str:
        """A title, a name, a person."""
        return self._written(field, text, self._redactor.title)

    def identifier(self, field: str, text: str) -> str:
        """An id, by which a session is joined to others."""
        return self._written(field, text, self._redactor.identifier)

    def title(self, text: str) -> str:
        """The title, cut after it is redacted, so that no half of a secret is left."""
        title = self.name("title", text)
        if len(title) > TITLE_POINTS:
            self._notes.append(f"the title has {len(title)} characters; the file holds its first {TITLE_POINTS}")
        return title[:TITLE_POINTS]

    def imported(self, imported: ImportedFrom | None) -> ImportedFrom | None:
        """The file it was imported from."""
        if imported is None:
            return None
        field, at = "lineage.imported_from", imported.exported_at
        return ImportedFrom(
            digest=imported.digest,
            exported_at=at if is_time(at) else self.name(f"{field}.exported_at", at),
            exported_by=self.name(f"{field}.exported_by", imported.exported_by),
        )

    def _written(self, field: str, text: str, redacted: Callable[[str], str]) -> str:
        self._redactor.place = f"line {self._number}.{field}"
        text = redacted(text)
        if (kept := valid(text)) != text:
            self._notes.append(f"{field} holds an unpaired surrogate, which a head cannot; it is written as U+FFFD")
        return kept


def names(record: Record, redactor: Redactor, notes: list[str], *, number: int = 1) -> Names:
    """A record's facts as its session line, which will be line ``number``, says them; ``notes`` may get more."""
    texts = HeadTexts(redactor, notes, number)
    forked, imported = record.lineage.forked_from, record.lineage.imported_from
    if forked is not None:
        uid = texts.identifier("lineage.forked_from.uid", forked.uid)
        forked = ForkedFrom(uid=uid, at_turn=forked.at_turn)
    return Names(
        uid=texts.identifier("uid", record.uid),
        app=App(id=texts.name("app.id", record.app.id), version=record.app.version),
        agent=texts.name("agent", record.agent),
        harness=texts.name("harness", record.harness) if record.harness else None,
        owner=texts.name("owner.uid", record.owner),
        state=record.state or "paused",
        title=texts.title(record.title),
        archived=record.archived,
        lineage=Lineage(forked_from=forked, imported_from=texts.imported(imported)),
    )


def head(names: Names, counts: Counts, stamp: Stamp) -> dict[str, object]:
    """The session line, its members in the order of section 7.

    Raises:
        SessionRefused: ``field_refusal`` (422), naming the member that an importer would refuse, and why.
    """
    members: dict[str, object] = {
        "record_type": "session",
        "format": FORMAT_ID,
        "uid": names.uid,
        "app": msgspec.to_builtins(names.app),
        "agent": names.agent,
        "harness": names.harness,
        "owner": {"uid": names.owner},
        "state": names.state,
        "turns": counts.turns,
        "title": names.title,
        "archived": names.archived,
        "lineage": msgspec.to_builtins(names.lineage),
        "kinds": list(counts.kinds),
        "entries": counts.entries,
        "exported_at": stamp.at,
        "exported_by": {"uid": stamp.by},
        "redactions": counts.redactions,
    }
    hold(session_line, members)
    return members


def hold(check: Callable[[Mapping[str, object]], object], members: Mapping[str, object]) -> None:
    """Check a head before it is written: the published exporter does not, and its file is then refused on import.

    Raises:
        SessionRefused: as `head`.
    """
    try:
        check(members)
    except FieldRefusal as refused:
        said = f"The file would be refused on import: {refused.path} {refused.reason}; give the record another."
        raise SessionRefused("field_refusal", 422, said) from None


def is_time(text: str) -> bool:
    """Whether a text is a time with a zone, which is written as it is."""
    return micros(text.strip()) is not None
