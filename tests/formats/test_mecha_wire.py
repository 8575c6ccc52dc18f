"""Lines of a mecha transcript: which are read, which are not, and what is kept of those in between (sections 3, 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.tables import (
    Block,
    Config,
    Entry,
    Extent,
    Outcome,
    Pool,
    Problem,
    Session,
    Source,
    ToolCall,
    Usage,
)
from tests.formats.mecha_lines import META, line, message, of, raw, read

TOKENS = {"input_tokens": 3, "output_tokens": 5, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 11}


def user(*blocks: Any, **members: Any) -> bytes:
    """A message in the user role."""
    return message("user", *blocks, **members)


UNREADABLE = [
    # Integers are unsigned; a float literal is none; booleans are none (section 3).
    b'{"record":"outcome","turns":-1}',
    b'{"record":"outcome","turns":20.0}',
    b'{"record":"outcome","turns":2e1}',
    b'{"record":"outcome","turns":4294967296}',
    b'{"record":"outcome","turns":true}',
    b'{"record":"outcome","checks_passed":-2}',
    b'{"record":"config","seed":18446744073709551616}',
    b'{"record":"config","compact_keep_recent":0.5}',
    b'{"record":"extend","index":18446744073709551616,"blocks":[]}',
    # A usage object has all four members, wherever it stands.
    b'{"record":"outcome","usage":{"input_tokens":1}}',
    b'{"record":"summary","turns":1}',
    b'{"record":"summary","usage":null,"turns":1}',
    # A defaulted member rejects null, a boolean is true or false.
    b'{"record":"outcome","exhausted":null}',
    b'{"record":"outcome","taint":null}',
    b'{"record":"config","permission_mode":null}',
    b'{"record":"taint","private":1}',
    b'{"record":"taint","private":"true"}',
    # No number of JSON.
    b'{"record":"outcome","cost_usd":NaN}',
    b'{"record":"outcome","cost_usd":Infinity}',
    b'{"record":"outcome","cost_usd":1e999}',
    b'{"record":"outcome","weather":1e999}',
    b'{"record":"message","role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"n":1e999}}]}',
    # No text of Unicode: a lone half of a surrogate pair, escaped or encoded, and a byte that is no UTF-8.
    b'{"record":"title","title":"\\ud83d"}',
    b'{"record":"title","title":"\\udc00x"}',
    b'{"record":"title","title":"\xed\xa0\xbd"}',
    b'{"record":"title","title":"caf\xe9"}',
    b'{"record":"title","title":"t","hidden":"\xff"}',
    # No record.
    b'{"record":"dream"}',
    b'{"title":"no record word"}',
    b'{"record":7}',
    b'["record","title"]',
    b'"title"',
    b"\xef\xbb\xbf" + b'{"record":"title","title":"behind a mark"}',
    b'{"record":"title","title":"a"}{"record":"title","title":"b"}',
    b'{"record":"title"}',
    b'{"record":"title","title":null}',
    b'{"record":"notes","notes":["a",1]}',
    # A message without a block that can be read, of an unknown role, or with a text as its content (8.4, 5.1).
    b'{"record":"message","role":"user","content":[{"type":"hum"}]}',
    b'{"record":"message","role":"system","content":[{"type":"text","text":"x"}]}',
    b'{"record":"message","role":"user","content":"x"}',
    b'{"record":"message","role":"user"}',
    b'{"record":"rewrite","messages":[{"role":"user","content":[{"type":"hum"}]}]}',
    b'{"record":"extend","index":0,"blocks":[{"type":"hum"}]}',
]


@pytest.mark.parametrize("content", UNREADABLE)
def test_unreadable_line_is_one_problem_and_nothing_else(content: bytes) -> None:
    """Between two good titles a line that mecha cannot read is one problem row; the lines around it stand."""
    rows = read(line(record="title", title="before"), content, line(record="title", title="after"))
    (problem,) = of(rows, Problem)
    start = len(line(**META)) + len(line(record="title", title="before")) + 2
    assert (problem.kind, problem.severity, problem.line) == ("unreadable_line", "loss", 3)
    assert (problem.byte_offset, problem.byte_length) == (start, len(content) + 1)
    assert problem.detail is not None
    assert problem.detail.startswith("Expected a record, found a broken line: ")
    assert [(row.line, row.name) for row in of(rows, Entry)] == [(1, None), (2, "before"), (4, "after")]
    assert [row.fate for row in of(rows, Extent)] == ["read", "problem", "read"]


READABLE = [
    b'{"title":"bird counts","record":"title"}',
    b' {"record" : "title", "title" : "bird counts" } \r',
    b'{"record":"title","title":"bird counts","since":{"a":[1,null]}}',
    b'{"record":"title","title":"other","title":"bird counts"}',
    b'{"record":"title","title":"bird\\u0020counts"}',
]


@pytest.mark.parametrize("content", READABLE)
def test_readable_title(content: bytes) -> None:
    """The word anywhere, white space, unknown members, a repeated member (the last wins), escapes: all are read."""
    rows = read(content)
    assert of(rows, Session)[0].title == "bird counts"
    assert not of(rows, Problem)


def test_lines_are_split_at_newlines_only() -> None:
    """U+2028, U+2029 and U+0085 stand raw inside a text, and end no line."""
    text = "one\u2028two\u2029three\u0085four"
    rows = read(user(text))
    assert [block.text for block in of(rows, Block)] == [text]
    assert of(rows, Source)[0].lines == 2


def test_blank_lines_are_ignored() -> None:
    """Empty lines and lines of white space, Unicode's too, have no row; leading ones do not hide the header (8.1)."""
    data = b"\n  \n" + line(**META) + b"\n\t\r\n\xc2\xa0\n" + line(record="title", title="x")
    rows = raw(data)
    assert [row.line for row in of(rows, Entry)] == [3, 6]
    assert [(row.from_line, row.to_line, row.fate) for row in of(rows, Extent)] == [
        (1, 2, "blank"),
        (3, 3, "read"),
        (4, 5, "blank"),
        (6, 6, "read"),
    ]
    assert not of(rows, Problem)


def test_torn_last_line() -> None:
    """The half-written last line is a problem of its own kind, and everything before it counts (8.3)."""
    rows = raw(line(**META) + b"\n" + user("whole") + b"\n" + b'{"record":"message","role":"assis')
    assert [row.kind for row in of(rows, Problem)] == ["torn_line"]
    assert [row.kind for row in of(rows, Entry)] == ["other", "message"]


def test_unreadable_rewrite_is_flagged() -> None:
    """A rewrite that cannot be read leaves the list before it in force, and its problem says so (8.3)."""
    rows = read(user("a"), b'{"record":"rewrite","messages":"all"}', b'{"record":"rewrite","mess', user("b"))
    assert all("the list before it stays in force" in (row.detail or "") for row in of(rows, Problem))
    assert [row.messages for row in of(rows, Entry)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("member", "value"), [("harness", 1), ("harness", None), ("planning", "plan"), ("tool_provenance", {"c": 1})]
)
def test_member_that_must_not_cost_the_message(member: str, value: Any) -> None:
    """An unreadable provenance, harness or planning counts as absent: message kept, problem row (section 22)."""
    result = {"type": "tool_result", "tool_use_id": "c", "content": "x"}
    call = {"type": "tool_use", "id": "c", "name": "n", "input": {}}
    rows = read(line(record="message", role="assistant", content=[call]), user(result, **{member: value}))
    assert [(row.kind, row.severity, row.seq) for row in of(rows, Problem)] == [("unreadable_member", "note", 2)]
    assert [(row.status, row.external) for row in of(rows, ToolCall)] == [("ok", None)]
    kept = [(row.name, row.text) for row in of(rows, Block) if row.kind == "extra"]
    assert kept == [(member, json.dumps(value, separators=(",", ":")))]


def test_null_planning_is_no_problem() -> None:
    """An optional member accepts null (section 3)."""
    assert not of(read(user("x", planning=None)), Problem)


def test_empty_content_is_kept_when_it_was_empty_on_the_wire() -> None:
    """Of a rewrite's messages one is empty, one became empty, one is whole: the middle one is dropped (section 22)."""
    hum = {"type": "hum"}
    text = {"type": "text", "text": "x"}
    messages = [
        {"role": "user", "content": []},
        {"role": "user", "content": [hum]},
        {"role": "assistant", "content": [hum, text]},
    ]
    rows = read(line(record="rewrite", messages=messages))
    entry = of(rows, Entry)[-1]
    assert entry.messages == 2
    assert json.loads(entry.detail or "") == {
        "dropped_blocks": 1, "dropped_messages": 1, "kept": 0, "before": 0, "in_place": True
    }  # fmt: skip
    assert [(row.pool, row.role) for row in of(rows, Pool)] == [
        ("message", "user"),
        ("message", "assistant"),
        ("text", None),
    ]
    assert {row.kind: row.severity for row in of(rows, Problem)} == {
        "dropped_blocks": "note",
        "dropped_messages": "note",
    }


def test_unknown_words_of_a_config_are_kept_raw() -> None:
    """Unknown effort, permission mode and trifecta words keep the config and the word (section 22)."""
    rows = read(line(record="config", effort="heroic", permission_mode="maybe", trifecta="shrug"))
    (config,) = of(rows, Config)
    assert (config.effort, config.permission_mode) == ("heroic", "maybe")
    assert json.loads(config.detail or "")["trifecta"] == "shrug"


def test_unknown_stop_cause_is_kept_raw() -> None:
    """An outcome with an unknown stop cause is kept, the word too, without a class; none is null, not a word."""
    rows = read(line(record="outcome", stop_cause="end_turn"), line(record="outcome"))
    assert [(row.stop_cause, row.stop_class, row.run) for row in of(rows, Outcome)] == [
        ("end_turn", None, 1),
        (None, None, 2),
    ]
    assert not of(rows, Usage)
    assert not of(rows, Problem)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("completed", "completed"), ("max_turns", "cut_short"), ("output_token_budget", "cut_short"),
        ("cost_budget", "cut_short"), ("loop", "cut_short"), ("no_output", "cut_short"),
        ("interrupted", "interrupted"), ("stopped", "interrupted"),
    ],
)  # fmt: skip
def test_stop_classes(word: str, expected: str) -> None:
    """Each stop cause of section 4.4 and its class: those marked cut short there, and the two ways to be stopped."""
    assert of(read(line(record="outcome", stop_cause=word)), Outcome)[0].stop_class == expected


@pytest.mark.parametrize("kind", ["hologram", 7, {"a": 1}, ["run"], True])
def test_unknown_surface_never_costs_the_header(kind: Any) -> None:
    """An unknown kind word, or any other value, is an unknown front end; the record and the value are kept (4.1)."""
    (session,) = of(read(header={**META, "kind": kind}), Session)
    assert session.surface is None
    assert json.loads(session.detail or "") == {"kind": kind}


@pytest.mark.parametrize(
    "word",
    ["run", "chat", "tui", "web", "voice", "task", "trigger", "frontdoor", "mail", "slack", "test", "experiment"],
)
def test_known_surfaces(word: str) -> None:
    """Every kind word of section 4.1 is a front end."""
    (session,) = of(read(header={**META, "kind": word}), Session)
    assert (session.surface, session.detail) == (word, None)


@pytest.mark.parametrize(
    ("stamp", "micros"),
    [
        ("2026-11-01T07:00:00Z", 1_793_516_400_000_000),
        ("2026-11-01T09:00:00.25+02:00", 1_793_516_400_250_000),
        ("2026-11-01t07:00:00.123456789z", 1_793_516_400_123_456),
        ("2026-10-31T23:30:00-07:30", 1_793_516_400_000_000),
    ],
)
def test_created_at_with_any_offset(stamp: str, micros: int) -> None:
    """RFC 3339 with any offset and up to nine digits, as microseconds UTC; further digits are cut (section 3)."""
    assert of(read(header={**META, "created_at": stamp}), Session)[0].created_at == micros


def test_second_header_is_reported_and_the_first_stands() -> None:
    """Another header has no documented meaning: it is an entry and a note (8.1)."""
    other = {**META, "id": "20261102T070000-ffffffff", "model": "other", "title": "other"}
    rows = read(line(**other))
    (session,) = of(rows, Session)
    assert (session.native_id, session.model, session.title) == (META["id"], "plover-3", None)
    assert [(row.kind, row.severity, row.seq) for row in of(rows, Problem)] == [("second_header", "note", 1)]
    assert [row.native_kind for row in of(rows, Entry)] == ["meta", "meta"]


def test_record_ids_tell_the_same_line_in_another_file() -> None:
    """A copy and an older backup share the ids of their common lines; another tail, place or header has others."""
    lines = [user("a"), user("b"), user("a")]
    ids = [row.record_id for row in of(read(*lines), Entry)]
    assert len(set(ids)) == 4
    assert all(0 <= (row or -1) < 2**63 for row in ids)
    assert [row.record_id for row in of(read(*lines[:2]), Entry)] == ids[:3]
    assert [row.record_id for row in of(read(lines[0], user("c")), Entry)][2] not in ids
    other = [row.record_id for row in of(read(*lines, header={**META, "id": "x"}), Entry)]
    assert not set(other) & set(ids)
