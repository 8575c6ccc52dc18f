"""A Codex rollout in, rows of the common tables out, in one pass over its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from sessionlab.formats.codex.calls import Calls
from sessionlab.formats.codex.compaction import compacted
from sessionlab.formats.codex.counting import give_responses, give_waiting, token_usage_record
from sessionlab.formats.codex.events import event
from sessionlab.formats.codex.items import item
from sessionlab.formats.codex.lines import Records
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Envelope, Members, Notes, members_of
from sessionlab.formats.codex.openings import session_meta, turn_context
from sessionlab.formats.recording import Recording
from sessionlab.tables import Row, Session

_ROLLOUT = re.compile(r"rollout-.*?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl(?:\.gz|\.zst)?$")
KEPT = {"world_state": "state", "inter_agent_communication_metadata": "note"}
"""Enveloped lines that are kept as they are, and what kind of entry each is; any other one is `other`."""


def read(recording: Recording) -> Iterator[Row]:
    """The rows of one rollout.

    Lines before the first `session_meta` belong to the thread the file's name ends with, else to a session named
    by the source: a log that was cut in pieces begins anywhere.
    """
    named = _ROLLOUT.search(recording.uri)
    log = Log(recording, named.group(1) if named else None)
    calls = Calls(log)
    lines = recording.lines()
    records = Records(lines)
    out = log.out
    for members, text in records:
        log.number, log.offset, log.length = lines.number, lines.offset, lines.length
        log.seq += 1
        _take(log, calls, members, text)
        if records.problems:
            yield from records.problems
            records.problems.clear()
        yield from out
        out.clear()
    yield from records.problems
    calls.close()
    for thread in log.threads.values():
        give_waiting(log, thread)
        give_responses(log, thread)
    yield from out
    yield from _sessions(log)
    version = next((thread.first_version for thread in log.threads.values() if thread.first_version), None)
    yield from recording.end(state="short" if records.torn else "whole", reason=records.torn, format_version=version)


def _sessions(log: Log) -> Iterator[Session]:
    """One row per session: threads of one session that share a file are told together, its own thread's row first."""
    found: dict[str, Session] = {}
    for thread in sorted(log.threads.values(), key=lambda thread: thread.is_agent):
        row = thread.session_row()
        first = found.get(row.session_id)
        if first is None:
            found[row.session_id] = row
            continue
        created = [at for at in (first.created_at, row.created_at) if at is not None]
        ended = [at for at in (first.ended_at, row.ended_at) if at is not None]
        found[row.session_id] = msgspec.structs.replace(
            first,
            created_at=min(created, default=None),
            ended_at=max(ended, default=None),
            entries=(first.entries or 0) + (row.entries or 0),
        )
    yield from found.values()


def _take(log: Log, calls: Calls, record: Envelope | Members, text: bytes) -> None:
    """The rows of one record."""
    log.is_copy = log.legacy = False
    notes: Notes = []
    if isinstance(record, Envelope):
        payload = bytes(record.payload)
        inner = members_of(payload, notes)
        if inner is not None:
            log.at = log.time(record.timestamp, notes)
            log.payload, log.kind = payload, record.type
            _enveloped(log, calls, inner, record.type, notes)
        else:
            notes = _with_members(log, calls, members_of(text, notes) or Members({}, notes), text)
    else:
        notes = _with_members(log, calls, record, text)
    if notes:
        log.notes(notes)


def _with_members(log: Log, calls: Calls, members: Members, text: bytes) -> Notes:
    """The rows of a record that is no plain envelope; what had to be changed to read it."""
    notes = members.notes
    log.at = log.time(members.text("timestamp") if "payload" in members.raws else None, notes)
    payload = members.raw("payload") if "payload" in members.raws else None
    inner = members_of(payload, notes) if payload is not None else None
    if inner is not None and payload is not None:
        kind = members.text("type")
        log.payload, log.kind = payload, kind or ""
        members.raws.pop("ordinal", None)
        for name, raw in members.raws.items():  # members beside the payload that are not known: kept with it
            inner.raws.setdefault(name, raw)
        _enveloped(log, calls, inner, kind, notes)
        return notes
    if payload is not None:
        members.raws["payload"] = Raw(payload)
    _bare(log, calls, members, text, notes)
    return notes


def _enveloped(log: Log, calls: Calls, members: Members, kind: str | None, notes: Notes) -> None:
    if kind == "session_meta":
        session_meta(log, members, notes, "session_meta")
        return
    _enter(log, members, kind)
    if kind == "response_item":
        item(log, calls, members, _type(members), notes)
    elif kind == "event_msg":
        event(log, calls, members, _type(members), notes)
    elif kind == "turn_context":
        turn_context(log, members, notes)
    elif kind == "compacted":
        compacted(log, members, notes)
    elif kind == "token_usage_record":
        token_usage_record(log, members, notes)
    else:
        log.entry(KEPT.get(kind or "", "other"), kind or "unknown", detail=log.kept(members))


def _enter(log: Log, members: Members, kind: str | None) -> None:
    """The record belongs to the current thread; the replay of a parent's history may end with it."""
    thread = log.thread
    if thread.replaying:
        turn_id = None
        if kind == "turn_context" or (kind == "event_msg" and "started" in (_type(members) or "")):
            raw = members.raws.get("turn_id")
            turn_id = members.text("turn_id")
            if raw is not None:
                members.raws["turn_id"] = raw
        if thread.ends_replay(turn_id, log.at):
            thread.replaying = False
            thread.scope = thread.native_id
    log.enter()


def _type(members: Members) -> str | None:
    raw = members.raws.get("type")
    text = bytes(raw) if raw is not None else b""
    return text[1:-1].decode() if text[:1] == b'"' and b"\\" not in text else None


def _bare(log: Log, calls: Calls, members: Members, text: bytes, notes: Notes) -> None:
    """A line without an envelope, as the oldest files have: their header, a mark of state, or an item."""
    kind = _type(members)
    log.payload, log.kind = text, kind or ""
    if kind is None and "id" in members.raws and "timestamp" in members.raws:
        stamp = members.raws["timestamp"]
        log.at = log.time(members.text("timestamp"), notes)
        members.raws["timestamp"] = stamp
        session_meta(log, members, notes, "header")
        return
    log.legacy = True
    _enter(log, members, kind)
    if kind is not None and "payload" not in members.raws:
        item(log, calls, members, kind, notes)
    else:
        word = "state" if "record_type" in members.raws else "other"
        log.entry(word, kind or word, detail=log.kept(members))
