"""Pooled bodies in; their `Pool` row and the `Block` rows of their parts out (shapes of section 1.16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessionlab.formats._values import compact, detail
from sessionlab.tables import Block, Pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionlab.formats.gg.output import Output

REPLY_FACTS = frozenset(
    {"finishReason", "usage", "cost", "provider", "loopAborts", "usageWire", "usageReconciled"}
)  # fmt: skip
"""Members of a reply that entries and usage hold: they are no part of its body."""

_Part = tuple[str, str | None, str | None, str | None, str | None]
"""kind, call_id, name, text, detail of a block."""


class Bodies:
    """Writes bodies into an output; the caller counts the pools."""

    def __init__(self, out: Output) -> None:
        """Write into ``out``."""
        self._out = out

    def message(self, ix: int, address: str, size: int, body: object) -> None:
        """A message: its content, calls and images, then members of other names."""
        role = body.get("role") if isinstance(body, dict) else None
        self._pool("message", ix, size, content_id=address, role=role if isinstance(role, str) else None)
        self._blocks("message", ix, _message(body) if isinstance(body, dict) else [_extra(None, body)])

    def toolset(self, ix: int, address: str, size: int, tools: object) -> None:
        """A toolset: a block per tool, in offered order."""
        self._pool("toolset", ix, size, content_id=address)
        self._blocks("toolset", ix, map(_tool, tools) if isinstance(tools, list) else [_extra(None, tools)])

    def text(self, ix: int, text: str, original_bytes: int | None, original_id: str | None) -> None:
        """A text, or the tail that was kept of it."""
        self._pool("text", ix, len(text.encode()), original_bytes=original_bytes, original_id=original_id)
        self._blocks("text", ix, [("text", None, None, text, None)])

    def reply(self, ix: int, size: int, reply: object) -> None:
        """What a model answered: its text, its calls, and members that no column holds."""
        self._pool("response", ix, size, role="assistant")
        self._blocks("response", ix, _reply(reply) if isinstance(reply, dict) else [_extra(None, reply)])

    def _pool(
        self,
        pool: str,
        ix: int,
        size: int,
        *,
        content_id: str | None = None,
        role: str | None = None,
        original_bytes: int | None = None,
        original_id: str | None = None,
    ) -> None:
        self._out.rows.append(
            Pool(
                session_id=self._out.session_id,
                line=self._out.line,
                pool=pool,
                ix=ix,
                content_id=content_id,
                role=role,
                body_bytes=size,
                original_bytes=original_bytes,
                original_id=original_id,
            )
        )

    def _blocks(self, pool: str, ix: int, parts: Iterator[_Part] | list[_Part]) -> None:
        out = self._out
        for block, (kind, call_id, name, text, rest) in enumerate(parts):
            out.rows.append(
                Block(
                    session_id=out.session_id,
                    line=out.line,
                    pool=pool,
                    ix=ix,
                    block=block,
                    kind=kind,
                    call_id=call_id,
                    name=name,
                    text=text,
                    detail=rest,
                )
            )


def _message(body: dict[str, Any]) -> Iterator[_Part]:
    answered = body.get("toolCallId")
    kind, call_id = ("result", answered) if isinstance(answered, str) else ("text", None)
    content = body.get("content")
    if isinstance(content, str):
        yield kind, call_id, None, content, None
    elif isinstance(content, list):
        for part in content:
            yield _content(part, kind, call_id)
    elif content is not None:
        yield _extra("content", content)
    yield from _listed(body, "toolCalls", _call)
    yield from _listed(body, "images", _image)
    for name, value in body.items():
        if name not in {"role", "content", "toolCalls", "images"} and (name != "toolCallId" or call_id is None):
            yield _extra(name, value)


def _reply(reply: dict[str, Any]) -> Iterator[_Part]:
    text = reply.get("text")
    if isinstance(text, str):
        yield "text", None, None, text, None
    elif text is not None:
        yield _extra("text", text)
    yield from _listed(reply, "toolCalls", _call)
    for name, value in reply.items():
        if name not in REPLY_FACTS and name not in {"text", "toolCalls"}:
            yield _extra(name, value)


def _listed(body: dict[str, Any], name: str, part: Any) -> Iterator[_Part]:  # noqa: ANN401 (a function of one part)
    members = body.get(name)
    if isinstance(members, list):
        for member in members:
            yield part(member) if isinstance(member, dict) else _extra(name, member)
    elif members is not None:
        yield _extra(name, members)


def _content(part: object, kind: str, call_id: str | None) -> _Part:
    if isinstance(part, str):
        return kind, call_id, None, part, None
    if isinstance(part, dict):
        if "mediaType" in part:
            return _image(part)
        text = part.get("text")
        if isinstance(text, str):
            return kind, call_id, None, text, _rest(part, "text")
    return _extra("content", part)


def _call(call: dict[str, Any]) -> _Part:
    call_id, name = call.get("id"), call.get("name")
    if not isinstance(call_id, str) or not isinstance(name, str):
        return _extra("toolCalls", call)
    arguments = compact(call["arguments"]) if "arguments" in call else None
    return "call", call_id, name, arguments, _rest(call, "id", "name", "arguments")


def _image(image: dict[str, Any]) -> _Part:
    label = image.get("label")
    return "image", None, label if isinstance(label, str) else None, None, compact(image)


def _tool(tool: object) -> _Part:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return _extra(None, tool)
    schema = compact(tool["parameters"]) if "parameters" in tool else None
    return "tool", None, tool["name"], schema, _rest(tool, "name", "parameters")


def _extra(name: str | None, value: object) -> _Part:
    return "extra", None, name, compact(value), None


def _rest(members: dict[str, Any], *told: str) -> str | None:
    return detail(**{name: value for name, value in members.items() if name not in told})
