"""Records and journals with one thing wrong in each, in; exactly that finding out (section 5)."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sessionlab.systems import gg
from tests.conftest import SAMPLES
from tests.formats.gg_examples import (
    HEADER,
    ROOT,
    USAGE,
    A,
    agent,
    call,
    end,
    entry,
    frame,
    journal,
    message,
    record,
    request,
    result,
    text,
)
from tests.systems.gg.journals import address, image

RECORD = SAMPLES / "gg/clean-record/replay.json.gz"
JOURNAL = SAMPLES / "gg/clean-journal/replay.ndjson"
WHOLE = "0123456789"
CLIP = {"text": 1, "originalBytes": 10, "originalId": "84d89877f0d4041efb6bf91a16f0248f"}
"""Of the ten digits, of which `6789` is kept; the address is the beginning of their SHA-256."""
MESSAGES = [message(0, "hello")["message"], message(1, "and on")["message"]]
TOOLS = [{"name": "shell"}]
TOOLSET = {"id": "ebc66a408a30eeaa12a650a48b6c8f68", "tools": TOOLS}
RAN = {"command": "ls", "cwd": {"type": "workspace"}, "exitCode": 0, "stdout": 0, "stderr": 1}
ENTRIES = [
    call(0, 0, response={"usage": USAGE, "toolCalls": [{"id": "c1", "name": "look", "arguments": {}}]})["entry"],
    frame(1, 0)["entry"],
    entry(2, "shell", origin="tool", command=RAN)["entry"],
    result(3, "c1", 0, summary=1)["entry"],
]
CLEAN: dict[str, Any] = {
    "agents": [ROOT["agent"]],
    "messages": MESSAGES,
    "toolsets": [TOOLSET],
    "texts": ["a\n", "6789"],
    "clips": [CLIP],
    "entries": ENTRIES,
}


def _changed(placed: dict[int, dict[str, Any]] | None = None, /, **members: Any) -> bytes:
    """The clean record with other members, and with entries in the place of some of its own."""
    told = {**CLEAN, **members}
    if placed is not None:
        told["entries"] = [placed.get(n, made) for n, made in enumerate(ENTRIES)]
    return record(**told)


def _verify(folder: Path, data: bytes, **options: Any) -> gg.Verification:
    path = folder / "replay.json"
    path.write_bytes(data)
    return gg.verify(path, **options)


def _kinds(found: gg.Verification, weight: str = "fault") -> list[str]:
    return [one.kind for one in found.findings if one.weight == weight]


def test_a_clean_record() -> None:
    """The worked example: its figures, its two tails, and nothing wrong."""
    found = gg.verify(RECORD)
    document = json.loads(gzip.decompress(RECORD.read_bytes()))
    assert (found.path, found.kind, found.session_id, found.ok) == (str(RECORD), "record", document["sessionId"], True)
    assert found.truncation is None
    assert found.outputs is None
    pools = {name: len(document[name]) for name in ("agents", "entries", "messages", "toolsets", "texts", "clips")}
    assert found.counts == pools
    assert [(one.text, one.original_bytes, one.original_id) for one in found.clips] == [
        (one["text"], one["originalBytes"], one["originalId"]) for one in document["clips"]
    ]
    assert [one.kept_bytes for one in found.clips] == [len(document["texts"][c["text"]]) for c in document["clips"]]
    assert _kinds(found) == []


def test_a_clean_journal() -> None:
    """A journal is found to hold what its record does."""
    told, found = gg.verify(RECORD), gg.verify(JOURNAL)
    assert (found.kind, found.ok, found.findings) == ("journal", True, told.findings)
    assert (found.counts, found.addresses, found.clips) == (told.counts, told.addresses, told.clips)


def test_the_record_these_tests_change(tmp_path: Path) -> None:
    """Nothing is wrong with what each of the faults below is put into, gzipped or not."""
    assert hashlib.sha256(WHOLE.encode()).hexdigest()[:32] == CLIP["originalId"]
    for data in (_changed(), gzip.compress(_changed())):
        found = _verify(tmp_path, data)
        assert (found.ok, found.findings) == (True, [])
        assert found.counts == {"agents": 1, "entries": 4, "messages": 2, "toolsets": 1, "texts": 2, "clips": 1}
        assert found.addresses == {"match": 3, "mismatch": 0, "unverifiable": 0}


SWAPPED = [{**MESSAGES[0], "id": "0" * 32}, MESSAGES[1]]
NO_HEX = [{**MESSAGES[0], "id": MESSAGES[0]["id"].upper()}, MESSAGES[1]]
CHILD = agent("agent-0", {"type": "spawn", "parent": "nobody", "ordinal": 0})["agent"]
OWN = agent("agent-0", {"type": "spawn", "parent": "agent-0", "ordinal": 0})["agent"]
TWICE = [call(0, 0)["entry"], call(0, 0)["entry"], call(1, 0)["entry"]]
FAULTS: dict[str, tuple[bytes, list[str]]] = {
    "message of a call": (_changed({0: call(0, 0, 2)["entry"]}), ["dangling_reference"]),
    "message of a failed call": (
        _changed({2: entry(2, "model_error", request=request(7), error={"kind": "parse", "message": ""})["entry"]}),
        ["dangling_reference"],
    ),
    "toolset of a call": (
        _changed({0: entry(0, "model_io", request=request(0, toolset=1), response=ENTRIES[0]["response"])["entry"]}),
        ["dangling_reference"],
    ),
    "message of a frame": (_changed({1: frame(1, 0, 2)["entry"]}), ["dangling_reference"]),
    "output of a result": (_changed({3: result(3, "c1", 2)["entry"]}), ["dangling_reference"]),
    "summary of a result": (_changed({3: result(3, "c1", 0, summary=2)["entry"]}), ["dangling_reference"]),
    "lifted text of a result": (_changed({3: result(3, "c1", 0, dataText=2)["entry"]}), ["dangling_reference"]),
    "stdout": (
        _changed({2: entry(2, "shell", origin="tool", command={**RAN, "stdout": 2})["entry"]}),
        ["dangling_reference"],
    ),
    "stderr": (_changed({2: entry(2, "git", command={**RAN, "stderr": 2})["entry"]}), ["dangling_reference"]),
    "clip past the texts": (_changed(clips=[CLIP, {**CLIP, "text": 2}]), ["dangling_reference"]),
    "clip larger than all": (_changed(clips=[{**CLIP, "originalBytes": 3}]), ["impossible_clip"]),
    "clip of no address": (_changed(clips=[{**CLIP, "originalId": "84d8"}]), ["malformed_address"]),
    "body of another message": (_changed(messages=SWAPPED), ["address_mismatch"]),
    "tools of another list": (_changed(toolsets=[{**TOOLSET, "id": "1" * 32}]), ["address_mismatch"]),
    "tools in another order": (
        _changed(toolsets=[{"id": address([{"name": "b"}, {"name": "a"}]), "tools": [{"name": "a"}, {"name": "b"}]}]),
        ["address_mismatch"],
    ),
    "address in capitals": (_changed(messages=NO_HEX), ["malformed_address"]),
    "address too long": (_changed(toolsets=[{**TOOLSET, "id": TOOLSET["id"] + "0"}]), ["malformed_address"]),
    "message twice": (_changed(messages=[MESSAGES[0], MESSAGES[0]]), ["repeated_id"]),
    "toolset twice": (_changed(toolsets=[TOOLSET, TOOLSET]), ["repeated_id"]),
    "text twice": (_changed(texts=["a\n", "6789", "a\n"]), ["repeated_text"]),
    "frame before any call": (_changed(entries=[frame(0, 0)["entry"]]), ["orphan"]),
    "result before any call": (_changed(entries=[result(0, "c1")["entry"]]), ["orphan"]),
    "result of a program before any call": (_changed(entries=[result(0, "program:1")["entry"]]), ["orphan"]),
    "entries without an agent": (_changed(agents=[]), ["agent_without_row"]),
    "parent without a row": (_changed(agents=[ROOT["agent"], CHILD]), ["unknown_parent"]),
    "its own parent": (_changed(agents=[ROOT["agent"], OWN]), ["own_ancestor"]),
    "numbers with a gap": (_changed({3: result(4, "c1", 0)["entry"]}), ["seq_gap"]),
    "numbers that begin with one": (_changed(entries=[call(1, 0)["entry"]]), ["seq_gap"]),
    "a number twice": (_changed(entries=TWICE), ["seq_order"]),
    "no number right": (_changed(entries=[call(1, 0)["entry"], call(0, 0)["entry"]]), ["seq_gap", "seq_order"]),
    "no format": (_changed(formatVersion=None), ["malformed_record"]),
    "another format": (_changed(formatVersion=2), ["format"]),
    "format zero": (_changed(formatVersion=0), ["format"]),
    "no seed": (_changed(seed=None), ["malformed_record"]),
    "a pool that is no list": (_changed(messages={}), ["malformed_record"]),
    "an entry of no kind": (_changed(entries=[entry(0, "note")["entry"]]), ["malformed_record"]),
    "cut": (_changed()[:-1], ["malformed_record"]),
    "something behind": (_changed() + b"{}", ["malformed_record"]),
    "gzip cut in half": (gzip.compress(_changed())[: len(gzip.compress(_changed())) // 2], ["malformed_record"]),
    "gzip without its sum": (gzip.compress(_changed())[:-8], ["malformed_record"]),
    "gzip with a wrong sum": (
        gzip.compress(_changed())[:-8] + bytes(4) + gzip.compress(_changed())[-4:],
        ["malformed_record"],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault(tmp_path: Path, fault: str) -> None:
    """Each fault is found, as what it is, and is the only thing found to be wrong."""
    data, kinds = FAULTS[fault]
    found = _verify(tmp_path, data)
    assert not found.ok
    assert _kinds(found) == kinds
    assert all(one.detail for one in found.findings)


def test_a_clip_told_twice(tmp_path: Path) -> None:
    """Two rows that say different things of one text cannot both be right."""
    other = {**CLIP, "originalBytes": 11, "originalId": "0" * 32}
    assert not _verify(tmp_path, _changed(clips=[CLIP, other])).ok


def test_missing_format_is_told_as_such(tmp_path: Path) -> None:
    """A record that states no format and one of another format are refused in different words (section 5.1)."""
    for version, words in ((None, "missing field `formatVersion`"), (2, "session record format 2 is not the format")):
        (finding,) = _verify(tmp_path, _changed(formatVersion=version)).findings
        assert words in finding.detail


REMARKS: dict[str, tuple[bytes, list[str]]] = {
    "short": (_changed(truncation={"reason": "session_killed", "lastSeq": 3}), ["session_killed"]),
    "a member of tomorrow": (_changed(weather="fine"), ["unknown_member"]),
    "clips in another order": (
        _changed(texts=["456789", "6789"], clips=[CLIP, {**CLIP, "text": 0}]),
        ["clip_order"],
    ),
    "no usage": (_changed(entries=[call(0, 0, response={"text": "."})["entry"]]), ["usage_missing"]),
    "a result of no open call": (_changed({3: result(3, "c2", 0)["entry"]}), ["unmatched_result"]),
    "a profile nobody knows": (_changed(agents=[{**ROOT["agent"], "profileId": "guest"}]), ["unknown_profile"]),
}


@pytest.mark.parametrize("remark", REMARKS)
def test_a_remark(tmp_path: Path, remark: str) -> None:
    """What is worth knowing leaves the record right."""
    data, kinds = REMARKS[remark]
    found = _verify(tmp_path, data)
    assert (found.ok, _kinds(found), _kinds(found, "remark")) == (True, [], kinds)


def test_faults_come_first(tmp_path: Path) -> None:
    """Of several findings the faults are told before the remarks."""
    found = _verify(tmp_path, _changed(weather="fine", messages=SWAPPED, agents=[]))
    assert [one.weight for one in found.findings] == ["fault", "fault", "remark"]


@pytest.mark.parametrize("version", ["", "9.9.9", "0.0.1-rc.1", "no version", "\u202e1"])
def test_the_recorders_version_is_no_gate(tmp_path: Path, version: str) -> None:
    """A reader never branches on the version of gg (section 5.1)."""
    found = _verify(tmp_path, _changed(recorder={"ggVersion": version, "commit": version}))
    assert (found.ok, found.findings) == (True, [])


def test_an_image_that_was_taken_out(tmp_path: Path) -> None:
    """The address of a message that lost an image cannot be checked: neither right nor wrong (section 3.4)."""
    reduced = {"role": "user", "images": [{"mediaType": "image/png", "bytes": 3}]}
    sent = {"role": "user", "images": [image("QUJD")]}
    messages = [{"id": address(sent), "body": reduced}, MESSAGES[1]]
    found = _verify(tmp_path, _changed(messages=messages))
    assert (found.ok, found.findings) == (True, [])
    assert found.addresses == {"match": 2, "mismatch": 0, "unverifiable": 1}


JOURNALS: dict[str, tuple[bytes, list[tuple[str, int | None]]]] = {
    "garbage": (b"not a journal\n", [("no_gg_file", None)]),
    "nothing": (b"", [("no_header", None)]),
    "gap": (journal(HEADER, ROOT, message(1)), [("gap", 3)]),
    "dangling": (journal(HEADER, ROOT, message(0), call(0, 0), call(1, 1)), [("dangling_reference", 5)]),
    "second header": (journal(HEADER, ROOT, HEADER), [("second_header", 3)]),
    "format": (journal({**HEADER, "formatVersion": 2}), [("format", 1)]),
    "misplaced clip": (
        journal(HEADER, ROOT, {**text(0, "6789"), "clip": CLIP}, end(0)),
        [("misplaced_clip", 3)],
    ),
    "another body": (
        journal(HEADER, ROOT, {"type": "message", "index": 0, "message": SWAPPED[0]}, end(0)),
        [("address_mismatch", 3)],
    ),
}


@pytest.mark.parametrize("fault", JOURNALS)
def test_a_fault_in_a_journal(tmp_path: Path, fault: str) -> None:
    """The finding names the line, where a line decided it; what refuses the journal leaves nothing else to tell."""
    data, findings = JOURNALS[fault]
    found = _verify(tmp_path, data)
    assert not found.ok
    assert [(one.kind, one.line) for one in found.findings if one.weight == "fault"] == findings


@pytest.mark.parametrize(
    ("data", "kind"), [(A[:-9], "torn_line"), (A.replace(b'"git"', b'"hg"'), "corrupt_line")], ids=["torn", "corrupt"]
)
def test_a_damaged_journal(tmp_path: Path, data: bytes, kind: str) -> None:
    """Damage is a fault of a journal, though what stands before it can be relied on."""
    found = _verify(tmp_path, data)
    assert (found.ok, found.kind, _kinds(found)) == (False, "journal", [kind])
    assert found.truncation is not None
    assert found.truncation.reason == "corrupt_journal"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"a\n", [(0, "whole", True, 2)]),
        (WHOLE.encode(), [(1, "tail", True, 10)]),
        (b"and 6789", [(1, "tail", False, 10)]),
        (b"6789", [(1, "tail", False, 10)]),
        (b"678", []),
        (b"a", []),
        (b"", []),
        (b"\xff\x00", []),
    ],
    ids=["whole", "tail", "tail-of-another", "the-tail-itself", "less", "almost", "empty", "binary"],
)
def test_an_output_in_hand(tmp_path: Path, output: bytes, expected: list[tuple[int, str, bool, int]]) -> None:
    """Which text an output is, or is the whole of; one that only ends like a tail is another (section 5.3)."""
    found = _verify(tmp_path, _changed(), output=output)
    assert found.outputs is not None
    assert [(one.text, one.recorded, one.same, one.original_bytes) for one in found.outputs] == expected


def test_an_empty_output(tmp_path: Path) -> None:
    """An empty text is the whole of an empty output, and of nothing else; an empty tail is no sign of anything."""
    nothing = {"text": 1, "originalBytes": 3, "originalId": "0" * 32}
    data = record(**{**CLEAN, "texts": ["", ""], "clips": [nothing]})
    found = _verify(tmp_path, data, output=b"")
    assert found.outputs is not None
    assert [(one.text, one.recorded) for one in found.outputs] == [(0, "whole")]
    assert _verify(tmp_path, data, output=b"abc").outputs == []


def test_as_json(tmp_path: Path) -> None:
    """All of it is JSON, with the truncation in the format's own words."""
    short = _changed(weather="fine", truncation={"reason": "byte_ceiling", "lastSeq": 3, "bytes": 900})
    found = _verify(tmp_path, short, output=WHOLE.encode()).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["truncation"] == {"reason": "byte_ceiling", "lastSeq": 3, "bytes": 900}
    assert found["outputs"] == [{"text": 1, "recorded": "tail", "same": True, "original_bytes": 10}]
    assert found["clips"] == [{"text": 1, "kept_bytes": 4, "original_bytes": 10, "original_id": CLIP["originalId"]}]
    assert json.dumps(_verify(tmp_path, b"").as_dict())


def test_the_files_below_a_folder(tmp_path: Path) -> None:
    """Records and journals are told by their content, wherever they lie; nothing else is."""
    places = {
        "b/replay.json.gz": gzip.compress(_changed()),
        "a/implementation/.gg/replay.ndjson": A,
        "c/replay.json": _changed(),
        "d/copy.ndjson": A,
        "e/other.json.gz": gzip.compress(_changed()),
        "x/code-analysis.json.gz": gzip.compress(b'{"files":7}'),
        "x/other.ndjson": b'{"type":"user"}\n',
        "x/replay.json": b'{"kite":1}',
        "x/broken.json.gz": b"\x1f\x8b\x08",
        "x/record.txt": _changed(),
    }
    for name, data in places.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "y" / "replay.json").mkdir(parents=True)
    os.mkfifo(tmp_path / "y" / "pipe.ndjson")
    found = [str(path.relative_to(tmp_path)) for path in gg.files(tmp_path)]
    assert found == sorted(name for name in places if not name.startswith("x/"))


def test_progress(tmp_path: Path) -> None:
    """The bytes read are told as they go, up to the file's size."""
    path = tmp_path / "replay.ndjson"
    path.write_bytes(A)
    told: list[int] = []
    gg.verify(path, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == len(A)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """That is no finding but an error of the system."""
    with pytest.raises(FileNotFoundError):
        gg.verify(tmp_path / "replay.json.gz")
    with pytest.raises(IsADirectoryError):
        gg.verify(tmp_path)
