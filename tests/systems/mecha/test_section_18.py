"""Edge cases of mecha 18.2 and decisions of section 22 about a store that no other test holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import sessionlab as sl
from sessionlab.cli import health, stats
from sessionlab.errors import AmbiguousName
from sessionlab.replay import verdict
from sessionlab.replay.comparison import ToolDivergence
from sessionlab.replay.probes import ProbePoint
from sessionlab.replay.trajectory import Call
from sessionlab.systems.mecha import Store, load, peek
from tests.formats.mecha_lines import line, message
from tests.systems.mecha.transcripts import header, stored

app = typer.Typer()
health.register(app)
stats.register(app)


def titled(folder: Path, created: str | None, *renames: str) -> Path:
    """A transcript of one message, created under a title and renamed."""
    path = stored(folder, "s1", **({} if created is None else {"title": created}))
    with path.open("ab") as file:
        file.write(b"".join(line(record="title", title=one) + b"\n" for one in renames) + message("user", "u") + b"\n")
    return path


def told(*words: object) -> Any:
    """What a command tells as JSON."""
    done = CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False)
    return json.loads(done.stdout)


def test_18_2_the_last_rename_is_loaded_and_the_peek_keeps_the_created_title(tmp_path: Path) -> None:
    """Header title `web: chat-8f3a`, titles `web: A`, `web: B`: load `web: B`; 1 message; peek title unchanged."""
    path = titled(tmp_path, "web: chat-8f3a", "web: A", "web: B")
    found = load(path)
    assert (found.title, len(found.messages)) == ("web: B", 1)
    assert load(path, guard_title=True).title == "web: B"
    peeked = peek(path)
    assert peeked is not None
    assert peeked.title == "web: chat-8f3a"
    assert [one.title for one in Store(tmp_path).listing().sessions] == ["web: chat-8f3a"]


@pytest.mark.parametrize(
    ("created", "renames", "guarded", "last"),
    [
        ("task: X", ("web: Y",), "task: X", "web: Y"),
        ("task: X", ("web: Y", "task: Z"), "task: Z", "task: Z"),
        ("task: X", ("task: Z", "web: Y"), "task: X", "web: Y"),  # only the last one is looked at
        ("task: X", (), "task: X", "task: X"),
        ("Task goal: X", ("web: Y",), "web: Y", "web: Y"),  # two words are no word (22)
        ("task:X", ("web: Y",), "web: Y", "web: Y"),
        (None, ("web: Y",), "web: Y", "web: Y"),
        ("count the birds", ("bird counts",), "bird counts", "bird counts"),
    ],
)
def test_18_2_the_guard_of_a_title_is_a_switch(
    tmp_path: Path, created: str | None, renames: tuple[str, ...], guarded: str, last: str
) -> None:
    """8.5: a rename keeps the created `<word>: `, or does not count; off by default (22)."""
    path = titled(tmp_path, created, *renames)
    assert load(path, guard_title=True).title == guarded
    assert load(path).title == last


def test_22_files_without_a_header_are_counted_whatever_the_days(tmp_path: Path) -> None:
    """They have no date: always counted; a session outside of the window is not."""
    stored(tmp_path, "old", "2026-01-01T00:00:00Z")
    stored(tmp_path, "new", "2026-11-20T00:00:00Z")
    (tmp_path / "lost.jsonl").write_bytes(b'{"record":"meta","id":\n' + header("lost"))
    days = ("--days", "30", "--now", "2026-11-30T00:00:00Z")
    for command in ("stats", "health"):
        assert told(command, tmp_path, *days)["sessions_unreadable"] == 1
    assert told("health", tmp_path, *days)["sessions_read"] == 1
    assert told("stats", tmp_path, *days)["rows"][0]["sessions"] == 1


def test_22_test_sessions_are_hidden_before_the_limit_is_applied(tmp_path: Path) -> None:
    """The two newest are a test and an experiment: with a limit of 1 the third is read, and both are counted."""
    for at, kind in enumerate(("run", "run", "test", "experiment"), 1):
        path = stored(tmp_path, f"s{at}", f"2026-11-0{at}T00:00:00Z", kind=kind)
        with path.open("ab") as file:
            file.write(line(record="outcome", tool_calls=10**at) + b"\n")
    found = told("health", tmp_path, "-n", "1")
    assert (found["sessions_read"], found["tool_calls"]) == (1, 100)
    assert (found["tests_hidden"], found["experiments_hidden"]) == (1, 1)


def test_22_two_files_with_one_header_id(tmp_path: Path) -> None:
    """Both are read, `sources` tells them apart, `problems` says so, list shows both, their prefix is ambiguous."""
    for name, text in (("a", "one"), ("b", "two")):
        (tmp_path / f"{name}.jsonl").write_bytes(header("s1") + message("user", text) + b"\n")
    corpus = sl.load(tmp_path, workers=1)
    assert corpus.sql("SELECT count(DISTINCT source_id), count(DISTINCT uri) FROM sources").rows() == [(2, 2)]
    assert corpus.sql("SELECT count(*) FROM raw.sessions WHERE native_id = 's1'").item() == 2
    assert corpus.sql("SELECT kind FROM problems").rows() == [("session_in_several_files",)]
    assert sorted(one.path.name for one in Store(tmp_path).listing().sessions) == ["a.jsonl", "b.jsonl"]
    with pytest.raises(AmbiguousName, match="matches 2 sessions"):
        Store(tmp_path).find("s1")


def test_22_k_of_a_probe_is_converted_before_it_is_compared() -> None:
    """4 calls were asked for before, 2 of them answered: a divergence at 2 is at the place, one at 1 before it."""
    point = ProbePoint("steer", 5, 4, 2, None, 9)
    assert verdict(point, [ToolDivergence(2, "x", "y")]) == "fail"
    assert verdict(point, [ToolDivergence(1, "x", "y")]) == "inconclusive"
    refused = ProbePoint("denial", 5, 4, 2, Call("shell", {}), 9)
    assert verdict(refused, [], [Call("x", {}), Call("x", {}), Call("shell", {})]) == "fail"
