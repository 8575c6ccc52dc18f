"""Nothing that is said is lost, and what was exported reads as what was recorded: over all samples."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sessionlab as sl
from sessionlab.corpus import Corpus
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer.export import export
from sessionlab.systems.datalayer.mapping import record_of, team_of
from sessionlab.systems.datalayer.mapping.head import uid_of
from sessionlab.systems.datalayer.mapping.lane import Lane
from sessionlab.systems.datalayer.mapping.material import AgentFacts, Outcome
from sessionlab.systems.datalayer.mapping.script import Script
from sessionlab.systems.datalayer.record import Record, facts
from tests.conftest import SAMPLES
from tests.systems.datalayer.mapped import corpus_of, of_kind, texts

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WOVEN = ("gg", "mecha", "claude_code", "corpus/gg", "corpus/mecha", "corpus/claude_code")
SAID = """
SELECT DISTINCT b.kind, b.text, coalesce(p.role, 'assistant')
FROM raw.blocks b
JOIN sources s ON s.source_id = b.source_id AND s.superseded_by IS NULL
LEFT JOIN raw.pools p ON p.source_id = b.source_id AND p.session_id = b.session_id AND p.pool = b.pool AND p.ix = b.ix
WHERE b.session_id = ? AND b.text <> '' AND b.kind IN ('text', 'thinking', 'result')
  AND (b.pool = 'response' OR b.pool = 'message' AND (b.source_id, b.ix) IN (
    SELECT (source_id, message_ix) FROM raw.entries WHERE message_ix IS NOT NULL
    UNION ALL SELECT (source_id, message_ix) FROM raw.windows WHERE message_ix IS NOT NULL
  ))
"""


def corpus(sample: str) -> Corpus:
    """One load per sample folder."""
    return corpus_of(sample)


@cache
def whole(sample: str, session: str) -> Record:
    """One whole record per session."""
    return record_of(corpus(sample), session, whole=True)


@cache
def seats(sample: str, session: str) -> list[Record]:
    """The whole records of a session's agents."""
    return [seat.record for seat in team_of(corpus(sample), session, whole=True).seats]


def sessions(sample: str) -> list[str]:
    """The ids of its sessions."""
    return [str(row[0]) for row in corpus(sample).sql("SELECT session_id FROM sessions ORDER BY 1").rows()]


@pytest.mark.parametrize("sample", WOVEN)
def test_everything_said_is_in_the_whole_record_and_at_some_seat(sample: str) -> None:
    """Every question, answer, thought and result of the pools, but system prompts and questions still open."""
    for session in sessions(sample):
        rows = corpus(sample).sql(SAID, [session]).rows()
        for records in ([whole(sample, session)], seats(sample, session)):
            held = "\0".join(text for record in records for entry in record.entries for text in texts(entry.payload))
            lost = [(kind, text) for kind, text, role in rows if role != "system" and text not in held]
            open_questions = sum("the last turn was still running" in note for r in records for note in r.notes)
            assert len(lost) <= open_questions, (session, lost)
            assert all(kind == "text" for kind, _ in lost)


@pytest.mark.parametrize("sample", WOVEN)
def test_every_tool_call_is_in_the_whole_record_and_at_some_seat(sample: str) -> None:
    """Id, tool and arguments of each row of `tool_calls`, once, in the record and in the team's records."""
    for session in sessions(sample):
        rows = corpus(sample).sql("SELECT call_id, name, arguments FROM tool_calls WHERE session_id = ?", [session])
        wanted = Counter((call, name, arguments or "") for call, name, arguments in rows.rows())
        record = whole(sample, session)
        assert wanted <= calls_of([record]), session
        assert calls_of([record]) == calls_of(seats(sample, session))


def calls_of(records: list[Record]) -> Counter[tuple[object, ...]]:
    """Id, tool and arguments of the tool calls of some records."""
    return Counter(
        (call.get("tool_call_id"), call["tool"], call["arguments"])
        for record in records
        for call in of_kind(record, "tool_call")
    )


@pytest.mark.parametrize("sample", WOVEN)
def test_head_agrees_with_what_its_entries_tell(sample: str) -> None:
    """State, turns, title, mark, agent, harness and lineage as section 10 derives them."""
    for session in sessions(sample):
        record = whole(sample, session)
        told = facts(record.entries)
        assert (told.state, told.turns, told.title) == (record.state, record.turns, record.title[:200])
        assert (told.archived, told.agent, told.harness) == (record.archived, record.agent, record.harness)
        assert told.lineage == record.lineage
        assert told.started is not None


@pytest.mark.parametrize("sample", ["gg/several-agents", "mecha/golden", "mecha/voices", "claude_code/session"])
def test_exported_calls_read_as_they_were_recorded(sample: str, tmp_path: Path) -> None:
    """Our own reader finds the same calls; a hook is a policy there, and no answer is nothing told."""
    [session] = sessions(sample)
    query = "SELECT name, status, refused_by, exit_code FROM tool_calls WHERE session_id = ?"
    record = record_of(corpus(sample), session)
    path = tmp_path / f"{record.uid}.session.jsonl"
    path.write_bytes(export(record, by="u-ana", now=NOW, redactor=Redactor()).data)
    again = sl.load(path, progress=False)
    recorded = Counter(
        (name, None if status == "unanswered" else status, "policy" if by == "hook" else by, code)
        for name, status, by, code in corpus(sample).sql(query, [session]).rows()
    )
    assert Counter(again.sql(query, [f"datalayer:{record.uid}"]).rows()) == recorded
    assert again.problems.filter(severity="loss").height == 0


@pytest.mark.parametrize("sample", ["mecha/golden", "claude_code/session"])
def test_exported_runs_end_as_they_were_recorded(sample: str, tmp_path: Path) -> None:
    """Completed runs are completed, interrupted ones interrupted; their turns have the questions."""
    [session] = sessions(sample)
    query = "SELECT stop_class FROM outcomes WHERE session_id = ? AND agent_id = 'root' ORDER BY run"
    record = record_of(corpus(sample), session)
    path = tmp_path / f"{record.uid}.session.jsonl"
    path.write_bytes(export(record, by="u-ana", now=NOW, redactor=Redactor()).data)
    again = sl.load(path, progress=False).sql(query, [f"datalayer:{record.uid}"]).rows()
    assert again == corpus(sample).sql(query, [session]).rows()


def test_record_of_a_narrowed_corpus_is_that_of_the_whole() -> None:
    """Narrowing to one session changes nothing of its record."""
    narrowed = corpus("mecha").where(native_id="20261003T081500-5e1d20aa")
    session = "mecha:20261003T081500-5e1d20aa"
    assert record_of(narrowed, session) == record_of(corpus("mecha"), session)


def test_owner_is_whom_the_caller_names() -> None:
    """No format but the own one records who opened a session."""
    record = record_of(corpus("mecha"), "20261003T081500-5e1d20aa", owner="u-ana")
    assert record.owner == "u-ana"


@given(st.text(max_size=140))
@settings(max_examples=60)
def test_uid_has_the_shape_of_one_whatever_the_session_is_called(native: str) -> None:
    """A native id that fits is kept; any other is 32 hexadecimal digits."""
    uid = uid_of(f"gg:{native}")
    allowed = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    if 8 <= len(native) <= 128 and set(native) <= allowed:
        assert uid == native
    else:
        assert len(uid) == 32
        assert set(uid) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("stop_class", "answered", "status"),
    [("completed", "Raked.", "answered"), ("interrupted", "Stopped: interrupted\n\nRaked.", "stopped")],
)
def test_run_cut_short_and_taken_up_again_ends_as_its_record_says(stop_class: str, answered: str, status: str) -> None:
    """An interruption on the way is no end: turn and output agree with the recorded one."""
    script = Script(whole=True)
    lane = Lane(script, AgentFacts("root"), main="root", is_timed=False)
    lane.enter(1, "t1")
    lane.ask("Rake.", "t1")
    lane.stop("interrupted")
    lane.say("Raked.", "t2")
    lane.close(Outcome(1, 2, "root", 1, "end_turn", stop_class, None), "t3", is_last=True)
    found = {line.kind: line.payload for line in script.lines()}
    assert (found["turn"]["answered"], found["output"]["status"]) == (answered, status)


def test_question_behind_one_cut_short_and_taken_up_again_finds_it_answered() -> None:
    """Interrupted, spoken to, answered, then asked the next: the first turn is no stopped one."""
    script = Script(whole=True)
    lane = Lane(script, AgentFacts("root"), main="root", is_timed=False)
    lane.enter(1, "t1")
    lane.ask("Rake.", "t1")
    lane.stop("interrupted")
    lane.say("Raked.", "t2")
    lane.ask("And sow.", "t3")
    assert [line.payload["answered"] for line in script.lines() if line.kind == "turn"] == ["Raked."]


def test_samples_stand_where_the_test_looks() -> None:
    """A sample folder that moved would make the properties above hold of nothing."""
    assert all((SAMPLES / sample).is_dir() and sessions(sample) for sample in WOVEN)
