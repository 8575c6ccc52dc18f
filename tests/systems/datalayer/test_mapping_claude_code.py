"""Claude Code transcripts as records: the entries of four samples, worked out by hand from their lines."""

from __future__ import annotations

import json
from pathlib import Path

import sessionlab as sl
from sessionlab.systems.datalayer.mapping import record_of, team_of
from tests.systems.datalayer.mapped import corpus_of, mapped, of_kind, outline, steps

SESSION = "5a7c0d12-3b64-4e0f-9a21-c8d5e6f70101"
COMPACTED = "7c9e2f34-5d86-4a21-9c43-e0f708192323"
RESUMED = "9eb04156-7fa8-4c43-9e65-021a2b314545"
DAMAGED = "6b8d1e23-4c75-4f10-8b32-d9e6f7081212"


def test_session_is_an_answered_and_an_interrupted_run_with_what_stands_beside() -> None:
    """The subagent's work is woven in by time; hooks that ended are checks, files named by attachments are files."""
    record = mapped("claude_code/session", SESSION)
    assert outline(record) == [
        ("session", ""),
        ("step", "config"),
        ("run", None),
        ("step", "file-history-snapshot"),
        ("step", "config"),
        ("step", "thinking"),
        ("tool_call", "Bash"),
        ("step", "config"),
        ("tool_call", "WebFetch"),
        ("step", "config"),
        ("tool_call", "Read"),
        ("step", "Survey the call sites"),
        ("tool_call", "Task"),
        ("check", "Stop"),
        ("turn", "Rename the parser module."),
        ("output", "answered"),
        ("titled", "Parser module renamed"),
        ("run", None),
        ("approval", "Bash"),
        ("tool_call", "Bash"),
        ("step", "harness"),
        ("turn", "<ide_opened_file>furrow.py is open</ide_opened_file>\n\nNow push it."),
        ("output", "stopped"),
        ("step", "command"),
        ("step", "command"),
        ("step", "command"),
        ("step", "config"),
        ("step", "queue-operation"),
        ("check", "SessionStart:resume"),
        ("file", "CLAUDE.md"),
        ("step", "progress/hook_progress"),
        ("step", "goal"),
        ("titled", "Orchard rename"),
        ("step", "weather-report"),
    ]


def test_session_times_are_when_each_line_was_written() -> None:
    """A line without a time has that of the line before it; the run's end is told by its own line."""
    record = mapped("claude_code/session", SESSION)
    assert record.entries[0].at == record.entries[2].at == "2026-10-03T08:15:00.125000Z"
    assert [entry.at for entry in record.entries if entry.kind == "tool_call"] == [
        "2026-10-03T08:15:07.750000Z",
        "2026-10-03T08:15:11.800000Z",
        "2026-10-03T08:15:13.200000Z",
        "2026-10-03T08:15:17.821000Z",
        "2026-10-03T09:02:09.000000Z",
    ]
    assert [entry.at for entry in record.entries if entry.kind == "titled"] == [
        "2026-10-03T08:15:31.625000Z",
        "2026-10-03T09:03:06.000000Z",
    ]
    assert of_kind(record, "output") == [
        {"status": "answered", "ended_at": "2026-10-03T08:15:31.625000Z", "length": 24},
        {"status": "stopped", "ended_at": "2026-10-03T09:02:09.010000Z"},
    ]
    assert not any("times were not recorded" in note for note in record.notes)


def test_session_refusal_by_a_person_is_an_approval_and_its_call() -> None:
    """The push was declined: who declined it, and the call with its arguments."""
    record = mapped("claude_code/session", SESSION)
    said = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    assert of_kind(record, "approval") == [
        {"tool": "Bash", "outcome": "declined", "asked_under": "", "note": said, "tool_call_id": "toolu_push"}
    ]
    assert of_kind(record, "tool_call")[-1] == {
        "tool": "Bash", "tool_call_id": "toolu_push", "arguments": '{"command":"git push"}', "result": said,
        "error": True, "status": "failed", "command": "git push",
    }  # fmt: skip


def test_session_subagent_is_a_step_with_task_answer_and_times() -> None:
    """Its call says whose it is; its repeated message in the parent's file is left out."""
    record = mapped("claude_code/session", SESSION)
    [run] = [payload for payload in of_kind(record, "step") if payload.get("kind") == "run"]
    assert run == {
        "id": "a1b2c3d", "name": "Survey the call sites", "kind": "run", "parent_id": "",
        "input": "Who imports parser?", "output": "Only plough.py imports it.", "error": "",
        "started_at": "2026-10-03T08:15:11.000000Z", "ended_at": "2026-10-03T08:15:17.500000Z",
    }  # fmt: skip
    assert [call.get("agent") for call in of_kind(record, "tool_call")] == [None, None, "a1b2c3d", None, None]
    assert any("repeated messages of subagents: 1" in note for note in record.notes)


def test_session_file_of_an_attachment_has_size_and_digest_and_not_its_text() -> None:
    """The memory file that was read in: 14 bytes, nowhere in the record."""
    record = mapped("claude_code/session", SESSION, whole=True)
    [file] = of_kind(record, "file")
    assert (file["name"], file["path"], file["size"]) == ("CLAUDE.md", "/home/ana/orchard/CLAUDE.md", 14)
    assert str(file["digest"]).startswith("sha256:")
    assert sorted(file) == ["digest", "name", "path", "size", "type"]


def test_session_hooks_say_stage_gate_and_whether_they_passed() -> None:
    """A stop hook runs after the run, a start hook before; one that only runs is no check."""
    record = mapped("claude_code/session", SESSION)
    checks = of_kind(record, "check")
    assert [(check["stage"], check["action"], check["gate"], check["passed"]) for check in checks] == [
        ("post_run", "proceed", "Stop", True),
        ("preflight", "proceed", "SessionStart:resume", True),
    ]
    assert [step["name"] for step in steps(record, "progress/hook_progress")] == ["PostToolUse:Edit"]


def test_session_as_a_team_has_a_seat_for_the_subagent() -> None:
    """The subagent's task is the question of its own session."""
    team = team_of(corpus_of("claude_code/session"), SESSION)
    assert [seat.id for seat in team.seats] == ["root", "a1b2c3d"]
    root, surveyor = [seat.record for seat in team.seats]
    assert (root.uid, root.turns, surveyor.turns, surveyor.state) == (SESSION, 2, 1, "ended")
    assert [payload.get("kind") for payload in of_kind(root, "step")].count("run") == 0
    assert of_kind(surveyor, "turn") == [
        {"asked": "Who imports parser?", "answered": "Only plough.py imports it.", "suggest_tests": False}
    ]
    assert outline(surveyor)[-3:] == [
        ("turn", "Who imports parser?"),
        ("output", "answered"),
        ("ended", "ended"),
    ]


def test_compacted_tells_errors_rewrites_and_a_failed_run() -> None:
    """A command begins the second run, a rate limit fails it; a replayed line is told once."""
    record = mapped("claude_code/compacted", COMPACTED)
    assert [(turn["asked"], turn["answered"]) for turn in of_kind(record, "turn")] == [
        ("Weave the border.", "Border woven."),
        (
            "<command-message>hem is running…</command-message>\n<command-name>/hem</command-name>",
            "Stopped: rate_limit",
        ),
    ]
    assert of_kind(record, "output") == [
        {"status": "answered", "ended_at": "2026-10-05T11:00:12.000000Z", "length": 13},
        {"status": "stopped", "ended_at": "2026-10-05T11:01:04.000000Z", "error": "rate_limit"},
    ]
    errors = steps(record, "model_error")
    assert [(error["error"], error["status"]) for error in errors] == [
        ("overloaded_error", "failed"),
        ("cyber", "refused"),
        ("rate_limit", "failed"),
    ]
    assert [(s["trigger"], s["before_tokens"], s["after_tokens"]) for s in steps(record, "compaction")] == [
        ("manual", 155068, 8123)
    ]
    assert [(s["trigger"], s["before_tokens"]) for s in steps(record, "rewrite")] == [("auto", 60888)]
    [call] = of_kind(record, "tool_call")
    assert (call["exit_code"], call["status"], call["result"]) == (3, "failed", "Exit code 3\nthread broke")


def test_resumed_holds_what_it_took_over_and_leaves_out_the_open_question() -> None:
    """The copied turn is part of its own past; the last question was still being worked on, its call stays."""
    record = mapped("claude_code/resumed", RESUMED)
    assert [turn["asked"] for turn in of_kind(record, "turn")] == ["Count the boats."]
    assert outline(record)[-2:] == [("run", None), ("tool_call", "Grep")]
    assert "And the buoys?" not in repr(record.entries)
    assert any("still running" in note for note in record.notes)
    assert record.title == "Boats counted"


def test_damaged_questions_without_an_answer_are_stopped_turns_without_an_output() -> None:
    """A run another follows never ended: nothing is told of its end."""
    record = mapped("claude_code/damaged", DAMAGED)
    turns = of_kind(record, "turn")
    unanswered = ["Glue one.", "Glue two.", "Nul behind me.", "When was this?"]
    assert [turn["asked"] for turn in turns if turn["answered"] == "Stopped: no answer is recorded"] == unanswered
    assert (len(turns), len(of_kind(record, "run")), len(of_kind(record, "output"))) == (7, 7, 3)


def line(number: int, kind: str, content: object, **more: object) -> str:
    """One line of a hand-made transcript."""
    message: dict[str, object] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "type": "message", "model": "claude-opus-4-7", "stop_reason": "end_turn"}
    return json.dumps({
        "type": kind, "uuid": f"{number:08d}-0000-4000-8000-000000000000", "sessionId": SESSION, "message": message,
        "timestamp": f"2026-10-03T08:00:{number:02d}.000Z", **more,
    })  # fmt: skip


def record_of_lines(tmp_path: Path, *lines: str, whole: bool = False) -> list[tuple[str, dict[str, object]]]:
    """Kinds and payloads of the record of a hand-made transcript."""
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    record = record_of(sl.load(tmp_path / "t.jsonl", progress=False), SESSION, whole=whole)
    return [(entry.kind, entry.payload) for entry in record.entries]


def test_fork_tells_where_it_was_forked_and_stands_behind_what_it_took_over(tmp_path: Path) -> None:
    """The lineage counts the turns taken over; session and cloned entries follow them, as in a clone."""
    base = "1b2c3d4e-0000-4000-8000-00000000000a"
    first = [line(1, "user", "Plant."), line(2, "assistant", [{"type": "text", "text": "Planted."}])]
    (tmp_path / f"{base}.jsonl").write_text("\n".join(x.replace(SESSION, base) for x in first) + "\n")
    forked = [
        json.dumps({**json.loads(x), "forkedFrom": {"sessionId": base, "messageUuid": json.loads(x)["uuid"]}})
        for x in first
    ]
    own = [line(3, "user", "Water."), line(4, "assistant", [{"type": "text", "text": "Watered."}])]
    (tmp_path / f"{SESSION}.jsonl").write_text("\n".join([*forked, *own]) + "\n")
    record = record_of(sl.load(tmp_path, progress=False), SESSION)
    assert record.lineage.forked_from is not None
    assert (record.lineage.forked_from.uid, record.lineage.forked_from.at_turn) == (base, 1)
    kinds = [kind for kind, _ in outline(record) if kind != "step"]
    assert kinds == ["run", "turn", "output", "session", "cloned", "run", "turn", "output"]
    assert of_kind(record, "cloned") == [{"from": base, "at_turn": 1}]


def test_words_beside_a_call_are_steps_and_what_stands_behind_the_last_call_is_the_answer(tmp_path: Path) -> None:
    """Two lines of words behind the call are one answer, in order."""
    found = record_of_lines(
        tmp_path,
        line(1, "user", "Dig."),
        line(2, "assistant", [{"type": "text", "text": "I will look."}]),
        line(3, "assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]),
        line(4, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "clay"}]),
        line(5, "assistant", [{"type": "text", "text": "It is clay."}]),
        line(6, "assistant", [{"type": "text", "text": "Dug."}]),
    )
    assert [payload["text"] for kind, payload in found if payload.get("what") == "said"] == ["I will look."]
    [turn] = [payload for kind, payload in found if kind == "turn"]
    assert turn["answered"] == "It is clay.\n\nDug."


def test_texts_are_cut_to_the_lengths_of_the_format_unless_wanted_whole(tmp_path: Path) -> None:
    """4000 characters of a question and an answer, 500 of arguments, 300 of a result."""
    lines = (
        line(1, "user", "q" * 4001),
        line(2, "assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "p" * 600}}]),
        line(3, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "r" * 301}]),
        line(4, "assistant", [{"type": "text", "text": "a" * 5000}]),
    )
    for whole, wanted in ((False, (4000, 4000, 500, 300)), (True, (4001, 5000, 612, 301))):
        found = dict(record_of_lines(tmp_path, *lines, whole=whole))
        turn, call = found["turn"], found["tool_call"]
        lengths = tuple(len(str(v)) for v in (turn["asked"], turn["answered"], call["arguments"], call["result"]))
        assert lengths == wanted
        assert found["output"]["length"] == 5000


def test_cut_texts_are_counted_in_a_note(tmp_path: Path) -> None:
    """Whoever reads the record learns that something of it is missing."""
    (tmp_path / "t.jsonl").write_text(
        "\n".join([line(1, "user", "q" * 4001), line(2, "assistant", [{"type": "text", "text": "a" * 4001}])]) + "\n"
    )
    corpus = sl.load(tmp_path / "t.jsonl", progress=False)
    assert any(
        n.startswith("2 texts were cut to the lengths of the format, ") for n in record_of(corpus, SESSION).notes
    )
    assert not any("cut" in note for note in record_of(corpus, SESSION, whole=True).notes)


def test_one_text_was_cut(tmp_path: Path) -> None:
    """The note counts one in the singular."""
    (tmp_path / "t.jsonl").write_text(line(1, "user", "q") + "\n" + line(2, "assistant", "a" * 4001) + "\n")
    notes = record_of(sl.load(tmp_path / "t.jsonl", progress=False), SESSION).notes
    assert any(note.startswith("1 text was cut to the lengths of the format, ") for note in notes)


def test_branch_written_anew_under_new_ids_is_told_once(tmp_path: Path) -> None:
    """Same times, new uuids, the prompt split in two: one turn, one call, and a note that counts the four lines."""
    words = [{"type": "text", "text": "<ide>open</ide>"}, {"type": "text", "text": "Dig."}]
    call = [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "clay"}]
    first = [line(1, "user", words), line(2, "assistant", call), line(3, "user", result)]
    end = line(4, "assistant", [{"type": "text", "text": "Dug."}])
    again = [line(1, "user", words[:1]), line(1, "user", words[1:]), *first[1:]]
    anew = [json.dumps({**json.loads(one), "uuid": f"9999999{n}-0000-4000-8000-0"}) for n, one in enumerate(again)]
    (tmp_path / "t.jsonl").write_text("\n".join([*first, end, *anew]) + "\n")
    record = record_of(sl.load(tmp_path / "t.jsonl", progress=False), SESSION)
    assert [kind for kind, _ in outline(record) if kind != "step"] == ["session", "run", "tool_call", "turn", "output"]
    assert [turn["answered"] for turn in of_kind(record, "turn")] == ["Dug."]
    assert any("messages told again under new ids: 4" in note for note in record.notes)


def test_picture_in_a_tools_result_becomes_a_file(tmp_path: Path) -> None:
    """The three bytes `abc` as base64: their size and digest, not themselves."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YWJj"}}
    found = record_of_lines(
        tmp_path,
        line(1, "user", "Look."),
        line(2, "assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.png"}}]),
        line(3, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": [image]}]),
        line(4, "assistant", [{"type": "text", "text": "A picture."}]),
        whole=True,
    )
    digest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of `abc`, FIPS 180-2
    [file] = [payload for kind, payload in found if kind == "file"]
    assert file == {"name": "image", "type": "image/png", "size": 3, "digest": digest, "path": ""}
    assert "YWJj" not in repr(found)


def test_attached_file_in_base64_has_the_size_of_its_bytes(tmp_path: Path) -> None:
    """A picture that was attached: three bytes, whatever their text form weighs."""
    attachment = {
        "type": "file",
        "filename": "/srv/a.png",
        "content": {"type": "image", "file": {"base64": "YWJj", "type": "image/png"}},
    }
    found = record_of_lines(
        tmp_path,
        line(1, "user", "Look."),
        json.dumps({**json.loads(line(2, "user", "")), "type": "attachment", "attachment": attachment}),
        line(3, "assistant", [{"type": "text", "text": "Seen."}]),
    )
    [file] = [payload for kind, payload in found if kind == "file"]
    assert (file["name"], file["path"], file["size"]) == ("a.png", "/srv/a.png", 3)
    assert file["digest"] == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
