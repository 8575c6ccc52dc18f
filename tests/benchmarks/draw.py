"""Prints how long both timelines take to be made, shown and redrawn in a browser, by number of rows.

Run by hand: ``python tests/benchmarks/draw.py [--rows 200 20000] [--runs 3]``. Each figure is the best of the runs.
Needs playwright and a Chromium (on PATH, or named by SESSIONLAB_CHROMIUM).
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from playwright.sync_api import sync_playwright

from sessionlab.widgets import AgentTimeline, TaintTimeline, page
from sessionlab.widgets._messages import COLUMNS as MESSAGES
from sessionlab.widgets._spans import COLUMNS as SPANS

if TYPE_CHECKING:
    from playwright.sync_api import Page

LANES = 40
KINDS = ("model_call", "shell", "model_error")
STATES = ("clean", "unknown", "both")
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
KEYS = ("+", "+", "Shift+ArrowRight", "-", "ArrowDown", "0")


def spans(rows: int) -> pa.Table:
    """Calls, commands and errors of a second each in 40 lanes, with an idle hour after every thousand."""
    begins = [n * 1_000.0 + n // 1_000 * 3_600_000 for n in range(rows)]
    told = {
        "session_id": ["s"] * rows,
        "agent_id": [f"a{n % LANES:02d}" for n in range(rows)],
        "lane": [n % LANES for n in range(rows)],
        "span_id": [str(n) for n in range(rows)],
        "kind": [KINDS[n % 3] for n in range(rows)],
        "name": [f"name {n % 7}" for n in range(rows)],
        "begin_order": list(range(rows)),
        "end_order": list(range(rows)),
        "begin_ms": begins,
        "end_ms": [begin + 1_000 for begin in begins],
    }
    return pa.table({name: pa.array(told.get(name, [None] * rows), kind) for name, kind in SPANS.items()})


def messages(rows: int) -> pa.Table:
    """Messages of three states in turn."""
    told = {
        "session_id": ["s"] * rows,
        "ordinal": list(range(rows)),
        "kind": ["message"] * rows,
        "position": list(range(rows)),
        "state": [STATES[n % 3] for n in range(rows)],
        "excerpt": ["text"] * rows,
    }
    return pa.table({name: pa.array(told.get(name, [None] * rows), kind) for name, kind in MESSAGES.items()})


def measured(shown: Page, file: Path, rows: int) -> tuple[float, float, float]:
    """Milliseconds to make the page, to show it, and for one of its frames after a key."""
    begin = time.perf_counter()
    file.write_text(page([AgentTimeline(spans(rows)), TaintTimeline(messages(rows))], title="Draw"), encoding="utf-8")
    made = time.perf_counter()
    shown.goto(file.as_uri())
    shown.evaluate(TWO_FRAMES)
    drawn = time.perf_counter()
    shown.locator(".sl-chart").focus()
    for key in KEYS:
        shown.keyboard.press(key)
        shown.evaluate(TWO_FRAMES)
    moved = time.perf_counter()
    return (made - begin) * 1_000, (drawn - made) * 1_000, (moved - drawn) * 1_000 / len(KEYS)


def main() -> None:
    """Measure each number of rows, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 2_000, 20_000])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    program = os.environ.get("SESSIONLAB_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"])
        shown = chromium.new_page(viewport={"width": 1200, "height": 900})
        print(f"{'rows':>8} {'page made':>12} {'page shown':>12} {'redrawn':>12}")
        for rows in given.rows:
            runs = [measured(shown, Path(folder) / "draw.html", rows) for _ in range(given.runs)]
            made, drawn, moved = (min(times) for times in zip(*runs, strict=True))
            print(f"{rows:>8,} {made:>9.0f} ms {drawn:>9.0f} ms {moved:>9.0f} ms")
        chromium.close()


if __name__ == "__main__":
    main()
