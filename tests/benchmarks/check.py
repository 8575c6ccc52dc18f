"""Prints the time to check a session file just under the cap beside that of `json.loads` over the same lines.

Run by hand: ``python tests/benchmarks/check.py [--runs 5]``. Each figure is the best of the runs, and both read the
file, which lies in the page cache, in a temporary folder that is removed afterwards. Four files of 20,000 entries and
64 MB: plain text as tools return it, text beyond ASCII, text whose bytes may hide a line end, nested lists and objects;
and 20,000 small entries.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessionlab.systems.datalayer import check_file
from tests.formats.datalayer_files import entry, head

CAP = 64 * 1024 * 1024
ENTRIES = 20_000
ASCII = ["tide", "harbor", "buoy", '"quoted"', "plover", "line\nbreak", "x=1;", "{}", "[]", "count"]
WIDE = ["tide", "—", "buoy", "“said”", "plover", "naïve", "line\nbreak", "x=1;", "{}", "[]", "潮"]
ACCENTED = [*ASCII, "é", "à"]
KINDS = ("run", "tool_call", "decision", "turn", "output")


def text_payload(words: list[str], size: int, draw: random.Random) -> dict[str, Any]:
    """A tool call of about so many bytes of text."""
    text = " ".join(draw.choices(words, k=size // 6))
    cut = size // 4
    while len(json.dumps(text, ensure_ascii=False).encode()) > size:
        text = text[: -max(len(text) // 50, 1)]
    return {"tool": "grep", "arguments": text[:cut], "result": text[cut:], "tool_call_id": "c1"}


def nested_payload(size: int) -> dict[str, Any]:
    """Rows of a table of about so many bytes."""
    row = {"id": 12345, "name": "buoy 12345", "depth": 4.75, "tags": ["a", "b"], "ok": True, "note": None}
    return {"tool": "rows", "result": [{**row, "id": n} for n in range(size // (len(json.dumps(row)) + 2))]}


def file_of(payload: Callable[[int], dict[str, Any]], size: int) -> bytes:
    """A file of 20,000 entries, just under so many bytes: the last entry is padded."""
    each = (size - 2000) // ENTRIES - 260
    few = [json.dumps({**entry("run"), "payload": payload(each)}, ensure_ascii=False) for _ in range(50)]
    lines = [json.dumps(head(entries=ENTRIES, turns=ENTRIES // len(KINDS)))]
    lines += [few[n % 50].replace('"run"', f'"{KINDS[n % len(KINDS)]}"', 1) for n in range(ENTRIES)]
    data = ("\n".join(lines) + "\n").encode()
    short = size - len(data) - 1
    return data[:-3] + b', "pad": "' + b"x" * (short - 11) + b'"}}\n' if short > 11 else data


def loads(path: Path) -> int:
    """The loop to compare with: each line through `json.loads`, and nothing done with it."""
    read = 0
    for line in path.read_bytes().split(b"\n"):
        if line:
            json.loads(line)
            read += 1
    return read - 1


def checked(path: Path) -> int:
    """The whole check, notes included."""
    verdict = check_file(path)
    assert verdict.ok, verdict
    return verdict.entries


def best(run: Callable[[Path], int], path: Path, runs: int) -> float:
    """Seconds of the best of the runs, each of which must have seen every entry."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        assert run(path) == ENTRIES
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    """Make the files, time both, print the ratios."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=5)
    asked = arguments.parse_args()
    draw = random.Random(5)
    files = {
        "text": file_of(lambda size: text_payload(ASCII, size, draw), CAP),
        "text beyond ASCII": file_of(lambda size: text_payload(WIDE, size, draw), CAP),
        "accented text": file_of(lambda size: text_payload(ACCENTED, size, draw), CAP),
        "nested": file_of(nested_payload, CAP),
        "small entries": file_of(lambda _: {"tool": "grep"}, 0),
    }
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "bench.session.jsonl"
        for name, data in files.items():
            path.write_bytes(data)
            loop, check = best(loads, path, asked.runs), best(checked, path, asked.runs)
            size = len(data) / 1024 / 1024
            print(f"{name:<20} {size:6.2f} MiB  json.loads {loop:.3f} s  check {check:.3f} s  {check / loop:.2f} x")


if __name__ == "__main__":
    main()
