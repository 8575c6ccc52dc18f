"""Items of the conversation in (`response_item` lines, bare lines of the oldest files), entries, bodies, calls out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionlab.formats.codex.bodies import body
from sessionlab.formats.codex.calls import Calls, Verdict, verdict
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Members, Notes, items_of, members_of, shown
from sessionlab.formats.codex.runs import person_speaks, spoken
from sessionlab.formats.recording import digest63
from sessionlab.tables import Agent

HARNESS_OPENINGS = (
    "<environment_context>", "<user_instructions>", "<permissions instructions>", "<collaboration_mode>",
    "<turn_aborted>", "<skill>", "<skills_instructions>", "<subagent_notification>", "<user_shell_command>",
    "<apps_instructions>", "<plugins_instructions>", "<model_switch>", "<personality_spec>", "<INSTRUCTIONS>",
    "# AGENTS.md instructions", "<ENVIRONMENT_CONTEXT>",
)  # fmt: skip
"""How a user message opens that the recorder put into the conversation; any other one is a person's."""
DONE = {"completed": "ok", "failed": "failed", "incomplete": "interrupted", "declined": "refused"}
"""Recorded status of a call that tells itself how it ended; `in_progress` and others tell nothing."""
IN_BODY = frozenset({"type", "content", "summary", "encrypted_content", "arguments", "input", "output", "action",
                     "tools", "result"})  # fmt: skip
"""Members of an item that its body holds."""
SPAWNERS = frozenset({"spawn_agent", "agents.spawn_agent"})


def item(log: Log, calls: Calls, members: Members, kind: str | None, notes: Notes) -> None:
    """One item: its place in the conversation, its body, its entry, and the call or result in it."""
    thread = log.thread
    payload = log.payload
    handle = _HANDLERS.get(kind or "")
    if handle is None:
        members.raws.pop("type", None)
        log.entry("other", kind or "response_item", detail=log.kept(members))
        return
    position = length = None
    ix = log.messages
    if thread.window is not None and not log.figures:
        position = len(thread.window)
        thread.window.append((hash(payload), ix))
        length = position + 1
    columns = handle(log, calls, members, notes)
    body(log, payload, notes)
    raws = members.raws
    if raws:
        for name in IN_BODY & raws.keys():
            del raws[name]
    log.entry(
        columns.pop("kind"),
        kind or "response_item",
        message_ix=ix,
        position=position,
        messages=length,
        detail=log.kept(members),
        **columns,
    )


def _message(log: Log, _calls: Calls, members: Members, _notes: Notes) -> dict[str, Any]:
    thread = log.thread
    role = members.text("role")
    if role == "assistant":
        spoken(log)
        return _model()
    voice = "harness"
    if role == "user":
        opening = _opening(members.raws.get("content"))
        if opening is not None and not opening.startswith(HARNESS_OPENINGS):
            voice = "agent" if thread.is_agent else "person"
            if log.legacy:
                person_speaks(log)
    return {"kind": "message", "role": role, "voice": voice}


def _model(**more: Any) -> dict[str, Any]:  # noqa: ANN401 (columns of an Entry row)
    return {"kind": "message", "role": "assistant", "voice": "model", "purpose": "agent", **more}


def _opening(content: Any) -> str | None:  # noqa: ANN401 (a Raw or nothing)
    """How the first text of a message begins; None where it has none."""
    if content is None:
        return None
    raw = bytes(content)
    if raw[:1] == b'"':
        return (shown(raw, []) or "")[:100].lstrip()
    for part in items_of(raw) or []:
        inner = members_of(part, [])
        text = inner.text("text") if inner is not None else None
        if text is not None:
            return text[:100].lstrip()
    return ""


def _reasoning(log: Log, _calls: Calls, _members: Members, _notes: Notes) -> dict[str, Any]:
    spoken(log)
    return _turned(log, _model(name="reasoning"))


def _turned(log: Log, columns: dict[str, Any]) -> dict[str, Any]:
    return {**columns, "turn": log.thread.turns + 1}


def _call(argument: str, name: str | None = None, *, ends: bool = False) -> Callable[..., dict[str, Any]]:
    """A call whose arguments stand in the member ``argument``; ``ends``: no result follows, its status tells."""

    def handle(log: Log, calls: Calls, members: Members, notes: Notes) -> dict[str, Any]:
        spoken(log)
        called = members.text("name") or name
        space = members.text("namespace")
        called = f"{space}.{called}" if space and called else called
        call_id = members.text("call_id") or (members.text("id") if ends or name == "local_shell" else None)
        status = members.text("status")
        arguments = shown(_raw(members, argument), notes) if log.bodies else None
        ended = Verdict(DONE.get(status)) if ends and status is not None else Verdict() if ends else None
        calls.called(called, call_id, arguments, ended)
        columns = _model(name=called, call_id=call_id)
        columns["kind"] = "tool_call"
        return _turned(log, columns)

    return handle


def _raw(members: Members, name: str) -> bytes | None:
    found = members.raws.get(name)
    return bytes(found) if found is not None else None


def _output(log: Log, calls: Calls, members: Members, notes: Notes) -> dict[str, Any]:
    call_id = members.text("call_id")
    raw = _raw(members, "output")
    found, call = calls.answered(call_id, log.messages, _verdict(raw))
    if call.get("name") in SPAWNERS and raw is not None:
        _spawned(log, call_id, shown(raw, notes))
    return {
        "kind": "tool_result",
        "role": "tool",
        "voice": "tool",
        "turn": call.get("turn"),
        "name": call.get("name"),
        "call_id": call_id,
        "status": found.status,
        "reason": found.reason,
        "exit_code": found.exit_code,
        "duration_ms": found.duration_ms,
    }


def _verdict(raw: bytes | None) -> Verdict:
    """How a call ended by its output: a text, a list of parts, or an object with `content` and `success`."""
    if raw is None or raw[:1] == b'"':
        return verdict(raw)
    if raw[:1] == b"{":
        inner = members_of(raw, [])
        if inner is not None:
            success = inner.flag("success")
            text = inner.raw("content") or inner.raw("text")
            found = verdict(text) if text is not None else Verdict("ok")
            return Verdict("failed", reason=found.reason) if success is False else found
    for part in items_of(raw) or []:
        inner = members_of(part, [])
        text = inner.raw("text") if inner is not None else None
        if text is not None:
            return verdict(text)
    return Verdict("ok")


def _found(log: Log, calls: Calls, members: Members, _notes: Notes) -> dict[str, Any]:
    """What a search for tools found."""
    call_id, status = members.text("call_id"), members.text("status")
    found, call = calls.answered(call_id, log.messages, Verdict(DONE.get(status or "", "ok")))
    return {"kind": "tool_result", "role": "tool", "voice": "tool", "name": call.get("name"), "turn": call.get("turn"),
            "call_id": call_id, "status": found.status}  # fmt: skip


def _spawned(log: Log, call_id: str | None, output: str | None) -> None:
    """The result of `spawn_agent` names the thread it started: an agent of this session."""
    inner = members_of((output or "").encode(), [])
    agent_id = inner.text("agent_id") if inner is not None else None
    if inner is not None and agent_id is not None and not log.is_copy:
        spawned(log, agent_id, call_id, inner.text("nickname"), None, None)


def spawned(
    log: Log, agent_id: str, call_id: str | None, nickname: str | None, role: str | None, model: str | None
) -> None:
    """The `Agent` row of a thread this one started."""
    thread = log.thread
    depth = thread.agent_row.depth if thread.agent_row is not None else None
    log.out.append(
        Agent(
            session_id=thread.session_id,
            seq=log.seq,
            line=log.number,
            agent_id=agent_id,
            parent_agent_id=thread.agent_id,
            spawn_call_id=call_id,
            depth=None if depth is None else depth + 1,
            origin="spawn",
            profile_id=role,
            profile=nickname,
            model=model,
        )
    )


def _agent_message(log: Log, _calls: Calls, members: Members, _notes: Notes) -> dict[str, Any]:
    """What one agent tells another."""
    return {"kind": "message", "role": "user", "voice": "agent", "name": members.text("author"),
            "run": log.thread.run}  # fmt: skip


def _snapshot(_log: Log, _calls: Calls, _members: Members, _notes: Notes) -> dict[str, Any]:
    return {"kind": "note", "voice": "harness"}


def _assistant_or_not(log: Log, calls: Calls, members: Members, notes: Notes) -> dict[str, Any]:
    columns = _message(log, calls, members, notes)
    return _turned(log, columns) if columns["voice"] == "model" else columns


_HANDLERS: dict[str, Callable[[Log, Calls, Members, Notes], dict[str, Any]]] = {
    "message": _assistant_or_not,
    "reasoning": _reasoning,
    "function_call": _call("arguments"),
    "custom_tool_call": _call("input"),
    "local_shell_call": _call("action", "local_shell"),
    "tool_search_call": _call("arguments", "tool_search"),
    "web_search_call": _call("action", "web_search", ends=True),
    "image_generation_call": _call("revised_prompt", "image_generation", ends=True),
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "local_shell_call_output": _output,
    "tool_search_output": _found,
    "agent_message": _agent_message,
    "ghost_snapshot": _snapshot,
}


def replaced(log: Log, history: list[bytes], notes: Notes) -> list[tuple[int, int]]:
    """The items of a replacement history as (hash, index of the body); one that stood before is not pooled again."""
    known = dict(log.thread.window or [])
    found: list[tuple[int, int]] = []
    for raw in history:
        digest = hash(raw)  # equal bytes of one file: the number never leaves it
        ix = known.get(digest)
        if ix is None:
            ix = body(log, raw, notes, content_id=f"{digest63(raw):016x}")
            known[digest] = ix
        found.append((digest, ix))
    return found
