"""A replay that records itself, as a transcript and as a gg journal: both can be read, and the first replayed again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import ModelFailed
from sessionlab.formats.mecha.wire import Legs, Tokens
from sessionlab.replay.driver import replay
from sessionlab.replay.recorders import JournalRecorder, TranscriptRecorder
from sessionlab.replay.scripted import Scripted
from sessionlab.replay.trajectory import extract
from sessionlab.systems import gg
from sessionlab.systems.mecha.reading import load
from tests.replay.sessions_to_replay import TWO_TURNS, planned, transcript
from tests.replay.test_driver import FETCH, LIST, READ, said

USED = Tokens(100, 10, 1, 2)


def recorded(tmp_path: Path, observer: Any, turns: Any = None, mode: str = "stop", **config: Any) -> None:
    """A replay of the two turns, recorded by an observer."""
    recording = transcript(tmp_path, *TWO_TURNS, **config)
    model = Scripted(turns) if turns else Scripted.from_messages(recording.messages)
    replay(planned(recording, model, mode=mode, temperature=0.0, seed=3), model, observers=[observer])


class Failing(Scripted):
    """A model that gives out after its first reply."""

    def complete(self, *asked: Any) -> Any:
        """One reply, and then none."""
        if self.asked:
            raise ModelFailed("fatal", "no more", status=402)
        return super().complete(*asked)


def test_a_recorded_replay_is_a_session_that_replays_clean(tmp_path: Path) -> None:
    """The transcript holds the same trajectory, provenance included, and can be replayed in its turn."""
    observer = TranscriptRecorder(tmp_path / "made")
    recorded(tmp_path, observer)
    assert observer.path is not None
    again = load(observer.path)
    before, after = extract(transcript(tmp_path, *TWO_TURNS).messages), extract(again.messages)
    assert (after.turns, after.final_text) == (before.turns, before.final_text)
    assert [(one.name, one.input, one.batch) for one in after.calls] == [
        ("fs_read", {"path": "a.md"}, 0), ("fs_list", {"path": "."}, 0), ("web_fetch", {"url": "http://news"}, 1),
    ]  # fmt: skip
    assert [one.external for one in after.calls] == [False, False, True]
    model = Scripted.from_messages(again.messages)
    episode = replay(planned(again, model, mode="error"), model)
    assert episode.seen == ()
    assert [one.output for one in episode.recorded][2].count("<untrusted-content") == 1
    assert episode.messages[6].content == again.messages[6].content
    assert episode.messages[6].tool_provenance == again.messages[6].tool_provenance


def test_what_a_recorded_replay_says_of_itself(tmp_path: Path) -> None:
    """Its header keeps it out of figures about real work; its config is the one that was used."""
    observer = TranscriptRecorder(tmp_path / "made")
    recorded(tmp_path, observer)
    assert observer.path is not None
    again = load(observer.path)
    assert (again.header.kind, again.header.title) == ("experiment", "replay 20261101T070000-0a0b0c0d")
    [config] = again.configs
    assert (config.temperature, config.seed, config.permission_mode, config.effort) == (0.0, 3, "ask", "low")
    assert [one.stop_cause for one in again.outcomes] == ["completed", "completed"]
    assert again.outcomes[-1].taint == Legs(private=False, untrusted=True)
    assert again.covering(0) == Legs()
    assert again.covering(5) == Legs(untrusted=True)


def test_a_replay_that_is_broken_off_leaves_its_messages_and_no_outcome(tmp_path: Path) -> None:
    """7: a run that errors: its messages may be recorded, never a summary or an outcome."""
    observer = TranscriptRecorder(tmp_path / "made")
    recording = transcript(tmp_path, *TWO_TURNS)
    model = Failing([[said("", READ, LIST)]])
    with pytest.raises(ModelFailed):
        replay(planned(recording, model), model, observers=[observer])
    assert observer.path is not None
    assert [len(load(observer.path).messages), len(load(observer.path).outcomes)] == [3, 0]
    assert b'"summary"' not in observer.path.read_bytes()


def test_a_summarised_conversation_keeps_its_head_in_the_file(tmp_path: Path) -> None:
    """7: the states that a rewrite did away with are recorded before it."""
    observer = TranscriptRecorder(tmp_path / "made")
    turns = [said("", READ, LIST, usage=USED), said("Plovers by the sea.", usage=USED)], [said("", FETCH), said("C.")]
    recorded(tmp_path, observer, turns, compact_at_tokens=103, compact_keep_recent=1)
    assert observer.path is not None
    assert b"Plovers by the sea." in observer.path.read_bytes()
    assert b'"record":"rewrite"' in observer.path.read_bytes()
    assert "[Earlier turns were compacted" in str(load(observer.path).messages[0])


def test_a_recorded_journal_assembles_and_verifies(tmp_path: Path) -> None:
    """A gg journal of the replay: every request, reply and result, whole."""
    observer = JournalRecorder(tmp_path / "made")
    turns = [said("", READ, LIST, usage=USED), said("Plovers.")], [said("", FETCH), said("Calm.")]
    recorded(tmp_path, observer, turns)
    assert observer.captured is not None
    assert (observer.captured.entries, observer.captured.truncation, observer.captured.landed) == (7, None, True)
    record = tmp_path / "replay.json.gz"
    gg.assemble(observer.path, record)
    assert gg.verify(record).ok
    told = json.loads(gzip.decompress(record.read_bytes()))
    assert [entry["type"] for entry in told["entries"]] == [
        "model_io", "tool_result", "tool_result", "model_io", "model_io", "tool_result", "model_io",
    ]  # fmt: skip
    bodies = [told["messages"][ix]["body"] for ix in told["entries"][3]["request"]["messages"]]
    assert bodies == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Which birds?"},
        {"role": "assistant", "toolCalls": [
            {"id": "r0", "name": "fs_read", "arguments": {"path": "a.md"}},
            {"id": "r1", "name": "fs_list", "arguments": {"path": "."}},
        ]},
        {"role": "tool", "toolCallId": "r0", "content": "plover"},
        {"role": "tool", "toolCallId": "r1", "content": "a.md"},
    ]  # fmt: skip
    assert told["entries"][0]["response"]["usage"] == {
        "uncachedInput": 101, "cachedInput": 2, "output": 10, "reasoning": None,
    }  # fmt: skip


def test_a_journal_tells_of_a_request_without_a_reply(tmp_path: Path) -> None:
    """As gg 1.9 has it: why the call failed, and the agent's end."""
    observer = JournalRecorder(tmp_path / "made")
    recording = transcript(tmp_path, *TWO_TURNS)
    model = Failing([[said("", READ, LIST)]])
    with pytest.raises(ModelFailed):
        replay(planned(recording, model), model, observers=[observer])
    record = tmp_path / "replay.json.gz"
    gg.assemble(observer.path, record)
    told = json.loads(gzip.decompress(record.read_bytes()))
    assert told["entries"][-1]["error"] == {"kind": "fatal", "message": "no more", "status": 402}
    assert told["agents"][0]["terminalStatus"] == "failed"
