"""Numbers and members of configurations, summaries and outcomes that no column can mean (sections 3, 4.3 to 4.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.tables import Block, Config, Outcome, Problem, Source, ToolCall, Usage
from tests.formats.mecha_lines import call, line, message, of, read, result, tokens

MOST_TOKENS = 1_000_000_000_000_000
"""What the project takes for the largest count of tokens."""


def _problems(rows: list[Any]) -> list[tuple[str, str, int | None]]:
    return [(row.kind, row.severity, row.seq) for row in of(rows, Problem)]


def test_token_counts_nobody_can_mean_are_null() -> None:
    """Any u64 keeps the record; a count above 10^15 is null with a note each, and the figure a lower bound."""
    spent = {
        "input_tokens": 2**64 - 1,
        "output_tokens": MOST_TOKENS,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": MOST_TOKENS + 1,
    }
    rows = read(line(record="summary", usage=spent, turns=2), line(record="outcome", usage=spent, usage_complete=True))
    ledger, stand_in = of(rows, Usage)
    for row in (ledger, stand_in):
        assert (row.uncached_input_tokens, row.cache_read_tokens) == (None, None)
        assert (row.cache_write_tokens, row.output_tokens) == (7, MOST_TOKENS)
        assert row.is_lower_bound
    assert _problems(rows) == [("number_too_large", "note", 1)] * 2 + [("number_too_large", "note", 2)] * 2
    named = [row.detail or "" for row in of(rows, Problem)]
    assert ["input_tokens`" in text or "cache_read_input_tokens`" in text for text in named] == [True] * 4
    assert of(rows, Source)[0].state == "whole"


@pytest.mark.parametrize(("cost", "kept"), [(1e12, 1e12), (1.5e12, None), (-2e12, None), (0.25, 0.25)])
def test_costs_nobody_can_mean_are_null(cost: float, kept: float | None) -> None:
    """More than 10^12 dollars is null in the outcome and in its figure, which is then a lower bound, with a note."""
    rows = read(line(record="outcome", cost_usd=cost, usage=tokens(3, 5), usage_complete=True, turns=1))
    (usage,) = of(rows, Usage)
    (outcome,) = of(rows, Outcome)
    assert (usage.recorded_usd, outcome.recorded_usd) == (kept, kept)
    assert usage.is_lower_bound is (kept is None)
    assert outcome.usage_complete is True
    assert _problems(rows) == ([] if kept is not None else [("number_too_large", "note", 1)])


def test_limits_of_a_config_nobody_can_mean_are_null() -> None:
    """A compaction size and a cost ceiling past the bounds are null, with a note each; the config stays."""
    rows = read(line(record="config", model="plover-9", compact_at_tokens=2**63, max_cost_usd=1e300))
    (config,) = of(rows, Config)
    assert (config.model, config.compact_at_tokens, config.max_usd) == ("plover-9", None, None)
    assert _problems(rows) == [("number_too_large", "note", 1)] * 2


@pytest.mark.parametrize("value", [7, True, {"goal": ["count", 7]}, ["web"], 1.5])
@pytest.mark.parametrize("member", ["rules_goal", "rules_surface"])
def test_unreadable_rules_keep_the_config(member: str, value: Any) -> None:
    """A goal or surface of rules that is no text keeps the config and stands in detail as it is, with a note (4.5)."""
    rows = read(line(record="config", model="plover-9", max_turns=40, **{member: value}))
    (config,) = of(rows, Config)
    assert (config.model, config.max_turns) == ("plover-9", 40)
    assert json.loads(config.detail or "")[member] == value
    assert _problems(rows) == [("unreadable_member", "note", 1)]
    assert member in (of(rows, Problem)[0].detail or "")
    assert of(rows, Source)[0].state == "whole"


@pytest.mark.parametrize("value", ["goal:count-gulls", "any old text", None])
def test_rules_that_are_texts_are_no_problem(value: str | None) -> None:
    """A text that names no goal is kept as text, and null is none: neither is worth a note (4.5)."""
    rows = read(line(record="config", rules_goal=value, rules_surface=value))
    (config,) = of(rows, Config)
    assert json.loads(config.detail or "").get("rules_goal") == value
    assert json.loads(config.detail or "").get("rules_surface") == value
    assert _problems(rows) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[repeat: the same failure three times]", ["repeat"]),
        ("[stale: see below]", ["stale"]),
        ("so it says [repeat: nothing]", None),
        ("[repeat: twice] … [earlier output truncated to save context]", ["repeat", "thinned"]),
    ],
)
def test_marks_of_a_cut_result_are_recorded(content: str, words: list[str] | None) -> None:
    """A result collapsed as a repeated failure, superseded or thinned says so in its block (section 6)."""
    rows = read(message("assistant", call("t")), message("user", result("t", content)))
    (block,) = [row for row in of(rows, Block) if row.kind == "result"]
    assert block.text == content
    assert json.loads(block.detail or "{}").get("marks") == words


def test_a_call_open_when_the_run_ended_is_unanswered() -> None:
    """The end of a run tells that no result will come; a call behind it, at the end of the file, is still unknown."""
    rows = read(message("assistant", call("t")), line(record="outcome"), message("assistant", call("u")))
    assert [(row.call_id, row.status) for row in of(rows, ToolCall)] == [("t", "unanswered"), ("u", None)]
    alone = read(message("assistant", call("t")), line(record="outcome", stop_cause="interrupted"))
    assert [(row.call_id, row.status) for row in of(alone, ToolCall)] == [("t", "unanswered")]
    assert [row.status for row in of(read(message("assistant", call("t"))), ToolCall)] == [None]
