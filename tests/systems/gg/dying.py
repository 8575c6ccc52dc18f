"""Sessions that record until they are killed: seeds and delays in on stdin, a word on stdout when each is dead.

    python -m tests.systems.gg.dying FOLDER

It forks a child per line ``number seed delay_ms``; the child records into ``FOLDER/number`` and is sent SIGKILL after
the delay. With the delay ``whole`` it comes to the end of its operations instead, without a terminating line.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from tests.systems.gg.simulated import OPERATIONS, Session

COUNT = 1500
"""Operations of a session: more than any child gets to do."""


def record(workspace: Path, seed: int) -> None:
    """The session of ``seed``, the same each time."""
    session = Session(workspace, seed)
    for _ in range(COUNT):
        session.do(session.draw.choice(OPERATIONS))
    while session.writer._sink.written < session.writer._bytes:
        time.sleep(0.001)


def main() -> None:
    """Serve until stdin ends."""
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        number, seed, delay = line.split()
        child = os.fork()
        if child == 0:
            record(folder / number, int(seed))
            os._exit(0)
        if delay != "whole":
            time.sleep(float(delay) / 1000)
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
