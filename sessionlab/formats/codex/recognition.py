"""The first bytes of a file in, whether they are a Codex rollout out: content decides, never the name."""

from __future__ import annotations

import json

LINE_TYPES = frozenset({
    "session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state",
    "inter_agent_communication_metadata", "token_usage_record",
})  # fmt: skip
"""Types of an enveloped line."""
ITEM_TYPES = frozenset({
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call",
})  # fmt: skip
"""Types of a bare line, as written before lines had an envelope (2025)."""
STRANGE_LINES = 8
"""Lines that may stand before the first record without being one: torn lines, comments."""
_decoder = json.JSONDecoder()


def sniff(head: bytes) -> bool:
    """Whether one of the first lines is a record of a rollout: an enveloped one, or a bare one of the oldest files.

    A line cut off by the end of ``head`` is judged by the members that stand whole before the cut.
    """
    strange = 0
    for line in head.decode("utf-8", "replace").removeprefix("\ufeff").split("\n"):
        bare = line.strip("\0 \t\r")
        if not bare:
            continue
        if _is_record(_members(bare)):
            return True
        strange += 1
        if strange > STRANGE_LINES:
            return False
    return False


def _is_record(members: dict[str, object]) -> bool:
    kind = members.get("type")
    if "payload" in members:
        return isinstance(kind, str) and kind in LINE_TYPES
    if kind is None:
        if members.get("record_type") == "state":
            return len(members) <= 2  # noqa: PLR2004 (the mark, and what may have been added to it)
        return isinstance(members.get("id"), str) and "timestamp" in members and "instructions" in members
    if not isinstance(kind, str) or kind not in ITEM_TYPES or "timestamp" in members:
        return False
    content = members.get("content")
    if kind == "message":
        first = content[0] if isinstance(content, list) and content else None
        return isinstance(first, dict) and first.get("type") in {"input_text", "output_text", "input_image"}
    if kind == "reasoning":
        return isinstance(members.get("summary"), list)
    return isinstance(members.get("call_id"), str) or kind == "web_search_call"


def _members(line: str) -> dict[str, object]:
    """The members of the object a line begins with; one that is cut off is named, with None."""
    found: dict[str, object] = {}
    at = 1
    try:
        while line[at - 1] in "{,":
            name, at = _decoder.raw_decode(line, _skip(line, at))
            at = _skip(line, at)
            if not isinstance(name, str) or line[at] != ":":
                break
            found[name] = None
            found[name], at = _decoder.raw_decode(line, _skip(line, at + 1))
            at = _skip(line, at) + 1
    except (ValueError, IndexError, RecursionError):
        pass
    return found


def _skip(line: str, at: int) -> int:
    while line[at].isspace():
        at += 1
    return at
