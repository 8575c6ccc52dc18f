"""How runs, replies, calls and hooks of Claude Code end, and what their outcomes count."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.tables import Entry, Outcome, ToolCall
from tests.formats.claude_code_lines import call, joined, line, prompt, reply, result, rows, said, table

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("last", "mark", "stop_class", "cause"),
    [
        (reply("m9", said("x"), stop="end_turn"), "turn_duration", "completed", "end_turn"),
        (reply("m9", said("x"), stop="max_tokens"), "turn_duration", "cut_short", "max_tokens"),
        (
            reply("m9", said("x"), stop="model_context_window_exceeded"),
            "turn_duration",
            "cut_short",
            "model_context_window_exceeded",
        ),
        (
            reply("e", said("API Error"), model="<synthetic>", isApiErrorMessage=True),
            "turn_duration",
            "failed",
            "tool_use",
        ),
        (prompt("[Request interrupted by user]"), None, "interrupted", "tool_use"),
    ],
    ids=["completed", "cut short", "window full", "failed", "interrupted"],
)
def test_how_a_run_ended(last: Json, mark: str | None, stop_class: str, cause: str) -> None:
    """`turn_duration` ends a run, a person's interruption too; the last reply says whether it was completed."""
    lines = [
        prompt("go", timestamp="2026-10-03T08:15:00.000Z"),
        reply("m1", call("t1"), call("t2"), stop="tool_use"),
        result("t1", "Exit code 9", error=True),
        result("t2", "The user doesn't want to proceed with this tool use.", error=True),
        last,
    ]
    if mark is not None:
        lines.append(line("system", subtype=mark, durationMs=777, timestamp="2026-10-03T08:16:00.000Z"))
    (row,) = table(Outcome, *lines)
    assert (row.run, row.stop_class, row.stop_cause) == (1, stop_class, cause)
    assert (row.tool_calls, row.tool_errors, row.tool_denied) == (2, 1, 1)
    assert row.duration_ms == (777 if mark else None)


def test_an_end_told_twice_is_one_outcome() -> None:
    """Rule 8: a `turn_duration` line that the file repeats ends nothing again; its entry is a copy."""
    end = line("system", subtype="turn_duration", durationMs=40, uuid="u-end")
    found = rows(joined(prompt("go", uuid="u-1"), end, end))
    assert [row.duration_ms for row in found if isinstance(row, Outcome)] == [40]
    assert [row.is_copy for row in found if isinstance(row, Entry)] == [False, False, True]


def test_an_outcome_counts_the_compactions_of_its_run() -> None:
    """Summaries are counted, the clearing of old results is not, nor what another run did."""
    compact, clear = (line("system", subtype=f"{kind}_boundary") for kind in ("compact", "microcompact"))
    end = line("system", subtype="turn_duration")
    outcomes = table(Outcome, prompt("a"), compact, clear, compact, end, prompt("b"), clear, end)
    assert [row.compactions for row in outcomes] == [2, 0]


def test_a_duration_in_seconds_is_written_in_milliseconds() -> None:
    """Some tools tell `durationSeconds`, others `durationMs`."""
    told = [{"durationSeconds": 2.5}, {"durationMs": 70}]
    lines = [reply("m1", call("t0"), call("t1")), *(result(f"t{n}", "x", told=one) for n, one in enumerate(told))]
    assert [row.duration_ms for row in table(ToolCall, *lines)] == [2500, 70]


def test_a_program_may_call_a_tool() -> None:
    """A call that code of the model made says so in `caller`; one without the member is the model's own."""
    by_code = {**call("t1"), "caller": {"type": "code_execution_20250825", "tool_id": "srv1"}}
    direct = {**call("t2"), "caller": {"type": "direct"}}
    assert [row.caller for row in table(ToolCall, reply("m1", by_code, direct, call("t3")))] == [
        "program",
        "model",
        "model",
    ]


@pytest.mark.parametrize(("errors", "status"), [(["exit 2"], "failed"), ([], "ok")])
def test_a_stop_hook_with_errors_has_failed(errors: list[str], status: str) -> None:
    """The summary of the hooks that ran at a stop tells their errors."""
    (entry,) = table(Entry, line("system", subtype="stop_hook_summary", hookErrors=errors, hookCount=1))
    assert (entry.kind, entry.name, entry.status) == ("hook", "Stop", status)


def test_a_reply_that_gives_a_stop_reason_is_ok_or_refused() -> None:
    """Only the line with the stop reason tells; a reply without one is unknown, whatever stands in it."""
    entries = table(
        Entry,
        reply("m1", said("a")),
        reply("m1", call("t1"), stop="tool_use"),
        reply("m2", said("b"), stop="refusal"),
        reply("m3", said("c"), stop="max_tokens"),
    )
    assert [row.status for row in entries] == [None, "ok", "refused", "ok"]


def test_an_end_before_any_prompt_has_no_counts() -> None:
    """A file that begins in the middle of a run knows that it ended, not what it did."""
    (row,) = table(Outcome, line("system", subtype="turn_duration", durationMs=5))
    assert (row.run, row.duration_ms, row.tool_calls, row.turns, row.stop_class) == (None, 5, None, None, "completed")


def test_a_history_written_again_under_new_uuids_is_a_copy() -> None:
    """A file may hold its own beginning once more, with the old times and new uuids: it counts once."""
    stamp = "2026-10-03T10:00:0{}.000Z"
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    once = [
        prompt("look", uuid="u1", timestamp=stamp.format(1)),
        reply("m1", call, uuid="u2", timestamp=stamp.format(2)),
        line(
            "user",
            uuid="u3",
            timestamp=stamp.format(3),
            message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]},
        ),
    ]
    again = [{**record, "uuid": f"again-{record['uuid']}"} for record in once]
    other = [prompt("look", uuid="u9", timestamp=stamp.format(9))]
    found = rows(joined(*once, *again, *other))
    assert [row.is_copy for row in found if isinstance(row, Entry)] == [False] * 3 + [True] * 3 + [False]
    assert [row.run for row in found if isinstance(row, Entry)][-1] == 2


def test_a_history_written_once_more_may_be_cut_otherwise() -> None:
    """A prompt of two parts becomes two lines of one moment: both repeat it, and no run begins anew."""
    at = "2026-10-01T08:00:00.000Z"
    opened = said("<ide_opened_file>notes.md</ide_opened_file>")

    def asked(uuid: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return line("user", uuid=uuid, timestamp=at, message={"role": "user", "content": list(parts)})

    whole = asked("u1", said("count"), opened)
    again = [asked("u2", opened), asked("u3", said("count"))]
    found = rows(joined(whole, *again, asked("u4", said("count them"))))
    told = [(row.is_copy, row.run) for row in found if isinstance(row, Entry)]
    assert told == [(False, 1), (True, 1), (True, 1), (False, 2)]
