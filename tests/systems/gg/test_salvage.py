"""Salvage (section 4.7): a journal damaged, vanishing, growing or not to be read in; a record or nothing out."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionlab.systems import gg
from sessionlab.systems.gg import stage
from sessionlab.systems.gg.place import open_journal
from tests.formats.gg_examples import HEADER, ROOT, B, call, end, entry, journal, message
from tests.systems.gg.failing import BECOME_NOBODY, as_root, open_folder, program, small_volume
from tests.systems.gg.journals import JOURNAL, RECORD, S, tree, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable

CLOCK = [entry(n, "clock", elapsedMs=n) for n in range(40_000)]
LONG = journal(HEADER, ROOT, *CLOCK)
"""A journal of several of the blocks that are copied at a time."""
BLOCK = 1 << 20


def _outcome(run: Path) -> tuple[int, dict[str, Any] | None]:
    """How many entries were salvaged, and the truncation; the record is all there is in the run's folder."""
    assert [path.name for path in run.iterdir()] == [RECORD]
    document = json.loads(unpacked(run / RECORD))
    assert [made["seq"] for made in document["entries"]] == list(range(len(document["entries"])))
    return len(document["entries"]), document.get("truncation")


def _nothing(workspace: Path, run: Path, caplog: pytest.LogCaptureFixture) -> str:
    """Nothing is salvaged, nothing left behind, nothing raised; what the log says of it."""
    caplog.clear()
    began = monotonic()
    assert gg.salvage(workspace, run) is None
    assert monotonic() - began < 2
    assert not run.is_dir() or list(run.iterdir()) == []
    (told,) = [made.getMessage() for made in caplog.records if "nothing salvaged" in made.getMessage()]
    return told


def _complete(data: bytes) -> tuple[int, int]:
    """Complete entries in the first bytes of the long journal, and what is left behind the last of its lines."""
    *lines, rest = data.split(b"\n")
    return len(lines) - 2, len(rest)


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (journal(*S), (2, {"reason": "session_killed", "lastSeq": 1})),
        (journal(*S, end(2)), (2, None)),
        (journal(*S)[:-1], (1, {"reason": "corrupt_journal", "lastSeq": 0})),
        (journal(*S, b"{}"), (2, {"reason": "corrupt_journal", "lastSeq": 1})),
        (journal(*S, end(3)), (2, {"reason": "corrupt_journal", "lastSeq": 1})),
        (B, (1, {"reason": "corrupt_journal", "lastSeq": 0})),
        (journal(*S, end(2, reason="byte_ceiling", bytes=9)), (2, {"reason": "byte_ceiling", "bytes": 9})),
    ],
    ids=["killed", "ended", "torn", "garbage", "miscounted", "torn-batch", "ceiling"],
)
def test_what_is_salvaged(tmp_path: Path, data: bytes, outcome: tuple[int, dict[str, Any] | None]) -> None:
    """The record says how the journal ended; the workspace is as it was, and the record stands alone."""
    workspace, run = tree(tmp_path, data), tmp_path / "runs" / "7"
    (workspace / "kite.html").write_text("<p>kite</p>")
    before = {path: path.lstat() for path in [workspace, *workspace.rglob("*")]}
    assert gg.salvage(workspace, run) == run / RECORD
    assert _outcome(run) == outcome
    assert (workspace / JOURNAL).read_bytes() == data
    after = {path: path.lstat() for path in [workspace, *workspace.rglob("*")]}
    assert after.keys() == before.keys()
    for path, told in after.items():
        assert (told.st_mode, told.st_size, told.st_mtime_ns) == (
            before[path].st_mode,
            before[path].st_size,
            before[path].st_mtime_ns,
        )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "has no header line"),
        (b"not a journal\n", "has no header line"),
        (journal(HEADER, message(1)), "has a gap in its message pool"),
        (journal(HEADER, call(0, 5)), "has a dangling reference"),
        (journal(HEADER, HEADER), "carries a second header line"),
        (journal({**HEADER, "formatVersion": 2}), "is in journal format 2"),
    ],
    ids=["empty", "garbage", "gap", "dangling", "second-header", "format"],
)
def test_a_refused_journal(tmp_path: Path, data: bytes, why: str, caplog: pytest.LogCaptureFixture) -> None:
    """There is no record of it, the log says why, and the journal stays where it is."""
    workspace, run = tree(tmp_path, data), tmp_path / "run"
    assert why in _nothing(workspace, run, caplog)
    assert (workspace / JOURNAL).read_bytes() == data


def test_a_refusal_names_the_journal(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What is named is the journal that lies in the workspace, not the copy of it that is gone by then."""
    workspace = tree(tmp_path, b"not a journal\n")
    told = _nothing(workspace, tmp_path / "run", caplog)
    assert str(workspace) in told
    assert ".salvage-" not in told


def test_an_earlier_record_stays(tmp_path: Path) -> None:
    """A salvage that fails leaves a record that stands there already; one that succeeds replaces it."""
    workspace, run = tree(tmp_path, b"not a journal\n"), tmp_path / "run"
    run.mkdir()
    (run / RECORD).write_bytes(b"earlier")
    assert gg.salvage(workspace, run) is None
    assert (run / RECORD).read_bytes() == b"earlier"
    (workspace / JOURNAL).write_bytes(journal(*S))
    assert gg.salvage(workspace, run) == run / RECORD
    assert _outcome(run)[0] == 2


def test_another_harness(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A run that is none of gg's is left alone."""
    workspace, run = tree(tmp_path, journal(*S)), tmp_path / "run"
    assert gg.salvage(workspace, run, harness="other") is None
    assert not run.exists() or list(run.iterdir()) == []
    assert "nothing salvaged" in caplog.text


@pytest.mark.parametrize("gone", ["workspace", ".gg", JOURNAL])
def test_nothing_to_salvage(tmp_path: Path, gone: str, caplog: pytest.LogCaptureFixture) -> None:
    """Where there is no workspace, no folder or no journal, not even the run's folder is made."""
    workspace, run = tmp_path / "workspace", tmp_path / "run"
    if gone != "workspace":
        (workspace / ".gg").mkdir(parents=True)
    if gone == ".gg":
        (workspace / ".gg").rmdir()
    _nothing(workspace, run, caplog)
    assert not run.exists()


def test_a_journal_that_disappears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It was there when it was looked at, and is not when it is opened."""
    workspace = tree(tmp_path, LONG)

    def late(at: Path, flags: int) -> int:
        (at / JOURNAL).unlink()
        return open_journal(at, flags)

    monkeypatch.setattr(stage, "open_journal", late)
    assert "FileNotFoundError" in _nothing(workspace, tmp_path / "run", caplog)


class _Disturbed:
    """The operating system, but that something happens before a block is read."""

    def __init__(self, event: Callable[[int], None]) -> None:
        self._event, self._blocks = event, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def read(self, fd: int, size: int) -> bytes:
        self._event(self._blocks)
        self._blocks += 1
        return os.read(fd, size)


def _disturb(monkeypatch: pytest.MonkeyPatch, event: Callable[[int], None]) -> None:
    """Let ``event`` happen, with their number, before blocks of the journal are read."""
    monkeypatch.setattr(stage, "os", _Disturbed(event))


@pytest.mark.parametrize("size", [0, 1000, BLOCK, BLOCK + 5000], ids=["all", "most", "behind", "a-little"])
def test_a_journal_truncated_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """After its first block was read, all but ``size`` bytes of it are cut off: what could be read is kept."""
    workspace, run = tree(tmp_path, LONG), tmp_path / "run"

    def cut(block: int) -> None:
        if block == 1:
            os.truncate(workspace / JOURNAL, size)

    _disturb(monkeypatch, cut)
    assert gg.salvage(workspace, run) == run / RECORD
    entries, rest = _complete(LONG[: max(BLOCK, size)])
    reason = "corrupt_journal" if rest else "session_killed"
    assert _outcome(run) == (entries, {"reason": reason, "lastSeq": entries - 1})


def test_a_journal_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy ends where the file ended when it was opened, however fast a run goes on writing."""
    workspace, run = tree(tmp_path, LONG), tmp_path / "run"

    def grow(_: int) -> None:
        with (workspace / JOURNAL).open("ab") as file:
            file.write(journal(*(entry(40_000 + n, "clock", elapsedMs=n) for n in range(10))) * 3000)

    _disturb(monkeypatch, grow)
    assert gg.salvage(workspace, run) == run / RECORD
    assert _outcome(run) == (40_000, {"reason": "session_killed", "lastSeq": 39_999})


def test_a_run_that_goes_on(tmp_path: Path) -> None:
    """The same with a thread that really writes all the time: salvage comes to an end, with a prefix."""
    workspace, over = tree(tmp_path, journal(HEADER, ROOT)), threading.Event()

    def go_on() -> None:
        with (workspace / JOURNAL).open("ab", buffering=0) as file:
            for made in CLOCK:
                file.write(journal(made))
                if over.is_set():
                    break

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        counts = []
        for number in range(5):
            assert gg.salvage(workspace, tmp_path / str(number)) is not None
            counts.append(_outcome(tmp_path / str(number))[0])
    finally:
        over.set()
        thread.join()
    assert counts == sorted(counts)


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_disk_that_breaks_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, caplog: pytest.LogCaptureFixture
) -> None:
    """After some blocks nothing more can be read: what was read is a journal that was cut there."""
    workspace, run = tree(tmp_path, LONG), tmp_path / "run"

    def fail(block: int) -> None:
        if block == blocks:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    _disturb(monkeypatch, fail)
    assert gg.salvage(workspace, run) == run / RECORD
    entries, rest = _complete(LONG[: blocks * BLOCK])
    assert rest
    assert _outcome(run) == (entries, {"reason": "corrupt_journal", "lastSeq": entries - 1})
    assert f"up to byte {blocks * BLOCK} only" in caplog.text


@pytest.mark.parametrize("code", sorted(errno.errorcode))
def test_no_error_of_the_system_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the system answers, to opening the journal or to reading the first of it, nothing is salvaged."""
    workspace = tree(tmp_path, journal(*S))

    def fail(*_: object) -> Any:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(stage, "open_journal", fail)
        _nothing(workspace, tmp_path / "run", caplog)
    _disturb(monkeypatch, fail)
    _nothing(workspace, tmp_path / "run", caplog)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_bytes_of_any_kind(tmp_path: Path, data: st.DataObject) -> None:
    """Any damage to a journal gives a record or none; never an error, and never anything else in the run's folder."""
    whole = bytearray(journal(*S, end(2)))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    place = Path(tmp_path / str(len(list(tmp_path.iterdir()))))
    place.mkdir()
    workspace, run = tree(place, bytes(whole)), place / "run"
    record = gg.salvage(workspace, run)
    assert [path.name for path in run.iterdir()] == ([] if record is None else [RECORD])
    assert (workspace / JOURNAL).read_bytes() == bytes(whole)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    (path.parent.parent / "real").write_bytes(journal(*S))
    path.symlink_to(path.parent.parent / "real")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(path.parent, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def _device(path: Path) -> None:
    if subprocess.run(["mknod", str(path), "c", "1", "5"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no device can be made here")


@pytest.mark.parametrize("make", [_pipe, _link, lambda path: path.mkdir(), _socket, _device], ids=[
    "pipe", "link", "folder", "socket", "endless-device",
])  # fmt: skip
def test_something_else_in_place_of_the_journal(
    tmp_path: Path, make: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """What is no regular file is not waited at, not followed and not read."""
    workspace = tmp_path / "workspace"
    (workspace / ".gg").mkdir(parents=True)
    make(workspace / JOURNAL)
    _nothing(workspace, tmp_path / "run", caplog)


def test_a_link_in_place_of_the_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A link in the workspace may lead anywhere, that of the folder no less than that of the file."""
    outside = tree(tmp_path, journal(*S)) / ".gg"
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / ".gg").symlink_to(outside)
    _nothing(workspace, tmp_path / "run", caplog)


def test_a_file_in_place_of_the_runs_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is salvaged into what is no folder, and it stays as it was."""
    (tmp_path / "run").write_text("mine")
    _nothing(tree(tmp_path, journal(*S)), tmp_path / "run", caplog)
    assert (tmp_path / "run").read_text() == "mine"


def test_a_full_disk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """No room for the copy, really: nothing is left on the full volume, and the journal stays."""
    workspace = tree(tmp_path, LONG)
    with small_volume(tmp_path / "disk") as disk:
        assert "No space left" in _nothing(workspace, disk / "run", caplog)
    assert (workspace / JOURNAL).read_bytes() == LONG


@as_root
@pytest.mark.parametrize("closed", ["journal", "folder", "run"])
def test_what_one_may_not_read_or_write(closed: str) -> None:
    """Under a user without rights: a journal or folder not to be read, a run's folder not to be written."""
    with open_folder() as folder:
        workspace, run = tree(folder, journal(*S)), folder / "run"
        run.mkdir()
        run.chmod(0o777)
        shut = {"journal": workspace / JOURNAL, "folder": workspace / ".gg", "run": run}[closed]
        shut.chmod(0o000 if closed != "run" else 0o555)
        code = f"""
import sys
from sessionlab.systems import gg
{BECOME_NOBODY}
sys.exit(0 if gg.salvage(sys.argv[1], sys.argv[2]) is None else 3)
"""
        done = program(code, workspace, run)
        assert done.returncode == 0, done.stderr
        assert "nothing salvaged" in done.stderr
        assert list(run.iterdir()) == []
        shut.chmod(0o755)
        assert (workspace / JOURNAL).read_bytes() == journal(*S)
