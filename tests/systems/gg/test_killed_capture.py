"""A session killed at any point leaves a journal that says so and holds all that was written."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sessionlab.systems import gg
from tests.conftest import ROOT

KILLS, SEEDS = 500, 10


def test_five_hundred_kills_lose_nothing_before_the_cut(tmp_path: Path) -> None:
    """What a killed session left is a prefix of what it would have written, and its record is of every whole line."""
    draw = random.Random(7)
    nursery = subprocess.Popen(
        [sys.executable, "-m", "tests.systems.gg.dying", str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert nursery.stdin is not None
    assert nursery.stdout is not None

    def journal(number: str, seed: int, delay: str) -> bytes:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write(f"{number} {seed} {delay}\n")
        nursery.stdin.flush()
        assert nursery.stdout.readline() == f"{number}\n"
        path = tmp_path / number / gg.JOURNAL
        return path.read_bytes() if path.exists() else b""

    whole = {seed: journal(f"whole-{seed}", seed, "whole") for seed in range(SEEDS)}
    outcomes: Counter[str] = Counter()
    for kill in range(KILLS):
        seed = kill % SEEDS
        left = journal(str(kill), seed, f"{draw.uniform(0.5, 25):.2f}")
        assert whole[seed].startswith(left)
        outcomes[outcome(tmp_path / str(kill), left)] += 1
    nursery.stdin.close()
    assert nursery.wait(30) == 0
    nursery.stdout.close()
    assert outcomes["session_killed"] > KILLS // 2
    assert set(outcomes) <= {"session_killed", "corrupt_journal", "no_header", "nothing"}


def outcome(workspace: Path, left: bytes) -> str:
    """Assemble what is left and hold it against the lines themselves."""
    journal, record = workspace / gg.JOURNAL, workspace / "out" / gg.RECORD
    if not journal.exists():
        return "nothing"
    lines = left.split(b"\n")
    torn = lines.pop() != b""
    if not lines:
        try:
            gg.assemble(journal, record)
        except gg.JournalRefused as refusal:
            return refusal.kind
        raise AssertionError("a record of no line")
    entries = [json.loads(line)["entry"] for line in lines if line.startswith(b'{"type":"entry"')]
    done = gg.assemble(journal, record)
    assert done.truncation is not None
    assert done.truncation.reason == ("corrupt_journal" if torn else "session_killed")
    assert done.truncation.last_seq == (len(entries) - 1 if entries else None)
    assert json.loads(gzip.decompress(record.read_bytes()))["entries"] == entries
    assert [entry["seq"] for entry in entries] == list(range(len(entries)))
    return done.truncation.reason
