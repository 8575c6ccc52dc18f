"""Replays over real HTTP: each of the four divergences in each of the three modes, by both interfaces (12.3, 12.4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import ModelFailed
from sessionlab.replay.driver import replay
from sessionlab.replay.endpoints import Endpoint
from sessionlab.replay.report import Report, report
from sessionlab.replay.surface import Tool
from tests.replay.model_server import Fault, Hang, Say, Server, client, serving
from tests.replay.sessions_to_replay import NAMES, TWO_TURNS, planned, transcript

READ = ("fs_read", {"path": "a.md"})
LIST = ("fs_list", {"path": "."})
FETCH = ("web_fetch", {"url": "http://news"})
SCRIPTS: dict[str, tuple[Say, ...]] = {
    "none": (Say(calls=(LIST, READ)), Say("P."), Say(calls=(FETCH,)), Say("C.")),
    "tool": (Say(calls=(LIST, FETCH)), Say("P."), Say("C.")),
    "arguments": (Say(calls=(LIST, ("fs_read", {"path": "./a.md"}))), Say("P."), Say(calls=(FETCH,)), Say("C.")),
    "extra": (Say(calls=(LIST, READ)), Say("P."), Say(calls=(FETCH,)), Say(calls=(LIST,)), Say("C.")),
    "missing": (Say(calls=(LIST, READ)), Say("P."), Say("C.")),
}
EXPECTED: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "tool": [{"kind": "tool", "index": 1, "expected": "fs_read", "actual": "web_fetch"}],
    "arguments": [
        {"kind": "arguments", "index": 1, "tool": "fs_read", "expected": READ[1], "actual": {"path": "./a.md"}}
    ],
    "extra": [{"kind": "extra", "index": 3, "actual": "fs_list"}],
    "missing": [{"kind": "missing", "index": 2, "expected": "web_fetch"}],
}
STOPS = {"tool", "extra"}
APIS = ("openai", "anthropic")


@pytest.fixture(scope="module")
def started() -> Iterator[Server]:
    """One server for all tests here."""
    with serving() as found:
        yield found


@pytest.fixture
def server(started: Server) -> Server:
    """The server, told nothing yet by this test."""
    started.begin()
    return started


def asked_of(server: Server, api: Any, **more: Any) -> Endpoint:
    """A model at the server."""
    return client(api, server.v1 if api == "openai" else server.url, **{"retries": 0, **more})


def real_tools() -> tuple[tuple[Tool, ...], list[str]]:
    """Today's tools, and the names of those that were called."""
    called: list[str] = []

    def named(name: str) -> Tool:
        return Tool(name, run=lambda _: called.append(name) or f"{name} for real")

    return tuple(named(name) for name in NAMES), called


def driven(tmp_path: Path, server: Server, api: str, mode: str, **setup: Any) -> tuple[Report, list[str]]:
    """The report of a replay at the server, and which real tools ran."""
    tools, called = real_tools()
    model = asked_of(server, api)
    more = {"tools": tools, "permission_mode": "allow", **setup}
    plan = planned(transcript(tmp_path, *TWO_TURNS), model, mode=mode, **more)
    return report(plan, replay(plan, model)), called


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("mode", ["stop", "error", "live"])
@pytest.mark.parametrize("kind", list(SCRIPTS))
def test_each_divergence_in_each_mode(tmp_path: Path, server: Server, api: str, mode: str, kind: str) -> None:
    """12.3 and 12.4: what is reported, whether it ends there, which tools run for real, the exit status."""
    server.script = list(SCRIPTS[kind])
    told, called = driven(tmp_path, server, api, mode)
    assert told.as_dict()["divergences"] == EXPECTED[kind]
    assert told.stopped_early is (kind in STOPS and mode != "live")
    assert called == ({"tool": ["web_fetch"], "extra": ["fs_list"]}.get(kind, []) if mode == "live" else [])
    assert told.exit_code == (1 if mode == "error" and kind != "none" else 0)
    assert told.turns == (1 if kind == "tool" and mode != "live" else 2)
    assert bool(server.script) is told.stopped_early


@pytest.mark.parametrize("api", APIS)
def test_parallel_calls_reordered_inside_a_batch_keep_their_own_results(
    tmp_path: Path, server: Server, api: str
) -> None:
    """Each result goes back under the id of its own call, in one message, whatever the order."""
    server.script = [Say(calls=(READ, LIST)), *SCRIPTS["none"][1:]]
    told, _ = driven(tmp_path, server, api, "error")
    assert (told.divergences, told.exit_code) == ((), 0)
    sent = server.asked[1].body["messages"]
    if api == "openai":
        found = {one["tool_call_id"]: one["content"] for one in sent if one["role"] == "tool"}
    else:
        found = {block["tool_use_id"]: block["content"] for block in sent[-1]["content"]}
    assert found == {"call-1": "plover", "call-2": "a.md"}


@pytest.mark.parametrize("api", APIS)
def test_what_the_provider_counts_is_what_the_report_says(tmp_path: Path, server: Server, api: str) -> None:
    """Disjoint tokens by both interfaces: 4 replies of 10 fresh, 3 cached and 5 output tokens each."""
    server.script = [said._replace(cached=3) for said in SCRIPTS["none"]]
    told, _ = driven(tmp_path, server, api, "stop")
    assert told.as_dict()["outcome"]["usage"] == {  # type: ignore[index]
        "input_tokens": 40, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 12,
    }  # fmt: skip
    assert told.outcome is not None
    assert told.outcome.usage_complete


def test_another_model_than_the_recorded_one_is_asked(tmp_path: Path, server: Server) -> None:
    """-m: the model that is asked is the one in the report and in every request."""
    from sessionlab.replay import rebuilding

    server.script = list(SCRIPTS["none"])
    model = asked_of(server, "openai")
    setup = rebuilding.Setup(tools=real_tools()[0])
    recording = transcript(tmp_path, *TWO_TURNS)
    plan = rebuilding.plan(recording, model, provider="dune", model_name="tern-1", setup=setup)
    told = report(plan, replay(plan, model))
    assert {one.body["model"] for one in server.asked} == {"tern-1"}
    assert (told.provider, told.model, told.divergences) == ("dune", "tern-1", ())


def test_a_seed_and_a_temperature_reach_the_server(tmp_path: Path, server: Server) -> None:
    """Today's sampler, not the recorded one."""
    server.script = list(SCRIPTS["none"])
    driven(tmp_path, server, "openai", "stop", temperature=0.25, seed=11)
    assert {(one.body["temperature"], one.body["seed"]) for one in server.asked} == {(0.25, 11)}


def test_anthropic_takes_no_seed_and_a_note_says_so(tmp_path: Path, server: Server) -> None:
    """A seed that cannot be told is not sent, and said."""
    server.script = list(SCRIPTS["none"])
    told, _ = driven(tmp_path, server, "anthropic", "stop", temperature=0.0, seed=11)
    assert all("seed" not in one.body for one in server.asked)
    assert {one.body["temperature"] for one in server.asked} == {0.0}
    assert any("takes no seed" in note for note in told.notes)


def test_arguments_that_are_no_json_are_counted_and_never_equal(tmp_path: Path, server: Server) -> None:
    """4.4: malformed_tool_args; the recorded call answers, as by other arguments."""
    server.script = [Say(calls=(("fs_list", None),), raw_arguments='{"path": '), Say("P."), Say("C.")]
    told, _ = driven(tmp_path, server, "openai", "stop")
    assert told.outcome is not None
    assert told.outcome.malformed_tool_args == 1
    [first, *_] = told.as_dict()["seen"]  # type: ignore[misc]
    assert (first["kind"], first["actual"]) == ("arguments", '{"path": ')


@pytest.mark.parametrize("api", APIS)
def test_a_failure_in_the_middle_is_a_failure_of_the_replay(tmp_path: Path, server: Server, api: str) -> None:
    """No report is made of half a replay."""
    server.script = [SCRIPTS["none"][0], Fault(400)]
    with pytest.raises(ModelFailed) as failed:
        driven(tmp_path, server, api, "stop")
    assert (failed.value.kind, failed.value.status) == ("fatal", 400)


@pytest.mark.parametrize("api", APIS)
def test_a_server_that_does_not_answer_in_time_is_a_failure(tmp_path: Path, server: Server, api: str) -> None:
    """A time-out is one, and the message says how long was waited and where."""
    server.script = [Hang()]
    model = asked_of(server, api, timeout_s=0.1)
    plan = planned(transcript(tmp_path, *TWO_TURNS), model)
    with pytest.raises(ModelFailed, match=r"did not answer within 0\.1 s") as failed:
        replay(plan, model)
    assert failed.value.kind == "timeout"
