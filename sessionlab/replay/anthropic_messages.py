"""A conversation in, a request of Anthropic's Messages interface out; its reply in, a reply of the house out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sessionlab.formats.mecha.wire import AnyBlock, Image, Message, Text, Thinking, Tokens, ToolResult, ToolUse
from sessionlab.replay.model import Finish, Reply, Settings
from sessionlab.systems.mecha.surfaces import ToolDefinition

if TYPE_CHECKING:
    from anthropic.types import ContentBlock, Usage
    from anthropic.types import Message as Answer

_FINISHES: dict[str, Finish] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "pause_turn": "pause_turn",
}
DEFAULT_TOKENS = 8192
"""The most tokens of a reply where a recording names no limit: this interface wants one."""


def request(messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings) -> dict[str, object]:
    """The arguments of the request. A seed cannot be told there, and is left out."""
    asked: dict[str, object] = {
        "model": settings.model,
        "max_tokens": settings.max_tokens or DEFAULT_TOKENS,
        "messages": [one for message in messages for one in _message(message)],
    }
    if settings.system_prompt:
        asked["system"] = settings.system_prompt
    if tools:
        asked["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.input_schema or {"type": "object"},
            }
            for tool in tools
        ]
    newer: dict[str, object] = {}  # members that not every version of the SDK has a name for
    if settings.temperature is not None:
        newer["temperature"] = settings.temperature
    if settings.effort is not None:
        newer["output_config"] = {"effort": settings.effort}
    if settings.thinking:
        newer["thinking"] = {"type": "adaptive"}
    if settings.cache_prompt:
        newer["cache_control"] = {"type": "ephemeral"}
    if newer:
        asked["extra_body"] = newer
    return asked


def reply(answer: Answer) -> Reply:
    """The blocks of an answer of the SDK; those of a kind that no transcript holds are left out.

    Raises:
        ValueError: the answer has no list of blocks.
    """
    if not isinstance(getattr(answer, "content", None), list):  # an SDK lets JSON of any shape through
        raise ValueError("no blocks in it")  # noqa: TRY004 (what came over the wire has a wrong value, not a wrong type)
    return Reply(
        [block for found in answer.content for block in _block(found)],
        _usage(answer.usage),
        _FINISHES.get(str(answer.stop_reason), "other"),
    )


def _usage(told: Usage | None) -> Tokens | None:
    if told is None:
        return None
    return Tokens(
        told.input_tokens,
        told.output_tokens,
        told.cache_creation_input_tokens or 0,
        told.cache_read_input_tokens or 0,
    )


def _block(found: ContentBlock) -> Iterator[AnyBlock]:
    if found.type == "text":
        yield Text(found.text)
    elif found.type == "thinking":
        yield Thinking(found.thinking, found.signature or None)
    elif found.type == "tool_use":
        yield ToolUse(found.id, found.name, found.input)


def _message(message: Message) -> Iterator[dict[str, object]]:
    """The message, unless nothing of it can be told there: an empty one is refused."""
    blocks = [told for block in message.content if (told := _told(block)) is not None]
    if blocks:
        yield {"role": message.role, "content": blocks}


def _told(block: AnyBlock) -> dict[str, object] | None:
    match block:
        case Text() if block.text.strip():
            return {"type": "text", "text": block.text}
        case Thinking() if block.signature:  # without its signature a thought cannot be sent back
            return {"type": "thinking", "thinking": block.text, "signature": block.signature}
        case ToolUse():
            given = block.input if isinstance(block.input, dict) else {"input": block.input}
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": given}
        case ToolResult():
            return {
                "type": "tool_result",
                "tool_use_id": block.tool_use_id,
                "content": block.content,
                "is_error": block.is_error,
            }
        case Image():
            source = {"type": "base64", "media_type": block.media_type, "data": block.data}
            return {"type": "image", "source": source}
    return None
