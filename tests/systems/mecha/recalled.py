"""A slow reading of section 14, written apart from the code it checks: json, loops, nothing passed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEADER = {"record": "meta", "id": "r1", "created_at": "2026-10-03T08:15:00Z", "provider": "p", "model": "m",
          "workspace": "/w"}  # fmt: skip


def dump(value: object) -> str:
    """Compact JSON with sorted keys, nothing escaped that need not be."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def write(path: Path, *records: dict[str, Any] | bytes, header: bool = True) -> Path:
    """A transcript of these records, or of lines given as bytes."""
    lines = [dump(HEADER).encode()] if header else []
    lines += [record if isinstance(record, bytes) else dump(record).encode() for record in records]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def slow(lines: list[str], query: str) -> tuple[list[tuple[int, str, int, str, list[tuple[int, list[str]]]]], int]:
    """Every matching block as (message, role, block, kind, windows of (first line, lines)); and the union's size."""
    union: list[dict[str, Any]] = []
    current: list[dict[str, Any]] = []

    def sight(message: dict[str, Any]) -> None:
        if dump(message) not in [dump(seen) for seen in union]:
            union.append(message)

    for line in lines:
        record = json.loads(line)
        kind = record.pop("record")
        if kind == "message":
            current.append(record)
            sight(record)
        elif kind == "rewrite":
            current = list(record["messages"])
            for message in current:
                sight(message)
        elif kind == "extend" and record["index"] < len(current):
            was = current[record["index"]]
            current[record["index"]] = {**was, "content": was["content"] + record["blocks"]}
            sight(current[record["index"]])
    found = []
    for ix, message in enumerate(union):
        for at, block in enumerate(message["content"]):
            windows = _windows(_text(block), query)
            if windows:
                found.append((ix, message["role"], at, block["type"], windows))
    return found, len(union)


def _text(block: dict[str, Any]) -> str:
    if block["type"] == "tool_use":
        return block["name"] + " " + dump(block["input"])
    if block["type"] == "tool_result":
        return str(block["content"])
    if block["type"] == "image":
        name = f"{block['source']} ({block['media_type']})" if "source" in block else block["media_type"]
        return f"[image: {name}]"
    return str(block["text"])


def _windows(text: str, query: str) -> list[tuple[int, list[str]]]:
    lines = text.split("\n")
    last = lines.pop()
    lines = [line.removesuffix("\r") for line in lines] + ([last] if last else [])
    shown: set[int] = set()
    for number, line in enumerate(lines):
        if query.lower() in line.lower():
            shown |= {n for n in range(number - 2, number + 3) if 0 <= n < len(lines)}
    windows: list[tuple[int, list[str]]] = []
    for number in sorted(shown):
        if windows and windows[-1][0] + len(windows[-1][1]) == number + 1:
            windows[-1][1].append(lines[number])
        else:
            windows.append((number + 1, [lines[number]]))
    return windows
