"""Where `datalayer export` writes, what a store's record is told of it, and wrong uses of its options."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sessionlab.cli import app
from sessionlab.errors import WrongUse
from sessionlab.systems.datalayer import Store, import_session
from tests.conftest import SAMPLES
from tests.formats.datalayer_files import bytes_of, entry, head
from tests.systems.datalayer.stored import NOW, UID, kinds, store_of, turns


def invoke(*arguments: object) -> str:
    """Stdout of the command, which is to succeed."""
    done = CliRunner().invoke(app, ["datalayer", "export", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_record_is_not_told_of_a_file_that_was_never_written(tmp_path: Path) -> None:
    """The place is taken: wrong use, and no `exported` entry; written elsewhere there is one."""
    store = store_of(tmp_path / "store", *turns(2))
    (tmp_path / "taken.jsonl").write_text("mine")
    with pytest.raises(WrongUse, match="there already"):
        invoke(UID, "--store", store.folder, "-o", tmp_path / "taken.jsonl")
    assert "exported" not in kinds(store.record(UID).entries)
    invoke(UID, "--store", store.folder, "-o", tmp_path / "free.jsonl")
    assert kinds(store.record(UID).entries).count("exported") == 1


def test_a_stored_session_over_the_caps_can_be_split_and_stdout_holds_one_file(tmp_path: Path) -> None:
    """An import of 20 000 entries is over them: two files, both told of in the record; with -o - wrong use."""
    store = Store(tmp_path / "store")
    data = bytes_of(head(), *[entry("turn", asked="?")] * 20_000)
    uid = import_session(data, store, by="u", now=NOW).uid
    with pytest.raises(WrongUse, match="takes 2 files, and stdout holds one"):
        invoke(uid, "--store", store.folder, "--split", "-o", "-")
    invoke(uid, "--store", store.folder, "--split", "-o", tmp_path / "parts")
    assert len(list((tmp_path / "parts").iterdir())) == 2
    assert kinds(store.record(uid).entries).count("exported") == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--team", "--kinds", "turn"], "--team and --kinds"),
        (["--strict", "--also", "moon"], "no rule named moon; there are: home_folder"),
    ],
)
def test_wrong_uses_are_one_sentence(tmp_path: Path, options: list[str], said: str) -> None:
    """Named, with what there is; nothing is written."""
    with pytest.raises(WrongUse, match=said):
        invoke("5a7c0d12", SAMPLES / "claude_code" / "session", *options, "-o", tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_note_of_a_seat_is_said_once_by_the_seats_name(tmp_path: Path) -> None:
    """What was left out at each seat."""
    said = invoke("5a7c0d12", SAMPLES / "claude_code" / "session", "--team", "-o", tmp_path / "team.jsonl")
    assert said.count("repeated prompts: 1") == 1
    assert "seat 'root': left out as bookkeeping of the recorder (repeated prompts: 1)" in said
