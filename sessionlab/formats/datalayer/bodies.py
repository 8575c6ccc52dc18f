"""The body of an entry: its payload and summary go in; the blocks of one pooled body come out.

Blocks stand in one order: a tool's call, then the members that are bodies of their own (question, answer, result,
note …), then the summary, then one `extra` block with every other member of the payload, whole, as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessionlab.formats._values import compact
from sessionlab.formats.datalayer.payloads import KINDS_READ, text
from sessionlab.tables import Block

RESULT_BLOCK = 1
"""Where the result of a `tool_call` entry stands: behind the call."""
_ACTION = ("command", "path", "url", "cwd")


def has_result(payload: dict[str, object]) -> bool:
    """Whether a `tool_call` entry holds a result: the tool's, or what was displayed of it."""
    return payload.get("result") is not None or type(payload.get("display")) is dict


def arguments(payload: dict[str, object]) -> str | None:
    """Arguments of a tool call: the text an agent's tool was recorded with, or JSON.

    A harness action records no arguments; what it acted on (command, path, url, cwd) stands for them.
    """
    value = _given(payload)[1]
    if value is None:
        value = {name: payload[name] for name in _ACTION if payload.get(name) is not None} or None
    return None if value is None else value if type(value) is str else compact(value)


def blocks(
    native_kind: str, payload: dict[str, object], summary: str, *, session_id: str, line: int, pool: str, ix: int
) -> Iterator[Block]:
    """The blocks of one body, in order."""
    lifted: set[str] = set()
    parts: list[tuple[str, str | None, str | None, str | None]] = []  # kind, name, text, detail of each
    tool = text(payload, "tool") or text(payload, "name")
    if native_kind == "tool_call":
        lifted.add(_given(payload)[0])
        parts.append(("call", tool, arguments(payload), None))
    for name, kind in KINDS_READ[native_kind].bodies.items():
        value = payload.get(name)
        if kind == "call" or value is None:
            continue
        if name == "display":
            if type(value) is not dict:
                continue
            shown, others = _displayed(value)
            parts.append((kind, name, shown, compact(others) if others else None))
        elif kind == "result":
            parts.append((kind, tool, value if type(value) is str else compact(value), None))
        elif type(value) is str and value:
            parts.append((kind, name, value, None))
        else:
            continue
        lifted.add(name)
    if summary:
        parts.append(("text", "summary", summary, None))
    rest = {name: value for name, value in payload.items() if name not in lifted}
    if rest:
        parts.append(("extra", "payload", compact(rest), None))
    call_id = text(payload, "tool_call_id")
    for block, (kind, named, said, detail) in enumerate(parts):
        yield Block(
            session_id=session_id, line=line, pool=pool, ix=ix, block=block, kind=kind, name=named, text=said,
            call_id=call_id if kind in ("call", "result") else None, detail=detail,
        )  # fmt: skip


def _given(payload: dict[str, object]) -> tuple[str, object]:
    """Which member holds the arguments, and they: hand-made records say `input`."""
    name = "arguments" if payload.get("arguments") is not None else "input"
    return name, payload.get(name)


def _displayed(display: dict[str, object]) -> tuple[str | None, dict[str, object]]:
    """What a display shows as text, and the rest of it."""
    data = display.get("data")
    if type(data) is dict and type(output := data.get("output")) is str:
        return output, {**display, "data": {k: v for k, v in data.items() if k != "output"}}
    if type(shown := display.get("text")) is str:
        return shown, {k: v for k, v in display.items() if k != "text"}
    return None, display
