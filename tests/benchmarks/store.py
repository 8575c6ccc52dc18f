"""Prints the time to list a large mecha store beside that of a loop that reads the first line of each file.

Run by hand: ``python tests/benchmarks/store.py [--sessions 100000] [--runs 3]``. Each figure is the best of the runs;
the files lie in the page cache, in a temporary folder that is removed afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sessionlab.systems.mecha import Store

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
LINES_BEHIND = 12
"""What a listing must not read: so many lines behind each header."""


def fill(folder: Path, sessions: int) -> None:
    """So many transcripts, each with a header of its own and some lines behind it."""
    said = {"record": "message", "role": "user", "content": [{"type": "text", "text": "How many terns? " * 20}]}
    behind = (json.dumps(said) + "\n") * LINES_BEHIND
    for number in range(sessions):
        begun = BEGIN + timedelta(seconds=97 * number)
        session_id = f"{begun:%Y%m%dT%H%M%S}-{number:08x}"
        header = {
            "record": "meta",
            "id": session_id,
            "created_at": f"{begun:%Y-%m-%dT%H:%M:%S}.{number % 1000:03}Z",
            "provider": "shore",
            "model": f"plover-{number % 5}",
            "workspace": "/home/eve/shore",
            "title": f"count the terns of day {number % 31}",
            "kind": ("run", "chat", "web")[number % 3],
        }
        (folder / f"{session_id}.jsonl").write_text(json.dumps(header) + "\n" + behind)


def first_lines(folder: Path) -> int:
    """The loop to compare with: the first line of each file, and nothing done with it."""
    read = 0
    for name in os.listdir(folder):  # noqa: PTH208 (the plainest loop there is)
        with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123 (the same)
            read += bool(file.readline())
    return read


def best(run: Callable[[], int], runs: int, expected: int) -> float:
    """Seconds of the best of the runs, each of which must have seen every session."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        assert run() == expected
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    """Fill a store, time both, print the ratio."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sessions", type=int, default=100_000)
    arguments.add_argument("--runs", type=int, default=3)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        fill(folder, asked.sessions)
        store = Store(folder)
        newest = f"{BEGIN + timedelta(seconds=97 * (asked.sessions - 1)):%Y%m%dT%H%M%S}"

        def all_listed() -> int:
            return len(store.listing().sessions)

        def newest_listed() -> int:
            found = store.listing(limit=20)
            return len(found.sessions) + found.more

        def found() -> int:
            assert store.find(newest).id.startswith(newest)
            return asked.sessions

        loop = best(lambda: first_lines(folder), asked.runs, asked.sessions)
        print(f"{asked.sessions:,} sessions, {loop * 1e6 / asked.sessions:.1f} µs a file in the loop")
        for name, run in (
            ("first line of each file, a plain loop", lambda: first_lines(folder)),
            ("listing, the newest 20", newest_listed),
            ("listing, all sessions", all_listed),
            ("lookup of a prefix", found),
        ):
            seconds = best(run, asked.runs, asked.sessions)
            print(f"  {name:<40} {seconds:6.2f} s  {seconds / loop:5.2f} x the loop")


if __name__ == "__main__":
    main()
