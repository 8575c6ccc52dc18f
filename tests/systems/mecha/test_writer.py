"""Transcripts written as mecha writes them: sections 2 to 4 and 7, and their cases in 18.1, 18.2 and 18.9."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import TranscriptGone, UnknownName, WrongUse
from sessionlab.systems.mecha import (
    Config,
    Image,
    Legs,
    Message,
    Outcome,
    Store,
    Text,
    Thinking,
    Tokens,
    ToolResult,
    ToolUse,
    TranscriptWriter,
    load,
)
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import call, result, said
from tests.systems.mecha.transcripts import folded, records, words

GOLDEN = next((SAMPLES / "mecha/golden").glob("*.jsonl"))
BEGUN = datetime(2026, 11, 1, 7, 0, tzinfo=UTC)


def _begin(folder: Path, **members: Any) -> tuple[TranscriptWriter, Path]:
    given = {"provider": "shore", "model": "plover-3", "workspace": "/home/eve/shore", **members}
    writer = TranscriptWriter.create(Store(folder / "sessions"), **given)
    assert writer.path is not None
    return writer, writer.path


def test_the_golden_sample_written_anew(tmp_path: Path) -> None:
    """Section 20: told its records one by one, the writer gives the same bytes, up to the line that is torn."""
    whole = GOLDEN.read_bytes().split(b"\n")[:-1]
    first, *lines = [json.loads(each) for each in whole]
    writer, path = _begin(tmp_path, provider="anthropic", model="claude-opus-5", workspace="/home/ada/birds")
    path.write_bytes(whole[0] + b"\n")
    messages: list[dict[str, Any]] = []
    for record in lines:
        word = record.pop("record")
        if word == "message":
            writer.record(messages := [*messages, record])
        elif word == "taint":
            writer.checkpoint(**record)
        elif word == "summary":
            writer.summary(**record)
        elif word == "title":
            writer.rename(**record)
        elif word == "goal_anchor":
            writer.anchor(**record)
        else:
            {"config": writer.config, "outcome": writer.outcome}[word](record)
    assert path.read_bytes() == b"\n".join(whole) + b"\n"
    begun = datetime(2026, 10, 3, 8, 15, tzinfo=UTC)
    again, there = _begin(
        tmp_path, provider="anthropic", model="claude-opus-5", workspace="/home/ada/birds", title="count the birds",
        kind="run", clock=lambda: begun, random=_Drawn("5e1d20aa"),
    )  # fmt: skip
    assert (again.id, there.read_bytes()) == (first["id"], whole[0] + b"\n")


def test_an_appended_turn_is_one_message_record(tmp_path: Path) -> None:
    """18.1: on file [u], the run ends [u, a]: one more message, no rewrite."""
    writer, path = _begin(tmp_path)
    writer.record([said("user", "count")])
    writer.record([said("user", "count"), said("assistant", "seven")])
    writer.record([said("user", "count"), said("assistant", "seven")])
    assert words(path) == ["meta", "message", "message"]


def test_a_changed_head_is_a_rewrite(tmp_path: Path) -> None:
    """18.1: on file [u], the run ends [u + extra summary block, a]: a rewrite of the whole list."""
    writer, path = _begin(tmp_path)
    writer.record([said("user", "count")])
    final = [said("user", "count", "[Earlier turns were compacted] two files"), said("assistant", "seven")]
    writer.record(final)
    assert words(path) == ["meta", "message", "rewrite"]
    assert folded(records(path)) == final


def test_what_a_rewrite_replaced_is_on_file(tmp_path: Path) -> None:
    """18.1: one replaced state [u, a "…74656"], final [u "[summary…]", a "done"]: final loads, 74656 is in the file."""
    writer, path = _begin(tmp_path)
    writer.record([said("user", "count")])
    final = [said("user", "[summary] count"), said("assistant", "done")]
    writer.record(final, replaced=[[said("user", "count"), said("assistant", "the sum is 74656")]])
    assert words(path) == ["meta", "message", "message", "rewrite"]
    assert folded(records(path)) == final
    assert b"74656" in path.read_bytes()


def test_a_failed_turn_is_rolled_back_by_a_strict_prefix(tmp_path: Path) -> None:
    """Section 7 [B]: the list before it, as a rewrite; also down to nothing."""
    writer, path = _begin(tmp_path)
    writer.record([said("user", "one"), said("assistant", "1"), said("user", "two")])
    writer.record([said("user", "one"), said("assistant", "1")])
    writer.record([])
    assert [len(record["messages"]) for record in records(path)[-2:]] == [2, 0]


def test_a_list_changed_in_place_is_told_as_changed(tmp_path: Path) -> None:
    """The caller may keep one list and edit it: nothing of it is remembered but what it said."""
    writer, path = _begin(tmp_path)
    messages = [said("user", "count"), said("assistant", call("c1", path="a"))]
    writer.record(messages)
    messages[1]["content"][0]["input"]["path"] = "b"
    writer.record(messages)
    assert words(path)[-1] == "rewrite"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, 1.0), (1, True), ("a", "A"), ([], {}), (None, {}), ("\u2028", "\n"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_differs_in_json_differs_here(tmp_path: Path, before: object, after: object) -> None:
    """5.4: 1 and 1.0 differ, though Python has them equal; True and 1 too."""
    writer, path = _begin(tmp_path)
    writer.record([said("assistant", call("c1", value=before))])
    writer.record([said("assistant", call("c1", value=after))])
    assert words(path) == ["meta", "message", "rewrite"]


def test_what_is_the_same_in_json_is_the_same_here(tmp_path: Path) -> None:
    """5.4: keys in another order, defaults filled in, a struct in place of an object."""
    writer, path = _begin(tmp_path)
    writer.record([said("user", {"type": "tool_result", "tool_use_id": "c1", "content": "x"}, harness=False)])
    writer.record([said("user", result("c1", "x", is_error=False), tool_provenance={})])
    writer.record([Message("user", [ToolResult("c1", "x")])])
    writer.record([{"record": "message", **said("user", result("c1", "x"))}])
    assert words(path) == ["meta", "message"]


def test_a_message_of_every_block_to_the_byte(tmp_path: Path) -> None:
    """Section 5.2: type first, declared order, input keys sorted at every depth, no null, text unescaped."""
    writer, path = _begin(tmp_path)
    blocks = [
        Text("eight\u2028 “terns” \x1f/\t"), Thinking("hm"), Thinking("hm", "c2ln"),
        ToolUse("c1", "shell", {"z": [{"b": 1.5, "a": None}], "A": "é", "a": {}}),
        Image("image/png", "iVBORw0KGgo=", "nest.png"), Image("image/gif", "R0lG"),
    ]  # fmt: skip
    writer.record([Message("assistant", blocks, {"c2": True, "c1": False}, harness=True, planning={"steps": []})])
    assert path.read_bytes().split(b"\n")[1].decode() == (
        '{"record":"message","role":"assistant","content":[{"type":"text","text":"eight\u2028 “terns” \\u001f/\\t"},'
        '{"type":"thinking","text":"hm"},{"type":"thinking","text":"hm","signature":"c2ln"},'
        '{"type":"tool_use","id":"c1","name":"shell","input":{"A":"é","a":{},"z":[{"a":null,"b":1.5}]}},'
        '{"type":"image","media_type":"image/png","data":"iVBORw0KGgo=","source":"nest.png"},'
        '{"type":"image","media_type":"image/gif","data":"R0lG"}],'
        '"tool_provenance":{"c1":false,"c2":true},"harness":true,"planning":{"steps":[]}}'
    )


def test_records_that_say_nothing_to_the_byte(tmp_path: Path) -> None:
    """4.3 to 4.9: nulls of a configuration are written, those of an outcome are not."""
    writer, path = _begin(tmp_path)
    writer.config({})
    writer.outcome({})
    writer.checkpoint()
    writer.anchor(None)
    writer.config(Config(tools_hash="35dad1877a5a180c"))
    config, outcome, *rest = path.read_text().split("\n")[1:]
    assert config == (
        '{"record":"config","mecha_version":"","provider":"","model":"","workspace":"","system_prompt":null,"tools":[],'
        '"effort":null,"temperature":null,"seed":null,"thinking":false,"cache_prompt":false,"max_tokens":0,'
        '"max_turns":0,"max_output_tokens":null,"max_cost_usd":null,"compact_at_tokens":null,"compact_keep_recent":0,'
        '"permission_mode":"ask","trifecta":"block","sandbox":"none","sandbox_network":false}'
    )
    assert outcome == (
        '{"record":"outcome","turns":0,"usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,'
        '"cache_read_input_tokens":0},"usage_complete":false,"exhausted":false,"ended_on_failed_call":false,'
        '"tool_calls":0,"tool_errors":0,"tool_denied":0,"tool_staged":0,"malformed_tool_args":0,"blocked_sends":0,'
        '"compactions":0,"taint":{"private":false,"untrusted":false}}'
    )
    assert rest[:2] == ['{"record":"taint","private":false,"untrusted":false}', '{"record":"goal_anchor","goal":null}']
    assert rest[2].endswith('"sandbox_network":false,"tools_hash":"35dad1877a5a180c"}')
    assert rest[3:] == [""]


def test_what_follows_a_run(tmp_path: Path) -> None:
    """Section 7: checkpoint, anchor, summary, outcome; the taint is cumulative in both; no usage told, no summary."""
    writer, path = _begin(tmp_path)
    writer.anchor("task:t-terns")
    writer.checkpoint(private=True)
    writer.finish(Outcome(turns=3, usage=Tokens(10, 2, 0, 5), stop_cause="completed", taint=Legs(untrusted=True)))
    assert words(path)[3:] == ["taint", "goal_anchor", "summary", "outcome"]
    taint, goal, summary, outcome = records(path)[3:]
    assert (taint["private"], taint["untrusted"], outcome["taint"]) == (
        True,
        True,
        {"private": True, "untrusted": True},
    )
    assert (goal["goal"], summary["turns"], summary["usage"]) == ("task:t-terns", 3, outcome["usage"])
    writer.finish({"turns": 1})
    assert words(path)[7:] == ["taint", "goal_anchor", "outcome"]


def test_every_write_opens_and_closes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 2: one record per write, the file opened, written and closed for each."""
    writer, _ = _begin(tmp_path)
    done: list[str] = []
    opened, written, closed = os.open, os.write, os.close
    monkeypatch.setattr(os, "open", lambda *a, **k: (done.append("open"), opened(*a, **k))[1])
    monkeypatch.setattr(os, "write", lambda *a: (done.append(str(bytes(a[1]).count(b"\n"))), written(*a))[1])
    monkeypatch.setattr(os, "close", lambda *a: (done.append("close"), closed(*a))[1])
    writer.record([said("user", "one"), said("assistant", "two")])
    assert done == ["open", "1", "close"] * 2


def test_resuming_attaches_with_a_new_config(tmp_path: Path) -> None:
    """The list on file is known, the goal and the taint are kept, and nothing that stood there changes."""
    writer, path = _begin(tmp_path, config={"effort": "low"})
    writer.record([said("user", "count"), said("assistant", call("c1", n=1))])
    writer.checkpoint(untrusted=True)
    writer.anchor("project:shore")
    before = path.read_bytes()
    again = TranscriptWriter.resume(writer.id[:10], {"effort": "high"}, Store(path.parent))
    assert (again.goal, again.taint, again.id) == ("project:shore", Legs(untrusted=True), writer.id)
    assert again.resumed is not None
    again.record([*again.resumed.messages, said("user", "more")])
    again.finish({"taint": {"private": True, "untrusted": False}})
    data = path.read_bytes()
    assert data.startswith(before)
    tail = records(path)[6:]
    assert [record["record"] for record in tail] == ["config", "message", "taint", "goal_anchor", "outcome"]
    assert (tail[0]["effort"], tail[3]["goal"], tail[4]["taint"]["untrusted"]) == ("high", "project:shore", True)


def test_resuming_a_torn_transcript_loses_nothing_more(tmp_path: Path) -> None:
    """The line that was torn stays unreadable on its own; what is written behind it can be read."""
    writer, path = _begin(tmp_path)
    writer.record([said("user", "count")])
    with path.open("ab") as file:
        file.write(b'{"record":"message","role":"assi')
    again = TranscriptWriter.resume(writer.id, {"model": "m"}, Store(path.parent))
    again.record([said("user", "count"), said("assistant", "seven")])
    loaded = load(path)
    assert (len(loaded.messages), len(loaded.configs), loaded.unreadable) == (2, 1, 1)


def test_a_full_disk_costs_one_line_and_the_call_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written before counts; the line that was cut stays unreadable on its own."""
    writer, path = _begin(tmp_path)
    written, left = os.write, [1 << 20, 20, 0]

    def filling(file: int, content: bytes) -> int:
        if not left[0]:
            raise OSError(28, "No space left on device")
        return written(file, content[: left.pop(0)])

    said_so = [said("user", "count"), said("assistant", "seven")]
    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(OSError, match="No space left"):
        writer.record(said_so)
    monkeypatch.undo()
    writer.record(said_so)
    loaded = load(path)
    assert (len(loaded.messages), loaded.unreadable, path.read_bytes().count(b"count")) == (2, 1, 1)


def test_a_transcript_whose_file_has_gone_is_not_brought_back(tmp_path: Path) -> None:
    """18.9: a writer appends after a delete: error, file not recreated; nor is anything written where it went."""
    writer, path = _begin(tmp_path)
    aside = path.rename(f"{path}.forgetting")
    before = aside.read_bytes()
    for write in (
        lambda: writer.record([said("user", "hi")]),
        lambda: writer.rename("x"),
        lambda: writer.finish({}),
    ):
        with pytest.raises(TranscriptGone, match="expected the transcript to append to, found no file") as told:
            write()
        assert told.value.path == path
    assert (path.exists(), aside.read_bytes()) == (False, before)
    with pytest.raises(UnknownName, match="no session matching"):
        TranscriptWriter.resume(writer.id, {}, Store(path.parent))


def test_switched_off_nothing_is_written(tmp_path: Path) -> None:
    """`--no-session`: no directory, no file; what is wrong is still said."""
    store = Store(tmp_path / "sessions")
    writer = TranscriptWriter.create(store, provider="p", model="m", workspace="/", config={}, recording=False)
    writer.record([said("user", "hi")], replaced=[[said("user", "ho")]])
    writer.checkpoint(private=True)
    writer.rename("x")
    writer.finish({"turns": 1})
    with pytest.raises(WrongUse):
        writer.record([{"role": "system", "content": []}])
    assert (writer.path, writer.taint, list(tmp_path.iterdir())) == (None, Legs(private=True), [])
    on, path = _begin(tmp_path)
    before = path.read_bytes()
    off = TranscriptWriter.resume(on.id, {}, store, recording=False)
    off.record([said("user", "hi")])
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, path.stat().st_mtime_ns)


@pytest.mark.parametrize(
    "message",
    [
        said("system", "x"), said("user", 3), {"role": "user"}, said("user", {"type": "video"}), [], "hi",
        said("user", "\ud800"), said("assistant", call("c", x=float("nan"))), said("assistant", call("c", x={1: 2})),
        said("assistant", call("c", x=(1,))), said("assistant", call("c", x=b"b")), said("user", "x", mood="fine"),
        said("user", "x", tool_provenance={"c": 1}),
    ],
)  # fmt: skip
def test_a_message_that_mecha_could_not_read_is_refused(tmp_path: Path, message: Any) -> None:
    """What is written can be read: nothing of the list is written, and the next one is as if it had not been told."""
    writer, path = _begin(tmp_path)
    before = path.read_bytes()
    with pytest.raises(WrongUse, match="message: expected"):
        writer.record([said("user", "fine"), message])
    assert path.read_bytes() == before
    writer.record([said("user", "fine")])
    assert words(path) == ["meta", "message"]


def test_figures_that_mecha_could_not_read_are_refused(tmp_path: Path) -> None:
    """Section 3: unsigned, within 32 or 64 bits, no fraction, no NaN; nothing is written, not even what is before."""
    writer, path = _begin(tmp_path)
    before = path.read_bytes()
    for members in ({"turns": -1}, {"turns": 2**32}, {"turns": 1.5}, {"cost_usd": float("nan")}, {"usage": {}}):
        with pytest.raises(WrongUse, match="outcome: expected"):
            writer.finish(members)
    with pytest.raises(WrongUse, match="config"):
        writer.config({"seed": 2**64})
    with pytest.raises(WrongUse, match="config"):
        writer.config(Config(temperature=float("inf")))
    with pytest.raises(WrongUse, match="summary"):
        writer.summary(Tokens(1, 1, 1, 1), turns=-1)
    assert path.read_bytes() == before


class _Drawn:
    """Random parts of ids, as told."""

    def __init__(self, *drawn: str) -> None:
        from uuid import UUID

        self.left = [UUID(each + "0" * 24) for each in drawn]

    def __call__(self) -> Any:
        return self.left.pop(0)


def test_ids_are_the_time_and_a_random_part(tmp_path: Path, any_now: datetime) -> None:
    """16.1: UTC to the second, 8 hex digits; two that begin in one second differ; a taken one is drawn anew."""
    zone = any_now.astimezone(tz=None)
    drawn = _Drawn("0a0b0c0d", "0a0b0c0d", "ffffffff")
    ids = [_begin(tmp_path, clock=lambda: zone, random=drawn)[0].id for _ in range(2)]
    stamp = "20261130T120000" if any_now.year == 2026 else "20280104T120000"
    assert ids == [f"{stamp}-0a0b0c0d", f"{stamp}-ffffffff"]
    with pytest.raises(FileExistsError):
        _begin(tmp_path, clock=lambda: zone, random=_Drawn(*["ffffffff"] * 8))


@pytest.mark.parametrize(
    ("when", "text"),
    [
        (BEGUN, "2026-11-01T07:00:00Z"),
        (BEGUN + timedelta(milliseconds=40), "2026-11-01T07:00:00.040Z"),
        (BEGUN + timedelta(microseconds=3), "2026-11-01T07:00:00.000003Z"),
    ],
)
def test_the_time_of_a_header(tmp_path: Path, when: datetime, text: str) -> None:
    """Section 3: UTC with Z and 0, 3 or 6 digits of a second."""
    _, path = _begin(tmp_path, clock=lambda: when)
    assert records(path)[0]["created_at"] == text
    assert Store(path.parent).listing().sessions[0].created_at == when
