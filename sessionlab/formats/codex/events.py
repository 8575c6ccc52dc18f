"""`event_msg` lines in, entries out: what the front end was told, which mostly repeats the conversation's items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionlab.formats._values import micros
from sessionlab.formats.codex.calls import Calls, Verdict, milliseconds
from sessionlab.formats.codex.counting import token_count
from sessionlab.formats.codex.items import DONE, spawned
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Members, Notes, items_of, members_of, shown
from sessionlab.formats.codex.openings import settings_applied
from sessionlab.formats.codex.runs import person_speaks, task_ended, task_started

SECOND = 1_000_000
NAME_CHARACTERS = 200
KINDS = {
    "agent_message": "echo", "agent_reasoning": "echo", "agent_reasoning_raw_content": "echo",
    "agent_reasoning_section_break": "echo", "web_search_begin": "echo", "web_search_end": "echo",
    "image_generation_begin": "echo", "image_generation_end": "echo", "view_image_tool_call": "echo",
    "dynamic_tool_call_request": "echo", "exec_command_begin": "echo", "patch_apply_begin": "echo",
    "mcp_tool_call_begin": "echo", "context_compacted": "echo", "item_started": "echo", "item_completed": "echo",
    "raw_response_item": "echo", "turn_diff": "echo",
    "plan_update": "step", "entered_review_mode": "state", "exited_review_mode": "state",
    "sub_agent_activity": "state", "collab_agent_interaction_end": "state", "collab_waiting_end": "state",
    "collab_close_end": "state", "collab_resume_end": "state", "undo_started": "state", "undo_completed": "state",
    "thread_rolled_back": "rewrite", "background_event": "note", "warning": "note", "deprecation_notice": "note",
    "account/rateLimits/updated": "note", "hook_started": "hook", "hook_completed": "hook",
}  # fmt: skip
"""Events that are kept as they are, and what kind of entry each is; any other one is `other`."""
FAILURES = frozenset({"error", "stream_error"})


def event(log: Log, calls: Calls, members: Members, kind: str | None, notes: Notes) -> None:
    """One event."""
    members.raws.pop("type", None)
    if kind == "token_count":
        token_count(log, members, notes)
        return
    handle = _HANDLERS.get(kind or "")
    if handle is not None:
        handle(log, calls, members, notes)
        return
    if kind == "thread_settings_applied":
        settings_applied(log, members, notes)
        return
    if kind in FAILURES:
        _error(log, members, kind, notes)
        return
    call_id = members.text("call_id")
    if kind == "thread_rolled_back":
        log.thread.epoch += 1
        log.thread.window = None
    log.entry(
        KINDS.get(kind or "", "other"), kind or "event_msg", call_id=call_id, voice="harness", detail=log.kept(members)
    )


def _user_message(log: Log, _calls: Calls, members: Members, _notes: Notes) -> None:
    if not log.thread.is_agent:
        person_speaks(log)
    log.entry("echo", "user_message", voice="harness", detail=log.kept(members))


def _task_started(log: Log, _calls: Calls, members: Members, notes: Notes) -> None:
    task_started(log)
    thread = log.thread
    window = members.integer("model_context_window")
    thread.window_tokens = window if window is not None else thread.window_tokens
    started = _moment(members, "started_at", notes)
    if thread.work is not None and started is not None:
        thread.work.started_at = started
    log.entry("run_start", "task_started", started_at=started, detail=log.kept(members))


def _moment(members: Members, name: str, notes: Notes) -> int | None:
    """A time told in whole seconds since 1970, or as a text."""
    raw = members.raws.get(name)
    if raw is not None and bytes(raw)[:1] == b'"':
        text = members.text(name)
        at = micros(text)
        if at is None and text is not None:
            notes.append(("bad_time", f"{name} {text[:40]!r} is no time; read as null"))
        return at
    seconds = members.integer(name)
    if seconds is None:
        return None
    if not 0 <= seconds < 250_000_000_000:  # noqa: PLR2004 (the year 9892: what a table can hold)
        notes.append(("bad_time", f"{name} {seconds} is no time; read as null"))
        return None
    return seconds * SECOND


def _task_complete(log: Log, _calls: Calls, members: Members, notes: Notes) -> None:
    duration = members.integer("duration_ms")
    error = _failure(members, notes)
    started = _moment(members, "started_at", notes)
    ended = task_ended(log, error=error[:NAME_CHARACTERS] if error else None, duration_ms=duration)
    status = {"completed": "ok", "failed": "failed"}.get(ended)
    log.entry(
        "run_end", "task_complete", figure=True, status=status, duration_ms=duration, started_at=started,
        detail=log.kept(members),
    )  # fmt: skip


def _failure(members: Members, notes: Notes) -> str | None:
    """The word for the error a task ended in: its code, else its message."""
    raw = members.raws.get("error")
    inner = members_of(bytes(raw), notes) if raw is not None else None
    if inner is not None:
        return shown(inner.raw("codex_error_info"), notes) or inner.text("message") or "error"
    return shown(bytes(raw), notes) if raw is not None else None


def _turn_aborted(log: Log, _calls: Calls, members: Members, _notes: Notes) -> None:
    reason, duration = members.text("reason"), members.integer("duration_ms")
    task_ended(log, reason=reason or "aborted", duration_ms=duration)
    log.entry(
        "run_end", "turn_aborted", figure=True, status="interrupted", reason=reason, duration_ms=duration,
        detail=log.kept(members),
    )  # fmt: skip


def _error(log: Log, members: Members, kind: str, notes: Notes) -> None:
    """An error in the model's place."""
    inner = members.inner("error")
    message = members.text("message") or (inner.text("message") if inner is not None else None)
    info = shown(members.raw("codex_error_info"), notes)
    reason = info or (inner.text("kind") if inner is not None else None) or message
    reason = reason.split("\n", 1)[0][:NAME_CHARACTERS] if reason else None
    if log.thread.work is not None and kind == "error":
        log.thread.work.failed = reason or kind
    log.entry(
        "model_error", kind, voice="harness", status="failed", reason=reason,
        detail=log.kept(members, message=message[:NAME_CHARACTERS] if message else None,
                        error=inner.rest() if inner is not None else None),
    )  # fmt: skip


def _exec_end(log: Log, calls: Calls, members: Members, notes: Notes) -> None:
    """A command that ran: what it printed, its exit code and how long it took."""
    call_id, code = members.text("call_id"), members.integer("exit_code")
    duration = milliseconds(members, "duration")
    status = DONE.get(members.text("status") or "")
    if code is not None and status in (None, "ok", "failed"):
        status = "failed" if code else "ok"
    found = Verdict(status, "person" if status == "refused" else None, None, code, duration)
    calls.told(call_id, found)
    words = [shown(word, notes) or "" for word in items_of(members.raw("command")) or []]
    printed = members.raw("aggregated_output") or members.raw("stdout")
    stderr = members.raw("stderr")
    for name in ("stdout", "formatted_output"):  # what was printed, once more
        members.raws.pop(name, None)
    output_ix = log.text(shown(printed, notes) if log.bodies else None, "output") if _holds(printed) else None
    stderr_ix = log.text(shown(stderr, notes) if log.bodies else None, "stderr") if _holds(stderr) else None
    log.entry(
        "command", "exec_command_end", voice="tool", name=" ".join(words)[:NAME_CHARACTERS] or None, call_id=call_id,
        output_ix=output_ix, status=status, exit_code=code, duration_ms=duration,
        detail=log.kept(members, cwd=members.text("cwd"), origin="tool", stderr_ix=stderr_ix),
    )  # fmt: skip


def _holds(raw: bytes | None) -> bool:
    return raw is not None and raw != b'""'


def _patch_end(log: Log, calls: Calls, members: Members, _notes: Notes) -> None:
    call_id, success, told = members.text("call_id"), members.flag("success"), DONE.get(members.text("status") or "")
    status = told if told is not None else None if success is None else "ok" if success else "failed"
    calls.told(call_id, Verdict(status, "person" if status == "refused" else None))
    log.entry("echo", "patch_apply_end", voice="tool", name="apply_patch", call_id=call_id, status=status,
              detail=log.kept(members))  # fmt: skip


def _mcp_end(log: Log, calls: Calls, members: Members, notes: Notes) -> None:
    """A call of a tool server: `result` holds `Ok` with the server's own verdict, or `Err`."""
    call_id, duration = members.text("call_id"), milliseconds(members, "duration")
    name, status, reason = None, None, None
    invocation = members.raws.get("invocation")
    inner = members.inner("invocation")
    if inner is not None and invocation is not None:
        server, tool = inner.text("server"), inner.text("tool")
        name = f"{server}.{tool}" if server and tool else tool
        members.raws["invocation"] = invocation
    result = members.raws.get("result")
    outcome = members.inner("result")
    if outcome is not None and result is not None:
        failure = shown(outcome.raw("Err"), notes)
        done = outcome.inner("Ok")
        status = "failed" if failure is not None or (done is not None and done.flag("isError")) else "ok"
        reason = failure[:NAME_CHARACTERS] if failure else None
        members.raws["result"] = result
    calls.told(call_id, Verdict(status, None, reason, None, duration))
    log.entry("echo", "mcp_tool_call_end", voice="tool", name=name, call_id=call_id, status=status, reason=reason,
              duration_ms=duration, detail=log.kept(members))  # fmt: skip


def _dynamic_end(log: Log, calls: Calls, members: Members, _notes: Notes) -> None:
    call_id, success, duration = members.text("call_id"), members.flag("success"), milliseconds(members, "duration")
    status = None if success is None else "ok" if success else "failed"
    calls.told(call_id, Verdict(status, None, None, None, duration))
    log.entry("echo", "dynamic_tool_call_response", voice="tool", name=members.text("tool"), call_id=call_id,
              status=status, duration_ms=duration, detail=log.kept(members))  # fmt: skip


def _spawn_end(log: Log, _calls: Calls, members: Members, _notes: Notes) -> None:
    call_id, agent_id = members.text("call_id"), members.text("new_thread_id")
    nickname, role = members.text("new_agent_nickname"), members.text("new_agent_role")
    model = members.text("model")
    if agent_id is not None and not log.is_copy:
        spawned(log, agent_id, call_id, nickname, role, model)
    log.entry("state", "collab_agent_spawn_end", voice="harness", call_id=call_id, name=nickname,
              detail=log.kept(members, thread=agent_id))  # fmt: skip


def _named(log: Log, _calls: Calls, members: Members, _notes: Notes) -> None:
    name, thread_id = members.text("thread_name"), members.text("thread_id")
    if thread_id in (None, log.thread.native_id) and not log.is_copy:
        log.thread.title = name or log.thread.title
    log.entry("title", "thread_name_updated", name=name, detail=log.kept(members, thread=thread_id))


def _goal(log: Log, _calls: Calls, members: Members, _notes: Notes) -> None:
    goal = members.inner("goal")
    objective = goal.text("objective") if goal is not None else None
    if not log.is_copy:
        log.thread.goal = objective or log.thread.goal
    more: dict[str, Any] = {"goal": goal.rest() if goal is not None else None}
    log.entry("goal", "thread_goal_updated", name=objective[:NAME_CHARACTERS] if objective else None,
              detail=log.kept(members, **more))  # fmt: skip


def _assessed(log: Log, _calls: Calls, members: Members, _notes: Notes) -> None:
    """What a reviewing model decided on an action that asked for approval."""
    status = members.text("status")
    shown_status = {"approved": "ok", "denied": "refused", "aborted": "interrupted"}.get(status or "")
    log.entry(
        "approval",
        "guardian_assessment",
        voice="harness",
        call_id=members.text("target_item_id"),
        status=shown_status,
        reason=members.text("rationale"),
        detail=log.kept(members, recorded_status=status),
    )


def _asked(kind: str) -> Callable[[Log, Calls, Members, Notes], None]:
    def handle(log: Log, _calls: Calls, members: Members, _notes: Notes) -> None:
        log.entry("approval", kind, voice="harness", call_id=members.text("call_id"), status="asked",
                  reason=members.text("reason"), detail=log.kept(members))  # fmt: skip

    return handle


_HANDLERS: dict[str, Callable[[Log, Calls, Members, Notes], None]] = {
    "user_message": _user_message,
    "task_started": _task_started,
    "turn_started": _task_started,
    "task_complete": _task_complete,
    "turn_complete": _task_complete,
    "turn_aborted": _turn_aborted,
    "exec_command_end": _exec_end,
    "patch_apply_end": _patch_end,
    "mcp_tool_call_end": _mcp_end,
    "dynamic_tool_call_response": _dynamic_end,
    "collab_agent_spawn_end": _spawn_end,
    "thread_name_updated": _named,
    "thread_goal_updated": _goal,
    "guardian_assessment": _assessed,
    "exec_approval_request": _asked("exec_approval_request"),
    "apply_patch_approval_request": _asked("apply_patch_approval_request"),
}
