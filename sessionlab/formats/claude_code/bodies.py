"""A message's content in, `Pool` and `Block` rows out: one body per message, one block per part, extras last."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from sessionlab.formats._values import compact, detail
from sessionlab.formats.claude_code.decoding import text_of, value_of
from sessionlab.formats.claude_code.records import REST, Line, Message, Part
from sessionlab.formats.claude_code.state import Transcript
from sessionlab.tables import Block, Pool

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def body(t: Transcript, message: Message, size: int | None, line: Line | None = None) -> int:
    """Give out the body of the current record's message; its index in the `message` pool.

    The index is counted with or without bodies, so that references are the same. Members of the ``line``
    that belong to what was said (`toolUseResult`, `planContent`, `mcpMeta`) become blocks of kind `extra`.
    """
    ix = t.messages
    t.messages += 1
    if not t.bodies:
        return ix
    session_id, number = t.session.session_id, t.number
    t.out.append(
        Pool(
            session_id=session_id,
            line=number,
            pool="message",
            ix=ix,
            role=message.role,
            body_bytes=size,
        )
    )
    content = message.content
    count = 0
    if isinstance(content, str):
        t.out.append(
            Block(session_id=session_id, line=number, pool="message", ix=ix, block=0, kind="text", text=content)
        )
        count = 1
    elif content is not None:
        for part in content:
            t.out.append(_block(session_id, number, ix, count, part))
            count += 1
    for name, extra in _extras(line):
        if value_of(extra) is not None:
            t.out.append(
                Block(
                    session_id=session_id,
                    line=number,
                    pool="message",
                    ix=ix,
                    block=count,
                    kind="extra",
                    name=name,
                    text=text_of(extra),
                )
            )
            count += 1
    return ix


def _extras(line: Line | None) -> tuple[tuple[str, Raw], ...]:
    if line is None:
        return ()
    return (("toolUseResult", line.tool_use_result), ("planContent", line.plan_content), ("mcpMeta", line.mcp_meta))


def _block(session_id: str, line: int, ix: int, block: int, part: Part) -> Block:
    kind, call_id, name, text, more = part.type, None, None, None, None
    if kind == "text":
        text = text_of(part.text)
        if part.citations or part.rest:
            more = detail(citations=value_of(part.citations), rest=part.rest)
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        shown, call_id = "result", part.tool_use_id
        text, others = _result(part.content)
        if part.is_error is not None or others or part.rest or kind != "tool_result":
            more = detail(
                is_error=part.is_error,
                parts=others or None,
                type=kind if kind != "tool_result" else None,
                rest=part.rest,
            )
        kind = shown
    elif kind in CALLS:
        shown, call_id, name = "call", part.id, part.name
        text = bytes(part.input).decode() if part.input else None
        if part.caller or part.rest or kind != "tool_use":
            more = detail(caller=value_of(part.caller), type=kind if kind != "tool_use" else None, rest=part.rest)
        kind = shown
    elif kind in ("thinking", "redacted_thinking"):
        kind, text = "thinking", text_of(part.thinking)
        more = detail(signature=value_of(part.signature), data=value_of(part.data), rest=part.rest)
    elif kind == "image":
        more = detail(source=value_of(part.source), rest=part.rest)
    else:
        kind, name = "extra", kind or None
        text = _whole(part)
    return Block(
        session_id=session_id,
        line=line,
        pool="message",
        ix=ix,
        block=block,
        kind=kind,
        call_id=call_id,
        name=name,
        text=text,
        detail=more,
    )


def _whole(part: Part) -> str:
    """A part of a kind that no block has, as JSON of the members it was given."""
    members: dict[str, object] = {}
    for found in msgspec.structs.fields(part):
        value = getattr(part, found.name)
        if value is None or (isinstance(value, Raw) and not value) or found.encode_name == REST:
            continue
        members[found.encode_name] = value
    return compact({**members, **(part.rest or {})})


_decode_parts = msgspec.json.Decoder(list[Raw])
_decode_text = msgspec.json.Decoder(dict[str, Raw])


def _result(content: Raw) -> tuple[str | None, list[Raw]]:
    """The text of a tool's result, and the parts of it that are no text (images, references)."""
    raw = bytes(content)
    if raw[:1] != b"[":
        return text_of(content), []
    texts: list[str] = []
    others: list[Raw] = []
    for item in _decode_parts.decode(raw):
        members = _decode_text.decode(item) if bytes(item)[:1] == b"{" else {}
        if members.keys() == {"type", "text"} and bytes(members["text"])[:1] == b'"':
            texts.append(text_of(members["text"]) or "")
        else:
            others.append(item)
    return "\n".join(texts) if texts else None, others
