"""A step or a file that fails, or that somebody else holds: the walk goes on, says so, and is finished later."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sessionlab.systems.mecha.forgetting import STEPS, Graph, forget, unfinished
from sessionlab.systems.mecha.forgetting.disk import Disk, Edit
from tests.systems.mecha.forgetting.home import (
    CANARY,
    GONE,
    STAYS,
    AnsweringGraph,
    delete,
    holding,
    row,
    seeded,
    small,
    state,
    transcript,
    write,
)

NAMED: dict[str, str] = {
    "set aside": "sessions", "find": "sessions", "drafts set aside": "outbox", "mined-drafts ledger": "learning store",
    "interrupted rule changes": "learning store", "mining ledger": "learning store", "distill ledger": "learning store",
    "validation ledger": "learning store", "artifact probes": "learning store", "proposals": "learning store",
    "learned rules": "learning store", "learning logs": "learning store", "reflections": "learning store",
}  # fmt: skip
"""With which store's name the errors of a step begin, where it is not the step's own."""


class FailingDisk(Disk):
    """A disk on which the nth thing done to a file fails."""

    def __init__(self, nth: int) -> None:
        super().__init__()
        self.left, self.path = nth, Path()

    def _done(self, path: Path) -> None:
        self.left -= 1
        if self.left == 0:
            self.path = path
            raise OSError(5, "Input/output error", str(path))

    def edit(self, path: Path, change: Edit) -> int:
        """Fails when it is its turn, and there is something to change."""

        def failing(content: bytes) -> tuple[bytes | None, int]:
            new, count = change(content)
            if count:
                self._done(path)
            return new, count

        return super().edit(path, failing)

    def remove(self, path: Path) -> bool:
        """Fails when it is its turn, and the file is there."""
        if self.kind(path) is not None:
            self._done(path)
        return super().remove(path)

    def rename(self, path: Path, to: Path) -> None:
        """Fails when it is its turn."""
        self._done(path)
        super().rename(path, to)

    def remove_folder(self, folder: Path) -> bool:
        """Fails when it is its turn."""
        self._done(folder)
        return super().remove_folder(folder)


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Makes the same home anew, in the same place."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    numbers = iter(range(10_000))

    def made() -> Path:
        home = tmp_path / "home"
        if home.exists():
            home.rename(tmp_path / f"old-{next(numbers)}")
        seeded(home)
        return home

    return made


def test_failure_at_every_step_is_told_and_the_same_command_finishes(fresh: Callable[[], Path]) -> None:
    """Not complete, one error with the store's name first, set aside and listed; then the same end, to the byte."""
    home = fresh()
    where = small(home)
    seeded(home)
    assert delete(where).complete
    whole = state(home)
    for step in STEPS:
        home = fresh()

        def failing(now: str, step: str = step) -> None:
            if now == step:
                raise OSError(28, "No space left on device", "/somewhere")

        first = forget(where, GONE, graph=AnsweringGraph(), progress=failing)
        assert not first.complete, step
        assert first.errors[0] == f"{NAMED.get(step, step)}: /somewhere: No space left on device"
        assert unfinished(where.sessions) == ([] if step == "set aside" else [GONE])
        if step not in STEPS[STEPS.index("drafts set aside") :]:
            assert (home / "outbox" / "draft-heron.json").exists(), step
            assert (home / "questions" / "ask-heron.json").exists(), step
        second = delete(where)
        assert (second.complete, second.errors, second.traces) == (True, [], []), step
        assert state(home) == whole, step


def test_failure_of_every_single_effect_is_told_and_the_same_command_finishes(fresh: Callable[[], Path]) -> None:
    """Whichever file cannot be replaced, renamed or removed, the second run ends as an undisturbed one."""
    home = fresh()
    where = small(home)
    seeded(home)
    assert delete(where).complete
    whole = state(home)
    effects = 0
    while True:
        fresh()
        disk = FailingDisk(effects + 1)
        first = forget(where, GONE, graph=AnsweringGraph(), disk=disk)
        if disk.left > 0:
            assert first.complete
            break
        effects += 1
        assert not first.complete, disk.path
        assert str(disk.path) in first.errors[0]
        assert delete(where).complete, disk.path
        assert state(home) == whole, disk.path
    assert effects > 40


def test_reflections_stay_while_a_store_found_through_them_has_not_answered(tmp_path: Path) -> None:
    """Comparisons are found through reflections: where they fail, the reflections are there for the next run."""
    where = seeded(tmp_path / "home")
    ledger = where.at("comparisons") / "comparisons.jsonl"
    good = ledger.read_bytes()
    ledger.unlink()
    ledger.symlink_to(tmp_path / "elsewhere")
    first = delete(where)
    assert first.errors[0].startswith("comparisons: ")
    assert GONE in (where.at("learning") / "reflections.jsonl").read_text()
    ledger.unlink()
    ledger.write_bytes(good)
    assert delete(where).complete
    assert holding(where.home, GONE) == []


def test_lock_that_another_process_holds_is_waited_for_and_then_told(tmp_path: Path) -> None:
    """The store is not touched without its lock; its error names the lock; later the same command finishes."""
    where = seeded(tmp_path / "home")
    with (where.at("appraisals") / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        report = forget(where, GONE, graph=AnsweringGraph(), disk=Disk(lock_seconds=0.05))
        lock = where.at("appraisals") / ".lock"
        assert report.errors[0] == f"appraisals: {lock}: another process holds this lock"
        assert GONE in (where.at("appraisals") / "scores.jsonl").read_text()
    assert delete(where).complete


def test_each_store_is_edited_while_its_own_lock_is_held(tmp_path: Path) -> None:
    """Whenever a file of a store with a lock is written, nobody else could have it."""
    where = seeded(tmp_path / "home")
    held: dict[str, bool] = {}

    class Watching(Disk):
        def edit(self, path: Path, change: Edit) -> int:
            def watched(content: bytes) -> tuple[bytes | None, int]:
                new, count = change(content)
                folder = path.relative_to(where.home).parts[0]
                if count and folder not in {"requests", "mail-triage", "scene", "regression-sessions.txt"}:
                    locks = [above / ".lock" for above in path.parents if (above / ".lock").exists()]
                    held[str(path.relative_to(where.home))] = any(map(_is_held, locks))
                return new, count

            return super().edit(path, watched)

    assert forget(where, GONE, graph=AnsweringGraph(), disk=Watching()).complete
    assert len(held) > 20
    assert all(held.values()), held


def _is_held(lock: Path) -> bool:
    with lock.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_row_written_meanwhile_by_a_process_without_a_lock_is_not_lost(tmp_path: Path) -> None:
    """A file that was replaced between reading and replacing is looked at again."""
    where = seeded(tmp_path / "home")
    request = where.at("requests") / "9-meeting.json"

    class Raced(Disk):
        raced = False

        def edit(self, path: Path, change: Edit) -> int:
            def racing(content: bytes) -> tuple[bytes | None, int]:
                answer = change(content)
                if path == request and not self.raced:
                    self.raced = True
                    write(path.with_name("new"), content.decode().replace('"id": 9', '"id": 9, "seen": true'))
                    path.with_name("new").replace(path)
                return answer

            return super().edit(path, racing)

    assert forget(where, GONE, graph=AnsweringGraph(), disk=Raced()).complete
    assert '"id": 9, "seen": true, "weight": 1.50, "triage_session": null' in request.read_text()


def test_unreadable_header_of_another_session_is_an_error_not_a_guess(tmp_path: Path) -> None:
    """It may name the same workspace: nothing is removed until that can be told."""
    where = small(tmp_path / "home")
    write(tmp_path / "home" / "work" / "web" / "alone" / "file.txt", CANARY)
    other = transcript(where.home, STAYS, where.home / "work" / "web" / "alone", "mine too")

    class Blind(Disk):
        def view(self, path: Path) -> Path | bytes | None:
            return tmp_path if path == other else path  # a folder cannot be read as a file

    report = forget(where, GONE, graph=AnsweringGraph(), disk=Blind())
    assert (report.complete, report.errors[0].split(":")[0]) == (False, "workspace")
    assert (where.home / "work" / "web" / "alone" / "file.txt").exists()
    assert "is shared with 1 other conversation" in delete(where).kept[-1]


def test_file_that_cannot_be_read_is_named_by_the_search(tmp_path: Path) -> None:
    """Unknown is never clean."""
    where = small(tmp_path / "home")
    closed = write(where.home / "taskruns" / "r1.json", row(session=GONE))

    class Blind(Disk):
        def view(self, path: Path) -> Path | bytes | None:
            return tmp_path if path == closed else path

    report = forget(where, GONE, graph=AnsweringGraph(), disk=Blind())
    assert report.traces == [f"{closed} could not be read, so that it may still name this session"]
    assert report.exit_code == 1


def test_graph_program_that_does_not_answer_is_ended_with_what_it_started(tmp_path: Path) -> None:
    """A time-out is an error of the graph; no process is left behind."""
    where = small(tmp_path / "home")
    program = write(
        tmp_path / "slow", "#!/bin/sh", f"sleep 60 & echo $! > {tmp_path}/pid; echo $$ >> {tmp_path}/pid; wait",
        mode=0o755,
    )  # fmt: skip
    began = time.monotonic()
    report = delete(where, graph=Graph(str(program), seconds=0.3))
    assert report.errors[0] == f"graph: {program} did not answer within 0.3 seconds"
    assert time.monotonic() - began < 30
    for line in (tmp_path / "pid").read_text().split():
        _wait_until_ended(int(line))
    assert delete(where).complete


def _wait_until_ended(process: int) -> None:
    """A killed process may be there a moment longer, or as one that nobody asked about."""
    for _ in range(200):
        stat = Path(f"/proc/{process}/stat")
        if not stat.exists() or ") Z" in stat.read_text():
            return
        time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    raise AssertionError("it went on")


def test_transcript_that_a_writer_began_anew_goes_too_and_the_workspace_is_still_known(tmp_path: Path) -> None:
    """An old release recreates the file without a header; what was set aside before has it."""
    where = seeded(tmp_path / "home")
    aside = where.sessions / f"{GONE}.jsonl.forgetting"
    (where.sessions / f"{GONE}.jsonl").rename(aside)
    write(where.sessions / f"{GONE}.jsonl", row(record="title", title=CANARY))
    assert delete(where).complete
    assert holding(where.home, GONE) == holding(where.home, CANARY) == []
