"""Transcripts of mecha written line by line, and their rows: what the tests of that format share."""

from __future__ import annotations

import io
import json
from typing import Any, TypeVar

from sessionlab.formats import mecha
from sessionlab.formats.recording import Recording
from sessionlab.tables import Block, Entry, Row, Window

META = {
    "record": "meta",
    "id": "20261101T070000-0a0b0c0d",
    "created_at": "2026-11-01T07:00:00Z",
    "provider": "shore",
    "model": "plover-3",
    "workspace": "/home/eve/shore",
}
R = TypeVar("R", bound=Row)


def line(**members: Any) -> bytes:
    """A record as mecha writes it."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def said(role: str, *blocks: Any, **members: Any) -> dict[str, Any]:
    """A message; a block that is a text stands for a text block."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "content": content, **members}


def message(role: str, *blocks: Any, **members: Any) -> bytes:
    """A message record."""
    return line(record="message", **said(role, *blocks, **members))


def rewrite(*messages: dict[str, Any]) -> bytes:
    """A rewrite record."""
    return line(record="rewrite", messages=list(messages))


def call(call_id: str, name: str = "fs_read", **arguments: Any) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: str = "", **members: Any) -> dict[str, Any]:
    """A tool_result block."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **members}


def tokens(fresh: int, output: int) -> dict[str, int]:
    """A usage object."""
    return {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }


def raw(data: bytes, *, bodies: bool = True) -> list[Row]:
    """All rows of these bytes."""
    return list(mecha.read(Recording(io.BytesIO(data), uri="mem:x", format=mecha.NAME, bodies=bodies)))


def read(*lines: bytes, header: dict[str, Any] = META, bodies: bool = True) -> list[Row]:
    """All rows of a transcript of these lines behind a header."""
    return raw(b"".join(each + b"\n" for each in (line(**header), *lines)), bodies=bodies)


def of(rows: list[Row], table: type[R]) -> list[R]:
    """The rows of one table."""
    return [row for row in rows if isinstance(row, table)]


def loaded(rows: list[Row]) -> list[int | None]:
    """The message list at the end, as pool indices, from entries and windows alone."""
    at: dict[int, int | None] = {}
    for row in rows:
        if (isinstance(row, Entry) and row.position is not None) or isinstance(row, Window):
            at[row.position] = row.message_ix  # type: ignore[index]
    return [at[position] for position in range(of(rows, Entry)[-1].messages or 0)]


def texts(rows: list[Row]) -> list[list[str | None]]:
    """The texts of each message of the list at the end."""
    blocks = [row for row in of(rows, Block) if row.pool == "message"]
    return [[row.text for row in blocks if row.ix == ix] for ix in loaded(rows)]
