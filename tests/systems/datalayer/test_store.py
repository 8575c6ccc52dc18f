"""A kept session is a sound session file, and stays one whatever is added to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sessionlab
from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import EntryLine, ForkedFrom, Lineage
from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.systems.datalayer.cloning import clone
from sessionlab.systems.datalayer.importing import import_session
from sessionlab.systems.datalayer.store import Store
from tests.formats.datalayer_files import bytes_of, entry, head
from tests.systems.datalayer.stored import (
    LATER,
    NO_LINEAGE_MEMBERS,
    NOW,
    UID,
    json_lines,
    kinds,
    line,
    opening,
    raw_lines,
    record,
    store_of,
    turn,
    turns,
)


def test_the_file_of_a_session_member_by_member(tmp_path: Path) -> None:
    """The head has the members of section 7 in their order; nobody exported it, so its owner stands there."""
    store = store_of(tmp_path, *turns(2))
    assert store.path(UID) == tmp_path / f"{UID}.session.jsonl"
    lines = json_lines(store.path(UID).read_bytes())
    assert list(lines[0].items()) == [
        ("record_type", "session"),
        ("format", "datalayer-session/1"),
        ("uid", UID),
        ("app", {"id": "harbor", "version": 3}),
        ("agent", "surveyor"),
        ("harness", None),
        ("owner", {"uid": "u-own"}),
        ("state", "open"),
        ("turns", 2),
        ("title", "Question 1?"),
        ("archived", False),
        ("lineage", NO_LINEAGE_MEMBERS),
        ("kinds", ["session", "turn"]),
        ("entries", 3),
        ("exported_at", "2026-10-03T08:00:20.000000Z"),
        ("exported_by", {"uid": "u-own"}),
        ("redactions", 0),
    ]
    assert [one["kind"] for one in lines[1:]] == ["session", "turn", "turn"]


def test_the_folder_loads_without_a_problem(tmp_path: Path) -> None:
    """After an add, an import, a clone, a title and an end, each session is one of the corpus, with its links."""
    store = store_of(tmp_path, *turns(3))
    first = import_session(bytes_of(head(), entry("turn", asked="?")), store, by="u", now=NOW)
    second = clone(store, UID, at_turn=2, by="u", now=NOW)
    store.retitle(first.uid, "Mine", now=NOW)
    store.end(UID, now=LATER)
    corpus = sessionlab.load(tmp_path)
    assert set(corpus.sql("SELECT native_id, title, state FROM sessions").rows()) == {
        (first.uid, "Mine", "paused"), (UID, "Question 1?", "ended"), (second.uid, "Question 1?", "paused"),
    }  # fmt: skip
    assert corpus.sql("SELECT kind, detail FROM problems").rows() == []
    links = corpus.sql("SELECT session_id, relation, other_session_id FROM links").rows()
    assert set(links) == {
        (f"datalayer:{first.uid}", "imported_from", "datalayer:abcd-1234"),
        (f"datalayer:{second.uid}", "forked_from", f"datalayer:{UID}"),
    }


def test_append_keeps_every_byte_of_the_lines_before(tmp_path: Path) -> None:
    """Only the head is written anew."""
    store = store_of(tmp_path, *turns(1))
    before = raw_lines(store, UID)
    store.append(UID, [turn(2, 20), line("rule", 21, rule={"name": "a"})])
    after = raw_lines(store, UID)
    assert after[1:3] == before[1:]
    assert [len(before), len(after)] == [3, 5]
    opened = json_lines(store.path(UID).read_bytes())[0]
    assert (opened["turns"], opened["entries"], opened["kinds"]) == (2, 4, ["rule", "session", "turn"])


def test_entries_that_tell_move_the_head(tmp_path: Path) -> None:
    """titled, swapped, cloned with `from`, imported, paused, a second session entry (section 10)."""
    store = store_of(tmp_path, *turns(1), title="First")
    digest = "sha256:" + "0a" * 32
    steps: list[tuple[EntryLine, dict[str, Any]]] = [
        (line("titled", 1, title="Second"), {"title": "Second", "archived": False}),
        (line("titled", 2, archived=True), {"title": "Second", "archived": True}),
        (line("swapped", 3, to="coder", to_harness="codex"), {"agent": "coder", "harness": "codex"}),
        (line("swapped", 4, agent="lens", to="coder", harness=None), {"agent": "lens", "harness": None}),
        (line("paused", 5, state="paused"), {"state": "paused", "agent": "lens"}),
        (
            opening(6, agent="other", title="Not this", resumed=True),
            {"state": "open", "agent": "lens", "title": "Second"},
        ),
        (line("cloned", 7, to="some-other-1", at_turn=1), {"lineage": NO_LINEAGE_MEMBERS}),
        (
            line("cloned", 8, **{"from": "some-other-1", "at_turn": 1}),
            {"lineage": {"forked_from": {"uid": "some-other-1", "at_turn": 1}, "imported_from": None}},
        ),
        (
            line("imported", 9, digest=digest, exported_at="x", exported_by="u"),
            {
                "lineage": {
                    "forked_from": {"uid": "some-other-1", "at_turn": 1},
                    "imported_from": {"digest": digest, "exported_at": "x", "exported_by": "u"},
                }
            },
        ),
    ]
    for added, told in steps:
        store.append(UID, [added])
        opened = json_lines(store.path(UID).read_bytes())[0]
        assert {name: opened[name] for name in told} == told, added.kind
    assert sessionlab.load(tmp_path).sql("SELECT kind, detail FROM problems").rows() == []


def test_a_lineage_given_at_once_is_kept(tmp_path: Path) -> None:
    """What the head says stands where no entry says otherwise."""
    lineage = Lineage(forked_from=ForkedFrom(uid="abc", at_turn=3), imported_from=None)
    store = store_of(tmp_path, *turns(1), lineage=lineage, title="T", harness="codex", archived=True)
    kept = store.record(UID)
    assert (kept.lineage, kept.title, kept.harness, kept.archived) == (lineage, "T", "codex", True)
    assert kept == record(*turns(1), lineage=lineage, title="T", harness="codex", archived=True)


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (line("shell", 1), "unknown_kind"),
        (EntryLine(record_type="entry", kind="turn", at=" "), "entry_without_at"),
        (EntryLine(record_type="entry", kind="turn", at="\ud800"), "field_refusal"),
        ({"kind": None, "at": "x"}, "unknown_kind"),
    ],
)
def test_what_would_be_no_line_of_a_session_file_is_not_added(tmp_path: Path, bad: Any, kind: str) -> None:
    """The reader's own refusal, its line counted after the head; nothing is written, neither it nor its neighbour."""
    store = store_of(tmp_path, *turns(1))
    before = store.path(UID).read_bytes()
    with pytest.raises(SessionRefused) as caught:
        store.append(UID, [turn(2, 2), bad])
    assert (caught.value.kind, caught.value.status, caught.value.line) == (kind, 422, 3)
    assert store.path(UID).read_bytes() == before


def test_a_payload_no_reader_takes_back_is_not_added(tmp_path: Path) -> None:
    """Deeper than 980 levels; 979 below the line itself is too many, 970 is not."""
    store = store_of(tmp_path, *turns(1))
    deep: Any = "core"
    for _ in range(960):
        deep = [deep]
    store.append(UID, [line("output", 1, deep=deep)])
    found: Any = store.record(UID).entries[-1].payload["deep"]
    levels = 0
    while isinstance(found, list):
        (found,) = found
        levels += 1
    assert (levels, found) == (960, "core")
    for _ in range(40):
        deep = [deep]
    with pytest.raises(SessionRefused) as caught:
        store.append(UID, [line("output", 2, deep=deep)])
    assert caught.value.kind == "not_json"
    assert isinstance(judge(store.path(UID).read_bytes()), Accepted)


def test_a_record_with_a_bad_head_is_not_added(tmp_path: Path) -> None:
    """An owner, agent or application nobody can name; a title too long; a uid of another shape."""
    store = Store(tmp_path / "s")
    for changed, kind, status in (
        ({"owner": ""}, "field_refusal", 422),
        ({"agent": ""}, "field_refusal", 422),
        ({"title": "x" * 201}, "field_refusal", 422),
        ({"uid": "../etc/x"}, "unknown_session", 404),
    ):
        with pytest.raises(SessionRefused) as caught:
            store.add(record(*turns(1), **changed))
        assert (caught.value.kind, caught.value.status) == (kind, status), changed
    assert not (tmp_path / "s").exists() or list((tmp_path / "s").iterdir()) == []


def test_the_clone_is_not_written_when_its_source_cannot_take_the_entry(tmp_path: Path) -> None:
    """All is judged first: an addition to another session that is refused leaves the new one out too."""
    store = store_of(tmp_path, *turns(1))
    with pytest.raises(SessionRefused):
        store.add(record(*turns(1), uid="new-one-1"), also={UID: [line("shell", 1)]})
    with pytest.raises(SessionRefused) as caught:
        store.add(record(*turns(1), uid="new-one-1"), also={"not-there": [turn(1, 1)]})
    assert caught.value.status == 404
    assert [one.uid for one in store.sessions()] == [UID]


def test_the_last_started_is_listed_first_also_across_zones(tmp_path: Path) -> None:
    """By the instant, not by the text; one that is no time comes last."""
    store = Store(tmp_path)
    for uid, at in (
        ("aaaa-0001", "2026-10-03T08:00:00Z"), ("aaaa-0002", "2026-10-03T09:30:00+02:00"), ("aaaa-0003", "soon"),
        ("aaaa-0004", "2026-10-03T08:00:00.5Z"),
    ):  # fmt: skip
        store.add(record(EntryLine(record_type="entry", kind="session", at=at), uid=uid))
    assert [one.uid for one in store.sessions()] == ["aaaa-0004", "aaaa-0001", "aaaa-0002", "aaaa-0003"]


def test_an_append_of_nothing_and_an_end_after_the_end_write_nothing(tmp_path: Path) -> None:
    """The file is the same file."""
    store = store_of(tmp_path, *turns(1))
    store.end(UID, by="logout", now=NOW)
    before = store.path(UID).stat()
    assert store.append(UID, []).state == "ended"
    store.end(UID, now=LATER)
    after = store.path(UID).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert kinds(store.record(UID).entries) == ["session", "turn", "ended"]


def test_a_query_by_state(tmp_path: Path) -> None:
    """Those in that state only."""
    store = store_of(tmp_path, *turns(1))
    store.add(record(*turns(1), uid="other-001"))
    store.end("other-001", now=NOW)
    assert [one.uid for one in store.sessions(state="ended")] == ["other-001"]
    assert [one.uid for one in store.sessions(state="open")] == [UID]
    assert store.sessions(state="paused") == []


def test_a_record_beyond_the_caps_is_read_in_parts_and_its_lines_counted(tmp_path: Path) -> None:
    """40 003 entries: read, added to, kept in order; a line that breaks far down is named by its number."""
    store = store_of(tmp_path, *turns(1))
    store.append(UID, [line("run", 1, n=n) for n in range(19_000)])
    store.append(UID, [line("run", 1, n=n) for n in range(19_000, 40_001)])
    store.append(UID, [turn(2, 5)])
    kept = store.record(UID)
    assert (len(kept.entries), kept.turns) == (40_004, 2)
    assert [one.payload["n"] for one in kept.entries[2:-1]] == list(range(40_001))
    lines = raw_lines(store, UID)
    lines[30_000] = b"{\n"
    store.path(UID).write_bytes(b"".join(lines))
    with pytest.raises(SessionRefused) as caught:
        store.record(UID)
    assert (caught.value.kind, caught.value.line) == ("not_json", 30_001)
