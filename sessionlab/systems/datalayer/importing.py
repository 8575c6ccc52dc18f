"""A session file's bytes and a store in; a new session of the importer's in that store out (datalayer.md section 8).

The file is untrusted: it is judged as the published importer judges it, and its values are copied; nothing in it is
executed, replayed, fetched or resolved.
"""

from __future__ import annotations

import os
import uuid
from datetime import datetime
from pathlib import Path

import msgspec

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.formats.datalayer.fields import App, EntryLine, ImportedFrom, Lineage, SessionLine
from sessionlab.formats.datalayer.judge import MAX_BYTES, MAX_ENTRIES, Refusal, judge, whole
from sessionlab.formats.datalayer.lineage import NEVER_IMPORTED
from sessionlab.formats.datalayer.text import decoded, lines
from sessionlab.systems.datalayer.applications import Applications
from sessionlab.systems.datalayer.checking import blocks_of
from sessionlab.systems.datalayer.record import Record
from sessionlab.systems.datalayer.serialising import digest_of
from sessionlab.systems.datalayer.store import Store, made

SUMMARY_POINTS = 2000
"""Longest summary an entry is written with (section 11)."""
NOWHERE = {"kind": "none"}
"""Where a session that was imported or cloned runs."""


class Versions(msgspec.Struct, frozen=True):
    """The application's version in the file, and here."""

    file: int
    current: int


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an import (section 8).

    Attributes:
        uid: the new session's.
        state: ``paused``.
        runs_on: None: it runs nowhere.
        turns, redactions: the numbers the file's head says.
        agent: the one chosen, else the file's.
        harness: what that agent has here.
        title: the file's; where it has none, the first line of the first question.
        lineage: the digest of the file, when and by whom it was exported.
        versions: of the application.
        notes: what is worth knowing beyond the answer, in sentences.
    """

    uid: str
    state: str
    runs_on: None
    turns: int
    redactions: int
    agent: str
    harness: str | None
    title: str
    lineage: Lineage
    versions: Versions
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The answer as JSON has it, without the notes where there are none."""
        told: dict[str, object] = msgspec.to_builtins(self)
        if not self.notes:
            del told["notes"]
        return told


def import_session(
    data: bytes,
    store: Store,
    *,
    by: str,
    agent: str | None = None,
    applications: Applications | None = None,
    now: datetime,
) -> Imported:
    """Take a session file in as a new session of ``by``, paused, on no runtime.

    Args:
        data: the file as received.
        store: where the session is kept.
        by: uid of the importer, who becomes its author.
        agent: another agent than the file's.
        applications: what is known here. None takes the file's word for application, version, agent and harness, and
            has no harness for another agent.
        now: when it is imported.

    Raises:
        SessionRefused: the file's refusal, with its name, status, sentence and line; ``unknown_app`` or
            ``unknown_agent`` (422). Nothing was written.
        WrongUse: ``by`` or ``agent`` is nobody.
        OSError: it cannot be written.
    """
    hold_named(by, agent)
    verdict = judge(data)
    if isinstance(verdict, Refusal):
        raise SessionRefused(verdict.name, verdict.status, verdict.sentence, line=verdict.line)
    (section,) = verdict.sections
    head = section.head
    chosen, harness, version = _chosen(head, agent, applications)
    lineage = Lineage(
        forked_from=None,
        imported_from=ImportedFrom(
            digest=file_digest(data), exported_at=head.exported_at, exported_by=head.exported_by.uid
        ),
    )
    app = App(id=head.app.id, version=version)
    opening = made(
        "session", f"Imported as a session of {by}"[:SUMMARY_POINTS],
        opening_payload(app, chosen, harness, title=head.title, archived=head.archived, lineage=lineage), now,
    )  # fmt: skip
    record = store.add(
        Record(
            uid=new_uid(), app=app, agent=chosen, harness=harness, owner=by, state="paused", turns=head.turns,
            title=head.title, archived=head.archived, lineage=lineage,
            entries=[opening, *taken(section.entries), _imported(head, lineage, version, now)],
        )
    )  # fmt: skip
    return Imported(
        uid=record.uid, state=record.state, runs_on=None, turns=head.turns, redactions=head.redactions, agent=chosen,
        harness=harness, title=record.title, lineage=lineage, versions=Versions(head.app.version, version),
        notes=_notes(store, record, replaced=verdict.replaced),
    )  # fmt: skip


def import_file(
    path: str | os.PathLike[str],
    store: Store,
    *,
    by: str,
    agent: str | None = None,
    applications: Applications | None = None,
    now: datetime,
) -> Imported:
    """The same with a file on disk; one over the cap is counted block by block and never held.

    Raises:
        SessionRefused, WrongUse: as `import_session`.
        OSError: it cannot be read, or the session not written.
    """
    with Path(path).open("rb") as file:
        data = whole(blocks_of(file))
    if isinstance(data, Refusal):
        raise SessionRefused(data.name, data.status, data.sentence, line=data.line)
    return import_session(data, store, by=by, agent=agent, applications=applications, now=now)


def file_digest(data: bytes) -> str:
    """``sha256:`` and the hex digits over the lines as the importer splits them, blank ones included, each with an LF.

    It equals the exporter's for an untouched file, whatever its line ends and whether the last one is there.
    """
    found = lines(decoded(data)[0])
    return digest_of([("\n".join(found) + "\n").encode()])


def taken(entries: list[EntryLine]) -> list[EntryLine]:
    """The entries an import keeps, a `file` entry's file being absent here."""
    return [_absent(entry) if entry.kind == "file" else entry for entry in entries if entry.kind not in NEVER_IMPORTED]


def new_uid() -> str:
    """A new session's uid: 32 lower-case hexadecimal digits."""
    return uuid.uuid4().hex


def opening_payload(
    app: App, agent: str, harness: str | None, *, title: str, archived: bool, lineage: Lineage
) -> dict[str, object]:
    """What the `session` entry of an imported or cloned session holds: paused, on no runtime."""
    return {
        "app": msgspec.to_builtins(app), "state": "paused", "agent": agent, "harness": harness,
        "runs_on": dict(NOWHERE), "title": title, "archived": archived, "lineage": msgspec.to_builtins(lineage),
    }  # fmt: skip


def hold_named(by: str, agent: str | None) -> None:
    """Refuse an author or agent that no head can name.

    Raises:
        WrongUse: it is empty.
    """
    if not by:
        raise WrongUse("by: expected the uid of the new session's author, found an empty text")
    if agent is not None and not agent:
        raise WrongUse("agent: expected an agent's name, or None for the one it was recorded with, found an empty text")


def _chosen(head: SessionLine, agent: str | None, applications: Applications | None) -> tuple[str, str | None, int]:
    """The agent, its harness, and the application's version here."""
    chosen = head.agent if agent is None else agent
    if applications is None:
        return chosen, (head.harness or None) if chosen == head.agent else None, head.app.version
    version = applications.application(head.app.id).version
    return chosen, applications.agent(head.app.id, chosen).harness, version


def _absent(entry: EntryLine) -> EntryLine:
    return msgspec.structs.replace(entry, payload={**entry.payload, "present": False, "path": ""})


def _imported(head: SessionLine, lineage: Lineage, version: int, now: datetime) -> EntryLine:
    file_version = head.app.version
    said = f"Imported from a file that {head.exported_by.uid} exported at {head.exported_at}"
    if file_version != version:
        differs = f"; the file is of version {file_version} of the application, here it is {version}"
        said = said[: max(SUMMARY_POINTS - len(differs), 0)] + differs
    payload: dict[str, object] = {
        **msgspec.to_builtins(lineage.imported_from), "redactions": head.redactions, "file_version": file_version,
        "current_version": version, "source_uid": head.uid,
    }  # fmt: skip
    return made("imported", said[:SUMMARY_POINTS], payload, now)


def _notes(store: Store, record: Record, *, replaced: bool) -> tuple[str, ...]:
    notes = ["the file is not valid UTF-8; each invalid sequence became U+FFFD"] if replaced else []
    size = store.path(record.uid).stat().st_size
    if len(record.entries) > MAX_ENTRIES or size > MAX_BYTES:
        notes.append(
            f"its record of {len(record.entries)} entries is more than one session file may hold: the store reads it,"
            " an export of it has to be split"
        )
    return tuple(notes)
