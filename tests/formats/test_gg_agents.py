"""Where gg agents come from and how they end (specification, section 1.4; data model, section 3)."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.tables import Agent, Outcome, Problem
from tests.formats.gg_examples import (
    HEADER,
    ROOT,
    agent,
    asks,
    call,
    end,
    entry,
    journal,
    message,
    of,
    read,
    record,
    result,
    text,
)


def _hit(limit: str) -> dict[str, Any]:
    return {"limit": limit, "threshold": 3.0, "observed": 4.0, "turns": 4, "agentId": "root"}


STOPS: list[tuple[dict[str, Any], bool, tuple[str | None, str | None, bool | None]]] = [
    ({"terminalStatus": "done"}, False, ("done", "completed", False)),
    ({"terminalStatus": "failed"}, False, ("failed", "failed", False)),
    ({"terminalStatus": "done", "limitHit": _hit("turns")}, False, ("turns", "cut_short", True)),
    ({"terminalStatus": "done", "limitHit": _hit("runtime")}, False, ("runtime", "cut_short", True)),
    ({"terminalStatus": "done", "limitHit": _hit("cost")}, False, ("cost", "cut_short", True)),
    ({"terminalStatus": "done", "limitHit": _hit("error_rate")}, False, ("error_rate", "cut_short", False)),
    (
        {"terminalStatus": "failed", "limitHit": _hit("consecutive_errors")},
        False,
        ("consecutive_errors", "failed", False),
    ),
    ({"terminalStatus": "done"}, True, ("canceled", "interrupted", False)),
    ({"terminalStatus": "running"}, False, ("running", None, None)),
    ({}, False, (None, None, None)),
]


@pytest.mark.parametrize(("row", "canceled", "expected"), STOPS)
def test_how_an_agent_ended(
    row: dict[str, Any], canceled: bool, expected: tuple[str | None, str | None, bool | None]
) -> None:
    """Terminal status, ceiling and the last look at the cancel file decide; without them nothing tells."""
    probe = entry(0, "cancel_probe", canceled=canceled)
    (outcome,) = of(read(journal(HEADER, ROOT, probe, agent("root", {"type": "root"}, **row), end(1))), Outcome)
    assert (outcome.stop_cause, outcome.stop_class, outcome.exhausted) == expected


def test_an_end_on_a_failed_call() -> None:
    """Told only where the model ended the run itself."""
    lines = [call(0, 0, response=asks("a")), result(1, "a", ok=False, failure="io-error"), call(2, 0)]
    last = agent("root", {"type": "root"}, terminalStatus="done")
    (outcome,) = of(read(journal(HEADER, ROOT, message(0), text(0, "x"), *lines, last, end(3))), Outcome)
    assert (outcome.ended_on_failed_call, outcome.tool_errors, outcome.tool_denied) == (True, 1, 0)


def test_origins_are_spelled_from_the_root() -> None:
    """Ids of other agents are replaced by their origins, so the key is the same in every run."""

    def told(a: str, b: str) -> list[tuple[str | None, int | None]]:
        rows = [
            ROOT,
            agent(a, {"type": "spawn", "parent": "root", "ordinal": 2}),
            agent(b, {"type": "succession", "predecessor": a, "ordinal": 0}),
            agent("X-1.0i", {"type": "issue_attempt", "issue": "X-1", "attempt": 1}),
            agent("late", {"type": "spawn", "parent": "X-1.0i", "ordinal": 5}),
        ]
        return [(row.origin_key, row.depth) for row in of(read(journal(HEADER, *rows, end(0))), Agent)]

    assert told("agent-3", "agent-9") == told("agent-4", "agent-0")
    assert told("agent-3", "agent-9") == [
        ("root", 0),
        ("root/spawn:2", 1),
        ("root/spawn:2/succession:0", 2),
        ("root/issue_attempt:X-1:1", 1),
        ("root/issue_attempt:X-1:1/spawn:5", 2),
    ]


def test_an_agent_of_an_unknown_maker() -> None:
    """A maker without a row leaves key and depth unknown, with a note."""
    rows = read(journal(HEADER, agent("a", {"type": "spawn", "parent": "nobody", "ordinal": 0}), end(0)))
    assert [(a.origin_key, a.depth, a.parent_agent_id) for a in of(rows, Agent)] == [(None, None, "nobody")]
    assert [p.kind for p in of(rows, Problem)] == ["unknown_parent"]


def test_agents_are_numbered_by_first_appearance() -> None:
    """However often a journal tells an agent, its number is its place by its first row: 0, 1, 2 as in a record.

    An entry that names an agent before any row does not place it, and in a record, which has no lines to tell rows
    apart by, an agent told twice has two numbers.
    """
    made = [agent(name, {"type": "spawn", "parent": "root", "ordinal": n}) for n, name in enumerate("ba")]
    again = [agent("b", {"type": "spawn", "parent": "root", "ordinal": 0}, terminalStatus="done"), ROOT]
    early = entry(0, "clock", "late", elapsedMs=5)
    late = agent("late", {"type": "spawn", "parent": "root", "ordinal": 7})
    rows = read(journal(HEADER, early, ROOT, *made, *again, late, again[0], end(1)))
    assert [(a.agent_id, a.seq, a.line) for a in of(rows, Agent)] == [
        ("root", 0, 3), ("b", 1, 4), ("a", 2, 5), ("b", 1, 6), ("root", 0, 7), ("late", 3, 8), ("b", 1, 9),
    ]  # fmt: skip
    told = [line["agent"] for line in (ROOT, *made, again[0])]
    assert [(a.agent_id, a.seq, a.line) for a in of(read(record(agents=told)), Agent)] == [
        ("root", 0, None), ("b", 1, None), ("a", 2, None), ("b", 3, None),
    ]  # fmt: skip
