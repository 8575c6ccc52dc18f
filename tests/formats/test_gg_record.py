"""Reading assembled records (specification, sections 2 and 5; tests R1 to R23 of section 8.1 that concern reading)."""

from __future__ import annotations

import gzip
import json
from typing import Any

import msgspec
import pytest

from sessionlab.formats import gg
from sessionlab.tables import Agent, Block, Entry, Extent, Pool, Problem, Row, Session, Source, ToolCall, Usage, Window
from tests.conftest import SAMPLES
from tests.formats.gg_examples import (
    A_RECORD,
    B_RECORD,
    HEADER,
    ROOT,
    A,
    B,
    call,
    end,
    entry,
    journal,
    message,
    of,
    read,
    record,
    result,
    text,
)


def _alike(rows: list[Row], kind: type[Row]) -> list[dict[str, Any]]:
    """The rows of a table as journal and record must both tell them: without place, in the order of their keys."""
    kept = [
        {name: value for name, value in msgspec.structs.asdict(row).items() if name not in {"source_id", "line"}}
        for row in of(rows, kind)
    ]
    return sorted(kept, key=lambda row: [str(row.get(name)) for name in ("pool", "ix", "block", "seq", "ordinal")])


def _last_of_each(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """The last row of each agent, its number included."""
    return {
        row.agent_id: {n: v for n, v in msgspec.structs.asdict(row).items() if n not in {"source_id", "line"}}
        for row in of(rows, Agent)
    }


@pytest.mark.parametrize("bodies", [True, False])
@pytest.mark.parametrize(("log", "snapshot"), [(A, A_RECORD), (B, B_RECORD)], ids=["A", "B"])
def test_journal_and_record_tell_the_same(log: bytes, snapshot: bytes, bodies: bool) -> None:
    """Data model, section 4: equal entries, windows, pools, blocks, calls, usage and last rows of agents."""
    one, other = read(log, bodies=bodies), read(snapshot, bodies=bodies)
    for kind in (Entry, Window, Pool, Block, ToolCall, Usage):
        assert _alike(one, kind) == _alike(other, kind)
    assert of(other, Entry)
    assert _last_of_each(one) == _last_of_each(other)
    assert [s.part for s in (*of(one, Session), *of(other, Session))] == ["log", "snapshot"]
    assert of(one, Source)[0].state == of(other, Source)[0].state
    assert of(one, Source)[0].reason == of(other, Source)[0].reason


def _folded(data: bytes) -> bytes:
    """The record a whole journal folds into (section 4.2), by plain json."""
    document: dict[str, Any] = {"messages": [], "toolsets": [], "texts": [], "clips": [], "entries": []}
    agents: dict[str, Any] = {}
    for line in map(json.loads, data.splitlines()):
        match line.pop("type"):
            case "header":
                document = {**line, **document}
            case "agent":
                agents[line["agent"]["agentId"]] = line["agent"]
            case "seed":
                document["seed"] = line["seed"]
            case "entry":
                document["entries"].append(line["entry"])
            case "end":
                document |= (line.get("truncation") and {"truncation": line["truncation"]}) or {}
            case pool:
                document[f"{pool}s"].append(line[pool])
                document["clips"] += [line["clip"]] if "clip" in line else []
    return json.dumps({**document, "agents": list(agents.values())}, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize("case", ["clean-journal", "several-agents"])
def test_a_journal_and_its_fold_tell_the_same(case: str) -> None:
    """The same equality for journals of several agents, with the fold made here."""
    log = (SAMPLES / "gg" / case / "replay.ndjson").read_bytes()
    one, other = read(log), read(_folded(log))
    for kind in (Entry, Window, Pool, Block, ToolCall, Usage):
        assert _alike(one, kind) == _alike(other, kind)
    assert _last_of_each(one) == _last_of_each(other)
    assert of(one, Source)[0].reason == of(other, Source)[0].reason


def test_gzip_and_plain_json_read_alike() -> None:
    """Section 2.1: both containers are accepted."""
    plain, packed = read(A_RECORD), read(gzip.compress(A_RECORD))
    assert plain[:-1] == packed[:-1]
    assert of(packed, Extent)[0].byte_length == len(A_RECORD)


def test_a_record_with_white_space_reads_alike() -> None:
    """A record written with spaces and line ends tells the same, save the sizes of its bodies."""
    spaced = json.dumps(json.loads(A_RECORD), indent=1, ensure_ascii=False).encode()
    assert gg.sniff(spaced)
    for kind in (Entry, Window, ToolCall, Usage, Block, Problem):
        assert _alike(read(spaced), kind) == _alike(read(A_RECORD), kind)


REFUSED = {
    "R1": (record(formatVersion=2), "session record format 2 is not the format this build reads (1)"),
    "R2": (record(formatVersion=None), "missing field `formatVersion`"),
    "format 0": (record(formatVersion=0), "session record format 0 is not the format this build reads (1)"),
    "the version is looked at first": (
        record(formatVersion=3, entries=[{"type": "weather"}]),
        "session record format 3 is not the format this build reads (1)",
    ),
    "no clips": (record(clips=None), "is no session record: Object missing required field `clips`"),
    "an unknown entry kind": (
        record(entries=[{"agentId": "root", "seq": 0, "type": "weather"}]),
        "is no session record: Invalid value 'weather' - at `$.type`",
    ),
    "a text that is none": (record(texts=[4]), "is no session record: Expected `str` - at `$.texts[0]`"),
    "a version that is none": (record(formatVersion="1"), "is no session record: Expected `int`, got `str`"),
    "a member twice": (
        record()[:-1] + b',"seed":{"prompt":""}}',
        "is no session record: member `seed` given twice - at `$`",
    ),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(data: bytes, sentence: str) -> None:
    """Section 5.1: a foreign version or a malformed document is refused whole, with one problem."""
    assert gg.sniff(data)
    rows = read(data)
    assert [(p.severity, p.detail) for p in of(rows, Problem)] == [("refusal", sentence)]
    assert {type(r).__name__ for r in rows} == {"Problem", "Extent", "Source"}
    assert (of(rows, Source)[0].state, of(rows, Source)[0].reason) == ("refused", sentence)


def test_any_cut_is_one_refusal() -> None:
    """A document is taken whole or not at all, wherever it is cut, and never raises."""
    for cut in range(40, len(A_RECORD), 7):
        rows = read(A_RECORD[:cut])
        assert [p.severity for p in of(rows, Problem)] == ["refusal"]
        assert sum(x.byte_length for x in of(rows, Extent)) == cut


def test_an_empty_record() -> None:
    """R3, R4, R5: identity, routing key and recorder; without a truncation the record is whole."""
    rows = read(record(recorder={"ggVersion": "0.7.0", "commit": "4af242d9"}, routingKey="k" * 24))
    (session,) = of(rows, Session)
    assert (session.native_id, session.session_id) == ("run_1", "gg:run_1")
    assert (session.recorder_version, session.recorder_commit, session.routing_key) == ("0.7.0", "4af242d9", "k" * 24)
    assert of(rows, Source)[0].state == "whole"
    assert of(read(record()), Session)[0].routing_key is None


def test_an_agent_row() -> None:
    """R11, R12: a reviewer's coordinates and a merge's."""
    reviewer = {
        "agentId": "agent_7",
        "profileId": "reviewer",
        "profile": "Reviewer",
        "origin": {"type": "reviewer", "issue": "ISSUE-2", "round": 1, "position": 0},
        "terminalStatus": "done",
    }
    merge = {**reviewer, "agentId": "agent_8", "origin": {"type": "merge", "issue": "ISSUE-2", "ordinal": 6}}
    rows = of(read(record(agents=[reviewer, merge])), Agent)
    assert [(a.agent_id, a.origin, a.issue, a.round, a.position, a.ordinal, a.status) for a in rows] == [
        ("agent_7", "reviewer", "ISSUE-2", 1, 0, None, "done"),
        ("agent_8", "merge", "ISSUE-2", None, None, 6, "done"),
    ]


def test_a_truncation_is_told() -> None:
    """R13: a record that says it is short is short for that reason."""
    rows = read(record(truncation={"reason": "session_killed", "lastSeq": 41}))
    assert (of(rows, Source)[0].state, of(rows, Source)[0].reason) == ("short", "session_killed")
    assert json.loads(of(rows, Session)[0].detail or "")["truncation"] == {"reason": "session_killed", "lastSeq": 41}


def test_every_other_kind_of_entry() -> None:
    """R15, R16: a vision refusal with a status, a frame, commands in all three folders, a probe, a clock."""
    request = {"role": "agent", "shape": "complete", "messages": [0]}
    error = {"kind": "vision_unsupported", "message": "no images", "status": 400, "modelId": "gale/tern-1"}
    item = {"message": 0, "slot": "system", "source": "system", "retention": "pinned", "turn": 0}

    def command(cwd: dict[str, str], exit_code: int) -> dict[str, Any]:
        return {"command": "make", "cwd": cwd, "exitCode": exit_code, "stdout": 0, "stderr": 1}

    lines = [
        entry(0, "model_error", request=request, error=error),
        entry(1, "prompt_frame", items=[item]),
        entry(2, "shell", origin="hook", command=command({"type": "relative", "path": "web"}, 0)),
        entry(3, "git", command=command({"type": "workspace"}, 1)),
        entry(4, "shell", origin="tool", command=command({"type": "absolute", "path": "/usr/lib"}, -1)),
        entry(5, "cancel_probe", canceled=True),
        entry(6, "clock", elapsedMs=1000, remainingMs=500),
    ]
    data = record(
        agents=[ROOT["agent"]],
        messages=[message(0)["message"]],
        texts=["out", "err"],
        entries=[line["entry"] for line in lines],
    )
    found = of(read(data), Entry)
    assert [(e.kind, e.native_kind, e.status) for e in found] == [
        ("model_error", "model_error", "failed"),
        ("window", "prompt_frame", None),
        ("command", "shell", "ok"),
        ("command", "git", "failed"),
        ("command", "shell", "failed"),
        ("probe", "cancel_probe", None),
        ("clock", "clock", None),
    ]
    details = [json.loads(e.detail or "{}") for e in found]
    assert (details[0]["status"], details[0]["modelId"]) == (400, "gale/tern-1")
    assert [d.get("cwd") for d in details[2:5]] == ["web", ".", "/usr/lib"]
    assert (details[5], details[6]) == ({"canceled": True}, {"remaining_ms": 500})
    assert [e.exit_code for e in found[2:5]] == [0, 1, -1]
    assert found[6].elapsed_ms == 1000


def test_clips_are_found_by_their_text() -> None:
    """R22, R23 and section 11: the row whose text it is, whatever the order of the table."""
    clips = [
        {"text": 1, "originalBytes": 4096, "originalId": "1" * 32},
        {"text": 0, "originalBytes": 1048576, "originalId": "2" * 32},
        {"text": 9, "originalBytes": 5, "originalId": "3" * 32},
    ]
    rows = read(record(texts=["whole", "tail", "also whole"], clips=clips))
    assert [(p.ix, p.original_bytes) for p in of(rows, Pool)] == [(0, 1048576), (1, 4096), (2, None)]
    assert [p.kind for p in of(rows, Problem)] == ["clip_order", "dangling_reference"]


def test_references_past_a_pool_are_reported() -> None:
    """Section 5.2: a record assembled by others is read; the reference is left out, the list kept in the detail."""
    lines = [call(0, 0, 7), result(1, "c", 3)]
    data = record(agents=[ROOT["agent"]], messages=[message(0)["message"]], entries=[line["entry"] for line in lines])
    rows = read(data)
    problems = [p for p in of(rows, Problem) if p.kind == "dangling_reference"]
    assert [(p.seq, p.severity, p.detail) for p in problems] == [
        (0, "note", "has a dangling reference: the entry at seq 0 names message 7, but only 1 have been read"),
        (1, "note", "has a dangling reference: the entry at seq 1 names text 3, but only 0 have been read"),
    ]
    assert [w.message_ix for w in of(rows, Window)] == [0]
    assert json.loads(of(rows, Entry)[0].detail or "")["recorded_messages"] == [0, 7]
    assert [e.output_ix for e in of(rows, Entry)] == [0, None]


def test_two_images_are_two_messages() -> None:
    """R8: equal stored bodies under different ids are two pool rows, and neither id is called wrong."""
    body = {"content": [{"bytes": 3, "mediaType": "image/png"}], "role": "user"}
    ids = ("d1d1f1085887323d5664f90539e9269c", "3e041859619054e50603fbe1b12cf6b9")
    rows = read(record(messages=[{"id": one, "body": body} for one in ids]))
    assert [(p.ix, p.content_id) for p in of(rows, Pool)] == list(enumerate(ids))
    assert [(b.kind, b.detail) for b in of(rows, Block)] == [("image", '{"bytes":3,"mediaType":"image/png"}')] * 2
    assert of(rows, Problem) == []


@pytest.mark.parametrize("data", [A, A_RECORD, B, B_RECORD], ids=["A", "A record", "B", "B record"])
def test_sniffed(data: bytes) -> None:
    """Journals and records are known by their content."""
    assert gg.sniff(data)
    assert gg.sniff(data[:300])


OURS = {
    "garbage before the header": journal(b"oops", HEADER),
    "no header": journal(ROOT, call(0)),
    "only an end line": journal(end(0)),
    "a pool line": journal(text(0, "x")),
    "a very long header": journal({**HEADER, "capabilitySet": {"note": "x" * 70_000}})[:65_536],
}
OTHERS = {
    "empty": b"",
    "text": b"not a journal\n",
    "a list": b"[1,2]\n",
    "a message of another system": b'{"type":"message","id":"x","message":{"role":"user","content":[]}}\n',
    "an entry of another system": b'{"type":"entry","entry":{"id":4}}\n',
    "a quoted record": json.dumps({"type": "user", "text": A_RECORD.decode()}).encode(),
    "a header of another system": b'{"record":"header","version":1}\n',
}


@pytest.mark.parametrize("data", OURS.values(), ids=OURS.keys())
def test_damaged_files_are_still_known(data: bytes) -> None:
    """A damaged or headerless journal is claimed, so that it is refused in gg's words."""
    assert gg.sniff(data)


@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS.keys())
def test_files_of_others_are_not_claimed(data: bytes) -> None:
    """Nothing is claimed that merely looks alike."""
    assert not gg.sniff(data)


@pytest.mark.parametrize(
    "seed", [{"prompt": "p", "modelWindows": {"m": 2**64}}, {"prompt": "p", "modelWindows": {"m": -1}}]
)
def test_numbers_of_the_document_itself(seed: dict[str, Any]) -> None:
    """Section 0.3: integers outside their type make a record malformed too, outside its lists."""
    assert of(read(record(seed=seed)), Source)[0].state == "refused"
    assert of(read(record(seed={"prompt": "p", "modelWindows": {"m": 2**64 - 1}})), Source)[0].state == "whole"


def test_a_long_capability_number() -> None:
    """The same for a number that overflows inside the capability set."""
    data = record(capabilitySet={"note": "x" * 400, "n": 0}).replace(b'"n":0', b'"n":1' + b"0" * 400)
    assert of(read(data), Source)[0].state == "refused"
