"""Five hundred invented sessions, recorded, assembled, verified and compared with what went in."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionlab.systems import gg
from tests.systems.gg.simulated import LIMITS, OPERATIONS, Remembered, Session, address, canonical

KINDS = {"model_io", "model_error", "tool_result", "prompt_frame", "shell", "git", "cancel_probe", "clock"}
ORIGINS = {"root", "spawn", "succession", "issue_attempt", "reviewer", "merge"}
ENDS = ("finish", "finish", "finish", "bad_body", "killed", "torn")
STOPS = {None, "byte_ceiling", "write_failed", "session_killed", "corrupt_journal"}


class Plan:
    """What a session does, how small its ceilings are, and how it ends."""

    def __init__(self, operations: list[str], seed: int, stream: int, tool: int, most: int | None, end: str) -> None:
        self.operations, self.seed, self.stream, self.tool, self.most, self.end = (
            operations, seed, stream, tool, most, end,
        )  # fmt: skip

    def __repr__(self) -> str:
        """All of it, for a failing example."""
        return f"Plan({self.operations}, {self.seed}, {self.stream}, {self.tool}, {self.most}, {self.end!r})"


PLANS = st.builds(
    Plan,
    st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=40),
    st.integers(0, 2**32),
    st.sampled_from((8, 32, 32_768)),
    st.sampled_from((16, 64, 262_144)),
    st.one_of(st.none(), st.none(), st.integers(1, 20_000)),
    st.sampled_from(ENDS),
)


def recorded(plan: Plan, workspace: Path) -> Session:
    """Carry the plan out; the journal then stands in ``workspace``."""
    session = Session(workspace, plan.seed, stream_ceiling=plan.stream, tool_ceiling=plan.tool, max_bytes=plan.most)
    for operation in plan.operations:
        session.do(operation)
    if plan.end == "bad_body":
        session.root.capture.model_io([{"role": "user", "content": object()}], {})
    session.end_agent(session.root, "done", None)
    session.writer.finish()
    journal = workspace / gg.JOURNAL
    if plan.end in {"killed", "torn"}:
        whole = journal.read_bytes()
        end = whole.rindex(b"\n", 0, -1) + 1 if whole.count(b"\n") > 1 else 0
        cut = end if plan.end == "killed" else whole.rfind(b"\n", 0, end - 1) + 1 + (end - 1) % 7
        journal.write_bytes(whole[:cut])
    return session


def test_what_went_in_is_read_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Every kind, origin, ceiling and stop is met; each record verifies and resolves to what was recorded."""
    caplog.set_level("ERROR", "sessionlab.gg")  # hundreds of stops are told of
    reached: Counter[tuple[str, object]] = Counter()
    number = itertools.count()

    @settings(max_examples=520, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(PLANS)
    def holds(plan: Plan) -> None:
        workspace = tmp_path / str(next(number))
        try:
            check(plan, workspace, reached)
        finally:
            shutil.rmtree(workspace, ignore_errors=True)

    holds()
    for what, all_of in (("kind", KINDS), ("origin", ORIGINS), ("limit", set(LIMITS)), ("stop", STOPS)):
        assert {value for name, value in reached if name == what} == all_of
    assert reached["clip", True]
    assert reached["image", True]
    assert sum(count for (name, _), count in reached.items() if name == "stop") >= 400


def check(plan: Plan, workspace: Path, reached: Counter[tuple[str, object]]) -> None:
    """Record, assemble, verify, compare."""
    session = recorded(plan, workspace)
    record = workspace / "out" / gg.RECORD
    try:
        done = gg.assemble(workspace / gg.JOURNAL, record)
    except gg.JournalRefused as refusal:  # the header itself did not fit, or was torn away
        assert refusal.kind == "no_header"  # noqa: PT017 (most sessions raise nothing)
        assert plan.most is not None or plan.end == "torn"
        return
    assert faults(record) == []
    document = json.loads(gzip.decompress(record.read_bytes()))
    entries, reason = document["entries"], None if done.truncation is None else done.truncation.reason
    reached["stop", reason] += 1
    reached.update(("kind", entry["type"]) for entry in entries)
    reached.update(("origin", agent["origin"]["type"]) for agent in document["agents"])
    reached.update(("limit", agent["limitHit"]["limit"]) for agent in document["agents"] if "limitHit" in agent)
    reached["clip", True] += bool(document["clips"])
    assert [entry["seq"] for entry in entries] == list(range(len(entries)))
    if reason is None:
        assert len(entries) == len(session.entries)
        told = {agent["agentId"]: agent for agent in document["agents"]}
        assert list(told) == list(session.origins)
        for name, (status, limit) in session.statuses.items():
            assert told[name].get("terminalStatus") == status
            assert told[name].get("limitHit", {}).get("limit") == limit
    if plan.most is not None:
        lines = (workspace / gg.JOURNAL).read_bytes().splitlines(keepends=True)
        assert sum(len(line) for line in lines if not line.startswith(b'{"type":"end"')) <= plan.most
    pools = Pools(document)
    for entry, remembered in zip(entries, session.entries, strict=False):
        compare(entry, remembered, pools)
    reached["image", True] += any("images" in message["body"] for message in document["messages"])


def faults(record: Path) -> list[gg.Finding]:
    """The faults found in a record."""
    return [finding for finding in gg.verify(record).findings if finding.weight == "fault"]


class Pools:
    """The pools of a document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.messages, self.toolsets, self.texts = document["messages"], document["toolsets"], document["texts"]
        self.clips = {clip["text"]: clip for clip in document["clips"]}

    def message(self, index: int, body: dict[str, Any]) -> None:
        """The message is this body: addressed whole, stored without payloads."""
        stored = self.messages[index]
        assert stored["id"] == address(body)
        reduced = json.loads(canonical(body))
        for image in reduced.get("images", []):
            del image["dataBase64"]
        assert stored["body"] == reduced

    def text(self, index: int, text: str) -> None:
        """The text is this one, or a tail of it that says so."""
        data = text.encode()
        if index in self.clips:
            assert self.clips[index] == {"text": index, "originalBytes": len(data), "originalId": address(data)}
            assert data.endswith(self.texts[index].encode())
            assert len(self.texts[index].encode()) < len(data)
        else:
            assert self.texts[index] == text


def compare(entry: dict[str, Any], remembered: Remembered, pools: Pools) -> None:
    """The entry resolves to what was recorded."""
    told = remembered.told
    assert (entry["agentId"], entry["type"]) == (remembered.agent, remembered.kind)
    match entry["type"]:
        case "model_io" | "model_error":
            request = entry["request"]
            assert (request["role"], request["shape"]) == (told["role"], told["shape"])
            assert len(request["messages"]) == len(told["messages"])
            for index, body in zip(request["messages"], told["messages"], strict=True):
                pools.message(index, body)
            assert ("toolset" in request) == (told["tools"] is not None)
            if told["tools"] is not None:
                assert pools.toolsets[request["toolset"]] == {"id": address(told["tools"]), "tools": told["tools"]}
            if entry["type"] == "model_io":
                assert entry["response"] == told["response"]
                assert entry.get("durationMs") == told["durationMs"]
            else:
                assert entry["error"]["kind"] == told["error"]
        case "prompt_frame":
            assert [item["turn"] for item in entry["items"]] == told["turns"]
            for item, body in zip(entry["items"], told["messages"], strict=True):
                pools.message(item["message"], body)
                assert ("region" in item) == ("label" in item)
        case "tool_result":
            outcome = entry["outcome"]
            assert (entry["call"]["id"], outcome["ok"]) == (told["id"], told["ok"])
            pools.text(outcome["output"], told["output"])
            pools.text(outcome["dataText"], told["lifted"])
            assert outcome["data"]["data"][told["field"]] == ""
            assert ("summary" in outcome) == (told["summary"] is not None)
            assert len(outcome.get("images", [])) == told["images"]
            assert outcome.get("failure") == told["failure"]
        case "shell" | "git":
            assert entry.get("origin") == told.get("origin")
            pools.text(entry["command"]["stdout"], told["stdout"])
            pools.text(entry["command"]["stderr"], told["stderr"])
            assert entry["command"]["exitCode"] == told["exitCode"]
        case _:
            payload = {name: value for name, value in entry.items() if name not in {"agentId", "seq", "type"}}
            assert payload == {name: value for name, value in told.items() if value is not None}
