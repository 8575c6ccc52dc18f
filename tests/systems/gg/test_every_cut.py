"""The worked examples cut at every byte and changed at every byte: what assembly makes of them, worked out apart."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from sessionlab.errors import JournalRefused
from sessionlab.systems import gg
from tests.formats.gg_examples import A_RECORD, A, B
from tests.systems.gg.journals import RECORD, address, members, unpacked

ARRAYS = {"message": "messages", "toolset": "toolsets", "text": "texts", "entry": "entries"}
ORIGINAL: dict[str, Any] = json.loads(A_RECORD)
REFUSALS = {"format", "second_header", "gap", "dangling_reference", "no_header"}


class Outcome(NamedTuple):
    """What a journal comes to: why it is refused, or its truncation and how much each array holds."""

    refused: str | None
    truncation: dict[str, Any] | None = None
    sizes: Mapping[str, int] = MappingProxyType({})


def _references(entry: dict[str, Any]) -> list[tuple[str, int]]:
    """What an entry refers to (section 4.3, and section 11 for `dataText`)."""
    match entry["type"]:
        case "model_io" | "model_error":
            asked = entry["request"]
            toolset = [("toolset", asked["toolset"])] if asked.get("toolset") is not None else []
            return [*(("message", index) for index in asked["messages"]), *toolset]
        case "tool_result":
            named = (entry["outcome"].get(name) for name in ("output", "summary", "dataText"))
            return [("text", index) for index in named if index is not None]
        case "prompt_frame":
            return [("message", item["message"]) for item in entry["items"]]
        case "shell" | "git":
            return [("text", entry["command"][stream]) for stream in ("stdout", "stderr")]
        case _:
            return []


def _expected(data: bytes) -> Outcome:
    """Sections 4.2 to 4.5 for a journal whose complete lines are sound: the walk, the refusals, the truncation."""
    *lines, fragment = data.split(b"\n")
    sizes = {"message": 0, "toolset": 0, "text": 0, "entry": 0, "clip": 0}
    headers, last, end = 0, None, None
    for line in map(json.loads, filter(None, lines)):
        kind = line["type"]
        if kind == "header":
            headers += 1
        elif kind == "end":
            end = line
            break
        elif kind == "entry":
            for pool, index in _references(line["entry"]):
                if index >= sizes[pool]:
                    return Outcome("dangling_reference")
            last = line["entry"]["seq"]
            sizes["entry"] += 1
        elif kind in ARRAYS:
            if line["index"] != sizes[kind]:
                return Outcome("gap")
            sizes[kind] += 1
            sizes["clip"] += "clip" in line
    if headers != 1:
        return Outcome("no_header")
    truncation: dict[str, Any] | None = None
    if end is None:
        truncation = {"reason": "corrupt_journal" if fragment else "session_killed"}
    elif end["entries"] != sizes["entry"]:
        truncation = {"reason": "corrupt_journal"}
    if truncation is not None and last is not None:
        truncation["lastSeq"] = last
    return Outcome(None, truncation, sizes)


class Bench:
    """One place to assemble many journals in, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._log, self.record = folder / "replay.ndjson", folder / "run" / RECORD

    def outcome(self, data: bytes) -> tuple[Outcome, dict[str, Any]]:
        """What assembly makes of ``data``, and the document if there is one."""
        self.record.unlink(missing_ok=True)
        self._log.write_bytes(data)
        try:
            told = gg.assemble(self._log, self.record)
        except JournalRefused as refused:
            assert not self.record.exists()
            return Outcome(refused.kind), {}
        document = json.loads(unpacked(self.record).decode())
        assert told.entries == len(document["entries"])
        assert members(told.truncation) == document.get("truncation")
        sizes = {kind: len(document[array]) for kind, array in (*ARRAYS.items(), ("clip", "clips"))}
        return Outcome(None, document.get("truncation"), sizes), document


MEMORY = Path("/dev/shm")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A bench in memory where there is some to write to: thousands of records need not survive a power cut."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else tmp_path) as folder:
        yield Bench(Path(folder))
        assert list(Path(folder).rglob(".replay-assembly-*")) == []


@pytest.mark.parametrize("data", [A, B], ids=["A", "B"])
def test_cut_at_every_byte(bench: Bench, data: bytes) -> None:
    """Sections 4.2, 4.4 and 4.5: at every length the refusal, or the truncation and the size of every array."""
    elements = _elements(data)
    for length in range(len(data) + 1):
        outcome, document = bench.outcome(data[:length])
        assert outcome == _expected(data[:length]), length
        for kind, array in ARRAYS.items():
            whole = [element for of, element in elements if of == kind]
            assert document.get(array, []) == whole[: len(document.get(array, []))], length


def _elements(data: bytes) -> list[tuple[str, Any]]:
    """What each complete line of a sound journal contributes."""
    lines = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return [(line["type"], line.get(line["type"])) for line in lines]


@pytest.mark.parametrize("data", [A, B], ids=["A", "B"])
def test_the_model_knows_the_examples(data: bytes) -> None:
    """The independent walk says of the whole examples what section 9 says."""
    expected = {
        A: Outcome(None, None, {"message": 3, "toolset": 1, "text": 5, "entry": 8, "clip": 2}),
        B: Outcome(
            None,
            {"reason": "corrupt_journal", "lastSeq": 0},
            {"message": 3, "toolset": 0, "text": 0, "entry": 1, "clip": 0},
        ),
    }
    assert _expected(data) == expected[data]


def _reduced(body: Any) -> bool:
    """Whether a stored body holds an image that lost its bytes, so that its id cannot be checked (section 3.4)."""
    if isinstance(body, dict):
        return ("mediaType" in body and "dataBase64" not in body) or any(map(_reduced, body.values()))
    return isinstance(body, list) and any(map(_reduced, body))


def _unsound(document: dict[str, Any]) -> list[str]:
    """What section 5.2 lets a reader find in a record by itself, and section 3 by hashing."""
    texts, clips = document["texts"], {clip["text"]: clip for clip in document["clips"]}
    ids = [m["id"] for m in (*document["messages"], *document["toolsets"])]
    seqs = [entry["seq"] for entry in document["entries"]]
    whole = [text for index, text in enumerate(texts) if index not in clips]
    holds = {
        "message ids": all(_reduced(m["body"]) or address(m["body"]) == m["id"] for m in document["messages"]),
        "toolset ids": all(address(t["tools"]) == t["id"] for t in document["toolsets"]),
        "addresses": all(
            re.fullmatch("[0-9a-f]{32}", one) for one in (*ids, *(clip["originalId"] for clip in clips.values()))
        ),
        "seqs": all(one < other for one, other in pairwise(seqs)),
        "agents": {entry["agentId"] for entry in document["entries"]} <= {row["agentId"] for row in document["agents"]},
        "clips": all(
            index < len(texts) and len(texts[index].encode()) <= clip["originalBytes"] for index, clip in clips.items()
        ),
        "texts": len(set(whole)) == len(whole),
    }
    return [name for name, held in holds.items() if not held]


def _lost_without_a_trace(document: dict[str, Any]) -> list[int]:
    """Messages and toolsets that are not the original's, though an id that can be recomputed stands for them."""
    pools = [(m, o) for name in ("messages", "toolsets") for m, o in zip(document[name], ORIGINAL[name], strict=False)]
    return [place for place, (now, was) in enumerate(pools) if now != was and not (_reduced(now) and _reduced(was))]


LINES = A.split(b"\n")[:-1]
STARTS = [sum(len(line) + 1 for line in LINES[:number]) for number in range(len(LINES))]
BEFORE = [_expected(A[:start]) for start in STARTS]
"""What example A comes to when it ends in front of each line."""
ELEMENTS = _elements(A)


def _line_at(offset: int) -> int:
    """The line, from 0, a byte of example A stands on."""
    return sum(start <= offset for start in STARTS) - 1


def _only_that_line(document: dict[str, Any], line: int) -> None:
    """Either the changed line ended the walk, or it is the only one whose element is another."""
    truncation, before = document.get("truncation"), BEFORE[line]
    sizes = BEFORE[-1].sizes if truncation is None else before.sizes
    assert {kind: len(document[array]) for kind, array in ARRAYS.items()} == {k: sizes[k] for k in ARRAYS}
    for kind, array in ARRAYS.items():
        was = [(number, element) for number, (of, element) in enumerate(ELEMENTS) if of == kind]
        assert {number for (number, element), now in zip(was, document[array], strict=False) if element != now} <= {
            line
        }
    assert truncation in (None, {**(before.truncation or {}), "reason": "corrupt_journal"})
    lost = [clip for clip in ORIGINAL["clips"][: sizes["clip"]] if clip not in document["clips"]]
    assert len(lost) <= (ELEMENTS[line][0] == "text")


def _changes() -> list[tuple[int, bytes]]:
    """Every byte of example A made another: one bit, its highest bit, a quote, a space, a digit.

    A letter becomes its neighbour, and by turns no ASCII or a quote: another letter is all a digit would be there.
    """
    found = []
    for offset, byte in enumerate(A):
        others = {byte ^ 1, byte ^ 0x80, *b' "7'}
        if chr(byte).isalpha():
            others = {byte ^ 1, byte ^ 0x80 if offset % 2 else ord('"')}
        found += [(offset, A[:offset] + bytes([other]) + A[offset + 1 :]) for other in sorted(others - {byte})]
    return found


def test_any_byte_changed(bench: Bench) -> None:
    """A changed byte never fails otherwise than by a refusal, and of what can be checked nothing is changed unseen.

    Where a record comes out: the changed line has ended the walk, and the record has what stood before and says
    `corrupt_journal`; or all lines are there, and every element but that line's is the original's. Every reference is
    in range. Where verification finds the record sound: messages whose id can be recomputed and toolsets are the
    original's or not there, ids are addresses, seqs ascend, agents have rows, clips fit their texts.

    Nothing is claimed of what the format cannot check: the stored body and id of a message that lost an image; texts
    and responses, which have no address; the whole that a clip tells of; names, figures, prompt and session id; a
    reference that became another index in range, or an optional member whose name was lost.
    """
    refused: set[str | None] = set()
    unseen = {"records": 0, "found": 0}
    for offset, data in _changes():
        outcome, document = bench.outcome(data)
        refused.add(outcome.refused)
        if outcome.refused is not None:
            continue
        unseen["records"] += 1
        _only_that_line(document, _line_at(offset))
        for entry in document["entries"]:
            assert all(index < len(document[ARRAYS[pool]]) for pool, index in _references(entry)), offset
        if _unsound(document) or _lost_without_a_trace(document):
            unseen["found"] += 1
            assert not gg.verify(bench.record).ok, (offset, _unsound(document))
    assert refused - {None} <= REFUSALS
    assert unseen["records"] > 4000
    assert unseen["found"] > 400
