"""What the driver asks of a model: a conversation, tools and settings in; one reply out.

Conversations are written in the terms of mecha's wire (section 5), so what was recorded is sent as it was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, get_args

import msgspec

from sessionlab.formats.mecha.wire import AnyBlock, Message, Text, Tokens, ToolUse
from sessionlab.systems.mecha.surfaces import ToolDefinition

Finish = Literal["end_turn", "tool_use", "max_tokens", "refusal", "pause_turn", "other"]
"""Why a reply ended; the words are mecha's (section 4.4)."""
FINISHES: tuple[str, ...] = get_args(Finish)
NO_TOKENS = Tokens(0, 0, 0, 0)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a request is to be answered.

    Attributes:
        model: the model's name, as its provider spells it.
        system_prompt: what stands before the conversation; None for nothing.
        effort: `low` to `max`, or None for the provider's own.
        temperature, seed: the sampler as far as it is pinned.
        thinking: whether the model may think before it answers.
        cache_prompt: whether the provider is asked to cache the prompt.
        max_tokens: most tokens of one reply; 0 for the provider's own.
        purpose: `turn` for the conversation itself, `compaction` for a summary of its head.
    """

    model: str
    system_prompt: str | None = None
    effort: str | None = None
    temperature: float | None = None
    seed: int | None = None
    thinking: bool = False
    cache_prompt: bool = False
    max_tokens: int = 0
    purpose: Literal["turn", "compaction"] = "turn"

    @property
    def pinned(self) -> bool:
        """Whether the sampler is told what to do: a temperature of 0, or a temperature and a seed."""
        return self.temperature is not None and (self.temperature == 0 or self.seed is not None)


class Reply(msgspec.Struct, frozen=True):
    """What a model answered.

    Attributes:
        content: its blocks, in order: text, thinking, tool calls.
        usage: the tokens of the request, disjoint; None when the provider told none.
        finish: why it ended.
        malformed: ids of calls whose arguments were no JSON; their input is the text as it came.
    """

    content: list[AnyBlock]
    usage: Tokens | None = None
    finish: Finish = "end_turn"
    malformed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """Its text blocks, joined with nothing between."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def calls(self) -> list[ToolUse]:
        """Its tool calls, in order."""
        return [block for block in self.content if isinstance(block, ToolUse)]


class Model(Protocol):
    """Anything that can answer a conversation."""

    @property
    def sampled(self) -> bool:
        """Whether another answer could come of the same question, unless the settings pin the sampler."""
        ...

    @property
    def takes_seed(self) -> bool:
        """Whether a seed in the settings has an effect."""
        ...

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings) -> Reply:
        """One reply to the whole conversation.

        Raises:
            ModelFailed: there is none: the provider refused, did not answer in time, or answered something else.
        """
        ...


def added(one: Tokens, other: Tokens) -> Tokens:
    """The sum of two usages, member by member."""
    return Tokens(*(a + b for a, b in zip(msgspec.structs.astuple(one), msgspec.structs.astuple(other), strict=True)))


def prompt_size(usage: Tokens) -> int:
    """Tokens of the full prompt: the three input members together (section 4.3)."""
    return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
