"""Trajectories from the tables: equal to those of the file for mecha, and right by hand for the other formats."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sessionlab as sl
from sessionlab.errors import QueryError, UnknownName
from sessionlab.formats.mecha.loading import load
from sessionlab.formats.recording import Recording
from sessionlab.replay import RecordedCall, Trajectory, compare, extract, trajectory
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import META, call, line, result, rewrite, said
from tests.replay.conversations import a, drawn, u
from tests.sample_files import CORPUS, plain

TRANSCRIPTS = 150


def of_file(path: Path) -> Trajectory:
    """What extraction makes of the list a file leads to."""
    with path.open("rb") as stream:
        return extract(load(Recording(stream, uri=str(path), format="mecha")).messages)


def exact(told: Trajectory) -> bytes:
    """A trajectory as JSON: to Python, `True` and `1` would be equal."""
    return msgspec.json.encode(told, order="sorted")


@pytest.fixture(scope="module")
def samples() -> sl.Corpus:
    """All samples."""
    return sl.load(SAMPLES, bodies=True)


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("mecha/**/*.jsonl")), ids=lambda path: path.stem)
def test_mecha_samples(path: Path, samples: sl.Corpus) -> None:
    """Every mecha sample: both roads give the same trajectory."""
    assert exact(trajectory(samples, path.stem)) == exact(of_file(path))


def test_random_transcripts(tmp_path: Path) -> None:
    """Rewrites, extensions, ids that repeat, edited results, orphans, lost provenance: both roads agree."""
    rng = random.Random(1204)
    for n in range(TRANSCRIPTS):
        (tmp_path / f"{n:03}.jsonl").write_bytes(b"\n".join(drawn(rng, f"t-{n:03}")) + b"\n")
    corpus = sl.load(tmp_path, bodies=True)
    calls = steered = 0
    for n in range(TRANSCRIPTS):
        wanted = of_file(tmp_path / f"{n:03}.jsonl")
        assert exact(trajectory(corpus, f"mecha:t-{n:03}")) == exact(wanted), n
        calls += len(wanted.calls)
        steered += wanted.steered
    assert calls > TRANSCRIPTS / 2  # the drawing is worth something
    assert steered > TRANSCRIPTS / 20


def test_bodies_that_are_told_in_pieces(tmp_path: Path) -> None:
    """A message extended beyond what is held of it is put together again, calls and provenance with it."""
    lines = [line(**META), a(call("t1", "first")), u(result("t1", "one"), tool_provenance={"t1": False})]
    lines += [line(record="extend", index=1, blocks=[{"type": "text", "text": f"part {n} "}]) for n in range(300)]
    lines += [line(record="extend", index=0, blocks=[call("t2", "second")]), u(result("t2", "two"))]
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = trajectory(sl.load(path, bodies=True), "mecha:")
    assert exact(found) == exact(of_file(path))
    assert [(one.name, one.external) for one in found.calls] == [("first", False), ("second", None)]
    assert found.steered


def test_provenance_of_an_edited_result_is_that_of_the_edited_message(tmp_path: Path) -> None:
    """A rewrite that keeps a result under other provenance, or under none, decides."""
    edited = [said("assistant", call("t1")), {**said("user", result("t1", "[stale:")), "tool_provenance": {"t1": True}}]
    path = tmp_path / "x.jsonl"
    lines = [line(**META), a(call("t1")), u(result("t1", "long"), tool_provenance={"t1": False}), rewrite(*edited)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    [one] = trajectory(sl.load(path, bodies=True), "mecha:").calls
    assert (one.output, one.external) == ("[stale:", True)


def test_two_files_of_one_session_tell_it_once(tmp_path: Path) -> None:
    """An older copy beside the file adds nothing."""
    [sample] = (SAMPLES / "mecha" / "golden").glob("*.jsonl")
    data = sample.read_bytes()
    (tmp_path / "old.jsonl").write_bytes(b"".join(data.splitlines(keepends=True)[:6]))
    (tmp_path / "new.jsonl").write_bytes(data)
    assert exact(trajectory(sl.load(tmp_path, bodies=True), "20261003")) == exact(of_file(sample))


def test_gg_sample() -> None:
    """A gg journal: the prompt once, though it is sent again without its picture; the call with its output."""
    found = trajectory(sl.load(SAMPLES / "gg" / "clean-journal", bodies=True), "run-0007")
    output = "exit code: 0\nbuilding the kite page\n"
    assert found.turns == ("Draw a blue kite.",)
    assert found.calls == (RecordedCall("shell", {"command": "echo building the kite page"}, output),)
    assert (found.final_text, found.steered, found.legacy_provenance_calls) == ("", False, 1)


def test_gg_agents_have_trajectories_of_their_own() -> None:
    """Refused calls are errors; a spawned agent's calls are not the root's."""
    corpus = sl.load(SAMPLES / "gg" / "several-agents", bodies=True)
    root, spawned = trajectory(corpus, "run-0113"), trajectory(corpus, "run-0113", agent_id="agent-0")
    assert [one.is_error for one in root.calls] == [False, True]
    assert (root.turns, spawned.turns) == (("Build a lantern page.",), ("Look for lantern shapes.",))
    assert (len(spawned.calls), spawned.final_text) == (1, "Listing.")


def test_every_gg_run_is_told_as_its_record_has_it(samples: sl.Corpus) -> None:
    """Names, arguments and outputs of the root's calls are those of the result entries, read with json alone."""
    for path in sorted((CORPUS / "gg").rglob("replay.json.gz")):
        record = json.loads(plain(path.read_bytes()))
        entries = [one for one in record["entries"] if one["type"] == "tool_result" and one["agentId"] == "root"]
        found = trajectory(samples, record["sessionId"])
        assert [(one.name, one.output) for one in found.calls] == [
            (one["call"]["name"], record["texts"][one["outcome"]["output"]]) for one in entries
        ]
        assert [json.dumps(one.input, sort_keys=True) for one in found.calls] == [
            json.dumps(one["call"]["arguments"], sort_keys=True) for one in entries
        ]


def test_claude_code_sample(samples: sl.Corpus) -> None:
    """Four calls in three batches; the web is external, of the others nothing is known."""
    found = trajectory(samples, "5a7c0d12")
    assert [(one.name, one.batch, one.external, one.is_error) for one in found.calls] == [
        ("Bash", 0, None, False),
        ("WebFetch", 1, True, False),
        ("Task", 1, None, False),
        ("Bash", 2, None, True),
    ]
    assert found.calls[0].input == {"command": "ls src"}
    assert found.turns[0] == "Rename the parser module."
    assert found.final_text == "Renamed it to furrow.py."
    spawned = trajectory(samples, "5a7c0d12", agent_id="a1b2c3d")
    assert [one.name for one in spawned.calls] == ["Read"]


def test_claude_code_corpus_is_told_as_its_lines_have_it(samples: sl.Corpus) -> None:
    """Ids, names and arguments of a session's main file, in the order of results, read with json alone."""
    for path in sorted((CORPUS / "claude_code").glob("*/*.jsonl"))[:8]:
        asked: dict[str, Any] = {}
        answered: list[str] = []
        lines = [json.loads(text) for text in path.read_bytes().split(b"\n") if text.strip()]
        for one in lines:
            content = one.get("message", {}).get("content", [])
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_use":
                    asked[block["id"]] = block
                elif block["type"] == "tool_result" and block["tool_use_id"] not in answered:
                    answered.append(block["tool_use_id"])
        found = trajectory(samples, path.stem)
        assert [(one.name, one.input) for one in found.calls] == [
            (asked[name]["name"], asked[name]["input"]) for name in answered if name in asked
        ]


def test_datalayer_sample(samples: sl.Corpus) -> None:
    """Questions are turns, the last answer the final text; arguments that are no JSON are their text."""
    found = trajectory(samples, "b7c1a94e-every-kind")
    assert found.turns == ("How deep is berth 7?", "And at spring tide?", "Write the new sheet.")
    assert found.final_text == "Stopped: the session may write no more."
    assert found.calls[0] == RecordedCall("read_chart", "{'sheet': 12}", "[Depth(8.5)]")
    assert all(one.batch is None and one.external is None for one in found.calls)


def test_what_was_taken_over_from_another_session_is_part_of_it(samples: sl.Corpus) -> None:
    """A clone begins with the turns of its original."""
    assert trajectory(samples, "5d20-clone-at-two").turns == ("Which pilot?", "Which licence?", "Is it valid?")


def test_sessions_against_themselves_are_empty(samples: sl.Corpus) -> None:
    """Whatever the format; every fourth session of the samples."""
    for session in samples.table("sessions")["session_id"].to_list()[::4]:
        calls = trajectory(samples, session).calls
        assert compare(calls, calls) == []


def test_session_without_entries_is_empty(samples: sl.Corpus) -> None:
    """A session only links tell of has done nothing."""
    assert trajectory(samples, "datalayer:team:exec-77") == Trajectory((), ())


def test_no_such_agent(samples: sl.Corpus) -> None:
    """The error names the agents there are."""
    with pytest.raises(UnknownName, match="no agent of gg:run-0007 named 'agent-9'; there are: root"):
        trajectory(samples, "run-0007", agent_id="agent-9")


def test_without_bodies_there_is_no_trajectory() -> None:
    """It holds what was said and asked."""
    corpus = sl.load(SAMPLES / "mecha" / "golden", bodies=False)
    with pytest.raises(QueryError, match="load with bodies=True"):
        trajectory(corpus, "20261003")
