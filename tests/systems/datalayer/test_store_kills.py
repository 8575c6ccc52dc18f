"""A process that is killed while it appends leaves the file before or the file after, whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.systems.datalayer.store import Store
from tests.conftest import ROOT
from tests.systems.datalayer.stored import UID, store_of, turn, turns

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
Kill = Callable[..., int]


@pytest.fixture(scope="module")
def kill() -> Iterator[Kill]:
    """Has turns appended in a process that is killed; how many of them it had told of."""
    nursery = subprocess.Popen(
        [sys.executable, "-m", "tests.systems.datalayer.dying"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert nursery.stdin is not None
    assert nursery.stdout is not None

    def killed(folder: Path, *how: object) -> int:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write("\t".join(map(str, (folder, *how))) + "\n")
        nursery.stdin.flush()
        return int(nursery.stdout.readline())

    yield killed
    nursery.stdin.close()
    assert nursery.wait(30) == 0
    nursery.stdout.close()


def left_by(folder: Path, told: int) -> int:
    """How many turns the file holds: what was told of, or one more; it is sound, and the next append goes on."""
    store = Store(folder)
    data = store.path(UID).read_bytes()
    assert isinstance(judge(data), Accepted)
    kept = store.record(UID)
    held = [entry.payload["answered"] for entry in kept.entries[1:]]
    assert held == [f"Answer {n}." for n in range(1, len(held) + 1)]
    assert len(held) in (told, told + 1)
    assert store.append(UID, [turn(len(held) + 1, 1)]).turns == len(held) + 1
    assert [path.name for path in folder.iterdir()] == [f"{UID}.session.jsonl"]
    return len(held)


def test_twenty_kills_at_random_moments(kill: Kill, tmp_path: Path) -> None:
    """Nothing that was told of is lost, nothing is half there, and no leaving of the dead remains after the next."""
    draw = random.Random(15)
    for number in range(20):
        folder = tmp_path / str(number)
        store_of(folder, *turns(0))
        told = kill(folder, "after", draw.randrange(1, 8), draw.random() * 6)
        assert left_by(folder, told) >= 1


@pytest.mark.parametrize(
    ("call", "number", "held"),
    [("write", 2, 1), ("fsync", 3, 1), ("replace", 2, 1), ("fsync", 4, 2)],
    ids=["half written", "before it reaches the disk", "before the rename", "after the rename"],
)
def test_killed_at_each_step_of_the_second_append(
    kill: Kill, tmp_path: Path, call: str, number: int, held: int
) -> None:
    """Before the rename it is the old file, after it the new one."""
    store_of(tmp_path / "s", *turns(0))
    told = kill(tmp_path / "s", "at", call, number)
    assert told == 1
    assert left_by(tmp_path / "s", told) == held
