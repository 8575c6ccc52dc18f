"""A session record or a journal in; whether it holds together, and everything that does not, out (gg.md 5).

What can be checked is checked: the format, every reference, the clip table, the addresses of bodies that were not
reduced, what frames and results attach to, and the agents. The version of the recorder is never a gate.
"""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast

import msgspec

from sessionlab.formats.gg.addresses import fingerprint_exact
from sessionlab.formats.gg.journal import Walk
from sessionlab.formats.gg.record import document_rows
from sessionlab.formats.gg.records import Truncation
from sessionlab.formats.gg.refusals import Refusal
from sessionlab.formats.gg.sniffing import kind_of
from sessionlab.formats.gg.strict import Unparseable
from sessionlab.formats.recording import Recording
from sessionlab.tables import Agent, Block, Entry, Pool, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessionlab.formats.gg.rows import SessionRows

Weight = Literal["fault", "remark"]

REMARKS = frozenset(
    {
        "byte_ceiling", "session_killed", "corrupt_journal", "write_failed",  # short, and says so: the rest stands
        "unknown_member", "old_word", "old_providers", "late_header", "clip_order", "unknown_profile",
        "usage_missing", "malformed_usage", "malformed_cost", "malformed_tool_call", "number_too_large",
        "unmatched_result",
    }
)  # fmt: skip
"""Kinds of problems that are told and fault nothing; every other one does."""
_OWN_NAMES = frozenset({"replay.json.gz", "replay.ndjson"})
_NAMES = ("*.ndjson", "*.json.gz", "replay.json")


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that is wrong, or worth knowing.

    Attributes:
        weight: a ``fault``, or a ``remark`` that leaves the file right.
        kind: in snake case.
        detail: in words.
        line: of a journal.
        seq: ordinal of the entry it is about.
    """

    weight: Weight
    kind: str
    detail: str
    line: int | None = None
    seq: int | None = None


class OutputMatch(msgspec.Struct, frozen=True):
    """A recorded text beside an output in hand.

    Attributes:
        text: index of the text.
        recorded: ``whole`` when the text is all of an output, ``tail`` when it is the clipped end of one.
        same: whether the output in hand is that output; False for one that merely ends the same.
        original_bytes: size of the recorded output.
    """

    text: int
    recorded: Literal["whole", "tail"]
    same: bool
    original_bytes: int


class Clip(msgspec.Struct, frozen=True):
    """A text that is the tail of a longer output."""

    text: int
    kept_bytes: int
    original_bytes: int
    original_id: str


class Verification(msgspec.Struct, frozen=True):
    """What was found in one file.

    Attributes:
        path: the file.
        kind: ``record``, ``journal``, or None when it is neither.
        session_id: gg's own; None where the file was refused.
        ok: no fault was found.
        findings: faults first.
        counts: agents, entries, messages, toolsets, texts, clips.
        addresses: of messages and toolsets: how many ids were recomputed and matched, how many differ, and how many
            cannot be recomputed because an image was taken out.
        truncation: why the session is short; None when it is complete.
        clips: texts that are tails.
        outputs: the texts that are, or end like, the output in hand; None when none was given.
    """

    path: str
    kind: Literal["record", "journal"] | None
    session_id: str | None
    ok: bool
    findings: list[Finding]
    counts: dict[str, int]
    addresses: dict[str, int]
    truncation: Truncation | None = None
    clips: list[Clip] = []
    outputs: list[OutputMatch] | None = None

    def as_dict(self) -> dict[str, object]:
        """The same as JSON objects."""
        told: dict[str, object] = msgspec.to_builtins(self)
        return told


def verify(
    path: Path | str, *, output: bytes | None = None, progress: Callable[[int], None] | None = None
) -> Verification:
    """Check a record, gzipped or not, or a journal.

    Args:
        path: the file.
        output: a whole output; the answer says which recorded text it is, or is not though it ends the same.
        progress: called with the bytes read so far.

    Raises:
        OSError: the file cannot be read.
    """
    path = Path(path)
    with path.open("rb") as stream:
        counted = cast("IO[bytes]", _Counted(stream, progress))  # it has what a Recording asks for
        recording = Recording(counted, uri=str(path), format="gg")
        kind = kind_of(recording.head())
        if kind is None and recording.head() and path.name not in _OWN_NAMES:
            words = "is neither a session record nor a capture journal"
            return _refused(path, None, Finding("fault", "no_gg_file", words))
        try:
            rows, truncation, lost = _record(recording) if kind == "record" else _journal(recording)
        except Unparseable as error:
            return _refused(path, kind, Finding("fault", "malformed_record", f"is no session record: {error}"))
        except Refusal as refusal:
            return _refused(path, kind, Finding("fault", refusal.kind, refusal.sentence, refusal.line))
    return _verification(path, kind or "journal", rows, truncation, lost, output)


def files(folder: Path | str) -> Iterator[Path]:
    """The records and journals below a folder, told by their content or by the names gg gives them, in order."""
    found = {path for name in _NAMES for path in Path(folder).rglob(name) if path.is_file()}
    for path in sorted(found):
        if path.name in _OWN_NAMES:
            yield path
        else:
            with path.open("rb") as stream:
                if kind_of(Recording(stream, uri=str(path)).head()) is not None:
                    yield path


def _record(recording: Recording) -> tuple[SessionRows, Truncation | None, list[Problem]]:
    data = recording.read_all()
    if recording.cut is not None:
        raise Unparseable(recording.cut)
    document, rows = document_rows(data, bodies=True)
    rows.finish("snapshot", document.truncation)
    return rows, document.truncation, []


def _journal(recording: Recording) -> tuple[SessionRows, Truncation | None, list[Problem]]:
    walk = Walk(recording)
    walk.run()
    assert walk.rows is not None  # the walk ends in a refusal otherwise
    truncation = walk.judge.truncation()
    walk.rows.finish("log", truncation)
    return walk.rows, truncation, walk.problems


def _verification(
    path: Path,
    kind: Literal["record", "journal"],
    rows: SessionRows,
    truncation: Truncation | None,
    lost: list[Problem],
    output: bytes | None,
) -> Verification:
    problems = lost + [row for row in rows.out.rows if isinstance(row, Problem)]
    findings = [_finding(problem) for problem in problems]
    findings.sort(key=lambda finding: finding.weight != "fault")
    pools = [row for row in rows.out.rows if isinstance(row, Pool)]
    clips = [
        Clip(pool.ix, pool.body_bytes, pool.original_bytes, pool.original_id)
        for pool in pools
        if pool.original_id is not None and pool.original_bytes is not None and pool.body_bytes is not None
    ]
    kinds = Counter(pool.pool for pool in pools)
    addresses = Counter(dict.fromkeys(("match", "mismatch", "unverifiable"), 0))
    for (_, verdict), count in rows.addresses.items():
        addresses[verdict] += count
    return Verification(
        path=str(path),
        kind=kind,
        session_id=rows.out.native_id,
        ok=all(finding.weight != "fault" for finding in findings),
        findings=findings,
        counts={
            "agents": len({row.agent_id for row in rows.out.rows if isinstance(row, Agent)}),
            "entries": sum(isinstance(row, Entry) for row in rows.out.rows),
            "messages": kinds["message"],
            "toolsets": kinds["toolset"],
            "texts": kinds["text"],
            "clips": len(clips),
        },
        addresses=dict(addresses),
        truncation=truncation,
        clips=clips,
        outputs=None if output is None else list(_matches(rows, output)),
    )


def _finding(problem: Problem) -> Finding:
    is_remark = problem.severity == "note" and problem.kind in REMARKS
    return Finding("remark" if is_remark else "fault", problem.kind, problem.detail or "", problem.line, problem.seq)


def _refused(path: Path, kind: Literal["record", "journal"] | None, finding: Finding) -> Verification:
    return Verification(str(path), kind, None, ok=False, findings=[finding], counts={}, addresses={})


def _matches(rows: SessionRows, output: bytes) -> Iterator[OutputMatch]:
    """Recorded texts that are ``output``, and tails it ends with though it is another output."""
    address = fingerprint_exact(output)
    pools = {row.ix: row for row in rows.out.rows if isinstance(row, Pool) and row.pool == "text"}
    for row in rows.out.rows:
        if not isinstance(row, Block) or row.pool != "text":
            continue
        pool, text = pools[row.ix], (row.text or "").encode()
        if pool.original_id is None:
            if text == output:
                yield OutputMatch(row.ix, "whole", same=True, original_bytes=len(text))
        elif pool.original_id == address or (text and output.endswith(text)):
            size = pool.original_bytes or 0
            yield OutputMatch(row.ix, "tail", same=pool.original_id == address, original_bytes=size)


class _Counted(io.RawIOBase):
    """A stream that tells how far it was read."""

    def __init__(self, stream: IO[bytes], progress: Callable[[int], None] | None) -> None:
        self._stream, self._progress = stream, progress

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        if self._progress is not None:
            self._progress(self._stream.tell())
        return block

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()
