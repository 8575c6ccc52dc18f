"""What an entry's payload says, by kind: an open JSON object goes in; column values, `detail`, and blocks come out.

Payloads are open and may come from anyone (datalayer.md section 11), so every member is read as optional and a member
of another type than its column's stays where the rest is: in `detail` when it is small, in the body's `extra` block
always. Nothing of a payload is in no row when bodies are loaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

from sessionlab.columns import big
from sessionlab.formats._values import compact, micros
from sessionlab.formats.datalayer.deep import SHALLOW, text_of
from sessionlab.formats.datalayer.fields import LONE_SURROGATE

SMALL_POINTS = 200
"""Longest string kept in `detail`; longer ones are bodies."""
SMALL_BYTES = 1000
"""Largest list or object kept in `detail`, as JSON."""

_CONTAINERS = frozenset({dict, list})

Columns = dict[str, Any]
"""Column values of one entry."""
Payload = dict[str, object]


def text(payload: Payload, name: str) -> str | None:
    """The member, when it is a string with something in it."""
    value = payload.get(name)
    return value if type(value) is str and value else None


def time(payload: Payload, name: str) -> int | None:
    """The member in microseconds UTC, when it is a time with a zone."""
    value = payload.get(name)
    return micros(value) if type(value) is str else None


def has_error(payload: Payload) -> bool:
    """Whether the member `error` says there was one."""
    return payload.get("error") not in (None, False, "")


def _exit_code(payload: Payload) -> int | None:
    """The exit code, where a BIGINT holds it."""
    value = payload.get("exit_code")
    return big(value) if type(value) is int else None


def _by_exit_code(exit_code: int | None) -> str | None:
    return None if exit_code is None else "ok" if exit_code == 0 else "failed"


def _nothing(_: Payload) -> Columns:
    return {}


def _stated(p: Payload) -> Columns:
    return {"reason": text(p, "state")}


def _tool_call(p: Payload) -> Columns:
    exit_code = _exit_code(p)
    display = p.get("display")
    if exit_code is None and type(display) is dict and type(data := display.get("data")) is dict:
        exit_code = _exit_code(data)
    word, signal = text(p, "status"), text(p, "signal")
    reason = signal or word
    status = _by_exit_code(exit_code)
    if "error" in p and has_error(p):
        status = "failed"
        error = text(p, "error")
        if error is not None and len(error) <= SMALL_POINTS:
            reason = error
    elif word in _ACTIONS:
        status = _ACTIONS[word]
    elif status is None:
        status = "failed" if signal else "ok" if p.get("result") is not None else None
    return {
        "name": text(p, "tool") or text(p, "name"),
        "call_id": text(p, "tool_call_id"),
        "status": status,
        "reason": reason,
        "exit_code": exit_code,
    }


_ACTIONS: dict[str | None, str] = {"completed": "ok", "failed": "failed"}
_BEHAVIOURS = {
    "do_it": "ok", "if_asked": "asked", "ask_first": "asked", "leave_to_me": "refused", "refused": "refused",
}  # fmt: skip


def _decision(p: Payload) -> Columns:
    status = _BEHAVIOURS.get(text(p, "behaviour") or "")
    if p.get("refused") not in (None, False, "", 0):
        status = "refused"
    elif status == "asked" and p.get("approved_in_advance") is True:
        status = "ok"
    return {
        "name": text(p, "tool"), "call_id": text(p, "tool_call_id"), "status": status, "reason": text(p, "because"),
        "voice": "harness",
    }  # fmt: skip


def _check(p: Payload) -> Columns:
    passed = p.get("passed")
    status = ("ok" if passed else "failed") if type(passed) is bool else None
    return {
        "name": text(p, "gate") or text(p, "guard"), "status": status, "reason": text(p, "action"), "voice": "harness",
    }  # fmt: skip


_APPROVALS = {"approved": "ok", "declined": "refused", "unanswered": "unanswered"}


def _approval(p: Payload) -> Columns:
    outcome = text(p, "outcome")
    return {
        "name": text(p, "tool"), "call_id": text(p, "tool_call_id"), "status": _APPROVALS.get(outcome or ""),
        "reason": outcome, "voice": "person",
    }  # fmt: skip


_RUN_ENDS = {"answered": "ok", "stopped": "interrupted", "gone": "interrupted"}


def _run_end(p: Payload) -> Columns:
    """An `output` that ends a run; an error beside a word that is no answer makes it failed."""
    word = text(p, "status")
    status = _RUN_ENDS.get(word or "")
    return {"status": "failed" if status == "interrupted" and has_error(p) else status, "reason": word}


def _feedback(_: Payload) -> Columns:
    return {"voice": "person"}


def _turn(p: Payload) -> Columns:
    answered = p.get("answered")
    if type(answered) is not str:
        return {}
    return {"status": "failed" if answered.startswith("Stopped: ") else "ok"}


_DELIVERIES = {"sent": "ok", "refused": "refused", "failed": "failed"}


def _notification(p: Payload) -> Columns:
    delivery = text(p, "delivery")
    return {"name": text(p, "channel"), "status": _DELIVERIES.get(delivery or ""), "reason": delivery}


def _step(p: Payload) -> Columns:
    reason = text(p, "stop_reason")
    status = None
    if has_error(p):
        status = "failed"
    elif reason == "refusal":
        status = "refused"
    elif reason == "end_turn" or text(p, "ended_at") is not None:
        status = "ok"
    return {
        "name": text(p, "name") or text(p, "event"), "status": status, "reason": reason,
        "started_at": time(p, "started_at"),
    }  # fmt: skip


def _titled(p: Payload) -> Columns:
    return {"name": text(p, "title")}


def _asked(p: Payload) -> Columns:
    return {"name": text(p, "kind"), "status": "asked", "started_at": time(p, "asked_at"), "voice": "harness"}


def _terminal(p: Payload) -> Columns:
    exit_code = _exit_code(p)
    return {"name": text(p, "command"), "status": _by_exit_code(exit_code), "exit_code": exit_code}


def _named(p: Payload) -> Columns:
    return {"name": text(p, "name")}


def _rule(p: Payload) -> Columns:
    rule = p.get("rule")
    return {"name": (text(rule, "name") if type(rule) is dict else None) or text(p, "removed")}


def _swapped(p: Payload) -> Columns:
    return {"name": text(p, "agent") or text(p, "to")}


class Kind(msgspec.Struct, frozen=True):
    """How entries of one native kind become rows.

    Attributes:
        kind: the common kind.
        columns: the columns its payload fills.
        held: members that a column holds whole when they have this type; they are not repeated in `detail`.
        bodies: members that are bodies of their own, and the kind of block each becomes.
        nested: members that are lists or objects and worth keeping in `detail` while small.
    """

    kind: str
    columns: Callable[[Payload], Columns] = _nothing
    held: dict[str, type] = {}
    bodies: dict[str, str] = {}
    nested: tuple[str, ...] = ()


_OUTPUT = {"message": "text"}
KINDS_READ: dict[str, Kind] = {
    "session": Kind("state", _stated, {"state": str}, nested=("app", "woken_by", "lineage")),
    "run": Kind("run_start"),
    "tool_call": Kind(
        "tool_call", _tool_call, {"tool": str, "tool_call_id": str, "exit_code": int},
        {"arguments": "call", "input": "call", "result": "result", "display": "result"}, ("diff",),
    ),
    "decision": Kind(
        "decision", _decision, {"tool": str, "tool_call_id": str, "because": str}, nested=("classes", "scope"),
    ),
    "check": Kind("check", _check, {"gate": str, "passed": bool, "action": str}),
    "approval": Kind("approval", _approval, {"tool": str, "tool_call_id": str, "outcome": str}, {"note": "text"}),
    "output": Kind("other", bodies=_OUTPUT, nested=("data",)),
    "feedback": Kind("feedback", _feedback, bodies={"comment": "text"}),
    "turn": Kind("message", _turn, bodies={"asked": "text", "answered": "text"}, nested=("spoken",)),
    "notification": Kind("note", _notification, {"channel": str, "delivery": str}, {"detail": "text"}),
    "step": Kind(
        "step", _step, {"name": str, "stop_reason": str},
        {"input": "text", "output": "text", "error": "text"}, ("status", "scopes"),
    ),
    "thread": Kind("note", _titled, {"title": str}, nested=("tags", "metadata")),
    "asked": Kind("note", _asked, {"kind": str}),
    "audio": Kind("other", _named, {"name": str}),
    "diff": Kind("other", _named, {"name": str}),
    "terminal": Kind("command", _terminal, {"command": str, "exit_code": int}, {"output": "text"}),
    "file": Kind("other", _named, {"name": str}),
    "rule": Kind("config", _rule, {"removed": str}, nested=("rule",)),
    "paused": Kind("state", _stated, {"state": str}, nested=("cancelled",)),
    "ended": Kind("state", _stated, {"state": str}),
    "swapped": Kind("config", _swapped, {"agent": str}, {"said": "text"}, ("carried", "dropped")),
    "cloned": Kind("note"),
    "imported": Kind("note"),
    "exported": Kind("note"),
    "titled": Kind("title", _titled, {"title": str}),
}  # fmt: skip
"""The 25 kinds."""
RUN_END = Kind("run_end", _run_end, {"status": str}, _OUTPUT, ("data",))
"""An `output` that ends a run."""


def small(payload: Payload, kind: Kind) -> str | None:
    """`detail`: the members that no column and no body holds, while they are small; None when there are none."""
    kept: Payload = {}
    held, bodies = kind.held, kind.bodies
    for name, value in payload.items():
        form = type(value)
        if form is str:
            if name not in bodies and held.get(name) is not str and len(value) <= SMALL_POINTS:  # type: ignore[arg-type]
                kept[name] = value
        elif form is dict or form is list:
            if name in kind.nested and len(part := compact(value)) <= SMALL_BYTES:
                kept[name] = msgspec.Raw(part.encode())
        elif value is not None and (held.get(name) is not form or (form is int and big(value) is None)):  # type: ignore[arg-type]
            kept[name] = value
    return compact(kept) if kept else None


class Cleaned(msgspec.Struct):
    """How often a payload held what a table cannot."""

    not_finite: int = 0
    surrogates: int = 0


def cleaned(payload: Payload, seen: Cleaned) -> Payload:
    """``payload`` with not-finite numbers made null and unpaired surrogates U+FFFD, counted in ``seen``.

    Works level by level with a list of what is still to do, so that nesting costs no stack. What lies deeper than
    the usual writers go stands as JSON text in the place of its value, for them to copy.
    """
    holder: list[Any] = [payload]
    todo: list[tuple[Any, Any, int]] = [(holder, 0, 0)]
    buried: list[tuple[Any, Any]] = []
    while todo:
        place, key, level = todo.pop()
        item = place[key]
        if type(item) is float and not math.isfinite(item):
            seen.not_finite += 1
            place[key] = None
        elif type(item) is str:
            place[key] = valid(item, seen)
        elif type(item) is list:
            copied = place[key] = list(item)
            todo.extend((copied, n, level + 1) for n in range(len(copied)))
        elif type(item) is dict:
            members: dict[str, object] = {}
            for name, member in item.items():
                text = valid(name, seen)
                while text in members:  # two keys that differ only in their surrogates
                    text += "\ufffd"
                members[text] = member
            place[key] = members
            todo.extend((members, name, level + 1) for name in members)
        if level == SHALLOW and type(item) in _CONTAINERS:
            buried.append((place, key))
    for place, key in buried:
        place[key] = msgspec.Raw(text_of(place[key]).encode())
    result: Payload = holder[0]
    return result


def valid(text: str, seen: Cleaned) -> str:
    """``text`` with every unpaired surrogate made U+FFFD."""
    if text.isascii():
        return text
    fixed, count = LONE_SURROGATE.subn("\ufffd", text)
    seen.surrogates += count
    return fixed
