"""What capture costs the run it observes: microseconds per call site, on a disk that works and on one that does not.

    python tests/benchmarks/capture.py [--turns 400]

Taking a new body in (hashing, escaping) is printed apart: it is paid once per body, whatever is recorded.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter_ns, sleep
from typing import TYPE_CHECKING

from sessionlab.systems import gg

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTHS = (2, 100, 500)
SETS = {"agents": [{"slug": "root", "name": "Root", "capabilities": [], "modelId": "acme/sparrow-1",
                    "openingTurn": {"modules": [], "functions": []}}]}  # fmt: skip
REPLY = {
    "finishReason": "tool_calls",
    "text": "I look at the next file. " * 8,
    "toolCalls": [{"id": "c1", "name": "shell", "arguments": {"command": "ls -l src"}}],
    "usage": {"uncachedInput": 1200, "cachedInput": 20000, "output": 180, "reasoning": None},
}


class Site:
    """The times of one call site, in ns."""

    def __init__(self) -> None:
        self.times: list[int] = []

    def __call__(self, call: Callable[[], object]) -> None:
        """Make the call and keep how long it took."""
        begin = perf_counter_ns()
        call()
        self.times.append(perf_counter_ns() - begin)

    def told(self) -> str:
        """Median and 99th percentile in µs."""
        return f"{median(self.times) / 1e3:8.1f} {quantiles(self.times, n=100)[98] / 1e3:8.1f}"


def observed(folder: Path, length: int, turns: int, *, edits: bool, pause: float) -> dict[str, Site]:
    """A session whose request holds ``length`` messages; ``edits``: its window changes in the middle on every turn."""
    sites = {name: Site() for name in ("take a body in", "model_io", "prompt_frame", "tool_result", "shell", "clock")}
    writer = gg.JournalWriter(folder, session_id="bench", capability_set=SETS, seed=gg.Seed(prompt="go"))
    agent = writer.agent("root", profile_id="root", profile="Root", origin=gg.Root())
    tools = writer.toolset([{"name": "shell", "parameters": {"type": "object"}}] * 8)

    def item(text: str, turn: int) -> gg.WindowItem:
        body = {"role": "user", "content": text * 20}
        taken: list[gg.Body] = []
        sites["take a body in"](lambda: taken.append(writer.message(body)))
        return gg.WindowItem(taken[0], slot="thread", source="history", retention="ephemeral", turn=turn)

    window = [item(f"message {i} of the conversation. ", 0) for i in range(length)]
    for turn in range(turns):
        at = len(window) // 2
        window = [*window[:at], *window[at + edits :], item(f"turn {turn} says this. ", turn)]
        if len(window) > length + 10:  # a conversation that only grows begins again where it was
            window = window[:length]
        messages = [one.message for one in window]
        sites["model_io"](lambda m=messages: agent.model_io(m, REPLY, tools=tools, duration_ms=812))
        sites["prompt_frame"](lambda w=window: agent.prompt_frame(w))
        sites["shell"](lambda t=turn: agent.shell("ls -l src", stdout=f"file {t}\n"))
        sites["tool_result"](lambda t=turn: agent.tool_result("c1", "shell", {"command": "ls"}, output=f"exit 0 {t}\n"))
        sites["clock"](lambda t=turn: agent.clock(t * 1000))
        sleep(pause)
    stopped = writer.stopped
    sites["capture stopped" if stopped else "capture whole"] = Site()
    return sites


class Stalled:
    """A journal that nobody reads: a pipe, once it is full, stands for a disk that does not move."""

    def __init__(self, folder: Path) -> None:
        (folder / ".gg").mkdir(parents=True)
        os.mkfifo(folder / gg.JOURNAL)
        self._reader = os.open(folder / gg.JOURNAL, os.O_RDONLY | os.O_NONBLOCK)

    def close(self) -> None:
        """Let the writer go."""
        os.close(self._reader)


def main() -> None:
    """Measure, print."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--turns", type=int, default=400, help="turns of each session")
    turns = asked.parse_args().turns
    print("µs per call: median and 99th percentile; aim: median under 20 beside taking bodies in")
    for disk in ("works", "stalls"):
        for edits in (False, True):
            shape = "the window is edited in its middle on every turn" if edits else "the conversation grows"
            print(f"\nthe disk {disk}; {shape}")
            for length in LENGTHS:
                with tempfile.TemporaryDirectory() as folder:
                    stalled = Stalled(Path(folder)) if disk == "stalls" else None
                    sites = observed(Path(folder), length, turns, edits=edits, pause=0.0005)
                    if stalled is not None:
                        stalled.close()
                told = "   ".join(f"{name} {site.told()}" for name, site in sites.items() if site.times)
                ended = next(name for name, site in sites.items() if not site.times)
                print(f"{length:4} messages   {told}   {ended}")


if __name__ == "__main__":
    main()
