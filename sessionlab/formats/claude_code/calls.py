"""Tool calls and their results in, `ToolCall` rows out: one per call, as soon as its result is met, or at the end."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from sessionlab.formats.claude_code.decoding import UNREADABLE, lenient, text_of
from sessionlab.formats.claude_code.payload import milliseconds
from sessionlab.formats.claude_code.records import Part, Result, SpawnInput, TextPart
from sessionlab.formats.claude_code.state import AgentState, Run, Transcript
from sessionlab.tables import ToolCall

SPAWNERS = frozenset({"Task", "Agent"})
"""Tools that start a subagent."""
FETCHERS = frozenset({"WebFetch", "WebSearch", "web_fetch", "web_search"})
"""Tools whose result comes from the web whatever their arguments are; of every other tool the log does not tell."""
REASON_CHARACTERS = 200
DENIED_BY_PERSON = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User chose to stay in plan mode",
    "User rejected",
    "User declined",
    "[Request interrupted by user for tool use]",
)
DENIED_BY_HOOK = re.compile(r"^PreToolUse:|blocked by (?:a )?(?:PreToolUse )?hook|denied by (?:a )?hook", re.IGNORECASE)
DENIED_BY_POLICY = re.compile(
    r"^Permission (?:to use|for this) .{0,200}?has been (?:auto-)?denied"
    r"|requested permissions? to .{0,200}? but you haven't granted it"
    r"|^This command requires approval",
    re.DOTALL,
)
INTERRUPTED = ("[Request interrupted by user", "Interrupted by user")
_EXIT = re.compile(r"^(?:Error: )?Exit code (-?\d{1,10})\b")
_texts = msgspec.json.Decoder(list[TextPart])
_spawn = msgspec.json.Decoder(SpawnInput)


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """How a call ended, read from its result."""

    status: str
    refused_by: str | None = None
    reason: str | None = None
    exit_code: int | None = None


OK = Verdict("ok")
CUT_OFF = Verdict("interrupted")


def verdict(part: Part, result: Result | None) -> Verdict:
    """The status of a call: `ok` unless its result is marked as an error; a refusal is never a failure.

    A person refuses by the recorder's denial sentences, a hook and the permission policy by theirs; `interrupted` is
    what was stopped while it ran.
    """
    if not part.is_error:
        return CUT_OFF if result is not None and result.interrupted else OK
    text = _said(part)
    reason = text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>").strip()
    if text.startswith(DENIED_BY_PERSON):
        return Verdict("refused", "person", _first(reason))
    if DENIED_BY_HOOK.search(text[:400]):
        return Verdict("refused", "hook", _first(reason))
    if DENIED_BY_POLICY.search(text[:400]):
        return Verdict("refused", "policy", _first(reason))
    if text.startswith(INTERRUPTED) or (result is not None and result.interrupted):
        return Verdict("interrupted", None, _first(reason))
    code = _EXIT.match(text)
    return Verdict("failed", None, _first(reason), int(code.group(1)) if code else None)


def _said(part: Part) -> str:
    """What a result says, at its beginning: the string, or the first text of its parts."""
    raw = bytes(part.content)
    if raw[:1] != b"[":
        return text_of(part.content) or ""
    try:
        texts = _texts.decode(raw)
    except UNREADABLE:
        return ""
    return next((item.text for item in texts if item.text is not None), "")


def _first(text: str) -> str | None:
    return text.split("\n", 1)[0][:REASON_CHARACTERS] or None


def duration_ms(result: Result | None) -> int | None:
    """How long the tool says it took."""
    if result is None:
        return None
    for told in (result.duration_ms, result.total_duration_ms):
        if told is not None:
            return milliseconds(told)
    return None if result.duration_seconds is None else milliseconds(result.duration_seconds * 1000)


class Waiting:
    """A call whose result has not been met."""

    __slots__ = ("agent", "columns", "run", "spawn")

    def __init__(self, agent: AgentState, columns: dict[str, Any], spawn: SpawnInput | None, *, counted: bool) -> None:
        self.agent, self.columns, self.spawn = agent, columns, spawn
        self.run = agent.run if counted else None


class Calls:
    """Pairs calls with results by id, in whichever order they come."""

    def __init__(self, t: Transcript) -> None:
        self.t = t
        self._waiting: dict[str, Waiting] = {}
        self._early: dict[str, tuple[dict[str, Any], Verdict]] = {}

    def called(self, part: Part, ordinal: int, charge_id: str | None, turn: int | None) -> None:
        """A call stands in the current record."""
        t, agent = self.t, self.t.agent
        if charge_id is None or charge_id != agent.batch_charge or agent.batch < 0:
            agent.batch += 1
            agent.batch_charge = charge_id
        name, call_id = part.name, part.id or None
        columns: dict[str, Any] = {
            "session_id": t.session.session_id,
            "seq": t.seq,
            "line": t.number,
            "agent_id": agent.agent_id,
            "ordinal": ordinal,
            "call_id": call_id,
            "charge_id": charge_id,
            "run": agent.prompts,
            "turn": turn,
            "batch": agent.batch,
            "name": name,
            "caller": _caller(part),
            "arguments": arguments_of(part) if t.bodies else None,
            "external": True if name in FETCHERS else None,
            "called_at": t.at,
        }
        spawn = lenient(part.input, _spawn) if name in SPAWNERS else None
        call = Waiting(agent, columns, spawn, counted=not t.is_copy)
        if call.run is not None:
            call.run.calls += 1
            call.run.last_status = None
        if call_id is None:
            self._unanswered(call)
            return
        early = self._early.pop(call_id, None)
        if early is not None:
            self._finish(call, early[0], early[1])
            return
        replaced = self._waiting.get(call_id)
        if replaced is not None:
            self._unanswered(replaced)
        self._waiting[call_id] = call

    def answered(
        self, part: Part, block: int, message_ix: int | None, result: Result | None
    ) -> tuple[Verdict, Waiting | None]:
        """A result stands in the current record; the verdict, and the call it answers if that was met."""
        t = self.t
        found = verdict(part, result)
        columns: dict[str, Any] = {
            "result_seq": t.seq,
            "output_pool": "message" if message_ix is not None else None,
            "output_ix": message_ix,
            "output_block": block if message_ix is not None else None,
            "returned_at": t.at,
            "duration_ms": duration_ms(result),
        }
        call = self._waiting.pop(part.tool_use_id, None) if part.tool_use_id is not None else None
        if call is not None:
            self._finish(call, columns, found)
        else:
            early = {
                "session_id": t.session.session_id,
                "seq": t.seq,
                "line": t.number,
                "agent_id": t.agent.agent_id,
                "call_id": part.tool_use_id,
                "run": t.agent.prompts,
                **columns,
            }
            if part.tool_use_id is None or part.tool_use_id in self._early:
                t.out.append(_row(early, found))
            else:
                self._early[part.tool_use_id] = (early, found)
        return found, call

    def close(self) -> None:
        """The file has ended: give out what still waits.

        A call is `unanswered` when its agent went on to another model call without its result; of one at the end of
        the file nothing is told.
        """
        for call in self._waiting.values():
            self._unanswered(call)
        self.t.out += [_row(columns, found) for columns, found in self._early.values()]
        self._waiting, self._early = {}, {}

    def _finish(self, call: Waiting, columns: dict[str, Any], found: Verdict) -> None:
        run: Run | None = call.run
        if run is not None:
            run.last_status = found.status
            run.errors += found.status == "failed"
            run.denied += found.status == "refused"
        columns.update(call.columns)
        self.t.out.append(_row(columns, found))

    def _unanswered(self, call: Waiting) -> None:
        turn, now = call.columns["turn"], call.agent.turn
        status = "unanswered" if turn is not None and now is not None and now > turn else None
        self.t.out.append(ToolCall(**call.columns, status=status))


def arguments_of(part: Part) -> str | None:
    """A call's arguments as JSON text."""
    return bytes(part.input).decode() if part.input else None


def _caller(part: Part) -> str:
    """`model`, unless a program the model wrote made the call."""
    return "program" if part.caller and b'"code_execution' in bytes(part.caller) else "model"


def _row(columns: dict[str, Any], found: Verdict) -> ToolCall:
    columns["status"] = found.status
    if found is not OK:
        columns.update(refused_by=found.refused_by, reason=found.reason, exit_code=found.exit_code)
    return ToolCall(**columns)
