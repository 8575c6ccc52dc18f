"""`sessionlab probe -p`: the recording is replayed from the place where a person stepped in, and judged (13)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sessionlab.cli import diff as command
from sessionlab.errors import WrongUse
from sessionlab.replay import branch_point, probe_denial, probe_steer, turns_end
from sessionlab.replay.trajectory import text_of
from tests.formats.mecha_lines import META, call, line, result
from tests.replay.conversations import a, transcript, u
from tests.replay.model_server import Fault, Say, serving
from tests.replay.sessions_to_replay import CONFIG, write

app = typer.Typer()
command.register(app)
TODAY = ("--tools", "lagoon_tools:tools")
NO = "Denied by the user: too much"
FIRST = (u("go"), a(call("t1", "fs_read", path="a")), u(result("t1", "A")))
DENIED = (
    *FIRST,
    a(call("t2", "fs_list", path="."), call("t3", "web_fetch", url="http://x")),
    u(result("t2", "a b"), result("t3", NO, is_error=True)),
    a("ok"),
    u("next"),
    a(call("t9", "fs_list", path="b")),
    u(result("t9")),
)
STEERED = (
    *FIRST[:2],
    u(result("t1", "A"), " only b \n"),
    a(call("t2", "fs_read", path="b")),
    u(result("t2", "B")),
    a("done"),
    u("next"),
    a(call("t9", "fs_list", path="b")),
    u(result("t9")),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A mecha home that is empty, and today's tools as a module of the working directory."""
    monkeypatch.setenv("MECHA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lagoon_tools.py").write_text(
        "from sessionlab.replay import Tool\ntools = [Tool(name) for name in ('fs_read', 'fs_list', 'web_fetch')]\n"
    )
    yield
    sys.modules.pop("lagoon_tools", None)


def probe(path: Path, *words: object) -> tuple[int, dict[str, Any]]:
    """The exit code and what the command tells as JSON."""
    done = CliRunner().invoke(app, ["probe", str(path), *map(str, words), "--json"], catch_exceptions=False)
    return done.exit_code, json.loads(done.stdout)


def test_what_is_sent_as_it_is() -> None:
    """Of a denial all before the reply that made the call; of a steer its results, without the person's words."""
    messages = transcript(*DENIED).messages
    point = probe_denial(messages, "too much")
    assert point is not None
    assert branch_point(messages, point) == messages[:3]
    messages = transcript(*STEERED).messages
    point = probe_steer(messages, "only b")
    assert point is not None
    sent = branch_point(messages, point)
    assert (len(sent), sent[:2]) == (3, messages[:2])
    assert (len(sent[2].content), text_of(sent[2])) == (1, "")


def test_turns_end() -> None:
    """Turns are what replays are fed: blank ones and results are none; too many end at the end."""
    messages = transcript(u("1"), a("x"), u(" "), u("2"), a(call("c")), u(result("c"), "now"), a("y"), u("3")).messages
    assert [turns_end(messages, turns) for turns in range(5)] == [0, 3, 7, 8, 8]


@pytest.mark.parametrize(
    ("lines", "words", "told", "base", "calls"),
    [
        (DENIED, ("--denial", "too much"), "fail", 1, 2),
        (STEERED, ("--steer", "only b"), "pass", 1, 1),
    ],
)
def test_the_recording_itself_repeats_what_was_refused_and_follows_its_steer(
    tmp_path: Path, lines: tuple[bytes, ...], words: tuple[str, ...], told: str, base: int, calls: int
) -> None:
    """Scripted: only the rest of the run is replayed; a denied call is made again, a steered run goes on the same."""
    code, found = probe(write(tmp_path / "x.jsonl", *lines), *words, "-p", "scripted")
    assert (found["verdict"], code) == (told, 0 if told == "pass" else 1)
    report = found["report"]
    assert (report["call_base"], report["replayed_calls"], report["turns"]) == (base, calls, 0)
    assert (found["divergences"], report["recorded_calls"]) == ([], calls)


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ((Say(calls=(("fs_list", {"path": "."}), ("web_fetch", {"url": "http://x"}))), Say("ok")), "fail"),
        ((Say(calls=(("fs_list", {"path": "."}), ("web_fetch", {"url": "http://y"}))), Say("ok")), "pass"),
        ((Say("not needed"),), "inconclusive"),
    ],
)
def test_a_model_that_is_asked_now(tmp_path: Path, says: tuple[Say, ...], told: str) -> None:
    """The refused call again: fail; other arguments: pass; parted before: inconclusive. Sent is what was before it."""
    with serving(*says) as server:
        words = ("--denial", "too much", "--base-url", server.v1, "-m", "tern-9", "--temperature", "0", *TODAY)
        code, found = probe(write(tmp_path / "x.jsonl", *DENIED), *words)
        sent = server.asked[0].body
    assert (found["verdict"], code) == (told, 0 if told == "pass" else 1)
    assert (sent["model"], found["report"]["model"], sent["temperature"]) == ("tern-9", "tern-9", 0)
    assert [one["role"] for one in sent["messages"]] == ["system", "user", "assistant", "tool"]


def test_the_configuration_that_covers_the_message_is_used(tmp_path: Path) -> None:
    """8.6: probes take the configuration in force at the message, replays the first."""
    lines = (*FIRST, line(**{**CONFIG, "system_prompt": "Be careful."}), *DENIED[3:])
    with serving(Say("not needed")) as server:
        words = ("--denial", "too much", "--base-url", server.v1, *TODAY)
        probe(write(tmp_path / "x.jsonl", *lines), *words)
        assert server.asked[0].body["messages"][0]["content"] == "Be careful."


def test_without_a_reply_there_is_no_verdict(tmp_path: Path) -> None:
    """The model fails, or the session has no config: a sentence and exit code 1."""
    path = write(tmp_path / "x.jsonl", *DENIED)
    with serving(*[Fault(400)] * 3) as server:
        code, found = probe(path, "--denial", "too much", "--base-url", server.v1, *TODAY)
    assert (code, found["failed"]) == (1, "fatal")
    path = write(tmp_path / "y.jsonl", *DENIED, config={}, id="20261101T070000-ffffffff")
    code, found = probe(path, "--denial", "too much", "-p", "scripted")
    assert (code, found["refused"]) == (1, "no_config")


def test_the_text_says_what_was_replayed(tmp_path: Path) -> None:
    """From which call on, by whom, and the verdict last."""
    path = write(tmp_path / "x.jsonl", *STEERED)
    done = CliRunner().invoke(app, ["probe", str(path), "--steer", "only b", "-p", "scripted"], catch_exceptions=False)
    lines = done.stdout.splitlines()
    assert lines[1] == "replayed from call 2 on by scripted/scripted: 1 call"
    assert lines[-1] == "verdict: pass"


def test_one_replay_is_judged(tmp_path: Path) -> None:
    """Either one there is, or one to be made."""
    path = write(tmp_path / "x.jsonl", *STEERED)
    with pytest.raises(WrongUse, match="found both"):
        probe(path, "--steer", "only b", "-p", "scripted", "--replay", path)


def test_of_a_replay_of_the_whole_session_only_the_run_is_judged(tmp_path: Path) -> None:
    """The calls of later turns are another run's: the session against itself parts nowhere."""
    path = write(tmp_path / f"{META['id']}.jsonl", *STEERED)
    code, found = probe(path, "--steer", "only b", "--replay", path)
    assert (code, found["verdict"], found["divergences"]) == (0, "pass", [])
