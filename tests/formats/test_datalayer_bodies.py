"""Bodies of datalayer entries: which blocks hold a payload whole, and what is small enough for `detail`."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.formats.recording import digest63
from sessionlab.tables import Block, Entry, Pool, Problem, Row, ToolCall
from tests.formats.datalayer_files import (
    at_second,
    entries,
    entry,
    head,
    of,
    one,
    read,
)


def test_a_turn_is_one_message_of_two_blocks() -> None:
    """Question and answer are two blocks of one body; what else the payload says is an `extra` block."""
    rows = read(head(), entry("turn", asked="How deep?", answered="Eight.", spoken={"input": "voice"}))
    (pool,) = of(rows, Pool)
    assert (pool.pool, pool.ix, pool.role, pool.line) == ("message", 0, None, 2)
    assert [(b.block, b.kind, b.name, b.text) for b in of(rows, Block)] == [
        (0, "text", "asked", "How deep?"),
        (1, "text", "answered", "Eight."),
        (2, "extra", "payload", '{"spoken":{"input":"voice"}}'),
    ]
    (turn,) = of(rows, Entry)
    assert (turn.message_ix, turn.output_ix, turn.detail) == (0, None, '{"spoken":{"input":"voice"}}')


def test_a_tool_call_is_call_result_summary_and_rest() -> None:
    """Blocks stand in one order, so that the result is always the second."""
    line = {**entry("tool_call", tool="grep", arguments="{'a': 1}", result=["x"], bytes=9), "summary": "searched"}
    rows = read(head(), line)
    assert [(b.pool, b.ix, b.block, b.kind, b.name, b.text) for b in of(rows, Block)] == [
        ("text", 0, 0, "call", "grep", "{'a': 1}"),
        ("text", 0, 1, "result", "grep", '["x"]'),
        ("text", 0, 2, "text", "summary", "searched"),
        ("text", 0, 3, "extra", "payload", '{"tool":"grep","bytes":9}'),
    ]
    (call,) = of(rows, ToolCall)
    assert (call.output_pool, call.output_ix, call.output_block) == ("text", 0, 1)


def test_a_display_is_a_result_too() -> None:
    """What a display shows is text, the rest of it stays with it."""
    display = {"type": "terminal", "version": 1, "text": "make", "data": {"output": "done", "exit_code": 0}}
    call, shown, _ = of(read(head(), entry("tool_call", tool="sh", display=display)), Block)
    assert (call.kind, call.text) == ("call", None)
    assert (shown.kind, shown.name, shown.text) == ("result", "display", "done")
    assert json.loads(shown.detail or "") == {
        "type": "terminal", "version": 1, "text": "make", "data": {"exit_code": 0},
    }  # fmt: skip
    _, old, _ = of(read(head(), entry("tool_call", tool="sh", display={"display": "diff", "text": "+a"})), Block)
    assert (old.text, old.detail) == ("+a", '{"display":"diff"}')


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["asked", "answered", "arguments", "input", "result", "display", "message", "comment", "note", "detail", "output",
     "error", "said", "tool", "tool_call_id", "status", "x"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["turn", "tool_call", "output", "feedback", "approval", "notification", "step", "swapped", "run"]),
    st.dictionaries(NAMES, JSON_VALUES, max_size=6),
    st.text(max_size=5),
)
def test_nothing_of_a_payload_is_lost(kind: str, payload: dict[str, Any], summary: str) -> None:
    """Payload and summary can be put together again from the blocks alone."""
    line = json.dumps(
        {"record_type": "entry", "kind": kind, "at": at_second(0), "summary": summary, "payload": payload}
    )
    blocks = of(read(head(), line), Block)
    again: dict[str, Any] = {}
    said = ""
    for block in blocks:
        if block.kind == "extra":
            again.update(json.loads(block.text or ""))
        elif block.name == "summary" and block.kind == "text":
            said = block.text or ""
        elif block.kind == "text":
            again[block.name or ""] = block.text
        elif block.name == "display" and payload.get("display") is not None:
            again["display"] = payload["display"]  # looked at in the test above
        elif block.text is not None:
            member = "result"
            if block.kind == "call":
                member = "arguments" if payload.get("arguments") is not None else "input"
            again[member] = block.text if isinstance(payload[member], str) else json.loads(block.text)
    kept = {name: value for name, value in payload.items() if value is not None}
    assert {name: value for name, value in again.items() if value is not None} == kept
    assert said == summary
    assert bool(blocks) == bool(payload or summary)


def test_bodies_change_nothing_else() -> None:
    """Without bodies there are no pools, blocks and arguments; entries, numbers and calls are the same."""
    lines = [
        head(),
        entry("run"),
        entry("turn", asked="a", answered="b"),
        entry("tool_call", tool="t", arguments="(1,)", result="r" * 500),
        {**entry("thread"), "summary": "only a summary"},
        entry("output", status="answered", message="m"),
    ]

    def rest(rows: list[Row]) -> list[Row]:
        return [row for row in rows if not isinstance(row, Pool | Block | ToolCall)]

    full, light = read(*lines), read(*lines, bodies=False)
    assert not of(light, Pool)
    assert not of(light, Block)
    assert rest(full) == rest(light)
    (a,), (b,) = of(full, ToolCall), of(light, ToolCall)
    assert (a.arguments, b.arguments) == ("(1,)", None)
    assert (a.output_ix, b.output_ix, b.output_block) == (0, 0, 1)
    assert [e.output_ix for e in of(light, Entry)] == [None, None, 0, 1, 2]


def test_detail_keeps_what_is_small() -> None:
    """Members that no column and no body holds stand in `detail` while they are small."""
    row = one(entry("decision", tool="t", behaviour="do_it", because="rule", threshold=5, rule="r1", inputs="i" * 201))
    assert json.loads(row.detail or "") == {"behaviour": "do_it", "threshold": 5, "rule": "r1"}
    row = one(entry("decision", classes=["read"], command={"not": "kept"}, chosen=None, read=False))
    assert json.loads(row.detail or "") == {"classes": ["read"], "read": False}
    assert one(entry("thread", tags=["x" * 2000])).detail is None
    assert one(entry("thread", title="Tides", tags=["x"])).detail == '{"tags":["x"]}'


def test_what_a_table_cannot_hold_is_noted() -> None:
    """Not-finite numbers become null, half pairs U+FFFD, an exit code past BIGINT null: each with a note."""
    line = (
        '{"record_type": "entry", "kind": "tool_call", "at": "2026-10-03T08:00:00Z", "summary": "\\udc00", "payload": '
        '{"tool": "t\\ud800", "n": [NaN, {"\\ud800": -Infinity}], "exit_code": 9223372036854775808, "big": 1e400}}'
    )
    rows = read(head(entries=1), line)
    assert [(p.kind, p.seq) for p in of(rows, Problem)] == [
        ("number_not_finite", 0),
        ("unpaired_surrogate", 0),
        ("number_too_large", 0),
    ]
    assert "infinite: 3;" in (of(rows, Problem)[0].detail or "")
    assert "surrogates: 3;" in (of(rows, Problem)[1].detail or "")
    (row,) = of(rows, Entry)
    assert (row.name, row.exit_code) == ("t\ufffd", None)
    assert of(rows, Block)[1].text == "\ufffd"
    assert of(rows, Block)[2].text == (
        '{"tool":"t\ufffd","n":[null,{"\ufffd":null}],"exit_code":9223372036854775808,"big":null}'
    )


def test_the_step_tree() -> None:
    """A step hangs from its parent by digests of session and id; a second step of one id is another record."""
    inner, outer, again = entries(
        entry("step", id="i", parent_id="o"), entry("step", id="o", parent_id=""), entry("step", id="o")
    )
    assert inner.record_id == digest63("datalayer:abcd-1234\0step\0i\0000")
    assert inner.parent_id == outer.record_id
    assert outer.parent_id is None
    assert again.record_id not in (None, outer.record_id)
    assert one(entry("thread", id="o")).record_id is None
