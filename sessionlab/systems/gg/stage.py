"""A finished run in; its session record at the root of the run directory out: the post-run stage (gg.md 4.6, 4.7)."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sessionlab.errors import JournalRefused
from sessionlab.systems.gg.assembly import RECORD, STAGE, Assembled, assemble
from sessionlab.systems.gg.place import JOURNAL, is_being_written, open_journal

if TYPE_CHECKING:
    from collections.abc import Callable

HARNESS = "gg"
_COPY_BYTES = 1 << 20

_log = logging.getLogger("sessionlab.gg")


class StageReport(NamedTuple):
    """What the stage did.

    Attributes:
        artifact: the record it wrote; None when there was nothing to do.
        assembled: what is in it.
        warning: the journal could not be removed, and why.
    """

    artifact: Path | None = None
    assembled: Assembled | None = None
    warning: str | None = None


def session_record(
    run_dir: Path | str,
    tree: Path | str,
    *,
    harness: str = HARNESS,
    keep_journal: bool = False,
    progress: Callable[[int], None] | None = None,
) -> StageReport:
    """Fold the journal of a collected tree into ``run_dir/replay.json.gz``, and remove it from the tree.

    A run of another harness, and one without a journal, give an empty report. A refused journal stays where it is: it
    is then the only account of the session.

    Args:
        run_dir: where the run's artifacts stand.
        tree: the collected tree; its journal is ``.gg/replay.ndjson``.
        harness: what ran; only ``gg`` is gg's.
        keep_journal: leave the journal where it is on success, too.
        progress: as in `assemble`.

    Raises:
        JournalRefused: no record is made of it.
        OSError: the record cannot be written.
    """
    journal = Path(tree) / JOURNAL
    if harness != HARNESS or not journal.exists():
        return StageReport()
    record = Path(run_dir) / RECORD
    assembled = assemble(journal, record, progress=progress)
    warning = None if keep_journal else remove_journal(journal)
    if warning is not None:
        _log.warning("%s: %s", STAGE, warning)
    return StageReport(record, assembled, warning)


def remove_journal(journal: Path) -> str | None:
    """Remove a journal that was folded, and its folder if nothing else is there; why it was not, or None.

    One that a `JournalWriter` still has open stays: what the run goes on to write would be lost with it.
    """
    try:
        if is_being_written(journal):
            return f"{journal}: the journal is left where it is: its run is still writing it"
        journal.unlink()
    except OSError as error:
        return f"{journal}: the journal could not be removed: {error.strerror or error}"
    if journal.parent.name == Path(JOURNAL).parent.name:
        with suppress(OSError):  # it holds something besides
            journal.parent.rmdir()
    return None


def salvage(workspace: Path | str, run_dir: Path | str, *, harness: str = HARNESS) -> Path | None:
    """Fold the journal of a run that did not come to its end, from a workspace that may be vanishing.

    The one file is copied into a scratch folder beside the record, laid out like a collected tree, and the stage runs
    on it. The workspace is left as it is.

    Returns:
        The record; None when there is none, for whatever reason: the log says which. Nothing is raised.
    """
    try:
        return _salvaged(Path(workspace), Path(run_dir), harness)
    except JournalRefused as refusal:
        _log.warning("%s: nothing salvaged: %s", STAGE, refusal)
    except Exception as error:  # noqa: BLE001 (the sign of a failed salvage is the absent record)
        _log.warning("%s: nothing salvaged from %s: %s: %s", STAGE, workspace, type(error).__name__, error)
    return None


def _salvaged(workspace: Path, run_dir: Path, harness: str) -> Path | None:
    source = open_journal(workspace, os.O_RDONLY | os.O_NONBLOCK)  # where nothing is to be had, nothing is made
    try:
        return _folded(source, workspace, run_dir, harness)
    except JournalRefused as refusal:  # it speaks of the copy
        raise JournalRefused(workspace / JOURNAL, refusal.kind, refusal.detail, line=refusal.line) from None
    finally:
        os.close(source)


def _folded(source: int, workspace: Path, run_dir: Path, harness: str) -> Path | None:
    run_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".salvage-", dir=run_dir) as scratch:
        copy = Path(scratch) / JOURNAL
        copy.parent.mkdir()
        _copy(source, copy)
        report = session_record(run_dir, scratch, harness=harness)
    if report.artifact is None:
        _log.warning("%s: nothing salvaged from %s: not a run of %s", STAGE, workspace, HARNESS)
    return report.artifact


def _copy(source: int, target: Path) -> None:
    """Copy what can still be read of a file that is being written, truncated or taken away.

    The copy ends where the file ended when it was opened, so that a writer still at work cannot keep it going. What
    cannot be read any more, after something could, is a journal that was cut there: the rest is kept.

    Raises:
        OSError: nothing of it can be read.
    """
    told = os.fstat(source)
    if not stat.S_ISREG(told.st_mode):  # a pipe would be waited at for ever
        raise OSError("the journal is no regular file")
    left = told.st_size
    with target.open("wb") as out:
        while left > 0:
            try:
                block = os.read(source, min(_COPY_BYTES, left))
            except OSError as error:
                if not out.tell():
                    raise
                _log.warning("%s: the journal can be read up to byte %d only: %s", STAGE, out.tell(), error)
                break
            if not block:
                break
            out.write(block)
            left -= len(block)
