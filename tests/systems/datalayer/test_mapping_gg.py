"""gg recordings as records: the entries of two samples, worked out by hand from their lines."""

from __future__ import annotations

import os
from pathlib import Path

import sessionlab as sl
from sessionlab.systems.datalayer.mapping import record_of, team_of
from tests.systems.datalayer.mapped import copied, corpus_of, mapped, of_kind, outline, steps

MODIFIED_NS = 1_790_000_000_123_456_000
"""2026-09-21T14:13:20.123456Z."""


def test_clean_journal_is_one_stopped_run_in_order() -> None:
    """A question with a picture, a refused model, a shell call, a git command; the turns ceiling ends it."""
    record = mapped("gg/clean-journal", "run-0007")
    assert outline(record) == [
        ("session", "Draw a blue kite."),
        ("step", "config"),
        ("run", None),
        ("file", "image"),
        ("step", "model_error"),
        ("terminal", "echo building the kite page"),
        ("tool_call", "shell"),
        ("terminal", "git status --porcelain"),
        ("decision", "shield_limit:turns"),
        ("turn", "Draw a blue kite."),
        ("output", "stopped"),
        ("ended", "ended"),
    ]
    assert of_kind(record, "tool_call") == [
        {
            "tool": "shell", "tool_call_id": "c1", "arguments": '{"command":"echo building the kite page"}',
            "result": "exit code: 0\nbuilding the kite page\n", "status": "completed", "exit_code": 0,
            "command": "echo building the kite page",
        }
    ]  # fmt: skip
    assert of_kind(record, "turn") == [
        {"asked": "Draw a blue kite.", "answered": "Stopped: turns", "suggest_tests": False}
    ]
    assert of_kind(record, "output") == [{"status": "stopped"}]
    assert of_kind(record, "file") == [{"name": "image", "type": "image/png", "size": 3, "digest": "", "path": ""}]
    assert of_kind(record, "decision") == [
        {
            "behaviour": "refused", "because": "shield_limit:turns", "classes": [], "limit": "turns",
            "threshold": 1.0, "count": 1.0,
        }
    ]  # fmt: skip
    [shell, git] = of_kind(record, "terminal")
    assert (shell["output"], shell["by"], shell["cwd"]) == ("e kite page\n", "tool", ".")
    assert (git["output"], git["by"], git["exit_code"]) == ("? kite.html\n", "git", 0)


def test_head_names_the_profile_and_says_ended_when_the_root_is_done() -> None:
    """App and harness are the format, agent the root's profile, the owner unknown."""
    record = mapped("gg/clean-journal", "run-0007")
    assert (record.uid, record.app.id, record.app.version) == ("run-0007", "gg", 0)
    assert (record.agent, record.harness, record.owner) == ("Root", "gg", "unknown")
    assert (record.state, record.turns, record.title, record.archived) == ("ended", 1, "Draw a blue kite.", False)
    assert record.lineage.forked_from is None


def test_times_are_those_of_the_file_where_none_is_recorded(tmp_path: Path) -> None:
    """A gg recording has no wall clock: every entry says when its file was last modified, and a note says so."""
    file = copied(tmp_path, "gg/clean-journal")
    os.utime(file, ns=(MODIFIED_NS, MODIFIED_NS))
    record = record_of(sl.load(file, progress=False), "run-0007")
    assert {entry.at for entry in record.entries} == {"2026-09-21T14:13:20.123456Z"}
    assert any("times were not recorded" in note and "modified" in note for note in record.notes)


def test_times_are_1970_where_not_even_the_file_tells(tmp_path: Path) -> None:
    """An open stream has no modification time."""
    with copied(tmp_path, "gg/clean-journal").open("rb") as stream:
        record = record_of(sl.load(stream, progress=False), "run-0007")
    assert {entry.at for entry in record.entries} == {"1970-01-01T00:00:00.000000Z"}


def test_what_is_left_out_is_counted_in_notes() -> None:
    """Figures, clock readings, frames, probes and system prompts have no entry."""
    notes = " ".join(mapped("gg/clean-journal", "run-0007").notes)
    assert "figures of tokens and cost left out, as no kind of the format has them: 1" in notes
    assert "cancel probes without a cancel: 1, clock readings: 1, context frames: 1, system prompts: 1" in notes


def test_several_agents_become_steps_of_the_one_record() -> None:
    """Of five helpers two acted: their calls say whose they are, and a step of kind run tells task and end."""
    record = mapped("gg/several-agents", "run-0113")
    assert outline(record)[:8] == [
        ("session", "Build a lantern page."),
        ("step", "config"),
        ("run", None),
        ("step", "said"),
        ("tool_call", "spawn_agent"),
        ("decision", "write_file"),
        ("tool_call", "write_file"),
        ("step", "said"),
    ]
    runs = [payload for payload in of_kind(record, "step") if payload.get("kind") == "run"]
    assert [(run["id"], run["name"], run["parent_id"], run["input"], run["error"]) for run in runs] == [
        ("agent-0", "Scout", "", "Look for lantern shapes.", "error_rate"),
        ("LAMP-7.0i", "Mason", "", "Carve the lamp.", "response_loop"),
        ("LAMP-7.0i.0r", "Judge", "", "", ""),
        ("agent-2", "Weaver", "", "", ""),
        ("agent-1", "Scout", "agent-0", "", ""),
    ]
    calls = of_kind(record, "tool_call")
    assert [(call["tool"], call.get("agent"), call.get("by")) for call in calls] == [
        ("spawn_agent", None, None),
        ("write_file", None, None),
        ("run_program", "agent-0", None),
        ("shell", "agent-0", "program"),
        ("write_file", None, None),
    ]


def test_refused_call_stands_behind_the_decision_that_refused_it() -> None:
    """The call itself is kept, with its arguments and what it was told."""
    record = mapped("gg/several-agents", "run-0113")
    assert of_kind(record, "decision") == [
        {
            "tool": "write_file", "behaviour": "refused", "because": "permission", "classes": [],
            "refused": "refused", "tool_call_id": "k2",
        }
    ]  # fmt: skip
    refused = of_kind(record, "tool_call")[1]
    assert refused == {
        "tool": "write_file", "tool_call_id": "k2", "arguments": '{"path":"/etc/lamp"}',
        "result": "the path is outside the workspace", "error": True, "status": "failed", "path": "/etc/lamp",
    }  # fmt: skip


def test_unanswered_call_has_neither_result_nor_status() -> None:
    """Nothing came back: nothing is said of how it ended."""
    last = of_kind(mapped("gg/several-agents", "run-0113"), "tool_call")[-1]
    assert last == {
        "tool": "write_file",
        "tool_call_id": "k4",
        "arguments": '{"path":"lamp.html"}',
        "path": "lamp.html",
    }


def test_compaction_tells_the_summary_its_model_call_gave() -> None:
    """The forced call of the compaction is no tool call; the list it left begins with a message of the harness."""
    record = mapped("gg/several-agents", "run-0113")
    assert [step["text"] for step in steps(record, "compaction")] == ['handoff {"summary":"scout sent"}']
    assert [step["text"] for step in steps(record, "harness")] == ["A scout was sent."]
    assert [step["text"] for step in steps(record, "said")] == ["Sending a scout.", "Listing.", "Half a sent"]


def test_run_that_ends_done_without_words_is_answered_with_none() -> None:
    """The root is done: an empty answer, not a stopped one."""
    record = mapped("gg/several-agents", "run-0113")
    assert of_kind(record, "turn") == [{"asked": "Build a lantern page.", "answered": "", "suggest_tests": False}]
    assert of_kind(record, "output") == [{"status": "answered", "length": 0}]


def test_team_seats_each_agent_with_its_own_entries() -> None:
    """The root first, then agents as they act, then those that never did; each seat is a session of its own."""
    team = team_of(corpus_of("gg/several-agents"), "run-0113")
    assert (team.execution_id, team.team.id, team.team.version, team.state) == ("run-0113", "gg", "0", "ended")
    assert [seat.id for seat in team.seats] == [
        "root", "agent-0", "LAMP-7.0i", "LAMP-7.0i.0r", "agent-2", "agent-1",
    ]  # fmt: skip
    lead, scout, mason, *others = [seat.record for seat in team.seats]
    assert (lead.uid, lead.agent, lead.turns) == ("run-0113", "Lead", 1)
    assert (scout.agent, scout.title, scout.state) == ("Scout", "Look for lantern shapes.", "ended")
    assert outline(scout) == [
        ("session", "Look for lantern shapes."),
        ("run", None),
        ("step", "said"),
        ("tool_call", "run_program"),
        ("terminal", "ls shapes"),
        ("tool_call", "shell"),
        ("decision", "shield_limit:error_rate"),
        ("turn", "Look for lantern shapes."),
        ("output", "stopped"),
        ("ended", "ended"),
    ]
    assert of_kind(mason, "output") == [{"status": "stopped", "error": "response_loop"}]
    assert [outline(record) for record in others] == [[("session", ""), ("ended", "ended")]] * 3
    assert len({seat.record.uid for seat in team.seats}) == 6
