"""What a record tells of its session (section 10), and records made of files."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import EntryLine, ForkedFrom, ImportedFrom
from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.systems.datalayer import facts, known_state, record_of_section, record_of_team
from tests.formats.datalayer_files import AT, DIGEST, accepted, bytes_of, entry, head, team
from tests.systems.datalayer.written import line, opening, turn


def test_no_entries_tell_nothing() -> None:
    """A record of nothing is open, of no turns, and cannot be listed: it never started."""
    told = facts([])
    assert (told.state, told.turns, told.title, told.archived, told.agent) == ("open", 0, "", False, "")
    assert (told.harness, told.started, told.runs_on) == (None, None, None)
    assert (told.lineage.forked_from, told.lineage.imported_from) == (None, None)


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ([opening()], "open"),
        ([opening(state="paused")], "paused"),
        ([line("session")], "open"),
        ([opening(state=None)], "open"),
        ([opening(), line("paused", state="paused")], "paused"),
        ([opening(), line("paused")], "open"),
        ([opening(), line("ended", state="ended", by="end"), turn()], "ended"),
        ([opening(), line("ended", state="ended"), opening(resumed=True)], "open"),
        ([turn()], "open"),
    ],
)
def test_state_is_of_the_last_entry_that_states_one(entries: list[EntryLine], state: str) -> None:
    """Of the last among session, paused and ended; absent means open, and open where there is none."""
    assert facts(entries).state == state


@pytest.mark.parametrize("stated", ["stopped", "", "Open", 1, ["open"], False])
def test_an_unknown_state_is_an_error(stated: Any) -> None:
    """Another value than the three is never a default: the sentence lists them."""
    with pytest.raises(SessionRefused, match="one of the states open, paused, ended") as refused:
        facts([opening(), line("paused", state=stated)])
    assert (refused.value.kind, refused.value.status) == ("unknown_state", 422)


def test_known_states_pass() -> None:
    """The three states are themselves."""
    assert [known_state(state, "here") for state in ("open", "paused", "ended")] == ["open", "paused", "ended"]


def test_turns_are_counted() -> None:
    """Every `turn` entry counts, a stopped one too."""
    assert facts([turn(), line("run"), turn("x", "Stopped: y")]).turns == 2


@pytest.mark.parametrize(
    ("entries", "title"),
    [
        ([opening(title="First"), opening(title="Second")], "First"),
        ([opening(), line("titled", title="Named", archived=False)], "Named"),
        ([opening(), line("titled", title="Named"), line("titled", archived=True)], "Named"),
        ([line("titled", title="x" * 201), opening()], "x" * 200),
        ([opening(title="y" * 300)], "y" * 200),
        ([opening(title=""), turn(" \n  How high\u2028is it?\n")], "How high"),
        ([opening(title=""), turn("q" * 61)], "q" * 60),
        ([opening(title=5), line("turn", asked=None)], ""),
        ([opening(), line("titled", title="")], ""),
    ],
)
def test_the_title_is_of_the_last_titled_entry(entries: list[EntryLine], title: str) -> None:
    """Else of the first session entry, cut at 200; one nobody gave is the first question's first line, cut at 60."""
    assert facts(entries).title == title


def test_the_archive_mark_is_of_the_last_titled_entry_that_says_it() -> None:
    """Else of the first session entry."""
    assert facts([opening(archived=True)]).archived is True
    assert facts([opening(), line("titled", title="x", archived=True), line("titled", title="y")]).archived is True
    assert facts([opening(archived=True), line("titled", title="x", archived=False)]).archived is False


@pytest.mark.parametrize(
    ("swap", "agent", "harness"),
    [
        ({"agent": "a2", "to": "a3", "harness": "h2", "to_harness": "h3"}, "a2", "h2"),
        ({"from": "surveyor", "to": "a3", "to_harness": "h3"}, "a3", "h3"),
        ({"agent": "a2", "harness": None}, "a2", None),
        ({"agent": "a2"}, "a2", None),
        ({"said": "nothing"}, "surveyor", "codex"),
    ],
)
def test_agent_and_harness_are_of_the_last_swap(swap: dict[str, Any], agent: str, harness: str | None) -> None:
    """`agent` else `to`, `harness` else `to_harness`; a swap that names no agent tells nothing."""
    told = facts([opening(), line("swapped", agent="earlier", harness="older"), line("swapped", **swap)])
    expected = (agent, harness) if "said" not in swap else ("earlier", "older")
    assert (told.agent, told.harness) == expected
    assert (facts([opening()]).agent, facts([opening(harness="")]).harness) == ("surveyor", None)


def test_lineage_is_of_the_first_session_entry_and_of_what_follows() -> None:
    """A `cloned` entry with `from` sets where it was forked from, an `imported` one where it was imported from."""
    imported = {"digest": DIGEST, "exported_at": "2026-10-04T00:00:00Z", "exported_by": "u-exp"}
    stated = {"forked_from": {"uid": "first-uid", "at_turn": 1}, "imported_from": imported}
    read = ImportedFrom(digest=DIGEST, exported_at="2026-10-04T00:00:00Z", exported_by="u-exp")
    told = facts([opening(lineage=stated), opening(lineage=None)]).lineage
    assert (told.forked_from, told.imported_from) == (ForkedFrom(uid="first-uid", at_turn=1), read)
    own_clone = line("cloned", to="other-uid", at_turn=9)
    told = facts([opening(), own_clone, line("cloned", at_turn=2, **{"from": "src-uid"})]).lineage
    assert (told.forked_from, told.imported_from) == (ForkedFrom(uid="src-uid", at_turn=2), None)
    told = facts([opening(), line("imported", **imported, redactions=3, source_uid="s")]).lineage
    assert (told.forked_from, told.imported_from) == (None, read)


@pytest.mark.parametrize(
    "lineage",
    [
        "x", {"forked_from": "x", "imported_from": []}, {"forked_from": {"uid": "", "at_turn": 1}},
        {"forked_from": {"uid": "a", "at_turn": -1}}, {"forked_from": {"uid": "a", "at_turn": True}},
        {"forked_from": {"uid": "a\ud800", "at_turn": 1}},
        {"imported_from": {"digest": "sha256:0", "exported_at": "x", "exported_by": "y"}},
        {"imported_from": {"digest": DIGEST, "exported_at": "", "exported_by": "y"}},
    ],
)  # fmt: skip
def test_a_lineage_that_no_head_could_say_is_none(lineage: Any) -> None:
    """Payloads are open: what is not of the head's shape sets nothing."""
    told = facts([opening(lineage=lineage)]).lineage
    assert (told.forked_from, told.imported_from) == (None, None)


def test_started_and_where_it_runs() -> None:
    """`at` of the first session entry; `runs_on` of the last session entry that has one, null once it ended."""
    entries = [turn(), line("session", at="2026-01-02T00:00:00Z", runs_on={"kind": "pod"}), opening(runs_on=None)]
    told = facts(entries)
    assert (told.started, told.runs_on) == ("2026-01-02T00:00:00Z", {"kind": "pod"})
    assert facts([*entries, line("ended", state="ended")]).runs_on is None


def test_a_record_of_a_file_has_its_heads_facts() -> None:
    """Each fact is the head's, whatever the entries tell; an empty harness is none."""
    lineage = {"forked_from": {"uid": "u-source", "at_turn": 2}, "imported_from": None}
    lines = head(turns=7, harness="", state="ended", archived=True, title="T", lineage=lineage), entry("turn")
    made = record_of_section(accepted(*lines).sections[0])
    assert (made.uid, made.app.id, made.app.version, made.agent) == ("abcd-1234", "harbor", 3, "surveyor")
    assert (made.harness, made.owner, made.state, made.turns) == (None, "u-own", "ended", 7)
    assert (made.title, made.archived, made.lineage.forked_from) == ("T", True, ForkedFrom(uid="u-source", at_turn=2))
    assert [(line.kind, line.at) for line in made.entries] == [("turn", AT)]


def test_a_team_record_of_a_file_has_its_seats_in_order() -> None:
    """Seats stand in the team line's order; one whose session is not in the file is told."""
    verdict = judge(bytes_of(team(), head(uid="scout-001", agent="lookout")), teams=True)
    assert isinstance(verdict, Accepted)
    assert verdict.team is not None
    made = record_of_team(verdict.team, verdict.sections)
    assert [(seat.id, seat.record.uid) for seat in made.seats] == [("scout", "scout-001")]
    assert made.notes == ("seat 'lead' has no session in the file",)
    assert (made.execution_id, made.team.version, made.owner, made.state) == ("exec-9", "2.1", "u-own", "open")
