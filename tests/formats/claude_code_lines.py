"""Small Claude Code lines for the tests: keyword arguments in, bytes of a line out, and the rows of a file of them."""

from __future__ import annotations

import io
import json
from typing import Any, TypeVar

from sessionlab.formats import claude_code
from sessionlab.formats.recording import Recording
from sessionlab.tables import Row

SESSION = "0f1e2d3c-4b5a-4697-8877-665544332211"
R = TypeVar("R", bound=Row)
Json = dict[str, Any]


def line(kind: str, **members: Any) -> Json:
    """A line of the usual envelope; a member given as None is left out."""
    base: Json = {"type": kind, "sessionId": SESSION, "isSidechain": False}
    return {name: value for name, value in {**base, **members}.items() if value is not None}


def prompt(text: str, **members: Any) -> Json:
    """A `user` line with a text."""
    return line("user", message={"role": "user", "content": text}, **members)


def reply(
    message_id: str | None, *parts: Json, usage: Json | None = None, stop: str | None = None, **members: Any
) -> Json:
    """An `assistant` line with parts of a reply."""
    message: Json = {"role": "assistant", "model": members.pop("model", "claude-opus-4-7"), "content": list(parts)}
    if message_id is not None:
        message["id"] = message_id
    if usage is not None:
        message["usage"] = usage
    return line("assistant", message={**message, "stop_reason": stop}, **members)


def said(text: str) -> Json:
    """A text part."""
    return {"type": "text", "text": text}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> Json:
    """A tool call part."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any, *, error: bool | None = None, told: Any = None, **members: Any) -> Json:
    """A `user` line with a tool's result; ``told`` is its `toolUseResult`."""
    part = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if error is not None:
        part["is_error"] = error
    return line("user", message={"role": "user", "content": [part]}, toolUseResult=told, **members)


def tokens(fresh: int, written: int, cached: int, output: int, **more: Any) -> Json:
    """A usage object."""
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
        **more,
    }


def joined(*lines: Json | bytes) -> bytes:
    """The lines as a file."""
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in lines)


def rows(data: bytes, *, uri: str = "mem:x", bodies: bool = True) -> list[Row]:
    """The rows of a file with these bytes."""
    recording = Recording(io.BytesIO(data), uri=uri, format=claude_code.NAME, bodies=bodies)
    return list(claude_code.read(recording))


def table(kind: type[R], *lines: Json | bytes) -> list[R]:
    """The rows of one table of a file of these lines."""
    return [row for row in rows(joined(*lines)) if isinstance(row, kind)]
