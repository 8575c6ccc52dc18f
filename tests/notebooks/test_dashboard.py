"""The dashboard without a browser: what its controls choose, what it shows, and what the command hands to Voila."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING

import ipywidgets
import pytest
from typer.testing import CliRunner

import sessionlab as sl
from sessionlab.bundled import samples
from sessionlab.cli import app, start
from sessionlab.dashboard import Dashboard, Selection, default_paths

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "o'brien\"; DROP TABLE usage; --<img src=x onerror=alert(1)>"


def transcript(folder: Path, name: str, at: str | None, model: str, tool: str = "fs_read") -> None:
    """Write a mecha transcript of one run: one failed call, 1,000 tokens in, 0.25 dollars as recorded."""
    usage = {"input_tokens": 1_000, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    meta = {"record": "meta", "id": name, "provider": "nest", "model": model, "workspace": "/home/ada", "kind": "run"}
    call = {"type": "tool_use", "id": "c1", "name": tool, "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}
    outcome = {"turns": 2, "usage": usage, "usage_complete": True, "stop_cause": "completed", "exhausted": False}
    counts = {"tool_calls": 1, "tool_errors": 1, "ended_on_failed_call": True, "cost_usd": 0.25}
    records = [
        meta | ({"created_at": at} if at else {}),
        {"record": "message", "role": "user", "content": [{"type": "text", "text": name}]},
        {"record": "message", "role": "assistant", "content": [call]},
        {"record": "message", "role": "user", "content": [result], "tool_provenance": {"c1": False}},
        {"record": "message", "role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"record": "outcome"} | outcome | counts,
    ]
    (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))


@pytest.fixture
def corpus(tmp_path: Path) -> sl.Corpus:
    """Four sessions: late on 1 October, on the 2nd, on the 4th with a hostile model and tool."""
    transcript(tmp_path, "late", "2026-10-01T23:30:00Z", "wren-1")
    transcript(tmp_path, "next", "2026-10-02T09:00:00Z", "wren-1")
    transcript(tmp_path, "hostile", "2026-10-04T12:00:00Z", HOSTILE, tool=HOSTILE)
    return sl.load(tmp_path, bodies=False)


@pytest.fixture
def undated(tmp_path: Path) -> sl.Corpus:
    """The samples of gg, which record no date."""
    return sl.load(samples() / "gg", bodies=False)


def chosen(corpus: sl.Corpus) -> set[str]:
    """Native ids of the sessions in a corpus."""
    return set(corpus.sql("SELECT native_id FROM sessions")["native_id"].to_list())


def figure(dashboard: Dashboard, name: str) -> str:
    """The large figure of a card, as it stands in the page."""
    found = re.search(rf'data-figure="{name}".*?class="sl-figure">(.*?)</div>', markup(dashboard))
    assert found is not None
    return found[1]


def markup(dashboard: Dashboard) -> str:
    """All HTML the dashboard shows, its style apart."""
    html = [part.value for part in parts(dashboard.box) if isinstance(part, ipywidgets.HTML)]
    return "".join(text for text in html if not text.startswith("<style>"))


def parts(widget: object) -> list[object]:
    """A widget and all that it holds."""
    return [widget, *(part for child in getattr(widget, "children", ()) for part in parts(child))]


def test_everything_at_first(corpus: sl.Corpus) -> None:
    """Nothing is narrowed: all sessions, their figures, and a chart in each of three places."""
    dashboard = Dashboard(corpus)
    assert dashboard.selection == Selection()
    assert chosen(dashboard.chosen) == {"late", "next", "hostile"}
    assert figure(dashboard, "runs") == "3"
    assert figure(dashboard, "tool_error_rate") == "100.0%"
    assert figure(dashboard, "recorded_usd") == "$0.75"
    assert figure(dashboard, "cost_usd") == "—"
    assert "3 charges unpriced" in markup(dashboard)
    assert sum(type(part).__name__ == "JupyterChart" for part in parts(dashboard.box)) == 3


def test_days_are_those_of_the_corpus(corpus: sl.Corpus) -> None:
    """23:30 UTC on the 1st is the 2nd in Berlin: the period offers and takes days of the corpus's zone."""
    dashboard = Dashboard(corpus)
    assert [day for _, day in dashboard.period.options] == [date(2026, 10, day) for day in (1, 2, 3, 4)]
    dashboard.period.value = (date(2026, 10, 1), date(2026, 10, 1))
    assert chosen(dashboard.chosen) == {"late"}
    there = Dashboard(corpus.in_zone("Europe/Berlin"))
    assert [day for _, day in there.period.options] == [date(2026, 10, day) for day in (2, 3, 4)]
    there.period.value = (date(2026, 10, 2), date(2026, 10, 3))
    assert chosen(there.chosen) == {"late", "next"}


def test_names_are_only_names(corpus: sl.Corpus) -> None:
    """A model or tool named in SQL and markup is chosen and shown like any other."""
    dashboard = Dashboard(corpus)
    dashboard.model.value = HOSTILE
    assert chosen(dashboard.chosen) == {"hostile"}
    assert figure(dashboard, "runs") == "1"
    assert "<img" not in markup(dashboard)
    assert markup(dashboard).count("&lt;img src=x onerror=alert(1)&gt;") == 3  # the sentence, a cell and its title
    assert corpus.sql("SELECT count(*) FROM usage").item() == 3


def test_nothing_chosen_is_said(corpus: sl.Corpus) -> None:
    """A choice that no session fits leaves a sentence and nothing of the one before; the next one is whole again."""
    dashboard = Dashboard(corpus)
    dashboard.period.value = (date(2026, 10, 3), date(2026, 10, 3))
    assert "No session fits." in markup(dashboard)
    assert "sl-card" not in markup(dashboard)
    assert not [part for part in parts(dashboard.box) if type(part).__name__ == "JupyterChart"]
    dashboard.period.value = (date(2026, 10, 1), date(2026, 10, 4))
    assert figure(dashboard, "runs") == "3"
    assert sum(type(part).__name__ == "JupyterChart" for part in parts(dashboard.box)) == 3


def test_sessions_without_a_date(undated: sl.Corpus) -> None:
    """Where nothing is dated there is no period to choose; the sessions are there, and said to be undated."""
    dashboard = Dashboard(undated)
    sessions = undated.sql("SELECT count(*) FROM sessions").item()
    assert dashboard.period.disabled
    assert chosen(dashboard.chosen) == chosen(undated)
    assert f"{sessions} sessions chosen, {sessions} of them without a date." in markup(dashboard)


def test_an_empty_corpus(tmp_path: Path) -> None:
    """A folder without sessions gives a dashboard that says so."""
    (tmp_path / "notes.txt").write_text("no session")
    assert "No session fits." in markup(Dashboard(sl.load(tmp_path)))


def test_what_is_loaded_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The paths named in the environment; without any, the known stores; without those, the samples."""
    for variable in ("MECHA_SESSION_DIR", "MECHA_HOME", "SESSIONLAB_PATHS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_paths() == [str(samples() / "corpus")]
    store = tmp_path / ".mecha" / "sessions"
    store.mkdir(parents=True)
    assert default_paths() == [str(store)]
    monkeypatch.setenv("SESSIONLAB_PATHS", "/a b\ns3://bucket/x:y")
    assert default_paths() == ["/a b", "s3://bucket/x:y"]


def test_the_command_hands_on_its_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It starts Voila with our page and with absolute paths; a path that names nothing starts nothing."""
    calls: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(start, "_become", lambda command, environment: calls.append((command, environment)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_PATH", "/elsewhere")
    (tmp_path / "one.jsonl").touch()
    result = CliRunner().invoke(
        app, ["dashboard", "one.jsonl", "*.jsonl", "memory://x", "--port", "8123", "--no-browser"]
    )
    assert (result.exit_code, len(calls)) == (1, 0)
    result = CliRunner().invoke(app, ["dashboard", "one.jsonl", "*.jsonl", "--port", "8123", "--no-browser"])
    assert result.exit_code == 0
    [(command, environment)] = calls
    assert command[1:3] == ["-m", "voila"]
    assert command[4:] == ["--template=sessionlab", "--port=8123", "--no-browser"]
    assert environment["SESSIONLAB_PATHS"].split("\n") == [str(tmp_path / "one.jsonl"), str(tmp_path / "*.jsonl")]
    ours, theirs = environment["JUPYTER_PATH"].split(":")
    assert theirs == "/elsewhere"
    assert (start.Path(ours) / "voila/templates/sessionlab/index.html.j2").is_file()
