"""A store's folder in; its files read, added and replaced whole, under its lock, no link followed, out.

A file is written beside its place and renamed to it, so that whoever reads it without the lock finds the old one or
the new one, also when the writer is killed. The lock is taken on the folder itself: no file of it lies about.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows)
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".writing.sessionlab-tmp"
"""The file that is being written, one at a time; what a killed writer left of it is removed by the next."""
LOCK_SECONDS = 30.0
"""How long another process's lock is waited for."""
_PAUSE = 0.005
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class KeepingFolder:
    """A folder of files that several threads and processes read and write."""

    def __init__(self, path: Path) -> None:
        """The folder; the first write makes it, for its owner alone."""
        self.path = path
        self._turn = threading.Lock()  # threads queue here, so that the lock on the folder is asked for by one of them

    def names(self, suffix: str) -> list[str]:
        """What stands before ``suffix`` in the names that end so, sorted; none where there is no folder.

        Raises:
            OSError: the folder cannot be listed, or is none.
        """
        try:
            with os.scandir(self.path) as entries:
                return sorted(entry.name.removesuffix(suffix) for entry in entries if entry.name.endswith(suffix))
        except FileNotFoundError:
            return []

    def holds(self, name: str) -> bool:
        """Whether anything has that name, a link that leads nowhere included."""
        return os.path.lexists(self.path / name)

    def read(self, name: str) -> bytes:
        """A file's bytes.

        Raises:
            FileNotFoundError: there is none.
            OSError: it is a link or no regular file (``errno.ELOOP``), or cannot be read.
        """
        path = self.path / name
        if not getattr(os, "O_NOFOLLOW", 0) and path.is_symlink():  # pragma: no cover (Windows)
            raise OSError(errno.ELOOP, "a link is not followed", str(path))
        file = os.open(path, os.O_RDONLY | _CAREFUL)
        with os.fdopen(file, "rb", closefd=True) as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(errno.ELOOP, "expected a regular file", str(path))
            return stream.read()

    def write(self, name: str, content: bytes) -> None:
        """Put a file of these bytes in place of whatever has its name; to be called while the lock is held.

        Raises:
            OSError: it cannot be written; then what stood there still does.
        """
        path = self.path / name
        temporary = self.path / TEMPORARY
        temporary.unlink(missing_ok=True)
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CAREFUL, 0o600)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(file)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        self._settle()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder's lock, against threads and, where the system has such locks, other processes.

        Raises:
            OSError: the folder cannot be made or opened; TimeoutError when another process keeps the lock.
        """
        with self._turn:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self.path, _FOLDER) if fcntl is not None else -1
            try:
                self._take(folder)
                yield
            finally:
                if folder != -1:
                    os.close(folder)

    def _take(self, folder: int) -> None:
        """Lock the open folder, until it is closed; nothing where the system has no such locks."""
        until = time.monotonic() + LOCK_SECONDS
        while fcntl is not None:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    said = "another process holds the lock of this folder"
                    raise TimeoutError(errno.ETIMEDOUT, said, str(self.path)) from None
                time.sleep(_PAUSE)
            else:
                return

    def _settle(self) -> None:
        """Have the rename itself reach the disk; where a folder cannot be opened the system sees to it."""
        if not getattr(os, "O_DIRECTORY", 0):  # pragma: no cover (Windows)
            return
        folder = os.open(self.path, _FOLDER)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
