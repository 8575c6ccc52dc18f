"""Prints seconds of `sessionlab recall` over mecha transcripts, beside ``grep -i -c`` over the same bytes.

Run by hand: ``python tests/benchmarks/recall.py [--size 1000] [--runs 3]``. Each figure is the best of the runs; each
run is a process of its own, start and imports included, on files that lie in the page cache.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
MEGABYTE = 1_000_000
PLANTED = '"Quarterly Total: $12,345"'
QUERIES = {
    "a rare text": "quarterly total",
    "an absent text": "zebra crossing",
    "a frequent word, 20 blocks shown": "token",
    "beyond ASCII": "привет",
    "digits": "20260917",
    "a text with k and i": "kiki",
}
COMMAND = "import sys; from sessionlab.cli import main; sys.argv[0] = 'sessionlab'; main()"


def seconds(command: list[str], runs: int) -> tuple[float, str]:
    """The best time of a command, and what it wrote last."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        best = min(best, time.perf_counter() - start)
        if done.returncode not in (0, 1) or done.stderr:
            raise SystemExit(done.stderr)
    return best, done.stdout


def main() -> None:
    """Write the transcripts, plant one text, time both, print a table."""
    sys.path.insert(0, str(HERE))
    import recordings

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="megabytes")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        recordings.mecha(folder, options.size * MEGABYTE)
        files = sorted(folder.iterdir())
        with files[len(files) // 2].open("ab") as last:
            last.write(recordings.dump({"record": "message", "role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": PLANTED, "is_error": False}]}))  # fmt: skip
        size = sum(len(path.read_bytes()) for path in files)
        print(f"{size / MEGABYTE:.0f} MB in {len(files)} files")
        print(f"{'':<36}{'recall':>9}{'grep -i -c':>12}{'ratio':>8}{'MB/s':>8}")
        for what, query in QUERIES.items():
            ours, told = seconds([sys.executable, "-c", COMMAND, "recall", query, str(folder)], options.runs)
            grep, counted = seconds(["grep", "-i", "-c", "-F", "--", query, *map(str, files)], options.runs)
            lines = sum(int(line.rpartition(":")[2]) for line in counted.splitlines())
            print(f"{what:<36}{ours:>8.2f}s{grep:>11.2f}s{ours / grep:>8.2f}{size / MEGABYTE / ours:>8.0f}"
                  f"   {told.splitlines()[-1].split(';')[0]}; grep: {lines:,} lines", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
