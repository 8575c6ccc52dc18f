"""A store's folder where others may write: names, links, odd files; and many writers at once."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.systems.datalayer.importing import import_session
from sessionlab.systems.datalayer.store import Store
from tests.formats.datalayer_files import bytes_of, entry, head, team
from tests.systems.datalayer.stored import NOW, UID, kinds, record, store_of, turn, turns

NAME = f"{UID}.session.jsonl"
posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")


@pytest.mark.parametrize(
    "uid",
    ["../../../etc/passwd", "a/b/c/d/e", "..", "", "short", "a" * 129, "tab\tinside", "nul\0inside", UID + "\n",
     "ünïcödé-uid", "/abs/olute", "C:\\win\\dows", ".hidden-uid", "%2e%2e%2fetc"],
)  # fmt: skip
def test_a_uid_of_another_shape_is_unknown_and_no_path_is_made_of_it(tmp_path: Path, uid: str) -> None:
    """404 for every question, nothing is looked at or made outside the folder."""
    store = store_of(tmp_path / "store", *turns(1))
    (tmp_path / "etc").mkdir()
    for ask in (store.record, store.end, store.archive, store.path):
        with pytest.raises(SessionRefused, match="uid") as caught:
            ask(uid)
        assert (caught.value.kind, caught.value.status) == ("unknown_session", 404)
    with pytest.raises(SessionRefused):
        store.add(record(*turns(1), uid=uid))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["etc", NAME, "store"]


@posix
def test_a_link_in_a_sessions_place_is_not_followed(tmp_path: Path) -> None:
    """Neither read nor written through, nor listed; its target stays as it is."""
    outside = store_of(tmp_path / "outside", *turns(1)).path(UID)
    before = outside.read_bytes()
    store = Store(tmp_path / "store")
    store.add(record(*turns(1), uid="real-0001"))
    link = store.path(UID)
    link.symlink_to(outside)
    for ask in (store.record, store.end):
        with pytest.raises(SessionRefused, match="links are not followed") as caught:
            ask(UID)
        assert caught.value.status == 404
    with pytest.raises(SessionRefused) as taken:
        store.add(record(*turns(2)))
    assert taken.value.kind == "uid_in_use"
    listing = store.listing()
    assert [one.uid for one in listing.sessions] == ["real-0001"]
    assert [name for name, _ in listing.skipped] == [NAME]
    assert outside.read_bytes() == before
    assert link.is_symlink()


@posix
def test_a_link_that_leads_nowhere_is_a_uid_in_use(tmp_path: Path) -> None:
    """Nothing is made where it points."""
    store = Store(tmp_path / "store")
    store.folder.mkdir()
    store.path(UID).symlink_to(tmp_path / "made")
    with pytest.raises(SessionRefused) as caught:
        store.add(record(*turns(1)))
    assert caught.value.kind == "uid_in_use"
    assert not (tmp_path / "made").exists()


@posix
def test_a_link_planted_where_a_file_is_written_first_is_removed_not_followed(tmp_path: Path) -> None:
    """The temporary file is always a new one."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    store = store_of(tmp_path / "store", *turns(1))
    (store.folder / ".writing.sessionlab-tmp").symlink_to(victim)
    store.append(UID, [turn(2, 20)])
    assert victim.read_text() == "untouched"
    assert [path.name for path in store.folder.iterdir()] == [NAME]
    assert store.record(UID).turns == 2


@posix
def test_pipes_and_folders_in_a_sessions_place_neither_hang_nor_list(tmp_path: Path) -> None:
    """They are no regular files."""
    store = Store(tmp_path)
    os.mkfifo(tmp_path / "pipe-0001.session.jsonl")
    (tmp_path / "folder-01.session.jsonl").mkdir()
    assert sorted(name for name, _ in store.listing().skipped) == ["folder-01.session.jsonl", "pipe-0001.session.jsonl"]
    for uid in ("pipe-0001", "folder-01"):
        with pytest.raises(SessionRefused, match="no regular file"):
            store.record(uid)


def test_files_that_hold_no_session_are_skipped_with_their_reason(tmp_path: Path) -> None:
    """Broken, a team's, under another's name, without a `session` entry, named by no uid; the sound one is listed."""
    store = store_of(tmp_path, *turns(1))
    for uid, data in (
        ("broken-01", bytes_of(head(uid="broken-01"), "{")),
        ("teams-001", bytes_of(team())),
        ("other-001", bytes_of(head(uid="abcd-1234"), entry("session"))),
        ("noopening", bytes_of(head(uid="noopening"), entry("turn"))),
        ("empty-001", b""),
        ("ü", bytes_of(head())),
    ):
        (tmp_path / f"{uid}.session.jsonl").write_bytes(data)
    (tmp_path / "notes.txt").write_text("no session")
    listing = store.listing()
    assert [one.uid for one in listing.sessions] == [UID]
    said = dict(listing.skipped)
    assert {name.removesuffix(".session.jsonl") for name in said} == {
        "broken-01", "teams-001", "other-001", "noopening", "empty-001", "ü",
    }  # fmt: skip
    assert "Line 2" in said["broken-01.session.jsonl"]
    assert "abcd-1234" in said["other-001.session.jsonl"]
    assert "`session` entry" in said["noopening.session.jsonl"]
    with pytest.raises(SessionRefused) as caught:
        store.record("broken-01")
    assert (caught.value.kind, caught.value.line) == ("not_json", 2)


def test_a_folder_that_cannot_be_read_or_is_a_file_is_an_error_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never an empty store, and never an unknown session."""
    (tmp_path / "file").write_text("")
    for ask in (Store(tmp_path / "file").sessions, lambda: Store(tmp_path / "file").add(record(*turns(1)))):
        with pytest.raises(OSError, match="file"):
            ask()
    store = store_of(tmp_path / "store", *turns(1))

    def forbidden(path: object, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", forbidden)
    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(PermissionError):
        store.sessions()
    with pytest.raises(PermissionError):
        store.record(UID)


@posix
def test_folder_and_files_are_their_owners_alone(tmp_path: Path) -> None:
    """0700 and 0600: a record may hold what must not be shared."""
    store = store_of(tmp_path / "a" / "store", *turns(1))
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(store.path(UID).stat().st_mode) == 0o600


def test_200_threads_importing_at_once(tmp_path: Path) -> None:
    """Each becomes a session of its own, whole, through one store or through one each."""
    shared = Store(tmp_path / "store")
    data = [bytes_of(head(title=f"T{n}"), entry("turn", asked=str(n))) for n in range(200)]

    def bring_in(n: int) -> str:
        store = shared if n % 2 else Store(tmp_path / "store")
        return import_session(data[n], store, by=f"u-{n}", now=NOW).uid

    with ThreadPoolExecutor(200) as pool:
        uids = list(pool.map(bring_in, range(200)))
    assert len(set(uids)) == 200
    assert {one.uid: (one.title, one.owner) for one in shared.sessions()} == {
        uid: (f"T{n}", f"u-{n}") for n, uid in enumerate(uids)
    }
    assert {path.name for path in shared.folder.iterdir()} == {f"{uid}.session.jsonl" for uid in uids}


def test_40_threads_appending_to_one_session_lose_nothing(tmp_path: Path) -> None:
    """Each through its own store, so that only the lock on the folder orders them."""
    store = store_of(tmp_path, *turns(0))
    with ThreadPoolExecutor(40) as pool:
        list(pool.map(lambda n: Store(tmp_path).append(UID, [turn(n, n)]), range(40)))
    kept = store.record(UID)
    assert kinds(kept.entries) == ["session"] + ["turn"] * 40
    assert {one.payload["answered"] for one in kept.entries[1:]} == {f"Answer {n}." for n in range(40)}
    assert isinstance(judge(store.path(UID).read_bytes()), Accepted)
