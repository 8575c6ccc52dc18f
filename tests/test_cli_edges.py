"""The command line at its edges: hostile names, narrow terminals, pipes, wrong use, repeated ids, several files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sessionlab.cli import output
from tests.conftest import SAMPLES
from tests.test_cli import GOLDEN, SESSION, _json, _run


def _hostile(tmp_path: Path) -> str:
    """A mecha file whose every name would do something to a terminal that took it as it is."""
    evil = "\\u001b]0;PWNED\\u0007\\u001b[31m\\u202e[bold]x[/bold]"
    path = tmp_path / "evil.jsonl"
    path.write_text(
        f'{{"record":"meta","id":"{evil}","created_at":"2026-10-01T00:00:00Z","provider":"{evil}","model":"{evil}",'
        f'"workspace":"/w","title":"{evil}"}}\n'
        f'{{"record":"message","role":"user","content":[{{"type":"text","text":"{evil}"}}]}}\n'
        '{"record":"summary","turns":1,"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,'
        '"cache_read_input_tokens":4}}\n{"record":"outcome","tool_calls":3,"tool_errors":1,"stop_cause":"completed"}\n'
    )
    return str(path)


@pytest.mark.parametrize("command", ["list", "stats", "health", "load", "view cost.by_session", "show {id}", "prices"])
def test_nothing_in_a_recording_commands_the_terminal(tmp_path: Path, command: str) -> None:
    """Escape and direction characters are shown as signs; brackets are no markup."""
    path = _hostile(tmp_path)
    parts = [part.format(id="\x1b]0") for part in command.split()]
    text = _run(*parts, path).stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    if command != "load":
        assert "[bold]x[/bold]" in text.replace("\n", "") or command in {"health", "prices"}


def test_sums_and_odd_values_become_json() -> None:
    """What DuckDB makes of a sum, of a division by zero, of dates and bytes, is JSON all the same."""
    query = "SELECT sum(output_tokens) AS o, 1 / 0 AS inf, DATE '2026-10-01' AS d, TIME '10:00' AS t, 1.50 AS dec"
    query += " FROM usage"
    assert _json("sql", query, GOLDEN) == [{"o": 125, "inf": None, "d": "2026-10-01", "t": "10:00:00", "dec": 1.5}]


def test_a_narrow_terminal_cuts_no_figure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a table does not fit, texts are shortened; where that is not enough, it is written as records."""
    import polars as pl
    from rich.console import Console

    frame = pl.DataFrame(
        {"model": ["a-model-with-a-very-long-name-indeed"], "calls": [1234567], "cost_usd": [1234.5], "nothing": [None]}
    )
    for width, shown in ((200, "nothing"), (45, "…"), (20, "── 1 ──")):
        monkeypatch.setattr(output, "console", lambda width=width: Console(width=width, highlight=False))
        output.print_table(frame)
        text = capsys.readouterr().out
        assert "1,234,567" in text
        assert "$1,234.50" in text
        assert shown in text


def test_a_pipe_gets_everything() -> None:
    """Into a pipe, no table is cut to a terminal's width."""
    done = subprocess.run(
        [sys.executable, "-m", "sessionlab", "view", "usage", GOLDEN], capture_output=True, text=True, check=True
    )
    assert "…" not in done.stdout
    assert "20261003T081500-5e1d20aa" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stats", GOLDEN, "--days", "nan"], "days: expected a number of days"),
        (["view", "cost.by_model", GOLDEN, "--at", "garbage"], "at: expected 'call', 'now' or a date"),
        (["stats", GOLDEN, "--now", "garbage"], "--now: expected an ISO time"),
        (["health", GOLDEN, "--tz", "Nowhere/Else"], "tz: expected a zone"),
        (["list", GOLDEN, "-n", "0"], "Invalid value for '-n'"),
        (["timeline", SESSION, GOLDEN, "-o", "/no/such/folder/x.html"], "No such file or directory"),
        (["list", "nothing://x"], "nothing://x"),
    ],
)
def test_wrong_use_is_one_sentence(arguments: list[str], words: str) -> None:
    """Exit code 2, what was expected, no traceback."""
    done = subprocess.run([sys.executable, "-m", "sessionlab", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_a_terminal_without_unicode_gets_its_text() -> None:
    """An encoding that knows no › shows a question mark, not a traceback."""
    import os

    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "LC_ALL": "C"}
    for command in ("list", "stats", "health", "load"):
        done = subprocess.run(
            [sys.executable, "-m", "sessionlab", command, GOLDEN], capture_output=True, env=environment, check=True
        )
        assert done.stdout


def test_refused_files_are_an_exit_code_of_one() -> None:
    """Every command that answers over files says with 1 that one of them was refused."""
    refused = str(next((SAMPLES / "datalayer/refused-other-version").glob("*.jsonl")))
    for command in (["list"], ["stats"], ["health"], ["load"], ["view", "usage"], ["sql", "FROM usage"]):
        _run(*command, refused, code=1)


def test_show_unpacks(tmp_path: Path) -> None:
    """`show --json` of a compressed file gives what is in it."""
    import gzip

    packed = tmp_path / "golden.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(GOLDEN).read_bytes()))
    assert _run("show", SESSION, str(packed), "--json").stdout_bytes == Path(GOLDEN).read_bytes()


def _mecha(path: Path, *records: dict[str, object], name: str = "s1") -> None:
    meta = {"record": "meta", "id": name, "created_at": "2026-10-01T00:00:00Z", "provider": "p", "model": "m"}
    path.write_text("".join(json.dumps(record) + "\n" for record in (meta | {"workspace": "/w"}, *records)))


def _said(role: str, text: str, **more: object) -> dict[str, object]:
    return {"record": "message", "role": role, "content": [{"type": "text", "text": text}], **more}


def _call(number: int, call_id: str, text: str, *, failed: bool) -> list[dict[str, object]]:
    call = {"type": "tool_use", "id": call_id, "name": f"t{number}", "input": {}}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
    return [
        {"record": "message", "role": "assistant", "content": [call]},
        {"record": "message", "role": "user", "content": [result]},
    ]


def test_show_marks_each_result_by_its_own_call(tmp_path: Path) -> None:
    """Call ids repeat within a session: a later failure does not mark an earlier success."""
    _mecha(tmp_path / "a.jsonl", *_call(1, "c1", "fine", failed=False), *_call(2, "c1", "boom", failed=True))
    lines = _run("show", "s1", str(tmp_path)).stdout.splitlines()
    assert [line for line in lines if line.startswith(("✓", "✗"))] == ["✓ fine", "✗ boom"]


def test_show_cuts_and_marks_the_harness(tmp_path: Path) -> None:
    """A result's first line is cut after 120 characters; what the harness said is not a person's ›."""
    said = _said("user", "a nudge", harness=True)
    _mecha(tmp_path / "a.jsonl", *_call(1, "c1", "x" * 121, failed=False), said)
    lines = _run("show", "s1", str(tmp_path)).stdout.splitlines()
    assert f"✓ {'x' * 120}…" in lines
    assert "⟐ a nudge" in lines


def test_two_branches_of_one_session_are_told_apart(tmp_path: Path) -> None:
    """Two files that part: each under its name; `show --json` asks which; `path` names both."""
    for name in ("one", "two"):
        _mecha(tmp_path / f"{name}.jsonl", _said("user", "hi"), _said("assistant", name))
    text = _run("show", "s1", str(tmp_path)).stdout
    assert f"── root in {tmp_path}/one.jsonl ──" in text
    assert f"── root in {tmp_path}/two.jsonl ──" in text
    assert text.count("› hi") == 1
    assert len(_run("path", "s1", str(tmp_path)).stdout.splitlines()) == 2
    done = subprocess.run(
        [sys.executable, "-m", "sessionlab", "show", "s1", str(tmp_path), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "s1 stands in 2 files; name one of them" in done.stderr


def test_unreadable_files_count_in_every_period() -> None:
    """A refused file has no date: `stats` and `health` count it with and without --days (mecha 22)."""
    refused = str(SAMPLES / "datalayer/refused-other-version")
    for command in ("stats", "health"):
        for days in ([], ["--days", "90"]):
            result = _run(command, refused, GOLDEN, *days, "--json", code=1)
            assert json.loads(result.stdout)["sessions_unreadable"] == 1


def test_sessions_without_a_date_are_told() -> None:
    """No period holds a gg session, which has no date: that is said, not passed over."""
    journal = str(SAMPLES / "gg/clean-journal")
    for command in (["list"], ["stats"], ["health"], ["view", "cost.by_session"]):
        assert "1 session without a date: in no period" in _run(*command, journal, "--days", "3650").stdout


def test_one_stop_cause_of_two_classes_is_counted_whole(tmp_path: Path) -> None:
    """`stopped` may be an interruption or a failure: `health` counts both under the word."""
    import sessionlab as sl
    from sessionlab.cli.health import as_json

    corpus = sl.load(SAMPLES / "datalayer/every-kind")
    for number, kind in enumerate(("interrupted", "failed", "failed"), 90):
        corpus._con.execute(
            "INSERT INTO raw.outcomes (source_id, session_id, agent_id, run, stop_cause, stop_class)"
            " SELECT source_id, session_id, 'root', ?, 'stopped', ? FROM raw.sessions LIMIT 1",
            [number, kind],
        )
    causes = as_json(corpus, {"test": 0, "experiment": 0})["stop_causes"]
    rows = corpus.view("health.stop_causes")
    assert isinstance(causes, dict)
    assert sum(causes.values()) == rows["runs"].sum() == corpus.view("health.summary")["runs"].item()
    assert rows.filter(stop_cause="stopped").height >= 2


def test_stopping_the_command_stops_its_server() -> None:
    """`lab` and `dashboard` become the server they start: there is one process to stop."""
    import os

    code = "import sys; from sessionlab.cli.start import _become;"
    code += " _become([sys.executable, '-c', 'import os; print(os.getpid())'], {})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as running:
        told, _ = running.communicate(timeout=30)
    if os.name == "posix":
        assert int(told) == running.pid
