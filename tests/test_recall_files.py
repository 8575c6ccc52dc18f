"""Recall over many files of every format, and its command."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from sessionlab.cli import recall as command
from sessionlab.errors import WrongUse
from sessionlab.paths import find
from sessionlab.recall import sweep
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import message, rewrite, said
from tests.systems.mecha.recalled import write

app = typer.Typer()
command.register(app)
GOLDEN = next((SAMPLES / "mecha/golden").glob("*.jsonl"))


@app.command("nothing")
def _nothing() -> None:
    """A second command, so that the first one is named."""


def _run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["recall", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three transcripts, c written last: a holds two gulls, b none, c one that a rewrite dropped."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    write(folder / "a.jsonl", message("user", "a gull"), message("assistant", "the GULL again"))
    write(folder / "b.jsonl", message("user", "a wren"))
    write(folder / "c.jsonl", message("user", "an old gull"), rewrite(said("user", "summary")))
    for number, name in enumerate("abc"):
        os.utime(folder / f"{name}.jsonl", (1_790_000_000 + number, 1_790_000_000 + number))
    return folder


def test_newest_file_first_and_what_cannot_match_is_not_read(store: Path) -> None:
    """Two of three files are read; blocks come newest file first, in the order of each union."""
    found = sweep(find([store]), "gull")
    assert [(Path(one.uri).stem, one.hit.message) for one in found.hits] == [("c", 0), ("a", 0), ("a", 1)]
    assert (found.files, found.read, found.left, found.more, found.messages) == (3, 2, 0, 0, 4)
    assert {one.format for one in found.hits} == {"mecha"}


def test_enough_is_enough_unless_all_are_counted(store: Path) -> None:
    """At the cap the older files are left; counting reads them and shows no more."""
    first = sweep(find([store]), "gull", max_matches=1)
    assert (len(first.hits), first.more, first.left) == (1, 0, 2)
    every = sweep(find([store]), "gull", max_matches=1, count_all=True)
    assert (len(every.hits), every.more, every.left) == (1, 2, 0)
    two = sweep(find([store]), "gull", max_matches=2)
    assert (len(two.hits), two.more, two.left) == (2, 1, 0)


def test_every_format_by_its_pooled_bodies() -> None:
    """One word that each format's samples hold: found in each, one index per message, never the picture's data."""
    found = sweep(find([SAMPLES / "corpus"]), "the", max_matches=5000)
    assert {one.format for one in found.hits} == {"claude_code", "datalayer", "gg", "mecha"}
    keys = [(one.uri, one.hit.pool, one.hit.message, one.hit.block) for one in found.hits]
    assert len(set(keys)) == len(keys)
    assert {one.hit.kind for one in found.hits} <= {"text", "thinking", "tool_use", "tool_result", "image"}


def test_compiled_and_plain_looks_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Much input is looked at by pyarrow, little by Python: the same blocks."""
    for query in ("NPM test", "é", "26 times", "page.test.js"):
        few = sweep(find([SAMPLES / "corpus"]), query, max_matches=500)
        monkeypatch.setattr("sessionlab.recall.files.COMPILED_BYTES", 0)
        assert sweep(find([SAMPLES / "corpus"]), query, max_matches=500) == few
        monkeypatch.undo()


def test_packed_files_open_files_and_folders_of_others(tmp_path: Path) -> None:
    """A gzip file is unpacked, an open file read, a file no format claims passed over."""
    (tmp_path / "g.jsonl.gz").write_bytes(gzip.compress(GOLDEN.read_bytes()))
    (tmp_path / "notes.txt").write_text("wren, but no session")
    found = sweep(find([tmp_path, io.BytesIO(GOLDEN.read_bytes())]), "wren")
    assert len(found.hits) == 2
    assert found.read == 2
    assert found.hits[0].session_id == "mecha:20261003T081500-5e1d20aa"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A cut gzip stream and a file that has gone: named with the reason, exit code 1."""
    whole = gzip.compress(GOLDEN.read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) - 40])
    write(tmp_path / "gone.jsonl", message("user", "wren"))
    files = find([tmp_path])
    (tmp_path / "gone.jsonl").unlink()
    assert {Path(uri).name for uri, _ in sweep(files, "wren").unreadable} == {"cut.jsonl.gz", "gone.jsonl"}
    assert "cut.jsonl.gz: the compressed stream ends" in _run("wren", tmp_path, code=1).stdout


def test_a_blank_query_is_wrong_use(store: Path) -> None:
    """Nothing is searched for nothing."""
    with pytest.raises(WrongUse, match="blank"):
        sweep(find([store]), "  ")


def test_command_as_text(store: Path) -> None:
    """Session and file, then blocks as in section 14; what was left is said; control characters are shown."""
    write(store / "b.jsonl", message("user", "a \x1b[31mwren"))
    text = _run("wren", store).stdout
    assert text == (
        f"── mecha:r1  {store}/b.jsonl\n[message 0 · user · text]\n  a ␛[31mwren\n\n1 matching block in 1 of 3 files\n"
    )
    assert _run("absent", store).stdout == "no match for 'absent' in 3 files\n"


def test_command_as_json(store: Path) -> None:
    """One object per matching block: message index, role, kind, lines and their text."""
    told = json.loads(_run("old gull", store, "--json").stdout)
    assert told["matches"] == [
        {
            "session_id": "mecha:r1", "uri": str(store / "c.jsonl"), "format": "mecha", "pool": "message",
            "message": 0, "role": "user", "block": 0, "kind": "text",
            "excerpts": [{"start_line": 1, "end_line": 1, "text": "an old gull"}],
        }
    ]  # fmt: skip
    assert {name: told[name] for name in ("query", "more", "messages", "files", "files_read", "files_left")} == {
        "query": "old gull", "more": 0, "messages": 4, "files": 3, "files_read": 2, "files_left": 0,
    }  # fmt: skip


def test_command_for_one_session_a_kind_and_days() -> None:
    """`--session` takes an id or its beginning; `--kind` and `--days` narrow to those sessions."""
    folder = SAMPLES / "mecha"
    told = json.loads(_run("WREN", folder, "--session", "20261003T", "--json").stdout)
    assert [(one["message"], one["kind"]) for one in told["matches"]] == [(2, "tool_result")]
    assert told["files"] == 1
    assert json.loads(_run("wren", folder, "--kind", "web", "--json").stdout)["files"] == 0
    late = _run("wren", folder, "--days", 2, "--now", "2026-10-04T00:00:00", "--json")
    assert json.loads(late.stdout)["matches"]
