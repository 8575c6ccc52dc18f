"""Reading capture journals (specification, sections 4, 8.3, 8.5 and 9): damage keeps, refusals do not."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from sessionlab.tables import Agent, Config, Entry, Extent, Outcome, Pool, Problem, Session, Source, ToolCall, Window
from tests.formats.gg_examples import (
    B_LINES,
    HEADER,
    ROOT,
    A,
    B,
    call,
    count,
    dump,
    end,
    entry,
    journal,
    message,
    of,
    read,
    result,
    text,
)

HEADER_2 = B_LINES[0].replace(b'"formatVersion":1', b'"formatVersion":2')
LOG = {"command": "git log", "cwd": {"type": "workspace"}, "exitCode": 0, "stdout": 0, "stderr": 0}
GIT = entry(1, "git", command=LOG)
FORMAT_2 = "is in journal format 2, which this build does not assemble (it writes 1)"
NO_HEADER = "has no header line, so the session it belongs to is unknown"


def _truncation(data: bytes) -> tuple[int, int, dict[str, Any] | None]:
    """Entries, messages and truncation of a journal that is read, as section 9.3 states them."""
    rows = read(data)
    (session,), (source,) = of(rows, Session), of(rows, Source)
    told: dict[str, Any] | None = json.loads(session.detail or "{}").get("truncation")
    assert source.state == ("whole" if told is None else "short")
    assert source.reason == (None if told is None else told["reason"])
    assert session.entries == len(of(rows, Entry))
    return len(of(rows, Entry)), sum(p.pool == "message" for p in of(rows, Pool)), told


def _refusal(data: bytes) -> str:
    """The sentence of a refused journal, of which no other row may be left."""
    rows = read(data)
    (problem,), (source,) = of(rows, Problem), of(rows, Source)
    assert count(rows) == {"problems": 1, "sources": 1} | ({"extents": 1} if data else {})
    assert (problem.severity, problem.byte_offset, problem.byte_length) == ("refusal", 0, len(data))
    assert (source.state, source.reason, source.decoded_bytes) == ("refused", problem.detail, len(data))
    assert [(x.byte_offset, x.byte_length, x.fate) for x in of(rows, Extent)] == [(0, len(data), "problem")][
        : len(data)
    ]
    assert problem.detail is not None
    return problem.detail


KEPT = {
    "end": (journal(*B_LINES, end(1)), (1, 1, None)),
    "nothing appended": (journal(*B_LINES), (1, 1, {"reason": "session_killed", "lastSeq": 0})),
    "end without its newline": (
        journal(*B_LINES) + dump(end(1)),
        (1, 1, {"reason": "corrupt_journal", "lastSeq": 0}),
    ),
    "end says byte_ceiling": (
        journal(*B_LINES, end(1, reason="byte_ceiling", lastSeq=0, bytes=900)),
        (1, 1, {"reason": "byte_ceiling", "lastSeq": 0, "bytes": 900}),
    ),
    "end counts seven": (journal(*B_LINES, end(7)), (1, 1, {"reason": "corrupt_journal", "lastSeq": 0})),
    "end counts seven and reports bytes": (
        journal(*B_LINES, end(7, reason="byte_ceiling", lastSeq=6, bytes=4096)),
        (1, 1, {"reason": "corrupt_journal", "lastSeq": 0, "bytes": 4096}),
    ),
    "header behind the entry": (journal(*B_LINES[1:], B_LINES[0], end(1)), (1, 1, None)),
    "garbage, then a gap": (
        journal(*B_LINES, b"oops", message(9)),
        (1, 1, {"reason": "corrupt_journal", "lastSeq": 0}),
    ),
    "unknown type, then end": (
        journal(*B_LINES, {"type": "note"}, end(1)),
        (1, 1, {"reason": "corrupt_journal", "lastSeq": 0}),
    ),
    "end, then a gap": (journal(*B_LINES, end(1), message(9)), (1, 1, None)),
    "a blank line": (journal(B_LINES[0], b"", *B_LINES[1:], end(1)), (1, 1, None)),
    "a fragment before any entry": (
        journal(*B_LINES[:2]) + b'{"type":"mess',
        (0, 0, {"reason": "corrupt_journal"}),
    ),
    "only the header": (journal(B_LINES[0]), (0, 0, {"reason": "session_killed"})),
    "write_failed": (
        journal(*B_LINES, end(1, reason="write_failed", bytes=77)),
        (1, 1, {"reason": "write_failed", "bytes": 77}),
    ),
}
GAP = "has a gap in its message pool (a line claims index {}, but 1 message entries have been read)"
DANGLING = "has a dangling reference: the entry at seq {} names {} {}, but only {} have been read"
REFUSED = {
    "an index too far": (journal(*B_LINES, message(2)), GAP.format(2)),
    "an index again": (journal(*B_LINES, message(0)), GAP.format(0)),
    "a dangling git entry": (journal(*B_LINES, GIT), DANGLING.format(1, "text", 0, 0)),
    "the header again": (
        journal(*B_LINES, B_LINES[0]),
        "carries a second header line; a journal records exactly one session",
    ),
    "the header again, format 2": (journal(*B_LINES, HEADER_2), FORMAT_2),
    "format 2": (journal(HEADER_2, *B_LINES[1:]), FORMAT_2),
    "format 2, and not format 1 in other ways": (journal(b'{"type":"header","formatVersion":2}'), FORMAT_2),
    "no header": (journal(*B_LINES[1:], end(1)), NO_HEADER),
    "empty file": (b"", NO_HEADER),
    "garbage first": (journal(b"not a journal", *B_LINES), NO_HEADER),
    "torn header": (B_LINES[0][:40], NO_HEADER),
    "only an end line": (journal(end(0)), NO_HEADER),
    "a gap in texts": (
        journal(HEADER, text(3, "x")),
        "has a gap in its text pool (a line claims index 3, but 0 text entries have been read)",
    ),
    "a gap in toolsets": (
        journal(HEADER, {"type": "toolset", "index": 1, "toolset": {"id": "0" * 32, "tools": []}}),
        "has a gap in its toolset pool (a line claims index 1, but 0 toolset entries have been read)",
    ),
    "a forward reference": (journal(HEADER, call(4, 0), message(0)), DANGLING.format(4, "message", 0, 0)),
    "the first dangling message": (
        journal(HEADER, message(0), call(0, 0, 5, 7)),
        DANGLING.format(0, "message", 5, 1),
    ),
    "a dangling toolset": (
        journal(
            HEADER,
            message(0),
            entry(
                0,
                "model_error",
                request={"role": "agent", "shape": "complete", "messages": [0], "toolset": 2},
                error={"kind": "parse", "message": "m"},
            ),
        ),
        DANGLING.format(0, "toolset", 2, 0),
    ),
    "a dangling output": (journal(HEADER, result(0, "c", 1)), DANGLING.format(0, "text", 1, 0)),
    "a dangling summary": (
        journal(HEADER, text(0, "x"), result(0, "c", 0, summary=6)),
        DANGLING.format(0, "text", 6, 1),
    ),
    "a dangling dataText": (
        journal(HEADER, text(0, "x"), result(0, "c", 0, dataText=8)),
        DANGLING.format(0, "text", 8, 1),
    ),
    "a dangling frame": (
        journal(
            HEADER,
            entry(
                0,
                "prompt_frame",
                items=[{"message": 3, "slot": "thread", "source": "memory", "retention": "pinned", "turn": 1}],
            ),
        ),
        DANGLING.format(0, "message", 3, 0),
    ),
}


@pytest.mark.parametrize(("data", "expected"), KEPT.values(), ids=KEPT.keys())
def test_what_is_kept(data: bytes, expected: tuple[int, int, dict[str, Any] | None]) -> None:
    """Sections 4.4, 4.5, 9.3: entries, messages and truncation of journals that are read."""
    assert _truncation(data) == expected


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(data: bytes, sentence: str) -> None:
    """Sections 4.2, 4.5, 9.3: one problem in the specified words, and no other row."""
    assert _refusal(data) == sentence


def test_the_worked_example() -> None:
    """Data model, section 4: rows per table of the clean journal (one pool row more: the reply)."""
    assert count(read(A)) == {
        "sources": 1,
        "sessions": 1,
        "agents": 2,
        "entries": 8,
        "windows": 5,
        "pools": 10,
        "blocks": 11,
        "tool_calls": 1,
        "usage": 1,
        "configs": 2,
        "outcomes": 1,
        "extents": 1,
    }


def test_rows_come_in_the_agreed_order() -> None:
    """Session, extents and source end the stream."""
    assert [type(row).__name__ for row in read(A)][-3:] == ["Session", "Extent", "Source"]


@pytest.mark.parametrize("data", [A, B], ids=["A", "B"])
def test_any_cut_keeps_what_stood_before(data: bytes) -> None:
    """Cut at any byte: complete lines tell the same; nothing is lost; what is folded only becomes unknown."""
    whole = read(data)
    outcome, ended = of(whole, Outcome)[0], {c.call_id: c.status for c in of(whole, ToolCall)}
    for cut in range(len(data)):
        rows = read(data[:cut])
        complete = data[:cut].count(b"\n")
        assert sum(x.byte_length for x in of(rows, Extent)) == cut
        if complete == 0:
            assert of(rows, Source)[0].reason == NO_HEADER
            continue
        assert of(rows, Source)[0].state == "short"
        for kind in (Entry, Pool, Window, Agent):
            assert of(rows, kind) == [r for r in of(whole, kind) if (r.line or 0) <= complete]
        for now in of(rows, Outcome):
            assert now.stop_class in {None, outcome.stop_class}
        for tool_call in of(rows, ToolCall):
            assert tool_call.status in {None, ended.get(tool_call.call_id)}


def test_a_call_whose_result_was_cut_off_is_unknown() -> None:
    """The file may end between a call and its result: neither answered nor unanswered."""
    rows = read(A[: A.index(b'{"type":"entry","entry":{"agentId":"root","seq":6')])
    assert [(c.call_id, c.status, c.result_seq) for c in of(rows, ToolCall)] == [("c1", None, None)]


def test_bytes_behind_the_end_line_are_accounted_for() -> None:
    """Section 4.5: they are ignored, unread, and have a fate of their own."""
    data = journal(*B_LINES, end(1))
    behind = b"anything\n\xff\xfe"
    extents = [(x.byte_offset, x.byte_length, x.fate) for x in of(read(data + behind), Extent)]
    assert extents == [(0, len(data), "read"), (len(data), len(behind), "after_end")]


def test_a_late_header_is_noted() -> None:
    """Section 7, row 3: a header is accepted anywhere, and reported when it is not first; lines keep their numbers."""
    rows = read(journal(*B_LINES[1:], B_LINES[0], end(1)))
    assert [(p.kind, p.line) for p in of(rows, Problem)] == [("late_header", 4)]
    assert [e.line for e in of(rows, Entry)] == [3]


def test_a_session_and_its_seed() -> None:
    """A5: seed fields survive, agents stand in creation order, the spawn keeps its origin."""
    seed = {
        "baselineCommit": "abc123",
        "prompt": "p",
        "modelWindows": {"gale/tern-1": 128000},
        "modelModalities": {"gale/tern-1": {"vision": True}},
    }
    spawn = {
        "type": "agent",
        "agent": {
            "agentId": "agent-0",
            "profileId": "root",
            "profile": "Root",
            "origin": {"type": "spawn", "parent": "root", "ordinal": 0},
        },
    }
    rows = read(journal(HEADER, {"type": "seed", "seed": seed}, ROOT, spawn, end(0)))
    told = json.loads(of(rows, Session)[0].detail or "")
    assert (told["baselineCommit"], told["prompt"], told["modelWindows"]) == ("abc123", "p", {"gale/tern-1": 128000})
    assert [(c.window_tokens, json.loads(c.detail or "")["vision"]) for c in of(rows, Config)] == [(128000, True)]
    assert [(a.agent_id, a.origin, a.parent_agent_id, a.ordinal) for a in of(rows, Agent)] == [
        ("root", "root", None, None),
        ("agent-0", "spawn", "root", 0),
    ]
    assert [o.agent_id for o in of(rows, Outcome)] == ["root", "agent-0"]


def test_an_agent_told_again() -> None:
    """A7 and 8.5: the last row of an agent stands; a member it lacks is gone."""
    first = {"type": "agent", "agent": {**ROOT["agent"], "terminalStatus": "running"}}
    done = {"type": "agent", "agent": {**ROOT["agent"], "terminalStatus": "done"}}
    rows = read(journal(HEADER, first, ROOT, done, end(0)))
    assert [(a.seq, a.line, a.status) for a in of(rows, Agent)] == [(0, 2, "running"), (0, 3, None), (0, 4, "done")]
    assert of(rows, Session)[0].state == "done"
    assert [o.stop_class for o in of(rows, Outcome)] == ["completed"]


def test_a_seed_told_again() -> None:
    """A8: the last seed stands; both are configurations."""

    def seed(*, vision: bool) -> dict[str, Any]:
        return {"type": "seed", "seed": {"prompt": "p", "modelModalities": {"gale/tern-1": {"vision": vision}}}}

    rows = read(journal(HEADER, seed(vision=True), ROOT, call(0), seed(vision=False), end(1)))
    assert [(c.seq, json.loads(c.detail or "")["vision"]) for c in of(rows, Config)] == [(0, True), (0, False)]
    assert json.loads(of(rows, Session)[0].detail or "")["modelModalities"] == {"gale/tern-1": {"vision": False}}


def test_an_entry_of_an_agent_without_a_row() -> None:
    """Section 5.2: the first entry of such an agent is a note, and the agent still has an outcome."""
    rows = read(journal(HEADER, call(0), call(1), end(2)))
    assert [(p.kind, p.seq) for p in of(rows, Problem)] == [("agent_without_row", 0)]
    assert [(o.agent_id, o.turns, o.stop_class) for o in of(rows, Outcome)] == [("root", 2, None)]


def test_seq_out_of_order() -> None:
    """Section 5.2: file order decides; a recorded number that is not the next one is a note and kept in the detail."""
    rows = read(journal(HEADER, ROOT, call(4), call(3), end(2)))
    assert [(p.kind, p.seq) for p in of(rows, Problem)] == [("seq_gap", 0), ("seq_order", 1)]
    assert [(e.seq, json.loads(e.detail or "")["seq"]) for e in of(rows, Entry)] == [(0, 4), (1, 3)]


def test_a_clip_that_cannot_be() -> None:
    """Section 5.2: a tail longer than the whole, a clip of another text and an odd address are notes."""
    clip = {"text": 0, "originalBytes": 2, "originalId": "xyz"}
    rows = read(journal(HEADER, {**text(0, "abc"), "clip": clip}, {**text(1, "d"), "clip": clip}, end(0)))
    assert [p.kind for p in of(rows, Problem)] == ["malformed_address", "impossible_clip", "misplaced_clip"]
    assert [p.original_bytes for p in of(rows, Pool)] == [2, None]


def test_a_text_stands_once_in_its_pool() -> None:
    """Section 5.2: unclipped texts are unique, two tails of different wholes may be equal (R20)."""
    clips = [{"text": i, "originalBytes": 65 + i, "originalId": f"{i}" * 32} for i in (2, 3)]
    tails = [{**text(i, "zz"), "clip": c} for i, c in zip((2, 3), clips, strict=True)]
    rows = read(journal(HEADER, text(0, "a"), text(1, "a"), *tails, end(0)))
    assert [(p.kind, p.line) for p in of(rows, Problem)] == [("repeated_text", 3)]


def test_a_cut_gzip_stream_is_a_torn_journal() -> None:
    """A compressed journal whose stream ends early is short, and says that the stream was cut."""
    packed = gzip.compress(A, compresslevel=0)
    rows = read(packed[: len(packed) // 2])
    assert of(rows, Entry) != []
    assert of(rows, Source)[0].state == "short"
    assert "cut_stream" in {p.kind for p in of(rows, Problem)}
