"""A conversation in, a chat completion request of the OpenAI kind out; its reply in, a reply of the house out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sessionlab.formats.mecha.wire import AnyBlock, Image, Message, Text, Thinking, Tokens, ToolResult, ToolUse
from sessionlab.replay.model import Finish, Reply, Settings
from sessionlab.replay.trajectory import Json, text_of
from sessionlab.systems.mecha.surfaces import ToolDefinition

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion

_FINISHES: dict[str, Finish] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_THOUGHTS = ("reasoning_content", "reasoning")
"""Where compatible servers put what the model thought."""


def request(
    messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings, *, official: bool
) -> dict[str, object]:
    """The arguments of the request; ``official``: to OpenAI itself, which has renamed a member others still know."""
    system = [{"role": "system", "content": settings.system_prompt}] if settings.system_prompt is not None else []
    told = [one for message in messages for one in (_said(message) if message.role == "assistant" else _heard(message))]
    asked: dict[str, object] = {"model": settings.model, "messages": [*system, *told]}
    if tools:
        asked["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema or {"type": "object", "properties": {}},
                },
            }
            for tool in tools
        ]
    if settings.max_tokens:
        asked["max_completion_tokens" if official else "max_tokens"] = settings.max_tokens
    members = {"temperature": settings.temperature, "seed": settings.seed, "reasoning_effort": settings.effort}
    return {**asked, **{name: value for name, value in members.items() if value is not None}}


def reply(answer: ChatCompletion) -> Reply:
    """The first choice of an answer of the SDK.

    Raises:
        ValueError: the answer has no choice.
    """
    choices = getattr(answer, "choices", None)
    if not choices:
        raise ValueError("no choice in it")
    said = choices[0].message
    content: list[AnyBlock] = []
    thought = next((found for name in _THOUGHTS if isinstance(found := getattr(said, name, None), str) and found), None)
    if thought:
        content.append(Thinking(thought))
    content += [Text(words) for words in (said.content, getattr(said, "refusal", None)) if words]
    malformed: set[str] = set()
    taken: set[str] = set()
    for at, call in enumerate(said.tool_calls or []):
        if call.type == "custom":  # never offered
            raise ValueError(f"a call of a custom tool: {call.custom.name}")
        name = call.id if call.id and call.id not in taken else f"call_{at}"
        taken.add(name)
        given: Json
        try:
            given = json.loads(call.function.arguments or "{}", parse_constant=_no_number)
        except ValueError:
            given = call.function.arguments
            malformed.add(name)
        content.append(ToolUse(name, call.function.name, given))
    finish = _FINISHES.get(choices[0].finish_reason or "", "other")
    return Reply(content, _usage(answer.usage), finish, frozenset(malformed))


def _no_number(word: str) -> Json:
    raise ValueError(f"{word} is no JSON")


def _usage(told: CompletionUsage | None) -> Tokens | None:
    """Disjoint counts: cached tokens are taken out of the prompt's."""
    if told is None:
        return None
    details = told.prompt_tokens_details
    cached = min((details.cached_tokens if details else None) or 0, told.prompt_tokens)
    return Tokens(told.prompt_tokens - cached, told.completion_tokens, 0, cached)


def _said(message: Message) -> Iterator[dict[str, object]]:
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": json.dumps(block.input, ensure_ascii=False)},
        }
        for block in message.content
        if isinstance(block, ToolUse)
    ]
    text = text_of(message)
    if calls or text:  # a reply of nothing is not sent back: servers refuse it
        yield {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def _heard(message: Message) -> Iterator[dict[str, object]]:
    for block in message.content:
        if isinstance(block, ToolResult):
            yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": block.content}
    parts = [_part(block) for block in message.content if isinstance(block, Text | Image)]
    if parts:
        plain = all(part["type"] == "text" for part in parts)
        yield {"role": "user", "content": text_of(message) if plain else parts}


def _part(block: Text | Image) -> dict[str, object]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    return {"type": "image_url", "image_url": {"url": f"data:{block.media_type};base64,{block.data}"}}
