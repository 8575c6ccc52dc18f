"""The record contract, R1 to R23 of section 8.1: records read, pools filled, and members as they are recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sessionlab
from sessionlab.errors import Refused
from sessionlab.formats.gg.addresses import fingerprint_exact, fingerprint_json
from sessionlab.systems import gg
from sessionlab.systems.gg.pooling import Pools, clip
from sessionlab.tables import Pool, Problem, Session
from tests.formats.gg_examples import HEADER, ROOT, dump, end, entry, journal, message, of, read, record, text
from tests.systems.gg.journals import (
    MEMBERS,
    address,
    fold,
    image,
    lines_of,
    of_type,
    recorded,
    root_of,
    writer,
    written,
)

SYSTEM = {"role": "system", "content": "you are gg"}
USER = {"role": "user", "content": "build it"}
REVIEWER = {
    "agentId": "agent_7",
    "profileId": "reviewer",
    "profile": "Reviewer",
    "origin": {"type": "reviewer", "issue": "ISSUE-2", "round": 1, "position": 0},
    "terminalStatus": "done",
}


def _refused(folder: Path, data: bytes) -> str:
    """Why a record is refused, in the words of the loader; verification says the same."""
    path = folder / "replay.json"
    path.write_bytes(data)
    with pytest.raises(Refused) as caught:
        sessionlab.load(path, strict=True)
    told = gg.verify(path)
    assert not told.ok
    assert caught.value.detail in json.dumps(told.as_dict(), ensure_ascii=False)
    return caught.value.detail


def test_r01_a_record_of_format_2(tmp_path: Path) -> None:
    """R1: an otherwise empty record of format 2 is not read."""
    detail = _refused(tmp_path, record(formatVersion=2))
    assert "is not the format this build reads" in detail
    assert detail == "session record format 2 is not the format this build reads (1)"


def test_r02_a_record_without_a_format(tmp_path: Path) -> None:
    """R2: the same without a version is not read, for want of that member."""
    assert "missing field `formatVersion`" in _refused(tmp_path, record(formatVersion=None))


def test_r03_a_new_empty_record(tmp_path: Path) -> None:
    """R3: the record of a session in which nothing happened has its version and id, and no truncation."""
    recorder = writer(tmp_path, session_id="run_1", capability_set={}, seed=gg.Seed(prompt=""))
    recorder.finish()
    document = fold(tmp_path, written(tmp_path)).document
    assert document == json.loads(record(recorder={"ggVersion": "0.7.0"}, capabilitySet={}))
    assert (document["formatVersion"], document["sessionId"]) == (1, "run_1")
    assert list(document) == [name for name in MEMBERS if name not in {"routingKey", "truncation"}]


@pytest.mark.parametrize("key", ["k3v9q1x7m2c5t8w0b4n6z1aa", None])
def test_r04_the_routing_key(tmp_path: Path, key: str | None) -> None:
    """R4: a routing key is written beside the session id and read back; none is not written."""
    writer(tmp_path, routing_key=key).finish()
    folded = fold(tmp_path, written(tmp_path))
    names = list(folded.document)
    assert names[names.index("sessionId") + 1] == ("routingKey" if key else "capabilitySet")
    assert folded.document.get("routingKey") == key
    (session,) = of(read(folded.raw), Session)
    assert session.routing_key == key


def test_r05_the_recorder(tmp_path: Path) -> None:
    """R5: version and commit of the recorder survive."""
    writer(tmp_path, recorder=gg.Recorder(gg_version="0.7.0", commit="4af242d9")).finish()
    folded = fold(tmp_path, written(tmp_path))
    assert folded.document["recorder"] == {"ggVersion": "0.7.0", "commit": "4af242d9"}
    (session,) = of(read(folded.raw), Session)
    assert (session.recorder_version, session.recorder_commit) == ("0.7.0", "4af242d9")


def test_r06_a_message_is_pooled_once() -> None:
    """R6: system, user, and the system message again: 0, 1, 0, and two messages in the pool."""
    pools = Pools()
    again = {"content": "you are gg", "role": "system"}
    assert [pools.message(body) for body in (SYSTEM, USER, again)] == [0, 1, 0]
    assert pools.counts == (2, 0, 0)


def test_r07_a_toolset_is_pooled_once() -> None:
    """R7: one toolset offered twice is one entry of its pool."""
    pools = Pools()
    assert [pools.toolset([{"name": "shell"}, {"name": "read_file"}]) for _ in range(2)] == [0, 0]
    assert pools.counts == (0, 1, 0)


def test_r08_two_images_are_two_messages() -> None:
    """R8: messages that differ in an image alone have ids of their own, and equal bodies without its bytes."""
    pools = Pools()
    sent = [{"role": "user", "content": [image(data)]} for data in ("QUJD", "WFla")]
    assert [pools.message(body) for body in sent] == [0, 1]
    stored = [json.loads(line)["message"] for line in pools.take_lines()]
    assert [m["id"] for m in stored] == ["d1d1f1085887323d5664f90539e9269c", "3e041859619054e50603fbe1b12cf6b9"]
    assert [m["body"] for m in stored] == [
        {"content": [{"bytes": 3, "mediaType": "image/png"}], "role": "user"} for _ in range(2)
    ]


def test_r09_a_text_is_pooled_once() -> None:
    """R9: `ok`, `ok` and `nope` are two texts."""
    pools = Pools()
    assert [pools.text(one) for one in ("ok\n", "ok\n", "nope\n")] == [0, 0, 1]
    assert [json.loads(line)["text"] for line in pools.take_lines()] == ["ok\n", "nope\n"]
    assert pools.counts == (0, 0, 2)


def test_r10_the_two_shapes_of_a_request(tmp_path: Path) -> None:
    """R10: the same messages and tools as either shape: the shapes differ, the indices do not."""

    def play(root: Any) -> None:
        for shape in ("complete", "complete_requiring"):
            root.model_io([SYSTEM, USER], {"text": "on it"}, tools=[{"name": "shell"}], shape=shape)

    free, forced = (line["request"] for line in of_type(recorded(tmp_path, play), "entry"))
    assert (free["shape"], forced["shape"]) == ("complete", "complete_requiring")
    assert free["messages"] == forced["messages"] == [0, 1]
    assert free["toolset"] == forced["toolset"] == 0


def _born_and_ended(folder: Path, agent: dict[str, Any], origin: Any) -> list[dict[str, Any]]:
    """The rows of one agent that was born and is done, as its record has them; its journal has two."""
    recorder = writer(folder)
    born = recorder.agent(agent["agentId"], profile_id=agent["profileId"], profile=agent["profile"], origin=origin)
    born.end("done")
    recorder.finish()
    assert len(of_type(lines_of(written(folder)), "agent")) == 2
    rows: list[dict[str, Any]] = fold(folder, written(folder)).document["agents"]
    return rows


def test_r11_a_reviewer(tmp_path: Path) -> None:
    """R11: the row of a reviewer has the members of section 1.4 and survives."""
    origin = gg.Reviewer(issue="ISSUE-2", round=1, position=0)
    rows = _born_and_ended(tmp_path, REVIEWER, origin)
    assert dump(rows) == dump([REVIEWER])


def test_r12_a_merge(tmp_path: Path) -> None:
    """R12: the origin of an agent that merges, member for member."""
    rows = _born_and_ended(tmp_path, REVIEWER, gg.Merge(issue="ISSUE-2", ordinal=0))
    assert dump(rows[0]["origin"]) == b'{"type":"merge","issue":"ISSUE-2","ordinal":0}'


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (gg.Root(), '{"type":"root"}'),
        (gg.Spawn(parent="root", ordinal=3), '{"type":"spawn","parent":"root","ordinal":3}'),
        (
            gg.Succession(predecessor="agent-0", ordinal=1),
            '{"type":"succession","predecessor":"agent-0","ordinal":1}',
        ),
        (gg.IssueAttempt(issue="KITE-3", attempt=2), '{"type":"issue_attempt","issue":"KITE-3","attempt":2}'),
    ],
    ids=["root", "spawn", "succession", "issue_attempt"],
)
def test_r12_the_other_origins(tmp_path: Path, origin: Any, expected: str) -> None:
    """R12 for the four other origins of section 1.4: the tag comes first, then the members."""
    assert dump(_born_and_ended(tmp_path, REVIEWER, origin)[0]["origin"]).decode() == expected


def test_r13_a_truncation(tmp_path: Path) -> None:
    """R13: a killed session whose last entry is 41 says so, without bytes."""
    folded = fold(tmp_path, journal(HEADER, entry(41, "cancel_probe", canceled=False)))
    assert folded.raw.endswith(b',"truncation":{"reason":"session_killed","lastSeq":41}}')
    assert folded.told.truncation == gg.Truncation(reason="session_killed", last_seq=41)


def test_r14_a_seed(tmp_path: Path) -> None:
    """R14: windows and modalities under the key `primary` survive."""
    seed = gg.Seed(
        prompt="p", model_windows={"primary": 200000}, model_modalities={"primary": gg.Modalities(vision=False)}
    )
    writer(tmp_path, seed=seed).finish()
    document = fold(tmp_path, written(tmp_path)).document
    assert dump(document["seed"]) == (
        b'{"prompt":"p","modelWindows":{"primary":200000},"modelModalities":{"primary":{"vision":false}}}'
    )


REFUSED = gg.ModelFailure(kind="vision_unsupported", message="no images", status=400, model_id="gale/tern-1")
ITEM = gg.WindowItem(message=SYSTEM, slot="system", source="system", retention="pinned", turn=0)
ENTRIES = {
    "model_error": (
        lambda root: root.model_error([SYSTEM], REFUSED),
        (
            '"model_error","request":{"role":"agent","shape":"complete","messages":[0]},"error":'
            '{"kind":"vision_unsupported","message":"no images","status":400,"modelId":"gale/tern-1"}'
        ),
    ),
    "prompt_frame": (
        lambda root: root.prompt_frame([ITEM]),
        '"prompt_frame","items":[{"message":0,"slot":"system","source":"system","retention":"pinned","turn":0}]',
    ),
    "shell": (
        lambda root: root.shell("make", origin="hook", cwd=gg.Relative("web"), exit_code=0, stdout="o", stderr="e"),
        (
            '"shell","origin":"hook","command":{"command":"make","cwd":{"type":"relative","path":"web"},'
            '"exitCode":0,"stdout":0,"stderr":1}'
        ),
    ),
    "git": (
        lambda root: root.git("git gc", cwd=gg.Workspace(), exit_code=1, stdout="o", stderr="e"),
        '"git","command":{"command":"git gc","cwd":{"type":"workspace"},"exitCode":1,"stdout":0,"stderr":1}',
    ),
    "cancel_probe": (lambda root: root.cancel_probe(canceled=True), '"cancel_probe","canceled":true'),
    "clock": (lambda root: root.clock(elapsed_ms=1000, remaining_ms=500), '"clock","elapsedMs":1000,"remainingMs":500'),
}


@pytest.mark.parametrize(("make", "payload"), ENTRIES.values(), ids=ENTRIES.keys())
def test_r15_entries(tmp_path: Path, make: Any, payload: str) -> None:
    """R15: tag, agent and seq stand inline on one object, in order, and record and journal have the same bytes."""
    recorder = writer(tmp_path)
    root = root_of(recorder)
    for _ in range(3):
        root.cancel_probe(canceled=False)
    make(root)
    recorder.finish()
    expected = f'{{"agentId":"root","seq":3,"type":{payload}}}'.encode()
    assert b'{"type":"entry","entry":' + expected + b"}" in written(tmp_path).split(b"\n")
    assert b"," + expected + b"]" in fold(tmp_path, written(tmp_path)).raw


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        (gg.Workspace(), '{"type":"workspace"}'),
        (gg.Relative("web"), '{"type":"relative","path":"web"}'),
        (gg.Absolute("/usr/lib"), '{"type":"absolute","path":"/usr/lib"}'),
    ],
    ids=["workspace", "relative", "absolute"],
)
def test_r16_where_a_command_ran(tmp_path: Path, cwd: Any, expected: str) -> None:
    """R16: the three places, member for member."""
    (line,) = of_type(recorded(tmp_path, lambda root: root.shell("ls", cwd=cwd)), "entry")
    assert dump(line["command"]["cwd"]).decode() == expected


def test_r17_the_address_of_bytes() -> None:
    """R17: the address of `abc`, and the same for a text of which nothing but the address is kept."""
    assert fingerprint_exact(b"abc") == "ba7816bf8f01cfea414140de5dae2223"
    cut = clip("abc", 0)
    assert cut is not None
    assert (cut.tail, cut.original_id) == ("", "ba7816bf8f01cfea414140de5dae2223")


def test_r18_the_order_of_keys() -> None:
    """R18: two spellings of one object have one address, and one place in the pool."""
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert fingerprint_json(one) == fingerprint_json(other) == "43258cff783fe7036d8a43033f830adf"
    pools = Pools()
    assert [pools.message(one), pools.message(other)] == [0, 0]


@pytest.mark.parametrize(
    ("whole", "ceiling", "tail"),
    [
        ("short", 16, None),
        ("0123456789", 10, None),
        ("0123456789", 4, "6789"),
        ("ééééé", 5, "éé"),
        ("aé", 1, ""),
        ("€", 2, ""),
        ("0123456789", None, None),
    ],
)
def test_r19_clipping(whole: str, ceiling: int | None, tail: str | None) -> None:
    """R19 and section 3.6: the kept tail ends the text, fits the ceiling in bytes, and names the whole."""
    cut = clip(whole, ceiling)
    expected = None if tail is None else (tail, len(whole.encode()), address(whole))
    assert (cut and (cut.tail, cut.original_bytes, cut.original_id)) == expected


def test_r20_two_texts_of_one_tail() -> None:
    """R20: different texts of one kept tail are two entries, each with its own clip row."""
    pools = Pools()
    wholes = ["a" + 64 * "z", "bb" + 64 * "z"]
    assert [pools.text(whole, 64) for whole in wholes] == [0, 1]
    lines = [json.loads(line) for line in pools.take_lines()]
    assert [line["text"] for line in lines] == [64 * "z", 64 * "z"]
    assert [line["clip"] for line in lines] == [
        {"text": i, "originalBytes": 65 + i, "originalId": address(whole)} for i, whole in enumerate(wholes)
    ]


def test_r21_a_text_without_a_ceiling() -> None:
    """R21: a text pooled twice without a ceiling is one entry without a clip row."""
    pools = Pools()
    assert [pools.text("build output"), pools.text("build output")] == [0, 0]
    assert [json.loads(line) for line in pools.take_lines()] == [{"type": "text", "index": 0, "text": "build output"}]


def test_r22_the_clip_of_a_text(tmp_path: Path) -> None:
    """R22: of three texts the second is a tail, and asking past the pool finds nothing and fails nowhere."""
    row = {"text": 1, "originalBytes": 4096, "originalId": "1" * 32}
    lines = (HEADER, text(0, "whole"), {**text(1, "tail"), "clip": row}, text(2, "also whole"), end(0))
    rows = read(fold(tmp_path, journal(*lines)).raw)
    sizes = {one.ix: one.original_bytes for one in of(rows, Pool) if one.pool == "text"}
    assert [sizes.get(i) for i in (0, 1, 2, 9)] == [None, 4096, None, None]
    assert of(rows, Problem) == []


def test_r23_a_clip_row_survives(tmp_path: Path) -> None:
    """R23: the clip table of a record is the journal's."""
    row = {"text": 0, "originalBytes": 1048576, "originalId": "2" * 32}
    folded = fold(tmp_path, journal(HEADER, ROOT, message(0), {**text(0, "tail"), "clip": row}, end(0)))
    assert (folded.document["texts"], folded.document["clips"]) == (["tail"], [row])
    assert [one.original_bytes for one in of(read(folded.raw), Pool) if one.pool == "text"] == [1048576]
