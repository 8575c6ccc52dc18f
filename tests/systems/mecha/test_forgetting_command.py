"""`delete` on the command line: arguments in; text, JSON and exit codes out; and a rehearsal that changes nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest
import typer

from sessionlab import cli
from sessionlab.cli.mecha_delete import delete
from sessionlab.systems.mecha.forgetting import forget, places
from tests.systems.mecha.forgetting.home import (
    GONE,
    STAYS,
    AnsweringGraph,
    graph_program,
    holding,
    row,
    seeded,
    small,
    write,
)


class Told(NamedTuple):
    """What a command ended with and said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it said as JSON."""
        return json.loads(self.out)


Run: TypeAlias = Callable[..., Told]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the mecha home is to be."""
    return tmp_path / "home"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path, tmp_path: Path) -> Run:
    """Runs the command in an environment that has the home, and on the path the graph's program alone."""
    graph_program(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("MECHA_HOME", str(home))
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)

    def command(*arguments: object) -> Told:
        app = typer.Typer()
        app.command()(delete)
        monkeypatch.setattr(cli, "app", app)
        monkeypatch.setattr(sys, "argv", ["sessionlab", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        return Told(ended.value.code, *capsys.readouterr())

    return command


def test_delete_says_what_each_store_lost_and_ends_with_0(run: Run, home: Path, tmp_path: Path) -> None:
    """A line per store, what is kept and why, and the end; the graph's program was found by its name."""
    seeded(home)
    told = run(GONE)
    assert (told.code, told.err) == (0, "")
    lines = [line.split() for line in told.out.splitlines()]
    assert ["comparisons", "lost", "2"] in lines
    assert ["workspace", "lost", "3"] in lines
    assert "kept: the knowledge graph keeps a tombstone" in told.out
    assert told.out.endswith(f"{GONE}: deleted\n")
    assert (tmp_path / "bin" / "calls").exists()
    assert holding(home, GONE) == []


def test_json_is_the_report_of_section_15_5(run: Run, home: Path) -> None:
    """The five members, and nothing else on stdout."""
    small(home)
    told = run(GONE, "--json")
    assert told.code == 0
    assert list(told.json) == ["id", "removed", "residue", "errors", "complete"]
    assert (told.json["id"], told.json["complete"], told.json["removed"][-1]) == (GONE, True, ["sessions", 1])


def test_dry_run_shows_the_walk_and_changes_nothing(run: Run, home: Path, tmp_path: Path) -> None:
    """Every file and folder is there with the same bytes, mode and time; nothing was asked of the graph."""
    seeded(home)
    before = _everything(home)
    told = run(GONE, "--dry-run", "--json")
    assert _everything(home) == before
    assert not (tmp_path / "bin" / "calls").exists()
    assert told.code == 0
    assert (told.json["dry_run"], told.json["complete"]) == (True, True)
    assert run(GONE, "--dry-run").out.endswith(f"{GONE}: would be deleted; nothing was changed\n")
    assert _everything(home) == before
    assert {**run(GONE, "--json").json, "dry_run": True} == told.json


def test_dry_run_foresees_what_is_left_and_what_fails(run: Run, home: Path) -> None:
    """A file that would still name the session is told before, as it is after."""
    seeded(home)
    note = write(home / "questions" / "q9.json", row(note=f"see {GONE}"))
    before = _everything(home)
    told = run(GONE, "--dry-run")
    assert told.code == 1
    assert f"still there: {note}" in told.out
    write(home / "learning" / "rules" / "x.learned.toml", "[[rules]")
    told = run(GONE, "--dry-run")
    assert told.code == 1
    assert "failed: learning store: " in told.out
    assert told.out.endswith("would be partly deleted; nothing was changed\n")
    (home / "learning" / "rules" / "x.learned.toml").unlink()
    assert {name: facts for name, facts in _everything(home).items() if name != "learning/rules"} == {
        name: facts for name, facts in before.items() if name != "learning/rules"
    }


def _everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Mode, time and bytes of all there is."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        facts = path.stat()
        found[str(path.relative_to(folder))] = (
            facts.st_mode,
            facts.st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
    return found


def test_partly_deleted_is_exit_code_1_listed_and_finished_by_the_same_command(run: Run, home: Path) -> None:
    """The graph's program is missing although the session was distilled; then it is there."""
    seeded(home)
    told = run(GONE, "--graph", "no-such-program-here")
    assert told.code == 1
    assert "failed: graph: this session was distilled" in told.out
    assert "partly deleted" in told.out
    listed = run("--unfinished")
    assert (listed.code, listed.out) == (1, f"{GONE}\n")
    assert run("--unfinished", "--json").json == [GONE]
    assert run(GONE).code == 0
    listed = run("--unfinished")
    assert (listed.code, listed.out) == (0, "no delete is unfinished\n")


def test_a_file_that_still_names_the_session_is_exit_code_1(run: Run, home: Path) -> None:
    """Deleted, but not without a trace."""
    small(home)
    write(home / "questions" / "q9.json", row(note=f"see {GONE}"))
    told = run(GONE)
    assert told.code == 1
    assert "q9.json" in told.out
    assert told.out.endswith(f"{GONE}: deleted\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [], [GONE, "--unfinished"], [GONE[:-1]], [f"../{GONE}"], [GONE, "--store", "outbox"], [GONE, "--store", "=x"],
        [GONE, "--store", "oubox=/x"], [GONE, "--nothing"], [GONE, STAYS], [GONE, "--graph-seconds", "-1"],
    ],
)  # fmt: skip
def test_wrong_use_is_exit_code_2_and_changes_nothing(run: Run, home: Path, arguments: list[str]) -> None:
    """What cannot be meant is said, before anything is touched."""
    seeded(home)
    before = _everything(home)
    told = run(*arguments)
    assert (told.code, told.out) == (2, "")
    assert told.err
    assert _everything(home) == before


def test_places_come_from_the_arguments_then_from_the_environment(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a home that is given, the sessions are its own, whatever the environment says of another one's."""
    other = tmp_path / "other"
    for folder in (home, other):
        small(folder)
    monkeypatch.setenv("MECHA_SESSION_DIR", str(tmp_path / "nowhere"))
    assert run(GONE).code == 2
    assert run(GONE, "--home", other).code == 0
    assert run(GONE, "--sessions", home / "sessions").code == 0
    small(home)
    (home / "sessions").rename(tmp_path / "nowhere")
    write(tmp_path / "drafts" / "d.json", row(session_id=GONE))
    told = run(GONE, "--store", f"outbox={tmp_path / 'drafts'}", "--json")
    assert ["outbox", 1] in told.json["removed"]


def test_what_files_are_called_cannot_steer_the_terminal(run: Run, home: Path) -> None:
    """Control characters in a name are shown as signs."""
    small(home)
    write(home / "questions" / "\x1b[31mq.json", GONE)
    told = run(GONE)
    assert "\x1b" not in told.out
    assert "␛[31mq.json" in told.out


def test_a_rehearsal_and_the_delete_agree_on_every_count(tmp_path: Path) -> None:
    """The walk is the same one; only the disk is another."""
    where = seeded(tmp_path / "home")
    rehearsed = forget(where, GONE, graph=AnsweringGraph(), dry_run=True)
    real = forget(where, GONE, graph=AnsweringGraph())
    assert rehearsed.removed == real.removed
    several = {
        "messages": 2, "scene": 3, "comparisons": 2, "validation ledger": 2, "artifact probes": 2, "proposals": 3,
        "learned rules": 2, "learning logs": 3, "appraisals": 3, "draft forecasts": 2, "workspace": 3,
    }  # fmt: skip
    assert dict(real.removed) == {name: several.get(name, 1) for name, _ in real.removed}
    assert [path.name for path in (where.sessions / ".archived").iterdir()] == [STAYS]
    assert places(tmp_path / "home") == where
