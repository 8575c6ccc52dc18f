"""A session directory in; its sessions out, newest first, from one line of each file (mecha 2, 8.1, 16.2, 16.3)."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from sessionlab.arguments import clock, days_before
from sessionlab.errors import AmbiguousName, UnknownName, WrongUse
from sessionlab.formats._values import micros
from sessionlab.formats.mecha.walk import SURFACES
from sessionlab.formats.mecha.wire import Meta
from sessionlab.systems.mecha import archive
from sessionlab.systems.mecha.home import session_directory
from sessionlab.systems.mecha.peek import peek
from sessionlab.systems.mecha.times import at

SUFFIX = ".jsonl"
"""How a transcript's name ends, exactly: ``<id>.jsonl.forgetting`` is set aside and never looked at."""
_NEAREST = 200
"""Among so many of the newest ids a near miss is looked for."""


class StoredSession(msgspec.Struct, frozen=True, gc=False):
    """What the header of a transcript says, and the mark beside it.

    Attributes:
        id: as the header has it; the file may be called otherwise.
        file: the transcript; ``path`` is the same as a path.
        created_at: UTC, to the microsecond.
        provider, model, workspace: as the session began.
        title: the created title; a rename stands further down in the file, where a listing does not look.
        kind: the front end; None when it is unknown.
        archived: there is an archive mark.
        archived_at: UTC; None when there is no mark or its time cannot be read.
    """

    id: str
    file: str
    created_at: datetime
    provider: str
    model: str
    workspace: str
    title: str | None
    kind: str | None
    archived: bool
    archived_at: datetime | None

    @property
    def path(self) -> Path:
        """The transcript."""
        return Path(self.file)


class Listing(NamedTuple):
    """Sessions newest first, those of one instant by id downwards.

    Attributes:
        sessions: as many as were asked for.
        more: how many others answer the question.
        skipped: files of the directory that end in ``.jsonl`` and have no readable header, whatever was asked.
    """

    sessions: Sequence[StoredSession]
    more: int
    skipped: int


class _Peeked(NamedTuple):
    """In the order of a listing, backwards."""

    created: int
    id: str
    path: str
    header: Meta


class Store:
    """The sessions of one directory, which another process may be writing at the same time.

    Every question looks at the directory as it is. A file that goes away while it is being looked at was not there; a
    header that is half written is none yet.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        """The store in ``folder``; the default is where mecha keeps its sessions (`session_directory`)."""
        self.folder = session_directory() if folder is None else Path(folder)

    def listing(
        self,
        *,
        days: float | None = None,
        kind: str | None = None,
        limit: int | None = None,
        now: datetime | None = None,
    ) -> Listing:
        """The sessions begun within the last ``days`` × 24 hours, the boundary included, of one ``kind``, cut at last.

        A directory that is not there holds no session (16.2).

        Raises:
            WrongUse: a negative number of days or sessions, or a kind that there is not.
            OSError: the directory cannot be read.
        """
        if kind is not None:
            check_kind(kind)
        if limit is not None and limit < 0:
            raise WrongUse(f"limit: expected a number of sessions, 0 or more, found {limit!r}")
        found, skipped = self._peeked()
        if days is not None:
            since = days_before(clock(now), days)
            found = [one for one in found if at(one.created) >= since]
        if kind is not None:
            found = [one for one in found if one.header.kind == kind]
        shown = sorted(found, reverse=True) if limit is None else heapq.nlargest(limit, found)
        marked = archive.marked(self.folder)
        return Listing([self._stored(one, marked) for one in shown], len(found) - len(shown), skipped)

    def find(self, prefix: str) -> StoredSession:
        """The one session whose header id begins with ``prefix`` (16.3).

        Raises:
            UnknownName: none does.
            AmbiguousName: several do, an exact id that is also the beginning of another one included, and two files
                under one id.
        """
        found, _ = self._peeked()
        matches = [one for one in found if one.id.startswith(prefix)]
        if not matches:
            nearest = [one.id for one in heapq.nlargest(_NEAREST, found)]
            raise UnknownName("session", prefix, nearest, f"looked in {self.folder}")
        if len(matches) > 1:
            repeated = len({one.id for one in matches}) < len(matches)
            names = [f"{one.id} in {Path(one.path).name}" if repeated else one.id for one in matches]
            raise AmbiguousName(prefix, names)
        return self._stored(matches[0], archive.marked(self.folder))

    def holds(self, session_id: str) -> bool:
        """Whether a transcript has exactly this id in its header; the file of that name is looked at first."""
        if archive.is_id(session_id):
            header = self._header(os.path.join(self.folder, session_id + SUFFIX))  # noqa: PTH118 (no path is made here)
            if isinstance(header, Meta) and header.id == session_id:
                return True
        return any(one.id == session_id for one in self._peeked()[0])

    def archive(self, session_id: str, *, now: datetime | None = None) -> bool:
        """Mark the session of this whole id as archived; whether it was not before. The first time is kept (15.1).

        Raises:
            WrongUse: the id has another shape than an id.
            UnknownName: no transcript has it.
            OSError: the mark cannot be written.
        """
        if archive.is_id(session_id) and not self.holds(session_id):
            raise UnknownName("session", session_id, (), f"looked in {self.folder}; a whole id is expected")
        return archive.mark(self.folder, session_id, clock(now))

    def unarchive(self, session_id: str) -> bool:
        """Take the archive mark of this whole id away; whether there was one.

        Raises:
            WrongUse: the id has another shape than an id.
            OSError: it cannot be taken away.
        """
        return archive.unmark(self.folder, session_id)

    def is_archived(self, session_id: str) -> bool:
        """Whether there is an archive mark of this whole id; what has another shape than an id has none."""
        return archive.is_marked(self.folder, session_id)

    def _peeked(self) -> tuple[list[_Peeked], int]:
        found: list[_Peeked] = []
        skipped = 0
        for path in self._files():
            header = self._header(path)
            if isinstance(header, Meta):
                created = micros(header.created_at.upper())
                assert created is not None, "the header was read strictly"
                found.append(_Peeked(created, header.id, path, header))
            else:
                skipped += header
        return found, skipped

    def _files(self) -> Iterator[str]:
        """Direct entries whose extension is exactly ``jsonl``; a name that is nothing else has no extension."""
        try:
            entries = os.scandir(self.folder)
        except FileNotFoundError:
            return
        with entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and entry.name != SUFFIX:
                    yield entry.path

    @staticmethod
    def _header(path: str) -> Meta | bool:
        """The header of a file; without one, whether the file counts as one that lacks it."""
        try:
            return peek(path) or True
        except (FileNotFoundError, IsADirectoryError):
            return os.path.islink(path)  # noqa: PTH114 (a link that leads nowhere is there; a file that has gone is not)
        except OSError:
            return True

    def _stored(self, one: _Peeked, marked: frozenset[str]) -> StoredSession:
        header = one.header
        archived = one.id in marked
        return StoredSession(
            id=one.id,
            file=one.path,
            created_at=at(one.created),
            provider=header.provider,
            model=header.model,
            workspace=header.workspace,
            title=header.title,
            kind=header.kind if isinstance(header.kind, str) and header.kind in SURFACES else None,
            archived=archived,
            archived_at=archive.marked_at(self.folder, one.id) if archived else None,
        )


def check_kind(kind: str) -> None:
    """Refuse a kind that mecha does not know.

    Raises:
        WrongUse: names the ones that there are.
    """
    if kind not in SURFACES:
        raise WrongUse(f"kind: expected one of {', '.join(sorted(SURFACES))}, found {kind!r}")
