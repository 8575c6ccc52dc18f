"""What a run hands over that is no journal's: nothing is raised, capture stops, and what stood before it stands."""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.systems import gg
from tests.systems.gg.failing import everything, stopped_by
from tests.systems.gg.journals import (
    CAPABILITIES,
    address,
    fold,
    lines_of,
    of_type,
    recorded,
    root_of,
    writer,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Call = Callable[[gg.AgentCapture, Any], object]

HALF = "caf\udce9 \ud83d"
"""A file name that is no UTF-8, as Python hands it out, and half of an emoji."""
WHOLE = "caf\ufffd \ufffd"
USER = {"role": "user", "content": "build it"}
FAILURE = gg.ModelFailure(kind="parse", message="no")


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append({"circle": circle})
    return circle


def _deep() -> list[Any]:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


def _item(**changes: Any) -> gg.WindowItem:
    told: dict[str, Any] = {"slot": "thread", "source": "history", "retention": "pinned", "turn": 1, **changes}
    return gg.WindowItem(told.pop("message", USER), **told)


NO_JSON: dict[str, Any] = {
    "set": {1},
    "object": object(),
    "nan": math.nan,
    "infinity": [math.inf],
    "bytes": b"text",
    "a key that is a number": {1: 2},
    "a key that is null": {"a": {None: 1}},
    "keys of two types": {"a": 1, 2: 3},
    "circle": _circle(),
    "deep": _deep(),
    "an integer beyond floats": 10**400,
    "complex": 1j,
}
PLACES: dict[str, Call] = {
    "message": lambda root, bad: root.model_io([USER, bad], {}),
    "message of a failed call": lambda root, bad: root.model_error([bad], FAILURE),
    "handle": lambda root, bad: root.model_io([root._writer.message(bad)], {}),
    "tools": lambda root, bad: root.model_io([USER], {}, tools=[bad]),
    "tools handle": lambda root, bad: root.model_io([USER], {}, tools=root._writer.toolset([bad])),
    "response": lambda root, bad: root.model_io([USER], {"text": bad}),
    "arguments": lambda root, bad: root.tool_result("c", "look", {"n": bad}),
    "data": lambda root, bad: root.tool_result(
        "c", "look", {}, data={"kind": "shell", "data": {"body": "b", "x": bad}}
    ),
    "failure class": lambda root, bad: root.tool_result("c", "look", {}, failure=bad),
    "frame": lambda root, bad: root.prompt_frame([_item(), _item(message=bad)]),
}
BAD: dict[str, Call] = {
    "role": lambda root, _: root.model_io([USER], {}, role="judge"),  # type: ignore[arg-type]
    "role of another list": lambda root, _: root.model_io([USER], {}, role="frame"),  # type: ignore[arg-type]
    "role of no word": lambda root, _: root.model_error([USER], FAILURE, role=["agent"]),  # type: ignore[arg-type]
    "shape": lambda root, _: root.model_io([USER], {}, shape="short"),  # type: ignore[arg-type]
    "messages": lambda root, _: root.model_io(5, {}),  # type: ignore[arg-type]
    "tools": lambda root, _: root.model_io([USER], {}, tools=5),  # type: ignore[arg-type]
    "negative duration": lambda root, _: root.model_io([USER], {}, duration_ms=-1),
    "endless duration": lambda root, _: root.model_io([USER], {}, duration_ms=math.inf),
    "no duration": lambda root, _: root.model_io([USER], {}, duration_ms=math.nan),
    "duration in words": lambda root, _: root.model_io([USER], {}, duration_ms="soon"),  # type: ignore[arg-type]
    "duration past 64 bits": lambda root, _: root.model_io([USER], {}, duration_ms=2**64),
    "error": lambda root, _: root.model_error([USER], ValueError("no")),  # type: ignore[arg-type]
    "kind of error": lambda root, _: root.model_error([USER], gg.ModelFailure(kind="odd", message="")),  # type: ignore[arg-type]
    "status of 17 bits": lambda root, _: root.model_error(
        [USER], gg.ModelFailure(kind="fatal", message="", status=2**16)
    ),
    "attempts": lambda root, _: root.model_error(
        [USER], gg.ModelFailure(kind="response_loop", message="", attempts=-1)
    ),
    "exit code of 33 bits": lambda root, _: root.shell("ls", exit_code=2**31),
    "exit code in words": lambda root, _: root.git("git status", exit_code="0"),  # type: ignore[arg-type]
    "no exit code": lambda root, _: root.shell("ls", exit_code=None),  # type: ignore[arg-type]
    "origin": lambda root, _: root.shell("ls", origin="model"),  # type: ignore[arg-type]
    "origin of no word": lambda root, _: root.shell("ls", origin=["tool"]),  # type: ignore[arg-type]
    "command": lambda root, _: root.shell(["ls"]),  # type: ignore[arg-type]
    "folder": lambda root, _: root.shell("ls", cwd="/tmp"),  # type: ignore[arg-type]
    "output": lambda root, _: root.shell("ls", stdout=None),  # type: ignore[arg-type]
    "tool output": lambda root, _: root.tool_result("c", "look", {}, output=["seen"]),  # type: ignore[arg-type]
    "call id": lambda root, _: root.tool_result(7, "look", {}),  # type: ignore[arg-type]
    "tool name": lambda root, _: root.tool_result("c", None, {}),  # type: ignore[arg-type]
    "images": lambda root, _: root.tool_result("c", "look", {}, images=[{"bytes": 1}]),  # type: ignore[list-item]
    "size of an image": lambda root, _: root.tool_result("c", "look", {}, images=[gg.Image("image/png", -1)]),
    "kind of data": lambda root, _: root.tool_result("c", "look", {}, data={"kind": ["shell"], "data": {}}),
    "slot": lambda root, _: root.prompt_frame([_item(slot="attic")]),
    "slot of old recorders": lambda root, _: root.prompt_frame([_item(slot="trailing_notice")]),
    "source": lambda root, _: root.prompt_frame([_item(source="hearsay")]),
    "retention": lambda root, _: root.prompt_frame([_item(retention="lost")]),
    "turn": lambda root, _: root.prompt_frame([_item(turn=-1)]),
    "label": lambda root, _: root.prompt_frame([_item(label=5)]),
    "region": lambda root, _: root.prompt_frame([_item(region=(40, 25))]),
    "item": lambda root, _: root.prompt_frame([USER]),  # type: ignore[list-item]
    "clock": lambda root, _: root.clock(elapsed_ms=-1),
    "what remains": lambda root, _: root.clock(elapsed_ms=1, remaining_ms="much"),  # type: ignore[arg-type]
    "status": lambda root, _: root.end("tired"),  # type: ignore[arg-type]
    "limit": lambda root, _: root.end("failed", limit_hit="cost"),  # type: ignore[arg-type]
    "agent id": lambda root, _: root._writer.agent(None, profile_id="a", profile="A", origin=gg.Root()),  # type: ignore[arg-type]
    "origin of an agent": lambda root, _: root._writer.agent("a", profile_id="a", profile="A", origin="root"),  # type: ignore[arg-type]
    "ordinal": lambda root, _: root._writer.agent("a", profile_id="a", profile="A", origin=gg.Spawn("root", -1)),
    "model": lambda root, _: root._writer.deny_vision(["gale/tern-1"]),  # type: ignore[arg-type]
}


def _stops(folder: Path, call: Call, bad: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Two entries, then the bad call, then all others: the two stand, and the end line says what happened."""
    recorder = writer(folder)
    root = root_of(recorder)
    root.model_io([{"role": "system"}], {"text": "on it"})
    root.shell("ls", stdout="a\n")
    call(root, bad)
    stopped = recorder.stopped
    everything(recorder, root)
    told = recorder.finish()
    assert told.landed
    assert told.truncation == stopped
    assert told.entries == 2
    document = stopped_by(folder, written(folder), 2)
    assert [made["body"] for made in document["messages"]] == [{"role": "system"}]
    assert document["texts"] == ["a\n", ""]
    assert sum("capture stopped" in made.getMessage() for made in caplog.records) == 1


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_json(tmp_path: Path, place: str, caplog: pytest.LogCaptureFixture) -> None:
    """Wherever a free-form value may stand, one that is no JSON is not raised, not written, and stops capture."""
    for number, bad in enumerate(NO_JSON.values()):
        caplog.clear()
        folder = tmp_path / str(number)
        folder.mkdir()
        _stops(folder, PLACES[place], bad, caplog)


@pytest.mark.parametrize("what", BAD)
def test_what_the_format_has_no_place_for(tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture) -> None:
    """An argument that a reader would refuse is not raised and not written: it would cost all that follows it."""
    _stops(tmp_path, BAD[what], None, caplog)


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words for it")


def test_an_error_that_cannot_be_told(tmp_path: Path) -> None:
    """An iterable of the run's own that fails with an error without words stops capture like any other."""

    def messages() -> Iterator[Any]:
        yield USER
        raise _Mute

    recorder = writer(tmp_path)
    root_of(recorder).model_io(messages(), {})
    assert recorder.finish().landed
    stopped_by(tmp_path, written(tmp_path), 0)


SURROGATES: dict[str, Call] = {
    "message": lambda root, half: root.model_io([{half: [half]}], {}),
    "tools": lambda root, half: root.model_io([], {}, tools=[{"name": half}]),
    "response": lambda root, half: root.model_io([], {"text": half}),
    "command": lambda root, half: root.shell(half, stdout=half, stderr=half),
    "folder": lambda root, half: root.shell("ls", cwd=gg.Relative(half)),
    "folder of a tool": lambda root, half: root.tool_result("c", "look", {}, cwd=gg.Absolute(half)),
    "tool": lambda root, half: root.tool_result(half, half, {half: half}, output=half, summary=half),
    "data": lambda root, half: root.tool_result("c", "look", {}, data={"kind": "shell", "data": {"body": half}}),
    "failure class": lambda root, half: root.tool_result("c", "look", {}, failure=half),
    "image": lambda root, half: root.tool_result("c", "look", {}, images=[gg.Image(half, 3)]),
    "error": lambda root, half: root.model_error([], gg.ModelFailure(kind="parse", message=half)),
    "model of an error": lambda root, half: root.model_error(
        [], gg.ModelFailure(kind="vision_unsupported", message="", model_id=half)
    ),
    "frame": lambda root, half: root.prompt_frame([_item(message=half)]),
    "label": lambda root, half: root.prompt_frame([_item(source="file_view", label=half)]),
    "agent": lambda root, half: root._writer.agent(half, profile_id="p", profile="P", origin=gg.Root()).clock(1),
    "profile": lambda root, half: root._writer.agent("a", profile_id="p", profile=half, origin=gg.Root()).clock(1),
    "model": lambda root, half: root._writer.deny_vision(half),
}


@pytest.mark.parametrize("place", SURROGATES)
def test_half_a_character(tmp_path: Path, place: str) -> None:
    """A lone surrogate, which no JSON can carry, becomes U+FFFD wherever it stands; capture goes on."""

    def play(root: gg.AgentCapture) -> None:
        SURROGATES[place](root, HALF)
        root.clock(elapsed_ms=7)

    lines = recorded(tmp_path, play)
    assert lines[-1].get("truncation") is None
    assert of_type(lines, "entry")[-1]["elapsedMs"] == 7
    assert WHOLE in written(tmp_path).decode()


OPENING: dict[str, dict[str, Any]] = {
    "prompt": {"seed": gg.Seed(prompt=HALF)},
    "session id": {"session_id": HALF},
    "routing key": {"routing_key": HALF},
    "capability set": {"capability_set": {**CAPABILITIES, HALF: [HALF]}},
    "recorder": {"recorder": gg.Recorder(gg_version=HALF)},
}


@pytest.mark.parametrize("what", OPENING)
def test_half_a_character_in_the_opening(tmp_path: Path, what: str) -> None:
    """The same in header and seed, where a stop would cost the whole session."""
    lines = recorded(tmp_path, lambda root: root.clock(elapsed_ms=7), **OPENING[what])
    assert lines[-1] == {"type": "end", "entries": 1}
    assert WHOLE in written(tmp_path).decode()


BAD_OPENING: dict[str, dict[str, Any]] = {
    "session id": {"session_id": 5},
    "routing key": {"routing_key": 5},
    "no capability set": {"capability_set": None},
    "capability set that is a list": {"capability_set": []},
    "capability set with a number beyond all": {"capability_set": {"a": 10**400}},
    "capability set that is no JSON": {"capability_set": {"a": object()}},
    "recorder": {"recorder": None},
    "ceiling": {"max_bytes": "much"},
}


@pytest.mark.parametrize("what", BAD_OPENING)
def test_a_header_that_no_reader_takes(tmp_path: Path, what: str) -> None:
    """Without a header nothing is a journal: such a capture says from the start that it has stopped."""
    recorder = writer(tmp_path, **BAD_OPENING[what])
    everything(recorder, root_of(recorder))
    told = recorder.finish()
    assert told.truncation == gg.Truncation("write_failed", None, 0)
    assert [line["type"] for line in lines_of(written(tmp_path))] == ["end"]


def test_a_seed_that_no_reader_takes(tmp_path: Path) -> None:
    """A bad seed stops capture behind the header."""
    recorder = writer(tmp_path, seed=gg.Seed(prompt=5))  # type: ignore[arg-type]
    everything(recorder, root_of(recorder))
    assert recorder.finish().landed
    assert stopped_by(tmp_path, written(tmp_path), 0)["seed"] == {"prompt": ""}


@pytest.mark.parametrize("ceiling", [math.inf, math.nan, -math.inf, "much", None, True])
def test_a_configured_ceiling_that_is_no_number(tmp_path: Path, ceiling: object) -> None:
    """A ceiling in the capability set that cannot be meant is none of the run's business."""
    recorder = writer(tmp_path, capability_set={**CAPABILITIES, "limits": {"replayMaxBytes": ceiling}})
    root_of(recorder).clock(elapsed_ms=1)
    recorder.finish()


def test_a_capability_set_that_cannot_be_changed(tmp_path: Path) -> None:
    """Any mapping is a capability set, as the signature says."""
    lines = recorded(tmp_path, lambda root: root.clock(1), capability_set=MappingProxyType(CAPABILITIES))
    assert lines[0]["capabilitySet"] == CAPABILITIES


@pytest.mark.parametrize("kind", ["message", "toolset", "item"])
def test_a_handle_of_another_writer(tmp_path: Path, kind: str) -> None:
    """Its body was given away to the other journal and cannot be written here: capture stops, there is no error."""
    other, recorder = writer(tmp_path / "other"), writer(tmp_path)
    root = root_of(recorder)
    if kind == "item":
        root.prompt_frame([_item(message=other.message(USER))])
    elif kind == "message":
        root.model_io([other.message(USER)], {})
    else:
        root.model_io([USER], {}, tools=other.toolset([{"name": "shell"}]))
    assert recorder.finish().landed
    stopped_by(tmp_path, written(tmp_path), 0)
    assert other.finish().truncation is None


def test_a_window_item_of_two_writers(tmp_path: Path) -> None:
    """An item that holds its body itself can stand in the windows of two sessions, with the index it has in each."""
    item = _item()
    other, recorder = writer(tmp_path / "other"), writer(tmp_path)
    both = [root_of(other), root_of(recorder)]
    both[1].model_io([{"role": "system"}], {})
    for root in both * 2:
        root.prompt_frame([item])
    for one, folder, index in ((other, tmp_path / "other", 0), (recorder, tmp_path, 1)):
        assert one.finish().truncation is None
        document = fold(folder, written(folder)).document
        frames = [made for made in document["entries"] if made["type"] == "prompt_frame"]
        assert [made["items"][0]["message"] for made in frames] == [index, index]
        assert document["messages"][index]["body"] == USER


def test_a_body_that_changes(tmp_path: Path) -> None:
    """The same object, changed between two calls, is two messages: what was sent is told by content, not identity."""
    body: dict[str, Any] = {"role": "user", "content": ["one"]}
    before = {"role": "user", "content": ["one"]}

    def play(root: gg.AgentCapture) -> None:
        sent = [body]
        root.model_io(sent, {}, tools=sent)
        body["content"].append("two")
        root.model_io(sent, {}, tools=sent)
        body["content"].pop()
        root.model_io(sent, {}, tools=sent)

    lines = recorded(tmp_path, play)
    after = {"role": "user", "content": ["one", "two"]}
    assert [made["message"] for made in of_type(lines, "message")] == [
        {"id": address(one), "body": one} for one in (before, after)
    ]
    assert [made["toolset"]["tools"] for made in of_type(lines, "toolset")] == [[before], [after]]
    requests = [made["request"] for made in of_type(lines, "entry")]
    assert [(made["messages"], made["toolset"]) for made in requests] == [([0], 0), ([1], 1), ([0], 0)]
