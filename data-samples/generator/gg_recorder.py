"""Happenings of a gg run in, its capture journal out; the record is the journal folded into one document.

Follows the recorder: bodies are pooled by content address and written on the first line that needs them, streams are
clipped to their tail, image payloads are addressed and then left out.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from typing import Any

Json = dict[str, Any]

STREAM_BYTES = 32_768
"""Longest recorded stdout or stderr; of a longer one the tail is kept."""


class Recorder:
    """The journal in the making."""

    def __init__(self, header: Json, seed: Json) -> None:
        self.lines: list[Json] = [{"type": "header", "formatVersion": 1, **header}, {"type": "seed", "seed": seed}]
        self.entries = 0
        self._pools: dict[str, dict[str, int]] = {"message": {}, "toolset": {}, "text": {}}

    def agent(self, row: Json) -> None:
        """An agent comes into being, or ends."""
        self.lines.append({"type": "agent", "agent": row})

    def seed(self, seed: Json) -> None:
        """What the run started from, told again because a modality changed."""
        self.lines.append({"type": "seed", "seed": seed})

    def entry(self, agent_id: str, kind: str, /, **payload: Any) -> None:  # noqa: ANN401 (JSON)
        """Something happened."""
        told = {"agentId": agent_id, "seq": self.entries, "type": kind, **payload}
        self.lines.append({"type": "entry", "entry": told})
        self.entries += 1

    def message(self, body: Json) -> int:
        """Index of a message in its pool; images are part of its address only."""
        address = _address(_canonical(body).encode())
        kept = {**body, "images": [_reduced(one) for one in body["images"]]} if "images" in body else body
        return self._pooled("message", address, {"message": {"id": address, "body": _sorted(kept)}})

    def toolset(self, tools: list[Json]) -> int:
        """Index of a list of tools."""
        address = _address(_canonical(tools).encode())
        return self._pooled("toolset", address, {"toolset": {"id": address, "tools": _sorted(tools)}})

    def text(self, text: str, most: int = 8 * STREAM_BYTES) -> int:
        """Index of a text, of which at most the last ``most`` bytes are kept."""
        data = text.encode()
        address = _address(data)
        if len(data) <= most:
            return self._pooled("text", address, {"text": text})
        at = len(self._pools["text"])
        kept = data[len(data) - most :].decode("utf-8", "ignore")
        clip = {"text": at, "originalBytes": len(data), "originalId": address}
        return self._pooled("text", address, {"text": kept, "clip": clip})

    def stream(self, text: str) -> int:
        """Index of a recorded stdout or stderr."""
        return self.text(text, STREAM_BYTES)

    def end(self, truncation: Json | None = None) -> None:
        """The terminating line."""
        more = {} if truncation is None else {"truncation": truncation}
        self.lines.append({"type": "end", "entries": self.entries, **more})

    def journal(self) -> bytes:
        """The journal as it lies on disk."""
        return b"".join(_compact(line) + b"\n" for line in self.lines)

    def record(self) -> bytes:
        """The journal folded into the session record, compressed; the same bytes every time."""
        header = {name: value for name, value in self.lines[0].items() if name not in {"type", "formatVersion"}}
        agents: dict[str, Json] = {}
        pools: dict[str, list[Any]] = {"message": [], "toolset": [], "text": []}
        clips, entries = [], []
        seed: Json = {}
        for line in self.lines[1:]:
            kind = line["type"]
            if kind in pools:
                pools[kind].append(line[kind])
                if "clip" in line:
                    clips.append(line["clip"])
            elif kind == "seed":
                seed = line["seed"]
            elif kind == "agent":
                agents[line["agent"]["agentId"]] = line["agent"]
            elif kind == "entry":
                entries.append(line["entry"])
        document = {
            "formatVersion": 1,
            "recorder": header["recorder"],
            "sessionId": header["sessionId"],
            "routingKey": header["routingKey"],
            "capabilitySet": header["capabilitySet"],
            "seed": seed,
            "agents": list(agents.values()),
            "messages": pools["message"],
            "toolsets": pools["toolset"],
            "texts": pools["text"],
            "clips": clips,
            "entries": entries,
        }
        return _gzipped(_compact(document))

    def _pooled(self, pool: str, address: str, line: Json) -> int:
        known = self._pools[pool]
        if address not in known:
            known[address] = len(known)
            self.lines.append({"type": pool, "index": known[address], **line})
        return known[address]


def _gzipped(data: bytes) -> bytes:
    """A gzip member whose header says nothing of time and machine."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return header + packer.compress(data) + packer.flush() + struct.pack("<II", zlib.crc32(data), len(data))


def _reduced(image: Json) -> Json:
    return {name: value for name, value in image.items() if name != "dataBase64"}


def _address(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _sorted(value: object) -> Any:  # noqa: ANN401 (JSON)
    return json.loads(_canonical(value))


def _canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
