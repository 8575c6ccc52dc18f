"""`sessionlab redact`: exit codes, what is said and what is not, JSON, and the folder it leaves."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner, Result

import sessionlab as sl
from sessionlab.cli import redact
from sessionlab.errors import WrongUse
from tests.conftest import NOW, SAMPLES
from tests.redaction.test_tables import AWS

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = SAMPLES / "mecha" / "golden"
PASSWORD = "vK9-tulip-Zq41"


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of whoever runs the tests counts as a secret."""
    from sessionlab.redaction import reads_as_secret

    for name in list(__import__("os").environ):
        if reads_as_secret(name):
            monkeypatch.delenv(name)


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """The golden transcript with a password in what was said."""
    folder = tmp_path / "sessions"
    shutil.copytree(GOLDEN, folder)
    path = next(folder.glob("*.jsonl"))
    data = path.read_bytes()
    new = data.replace(b" the ", f" the password={PASSWORD} ".encode(), 2)
    assert new != data
    path.write_bytes(new)
    return folder


def run(*arguments: object, code: int = 0) -> Result:
    """The command, as the command line would run it."""
    app = typer.Typer()
    redact.register(app)
    result = CliRunner().invoke(app, [*map(str, arguments), "--now", NOW.isoformat()], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def test_it_redacts_proves_and_saves(sessions: Path, tmp_path: Path) -> None:
    """A table of what was removed, the proof in sentences, and a folder any command reads; the value nowhere."""
    out = tmp_path / "out"
    told = run(sessions, "-o", out)
    assert "removed, never shown" in told.stdout
    assert "assignment" in told.stdout
    assert "The strict rules find nothing that has the shape of a secret." in told.stdout
    assert "detect-secrets finds nothing that has the shape of a secret." in told.stdout
    assert told.stdout.endswith(f"saved: {out}\n")
    assert PASSWORD not in told.output
    corpus = sl.load(out, now=NOW, progress=False)
    assert PASSWORD not in str(corpus.table("blocks").to_dicts())
    figures = ["output_tokens", "cost_usd"]
    original = sl.load(sessions, now=NOW, progress=False)
    assert corpus.view("cost.by_model")[figures[0]].to_list() == original.view("cost.by_model")[figures[0]].to_list()


def test_clean_sessions_say_so(tmp_path: Path) -> None:
    """Nothing was found: one sentence instead of an empty table."""
    assert run(GOLDEN, "-o", tmp_path / "out").stdout.startswith("nothing was found that must not be shared\n")


def test_as_json(sessions: Path, tmp_path: Path) -> None:
    """Findings over all files, and the proof with its rows."""
    told = json.loads(run(sessions, "-o", tmp_path / "out", "--json").stdout)
    assert told["folder"] == str(tmp_path / "out")
    assert {row["rule"] for row in told["findings"]} >= {"assignment"}
    assert all(set(row) == {"rule", "table", "column", "files", "count"} for row in told["findings"])
    assert (told["proof"]["ok"], told["proof"]["left"], told["proof"]["missing"]) == (True, 0, None)
    assert told["unreadable"] is False
    bare = json.loads(run(sessions, "-o", tmp_path / "bare", "--json", "--no-proof").stdout)
    assert bare["proof"] is None


def test_declared_secrets_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: Path
) -> None:
    """By name: the value is looked for, a name without one is said on stderr, and an Appspec declares names, too."""
    title = sl.load(sessions, now=NOW, progress=False).table("sessions")["title"][0]
    monkeypatch.setenv("DAY_NAME", title)
    told = run(sessions, "-o", tmp_path / "one", "--secret", "DAY_NAME", "--secret", "NIGHT_NAME")
    assert "NIGHT_NAME" in told.stderr
    assert "DAY_NAME" not in told.stderr
    assert sl.load(tmp_path / "one", now=NOW, progress=False).table("sessions")["title"][0] == "[redacted]"
    spec = tmp_path / "app.yaml"
    spec.write_text("requires:\n  secrets:\n    - name: DAY_NAME\n")
    run(sessions, "-o", tmp_path / "two", "--appspec", spec)
    assert sl.load(tmp_path / "two", now=NOW, progress=False).table("sessions")["title"][0] == "[redacted]"


def test_values_the_environment_holds_as_secrets_go_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: Path
) -> None:
    """A variable whose name reads as a secret is one, declared or not (datalayer.md 6.4)."""
    title = sl.load(sessions, now=NOW, progress=False).table("sessions")["title"][0]
    assert len(title) >= 8
    monkeypatch.setenv("DAY_TOKEN", title)
    run(sessions, "-o", tmp_path / "out")
    assert sl.load(tmp_path / "out", now=NOW, progress=False).table("sessions")["title"][0] == "[redacted]"


def test_further_rules_and_a_key(tmp_path: Path) -> None:
    """One key file, one set of pseudonyms; `all` is every rule; a user's name is enough to ask for it."""
    key = tmp_path / "key"
    key.write_text("a key for tests\n")
    for name in ("one", "two"):
        run(SAMPLES / "gg" / "several-agents", "-o", tmp_path / name, "--also", "all", "--key-file", key)
    one, two = (sl.load(tmp_path / name, now=NOW, progress=False) for name in ("one", "two"))
    assert one.table("raw.configs").sort("source_id", "seq").equals(two.table("raw.configs").sort("source_id", "seq"))
    title = sl.load(GOLDEN, now=NOW, progress=False).table("sessions")["title"][0]
    word = max(title.split(), key=len)
    run(GOLDEN, "-o", tmp_path / "three", "--user", word, "--also", "email_address")
    assert word not in sl.load(tmp_path / "three", now=NOW, progress=False).table("sessions")["title"][0]


def test_a_refused_source_is_exit_code_1(tmp_path: Path) -> None:
    """What could be read is saved; that something was not is said."""
    told = run(SAMPLES / "datalayer" / "refused-not-json", GOLDEN, "-o", tmp_path / "out", code=1)
    assert "1 file could not be read" in told.stdout
    assert sl.load(tmp_path / "out", now=NOW, progress=False).table("sessions").height == 1


def test_what_is_left_is_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: Path) -> None:
    """Where a scanner still finds something, the folder is there and the code says so."""
    from sessionlab.corpus import Corpus

    monkeypatch.setattr(Corpus, "redacted", lambda self, **_: _unchanged(self))
    path = next(sessions.glob("*.jsonl"))
    path.write_bytes(path.read_bytes().replace(PASSWORD.encode(), AWS.encode()))
    told = run(sessions, "-o", tmp_path / "out", code=1)
    assert "AWSKeyDetector in blocks.text" in told.stdout
    assert AWS not in told.output
    assert (tmp_path / "out" / "sessionlab.json").is_file()


def _unchanged(corpus: sl.Corpus) -> sl.Corpus:
    """A corpus that claims to be redacted."""
    import polars as pl

    from sessionlab.redaction.tables import FINDINGS

    corpus.findings = pl.DataFrame(FINDINGS.empty_table())
    return corpus


def test_wrong_use_costs_no_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not free, a rule nobody knows, an empty key: told before a file is opened, nothing written."""
    from sessionlab.cli import options

    monkeypatch.setattr(options, "load", lambda *_, **__: pytest.fail("a file was read"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    (tmp_path / "key").write_text("\n")
    with pytest.raises(WrongUse, match="expected a new or empty folder"):
        run(GOLDEN, "-o", tmp_path / "full")
    with pytest.raises(WrongUse, match="no rule named beards"):
        run(GOLDEN, "-o", tmp_path / "out", "--also", "beards")
    with pytest.raises(WrongUse, match="found an empty file"):
        run(GOLDEN, "-o", tmp_path / "out", "--key-file", tmp_path / "key")
    assert not (tmp_path / "out").exists()
