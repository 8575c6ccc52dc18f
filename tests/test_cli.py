"""The command line: golden figures, layouts of the specification, JSON, exit codes, errors in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sessionlab.cli import app, output, sessions
from tests.conftest import SAMPLES

GOLDEN = next(str(p) for p in (SAMPLES / "mecha/golden").iterdir() if p.suffix == ".jsonl")
SESSION = "20261003T081500-5e1d20aa"
NOW = "2026-11-30T12:00:00"


def _run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def _json(*arguments: str) -> object:
    return json.loads(_run(*arguments, "--json").stdout)


@pytest.fixture
def rates(tmp_path: Path) -> list[str]:
    """Options that price with the golden sample's rates alone."""
    path = tmp_path / "rates.toml"
    path.write_text("[providers.anthropic]\ninput_price_per_mtok = 5.0\noutput_price_per_mtok = 25.0\n")
    return ["--rates", "file", "--rate-file", str(path)]


@pytest.mark.parametrize("now", [NOW, "2028-01-04T12:00:00"])
def test_stats_of_the_golden_sample(rates: list[str], now: str) -> None:
    """The JSON of mecha 10.4, to the last figure, today and 400 days on."""
    assert _json("stats", GOLDEN, *rates, "--now", now) == {
        "rows": [
            {
                "provider": "anthropic", "model": "claude-opus-5", "sessions": 1, "turns": 4, "input_tokens": 1500,
                "output_tokens": 125, "cache_creation_input_tokens": 1200, "cache_read_input_tokens": 1000,
                "cost_usd": 0.018625,
            }
        ],
        "sessions_unreadable": 0,
    }  # fmt: skip


def test_stats_as_text(rates: list[str]) -> None:
    """Columns in the widths of mecha 10.4, a total, and whose prices they are."""
    lines = _run("stats", GOLDEN, *rates).stdout.splitlines()
    assert lines == [
        "provider/model                     sessions   turns     input    output   cache-w   cache-r       cost",
        "anthropic/claude-opus-5                   1       4      1500       125      1200      1000      $0.02",
        "total                                     1       4      1500       125      1200      1000      $0.02",
        "costs at today's rates",
    ]


def test_stats_without_rates_are_unknown_not_zero(tmp_path: Path) -> None:
    """No rate: a dash and null; both rates zero: $0.00 and 0."""
    empty, free = tmp_path / "empty.toml", tmp_path / "free.toml"
    empty.write_text("")
    free.write_text("[providers.anthropic]\ninput_price_per_mtok = 0\noutput_price_per_mtok = 0\n")
    text = _run("stats", GOLDEN, "--rates", "file", "--rate-file", str(empty)).stdout
    assert text.splitlines()[1].endswith("—")
    assert "no rate for these models" in text
    found = _json("stats", GOLDEN, "--rates", "file", "--rate-file", str(empty))
    assert isinstance(found, dict)
    assert found["rows"][0]["cost_usd"] is None
    assert _run("stats", GOLDEN, "--rates", "file", "--rate-file", str(free)).stdout.splitlines()[1].endswith("$0.00")


def test_stats_by_days(rates: list[str]) -> None:
    """The session of 3 October is out of a window of 30 days before 30 November; an empty answer says so."""
    assert _json("stats", GOLDEN, *rates, "--days", "30", "--now", NOW) == {"rows": [], "sessions_unreadable": 0}
    assert _run("stats", GOLDEN, "--days", "30", "--now", NOW).stdout == f"no session in {GOLDEN}\n"


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "—"), (0, "0"), (9_999, "9999"), (10_000, "10.0k"), (9_999_999, "10000.0k"), (10_000_000, "10.0M")],
)
def test_tokens_are_shortened_as_specified(count: int | None, text: str) -> None:
    """Plain to 9,999, thousands to 9,999,999, then millions."""
    assert sessions.short_tokens(count) == text


def test_health_of_the_golden_sample() -> None:
    """The members of mecha 11.4 with the golden figures."""
    found = _json("health", GOLDEN)
    assert isinstance(found, dict)
    wanted = {
        "runs": 2, "sessions_read": 1, "tool_calls": 3, "tool_errors": 1, "tool_error_rate": 1 / 3,
        "ended_on_failed_call": 1, "ended_on_failed_call_rate": 0.5, "compactions": 0, "cost_usd": 0.01425,
        "runs_priced": 1, "tool_denied": 0, "tool_staged": 0, "stop_causes": {"completed": 2},
    }  # fmt: skip
    assert {name: found[name] for name in wanted} == wanted
    [model] = found["by_model"]
    assert model["model"] == "claude-opus-5"
    assert (model["runs"], model["tool_error_rate"], model["ended_on_failed_call_rate"]) == (2, 1 / 3, 0.5)


def test_health_as_text() -> None:
    """The lines of mecha 11.3: percentages with one decimal, the recorded cost as a lower bound."""
    text = _run("health", GOLDEN).stdout
    assert text.splitlines()[0] == "2 runs in 1 session read"
    assert "completed 2" in text
    assert "1 (50.0%)" in text
    assert "3, errors 1 (33.3%)" in text
    assert "denied 0, staged 0" in text
    assert "at least $0.01, of 1 of 2 runs" in text


def test_health_hides_tests_unless_asked(tmp_path: Path) -> None:
    """Sessions of kind test are left out and counted, before the limit is applied (mecha 22)."""
    for number, kind in enumerate(("run", "test", "experiment", "run"), 1):
        (tmp_path / f"{number}.jsonl").write_text(
            f'{{"record":"meta","id":"s{number}","created_at":"2026-10-0{number}T00:00:00Z","provider":"p","model":"m",'
            f'"workspace":"/w","kind":"{kind}"}}\n{{"record":"outcome","tool_calls":{number}}}\n'
        )
    found = _json("health", str(tmp_path))
    assert isinstance(found, dict)
    assert (found["runs"], found["tests_hidden"], found["experiments_hidden"], found["tool_calls"]) == (2, 1, 1, 5)
    found = _json("health", str(tmp_path), "--include-tests")
    assert isinstance(found, dict)
    assert (found["runs"], found["tests_hidden"], found["tool_calls"]) == (4, 0, 10)
    found = _json("health", str(tmp_path), "-n", "1")
    assert isinstance(found, dict)
    assert (found["runs"], found["sessions_read"], found["tool_calls"]) == (1, 1, 4)
    found = _json("health", str(tmp_path), "--kind", "run", "--days", "58", "--now", NOW)
    assert isinstance(found, dict)
    assert found["tool_calls"] == 4


def test_list_and_its_json() -> None:
    """Newest first: id, time, kind, model, title in force; and created title beside it in JSON."""
    assert _run("list", GOLDEN).stdout == (
        f"{SESSION}  2026-10-03 08:15  run        claude-opus-5             bird counts\n"
    )
    found = _json("list", GOLDEN)
    assert isinstance(found, list)
    assert {name: found[0][name] for name in ("id", "created_at", "created_title", "title", "kind", "entries")} == {
        "id": SESSION, "created_at": "2026-10-03T08:15:00Z", "created_title": "count the birds", "title": "bird counts",
        "kind": "run", "entries": 21,
    }  # fmt: skip


def test_list_says_how_many_more() -> None:
    """Cut at -n, with the number left out; an empty place says so."""
    text = _run("list", str(SAMPLES / "mecha"), "-n", "1").stdout
    assert len(text.splitlines()) == 2
    assert "more (-n" in text
    assert _run("list", GOLDEN, "--kind", "web").stdout == f"no session in {GOLDEN}\n"


def test_path_and_show(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """`path` names the file; `show --json` gives its bytes unchanged; a prefix is enough."""
    assert _run("path", "20261003", GOLDEN).stdout == f"{GOLDEN}\n"
    assert _run("show", "20261003", GOLDEN, "--json").stdout_bytes == Path(GOLDEN).read_bytes()


def test_show_as_a_person_reads_it() -> None:
    """Mecha 16.4: head, then › for the user, → for calls, ✓ ✗ for results."""
    lines = _run("show", SESSION, GOLDEN).stdout.splitlines()
    assert lines[0].startswith(f"{SESSION}  claude-opus-5  anthropic  2026-10-03 08:15:00")
    shown = [line for line in lines[1:] if line.strip()]
    assert shown == [
        "› How many birds are in obs.csv?",
        '→ fs_read {"path":"obs.csv"}',
        '→ fs_list {"path":"."}',
        "✓ obs.csv",
        "✓ wren,4",
        "Seven.",
        "› Compare with the web list.",
        '→ web_fetch {"url":"https://birds.example/list"}',
        "✗ timeout after 10s",
        "› skip the web, then",
        "No comparison made.",
        "› thanks",
    ]


def test_load_tells_what_was_read() -> None:
    """Files, rows, problems; exit code 1 when a file was refused."""
    found = _json("load", GOLDEN)
    assert isinstance(found, dict)
    rows = {row["table"]: row["rows"] for row in found["tables"]}
    assert (rows["entries"], rows["outcomes"], rows["tool_calls"], rows["usage"]) == (21, 2, 3, 2)
    assert found["problems"] == [{"severity": "loss", "kind": "torn_line", "problems": 1, "files": 1, "bytes": 32}]
    refused = next((SAMPLES / "datalayer/refused-other-version").glob("*.jsonl"))
    assert "refused" in _run("load", str(refused), code=1).stdout


def test_view_sql_and_their_json() -> None:
    """Any view, any table, any SQL."""
    assert _json("view", "taint.checkpoints", GOLDEN) != []
    assert _json("view", "usage", GOLDEN) != []
    assert _json("sql", "SELECT count(*) AS n FROM tool_calls WHERE external", GOLDEN) == [{"n": 1}]
    assert "web_fetch" in _run("view", "health.by_tool", GOLDEN).stdout
    assert "days in UTC" in _run("view", "cost.by_day", GOLDEN, "--tz", "UTC").stdout


def test_dictionary_commands() -> None:
    """Tables, views, formats and prices say what there is."""
    tables = _json("tables")
    assert isinstance(tables, list)
    assert len(tables) == 15
    assert all(column["doc"] for table in tables for column in table["columns"])
    assert "Money" not in _run("tables", "usage").stdout
    views = _json("views", "cost")
    assert isinstance(views, list)
    assert "cost.by_model" in [view["view"] for view in views]
    assert "dearest first" in _run("views", "cost.by_model").stdout
    assert "mecha" in _run("formats").stdout
    prices = _json("prices", GOLDEN)
    assert isinstance(prices, dict)
    assert {row["model"] for row in prices["prices"]} == {"claude-opus-5"}


def test_timeline_and_taint_pages(tmp_path: Path) -> None:
    """One session as a page of its own, where the command says."""
    for command in ("timeline", "taint"):
        out = tmp_path / f"{command}.html"
        assert _run(command, SESSION, GOLDEN, "-o", str(out)).stdout == f"{out}\n"
        page = out.read_text()
        assert "bird counts" in page
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert _json(command, SESSION, GOLDEN) != []


def test_demo(tmp_path: Path) -> None:
    """The demo prices, judges and draws the bundled samples, and says where the page is."""
    out = tmp_path / "demo.html"
    text = _run("demo", "-o", str(out)).stdout
    assert str(out) in text.replace("\n", "")
    assert "Corpus of" in text
    assert "tool calls" in text
    assert out.stat().st_size > 10_000
    found = _json("demo", "-o", str(out))
    assert isinstance(found, dict)
    assert len(found["stats"]) > 3


def test_errors_are_one_sentence_with_exit_code_two() -> None:
    """Wrong use: what is wrong, what there is, exit code 2, no traceback."""
    for arguments, words in (
        (["view", "cost.by_modell", GOLDEN], "no view named 'cost.by_modell'; did you mean: cost.by_model"),
        (["stats", "/nowhere/at/all"], "no file at '/nowhere/at/all'"),
        (["show", "1999", GOLDEN], "no session matching '1999'"),
        (["sql", "SELEC", GOLDEN], "Parser Error"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "sessionlab", *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stderr.startswith("sessionlab: ")
        assert words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("cost_usd", None, "—"), ("cost_usd", 0.0, "$0.00"), ("cost_usd", 1234.5, "$1,234.50"),
        ("cost_usd", 0.00123, "$0.0012"), ("cost_usd", 0.000012, "$0.000012"), ("calls", 12345, "12,345"),
        ("seq", 12345, "12345"), ("error_rate", 1 / 3, "33.3%"), ("learnable", True, "yes"),
        ("excerpt", "a\x1b[31mb\n\u202ec", "a␛[31mb⏎<U+202E>c"),
    ],
)  # fmt: skip
def test_cells_are_read_by_their_unit(name: str, value: object, text: str) -> None:
    """Dollars, shares, counts, ids; unknown is a dash; control characters are shown, not sent to the terminal."""
    assert output.cell(name, value) == text


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
        assert "1 sessions have no date and are in no period" in _run(*command, journal, "--days", "3650").stdout


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
