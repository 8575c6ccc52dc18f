"""The environment in; where mecha keeps its things out, and folders and files there that only their owner can read."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
"""mecha leaves a file's mode to the process umask (section 2); what is written here is its owner's alone."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CLOSED_ON_EXEC = getattr(os, "O_CLOEXEC", 0)


def mecha_home() -> Path:
    """``$MECHA_HOME`` when set and non-empty, else ``~/.mecha`` (section 2)."""
    return Path(os.environ.get("MECHA_HOME") or "~/.mecha").expanduser()


def session_directory() -> Path:
    """``$MECHA_SESSION_DIR`` when set, else ``sessions`` of the mecha home (section 2); an empty value is not set."""
    told = os.environ.get("MECHA_SESSION_DIR")
    return Path(told).expanduser() if told else mecha_home() / "sessions"


def private_folder(folder: Path) -> None:
    """Make ``folder`` and what is missing above it, owner-only; one that exists is set to 0700 again (section 2).

    Raises:
        OSError: it cannot be made, is no folder, or is open to others and belongs to somebody else.
    """
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if folder.stat().st_mode & 0o777 != FOLDER_MODE:
        folder.chmod(FOLDER_MODE)


def create(path: Path, content: bytes) -> None:
    """Write a new file, owner-only, in one write. A link in its place counts as a file that is there.

    Raises:
        FileExistsError: something is there.
        OSError: it cannot be written; no part of it is left.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _CLOSED_ON_EXEC
    file = os.open(path, flags, FILE_MODE)
    try:
        write_whole(file, content)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)


def write_whole(file: int, content: bytes) -> None:
    """Write all of ``content``: one write, and more only where the system took a part."""
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
