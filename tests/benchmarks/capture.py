"""What capture costs the run it observes: microseconds per call site, for requests of several lengths, on a disk that
works and on one that does not move.

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
