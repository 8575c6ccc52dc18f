"""An item of the conversation in, `Pool` and `Block` rows out: one body per item, one block per part."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from sessionlab.formats._values import detail
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Members, Notes, items_of, members_of, shown
from sessionlab.tables import Block, Pool

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "tool_search_call": "arguments",
    "web_search_call": "action",
    "image_generation_call": "revised_prompt",
}
"""Calls, and the member that holds their arguments."""
RESULTS = {"function_call_output": "output", "custom_tool_call_output": "output", "local_shell_call_output": "output",
           "tool_search_output": "tools"}  # fmt: skip
"""Results, and the member that holds what came back."""
NAMES = {"local_shell_call": "local_shell", "tool_search_call": "tool_search", "web_search_call": "web_search",
         "image_generation_call": "image_generation"}  # fmt: skip
TEXTS = frozenset({"input_text", "output_text", "text", "inputText", "summary_text", "reasoning_text"})
IMAGES = frozenset({"input_image", "image", "inputImage"})


def item_role(kind: str | None, role: str | None) -> str | None:
    """The role of an item: a message tells it, calls and reasoning are the assistant's, results a tool's."""
    if role is not None or kind in {"message", "agent_message", None}:
        return role
    if kind in RESULTS:
        return "tool"
    return "assistant" if kind in CALLS or kind == "reasoning" else None


def body(log: Log, raw: bytes, notes: Notes, *, content_id: str | None = None) -> int:
    """Give out the body of an item; its index in the `message` pool, counted with or without bodies."""
    ix = log.messages
    log.messages += 1
    if not log.bodies:
        return ix
    members = members_of(raw, notes)
    kind = members.text("type") if members is not None else None
    role = members.text("role") if members is not None else None
    session_id, line = log.thread.session_id, log.number
    log.out.append(
        Pool(
            session_id=session_id,
            line=line,
            pool="message",
            ix=ix,
            content_id=content_id,
            role=item_role(kind, role),
            body_bytes=len(raw),
        )
    )
    blocks = [{"kind": "extra", "text": raw.decode()}] if members is None else _blocks(kind, members, raw, notes)
    for number, columns in enumerate(blocks):
        log.out.append(Block(session_id=session_id, line=line, pool="message", ix=ix, block=number, **columns))
    return ix


def _blocks(kind: str | None, members: Members, raw: bytes, notes: Notes) -> list[dict[str, Any]]:
    if kind in CALLS:
        text = shown(members.raw(CALLS[kind]), notes)
        name = members.text("name") or NAMES.get(kind)
        found = [{"kind": "call", "call_id": members.text("call_id"), "name": name, "text": text}]
        result = members.raw("result")
        if result is not None:
            found.append({"kind": "image", "name": "result", "text": shown(result, notes)})
        return found
    if kind in RESULTS:
        text, others = _texts(members.raw(RESULTS[kind]), notes)
        more = detail(parts=others) if others else None
        return [{"kind": "result", "call_id": members.text("call_id"), "text": text, "detail": more}]
    if kind == "reasoning":
        sealed = members.raw("encrypted_content")
        more = detail(encrypted_content=Raw(sealed)) if sealed is not None else None
        parts = [part for name in ("summary", "content") for part in items_of(members.raw(name)) or []]
        texts = [_texts(b"[" + part + b"]", notes)[0] or part.decode() for part in parts]
        found = [{"kind": "thinking", "text": text, "detail": None} for text in texts]
        if not found:
            found = [{"kind": "thinking", "text": None, "detail": None}]
        found[-1]["detail"] = more
        return found
    if kind in {"message", "agent_message"}:
        content = members.raw("content")
        items = items_of(content)
        if items is None:
            return [{"kind": "text", "text": shown(content, notes)}]
        return [_part(part, notes) for part in items]
    return [{"kind": "extra", "name": kind, "text": raw.decode()}]


def _part(raw: bytes, notes: Notes) -> dict[str, Any]:
    """One part of a message."""
    members = members_of(raw, notes)
    if members is None:
        return {"kind": "text" if raw[:1] == b'"' else "extra", "text": shown(raw, notes)}
    kind = members.text("type")
    if kind in TEXTS:
        text = members.text("text")
        rest = members.rest()
        return {"kind": "text", "text": text, "detail": detail(rest=rest)}
    if kind in IMAGES:
        return {"kind": "image", "text": shown(members.raw("image_url"), notes), "detail": detail(rest=members.rest())}
    return {"kind": "extra", "name": kind, "text": raw.decode()}


def _texts(raw: bytes | None, notes: Notes) -> tuple[str | None, list[Raw]]:
    """The text of a result or of reasoning, and the parts that are no text."""
    if raw is None or raw[:1] == b'"':
        return shown(raw, notes), []
    parts = items_of(raw)
    if parts is None:
        members = members_of(raw, notes)
        inner = members.raw("content") or members.raw("text") if members is not None else None
        if inner is None:
            return raw.decode(), []
        others = [Raw(raw)] if members is not None and members.rest() is not None else []
        return _texts(inner, notes)[0], others
    texts: list[str] = []
    others = []
    for part in parts:
        members = members_of(part, notes)
        kind = members.text("type") if members is not None else None
        text = members.text("text") if members is not None and kind in TEXTS else None
        if text is None:
            others.append(Raw(part))
        else:
            texts.append(text)
    return "\n".join(texts) if texts else None, others
