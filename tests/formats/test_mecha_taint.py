"""Taint and configurations by message: the worked examples, and random transcripts against sections 8.6 and 9.

Entries, windows and configs must tell enough: :func:`covers` and :func:`configured` are what a query over those tables
does, and are compared with the algorithms of the specification run over the records themselves.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.tables import Block, Config, Entry, Row, Window
from tests.formats.mecha_lines import line, loaded, message, of, read, rewrite, said, texts

Taint = tuple[bool, bool]
CLEAN, PRIVATE, UNTRUSTED, BOTH = (False, False), (True, False), (False, True), (True, True)
Operation = tuple[Any, ...]


def transcript(operations: list[Operation]) -> list[Row]:
    """The rows of a transcript that does these things."""
    lines = []
    for word, *given_ in operations:
        if word == "message":
            lines.append(message("user", *given_[0]))
        elif word == "rewrite":
            lines.append(rewrite(*(said("user", *each) for each in given_[0])))
        elif word == "extend":
            lines.append(line(record="extend", index=given_[0], blocks=[{"type": "text", "text": given_[1]}]))
        elif word == "taint":
            lines.append(line(record="taint", private=given_[0][0], untrusted=given_[0][1]))
        else:
            lines.append(line(record="config", model=given_[0]))
    return read(*lines)


def covers(rows: list[Row]) -> list[Taint | None]:
    """Taint of each message of the list at the end, out of rows: the next checkpoint behind its last writing."""
    written: dict[int, int] = {}
    rewritten = -1
    checkpoints: list[tuple[int, Taint]] = []
    for row in rows:
        if isinstance(row, Window) or (isinstance(row, Entry) and row.position is not None):
            written[row.position or 0] = row.seq
        if isinstance(row, Entry) and row.kind in ("rewrite", "compaction"):
            rewritten = row.seq
        if isinstance(row, Entry) and row.kind == "taint":
            checkpoints.append((row.seq, (bool(row.private), bool(row.untrusted))))
    return [
        next((taint for seq, taint in checkpoints if seq > max(written[at], rewritten)), None)
        for at in range(len(loaded(rows)))
    ]


def covers_by_section_9(operations: list[Operation]) -> list[Taint | None]:
    """The same by the algorithm of section 9, over the records."""
    count, merged = 0, CLEAN
    checkpoints: list[tuple[int, Taint]] = []
    since: dict[int, int] = {}
    for word, *given_ in operations:
        if word == "message":
            count += 1
        elif word == "rewrite":
            count, checkpoints, since = len(given_[0]), [], {}
        elif word == "taint":
            merged = (merged[0] or given_[0][0], merged[1] or given_[0][1])
            checkpoints.append((count, merged))
        elif word == "extend" and given_[0] < count:
            since[given_[0]] = len(checkpoints)
    return [next((taint for n, taint in checkpoints[since.get(at, 0) :] if n > at), None) for at in range(count)]


def configured(rows: list[Row]) -> list[str | None]:
    """Model of the config covering each message, out of rows: positions as read, moved by later rewrites."""
    moves = [row for row in of(rows, Entry) if row.kind in ("rewrite", "compaction")]
    configs: list[tuple[int, str | None]] = []
    for config in of(rows, Config):
        position = config.position or 0
        for move in moves:
            if move.seq > config.seq:
                in_place = json.loads(move.detail or "")["in_place"]
                position = min(position, move.messages or 0) if in_place else 0
        configs.append((position, config.model))
    return [
        next((model for position, model in reversed(configs) if position <= at), None)
        for at in range(len(loaded(rows)))
    ]


def walk(operations: list[Operation]) -> tuple[list[list[str]], list[str | None]]:
    """The list at the end and the config covering each message, by sections 8.2 and 8.6 over the records."""
    current: list[list[str]] = []
    configs: list[tuple[int, str]] = []
    for word, *given_ in operations:
        if word == "message":
            current = [*current, given_[0]]
        elif word == "rewrite":
            new = given_[0]
            in_place = len(new) >= len(current) or new == current[: len(new)]
            configs = [(min(at, len(new)) if in_place else 0, model) for at, model in configs]
            current = list(new)
        elif word == "extend" and given_[0] < len(current):
            at, text = given_
            current = [*current[:at], [*current[at], text], *current[at + 1 :]]
        elif word == "config":
            configs.append((len(current), given_[0]))
    return current, [
        next((model for position, model in reversed(configs) if position <= at), None) for at in range(len(current))
    ]


def m(text: str) -> Operation:
    """A message of that text."""
    return ("message", [text])


EXAMPLES: dict[str, tuple[list[Operation], list[Taint | None]]] = {
    "1 two runs": (
        [m("a"), m("b"), ("taint", CLEAN), m("c"), m("d"), ("taint", UNTRUSTED)],
        [CLEAN, CLEAN, UNTRUSTED, UNTRUSTED],
    ),
    "2 rewrite then checkpoint": (
        [*(m(str(at)) for at in range(10)), ("taint", PRIVATE), ("rewrite", [["x"], ["y"]]), ("taint", BOTH)],
        [BOTH, BOTH],
    ),
    "3 no checkpoint after": ([m("a"), ("taint", BOTH), ("rewrite", [["x"], ["y"]])], [None, None]),
    "4 tail of a killed run": ([m("a"), m("b"), ("taint", PRIVATE), m("c")], [PRIVATE, PRIVATE, None]),
    "5 merge, not replace": (
        [m("a"), ("taint", UNTRUSTED), m("b"), ("taint", PRIVATE), m("c"), ("taint", CLEAN)],
        [UNTRUSTED, BOTH, BOTH],
    ),
    "a checkpoint before any message covers nothing": ([("taint", BOTH), m("a")], [None]),
    "an extended message is covered anew": (
        [m("a"), ("taint", CLEAN), ("extend", 0, "foreign"), m("b"), ("taint", UNTRUSTED)],
        [UNTRUSTED, UNTRUSTED],
    ),
    "a truncating rewrite empties the checkpoints": (
        [m("a"), ("taint", CLEAN), m("b"), ("rewrite", [["a"]]), ("taint", PRIVATE)],
        [PRIVATE],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example(name: str) -> None:
    """Taint by message as section 9 works it out."""
    operations, expected = EXAMPLES[name]
    assert covers_by_section_9(operations) == expected
    assert covers(transcript(operations)) == expected


def test_taint_of_the_load_is_merged() -> None:
    """Checkpoints untrusted, private, clean load as both; no checkpoint at all leaves index 0 unknown (18.1)."""
    rows = transcript([("taint", UNTRUSTED), ("taint", PRIVATE), ("taint", CLEAN)])
    assert [(row.private, row.untrusted) for row in of(rows, Entry)][-1] == BOTH
    assert covers(transcript([m("a")])) == [None]


ROLLBACK: list[Operation] = [("config", "A"), m("u"), m("a"), ("config", "B"), m("v")]
CONFIGS: dict[str, tuple[list[Operation], list[str | None]]] = {
    "covering 0 A, 2 B": (ROLLBACK, ["A", "A", "B"]),
    "rolled back to the first two": ([*ROLLBACK, ("rewrite", [["u"], ["a"]]), m("w")], ["A", "A", "B"]),
    "same length, last extended": (
        [*ROLLBACK, ("rewrite", [["u"], ["a"]]), ("rewrite", [["u"], ["a", "more"]])],
        ["A", "A"],
    ),
    "same length, message 1 changed": ([*ROLLBACK, ("rewrite", [["u"], ["changed"], ["v"]])], ["A", "A", "B"]),
    "summarised to one": ([*ROLLBACK, ("rewrite", [["new"]])], ["B"]),
    "none": ([m("u")], [None]),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_config_covering_a_message(name: str) -> None:
    """The configuration in force for each message (sections 8.6, 18.2)."""
    operations, expected = CONFIGS[name]
    assert walk(operations)[1] == expected
    assert configured(transcript(operations)) == expected


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=2)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("message"), WORDS),
        st.tuples(st.just("rewrite"), st.lists(WORDS, max_size=4)),
        st.tuples(st.just("extend"), st.integers(0, 3), st.sampled_from(["a", "b", "c"])),
        st.tuples(st.just("taint"), st.tuples(st.booleans(), st.booleans())),
        st.tuples(st.just("config"), st.sampled_from(["A", "B", "C"])),
    ),
    max_size=14,
)


@settings(max_examples=400, deadline=None)
@given(OPERATIONS)
def test_rows_tell_what_the_records_tell(operations: list[Operation]) -> None:
    """On random transcripts: the list at the end, taint and config of each message, pools without repeats."""
    rows = transcript(operations)
    current, configs = walk(operations)
    assert texts(rows) == current
    assert covers(rows) == covers_by_section_9(operations)
    assert configured(rows) == configs
    bodies: dict[tuple[str, int], tuple[str | None, ...]] = {}
    for row in of(rows, Block):
        bodies[row.pool, row.ix] = (*bodies.get((row.pool, row.ix), ()), row.text)
    for pool in ("message", "text"):
        held = [body for (name, _), body in bodies.items() if name == pool]
        assert len(set(held)) == len(held)
