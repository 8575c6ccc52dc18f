"""A capture journal in; its session record out, or the sentence why there is none (gg.md section 4)."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sessionlab.errors import JournalRefused, WrongUse
from sessionlab.formats.gg.records import FORMAT_VERSION, Truncation
from sessionlab.formats.gg.refusals import Refusal
from sessionlab.systems.gg.folding import Fold
from sessionlab.systems.gg.segments import Compressor, Segment, write_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECORD = "replay.json.gz"
"""The record's file name, at the root of a run directory."""
STAGE = "gg-session-record"
"""What the post-run stage is called in a run's log."""
_SCRATCH = ".replay-assembly-"
_POOLS = ("messages", "toolsets", "texts", "clips", "entries")
_READ_BYTES = 1 << 18
"""Reading lets the compressor have its turn; much less at a time keeps both threads on one core."""
_TOLD_EVERY = 1 << 24
_NEVER = 1 << 63
_LINE_FEED = 0x0A

_encode = msgspec.json.Encoder().encode


class Assembled(NamedTuple):
    """A record that was written.

    Attributes:
        entries: entries in it.
        truncation: why it is short; None when it is complete.
        compressed_bytes: size of the file.
    """

    entries: int
    truncation: Truncation | None
    compressed_bytes: int

    def as_dict(self) -> dict[str, object]:
        """The same as JSON objects."""
        told: dict[str, object] = msgspec.to_builtins(self._asdict())
        return told


def assemble(journal: Path | str, record: Path | str, *, progress: Callable[[int], None] | None = None) -> Assembled:
    """Fold ``journal`` into ``record``, which appears whole or not at all; one that stands there is replaced.

    Memory: one line of the journal, the agent rows and some megabytes, whatever the size. The scratch files stand
    beside the record and take about as much room as it does.

    Args:
        journal: `.gg/replay.ndjson`, or a copy of one.
        record: `replay.json.gz`; its folder is made where it is missing.
        progress: called now and then with the bytes read so far.

    Raises:
        JournalRefused: the journal must not be folded, or cannot be read.
        WrongUse: ``record`` lies inside an ``implementation`` folder, which is what the model produced.
        OSError: the record cannot be written.
    """
    journal, record = Path(journal), Path(record)
    if "implementation" in record.parent.resolve().parts:
        raise WrongUse(f"{record}: a record is never written inside `implementation/`; write it beside that folder")
    record.parent.mkdir(parents=True, exist_ok=True)
    with scratch_beside(record) as scratch:
        compressor = Compressor()
        segments: list[Segment] = []
        try:
            segments += [Segment(scratch / name, compressor) for name in _POOLS]
            fold = Fold(*segments)
            try:
                _walk(journal, fold, progress)
                fold.judge.close()
            except Refusal as refusal:
                raise JournalRefused(journal, refusal.kind, refusal.sentence, line=refusal.line) from None
            for segment in segments:
                segment.pass_on()
            compressor.close()
            truncation = fold.judge.truncation()
            finished = scratch / "record.json.gz"
            size = write_document(finished, _document(fold, segments, truncation))
            finished.replace(record)
        finally:
            compressor.close(quietly=True)
            for segment in segments:
                segment.close()
    return Assembled(fold.judge.entries, truncation, size)


@contextmanager
def scratch_beside(record: Path) -> Iterator[Path]:
    """A folder in the folder of ``record``, on the one volume known to have room; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=record.parent) as folder:
        yield Path(folder)


def _walk(journal: Path, fold: Fold, progress: Callable[[int], None] | None) -> None:
    """Read the journal to its end line, the first damage or its end.

    Raises:
        Refusal: it must not be folded.
        JournalRefused: it cannot be read.
    """
    judge, take = fold.judge, fold.take
    done = 0
    due = _NEVER if progress is None else 0
    try:
        with journal.open("rb", buffering=_READ_BYTES) as file:
            for line in file:
                judge.line += 1
                done += len(line)
                if done >= due and progress is not None:
                    progress(done)
                    due = done + _TOLD_EVERY
                if line[-1] != _LINE_FEED:
                    judge.damaged = True
                elif not take(line):
                    return
    except OSError as error:
        why = error.strerror or str(error)
        raise JournalRefused(journal, "unreadable", f"cannot be read: {why}", line=None) from error


def _document(fold: Fold, segments: list[Segment], truncation: Truncation | None) -> list[bytes | Segment]:
    """The document's parts, in its order (2.2)."""
    header = fold.header
    assert header is not None
    members = {
        "formatVersion": b"%d" % FORMAT_VERSION,
        "recorder": bytes(header.recorder),
        "sessionId": bytes(header.session_id),
        "routingKey": bytes(header.routing_key),
        "capabilitySet": bytes(header.capability_set),
        "seed": fold.seed or b'{"prompt":""}',
        "agents": b"[%b]" % b",".join(fold.agents.values()),
    }
    head = b"".join(b'"%b":%b,' % (name.encode(), value) for name, value in members.items() if value != b"null")
    parts: list[bytes | Segment] = [b"{" + head]
    for name, segment in zip(_POOLS, segments, strict=True):
        comma = "" if name == _POOLS[0] else ","
        parts += [f"{comma}{json.dumps(name)}:[".encode(), segment, b"]"]
    end = b"}" if truncation is None else b',"truncation":%b}' % _encode(truncation)
    return [*parts, end]
