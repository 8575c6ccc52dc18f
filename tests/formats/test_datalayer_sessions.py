"""A datalayer session as a whole: its row, agent, configurations, lineage, copies, and the seats of a team."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sessionlab.tables import Agent, Config, Entry, Link, Problem, Session
from tests.formats.datalayer_files import (
    DIGEST,
    T0,
    US,
    at_second,
    entries,
    entry,
    head,
    notes,
    of,
    read,
    team,
)


def _session(*lines: Any, **changed: Any) -> Session:
    (session,) = of(read(head(**changed), *lines), Session)
    return session


def test_the_session_row() -> None:
    """The head's title, state and archive stand; beginning and end come from the entries."""
    session = _session(
        entry("session", at_second(10), title="First", state="open"),
        entry("session", at_second(20), title="Second", resumed=True),
        entry("ended", at_second(30), state="ended", by="end"),
        state="ended", title="Tides", archived=True, turns=0, entries=3,
    )  # fmt: skip
    assert (session.session_id, session.native_id, session.format) == ("datalayer:abcd-1234", "abcd-1234", "datalayer")
    assert (session.title, session.created_title, session.state, session.archived) == ("Tides", "First", "ended", True)
    assert (session.created_at, session.ended_at, session.entries) == (T0 + 10 * US, T0 + 30 * US, 3)
    assert (session.part, session.surface, session.model, session.workspace) == ("snapshot", None, None, None)
    assert json.loads(session.detail or "") == {
        "app_id": "harbor", "app_version": 3, "agent": "surveyor", "owner": "u-own", "turns": 0,
        "kinds": head()["kinds"], "exported_at": "2026-10-04T00:00:00Z", "exported_by": "u-exp", "redactions": 0,
    }  # fmt: skip


def test_a_record_without_an_opening_entry() -> None:
    """No `session` entry: no beginning is told, no title given then, and no link."""
    rows = read(head(lineage={"forked_from": None, "imported_from": None}, title=""), entry("turn", asked="q"))
    (session,) = of(rows, Session)
    assert (session.created_at, session.created_title, session.title) == (None, None, None)
    assert not of(rows, Link)


def test_the_head_is_compared_and_stands() -> None:
    """Wrong counts, kinds and states are notes, and nothing else (sections 2.1 and 17)."""
    lines = [entry("session", state="open"), entry("turn", asked="q"), entry("paused", state="paused", cancelled={})]
    assert notes(*lines, entries=3, turns=1, state="paused") == []
    assert notes(*lines, entries=7, turns=4, kinds=["turn"], state="ended") == [
        "head_entries", "head_turns", "head_kinds", "head_state",
    ]  # fmt: skip
    assert notes(entry("session"), entries=1, state="open") == []  # absent means open
    assert notes(entry("turn"), entries=1, turns=1, state="ended") == []  # nothing states one
    details = {p.kind: p.detail for p in of(read(head(entries=7, state="ended"), *lines), Problem)}
    assert details["head_entries"] == "the head says 7 entries, the file holds 3"
    assert details["head_state"] == "the head says ended, the last entry that states one says paused"


HEAD_FACTS = {"title": "Tides", "archived": False, "agent": "surveyor", "harness": None}
SWAP = {"from": "surveyor", "to": "pilot", "to_harness": "codex"}
OPENED, SWAPPED = entry("session", **HEAD_FACTS), entry("swapped", **SWAP)
EBB = {"title": "Ebb", "archived": True}
PILOT = {"agent": "pilot", "harness": "codex"}
ANY = {"title": "any", "archived": True, "agent": "any", "harness": "any"}
HELD_AGAINST_THE_RECORD: dict[str, tuple[list[Any], dict[str, Any], list[str]]] = {
    "all as opened": ([OPENED], {}, []),
    "title": ([OPENED], {"title": "Ebb"}, ["head_title"]),
    "archived": ([OPENED], {"archived": True}, ["head_archived"]),
    "agent": ([OPENED], {"agent": "pilot"}, ["head_agent"]),
    "harness": ([OPENED], {"harness": "codex"}, ["head_harness"]),
    "a later opening tells nothing": ([OPENED, entry("session", **EBB, **PILOT)], {}, []),
    "titled": ([OPENED, entry("titled", **EBB)], {}, ["head_title", "head_archived"]),
    "titled twice, one member each": ([entry("titled", title="Ebb"), entry("titled", archived=True), OPENED], EBB, []),
    "the last title": ([entry("titled", title="Ebb"), entry("titled", title="Tides")], {}, []),
    "swapped": ([OPENED, SWAPPED], {}, ["head_agent", "head_harness"]),
    "swapped before the opening": ([SWAPPED, OPENED], PILOT, []),
    "agent before to": ([entry("swapped", **SWAP, agent="x", harness="y")], {"agent": "x", "harness": "y"}, []),
    "the last swap": ([SWAPPED, entry("swapped", to="surveyor", to_harness=None)], {}, []),
    "nothing told": ([entry("session")], ANY, []),
    "other types": ([entry("session", title=None, archived="no", agent=7, harness=[])], ANY, []),
    "a title of the first question": ([entry("turn", asked="q")], {"turns": 1, "title": "q"}, []),
    "a title cut at 200": ([entry("titled", title="w" * 201)], {"title": "w" * 200}, []),
}


@pytest.mark.parametrize("case", HELD_AGAINST_THE_RECORD)
def test_the_head_is_held_against_the_record(case: str) -> None:
    """Title, archive mark, agent and harness of the head that the record does not bear out are notes (section 10)."""
    lines, changed, differ = HELD_AGAINST_THE_RECORD[case]
    assert notes(*lines, **{"entries": len(lines), **changed}) == differ


def test_the_note_says_both_and_the_head_stands() -> None:
    """A note names what the head says and what the entries say; the session row has the head's."""
    rows = read(head(entries=1, title="Ebb", harness="codex"), OPENED)
    assert [row.detail for row in of(rows, Problem)] == [
        "the head says 'Ebb', the entries of the record say 'Tides'",
        "the head says 'codex', the entries of the record say none",
    ]
    assert {(row.severity, row.line) for row in of(rows, Problem)} == {("note", 1)}
    assert [row.title for row in of(rows, Session)] == ["Ebb"]


def test_open_paused_open_ended() -> None:
    """Open, paused, open again, ended: the last one stands (section 15, states)."""
    states = [entry("session", state="open"), entry("paused", state="paused"), entry("session", state="open"),
              entry("ended", state="ended", by="end")]  # fmt: skip
    assert notes(*states, entries=4, state="ended") == []
    assert notes(*states[:3], entries=3, state="open") == []


def test_a_state_that_is_none_is_noted() -> None:
    """`stopped` is an error, never a default: the state before it is kept."""
    assert notes(entry("paused", state="stopped"), entries=1, state="paused") == ["unknown_state"]
    assert notes(entry("paused", state=["open"]), entries=1, state="paused") == ["unknown_state"]


def test_agent_and_configurations() -> None:
    """One agent as the head has it; every opening and swap says which agent and harness are in force."""
    rows = read(
        head(agent="cartographer", harness="codex"),
        entry("session", agent="surveyor", harness=None),
        entry("swapped", **{"from": "surveyor", "to": "x", "to_harness": "opencode"}),
        entry("swapped", to="x", agent="cartographer", harness="codex", carried={"workspace": "/srv"}),
        entry("rule", rule={"name": "r"}),
    )
    (agent,) = of(rows, Agent)
    assert (agent.agent_id, agent.profile, agent.origin, agent.depth, agent.detail) == (
        "root", "cartographer", "root", 0, '{"harness":"codex"}',
    )  # fmt: skip
    assert [(c.seq, c.workspace, c.model, json.loads(c.detail or "")) for c in of(rows, Config)] == [
        (0, None, None, {"agent": "surveyor"}),
        (1, None, None, {"agent": "x", "harness": "opencode"}),
        (2, "/srv", None, {"agent": "cartographer", "harness": "codex"}),
    ]


FORKED = {"forked_from": {"uid": "source-01", "at_turn": 2}, "imported_from": None}
IMPORTED = {"forked_from": None, "imported_from": {"digest": DIGEST, "exported_at": "t1", "exported_by": "u1"}}


def _copied(lineage: dict[str, Any], *lines: Any) -> str:
    return "".join("c" if row.is_copy else "." for row in entries(*lines, lineage=lineage))


def test_copies_of_a_clone() -> None:
    """What stands before a clone's own `session` entry is copied; rules copied last among it (section 9)."""
    turn, rule = entry("turn", asked="q"), entry("rule", removed="r")
    own, cloned = entry("session"), entry("cloned", **{"from": "source-01", "at_turn": 2})
    assert _copied(FORKED, turn, turn, rule, own, cloned, turn) == "ccc..."
    assert _copied(FORKED, own, cloned, turn) == "..."
    assert _copied(FORKED, turn, turn, rule, cloned, turn) == "ccc.."
    assert _copied(FORKED, turn, entry("run"), turn, rule, turn) == "ccc.."
    assert _copied(FORKED, turn, entry("titled", title="own"), entry("paused"), own) == "c..."
    assert _copied(FORKED) == ""
    assert _copied(head()["lineage"], turn, own, turn) == "..."


def test_copies_of_an_import() -> None:
    """Between its own opening and its `imported` entry an import holds what it took in (section 8)."""
    turn, titled, own = entry("turn", asked="q"), entry("titled", title="t"), entry("session")
    imported = entry("imported", digest=DIGEST)
    assert _copied(IMPORTED, own, turn, titled, imported, own, turn) == ".cc..."
    assert _copied(IMPORTED, own, turn, entry("imported", digest="other"), turn, imported, turn) == ".c.c.."
    assert _copied(IMPORTED, own, turn, entry("imported", digest="other"), turn) == ".c.."
    assert _copied(IMPORTED, own, turn, imported, turn, entry("imported", digest="other")) == ".c..."


def test_an_import_without_its_entry_is_a_doubt() -> None:
    """An export of chosen kinds may lack the `imported` entry: nothing is called a copy, and a note says so."""
    rows = read(head(lineage=IMPORTED, entries=1, turns=1), entry("turn", asked="q"))
    assert [p.kind for p in of(rows, Problem)] == ["copies_not_told"]
    assert not of(rows, Entry)[0].is_copy


def test_links_of_head_and_entries_are_one_claim() -> None:
    """The head's lineage and the entry that tells the same are one link, with what each knows."""
    both = {**FORKED, "imported_from": IMPORTED["imported_from"]}
    links = of(
        read(
            head(lineage=both),
            entry("cloned", **{"from": "source-01", "at_turn": 2}),
            entry("cloned", to="other-001", at_turn=1),
            entry("imported", digest=DIGEST, source_uid="source-02", exported_at="t1"),
            entry("exported", by="u9", digest="sha256:" + "00" * 32, entries=4),
            entry("cloned", **{"from": "source-09", "at_turn": 1}),
        ),
        Link,
    )
    assert [(k.relation, k.other_session_id, k.at_run, k.digest, k.seq) for k in links] == [
        ("forked_from", "datalayer:source-01", 2, None, None),
        ("imported_from", "datalayer:source-02", None, DIGEST, None),
        ("exported_to", None, None, "sha256:" + "00" * 32, 3),
        ("forked_from", "datalayer:source-09", 1, None, 4),
    ]
    assert links[1].detail == '{"exported_at":"t1","exported_by":"u1"}'


def test_claims_that_differ_stay_apart() -> None:
    """An entry that says another turn, source or digest than the head makes another claim."""
    same_source = entry("cloned", **{"from": "source-01", "at_turn": 3})
    assert [k.at_run for k in of(read(head(lineage=FORKED), same_source), Link)] == [2, 3]
    nothing_shared = entry("imported", source_uid="source-05")
    assert [k.digest for k in of(read(head(lineage=IMPORTED), nothing_shared), Link)] == [DIGEST, None]


def test_a_turn_past_bigint_is_null() -> None:
    """A clone may be cut after any number; one past BIGINT is not told."""
    (link,) = of(read(head(lineage={**FORKED, "forked_from": {"uid": "source-01", "at_turn": 10**40}})), Link)
    assert (link.other_session_id, link.at_run) == ("datalayer:source-01", None)


def _team_notes(*lines: Any) -> Iterator[str]:
    for row in of(read(*lines), Problem):
        assert (row.kind, row.severity) == ("team_seats", "note")
        yield row.detail or ""


LEAD = head(uid="lead-0001", agent="navigator")
SCOUT = head(uid="scout-001", agent="lookout", harness="codex")


def test_a_team_file_is_its_sessions() -> None:
    """The run is a session with an agent per seat; the seats' sessions follow, numbered on through the file."""
    rows = read(team(), {**LEAD, "entries": 1}, entry("thread"), {**SCOUT, "entries": 1}, entry("thread", title="t"))
    assert [s.session_id for s in of(rows, Session)] == [
        "datalayer:team:exec-9", "datalayer:lead-0001", "datalayer:scout-001",
    ]  # fmt: skip
    assert [(a.session_id, a.agent_id, a.profile) for a in of(rows, Agent)] == [
        ("datalayer:team:exec-9", "lead", "navigator"),
        ("datalayer:team:exec-9", "scout", "lookout"),
        ("datalayer:lead-0001", "root", "navigator"),
        ("datalayer:scout-001", "root", "lookout"),
    ]
    assert [(e.session_id, e.seq, e.line, e.output_ix) for e in of(rows, Entry)] == [
        ("datalayer:lead-0001", 0, 3, None),
        ("datalayer:scout-001", 1, 5, 0),
    ]
    assert [(k.session_id, k.relation, k.other_session_id) for k in of(rows, Link)] == [
        ("datalayer:lead-0001", "seat_of", "datalayer:team:exec-9"),
        ("datalayer:scout-001", "seat_of", "datalayer:team:exec-9"),
    ]
    assert not of(rows, Problem)


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ((LEAD, SCOUT), []),
        ((LEAD,), ["the session scout-001 of a seat is not in the file"]),
        ((SCOUT, LEAD), ["the sessions do not stand in the order of the seats"]),
        ((LEAD, SCOUT, head(uid="stranger-1")), ["the session stranger-1 sits at none of the team's seats"]),
        ((LEAD, {**SCOUT, "harness": None}), ["the seat scout names another agent or harness than its session line"]),
    ],
)
def test_seats_and_sessions_are_compared(sections: tuple[Any, ...], said: list[str]) -> None:
    """Where seats and session lines differ a note says how; the sessions are read all the same."""
    assert list(_team_notes(team(), *sections)) == said


def test_a_session_twice_in_a_team_file_is_noted() -> None:
    """The same session line twice is a note, and its order cannot be the seats'."""
    assert "a session stands in the file more than once" in list(_team_notes(team(), LEAD, SCOUT, LEAD))
