"""README tells the truth: its lists are the code's, its commands exist, its Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from sessionlab.cli import app
from sessionlab.cli.gg import app as gg
from tests.conftest import ROOT
from tests.readme_lists import filled

README = (ROOT / "README.md").read_text()


def test_lists_are_generated() -> None:
    """Tables, views, formats and charts are listed as they are (python tests/readme_lists.py writes them)."""
    assert filled(README) == README


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of Python in README runs on the samples, one after the other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MECHA_HOME", str(tmp_path / "mecha"))
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)


def test_its_commands_exist() -> None:
    """Every `sessionlab …` command that README names is a command."""
    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    shells = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    named = set(re.findall(r"sessionlab (\w+)", shells)) | set(re.findall(r"`sessionlab (\w+)", README))
    assert named
    assert named <= known
    assert set(re.findall(r"sessionlab gg (\w+)", shells)) == set(get_command(gg).commands)  # type: ignore[attr-defined]


def test_the_two_commands_stand_first() -> None:
    """One command installs and runs the main job, one installs and passes the tests."""
    assert "pip install . && sessionlab demo" in README
    assert "pip install -e '.[test]' && pytest" in README


def test_its_pictures_are_there() -> None:
    """Every picture README shows is in the repository."""
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file(), path


def test_changelog_has_the_version() -> None:
    """CHANGELOG speaks of the version that is installed."""
    import sessionlab

    assert f"## {sessionlab.__version__}" in (ROOT / "CHANGELOG.md").read_text()
