"""Every case of section 15, "The record" and "Steps, threads, harness rows", that shows in a file.

Each is a file as a runtime writes it: it is taken, and read and exported again payload for payload.
"""

from __future__ import annotations

import pytest

from sessionlab.formats.datalayer.fields import EntryLine
from tests.formats.datalayer_files import AT
from tests.systems.datalayer.written import exported, line, lines_of, opening, taken, turn

Payload = dict[str, object]
END = line("output", status="answered", ended_at=AT)


def again(*entries: EntryLine) -> list[tuple[str, Payload]]:
    """Kind and payload of each entry, exported, taken without a note, and parsed by the standard library."""
    file = exported(*entries)
    taken(file.data)
    return [(one["kind"], one["payload"]) for one in lines_of(file)[1:]]


def kinds(*entries: EntryLine) -> list[str]:
    """The kinds of what comes back."""
    return [kind for kind, _ in again(*entries)]


def test_a_run_with_a_tool_is_session_run_tool_call_output() -> None:
    """Four entries in the order they were recorded."""
    call = line("tool_call", tool="lookup", arguments="{'q': 'tide'}", result="2 m")
    assert kinds(opening(), line("run"), call, END) == ["session", "run", "tool_call", "output"]


def test_nothing_included_is_session_run_output_with_ended_at_and_status() -> None:
    """The output has an empty summary and exactly two members; a client that leaves looks the same."""
    for status in ("answered", "gone"):
        file = exported(opening(), line("run"), line("output", status=status, ended_at=AT))
        entries = lines_of(file)[1:]
        assert [one["kind"] for one in entries] == ["session", "run", "output"]
        assert (entries[2]["summary"], entries[2]["payload"]) == ("", {"status": status, "ended_at": AT})


def test_a_stopped_run_keeps_its_turn_with_an_answer_that_says_so() -> None:
    """`status: "stopped"`, and the answer starts `Stopped: `."""
    found = again(opening(), line("run"), turn("Q?", "Stopped: TimeoutError"), line("output", status="stopped"))
    assert found[2][1]["answered"] == "Stopped: TimeoutError"
    assert found[3] == ("output", {"status": "stopped"})


def test_an_answered_run_has_the_length_of_the_answer_and_a_trace_of_32_digits() -> None:
    """Neither is taken for a secret or a number that is none."""
    end: Payload = {"status": "answered", "ended_at": AT, "trace_id": "0af7651916cd43dd8448eb211c80319c", "length": 11}
    assert again(opening(), line("run"), turn(), line("output", **end))[3] == ("output", end)


def test_woken_by_a_schedule_stands_on_the_opening_entry_and_in_its_summary() -> None:
    """The payload's member and the words of the summary are kept."""
    first = opening(woken_by={"kind": "schedule", "name": "nightly"})
    first = EntryLine(record_type="entry", kind="session", at=AT, summary="Woken by nightly", payload=first.payload)
    entry = lines_of(exported(first, line("run"), END))[1]
    assert (entry["payload"]["woken_by"], entry["summary"]) == (
        {"kind": "schedule", "name": "nightly"},
        "Woken by nightly",
    )


def test_a_thumb_down_with_a_comment() -> None:
    """`liked: false` and the comment; without a comment an empty one."""
    down: Payload = {"liked": False, "comment": "too long", "by": "u-own"}
    assert again(opening(), turn(), line("feedback", **down))[2] == ("feedback", down)
    assert again(opening(), turn(), line("feedback", liked=False, comment=""))[2][1]["comment"] == ""


def test_a_turn_is_asked_answered_suggest_tests() -> None:
    """Exactly three members."""
    assert list(again(opening(), turn())[1][1]) == ["asked", "answered", "suggest_tests"]


def test_preflight_checks_are_one_entry_each_and_a_call_is_checked_in_flight() -> None:
    """`stage, action, gate, guard, passed`, also where one stops the run."""
    checks: list[Payload] = [
        {"stage": "preflight", "action": "stop", "gate": "prompt", "guard": "credentials", "passed": False},
        {"stage": "preflight", "action": "proceed", "gate": "size", "guard": "length", "passed": True},
        {"stage": "in_flight", "action": "stop", "gate": "call", "guard": "credentials", "passed": False},
    ]
    assert again(opening(), *(line("check", **check) for check in checks))[1:] == [("check", one) for one in checks]


@pytest.mark.parametrize("outcome", ["approved", "declined", "unanswered"])
def test_an_approval_has_tool_outcome_asked_under_note(outcome: str) -> None:
    """Three outcomes, exactly four members."""
    asked: Payload = {"tool": "send", "outcome": outcome, "asked_under": "outward", "note": ""}
    assert again(opening(), line("approval", **asked))[1] == ("approval", asked)


def test_a_resume_adds_an_opening_entry_that_says_resumed() -> None:
    """A swap adds none; a resume does, with `resumed: true`."""
    swap = line("swapped", **{"from": "surveyor", "to": "coder", "agent": "surveyor", "harness": "codex"})
    found = again(opening(), turn(), swap, opening(resumed=True))
    assert [kind for kind, _ in found] == ["session", "turn", "swapped", "session"]
    assert found[3][1]["resumed"] is True


def test_nested_steps_stand_inner_first_with_the_parents_id() -> None:
    """Input and output as text, the error kept with an empty output."""
    times: Payload = {"started_at": AT, "ended_at": AT}
    inner = {"id": "s2", "name": "fetch", "kind": "tool", "parent_id": "s1", "input": "{}", "output": "", "error": "E"}
    outer = {"id": "s1", "name": "plan", "kind": "run", "parent_id": "", "input": "a", "output": "b", "error": ""}
    found = again(opening(), line("step", **inner, **times), line("step", **outer, **times))
    assert found[1:] == [("step", {**inner, **times}), ("step", {**outer, **times})]


def test_four_changes_of_a_thread_are_four_entries_the_last_complete() -> None:
    """Title, tags and metadata: the latest stands."""
    told: list[Payload] = [
        {"title": "T", "tags": [], "metadata": {}},
        {"title": "T", "tags": ["a"], "metadata": {}},
        {"title": "T", "tags": ["a"], "metadata": {"k": "v"}},
        {"title": "U", "tags": ["a"], "metadata": {"k": "v"}},
    ]
    assert again(opening(), *(line("thread", **one) for one in told))[1:] == [("thread", one) for one in told]


def test_a_plan_of_3_says_steps_and_counts_by_status() -> None:
    """A harness event of kind plan."""
    plan: Payload = {"event": "plan", "steps": 3, "status": {"completed": 1, "pending": 2}}
    assert again(opening(), line("step", **plan))[1] == ("step", plan)


def test_a_diff_that_is_not_included_is_its_size_and_hash() -> None:
    """Path, digest and sizes, no text."""
    diff: Payload = {"path": "a.py", "sha256": "5c" * 32, "bytes": 12, "old_bytes": 9}
    call: Payload = {"tool": "edit", "tool_call_id": "c1", "kind": "edit", "status": "completed", "diff": diff}
    assert again(opening(), line("tool_call", **call))[1] == ("tool_call", call)
