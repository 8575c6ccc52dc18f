"""Where an agent comes from decides who it is, in whatever order a file tells (specification, sections 1.4, 5.4)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sessionlab.tables import Agent, Problem
from tests.formats.gg_examples import HEADER, ROOT, agent, end, entry, journal, of, read, record

MAKERS: dict[str, dict[str, Any]] = {
    "root": {"type": "root"},
    "a": {"type": "spawn", "parent": "root", "ordinal": 0},
    "b": {"type": "spawn", "parent": "root", "ordinal": 1},
    "c": {"type": "spawn", "parent": "a", "ordinal": 0},
    "d": {"type": "succession", "predecessor": "c", "ordinal": 0},
    "e": {"type": "spawn", "parent": "d", "ordinal": 3},
    "f": {"type": "issue_attempt", "issue": "KITE-3", "attempt": 2},
    "g": {"type": "spawn", "parent": "f", "ordinal": 0},
    "h": {"type": "reviewer", "issue": "KITE-3", "round": 1, "position": 2},
    "i": {"type": "merge", "issue": "KITE-3", "ordinal": 1},
}
PLACES = {
    "root": ("root", 0),
    "a": ("root/spawn:0", 1),
    "b": ("root/spawn:1", 1),
    "c": ("root/spawn:0/spawn:0", 2),
    "d": ("root/spawn:0/spawn:0/succession:0", 3),
    "e": ("root/spawn:0/spawn:0/succession:0/spawn:3", 4),
    "f": ("root/issue_attempt:KITE-3:2", 1),
    "g": ("root/issue_attempt:KITE-3:2/spawn:0", 2),
    "h": ("root/reviewer:KITE-3:1:2", 1),
    "i": ("root/merge:KITE-3:1", 1),
}


def _agents(data: bytes) -> dict[str, tuple[str | None, int | None]]:
    return {row.agent_id: (row.origin_key, row.depth) for row in of(read(data), Agent)}


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_the_rows_does_not_matter(seed: int) -> None:
    """Children before their parents, in a journal and in a record: the same keys and depths, and no note."""
    told = [agent(name, origin) for name, origin in MAKERS.items()]
    random.Random(seed).shuffle(told)
    for data in (journal(HEADER, *told, end(0)), record(agents=[line["agent"] for line in told])):
        assert _agents(data) == PLACES
        assert not of(read(data), Problem)


def test_every_telling_of_an_agent_has_its_key() -> None:
    """The row written at birth, before that of the maker, is placed as the one written at the end."""
    late = [agent("c", MAKERS["c"]), agent("a", MAKERS["a"]), ROOT, agent("c", MAKERS["c"], terminalStatus="done")]
    rows = of(read(journal(HEADER, *late, end(0))), Agent)
    assert [(row.agent_id, row.origin_key, row.depth, row.status) for row in rows] == [
        ("c", "root/spawn:0/spawn:0", 2, None),
        ("a", "root/spawn:0", 1, None),
        ("root", "root", 0, None),
        ("c", "root/spawn:0/spawn:0", 2, "done"),
    ]


def test_a_maker_that_never_comes() -> None:
    """Neither the agent nor what hangs from it has a key; the one cause is one note, where the agent was first told."""
    orphan = agent("a", {"type": "spawn", "parent": "nobody", "ordinal": 0})
    rows = read(journal(HEADER, ROOT, orphan, agent("c", MAKERS["c"]), orphan, end(0)))
    assert {row.agent_id: row.origin_key for row in of(rows, Agent)} == {"root": "root", "a": None, "c": None}
    assert [(p.kind, p.line, p.detail) for p in of(rows, Problem)] == [
        ("unknown_parent", 3, "the agent `nobody` that made this one has no row")
    ]


def test_an_agent_that_only_entries_name_makes_nobody() -> None:
    """A maker that acts but has no row cannot be placed."""
    rows = read(journal(HEADER, entry(0, "clock", "a", elapsedMs=1), agent("c", MAKERS["c"]), end(1)))
    assert [row.origin_key for row in of(rows, Agent)] == [None]
    assert [p.kind for p in of(rows, Problem)] == ["agent_without_row", "unknown_parent"]


@pytest.mark.parametrize("ring", [("x",), ("x", "y"), ("x", "y", "z")])
def test_an_agent_that_is_its_own_ancestor(ring: tuple[str, ...]) -> None:
    """A ring of makers has no key and one note, and so has what hangs from it; all others keep theirs."""
    made = [agent(n, {"type": "spawn", "parent": ring[i - 1], "ordinal": 0}) for i, n in enumerate(ring)]
    below = agent("below", {"type": "succession", "predecessor": "x", "ordinal": 0})
    for lines in ([below, ROOT, *made], [*made, ROOT, below]):
        rows = read(journal(HEADER, *lines, end(0)))
        keys = {row.agent_id: (row.origin_key, row.depth) for row in of(rows, Agent)}
        assert keys == {**dict.fromkeys((*ring, "below"), (None, None)), "root": ("root", 0)}
        assert [p.kind for p in of(rows, Problem)] == ["own_ancestor"]


def test_a_long_line_of_successions() -> None:
    """Five thousand generations, the last told first: placed without recursion."""
    line = [agent("0", {"type": "succession", "predecessor": "root", "ordinal": 0})]
    line += [agent(str(n), {"type": "succession", "predecessor": str(n - 1), "ordinal": 0}) for n in range(1, 5000)]
    found = _agents(journal(HEADER, *reversed(line), ROOT, end(0)))
    assert found["4999"] == ("root" + "/succession:0" * 5000, 5000)
