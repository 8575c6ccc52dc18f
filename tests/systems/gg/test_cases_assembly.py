"""Assembly, A1 to A17, A22 and A23 of section 8.3: journals made line by line, and the records they fold into."""

from __future__ import annotations

import base64
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from sessionlab.systems import gg
from sessionlab.tables import Pool
from tests.formats.gg_examples import HEADER, ROOT, agent, call, dump, end, entry, journal, message, of, read, text
from tests.systems.gg.journals import (
    CAPABILITIES,
    JOURNAL,
    MEMBERS,
    RECORD,
    SHELL,
    S,
    address,
    fold,
    members,
    refusal,
    root_of,
    unpacked,
    writer,
)

SPAWN = agent("agent-0", {"type": "spawn", "parent": "root", "ordinal": 0})


def _seed(*, vision: bool) -> dict[str, Any]:
    return {"type": "seed", "seed": {"prompt": "p", "modelModalities": {"gale/tern-1": {"vision": vision}}}}


def _command(kind: str, seq: int, stdout: int, stderr: int, exit_code: int = 0, **more: Any) -> dict[str, Any]:
    told = {"command": "make", "cwd": {"type": "workspace"}, "exitCode": exit_code, "stdout": stdout, "stderr": stderr}
    return entry(seq, kind, command=told, **more)


def test_a01_a_whole_session(tmp_path: Path) -> None:
    """A1: the base session and its end fold to a whole record that has everything the lines said."""
    folded = fold(tmp_path, journal(*S, end(2)))
    assert (folded.told.entries, folded.told.truncation) == (2, None)
    document = folded.document
    assert (document["formatVersion"], document["sessionId"]) == (1, "run-1")
    assert document["capabilitySet"] == CAPABILITIES
    assert document["recorder"] == {"ggVersion": "0.7.0"}
    assert document["messages"] == [
        {"id": "fdc6eac1863f89f7133301ec40380688", "body": {"content": "you are gg", "role": "system"}},
        {"id": "6afe456ba54b94fc66331cc5fd285585", "body": {"content": "build it", "role": "user"}},
    ]
    assert document["toolsets"] == [{"id": "ebc66a408a30eeaa12a650a48b6c8f68", "tools": SHELL}]
    assert (document["texts"], document["clips"]) == (["ok"], [])
    assert [made["seq"] for made in document["entries"]] == [0, 1]
    assert document["entries"][0]["request"] == {
        "role": "agent",
        "shape": "complete",
        "messages": [0, 1],
        "toolset": 0,
    }
    assert document["entries"] == [line["entry"] for line in S if line["type"] == "entry"]


def test_a02_the_members_of_a_record(tmp_path: Path) -> None:
    """A2: the document has the members of section 2.2 and no others, in that order, without white space."""
    folded = fold(tmp_path, journal(*S, end(2)))
    assert list(folded.document) == [name for name in MEMBERS if name not in {"routingKey", "truncation"}]
    assert folded.raw == dump(folded.document)
    short = fold(tmp_path, journal({**HEADER, "routingKey": "k" * 24}, *S[1:]))
    assert list(short.document) == MEMBERS
    assert short.raw == dump(short.document)


def _filler(draw: random.Random, size: int) -> str:
    return base64.b64encode(draw.randbytes(size * 3 // 4)).decode()


def test_a03_a_growing_conversation_is_small(tmp_path: Path) -> None:
    """A3: thirty turns take less than 1 MiB, a tenth of what was sent; each body is in the record once."""
    draw = random.Random(30)
    tools = [{"name": "shell", "description": _filler(draw, 20_000), "parameters": {"type": "object"}}]
    sent: list[dict[str, Any]] = [{"role": "system", "content": _filler(draw, 12_000)}]
    recorder = writer(tmp_path)
    root = root_of(recorder)
    unpooled = 0
    for _ in range(30):
        sent.append({"role": "user", "content": _filler(draw, 3_000)})
        reply = _filler(draw, 1_500)
        root.model_io(sent, {"text": reply, "finishReason": "stop"}, tools=tools)
        unpooled += len(dump({"messages": sent, "tools": tools, "reply": reply}))
        sent.append({"role": "assistant", "content": reply})
    assert recorder.finish().entries == 30
    folded = fold(tmp_path, (tmp_path / JOURNAL).read_bytes())
    assert unpooled > 2_800_000
    assert folded.told.compressed_bytes < 1024 * 1024
    assert folded.told.compressed_bytes * 10 <= unpooled
    assert (len(folded.document["messages"]), len(folded.document["toolsets"])) == (60, 1)
    assert [m["body"] for m in folded.document["messages"]] == sent[:-1]
    assert folded.document["entries"][-1]["request"]["messages"] == list(range(60))


def test_a04_a_truncation_as_reported(tmp_path: Path) -> None:
    """A4: what the end line reports is the truncation, unchanged, in the result and in the record."""
    told = {"reason": "byte_ceiling", "lastSeq": 1, "bytes": 4096}
    folded = fold(tmp_path, journal(*S, end(2, **told)))
    assert folded.told.truncation == gg.Truncation(reason="byte_ceiling", last_seq=1, bytes=4096)
    assert folded.raw.endswith(b',"truncation":' + dump(told) + b"}")


def test_a05_seed_and_agents(tmp_path: Path) -> None:
    """A5: all that the seed says survives; agents stand in the order they came into being, with their origins."""
    seed = {
        "baselineCommit": "abc123",
        "prompt": "p",
        "modelWindows": {"gale/tern-1": 128000},
        "modelModalities": {"gale/tern-1": {"vision": True}},
    }
    document = fold(tmp_path, journal(HEADER, {"type": "seed", "seed": seed}, ROOT, SPAWN, end(0))).document
    assert document["seed"] == seed
    assert document["agents"] == [ROOT["agent"], SPAWN["agent"]]
    assert document["agents"][1]["origin"] == {"type": "spawn", "parent": "root", "ordinal": 0}


def test_a06_an_agent_without_entries(tmp_path: Path) -> None:
    """A6: both rows are there although only root has entries; without an end the session was killed."""
    document = fold(tmp_path, journal(HEADER, ROOT, SPAWN, *S[1:])).document
    assert {made["agentId"] for made in document["entries"]} == {"root"}
    assert [row["agentId"] for row in document["agents"]] == ["root", "agent-0"]
    assert document["truncation"]["reason"] == "session_killed"


def test_a07_an_agent_told_again(tmp_path: Path) -> None:
    """A7: root told again stays in its place and is done; the other has no status."""
    done = {"type": "agent", "agent": {**ROOT["agent"], "terminalStatus": "done"}}
    document = fold(tmp_path, journal(HEADER, ROOT, SPAWN, done, end(0))).document
    assert document["agents"] == [done["agent"], SPAWN["agent"]]


def test_a08_a_seed_told_again(tmp_path: Path) -> None:
    """A8: the last seed stands whole; the prompt is the same."""
    lines = (HEADER, _seed(vision=True), _seed(vision=False), end(0))
    assert fold(tmp_path, journal(*lines)).document["seed"] == _seed(vision=False)["seed"]


def test_a08_a_seed_is_replaced_not_merged(tmp_path: Path) -> None:
    """A8 and section 1.3: what the last seed does not say is gone."""
    lines = (HEADER, _seed(vision=True), {"type": "seed", "seed": {"prompt": "q"}}, end(0))
    assert fold(tmp_path, journal(*lines)).document["seed"] == {"prompt": "q"}


def test_a09_a_killed_session(tmp_path: Path) -> None:
    """A9: without an end line the session was killed at its last entry; bytes are unknown."""
    folded = fold(tmp_path, journal(*S))
    assert members(folded.told.truncation) == {"reason": "session_killed", "lastSeq": 1}
    assert folded.told.entries == 2


def test_a10_a_torn_line(tmp_path: Path) -> None:
    """A10: a torn entry of seq 2 leaves two entries, and the last of them is the last."""
    folded = fold(tmp_path, journal(*S) + b'{"type":"entry","entry":{"agentId":"root","seq":2,"type":"clo')
    assert members(folded.told.truncation) == {"reason": "corrupt_journal", "lastSeq": 1}
    assert folded.told.entries == 2


def test_a11_a_count_that_disagrees(tmp_path: Path) -> None:
    """A11: an end that counts seven of two entries is damage; there are no bytes to report."""
    folded = fold(tmp_path, journal(*S, end(7)))
    assert members(folded.told.truncation) == {"reason": "corrupt_journal", "lastSeq": 1}


def test_a12_a_gap(tmp_path: Path) -> None:
    """A12: the second message under index 2 is a gap, and there is no record."""
    refused = refusal(tmp_path, journal(*S[:2], {**S[2], "index": 2}, *S[3:], end(2)))
    assert "gap in its message pool" in str(refused)
    assert (refused.kind, refused.line) == ("gap", 3)


def test_a13_a_dangling_reference(tmp_path: Path) -> None:
    """A13: a command whose texts are not there dangles, and there is no record."""
    refused = refusal(tmp_path, journal(HEADER, _command("git", 0, 0, 1), end(1)))
    assert "dangling reference" in str(refused)
    assert refused.detail == "has a dangling reference: the entry at seq 0 names text 0, but only 0 have been read"


def test_a14_another_format(tmp_path: Path) -> None:
    """A14: a journal of format 2 is not assembled."""
    refused = refusal(tmp_path, journal({**HEADER, "formatVersion": 2}))
    assert "does not assemble" in str(refused)
    assert refused.kind == "format"


def test_a15_only_an_end(tmp_path: Path) -> None:
    """A15: an end line alone has no header."""
    refused = refusal(tmp_path, journal(end(0)))
    assert "no header line" in str(refused)
    assert refused.kind == "no_header"


def test_a16_the_scratch_directory(tmp_path: Path) -> None:
    """A16: the scratch directory lies beside the output under its prefix, and is gone after use."""
    record = tmp_path / "run" / RECORD
    record.parent.mkdir()
    with gg.scratch_beside(record) as scratch:
        assert scratch.is_dir()
        assert scratch.parent == record.parent
        assert scratch.name.startswith(".replay-assembly-")
        (scratch / "messages").write_bytes(b"{}")
    assert list(record.parent.iterdir()) == []


def test_a16_the_scratch_directory_after_a_failure(tmp_path: Path) -> None:
    """A16: it is gone whatever happens within."""
    record = tmp_path / RECORD

    def fail() -> None:
        with gg.scratch_beside(record) as scratch:
            (scratch / "entries").write_bytes(b"{}")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a17_nothing_but_the_record(tmp_path: Path) -> None:
    """A17: the output's directory, made on the way, holds exactly the record; an older record is replaced."""
    log, record = tmp_path / "replay.ndjson", tmp_path / "a" / "b" / RECORD
    log.write_bytes(journal(*S))
    gg.assemble(log, record)
    log.write_bytes(journal(*S, end(2)))
    gg.assemble(log, record)
    assert [path.name for path in record.parent.iterdir()] == [RECORD]
    assert "truncation" not in json.loads(unpacked(record))


def test_a17_equal_journals_give_equal_files(tmp_path: Path) -> None:
    """A17 and section 2.1: the compressed bytes depend on the journal alone."""
    log = tmp_path / "replay.ndjson"
    log.write_bytes(journal(*S, end(2)))
    packed = []
    for name in ("one", "two"):
        gg.assemble(log, tmp_path / name / RECORD)
        packed.append((tmp_path / name / RECORD).read_bytes())
    assert packed[0] == packed[1]
    assert packed[0][4:8] == b"\0\0\0\0"
    assert gzip.decompress(packed[0])[:1] == b"{"


def test_a22_an_empty_text(tmp_path: Path) -> None:
    """A22: a command whose stderr was empty names the pooled empty string."""
    lines = (HEADER, text(0, "hello"), text(1, ""), _command("shell", 0, 0, 1, origin="tool"), end(1))
    folded = fold(tmp_path, journal(*lines))
    assert folded.told.entries == 1
    assert folded.document["texts"] == ["hello", ""]


def test_a23_a_clipped_stream(tmp_path: Path) -> None:
    """A23: a clipped text has its row, which says how long it was; the whole one beside it has none."""
    whole = 128 * "x"
    clip = {"text": 1, "originalBytes": 128, "originalId": address(whole)}
    lines = (
        HEADER,
        text(0, "a short outcome"),
        {**text(1, whole[-32:]), "clip": clip},
        _command("shell", 0, 1, 0, exit_code=1, origin="hook"),
        end(1),
    )
    folded = fold(tmp_path, journal(*lines))
    assert folded.document["texts"] == ["a short outcome", 32 * "x"]
    assert folded.document["clips"] == [clip]
    sizes = {row.ix: row.original_bytes for row in of(read(folded.raw), Pool) if row.pool == "text"}
    assert sizes == {0: None, 1: 128}


def test_the_other_pools_may_be_ahead(tmp_path: Path) -> None:
    """Section 4.3: a reference is good once its body was read, whichever lines stand between."""
    folded = fold(tmp_path, journal(HEADER, message(0), text(0, "x"), message(1), call(0, 1, 0), end(1)))
    assert folded.document["entries"][0]["request"]["messages"] == [1, 0]
