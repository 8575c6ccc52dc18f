"""Messages of a mecha transcript: their blocks, which are equal, who speaks, calls with results (sections 5 to 12)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.tables import Block, Entry, Problem, ToolCall, Window
from tests.formats.mecha_lines import call, line, loaded, message, of, read, result, rewrite, said

# 18.3 Messages and 5.4 equality


def test_blocks_round_trip() -> None:
    """Each member of each block in its own place; an absent error flag is false, an absent signature is no detail."""
    rows = read(
        message("assistant", {"type": "thinking", "text": "t"}, {"type": "thinking", "text": "u", "signature": "s"}),
        message("user", result("c", "out"), result("d", "err", is_error=True)),
        message("user", {"type": "image", "media_type": "image/gif", "data": "R0lGODk="}),
    )
    assert [(r.kind, r.call_id, r.name, r.text, r.detail) for r in of(rows, Block)] == [
        ("thinking", None, None, "t", None),
        ("thinking", None, None, "u", '{"signature":"s"}'),
        ("result", "c", None, "out", '{"is_error":false}'),
        ("result", "d", None, "err", '{"is_error":true}'),
        ("image", None, None, "R0lGODk=", '{"media_type":"image/gif","image_bytes":5}'),
    ]


SAME = [
    (said("user", result("c", "x")), said("user", result("c", "x", is_error=False))),
    (said("assistant", call("c", a=1, b=[2])), said("assistant", call("c", b=[2], a=1))),
    (said("user", "x"), {"content": [{"text": "x", "type": "text"}], "role": "user", "harness": False, "mood": "calm"}),
    (said("user", result("c"), tool_provenance={"c": True, "d": False}),
     said("user", result("c"), tool_provenance={"d": False, "c": True})),
]  # fmt: skip
DIFFERENT = [
    (said("assistant", call("c", a=1)), said("assistant", call("c", a=1.0))),
    (said("assistant", call("c", a=1)), said("assistant", call("c", a=True))),
    (said("assistant", call("c", a=0)), said("assistant", call("c", a=False))),
    (said("user", "x"), said("assistant", "x")),
    (said("user", "x", "y"), said("user", "xy")),
    (said("user", "x"), said("user", {"type": "thinking", "text": "x"})),
    (said("user", "x"), said("user", "x", harness=True)),
    (said("user", "x"), said("user", "x", planning={"steps": []})),
    (said("user", result("c")), said("user", result("c"), tool_provenance={"c": False})),
    (said("user", result("c")), said("user", result("c", is_error=True))),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_messages_are_pooled_once(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Defaults filled in, keys sorted, unknown members dropped: the same message, wherever it stands (5.4)."""
    assert loaded(read(line(record="message", **one), line(record="message", **other))) == [0, 0]
    assert not of(read(line(record="message", **one), rewrite(other)), Window)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_messages_are_pooled_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    """``1``, ``1.0`` and ``true`` differ, as do roles, block borders, flags and provenance (5.4)."""
    assert loaded(read(line(record="message", **one), line(record="message", **other))) == [0, 1]


# 12.1 Calls and results, 8.7 voices


def test_results_in_another_order() -> None:
    """Calls t1, t2 with results t2, t1: two rows in the order of the results, each with its own output."""
    rows = read(
        message("assistant", call("t1", path="a"), call("t2", path="b")),
        message("user", result("t2", "B"), result("t1", "A")),
        message("assistant", call("t3")),
        message("user", result("t3", "C"), "change of plan"),
    )
    calls = of(rows, ToolCall)
    assert [(row.call_id, row.ordinal, row.batch, row.output_block) for row in calls] == [
        ("t2", 1, 0, 0), ("t1", 0, 0, 1), ("t3", 0, 1, 0),
    ]  # fmt: skip
    assert [row.arguments for row in calls] == ['{"path":"b"}', '{"path":"a"}', "{}"]
    assert json.loads(of(rows, Entry)[-1].detail or "") == {"steered": "person"}


def test_a_repeated_id_goes_to_the_first_waiting_call() -> None:
    """A call that got no result goes on waiting, and takes a later result of its id before a newer call does."""
    rows = read(
        message("assistant", call("t", n=1)),
        message("assistant", call("t", n=2), call("t", n=3)),
        message("user", result("t", "first"), result("t", "second")),
        message("assistant", "over"),
    )
    calls = [(row.arguments, row.status, row.result_seq) for row in of(rows, ToolCall)]
    assert calls == [('{"n":1}', "ok", 3), ('{"n":2}', "ok", 3), ('{"n":3}', "unanswered", None)]


def test_batch_grows_when_no_result_matched() -> None:
    """A message of results that fit no call is a batch all the same, and each result a note (12.1)."""
    rows = read(message("user", result("x")), message("assistant", call("t")), message("user", result("t")))
    assert [row.batch for row in of(rows, ToolCall)] == [1]
    assert [(row.kind, row.severity, row.seq) for row in of(rows, Problem)] == [("orphan_result", "note", 1)]


def test_rewrites_do_not_call_again() -> None:
    """A thinned copy of an answered call and its result in a rewrite is neither a call nor an orphan."""
    rows = read(
        message("user", "u"),
        message("assistant", call("t", path="a")),
        message("user", result("t", "long output")),
        rewrite(said("user", "u"), said("assistant", call("t", path="…")), said("user", result("t", "lo…"))),
    )
    assert [(row.seq, row.result_seq, row.output_ix) for row in of(rows, ToolCall)] == [(2, 3, 2)]
    assert not of(rows, Problem)
    assert [row.turn for row in of(rows, Entry) if row.role == "assistant"] == [1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Denied by the user: not that directory", ("refused", "person", "not that directory")),
        ("Blocked by policy: mode", ("refused", "policy", "mode")),
        ("Blocked by a hook: lint", ("refused", "hook", "lint")),
        ("sorry, no tool named fly", ("failed", None, "unknown_tool")),
        (" Denied by the user: late", ("failed", None, None)),
        ("exit 1", ("failed", None, None)),
    ],
)
def test_status_of_a_failed_call(content: str, expected: tuple[str, str | None, str | None]) -> None:
    """Refusals are refused and never failed, by the literal start of an error result (section 6)."""
    rows = read(message("assistant", call("t")), message("user", result("t", content, is_error=True)))
    (row,) = of(rows, ToolCall)
    assert (row.status, row.refused_by, row.reason) == expected
    (calm,) = of(read(message("assistant", call("t")), message("user", result("t", content))), ToolCall)
    assert (calm.status, calm.refused_by, calm.reason) == ("ok", None, None)


VOICES = [
    (("hello",), {}, "person"),
    ((" \n",), {}, None),
    ((), {}, None),
    (("/exit",), {}, "person"),
    (("hello",), {"harness": True}, "harness"),
    (("You have used your entire tool budget.",), {}, "harness"),
    (("Your previous turn ended without producing anything.",), {}, "harness"),
    (("Nothing is being learned here: stop.",), {}, "harness"),
    (("A second opinion on your plan: no.",), {}, "harness"),
    (("note: [Message 9 from cy] hi",), {}, "harness"),
    (("[Message without a sender]",), {}, "person"),
    (("[Earlier turns were compacted] x", "[Live state, carried past the compaction] y"), {}, "harness"),
    (("a word", "[Earlier turns were compacted] x"), {}, "person"),
    (("as you said: Nothing is being learned here:",), {}, "person"),
]


@pytest.mark.parametrize(("blocks", "members", "voice"), VOICES)
def test_voice_of_a_user_message(blocks: tuple[str, ...], members: dict[str, Any], voice: str | None) -> None:
    """Who speaks in the user role, and, beside results, who steers (sections 6, 8.7)."""
    rows = read(message("user", *blocks, **members), message("user", result("t"), *blocks, **members))
    alone, beside = of(rows, Entry)[1:]
    assert (alone.voice, beside.voice) == (voice, "tool")
    assert (json.loads(beside.detail or "{}")).get("steered") == voice
