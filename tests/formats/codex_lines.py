"""Small Codex rollout lines for the tests: keyword arguments in, lines out, and the rows of a file of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any, TypeVar

from sessionlab.formats import codex
from sessionlab.formats.recording import Recording
from sessionlab.tables import Row

PARENT = "01980000-1000-7000-8000-00000000aaaa"
CHILD = "01980000-2000-7000-8000-00000000bbbb"
OLD_TURN = "01980000-1001-7000-8000-000000000001"
NEW_TURN = "01980000-2001-7000-8000-000000000002"
FORK_TIME = "2026-03-04T09:00:00.000Z"
R = TypeVar("R", bound=Row)
Json = dict[str, Any]


def line(kind: str, at: str | None = FORK_TIME, **payload: Any) -> Json:
    """A line of the usual envelope."""
    found: Json = {"timestamp": at, "type": kind, "payload": payload}
    return found if at is not None else {"type": kind, "payload": payload}


def meta(thread: str, **more: Any) -> Json:
    """A `session_meta` line."""
    return line("session_meta", **{"id": thread, "cwd": "/srv/kiln", "model_provider": "openai", **more})


def context(model: str = "gpt-5.1-codex", at: str = FORK_TIME, **more: Any) -> Json:
    """A `turn_context` line."""
    return line("turn_context", at, model=model, **more)


def item(kind: str, at: str = FORK_TIME, **payload: Any) -> Json:
    """A `response_item` line."""
    return line("response_item", at, type=kind, **payload)


def event(kind: str, at: str = FORK_TIME, **payload: Any) -> Json:
    """An `event_msg` line."""
    return line("event_msg", at, type=kind, **payload)


def said(role: str, text: str, at: str = FORK_TIME) -> Json:
    """A message of the conversation."""
    return item("message", at, role=role, content=[{"type": "input_text", "text": text}])


def tokens(given: int, cached: int, output: int, reasoning: int = 0, written: int | None = None) -> Json:
    """A usage object; its total is input and output."""
    found = {
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": given + output,
    }
    return found if written is None else {**found, "cache_write_input_tokens": written}


def count(total: Json | None, last: Json | None = None, at: str = FORK_TIME, **more: Any) -> Json:
    """A `token_count` event."""
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 258400, **more}
    return event("token_count", at, info=info, rate_limits=None)


def encoded(lines: Iterable[Json | bytes]) -> bytes:
    """The bytes of a file; a line given as bytes stands as it is."""
    return b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + b"\n" for x in lines)


def read(lines: Iterable[Json | bytes] | bytes, *, uri: str = "mem:rollout", bodies: bool = True) -> list[Row]:
    """The rows of a file of such lines."""
    data = lines if isinstance(lines, bytes) else encoded(lines)
    return list(codex.read(Recording(io.BytesIO(data), uri=uri, format=codex.NAME, bodies=bodies)))


def rows(found: Iterable[Row], kind: type[R]) -> list[R]:
    """Those of one table."""
    return [row for row in found if isinstance(row, kind)]
