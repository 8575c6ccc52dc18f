"""Comparison: the cases of mecha 12.2, 12.3, 18.4 and 20, a test named after each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.errors import WrongUse
from sessionlab.replay import Call, RecordedCall, as_json, compare, same_arguments, same_json
from tests.replay.conversations import made, recorded

READ = "fs_read"
A, B, C = ("A", {}), ("B", {}), ("C", {})


def told(ours: list[RecordedCall], theirs: list[Call], **how: Any) -> list[dict[str, Any]]:
    """The divergences as objects."""
    return [as_json(one) for one in compare(ours, theirs, **how)]


def tool(index: int, expected: str, actual: str) -> dict[str, Any]:
    """A divergence of kind tool."""
    return {"kind": "tool", "index": index, "expected": expected, "actual": actual}


def arguments(index: int, name: str, expected: Any, actual: Any) -> dict[str, Any]:
    """A divergence of kind arguments."""
    return {"kind": "arguments", "index": index, "tool": name, "expected": expected, "actual": actual}


GOLDEN = recorded(
    ("fs_list", {"path": "."}, 0),
    ("fs_read", {"path": "obs.csv"}, 0),
    ("web_fetch", {"url": "https://birds.example/list"}, 1),
)


def test_golden_sample_reordered_in_its_batch_is_no_divergence() -> None:
    """Section 20, first row."""
    theirs = made(("fs_read", {"path": "obs.csv"}), ("fs_list", {"path": "."}), ("web_fetch", GOLDEN[2].input))
    assert told(GOLDEN, theirs) == []


def test_golden_sample_by_the_positional_rule() -> None:
    """Section 20, second row."""
    theirs = made(("fs_read", {"path": "obs.csv"}), ("fs_list", {"path": "."}), ("web_fetch", GOLDEN[2].input))
    assert told(GOLDEN, theirs, positional=True) == [tool(0, "fs_list", "fs_read")]


def test_golden_sample_with_another_path_and_one_call_less() -> None:
    """Section 20, third row: the arguments index is the recorded position."""
    assert told(GOLDEN, made(("fs_read", {"path": "./obs.csv"}), ("fs_list", {"path": "."}))) == [
        arguments(1, "fs_read", {"path": "obs.csv"}, {"path": "./obs.csv"}),
        {"kind": "missing", "index": 2, "expected": "web_fetch"},
    ]


def test_identical_calls_do_not_diverge() -> None:
    """The same calls: nothing."""
    calls = [(READ, {"path": "a.md"}), ("shell", {"c": "ls"})]
    assert told(recorded(*calls), made(*calls)) == []


def test_three_other_tools_are_one_tool_divergence() -> None:
    """3 × fs_read recorded, 3 × shell replayed: exactly one `tool`, index 0, structural."""
    [one] = compare(recorded(*[(READ, {})] * 3), made(*[("shell", {})] * 3))
    assert as_json(one) == tool(0, READ, "shell")
    assert one.structural


def test_other_path_spelling_is_one_arguments_divergence() -> None:
    """`a.md` against `./a.md`: one `arguments`, not structural; the JSON has its members in the order of 12.3."""
    [one] = compare(recorded((READ, {"path": "a.md"})), made((READ, {"path": "./a.md"})))
    assert not one.structural
    text = '{"kind":"arguments","index":0,"tool":"fs_read","expected":{"path":"a.md"},"actual":{"path":"./a.md"}}'
    assert json.dumps(as_json(one), separators=(",", ":")) == text


def test_extra_and_missing() -> None:
    """One call more: `extra` index 1. One less: `missing` index 1."""
    assert told(recorded(A), made(A, ("shell", {}))) == [{"kind": "extra", "index": 1, "actual": "shell"}]
    assert told(recorded(A, B), made(A)) == [{"kind": "missing", "index": 1, "expected": "B"}]


def test_separate_turns_swapped_are_two_arguments_divergences() -> None:
    """a.md, b.md in two batches replayed b.md, a.md."""
    a, b = {"path": "a.md"}, {"path": "b.md"}
    found = told(recorded((READ, a, 0), (READ, b, 1)), made((READ, b), (READ, a)))
    assert found == [arguments(0, READ, a, b), arguments(1, READ, b, a)]


def test_white_space_at_both_ends_of_strings_does_not_count() -> None:
    """`"ls -la"` against `"  ls -la  "`: nothing, at any depth."""
    assert told(recorded(("shell", {"c": ["ls -la"]})), made(("shell", {"c": ["\u2028  ls -la \n"]}))) == []


def test_batch_reversed_is_no_divergence() -> None:
    """The batch (kg_search, fs_list) replayed reversed."""
    assert told(recorded(("kg_search", {}, 0), ("fs_list", {}, 0)), made(("fs_list", {}), ("kg_search", {}))) == []


def test_two_batches_reversed_are_a_tool_divergence() -> None:
    """The same two in batches 0 and 1: `tool` index 0."""
    found = told(recorded(("kg_search", {}, 0), ("fs_list", {}, 1)), made(("fs_list", {}), ("kg_search", {})))
    assert found == [tool(0, "kg_search", "fs_list")]


def test_one_tool_of_a_batch_swapped() -> None:
    """(kg_search, fs_list) replayed (kg_search, kg_entity): `tool` index 1."""
    found = told(recorded(("kg_search", {}, 0), ("fs_list", {}, 0)), made(("kg_search", {}), ("kg_entity", {})))
    assert found == [tool(1, "fs_list", "kg_entity")]


def test_batch_of_one_tool_swapped_is_no_divergence() -> None:
    """fs_read a.md and b.md in one batch, replayed b.md, a.md: the same arguments are preferred."""
    a, b = {"path": "a.md"}, {"path": "b.md"}
    assert told(recorded((READ, a, 0), (READ, b, 0)), made((READ, b), (READ, a))) == []


def test_batch_reversed_with_a_changed_path() -> None:
    """One `arguments`, index 1, of the recorded call."""
    ours = recorded(("kg_search", {"q": "x"}, 0), ("fs_list", {"path": "."}, 0))
    theirs = made(("fs_list", {"path": "src"}), ("kg_search", {"q": "x"}))
    assert told(ours, theirs) == [arguments(1, "fs_list", {"path": "."}, {"path": "src"})]


def test_calls_without_batches_are_positional() -> None:
    """Null batches, reversed: `tool` index 0."""
    found = told(recorded(("kg_search", {}), ("fs_list", {})), made(("fs_list", {}), ("kg_search", {})))
    assert found == [tool(0, "kg_search", "fs_list")]


def test_base_shifts_every_index() -> None:
    """Base 10, recorded tail 2 × fs_read, replayed fs_read, shell: `tool` index 11; base 0 is the plain comparison."""
    ours, theirs = recorded((READ, {}), (READ, {})), made((READ, {}), ("shell", {}))
    assert told(ours, theirs, base=10) == [tool(11, READ, "shell")]
    assert told(ours, theirs, base=0) == told(ours, theirs) == [tool(1, READ, "shell")]
    assert told(ours, theirs[:1], base=4) == [{"kind": "missing", "index": 5, "expected": READ}]
    assert told(ours[:1], theirs, base=4) == [{"kind": "extra", "index": 5, "actual": "shell"}]
    assert told(ours, made((READ, 1), (READ, {})), base=7) == [arguments(7, READ, {}, 1)]


# Points to note of 12.2.


def test_arguments_before_a_tool_divergence_are_kept() -> None:
    """And nothing is reported behind it: no tail."""
    found = told(recorded((READ, 1), A, B, C), made((READ, 2), B))
    assert found == [arguments(0, READ, 1, 2), tool(1, "A", "B")]


def test_first_positional_mismatch_may_pair_calls_that_are_only_reordered() -> None:
    """Recorded batch [A, B], replayed [B, C]: index 0, expected A, actual B."""
    assert told(recorded((*A, 0), (*B, 0)), made(B, C)) == [tool(0, "A", "B")]


def test_cut_inside_a_batch_after_a_reordered_call_is_a_tool_divergence() -> None:
    """Recorded batch [A, B], replayed [B]: `tool` index 0."""
    assert told(recorded((*A, 0), (*B, 0)), made(B)) == [tool(0, "A", "B")]


def test_cut_inside_a_batch_in_order_is_missing() -> None:
    """Recorded batch [A, B], replayed [A]: `missing` index 1."""
    assert told(recorded((*A, 0), (*B, 0)), made(A)) == [{"kind": "missing", "index": 1, "expected": "B"}]


def test_arguments_inside_a_batch_that_is_not_paired_are_not_reported() -> None:
    """Neither where another tool was called, nor where the batch was cut short."""
    assert told(recorded((READ, 1, 0), (*B, 0)), made((READ, 2), C)) == [tool(1, "B", "C")]
    assert told(recorded((READ, 1, 0), (*B, 0)), made((READ, 2))) == [{"kind": "missing", "index": 1, "expected": "B"}]


def test_extra_calls_are_those_past_the_whole_recording() -> None:
    """A call too many inside a batch shifts what follows: it is no `extra`."""
    found = told(recorded((*A, 0), (*B, 1)), made(A, A, B))
    assert found == [tool(1, "B", "A")]


def test_batches_end_where_the_number_changes_and_can_come_again() -> None:
    """A window is the run of consecutive calls of one batch: the same number further on is another window."""
    ours = recorded((*A, 0), (*B, 1), (*C, 0))
    assert told(ours, made(A, B, C)) == []
    assert told(ours, made(C, B, A)) == [tool(0, "A", "C")]


def test_same_name_twice_in_a_batch_takes_the_first_left_over() -> None:
    """Exact pairs first, then by name in order: recorded 1, 2, 3 replayed 9, 2, 8 pairs 1 with 9 and 3 with 8."""
    ours = recorded((READ, 1, 0), (READ, 2, 0), (READ, 3, 0))
    found = told(ours, made((READ, 9), (READ, 2), (READ, 8)))
    assert found == [arguments(0, READ, 1, 9), arguments(2, READ, 3, 8)]


def test_nothing_recorded_and_nothing_replayed() -> None:
    """Empty lists: all extra, all missing, nothing."""
    assert told([], []) == []
    assert told([], made(A)) == [{"kind": "extra", "index": 0, "actual": "A"}]
    assert told(recorded((*A, 0)), []) == [{"kind": "missing", "index": 0, "expected": "A"}]


# Argument equality.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        (1, 1.0),
        (0, 0.0),
        (None, False),
        (None, ""),
        ("1", 1),
        ([], {}),
        ([1], [1, 1]),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 1, "b": None}),
        ({"a": 1}, {" a": 1}),
        ({"a": 1}, {"A": 1}),
        ({"a": True}, {"a": 1}),
        ([[1], 2], [[1, 2]]),
        ({"a": {}, "b": 1}, {"a": {"b": 1}}),
        ("a.md", "./a.md"),
        ("A", "a"),
        ("a  b", "a b"),
        ("\x1cls", "ls"),
        (2**63, float(2**63)),
    ],
)
def test_python_traps_and_other_differences_are_differences(one: Any, other: Any) -> None:
    """`True == 1` and `1 == 1.0` in Python; keys are untrimmed; no case, path or number is normalised."""
    assert not same_arguments(one, other)
    assert not same_arguments(other, one)
    assert not same_json(one, other)
    assert same_arguments(one, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [(" x ", "x"), (["a ", {"k": "\u00a0v"}], ["a", {"k": "v"}]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (0.0, -0.0)],
)
def test_equal_arguments(one: Any, other: Any) -> None:
    """Strings are trimmed by Unicode's white space, the order of members does not count."""
    assert same_arguments(one, other)


def test_exact_json_keeps_white_space() -> None:
    """What a denial is judged by is not trimmed."""
    assert not same_json(" x", "x")
    assert same_json({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]})


def test_arguments_nested_deeper_than_python_calls() -> None:
    """Ten thousand levels are compared like any other."""
    deep: Any = 1
    other: Any = 2
    for _ in range(10_000):
        deep, other = [deep], [other]
    assert not same_arguments(deep, other)


def test_arguments_that_are_no_json_are_refused() -> None:
    """The error says what was found."""
    with pytest.raises(WrongUse, match="arguments of a call: expected JSON, found set"):
        compare(recorded((READ, {"a": 1})), [Call(READ, {"a": {1}})])  # type: ignore[dict-item]
