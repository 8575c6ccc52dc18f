"""Recorded replays as an arm of the gate: each is paired with the session it replays, or with a replay of it (11.6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import sessionlab as sl
from sessionlab.cli import compare
from sessionlab.comparisons import by_recording, episodes
from sessionlab.errors import Incomparable, WrongUse
from sessionlab.replay.driver import replay
from sessionlab.replay.recorders import TranscriptRecorder
from sessionlab.replay.scripted import Scripted
from sessionlab.systems.mecha import load
from tests.formats.mecha_lines import line
from tests.replay.sessions_to_replay import CONFIG, TWO_TURNS, planned, write

app = typer.Typer()
compare.register(app)
IDS = ("20261101T070000-0000000a", "20261101T080000-0000000b")


def recorded(folder: Path, **config: Any) -> list[Path]:
    """Two sessions on disk, each with an outcome."""
    outcome = line(record="outcome", turns=4, tool_calls=3, usage_complete=True, stop_cause="completed")
    return [write(folder / f"{one}.jsonl", *TWO_TURNS, outcome, id=one, config={**CONFIG, **config}) for one in IDS]


def replayed(paths: list[Path], folder: Path) -> Path:
    """Each of them replayed by its own recording, and recorded in turn."""
    for path in paths:
        recording = load(path)
        model = Scripted.from_messages(recording.messages)
        replay(planned(recording, model), model, observers=[TranscriptRecorder(folder)])
    return folder


def gate(*words: object) -> dict[str, Any]:
    """What the command decides."""
    done = CliRunner().invoke(app, ["gate", *map(str, words), "--change", "config", "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_replay_is_the_episode_of_the_session_it_replays(tmp_path: Path) -> None:
    """Both pairs are found, and they are alike: 4 turns, 3 calls."""
    paths = recorded(tmp_path / "a", permission_mode="ask", trifecta="block")
    arms = [sl.load(folder, workers=1) for folder in (tmp_path / "a", replayed(paths, tmp_path / "b"))]
    names = by_recording(*arms)
    folded = [episodes(arm, names) for arm in arms]
    assert [list(one) for one in folded] == [list(IDS)] * 2
    assert [[(e.turns, e.tool_calls) for e in one.values()] for one in folded] == [[(4, 3)] * 2] * 2


def test_the_command_pairs_replays_with_what_they_replay(tmp_path: Path) -> None:
    """Sessions against their replays, and replays against replays: two pairs, nothing unpaired."""
    paths = recorded(tmp_path / "a", permission_mode="ask", trifecta="block")
    once, twice = (replayed(paths, tmp_path / name) for name in "bc")
    for arms in ((tmp_path / "a", once), (once, twice)):
        found = gate(*arms)
        assert found["selection"]["pairs"] + found["holdout"]["pairs"] == 2
        assert found["unpaired"] == {"baseline": [], "candidate": []}


def test_replays_under_other_policies_than_their_sessions_are_refused(tmp_path: Path) -> None:
    """A replay runs under today's policies: where the recording's were others, nothing could be attributed."""
    paths = recorded(tmp_path / "a", permission_mode="allow")
    with pytest.raises(Incomparable, match="permission_mode is allow in 'baseline', ask in 'candidate'"):
        gate(tmp_path / "a", replayed(paths, tmp_path / "b"))


def test_several_replays_of_one_session_in_an_arm_are_wrong_use(tmp_path: Path) -> None:
    """Folded into one episode they would be one long run."""
    paths = recorded(tmp_path / "a", permission_mode="ask", trifecta="block")
    twice = replayed([paths[0], *paths], tmp_path / "b")
    with pytest.raises(WrongUse, match=f"episode {IDS[0]}: expected one session of it in an arm, found 2"):
        gate(tmp_path / "a", twice)


def test_only_a_header_that_says_so_makes_a_replay(tmp_path: Path) -> None:
    """A session a person called `replay x` stays itself."""
    write(tmp_path / "x.jsonl", line(record="outcome", turns=1), id="s1", title="replay s9", kind="chat")
    corpus = sl.load(tmp_path, workers=1)
    assert list(episodes(corpus, by_recording(corpus))) == ["s1"]
