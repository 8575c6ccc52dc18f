"""mecha transcripts as records: the entries of three samples, worked out by hand from their lines."""

from __future__ import annotations

import base64
import hashlib

from tests.systems.datalayer.mapped import mapped, of_kind, outline, steps

GOLDEN = "20261003T081500-5e1d20aa"
VOICES = "20261005T170000-c0ffee05"
REWRITES = "20261004T093000-77aa11bb"


def test_golden_is_two_answered_runs_and_one_that_runs() -> None:
    """Calls stand where their results do; taint, goal and title are told in place; the open question is left out."""
    record = mapped("mecha/golden", GOLDEN)
    assert outline(record) == [
        ("session", "count the birds"),
        ("step", "config"),
        ("run", None),
        ("step", "thinking"),
        ("tool_call", "fs_list"),
        ("tool_call", "fs_read"),
        ("step", "taint"),
        ("step", "goal"),
        ("turn", "How many birds are in obs.csv?"),
        ("output", "answered"),
        ("step", "config"),
        ("run", None),
        ("tool_call", "web_fetch"),
        ("step", "steered"),
        ("step", "taint"),
        ("titled", "bird counts"),
        ("step", "goal"),
        ("turn", "Compare with the web list."),
        ("output", "answered"),
        ("run", None),
    ]
    assert [turn["answered"] for turn in of_kind(record, "turn")] == ["Seven.", "No comparison made."]
    assert of_kind(record, "output") == [{"status": "answered", "length": 6}, {"status": "answered", "length": 19}]
    assert any("the last turn was still running" in note for note in record.notes)


def test_golden_head_is_at_rest_and_named_by_its_title() -> None:
    """Nothing tells that a transcript ended: it is paused; the title in force is the head's."""
    record = mapped("mecha/golden", GOLDEN)
    assert (record.uid, record.agent, record.harness, record.state) == (GOLDEN, "mecha", "mecha", "paused")
    assert (record.title, record.turns) == ("bird counts", 2)


def test_golden_calls_keep_text_arguments_and_say_path_and_url() -> None:
    """A failed call says so and keeps what came back."""
    listed, read, fetched = of_kind(mapped("mecha/golden", GOLDEN), "tool_call")
    assert listed == {
        "tool": "fs_list", "tool_call_id": "c2", "arguments": '{"path":"."}', "result": "obs.csv\nnotes.md",
        "status": "completed", "path": ".",
    }  # fmt: skip
    assert (read["tool_call_id"], read["result"], read["path"]) == ("c1", "wren,4\nrobin,3", "obs.csv")
    assert fetched == {
        "tool": "web_fetch", "tool_call_id": "c3", "arguments": '{"url":"https://birds.example/list"}',
        "result": "timeout after 10s", "error": True, "status": "failed", "url": "https://birds.example/list",
    }  # fmt: skip


def test_golden_settings_say_what_changed() -> None:
    """The second configuration differs from the first in two members."""
    first, second = steps(mapped("mecha/golden", GOLDEN), "config")
    assert (first["model"], first["mode"], first["effort"]) == ("claude-opus-5", "ask", "high")
    assert second == {"event": "policy", "what": "config", "mode": "allow", "effort": "low"}


def test_golden_taint_and_goals_are_steps() -> None:
    """A checkpoint tells both marks; a goal given up has no name."""
    record = mapped("mecha/golden", GOLDEN)
    assert [(step["private"], step["untrusted"]) for step in steps(record, "taint")] == [(True, False), (True, True)]
    assert [step["name"] for step in steps(record, "goal")] == ["task:t-birds", ""]


def test_golden_times_are_when_the_session_was_created() -> None:
    """Of a transcript of mecha the header alone has a time."""
    record = mapped("mecha/golden", GOLDEN)
    assert {entry.at for entry in record.entries} == {"2026-10-03T08:15:00.000000Z"}
    assert any("its session was created" in note for note in record.notes)


def test_voices_tells_who_refused_each_call() -> None:
    """A person's refusal is an approval, a policy's and a hook's a decision; each stands before its call."""
    record = mapped("mecha/voices", VOICES)
    assert of_kind(record, "approval") == [
        {
            "tool": "shell",
            "outcome": "declined",
            "asked_under": "",
            "note": "not that directory",
            "tool_call_id": "r1",
        }
    ]
    decisions = of_kind(record, "decision")
    assert [(d["tool"], d["because"], d["refused"], d["tool_call_id"]) for d in decisions] == [
        ("fs_write", "permission", "read-only mode", "r2"),
        ("mail_send", "hook", "refused", "r3"),
    ]
    kinds = outline(record)
    assert kinds.index(("approval", "shell")) + 1 == kinds.index(("tool_call", "shell"))
    assert kinds.index(("decision", "mail_send")) + 1 == kinds.index(("tool_call", "mail_send"))


def test_voices_picture_becomes_a_file_without_its_bytes() -> None:
    """Size and digest are those of the decoded picture; the base64 text is nowhere in the record."""
    record = mapped("mecha/voices", VOICES, whole=True)
    data = base64.b64decode("iVBORw0KGgo=")
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert of_kind(record, "file") == [
        {"name": "nest.png", "type": "image/png", "size": 8, "digest": digest, "path": ""}
    ]
    assert "iVBORw0KGgo=" not in repr(record.entries)


def test_voices_two_questions_of_one_run_are_two_turns() -> None:
    """The first answer was cut short; the second question got calls and no answer before the run ended."""
    record = mapped("mecha/voices", VOICES)
    assert [(turn["asked"], turn["answered"]) for turn in of_kind(record, "turn")] == [
        ("/model grebe-3", "Stopped: interrupted\n\n[interrupted after 2 turns]"),
        ("What now?\n\n[Live state, carried past the compaction] none", "Stopped: no answer is recorded"),
    ]
    assert of_kind(record, "output") == [{"status": "stopped"}]


def test_voices_words_of_the_harness_are_steps_and_its_plan_checks_are_counted() -> None:
    """What the harness said beside the conversation is neither question nor answer."""
    record = mapped("mecha/voices", VOICES)
    assert [step["text"] for step in steps(record, "harness")] == [
        "You have used your entire tool budget. Answer now.",
        "Criteria were observed.",
        "A second opinion on your plan: slower.",
        "Mail: [Message m-17 from gardener] water today",
    ]
    assert [(step["steps"], step["status"]) for step in steps(record, "checks")] == [(1, {"passed": 1})]


def test_voices_result_without_its_call_is_kept() -> None:
    """The call stands in no line of the file: what came back is a step."""
    [result] = steps(mapped("mecha/voices", VOICES), "result")
    assert (result["tool_call_id"], "mind this" in str(result["text"])) == ("r9", True)


def test_rewrites_tells_summary_and_what_only_a_rewrite_holds() -> None:
    """A compaction tells its summary; a reply, its call and its answer inside a rewrite are told as any other."""
    record = mapped("mecha/rewrites", REWRITES)
    [compaction] = steps(record, "compaction")
    assert compaction["text"] == "[Earlier turns were compacted] the north pond froze first"
    assert (compaction["before"], compaction["kept"]) == (4, 0)
    assert [call["tool"] for call in of_kind(record, "tool_call")] == ["fs_read", "todo"]
    assert [(turn["asked"], turn["answered"]) for turn in of_kind(record, "turn")] == [
        ("Which pond froze first?", "The north pond."),
        ("And which thawed last?\n\nOnly 2026, please.", "Stopped: loop"),
        ("Try again.", "The south pond."),
    ]


def test_rewrites_run_that_met_a_limit_names_it() -> None:
    """A budget shows as a decision; the run is stopped. A setting that is no longer there is null."""
    record = mapped("mecha/rewrites", REWRITES)
    assert [decision["because"] for decision in of_kind(record, "decision")] == ["shield_limit:loop"]
    assert [output["status"] for output in of_kind(record, "output")] == ["stopped", "answered"]
    changed = steps(record, "config")[1]
    assert changed["model"] == "heron-11b"
    assert [name for name, value in changed.items() if value is None] == ["temperature", "max_usd", "compact_at_tokens"]


def test_title_changes_in_place_and_archive_mark_is_told() -> None:
    """The opening has the title it was created with; the later one is an entry."""
    record = mapped("mecha/rewrites", REWRITES)
    assert record.entries[0].payload["title"] == "chat: ponds"
    assert of_kind(record, "titled") == [{"title": "chat: ponds in winter", "archived": False}]
    assert record.title == "chat: ponds in winter"
