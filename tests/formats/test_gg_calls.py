"""What frames, results and tool calls of gg attach to, and how calls come out (specification, section 5.4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.tables import Block, Entry, Outcome, Problem, ToolCall
from tests.formats.gg_examples import (
    HEADER,
    ROOT,
    agent,
    asks,
    call,
    end,
    entry,
    frame,
    journal,
    message,
    of,
    read,
    request,
    result,
    text,
)


def test_frames_and_results_attach_to_the_current_call() -> None:
    """Section 5.4: to the agent's latest call of its turn loop, not to a compaction, an error or another agent's."""
    error = {"kind": "vision_unsupported", "message": "no"}
    lines = [
        call(0, 0, response=asks("a")),
        call(1, 0, agent="agent-0"),
        call(2, 0, role="compaction"),
        entry(3, "model_error", request=request(0), error=error),
        frame(4, 0),
        result(5, "a"),
    ]
    agents = [ROOT, agent("agent-0", {"type": "spawn", "parent": "root", "ordinal": 0})]
    rows = read(journal(HEADER, *agents, message(0), text(0, "x"), *lines, end(6)))
    entries = of(rows, Entry)
    assert [(e.turn, e.charge_id) for e in entries] == [
        (1, "run-1/0"),
        (1, "run-1/1"),
        (None, "run-1/2"),
        (None, None),
        (1, "run-1/0"),
        (1, "run-1/0"),
    ]
    assert [json.loads(e.detail or "{}").get("attached_seq") for e in entries[4:]] == [0, 0]
    assert [(c.call_id, c.seq, c.result_seq) for c in of(rows, ToolCall)] == [("a", 0, 5)]
    assert [e.epoch for e in entries] == [0, 0, 0, 1, 1, 1]


def test_a_forced_call_is_not_dispatched() -> None:
    """A compaction's forced tool call has no result to come: it is a block of the reply, not a tool call."""
    forced = entry(
        1,
        "model_io",
        request=request(0, role="compaction", shape="complete_requiring"),
        response=asks("h"),
    )
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0, response=asks("a")), forced, end(2)))
    assert [c.call_id for c in of(rows, ToolCall)] == ["a"]
    assert json.loads(of(rows, Entry)[1].detail or "")["shape"] == "complete_requiring"
    assert [(b.ix, b.call_id) for b in of(rows, Block) if b.pool == "response"] == [(0, "a"), (1, "h")]


def test_orphans_and_strange_results() -> None:
    """Section 5.4: a frame or result without a call is noted and kept; so is a result nobody asked for."""
    lines = [frame(0, 0), result(1, "z"), call(2, 0, response=asks("a")), result(3, "a"), result(4, "a")]
    rows = read(journal(HEADER, ROOT, message(0), text(0, "x"), *lines, end(5)))
    assert [(p.kind, p.seq) for p in of(rows, Problem)] == [("orphan", 0), ("orphan", 1), ("unmatched_result", 4)]
    assert [(c.call_id, c.seq, c.result_seq, c.turn) for c in of(rows, ToolCall)] == [
        ("z", 1, 1, None),
        ("a", 2, 3, 1),
        ("a", 4, 4, 1),
    ]
    assert of(rows, Outcome)[0].tool_calls == 3


def test_results_may_come_in_any_order() -> None:
    """Calls are matched by id; equal ids are answered in the order they were asked."""
    lines = [call(0, 0, response=asks("a", "b", "a")), result(1, "b"), result(2, "a"), result(3, "a")]
    rows = read(journal(HEADER, ROOT, message(0), text(0, "x"), *lines, end(4)))
    assert [(c.ordinal, c.call_id, c.result_seq, c.name, c.arguments) for c in of(rows, ToolCall)] == [
        (1, "b", 1, "tool_b", '{"n":1}'),
        (0, "a", 2, "tool_a", '{"n":0}'),
        (2, "a", 3, "tool_a", '{"n":2}'),
    ]


STATUS: list[tuple[dict[str, Any], tuple[str, str | None, str | None]]] = [
    ({"ok": True}, ("ok", None, None)),
    ({"ok": False}, ("failed", None, None)),
    ({"ok": False, "failure": "not-found"}, ("failed", None, "not-found")),
    ({"ok": False, "failure": "refused"}, ("refused", "policy", "refused")),
    ({"ok": False, "failure": {"class": "odd"}}, ("failed", None, '{"class":"odd"}')),
]


@pytest.mark.parametrize(("outcome", "expected"), STATUS)
def test_status_of_a_call(outcome: dict[str, Any], expected: tuple[str, str | None, str | None]) -> None:
    """Data model, section 3: a refusal is `refused`, never `failed`; the failure may be any JSON."""
    lines = [call(0, 0, response=asks("a")), result(1, "a", **outcome)]
    (row,) = of(read(journal(HEADER, ROOT, message(0), text(0, "x"), *lines, end(2))), ToolCall)
    assert (row.status, row.refused_by, row.reason) == expected
    assert row.external is None


@pytest.mark.parametrize(("ended", "status"), [("done", "unanswered"), ("failed", "unanswered"), (None, None)])
def test_a_call_without_a_result(ended: str | None, status: str | None) -> None:
    """Unanswered when the agent's loop has ended, unknown when the file just stops."""
    last = [agent("root", {"type": "root"}, terminalStatus=ended)] if ended else []
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0, response=asks("a")), *last))
    assert [c.status for c in of(rows, ToolCall)] == [status]


def test_a_later_call_leaves_the_open_ones_unanswered() -> None:
    """What the agent went on without was never answered; an error or a compaction is no later turn."""
    lines = [
        call(0, 0, response=asks("a")),
        call(1, 0, role="compaction"),
        result(2, "a"),
        call(3, 0, response=asks("b")),
        call(4, 0),
    ]
    rows = read(journal(HEADER, ROOT, message(0), text(0, "x"), *lines))
    assert [(c.call_id, c.status) for c in of(rows, ToolCall)] == [("a", "ok"), ("b", "unanswered")]
