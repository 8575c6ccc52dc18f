"""Assembly killed at any moment: the record is whole, the earlier one, or not there; the journal always is."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sessionlab.systems import gg
from tests.formats.gg_examples import HEADER, ROOT, call, end, frame, journal, message
from tests.systems.gg.failing import program
from tests.systems.gg.journals import RECORD

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is killed that was forked for it")

KILLER = """
import hashlib, json, os, random, signal, sys, time
from pathlib import Path
from sessionlab.systems import gg
journal, run, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
record = run / gg.RECORD
earlier = record.read_bytes() if record.exists() else None
def assemble(before=lambda: None):
    pid = os.fork()
    if pid == 0:
        before()
        gg.assemble(journal, record)
        os._exit(0)
    return pid
def state():
    if not record.exists():
        return "none"
    data = record.read_bytes()
    return "earlier" if data == earlier else hashlib.sha256(data).hexdigest()
def again():
    if earlier is None:
        record.unlink(missing_ok=True)
    else:
        record.write_bytes(earlier)
told = []
"""
"""The beginning of a program that forks assemblies to kill them: single-threaded, so that a fork is safe."""
AT_ANY_MOMENT = """
began = time.monotonic()
os.waitpid(assemble(), 0)
whole = time.monotonic() - began
print(json.dumps(state()))
chance = random.Random(20260302)
for _ in range(count):
    again()
    pid = assemble()
    time.sleep(chance.uniform(0, whole * 1.05))
    os.kill(pid, signal.SIGKILL)
    ended = os.waitpid(pid, 0)[1]
    told.append([ended, state(), journal.stat().st_size, sorted(path.name[:17] for path in run.iterdir())])
print(json.dumps(told))
"""
AT_A_STEP = """
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
def before_sync(): os.fsync = die
def before_rename(): os.rename = os.replace = die
def after_rename():
    replace = os.replace
    os.replace = lambda *a, **b: (replace(*a, **b), die())
for step in (before_sync, before_rename, after_rename):
    again()
    told.append([os.waitpid(assemble(step), 0)[1], state()])
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of some megabytes: a conversation that grows, with a frame after each call, of text that is no two."""
    lines: list[Any] = [HEADER, ROOT]
    for turn in range(400):
        lines += [
            message(turn, f"{turn} " * 1500),
            call(2 * turn, *range(turn + 1), response={"text": f"reply {turn}"}),
            frame(2 * turn + 1, *range(turn + 1)) if turn % 20 == 0 else frame(2 * turn + 1, turn),
        ]
    path = tmp_path_factory.mktemp("killed") / "replay.ndjson"
    path.write_bytes(journal(*lines, end(800)))
    assert path.stat().st_size > 2_500_000
    return path


def _is_sound(record: Path) -> bool:
    """The record is a single gzip member of one complete document that holds together."""
    document = json.loads(gzip.decompress(record.read_bytes()))
    assert len(document["entries"]) == 800
    assert "truncation" not in document
    return gg.verify(record).ok


@pytest.mark.parametrize("earlier", [None, b"an earlier record"], ids=["none-before", "one-before"])
def test_killed_at_random_moments(tmp_path: Path, log: Path, earlier: bytes | None) -> None:
    """Thirty kills without an earlier record and thirty over one: never a part of a record at its name."""
    run = tmp_path / "run"
    run.mkdir()
    if earlier is not None:
        (run / RECORD).write_bytes(earlier)
    size = log.stat().st_size
    done = program(KILLER + AT_ANY_MOMENT, log, run, 30, limit=60)
    assert done.returncode == 0, done.stderr
    whole, told = map(json.loads, done.stdout.splitlines())
    before = "none" if earlier is None else "earlier"
    for ended, state, left, names in told:
        assert ended in {0, 9}
        assert state in ({whole} if ended == 0 else {whole, before})
        assert left == size
        assert set(names) <= {".replay-assembly-"[:17], RECORD}
    killed = [state for ended, state, *_ in told if ended == 9]
    assert len(killed) > 10
    assert before in killed
    told_now = gg.assemble(log, run / RECORD)
    assert (told_now.entries, told_now.truncation) == (800, None)
    assert _is_sound(run / RECORD)


@pytest.mark.parametrize("earlier", [None, b"an earlier record"], ids=["none-before", "one-before"])
def test_killed_at_its_last_steps(tmp_path: Path, log: Path, earlier: bytes | None) -> None:
    """Before the record is on the disk and before it has its name nothing has changed; after that it is whole."""
    run = tmp_path / "run"
    run.mkdir()
    if earlier is not None:
        (run / RECORD).write_bytes(earlier)
    done = program(KILLER + AT_A_STEP, log, run, 0)
    assert done.returncode == 0, done.stderr
    before = "none" if earlier is None else "earlier"
    (synced, renamed, after) = json.loads(done.stdout)
    assert (synced, renamed) == ([9, before], [9, before])
    assert after[0] == 9
    assert after[1] not in {"none", "earlier"}
    assert _is_sound(run / RECORD)
