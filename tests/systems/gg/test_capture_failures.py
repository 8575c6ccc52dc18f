"""Capture where the journal cannot be written, really: the run is neither failed nor held up (section 1.15)."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import threading
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from sessionlab.errors import JournalRefused
from sessionlab.systems import gg
from sessionlab.systems.gg import sink
from tests.systems.gg.failing import (
    BECOME_NOBODY,
    as_root,
    everything,
    is_writer,
    open_folder,
    program,
    record_of,
    said,
    say,
    settle,
    small_volume,
    until,
)
from tests.systems.gg.journals import JOURNAL, fold, root_of, unpacked, writer

RECORDER = """
import json, os, sys, time
from sessionlab.systems import gg
CAPABILITIES = {"agents": [{"slug": "root", "name": "Root", "modelId": "gale/tern-1"}]}
def writer(folder):
    return gg.JournalWriter(folder, session_id="run-1", capability_set=CAPABILITIES, seed=gg.Seed(prompt="p"))
def root_of(recorder):
    return recorder.agent("root", profile_id="root", profile="Root", origin=gg.Root())
"""
"""The beginning of a program that records."""


def _warnings(caplog: pytest.LogCaptureFixture, part: str) -> list[str]:
    return [made.getMessage() for made in caplog.records if part in made.getMessage()]


def _is_lost(recorder: gg.JournalWriter, root: gg.AgentCapture, workspace: Path) -> None:
    """Nothing is raised, capture has stopped and says why, and what is called afterwards leaves no trace."""
    until(lambda: recorder.stopped is not None)
    before = (workspace / JOURNAL).read_bytes() if (workspace / JOURNAL).is_file() else None
    everything(recorder, root)
    told = recorder.finish()
    assert told.truncation == recorder.stopped
    assert told.truncation is not None
    assert told.truncation.reason == "write_failed"
    assert not told.landed
    assert recorder.finish() == told
    assert ((workspace / JOURNAL).read_bytes() if (workspace / JOURNAL).is_file() else None) == before


def test_a_full_disk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A volume of 64 KiB fills up: capture stops and says it once; the record has the first of what was recorded."""
    with small_volume(tmp_path / "disk") as disk:
        recorder = writer(disk)
        root = root_of(recorder)
        made = 0
        while recorder._sink.failure is None:
            assert made < 100
            say(root, made)
            made += 1
            settle(recorder)
        assert recorder.stopped is not None
        assert (recorder.stopped.reason, recorder.stopped.last_seq) == ("write_failed", made - 1)
        _is_lost(recorder, root, disk)
        copy = (disk / JOURNAL).read_bytes()
    assert "No space left" in (recorder._sink.failure or "")
    assert len(_warnings(caplog, "capture stopped")) == 1
    assert len(_warnings(caplog, "not known to be whole")) == 1
    document = fold(tmp_path, copy).document
    count = said(document)
    assert 40 < count < made
    assert document["truncation"] == {"reason": "corrupt_journal", "lastSeq": count - 1}


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where not one byte can be written there is an empty journal or none, and no record of it."""
    with small_volume(tmp_path / "disk") as disk:
        with (disk / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(bytes(4096)):
                pass
        recorder = writer(disk)
        _is_lost(recorder, root_of(recorder), disk)
        with pytest.raises(JournalRefused, match=r"no header line|cannot be read"):
            record_of(disk / JOURNAL, tmp_path / "run")
    assert len(_warnings(caplog, "not known to be whole")) == 1


def test_a_pipe_nobody_reads(tmp_path: Path) -> None:
    """A journal that cannot even be opened costs the run nothing: calls return at once, and the program ends."""
    (tmp_path / ".gg").mkdir()
    os.mkfifo(tmp_path / JOURNAL)
    code = """
began = time.monotonic()
recorder = writer(sys.argv[1])
made = time.monotonic()
root = root_of(recorder)
for number in range(1000):
    root.shell(f"say {number}", stdout="x" * 1000)
called = time.monotonic()
stopped = recorder.stopped
told = recorder.finish()
ended = time.monotonic()
print(json.dumps([made - began, called - made, ended - called, stopped.reason, stopped.last_seq, told.landed,
                  told.entries, told.truncation.reason]))
"""
    began = monotonic()
    done = program(RECORDER + code, tmp_path)
    assert monotonic() - began < 15
    assert done.returncode == 0, done.stderr
    made, called, ended, *told = json.loads(done.stdout)
    assert made < 1
    assert called < 1
    assert ended < 5.5
    # 64 batches wait: header, seed, the agent's row, and 61 entries, the last of which is number 60
    assert told == ["write_failed", 60, False, 61, "write_failed"]
    assert "the queue is full" in done.stderr
    assert stat.S_ISFIFO((tmp_path / JOURNAL).lstat().st_mode)


@pytest.mark.parametrize("disposition", ["SIG_IGN", "SIG_DFL"])
def test_a_pipe_whose_reader_goes_away(tmp_path: Path, disposition: str) -> None:
    """The signal of a broken pipe does not end the run, whatever the program does with that signal elsewhere."""
    (tmp_path / ".gg").mkdir()
    os.mkfifo(tmp_path / JOURNAL)
    code = f"""
import signal
signal.signal(signal.SIGPIPE, signal.{disposition})
reader = os.open(sys.argv[1] + "/.gg/replay.ndjson", os.O_RDONLY | os.O_NONBLOCK)
recorder = writer(sys.argv[1])
root = root_of(recorder)
until = time.monotonic() + 10
while recorder._sink.written < recorder._bytes and time.monotonic() < until:
    time.sleep(0.001)
os.close(reader)
for number in range(50):
    root.clock(elapsed_ms=number)
    time.sleep(0.001)
print(json.dumps([recorder.stopped.reason, recorder.finish().landed, recorder._sink.failure]))
"""
    done = program(RECORDER + code, tmp_path)
    assert done.returncode == 0, done.stderr
    reason, landed, why = json.loads(done.stdout)
    assert (reason, landed) == ("write_failed", False)
    assert "BrokenPipeError" in why


def test_a_disk_that_is_slow_but_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end is waited for as long as bytes go into the file, be it longer than one that stands still."""
    monkeypatch.setattr(sink, "GRACE_S", 0.5)
    (tmp_path / ".gg").mkdir()
    os.mkfifo(tmp_path / JOURNAL)
    taken = bytearray()

    def read() -> None:
        with (tmp_path / JOURNAL).open("rb", buffering=0) as pipe:
            while block := pipe.read(4096):
                taken.extend(block)
                sleep(0.01)

    reader = threading.Thread(target=read)
    reader.start()
    recorder = writer(tmp_path)
    root = root_of(recorder)
    for number in range(40):
        root.shell(f"say {number}", stdout=f"{number:10000}")
    began = monotonic()
    assert recorder.finish().landed
    assert monotonic() - began > 0.6
    reader.join()
    assert taken.endswith(b'{"type":"end","entries":40}\n')


def test_a_closed_file(tmp_path: Path) -> None:
    """The descriptor is closed under the writer: what was written until then is a record of a killed session."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    for number in range(3):
        say(root, number)
    settle(recorder)
    os.close(recorder._sink._fd)
    say(root, 3)
    _is_lost(recorder, root, tmp_path)
    document = fold(tmp_path, (tmp_path / JOURNAL).read_bytes()).document
    assert said(document) == 3
    assert document["truncation"] == {"reason": "session_killed", "lastSeq": 2}


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize(
    "error",
    [RuntimeError("no"), MemoryError(), SystemExit(3), KeyboardInterrupt(), OSError(errno.EIO, "gone")],
    ids=repr,
)
def test_a_writer_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, torn: bool) -> None:
    """Whatever is raised in the thread that writes, between batches or within one, stays there and stops capture."""
    write = os.write
    dying = threading.Event()

    def dies(fd: int, data: Any) -> int:
        if is_writer() and dying.is_set():
            if torn and len(data) > 100:
                return write(fd, data[:100])
            raise error
        return write(fd, data)

    recorder = writer(tmp_path)
    root = root_of(recorder)
    say(root, 0)
    say(root, 1)
    settle(recorder)
    monkeypatch.setattr(os, "write", dies)
    dying.set()
    say(root, 2)
    until(lambda: not recorder._sink._thread.is_alive())
    _is_lost(recorder, root, tmp_path)
    assert (recorder._sink.failure or "").startswith(type(error).__name__)
    document = fold(tmp_path, (tmp_path / JOURNAL).read_bytes()).document
    if torn:
        # of the 1,000 bytes of the text's line all but the last hundred were written: the line is torn
        assert document["truncation"]["reason"] == "corrupt_journal"
    else:
        assert document["truncation"] == {"reason": "session_killed", "lastSeq": 1}
    assert said(document) == 2


def test_a_disk_that_takes_a_byte_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that takes less than it was given is gone on with: the journal is whole."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[: 7 if is_writer() else None]))
    recorder = writer(tmp_path)
    root = root_of(recorder)
    for number in range(5):
        say(root, number)
    assert recorder.finish().landed
    document = fold(tmp_path, (tmp_path / JOURNAL).read_bytes()).document
    assert (said(document), document.get("truncation")) == (5, None)


def test_no_thread_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no thread left for the writer, the run goes on without capture."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    recorder = writer(tmp_path)
    _is_lost(recorder, root_of(recorder), tmp_path)


def test_a_journal_that_stands_already(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Another session's journal is not written over, nor written behind."""
    first = writer(tmp_path)
    say(root_of(first), 0)
    first.finish()
    before = (tmp_path / JOURNAL).read_bytes()
    second = writer(tmp_path, session_id="run-2")
    _is_lost(second, root_of(second), tmp_path)
    assert (tmp_path / JOURNAL).read_bytes() == before
    assert _warnings(caplog, "it is not written over")


def test_two_writers_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sessions that begin in one workspace at the same moment do not share a journal: one has it, one has none."""
    write, opened = os.write, threading.Event()

    def wait(fd: int, data: Any) -> int:
        if is_writer():
            opened.wait(10)
        return write(fd, data)

    monkeypatch.setattr(os, "write", wait)
    both = [writer(tmp_path, session_id=name) for name in ("run-1", "run-2")]
    until(lambda: all(hasattr(one._sink, "_fd") or one._sink.failure is not None for one in both))
    opened.set()
    assert sorted(one.finish().landed for one in both) == [False, True]
    assert fold(tmp_path, (tmp_path / JOURNAL).read_bytes()).document["entries"] == []


@pytest.mark.parametrize("there", [True, False], ids=["to-a-file", "to-nothing"])
def test_a_link_in_place_of_the_journal(tmp_path: Path, there: bool) -> None:
    """The folder is the model's to write in: a link there is not followed, whether it leads anywhere or not."""
    target, workspace = tmp_path / "precious", tmp_path / "workspace"
    (workspace / ".gg").mkdir(parents=True)
    if there:
        target.write_bytes(b"")
    (workspace / JOURNAL).symlink_to(target)
    recorder = writer(workspace)
    root = root_of(recorder)
    until(lambda: recorder.stopped is not None)
    everything(recorder, root)
    assert not recorder.finish().landed
    assert (target.read_bytes() if there else target.exists()) == (b"" if there else False)


def test_a_link_in_place_of_the_folder(tmp_path: Path) -> None:
    """The same of the folder itself: the journal is not written outside the workspace."""
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    outside.mkdir()
    workspace.mkdir()
    (workspace / ".gg").symlink_to(outside)
    recorder = writer(workspace)
    everything(recorder, root_of(recorder))
    assert not recorder.finish().landed
    assert list(outside.iterdir()) == []


def test_something_else_in_the_way(tmp_path: Path) -> None:
    """A file where the folder would be, or a folder where the journal would be, is left alone."""
    for number, way in enumerate((".gg", JOURNAL)):
        workspace = tmp_path / str(number)
        workspace.mkdir()
        if way == ".gg":
            (workspace / way).write_text("mine")
        else:
            (workspace / way).mkdir(parents=True)
        recorder = writer(workspace)
        root = root_of(recorder)
        until(lambda recorder=recorder: recorder.stopped is not None)  # type: ignore[misc]
        everything(recorder, root)
        assert not recorder.finish().landed
        assert (workspace / way).is_dir() == (way == JOURNAL)


def test_a_journal_taken_away(tmp_path: Path) -> None:
    """A model that removes the folder takes the journal with it: the run goes on, and nothing is put there again."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    say(root, 0)
    settle(recorder)
    (tmp_path / JOURNAL).unlink()
    (tmp_path / ".gg").rmdir()
    everything(recorder, root)
    recorder.finish()
    assert not (tmp_path / ".gg").exists()


@as_root
@pytest.mark.parametrize("closed", ["", ".gg", JOURNAL], ids=["workspace", "folder", "journal"])
def test_a_workspace_one_may_not_write_in(closed: str) -> None:
    """Under a user without rights, in a workspace, a folder or a file that is another's: no error, no journal."""
    with open_folder() as folder:
        if closed:
            (folder / ".gg").mkdir()
        if closed == JOURNAL:
            (folder / JOURNAL).touch()
            (folder / JOURNAL).chmod(0o444)
        code = """
recorder = writer(sys.argv[1])
root = root_of(recorder)
root.clock(elapsed_ms=1)
print(json.dumps([recorder.finish().landed, recorder.stopped.reason, recorder._sink.failure]))
"""
        done = program(RECORDER + BECOME_NOBODY + code, folder)
        assert done.returncode == 0, done.stderr
        landed, reason, why = json.loads(done.stdout)
        assert (landed, reason) == (False, "write_failed")
        assert "PermissionError" in why
        assert not (folder / JOURNAL).exists() or (folder / JOURNAL).read_bytes() == b""


def test_the_record_of_what_a_dead_writer_left(tmp_path: Path) -> None:
    """A run that is killed together with its recorder leaves a journal that assembles to what had landed."""
    code = """
recorder = writer(sys.argv[1])
root = root_of(recorder)
for number in range(20):
    root.shell(f"say {number}", stdout=f"{number:1000}")
while recorder._sink.written < recorder._bytes:
    time.sleep(0.001)
os.kill(os.getpid(), 9)
"""
    assert program(RECORDER + code, tmp_path).returncode == -9
    document = json.loads(unpacked(record_of(tmp_path / JOURNAL, tmp_path / "run")))
    assert said(document) == 20
    assert document["truncation"] == {"reason": "session_killed", "lastSeq": 19}
