"""A session id in; the knowledge graph's own program called, which takes the session's episode out (mecha 15.2)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress

PROGRAM = "mecha-graph"
SOURCE = "agent:mecha"
"""The source of every episode that mecha gave the graph."""
SECONDS = 120.0
_SHOWN = 200
"""Characters of what the program says that an error repeats."""


class Graph:
    """The graph behind a program, found by its name.

    Attributes:
        program: a name to look for on the ``PATH``, or a path.
        seconds: how long it may take.
    """

    def __init__(self, program: str = PROGRAM, seconds: float = SECONDS) -> None:
        self.program, self.seconds = program, seconds

    def found(self) -> str | None:
        """The program's path; None when there is none, and so no graph."""
        return shutil.which(self.program)

    def arguments(self, session: str) -> list[str]:
        """What the program is called with: redact one episode, vacuum, and leave a tombstone though it be absent."""
        return ["redact", "--source", SOURCE, "--source-id", session, "--vacuum", "--tombstone-absent"]

    def redact(self, session: str) -> None:
        """Have the session's episode, and everything extracted from it, taken out.

        Raises:
            OSError: the program cannot be started, failed, or took too long.
        """
        program = self.found()
        if program is None:
            raise FileNotFoundError(f"no program {self.program!r} on the PATH")
        # Its own group, so that what it started ends with it.
        with subprocess.Popen(  # noqa: S603 (the arguments are a list, and the id is checked)
            [program, *self.arguments(session)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                _, said = process.communicate(timeout=self.seconds)
            except BaseException as error:
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise TimeoutError(f"{program} did not answer within {self.seconds:g} seconds") from None
                raise
        if process.returncode:
            words = " ".join(said.decode(errors="replace").split())[:_SHOWN]
            raise ChildProcessError(f"{program} ended with code {process.returncode}{f': {words}' if words else ''}")
