"""What must not be lost: a journal still being written, what stands behind damage, a capture that nobody finished."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from sessionlab.cli import app
from sessionlab.systems import gg
from tests.formats.gg_examples import HEADER, call, end, journal, message
from tests.systems.gg.journals import JOURNAL, RECORD, tree

UNFINISHED = """
from sessionlab.systems import gg
writer = gg.JournalWriter({workspace!r}, session_id="run-1", capability_set={{"agents": []}}, seed=gg.Seed(prompt="go"))
root = writer.agent("root", profile_id="root", profile="Root", origin=gg.Root())
root.shell("ls", stdout="kite.html")
"""


def test_a_journal_that_is_still_written_stays(tmp_path: Path) -> None:
    """Assembled while its run goes on, a journal is not taken from under it; the end of the run is in it."""
    workspace = tmp_path / "workspace"
    writer = gg.JournalWriter(workspace, session_id="run-1", capability_set={"agents": []}, seed=gg.Seed(prompt="go"))
    root = writer.agent("root", profile_id="root", profile="Root", origin=gg.Root())
    root.clock(1)
    while not (workspace / JOURNAL).exists() or b'"clock"' not in (workspace / JOURNAL).read_bytes():
        pass
    report = gg.session_record(tmp_path / "run", workspace)
    assert report.assembled is not None
    assert report.assembled.truncation == gg.Truncation("session_killed", 0)
    assert report.warning is not None
    assert "still writing" in report.warning
    root.clock(2)
    assert writer.finish() == gg.Captured(2, None, landed=True)
    assert gg.session_record(tmp_path / "run", workspace).warning is None
    assert not (workspace / JOURNAL).exists()


def test_the_command_keeps_a_damaged_journal(tmp_path: Path) -> None:
    """What stands behind a line that does not parse stands nowhere else."""
    damaged = journal(HEADER, message(0), call(0, 0), b"oops", call(1, 0), end(2))
    run = tree(tmp_path, damaged)
    done = CliRunner().invoke(app, ["gg", "assemble", str(run)])
    assert done.exit_code == 0
    assert "behind its damage" in done.stderr
    assert (run / JOURNAL).read_bytes() == damaged
    assert (run.parent / RECORD).exists()


def test_a_capture_that_nobody_finished(tmp_path: Path) -> None:
    """A process that ends without `finish` leaves what it recorded, says so, and its record is that of a killed one."""
    code = UNFINISHED.format(workspace=str(tmp_path))
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "was not finished" in told.stderr
    kinds = [json.loads(line)["type"] for line in (tmp_path / JOURNAL).read_bytes().splitlines()]
    assert kinds == ["header", "seed", "agent", "text", "text", "entry"]
    done = gg.assemble(tmp_path / JOURNAL, tmp_path / "out" / RECORD)
    assert done.truncation == gg.Truncation("session_killed", 0)


def test_what_is_no_gg_file_is_said_to_be_none(tmp_path: Path) -> None:
    """A file of another kind is not a journal without its header."""
    other = tmp_path / "notes.txt"
    other.write_bytes(b"\x00\x01 notes\n")
    verified = gg.verify(other)
    assert (verified.ok, verified.kind, [finding.kind for finding in verified.findings]) == (
        False,
        None,
        ["no_gg_file"],
    )
