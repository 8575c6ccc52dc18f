"""The command line: golden figures, layouts of the specification, JSON, exit codes, errors in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sessionlab.cli import app, output, stats
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
    assert stats.short_tokens(count) == text


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
