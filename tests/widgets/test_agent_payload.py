"""What an agent timeline sends to the browser, and what it says where not all fits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from sessionlab.errors import MissingColumns
from sessionlab.widgets import AgentTimeline
from sessionlab.widgets._picture import column

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    Rows = list[dict[str, Any]]
    Build = Callable[[Rows], pa.Table]


def payload(widget: AgentTimeline) -> dict[str, Any]:
    """The payload as the browser reads it: NaN and Infinity are no JSON there."""
    told: dict[str, Any] = json.loads(widget.payload, parse_constant=pytest.fail)
    return told


def texts(widget: AgentTimeline) -> list[tuple[Any, ...]]:
    """Span, part, label, size, remark and text of every detail sent."""
    told = payload(widget)
    ids = column(told["spans"], "span_id")
    names = ("span", "part", "label", "size", "remark", "text")
    return [(ids[row[0]], *row[1:]) for row in zip(*(column(told["details"], n) for n in names), strict=True)]


def test_lanes_stand_from_the_top_down(spans: Build, story: Rows) -> None:
    """Every agent has its lane, with its parent's, its entries, and why it has none."""
    told = payload(AgentTimeline(spans(story)))
    lanes = told["lanes"]
    assert [lane["label"] for lane in lanes] == ["lead", "helper", "silent"]
    assert [lane["entries"] for lane in lanes] == [4, 2, 0]
    assert [lane.get("parent") for lane in lanes] == [None, 0, 0]
    assert [lane.get("note") for lane in lanes] == [None, None, "created but never ran"]
    assert told["summary"] == "3 agents, 6 entries"


def test_an_empty_lane_always_says_why(spans: Build) -> None:
    """Where the table tells no reason, that is what the lane says."""
    told = payload(AgentTimeline(spans([{"span_id": "a", "kind": "agent", "name": "quiet"}])))
    assert told["lanes"][0]["note"] == "no entries; nothing tells why"


def test_an_agent_without_a_row_of_its_own_has_a_lane(spans: Build) -> None:
    """Entries are never lost for want of an agent row."""
    told = payload(AgentTimeline(spans([{"agent_id": "a-9", "span_id": "x", "kind": "shell", "begin_order": 0}])))
    assert [(lane["label"], lane["entries"]) for lane in told["lanes"]] == [("a-9", 1)]


def test_two_sessions_do_not_share_lanes(spans: Build) -> None:
    """Lane 0 of one session and lane 0 of another are two lanes, each with its session."""
    row = {"span_id": "x", "kind": "shell", "begin_order": 0}
    told = payload(AgentTimeline(spans([row, row | {"session_id": "s-2"}])))
    assert [(lane["session"], lane["entries"]) for lane in told["lanes"]] == [("s-1", 1), ("s-2", 1)]


def test_legend_counts_kinds_and_flags(spans: Build, story: Rows) -> None:
    """Counts are made in Python: agents are no entries, and a kind nobody knows is other."""
    told = payload(AgentTimeline(spans([*story, {"span_id": "new", "kind": "teleport", "begin_order": 6}])))
    assert {mark["key"]: mark["count"] for mark in told["legend"]} == {
        "message": 1, "model_call": 1, "model_error": 1, "tool_call": 1, "shell": 1, "limit": 1, "other": 1,
    }  # fmt: skip
    assert {flag["key"]: flag["count"] for flag in told["flags"]} == {"forced": 1, "failed": 1}


def test_no_two_kinds_look_alike(spans: Build) -> None:
    """Colour and shape together tell every kind from every other."""
    kinds = [
        "run",
        "message",
        "model_call",
        "model_error",
        "tool_call",
        "shell",
        "git",
        "compaction",
        "rewrite",
        "probe",
        "limit",
        "other",
    ]
    rows = [{"span_id": kind, "kind": kind, "begin_order": n} for n, kind in enumerate(kinds)]
    legend = payload(AgentTimeline(spans(rows)))["legend"]
    assert [mark["key"] for mark in legend] == kinds
    assert len({(mark["color"], mark["shape"]) for mark in legend}) == 12


def test_words_for_duration_and_tokens(spans: Build, story: Rows) -> None:
    """12.4 s of a call, 340 ms of a command; 18,234 of 64,000 is 28 %."""
    told = payload(AgentTimeline(spans(story)))["spans"]
    ids = column(told, "span_id")
    at = {name: column(told, name) for name in ("length", "use", "written", "forced")}
    call, shell, cap = ids.index("call"), ids.index("shell"), ids.index("cap")
    assert at["length"][call] == "12.4 s"
    assert at["length"][shell] == "340 ms"
    assert at["length"][cap] is None
    assert at["use"][call] == "18.2k of 64k window (28 %)"
    assert at["written"][call] == "950 tokens"
    assert [at["forced"][i] for i in (call, shell)] == [1, 0]


def test_missing_columns_are_named(spans: Build, details: Build) -> None:
    """The error says what is missing and what is there, for both tables."""
    with pytest.raises(MissingColumns) as caught:
        AgentTimeline(spans([]).select(["session_id", "lane"]).rename_columns(["session_id", "row"]))
    assert str(caught.value).startswith("AgentTimeline needs the columns agent_id, lane, span_id, kind, ")
    assert str(caught.value).endswith("; the table given has: session_id, row")
    with pytest.raises(MissingColumns, match="AgentTimeline needs the columns text; the table given has: span_id"):
        AgentTimeline(
            spans([]),
            details([]).select(["span_id", "session_id", "part", "ix", "label", "body_bytes", "original_bytes"]),
        )


def test_what_is_no_table_is_refused() -> None:
    """The error names what would be taken."""
    with pytest.raises(TypeError, match=r"takes a table with __arrow_c_stream__ .*; found list"):
        AgentTimeline([{"kind": "agent"}])  # type: ignore[arg-type]


def test_a_column_of_the_wrong_type_is_refused(spans: Build, story: Rows) -> None:
    """The error names the column, what it must be and what it is."""
    table = spans(story)
    table = table.set_column(table.column_names.index("lane"), "lane", [["top"] * table.num_rows])
    with pytest.raises(TypeError, match="column lane must be int64; found string"):
        AgentTimeline(table)


def test_polars_frames_are_taken(spans: Build, story: Rows) -> None:
    """Views return polars: its string views, and its times with a zone, mean the same."""
    frame = pl.from_arrow(spans(story))
    assert isinstance(frame, pl.DataFrame)
    zoned = frame.with_columns(pl.col("begin_at", "end_at").dt.replace_time_zone("UTC"))
    assert AgentTimeline(zoned).payload == AgentTimeline(spans(story)).payload


def test_unknown_keywords_are_refused(spans: Build) -> None:
    """A misspelt option is an error, not ignored."""
    with pytest.raises(TypeError, match="hieght"):
        AgentTimeline(spans([]), hieght=100)  # type: ignore[call-arg]


def test_details_keep_order_sizes_and_tails(spans: Build, details: Build, story: Rows) -> None:
    """Parts by entry, in their order; a tail says how long it is; details of entries not drawn are left out."""
    widget = AgentTimeline(
        spans(story),
        details(
            [
                {"span_id": "call", "part": "window", "ix": 1, "label": "user", "text": "find it"},
                {"span_id": "call", "part": "window", "ix": 0, "label": "system", "text": "be exact"},
                {"span_id": "call", "part": "response", "ix": 0, "text": "né", "body_bytes": 3},
                {"span_id": "shell", "part": "output", "ix": 0, "text": "\x1b[1mend", "body_bytes": 4_096}
                | {"original_bytes": 120_000},
                {"span_id": "nowhere", "part": "output", "ix": 0, "text": "lost"},
                {"session_id": "s-2", "span_id": "call", "part": "output", "ix": 0, "text": "of another session"},
            ],
        ),
    )
    assert texts(widget) == [
        ("call", "response", None, "3 B", None, "né"),
        ("shell", "output", None, "4.1 kB", "tail of 4,096 bytes; 120,000 in the original", "⟨ESC⟩[1mend"),
        ("call", "window", "system", "8 B", None, "be exact"),
        ("call", "window", "user", "7 B", None, "find it"),
    ]
    assert widget.notices == ()


def test_equal_texts_travel_once(spans: Build, details: Build, story: Rows) -> None:
    """Windows repeat what was said: 500 times one text of 10 kB stays far under 500 times its size."""
    rows = [{"span_id": "call", "part": "window", "ix": n, "text": "x" * 10_000} for n in range(500)]
    widget = AgentTimeline(spans(story), details(rows))
    assert len(texts(widget)) == 500
    assert len(widget.payload) < 40_000


@pytest.mark.parametrize("budget", [20_000, 60_000, 250_000])
def test_long_texts_are_cut_alike_within_the_budget(spans: Build, details: Build, story: Rows, budget: int) -> None:
    """Short texts stay whole, long ones get the same length, the budget holds, and the notice says so."""
    rows = [
        {"span_id": "call", "part": "response", "ix": 0, "text": "short and whole"},
        {"span_id": "shell", "part": "output", "ix": 0, "text": "é" * 200_000},
        {"span_id": "read", "part": "output", "ix": 0, "text": '"' * 300_000},
    ]
    widget = AgentTimeline(spans(story), details(rows), byte_budget=budget)
    whole, *cut = texts(widget)
    assert whole[5] == "short and whole"
    assert {len(text) for *_, text in cut} == {len(cut[0][5])}
    assert len(widget.payload.encode()) <= budget * 1.02
    assert len(cut[0][5]) > budget / 20
    assert "first " in cut[0][4]
    assert "byte budget reached" in cut[0][4]
    assert widget.notices[0].startswith("The byte budget of ")
    assert widget.notices[1].startswith("2 long texts cut to ")


def test_too_many_texts_leave_out_windows_first(spans: Build, details: Build, story: Rows) -> None:
    """2,000 distinct window items do not fit in 30 kB: what was answered stays, and the rest is counted."""
    rows = [{"span_id": "call", "part": "window", "ix": n, "text": f"{n} " * 40} for n in range(2_000)]
    rows.append({"span_id": "read", "part": "output", "ix": 0, "text": "the answer"})
    widget = AgentTimeline(spans(story), details(rows), byte_budget=30_000)
    kept = texts(widget)
    assert kept[0][:2] == ("read", "output")
    assert len(widget.payload.encode()) <= 31_000
    assert f"{2_001 - len(kept):,} texts of 1 entry left out, the windows' first." in widget.notices


def test_too_many_entries_keep_every_lane_and_the_beginning(spans: Build, story: Rows) -> None:
    """Excerpts go first, then the last entries; lanes stay; what is left out is counted, and the budget holds."""
    many = [
        {"span_id": f"m{n}", "kind": "shell", "name": f"command {n}", "begin_order": 10 + n, "end_order": 10 + n}
        | {"excerpt": f"what command {n} is for"}
        for n in range(3_000)
    ]
    widget = AgentTimeline(spans([*story, *many]), byte_budget=40_000)
    told = payload(widget)
    assert len(widget.payload.encode()) <= 41_000
    assert len(told["lanes"]) == 3
    kept = [name for name in column(told["spans"], "span_id") if name.startswith("m")]
    assert kept == [f"m{n}" for n in range(len(kept))]
    assert 100 < len(kept) < 3_000
    lost = 3_000 - len(kept)
    assert widget.notices == (
        "The byte budget of 40.0 kB is reached.", "Excerpts left out.", f"The last {lost:,} entries of 3,009 left out.",
    )  # fmt: skip


def test_an_empty_table_is_a_timeline(spans: Build, details: Build) -> None:
    """Nothing to draw is no error."""
    widget = AgentTimeline(spans([]), details([]))
    assert payload(widget)["summary"] == "0 agents, 0 entries"
    assert widget.axis == "order"
