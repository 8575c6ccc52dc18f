"""Tool calls, their results and what events tell of them in, `ToolCall` rows out: one per call."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from sessionlab.columns import BIGINT_MAX
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Members
from sessionlab.formats.codex.thread import Thread, Work
from sessionlab.tables import ToolCall

FROM_THE_WEB = frozenset({"web_search", "web_search_call"})
REASON_CHARACTERS = 200
HEAD_BYTES = 4000
"""How much of a result is looked at for how the call ended: its heading, not what the tool printed."""
SHORT_BYTES = 8000
"""Longest result whose last member may tell the exit code (`{"output":…,"metadata":{…}}`)."""
_OUTPUT = re.compile(rb"(?:^\"|\\n)Output:(?:\\n|$)")
_EXIT = re.compile(rb"(?:^\"?|\\n)(?:Exit code:|Process exited with code) (-?\d{1,10})\b")
_META_EXIT = re.compile(rb'\\?"exit_code\\?"\s*:\s*(-?\d{1,10})\b')
_META_SECONDS = re.compile(rb'\\?"duration_seconds\\?"\s*:\s*(\d{1,9}(?:\.\d{1,9})?)')
_WALL = re.compile(rb"(?:^\"?|\\n)Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds")
_DENIED = re.compile(
    rb"^\"?(?:exec command |patch |command |user )?(?:was )?(?:rejected|declined|denied) by (?:the )?user",
    re.IGNORECASE,
)
_BY_POLICY = re.compile(rb"(?:rejected|blocked|denied|forbidden) by (?:the )?(?:policy|approval policy|sandbox policy)"
                        rb"|approval policy is [^\"]{0,40}; reject command", re.IGNORECASE)  # fmt: skip
_ABORTED = re.compile(rb"^\"?aborted(?: by user)?\b|^\"?user interrupted", re.IGNORECASE)
_FAILED = re.compile(
    rb"^\"?(?:apply_patch verification failed|failed to |unsupported (?:call|custom tool call)|execution error"
    rb"|tool call error|collab tool failed|failed in sandbox|Error: |error: |err: )"
)


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """How a call ended; null where nothing tells."""

    status: str | None = None
    refused_by: str | None = None
    reason: str | None = None
    exit_code: int | None = None
    duration_ms: int | None = None


def verdict(raw: bytes | None) -> Verdict:
    """How a call ended, by the heading of its result as JSON: an exit code, else Codex's own words.

    A result that says neither is `ok`: the model was given what it asked for.
    """
    if raw is None:
        return Verdict()
    head = raw[:HEAD_BYTES]
    printed = _OUTPUT.search(head)
    heading = head[: printed.start()] if printed is not None else head
    code, seconds = _EXIT.search(heading), _WALL.search(heading)
    if code is None and len(raw) <= SHORT_BYTES and b"metadata" in raw[-200:]:
        code, seconds = _META_EXIT.search(raw[-200:]), _META_SECONDS.search(raw[-200:])
    duration = round(float(seconds.group(1)) * 1000) if seconds is not None else None
    if code is not None:
        number = int(code.group(1))
        return Verdict("failed" if number else "ok", None, None, number, duration)
    for pattern, status, by in (
        (_DENIED, "refused", "person"),
        (_BY_POLICY, "refused", "policy"),
        (_ABORTED, "interrupted", None),
        (_FAILED, "failed", None),
    ):
        if pattern.search(heading[:400]):
            return Verdict(status, by, _first(heading), None, duration)
    return Verdict("ok", None, None, None, duration)


def _first(heading: bytes) -> str | None:
    text = heading.lstrip(b'"').split(b"\\n", 1)[0][:REASON_CHARACTERS].rstrip(b'"\\')
    return text.decode(errors="ignore") or None


def milliseconds(members: Members, name: str) -> int | None:
    """A duration told as ``{"secs": …, "nanos": …}``, in whole milliseconds."""
    inner = members.inner(name)
    if inner is None:
        return None
    seconds, nanos = inner.integer("secs"), inner.integer("nanos")
    if seconds is None or abs(seconds) > BIGINT_MAX // 2000:
        return None
    return seconds * 1000 + round((nanos or 0) / 1_000_000)


class Waiting:
    """A call whose result has not been met."""

    __slots__ = ("columns", "told", "work")

    def __init__(self, columns: dict[str, Any], work: Work | None) -> None:
        self.columns, self.work = columns, work
        self.told: Verdict | None = None


class Calls:
    """Pairs calls with results by id, in whichever order they come, one thread at a time."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._waiting: dict[tuple[str, str], Waiting] = {}
        self._early: dict[tuple[str, str], tuple[dict[str, Any], Verdict]] = {}

    def called(
        self, name: str | None, call_id: str | None, arguments: str | None, ended: Verdict | None = None
    ) -> None:
        """A call stands in the current record; ``ended`` when the record itself tells how."""
        log, thread = self.log, self.log.thread
        if not thread.in_batch:
            thread.batch += 1
            thread.in_batch = True
        columns = self._place(thread, call_id)
        columns |= {
            "seq": log.seq,
            "line": log.number,
            "batch": thread.batch,
            "name": name,
            "caller": "model",
            "arguments": arguments if log.bodies else None,
            "external": True if name in FROM_THE_WEB else None,
            "called_at": log.at,
        }
        work = None if log.is_copy else thread.work
        if work is not None:
            work.calls += 1
            work.last_status = None
        call = Waiting(columns, work)
        if ended is not None:
            self._finish(call, {}, ended)
            return
        if call_id is None:
            self._give(columns, Verdict())
            return
        key = (thread.session_id + thread.agent_id, call_id)
        early = self._early.pop(key, None)
        if early is not None:
            self._finish(call, early[0], early[1])
            return
        replaced = self._waiting.get(key)
        if replaced is not None:
            self._unanswered(replaced, thread)
        self._waiting[key] = call

    def told(self, call_id: str | None, found: Verdict) -> str | None:
        """An event tells how a call ended; its result is still to come. The name of the tool, when the call is known.

        What an event tells goes before what the result's text says.
        """
        call = self._call(call_id)
        if call is None:
            return None
        before = call.told or Verdict()
        call.told = _both(found, before)
        name: str | None = call.columns["name"]
        return name

    def answered(self, call_id: str | None, message_ix: int, found: Verdict) -> tuple[Verdict, dict[str, Any]]:
        """A result stands in the current record; how the call ended, and the call's columns (none: it was not met)."""
        log, thread = self.log, self.log.thread
        thread.in_batch = False
        columns: dict[str, Any] = {
            "result_seq": log.seq,
            "output_pool": "message",
            "output_ix": message_ix,
            "output_block": 0,
            "returned_at": log.at,
        }
        call = self._call(call_id, take=True)
        if call is not None:
            ended = _both(call.told, found) if call.told is not None else found
            self._finish(call, columns, ended)
            return ended, call.columns
        early = {**self._place(thread, call_id), "seq": log.seq, "line": log.number, **columns}
        key = (thread.session_id + thread.agent_id, call_id or "")
        if call_id is None or key in self._early:
            self._give(early, found)
        else:
            self._early[key] = (early, found)
        return found, {}

    def close(self) -> None:
        """The file has ended: give out what still waits."""
        for call in self._waiting.values():
            if call.told is not None:
                self._finish(call, {}, call.told)
            else:
                self._unanswered(call, None)
        for columns, found in self._early.values():
            self._give(columns, found)
        self._waiting, self._early = {}, {}

    def _call(self, call_id: str | None, *, take: bool = False) -> Waiting | None:
        thread = self.log.thread
        key = (thread.session_id + thread.agent_id, call_id or "")
        return self._waiting.pop(key, None) if take else self._waiting.get(key)

    @staticmethod
    def _place(thread: Thread, call_id: str | None) -> dict[str, Any]:
        return {
            "session_id": thread.session_id,
            "agent_id": thread.agent_id,
            "call_id": call_id,
            "run": thread.run,
            "turn": thread.turns + 1,
        }

    def _finish(self, call: Waiting, columns: dict[str, Any], found: Verdict) -> None:
        work = call.work
        if work is not None:
            work.last_status = found.status
            work.errors += found.status == "failed"
            work.denied += found.status == "refused"
        self._give({**columns, **call.columns}, found)

    def _unanswered(self, call: Waiting, thread: Thread | None) -> None:
        """`unanswered` when the same id was called again; of a call at the end of the file nothing is told."""
        self._give(call.columns, Verdict("unanswered" if thread is not None else None))

    def _give(self, columns: dict[str, Any], found: Verdict) -> None:
        if self.log.figures:
            return
        self.log.out.append(
            ToolCall(
                **columns,
                status=found.status,
                refused_by=found.refused_by,
                reason=found.reason,
                exit_code=found.exit_code,
                duration_ms=found.duration_ms,
            )
        )


def _both(first: Verdict, second: Verdict) -> Verdict:
    """What either tells, the first one before the second."""
    if first.status is None or first.status == second.status:
        by, reason = first.refused_by or second.refused_by, first.reason or second.reason
    else:
        by, reason = first.refused_by, first.reason
    return Verdict(
        first.status or second.status,
        by,
        reason,
        second.exit_code if first.exit_code is None else first.exit_code,
        second.duration_ms if first.duration_ms is None else first.duration_ms,
    )
