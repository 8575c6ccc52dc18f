"""A folder in; the sessions kept in it listed, read, added to, renamed, put away, paused and ended, out.

A session is one file, ``{uid}.session.jsonl``: its head and its record, itself a sound session file, so that whatever
reads session files reads the folder. Nobody exported it, so its head says 0 redactions, its owner as `exported_by`
and the time of its last entry as `exported_at`; a record of more entries than a file may have stays readable here.

What the head says stands (title, archive mark, agent, harness, lineage, application, owner); entries that are added
move it by the rules of datalayer.md section 10. State and turns are told by the entries alone.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import msgspec

from sessionlab.arguments import clock
from sessionlab.errors import LISTED, SessionRefused
from sessionlab.formats._values import micros
from sessionlab.formats.datalayer.fields import FORMAT_ID, LONE_SURROGATE, TITLE_POINTS, EntryLine, Person, SessionLine
from sessionlab.systems.datalayer.keeping import KeepingFolder
from sessionlab.systems.datalayer.kept import Kept, judged, longer, new, record_of_kept
from sessionlab.systems.datalayer.record import Record, known_state

SUFFIX = ".session.jsonl"
"""How the name of a session's file ends."""
_UID = re.compile(r"[A-Za-z0-9_-]{8,128}")
_NO_FILE = {errno.ENOENT, errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO}

Row = EntryLine | Mapping[str, object]
"""An entry, or one as a record store tells it (`entry_of`)."""


class StoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a listing.

    Attributes:
        uid: its uid.
        title: as given, else the first line of the first question.
        state: ``open``, ``paused`` or ``ended``.
        turns, entries: how many its record has.
        agent, harness, owner, app: as its head says; the application by its id.
        archived: it is put away.
        started: `at` of its first `session` entry, as written there.
        file: where it is kept.
    """

    uid: str
    title: str
    state: str
    turns: int
    entries: int
    agent: str
    harness: str | None
    owner: str
    app: str
    archived: bool
    started: str
    file: str


class Listing(NamedTuple):
    """Sessions, the last started first.

    Attributes:
        sessions: those that were asked for.
        skipped: files of the folder that hold no session that can be listed: name and why.
    """

    sessions: list[StoredSession]
    skipped: list[tuple[str, str]]


class Store:
    """The sessions of a folder, which other threads and processes may write at the same time."""

    def __init__(self, folder: str | os.PathLike[str], *, for_person: str | None = None) -> None:
        """The store in ``folder``, which the first session added makes.

        With ``for_person`` it shows and changes that person's sessions only: another's is unknown (section 15).
        """
        self.folder = Path(folder)
        self.for_person = for_person
        self._files = KeepingFolder(self.folder)

    def sessions(self, *, archived: bool = False, state: str | None = None) -> list[StoredSession]:
        """The sessions, the last started first; archived ones among them only when asked for.

        Raises:
            SessionRefused: ``unknown_state`` (422).
            OSError: the folder cannot be read.
        """
        return self.listing(archived=archived, state=state).sessions

    def listing(self, *, archived: bool = False, state: str | None = None) -> Listing:
        """The same, and the files that hold no session that can be listed.

        Raises:
            SessionRefused: ``unknown_state`` (422).
            OSError: the folder cannot be read.
        """
        if state is not None:
            known_state(state, "state")
        found: list[StoredSession] = []
        skipped: list[tuple[str, str]] = []
        for uid in self._files.names(SUFFIX):
            try:
                kept = self._kept(uid)
                if self._is_hidden(kept):
                    continue
                record = record_of_kept(kept)
            except (SessionRefused, OSError) as why:
                skipped.append((uid + SUFFIX, str(why)))
                continue
            if (archived or not record.archived) and state in (None, record.state):
                found.append(_listed(record, self.path(uid)))
        found.sort(key=lambda one: (micros(one.started) or 0, one.started, one.uid), reverse=True)
        return Listing(found, skipped)

    def path(self, uid: str) -> Path:
        """Where the session of this uid is kept, or would be.

        Raises:
            SessionRefused: ``unknown_session`` (404): no session has a uid of this shape.
        """
        if not _UID.fullmatch(uid):
            raise SessionRefused(
                "unknown_session", 404,
                f"expected a session's uid (8 to 128 ASCII letters, digits, hyphens, underscores), found {uid!r}",
            )  # fmt: skip
        return self.folder / (uid + SUFFIX)

    def record(self, uid: str) -> Record:
        """The session's record.

        Raises:
            SessionRefused: ``unknown_session`` (404), also where it is another person's; ``unknown_state`` (422); or
                why the file is no session file.
            OSError: it cannot be read.
        """
        return record_of_kept(self._seen(uid))

    def add(self, record: Record, *, also: Mapping[str, Iterable[Row]] | None = None) -> Record:
        """Keep a new session, and append entries to others in the same step (``also``, by uid); as it is kept.

        All is judged before anything is written; the new session is written first.

        Raises:
            SessionRefused: ``uid_in_use`` (409); ``no_session_entry`` (422); what `append` raises; or why its lines
                would be no session file.
            OSError: it cannot be written.
        """
        self.path(record.uid)
        head = SessionLine(
            record_type="session", format=FORMAT_ID, uid=record.uid, app=record.app, agent=record.agent,
            harness=record.harness or None, owner=Person(uid=record.owner), state=record.state, turns=record.turns,
            title=record.title, archived=record.archived, lineage=record.lineage, kinds=[], entries=0, exported_at="-",
            exported_by=Person(uid=record.owner), redactions=0,
        )  # fmt: skip
        kept = new(head, list(record.entries))
        with self._files.locked():
            if self._files.holds(record.uid + SUFFIX):
                said = f"the store {self.folder} already has a session {record.uid}; nothing was written"
                raise SessionRefused("uid_in_use", 409, said)
            others = {
                uid: longer(self._seen(uid), [entry_of(row) for row in rows]) for uid, rows in (also or {}).items()
            }
            self._files.write(record.uid + SUFFIX, kept.data)
            for uid, other in others.items():
                self._files.write(uid + SUFFIX, other.data)
        return record_of_kept(kept)

    def append(self, uid: str, entries: Iterable[Row]) -> Record:
        """Add entries to the end of a session's record, whose lines stay as they are to the byte; as it is then.

        Raises:
            SessionRefused: ``unknown_session`` (404); ``unknown_state`` (422); or why a line is none of a session
                file, its number counted from the first added (1).
            OSError: it cannot be written; TimeoutError when another process keeps the lock.
        """
        rows = list(entries)
        return self._change(uid, lambda _: rows)

    def retitle(self, uid: str, title: str, *, now: datetime | None = None) -> Record:
        """Give a session a title: writes a `titled` entry with both members.

        Raises:
            SessionRefused: ``title_too_long`` (422) beyond 200 characters; what `append` raises.
            OSError: as `append`.
        """
        check_title(title)
        return self._change(uid, lambda record: [_titled(title, record.archived, now)])

    def archive(self, uid: str, archived: bool = True, *, now: datetime | None = None) -> Record:
        """Put a session away, or take it back: writes a `titled` entry with both members.

        Raises:
            SessionRefused: what `append` raises.
            OSError: as `append`.
        """
        return self._change(uid, lambda record: [_titled(record.title, archived, now)])

    def pause(self, uid: str, *, cancelled: Mapping[str, object] | None = None, now: datetime | None = None) -> Record:
        """Pause an open session: writes one `paused` entry, none where it is paused already.

        ``cancelled`` names the turn and question that ran; empty when nothing did.

        Raises:
            SessionRefused: ``ended`` (409); what `append` raises.
            OSError: as `append`.
        """
        payload = {"state": "paused", "cancelled": dict(cancelled or {})}

        def paused(record: Record) -> list[Row]:
            if record.state == "ended":
                raise SessionRefused("ended", 409, f"session {uid} has ended: expected an open one to pause")
            return _paused(record, payload, now)

        return self._change(uid, paused)

    def pause_open(self, *, now: datetime | None = None) -> list[str]:
        """Pause every open session, as a graceful stop does: one `paused` entry each, once; which they were.

        Raises:
            SessionRefused, OSError: as `append`.
        """
        payload: dict[str, object] = {"state": "paused", "cancelled": {}}
        uids = [one.uid for one in self.sessions(archived=True, state="open")]
        for uid in uids:
            self._change(uid, lambda record: _paused(record, payload, now))
        return uids

    def end(self, uid: str, *, by: str = "end", now: datetime | None = None) -> Record:
        """End a session for good: writes an `ended` entry, none where it has ended already.

        Raises:
            SessionRefused: what `append` raises.
            OSError: as `append`.
        """
        payload: dict[str, object] = {"state": "ended", "by": by}
        return self._change(uid, lambda one: [] if one.state == "ended" else [made("ended", "Ended", payload, now)])

    def _change(self, uid: str, rows: Callable[[Record], Iterable[Row]]) -> Record:
        self.path(uid)
        if not self._files.holds(uid + SUFFIX):
            self._seen(uid)  # refused before the lock is taken, which would make the folder
        with self._files.locked():
            kept = self._seen(uid)
            added = [entry_of(row) for row in rows(record_of_kept(kept))]
            if added:
                kept = longer(kept, added)
                self._files.write(uid + SUFFIX, kept.data)
        return record_of_kept(kept)

    def _is_hidden(self, kept: Kept) -> bool:
        return self.for_person is not None and kept.head.owner.uid != self.for_person

    def _seen(self, uid: str) -> Kept:
        """The session, when it is there and this person's; else the refusal names what is."""
        self.path(uid)
        try:
            kept = self._kept(uid)
            if not self._is_hidden(kept):
                return kept
            why = ""
        except OSError as error:
            if error.errno not in _NO_FILE:
                raise
            is_there = error.errno != errno.ENOENT
            why = f"; {uid}{SUFFIX} is no regular file, and links are not followed" if is_there else ""
        raise SessionRefused("unknown_session", 404, f"no session {uid} in {self.folder}{why}; {self._there(uid)}")

    def _there(self, uid: str) -> str:
        if self.for_person is None:
            names = [name for name in self._files.names(SUFFIX) if name != uid]
        else:
            names = [one.uid for one in self.sessions(archived=True)]
        near = names if len(names) <= LISTED else get_close_matches(uid, names, n=3)
        if near:
            return f"there are: {', '.join(near)}"
        return f"it holds {len(names)} others" if names else "it holds none"

    def _kept(self, uid: str) -> Kept:
        data = self._files.read(uid + SUFFIX)
        head, entries = judged(data)
        if head.uid != uid:
            raise SessionRefused(
                "unknown_session", 404,
                f"{self.folder / (uid + SUFFIX)} holds session {head.uid}: expected a file named after its session",
            )  # fmt: skip
        return Kept(head, entries, data)


def entry_of(row: Row, *, now: datetime | None = None) -> EntryLine:
    """An entry as a record store tells it: ``kind``, ``at`` or ``created_at``, ``summary``, ``payload`` (section 7).

    The time is ``at``, else ``created_at``, else ``now``; a summary or payload that is missing or null is empty.
    Other members (ids) have no place in a session file. Nothing is judged here.
    """
    if isinstance(row, EntryLine):
        return row
    at, summary, payload = row.get("at") or row.get("created_at") or stamp(now), row.get("summary"), row.get("payload")
    return EntryLine(
        record_type="entry", kind=str(row.get("kind")), at=str(at), summary="" if summary is None else str(summary),
        payload=dict(payload) if isinstance(payload, Mapping) else {},
    )  # fmt: skip


def made(kind: str, summary: str, payload: Mapping[str, object], now: datetime | None) -> EntryLine:
    """An entry that is written here, at ``now``."""
    return EntryLine(record_type="entry", kind=kind, at=stamp(now), summary=summary, payload=dict(payload))


def stamp(now: datetime | None) -> str:
    """The time as entries have it: UTC, ISO 8601, microseconds, ``Z`` (section 11)."""
    return clock(now).astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def check_title(title: str) -> None:
    """Refuse a title that no head can hold.

    Raises:
        SessionRefused: ``title_too_long`` (422), or ``field_refusal`` (422) for an unpaired surrogate.
    """
    if len(title) > TITLE_POINTS:
        raise SessionRefused(
            "title_too_long", 422, f"title: expected at most {TITLE_POINTS} characters, found {len(title)}; shorten it"
        )
    if LONE_SURROGATE.search(title):
        raise SessionRefused("field_refusal", 422, "title: expected text, found an unpaired surrogate in it")


def _titled(title: str, archived: bool, now: datetime | None) -> EntryLine:
    return made("titled", f"Titled {title}", {"title": title, "archived": archived}, now)


def _paused(record: Record, payload: Mapping[str, object], now: datetime | None) -> list[Row]:
    return [made("paused", "Paused", payload, now)] if record.state == "open" else []


def _listed(record: Record, path: Path) -> StoredSession:
    return StoredSession(
        uid=record.uid, title=record.title, state=record.state, turns=record.turns, entries=len(record.entries),
        agent=record.agent, harness=record.harness, owner=record.owner, app=record.app.id, archived=record.archived,
        started=next(entry.at for entry in record.entries if entry.kind == "session"), file=str(path),
    )  # fmt: skip
