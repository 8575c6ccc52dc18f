"""Deletes that are killed: lines on stdin, what became of each on stdout.

    python -m tests.systems.mecha.forgetting.dying FOLDER

The home to delete from is ``FOLDER/seed``, copied to ``FOLDER/home`` for each line. A line is ``step NAME`` (killed
before that step), ``call N`` (killed at the Nth call of a function, its own or a built-in one), or ``whole``. The
answer is a JSON object: how it ended, how many calls there were, whether the transcript was there in some form, and,
after the same delete was run again without a kill, whether that was complete and the digest of the home.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType

from sessionlab.systems.mecha.forgetting import forget, places
from tests.systems.mecha.forgetting.home import GONE, AnsweringGraph, state


def main() -> None:
    """Serve until stdin ends."""
    folder = Path(sys.argv[1])
    os.fsync = lambda _: None  # a killed process loses nothing that it wrote; only a machine would
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(folder, *line.split(maxsplit=1))) + "\n")
        sys.stdout.flush()


def answer(folder: Path, what: str, argument: str = "") -> dict[str, object]:
    """What became of one delete, and of the same run again."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(folder / "seed", home, copy_function=os.link)  # a delete replaces files, and writes in none
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, str(die(home, what, argument.strip())).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        calls = pipe.read()
    _, status = os.waitpid(child, 0)
    kept = any(home.glob(f"sessions/{GONE}.jsonl*"))
    again = True
    if kept:
        again = forget(places(home), GONE, graph=AnsweringGraph()).complete
    digest = hashlib.sha256(json.dumps(state(home), sort_keys=True).encode()).hexdigest()
    killed = os.WIFSIGNALED(status)
    return {"killed": killed, "calls": int(calls or 0), "kept": kept, "complete": again, "digest": digest}


def die(home: Path, what: str, argument: str) -> int:
    """Delete, and be killed on the way; how many calls there were when nobody was."""
    calls = 0
    at = int(argument) if what == "call" else -1

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        if event in {"call", "c_call"}:
            calls += 1
            if calls == at:
                os.kill(os.getpid(), signal.SIGKILL)

    def told(step: str) -> None:
        if what == "step" and step == argument:
            os.kill(os.getpid(), signal.SIGKILL)

    where = places(home)
    if what != "step":
        sys.setprofile(counted)
    forget(where, GONE, graph=AnsweringGraph(), progress=told)
    sys.setprofile(None)
    return calls


if __name__ == "__main__":
    main()
