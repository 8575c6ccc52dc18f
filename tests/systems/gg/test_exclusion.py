"""The journal kept out of commits (section 4.8): repositories as git makes them in, what git sees of `.gg` out."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sessionlab.systems import gg
from tests.systems.gg.failing import BECOME_NOBODY, as_root, open_folder, program
from tests.systems.gg.journals import JOURNAL, lines_of, root_of, writer, written

EXCLUDE = ".git/info/exclude"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to ask")


def _git(folder: Path, *arguments: str) -> str:
    """What git says, under no configuration but its own."""
    alone = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=kept | alone, capture_output=True, text=True, check=True
    )
    return done.stdout


def _record(workspace: Path) -> None:
    recorder = writer(workspace)
    root_of(recorder).clock(elapsed_ms=1)
    assert recorder.finish().landed


def _sees_no_journal(workspace: Path) -> None:
    """Git is told of everything but the journal; a folder of that name further down is the model's own."""
    _record(workspace)
    (workspace / "sub" / ".gg").mkdir(parents=True)
    (workspace / "sub" / ".gg" / "x").write_text("mine")
    assert _git(workspace, "status", "--porcelain", "--untracked-files=all").splitlines() == ["?? sub/.gg/x"]
    _git(workspace, "add", "-A")
    assert _git(workspace, "status", "--porcelain").splitlines() == ["A  sub/.gg/x"]
    assert ".gg/replay.ndjson" not in _git(workspace, "ls-files").splitlines()
    assert _git(workspace, "check-ignore", JOURNAL).strip() == JOURNAL


def _repository(folder: Path, *options: str) -> Path:
    folder.mkdir()
    _git(folder, "init", "--quiet", *options)
    return folder


def _with_a_commit(folder: Path) -> Path:
    _repository(folder)
    (folder / "kite.html").write_text("<p>kite</p>")
    _git(folder, "add", "-A")
    _git(folder, "commit", "--quiet", "-m", "a kite")
    return folder


@needs_git
def test_a_repository(tmp_path: Path) -> None:
    """In a repository as `git init` makes it, its own lines stay and one is added, whatever is recorded there."""
    place = _repository(tmp_path / "place")
    before = (place / EXCLUDE).read_bytes()
    _sees_no_journal(place)
    (place / JOURNAL).unlink()
    _record(place)
    assert (place / EXCLUDE).read_bytes() == before + b"/.gg/\n"


@needs_git
def test_a_linked_worktree(tmp_path: Path) -> None:
    """In a worktree the excludes are those of the repository it hangs from, which holds for all of its worktrees."""
    place, linked = _with_a_commit(tmp_path / "place"), tmp_path / "linked"
    _git(place, "worktree", "add", "--quiet", str(linked))
    _sees_no_journal(linked)
    _sees_no_journal(place)
    assert (place / EXCLUDE).read_bytes().count(b"/.gg/") == 1
    assert not (place / ".git/worktrees/linked/info").exists()


@needs_git
@pytest.mark.parametrize("relative", [False, True])
def test_a_git_folder_elsewhere(tmp_path: Path, relative: bool) -> None:
    """A submodule has a file `.git` that leads to its folder, by a path of either kind."""
    stored = tmp_path / "modules" / "place"
    stored.parent.mkdir()
    place = _repository(tmp_path / "place", f"--separate-git-dir={stored}")
    if relative:
        (place / ".git").write_text("gitdir: ../modules/place\n")
    _sees_no_journal(place)
    assert (stored / "info" / "exclude").read_bytes().endswith(b"/.gg/\n")


@needs_git
def test_a_submodule(tmp_path: Path) -> None:
    """A real submodule keeps the journal recorded in it out of its own commits."""
    origin, place = _with_a_commit(tmp_path / "origin"), _with_a_commit(tmp_path / "place")
    _git(place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(origin), "part")
    _sees_no_journal(place / "part")


@needs_git
def test_a_folder_inside_a_repository(tmp_path: Path) -> None:
    """A workspace that is no repository's root is left to the one who put it there."""
    place = _repository(tmp_path / "place")
    before = (place / EXCLUDE).read_bytes()
    (place / "part").mkdir()
    assert gg.exclude_from_git(place / "part") is False
    assert (place / EXCLUDE).read_bytes() == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"/.gg/\n"),
        (b"", b"/.gg/\n"),
        (b"*.log\n", b"*.log\n/.gg/\n"),
        (b"*.log", b"*.log\n/.gg/\n"),
        (b"*.log\r\n", b"*.log\r\n/.gg/\n"),
        (b"*.log\r\nbuild", b"*.log\r\nbuild\n/.gg/\n"),
        (b"/.gg/\n*.log\n", b"/.gg/\n*.log\n"),
        (b"/.gg/\r\n*.log\r\n", b"/.gg/\r\n*.log\r\n"),
        (b"*.log\n/.gg/", b"*.log\n/.gg/"),
        (b"# /.gg/\n", b"# /.gg/\n/.gg/\n"),
        (b".gg/\n", b".gg/\n/.gg/\n"),
        (b"a/.gg/\n/.gg/x\n", b"a/.gg/\n/.gg/x\n/.gg/\n"),
        ("é\n".encode("latin-1"), b"\xe9\n/.gg/\n"),
    ],
)
def test_the_line_is_added_once(tmp_path: Path, before: bytes | None, after: bytes) -> None:
    """Whatever stood there stays as it is, to the byte; the line is added where it is missing, and only then."""
    (tmp_path / ".git").mkdir()
    if before is not None:
        (tmp_path / ".git" / "info").mkdir()
        (tmp_path / EXCLUDE).write_bytes(before)
    for _ in range(3):
        assert gg.exclude_from_git(tmp_path) is True
        assert (tmp_path / EXCLUDE).read_bytes() == after


def test_no_repository(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without a repository there is nothing to exclude from, and nothing to warn of; the journal is written."""
    assert gg.exclude_from_git(tmp_path) is False
    _record(tmp_path)
    assert not (tmp_path / ".git").exists()
    assert caplog.records == []


WRONG = {
    "a folder in its place": lambda git: (git / "info" / "exclude").mkdir(parents=True),
    "a file in place of its folder": lambda git: (git / "info").write_text("mine"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_excludes_that_cannot_be_written(tmp_path: Path, wrong: str, caplog: pytest.LogCaptureFixture) -> None:
    """A warning says that the journal is not excluded; the journal is written all the same."""
    (tmp_path / ".git").mkdir()
    WRONG[wrong](tmp_path / ".git")
    assert gg.exclude_from_git(tmp_path) is False
    assert "could not be excluded from git" in caplog.text
    caplog.clear()
    _record(tmp_path)
    assert [made.levelname for made in caplog.records] == ["WARNING"]
    assert "could not be excluded from git" in caplog.text
    assert lines_of(written(tmp_path))[-1] == {"type": "end", "entries": 1}


@pytest.mark.parametrize(
    "content",
    [b"", b"no such line\n", b"gitdir: /nowhere/at/all/\0\n", b"\xff\xfe"],
    ids=["empty", "words", "nul", "binary"],
)
def test_a_git_file_that_leads_nowhere(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """A file `.git` of any content is warned of, and capture goes on."""
    (tmp_path / ".git").write_bytes(content)
    assert gg.exclude_from_git(tmp_path) is False
    assert "could not be excluded from git" in caplog.text
    _record(tmp_path)


def test_a_git_file_that_leads_to_no_folder(tmp_path: Path) -> None:
    """No repository is made up where a file `.git` leads to a folder that is not there."""
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / ".git").write_text("gitdir: ../gone\n")
    assert gg.exclude_from_git(tmp_path / "place") is False
    assert not (tmp_path / "gone").exists()
    _record(tmp_path / "place")


@as_root
@pytest.mark.parametrize("mode", [0o444, 0o000], ids=["read-only", "unreadable"])
def test_excludes_one_may_not_write(mode: int) -> None:
    """Under a user without rights: a warning, and a journal."""
    with open_folder() as folder:
        folder.chmod(0o777)
        (folder / EXCLUDE).parent.mkdir(parents=True)
        (folder / EXCLUDE).write_bytes(b"*.log\n")
        (folder / EXCLUDE).chmod(mode)
        code = f"""
import sys
from tests.systems.gg.journals import root_of, writer
{BECOME_NOBODY}
recorder = writer(sys.argv[1])
root_of(recorder).clock(elapsed_ms=1)
told = recorder.finish()
sys.exit(0 if told.landed and told.truncation is None else 3)
"""
        done = program(code, folder)
        assert done.returncode == 0, done.stderr
        assert "could not be excluded from git" in done.stderr
        assert (folder / EXCLUDE).read_bytes() == b"*.log\n"
        assert written(folder).endswith(b'{"type":"end","entries":1}\n')
