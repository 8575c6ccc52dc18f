"""The journal contract, J1 to J7 of section 8.2: what the pools write, and lines that are one physical line each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessionlab.systems import gg
from sessionlab.systems.gg.pooling import Pools
from tests.systems.gg.journals import address, fold, image, lines_of, of_type, root_of, writer, written

SYSTEM = {"role": "system", "content": "you are gg"}
USER = {"role": "user", "content": "build it"}


def _taken(pools: Pools) -> list[dict[str, Any]]:
    """The lines that are due, parsed; each is one line of bytes."""
    lines = pools.take_lines()
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    return [json.loads(line) for line in lines]


def test_j1_a_repeat_writes_nothing() -> None:
    """J1: system, user, system again: 0, 1, 0, and only two lines are due."""
    pools = Pools()
    assert [pools.message(body) for body in (SYSTEM, USER, dict(SYSTEM))] == [0, 1, 0]
    assert _taken(pools) == [
        {"type": "message", "index": i, "message": {"id": address(body), "body": body}}
        for i, body in enumerate((SYSTEM, USER))
    ]


def test_j2_lines_come_in_order_and_once() -> None:
    """J2: four different messages are due in order; a second take is empty; later ones count on."""
    pools = Pools()
    for number in range(4):
        pools.message({"role": "user", "content": f"step {number}"})
    assert [line["index"] for line in _taken(pools)] == [0, 1, 2, 3]
    assert pools.take_lines() == []
    assert pools.message(USER) == 4
    assert [line["index"] for line in _taken(pools)] == [4]


def test_j3_images_are_left_out() -> None:
    """J3: two pictures are two messages under the addresses they were sent with; type and size stay, bytes go."""
    pools = Pools()
    sent = [{"role": "user", "content": "look", "images": [image(data)]} for data in ("QUJD", "WFla")]
    assert [pools.message(body) for body in sent] == [0, 1]
    lines = _taken(pools)
    assert [line["message"]["id"] for line in lines] == [
        "c1c9d780fd358fb45845682c2279a0dc",
        "6356a9fc86c53a2e42a1d1f0a19a3a70",
    ]
    for line in lines:
        assert line["message"]["body"]["images"] == [{"bytes": 3, "mediaType": "image/png"}]
    assert sent[0]["images"] == [image("QUJD")]


PICTURE = {"bytes": 3, "mediaType": "image/png"}
REDUCED: dict[str, tuple[Any, Any]] = {
    "in a list of content": ({"content": [image("QUJD")]}, {"content": [PICTURE]}),
    "deep inside": ({"a": [[{"b": image("QUJD")}]]}, {"a": [[{"b": PICTURE}]]}),
    "the body itself": (image("QUJD"), PICTURE),
    "a mediaType of another type": ({"x": {"mediaType": None, "dataBase64": ""}}, {"x": {"mediaType": None}}),
    "nothing below an image": (
        {"x": {**image("QUJD"), "inner": image("WFla")}},
        {"x": {**PICTURE, "inner": image("WFla")}},
    ),
    "no mediaType beside it": ({"x": {"dataBase64": "QUJD"}}, {"x": {"dataBase64": "QUJD"}}),
    "a dataBase64 that is no string": (
        {"x": {"mediaType": "image/png", "dataBase64": [image("QUJD")]}},
        {"x": {"mediaType": "image/png", "dataBase64": [PICTURE]}},
    ),
    "a mediaType further out": (
        {"mediaType": "image/png", "x": {"dataBase64": "QUJD"}},
        {"mediaType": "image/png", "x": {"dataBase64": "QUJD"}},
    ),
}


@pytest.mark.parametrize(("sent", "stored"), REDUCED.values(), ids=REDUCED.keys())
def test_j3_what_is_an_image(sent: Any, stored: Any) -> None:
    """J3, section 3.4: the match is structural, wherever in a body it sits; the address is that of what was sent."""
    pools = Pools()
    pools.message(sent)
    (line,) = _taken(pools)
    assert line["message"] == {"id": address(sent), "body": stored}


def test_j3_only_bodies_lose_images(tmp_path: Path) -> None:
    """J3, section 3.4: toolsets, responses, arguments and facts are kept as they are."""
    kept = image("QUJD")
    recorder = writer(tmp_path)
    root = root_of(recorder)
    root.model_io([USER], {"shown": kept}, tools=[{"name": "look", "example": kept}])
    root.tool_result("c1", "look", {"at": kept}, output="seen", data={"kind": "fileImage", "data": kept})
    recorder.finish()
    lines = lines_of(written(tmp_path))
    called, result = of_type(lines, "entry")
    assert called["response"]["shown"] == result["call"]["arguments"]["at"] == result["outcome"]["data"]["data"] == kept
    assert of_type(lines, "toolset")[0]["toolset"]["tools"] == [{"name": "look", "example": kept}]


def test_j4_texts_are_written_once() -> None:
    """J4: `ok`, `ok`, `nope` are 0, 0, 1 and two text lines."""
    pools = Pools()
    assert [pools.text(one) for one in ("ok\n", "ok\n", "nope\n")] == [0, 0, 1]
    assert _taken(pools) == [
        {"type": "text", "index": 0, "text": "ok\n"},
        {"type": "text", "index": 1, "text": "nope\n"},
    ]


def test_j5_journal_and_pools_agree(tmp_path: Path) -> None:
    """J5: one request recorded, and the same interned in pools: equal indices, and equal lines byte for byte."""
    picture = {"role": "user", "content": "look", "images": [image("QUJD")]}
    tools = [{"name": "shell", "parameters": {"type": "object"}, "description": "Run."}]
    pools = Pools()
    indices = [pools.message(body) for body in (SYSTEM, USER, picture)]
    toolset = pools.toolset(tools)
    recorder = writer(tmp_path)
    root_of(recorder).model_io([SYSTEM, USER, picture], {"text": "on it"}, tools=tools)
    recorder.finish()
    (made,) = of_type(lines_of(written(tmp_path)), "entry")
    assert made["request"] == {"role": "agent", "shape": "complete", "messages": indices, "toolset": toolset}
    due = pools.take_lines()
    assert [json.loads(line)["type"] for line in due] == ["message", "message", "message", "toolset"]
    pooled = [
        x for x in written(tmp_path).splitlines(keepends=True) if b'{"type":"message"' in x or b'"toolset","i' in x
    ]
    assert pooled == due


def test_j6_three_lines(tmp_path: Path) -> None:
    """J6: a header with a routing key and an empty set, a text, an end: three physical lines that fold again."""
    key = "k3v9q1x7m2c5t8w0b4n6z1aa"
    writer(tmp_path, routing_key=key, capability_set={}, seed=gg.Seed(prompt="")).finish()
    header, _seed, end = written(tmp_path).splitlines(keepends=True)
    pools = Pools()
    pools.text("two\nlines, \u2028 and \x85 and \x1f")
    data = b"".join((header, *pools.take_lines(), end))
    assert data.count(b"\n") == 3
    assert lines_of(data) == [
        {
            "type": "header",
            "formatVersion": 1,
            "sessionId": "run-1",
            "routingKey": key,
            "capabilitySet": {},
            "recorder": {"ggVersion": "0.7.0"},
        },
        {"type": "text", "index": 0, "text": "two\nlines, \u2028 and \x85 and \x1f"},
        {"type": "end", "entries": 0},
    ]
    document = fold(tmp_path, data).document
    assert (document["routingKey"], document["capabilitySet"]) == (key, {})
    assert document["texts"] == ["two\nlines, \u2028 and \x85 and \x1f"]


def test_j7_the_end_line(tmp_path: Path) -> None:
    """J7: the end of twelve entries counts them and states no truncation."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    for number in range(12):
        root.clock(elapsed_ms=number)
    recorder.finish()
    assert written(tmp_path).endswith(b'\n{"type":"end","entries":12}\n')
