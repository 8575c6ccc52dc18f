"""Every session of every sample, and of the real files, becomes a file that the importer's judge takes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import sessionlab as sl
from sessionlab.corpus import Corpus
from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer.export import export
from sessionlab.systems.datalayer.mapping import record_of, team_of
from sessionlab.systems.datalayer.teams import export_team
from tests.conftest import SAMPLES

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEAM = "datalayer:team:"
FORMATS = ("gg", "mecha", "claude_code", "datalayer")


def hold(corpus: Corpus) -> tuple[int, int]:
    """Export every session, and those of several agents as teams too; how many files of each sort were taken."""
    singles = teams = 0
    agents = "SELECT s.session_id, count(DISTINCT a.agent_id) FROM sessions s LEFT JOIN agents a USING (session_id)"
    for session, count in corpus.sql(f"{agents} GROUP BY ALL ORDER BY ALL").rows():
        is_team = session.startswith(TEAM)
        if not is_team:
            record = record_of(corpus, session)
            made = export(record, by="u-ana", now=NOW, redactor=Redactor())
            verdict = judge(made.data)
            assert isinstance(verdict, Accepted), (session, verdict)
            [section] = verdict.sections
            assert (section.head.entries, section.head.turns) == (len(record.entries), record.turns)
            singles += 1
        if is_team or (count > 1 and not session.startswith("datalayer:")):
            team = team_of(corpus, session)
            verdict = judge(export_team(team, by="u-ana", now=NOW, redactor=Redactor()).data, teams=True)
            assert isinstance(verdict, Accepted), (session, verdict)
            assert verdict.team is not None
            assert [seat.id for seat in verdict.team.seats] == [seat.id for seat in team.seats]
            teams += 1
    return singles, teams


@pytest.mark.parametrize("name", FORMATS)
def test_every_session_of_the_samples_exports(name: str) -> None:
    """The hand-made samples of each format, damaged ones included; refused files hold no session."""
    corpus = sl.load(SAMPLES / name, progress=False)
    singles, _ = hold(corpus)
    assert singles == corpus.sql("SELECT count(*) FROM sessions WHERE NOT starts_with(session_id, ?)", [TEAM]).item()


def test_every_session_of_the_made_corpus_exports() -> None:
    """The larger made corpus, all formats in one load: copies across files stand in the records that hold them."""
    singles, teams = hold(sl.load(SAMPLES / "corpus", progress=False))
    assert singles > 50
    assert teams > 0


def test_samples_with_several_agents_export_as_teams() -> None:
    """A gg run, Claude Code subagents and a team file."""
    folders = ("gg/several-agents", "claude_code/session", "datalayer/team")
    assert hold(sl.load(*(SAMPLES / folder for folder in folders), progress=False))[1] == 3


@pytest.mark.corpora
def test_every_real_session_exports(corpora: Path) -> None:
    """Real transcripts of every recorder that is read."""
    singles, _ = hold(sl.load(corpora, progress=False))
    assert singles > 20
