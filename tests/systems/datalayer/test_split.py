"""Split: files of a session too large for one, each linked to the one before it, adding up to the whole."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import sessionlab
from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.formats.datalayer.fields import EntryLine, ForkedFrom, ImportedFrom, Lineage
from sessionlab.redaction import Redactor, StrictRedactor
from sessionlab.systems.datalayer import Exported, Record, check, export, leaks_of, split
from sessionlab.tables import Entry, Link, Problem
from tests.formats.datalayer_files import DIGEST, of, rows_of
from tests.systems.datalayer.written import BY, NOW, exported, line, lines_of, opening, record, run, taken, turn


def parts_of(source: Record, **caps: int) -> list[Exported]:
    """The parts of a record by the exact rules."""
    return split(source, by=BY, now=NOW, redactor=Redactor(), **caps)


def kinds_of(file: Exported) -> list[str]:
    """The kinds of the entries of a part."""
    return [entry["kind"] for entry in lines_of(file)[1:]]


def runs(count: int) -> list[EntryLine]:
    """So many runs of one turn, numbered."""
    return [entry for n in range(count) for entry in run(f"Question {n}?")]


def test_what_fits_is_one_file_as_exported() -> None:
    """A session within the caps is the file `export` makes, byte for byte."""
    source = record(opening(), *runs(2), line("tool_call", token="t"))
    (part,) = parts_of(source)
    assert part == export(source, by=BY, now=NOW, redactor=Redactor())


def test_parts_end_between_runs_and_are_chained() -> None:
    """Each part after the first has its own uid, a `session` entry, and is forked from the part before it."""
    first, second, third = parts_of(record(opening(), *runs(5)), max_entries=8)
    assert kinds_of(first) == ["session"] + ["run", "turn", "output"] * 2
    assert kinds_of(second) == ["session"] + ["run", "turn", "output"] * 2
    assert kinds_of(third) == ["session", "run", "turn", "output"]
    heads = [lines_of(part)[0] for part in (first, second, third)]
    assert [head["uid"] for head in heads] == ["abcd-1234", "abcd-1234-2", "abcd-1234-3"]
    assert [head["lineage"]["forked_from"] for head in heads] == [
        None, {"uid": "abcd-1234", "at_turn": 2}, {"uid": "abcd-1234-2", "at_turn": 4},
    ]  # fmt: skip
    assert [(head["turns"], head["entries"]) for head in heads] == [(2, 7), (2, 7), (1, 4)]
    assert [part.file_name for part in (first, second, third)][1] == "abcd-1234-2.session.jsonl"
    assert second.notes == ("goes on from abcd-1234 after turn 2 of the session",)
    for part in (first, second, third):
        taken(part.data)


def test_a_later_part_opens_as_its_session_stood() -> None:
    """Its `session` entry has app, state, agent, harness, title, archived and lineage, as they stood at the cut."""
    swap = line("swapped", agent="a2", harness="h2")
    named = line("titled", title="Ebb", archived=True)
    ended = line("ended", state="ended", by="end")
    source = record(
        opening(), *runs(1), swap, named, *runs(2), ended, agent="a2", harness="h2", title="Ebb", archived=True,
        state="ended",
    )  # fmt: skip
    first, second, third = parts_of(source, max_entries=6)
    assert [lines_of(part)[0]["agent"] for part in (first, second, third)] == ["a2", "a2", "a2"]
    assert [lines_of(part)[0]["state"] for part in (first, second, third)] == ["open", "open", "ended"]
    assert lines_of(second)[1] == {
        "record_type": "entry", "kind": "session", "at": source.entries[6].at, "summary": "",
        "payload": {
            "app": {"id": "harbor", "version": 3}, "state": "open", "agent": "a2", "harness": "h2", "title": "Ebb",
            "archived": True,
            "lineage": {"forked_from": {"uid": "abcd-1234", "at_turn": 1}, "imported_from": None},
        },
    }  # fmt: skip
    for part in (first, second, third):
        taken(part.data)


def test_without_runs_parts_end_after_turns() -> None:
    """A cut goes after a turn, and not between a turn and the thumb given to it."""
    thumb = line("feedback", liked=True)
    files = parts_of(record(turn(), thumb, turn(), thumb, turn(), thumb, line("step")), max_entries=4)
    assert [kinds_of(file) for file in files] == [
        ["turn", "feedback", "turn", "feedback"],
        ["session", "turn", "feedback", "step"],
    ]


def test_a_run_larger_than_a_part_is_cut_between_entries() -> None:
    """Where no end of a run fits, the cut goes between two entries; all of them are there, in order."""
    steps = [line("step", id=str(n)) for n in range(10)]
    source = record(opening(), *run("long", *steps), *runs(1))
    files = parts_of(source, max_entries=5)
    written = [entry for n, file in enumerate(files) for entry in lines_of(file)[1 + (n > 0) :]]
    assert [entry["kind"] for entry in written] == [entry.kind for entry in source.entries]
    assert [entry["payload"].get("id") for entry in written if entry["kind"] == "step"] == [str(n) for n in range(10)]
    assert all(check(file.data).ok for file in files)


def test_no_part_is_over_the_caps_and_counts_add_up() -> None:
    """Bytes and entries of each part are within the caps; turns, entries and redactions add up to the whole."""
    entries = [opening()]
    for n in range(40):
        entries += run("Q" * (n * 37 % 400), line("tool_call", token="t", result="x" * (n * 91 % 700)))
    source = record(*entries)
    whole = exported(*entries)
    for cap in (2500, 4000, 9000):
        files = parts_of(source, max_bytes=cap)
        assert len(files) > 2
        assert max(len(file.data) for file in files) <= cap
        assert sum(file.turns for file in files) == whole.turns == 40
        assert sum(file.entries for file in files) - (len(files) - 1) == whole.entries == 161
        assert sum(file.redactions for file in files) == whole.redactions == 40
        for file in files:
            section = taken(file.data).sections[0]
            assert (section.head.entries, section.head.redactions) == (len(section.entries), file.redactions)


def test_findings_name_the_lines_of_the_part() -> None:
    """The place of a finding is a line of its own file, where the replacement stands."""
    entries = [opening()]
    for _ in range(6):
        entries += run("Q", line("tool_call", token="t"))
    for file in parts_of(record(*entries), max_entries=6):
        parsed = lines_of(file)
        for rule, place, count in file.findings:
            number, _, path = place.removeprefix("line ").partition(".")
            assert (rule, path, count) == ("bearer_token", "payload.token", 1)
            assert parsed[int(number) - 1]["payload"]["token"] == "[redacted]"
        assert file.redactions == sum(entry["payload"].get("token") == "[redacted]" for entry in parsed[1:])


def test_the_tables_link_the_parts_and_take_no_entry_for_a_copy() -> None:
    """Read together the parts are a chain of `forked_from` links, with no copies and no notes."""
    files = parts_of(record(opening(), *runs(5)), max_entries=8)
    corpus = sessionlab.load(*[io.BytesIO(file.data) for file in files])
    links = corpus.sql("SELECT session_id, other_session_id, relation, at_run FROM links ORDER BY 1").rows()
    assert links == [
        ("datalayer:abcd-1234-2", "datalayer:abcd-1234", "forked_from", 2),
        ("datalayer:abcd-1234-3", "datalayer:abcd-1234-2", "forked_from", 4),
    ]
    for file in files:
        rows = rows_of(file.data)
        assert not any(entry.is_copy for entry in of(rows, Entry))
        assert not of(rows, Problem)


def test_an_imported_session_says_so_until_its_imported_entry() -> None:
    """What was taken over stands before the `imported` entry; the parts up to it are imported, those after it not."""
    origin = ImportedFrom(digest=DIGEST, exported_at="2026-10-04T00:00:00Z", exported_by="u-exp")
    stated = {"digest": DIGEST, "exported_at": "2026-10-04T00:00:00Z", "exported_by": "u-exp"}
    lineage = {"forked_from": None, "imported_from": stated}
    entries = [opening(lineage=lineage), *runs(2), line("imported", **stated), *runs(2)]
    files = parts_of(record(*entries, lineage=Lineage(forked_from=None, imported_from=origin)), max_entries=5)
    found = [lines_of(file)[0]["lineage"]["imported_from"] is not None for file in files]
    assert found == [True, True, False, False]
    assert "imported" in kinds_of(files[1])
    copied = [entry.kind for entry in of(rows_of(files[1].data), Entry) if entry.is_copy]
    assert copied == ["run_start", "message", "run_end"]
    assert [link.relation for link in of(rows_of(files[1].data), Link)] == ["forked_from", "imported_from"]


def test_a_clone_cut_among_the_entries_it_took_over_is_told() -> None:
    """Later parts cannot say which of their entries are the source's: the first part's notes do."""
    forked = {"forked_from": {"uid": "source-1", "at_turn": 4}, "imported_from": None}
    lineage = Lineage(forked_from=ForkedFrom(uid="source-1", at_turn=4), imported_from=None)
    files = parts_of(record(*runs(4), opening(lineage=forked), lineage=lineage), max_entries=7)
    assert files[0].notes == (
        "entries that the session took over when it was cloned stand in later parts too, which do not say so",
    )
    assert parts_of(record(*runs(4), opening(lineage=forked), *runs(4), lineage=lineage), max_entries=13)[0].notes == ()


def test_an_entry_larger_than_a_part_is_refused_with_its_counts() -> None:
    """One entry over the cap alone: `too_large`, 413, before anything is written."""
    with pytest.raises(SessionRefused, match="The file has 1 entries over 0 MB;") as refused:
        parts_of(record(line("run", "x" * 3000), line("run")), max_bytes=2500)
    assert (refused.value.kind, refused.value.status) == ("too_large", 413)


def test_over_the_cap_of_the_format_there_are_parts() -> None:
    """20 001 entries, which `export` refuses, are two files."""
    files = parts_of(record(*[line("run")] * 20_001))
    assert [file.entries for file in files] == [20_000, 2]


@pytest.mark.parametrize(
    "caps", [{"max_bytes": 0}, {"max_bytes": 64 * 1024 * 1024 + 1}, {"max_entries": 1}, {"max_entries": 20_001}]
)
def test_caps_that_cannot_be_kept_are_wrong_use(caps: dict[str, Any]) -> None:
    """A part holds its opening entry and one more, and no more than the format allows."""
    with pytest.raises(WrongUse, match="expected caps of up to"):
        parts_of(record(), **caps)


def test_a_long_uid_is_cut_to_make_room_for_the_number() -> None:
    """Uids of parts stay within 128 characters."""
    first, second = parts_of(record(opening(), *runs(2), uid="u" * 128), max_entries=5)
    assert (first.uid, second.uid) == ("u" * 128, "u" * 126 + "-2")
    taken(second.data)


def test_what_the_entries_do_not_tell_is_as_the_record_says() -> None:
    """A record without `session` entry, or whose facts its entries tell otherwise, keeps its facts in every part."""
    files = parts_of(record(*runs(4), title="Given", agent="told", state="ended"), max_entries=7)
    assert len(files) == 2
    for file in files:
        head = json.loads(file.data.split(b"\n", 1)[0])
        assert (head["title"], head["agent"], head["state"]) == ("Given", "told", "ended")


def test_strict_rules_hold_in_every_part() -> None:
    """A declared value in the uid, the title and the entries is in no part; the parts are still one chain."""
    secret = "tern-99-vermilion"
    source = record(opening(title=secret), *runs(2), *run(f"is it {secret}?"), title=secret, uid=f"s-{secret}")
    files = split(source, by=BY, now=NOW, redactor=StrictRedactor(declared=[secret]), max_entries=7)
    assert len(files) == 2
    assert not any(secret.encode() in file.data for file in files)
    assert not any(leaks_of(file.data, declared=[secret]) for file in files)
    assert [lines_of(file)[0]["title"] for file in files] == ["[redacted]", "[redacted]"]
    assert files[1].uid == f"{files[0].uid}-2"
    assert lines_of(files[1])[0]["lineage"]["forked_from"] == {"uid": files[0].uid, "at_turn": 2}
    for file in files:
        taken(file.data)
