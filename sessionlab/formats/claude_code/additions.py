"""`progress` and `attachment` lines in, `Entry` rows out: what stands beside the conversation while it runs."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from sessionlab.formats.claude_code.bodies import body
from sessionlab.formats.claude_code.decoding import UNREADABLE, Notes, lenient, message_of, partly, text_of
from sessionlab.formats.claude_code.messages import reply_status
from sessionlab.formats.claude_code.payload import details, kept, milliseconds
from sessionlab.formats.claude_code.records import Attachment, Embedded, Line, Message, Part, Progress
from sessionlab.formats.claude_code.state import Transcript
from sessionlab.formats.claude_code.usage import characters, charge

_progress = msgspec.json.Decoder(Progress)
_embedded = msgspec.json.Decoder(Embedded)
_prompt: msgspec.json.Decoder[str | list[Part] | None] = msgspec.json.Decoder(str | list[Part] | None)
_members = msgspec.json.Decoder(dict[str, Raw])
_attachment = msgspec.json.Decoder(Attachment)


def progress(t: Transcript, line: Line, notes: Notes) -> None:
    """A `progress` line: a hook, a running tool, or a subagent's message repeated in its parent's file."""
    data = lenient(line.data, _progress) or Progress()
    kind = data.type or ""
    if kind == "agent_progress":
        _echo(t, line, data, notes)
        return
    whole, ix = kept(t, "data", line.data)
    hook = kind == "hook_progress"
    t.entry(
        "hook" if hook else "note",
        f"progress/{kind}",
        voice="harness",
        name=data.hook_name if hook else None,
        call_id=line.parent_tool_use_id,
        output_ix=ix,
        detail=details(line, data=whole),
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
    ix = body(t, message, len(memoryview(inner.message))) if message is not None else None
    t.entry(
        "echo",
        "progress/agent_progress",
        agent_id=agent.agent_id,
        run=agent.prompts,
        role=message.role if message is not None else None,
        voice="model" if inner.type == "assistant" else "tool" if _answers(message) else "agent",
        call_id=line.parent_tool_use_id,
        charge_id=message.id or None if message is not None else None,
        message_ix=ix,
        status=reply_status(message.stop_reason) if message is not None else None,
        reason=message.stop_reason if message is not None else None,
        started_at=t.time(inner.timestamp, notes),
        detail=details(line),
    )
    if message is not None and message.usage is not None and inner.type == "assistant":
        stopped = message.stop_reason is not None
        charge(
            t,
            agent,
            message.usage,
            charge_id=message.id or None,
            request_id=inner.request_id or None,
            model=message.model,
            stopped=stopped,
            size=0 if stopped else characters(message),
            recorded_in="progress",
        )


def _answers(message: Message | None) -> bool:
    return (
        message is not None
        and isinstance(message.content, list)
        and any(part.type == "tool_result" for part in message.content)
    )


def attachment(t: Transcript, line: Line, notes: Notes) -> None:
    """An `attachment` line: what the recorder or a hook added to the conversation."""
    told = partly(line.attachment, _attachment, notes) or Attachment()
    kind = told.type or ""
    if kind == "queued_command":
        _queued(t, line, told)
        return
    whole, ix = kept(t, "attachment", line.attachment)
    native = f"attachment/{kind}"
    if kind.startswith("hook_"):
        t.entry(
            "hook",
            native,
            voice="harness",
            name=told.hook_name or told.hook_event,
            call_id=told.tool_use_id,
            duration_ms=milliseconds(told.duration_ms),
            exit_code=told.exit_code,
            status=_hook_status(kind, told.exit_code),
            output_ix=ix,
            detail=details(line, attachment=whole),
        )
    elif kind == "goal_status":
        t.entry(
            "goal",
            native,
            voice="harness",
            name=told.condition,
            status="ok" if told.met else None,
            output_ix=ix,
            detail=details(line, attachment=whole),
        )
    else:
        t.entry("note", native, voice="harness", output_ix=ix, detail=details(line, attachment=whole))


def _queued(t: Transcript, line: Line, told: Attachment) -> None:
    """What was typed or reported while the model worked: a message that steers the run and begins none."""
    try:
        content: str | list[Part] | None = _prompt.decode(told.prompt) if told.prompt else None
    except UNREADABLE:
        content = text_of(told.prompt)
    message = Message(role="user", content=content)
    opening = content if isinstance(content, str) else ""
    others = lenient(line.attachment, _members) or {}
    by_person = told.command_mode in (None, "prompt") and not opening.startswith("<")
    t.entry(
        "message",
        "attachment/queued_command",
        role="user",
        voice="person" if by_person else "harness",
        message_ix=body(t, message, len(memoryview(told.prompt)) or None),
        detail=details(line, attachment={name: raw for name, raw in others.items() if name not in {"type", "prompt"}}),
    )


def _hook_status(kind: str, exit_code: int | None) -> str | None:
    if kind == "hook_success" or exit_code == 0:
        return "ok"
    if kind in ("hook_blocking_error", "hook_stopped_continuation"):
        return "refused"
    return "failed" if "error" in kind or exit_code else None
