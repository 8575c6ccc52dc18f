"""Who speaks, which run and turn a line belongs to, how calls end: the entries and what hangs from them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sessionlab.formats.recording import digest63
from sessionlab.tables import Agent, Block, Config, Entry, Link, Row, Session, ToolCall, Usage
from tests.formats.claude_code_lines import (
    SESSION,
    call,
    joined,
    line,
    prompt,
    reply,
    result,
    rows,
    said,
    table,
    tokens,
)

Json = dict[str, Any]
EXPANDED = "<command-message>sow is running…</command-message>\n<command-name>/sow</command-name>"
LOCAL = "<command-name>/clear</command-name>\n<command-message>clear</command-message>"


@pytest.mark.parametrize(
    ("text", "members", "kind", "voice", "run"),
    [
        ("Plant the beans.", {}, "message", "person", 1),
        ("<b>Bold</b> beans, please.", {}, "message", "person", 1),
        (EXPANDED, {}, "command", "person", 1),
        (LOCAL, {}, "command", "person", None),
        ("<bash-input>git status</bash-input>", {}, "command", "person", None),
        ("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>", {}, "command", "harness", None),
        ("<local-command-stdout>bye</local-command-stdout>", {}, "command", "harness", None),
        ("<task-notification>\n<task-id>a1</task-id></task-notification>", {}, "message", "harness", None),
        ("Base directory for this skill: /s", {"isMeta": True}, "message", "harness", None),
        ("This session is being continued from", {"isCompactSummary": True}, "message", "harness", None),
        ("Wake up.", {"origin": {"kind": "task-notification"}}, "message", "harness", None),
        ("Go on.", {"origin": {"kind": "human"}}, "message", "person", 1),
        ('<teammate-message teammate_id="b">hi</teammate-message>', {}, "message", "agent", None),
        ("Survey the beds.", {"isSidechain": True, "agentId": "a7"}, "message", "agent", None),
    ],
)  # fmt: skip
def test_who_speaks_and_whether_a_run_begins(text: str, members: Json, kind: str, voice: str, run: int | None) -> None:
    """A run begins with a person's prompt or a command that expands to one, and with nothing else (rule 57)."""
    (entry,) = table(Entry, prompt(text, **members))
    assert (entry.kind, entry.voice, entry.run) == (kind, voice, run)


def test_an_opened_file_beside_a_prompt_does_not_hide_the_person() -> None:
    """The editor puts a block of its own before the text: the line is still the person's prompt."""
    content = [said("<ide_opened_file>a.py</ide_opened_file>"), said("Explain it.")]
    (entry,) = table(Entry, line("user", message={"role": "user", "content": content}))
    assert (entry.voice, entry.run) == ("person", 1)


@pytest.mark.parametrize(("mode", "voice"), [("prompt", "person"), ("task-notification", "harness")])
def test_what_is_queued_while_the_model_works_steers_the_run_and_begins_none(mode: str, voice: str) -> None:
    """The text typed into a running turn is a message of its own, in the run that it steers."""
    queued = {"type": "queued_command", "prompt": "Beans first.", "commandMode": mode, "source": "keyboard"}
    found = rows(joined(prompt("a"), line("attachment", attachment=queued)))
    entry = [row for row in found if isinstance(row, Entry)][1]
    assert (entry.kind, entry.voice, entry.role, entry.run, entry.message_ix) == ("message", voice, "user", 1, 1)
    assert [row.text for row in found if isinstance(row, Block)] == ["a", "Beans first."]
    assert entry.detail is not None
    assert json.loads(entry.detail) == {"attachment": {"commandMode": mode, "source": "keyboard"}}


def test_a_queued_text_that_opens_a_tag_is_the_harness() -> None:
    """What the recorder queues in a person's mode is marked up; a person's text is not."""
    queued = {
        "type": "queued_command",
        "prompt": "<task-notification>done</task-notification>",
        "commandMode": "prompt",
    }
    (entry,) = table(Entry, line("attachment", attachment=queued))
    assert entry.voice == "harness"


def test_turns_are_the_distinct_message_ids_of_the_agent() -> None:
    """Two lines of m1 are one turn; an id that comes back with another context is a turn of its own."""
    entries = table(
        Entry,
        reply("m1", said("a"), usage=tokens(10, 0, 0, 1)),
        reply("m1", said("b"), usage=tokens(10, 0, 0, 1)),
        reply("m2", said("c"), usage=tokens(20, 0, 0, 1)),
        reply("m1", said("d"), usage=tokens(30, 0, 0, 1)),
        reply(None, said("e"), usage=tokens(30, 0, 0, 1)),
        reply(None, said("f"), usage=tokens(30, 0, 0, 1)),
    )
    assert [entry.turn for entry in entries] == [1, 1, 2, 3, 4, 5]


def test_a_record_is_known_by_its_uuid_and_hangs_from_its_parent() -> None:
    """Rule 7: the same uuid is the same record in any file; a boundary hangs from its logical parent (rule 57)."""
    boundary = line("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid="u-9", uuid="u-2")
    first, second = table(Entry, prompt("a", uuid="u-1", parentUuid="u-0"), boundary)
    assert (first.record_id, first.parent_id) == (digest63("u-1"), digest63("u-0"))
    assert (second.record_id, second.parent_id) == (digest63("u-2"), digest63("u-9"))


def test_8_lines_written_again_are_copies_and_begin_nothing() -> None:
    """Rule 8: the same uuid later in the file is a copy; it begins no run, and the run after it is the second."""
    first = prompt("a", uuid="u-1")
    entries = table(
        Entry, first, line("system", subtype="compact_boundary", uuid="u-2"), first, prompt("b", uuid="u-3")
    )
    assert [(entry.is_copy, entry.run) for entry in entries] == [(False, 1), (False, 1), (True, 1), (False, 2)]


def test_a_compaction_raises_the_epoch_of_what_follows() -> None:
    """A boundary and a microcompaction each change the conversation; only the first is a compaction."""
    entries = table(
        Entry,
        prompt("a"),
        line("system", subtype="microcompact_boundary", microcompactMetadata={"preTokens": 70, "tokensSaved": 30}),
        line("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 50}),
        prompt("b"),
    )
    assert [(entry.kind, entry.epoch) for entry in entries] == [
        ("message", 0),
        ("rewrite", 0),
        ("compaction", 1),
        ("message", 2),
    ]
    assert entries[1].detail is not None
    assert entries[2].detail is not None
    assert json.loads(entries[1].detail)["after_tokens"] == 40
    told = json.loads(entries[2].detail)
    assert (told["trigger"], told["before_tokens"]) == ("auto", 50)


DENIALS: list[tuple[str, str, str | None]] = [
    ("The user doesn't want to proceed with this tool use. The tool use was rejected.", "refused", "person"),
    ("The user doesn't want to take this action right now. STOP", "refused", "person"),
    ("User chose to stay in plan mode and continue planning", "refused", "person"),
    ("Permission to use Bash with command rm -rf / has been denied.", "refused", "policy"),
    ("Claude requested permissions to write to /etc/hosts, but you haven't granted it yet.", "refused", "policy"),
    ("PreToolUse:Bash hook error: [guard.py]: no pushing on Fridays", "refused", "hook"),
    ("Bash operation blocked by hook: no secrets", "refused", "hook"),
    ("[Request interrupted by user]", "interrupted", None),
    ("Exit code 1\ngrep: permission denied", "failed", None),
    ("<tool_use_error>File has not been read yet.</tool_use_error>", "failed", None),
]


@pytest.mark.parametrize(("text", "status", "by"), DENIALS, ids=[text[:24] for text, _status, _by in DENIALS])
def test_a_refusal_is_never_a_failure(text: str, status: str, by: str | None) -> None:
    """Denied by a person, the policy or a hook, stopped, or really failed: told apart by what the result says."""
    (row,) = table(ToolCall, reply("m1", call("t1")), result("t1", text, error=True))
    assert (row.status, row.refused_by) == (status, by)


def test_words_of_refusal_in_a_result_that_is_no_error_mean_nothing() -> None:
    """A file that quotes a denial was read, not refused."""
    text = "The user doesn't want to proceed with this tool use"
    (row,) = table(ToolCall, reply("m1", call("t1", "Read")), result("t1", text))
    assert (row.status, row.refused_by, row.reason) == ("ok", None, None)


def test_an_exit_code_is_read_where_it_is_written() -> None:
    """A failed command begins with its exit code; of one that went well the log tells none."""
    calls = table(
        ToolCall,
        reply("m1", call("t1"), call("t2")),
        result("t1", [said("Exit code 127\nsow: not found")], error=True),
        result("t2", "ok", error=False),
    )
    assert [(row.exit_code, row.reason, row.status) for row in calls] == [
        (127, "Exit code 127", "failed"),
        (None, None, "ok"),
    ]


def test_a_call_that_was_stopped_while_it_ran_is_interrupted() -> None:
    """The tool's own result says so, though it is no error."""
    (row,) = table(
        ToolCall, reply("m1", call("t1")), result("t1", "partial", told={"interrupted": True, "durationMs": 41})
    )
    assert (row.status, row.duration_ms) == ("interrupted", 41)


def test_results_are_paired_by_id_in_any_order() -> None:
    """A result before its call, two calls of one reply, and a call of another: each finds its own."""
    calls = table(
        ToolCall,
        result("t3", "early"),
        reply("m1", call("t1"), call("t2")),
        reply("m2", call("t3")),
        result("t2", "second"),
        result("t1", "first"),
    )
    assert {row.call_id: (row.seq, row.ordinal, row.result_seq, row.batch) for row in calls} == {
        "t1": (1, 0, 4, 0),
        "t2": (1, 1, 3, 0),
        "t3": (2, 0, 0, 1),
    }


def test_a_call_without_result_is_unanswered_once_the_agent_went_on() -> None:
    """At the end of a live file nothing is told of the last call; one left behind by a later reply got no answer."""
    calls = table(ToolCall, reply("m1", call("t1")), reply("m2", call("t2")))
    assert [(row.call_id, row.status, row.result_seq) for row in calls] == [
        ("t1", "unanswered", None),
        ("t2", None, None),
    ]


def test_a_result_without_call_keeps_its_row() -> None:
    """A file that begins in the middle of a session holds results of calls it never shows."""
    (row,) = table(ToolCall, result("t9", "done"))
    assert (row.seq, row.result_seq, row.call_id, row.name, row.status) == (0, 0, "t9", None, "ok")


def test_only_tools_that_fetch_are_known_to_be_external() -> None:
    """A shell may reach the network or not: unknown is null, never false."""
    calls = table(
        ToolCall, reply("m1", call("a", "WebFetch"), call("b", "WebSearch"), call("c", "Bash"), call("d", "mcp__x__y"))
    )
    assert [row.external for row in calls] == [True, True, None, None]


def test_a_subagent_is_known_from_both_files() -> None:
    """The parent's file tells who spawned it, through which call and as what; its own file tells that it spoke."""
    parent = table(
        Agent,
        reply("m1", call("t1", "Task", subagent_type="digger", description="Dig the bed")),
        result("t1", "dug", told={"agentId": "a7", "status": "completed", "resolvedModel": "claude-haiku-4-5"}),
    )
    told = parent[-1]
    assert (told.agent_id, told.parent_agent_id, told.spawn_call_id, told.depth, told.origin) == (
        "a7",
        "root",
        "t1",
        1,
        "spawn",
    )
    assert (told.profile_id, told.profile, told.model, told.status) == (
        "digger",
        "Dig the bed",
        "claude-haiku-4-5",
        "done",
    )
    (own,) = table(Agent, prompt("Dig.", isSidechain=True, agentId="a7"))
    assert (own.agent_id, own.origin, own.parent_agent_id) == ("a7", "spawn", None)


def test_a_compaction_agent_is_no_turn_of_anybody() -> None:
    """Rule 32: the summary's call stands in agent-acompact-*; it is charged as a compaction and takes no turn."""
    data = joined(reply("m1", said("sum"), usage=tokens(9, 0, 0, 5), isSidechain=True, agentId="acompact-1"))
    found: list[Row] = rows(data)
    (usage,) = [row for row in found if isinstance(row, Usage)]
    (agent,) = [row for row in found if isinstance(row, Agent)]
    assert (usage.purpose, usage.turn, usage.agent_id, agent.origin) == ("compaction", None, "acompact-1", "compaction")


def test_old_side_chains_are_told_apart_by_the_line_they_begin_with() -> None:
    """Versions before agent ids wrote side chains into the main file: no turn of theirs is the root's."""
    entries = table(
        Entry,
        prompt("a", uuid="u1"),
        prompt("b", uuid="s1", isSidechain=True),
        reply("m1", said("c"), uuid="s2", parentUuid="s1", isSidechain=True),
        reply("m2", said("d"), uuid="u2", parentUuid="u1"),
    )
    assert [(entry.agent_id, entry.turn) for entry in entries] == [
        ("root", None),
        ("sidechain-s1", None),
        ("sidechain-s1", 1),
        ("root", 1),
    ]


def test_a_configuration_is_written_when_it_changes() -> None:
    """Branch, folder, version, mode and model: a row where one changes, none where all stay."""
    base = {"version": "2.1.1", "cwd": "/a", "gitBranch": "main"}
    configs = table(
        Config,
        prompt("a", **base, permissionMode="default"),
        prompt("b", **base),
        prompt("c", **{**base, "gitBranch": "beans"}),
        reply("m1", said("d"), **{**base, "gitBranch": "beans"}, effort="high"),
        line("permission-mode", permissionMode="plan"),
    )
    assert [(row.seq, row.branch, row.model, row.effort, row.permission_mode) for row in configs] == [
        (0, "main", None, None, "default"),
        (2, "beans", None, None, "default"),
        (3, "beans", "claude-opus-4-7", "high", "default"),
        (4, "beans", "claude-opus-4-7", "high", "plan"),
    ]


def test_a_fork_points_at_the_session_it_was_made_from() -> None:
    """`forkedFrom` stands on every copied line; it is one claim."""
    fork = {"sessionId": "s-old", "messageUuid": "u-7"}
    links = table(Link, prompt("a", forkedFrom=fork), prompt("b", forkedFrom=fork))
    assert [(row.relation, row.seq, row.session_id, row.other_session_id, row.detail) for row in links] == [
        ("forked_from", 0, f"claude_code:{SESSION}", "claude_code:s-old", '{"message_uuid":"u-7"}')
    ]


def test_56_a_file_of_two_sessions_keeps_each_lines_own() -> None:
    """Rule 56: after a resume two session ids stand in one file; both are sessions, the second continues the first."""
    found = rows(joined(prompt("a", sessionId="s1"), prompt("b", sessionId="s2")))
    assert [row.session_id for row in found if isinstance(row, Entry)] == ["claude_code:s1", "claude_code:s2"]
    assert [(row.native_id, row.entries) for row in found if isinstance(row, Session)] == [("s1", 1), ("s2", 1)]
    (link,) = [row for row in found if isinstance(row, Link)]
    assert (link.session_id, link.relation, link.other_session_id) == (
        "claude_code:s2",
        "continued_from",
        "claude_code:s1",
    )


def test_54_backward_times_leave_the_order_of_the_file() -> None:
    """Rule 54: order is the file's; the session spans the earliest and the latest time."""
    found = rows(
        joined(
            prompt("a", timestamp="2026-10-03T10:00:02.000Z"),
            prompt("b", timestamp="2026-10-03T10:00:01.000Z"),
            prompt("c", timestamp="2026-10-03T10:00:03.500Z"),
        )
    )
    (session,) = [row for row in found if isinstance(row, Session)]
    earliest = int(datetime(2026, 10, 3, 10, 0, 1, tzinfo=UTC).timestamp()) * 1_000_000
    assert (session.created_at, session.ended_at) == (earliest, earliest + 2_500_000)
    assert [row.seq for row in found if isinstance(row, Entry)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([line("custom-title", customTitle="Chosen"), line("ai-title", aiTitle="Late")], "Chosen"),
        ([line("ai-title", aiTitle="Guess")], "Guess"),
        ([{"type": "summary", "summary": "Mine", "leafUuid": "u-1"}], "Mine"),
        ([{"type": "summary", "summary": "Another's", "leafUuid": "u-7"}], None),
    ],
    ids=["custom", "ai", "own summary", "summary of another session"],
)  # fmt: skip
def test_the_title_in_force(lines: list[Json], title: str | None) -> None:
    """A person's title stands before the recorder's; a summary titles the session that holds its leaf."""
    (session,) = table(Session, *lines, prompt("a", uuid="u-1"))
    assert session.title == title


def test_every_entry_of_a_session_names_an_agent_that_has_a_row() -> None:
    """No agent id without an `Agent` row in the same file."""
    echo = line("progress", data={"type": "agent_progress", "agentId": "a9", "message": {}})
    found = rows(joined(prompt("a"), echo))
    named = {(row.session_id, row.agent_id) for row in found if isinstance(row, Entry)}
    assert named == {(f"claude_code:{SESSION}", "root"), (f"claude_code:{SESSION}", "a9")}
    assert named == {(row.session_id, row.agent_id) for row in found if isinstance(row, Agent)}
