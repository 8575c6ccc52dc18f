"""Team files: written from seats and their sessions, judged, read into sessions and agents, refused by the importer."""

from __future__ import annotations

import io
from typing import Any

import pytest

import sessionlab
from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import EntryLine, ForkedExecution, Team, TeamLineage
from sessionlab.formats.datalayer.judge import Accepted, Refusal, judge
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer import Exported, Seat, TeamRecord, check, export_team, record_of_team
from tests.systems.datalayer.written import BY, MEBI, NOW, NOW_WRITTEN, line, lines_of, opening, record, run, taken


def team_of(*seats: tuple[str, list[EntryLine]], **changed: Any) -> TeamRecord:
    """A team run whose seats have these ids and entries."""
    made = [
        Seat(id=name, record=record(*entries, uid=f"{name}-0001", harness=None)) for name, entries in seats
    ]  # fmt: skip
    facts: dict[str, Any] = {
        "execution_id": "exec/9", "team": Team(id="pilots", version="2.1"), "owner": "u-own", "state": "ended",
        "seats": made, "lineage": TeamLineage(forked_from=None, imported_from=None),
    }  # fmt: skip
    return TeamRecord(**{**facts, **changed})


def written(team: TeamRecord) -> Exported:
    """The team file by the exact rules."""
    return export_team(team, by=BY, now=NOW, redactor=Redactor())


TWO = team_of(("lead", [opening(harness=None), *run("go", line("tool_call", token="t"))]), ("scout", run("look")))


def test_the_team_line_comes_first_then_each_seat_with_its_entries() -> None:
    """Seats in order, each session line followed by its entries; every line counts its own."""
    file = written(TWO)
    lines = lines_of(file)
    assert lines[0] == {
        "record_type": "team_session", "format": "datalayer-session/1", "execution_id": "exec/9",
        "team": {"id": "pilots", "version": "2.1"}, "owner": {"uid": "u-own"}, "state": "ended",
        "seats": [
            {"id": "lead", "session_uid": "lead-0001", "agent": "surveyor", "harness": None},
            {"id": "scout", "session_uid": "scout-0001", "agent": "surveyor", "harness": None},
        ],
        "lineage": {"forked_from": None, "imported_from": None}, "exported_at": NOW_WRITTEN,
        "exported_by": {"uid": "u-exp"}, "redactions": 1,
    }  # fmt: skip
    assert list(lines[0]) == [
        "record_type", "format", "execution_id", "team", "owner", "state", "seats", "lineage", "exported_at",
        "exported_by", "redactions",
    ]  # fmt: skip
    assert [(entry["record_type"], entry.get("uid"), entry.get("redactions")) for entry in lines[1:]] == [
        ("session", "lead-0001", 1), *[("entry", None, None)] * 5, ("session", "scout-0001", 0),
        *[("entry", None, None)] * 3,
    ]  # fmt: skip
    assert (file.turns, file.entries, file.redactions, file.uid) == (2, 8, 1, "exec/9")
    assert file.file_name == "exec-9.session.jsonl"
    assert [tuple(finding) for finding in file.findings] == [("bearer_token", "line 5.payload.token", 1)]


def test_a_team_file_is_taken_seat_by_seat_and_refused_as_a_session() -> None:
    """`check` takes it; the importer of single sessions refuses it in its sentence."""
    file = written(TWO)
    assert len(taken(file.data).sections) == 2
    verdict = check(file.data)
    assert (verdict.kind, verdict.sessions, verdict.turns, verdict.entries) == ("team", 2, 2, 8)
    refused = judge(file.data)
    assert isinstance(refused, Refusal)
    assert (refused.name, refused.status) == ("team_refusal", 422)
    assert refused.sentence.startswith("This file starts with a team session:")


def test_a_team_file_is_read_into_sessions_and_agents() -> None:
    """The run is a session with an agent per seat; each seat's session is linked to it."""
    corpus = sessionlab.load(io.BytesIO(written(TWO).data))
    assert corpus.sql("SELECT session_id FROM sessions ORDER BY 1").rows() == [
        ("datalayer:lead-0001",), ("datalayer:scout-0001",), ("datalayer:team:exec/9",),
    ]  # fmt: skip
    agents = "SELECT agent_id FROM agents WHERE session_id = 'datalayer:team:exec/9' ORDER BY ordinal"
    assert corpus.sql(agents).rows() == [("lead",), ("scout",)]
    links = "SELECT session_id, other_session_id, relation FROM links ORDER BY 1"
    assert corpus.sql(links).rows() == [
        ("datalayer:lead-0001", "datalayer:team:exec/9", "seat_of"),
        ("datalayer:scout-0001", "datalayer:team:exec/9", "seat_of"),
    ]


def test_a_team_file_is_written_again_the_same() -> None:
    """Written, read back, written again: the same bytes but for the redactions."""
    first = written(TWO)
    judged = judge(first.data, teams=True)
    assert isinstance(judged, Accepted)
    assert judged.team is not None
    again = written(record_of_team(judged.team, judged.sections))
    assert again.data == first.data.replace(b'"redactions": 1', b'"redactions": 0')


def test_a_team_keeps_where_its_run_comes_from() -> None:
    """`forked_from` names the run it was made of."""
    lineage = TeamLineage(forked_from=ForkedExecution(execution_id="exec-1"), imported_from=None)
    head = lines_of(written(team_of(("lead", []), lineage=lineage)))[0]
    assert head["lineage"] == {"forked_from": {"execution_id": "exec-1"}, "imported_from": None}


def test_a_team_without_seats_is_refused_in_the_sentence_of_the_format() -> None:
    """No seat, no file."""
    with pytest.raises(SessionRefused, match="A team session line names its seats, in order") as refused:
        written(team_of())
    assert (refused.value.kind, refused.value.status) == ("team_without_seats", 422)


def test_seats_that_cannot_be_told_apart_are_refused() -> None:
    """Two seats of one id, and one session at two seats."""
    with pytest.raises(SessionRefused, match="seats names the seat 'lead' more than once"):
        written(team_of(("lead", []), ("scout", []), seats=[_seat("lead", "u-000001"), _seat("lead", "u-000002")]))
    with pytest.raises(SessionRefused, match="The session u-000001 sits at 2 seats"):
        written(team_of(seats=[_seat("lead", "u-000001"), _seat("scout", "u-000001")]))


def _seat(name: str, uid: str) -> Seat:
    return Seat(id=name, record=record(uid=uid))


def test_the_caps_hold_for_the_whole_file() -> None:
    """Every line after the team line counts, session lines too; bytes are those of the file."""
    assert written(team_of(("lead", [line("run")] * 9_999), ("scout", [line("run")] * 9_999))).entries == 19_998
    with pytest.raises(SessionRefused, match="The file has 20 001 entries over 2 MB;"):
        written(team_of(("lead", [line("run")] * 9_999), ("scout", [line("run")] * 10_000)))
    half = [line("run", "x" * (32 * MEBI))]
    with pytest.raises(SessionRefused, match="The file has 4 entries over 64 MB;"):
        written(team_of(("lead", half), ("scout", half)))
