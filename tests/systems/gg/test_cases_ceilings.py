"""What the recorder leaves out, C12 to C14 and C18 to C20 of section 8.4: when it stops, and what of a text is kept."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sessionlab.systems import gg
from tests.systems.gg.journals import (
    CAPABILITIES,
    JOURNAL,
    address,
    fold,
    lines_of,
    members,
    of_type,
    recorded,
    refusal,
    root_of,
    writer,
    written,
)

SYSTEM = {"role": "system", "content": "you are gg"}
TOOLS = [{"name": "shell", "description": "Run.", "parameters": {"type": "object"}}]
SEEN = gg.Seed(prompt="p", model_modalities={"gale/tern-1": gg.Modalities(vision=True)})


def _play(recorder: gg.JournalWriter) -> gg.Captured:
    """A session of all kinds of lines: four turns with commands, results and frames, a second seed, a closing row."""
    root = root_of(recorder)
    sent: list[dict[str, Any]] = [SYSTEM]
    for turn in range(1, 5):
        sent.append({"role": "user", "content": f"turn {turn} " + turn * 40 * "u"})
        root.clock(elapsed_ms=turn * 1000)
        root.model_io(sent, {"text": f"answer {turn}"}, tools=TOOLS, duration_ms=turn)
        items = [gg.WindowItem(message=m, slot="thread", source="history", retention="pinned", turn=turn) for m in sent]
        root.prompt_frame(items)
        root.shell("make", stdout=f"made {turn}\n", stderr="")
        root.tool_result(f"c{turn}", "shell", {}, output=f"exit 0, made {turn}", summary="made")
        sent.append({"role": "assistant", "content": f"answer {turn}"})
    recorder.deny_vision("gale/tern-1")
    root.end("done")
    return recorder.finish()


def _batches(journal: bytes) -> list[bytes]:
    """The indivisible batches of a whole journal, without its end line (section 1.15)."""
    batches = [b""]
    for line in journal.splitlines(keepends=True)[:-1]:
        batches[-1] += line
        if json.loads(line)["type"] not in {"message", "toolset", "text"}:
            batches.append(b"")
    return batches[:-1]


def _up_to(batches: list[bytes], ceiling: int) -> list[bytes]:
    """The batches before the first that does not fit: a stop is for good."""
    size = 0
    for number, batch in enumerate(batches):
        size += len(batch)
        if size > ceiling:
            return batches[:number]
    return batches


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The journal of the session, recorded without a ceiling in its way."""
    folder = tmp_path_factory.mktemp("whole")
    assert _play(writer(folder, seed=SEEN)).truncation is None
    return written(folder)


def _holds(data: bytes, ceiling: int) -> None:
    """A stopped journal is what section 1.15 promises, whatever was recorded."""
    *kept, last = lines_of(data)
    end = data.splitlines(keepends=True)[-1]
    size = len(data) - len(end)
    assert size <= ceiling
    entries = of_type(kept, "entry")
    assert [made["seq"] for made in entries] == list(range(len(entries)))
    for pool in ("message", "toolset", "text"):
        assert [line["index"] for line in of_type(kept, pool)] == list(range(len(of_type(kept, pool))))
    truncation = {"reason": "byte_ceiling", "lastSeq": len(entries) - 1, "bytes": size}
    if not entries:
        del truncation["lastSeq"]
    assert last == {"type": "end", "entries": len(entries), "truncation": truncation}


def test_c12_the_byte_ceiling(tmp_path: Path, whole: bytes) -> None:
    """C12: for ceilings all over a session: a prefix of its batches, the longest that fits, and an end that says so.

    What is left folds to a record with the truncation the recorder reported, or is refused where the header went too.
    """
    batches = _batches(whole)
    borders = [len(b"".join(batches[: number + 1])) for number in range(len(batches))]
    ceilings = {*range(1, borders[-1], 389), *(border + by for border in borders[::5] for by in (-1, 0, 1))}
    for ceiling in sorted(ceiling for ceiling in ceilings if ceiling < borders[-1]):
        folder = tmp_path / str(ceiling)
        captured = _play(writer(folder, seed=SEEN, max_bytes=ceiling))
        data = written(folder)
        _holds(data, ceiling)
        kept = _up_to(batches, ceiling)
        assert data.startswith(b"".join(kept) + b'{"type":"end"')
        told = lines_of(data)[-1]
        assert (captured.entries, members(captured.truncation)) == (told["entries"], told["truncation"])
        assert captured.landed
        if kept:
            assert fold(folder, data).document["truncation"] == told["truncation"]
        else:
            assert refusal(folder, data).kind == "no_header"


def test_c12_a_ceiling_that_is_just_met(tmp_path: Path, whole: bytes) -> None:
    """C12: a session whose lines fill the ceiling to the byte is whole: the end line does not count."""
    size = len(b"".join(_batches(whole)))
    assert _play(writer(tmp_path, seed=SEEN, max_bytes=size)).truncation is None
    assert written(tmp_path) == whole


def test_c12_the_ceiling_is_the_configured_one(tmp_path: Path) -> None:
    """C12, section 0.1: without another word it is `limits.replayMaxBytes` of the capability set."""
    limited = {**CAPABILITIES, "limits": {"replayMaxBytes": 1200}}
    captured = _play(writer(tmp_path, seed=SEEN, capability_set=limited))
    assert captured.truncation is not None
    assert captured.truncation.reason == "byte_ceiling"
    _holds(written(tmp_path), 1200)


def test_c13_a_ceiling_of_one_byte(tmp_path: Path) -> None:
    """C13: not even the header fits: the file is an end line, which assembly refuses."""
    captured = _play(writer(tmp_path, seed=SEEN, max_bytes=1))
    assert written(tmp_path) == b'{"type":"end","entries":0,"truncation":{"reason":"byte_ceiling","bytes":0}}\n'
    assert (captured.entries, captured.landed) == (0, True)
    assert captured.truncation == gg.Truncation(reason="byte_ceiling", bytes=0)
    assert refusal(tmp_path, written(tmp_path)).kind == "no_header"


def test_c14_nothing_after_a_stop(tmp_path: Path) -> None:
    """C14: what would still fit after a stop is not written: entry, agent row, seed; the writer says why."""
    recorder = writer(tmp_path, seed=SEEN, max_bytes=2000)
    root = root_of(recorder)
    root.clock(elapsed_ms=1)
    before = recorder.stopped
    root.model_io([{"role": "user", "content": 3000 * "x"}], {"text": "on it"})
    assert before is None
    assert recorder.stopped is not None
    assert (recorder.stopped.reason, recorder.stopped.last_seq) == ("byte_ceiling", 0)
    root.clock(elapsed_ms=2)
    other = recorder.agent("agent-0", profile_id="root", profile="Root", origin=gg.Spawn(parent="root", ordinal=0))
    other.cancel_probe(canceled=False)
    recorder.deny_vision("gale/tern-1")
    root.end("done")
    captured = recorder.finish()
    lines = lines_of(written(tmp_path))
    assert [line["type"] for line in lines] == ["header", "seed", "agent", "entry", "end"]
    assert (lines[-1]["entries"], captured.entries) == (1, 1)
    _holds(written(tmp_path), 2000)


def test_c14_nothing_after_the_end(tmp_path: Path) -> None:
    """C14: the same once the session is finished."""
    recorder = writer(tmp_path, seed=SEEN)
    root = root_of(recorder)
    recorder.finish()
    data = written(tmp_path)
    root.clock(elapsed_ms=2)
    recorder.deny_vision("gale/tern-1")
    root.end("done")
    assert recorder.finish().entries == 0
    assert written(tmp_path) == data


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe stands for a disk that does not move")
def test_c14_a_queue_that_is_full(tmp_path: Path) -> None:
    """C14, sections 0.1 and 1.15: a 65th waiting batch stops capture; the end line waits until there is room again."""
    pipe = tmp_path / JOURNAL
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    recorder = writer(tmp_path)
    root = root_of(recorder)
    for number in range(70):
        root.clock(elapsed_ms=number)
    assert recorder.stopped is not None
    assert recorder.stopped.reason == "write_failed"
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(pipe.read_bytes)
        captured = recorder.finish()
        data = reading.result()
    lines = lines_of(data)
    assert len(lines) == 65
    assert [made["elapsedMs"] for made in of_type(lines, "entry")] == list(range(61))
    size = len(b"".join(data.splitlines(keepends=True)[:-1]))
    told = {"reason": "write_failed", "lastSeq": 60, "bytes": size}
    assert lines[-1] == {"type": "end", "entries": 61, "truncation": told}
    assert (captured.entries, members(captured.truncation)) == (61, told)
    assert fold(tmp_path, data).document["truncation"] == told


def test_c14_a_journal_that_cannot_be_written(tmp_path: Path) -> None:
    """C14, section 1.15: where no journal can be made the session goes on, and learns it at the end."""
    (tmp_path / ".gg").write_bytes(b"a file where the folder should be")
    captured = _play(writer(tmp_path, seed=SEEN))
    assert not captured.landed
    assert captured.truncation is not None
    assert captured.truncation.reason == "write_failed"
    assert (tmp_path / ".gg").read_bytes() == b"a file where the folder should be"


@pytest.mark.parametrize("body", [{"content": {1, 2}}, {"content": float("nan")}, {4: "four"}, {"content": b"x"}])
def test_c14_a_body_that_is_no_json(tmp_path: Path, body: Any) -> None:
    """C14, section 1.15: what cannot be written stops capture and is not raised; what stood before it stands."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    root.clock(elapsed_ms=1)
    root.model_io([SYSTEM, body], {"text": "on it"})
    root.clock(elapsed_ms=2)
    captured = recorder.finish()
    assert captured.truncation is not None
    assert (captured.entries, captured.truncation.reason) == (1, "write_failed")
    lines = lines_of(written(tmp_path))
    assert [line["type"] for line in lines] == ["header", "seed", "agent", "entry", "end"]
    assert fold(tmp_path, written(tmp_path)).document["truncation"] == lines[-1]["truncation"]


def _texts(folder: Path, play: Any, **changes: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The text lines of a session, without type and index, and its entries."""
    lines = recorded(folder, play, **changes)
    assert [line["index"] for line in of_type(lines, "text")] == list(range(len(of_type(lines, "text"))))
    texts = [{k: v for k, v in line.items() if k in {"text", "clip"}} for line in of_type(lines, "text")]
    return texts, of_type(lines, "entry")


def _clip(index: int, whole: str) -> dict[str, Any]:
    return {"text": index, "originalBytes": len(whole.encode()), "originalId": address(whole)}


def test_c18_a_stream_that_is_a_tool_output_too(tmp_path: Path) -> None:
    """C18: one payload as stream and as output is one text line."""

    def play(root: gg.AgentCapture) -> None:
        root.shell("make", stdout="built\n", stderr="")
        root.tool_result("c1", "shell", {}, output="built\n")

    texts, (shell, result) = _texts(tmp_path, play)
    assert texts == [{"text": "built\n"}, {"text": ""}]
    assert shell["command"]["stdout"] == result["outcome"]["output"] == 0


@pytest.mark.parametrize("size", [32767, 32768, 32769, 33000])
def test_c19_a_long_stream(tmp_path: Path, size: int) -> None:
    """C19: of a stream over 32 KiB the tail is kept, with its clip row; stdout and stderr each have the room."""
    whole = ("0123456789" * 4000)[:size]
    texts, (made,) = _texts(tmp_path, lambda root: root.git("git log", stdout=whole, stderr="e" + whole[1:]))
    assert (made["command"]["stdout"], made["command"]["stderr"]) == (0, 1)
    for index, one in enumerate((whole, "e" + whole[1:])):
        expected = {"text": one[-32768:], "clip": _clip(index, one)} if size > 32768 else {"text": one}
        assert texts[index] == expected


@pytest.mark.parametrize("size", [98304, 262144, 262145, 300000])
def test_c19_a_long_tool_payload(tmp_path: Path, size: int) -> None:
    """C19: a tool payload of 96 KiB is whole; of one over 256 KiB the tail is kept; a summary is always whole."""
    whole = ("abcdefghij" * 30000)[:size]
    summary = "s" + whole
    texts, _ = _texts(tmp_path, lambda root: root.tool_result("c1", "look", {}, output=whole, summary=summary))
    cut = {"text": whole[-262144:], "clip": _clip(0, whole)}
    assert texts == [cut if size > 262144 else {"text": whole}, {"text": summary}]


def test_c19_bytes_not_characters(tmp_path: Path) -> None:
    """C19, section 3.6: ceilings are bytes; a character that would be cut is left out whole."""
    whole = "a" + 20 * "é"
    texts, _ = _texts(tmp_path, lambda root: root.shell("ls", stdout=whole, stderr=""), stream_ceiling=15)
    assert texts[0] == {"text": 7 * "é", "clip": _clip(0, whole)}


@pytest.mark.parametrize("stream_first", [True, False], ids=["stream-first", "tool-first"])
def test_c19_the_first_interning_wins(tmp_path: Path, stream_first: bool) -> None:
    """C19, section 3.5: a payload over the stream ceiling alone is a tail or whole as it was first recorded."""
    whole = "0123456789" * 4000

    def play(root: gg.AgentCapture) -> None:
        steps: list[Callable[[], None]] = [
            lambda: root.shell("make", stdout=whole, stderr=""),
            lambda: root.tool_result("c1", "shell", {}, output=whole),
        ]
        for step in steps if stream_first else reversed(steps):
            step()

    texts, _ = _texts(tmp_path, play)
    assert texts == [
        {"text": whole[-32768:], "clip": _clip(0, whole)} if stream_first else {"text": whole},
        {"text": ""},
    ]


def test_c20_five_reads_of_one_file(tmp_path: Path) -> None:
    """C20: the contents of a file are lifted into the text its output is; five reads are one text."""
    contents = "<p>kite</p>\n"
    told = {
        "kind": "fileText",
        "data": {"contents": contents, "firstLine": 1, "lastLine": 1, "totalLines": 1, "byteTruncated": False},
    }

    def play(root: gg.AgentCapture) -> None:
        for number in range(5):
            root.tool_result(f"c{number}", "read_file", {"path": "kite.html"}, output=contents, data=told)

    texts, entries = _texts(tmp_path, play)
    assert texts == [{"text": contents}]
    for made in entries:
        assert made["outcome"] == {
            "ok": True,
            "output": 0,
            "data": {
                "kind": "fileText",
                "data": {"byteTruncated": False, "contents": "", "firstLine": 1, "lastLine": 1, "totalLines": 1},
            },
            "dataText": 0,
        }
    assert told["data"]["contents"] == contents  # type: ignore[index]


@pytest.mark.parametrize(
    ("data", "lifted"),
    [
        ({"kind": "shell", "data": {"exitCode": 0, "body": "lifted", "truncated": False}}, "body"),
        ({"kind": "fileText", "data": {"contents": "lifted", "byteTruncated": False}}, "contents"),
        ({"kind": "boardNode", "data": {"id": "K-1", "board": "main", "body": "kept", "contents": "kept"}}, None),
        ({"kind": "bytesWritten", "data": 40}, None),
    ],
    ids=["shell", "fileText", "boardNode", "bytesWritten"],
)
def test_c20_what_is_lifted(tmp_path: Path, data: dict[str, Any], lifted: str | None) -> None:
    """C20, section 1.10: one member of two kinds is lifted, under the tool ceiling; other kinds stay as they are."""
    texts, (made,) = _texts(
        tmp_path, lambda root: root.tool_result("c", "t", {}, output="o", summary="s", data=data), tool_ceiling=4
    )
    if lifted is None:
        assert texts == [{"text": "o"}, {"text": "s"}]
        assert made["outcome"] == {"ok": True, "output": 0, "summary": 1, "data": data}
    else:
        assert texts == [{"text": "o"}, {"text": "fted", "clip": _clip(1, "lifted")}, {"text": "s"}]
        stored = {"kind": data["kind"], "data": {**data["data"], lifted: ""}}
        assert made["outcome"] == {"ok": True, "output": 0, "summary": 2, "data": stored, "dataText": 1}
