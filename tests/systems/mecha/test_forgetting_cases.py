"""The cases of mecha 18.9 that are about deleting, each a test of its name, on an invented home."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from sessionlab.errors import SessionlabError, UnknownName, WrongUse
from sessionlab.systems.mecha import Store, TranscriptGone, TranscriptWriter
from sessionlab.systems.mecha.forgetting import STEPS, Graph, forget, places, unfinished
from tests.systems.mecha.forgetting.home import (
    CANARY,
    GONE,
    OLD_RULE,
    OTHER_REFLECTION,
    OWN_RULE,
    REFLECTION,
    SHARED_RULE,
    SLOT,
    STAYS,
    AnsweringGraph,
    delete,
    graph_program,
    holding,
    no_graph,
    row,
    seeded,
    small,
    transcript,
    write,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the mecha home is to be."""
    return tmp_path / "home"


def test_full_walk_leaves_no_trace_and_nothing_else_touched(home: Path) -> None:
    """No name and no byte holds the id, what was said, the reflection or the draft; the other session stays."""
    where = seeded(home)
    assert len(holding(home, GONE)) >= 30
    assert len(holding(home, CANARY)) >= 20
    kept = (home / "sessions" / f"{STAYS}.jsonl").read_bytes()
    report = delete(where)
    assert (report.complete, report.errors, report.traces) == (True, [], [])
    for needle in (GONE, CANARY, REFLECTION, "draft-heron", "ask-heron"):
        assert holding(home, needle) == []
    assert (home / "sessions" / f"{STAYS}.jsonl").read_bytes() == kept
    assert not (home / "work" / "web" / "heron").exists()
    assert [one.id for one in Store(where.sessions).listing().sessions] == [STAYS]


STILL = [
    ("appraisals/appraisals.jsonl", "not json at all"),
    ("appraisals/appraisals.jsonl", '{"session_id":"' + STAYS + '","score":1e-1,"later":{"a":[]}}'),
    ("appraisals/scores.jsonl", STAYS),
    ("closures/closures.jsonl", '{"task": "t1", "sessions": ["' + STAYS + '"], "cost": 0.50}'),
    ("comparisons/comparisons.jsonl", '"c-c"'),
    ("learning/artifact-probes/p3.json", OTHER_REFLECTION),
    ("learning/distilled.jsonl", STAYS),
    ("learning/harness/candidates/c1.json", STAYS),
    ("learning/logs/nightly.log", "reflect: 2 sessions"),
    ("learning/mined.jsonl", STAYS),
    ("learning/mined_outbox.jsonl", "draft-wren"),
    ("learning/proposals/both.json", SHARED_RULE),
    ("learning/proposals/other.json", OTHER_REFLECTION),
    ("learning/reflections.jsonl", '"reflexion_text": "Be brief.", "later": 1.0}'),
    ("learning/reflections.jsonl", "{torn"),
    ("learning/validation-attempts.jsonl", OTHER_REFLECTION),
    ("learning/validations.jsonl", OTHER_REFLECTION),
    ("mail-triage/thread.json", '"verdict":"reply","n":1.0'),
    ("messages/.agents/" + STAYS + ".json", "{}"),
    ("messages/hermes/other.json", '"later":true'),
    ("outbox/draft-wren.json", STAYS),
    ("outbox/forecasts/forecasts.jsonl", '"p":7.50E-1,"later":[1,2.0]'),
    ("questions/ask-wren.json", STAYS),
    ("regression-sessions.txt", STAYS),
    ("requests/9-meeting.json", '"weight": 1.50, "triage_session": null,\n "outbox": ["draft-wren"], "x": 1e2}'),
    ("scene/index/wren.json", STAYS),
    ("sessions/.archived/" + STAYS, "2026-10-04T09:00:00+00:00"),
    ("sessions/.marks/marks.jsonl", STAYS),
    ("sessions/" + STAYS + ".prompts.jsonl", "an ordinary afternoon"),
    ("sessions/" + STAYS + ".scene.json", "an ordinary afternoon"),
    ("slack/threads/C1-2.json", STAYS),
    ("spill/" + STAYS + "/out-2.txt", "an ordinary afternoon"),
    ("spill/web/wren/out-1.txt", "an ordinary afternoon"),
    ("triggers/runs.jsonl", '{"trigger":"briefing","slot":"' + SLOT + '","took":2.0}'),
    ("work/web/wren/inbox/photo.txt", "an ordinary afternoon"),
    ("workflows/weekly.json", '"session_id": null, "cost": 0.10,'),
    ("workflows/weekly.json", '{"kind": "started", "detail": ""}, {"kind": "note", "detail": "kept"}'),
    ("workflows/weekly.json", '"outbox": ["draft-wren"], "questions": ["ask-wren"]'),
]


def test_kept_rows_stay_with_their_unknown_members_as_they_were_written(home: Path) -> None:
    """Every store still says what the other session left there, to the byte; the trigger row keeps its slot."""
    delete(seeded(home))
    for path, text in STILL:
        assert text in (home / path).read_text(), path


def test_sole_source_rule_gone_shared_rule_keeps_the_other_rule_without_sources_untouched(home: Path) -> None:
    """What a rule rests on decides: alone it goes and is not retired, shared it loses a source, unsourced it stays."""
    delete(seeded(home))
    learned = (home / "learning" / "rules" / "behavior.learned.toml").read_text()
    assert tomllib.loads(learned) == {
        "rules": [
            {"text": SHARED_RULE, "id": "r-both", "weight": 1.5, "sources": [OTHER_REFLECTION]},
            {"text": OLD_RULE, "id": "r-old"},
        ]
    }
    assert learned.startswith("# what was learned\n\n[[rules]]\n")
    assert "weight = 1.50 # as measured" in learned
    assert "retired" not in learned
    assert OWN_RULE in (home / "learning" / "rules" / "behavior.user.toml").read_text()


def test_proposals_lose_support_and_go_with_the_last_of_it(home: Path) -> None:
    """A proposal argued only from the session goes; in the others, also those never argued from it, rules lose it."""
    delete(seeded(home))
    proposals = home / "learning" / "proposals"
    assert not (proposals / "alone.json").exists()
    rule = {"text": SHARED_RULE, "sources": [OTHER_REFLECTION]}
    both = {"id": "both", "reflexion_ids": [OTHER_REFLECTION], "rules": [rule], "rules_before": []}
    assert json.loads((proposals / "both.json").read_text()) == both
    assert json.loads((proposals / "other.json").read_text())["rules_before"] == []


def test_graph_fails_keeps_the_transcript_aside_and_the_second_run_completes(home: Path, tmp_path: Path) -> None:
    """Not complete, `graph:`; the draft keeps its mined mark, the ledger its line; the same command finishes."""
    where = seeded(home)
    program = graph_program(tmp_path / "bin", code=3, words="database is locked")
    first = delete(where, graph=Graph(str(program)))
    assert not first.complete
    assert first.errors[0] == f"graph: {program} ended with code 3: database is locked"
    assert (where.sessions / f"{GONE}.jsonl.forgetting").exists()
    assert [one.id for one in Store(where.sessions).listing().sessions] == [STAYS]
    assert (home / "outbox" / "draft-heron.json").exists()
    assert "draft-heron" in (home / "learning" / "mined_outbox.jsonl").read_text()
    assert GONE in (home / "learning" / "distilled.jsonl").read_text()
    assert unfinished(where.sessions) == [GONE]
    assert not any("distilled.jsonl" in sentence for sentence in first.residue)
    second = delete(where)
    assert (second.complete, unfinished(where.sessions), holding(home, GONE)) == (True, [], [])


def test_graph_program_is_called_as_specified(home: Path, tmp_path: Path) -> None:
    """Source `agent:mecha`, the id, vacuum, tombstone-absent; and the tombstone it keeps is said."""
    graph_program(tmp_path / "bin")
    report = delete(seeded(home), graph=Graph(str(tmp_path / "bin" / "mecha-graph")))
    called = (tmp_path / "bin" / "calls").read_text()
    assert called == f"redact --source agent:mecha --source-id {GONE} --vacuum --tombstone-absent\n"
    assert any("tombstone" in sentence and "backups" in sentence for sentence in report.kept)


def test_graph_absent_but_session_distilled_is_not_complete(home: Path) -> None:
    """No graph is an answer only when nothing was ever given to one."""
    report = delete(seeded(home), graph=no_graph())
    assert not report.complete
    assert any(error.startswith("graph: this session was distilled") for error in report.errors)


def test_graph_absent_and_session_never_distilled_is_complete_and_said(home: Path) -> None:
    """A home without a graph forgets, and says that none was asked."""
    report = delete(small(home), graph=no_graph())
    assert report.complete
    assert any("no knowledge graph was asked" in sentence for sentence in report.kept)


def test_workspace_shared_by_two_sessions_is_kept_and_said(home: Path) -> None:
    """The other conversation's files stay, and the report says with how many it is shared."""
    main = home / "work" / "web" / "main"
    where = small(home, main)
    transcript(home, STAYS, main, "later, the same key")
    write(main / "notes.txt", "of the other one")
    write(home / "spill" / "web" / "main" / "out.txt", "of either")
    report = delete(where)
    assert report.complete
    assert (main / "notes.txt").exists()
    assert (home / "spill" / "web" / "main" / "out.txt").exists()
    assert any("is shared with 1 other conversation, and was kept" in sentence for sentence in report.kept)


def test_workspace_outside_the_mecha_home_is_kept_and_said(home: Path, tmp_path: Path) -> None:
    """A project's files are its owner's."""
    project = write(tmp_path / "project" / "main.py", "pass").parent
    report = delete(small(home, project))
    assert (report.complete, report.exit_code) == (True, 0)
    assert (project / "main.py").exists()
    assert any(str(project) in sentence and "they are yours" in sentence for sentence in report.kept)


def test_writer_that_appends_after_the_delete_cannot_bring_it_back(home: Path) -> None:
    """An error, and no file."""
    writer = TranscriptWriter.create(
        Store(home / "sessions"), provider="local", model="m1", workspace=home / "work" / "web" / "x", kind="web"
    )
    writer.record([{"role": "user", "content": [{"type": "text", "text": CANARY}]}])
    assert writer.path is not None
    assert delete(places(home), writer.id).complete
    with pytest.raises(TranscriptGone):
        writer.rename("again")
    assert not writer.path.exists()


@pytest.mark.parametrize(
    "told",
    ["20261004T070000", GONE[:-1], f"../{GONE}", f"sessions/{GONE}", f"{GONE}.jsonl", "", "a" * 129, GONE + "\n"],
)
def test_a_prefix_or_a_path_is_an_error_and_the_file_untouched(home: Path, told: str) -> None:
    """Only a whole id is taken, so that none is picked that was not meant."""
    where = seeded(home)
    before = (where.sessions / f"{GONE}.jsonl").read_bytes()
    with pytest.raises((WrongUse, UnknownName)) as raised:
        forget(where, told, graph=AnsweringGraph())
    assert isinstance(raised.value, SessionlabError)
    assert "whole" in str(raised.value)
    assert (where.sessions / f"{GONE}.jsonl").read_bytes() == before


def test_configured_store_directories_are_the_ones_purged(home: Path, tmp_path: Path) -> None:
    """The home's `config.toml` moves the outbox, an argument the messages; nobody looks where they were."""
    small(home)
    write(home / "config.toml", "[outbox]", f'dir = "{tmp_path / "drafts"}"', "[messages]", 'dir = "/nowhere"')
    write(tmp_path / "drafts" / "d1.json", row(session_id=GONE, body=CANARY))
    write(tmp_path / "post" / "hermes" / "m1.json", row(from_session=GONE, body=CANARY))
    report = delete(places(home, moved={"messages": tmp_path / "post"}))
    assert (report.complete, dict(report.removed)["outbox"], dict(report.removed)["messages"]) == (True, 1, 1)
    assert holding(tmp_path, GONE) == holding(tmp_path, CANARY) == []


def test_id_inside_an_unknown_member_of_another_row_is_complete_and_named(home: Path) -> None:
    """What the walk does not know is neither edited nor passed over."""
    where = small(home)
    question = write(home / "questions" / "q9.json", row(id="q9", session_id=STAYS, note=f"see {GONE}"))
    before = question.read_bytes()
    report = delete(where)
    assert report.complete
    assert [str(question) in sentence for sentence in report.traces] == [True]
    assert (question.read_bytes(), report.exit_code) == (before, 1)


def test_broken_rule_file_keeps_reflections_and_drafts_and_after_repair_completes(home: Path) -> None:
    """The keys by which rules are found go after the rules: else a second run would find nothing and report clean."""
    where = seeded(home)
    learned = home / "learning" / "rules" / "behavior.learned.toml"
    good = learned.read_text()
    learned.write_text("[[rules]\nthis is not toml")
    first = delete(where)
    assert not first.complete
    assert any(error.startswith("learning store: ") for error in first.errors)
    assert REFLECTION in (home / "learning" / "reflections.jsonl").read_text()
    assert (home / "outbox" / "draft-heron.json").exists()
    learned.write_text(good)
    assert delete(where).complete
    assert holding(home, REFLECTION) == holding(home, "draft-heron") == holding(home, GONE) == []


def test_peer_transcript_quoting_the_id_is_named_and_not_edited(home: Path) -> None:
    """Another conversation's words are its own."""
    where = small(home)
    peer = transcript(home, STAYS, home / "work" / "web" / "b", f"message from hermes (session {GONE}): {CANARY}")
    before = peer.read_bytes()
    report = delete(where)
    assert report.complete
    assert peer.read_bytes() == before
    assert [str(peer) in one and "another conversation's" in one for one in report.traces] == [True]


def test_unreadable_header_says_that_the_workspace_could_not_be_determined(home: Path) -> None:
    """Without a header nothing says where the conversation worked: that is told, not passed over."""
    write(home / "sessions" / f"{GONE}.jsonl", "not a header")
    kept = write(home / "work" / "web" / "somewhere" / "file.txt", "whose?")
    report = delete(places(home))
    assert (report.complete, report.exit_code, kept.exists()) == (True, 1, True)
    assert any("workspace could not be determined" in sentence for sentence in report.traces)


def test_comparisons_are_purged_when_no_learning_store_exists(home: Path) -> None:
    """Each store is asked for itself."""
    where = small(home)
    write(home / "comparisons" / "comparisons.jsonl", row(id="c1", pointers={"session_id": GONE}))
    report = delete(where)
    assert not (home / "learning").exists()
    assert ("comparisons", 1) in report.removed
    assert holding(home, GONE) == []


def test_report_has_the_shape_of_section_15_5(home: Path) -> None:
    """Five members; every store that was asked is there in the order of the walk, also when it had nothing."""
    told = delete(small(home)).as_dict()
    assert list(told) == ["id", "removed", "residue", "errors", "complete"]
    removed = told["removed"]
    assert isinstance(removed, list)
    order = [name for name in STEPS if name not in {"set aside", "find", "drafts set aside", "search"}]
    assert [name for name, _ in removed] == order
    assert [count for _, count in removed] == [0] * (len(order) - 1) + [1]


def test_a_learning_store_that_used_git_is_said_to_hold_its_history(home: Path) -> None:
    """The directory is kept and not searched: its owner is told to remove it."""
    where = seeded(home)
    write(home / "learning" / ".git" / "COMMIT_EDITMSG", f"reflect {GONE}")
    report = delete(where)
    assert (report.complete, report.exit_code) == (True, 0)
    assert any(".git" in sentence for sentence in report.kept)
