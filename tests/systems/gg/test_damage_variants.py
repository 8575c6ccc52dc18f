"""The 21 variants of section 9.3 and the further cases of section 8.5, through assembly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sessionlab.errors import JournalRefused
from sessionlab.systems import gg
from tests.formats.gg_examples import (
    B_LINES,
    HEADER,
    ROOT,
    call,
    dump,
    end,
    entry,
    frame,
    journal,
    message,
    request,
    result,
    text,
)
from tests.systems.gg.journals import RECORD, S, empty_record, fold, members, refusal

LINES = [json.loads(line) for line in B_LINES]
HEADER_2 = B_LINES[0].replace(b'"formatVersion":1', b'"formatVersion":2')
GIT = entry(
    1, "git", command={"command": "git log", "cwd": {"type": "workspace"}, "exitCode": 0, "stdout": 0, "stderr": 0}
)
GAP = "has a gap in its {0} pool (a line claims index {1}, but {2} {0} entries have been read)"
DANGLING = "has a dangling reference: the entry at seq {} names {} {}, but only {} have been read"
FORMAT_2 = "is in journal format 2, which this build does not assemble (it writes 1)"
SECOND = "carries a second header line; a journal records exactly one session"
NO_HEADER = "has no header line, so the session it belongs to is unknown"


class Kept(NamedTuple):
    """A journal that gives a record: entries, messages and the exact truncation."""

    data: bytes
    entries: int = 1
    messages: int = 1
    truncation: dict[str, Any] | None = None
    agents: int = 1


class Refused(NamedTuple):
    """A journal that is refused: of which kind, in which words, at which line."""

    data: bytes
    kind: str
    detail: str
    line: int | None


VARIANTS: dict[str, Kept | Refused] = {
    "end-1": Kept(journal(*B_LINES, end(1))),
    "nothing-appended": Kept(journal(*B_LINES), truncation={"reason": "session_killed", "lastSeq": 0}),
    "end-1-without-its-newline": Kept(
        journal(*B_LINES) + dump(end(1)), truncation={"reason": "corrupt_journal", "lastSeq": 0}
    ),
    "end-1-byte-ceiling-900": Kept(
        journal(*B_LINES, end(1, reason="byte_ceiling", lastSeq=0, bytes=900)),
        truncation={"reason": "byte_ceiling", "lastSeq": 0, "bytes": 900},
    ),
    "end-7": Kept(journal(*B_LINES, end(7)), truncation={"reason": "corrupt_journal", "lastSeq": 0}),
    "end-7-byte-ceiling-4096": Kept(
        journal(*B_LINES, end(7, reason="byte_ceiling", lastSeq=6, bytes=4096)),
        truncation={"reason": "corrupt_journal", "lastSeq": 0, "bytes": 4096},
    ),
    "message-with-index-2": Refused(journal(*B_LINES, message(2)), "gap", GAP.format("message", 2, 1), 5),
    "message-with-index-0": Refused(journal(*B_LINES, message(0)), "gap", GAP.format("message", 0, 1), 5),
    "dangling-git-entry": Refused(journal(*B_LINES, GIT), "dangling_reference", DANGLING.format(1, "text", 0, 0), 5),
    "header-again": Refused(journal(*B_LINES, B_LINES[0]), "second_header", SECOND, 5),
    "header-again-in-format-2": Refused(journal(*B_LINES, HEADER_2), "format", FORMAT_2, 5),
    "header-changed-to-format-2": Refused(journal(HEADER_2, *B_LINES[1:]), "format", FORMAT_2, 1),
    "header-removed-end-1": Refused(journal(*B_LINES[1:], end(1)), "no_header", NO_HEADER, None),
    "header-after-the-entry-end-1": Kept(journal(*B_LINES[1:], B_LINES[0], end(1))),
    "oops-then-message-with-index-9": Kept(
        journal(*B_LINES, b"oops", message(9)), truncation={"reason": "corrupt_journal", "lastSeq": 0}
    ),
    "unknown-type-then-end-1": Kept(
        journal(*B_LINES, b'{"type":"note"}', end(1)), truncation={"reason": "corrupt_journal", "lastSeq": 0}
    ),
    "end-1-then-message-with-index-9": Kept(journal(*B_LINES, end(1), message(9))),
    "blank-line-after-the-header-end-1": Kept(journal(B_LINES[0], b"", *B_LINES[1:], end(1))),
    "header-agent-and-a-fragment": Kept(
        journal(*B_LINES[:2]) + b'{"type":"mess', 0, 0, truncation={"reason": "corrupt_journal"}
    ),
    "only-the-header": Kept(journal(B_LINES[0]), 0, 0, truncation={"reason": "session_killed"}, agents=0),
    "empty-file": Refused(b"", "no_header", NO_HEADER, None),
}
"""The rows of section 9.3, in its order."""


def _expected(kept: Kept) -> bytes:
    """The whole record of a variant, put together by hand (section 2.2)."""
    header, agent, said, made = LINES
    return empty_record(
        recorder=header["recorder"],
        sessionId=header["sessionId"],
        capabilitySet=header["capabilitySet"],
        agents=[agent["agent"]][: kept.agents],
        messages=[said["message"]][: kept.messages],
        entries=[made["entry"]][: kept.entries],
        truncation=kept.truncation,
    )


def test_there_are_21_variants() -> None:
    """Section 9.3 has 21 rows, eight of which are refused."""
    assert len(VARIANTS) == 21
    assert sum(isinstance(variant, Refused) for variant in VARIANTS.values()) == 8


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_variant(tmp_path: Path, variant: Kept | Refused) -> None:
    """Section 9.3: the record of a variant byte for byte, or its refusal in full, after which nothing is left."""
    if isinstance(variant, Kept):
        folded = fold(tmp_path, variant.data)
        assert folded.raw == _expected(variant)
        assert folded.told.entries == variant.entries
        assert members(folded.told.truncation) == variant.truncation
    else:
        refused = refusal(tmp_path, variant.data)
        assert (refused.kind, refused.detail, refused.line) == (variant.kind, variant.detail, variant.line)


@pytest.mark.parametrize("name", [name for name, variant in VARIANTS.items() if isinstance(variant, Refused)])
def test_a_refused_variant_leaves_the_record_that_stood_there(tmp_path: Path, name: str) -> None:
    """Section 4.1: on any failure the output path holds what it held before, and no scratch is left beside it."""
    log, record = tmp_path / "replay.ndjson", tmp_path / "run" / RECORD
    log.write_bytes(VARIANTS[name].data)
    record.parent.mkdir()
    record.write_bytes(b"the record of an earlier run")
    with pytest.raises(JournalRefused):
        gg.assemble(log, record)
    assert record.read_bytes() == b"the record of an earlier run"
    assert list(record.parent.iterdir()) == [record]


CORRUPT_1 = {"reason": "corrupt_journal", "lastSeq": 1}
FURTHER: dict[str, tuple[bytes, dict[str, Any] | None, int]] = {
    "a lone carriage return": (journal(*S, b"\r", end(2)), CORRUPT_1, 2),
    "a line of spaces": (journal(*S, b"  ", end(2)), CORRUPT_1, 2),
    "carriage returns before the line feeds": (b"".join(dump(x) + b"\r\n" for x in (*S, end(2))), None, 2),
    "two blank lines": (journal(S[0], b"", *S[1:], b"", end(2)), None, 2),
    "anything behind the end": (journal(*S, end(2)) + b"\xff\xfe not json\n{", None, 2),
    "an end behind the end": (journal(*S, end(2), end(9)), None, 2),
    "a second header behind the end": (journal(*S, end(2), HEADER), None, 2),
    "write_failed as reported": (
        journal(*S, end(2, reason="write_failed", bytes=77)),
        {"reason": "write_failed", "bytes": 77},
        2,
    ),
    "a count too low": (journal(*S, end(1)), CORRUPT_1, 2),
    "a count too high, write_failed with bytes": (
        journal(*S, end(3, reason="write_failed", lastSeq=2, bytes=512)),
        {**CORRUPT_1, "bytes": 512},
        2,
    ),
    "a count for no entries": (journal(HEADER, end(3)), {"reason": "corrupt_journal"}, 0),
    "damage before any entry": (journal(*S[:4], b"oops", *S[4:], end(2)), {"reason": "corrupt_journal"}, 0),
    "an unknown entry kind": (
        journal(*S[:5], entry(1, "weather"), *S[5:], end(2)),
        {"reason": "corrupt_journal", "lastSeq": 0},
        1,
    ),
    "an unknown error kind": (
        journal(
            *S,
            entry(
                2,
                "model_error",
                request={"role": "agent", "shape": "complete", "messages": [0]},
                error={"kind": "boredom", "message": "m"},
            ),
            end(3),
        ),
        CORRUPT_1,
        2,
    ),
    "the seq of the latest line, not the highest": (
        journal(HEADER, entry(9, "cancel_probe", canceled=False), entry(4, "cancel_probe", canceled=False)),
        {"reason": "session_killed", "lastSeq": 4},
        2,
    ),
    "the largest seq": (
        journal(HEADER, entry(2**64 - 1, "cancel_probe", canceled=False)),
        {"reason": "session_killed", "lastSeq": 2**64 - 1},
        1,
    ),
}


@pytest.mark.parametrize(("data", "truncation", "entries"), FURTHER.values(), ids=FURTHER.keys())
def test_further_case(tmp_path: Path, data: bytes, truncation: dict[str, Any] | None, entries: int) -> None:
    """Sections 4.4, 4.5 and 8.5: what a damaged journal keeps, and what its record says of it."""
    folded = fold(tmp_path, data)
    assert members(folded.told.truncation) == truncation
    assert folded.told.entries == entries


FURTHER_REFUSALS = {
    "an entry before its message": (journal(HEADER, call(4, 0), message(0)), DANGLING.format(4, "message", 0, 0), 2),
    "dataText past the pool": (
        journal(*S, result(2, "c", 0, dataText=1), end(3)),
        DANGLING.format(2, "text", 1, 1),
        8,
    ),
    "a repeated text index": (journal(*S, text(0, "again")), GAP.format("text", 0, 1), 8),
    "a repeated toolset index": (
        journal(*S, {"type": "toolset", "index": 0, "toolset": {"id": "0" * 32, "tools": []}}),
        GAP.format("toolset", 0, 1),
        8,
    ),
    "the first of several dangling messages": (
        journal(*S, call(2, 0, 7, 1, 9)),
        DANGLING.format(2, "message", 7, 2),
        8,
    ),
    "a frame that goes one too far": (
        journal(*S, frame(2, 0, 1), frame(3, 0, 1, 2)),
        DANGLING.format(3, "message", 2, 2),
        9,
    ),
    "the first of a frame's dangling messages": (
        journal(*S, frame(2, 0, 1, 8, 3)),
        DANGLING.format(2, "message", 8, 2),
        8,
    ),
    "a dangling toolset": (
        journal(*S, entry(2, "model_io", request=request(0, toolset=1), response=None)),
        DANGLING.format(2, "toolset", 1, 1),
        8,
    ),
    "a dangling summary": (journal(*S, result(2, "c", 0, summary=3)), DANGLING.format(2, "text", 3, 1), 8),
    "a dangling stderr": (
        journal(*S, entry(2, "git", command={**GIT["entry"]["command"], "stderr": 4})),
        DANGLING.format(2, "text", 4, 1),
        8,
    ),
    "a format-2 header that lacks everything else": (journal(b'{"type":"header","formatVersion":2}'), FORMAT_2, 1),
    "a torn header": (B_LINES[0], NO_HEADER, None),
    "a header that does not parse": (journal({**HEADER, "sessionId": 4}, *B_LINES), NO_HEADER, None),
    "a gap before the header": (journal(message(1), HEADER), GAP.format("message", 1, 0), 1),
}


@pytest.mark.parametrize(("data", "detail", "line"), FURTHER_REFUSALS.values(), ids=FURTHER_REFUSALS.keys())
def test_further_refusal(tmp_path: Path, data: bytes, detail: str, line: int | None) -> None:
    """Sections 4.3, 4.5, 8.5 and 11: what is refused, with the sentence and the line that decided it."""
    refused = refusal(tmp_path, data)
    assert (refused.detail, refused.line) == (detail, line)


def test_an_agent_row_replaced_loses_its_optional_members(tmp_path: Path) -> None:
    """Section 8.5: a member present in an agent's first row and absent in its second is gone."""
    first = {"type": "agent", "agent": {**ROOT["agent"], "terminalStatus": "running"}}
    assert fold(tmp_path, journal(HEADER, first, ROOT, end(0))).document["agents"] == [ROOT["agent"]]


def test_what_a_line_says_beyond_the_format_is_carried(tmp_path: Path) -> None:
    """Sections 2.3 and 11: an element's bytes are carried as they stand, white space and unknown members with them."""
    odd = b'{ "agentId" : "root", "seq":0, "type":"clock", "elapsedMs":7, "mood":"calm" }'
    row = b'{"agentId":"root","profileId":"root","profile":"Root","origin":{"type":"root"},"mood":[1.50,-0]}'
    lines = (HEADER, b'{"type":"agent","agent":' + row + b"}", b'{"entry":' + odd + b',"type":"entry"}', end(1))
    raw = fold(tmp_path, journal(*lines)).raw
    assert b'"entries":[' + odd + b"]" in raw
    assert b'"agents":[' + row + b"]" in raw


def test_a_journal_that_cannot_be_read(tmp_path: Path) -> None:
    """Sections 4.2 and 4.5: a journal that cannot be opened is refused as unreadable, and nothing is written."""
    log, record = tmp_path / "replay.ndjson", tmp_path / "run" / RECORD
    with pytest.raises(JournalRefused) as caught:
        gg.assemble(log, record)
    assert caught.value.kind == "unreadable"
    assert str(caught.value).startswith(f"gg capture journal `{log}` cannot be read: ")
    assert not record.parent.exists() or list(record.parent.iterdir()) == []
