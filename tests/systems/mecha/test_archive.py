"""Archive marks: section 15.1 and its cases in 18.9."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from sessionlab.errors import UnknownName, WrongUse
from sessionlab.systems.mecha import Store, TranscriptWriter
from tests.systems.mecha.transcripts import stored

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_archive_marks_and_touches_nothing_else(tmp_path: Path) -> None:
    """18.9: marked, transcript bytes unchanged, listing unchanged; unarchived true, then false."""
    path = stored(tmp_path, "s1")
    before = path.read_bytes(), path.stat().st_mtime_ns
    store = Store(tmp_path)
    assert store.archive("s1", now=NOW) is True
    [row] = store.listing().sessions
    assert (row.id, row.archived, row.archived_at) == ("s1", True, NOW)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert store.find("s1").archived
    assert (store.unarchive("s1"), store.unarchive("s1")) == (True, False)
    assert store.listing().sessions[0].archived is False


@pytest.mark.parametrize(
    ("when", "text"),
    [
        (NOW, "2026-11-30T12:00:00+00:00"),
        (NOW.replace(microsecond=250_000), "2026-11-30T12:00:00.250+00:00"),
        (NOW.replace(microsecond=7), "2026-11-30T12:00:00.000007+00:00"),
        (datetime(2026, 11, 30, 13, 0, tzinfo=timezone(timedelta(hours=1))), "2026-11-30T12:00:00+00:00"),
    ],
)
def test_what_a_mark_holds(tmp_path: Path, when: datetime, text: str) -> None:
    """RFC 3339 in UTC with the offset +00:00, no newline; folder 0700, file 0600."""
    stored(tmp_path, "s1")
    Store(tmp_path).archive("s1", now=when)
    marker = tmp_path / ".archived/s1"
    assert marker.read_text() == text
    assert (marker.parent.stat().st_mode & 0o777, marker.stat().st_mode & 0o777) == (0o700, 0o600)
    assert Store(tmp_path).find("s1").archived_at == when


def test_archiving_twice_keeps_the_first_time(tmp_path: Path) -> None:
    """15.1: the second call says that there was a mark."""
    stored(tmp_path, "s1")
    store = Store(tmp_path)
    assert store.archive("s1", now=NOW) is True
    assert store.archive("s1", now=NOW + timedelta(days=400)) is False
    assert store.find("s1").archived_at == NOW


@pytest.mark.parametrize("content", [b"", b"last week", b"\xff\xfe", b"2026-11-30T12:00:00", b"x" * 5000])
def test_a_time_that_cannot_be_read_is_unknown(tmp_path: Path, content: bytes) -> None:
    """15.1: archived all the same."""
    stored(tmp_path, "s1")
    (tmp_path / ".archived").mkdir()
    (tmp_path / ".archived/s1").write_bytes(content)
    [row] = Store(tmp_path).listing().sessions
    assert (row.archived, row.archived_at) == (True, None)


def test_a_time_with_a_line_end_and_nanoseconds_is_read(tmp_path: Path) -> None:
    """What mecha writes has up to nine digits; they are cut to microseconds."""
    stored(tmp_path, "s1")
    (tmp_path / ".archived").mkdir()
    (tmp_path / ".archived/s1").write_bytes(b"2026-11-30T12:00:00.123456789+00:00\n")
    assert Store(tmp_path).find("s1").archived_at == NOW.replace(microsecond=123_456)


@pytest.mark.parametrize("name", ["../escape", "../../etc/passwd", "", "a/b", "a.b", "ä", "x" * 129, "a\n", "."])
def test_what_is_no_id_is_refused_and_never_archived(tmp_path: Path, name: str) -> None:
    """15.1: 1 to 128 of A-Z a-z 0-9 - _; nothing is written anywhere."""
    folder = tmp_path / "sessions"
    stored(folder, "s1")
    store = Store(folder)
    for change in (store.archive, store.unarchive):
        with pytest.raises(WrongUse, match=re.escape(f"found {name!r}")):
            change(name)
    assert store.is_archived(name) is False
    assert [path.name for path in tmp_path.rglob("*")] == ["sessions", "s1.jsonl"]


def test_the_longest_id(tmp_path: Path) -> None:
    """128 characters are an id."""
    name = "Az09-_" * 21 + "xy"
    stored(tmp_path, name)
    assert Store(tmp_path).archive(name) is True
    assert Store(tmp_path).is_archived(name)


def test_a_session_that_does_not_exist(tmp_path: Path) -> None:
    """15.1: the transcript must exist, under its whole id; a mark without one can still be taken away."""
    stored(tmp_path, "s12")
    store = Store(tmp_path)
    for name in ("s1", "unknown"):
        with pytest.raises(UnknownName, match="no session matching"):
            store.archive(name)
    (tmp_path / ".archived").mkdir()
    (tmp_path / ".archived/gone").write_text("2026-11-30T12:00:00+00:00")
    assert (store.is_archived("gone"), store.unarchive("gone"), store.is_archived("gone")) == (True, True, False)


def test_the_header_id_is_marked_whatever_the_file_is_called(tmp_path: Path) -> None:
    """16.1: the id in the header decides."""
    stored(tmp_path, "inside").rename(tmp_path / "outside.jsonl")
    Store(tmp_path).archive("inside")
    assert Store(tmp_path).listing().sessions[0].archived


def test_resuming_takes_the_mark_off(tmp_path: Path) -> None:
    """18.9: not when nothing is recorded."""
    stored(tmp_path, "s1")
    store = Store(tmp_path)
    store.archive("s1")
    TranscriptWriter.resume("s1", {"model": "m"}, store, recording=False)
    assert store.is_archived("s1")
    TranscriptWriter.resume("s1", {"model": "m"}, store)
    assert not store.is_archived("s1")
