"""A delete that is killed anywhere, and run again, ends as one that nothing disturbed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sessionlab.systems.mecha.forgetting import STEPS
from tests.conftest import ROOT
from tests.systems.mecha.forgetting.home import GONE, delete, holding, seeded, state

KILLS = 200
Ask = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Has a home copied, a delete begun in it and killed, and the same delete run again."""
    folder = tmp_path_factory.mktemp("dying")
    seeded(folder / "home")
    (folder / "home").rename(folder / "seed")
    nursery = subprocess.Popen(
        [sys.executable, "-m", "tests.systems.mecha.forgetting.dying", str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip

    def asked(line: str) -> dict[str, Any]:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write(line + "\n")
        nursery.stdin.flush()
        told = json.loads(nursery.stdout.readline())
        assert isinstance(told, dict)
        return told

    yield asked
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    nursery.stdin.close()
    assert nursery.wait(30) == 0
    nursery.stdout.close()


def test_killed_before_every_step_and_run_again_is_complete_and_ends_the_same(ask: Ask) -> None:
    """Whatever step was to come next, the same command finishes the rest of them."""
    whole = ask("whole")
    assert not whole["killed"]
    for step in STEPS:
        told = ask(f"step {step}")
        assert (told["killed"], told["kept"], told["complete"]) == (True, True, True), step
        assert told["digest"] == whole["digest"], step


def test_two_hundred_kills_at_random_points_and_run_again_are_always_complete(ask: Ask) -> None:
    """Any call of any function may be the last: the transcript is there until everything else has gone."""
    whole = ask("whole")
    draw = random.Random(4)
    points = draw.sample(range(1, whole["calls"]), KILLS)
    for point in points:
        told = ask(f"call {point}")
        assert (told["killed"], told["complete"]) == (True, True), point
        assert told["digest"] == whole["digest"], point


def test_the_end_it_is_held_against_is_that_of_an_undisturbed_delete(tmp_path: Path) -> None:
    """No byte of it names the session, no temporary file is left, and a second look finds the same."""
    homes = [tmp_path / "one" / "home", tmp_path / "two" / "home"]
    for home in homes:
        assert delete(seeded(home)).complete
        assert holding(home, GONE) == holding(home, "sessionlab-tmp") == holding(home, ".forgetting") == []
    states = [state(home) for home in homes]
    transcripts = [key for key in states[0] if key.startswith("sessions/") and key.endswith("cafe.jsonl")]
    assert len(transcripts) == 1  # the one file that says where the home is
    assert [{**one, transcripts[0]: ""} for one in states] == [{**states[0], transcripts[0]: ""}] * 2
