"""What a taint timeline sends to the browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.errors import MissingColumns
from sessionlab.widgets import TaintTimeline
from sessionlab.widgets._picture import column

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    Rows = list[dict[str, Any]]
    Build = Callable[[Rows], pa.Table]


def payload(widget: TaintTimeline) -> dict[str, Any]:
    """The payload as the browser reads it."""
    told: dict[str, Any] = json.loads(widget.payload, parse_constant=pytest.fail)
    return told


def test_what_is_not_known_is_unknown(messages: Build) -> None:
    """A state that is null, misspelt or new is unknown, also where flags say false: nothing is clean by default."""
    states = ["clean", None, "CLEAN", "private", "untrusted", "both", "unknown", "pristine"]
    told = payload(
        TaintTimeline(messages([{"state": state, "private": False, "untrusted": False} for state in states]))
    )
    assert column(told["rows"], "state") == [
        "clean", "unknown", "unknown", "private", "untrusted", "both", "unknown", "unknown",
    ]  # fmt: skip
    assert {state["key"]: state["count"] for state in told["legend"]} == {
        "clean": 1, "private": 1, "untrusted": 1, "both": 1, "unknown": 4,
    }  # fmt: skip


def test_checkpoints_and_rewrites_are_told_in_words(messages: Build) -> None:
    """A checkpoint says both legs, a leg it does not tell is said to be so; a rewrite says what it undoes."""
    told = payload(
        TaintTimeline(
            messages(
                [
                    {"position": 0, "state": "private"},
                    {"kind": "checkpoint", "private": True, "untrusted": False},
                    {"kind": "rewrite"},
                    {"kind": "checkpoint", "private": True},
                    {"kind": "extend"},
                ],
            ),
        ),
    )
    assert column(told["rows"], "told") == [
        None,
        "private: yes, untrusted: no (merged so far)",
        "the conversation was replaced; checkpoints before this point no longer cover it",
        "private: yes, untrusted: not told (merged so far)",
        "blocks were added to a message; only a checkpoint after this point covers it",
    ]
    assert told["summary"] == "1 message, 2 checkpoints, 1 rewrite, 1 extension"
    assert column(told["rows"], "state") == ["private", None, None, None, None]


def test_rows_stand_in_their_order(messages: Build) -> None:
    """The order is the ordinal's, whatever the table's."""
    told = payload(
        TaintTimeline(messages([{"ordinal": 2, "seq": 30}, {"ordinal": 0, "seq": 10}, {"ordinal": 1, "seq": 20}]))
    )
    assert column(told["rows"], "seq") == [10, 20, 30]


def test_missing_columns_are_named(messages: Build) -> None:
    """The error says what is missing and what is there."""
    table = messages([]).drop_columns(["state", "voice"])
    with pytest.raises(MissingColumns, match="TaintTimeline needs the columns voice, state; the table given has: "):
        TaintTimeline(table)


def test_the_budget_keeps_the_beginning(messages: Build) -> None:
    """Excerpts go first, then the last rows, and the notice counts them."""
    rows = [{"position": n, "seq": n, "state": "unknown", "excerpt": f"message number {n} " * 5} for n in range(4_000)]
    widget = TaintTimeline(messages(rows), byte_budget=20_000)
    told = payload(widget)
    kept = told["rows"]["count"]
    assert len(widget.payload.encode()) <= 20_500
    assert column(told["rows"], "position") == list(range(kept))
    assert 200 < kept < 4_000
    assert told["notices"] == [
        "The byte budget of 20.0 kB is reached.",
        "Excerpts left out.",
        f"The last {4_000 - kept:,} rows of 4,000 left out.",
    ]


def test_a_small_table_is_sent_whole(messages: Build) -> None:
    """Nothing is left out, and nothing said, below the budget."""
    told = payload(TaintTimeline(messages([{"position": 0, "state": "clean", "excerpt": "hello\x1b[2J"}])))
    assert told["notices"] == []
    assert column(told["rows"], "excerpt") == ["hello⟨ESC⟩[2J"]
