"""What a clone copies and leaves, who goes on with it, and what the source keeps (section 9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.systems.datalayer.applications import Applications
from sessionlab.systems.datalayer.cloning import clone, copied_entries
from sessionlab.systems.datalayer.importing import import_session
from sessionlab.systems.datalayer.store import Store
from tests.formats.datalayer_files import KINDS, bytes_of, entry, head
from tests.systems.datalayer.stored import (
    HARBOR,
    LATER,
    NOW,
    UID,
    json_lines,
    kinds,
    line,
    opening,
    raw_lines,
    store_of,
    turn,
    turns,
)


def test_of_the_25_kinds_seven_are_not_copied() -> None:
    """session, paused, ended, cloned, exported, imported, titled stay with the source."""
    entries = [*(line(kind, n) for n, kind in enumerate(KINDS.split(", "))), turn(1, 50)]
    left_out = {"session", "paused", "ended", "cloned", "exported", "imported", "titled"}
    assert kinds(copied_entries(entries, 2)) == [*(kind for kind in KINDS.split(", ") if kind not in left_out), "turn"]


def test_rules_before_and_after_the_cut_are_each_copied_once_and_later_entries_not() -> None:
    """Those before the cut stand where they stood, those after it at the end, in order."""
    rules = [line("rule", second, rule={"name": f"r{second}"}) for second in (5, 15, 25, 26)]
    entries = [opening(), rules[0], turn(1, 10), rules[1], line("output", 16), turn(2, 20), *rules[2:], turn(3, 30)]
    assert copied_entries(entries, 1) == [rules[0], turn(1, 10), rules[1], rules[2], rules[3]]


def test_cut_at_0_copies_no_turn_and_all_rules(tmp_path: Path) -> None:
    """N may be 0: only the rules go along."""
    rule = line("rule", 5, rule={"name": "a"})
    store = store_of(tmp_path, opening(), rule, *turns(2)[1:])
    made = store.record(clone(store, UID, at_turn=0, by="u", now=NOW).uid)
    assert kinds(made.entries) == ["rule", "session", "cloned"]
    assert (made.turns, made.lineage.forked_from) == (0, made.lineage.forked_from)
    assert made.entries[1].payload["title"] == "Question 1?"


def test_unsaid_means_all_turns_and_minus_1_is_beyond(tmp_path: Path) -> None:
    """The cut is after the last turn; below 0 there is none."""
    store = store_of(tmp_path, *turns(3), line("output", 40))
    done = clone(store, UID, by="u", now=NOW)
    assert (done.at_turn, done.turns) == (3, 3)
    with pytest.raises(SessionRefused) as caught:
        clone(store, UID, at_turn=-1, by="u", now=NOW)
    assert (caught.value.kind, caught.value.status) == ("beyond_turns", 422)


def test_title_given_else_the_sources_and_201_is_422(tmp_path: Path) -> None:
    """`titled` entries are not copied; the title they gave is carried by the opening entry."""
    store = store_of(tmp_path, *turns(1))
    store.retitle(UID, "Renamed", now=NOW)
    store.archive(UID, now=NOW)
    made = store.record(clone(store, UID, by="u", now=LATER).uid)
    assert (made.title, made.archived) == ("Renamed", False)
    assert "titled" not in kinds(made.entries)
    with pytest.raises(SessionRefused, match="200") as caught:
        clone(store, UID, by="u", title="x" * 201, now=LATER)
    assert caught.value.status == 422
    assert store.record(clone(store, UID, by="u", title="", now=LATER).uid).title == "Question 1?"


def test_every_line_of_the_source_but_its_head_is_unchanged_to_the_byte(tmp_path: Path) -> None:
    """Also where it was written by another hand: spaces, key order, CRLF, no last newline."""
    text = (
        '{"record_type":"session", "format":"datalayer-session/1","uid":"quay-0001-tides","app":{"id":"harbor",'
        '"version":3},'
        '"agent":"surveyor","harness":null,"owner":{"uid":"u-own"},"state":"open","turns":1,"title":"T","archived":false,'
        '"lineage":{"forked_from":null,"imported_from":null},"kinds":[],"entries":2,"exported_at":"x","exported_by":'
        '{"uid":"u"},"redactions":0}\r\n  {"kind": "session","record_type":"entry","at":"x"}\r\n'
        '{"payload":{"asked":"\\u00e9", "n":1.0e1},"kind":"turn","at":"y","record_type":"entry"}'
    )
    (tmp_path / f"{UID}.session.jsonl").write_bytes(text.encode())
    store = Store(tmp_path)
    done = clone(store, UID, by="u", now=NOW)
    after = store.path(UID).read_bytes()
    kept = text.encode().split(b"\r\n", 1)[1]
    assert after.split(b"\n", 1)[1].startswith(kept + b"\n")
    assert len(after.split(b"\n", 1)[1].removeprefix(kept + b"\n").splitlines()) == 1
    assert store.record(done.uid).entries[0].payload == {"asked": "é", "n": 10.0}


def swap(second: int, to: str, harness: str | None) -> Any:
    """A change of agent."""
    return line("swapped", second, to=to, agent=to, harness=harness)


def test_cut_before_a_swap_the_agent_at_the_cut_goes_on(tmp_path: Path) -> None:
    """A to B after turn 1, B to C after turn 2: cut at 1 it is A, at 2 B, at 3 C; the record tells the same."""
    entries = [opening(), turn(1, 10), swap(11, "coder", "codex"), turn(2, 20), swap(21, "lens", "gemini"), turn(3, 30)]
    store = store_of(tmp_path, *entries, agent="lens", harness="gemini")
    led = [store.record(clone(store, UID, at_turn=n, by="u", now=NOW).uid) for n in (1, 2, 3)]
    assert [(one.agent, one.harness) for one in led] == [("surveyor", None), ("coder", "codex"), ("lens", "gemini")]
    assert [kinds(one.entries).count("swapped") for one in led] == [0, 1, 2]


def test_naming_the_agent_that_led_it_is_no_swap_and_without_applications_any_agent_is_taken(tmp_path: Path) -> None:
    """Another agent is swapped in without a harness that anybody knows."""
    store = store_of(tmp_path, *turns(1), harness="codex")
    same = clone(store, UID, by="u", agent="surveyor", now=NOW)
    assert (same.said, same.harness) == (None, "codex")
    other = store.record(clone(store, UID, by="u", agent="mate", now=NOW).uid)
    swapped = other.entries[-1].payload
    assert (other.agent, other.harness) == ("mate", None)
    assert (swapped["from_harness"], swapped["to_harness"]) == ("codex", None)
    assert swapped["dropped"] == {"allow_always": None, "harness_state": True}
    with pytest.raises(WrongUse):
        clone(store, UID, by="", now=NOW)


def test_a_harness_that_cannot_replay_makes_a_swapped_entry_of_the_same_agent(tmp_path: Path) -> None:
    """Nobody else was named; the sentence says why."""
    agents = {"coder": {"harness": "codex", "replays": False}}
    known = Applications({"harbor": {"version": 3, "agents": agents}})
    store = store_of(tmp_path, *turns(1), agent="coder", harness="codex")
    made = store.record(clone(store, UID, by="u", applications=known, now=NOW).uid)
    swapped = made.entries[-1]
    assert (swapped.kind, swapped.payload["from"], swapped.payload["to"]) == ("swapped", "coder", "coder")
    why, carried = "coder cannot replay what its harness did", "1 turn, 0 files and 0 rules carried over."
    assert swapped.summary == f"{why}; it goes on after turn 1: {carried}"


def test_what_a_swap_carries_is_counted_over_what_was_copied(tmp_path: Path) -> None:
    """Files before the cut, and rules in force wherever they stood; one taken back is none."""
    rules = [
        line("rule", 3, rule={"name": "a"}), line("rule", 25, rule={"name": "b"}), line("rule", 26, removed="a"),
    ]  # fmt: skip
    entries = [opening(), rules[0], line("file", 4, name="x"), turn(1, 10), line("file", 12, name="y"), *rules[1:]]
    store = store_of(tmp_path, *entries)
    done = clone(store, UID, by="u", agent="lens", applications=HARBOR, now=NOW)
    carried = store.record(done.uid).entries[-1].payload["carried"]
    assert carried == {"turns": 1, "files": 1, "rules": 1, "settings": []}


def test_a_clone_of_an_import_keeps_only_its_own_lineage(tmp_path: Path) -> None:
    """imported_from is null again; the chain is followed by uid."""
    store = Store(tmp_path)
    first = import_session(bytes_of(head(), entry("turn", asked="?")), store, by="u", now=NOW)
    done = clone(store, first.uid, by="u", now=LATER)
    lineage = json_lines(store.path(done.uid).read_bytes())[0]["lineage"]
    assert lineage == {"forked_from": {"uid": first.uid, "at_turn": 1}, "imported_from": None}
    assert store.record(done.uid).lineage.imported_from is None
    assert store.record(first.uid).lineage.imported_from is not None


def test_a_clone_of_a_clone_names_the_clone_and_the_first_stays_untouched(tmp_path: Path) -> None:
    """Each source gets one `cloned` entry for each clone of its own."""
    store = store_of(tmp_path, *turns(2))
    one = clone(store, UID, at_turn=1, by="u", now=NOW)
    before = raw_lines(store, UID)
    two = clone(store, one.uid, by="u", now=LATER)
    assert raw_lines(store, UID) == before
    forked = store.record(two.uid).lineage.forked_from
    assert forked is not None
    assert (forked.uid, forked.at_turn) == (one.uid, 1)
    assert kinds(store.record(one.uid).entries) == ["turn", "session", "cloned", "cloned"]
    assert store.record(one.uid).lineage.forked_from is not None


def test_clone_of_an_unknown_session_is_404_and_names_what_is_there(tmp_path: Path) -> None:
    """So is that of another person."""
    store = store_of(tmp_path, *turns(1))
    with pytest.raises(SessionRefused, match=f"there are: {UID}") as caught:
        clone(store, "quay-0002-other", by="u", now=NOW)
    assert (caught.value.kind, caught.value.status) == ("unknown_session", 404)
    with pytest.raises(SessionRefused):
        clone(Store(tmp_path, for_person="u-other"), UID, by="u-other", now=NOW)
