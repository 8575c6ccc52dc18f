"""Places where a capture cannot go well, and programs of their own in; what became of them out."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.systems import gg
from tests.systems.gg.journals import RECORD, fold, lines_of, of_type, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent.parent.parent
NOBODY = 65534
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become a user without rights"
)
BECOME_NOBODY = "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
"""A line of a program that has no rights from there on."""


@contextlib.contextmanager
def small_volume(folder: Path, size: str = "64k") -> Iterator[Path]:
    """A volume of ``size`` of its own at ``folder``; the test is skipped where none can be mounted."""
    if shutil.which("mount") is None:
        pytest.skip("there is no `mount` to make a small volume with")
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        pytest.skip(f"no small volume can be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach: those of a test are their owner's alone."""
    with tempfile.TemporaryDirectory(prefix="gg-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder


def program(code: str, *arguments: object, limit: float = 30) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in an interpreter of its own, which has to end by itself within ``limit`` seconds."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=limit,
    )


def until(holds: Callable[[], object], limit: float = 10) -> None:
    """Wait until ``holds``."""
    end = monotonic() + limit
    while not holds():
        assert monotonic() < end, "waited in vain"
        sleep(0.001)


def settle(recorder: gg.JournalWriter) -> None:
    """Wait until all that was queued is in the file, or the one who writes gave up."""
    until(lambda: recorder._sink.failure is not None or recorder._sink.written == recorder._bytes)


def say(root: gg.AgentCapture, number: int) -> None:
    """Entry ``number``: a command whose output is 1,000 bytes that no other has."""
    root.shell(f"say {number}", stdout=f"{number:1000}")


def everything(recorder: gg.JournalWriter, root: gg.AgentCapture) -> None:
    """One call of each kind that a run makes."""
    item = gg.WindowItem({"role": "user"}, slot="thread", source="history", retention="pinned", turn=1)
    root.model_io([{"role": "user"}, recorder.message({"role": "tool"})], {"text": "."}, tools=[{"name": "shell"}])
    root.model_error([{"role": "user"}], gg.ModelFailure(kind="timeout", message="late"))
    root.tool_result("c1", "look", {}, output="seen", summary="saw")
    root.prompt_frame([item])
    root.shell("ls", stdout="a")
    root.git("git status", stdout="b")
    root.cancel_probe(canceled=False)
    root.clock(elapsed_ms=1)
    recorder.toolset([{"name": "look"}])
    recorder.deny_vision("gale/tern-1")
    recorder.agent("agent-0", profile_id="root", profile="Root", origin=gg.Spawn(parent="root", ordinal=0))
    root.end("done")


def said(document: dict[str, Any]) -> int:
    """How many entries of `say` a record holds: the first so many, with their texts, and nothing else."""
    count = len(document["entries"])
    assert [made["seq"] for made in document["entries"]] == list(range(count))
    assert [made["command"]["command"] for made in document["entries"]] == [f"say {n}" for n in range(count)]
    for made in document["entries"]:
        assert document["texts"][made["command"]["stdout"]] == f"{made['seq']:1000}"
    return count


def stopped_by(folder: Path, data: bytes, entries: int) -> dict[str, Any]:
    """The record of a journal whose capture stopped after ``entries`` entries and could still say so."""
    *before, last = lines_of(data)
    size = len(data) - len(data.split(b"\n")[-2]) - 1
    told: dict[str, Any] = {"reason": "write_failed", "lastSeq": entries - 1, "bytes": size}
    if not entries:
        del told["lastSeq"]
    assert last == {"type": "end", "entries": entries, "truncation": told}
    assert [made["seq"] for made in of_type(before, "entry")] == list(range(entries))
    document = fold(folder, data).document
    assert document["truncation"] == told
    return document


def record_of(journal: Path, folder: Path) -> Path:
    """The record of a journal that stays where it is."""
    gg.assemble(journal, folder / RECORD)
    assert unpacked(folder / RECORD)
    return folder / RECORD


def is_writer() -> bool:
    """Whether this is the thread that writes a journal."""
    return threading.current_thread().name == "gg-journal"
