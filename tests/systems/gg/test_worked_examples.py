"""The two worked examples of section 9: journals that fold to the very bytes given there, and one recorded anew."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

from sessionlab.formats import gg as gg_format
from sessionlab.systems import gg
from tests.formats.gg_examples import A_RECORD, B_RECORD, A, B
from tests.systems.gg.journals import MEMBERS, fold, lines_of, members, written

A_LINES = A.split(b"\n")[:-1]
A_SHA256 = "a91172040208263f2f9ba596304dc7f836f49785b7d4a8a42da98bf662958f07"
COMMAND = "echo building the kite page"
PRINTED = "building the kite page\n"
USER = {"role": "user", "content": "Draw a blue kite."}
SYSTEM = {"role": "system", "content": "You build small pages."}
TOOLS = [
    {
        "name": "shell",
        "description": "Run a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    }
]
REFUSED = gg.ModelFailure(
    kind="vision_unsupported",
    message="the model `acme/sparrow-1` does not accept image input: no image route",
    model_id="acme/sparrow-1",
)
REPLY = {
    "toolCalls": [{"id": "c1", "name": "shell", "arguments": {"command": COMMAND}}],
    "finishReason": "tool_calls",
    "usage": {"uncachedInput": 120, "cachedInput": 0, "output": 18, "reasoning": None},
    "cost": {"comparable": 0.000156, "actual": 0.000156},
    "provider": "Northwind",
    "loopAborts": {"attempts": 0, "words": 0, "chars": 0},
    "usageReconciled": False,
}
SEED = gg.Seed(
    baseline_commit="9f1c2d3",
    prompt="Draw a blue kite.",
    model_windows={"acme/sparrow-1": 64000},
    model_providers={
        "acme/sparrow-1": [
            gg.Candidate(provider="Northwind", quantization="bf16"),
            gg.Candidate(provider="Lakeside AI", quantization="fp16"),
        ]
    },
    model_modalities={"acme/sparrow-1": gg.Modalities(vision=True)},
)


def test_a_has_the_23_lines_and_bytes_that_the_example_states() -> None:
    """Section 9.1: 23 lines, and a document of 3,444 bytes under the SHA-256 given there."""
    assert len(A_LINES) == 23
    assert A.endswith(b'{"type":"end","entries":8}\n')
    assert len(A_RECORD) == 3444
    assert hashlib.sha256(A_RECORD).hexdigest() == A_SHA256


def test_a_folds_to_its_bytes(tmp_path: Path) -> None:
    """Section 9.1: the clean journal folds to the document byte for byte, with no line feed at its end."""
    folded = fold(tmp_path, A)
    assert folded.raw == A_RECORD
    assert (folded.told.entries, folded.told.truncation) == (8, None)
    assert list(folded.document) == MEMBERS[:-1]


def test_b_folds_to_its_bytes(tmp_path: Path) -> None:
    """Section 9.2: the torn journal folds to its document byte for byte: corrupt at seq 0, the torn batch kept."""
    folded = fold(tmp_path, B)
    assert folded.raw == B_RECORD
    assert folded.told.entries == 1
    assert members(folded.told.truncation) == {"reason": "corrupt_journal", "lastSeq": 0}
    assert len(folded.document["messages"]) == 3
    assert folded.document["seed"] == {"prompt": ""}


def _play(folder: Path, header: dict[str, Any], *, handles: bool) -> gg.Captured:
    """Example A as it happened, recorded under ``folder``."""
    recorder = gg.JournalWriter(
        folder,
        session_id=header["sessionId"],
        capability_set=header["capabilitySet"],
        seed=SEED,
        routing_key=header["routingKey"],
        recorder=gg.Recorder(gg_version="0.9.1"),
        stream_ceiling=12,
    )
    root = recorder.agent("root", profile_id="root", profile="Root", origin=gg.Root())
    system: Any = recorder.message(SYSTEM) if handles else SYSTEM
    user: Any = recorder.message(USER) if handles else USER
    tools: Any = recorder.toolset(TOOLS) if handles else TOOLS
    picture = {**USER, "images": [{"mediaType": "image/png", "dataBase64": "QUJD", "bytes": 3}]}
    root.clock(elapsed_ms=12, remaining_ms=599988)
    root.cancel_probe(canceled=False)
    root.model_error([system, picture], REFUSED, tools=tools, duration_ms=310)
    recorder.deny_vision("acme/sparrow-1")
    root.model_io([system, user], REPLY, tools=tools, duration_ms=940)
    root.prompt_frame(
        [
            gg.WindowItem(message=system, slot="system", source="system", retention="pinned", turn=0),
            gg.WindowItem(message=user, slot="thread", source="user_prompt", retention="pinned", turn=0),
        ]
    )
    root.shell(COMMAND, origin="tool", cwd=gg.Workspace(), exit_code=0, stdout=PRINTED, stderr="")
    root.tool_result(
        "c1",
        "shell",
        {"command": COMMAND},
        ok=True,
        output=f"exit code: 0\n{PRINTED}",
        summary="ran a command",
        data={"kind": "shell", "data": {"exitCode": 0, "body": PRINTED, "truncated": False}},
    )
    root.git("git status --porcelain", cwd=gg.Workspace(), exit_code=0, stdout="?? kite.html\n", stderr="")
    root.end("done", limit_hit=gg.LimitHit(limit="turns", threshold=1.0, observed=1.0, turns=1, agent_id="root"))
    return recorder.finish()


def test_a_is_recorded_line_for_line(tmp_path: Path) -> None:
    """Section 9.1: recording what happened, with a stream ceiling of 12 bytes, gives the 23 lines byte for byte."""
    captured = _play(tmp_path, lines_of(A)[0], handles=False)
    assert written(tmp_path).split(b"\n")[:-1] == A_LINES
    assert written(tmp_path) == A
    assert (captured.entries, captured.truncation, captured.landed) == (8, None, True)


def test_a_is_recorded_alike_with_bodies_taken_in_once(tmp_path: Path) -> None:
    """The same bytes come of bodies that were addressed once and handed over as handles."""
    _play(tmp_path, lines_of(A)[0], handles=True)
    assert written(tmp_path) == A


def test_a_recorded_and_assembled_is_read_as_the_example_says(tmp_path: Path) -> None:
    """From the run to the table: what was recorded folds to the document, which is whole for those who read it."""
    _play(tmp_path, lines_of(A)[0], handles=False)
    record = tmp_path / "run" / "replay.json.gz"
    gg.assemble(tmp_path / ".gg" / "replay.ndjson", record)
    assert gzip.decompress(record.read_bytes()) == A_RECORD
    assert gg_format.sniff(record.read_bytes()[:2]) or gg_format.sniff(A_RECORD)
    assert gg.verify(record).ok


def test_the_points_to_check_of_a(tmp_path: Path) -> None:
    """Section 9.1, points to check: what the two clips kept, the shared texts, and the last of each told twice."""
    document = fold(tmp_path, A).document
    image = '{"bytes":3,"dataBase64":"QUJD","mediaType":"image/png"}'
    sent = f'{{"content":"Draw a blue kite.","images":[{image}],"role":"user"}}'
    assert document["messages"][1]["id"] == hashlib.sha256(sent.encode()).hexdigest()[:32]
    assert json.dumps(document["messages"][1]["body"]).count("dataBase64") == 0
    assert document["texts"][0] == PRINTED[-12:]
    assert document["clips"] == [
        {"text": 0, "originalBytes": 23, "originalId": hashlib.sha256(PRINTED.encode()).hexdigest()[:32]},
        {"text": 4, "originalBytes": 13, "originalId": hashlib.sha256(b"?? kite.html\n").hexdigest()[:32]},
    ]
    assert document["entries"][6]["outcome"]["dataText"] == document["entries"][5]["command"]["stdout"] == 0
    assert {document["entries"][n]["command"]["stderr"] for n in (5, 7)} == {1}
    assert document["seed"]["modelModalities"] == {"acme/sparrow-1": {"vision": False}}
    assert [(row["agentId"], row["terminalStatus"]) for row in document["agents"]] == [("root", "done")]
    assert [entry["seq"] for entry in document["entries"]] == list(range(8))
