"""A mecha session store listed and looked into: sections 2, 8.1, 16.2, 16.3 and their cases in 18.1."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sessionlab.errors import AmbiguousName, UnknownName, WrongUse
from sessionlab.paths import known_stores
from sessionlab.systems.mecha import Store, load, mecha_home, peek, session_directory
from sessionlab.systems.mecha.peek import HEADER_BYTES
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import line, message
from tests.systems.mecha.transcripts import header, stored

GOLDEN = next((SAMPLES / "mecha/golden").glob("*.jsonl"))


def _ids(store: Store, **asked: object) -> list[str]:
    return [one.id for one in store.listing(**asked).sessions]  # type: ignore[arg-type]


def test_one_good_file_and_one_whose_header_is_second(tmp_path: Path) -> None:
    """18.1: one is listed and one counted; what the peek says of id and model is what loading says."""
    good = stored(tmp_path, "20260101T000000-aaaaaaaa", model="plover-9")
    (tmp_path / "late.jsonl").write_bytes(message("user", "hi") + b"\n" + header("20260101T000000-bbbbbbbb"))
    found = Store(tmp_path).listing()
    assert ([one.id for one in found.sessions], found.more, found.skipped) == (["20260101T000000-aaaaaaaa"], 0, 1)
    peeked, loaded = peek(good), load(good).header
    assert peeked is not None
    assert (peeked.id, peeked.model) == (loaded.id, loaded.model) == ("20260101T000000-aaaaaaaa", "plover-9")


def test_what_a_row_says(tmp_path: Path) -> None:
    """Every member of the header, in UTC; the created title, not the rename that stands further down."""
    path = stored(tmp_path, "x", "2026-11-01T09:00:00.25+02:00", title="count", kind="web", model="m", provider="p")
    with path.open("ab") as file:
        file.write(line(record="title", title="renamed") + b"\n")
    [row] = Store(tmp_path).listing().sessions
    assert row.created_at == datetime(2026, 11, 1, 7, 0, 0, 250_000, UTC)
    assert (row.id, row.path, row.provider, row.model, row.workspace) == ("x", path, "p", "m", "/home/eve/shore")
    assert (row.title, row.kind, row.archived, row.archived_at) == ("count", "web", False, None)
    assert load(path).title == "renamed"


def test_newest_first_and_one_instant_by_id_downwards(tmp_path: Path) -> None:
    """16.2: by creation time whatever the offset and the file's name; ties by id, the greater first."""
    for session_id, created in (
        ("b", "2026-11-01T07:00:00Z"),
        ("c", "2026-11-01T08:00:00+01:00"),
        ("a", "2026-11-01T07:00:00.001Z"),
        ("d", "2026-10-31T23:59:59Z"),
    ):
        stored(tmp_path, session_id, created).rename(tmp_path / f"{ord(session_id) * 7 % 5}-{session_id}.jsonl")
    assert _ids(Store(tmp_path)) == ["a", "c", "b", "d"]


def test_a_directory_that_is_not_there_is_empty(tmp_path: Path) -> None:
    """16.2: no session, nothing skipped, and nothing made."""
    found = Store(tmp_path / "none").listing()
    assert (found.sessions, found.more, found.skipped) == ([], 0, 0)
    assert not (tmp_path / "none").exists()


def test_other_names_in_the_directory(tmp_path: Path) -> None:
    """Section 2: set aside, archived and foreign names are not looked at; saved prompts are counted as headerless."""
    stored(tmp_path, "kept")
    (tmp_path / "gone.jsonl.forgetting").write_bytes(header("gone"))
    (tmp_path / "kept.prompts.jsonl").write_bytes(b'{"prompt":"a heron"}\n')
    for name in (".jsonl", "upper.JSONL", "notes.txt", "x.jsonl.bak"):
        (tmp_path / name).write_bytes(header(name))
    (tmp_path / ".archived").mkdir()
    (tmp_path / "folder.jsonl").mkdir()
    found = Store(tmp_path).listing()
    assert ([one.id for one in found.sessions], found.skipped) == (["kept"], 1)


def test_any_file_that_passes_the_peek_is_listed(tmp_path: Path) -> None:
    """16.2: whatever its name, a hidden one and a copy of saved prompts included."""
    (tmp_path / ".hidden.jsonl").write_bytes(header("1"))
    (tmp_path / "x.prompts.jsonl").write_bytes(header("2"))
    assert _ids(Store(tmp_path)) == ["2", "1"]


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"\n \n",
        b"\xef\xbb\xbf" + header("bom"),
        b"[]\n" + header("second"),
        header("x").replace(b'"model":"plover-3",', b""),
        header("x").replace(b'"2026-11-01T07:00:00Z"', b'"yesterday"'),
        header("x").replace(b"plover", b"\xff"),
        b" " * (HEADER_BYTES + 1) + b"x",
        b'{"record":"meta"' + b" " * (HEADER_BYTES + 5000),
    ],
    ids=["empty", "blank", "mark", "second", "no model", "no time", "no utf-8", "long blank", "long line"],
)
def test_files_without_a_readable_header(tmp_path: Path, first: bytes) -> None:
    """8.1: a broken line, another kind, an empty file; each is skipped and counted."""
    (tmp_path / "x.jsonl").write_bytes(first)
    assert Store(tmp_path).listing().skipped == 1


@pytest.mark.parametrize("blank", [b"\n", b"  \t \r\n\n", b"\x0b\x0c\n", "\u2003\u0085\n".encode(), b"\n" * 9000])
def test_leading_blank_lines_are_skipped(tmp_path: Path, blank: bytes) -> None:
    """Section 22: the header is the first line that is not blank, white space as Unicode has it."""
    (tmp_path / "x.jsonl").write_bytes(blank + header("here"))
    assert _ids(Store(tmp_path)) == ["here"]


def test_a_header_without_a_line_end_and_with_members_nobody_knows(tmp_path: Path) -> None:
    """A header that is whole counts though its line end is not written yet; unknown members are ignored (3)."""
    (tmp_path / "x.jsonl").write_bytes(header("x", mood="fine", kind="chat")[:-1])
    [row] = Store(tmp_path).listing().sessions
    assert (row.id, row.kind) == ("x", "chat")


@pytest.mark.parametrize("kind", ["hologram", 7, {"a": 1}, ["run"], True, None])
def test_an_unknown_kind_is_unknown_and_costs_nothing(tmp_path: Path, kind: object) -> None:
    """18.2: a word nobody knows and any other JSON read as unknown."""
    stored(tmp_path, "x", kind=kind)
    [row] = Store(tmp_path).listing().sessions
    assert row.kind is None


def test_only_the_beginning_of_a_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line and no more, in small blocks, however large the file."""
    path = stored(tmp_path, "large", title="t" * 9000)
    with path.open("ab") as file:
        file.truncate(1 << 33)
    sizes: list[int] = []
    read = os.read

    def counting(file: int, size: int) -> bytes:
        found = read(file, size)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(os, "read", counting)
    assert _ids(Store(tmp_path)) == ["large"]
    assert sizes == [4096, 4096, 4096]


def test_days_with_the_boundary_in(tmp_path: Path, any_now: datetime) -> None:
    """10.3: created at or after now − N × 24 h; then the kind; the limit last."""
    for number, hours in enumerate((0, 24, 48)):
        created = (any_now - timedelta(hours=hours)).isoformat()
        stored(tmp_path, f"on-{number}", created, kind="run")
        just_before = (any_now - timedelta(hours=hours, microseconds=1)).isoformat()
        stored(tmp_path, f"before-{number}", just_before, kind="web")
    store = Store(tmp_path)
    assert _ids(store, days=1, now=any_now) == ["on-0", "before-0", "on-1"]
    assert _ids(store, days=0, now=any_now) == ["on-0"]
    found = store.listing(days=2, kind="web", limit=1, now=any_now)
    assert ([one.id for one in found.sessions], found.more) == (["before-0"], 1)
    assert _ids(store, limit=0) == []
    assert len(_ids(store)) == 6


def test_wrong_use_is_said(tmp_path: Path) -> None:
    """A kind that there is not, negative days, a negative number of sessions."""
    store = Store(tmp_path)
    with pytest.raises(WrongUse, match=r"kind: expected one of chat, .*found 'hologram'"):
        store.listing(kind="hologram")
    with pytest.raises(WrongUse, match="days"):
        store.listing(days=-1)
    with pytest.raises(WrongUse, match="limit"):
        store.listing(limit=-1)


def test_ids_and_prefixes(tmp_path: Path) -> None:
    """18.1: a shared prefix matches 2 sessions, a full id its file, an unknown one no session."""
    for ending in ("aaaaaaaa", "bbbbbbbb"):
        stored(tmp_path, f"20260101T000000-{ending}")
    store = Store(tmp_path)
    with pytest.raises(AmbiguousName, match=r"matches 2 sessions.*use a longer prefix"):
        store.find("20260101")
    assert store.find("20260101T000000-bbbbbbbb").path.name == "20260101T000000-bbbbbbbb.jsonl"
    assert store.find("20260101T000000-a").id == "20260101T000000-aaaaaaaa"
    with pytest.raises(UnknownName, match=r"no session matching '20270101'; there are: 20260101T000000-aaaaaaaa, "):
        store.find("20270101")
    with pytest.raises(AmbiguousName, match="matches 2 sessions"):
        store.find("")


def test_an_exact_id_that_begins_another_one_is_ambiguous(tmp_path: Path) -> None:
    """16.3: the exact one is not preferred."""
    stored(tmp_path, "s1")
    stored(tmp_path, "s10")
    with pytest.raises(AmbiguousName, match="'s1' matches 2 sessions"):
        Store(tmp_path).find("s1")


def test_the_header_decides_not_the_file_name(tmp_path: Path) -> None:
    """16.3: looked up by header id only."""
    stored(tmp_path, "inside").rename(tmp_path / "outside.jsonl")
    assert Store(tmp_path).find("ins").path.name == "outside.jsonl"
    with pytest.raises(UnknownName):
        Store(tmp_path).find("outside")
    assert (Store(tmp_path).holds("inside"), Store(tmp_path).holds("outside")) == (True, False)


def test_two_files_of_one_id(tmp_path: Path) -> None:
    """Section 22: both are listed; their prefix is ambiguous, and the files are named."""
    stored(tmp_path, "twin").rename(tmp_path / "copy.jsonl")
    stored(tmp_path, "twin")
    assert _ids(Store(tmp_path)) == ["twin", "twin"]
    with pytest.raises(AmbiguousName, match=r"matches 2 sessions \(twin in copy.jsonl, twin in twin.jsonl\)"):
        Store(tmp_path).find("twin")


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 2: the variable of the sessions, then that of the home, then ~/.mecha; as the loader finds them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)
    monkeypatch.setenv("MECHA_HOME", "")
    assert (mecha_home(), session_directory()) == (tmp_path / ".mecha", tmp_path / ".mecha/sessions")
    monkeypatch.setenv("MECHA_HOME", "~/other")
    assert session_directory() == tmp_path / "other/sessions"
    stored(session_directory(), "x")
    assert known_stores() == [str(session_directory())]
    monkeypatch.setenv("MECHA_SESSION_DIR", str(tmp_path / "mine"))
    assert (mecha_home(), session_directory(), Store().folder) == (tmp_path / "other", *[tmp_path / "mine"] * 2)
    stored(session_directory(), "y")
    assert known_stores() == [str(session_directory())]
    assert _ids(Store()) == ["y"]


def test_the_golden_sample_is_listed() -> None:
    """Section 20: id, created title, kind."""
    [row] = Store(GOLDEN.parent).listing().sessions
    assert (row.id, row.title, row.kind) == ("20261003T081500-5e1d20aa", "count the birds", "run")
