"""A session id in; its archive mark written, read or taken away (mecha 15.1): filing, which no transcript notices."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from sessionlab.errors import WrongUse
from sessionlab.formats._values import micros
from sessionlab.systems.mecha.home import create, private_folder
from sessionlab.systems.mecha.times import at, offset_text

MARKS = ".archived"
"""The folder of the marks, inside the session directory."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_TIME_BYTES = 64
"""A time takes no more; a marker may hold anything."""


def is_id(text: str) -> bool:
    """Whether ``text`` can name a mark: 1 to 128 of ``A-Z a-z 0-9 - _``, so that it names nothing elsewhere."""
    return _ID.fullmatch(text) is not None


def mark(folder: Path, session_id: str, now: datetime) -> bool:
    """Mark a session of the session directory ``folder`` as archived at ``now``; whether it was not before.

    The first time is kept. Nothing but the mark is written; whether there is such a session is the caller's to know.

    Raises:
        WrongUse: the id has another shape than an id.
        OSError: the mark cannot be written.
    """
    marker = _marker(folder, session_id)
    private_folder(marker.parent)
    try:
        create(marker, offset_text(now.astimezone(UTC)).encode())
    except FileExistsError:
        return False
    return True


def unmark(folder: Path, session_id: str) -> bool:
    """Take the mark away; whether there was one.

    Raises:
        WrongUse: the id has another shape than an id.
        OSError: it cannot be taken away.
    """
    try:
        _marker(folder, session_id).unlink()
    except FileNotFoundError:
        return False
    return True


def is_marked(folder: Path, session_id: str) -> bool:
    """Whether the session is archived; what has another shape than an id never is."""
    return is_id(session_id) and os.path.lexists(folder / MARKS / session_id)


def marked(folder: Path) -> frozenset[str]:
    """The ids of all marks, also of sessions that are no more; empty where no session was ever archived."""
    try:
        with os.scandir(folder / MARKS) as entries:
            return frozenset(entry.name for entry in entries if is_id(entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def marked_at(folder: Path, session_id: str) -> datetime | None:
    """When the session was archived, in UTC; None when it was not, or when the time cannot be read."""
    if not is_id(session_id):
        return None
    with suppress(OSError, UnicodeDecodeError):
        file = os.open(folder / MARKS / session_id, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            found = micros(os.read(file, _TIME_BYTES).decode().strip())
        finally:
            os.close(file)
        return None if found is None else at(found)
    return None


def _marker(folder: Path, session_id: str) -> Path:
    if not is_id(session_id):
        raise WrongUse(f"expected a session id (1 to 128 of A-Z a-z 0-9 - _), found {session_id!r}")
    return folder / MARKS / session_id
