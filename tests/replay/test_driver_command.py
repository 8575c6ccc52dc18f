"""`sessionlab replay`: what it prints, its exit codes, and that it asks nobody it was not told of (12.4 to 12.8)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sessionlab.cli import pins as pins_command
from sessionlab.cli import replay as replay_command
from sessionlab.errors import UnknownName, WrongUse
from tests.conftest import ROOT
from tests.formats.mecha_lines import line
from tests.replay.model_server import Fault, Say, Server, serving
from tests.replay.sessions_to_replay import CONFIG, TWO_TURNS, write

app = typer.Typer()
replay_command.register(app)
pins_command.register(app)
ID = "20261101T070000-0a0b0c0d"
GOLDEN = next((ROOT / "data-samples" / "mecha" / "golden").rglob("*.jsonl"))
FAITHFUL = (
    Say(calls=(("fs_list", {"path": "."}), ("fs_read", {"path": "a.md"}))), Say("Plovers."),
    Say(calls=(("web_fetch", {"url": "http://news"}),)), Say("Calm."),
)  # fmt: skip
TOOLS = """
from sessionlab.replay.surface import Tool
made = []
def tools(workspace):
    assert workspace.is_dir()
    def run(given):
        return made.append(given) or "for real"
    return [Tool(name, run=run) for name in ("fs_read", "fs_list", "web_fetch")]
NOTHING = 3
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mecha home with one session, and a module of tools in the working directory."""
    monkeypatch.setenv("MECHA_HOME", str(tmp_path))
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)
    monkeypatch.delenv("MECHA_REGRESSION_PINS", raising=False)
    monkeypatch.setenv("SESSIONLAB_RATES", str(write_rates(tmp_path)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seaside_tools.py").write_text(TOOLS)
    write(tmp_path / "sessions" / f"{ID}.jsonl", *TWO_TURNS)
    yield tmp_path
    sys.modules.pop("seaside_tools", None)


def write_rates(tmp_path: Path) -> Path:
    """Rates for the provider of the session: a dollar a million tokens in, two out."""
    path = tmp_path / "rates.toml"
    path.write_text("[providers.shore]\ninput_price_per_mtok = 1.0\noutput_price_per_mtok = 2.0\n")
    return path


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that follows the recording."""
    with serving(*FAITHFUL) as found:
        yield found


def run(*words: str, typed: str | None = None) -> Any:
    """The command with these words."""
    return CliRunner().invoke(app, ["replay", *words], input=typed)


def at(server: Server, *words: str) -> Any:
    """The command at a server."""
    return run(ID[:8], "--base-url", server.v1, "--retries", "0", "--tools", "seaside_tools:tools", *words)


def test_the_scripted_model_checks_a_recording_by_itself() -> None:
    """The golden sample follows itself: 3 calls over 3 turns, and its notes are said."""
    found = run(str(GOLDEN), "-p", "scripted", "--on-divergence", "error")
    assert found.exit_code == 0
    assert "matched: 3 calls over 3 turns" in found.output
    assert "2 config records" in found.output
    assert "steering cannot be re-injected" in found.output


def test_the_report_as_json_has_the_members_of_the_specification(server: Server) -> None:
    """12.8: one compact object, its members in order of their names."""
    found = at(server, "--json")
    assert found.exit_code == 0
    [text] = found.output.splitlines()
    told = json.loads(text)
    assert list(told) == sorted(told)
    assert text == json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    wanted = {
        "divergences": [], "final_text": "Calm.", "model": "plover-3", "provider": "shore", "recorded_calls": 3,
        "replayed_calls": 3, "session": ID, "stopped_early": False, "turns": 2, "legacy_provenance_calls": 0,
        "provenance_note": None,
    }  # fmt: skip
    assert {name: told[name] for name in wanted} == wanted
    assert told["outcome"]["cost_usd"] == pytest.approx((40 * 1.0 + 20 * 2.0) / 1e6)
    assert any("sampler of this replay is not pinned" in note for note in told["notes"])


def test_arguments_alone_exit_with_1_in_error_and_0_in_stop(server: Server) -> None:
    """12.4: exit status; the difference is told."""
    server.script[0] = Say(calls=(("fs_list", {"path": "src"}), ("fs_read", {"path": "a.md"})))
    server.script += [*server.script]
    first = at(server)
    assert (first.exit_code, "0 structural differences, 1 of arguments only" in first.output) == (0, True)
    assert 'expected {"path":"."}, found {"path":"src"}' in first.output
    assert at(server, "--on-divergence", "error").exit_code == 1


def test_times_says_k_of_n(server: Server) -> None:
    """One divergent replay is a sample: how many of them follow is what counts."""
    server.script += [Say("Nothing."), Say("Nothing."), *FAITHFUL]
    found = at(server, "--times", "3", "--on-divergence", "error")
    assert found.exit_code == 1
    assert f"session {ID}: 2 of 3 replays followed the recording" in found.output
    assert "replay 2: call 1: missing, fs_list" in found.output


def test_times_as_json_has_every_report(server: Server) -> None:
    """The same as JSON."""
    server.script += FAITHFUL
    told = json.loads(at(server, "--times", "2", "--json").output)
    assert (told["times"], told["clean"], [one["session"] for one in told["reports"]]) == (2, 2, [ID, ID])


def test_a_dry_run_asks_nothing(server: Server) -> None:
    """What would be asked of whom, by which tools; not a request is made."""
    found = at(server, "--dry-run")
    assert (found.exit_code, server.asked) == (0, [])
    assert f"asked at {server.v1}; nothing was asked" in found.output
    assert "tools: fs_read (today), fs_list (today), web_fetch (today)" in found.output
    assert "turns: 2, recorded calls: 3, on divergence: stop" in found.output
    assert json.loads(at(server, "--dry-run", "--json").output)["address"] == server.v1


def test_a_missing_workspace_is_said(server: Server) -> None:
    """12.5: the recorded workspace is not on this disk."""
    assert "/nowhere/shore is not on this disk: an empty scratch directory is used" in at(server).output


def test_nobody_is_asked_where_no_terminal_is_and_nothing_runs(server: Server) -> None:
    """In live, under the mode ask, its input no terminal: refused."""
    server.script = [Say(calls=(("web_fetch", {"url": "x"}),)), Say("Done.")]
    found = at(server, "--on-divergence", "live", "--json")
    assert "nobody is here to be asked" in str(server.asked[1].body)
    assert json.loads(found.output)["outcome"]["tool_denied"] == 1
    assert sys.modules["seaside_tools"].made == []


def test_a_person_at_the_terminal_is_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A yes runs it, nothing or n does not, anything else is the reason."""
    from io import StringIO

    from sessionlab.formats.mecha.wire import ToolUse
    from sessionlab.replay.surface import Tool, build

    offered = build(["mail"], mode="live", today=[Tool("mail", run=lambda _: "x", send=True)])["mail"]
    answers = []
    for typed in ("y\n", "\n", "n\n", "not \x1b[2Jtoday\n", ""):
        monkeypatch.setattr(sys, "stdin", StringIO(typed))
        answers.append(replay_command._approve(ToolUse("c", "mail", {"to": "\x1b[31meve"}), offered))
    assert answers == [None, "", "", "not \x1b[2Jtoday", ""]
    asked = capsys.readouterr().err
    assert "mail (it sends something out)" in asked
    assert "\x1b" not in asked


def test_allow_runs_real_tools_after_the_divergence(server: Server) -> None:
    """In live, under the mode allow."""
    server.script = [Say(calls=(("web_fetch", {"url": "x"}),)), Say("Done.")]
    found = at(server, "--on-divergence", "live", "--permission-mode", "allow")
    assert found.exit_code == 0
    assert sys.modules["seaside_tools"].made == [{"url": "x"}]
    assert "went on with the tools of today: call 1 of the recording was fs_list" in found.output


def test_a_replay_records_itself(server: Server, tmp_path: Path) -> None:
    """--record-transcript and --record-journal: both files are there and named."""
    found = at(
        server, "--record-transcript", str(tmp_path / "made"), "--record-journal", str(tmp_path / "gg"), "--json"
    )
    transcript, journal = json.loads(found.output)["recorded"]
    assert Path(transcript).parent == tmp_path / "made"
    assert Path(journal).read_bytes().startswith(b'{"type":"header"')


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ((), "provider_not_configured"),
        (("-p", "dune", "--base-url", "http://127.0.0.1:9"), "no_model"),
        (("--base-url", "http://127.0.0.1:9"), "tool_unavailable"),
        (("--base-url", "http://127.0.0.1:9", "--on-divergence", "live"), "tool_unavailable"),
    ],
)
def test_a_refusal_is_a_sentence_and_exits_with_1(words: tuple[str, ...], kind: str) -> None:
    """12.6: refused, as text and as JSON; nothing is asked."""
    found = run(ID, *words, "--json")
    assert (found.exit_code, json.loads(found.output)["refused"]) == (1, kind)
    assert run(ID, *words).exit_code == 1


def test_a_session_without_config_is_refused_before_anything_else(home: Path) -> None:
    """12.6: no config record."""
    write(home / "sessions" / f"{ID}.jsonl", *TWO_TURNS, config={})
    found = run(ID, "--json")
    assert json.loads(found.output)["refused"] == "no_config"


def test_a_recording_of_plan_checks_is_unsupported(home: Path) -> None:
    """12.6: an explicit unsupported result."""
    write(home / "sessions" / f"{ID}.jsonl", *TWO_TURNS, line(record="outcome", checks_declared=1), config=CONFIG)
    found = run(ID, "-p", "scripted", "--json")
    told = json.loads(found.output)
    assert (found.exit_code, told["refused"]) == (1, "plan_checks")
    assert "unsupported" in told["detail"]


def test_a_model_that_fails_is_a_sentence_and_exits_with_1(server: Server) -> None:
    """No reply, no report."""
    server.script = [Fault(401)]
    found = at(server, "--json")
    assert (found.exit_code, json.loads(found.output)["failed"]) == (1, "fatal")
    server.script = [*FAITHFUL, Fault(500)]
    found = at(server, "--times", "2", "--json")
    assert json.loads(found.output)["detail"].startswith("replay 2 of 2: ")


def test_a_session_that_is_not_there_is_named() -> None:
    """16.3: no session matching."""
    found = run("2031")
    assert isinstance(found.exception, UnknownName)
    assert "no session matching '2031'" in str(found.exception)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("seaside_tools", "expected package.module:NAME"),
        ("no_such_module:x", "no_such_module"),
        ("seaside_tools:none", "none"),
        ("seaside_tools:NOTHING", "found int"),
    ],
)
def test_tools_that_are_none_are_a_sentence(name: str, hint: str) -> None:
    """What was expected of --tools, and what was found."""
    found = run(ID, "--base-url", "http://127.0.0.1:9", "--tools", name)
    assert isinstance(found.exception, WrongUse)
    assert hint in str(found.exception)


def test_a_script_goes_with_the_scripted_provider(home: Path) -> None:
    """Another recording answers: here it does less, so calls are missing."""
    other = write(home / "other.jsonl", *TWO_TURNS[:4])
    found = run(ID, "-p", "scripted", "--script", str(other), "--on-divergence", "error")
    assert (found.exit_code, "call 3: missing, web_fetch" in found.output) == (1, True)
    assert isinstance(run(ID, "--script", str(other)).exception, WrongUse)
