"""A format of somebody else's package enters by the entry point, and its rows fold and answer like any other's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

OUTSIDE = Path(__file__).parent / "outside"


def _run(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(OUTSIDE)}
    done = subprocess.run(
        [sys.executable, "-m", "sessionlab", *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_it_is_listed_beside_the_built_in_ones() -> None:
    """`sessionlab formats` names it."""
    names = [row["format"] for row in json.loads(_run("formats", "--json"))]
    assert names == ["claude_code", "codex", "datalayer", "diary", "gg", "mecha"]


def test_its_files_are_read_by_content() -> None:
    """Its file is claimed, its session listed, its bad line a problem, every byte accounted for."""
    [session] = json.loads(_run("list", str(OUTSIDE / "day.diary"), "--json"))
    assert session["session_id"] == "diary:terns"
    assert session["entries"] == 2
    assert session["created_at"] == "2026-10-03T08:15:00Z"
    [problem] = json.loads(_run("view", "problems.list", str(OUTSIDE / "day.diary"), "--json"))
    assert (problem["kind"], problem["line"]) == ("no_diary_line", 4)
    [source] = json.loads(_run("view", "coverage.by_source", str(OUTSIDE / "day.diary"), "--json"))
    assert source["unaccounted_bytes"] == 0
    assert source["problem_bytes"] == len("a line that is none\n")


def test_without_the_package_the_file_is_unclaimed() -> None:
    """Nothing else claims it: it ends among the unclaimed, without an error."""
    done = subprocess.run(
        [sys.executable, "-m", "sessionlab", "load", str(OUTSIDE / "day.diary"), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["unclaimed"] == [str(OUTSIDE / "day.diary")]
