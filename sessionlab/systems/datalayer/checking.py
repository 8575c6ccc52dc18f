"""Check: a session file goes in; whether the published importer takes it, and what is worth a word, comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec
from msgspec import structs

from sessionlab.errors import LoadError
from sessionlab.formats._collection import uncollected
from sessionlab.formats.datalayer.derived import HEARD
from sessionlab.formats.datalayer.fields import EntryLine
from sessionlab.formats.datalayer.judge import (
    MAX_BYTES,
    Accepted,
    Refusal,
    RefusalName,
    Section,
    judge,
    value_of,
    whole,
)
from sessionlab.formats.datalayer.rows import Numbers, SessionRows, team_rows
from sessionlab.formats.datalayer.text import breaks_inside_strings, decoded, lines
from sessionlab.redaction import Finding
from sessionlab.systems.datalayer.heads import is_time
from sessionlab.tables import Problem, Row

_REMARKABLE = HEARD | {"paused", "ended", "imported", "cloned"}
_LARGE_EXIT = 2**31
_BLOCK = 4 * 1024 * 1024
_LENIENTLY_READ = (
    "only U+0085, U+2028 or U+2029 raw in a string stands against it: the tables read it split at LF; "
    "written as escapes they would be taken"
)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a check says of a file.

    Attributes:
        ok: the file is taken; a team file counts as taken, although the importer of single sessions refuses it.
        name: of the refusal: one of the format's eight, ``field_refusal``, ``second_head`` or ``entry_without_seat``.
        status: the HTTP status of the refusal.
        line: the line that decided it, 1-based; None: the whole file.
        sentence: the refusal's.
        kind: ``session`` or ``team``; None of a refused file.
        sessions, turns, entries: what the file holds, counted, whatever its head says; 0 of a refused file.
        bytes: the file's size.
        notes: what a reader would remark on a file that is taken, in sentences: counts of the head that the entries do
            not bear out, a state or title they tell otherwise, replaced UTF-8 and the like.
    """

    ok: bool
    name: RefusalName | None = None
    status: int | None = None
    line: int | None = None
    sentence: str | None = None
    kind: str | None = None
    sessions: int = 0
    turns: int = 0
    entries: int = 0
    bytes: int
    notes: tuple[str, ...] = ()


def check(data: bytes) -> Verdict:
    """The verdict on a whole file, as the published importer judges it (datalayer.md sections 3 to 5 and 17).

    Args:
        data: the body as received; of a compressed file that is its compressed bytes, which are `not_json`.
    """
    with uncollected():
        return _checked(data)  # what it held is let go before collection begins again


def check_file(path: Path) -> Verdict:
    """The verdict on a file; one over the cap is counted block by block and never held.

    Raises:
        LoadError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = whole(blocks_of(file))
            size = file.tell()
    except OSError as error:
        raise LoadError(f"{path}: expected a session file, and it cannot be read: {error.strerror or error}") from error
    return _refused(data, size=size) if isinstance(data, Refusal) else check(data)


def blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    """What a file of a sound size holds at once, and more of a larger one block by block."""
    wanted = MAX_BYTES + 1
    while block := file.read(wanted):
        yield block
        wanted = _BLOCK


def leaks_of(data: bytes, *, declared: Iterable[str] = ()) -> list[Finding]:
    """What the strict rules would still find in a file, by rule and place: in heads, titles and keys too.

    The file need not be one that is taken; a line that is no JSON is looked at as text.

    Args:
        data: the file.
        declared: values of declared secrets.
    """
    from sessionlab.redaction import leaks  # noqa: PLC0415 (checking a file needs no rules)

    return leaks(_values(data), declared=declared)


def _checked(data: bytes) -> Verdict:
    judged = judge(data, teams=True)
    if isinstance(judged, Refusal):
        return _refused(judged, size=len(data), notes=_leniently_read(data))
    entries = [entry for section in judged.sections for entry in section.entries]
    return Verdict(
        ok=True,
        kind="session" if judged.team is None else "team",
        sessions=len(judged.sections),
        turns=sum(entry.kind == "turn" for entry in entries),
        entries=len(entries),
        bytes=len(data),
        notes=tuple(_notes(judged)),
    )


def _refused(refused: Refusal, *, size: int, notes: tuple[str, ...] = ()) -> Verdict:
    return Verdict(
        ok=False, name=refused.name, status=refused.status, line=refused.line, sentence=refused.sentence, bytes=size,
        notes=notes,
    )  # fmt: skip


def _leniently_read(data: bytes) -> tuple[str, ...]:
    """The one leniency of the table reader (section 17), told beside the refusal."""
    if breaks_inside_strings(data) and isinstance(judge(data, teams=True, lf_only=True), Accepted):
        return (_LENIENTLY_READ,)
    return ()


def _notes(judged: Accepted) -> Iterator[str]:
    """The notes the table reader would give, in its order."""
    if judged.replaced:
        yield "the file is not valid UTF-8; each invalid sequence is read as U+FFFD"
    if judged.team is not None:
        yield from _said(team_rows(judged.team, judged.sections))
    numbers = Numbers()
    for section in judged.sections:
        remarkable = _remarkable(section, judged.unusual)
        yield from _said(SessionRows(remarkable, numbers, judged.unusual, with_bodies=False).rows())


def _remarkable(section: Section, unusual: frozenset[int]) -> Section:
    """A section without the entries that no note can be about, where its head counts what it has.

    Most entries of most files are such, and rows need not be made of them. What is left is read as it would be among
    them: lines keep their numbers, and the head's counts agree with what is left as they did with all.
    """
    head, entries = section.head, section.entries
    kinds = Counter(entry.kind for entry in entries)
    if head.entries != len(entries) or head.turns != kinds["turn"] or not kinds.keys() <= set(head.kinds):
        return section
    has_time: dict[str, bool] = {}
    kept = []
    for n, (entry, number) in enumerate(zip(entries, section.numbers, strict=True)):
        at = entry.at
        if at not in has_time:
            has_time[at] = is_time(at)
        if (
            entry.kind in _REMARKABLE
            or not has_time[at]
            or ("exit_code" in entry.payload and not _is_plain_exit(entry))
            or number in unusual
        ):
            kept.append(n)
    kept = kept or list(range(min(len(entries), 1)))  # that there are entries at all may be worth a note
    left = [entries[n] for n in kept]
    turns = sum(entry.kind == "turn" for entry in left)
    return Section(
        structs.replace(head, entries=len(left), turns=turns), section.line, left,
        [section.numbers[n] for n in kept],
    )  # fmt: skip


def _is_plain_exit(entry: EntryLine) -> bool:
    code = entry.payload["exit_code"]
    return entry.kind == "tool_call" and type(code) is int and -_LARGE_EXIT < code < _LARGE_EXIT


def _said(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, Problem):
            yield f"line {row.line}: {row.detail}"


def _values(data: bytes) -> Iterator[tuple[str, object]]:
    text, _ = decoded(data)
    for number, line in enumerate(lines(text), 1):
        if line and not line.isspace():
            yield f"line {number}", _value(line)


def _value(line: str) -> object:
    try:
        return value_of(line)
    except ValueError:
        return line
