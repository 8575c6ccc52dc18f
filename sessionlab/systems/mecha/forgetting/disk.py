"""Paths in; files read, replaced, set aside and removed out: on the disk, or in a rehearsal that changes nothing.

A file is replaced by a temporary one beside it and a rename, with its permissions kept, so that whoever reads it
without a lock finds it whole at every instant. Links are never followed.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows)
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".sessionlab-tmp"
"""How the name of a temporary file ends; one that a killed walk left is removed by the next."""
LOCK = ".lock"
"""The file in a store's directory on which its writers take an exclusive lock."""
LOCK_SECONDS = 10.0
"""How long a store's lock is waited for."""
_TRIES = 5
_PAUSE = 0.02
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)

Edit = Callable[[bytes], tuple[bytes | None, int]]
"""A file's bytes in; what becomes of them (None: the file goes) and how many rows that is (0: nothing) out."""


class _Changed(Exception):
    """Another process wrote the file meanwhile."""


class Disk:
    """The disk itself."""

    def __init__(self, lock_seconds: float = LOCK_SECONDS) -> None:
        self._lock_seconds = lock_seconds

    def kind(self, path: Path) -> str | None:
        """``file``, ``folder``, ``link``, ``other``; None when there is nothing.

        Raises:
            OSError: it cannot be told.
        """
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        for name, is_one in (("file", stat.S_ISREG), ("folder", stat.S_ISDIR), ("link", stat.S_ISLNK)):
            if is_one(mode):
                return name
        return "other"

    def names(self, folder: Path) -> list[str]:
        """The names in a folder, sorted; none when there is no folder.

        Raises:
            OSError: it cannot be listed.
        """
        try:
            return sorted(path.name for path in folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, path: Path) -> bytes:
        """A file's bytes.

        Raises:
            OSError: it is not there, cannot be read, or is no regular file.
        """
        return _read(path)[0]

    def edit(self, path: Path, change: Edit) -> int:
        """Replace or remove a file as ``change`` says; how many rows that was. Nothing there: 0.

        When another process writes the file in between, ``change`` is asked again about what it wrote.

        Raises:
            OSError: it cannot be read or replaced, or was written to again and again.
        """
        for _ in range(_TRIES):
            try:
                content, seen = _read(path)
                new, count = change(content)
                if count:
                    self._put(path, new, seen)
            except FileNotFoundError:
                return 0
            except _Changed:
                continue
            return count
        raise OSError(errno.EBUSY, "another process keeps writing it", str(path))

    def _put(self, path: Path, new: bytes | None, seen: os.stat_result) -> None:
        if new is None:
            _unchanged(path, seen)
            path.unlink()
            return
        temporary = path.with_name(path.name + TEMPORARY)
        temporary.unlink(missing_ok=True)
        try:
            _write(temporary, new, seen)
            _unchanged(path, seen)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def remove(self, path: Path) -> bool:
        """Remove a file; whether there was one.

        Raises:
            OSError: it cannot be removed.
        """
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def rename(self, path: Path, to: Path) -> None:
        """Give a file another name, in place of whatever has it.

        Raises:
            OSError: it cannot be renamed.
        """
        path.replace(to)

    def remove_folder(self, folder: Path) -> bool:
        """Remove a folder with all that is in it, links in it not followed; whether there was one.

        Raises:
            OSError: something in it cannot be removed.
        """
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def locked(self, folder: Path) -> Iterator[None]:
        """Hold the lock of the store in ``folder``; a store that is not there has none, and is not made.

        Raises:
            OSError: the lock cannot be had; TimeoutError when another process keeps it.
        """
        if fcntl is None or not folder.is_dir():
            yield
            return
        lock = folder / LOCK
        file = os.open(lock, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        try:
            until = time.monotonic() + self._lock_seconds
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise TimeoutError(errno.ETIMEDOUT, "another process holds this lock", str(lock)) from None
                    time.sleep(_PAUSE)
            yield
        finally:
            os.close(file)

    def view(self, path: Path) -> Path | bytes | None:
        """Where the bytes of a file are, or what they would be; None when it would be gone."""
        return path


class Rehearsal(Disk):
    """What would become of the disk, which stays as it is to the last byte and time."""

    def __init__(self) -> None:
        super().__init__()
        self._now: dict[Path, bytes | Path | None] = {}
        """Files that would not be as they are: their bytes, the file that has them, or None when they would be gone."""
        self._folders: set[Path] = set()

    def view(self, path: Path) -> Path | bytes | None:
        """The same, after all that would have been done so far."""
        if path in self._now:
            return self._now[path]
        return None if self._folders and not self._folders.isdisjoint((path, *path.parents)) else path

    def kind(self, path: Path) -> str | None:
        """The same, rehearsed."""
        seen = self.view(path)
        if seen is None:
            return None
        return "file" if isinstance(seen, bytes) else super().kind(seen)

    def names(self, folder: Path) -> list[str]:
        """The same, rehearsed."""
        added = [path.name for path in self._now if path.parent == folder]
        return sorted(name for name in {*super().names(folder), *added} if self.view(folder / name) is not None)

    def read(self, path: Path) -> bytes:
        """The same, rehearsed."""
        seen = self.view(path)
        if seen is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return seen if isinstance(seen, bytes) else super().read(seen)

    def edit(self, path: Path, change: Edit) -> int:
        """The same, rehearsed."""
        try:
            new, count = change(self.read(path))
        except FileNotFoundError:
            return 0
        if count:
            self._now[path] = new
        return count

    def remove(self, path: Path) -> bool:
        """The same, rehearsed."""
        there = self.kind(path) is not None
        self._now[path] = None
        return there

    def rename(self, path: Path, to: Path) -> None:
        """The same, rehearsed."""
        self._now[to] = self.view(path)
        self._now[path] = None

    def remove_folder(self, folder: Path) -> bool:
        """The same, rehearsed."""
        there = self.kind(folder) is not None
        self._folders.add(folder)
        return there

    @contextmanager
    def locked(self, folder: Path) -> Iterator[None]:  # noqa: ARG002 (a rehearsal takes no lock: that would make a file)
        """No lock: taking one would make a file."""
        yield


def _read(path: Path) -> tuple[bytes, os.stat_result]:
    file = os.open(path, os.O_RDONLY | _FLAGS)
    with os.fdopen(file, "rb") as stream:
        seen = os.fstat(file)
        if not stat.S_ISREG(seen.st_mode):
            raise OSError(errno.EINVAL, "expected a regular file", str(path))
        return stream.read(), seen


def _write(path: Path, content: bytes, like: os.stat_result) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    with os.fdopen(file, "wb") as stream:
        stream.write(content)
        if hasattr(os, "fchown"):
            with suppress(PermissionError):  # only root can give a file away, and only root needs to
                os.fchown(file, like.st_uid, like.st_gid)
        path.chmod(stat.S_IMODE(like.st_mode))
        stream.flush()
        os.fsync(file)


def _unchanged(path: Path, seen: os.stat_result) -> None:
    """Raise unless the file is the one that was read, and as it was."""
    now = os.lstat(path)
    if (now.st_ino, now.st_size, now.st_mtime_ns) != (seen.st_ino, seen.st_size, seen.st_mtime_ns):
        raise _Changed
