"""Appends that go on until they are killed: on stdin a folder and when; on stdout how many had been done.

    python -m tests.systems.datalayer.dying

For each line ``FOLDER after N MS`` a child appends turns 1, 2, 3 … to the session in the folder; when it has told of N
it is sent SIGKILL, so many milliseconds later. For ``FOLDER at CALL N`` the child kills itself instead just before the
Nth call of ``write`` (half of it is written first), ``fsync`` or ``replace``.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from sessionlab.systems.datalayer import keeping
from sessionlab.systems.datalayer.store import Store
from tests.systems.datalayer.stored import UID, turn


def die() -> None:
    """At once, with nothing flushed or cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying_at(call: str, number: int) -> None:
    """Have this process die at that call."""
    calls = [0]

    def counted(real: Callable[..., Any], before: Callable[..., None]) -> Callable[..., Any]:
        def called(*args: Any, **named: Any) -> Any:
            calls[0] += 1
            if calls[0] == number:
                before(*args)
                die()
            return real(*args, **named)

        return called

    if call == "fsync":
        os.fsync = counted(os.fsync, lambda _: None)
    elif call == "replace":
        Path.replace = counted(Path.replace, lambda *_: None)  # type: ignore[method-assign]
    else:
        real = os.fdopen

        def opened(file: int, mode: str = "r", **named: Any) -> Any:
            stream = real(file, mode, **named)
            if mode == "wb":
                half = counted(stream.write, lambda text: (os.write(file, text[: len(text) // 2]), None)[1])
                return Halved(stream, half)
            return stream

        os.fdopen = opened  # type: ignore[assignment]
    assert keeping.os is os


class Halved:
    """A stream whose write may be the last thing that happens."""

    def __init__(self, stream: Any, write: Callable[..., Any]) -> None:
        self._stream, self.write = stream, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def append(folder: str, pipe: int) -> None:
    """Append turns without end, telling of each."""
    store = Store(folder)
    for number in range(1, 100_000):
        store.append(UID, [turn(number, number)])
        os.write(pipe, b".")


def main() -> None:
    """Serve until stdin ends."""
    for line in sys.stdin:
        folder, how, *what = line.rstrip("\n").split("\t")
        told, pipe = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(told)
            if how == "at":
                dying_at(what[0], int(what[1]))
            append(folder, pipe)
            os._exit(0)
        os.close(pipe)
        done = 0
        if how == "after":
            while done < int(what[0]):
                done += len(os.read(told, int(what[0]) - done))
            time.sleep(float(what[1]) / 1000)
            os.kill(child, signal.SIGKILL)
        while more := os.read(told, 4096):
            done += len(more)
        os.waitpid(child, 0)
        os.close(told)
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
