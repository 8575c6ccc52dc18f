"""Where a transcript is written, who may read it, and what its header is called: sections 2 and 4.1."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessionlab.errors import WrongUse
from sessionlab.systems.mecha import Store, TranscriptWriter, opening_title
from tests.systems.mecha.transcripts import records

GIVEN = {"provider": "p", "model": "m", "workspace": "/home/eve/shore"}


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A process whose files everybody could read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.usefixtures("open_umask")
def test_a_new_directory_is_its_owners_alone(tmp_path: Path) -> None:
    """18.1: mode 0700, also of what is missing above it; files 0600 where mecha leaves them to the umask."""
    folder = tmp_path / "a/b/sessions"
    writer = TranscriptWriter.create(Store(folder), **GIVEN)
    writer.rename("x")
    assert writer.path is not None
    assert [_mode(each) for each in (tmp_path / "a", tmp_path / "a/b", folder)] == [0o700] * 3
    assert _mode(writer.path) == 0o600
    Store(folder).archive(writer.id)
    assert (_mode(folder / ".archived"), _mode(folder / ".archived" / writer.id)) == (0o700, 0o600)


def test_an_open_directory_is_closed_at_each_new_session(tmp_path: Path) -> None:
    """Section 2: the mode is set again; resuming leaves it."""
    folder = tmp_path / "sessions"
    folder.mkdir(mode=0o755)
    writer = TranscriptWriter.create(Store(folder), **GIVEN)
    assert _mode(folder) == 0o700
    folder.chmod(0o750)
    TranscriptWriter.resume(writer.id, {}, Store(folder))
    assert _mode(folder) == 0o750


def test_the_default_place_is_mechas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a store the session goes where mecha would look for it."""
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)
    monkeypatch.setenv("MECHA_HOME", str(tmp_path / "home"))
    writer = TranscriptWriter.create(**GIVEN)
    assert writer.path == tmp_path / f"home/sessions/{writer.id}.jsonl"
    assert TranscriptWriter.resume(writer.id, {}).path == writer.path


@pytest.mark.parametrize(
    ("forced", "kind", "stands"),
    [
        (None, None, None), (None, "chat", "chat"), ("test", "chat", "test"), ("test", None, "test"),
        ("experiment", "web", "experiment"), ("web", "run", "run"), ("web", None, None), ("", "run", "run"),
    ],
)  # fmt: skip
def test_the_kind_of_a_session(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    forced: str | None,
    kind: str | None,
    stands: str | None,
) -> None:
    """18.2: `test` forces test, also when no kind is given; other words are ignored with a warning."""
    monkeypatch.delenv("MECHA_SESSION_KIND", raising=False)
    if forced is not None:
        monkeypatch.setenv("MECHA_SESSION_KIND", forced)
    with caplog.at_level(logging.WARNING, "sessionlab.mecha"):
        writer = TranscriptWriter.create(Store(tmp_path), kind=kind, **GIVEN)
    assert writer.path is not None
    assert records(writer.path)[0].get("kind") == stands
    assert ("found 'web': ignored" in caplog.text) == (forced == "web")


@pytest.mark.parametrize(
    "kind",
    ["run", "chat", "tui", "web", "voice", "task", "trigger", "frontdoor", "mail", "slack", "test", "experiment"],
)
def test_every_kind_is_written_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """18.2: all words round trip; a word that is none is refused, never guessed."""
    monkeypatch.delenv("MECHA_SESSION_KIND", raising=False)
    TranscriptWriter.create(Store(tmp_path), kind=kind, **GIVEN)
    assert [one.kind for one in Store(tmp_path).listing(kind=kind).sessions] == [kind]
    with pytest.raises(WrongUse, match=f"kind: expected one of .*found '{kind}s'"):
        TranscriptWriter.create(Store(tmp_path), kind=f"{kind}s", **GIVEN)


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("count the birds", "count the birds"),
        ("  count\n\tthe   birds \n", "count the birds"),
        ("é" * 60, "é" * 60),
        ("é" * 61, "é" * 60 + "…"),
        ("count " * 20, "count " * 10 + "…"),
        (" \n ", None),
        ("", None),
    ],
)
def test_titles_are_the_opening_words(prompt: str, title: str | None) -> None:
    """4.1: on one line, cut after 60 characters with an ellipsis."""
    assert opening_title(prompt) == title
