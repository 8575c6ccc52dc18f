"""Codex: what the lines of a rollout become, who speaks, how calls and tasks end, what replaces a conversation."""

from __future__ import annotations

import hashlib
import json

import pytest

from sessionlab.columns import BIGINT_MAX
from sessionlab.formats import codex
from sessionlab.tables import (
    Agent,
    Block,
    Config,
    Entry,
    Link,
    Outcome,
    Pool,
    Problem,
    Session,
    Source,
    ToolCall,
    Window,
)
from tests.formats.codex_lines import (
    CHILD,
    FORK_TIME,
    NEW_TURN,
    PARENT,
    Json,
    context,
    encoded,
    event,
    item,
    line,
    meta,
    read,
    rows,
    said,
)

SPAWN = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1, "agent_nickname": "Spode"}}}


def call(call_id: str, name: str = "exec_command") -> Json:
    """A call of a tool."""
    return item("function_call", name=name, arguments="{}", call_id=call_id)


def answer(call_id: str, output: object) -> Json:
    """The result of a call."""
    return item("function_call_output", call_id=call_id, output=output)


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ("Exit code: 0\nWall time: 2 seconds\nOutput:\nExit code: 9", ("ok", None, 0, 2000)),
        ("Chunk ID: 1\nWall time: 0.25 seconds\nProcess exited with code 7\nOutput:\n", ("failed", None, 7, 250)),
        ("Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 3\nOutput:\n", ("ok", None, None, 1000)),
        (json.dumps({"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 0.5}}), ("failed", None, 2, 500)),
        ("exec command rejected by user", ("refused", "person", None, None)),
        ("patch rejected by user", ("refused", "person", None, None)),
        ("approval policy is Never; reject command — it may write", ("refused", "policy", None, None)),
        ("aborted by user after 3.2s", ("interrupted", None, None, None)),
        ("apply_patch verification failed: no such line", ("failed", None, None, None)),
        ("Plan updated", ("ok", None, None, None)),
        ({"content": "no such server", "success": False}, ("failed", None, None, None)),
        ([{"type": "input_text", "text": "Exit code: 3\nOutput:\n"}], ("failed", None, 3, None)),
    ],
)  # fmt: skip
def test_a_result_tells_how_its_call_ended_in_its_heading(output: object, wanted: tuple[object, ...]) -> None:
    """Exit codes and Codex's own words count where Codex writes them, never what the tool printed."""
    (found,) = rows(read([meta(PARENT), call("c"), answer("c", output)]), ToolCall)
    assert (found.status, found.refused_by, found.exit_code, found.duration_ms) == wanted


def test_an_event_tells_more_than_the_result() -> None:
    """The event of the command has the exit code and the milliseconds; the text only says that it ran."""
    duration = {"secs": 1, "nanos": 5_000_000}
    ended = event("exec_command_end", call_id="c", command=["ls", "-l"], exit_code=4, duration=duration,
                  aggregated_output="gone", status="failed")  # fmt: skip
    found = read([meta(PARENT), call("c"), ended, answer("c", "gone")])
    (made,) = rows(found, ToolCall)
    assert (made.status, made.exit_code, made.duration_ms, made.result_seq) == ("failed", 4, 1005, 3)
    command = rows(found, Entry)[2]
    assert (command.kind, command.name, command.output_ix, command.exit_code) == ("command", "ls -l", 0, 4)


def test_a_declined_command_was_refused_by_a_person() -> None:
    """`declined` is the recorder's word."""
    ended = event("exec_command_end", call_id="c", command=["rm"], exit_code=-1, status="declined")
    (made,) = rows(read([meta(PARENT), call("c"), ended]), ToolCall)
    assert (made.status, made.refused_by) == ("refused", "person")


def test_a_server_says_that_its_tool_failed() -> None:
    """`Err`, and `Ok` with `isError`, are failures; the text of the result says nothing of it."""
    for result in ({"Err": "timed out"}, {"Ok": {"content": [], "isError": True}}):
        ended = event("mcp_tool_call_end", call_id="c", invocation={"server": "s", "tool": "t"}, result=result)
        (made,) = rows(read([meta(PARENT), call("c"), ended, answer("c", "…")]), ToolCall)
        assert made.status == "failed"


def test_a_call_without_a_result_and_a_result_without_its_call_are_kept() -> None:
    """Of the first nothing is told; the second stands at its result."""
    found = rows(read([meta(PARENT), call("a"), answer("b", "Plan updated")]), ToolCall)
    assert [(row.call_id, row.seq, row.result_seq, row.status) for row in found] == [
        ("a", 1, None, None),
        ("b", 2, 2, "ok"),
    ]


def test_calls_pair_by_id_whatever_their_order() -> None:
    """Two calls at once, answered the other way round."""
    found = rows(read([meta(PARENT), call("a"), call("b"), answer("b", "1"), answer("a", "2")]), ToolCall)
    assert {row.call_id: (row.seq, row.result_seq, row.batch) for row in found} == {"a": (1, 4, 0), "b": (2, 3, 0)}


def test_who_speaks() -> None:
    """What the recorder puts into user messages is no person's word, and in a subagent an agent speaks."""
    lines = [said("user", "Fire it."), said("user", "<environment_context>x"), said("developer", "y")]
    lines += [said("assistant", "Done.")]
    voices = [
        [row.voice for row in rows(read([m, *lines]), Entry)[1:]] for m in (meta(PARENT), meta(CHILD, source=SPAWN))
    ]
    assert voices == [["person", "harness", "harness", "model"], ["agent", "harness", "harness", "model"]]


def test_tasks_are_runs_and_a_prompt_within_one_steers_it() -> None:
    """Two tasks, the first with a second prompt: runs 1, 1, 1, 2."""
    prompt = event("user_message", message="x")
    found = read([meta(PARENT), event("task_started"), prompt, prompt, event("task_started")])
    assert [row.run for row in rows(found, Entry)] == [None, 1, 1, 1, 2]


def test_without_tasks_each_prompt_is_a_run() -> None:
    """Older files tell no tasks."""
    prompt, reply = event("user_message", message="x"), said("assistant", "y")
    found = read([meta(PARENT), prompt, reply, prompt, reply])
    assert [row.run for row in rows(found, Entry)] == [None, 1, 1, 2, 2]


def test_a_prompt_written_before_its_task_begins_the_same_run() -> None:
    """The event of the prompt may come first."""
    found = read([meta(PARENT), event("user_message", message="x"), event("task_started"), said("assistant", "y")])
    assert [row.run for row in rows(found, Entry)] == [None, 1, 1, 1]


@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        (event("task_complete", duration_ms=70), ("completed", "task_complete")),
        (event("turn_aborted", reason="interrupted"), ("interrupted", "interrupted")),
        (event("turn_aborted", reason="budget_limited"), ("cut_short", "budget_limited")),
        (event("task_complete", error="stream closed"), ("failed", "stream closed")),
    ],
)
def test_how_a_task_ended(end: Json, wanted: tuple[str, str | None]) -> None:
    """Completed, interrupted by a person, cut short by a budget, or failed, with the recorded word."""
    (found,) = rows(read([meta(PARENT), event("task_started"), end]), Outcome)
    assert (found.stop_class, found.stop_cause) == wanted


def test_a_replayed_task_ends_nothing_a_second_time() -> None:
    """The parent's outcome is told in the parent's file."""
    lines = [meta(CHILD, forked_from_id=PARENT), meta(PARENT), event("task_started"), event("task_complete")]
    assert rows(read(lines), Outcome) == []


def test_a_fork_is_a_session_that_names_its_parent() -> None:
    """One link, one session, one root agent."""
    found = read([meta(CHILD, forked_from_id=PARENT), meta(PARENT)])
    assert [(row.relation, row.other_session_id) for row in rows(found, Link)] == [("forked_from", f"codex:{PARENT}")]
    assert [row.session_id for row in rows(found, Session)] == [f"codex:{CHILD}"]
    assert [row.origin for row in rows(found, Agent)] == ["root"]


def test_a_subagent_is_an_agent_of_its_parents_session() -> None:
    """A spawned thread's rows stand under the session of its parent, one step below the root."""
    found = read([meta(CHILD, source=SPAWN), context()])
    (agent,) = rows(found, Agent)
    assert (agent.session_id, agent.agent_id, agent.parent_agent_id) == (f"codex:{PARENT}", CHILD, "root")
    assert (agent.origin, agent.depth, agent.profile) == ("spawn", 1, "Spode")
    assert {row.agent_id for row in rows(found, Entry)} == {CHILD}


def test_a_subagent_whose_root_cannot_be_told_is_a_session_that_names_its_parent() -> None:
    """Two steps down, without the root's id."""
    deep = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 2}}}
    found = read([meta(CHILD, source=deep)])
    assert [(row.session_id, row.relation) for row in rows(found, Link)] == [(f"codex:{CHILD}", "spawned_from")]


def test_a_record_has_the_same_id_in_the_parent_and_in_the_replay() -> None:
    """Thread, type and payload make it, the stamp does not: BLAKE2b over the three, the top bit off."""
    prompt = said("user", "Fire it.")
    parent = rows(read([meta(PARENT), {**prompt, "timestamp": "2026-03-03T00:00:00Z"}]), Entry)[1]
    child = rows(read([meta(CHILD, forked_from_id=PARENT), meta(PARENT), prompt]), Entry)[2]
    text = b"\0".join((PARENT.encode(), b"response_item", json.dumps(prompt["payload"]).encode()))
    wanted = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") & BIGINT_MAX
    assert parent.record_id == child.record_id == wanted
    assert (parent.is_copy, child.is_copy) == (False, True)


def test_equal_records_of_one_file_are_told_apart() -> None:
    """The third of three empty thoughts is not the first."""
    thought = item("reasoning", summary=[])
    found = rows(read([meta(PARENT), thought, thought, thought]), Entry)
    assert len({row.record_id for row in found}) == 4


def test_a_replacement_is_what_changed_and_what_stood_before_is_pooled_once() -> None:
    """[a, b, c] becomes [a, s]: position 1 holds a new body, and the list ends before position 2."""
    a, b, c, s = (said("user", text) for text in "abcs")
    history = [a["payload"], s["payload"]]
    lines = [meta(PARENT), a, b, c, line("compacted", message="", replacement_history=history), said("user", "d")]
    found = read(lines)
    assert [(row.position, row.message_ix) for row in rows(found, Window)] == [(1, 3), (2, None)]
    assert len([row for row in rows(found, Pool) if row.pool == "message"]) == 5
    last = rows(found, Entry)[-1]
    assert (last.position, last.messages, last.epoch) == (2, 3, 1)


def test_configurations_are_told_when_they_change() -> None:
    """A second turn under the same settings gives no row; another folder does."""
    lines = [
        meta(PARENT, git={"branch": "main"}),
        context(cwd="/srv/kiln"),
        context(cwd="/srv/kiln"),
        context(cwd="/w"),
    ]
    found = rows(read(lines), Config)
    assert [(row.seq, row.model, row.workspace, row.branch) for row in found] == [
        (0, None, "/srv/kiln", "main"),
        (1, "gpt-5.1-codex", "/srv/kiln", "main"),
        (3, "gpt-5.1-codex", "/w", "main"),
    ]


def test_what_nobody_knows_is_kept_with_the_entry() -> None:
    """A new member, a new event, a new line type: in detail, as they stand."""
    found = rows(
        read([meta(PARENT), event("kiln_lit", cone=6), line("glaze", hue=1), {**said("user", "x"), "n": 7}]), Entry
    )
    assert [(row.kind, row.native_kind, row.detail) for row in found[1:]] == [
        ("other", "kiln_lit", '{"rest":{"cone":6}}'),
        ("other", "glaze", '{"rest":{"hue":1}}'),
        ("message", "message", '{"rest":{"n":7}}'),
    ]


def test_a_long_rest_is_a_body_that_the_detail_names() -> None:
    """More than a thousand bytes do not stand in detail."""
    found = read([meta(PARENT), event("kiln_lit", log="x" * 2000)])
    entry = rows(found, Entry)[1]
    assert entry.detail == '{"rest_ix":0}'
    assert [row.text for row in rows(found, Block)] == [json.dumps({"log": "x" * 2000}, separators=(",", ":"))]


def test_a_line_of_two_megabytes_is_read() -> None:
    """There is no cap."""
    found = read([meta(PARENT), said("user", "z" * 2_000_000)])
    assert [len(row.text or "") for row in rows(found, Block)] == [2_000_000]


def test_deep_nesting_is_a_problem_or_a_row_and_never_an_exception() -> None:
    """A hundred thousand brackets in a payload."""
    deep = b'{"timestamp":"2026-03-04T09:00:00Z","type":"event_msg","payload":{"type":"x","a":' + b"[" * 100_000
    found = read([meta(PARENT), deep + b"]" * 100_000 + b"}}", said("user", "on")])
    assert rows(found, Problem)
    assert rows(found, Entry)[-1].voice == "person"


def test_a_piece_of_a_log_is_named_by_its_file_or_by_its_source() -> None:
    """A chunk without an opening: the id its rollout's name ends with, else nothing that could be confused."""
    uri = f"/x/rollout-2026-03-04T09-00-00-{PARENT}.jsonl"
    named, nameless = read([said("user", "x")], uri=uri), read([said("user", "x")])
    assert [row.session_id for row in rows(named, Session)] == [f"codex:{PARENT}"]
    assert rows(nameless, Session)[0].native_id is None
    assert rows(nameless, Entry)[0].record_id is None


def test_two_sessions_in_one_file_stay_two() -> None:
    """Files put behind each other: each opening begins its own session, with its own counts of runs."""
    lines = [meta(PARENT), event("task_started"), meta(CHILD), event("task_started", turn_id=NEW_TURN)]
    found = read(lines)
    assert [(row.session_id, row.run) for row in rows(found, Entry)] == [
        (f"codex:{PARENT}", None), (f"codex:{PARENT}", 1), (f"codex:{CHILD}", None), (f"codex:{CHILD}", 1),
    ]  # fmt: skip


def test_what_is_claimed() -> None:
    """Enveloped and bare lines, also cut off or behind a torn one; no other agent's log."""
    whole = encoded([meta(PARENT)])
    assert codex.sniff(whole)
    assert codex.sniff(whole[: whole.index(b'"payload"') + 15])
    assert codex.sniff(b'{"torn\n' + whole)
    assert codex.sniff(b'{"id":"x","timestamp":"2025-08-30T14:05:06Z","instructions":null}\n')
    assert codex.sniff(b'{"record_type":"state"}\n')
    for other in (
        b'{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"x"}}',
        b'{"type":"message","id":"1","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user"}}',
        b'{"record":"meta","version":1}', b"[]", b"", b"plain text\n" * 20,
    ):  # fmt: skip
        assert not codex.sniff(other)


def test_empty_and_foreign_bytes_end_in_rows() -> None:
    """No input raises; each file ends with one source row that says how much of it stands."""
    for data in (b"", b"\n\n", b"\xff\xfe\0", b"{", b'"x"\n', b'{"type":"event_msg","payload":{"type":"token_count"}}'):
        assert len(rows(read(data), Source)) == 1


def test_stamps_without_a_zone_are_utc_and_said_once() -> None:
    """Two lines, one note."""
    bare = FORK_TIME.removesuffix("Z")
    found = read([said("user", "x", bare), said("user", "y", bare)])
    assert [row.kind for row in rows(found, Problem)] == ["time_without_zone"]
    assert rows(found, Entry)[0].recorded_at == 1772614800000000


def test_a_subagents_file_may_repeat_its_parent_without_saying_that_it_is_a_fork() -> None:
    """The opening of the thread it was spawned from follows its own: what comes then is a copy."""
    found = read([meta(CHILD, source=SPAWN), meta(PARENT), said("user", "Fire it.")])
    assert [row.is_copy for row in rows(found, Entry)] == [False, True, True]
    assert {row.agent_id for row in rows(found, Entry)} == {CHILD}
