"""Files of the committed sample corpus in, their objects out, read with json alone and not with sessionlab."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.conftest import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

CORPUS = SAMPLES / "corpus"


def plain(data: bytes) -> bytes:
    """The bytes of a file, decompressed where it is compressed."""
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def objects(data: bytes) -> Iterator[Json]:
    """The JSON objects of a file, line by line; a torn line is passed over."""
    for line in plain(data).split(b"\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


@cache
def files(folder: str) -> dict[str, tuple[Json, ...]]:
    """Path and objects of every committed file of a format."""
    return {
        str(path.relative_to(CORPUS)): tuple(objects(path.read_bytes()))
        for path in sorted((CORPUS / folder).rglob("*"))
        if path.is_file()
    }


def records(kind: str) -> list[Json]:
    """The mecha records of a kind."""
    return [record for records in files("mecha").values() for record in records if record["record"] == kind]


def results() -> list[str]:
    """What came back from mecha's tool calls with an error."""
    return [
        block["content"]
        for message in records("message")
        for block in message["content"]
        if block["type"] == "tool_result" and block["is_error"]
    ]


def texts(role: str) -> list[str]:
    """What mecha's messages of a role say."""
    return [
        block["text"]
        for message in records("message")
        if message["role"] == role
        for block in message["content"]
        if block["type"] == "text"
    ]


def chat() -> list[Json]:
    """Every line of every Claude Code file."""
    return [line for lines in files("claude_code").values() for line in lines]


def blocks(kind: str) -> list[Json]:
    """The content blocks of a kind in Claude Code's lines."""
    contents = (line["message"]["content"] for line in chat() if "message" in line)
    return [block for content in contents if isinstance(content, list) for block in content if block["type"] == kind]


def gg() -> dict[str, Json]:
    """Every gg run as one document: records as they are, journals as far as their lines tell the same members."""
    runs: dict[str, Json] = {}
    for lines in files("gg").values():
        if "entries" in lines[0]:
            runs[lines[0]["sessionId"]] = lines[0]
            continue
        header = lines[0]
        by_kind = {
            kind: [line for line in lines if line["type"] == kind] for kind in ("seed", "agent", "entry", "text", "end")
        }
        runs.setdefault(
            header["sessionId"],
            {
                **header,
                "seed": by_kind["seed"][-1]["seed"],
                "agents": list({one["agent"]["agentId"]: one["agent"] for one in by_kind["agent"]}.values()),
                "entries": [one["entry"] for one in by_kind["entry"]],
                "clips": [one["clip"] for one in by_kind["text"] if "clip" in one],
                "ended": bool(by_kind["end"]),
            },
        )
    return runs


def entries(kind: str) -> list[Json]:
    """The gg entries of a kind."""
    return [entry for run in gg().values() for entry in run["entries"] if entry["type"] == kind]


def agents() -> list[Json]:
    """The agents of all gg runs."""
    return [agent for run in gg().values() for agent in run["agents"]]


def desk(kind: str) -> list[Json]:
    """Payloads of the datalayer entries of a kind."""
    lines = (line for lines in files("datalayer").values() for line in lines)
    return [line["payload"] for line in lines if line["record_type"] == "entry" and line["kind"] == kind]


def usages() -> list[Json]:
    """The usage of every assistant line of Claude Code, as it stands there."""
    return [line["message"]["usage"] for line in chat() if line["type"] == "assistant"]


def replies() -> dict[str, list[Json]]:
    """Claude Code's replies by message id, each with its usage as every line tells it."""
    found: dict[str, list[Json]] = {}
    for line in chat():
        if line["type"] == "assistant" and line["message"]["model"] != "<synthetic>":
            found.setdefault(line["message"]["id"], []).append(line["message"]["usage"])
    return found


def growing() -> int:
    """How many of Claude Code's replies tell more output tokens on a later line."""
    return sum(len({usage["output_tokens"] for usage in usages}) > 1 for usages in replies().values())


def shared_lines() -> int:
    """How many lines of Claude Code stand in two sessions."""
    held = Counter((line["uuid"], line["sessionId"]) for line in chat() if "uuid" in line)
    return sum(count > 1 for count in Counter(uuid for uuid, _session in held).values())


def gg_files() -> Counter[tuple[str, ...]]:
    """How many gg runs left which endings of files."""
    kinds: dict[str, list[str]] = {}
    for name in files("gg"):
        kinds.setdefault(name.split("/")[1], []).append(name.rpartition(".")[2])
    return Counter(tuple(sorted(one)) for one in kinds.values())
