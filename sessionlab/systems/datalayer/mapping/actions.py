"""Tool calls and commands in; `tool_call`, `decision`, `approval` and `terminal` entries out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sessionlab.systems.datalayer.mapping.lengths import summary

if TYPE_CHECKING:
    from sessionlab.systems.datalayer.mapping.lane import Lane
    from sessionlab.systems.datalayer.mapping.material import Call, Material, Told
    from sessionlab.systems.datalayer.mapping.script import Payload, Script

_WORDS = {"ok": "completed"}
_ERRORS = frozenset({"failed", "refused", "interrupted"})
_BECAUSE = {"hook": "hook"}
_ARGUMENTS = {
    "path": ("path", "file_path", "filename", "notebook_path"),
    "command": ("command", "cmd"),
    "url": ("url",),
}
"""Member of the payload, and the arguments it is read from."""


def tell_call(script: Script, material: Material, lane: Lane, call: Call, at: str) -> None:
    """A tool call: before one that was refused, who or what refused it."""
    lengths = script.lengths
    if call.status == "refused":
        _refusal(script, lane, call, at)
    text = _output(material, call)
    payload: Payload = {
        "tool": call.name or "unknown",
        "tool_call_id": call.call_id,
        "arguments": lengths.arguments(call.arguments or ""),
        "result": None if text is None else lengths.result(text),
        "error": True if call.status in _ERRORS else None,
        "status": None if call.status in (None, "unanswered") else _WORDS.get(call.status, call.status),
        "exit_code": call.exit_code,
        "by": call.caller if call.caller != "model" else None,
        "agent": lane.named,
        **_told_by_arguments(script, call.arguments),
    }
    if call.status in ("failed", "refused"):
        payload["status"] = "failed"
    lane.heard.add(text or "")
    script.add("tool_call", at, payload, summary(call.name or "unknown", call.status or "no result told"))


def tell_command(script: Script, material: Material, lane: Lane, told: Told, at: str) -> None:
    """A command that ran: `terminal`, since its tool's call is told by itself."""
    errors = told.detail.get("stderr_ix")
    output = material.texts(told.source, "text", told.output_ix)
    error_output = material.texts(told.source, "text", errors) if type(errors) is int else None
    script.add(
        "terminal", at,
        {
            "command": script.lengths.arguments(told.name or ""),
            "cwd": told.detail.get("cwd"),
            "exit_code": told.exit_code,
            "status": _WORDS.get(told.status, told.status) if told.status is not None else None,
            "output": script.lengths.result(output or ""),
            "error_output": script.lengths.result(error_output) if error_output else None,
            "by": told.detail.get("origin") or told.native,
            "agent": lane.named,
        },
        summary(told.name, told.status),
    )  # fmt: skip


def _refusal(script: Script, lane: Lane, call: Call, at: str) -> None:
    name = call.name or "unknown"
    if call.refused_by == "person":
        script.add(
            "approval", at,
            {
                "tool": name, "outcome": "declined", "asked_under": "",
                "note": script.lengths.result(call.reason or ""), "tool_call_id": call.call_id, "agent": lane.named,
            },
            summary(name, "declined"),
        )  # fmt: skip
        return
    script.add(
        "decision", at,
        {
            "tool": name, "behaviour": "refused", "because": _BECAUSE.get(call.refused_by or "", "permission"),
            "classes": [], "refused": script.lengths.result(call.reason or "refused"), "tool_call_id": call.call_id,
            "agent": lane.named,
        },
        summary(name, "refused", call.reason),
    )  # fmt: skip


def _output(material: Material, call: Call) -> str | None:
    if call.output_pool is None or call.output_ix is None:
        return None
    parts = material.parts.get((call.source, call.output_pool, call.output_ix), [])
    if call.output_block is None:
        return material.texts(call.source, call.output_pool, call.output_ix) or ""
    return (parts[call.output_block].text or "") if call.output_block < len(parts) else None


def _told_by_arguments(script: Script, arguments: str | None) -> Payload:
    try:
        told = json.loads(arguments) if arguments and arguments.startswith("{") else None
    except ValueError:
        return {}
    if not isinstance(told, dict):
        return {}
    found: Payload = {}
    for member, names in _ARGUMENTS.items():
        value = next((told[name] for name in names if isinstance(told.get(name), str)), None)
        if isinstance(value, str):
            found[member] = script.lengths.arguments(value)
    return found
