"""`sessionlab mecha list | show | path | archive | unarchive`: the lines of 16.4 in both generations, and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sessionlab.cli import app as whole
from sessionlab.cli import mecha
from sessionlab.errors import AmbiguousName, UnknownName, WrongUse
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import call, line, message, result
from tests.systems.mecha.transcripts import stored

GOLDEN = next((SAMPLES / "mecha/golden").glob("*.jsonl"))
SESSION = "20261003T081500-5e1d20aa"


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    """The command line with these commands."""
    parent = typer.Typer()
    mecha.register(parent)
    return parent


def _run(app: typer.Typer, *arguments: str | Path, code: int = 0) -> str:
    found = CliRunner().invoke(app, ["mecha", *map(str, arguments)], catch_exceptions=False)
    assert found.exit_code == code
    return found.stdout


def _json(app: typer.Typer, *arguments: str | Path) -> Any:
    return json.loads(_run(app, *arguments, "--json"))


def test_list_in_both_generations(app: typer.Typer) -> None:
    """16.4: id, time, model to 24, created title; the later one adds the kind, 9 wide."""
    given = ("list", "--sessions", GOLDEN.parent)
    model = "claude-opus-5".ljust(24)
    assert _run(app, *given, "--generation", "a") == f"{SESSION}  2026-10-03 08:15  {model}  count the birds\n"
    assert _run(app, *given) == f"{SESSION}  2026-10-03 08:15  run        {model}  count the birds\n"


def test_list_cut_and_counted(app: typer.Typer, tmp_path: Path) -> None:
    """How many more when cut; a kind nobody knows is —; files without a header are said in the later generation."""
    for number in range(3):
        stored(tmp_path, f"s{number}", kind="hologram")
    (tmp_path / "x.prompts.jsonl").write_text("{}\n")
    lines = _run(app, "list", "--sessions", tmp_path, "-n", "2").splitlines()
    assert lines == [
        "s2  2026-11-01 07:00  —          plover-3",
        "s1  2026-11-01 07:00  —          plover-3",
        "… 1 more (-n 3)",
        "1 file has no readable header",
    ]
    assert len(_run(app, "list", "--sessions", tmp_path, "-n", "2", "--generation", "a").splitlines()) == 3
    found = _json(app, "list", "--sessions", tmp_path, "-n", "1")
    assert (found["more"], found["skipped"], len(found["sessions"])) == (2, 1, 1)
    assert found["sessions"][0] == {
        "id": "s2", "file": str(tmp_path / "s2.jsonl"), "created_at": "2026-11-01T07:00:00Z", "provider": "shore",
        "model": "plover-3", "workspace": "/home/eve/shore", "title": None, "kind": None, "archived": False,
        "archived_at": None,
    }  # fmt: skip


def test_an_empty_store_names_its_directory(app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """16.4: one line; the directory of the environment when none is given."""
    monkeypatch.setenv("MECHA_SESSION_DIR", str(tmp_path / "none"))
    assert _run(app, "list") == f"no session in {tmp_path}/none\n"


def test_show_is_what_the_general_command_shows(app: typer.Typer) -> None:
    """The same lines as `sessionlab show`, which reads every format, but for its blank ones."""
    for sample in ("golden", "damaged"):
        [path] = (SAMPLES / "mecha" / sample).glob("*.jsonl")
        general = CliRunner().invoke(whole, ["show", path.stem, str(path)], catch_exceptions=False).stdout
        here = _run(app, "show", path.stem, "--sessions", path.parent)
        assert [each for each in here.splitlines() if each] == [each for each in general.splitlines() if each]


def test_show_in_both_generations(app: typer.Typer, tmp_path: Path) -> None:
    """Head; › ⟐ ✓ ✗ →; a first line cut after 120 characters; thinking and images left out; control signs shown."""
    path = stored(tmp_path, "s1")
    with path.open("ab") as file:
        for each in (
            message("user", "count\nall", {"type": "image", "media_type": "i", "data": ""}),
            message("assistant", {"type": "thinking", "text": "hm"}, "Well.", call("c1", b="x" * 200, a=1)),
            message("user", result("c1", "y" * 121 + "\nmore"), result("c2", "boom", is_error=True), "\x1b[2J"),
            message("user", "no more budget", harness=True),
            line(record="rewrite"),
        ):
            file.write(each + b"\n")
    lines = _run(app, "show", "s", "--sessions", tmp_path).splitlines()
    arguments = ('{"a":1,"b":"' + "x" * 200)[:120]
    assert lines == [
        "s1  plover-3  shore  2026-11-01 07:00:00", "› count", "all", "Well.", f"→ fs_read {arguments}…",
        f"✓ {'y' * 120}…", "✗ boom", "› ␛[2J", "⟐ no more budget",
    ]  # fmt: skip
    assert _run(app, "show", "s", "--sessions", tmp_path, "--generation", "a").splitlines()[-1] == "› no more budget"


def test_show_json_and_path(app: typer.Typer) -> None:
    """The file's bytes unchanged, a torn line included; and the file's path."""
    shown = CliRunner().invoke(app, ["mecha", "show", "2026", "--sessions", str(GOLDEN.parent), "--json"])
    assert shown.stdout_bytes == GOLDEN.read_bytes()
    assert _run(app, "path", "20261003", "--sessions", GOLDEN.parent) == f"{GOLDEN}\n"
    assert _json(app, "path", "20261003", "--sessions", GOLDEN.parent) == str(GOLDEN)


def test_archive_and_back(app: typer.Typer, tmp_path: Path) -> None:
    """By a prefix, or by a whole id though another one begins with it; what was done is said."""
    stored(tmp_path, "s1")
    stored(tmp_path, "s10")
    there = ("--sessions", tmp_path)
    assert _run(app, "archive", "s10", *there, "--now", "2026-11-30T12:00:00") == "s10 archived\n"
    assert (tmp_path / ".archived/s10").read_text() == "2026-11-30T12:00:00+00:00"
    assert _run(app, "archive", "s10", *there) == "s10 was archived already\n"
    assert _json(app, "archive", "s1", *there) == {"id": "s1", "archived": True, "changed": True}
    rows = _json(app, "list", *there)["sessions"]
    assert [(row["id"], row["archived"]) for row in rows] == [("s10", True), ("s1", True)]
    assert rows[0]["archived_at"] == "2026-11-30T12:00:00Z"
    assert _run(app, "unarchive", "s1", *there) == "s1 unarchived\n"
    assert _json(app, "unarchive", "s1", *there) == {"id": "s1", "archived": False, "changed": False}
    (tmp_path / "s10.jsonl").unlink()
    assert _run(app, "unarchive", "s10", *there) == "s10 unarchived\n"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("show", "zz"), UnknownName, "no session matching 'zz'"),
        (("path", "s"), AmbiguousName, "'s' matches 2 sessions"),
        (("archive", "../escape"), UnknownName, "no session matching"),
        (("unarchive", "../escape"), UnknownName, "no session matching"),
        (("list", "--kind", "hologram"), WrongUse, "expected one of chat"),
        (("list", "--days", "-1"), WrongUse, "days"),
    ],
)
def test_wrong_use(app: typer.Typer, tmp_path: Path, arguments: tuple[str, ...], error: type, words: str) -> None:
    """The errors of 16.3, and arguments that cannot be meant."""
    stored(tmp_path, "s1")
    stored(tmp_path, "s2")
    with pytest.raises(error, match=words):
        _run(app, *arguments, "--sessions", tmp_path)
