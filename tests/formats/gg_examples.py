"""gg journals and records for the tests: the two worked examples, and lines to build others from."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from typing import Any, TypeVar

from sessionlab.formats import Recording, gg
from sessionlab.tables import TABLE_OF, Row
from tests.conftest import SAMPLES

R = TypeVar("R", bound=Row)

A = (SAMPLES / "gg/clean-journal/replay.ndjson").read_bytes()
A_RECORD = gzip.decompress((SAMPLES / "gg/clean-record/replay.json.gz").read_bytes())
B = (SAMPLES / "gg/torn-batch/replay.ndjson").read_bytes()
B_LINES = B.split(b"\n")[:4]
"""Header, agent, message 0 and entry 0 of the torn batch: what the variants are made from."""
B_RECORD = json.dumps(
    {
        "formatVersion": 1,
        "recorder": {"ggVersion": "0.9.1"},
        "sessionId": "run-0008",
        "capabilitySet": json.loads(B_LINES[0])["capabilitySet"],
        "seed": {"prompt": ""},
        "agents": [json.loads(B_LINES[1])["agent"]],
        "messages": [json.loads(line)["message"] for line in (B_LINES[2], *B.split(b"\n")[4:6])],
        "toolsets": [],
        "texts": [],
        "clips": [],
        "entries": [json.loads(B_LINES[3])["entry"]],
        "truncation": {"reason": "corrupt_journal", "lastSeq": 0},
    },
    separators=(",", ":"),
).encode()

HEADER: dict[str, Any] = {
    "type": "header",
    "formatVersion": 1,
    "sessionId": "run-1",
    "capabilitySet": {"agents": [{"slug": "root", "name": "Root", "modelId": "gale/tern-1"}]},
    "recorder": {"ggVersion": "0.7.0"},
}
ROOT: dict[str, Any] = {
    "type": "agent",
    "agent": {"agentId": "root", "profileId": "root", "profile": "Root", "origin": {"type": "root"}},
}
USAGE: dict[str, Any] = {"uncachedInput": 3, "cachedInput": None, "output": 2, "reasoning": None}


def dump(value: object) -> bytes:
    """``value`` as gg writes it: compact UTF-8."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def journal(*lines: object) -> bytes:
    """A journal of these lines, each an object or raw bytes."""
    return b"".join((line if isinstance(line, bytes) else dump(line)) + b"\n" for line in lines)


def end(entries: int, **truncation: object) -> dict[str, Any]:
    """The end line."""
    return {"type": "end", "entries": entries, **({"truncation": truncation} if truncation else {})}


def message(index: int, content: object = "hello", role: str = "user") -> dict[str, Any]:
    """A message line under the address of its body."""
    body = {"content": content, "role": role}
    canonical = json.dumps(body, separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode()
    return {
        "type": "message",
        "index": index,
        "message": {"id": hashlib.sha256(canonical).hexdigest()[:32], "body": body},
    }


def text(index: int, value: str) -> dict[str, Any]:
    """A text line."""
    return {"type": "text", "index": index, "text": value}


def entry(seq: int, kind: str, agent: str = "root", **payload: object) -> dict[str, Any]:
    """An entry line."""
    return {"type": "entry", "entry": {"agentId": agent, "seq": seq, "type": kind, **payload}}


def request(*messages: int, role: str = "agent", shape: str = "complete", **more: object) -> dict[str, Any]:
    """A request for these messages."""
    return {"role": role, "shape": shape, "messages": list(messages), **more}


def call(
    seq: int, *messages: int, agent: str = "root", role: str = "agent", response: object = None, **more: object
) -> dict[str, Any]:
    """A model call that sends these messages."""
    reply = {"usage": USAGE} if response is None else response
    return entry(seq, "model_io", agent, request=request(*messages, role=role), response=reply, **more)


def result(seq: int, call_id: str, output: int = 0, *, agent: str = "root", **outcome: object) -> dict[str, Any]:
    """A tool result."""
    return entry(
        seq,
        "tool_result",
        agent,
        call={"id": call_id, "name": "look", "arguments": {}},
        outcome={"ok": True, "output": output, **outcome},
    )


def asks(*ids: str, **more: object) -> dict[str, Any]:
    """A reply that asks for tool calls of these ids."""
    calls = [{"id": one, "name": f"tool_{one}", "arguments": {"n": i}} for i, one in enumerate(ids)]
    return {"usage": USAGE, "toolCalls": calls, **more}


def frame(seq: int, *messages: int, agent: str = "root", **changes: object) -> dict[str, Any]:
    """A frame of these messages, each with the same typed fields."""
    item = {"slot": "thread", "source": "history", "retention": "pinned", "turn": 1, **changes}
    return entry(seq, "prompt_frame", agent, items=[{"message": m, **item} for m in messages])


def agent(agent_id: str, origin: dict[str, Any], **more: object) -> dict[str, Any]:
    """An agent line under the root profile."""
    row = {"agentId": agent_id, "profileId": "root", "profile": "Root", "origin": origin, **more}
    return {"type": "agent", "agent": row}


def record(**members: object) -> bytes:
    """A record that is empty but for these members; a member of None is left out."""
    document = {
        "formatVersion": 1,
        "recorder": {},
        "sessionId": "run_1",
        "capabilitySet": HEADER["capabilitySet"],
        "seed": {"prompt": ""},
        "agents": [],
        "messages": [],
        "toolsets": [],
        "texts": [],
        "clips": [],
        "entries": [],
        **members,
    }
    return dump({name: value for name, value in document.items() if value is not None})


def read(data: bytes, *, bodies: bool = True) -> list[Row]:
    """All rows of ``data``."""
    return list(gg.read(Recording(io.BytesIO(data), uri="mem:x", format=gg.NAME, bodies=bodies)))


def of(rows: list[Row], kind: type[R]) -> list[R]:
    """The rows of one table."""
    return [row for row in rows if isinstance(row, kind)]


def count(rows: list[Row]) -> dict[str, int]:
    """Rows per table."""
    found: dict[str, int] = {}
    for row in rows:
        name = TABLE_OF[type(row)]
        found[name] = found.get(name, 0) + 1
    return found
