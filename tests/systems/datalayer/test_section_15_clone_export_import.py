"""Every case of section 15, "Clone, export, import end to end" and "The examples", as it shows in a store."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import ForkedFrom
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer.applications import Applications
from sessionlab.systems.datalayer.cloning import clone
from sessionlab.systems.datalayer.importing import import_session
from sessionlab.systems.datalayer.resuming import resumption
from sessionlab.systems.datalayer.store import Store
from sessionlab.systems.datalayer.stored_export import export_from
from tests.formats.datalayer_files import bytes_of, entry, head
from tests.systems.datalayer.stored import (
    HARBOR,
    LATER,
    LATER_TEXT,
    NO_LINEAGE_MEMBERS,
    NOW,
    NOW_TEXT,
    UID,
    json_lines,
    kinds,
    line,
    opening,
    raw_lines,
    store_of,
    turns,
)

RULE = {"name": "no-mail", "decision": "refused", "classes": ["outward"], "kinds": [], "where": "", "paths": []}
FILE = {
    "name": "tides.csv",
    "type": "text/csv",
    "size": 2048,
    "digest": "sha256:" + "a7" * 32,
    "path": "/srv/tides.csv",
}


def exported(store: Store, uid: str = UID, **more: Any) -> bytes:
    """The session as a file, by the exact rules."""
    return export_from(store, uid, by="u-first", now=NOW, redactor=Redactor(), **more).data


def test_four_turns_a_rule_after_the_fourth_cloned_at_2(tmp_path: Path) -> None:
    """Two turns, the rule there, paused, on no runtime, the title as given, both lineage rows, a late opening."""
    store = store_of(tmp_path, *turns(4), line("rule", 55, rule=RULE))
    before = raw_lines(store, UID)
    done = clone(store, UID, at_turn=2, by="u-clone", title="Second try", now=NOW)
    made = store.record(done.uid)
    assert (made.turns, made.state, made.title, made.owner, made.archived) == (
        2,
        "paused",
        "Second try",
        "u-clone",
        False,
    )
    assert kinds(made.entries) == ["turn", "turn", "rule", "session", "cloned"]
    assert made.entries[3].payload == {
        "app": {"id": "harbor", "version": 3},
        "state": "paused",
        "agent": "surveyor",
        "harness": None,
        "runs_on": {"kind": "none"},
        "title": "Second try",
        "archived": False,
        "lineage": {"forked_from": {"uid": UID, "at_turn": 2}, "imported_from": None},
    }
    assert made.entries[4].payload == {"from": UID, "at_turn": 2}
    assert made.entries[4].at == NOW_TEXT
    assert made.lineage.forked_from == ForkedFrom(uid=UID, at_turn=2)
    after = raw_lines(store, UID)
    assert after[1:-1] == before[1:]
    assert json.loads(after[-1])["payload"] == {"to": done.uid, "at_turn": 2}
    changed = {key for key, value in json.loads(before[0]).items() if json.loads(after[0])[key] != value}
    assert changed == {"kinds", "entries", "exported_at"}
    source = store.record(UID)
    assert (source.turns, source.state) == (4, "open")
    goes_on = resumption(made)
    assert goes_on.questions == ["Question 1?\nmore of it", "Question 2?\nmore of it"]
    assert goes_on.rules == {"no-mail": RULE}
    assert done.as_dict()["lineage"] == {"forked_from": {"uid": UID, "at_turn": 2}, "imported_from": None}


def test_clone_at_7_of_4_is_422(tmp_path: Path) -> None:
    """Beyond the turns: nothing is written, neither a session nor a `cloned` entry."""
    store = store_of(tmp_path, *turns(4))
    before = store.path(UID).read_bytes()
    with pytest.raises(SessionRefused, match="0 to 4, found 7") as caught:
        clone(store, UID, at_turn=7, by="u", now=NOW)
    assert (caught.value.kind, caught.value.status) == ("beyond_turns", 422)
    assert [path.name for path in tmp_path.iterdir()] == [f"{UID}.session.jsonl"]
    assert store.path(UID).read_bytes() == before


def test_an_ended_source_clones_with_a_harness_agent(tmp_path: Path) -> None:
    """Taken, with a `swapped` entry that holds what section 11 lists and the sentence that is told."""
    store = store_of(tmp_path, *turns(2), line("file", 40, **FILE), line("ended", 50, state="ended", by="end"))
    done = clone(store, UID, by="u-clone", agent="coder", applications=HARBOR, now=NOW)
    made = store.record(done.uid)
    assert (made.state, made.agent, made.harness) == ("paused", "coder", "codex")
    assert kinds(made.entries) == ["turn", "turn", "session", "cloned", "swapped"]
    swapped = made.entries[-1]
    assert list(swapped.payload) == [
        "from", "to", "from_harness", "to_harness", "agent", "harness", "at_turn", "said", "carried", "dropped",
    ]  # fmt: skip
    assert swapped.payload["from"] == "surveyor"
    assert (swapped.payload["to"], swapped.payload["to_harness"]) == ("coder", "codex")
    assert (swapped.payload["agent"], swapped.payload["harness"], swapped.payload["at_turn"]) == ("coder", "codex", 2)
    assert swapped.payload["carried"] == {"turns": 2, "files": 0, "rules": 0, "settings": []}
    said = "coder takes over from surveyor after turn 2: 2 turns, 0 files and 0 rules carried over."
    assert swapped.payload["said"] == done.said == said
    assert store.record(UID).state == "ended"


def test_clone_with_an_unknown_agent_is_404(tmp_path: Path) -> None:
    """It names those that there are."""
    store = store_of(tmp_path, *turns(1))
    with pytest.raises(SessionRefused, match="coder, lens, surveyor") as caught:
        clone(store, UID, by="u", agent="pilot", applications=HARBOR, now=NOW)
    assert (caught.value.kind, caught.value.status) == ("unknown_agent", 404)
    assert len(list(tmp_path.iterdir())) == 1


def test_export_redacts_and_leaves_an_exported_entry(tmp_path: Path) -> None:
    """The header is redacted, the declared value nowhere, the file entry as it was, the record says so."""
    call = line(
        "tool_call", 30, tool="fetch", headers={"Authorization": "Bearer abcdef"}, note="with hush-hush-9 in it"
    )
    store = store_of(tmp_path, *turns(2), call, line("file", 31, **FILE))
    done = export_from(store, UID, by="u-first", now=NOW, redactor=Redactor(declared=["hush-hush-9"]))
    lines = json_lines(done.data)
    assert lines[4]["payload"] == {
        "tool": "fetch", "headers": {"Authorization": "[redacted]"}, "note": "with [redacted] in it",
    }  # fmt: skip
    assert b"hush-hush-9" not in done.data
    assert lines[5]["payload"] == FILE
    assert done.file_name == f"{UID}.session.jsonl"
    assert done.digest == "sha256:" + hashlib.sha256(done.data).hexdigest()
    assert "exported" not in lines[0]["kinds"]
    left = store.record(UID).entries[-1]
    assert (left.kind, left.at) == ("exported", NOW_TEXT)
    assert left.payload == {"by": "u-first", "entries": 5, "redactions": 2, "digest": done.digest}


def test_export_with_a_turn_in_progress_has_the_turns_before_it(tmp_path: Path) -> None:
    """A turn that runs is not in the record yet: still 2 turns."""
    store = store_of(tmp_path, *turns(2), line("run", 40))
    assert json_lines(exported(store))[0]["turns"] == 2


def test_an_application_that_keeps_no_conversations_exports_409(tmp_path: Path) -> None:
    """Nothing is exported, and the record does not say it was."""
    store = store_of(tmp_path, *turns(2))
    keeps_none = Applications({"harbor": {"version": 3, "agents": ["surveyor"], "keeps_conversations": False}})
    with pytest.raises(SessionRefused, match="harbor") as caught:
        exported(store, applications=keeps_none)
    assert caught.value.status == 409
    assert "exported" not in kinds(store.record(UID).entries)
    assert json_lines(exported(store, applications=HARBOR))[0]["turns"] == 2


def test_import_by_another_person(tmp_path: Path) -> None:
    """Paused, on no runtime, 2 turns, another uid, lineage of three, the title of the first question, theirs alone."""
    first = store_of(tmp_path / "first", *turns(2), line("file", 35, **FILE))
    data = exported(first)
    folder = tmp_path / "shared"
    store = Store(folder, for_person="u-second")
    done = import_session(data, store, by="u-second", applications=HARBOR, now=LATER)
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    answer = done.as_dict()
    assert re.fullmatch(r"[0-9a-f]{32}", done.uid)
    assert answer == {
        "uid": done.uid,
        "state": "paused",
        "runs_on": None,
        "turns": 2,
        "redactions": 0,
        "agent": "surveyor",
        "harness": None,
        "title": "Question 1?",
        "lineage": {
            "forked_from": None,
            "imported_from": {"digest": digest, "exported_at": NOW_TEXT, "exported_by": "u-first"},
        },
        "versions": {"file": 3, "current": 3},
    }
    assert store.record(done.uid).owner == "u-second"
    with pytest.raises(SessionRefused) as caught:
        Store(folder, for_person="u-first").record(done.uid)
    assert caught.value.status == 404
    made = store.record(done.uid)
    assert kinds(made.entries) == ["session", "turn", "turn", "file", "imported"]
    assert made.entries[0].payload["runs_on"] == {"kind": "none"}
    assert made.entries[3].payload == {**FILE, "present": False, "path": ""}
    assert made.entries[4].at == LATER_TEXT
    assert made.entries[4].payload == {
        "digest": digest,
        "exported_at": NOW_TEXT,
        "exported_by": "u-first",
        "redactions": 0,
        "file_version": 3,
        "current_version": 3,
        "source_uid": UID,
    }
    assert len(resumption(made).questions) == 2
    again = import_session(exported(store, done.uid), store, by="u-second", now=LATER)
    assert (again.turns, again.title) == (2, "Question 1?")


def refused(lines: list[Any], store: Store, **more: Any) -> tuple[str, int, int | None]:
    """Why an import of these lines is refused; nothing is written."""
    with pytest.raises(SessionRefused) as caught:
        import_session(bytes_of(*lines), store, by="u", now=NOW, **more)
    assert store.sessions(archived=True) == []
    assert not store.folder.exists()
    return caught.value.kind, caught.value.status, caught.value.line


def test_import_refusals_by_status(tmp_path: Path) -> None:
    """Version 2, a planted `shell`, 20 001 entries, an agent or application that is not here."""
    store = Store(tmp_path / "s")
    one = entry("turn", asked="?")
    assert refused([head(format="datalayer-session/2"), one], store) == ("other_version", 422, 1)
    assert refused([head(), one, entry("shell")], store) == ("unknown_kind", 422, 3)
    assert refused([head(), *[one] * 20_001], store) == ("too_large", 413, None)
    assert refused([head(agent="pilot"), one], store, applications=HARBOR) == ("unknown_agent", 422, None)
    assert refused([head(app={"id": "dock", "version": 1}), one], store, applications=HARBOR)[:2] == (
        "unknown_app",
        422,
    )
    both = head(app={"id": "dock", "version": 1}, agent="pilot")
    assert refused([both, one], store, applications=HARBOR)[0] == "unknown_app"
    assert refused([head(agent="pilot"), one, "{"], store, applications=HARBOR) == ("not_json", 422, 3)


def test_an_agent_that_is_not_here_is_taken_when_another_is_named(tmp_path: Path) -> None:
    """The harness is what that agent has, not the file's."""
    store = Store(tmp_path)
    data = bytes_of(head(agent="pilot", harness="claude"), entry("turn", asked="?"))
    done = import_session(data, store, by="u", agent="coder", applications=HARBOR, now=NOW)
    assert (done.agent, done.harness) == ("coder", "codex")
    made = store.record(done.uid)
    assert (made.agent, made.harness, made.entries[0].payload["agent"]) == ("coder", "codex", "coder")


def test_application_version_2_against_3_is_taken_and_both_are_said(tmp_path: Path) -> None:
    """In the answer, and in the summary and payload of the `imported` entry."""
    store = Store(tmp_path)
    data = bytes_of(head(app={"id": "harbor", "version": 2}), entry("turn", asked="?"))
    done = import_session(data, store, by="u", applications=HARBOR, now=NOW)
    assert done.as_dict()["versions"] == {"file": 2, "current": 3}
    made = store.record(done.uid)
    said = made.entries[-1]
    assert "version 2" in said.summary
    assert said.summary.endswith("it is 3")
    assert (said.payload["file_version"], said.payload["current_version"]) == (2, 3)
    assert (made.app.version, made.entries[0].payload["app"]) == (3, {"id": "harbor", "version": 3})
    same = import_session(bytes_of(head(), entry("turn")), store, by="u", applications=HARBOR, now=NOW)
    assert "version" not in store.record(same.uid).entries[-1].summary


def test_three_turns_cloned_at_1_exported_imported_resumed(tmp_path: Path) -> None:
    """The examples: the session of 3 turns exports with 0 redactions, imports paused with 3, resumes with 3."""
    store = store_of(tmp_path, *turns(3))
    assert clone(store, UID, at_turn=1, by="u-own", now=NOW).turns == 1
    data = exported(store)
    assert json_lines(data)[0]["redactions"] == 0
    done = import_session(data, store, by="u-two", now=LATER)
    assert (done.state, done.turns) == ("paused", 3)
    imported_from = done.lineage.imported_from
    assert imported_from is not None
    assert imported_from.digest == "sha256:" + hashlib.sha256(data).hexdigest()
    assert len(resumption(store.record(done.uid)).questions) == 3


def test_a_clone_exports_and_imports_with_its_own_lineage_only(tmp_path: Path) -> None:
    """A file may say where its session was forked from; its import says only where it was imported from."""
    store = store_of(tmp_path, *turns(2))
    made = clone(store, UID, at_turn=1, by="u", now=NOW)
    data = exported(store, made.uid)
    assert json_lines(data)[0]["lineage"] == {"forked_from": {"uid": UID, "at_turn": 1}, "imported_from": None}
    done = import_session(data, store, by="u", now=LATER)
    assert done.lineage.forked_from is None
    assert set(json_lines(exported(store, done.uid))[0]["lineage"]["imported_from"]) == {
        "digest", "exported_at", "exported_by",
    }  # fmt: skip
    assert opening().payload["lineage"] == NO_LINEAGE_MEMBERS
