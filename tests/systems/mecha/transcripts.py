"""Session directories filled by hand, and a reader of transcripts written from sections 3 to 5 alone: test builders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.formats.mecha_lines import META, line

HEADERS = ("id", "created_at", "provider", "model", "workspace", "title", "kind")
USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
OUTCOME = (
    "turns", "usage", "cost_usd", "usage_complete", "stop_cause", "exhausted", "ended_on_failed_call", "tool_calls",
    "tool_errors", "tool_denied", "tool_staged", "malformed_tool_args", "blocked_sends", "compactions", "taint",
)  # fmt: skip
CONFIG = (
    "mecha_version", "provider", "model", "workspace", "system_prompt", "tools", "effort", "temperature", "seed",
    "thinking", "cache_prompt", "max_tokens", "max_turns", "max_output_tokens", "max_cost_usd", "compact_at_tokens",
    "compact_keep_recent", "permission_mode", "trifecta", "sandbox", "sandbox_network",
)  # fmt: skip
BLOCKS = {
    "text": ("text",),
    "thinking": ("text", "signature"),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id", "content", "is_error"),
    "image": ("media_type", "data", "source"),
}
MESSAGE = ("role", "content", "tool_provenance", "harness", "planning")


def header(session_id: str, created_at: str = "2026-11-01T07:00:00Z", **members: Any) -> bytes:
    """A header line."""
    return line(**{**META, "id": session_id, "created_at": created_at, **members}) + b"\n"


def stored(folder: Path, session_id: str, created_at: str = "2026-11-01T07:00:00Z", **members: Any) -> Path:
    """A transcript of a header alone, in a session directory."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session_id}.jsonl"
    path.write_bytes(header(session_id, created_at, **members))
    return path


def records(path: Path) -> list[dict[str, Any]]:
    """Every record of a transcript, read strictly; a line that mecha would not have written is an AssertionError."""
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [_record(each) for each in data[:-1].split(b"\n")]


def words(path: Path) -> list[str]:
    """The words of the records, in order."""
    return [record["record"] for record in records(path)]


def folded(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The message list that the records lead to (8.2)."""
    messages: list[dict[str, Any]] = []
    for record in found:
        if record["record"] == "message":
            messages.append({name: value for name, value in record.items() if name != "record"})
        elif record["record"] == "rewrite":
            messages = list(record["messages"])
    return messages


def _record(text: bytes) -> dict[str, Any]:
    record = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_number)
    assert text.decode() == json.dumps(record, ensure_ascii=False, separators=(",", ":")), "compact, unescaped"
    assert next(iter(record)) == "record"
    word = record["record"]
    members = {name: value for name, value in record.items() if name != "record"}
    if word == "message":
        _message(members)
    elif word == "rewrite":
        assert list(members) == ["messages"]
        for message in members["messages"]:
            _message(message)
    elif word == "taint":
        assert list(members) == ["private", "untrusted"]
        assert all(type(leg) is bool for leg in members.values())
    elif word == "summary":
        assert list(members) == ["usage", "turns"]
        _usage(members["usage"])
    elif word == "outcome":
        _in_order(members, OUTCOME, may_lack={"cost_usd", "stop_cause"})
        _usage(members["usage"])
    elif word == "config":
        _in_order(members, (*CONFIG, "tools_hash"), may_lack={"tools_hash"})
    elif word == "meta":
        _in_order(members, HEADERS, may_lack={"title", "kind"})
    else:
        assert (word, list(members)) in [("title", ["title"]), ("goal_anchor", ["goal"])]
    return record


def _message(message: dict[str, Any]) -> None:
    _in_order(message, MESSAGE, may_lack={"tool_provenance", "harness", "planning"})
    assert message["role"] in ("user", "assistant")
    assert message.get("harness", True) is True, "false is left out"
    provenance = message.get("tool_provenance", {"x": True})
    assert provenance, "an empty one is left out"
    assert all(type(value) is bool for value in provenance.values())
    for block in message["content"]:
        assert next(iter(block)) == "type"
        names = BLOCKS[block["type"]]
        _in_order({k: v for k, v in block.items() if k != "type"}, names, may_lack={"signature", "source"})
        for name in set(names) & block.keys() - {"input"}:
            assert type(block[name]) is (bool if name == "is_error" else str), name
        if block["type"] == "tool_use":
            _sorted(block["input"])


def _in_order(members: dict[str, Any], names: tuple[str, ...], *, may_lack: set[str]) -> None:
    expected = [name for name in names if name in members or name not in may_lack]
    assert list(members) == expected
    assert all(members[name] is not None for name in may_lack & members.keys()), "null is left out"


def _usage(usage: dict[str, Any]) -> None:
    assert tuple(usage) == USAGE
    assert all(type(count) is int and 0 <= count < 2**64 for count in usage.values())


def _sorted(value: Any) -> None:
    if isinstance(value, dict):
        assert list(value) == sorted(value)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _sorted(inner)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({name for name, _ in pairs}) == len(pairs), "a member stands once"
    return dict(pairs)


def _no_number(text: str) -> None:
    raise AssertionError(f"{text} is no number")
