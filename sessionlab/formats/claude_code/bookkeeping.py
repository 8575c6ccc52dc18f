"""Lines outside the conversation in (titles, modes, snapshots, the queue, unknown types), `Entry` rows out."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from sessionlab.formats._values import compact, detail
from sessionlab.formats.claude_code.decoding import Notes
from sessionlab.formats.claude_code.payload import details, kept
from sessionlab.formats.claude_code.records import Line
from sessionlab.formats.claude_code.state import Transcript
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


def bookkeeping(t: Transcript, line: Line, _notes: Notes) -> None:
    """A line outside the conversation: titles, modes, snapshots of edited files, the queue."""
    kind = line.type or ""
    if kind in ("ai-title", "custom-title", "summary"):
        _title(t, line, kind)
    elif kind in ("mode", "permission-mode"):
        agent = t.agent
        before = (agent.mode, agent.permission)
        agent.mode, agent.permission = line.mode or agent.mode, line.permission_mode or agent.permission
        t.entry("config", kind, voice="harness", name=line.mode or line.permission_mode, detail=details(line))
        if kind == "mode" and before != (agent.mode, agent.permission):
            t.configured()
    elif kind.startswith("file-history"):
        whole, ix = kept(t, "snapshot", line.snapshot)
        _hang(t, line.message_id)
        t.entry(
            "state",
            kind,
            voice="harness",
            output_ix=ix,
            detail=details(line, snapshot=whole, update=line.is_snapshot_update),
        )
    elif kind == "queue-operation":
        whole, ix = kept(t, "content", line.content)
        t.entry("note", kind, name=line.operation, output_ix=ix, detail=details(line, content=whole))
    elif kind == "last-prompt":
        whole, ix = kept(t, "lastPrompt", line.last_prompt)
        _hang(t, line.leaf_uuid)
        t.entry("note", kind, voice="harness", output_ix=ix, detail=details(line, prompt=whole))
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
    t.entry("title", kind, voice="person" if kind == "custom-title" else "harness", name=text, detail=details(line))


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
    whole, ix = kept(t, "line", Raw(compact({**members, **(line.rest or {})}).encode()))
    t.entry(kind, line.type or "", output_ix=ix, detail=detail(line=whole) if whole != Raw(b"{}") else None)
