"""Every case of section 15, "Stores and listing" and "States", that shows in a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessionlab.errors import SessionRefused
from sessionlab.systems.datalayer.cloning import copied_entries, entries_up_to
from sessionlab.systems.datalayer.record import facts
from sessionlab.systems.datalayer.store import Store, entry_of
from tests.systems.datalayer.stored import (
    LATER,
    NO_LINEAGE,
    NOW,
    NOW_TEXT,
    UID,
    json_lines,
    kinds,
    line,
    opening,
    record,
    store_of,
    turn,
    turns,
)


def test_session_two_turns_paused_state_turns_opener_kept(tmp_path: Path) -> None:
    """Session, two turns, paused: state paused, 2 turns, who opened it is kept."""
    store = store_of(tmp_path, *turns(2), line("paused", 30, state="paused", cancelled={}))
    kept = store.record(UID)
    assert (kept.state, kept.turns, kept.owner) == ("paused", 2, "u-own")
    [listed] = store.sessions()
    assert (listed.state, listed.turns, listed.owner, listed.entries) == ("paused", 2, "u-own", 4)


def test_entries_up_to_turn_1_are_session_and_one_turn() -> None:
    """Entries up to turn 1: the session and one turn."""
    assert kinds(entries_up_to(turns(2), 1)) == ["session", "turn"]


def test_nothing_known_gives_nothing(tmp_path: Path) -> None:
    """A folder that is not there holds no session, and looking makes none."""
    store = Store(tmp_path / "none")
    assert store.sessions() == []
    with pytest.raises(SessionRefused, match="it holds none") as caught:
        store.record(UID)
    assert (caught.value.kind, caught.value.status) == ("unknown_session", 404)
    with pytest.raises(SessionRefused):
        store.append(UID, [turn(1, 1)])
    assert not (tmp_path / "none").exists()
    assert entries_up_to([], 3) == []


def test_copy_up_to_turn_2_with_a_tool_call_between_and_exported_at_the_end_is_three() -> None:
    """Turn, tool call, turn; the session entry and the exported one are not copied."""
    entries = [opening(), turn(1, 1), line("tool_call", 2, tool="ls"), turn(2, 3), line("exported", 4, by="u")]
    assert kinds(copied_entries(entries, 2)) == ["turn", "tool_call", "turn"]


def test_copy_onto_a_uid_in_use_is_409(tmp_path: Path) -> None:
    """A second session under a uid is refused, and the first stays as it was."""
    store = store_of(tmp_path, *turns(1))
    before = store.path(UID).read_bytes()
    with pytest.raises(SessionRefused, match=UID) as caught:
        store.add(record(*turns(2), owner="u-other"))
    assert (caught.value.kind, caught.value.status) == ("uid_in_use", 409)
    assert store.path(UID).read_bytes() == before


def test_lineage_of_a_record_without_a_session_entry_is_both_null(tmp_path: Path) -> None:
    """It tells no lineage; and it is not a session that can be kept and listed."""
    entries = [turn(1, 1), turn(2, 2)]
    told = facts(entries)
    assert (told.lineage.forked_from, told.lineage.imported_from, told.started) == (None, None, None)
    with pytest.raises(SessionRefused) as caught:
        Store(tmp_path).add(record(*entries))
    assert (caught.value.kind, caught.value.status) == ("no_session_entry", 422)
    assert list(tmp_path.iterdir()) == []


def test_created_at_is_read_as_at(tmp_path: Path) -> None:
    """Rows of a record store: `at`, else `created_at`, else the time now; ids have no place in the file."""
    rows: list[dict[str, object]] = [
        {
            "kind": "turn",
            "created_at": "2026-01-02T03:04:05Z",
            "payload": {"asked": "Why?"},
            "session_uid": UID,
            "id": 7,
        },
        {"kind": "run", "at": "2026-01-02T03:04:06Z", "created_at": "2020-01-01T00:00:00Z", "summary": None},
    ]
    store = store_of(tmp_path, opening())
    store.append(UID, rows)
    added = json_lines(store.path(UID).read_bytes())[2:]
    assert added == [
        {
            "record_type": "entry",
            "kind": "turn",
            "at": "2026-01-02T03:04:05Z",
            "summary": "",
            "payload": {"asked": "Why?"},
        },
        {"record_type": "entry", "kind": "run", "at": "2026-01-02T03:04:06Z", "summary": "", "payload": {}},
    ]
    assert entry_of({"kind": "turn", "payload": None}, now=NOW).at == NOW_TEXT


def test_archived_sessions_are_hidden_unless_asked_for(tmp_path: Path) -> None:
    """Put away: no longer listed, still read; taken back: listed again."""
    store = store_of(tmp_path, *turns(1))
    assert store.archive(UID, now=NOW).archived
    assert store.sessions() == []
    assert [one.uid for one in store.sessions(archived=True)] == [UID]
    assert store.record(UID).archived
    store.archive(UID, archived=False, now=LATER)
    assert [one.uid for one in store.sessions()] == [UID]


def test_a_title_of_201_is_422_and_one_of_200_is_taken(tmp_path: Path) -> None:
    """The longest title has 200 code points."""
    store = store_of(tmp_path, *turns(1))
    before = store.path(UID).read_bytes()
    with pytest.raises(SessionRefused, match="201") as caught:
        store.retitle(UID, "é" * 201, now=NOW)
    assert (caught.value.kind, caught.value.status) == ("title_too_long", 422)
    assert store.path(UID).read_bytes() == before
    assert store.retitle(UID, "é" * 200, now=NOW).title == "é" * 200


def test_the_first_questions_first_line_cut_at_60_is_the_title_until_one_is_given(tmp_path: Path) -> None:
    """Blank lines before it do not count; a title that is given replaces it."""
    store = store_of(tmp_path, opening())
    assert store.record(UID).title == ""
    store.append(UID, [line("turn", 1, asked="\n  \n " + "abcdefghij" * 7 + "\nsecond", answered="")])
    assert store.record(UID).title == "abcdefghij" * 6
    store.append(UID, [turn(2, 2)])
    assert store.record(UID).title == "abcdefghij" * 6
    assert store.retitle(UID, "Given", now=NOW).title == "Given"
    store.append(UID, [turn(3, 3)])
    assert (store.record(UID).title, store.sessions()[0].title) == ("Given", "Given")


def test_title_and_archive_each_write_a_titled_entry_with_both_members(tmp_path: Path) -> None:
    """The one carries the other's value along."""
    store = store_of(tmp_path, *turns(1))
    store.retitle(UID, "Soundings", now=NOW)
    store.archive(UID, now=LATER)
    titled = [one for one in json_lines(store.path(UID).read_bytes()) if one.get("kind") == "titled"]
    assert [one["payload"] for one in titled] == [
        {"title": "Soundings", "archived": False},
        {"title": "Soundings", "archived": True},
    ]
    assert [one["at"] for one in titled] == [NOW_TEXT, "2026-10-06T10:30:15.000250Z"]


def test_another_persons_session_is_404(tmp_path: Path) -> None:
    """It is not listed, not named, not read and not changed; its owner has it."""
    store_of(tmp_path, *turns(1))
    theirs, other = Store(tmp_path, for_person="u-own"), Store(tmp_path, for_person="u-other")
    assert theirs.record(UID).turns == 1
    assert other.sessions() == []
    for ask in (other.record, lambda uid: other.retitle(uid, "Mine"), lambda uid: other.append(uid, [turn(2, 2)])):
        with pytest.raises(SessionRefused, match="it holds none") as caught:
            ask(UID)
        assert caught.value.status == 404
    assert theirs.record(UID).turns == 1


def test_the_opening_entry_has_exactly_eight_members(tmp_path: Path) -> None:
    """app, state, agent, harness, runs_on, title, archived, lineage: as added, so kept."""
    store = store_of(tmp_path, *turns(1))
    payload = json_lines(store.path(UID).read_bytes())[1]["payload"]
    assert list(payload) == ["app", "state", "agent", "harness", "runs_on", "title", "archived", "lineage"]


def test_open_paused_open_again_ended_is_derived_ended(tmp_path: Path) -> None:
    """`ended.by` is `end`; `paused.cancelled` is empty when nothing ran."""
    store = store_of(tmp_path, *turns(1))
    states = [store.record(UID).state, store.pause(UID, now=NOW).state]
    states += [store.append(UID, [opening(90, resumed=True)]).state, store.end(UID, now=LATER).state]
    assert states == ["open", "paused", "open", "ended"]
    lines = json_lines(store.path(UID).read_bytes())
    assert [one["payload"] for one in lines if one.get("kind") == "paused"] == [{"state": "paused", "cancelled": {}}]
    assert lines[-1]["payload"] == {"state": "ended", "by": "end"}
    assert lines[0]["state"] == "ended"


def test_state_stopped_is_refused_with_the_list_of_states_in_a_query_and_in_a_record(tmp_path: Path) -> None:
    """Never a default: the query is refused, the entry is not taken, and a file that has one is not listed."""
    store = store_of(tmp_path, *turns(1))
    with pytest.raises(SessionRefused, match="open, paused, ended") as query:
        store.sessions(state="stopped")
    with pytest.raises(SessionRefused, match="open, paused, ended") as entry:
        store.append(UID, [line("paused", 50, state="stopped")])
    assert (query.value.status, entry.value.status) == (422, 422)
    text = store.path(UID).read_text().replace('"runs_on"', '"x"')
    bad = json.dumps({"record_type": "entry", "kind": "ended", "at": "x", "payload": {"state": "stopped"}})
    (tmp_path / f"{UID}.session.jsonl").write_text(text + bad + "\n")
    with pytest.raises(SessionRefused, match="open, paused, ended"):
        store.record(UID)
    listing = store.listing()
    assert listing.sessions == []
    assert [(name, "stopped" in why) for name, why in listing.skipped] == [(f"{UID}.session.jsonl", True)]


def test_a_graceful_stop_writes_one_paused_entry_per_open_session_once(tmp_path: Path) -> None:
    """Stopping again writes nothing more; paused and ended sessions are left alone."""
    store = Store(tmp_path)
    for uid, last in (("open-0001", ()), ("open-0002", ()), ("ended-001", (line("ended", 9, state="ended", by="x"),))):
        store.add(record(*turns(1), *last, uid=uid))
    store.archive("open-0002", now=NOW)
    assert sorted(store.pause_open(now=NOW)) == ["open-0001", "open-0002"]
    assert store.pause_open(now=LATER) == []
    store.pause("open-0001", now=LATER)
    found = {uid: kinds(store.record(uid).entries).count("paused") for uid in ("open-0001", "open-0002", "ended-001")}
    assert found == {"open-0001": 1, "open-0002": 1, "ended-001": 0}
    with pytest.raises(SessionRefused) as caught:
        store.pause("ended-001", now=NOW)
    assert (caught.value.kind, caught.value.status) == ("ended", 409)
    assert store.record("open-0001").lineage == NO_LINEAGE
