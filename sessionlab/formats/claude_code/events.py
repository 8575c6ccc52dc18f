"""Lines that are no chat in (`system`, `progress`, `attachment`, bookkeeping), `Entry` rows out.

A payload that no column holds stays in `detail` while it is short; a longer one is a body of the `text` pool.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from sessionlab.formats._values import compact, detail, micros
from sessionlab.formats.claude_code.bodies import body
from sessionlab.formats.claude_code.decoding import Notes, lenient, message_of, text_of, value_of
from sessionlab.formats.claude_code.outcomes import outcome
from sessionlab.formats.claude_code.records import (
    Attachment,
    CompactMetadata,
    Embedded,
    Line,
    Message,
    Part,
    Progress,
)
from sessionlab.formats.claude_code.state import DETAIL_BYTES, AgentState, Transcript
from sessionlab.formats.claude_code.usage import charge
from sessionlab.formats.recording import digest63

BOOKKEEPING: dict[str, str] = {
    "file-history-snapshot": "state",
    "file-history-delta": "state",
    "queue-operation": "note",
    "last-prompt": "note",
    "permission-mode": "config",
    "mode": "config",
    "ai-title": "title",
    "custom-title": "title",
    "summary": "title",
    "agent-name": "note",
    "pr-link": "state",
    "bridge-session": "state",
    "atis-latch": "state",
    "frame-link": "state",
}
"""Kind of entry per type of line that stands outside the conversation."""

SYSTEM: dict[str, str] = {
    "stop_hook_summary": "hook",
    "turn_duration": "run_end",
    "compact_boundary": "compaction",
    "microcompact_boundary": "rewrite",
    "api_error": "model_error",
    "model_refusal_fallback": "model_error",
    "local_command": "command",
}
"""Kind of entry per subtype of a `system` line; any other subtype is a note."""

_progress = msgspec.json.Decoder(Progress)
_embedded = msgspec.json.Decoder(Embedded)
_attachment = msgspec.json.Decoder(Attachment)
_compact = msgspec.json.Decoder(CompactMetadata)
_CALL_PARTS = ("tool_use", "server_tool_use")


def _kept(t: Transcript, name: str, payload: Raw | str | None) -> tuple[object, int | None]:
    """A payload for `detail`, or, when it is long, the index of the text it was put aside as."""
    if not payload:
        return None, None
    text = payload if isinstance(payload, str) else text_of(payload)
    if text is None:
        return None, None
    if len(text) <= DETAIL_BYTES:
        return (payload if isinstance(payload, str) else value_of(payload)), None
    return None, t.text(text, name)


def system(t: Transcript, line: Line, _notes: Notes) -> None:
    """A `system` line, by its subtype."""
    subtype = line.subtype or ""
    kind, native = SYSTEM.get(subtype, "note"), f"system/{subtype}"
    if subtype == "turn_duration":
        t.entry(kind, native, duration_ms=_ms(line.duration_ms), detail=_more(line, messages=line.message_count))
        outcome(t, duration_ms=_ms(line.duration_ms))
    elif subtype == "stop_hook_summary":
        hooks, ix = _kept(t, "hookInfos", line.hook_infos)
        failed = bool(line.hook_errors) and bytes(line.hook_errors) != b"[]"
        t.entry(
            kind,
            native,
            name="Stop",
            call_id=line.tool_use_id,
            status="failed" if failed else "ok",
            reason=line.stop_reason or None,
            output_ix=ix,
            voice="harness",
            detail=_more(
                line,
                hooks=hooks,
                errors=value_of(line.hook_errors) if failed else None,
                context=value_of(line.hook_additional_context),
                stopped=line.prevented_continuation or None,
            ),
        )
    elif kind in ("compaction", "rewrite"):
        _boundary(t, line, kind, native)
    elif subtype == "api_error":
        error, ix = _kept(t, "error", line.error)
        t.entry(
            kind,
            native,
            status="failed",
            voice="harness",
            reason=_error_word(line.error, line.cause),
            output_ix=ix,
            detail=_more(
                line,
                error=error,
                retry_attempt=line.retry_attempt,
                max_retries=line.max_retries,
                retry_in_ms=_ms(line.retry_in_ms),
            ),
        )
    elif subtype == "model_refusal_fallback":
        t.entry(
            kind,
            native,
            status="refused",
            voice="harness",
            name=line.original_model,
            reason=line.api_refusal_category or line.trigger,
            detail=_more(
                line,
                text=text_of(line.content),
                fallback_model=line.fallback_model,
                direction=line.direction,
                request_id=line.request_id,
                explanation=line.api_refusal_explanation,
                refused_uuid=line.refused_user_message_uuid,
            ),
        )
    else:
        text, ix = _kept(t, "content", line.content)
        t.entry(
            kind,
            native,
            name=_command_name(line.content) if kind == "command" else None,
            voice="harness",
            output_ix=ix,
            detail=_more(line, text=text, level=line.level, url=line.url),
        )


def _boundary(t: Transcript, line: Line, kind: str, native: str) -> None:
    """The conversation before this line was summarised, or cleared of old results without a summary."""
    agent = t.agent
    raw = line.compact_metadata or line.microcompact_metadata
    told = lenient(raw, _compact) or CompactMetadata()
    whole, ix = _kept(t, "compactMetadata", raw)
    after = told.post_tokens
    if after is None and told.tokens_saved is not None and told.pre_tokens is not None:
        after = max(told.pre_tokens - told.tokens_saved, 0)
    t.entry(
        kind,
        native,
        voice="harness",
        purpose="compaction" if kind == "compaction" else None,
        duration_ms=_ms(told.duration_ms),
        output_ix=ix,
        detail=_more(
            line,
            trigger=told.trigger,
            before_tokens=told.pre_tokens,
            after_tokens=after,
            metadata=whole,
            logical_parent=line.logical_parent_uuid,
        ),
    )
    agent.epoch += 1
    if kind == "compaction" and agent.run is not None:
        agent.run.compactions += 1


def _error_word(error: Raw, cause: Raw) -> str | None:
    """The shortest word for an error: its type, code, status or message, wherever it stands."""
    for raw in (error, cause):
        found = _word(msgspec.json.decode(raw) if raw else None, 3)
        if found is not None:
            return found
    return None


def _word(value: object, depth: int) -> str | None:
    if isinstance(value, str):
        return value.split("\n", 1)[0][:DETAIL_BYTES] or None
    if not isinstance(value, dict) or depth == 0:
        return None
    for name in ("error", "cause"):
        inner = _word(value.get(name), depth - 1)
        if inner is not None:
            return inner
    return next((str(value[name]) for name in ("type", "code", "status", "message") if value.get(name)), None)


def _command_name(content: Raw) -> str | None:
    text = text_of(content) or ""
    _before, tag, rest = text.partition("<command-name>")
    return rest.partition("</command-name>")[0].strip() or None if tag else None


def progress(t: Transcript, line: Line, notes: Notes) -> None:
    """A `progress` line: a hook, a running tool, or a subagent's message repeated in its parent's file."""
    data = lenient(line.data, _progress) or Progress()
    kind = data.type or ""
    if kind == "agent_progress":
        _echo(t, line, data, notes)
        return
    kept, ix = _kept(t, "data", line.data)
    hook = kind == "hook_progress"
    t.entry(
        "hook" if hook else "note",
        f"progress/{kind}",
        voice="harness",
        name=data.hook_name if hook else None,
        call_id=line.parent_tool_use_id,
        output_ix=ix,
        detail=_more(line, data=kept),
    )


def _echo(t: Transcript, line: Line, data: Progress, notes: Notes) -> None:
    """A subagent's message in its parent's file: its usage has the charge of the subagent's own line (rule 11).

    Its tool calls are not repeated as rows: they have no charge to fold by.
    """
    parent = t.agent
    inner = lenient(data.message, _embedded) or Embedded()
    agent = parent
    if data.agent_id is not None:
        agent = t.agent_of(
            data.agent_id,
            parent_agent_id=parent.agent_id,
            spawn_call_id=line.parent_tool_use_id,
            depth=parent.row.depth + 1 if parent.row.depth is not None else None,
        )
    message = message_of(inner.message, notes)
    ix = body(t, message, len(bytes(inner.message)) if t.bodies else 0, ()) if message is not None else None
    charged = message is not None and inner.type == "assistant" and message.usage is not None
    t.entry(
        "echo",
        "progress/agent_progress",
        agent_id=agent.agent_id,
        run=agent.prompts,
        role=message.role if message is not None else None,
        voice="model" if inner.type == "assistant" else "tool" if _answers(message) else "agent",
        call_id=line.parent_tool_use_id,
        charge_id=message.id if message is not None else None,
        message_ix=ix,
        reason=message.stop_reason if message is not None else None,
        started_at=micros(inner.timestamp),
        detail=_more(line),
    )
    if charged and message is not None and message.usage is not None:
        _charge_echo(t, agent, line, message, inner)


def _charge_echo(t: Transcript, agent: AgentState, line: Line, message: Message, inner: Embedded) -> None:
    assert message.usage is not None
    charge(
        t,
        agent,
        line,
        message.id,
        message.model,
        message.usage,
        stopped=message.stop_reason is not None,
        characters=sum(map(characters_of, message.content)) if isinstance(message.content, list) else 0,
        recorded_in="progress",
        turn=None,
        request_id=inner.request_id,
    )


def characters_of(part: Part) -> int:
    """How much of the reply's text a part holds, as JSON: what its output tokens are compared with."""
    if part.type in _CALL_PARTS:
        return len(memoryview(part.input))
    if part.type == "text":
        return max(len(memoryview(part.text)) - 2, 0)
    return max(len(memoryview(part.thinking)) - 2, 0) if part.type == "thinking" else 0


def _answers(message: Message | None) -> bool:
    return (
        message is not None
        and isinstance(message.content, list)
        and any(part.type == "tool_result" for part in message.content)
    )


def attachment(t: Transcript, line: Line, _notes: Notes) -> None:
    """An `attachment` line: what the recorder or a hook added to the conversation."""
    told = lenient(line.attachment, _attachment) or Attachment()
    kind = told.type or ""
    kept, ix = _kept(t, "attachment", line.attachment)
    native = f"attachment/{kind}"
    if kind.startswith("hook_"):
        t.entry(
            "hook",
            native,
            voice="harness",
            name=told.hook_name or told.hook_event,
            call_id=told.tool_use_id,
            duration_ms=_ms(told.duration_ms),
            exit_code=told.exit_code,
            status=_hook_status(kind, told.exit_code),
            output_ix=ix,
            detail=_more(line, attachment=kept),
        )
    elif kind == "queued_command":
        by_person = told.command_mode in (None, "prompt") and not (text_of(told.prompt) or "").startswith("<")
        t.entry(
            "note",
            native,
            role="user",
            voice="person" if by_person else "harness",
            output_ix=ix,
            detail=_more(line, attachment=kept),
        )
    elif kind == "goal_status":
        t.entry(
            "goal",
            native,
            voice="harness",
            name=told.condition,
            status="ok" if told.met else None,
            output_ix=ix,
            detail=_more(line, attachment=kept),
        )
    else:
        t.entry("note", native, voice="harness", output_ix=ix, detail=_more(line, attachment=kept))


def _hook_status(kind: str, exit_code: int | None) -> str | None:
    if kind == "hook_success" or exit_code == 0:
        return "ok"
    if kind in ("hook_blocking_error", "hook_stopped_continuation"):
        return "refused"
    return "failed" if "error" in kind or exit_code else None


def bookkeeping(t: Transcript, line: Line, _notes: Notes) -> None:
    """A line outside the conversation: titles, modes, snapshots of edited files, the queue."""
    kind = line.type or ""
    if kind in ("ai-title", "custom-title", "summary"):
        _title(t, line, kind)
    elif kind in ("mode", "permission-mode"):
        agent = t.agent
        before = (agent.mode, agent.permission)
        agent.mode, agent.permission = line.mode or agent.mode, line.permission_mode or agent.permission
        t.entry("config", kind, voice="harness", name=line.mode or line.permission_mode, detail=_more(line))
        if kind == "mode" and before != (agent.mode, agent.permission):
            t.configured()
    elif kind.startswith("file-history"):
        kept, ix = _kept(t, "snapshot", line.snapshot)
        _hang(t, line.message_id)
        t.entry(
            "state",
            kind,
            voice="harness",
            output_ix=ix,
            detail=_more(line, snapshot=kept, update=line.is_snapshot_update),
        )
    elif kind == "queue-operation":
        kept, ix = _kept(t, "content", line.content)
        t.entry("note", kind, name=line.operation, output_ix=ix, detail=_more(line, content=kept))
    elif kind == "last-prompt":
        kept, ix = _kept(t, "lastPrompt", line.last_prompt)
        _hang(t, line.leaf_uuid)
        t.entry("note", kind, voice="harness", output_ix=ix, detail=_more(line, prompt=kept))
    else:
        other(t, line, BOOKKEEPING.get(kind, "other"))


def _title(t: Transcript, line: Line, kind: str) -> None:
    text = line.ai_title or line.custom_title or line.summary
    if kind == "summary":
        _hang(t, line.leaf_uuid)
        if text is not None and t.parent_id is not None:
            t.summaries.append((t.parent_id, text))
    elif text is not None:
        t.session.titles[kind.removesuffix("-title")] = text
    t.entry("title", kind, voice="person" if kind == "custom-title" else "harness", name=text, detail=_more(line))


def _hang(t: Transcript, uuid: str | None) -> None:
    """The record hangs from the one with that uuid, in this file or another."""
    if uuid is not None:
        t.parent_id = digest63(uuid)


def other(t: Transcript, line: Line, kind: str = "other") -> None:
    """A line of a type this reader does not know: all it says, in `detail` or as a text."""
    members = {
        found.encode_name: value
        for found in msgspec.structs.fields(line)
        if found.name != "rest" and (value := getattr(line, found.name)) not in (None, Raw(b""))
    }
    for placed in ("uuid", "parentUuid", "sessionId", "timestamp", "agentId"):
        members.pop(placed, None)
    kept, ix = _kept(t, "line", Raw(compact({**members, **(line.rest or {})}).encode()))
    t.entry(kind, line.type or "", output_ix=ix, detail=detail(line=kept) if kept != Raw(b"{}") else None)


def _ms(value: float | None) -> int | None:
    return None if value is None else round(value)


def _more(line: Line, **members: object) -> str | None:
    return detail(**members, rest=line.rest)
