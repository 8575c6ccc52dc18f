"""Journals in, what assembly makes of them out: folding, refusals, recording, and the base session of section 8.3."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sessionlab.errors import JournalRefused
from sessionlab.systems import gg
from tests.formats.gg_examples import HEADER, dump, entry, message, request, text

RECORD = "replay.json.gz"
JOURNAL = ".gg/replay.ndjson"
MEMBERS = [
    *("formatVersion", "recorder", "sessionId", "routingKey", "capabilitySet", "seed"),
    *("agents", "messages", "toolsets", "texts", "clips", "entries", "truncation"),
]
"""What a record holds, in the order it is written (section 2.2)."""
CAPABILITIES: dict[str, Any] = {"agents": [{"slug": "root", "name": "Root", "modelId": "gale/tern-1"}]}
SHELL = [{"name": "shell"}]
S_TOOL_CALL = {"id": "call-1", "name": "shell", "arguments": {"command": "make"}, "cwd": {"type": "workspace"}}
S: list[Any] = [
    HEADER,
    message(0, "you are gg", role="system"),
    message(1, "build it"),
    {"type": "toolset", "index": 0, "toolset": {"id": "ebc66a408a30eeaa12a650a48b6c8f68", "tools": SHELL}},
    entry(0, "model_io", request=request(0, 1, toolset=0), response={"text": "on it", "toolCalls": []}),
    text(0, "ok"),
    entry(
        1,
        "tool_result",
        call=S_TOOL_CALL,
        outcome={"ok": True, "output": 0, "images": [{"mediaType": "image/png", "bytes": 3}]},
    ),
]
"""The base session: two messages, one toolset, one text, two entries, and no end line."""


class Folded(NamedTuple):
    """What assembly reported, the JSON it wrote, and the same parsed."""

    told: gg.Assembled
    raw: bytes
    document: dict[str, Any]


def members(truncation: gg.Truncation | None) -> dict[str, Any] | None:
    """A truncation as the members it has in a record."""
    if truncation is None:
        return None
    told = {"reason": truncation.reason, "lastSeq": truncation.last_seq, "bytes": truncation.bytes}
    return {name: value for name, value in told.items() if value is not None}


def unpacked(record: Path) -> bytes:
    """The JSON of a record, which is gzip."""
    packed = record.read_bytes()
    assert packed[:2] == b"\x1f\x8b"
    return gzip.decompress(packed)


def fold(folder: Path, data: bytes) -> Folded:
    """Assemble ``data``: the journal stays as it is, the record lies alone, and report and record agree."""
    log, record = folder / "in" / "replay.ndjson", folder / "out" / RECORD
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(data)
    told = gg.assemble(log, record)
    raw = unpacked(record)
    document = json.loads(raw)
    assert log.read_bytes() == data
    assert [path.name for path in record.parent.iterdir()] == [RECORD]
    assert told.compressed_bytes == record.stat().st_size
    assert told.entries == len(document["entries"])
    assert members(told.truncation) == document.get("truncation")
    return Folded(told, raw, document)


def refusal(folder: Path, data: bytes) -> JournalRefused:
    """The refusal of ``data``: its full sentence is right, the journal untouched, nothing left beside the record."""
    log, record = folder / "in" / "replay.ndjson", folder / "out" / RECORD
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(data)
    with pytest.raises(JournalRefused) as caught:
        gg.assemble(log, record)
    refused = caught.value
    assert str(refused) == f"gg capture journal `{log}` {refused.detail}"
    assert Path(refused.path) == log
    assert log.read_bytes() == data
    assert not record.parent.exists() or list(record.parent.iterdir()) == []
    return refused


def writer(folder: Path, **changes: Any) -> gg.JournalWriter:
    """A recorder of a session under ``folder``."""
    told: dict[str, Any] = {
        "session_id": "run-1",
        "capability_set": CAPABILITIES,
        "seed": gg.Seed(prompt="p"),
        "recorder": gg.Recorder(gg_version="0.7.0"),
        **changes,
    }
    return gg.JournalWriter(folder, **told)


def root_of(recorder: gg.JournalWriter) -> gg.AgentCapture:
    """The root agent, born."""
    return recorder.agent("root", profile_id="root", profile="Root", origin=gg.Root())


def written(folder: Path) -> bytes:
    """The journal recorded under ``folder``."""
    return (folder / JOURNAL).read_bytes()


def lines_of(data: bytes) -> list[dict[str, Any]]:
    """The lines of a journal, each ended by a line feed."""
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data[:-1].split(b"\n")]


def recorded(folder: Path, play: Callable[[gg.AgentCapture], object], **changes: Any) -> list[dict[str, Any]]:
    """The lines of a session in which root plays its part; the whole journal landed and assembles."""
    recorder = writer(folder, **changes)
    play(root_of(recorder))
    assert recorder.finish().landed
    lines = lines_of(written(folder))
    assert fold(folder, written(folder)).document["entries"] == [x["entry"] for x in lines if x["type"] == "entry"]
    return lines


def of_type(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The lines of one type; for entries, agent rows and seeds what the line is about."""
    inner = kind if kind in {"entry", "agent", "seed"} else None
    return [line[inner] if inner else line for line in lines if line["type"] == kind]


def address(value: object) -> str:
    """The address of exact text, or of JSON without floats, by hashlib and json alone (section 3)."""
    if isinstance(value, str):
        return hashlib.sha256(value.encode()).hexdigest()[:32]
    canonical = json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def image(data: str) -> dict[str, Any]:
    """An image of three bytes as it is sent."""
    return {"mediaType": "image/png", "dataBase64": data, "bytes": 3}


def empty_record(**changes: object) -> bytes:
    """The record of a journal that holds only the header of these tests, but for ``changes``; None leaves out."""
    document = {
        "formatVersion": 1,
        "recorder": HEADER["recorder"],
        "sessionId": HEADER["sessionId"],
        "capabilitySet": HEADER["capabilitySet"],
        "seed": {"prompt": ""},
        **{name: [] for name in MEMBERS[6:12]},
        "truncation": {"reason": "session_killed"},
        **changes,
    }
    return dump({name: document[name] for name in MEMBERS if document.get(name) is not None})


def tree(folder: Path, data: bytes) -> Path:
    """A collected tree that holds ``data`` as its journal."""
    place = folder / "implementation"
    (place / JOURNAL).parent.mkdir(parents=True)
    (place / JOURNAL).write_bytes(data)
    return place
