"""Check: the verdict on a file, its counts and notes; files too large to be held; what a shared file still leaks."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from sessionlab.errors import LoadError
from sessionlab.systems.datalayer import check, check_file, leaks_of
from sessionlab.tables import Problem
from tests.formats.datalayer_files import AT, bytes_of, entry, head, of, rows_of, team
from tests.systems.datalayer.written import MEBI

SAMPLES = Path(__file__).parents[3] / "data-samples" / "datalayer"


def test_a_file_that_is_taken_is_counted() -> None:
    """Sessions, turns and entries as they stand in the file; bytes as received."""
    data = bytes_of(head(entries=3, turns=2), entry("run"), entry("turn"), entry("turn"))
    verdict = check(data)
    assert (verdict.ok, verdict.kind, verdict.sessions, verdict.turns, verdict.entries) == (True, "session", 1, 2, 3)
    assert (verdict.bytes, verdict.notes) == (len(data), ())
    assert (verdict.name, verdict.status, verdict.line, verdict.sentence) == (None, None, None, None)


def test_a_file_that_is_refused_says_why() -> None:
    """Name, status, line and sentence of the refusal, and the size."""
    data = bytes_of(head(), {**entry("run"), "kind": "shell"})
    verdict = check(data)
    assert (verdict.ok, verdict.name, verdict.status, verdict.line) == (False, "unknown_kind", 422, 2)
    assert str(verdict.sentence).startswith("Line 2 is an entry of kind 'shell', which the record does not have")
    assert (verdict.kind, verdict.sessions, verdict.turns, verdict.entries, verdict.bytes) == (None, 0, 0, 0, len(data))


def test_wrong_counts_in_the_head_are_notes() -> None:
    """A head whose counts, kinds and state the entries do not bear out is taken, and said."""
    data = bytes_of(head(entries=7, turns=3, kinds=["run"]), entry("turn"), entry("ended", state="ended"))
    assert check(data).notes == (
        "line 1: the head says 7 entries, the file holds 2",
        "line 1: the head says 3 turns, the file holds 1",
        "line 1: the head does not list the kinds ended, turn",
        "line 1: the head says open, the last entry that states one says ended",
    )


def test_replaced_utf8_is_a_note() -> None:
    """An invalid byte is replaced, taken and told."""
    verdict = check(bytes_of(head(title="Olstand", entries=0)).replace(b"Ol", b"\xd6l"))
    assert verdict.ok
    assert verdict.notes == ("the file is not valid UTF-8; each invalid sequence is read as U+FFFD",)


def test_seats_that_do_not_fit_are_notes() -> None:
    """A team file whose seats and sessions differ is taken, and said."""
    data = bytes_of(team(), head(uid="lead-0001", agent="navigator"), head(uid="other-001", agent="x"))
    assert check(data).notes == (
        "line 3: the session other-001 sits at none of the team's seats",
        "line 1: the session scout-001 of a seat is not in the file",
    )


def test_raw_separators_alone_are_told() -> None:
    """The importer's refusal stands; a note says that the tables read the file, and what would mend it."""
    verdict = check(bytes_of(head(entries=1), {**entry("run"), "summary": "a\u2028b"}))
    assert (verdict.ok, verdict.name, verdict.line) == (False, "not_json", 2)
    (note,) = verdict.notes
    assert note == (
        "only U+0085, U+2028 or U+2029 raw in a string stands against it: the tables read it split at LF; "
        "written as escapes they would be taken"
    )
    assert check(bytes_of(head(), "{broken \u2028")).notes == ()


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_notes_and_refusals_are_those_of_the_tables(sample: str) -> None:
    """For every sample: a refusal where the tables have one, else as many notes with the same words and lines."""
    files = [path for path in sorted((SAMPLES / sample).iterdir()) if path.name.endswith(".jsonl")]
    assert files
    for path in files:
        verdict = check_file(path)
        problems = of(rows_of(path.read_bytes()), Problem)
        refused = [problem for problem in problems if problem.severity == "refusal"]
        assert verdict.ok != bool(refused) or "raw_line_separator" in {problem.kind for problem in problems}
        if refused:
            assert (verdict.name, verdict.line, verdict.sentence) == (
                refused[0].kind, refused[0].line, refused[0].detail,
            )  # fmt: skip
        elif verdict.ok:
            told = [f"line {note.line}: {note.detail}" for note in problems if note.kind != "invalid_utf8"]
            assert [note for note in verdict.notes if note.startswith("line ")] == told


def test_a_file_over_the_cap_is_counted_without_being_held(tmp_path: Path) -> None:
    """A sparse file of 300 MiB: the sentence tells its lines and megabytes; the verdict its bytes."""
    path = tmp_path / "huge.session.jsonl"
    with path.open("wb") as file:
        file.write(bytes_of(head(), entry("run"), entry("run")))
        file.truncate(300 * MEBI)
    verdict = check_file(path)
    assert (verdict.name, verdict.status, verdict.bytes) == ("too_large", 413, 300 * MEBI)
    assert str(verdict.sentence).startswith("The file has 3 entries over 300 MB;")


def test_a_compressed_file_is_judged_as_it_lies_there(tmp_path: Path) -> None:
    """The importer is sent bytes: those of a gzip are not JSON."""
    import gzip

    path = tmp_path / "a.session.jsonl.gz"
    path.write_bytes(gzip.compress(bytes_of(head()), mtime=0))
    assert check_file(path).name in {"not_json", "unversioned"}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A path that is not there, and a folder."""
    for path in (tmp_path / "absent.session.jsonl", tmp_path):
        with pytest.raises(LoadError, match="expected a session file, and it cannot be read"):
            check_file(path)


def test_collection_is_left_as_it_was() -> None:
    """The cycle collector is paused for a check, and is on or off afterwards as it was before."""
    data = bytes_of(head())
    assert gc.isenabled()
    check(data)
    assert gc.isenabled()
    gc.disable()
    try:
        check(data)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_leaks_are_named_by_line_and_never_by_value() -> None:
    """A title, a header pair and a declared value that the exact rules leave; lines that are no JSON are text."""
    secret = "Zq81-vermilion-tern"
    data = bytes_of(
        head(title=f"use {secret}"),
        entry("tool_call", headers=[{"name": "Authorization", "value": "kestrel-9921-plover"}]),
    )
    found = leaks_of(data, declared=[secret])
    assert {finding.place.split(".")[0] for finding in found} == {"line 1", "line 2"}
    assert secret not in json.dumps(found)
    assert leaks_of(bytes_of(head(), entry("turn", asked="How high?", answered="Two metres."))) == []
    assert [finding.place for finding in leaks_of(b"{broken " + secret.encode(), declared=[secret])] == ["line 1"]


def test_an_escaped_quote_hides_no_nesting() -> None:
    """Brackets are told from text whatever backslashes stand before a quote: deep lines are still `not_json`."""
    deep = "[" * 2000 + "]" * 2000
    for before in ('"\\\\"', '"\\\\\\""', '"\\""', '"a\\\\\\\\"', '"\\n\\""'):
        line = f'{{"record_type": "entry", "kind": "run", "at": "{AT}", "payload": {{"a": {before}, "b": {deep}}}}}'
        assert (check(bytes_of(head(), line)).name, check(bytes_of(head(), line)).line) == ("not_json", 2)
        shallow = line.replace(deep, json.dumps(["[{" * 2000, '\\"[[' * 300]))
        assert check(bytes_of(head(entries=1), shallow)).ok
