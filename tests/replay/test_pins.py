"""Regression pins: the file, the run, and when it refuses because it would mean nothing (12.9)."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sessionlab.cli import pins as pins_command
from sessionlab.cli import replay as replay_command
from sessionlab.errors import ReplayRefused, WrongUse
from sessionlab.replay import pins
from tests.replay.model_server import Fault, Say, Server, serving
from tests.replay.sessions_to_replay import CONFIG, TWO_TURNS, write
from tests.replay.test_driver_command import FAITHFUL

app = typer.Typer()
replay_command.register(app)
pins_command.register(app)
ONE, TWO = "20261101T070000-0a0b0c0d", "20261102T070000-1a1b1c1d"
SLOT = {"id": 0, "n_ctx": 4096, "is_processing": False}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mecha home with two sessions of a local model."""
    monkeypatch.setenv("MECHA_HOME", str(tmp_path))
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)
    monkeypatch.delenv("MECHA_REGRESSION_PINS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seaside_pins.py").write_text(
        "from sessionlab.replay.surface import Tool\n"
        "TOOLS = [Tool(name) for name in ('fs_read', 'fs_list', 'web_fetch')]\n"
    )
    for session in (ONE, TWO):
        write(
            tmp_path / "sessions" / f"{session}.jsonl", *TWO_TURNS, config={**CONFIG, "provider": "local"}, id=session
        )
    return tmp_path


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of one slot that follows the recording."""
    with serving(*FAITHFUL) as found:
        found.slots = [SLOT]
        yield found


def run(*words: str) -> Any:
    """The command with these words."""
    return CliRunner().invoke(app, ["pins", *words])


def at(server: Server, *words: str) -> Any:
    """The command at a server."""
    return run("--base-url", server.v1, "--retries", "0", "--tools", "seaside_pins:TOOLS", *words)


def pinned(home: Path, text: str) -> None:
    """A pin file of this text."""
    (home / "regression-sessions.txt").write_text(text)


def test_every_pinned_session_is_replayed_and_said_to_be_ok(home: Path, server: Server) -> None:
    """12.9: prints ok per id; exit 0 when none failed; comments and blank lines are passed over."""
    pinned(home, f"# two of them\n\n{ONE}\n  {TWO}  \n")
    server.script = [*FAITHFUL, *FAITHFUL]
    found = at(server)
    assert (found.exit_code, found.output) == (0, f"ok {ONE}\nok {TWO}\n")


@pytest.mark.parametrize(
    "first",
    [
        Say(calls=(("fs_list", {"path": "src"}), ("fs_read", {"path": "a.md"}))),
        Say(calls=(("web_fetch", {}),)),
        Say("Nothing."),
    ],
)
def test_any_divergence_fails_arguments_included(home: Path, server: Server, first: Say) -> None:
    """12.9: FAIL per id, exit 1; the other pins are replayed all the same."""
    pinned(home, f"{ONE}\n{TWO}\n")
    rest = FAITHFUL[1:] if len(first.calls) == 2 else () if first.calls else (Say("Calm."),)
    server.script = [first, *rest, *FAITHFUL]
    found = at(server)
    assert found.exit_code == 1
    assert f"FAIL {ONE}" in found.output
    assert f"ok {TWO}\n" in found.output


def test_a_pin_that_cannot_be_replayed_fails_and_says_why(home: Path, server: Server) -> None:
    """A session that is gone is no regression, but no success either."""
    pinned(home, f"gone\n{ONE}\n")
    found = at(server)
    assert found.exit_code == 1
    assert "FAIL gone: no session matching 'gone'" in found.output
    assert f"ok {ONE}" in found.output


def test_a_model_that_fails_is_a_failed_pin(home: Path, server: Server) -> None:
    """No report is no success."""
    pinned(home, ONE)
    server.script = [Fault(500)]
    found = at(server)
    assert (found.exit_code, f"FAIL {ONE}: " in found.output, "HTTP 500" in found.output) == (1, True, True)


def test_ids_as_arguments_replace_the_file(home: Path, server: Server) -> None:
    """12.9: replay just these."""
    pinned(home, f"{ONE}\n")
    found = at(server, TWO)
    assert (found.exit_code, found.output) == (0, f"ok {TWO}\n")


@pytest.mark.parametrize("text", [None, "", "# nothing\n\n   \n"])
def test_a_missing_or_empty_pin_file_exits_with_1(home: Path, server: Server, text: str | None) -> None:
    """12.9: exit 1 when the pin file is missing or empty."""
    if text is not None:
        pinned(home, text)
    found = at(server, "--json")
    assert (found.exit_code, json.loads(found.output)["refused"]) == (1, "no_pins")
    assert server.asked == []


def test_the_file_named_by_the_environment(home: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """12.9: $MECHA_REGRESSION_PINS."""
    other = home / "mine.txt"
    other.write_text(TWO)
    pinned(home, ONE)
    monkeypatch.setenv("MECHA_REGRESSION_PINS", str(other))
    assert at(server).output == f"ok {TWO}\n"


def test_json_has_each_pin_with_its_report(home: Path, server: Server) -> None:
    """The reports, whole."""
    pinned(home, f"{ONE}\ngone\n")
    found = json.loads(at(server, "--json").output)
    assert [(one["id"], one["ok"]) for one in found] == [(ONE, True), ("gone", False)]
    assert (found[0]["report"]["on_divergence"], found[1]["report"]) == ("error", None)


class TestSlots:
    """It refuses unless the model server reports exactly one slot."""

    @pytest.mark.parametrize(
        ("slots", "props", "refused"),
        [
            ([SLOT], None, False),
            (None, {"total_slots": 1}, False),
            ({"error": "not enabled"}, {"total_slots": 1}, False),
            ([SLOT, SLOT], None, True),
            ([], {"total_slots": 1}, True),
            (None, {"total_slots": 4}, True),
            (None, {"total_slots": True}, True),
            (None, {}, True),
            (None, None, True),
            (b"<html>", b"[]", True),
        ],
    )
    def test_exactly_one_slot(self, server: Server, slots: Any, props: Any, refused: bool) -> None:
        """12.9: `/slots` as a list, or `total_slots` of `/props`; what does not tell is refused."""
        server.slots, server.props = slots, props
        if not refused:
            pins.one_slot(server.url)
            return
        with pytest.raises(ReplayRefused, match="exactly one") as why:
            pins.one_slot(server.url)
        assert why.value.kind == "server"

    def test_nobody_there(self) -> None:
        """A server that does not answer cannot tell."""
        with pytest.raises(ReplayRefused, match="does not tell how many slots"):
            pins.one_slot("http://127.0.0.1:9", timeout_s=0.2)

    def test_the_command_refuses_before_anything_is_replayed(self, home: Path, server: Server) -> None:
        """Refusing beats reporting fake divergence."""
        pinned(home, ONE)
        server.slots = [SLOT, SLOT]
        found = at(server)
        assert (found.exit_code, server.asked) == (1, [])
        assert "has 2 slots" in found.output

    def test_a_pin_of_another_provider_is_not_replayed_elsewhere(self, home: Path, server: Server) -> None:
        """The slots were counted at one server: what would be asked at another one fails."""
        pinned(home, ONE)
        found = run("--server", server.url, "--tools", "seaside_pins:TOOLS")
        assert (found.exit_code, server.asked) == (1, [])
        assert "the slots were counted at" in found.output

    def test_a_scripted_check_needs_no_server(self, home: Path) -> None:
        """A recording that answers itself has no slots."""
        pinned(home, ONE)
        assert run("-p", "scripted").output == f"ok {ONE}\n"

    @pytest.mark.parametrize(
        ("address", "root"),
        [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("https://dune/llm/v1/", "https://dune/llm"),
        ],
    )
    def test_the_root_of_an_address(self, address: str, root: str) -> None:
        """Where the slots are told, beside the interface."""
        assert pins.server_root(address) == root

    @pytest.mark.parametrize("address", ["dune:8080", "file:///etc/passwd", "http://"])
    def test_an_address_that_is_none(self, address: str) -> None:
        """Only HTTP is asked."""
        with pytest.raises(WrongUse, match="expected an address such as"):
            pins.server_root(address)


class TestAdd:
    """`pins add ID` pins a session that replays clean."""

    def test_a_clean_session_is_appended_by_its_whole_id(self, home: Path, server: Server) -> None:
        """A prefix is enough to name it; the file is its owner's alone."""
        found = at(server, "add", ONE[:10])
        path = home / "regression-sessions.txt"
        assert (found.exit_code, path.read_text()) == (0, f"{ONE}\n")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_it_is_appended_once_and_after_whole_lines(self, home: Path, server: Server) -> None:
        """A file without a last line end keeps its last pin."""
        pinned(home, f"# mine\n{TWO}")
        server.script = [*FAITHFUL, *FAITHFUL]
        assert at(server, "add", ONE).exit_code == 0
        assert "was pinned already" in at(server, "add", ONE).output
        assert (home / "regression-sessions.txt").read_text() == f"# mine\n{TWO}\n{ONE}\n"

    def test_a_session_that_diverges_is_not_pinned(self, home: Path, server: Server) -> None:
        """Arguments that differ are a divergence, too."""
        server.script[0] = Say(calls=(("fs_list", {"path": "src"}), ("fs_read", {"path": "a.md"})))
        found = at(server, "add", ONE)
        assert (found.exit_code, (home / "regression-sessions.txt").exists()) == (1, False)

    def test_add_without_an_id_is_wrong_use(self, server: Server) -> None:
        """Nothing is pinned by accident."""
        assert isinstance(at(server, "add").exception, WrongUse)
