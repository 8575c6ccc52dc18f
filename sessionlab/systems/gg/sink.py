"""Batches of bytes in, from any thread and without ever waiting; a file out, written by a thread of its own.

The queue is bounded, so that a stalled disk costs capture and not memory. Whatever goes wrong in the thread is kept as
a sentence; nothing is raised at the one who hands batches over.
"""

from __future__ import annotations

import os
import stat
import threading
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEPTH = 64
"""Batches that may wait (0.1)."""
GRACE_S = 2.0
"""How long the last batch waits for room in a full queue (0.1), and a close for a disk that does not move."""
_RETRY_S = 0.01


class Sink:
    """A file that is written behind a bounded queue.

    Attributes:
        failure: why the thread gave up, or None.
        written: bytes that reached the file.
    """

    def __init__(self, path: Path, *, prepare: Callable[[], None] | None = None) -> None:
        """Start the thread: it calls ``prepare``, makes the folder and opens the file, outside the caller's time."""
        self.failure: str | None = None
        self.written = 0
        self._path, self._prepare = path, prepare
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="gg-journal", daemon=True)
        self._thread.start()

    def offer(self, batch: bytes) -> bool:
        """Queue ``batch``; False, at once, when there is no room for it or nobody to write it.

        One caller at a time: what is minted and what is queued must keep one order.
        """
        if self.failure is not None or self._queue.qsize() >= DEPTH:
            return False
        self._queue.put(batch)
        return True

    def close(self, last: bytes) -> bool:
        """Queue ``last`` and wait until all is written; whether it was, as far as could be waited for."""
        until = monotonic() + GRACE_S
        while not (placed := self.offer(last)) and self.failure is None and monotonic() < until:
            sleep(_RETRY_S)
        self._queue.put(None)
        seen, until = self.written, monotonic() + GRACE_S
        while self._thread.is_alive() and monotonic() < until:
            self._thread.join(_RETRY_S)
            if self.written != seen:
                seen, until = self.written, monotonic() + GRACE_S
        return placed and self.failure is None and not self._thread.is_alive()

    def _run(self) -> None:
        try:
            if self._prepare is not None:
                self._prepare()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = _open(self._path)
            try:
                while (batch := self._queue.get()) is not None:
                    self._write(batch)
            finally:
                os.close(self._fd)
        except BaseException as error:  # noqa: BLE001 (whatever it is, the run that is observed must not notice)
            self.failure = f"{type(error).__name__}: {error}"
        else:
            self.failure = None

    def _write(self, batch: bytes) -> None:
        view = memoryview(batch)
        while view:
            count = os.write(self._fd, view)
            self.written += count
            view = view[count:]


def _open(path: Path) -> int:
    """A descriptor at the end of a new or empty file, or of a pipe.

    Raises:
        FileExistsError: something stands in it: a journal holds one session, and another's is not written over.
        OSError: it cannot be opened, or is a link: the folder is the model's to write in.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    told = os.fstat(fd)
    if stat.S_ISREG(told.st_mode) and told.st_size:
        os.close(fd)
        raise FileExistsError(
            f"{path} holds {told.st_size:,} bytes already; move it away, a journal is not written over"
        )
    return fd
