"""Tool calls of a datalayer session, folded out of tool calls, decisions and approvals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.datalayer_files import (
    T0,
    US,
    at_second,
    calls,
    entries,
    entry,
)


def test_an_agents_tool_is_one_entry() -> None:
    """Call and result are one entry, and one row."""
    (call,) = calls(
        entry("run"), entry("tool_call", at_second(4), tool="grep", arguments="{'q': 'x'}", result="3 lines")
    )
    assert (call.seq, call.result_seq, call.line, call.run) == (1, 1, 3, 1)
    assert (call.name, call.caller, call.arguments, call.status) == ("grep", "model", "{'q': 'x'}", "ok")
    assert (call.called_at, call.returned_at, call.duration_ms) == (T0 + 4 * US, T0 + 4 * US, None)


def test_structured_input_is_json() -> None:
    """Hand-made records say `name` and a structured `input`."""
    (call,) = calls(entry("tool_call", name="grep", input={"q": "x"}))
    assert (call.name, call.arguments, call.status, call.result_seq) == ("grep", '{"q":"x"}', None, None)


def test_a_harness_action_is_folded_by_its_id() -> None:
    """Entries of one `tool_call_id` are one call: the first is the call, the last known word stands."""
    lines = [
        entry("tool_call", at_second(1), tool="edit", tool_call_id="c1", status="pending", path="/a"),
        entry("tool_call", at_second(2), tool="read", tool_call_id="c2", status="completed"),
        entry("tool_call", at_second(3), tool="edit", tool_call_id="c1", status="completed", bytes=12),
        entry("tool_call", at_second(4), tool_call_id="c1", display={"type": "diff", "text": "+1"}),
    ]
    assert [(e.kind, e.call_id) for e in entries(*lines)] == [
        ("tool_call", "c1"), ("tool_call", "c2"), ("tool_result", "c1"), ("tool_result", "c1"),
    ]  # fmt: skip
    first, second = calls(*lines)
    assert (first.seq, first.result_seq, first.status, first.reason, first.name) == (0, 3, "ok", "completed", "edit")
    assert (first.caller, first.arguments, first.output_ix, first.output_block) == (None, '{"path":"/a"}', 3, 1)
    assert (first.called_at, first.returned_at) == (T0 + US, T0 + 4 * US)
    assert (second.seq, second.result_seq, second.status, second.output_ix) == (1, 1, "ok", None)


def test_a_terminals_exit_belongs_to_the_action_that_opened_it() -> None:
    """`what: exit` names only the terminal; any other entry without an id is a call of its own."""
    opened = entry("tool_call", tool="terminal", tool_call_id="c1", terminal_id="t1", status="in_progress")
    (call,) = calls(opened, entry("tool_call", tool="terminal", what="exit", terminal_id="t1", exit_code=2))
    assert (call.seq, call.result_seq, call.exit_code, call.status) == (0, 1, 2, "failed")
    assert len(calls(opened, entry("tool_call", tool="terminal", what="exit", terminal_id="t2", exit_code=2))) == 2
    assert len(calls(opened, entry("tool_call", tool="terminal", terminal_id="t1", exit_code=2))) == 2


@pytest.mark.parametrize("between", [entry("session", resumed=True), entry("swapped", to="other")])
def test_ids_begin_anew_with_another_process(between: Any) -> None:
    """After a resume or a swap the same id is another call."""
    line = entry("tool_call", tool="edit", tool_call_id="c1", status="completed")
    assert len(calls(line, line)) == 1
    assert [c.seq for c in calls(line, between, line)] == [0, 2]


def test_a_refusal_alone_is_a_call() -> None:
    """A call refused by policy, or by a person, or left unanswered is told by nothing but that."""
    refused, declined, unanswered = calls(
        entry("run"),
        entry("decision", at_second(1), tool="rm", behaviour="refused", because="shield"),
        entry("decision", at_second(2), tool="mail", behaviour="ask_first", because="rule"),
        entry("approval", at_second(3), tool="mail", outcome="declined"),
        entry("approval", at_second(4), tool="pay", outcome="unanswered"),
        entry("decision", tool="ls", behaviour="do_it", because="default"),
        entry("approval", tool="cp", outcome="approved"),
    )
    assert (refused.seq, refused.result_seq, refused.name, refused.status) == (1, 1, "rm", "refused")
    assert (refused.refused_by, refused.reason, refused.run, refused.caller) == ("policy", "shield", 1, None)
    assert (declined.seq, declined.result_seq, declined.refused_by) == (2, 3, "person")
    assert (declined.called_at, declined.returned_at) == (T0 + 2 * US, T0 + 3 * US)
    assert (unanswered.seq, unanswered.status, unanswered.refused_by) == (4, "unanswered", None)


def test_a_refused_calls_own_entry_is_the_same_call() -> None:
    """Where the refused call has an entry of its own, in the run and not successful, there is one row at it."""
    no = entry("decision", tool="rm", behaviour="refused", because="rule")
    (call,) = calls(entry("run"), no, entry("tool_call", tool="rm", arguments="()", result="no", error=True))
    assert (call.seq, call.status, call.refused_by, call.reason) == (2, "refused", "policy", "rule")
    assert call.arguments == "()"
    again = [c.status for c in calls(entry("run"), no, entry("tool_call", tool="rm", result="done"))]
    assert again == ["refused", "ok"]
    other = [c.status for c in calls(entry("run"), no, entry("tool_call", tool="ls", error=True))]
    assert other == ["refused", "failed"]
    later = [c.status for c in calls(entry("run"), no, entry("run"), entry("tool_call", tool="rm", error=True))]
    assert later == ["refused", "failed"]
    allowed, failed = entry("decision", tool="rm", behaviour="do_it"), entry("tool_call", tool="rm", error=True)
    second = [c.status for c in calls(no, allowed, failed)]
    assert second == ["refused", "failed"]


def test_a_refusal_is_joined_by_id() -> None:
    """With an id, the order of decision and call does not matter, and other calls of the tool are left alone."""
    no = entry("decision", tool="sh", behaviour="refused", because="session_rule", tool_call_id="c7")
    before = entry("tool_call", tool="sh", tool_call_id="c7", status="pending")
    after = entry("tool_call", tool="sh", tool_call_id="c7", status="failed")
    other = entry("tool_call", tool="sh", tool_call_id="c8", status="failed")
    for lines, seq in (((before, no, after), 0), ((no, after), 1), ((no, after, after), 1), ((before, no), 0)):
        (call,) = calls(*lines)
        assert (call.seq, call.status, call.refused_by, call.reason) == (seq, "refused", "policy", "session_rule")
    assert [(c.call_id, c.status) for c in calls(no, other)] == [("c7", "refused"), ("c8", "failed")]
    (done,) = calls(no, entry("tool_call", tool="sh", tool_call_id="c7", status="completed"))
    assert (done.status, done.refused_by) == ("ok", None)


@pytest.mark.parametrize("because", ["left_out", "not_connected"])
def test_a_tool_not_offered_was_not_called(because: str) -> None:
    """A decision to leave a tool out is no call, unless it names one."""
    assert not calls(entry("decision", tool="rm", behaviour="refused", because=because))
    assert len(calls(entry("decision", tool="rm", behaviour="refused", because=because, tool_call_id="c1"))) == 1
