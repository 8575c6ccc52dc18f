"""Batches of bytes in, from any thread and without waiting; a journal out, written by a thread of its own.

The queue is bounded, so that a stalled disk costs capture and not memory. Whatever goes wrong in the thread is kept as
a sentence; nothing is raised at the one who hands batches over.
"""

from __future__ import annotations

import os
import signal
import stat
import threading
from contextlib import suppress
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING

from sessionlab.systems.gg.place import open_journal, take

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEPTH = 64
"""Batches that may wait (0.1)."""
GRACE_S = 2.0
"""How long the last batch waits for room in a full queue (0.1), and a close for a disk that does not move."""
_RETRY_S = 0.01
_TURN_S = 0.0001
"""What a caller gives up when the queue is half full: the interpreter runs one thread at a time, and would let a burst
of calls fill the queue before the writer had its turn."""


class Sink:
    """A journal that is written behind a bounded queue.

    Attributes:
        failure: why the thread gave up, or None.
        written: bytes that reached the file.
    """

    def __init__(self, workspace: Path, *, prepare: Callable[[], object] | None = None) -> None:
        """Start the thread: it calls ``prepare``, makes the folder and opens the file, outside the caller's time."""
        self.failure: str | None = None
        self.written = 0
        self._workspace, self._prepare = workspace, prepare
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="gg-journal", daemon=True)
        try:
            self._thread.start()
        except Exception as error:  # noqa: BLE001 (no thread to be had: the run goes on without capture)
            self.failure = worded(error)

    def offer(self, batch: bytes) -> bool:
        """Queue ``batch``; False when there is no room for it or nobody to write it.

        One caller at a time: what is minted and what is queued must keep one order.
        """
        waiting = self._queue.qsize()
        if waiting >= DEPTH // 2 and self.failure is None:
            sleep(_TURN_S)
            waiting = self._queue.qsize()
        if self.failure is not None or waiting >= DEPTH:
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

    def drain(self) -> None:
        """At the end of the interpreter: what is queued is written, as far as the disk moves; nothing is added."""
        self._queue.put(None)
        self._thread.join(GRACE_S)

    def _run(self) -> None:
        try:
            if hasattr(signal, "pthread_sigmask"):  # a pipe whose reader leaves is an error here, not the run's end
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
            if self._prepare is not None:
                self._prepare()
            self._fd = _opened(self._workspace)
            try:
                while (batch := self._queue.get()) is not None:
                    self._write(batch)
                if os.fstat(self._fd).st_nlink == 0:
                    raise FileNotFoundError("the journal was removed while it was written")
            finally:
                os.close(self._fd)
        except BaseException as error:  # noqa: BLE001 (whatever it is, the run that is observed must not notice)
            self.failure = worded(error)

    def _write(self, batch: bytes) -> None:
        view = memoryview(batch)
        while view:
            count = os.write(self._fd, view)
            self.written += count
            view = view[count:]


def worded(error: BaseException) -> str:
    """An error in words, even one that cannot tell itself."""
    said = ""
    with suppress(Exception):
        said = str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _opened(workspace: Path) -> int:
    """A descriptor at the end of a new or empty journal, or of a pipe.

    Raises:
        FileExistsError: something stands in it: a journal holds one session, and another's is not written over.
        OSError: it cannot be opened, or another writer has it.
    """
    fd = open_journal(workspace, os.O_WRONLY | os.O_CREAT | os.O_APPEND, make=True)
    try:
        told = os.fstat(fd)
        if stat.S_ISREG(told.st_mode):
            take(fd)
            _must_be_empty(os.fstat(fd).st_size)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _must_be_empty(size: int) -> None:
    if size:
        raise FileExistsError(f"the journal holds {size:,} bytes already; it is not written over: move it away")
