"""The recorder, C1 to C11 and C15 to C23 of section 8.4: what happened in, the lines of its journal out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessionlab.systems import gg
from tests.systems.gg.journals import (
    CAPABILITIES,
    JOURNAL,
    address,
    image,
    lines_of,
    of_type,
    recorded,
    root_of,
    writer,
    written,
)

SYSTEM = {"role": "system", "content": "you are gg"}
USER = {"role": "user", "content": "build it"}
TOOLS = [{"name": "shell", "description": "Run.", "parameters": {"type": "object"}}]
SEEN = gg.Seed(prompt="p", model_modalities={"gale/tern-1": gg.Modalities(vision=True)})


def _said(role: str, number: int) -> dict[str, Any]:
    return {"role": role, "content": f"{role} {number}"}


def test_c01_a_new_recorder(tmp_path: Path) -> None:
    """C1: the header stands first with id, routing key and version, the end last with its one entry."""
    key = "k3v9q1x7m2c5t8w0b4n6z1aa"
    lines = recorded(tmp_path, lambda root: root.clock(elapsed_ms=1), routing_key=key)
    assert lines[0] == {
        "type": "header",
        "formatVersion": 1,
        "sessionId": "run-1",
        "routingKey": key,
        "capabilitySet": CAPABILITIES,
        "recorder": {"ggVersion": "0.7.0"},
    }
    assert [line["type"] for line in lines] == ["header", "seed", "agent", "entry", "end"]
    assert lines[-1] == {"type": "end", "entries": 1}


def test_c02_finished_twice(tmp_path: Path) -> None:
    """C2: finishing again writes nothing and tells the same."""
    recorder = writer(tmp_path)
    root_of(recorder).clock(elapsed_ms=1)
    first = recorder.finish()
    whole = written(tmp_path)
    assert recorder.finish() == first
    assert (first.entries, first.truncation, first.landed) == (1, None, True)
    assert written(tmp_path) == whole
    assert whole.count(b'{"type":"end"') == 1


def test_c03_one_count_over_all_agents(tmp_path: Path) -> None:
    """C3: entries of several agents are numbered by one counter, in the order they happened."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    other = recorder.agent("agent-0", profile_id="root", profile="Root", origin=gg.Spawn(parent="root", ordinal=0))
    root.clock(elapsed_ms=1)
    other.clock(elapsed_ms=2)
    root.clock(elapsed_ms=3)
    recorder.finish()
    entries = of_type(lines_of(written(tmp_path)), "entry")
    assert [(made["seq"], made["agentId"]) for made in entries] == [(0, "root"), (1, "agent-0"), (2, "root")]


def test_c04_a_provider_refuses_an_image(tmp_path: Path) -> None:
    """C4: a second seed says that the model sees nothing, before the closing row; the rest of it is the first."""
    recorder = writer(tmp_path, seed=SEEN)
    root = root_of(recorder)
    recorder.deny_vision("gale/tern-1")
    root.clock(elapsed_ms=1)
    recorder.deny_vision("gale/tern-1")
    root.end("done")
    recorder.finish()
    lines = lines_of(written(tmp_path))
    assert of_type(lines, "seed") == [
        {"prompt": "p", "modelModalities": {"gale/tern-1": {"vision": vision}}} for vision in (True, False)
    ]
    assert [line["type"] for line in lines] == ["header", "seed", "agent", "entry", "seed", "agent", "end"]


def test_c04_a_run_that_ends_without_a_closing_row(tmp_path: Path) -> None:
    """C4: the second seed is written at the end of the run where root has no closing row."""
    recorder = writer(tmp_path, seed=SEEN)
    recorder.deny_vision("gale/tern-1")
    recorder.finish()
    assert [line["type"] for line in lines_of(written(tmp_path))] == ["header", "seed", "seed", "end"]


@pytest.mark.parametrize("denied", [(), ("gale/tern-1",)], ids=["nothing-denied", "denied-what-was-never-there"])
def test_c04_no_second_seed_without_a_change(tmp_path: Path, denied: tuple[str, ...]) -> None:
    """C4, section 1.3: otherwise there is one seed: where nothing was denied, or nothing that the seed did not say."""
    blind = gg.Seed(prompt="p", model_modalities={"gale/tern-1": gg.Modalities(vision=False)})
    recorder = writer(tmp_path, seed=blind)
    for model in denied:
        recorder.deny_vision(model)
    root_of(recorder).end("done")
    recorder.finish()
    assert len(of_type(lines_of(written(tmp_path)), "seed")) == 1


def test_c05_an_agent_is_born_and_ends(tmp_path: Path) -> None:
    """C5: two rows for the id; the second says how it ended and which ceiling stopped it."""
    recorder = writer(tmp_path)
    origin = gg.Spawn(parent="root", ordinal=0)
    born = recorder.agent("agent-0", profile_id="helper", profile="Helper", origin=origin)
    born.end(
        "failed",
        limit_hit=gg.LimitHit(
            limit="error_rate", threshold=0.5, observed=0.625, turns=14, agent_id="agent-0", window=10
        ),
    )
    recorder.finish()
    row = {
        "agentId": "agent-0",
        "profileId": "helper",
        "profile": "Helper",
        "origin": {"type": "spawn", "parent": "root", "ordinal": 0},
    }
    hit = {
        "limit": "error_rate",
        "threshold": 0.5,
        "observed": 0.625,
        "turns": 14,
        "agentId": "agent-0",
        "window": 10,
    }
    rows = of_type(lines_of(written(tmp_path)), "agent")
    assert rows == [row, {**row, "terminalStatus": "failed", "limitHit": hit}]


@pytest.mark.parametrize("handles", [False, True], ids=["bodies", "handles"])
def test_c06_a_growing_conversation(tmp_path: Path, handles: bool) -> None:
    """C6: three calls of a growing conversation write each message once, the toolset once, and refer to all."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    bodies: list[Any] = [SYSTEM, *(_said(("user", "assistant")[n % 2], n) for n in range(4))]
    sent = [recorder.message(body) for body in bodies] if handles else bodies
    for length in (1, 3, 5):
        root.model_io(sent[:length], {"text": "on it"}, tools=TOOLS)
    recorder.finish()
    lines = lines_of(written(tmp_path))
    assert [line["index"] for line in of_type(lines, "message")] == [0, 1, 2, 3, 4]
    assert [line["message"] for line in of_type(lines, "message")] == [
        {"id": address(body), "body": body} for body in bodies
    ]
    assert len(of_type(lines, "toolset")) == 1
    requests = [made["request"] for made in of_type(lines, "entry")]
    assert requests[2] == {"role": "agent", "shape": "complete", "messages": [0, 1, 2, 3, 4], "toolset": 0}
    kinds = ["message", "toolset", "entry", "message", "message", "entry", "message", "message", "entry"]
    assert [line["type"] for line in lines][3:-1] == kinds


@pytest.mark.parametrize("tools", [None, []], ids=["none", "empty"])
def test_c07_no_tools(tmp_path: Path, tools: list[Any] | None) -> None:
    """C7: an empty tool list is no toolset."""
    lines = recorded(tmp_path, lambda root: root.model_io([USER], {"text": "on it"}, tools=tools))
    (made,) = of_type(lines, "entry")
    assert made["request"] == {"role": "agent", "shape": "complete", "messages": [0]}
    assert of_type(lines, "toolset") == []


def test_c08_output_and_summary(tmp_path: Path) -> None:
    """C8: output and summary of a tool are texts 0 and 1; what it has not is not written."""
    lines = recorded(
        tmp_path, lambda root: root.tool_result("c1", "look", {"b": 1, "a": 2}, output="seen", summary="looked")
    )
    (made,) = of_type(lines, "entry")
    assert made["call"] == {"id": "c1", "name": "look", "arguments": {"a": 2, "b": 1}}
    assert list(made["call"]["arguments"]) == ["a", "b"]
    assert made["outcome"] == {"ok": True, "output": 0, "summary": 1}
    assert [line["text"] for line in of_type(lines, "text")] == ["seen", "looked"]


def test_c08_a_tool_that_failed(tmp_path: Path) -> None:
    """C8, section 1.10: a refused write: its class of failure, the images it returned, no summary."""
    lines = recorded(
        tmp_path,
        lambda root: root.tool_result(
            "program:7",
            "write_file",
            {"path": "/etc/x", "contents": "."},
            ok=False,
            output="no",
            images=[gg.Image(media_type="image/png", bytes=2048)],
            failure="refused",
        ),
    )
    (made,) = of_type(lines, "entry")
    assert made["outcome"] == {
        "ok": False,
        "output": 0,
        "images": [{"mediaType": "image/png", "bytes": 2048}],
        "failure": "refused",
    }
    assert list(made["outcome"]) == ["ok", "output", "images", "failure"]


def _window() -> list[gg.WindowItem]:
    view = {"role": "user", "content": "fn main() {}"}
    used = {"role": "system", "content": "12% used"}
    return [
        gg.WindowItem(message=SYSTEM, slot="system", source="system", retention="pinned", turn=0),
        gg.WindowItem(message=USER, slot="thread", source="user_prompt", retention="pinned", turn=0),
        gg.WindowItem(
            message=view,
            slot="thread",
            source="file_view",
            retention="ephemeral",
            turn=2,
            label="src/main.rs",
            region=gg.Region(offset=40, limit=25),
        ),
        gg.WindowItem(message=used, slot="context_usage", source="system", retention="pinned", turn=2),
    ]


def test_c09_a_frame(tmp_path: Path) -> None:
    """C9: a frame of four items: slot, retention, turn, and the region of the file view."""
    lines = recorded(tmp_path, lambda root: root.prompt_frame(_window()))
    (made,) = of_type(lines, "entry")
    assert [item["message"] for item in made["items"]] == [0, 1, 2, 3]
    assert [item["slot"] for item in made["items"]] == ["system", "thread", "thread", "context_usage"]
    assert [item["source"] for item in made["items"]] == ["system", "user_prompt", "file_view", "system"]
    assert [item["retention"] for item in made["items"]] == ["pinned", "pinned", "ephemeral", "pinned"]
    assert [item["turn"] for item in made["items"]] == [0, 0, 2, 2]
    assert [(item.get("label"), item.get("region")) for item in made["items"]] == [
        (None, None),
        (None, None),
        ("src/main.rs", {"offset": 40, "limit": 25}),
        (None, None),
    ]
    assert list(made["items"][2]) == ["message", "slot", "source", "retention", "turn", "label", "region"]


def test_c10_a_frame_after_its_call(tmp_path: Path) -> None:
    """C10: a frame of what was just sent writes no message again, and has the next number."""

    def play(root: gg.AgentCapture) -> None:
        root.model_io([item.message for item in _window()], {"text": "on it"})
        root.prompt_frame(_window())

    lines = recorded(tmp_path, play)
    assert [line["type"] for line in lines][3:] == ["message"] * 4 + ["entry", "entry", "end"]
    called, frame = of_type(lines, "entry")
    assert (frame["type"], frame["seq"]) == ("prompt_frame", called["seq"] + 1)
    assert [item["message"] for item in frame["items"]] == called["request"]["messages"] == [0, 1, 2, 3]


def test_c11_a_view_the_agent_composed(tmp_path: Path) -> None:
    """C11: a text view is an item of that source, with its label and no region."""
    item = gg.WindowItem(message=USER, slot="thread", source="text_view", retention="ephemeral", turn=3, label="notes")
    (made,) = of_type(recorded(tmp_path, lambda root: root.prompt_frame([item])), "entry")
    assert made["items"] == [
        {"message": 0, "slot": "thread", "source": "text_view", "retention": "ephemeral", "turn": 3, "label": "notes"}
    ]


FAILURES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "missing_api_key": ({}, {}),
    "fatal": ({"status": 402}, {"status": 402}),
    "retry_exhausted": ({"attempts": 4}, {"attempts": 4}),
    "vision_unsupported": ({"model_id": "gale/tern-1"}, {"modelId": "gale/tern-1"}),
    "parse": ({}, {}),
    "provider_mismatch": ({}, {}),
    "response_loop": ({"attempts": 3}, {"attempts": 3}),
    "timeout": ({}, {}),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_c15_every_class_of_error(tmp_path: Path, kind: Any) -> None:
    """C15: each of the eight classes is written under its own word, with what belongs to it and no more."""
    told, expected = FAILURES[kind]
    failure = gg.ModelFailure(kind=kind, message=f"about {kind}", **told)
    lines = recorded(tmp_path, lambda root: root.model_error([USER], failure, tools=TOOLS, duration_ms=301544))
    (made,) = of_type(lines, "entry")
    assert made == {
        "agentId": "root",
        "seq": 0,
        "type": "model_error",
        "request": {"role": "agent", "shape": "complete", "messages": [0], "toolset": 0},
        "error": {"kind": kind, "message": f"about {kind}", **expected},
        "durationMs": 301544,
    }


def test_c16_a_compaction_between_two_turns(tmp_path: Path) -> None:
    """C16: agent, compaction, agent: each call under its role."""

    def play(root: gg.AgentCapture) -> None:
        root.model_io([SYSTEM, USER], {"text": "on it"})
        root.model_io([SYSTEM, USER], {"text": "in short"}, role="compaction")
        root.model_io([SYSTEM], {"text": "and on"})

    entries = of_type(recorded(tmp_path, play), "entry")
    assert [made["request"]["role"] for made in entries] == ["agent", "compaction", "agent"]
    assert [made["request"]["messages"] for made in entries] == [[0, 1], [0, 1], [0]]


def test_c17_a_refused_image_then_success(tmp_path: Path) -> None:
    """C17: the refusal, the call without the image, and the frame, in that order."""

    def play(root: gg.AgentCapture) -> None:
        refused = gg.ModelFailure(kind="vision_unsupported", message="no", model_id="gale/tern-1")
        root.model_error([SYSTEM, {**USER, "images": [image("QUJD")]}], refused)
        root.model_io([SYSTEM, USER], {"text": "on it"})
        root.prompt_frame(_window()[:2])

    lines = recorded(tmp_path, play)
    entries = of_type(lines, "entry")
    assert [made["type"] for made in entries] == ["model_error", "model_io", "prompt_frame"]
    assert [made["request"]["messages"] for made in entries[:2]] == [[0, 1], [0, 2]]
    assert [item["message"] for item in entries[2]["items"]] == [0, 2]
    assert "QUJD" not in (tmp_path / JOURNAL).read_text()


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        (gg.Relative("web/app"), {"type": "relative", "path": "web/app"}),
        (gg.Workspace(), {"type": "workspace"}),
        (gg.Absolute("/usr/lib"), {"type": "absolute", "path": "/usr/lib"}),
    ],
    ids=["subdirectory", "workspace-root", "outside"],
)
def test_c21_where_a_command_ran(tmp_path: Path, cwd: Any, expected: dict[str, str]) -> None:
    """C21: a subdirectory is relative, the root is the workspace, what lies outside is absolute; for git as well."""

    def play(root: gg.AgentCapture) -> None:
        root.shell("ls", origin="program", cwd=cwd, stdout="a\n")
        root.git("git status", cwd=cwd)

    shell, git = of_type(recorded(tmp_path, play), "entry")
    assert (shell["origin"], shell["command"]["cwd"], git["command"]["cwd"]) == ("program", expected, expected)
    assert [shell["command"]["stdout"], shell["command"]["stderr"]] == [0, 1]


def test_c22_a_command_that_cannot_be_launched(tmp_path: Path) -> None:
    """C22: such a command has the exit code -1."""
    lines = recorded(tmp_path, lambda root: root.shell("nosuch", origin="hook", exit_code=-1, stderr="not found"))
    (made,) = of_type(lines, "entry")
    assert (made["origin"], made["command"]["exitCode"]) == ("hook", -1)


def test_c23_a_clock_without_a_ceiling(tmp_path: Path) -> None:
    """C23: without a ceiling there is nothing remaining to tell."""

    def play(root: gg.AgentCapture) -> None:
        root.clock(elapsed_ms=61250)
        root.clock(elapsed_ms=61251, remaining_ms=538750)

    assert of_type(recorded(tmp_path, play), "entry") == [
        {"agentId": "root", "seq": 0, "type": "clock", "elapsedMs": 61250},
        {"agentId": "root", "seq": 1, "type": "clock", "elapsedMs": 61251, "remainingMs": 538750},
    ]
