"""Datalayer sessions as records: what their files say, to the letter, or an error that says why not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import sessionlab as sl
from sessionlab.errors import LoadError, QueryError, UnknownName, WrongUse
from sessionlab.systems.datalayer.mapping import record_of, team_of
from tests.conftest import SAMPLES
from tests.formats import datalayer_files
from tests.systems.datalayer.mapped import corpus_of

EVERY_KIND = SAMPLES / "datalayer/every-kind/b7c1a94e-every-kind.session.jsonl"
TEAM = SAMPLES / "datalayer/team/exec-77.session.jsonl"


def lines(path: Path) -> list[dict[str, object]]:
    """The objects of a file, line by line."""
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "path",
    [EVERY_KIND, SAMPLES / "datalayer/clone/5d20-clone-at-two.session.jsonl"],
    ids=["every-kind", "clone"],
)
def test_record_of_a_session_file_is_its_lines(path: Path) -> None:
    """Head facts, kinds, times, summaries and payloads stand as in the file, in its order."""
    head, *entries = lines(path)
    record = record_of(sl.load(path, progress=False), str(head["uid"]))
    assert [(e.kind, e.at, e.summary, e.payload) for e in record.entries] == [
        (e["kind"], e["at"], e.get("summary", ""), e.get("payload", {})) for e in entries
    ]
    assert (record.uid, record.agent, record.harness) == (head["uid"], head["agent"], head["harness"])
    assert {"id": record.app.id, "version": record.app.version} == head["app"]
    assert (record.state, record.title, record.archived) == (head["state"], head["title"], head["archived"])
    assert ({"uid": record.owner}, record.turns, record.notes) == (head["owner"], head["turns"], ())


def test_gzip_file_is_read_again(tmp_path: Path) -> None:
    """A compressed file gives the same record as the plain one."""
    packed = tmp_path / "one.session.jsonl.gz"
    packed.write_bytes(gzip.compress(EVERY_KIND.read_bytes()))
    record = record_of(sl.load(packed, progress=False), "b7c1a94e-every-kind")
    assert record == record_of(corpus_of("datalayer/every-kind"), "b7c1a94e-every-kind")


def test_team_is_its_seats_in_order() -> None:
    """Team line, seats and the entries of each seat's session."""
    head = lines(TEAM)[0]
    team = team_of(sl.load(TEAM, progress=False), f"datalayer:team:{head['execution_id']}")
    seats = head["seats"]
    assert isinstance(seats, list)
    assert team.execution_id == head["execution_id"]
    assert {"id": team.team.id, "version": team.team.version} == head["team"]
    written = {line["uid"] for line in lines(TEAM) if line["record_type"] == "session"}
    there = [(seat["id"], seat["session_uid"]) for seat in seats if seat["session_uid"] in written]
    assert ([(seat.id, seat.record.uid) for seat in team.seats], team.state) == (there, head["state"])
    absent = [seat["id"] for seat in seats if seat["session_uid"] not in written]
    assert all(any(name in note for note in team.notes) for name in absent)
    counted = sum(line["record_type"] == "entry" for line in lines(TEAM))
    assert sum(len(seat.record.entries) for seat in team.seats) == counted


def test_one_seat_of_a_team_file_is_a_record_of_its_own() -> None:
    """The section of the team file that has the seat's uid."""
    corpus = sl.load(TEAM, progress=False)
    team = team_of(corpus, "datalayer:team:" + str(lines(TEAM)[0]["execution_id"]))
    for seat in team.seats:
        assert record_of(corpus, f"datalayer:{seat.record.uid}") == seat.record


def test_team_run_asked_as_one_session_is_wrong_use() -> None:
    """A team run has no record of its own: the message names the function that takes it."""
    head = lines(TEAM)[0]
    with pytest.raises(WrongUse, match="team_of"):
        record_of(sl.load(TEAM, progress=False), f"datalayer:team:{head['execution_id']}")


def test_single_session_asked_as_a_team_says_what_was_found() -> None:
    """A file of one session is no team file."""
    with pytest.raises(LoadError, match="expected a team file, found one session"):
        team_of(sl.load(EVERY_KIND, progress=False), "b7c1a94e-every-kind")


def test_file_that_is_gone_is_an_error_that_names_it(tmp_path: Path) -> None:
    """Nothing is made up in the place of a file that cannot be read again."""
    file = tmp_path / "one.session.jsonl"
    file.write_bytes(EVERY_KIND.read_bytes())
    corpus = sl.load(file, progress=False)
    file.unlink()
    with pytest.raises(LoadError, match=r"one\.session\.jsonl.*found none that can be read"):
        record_of(corpus, "b7c1a94e-every-kind")


def test_file_that_changed_since_the_load_is_an_error(tmp_path: Path) -> None:
    """The same size and another title: the record would not be what the tables tell."""
    file = tmp_path / "one.session.jsonl"
    file.write_bytes(EVERY_KIND.read_bytes())
    corpus = sl.load(file, progress=False)
    file.write_bytes(EVERY_KIND.read_bytes().replace(b"Tide tables, corrected", b"Tide tables, CORRECTED"))
    with pytest.raises(LoadError, match="expected the bytes that were loaded"):
        record_of(corpus, "b7c1a94e-every-kind")


def test_stream_cannot_be_read_again() -> None:
    """An open file is no path: the message says to load from one."""
    with EVERY_KIND.open("rb") as stream:
        corpus = sl.load(stream, progress=False)
    with pytest.raises(LoadError, match="load the session from its path"):
        record_of(corpus, "b7c1a94e-every-kind")


def test_raw_line_separators_are_read_as_the_tables_were(tmp_path: Path) -> None:
    """A file whose only fault is a raw U+2028 in a string is taken, split at LF."""
    payload = {"asked": "one\u2028two", "answered": "yes", "suggest_tests": False}
    entry = {"record_type": "entry", "kind": "turn", "at": datalayer_files.AT, "payload": payload}
    file = tmp_path / "one.session.jsonl"
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in (datalayer_files.head(turns=1), entry)) + "\n"
    file.write_bytes(text.encode())
    record = record_of(sl.load(file, progress=False), "abcd-1234")
    assert record.entries[0].payload["asked"] == "one\u2028two"


def test_corpus_without_bodies_cannot_tell_what_was_said() -> None:
    """The message says how to load."""
    corpus = sl.load(SAMPLES / "mecha/golden", bodies=False, progress=False)
    with pytest.raises(QueryError, match="bodies=True"):
        record_of(corpus, "20261003T081500-5e1d20aa")


def test_unknown_session_lists_what_there_is() -> None:
    """A name that means nothing is the error of every other question."""
    with pytest.raises(UnknownName, match="no session matching"):
        record_of(corpus_of("mecha/golden"), "nobody")
