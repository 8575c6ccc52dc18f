"""A workspace in; its journal opened out, at the one place where it stands (gg.md 0.1).

The workspace is the model's to write in: a link at that place may lead anywhere, so none is followed.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover (no locks there: gg runs in Linux containers)
    fcntl = None  # type: ignore[assignment]

JOURNAL = ".gg/replay.ndjson"
"""Where a journal stands, from the root of the workspace."""
_FOLDER, _NAME = JOURNAL.split("/")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK


def open_journal(workspace: Path, flags: int, *, make: bool = False) -> int:
    """A descriptor of the workspace's journal, opened with ``flags``; ``make``: the folder may be missing.

    Raises:
        OSError: it cannot be opened, or it or its folder is a link.
    """
    folder = workspace / _FOLDER
    if make:
        folder.mkdir(parents=True, exist_ok=True)
    flags |= _NO_LINK | getattr(os, "O_CLOEXEC", 0)
    if os.open not in os.supports_dir_fd:
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "a link stands in place of the folder", str(folder))
        return os.open(folder / _NAME, flags, 0o666)
    held = os.open(folder, _FOLDER_FLAGS)
    try:
        return os.open(_NAME, flags, 0o666, dir_fd=held)
    except OSError as error:
        error.filename = str(folder / _NAME)
        raise
    finally:
        os.close(held)


def take(fd: int) -> None:
    """Lock an open journal for its one writer, until the descriptor is closed.

    Raises:
        OSError: another writer has it.
    """
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_being_written(journal: Path) -> bool:
    """Whether a writer has the journal.

    Raises:
        OSError: it cannot be looked at.
    """
    fd = os.open(journal, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        take(fd)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False
