"""How fast 10,000 calls are extracted and compared: alone, in small batches, and in one huge batch.

    python tests/benchmarks/compare.py [--calls 10000]

Each figure is the best of three. The aim is under a second for 10,000 calls, whatever their batches and order.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from time import perf_counter

from sessionlab.formats.mecha.wire import Message, Text, ToolResult, ToolUse
from sessionlab.replay import Call, RecordedCall, align, compare, extract


def best(run: Callable[[], object]) -> float:
    """Seconds of the best of three."""
    times = []
    for _ in range(3):
        begin = perf_counter()
        run()
        times.append(perf_counter() - begin)
    return min(times)


def recorded(calls: int, batch: int) -> list[RecordedCall]:
    """Calls of three tools in batches of a size, with arguments of some hundred characters."""
    text = "the build passes after the parser reads one more token " * 4
    names = ("fs_read", "shell", "web_fetch")
    return [
        RecordedCall(
            names[n % 3],
            {"path": f"src/{n}.py", "options": {"limit": n, "deep": [True, None]}, "text": text},
            batch=n // batch,
        )
        for n in range(calls)
    ]


def conversation(calls: int) -> list[Message]:
    """A conversation of that many calls, four to a batch, results in reverse."""
    messages = [Message("user", [Text("go")])]
    for n in range(0, calls, 4):
        ids = [f"c{at}" for at in range(n, n + 4)]
        messages.append(Message("assistant", [ToolUse(one, "fs_read", {"path": one}) for one in ids]))
        messages.append(Message("user", [ToolResult(one, "wren,4") for one in reversed(ids)]))
    return messages


def main() -> None:
    """Generate, measure, print."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--calls", type=int, default=10_000)
    calls = asked.parse_args().calls
    rng = random.Random(4)
    messages = conversation(calls)
    print(f"extract {calls:,} calls, 4 to a batch        {best(lambda: extract(messages)):6.3f} s")
    for batch, words in ((1, "each alone"), (4, "4 to a batch"), (calls, "one batch")):
        ours = recorded(calls, batch)
        same: list[Call] = []
        for at in range(0, calls, batch):
            same += rng.sample(ours[at : at + batch], len(ours[at : at + batch]))
        other = [Call(call.name, {"n": n}) for n, call in enumerate(same)]
        for replayed, how in ((same, "shuffled inside batches"), (other, "other arguments")):
            took = best(lambda ours=ours, replayed=replayed: compare(ours, replayed))  # type: ignore[misc]
            print(f"compare {calls:,} calls, {words:<13} {how:<24} {took:6.3f} s (aim 1.000)")
    rows = recorded(calls, 4)
    print(f"align   {calls:,} calls, 4 to a batch        {best(lambda: align(rows, rows)):6.3f} s")


if __name__ == "__main__":
    main()
