"""The messages of a conversation in, its `Trajectory` out: the user's turns, the calls and results, the last text.

The rules are those of mecha 12.1. They are applied to the list in force at the end, after rewrites and extensions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import msgspec

from sessionlab.formats.mecha.wire import Message, Text, ToolResult, ToolUse

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value as decoded. ``True`` and ``1``, ``1`` and ``1.0`` are different values (12.2), though not to Python."""

WHITE_SPACE = "".join(map(chr, [*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029]))
WHITE_SPACE += "\u202f\u205f\u3000"
"""What is white space by Unicode. ``str.strip()`` also takes away U+001C to U+001F, which are none."""


class Call(msgspec.Struct, frozen=True):
    """A tool call as it was made.

    Attributes:
        name: the tool.
        input: its arguments.
    """

    name: str
    input: Json


class RecordedCall(Call, frozen=True):
    """A tool call and what came back.

    Attributes:
        output: the result's text.
        is_error: the result is an error; refusals are errors too.
        batch: number of the group of calls answered together, 0-based; None where none is told: such calls are
            compared by position alone.
        external: the result came from outside the machine; None: unknown, which counts as external (12.7).
    """

    output: str = ""
    is_error: bool = False
    batch: int | None = None
    external: bool | None = None

    @property
    def counts_as_external(self) -> bool:
        """Whether the result is treated as coming from outside: unless it is known that it does not."""
        return self.external is not False


class Trajectory(msgspec.Struct, frozen=True):
    """What a conversation asked, did and said last.

    Attributes:
        turns: what the user said, turn by turn, untrimmed.
        calls: the answered calls, in the order their results came.
        final_text: the last text of the model that is not blank, untrimmed; empty when there is none.
        steered: text came in beside results, in the middle of a run.
    """

    turns: tuple[str, ...]
    calls: tuple[RecordedCall, ...]
    final_text: str = ""
    steered: bool = False

    @property
    def legacy_provenance_calls(self) -> int:
        """How many calls have results of unknown provenance, and so count as external (12.7, 12.8)."""
        return sum(call.external is None for call in self.calls)


class Answered(NamedTuple):
    """A call with its result, and where that stands: index of the message, index of the block in it."""

    call: RecordedCall
    message: int
    block: int


def trimmed(text: str) -> str:
    """The text without white space at both ends."""
    return text.strip(WHITE_SPACE)


def text_of(message: Message) -> str:
    """The text blocks of a message, joined without a separator (5.2)."""
    return "".join(block.text for block in message.content if isinstance(block, Text))


def brings_results(message: Message) -> bool:
    """Whether a message in the user role is the harness feeding results back, not the user speaking (8.7)."""
    return message.role == "user" and any(isinstance(block, ToolResult) for block in message.content)


def answered(messages: Iterable[Message]) -> Iterator[Answered]:
    """The calls that got a result, in the order the results came.

    A result goes to the first waiting call of its id; a result of no waiting call is passed over, and so is a call
    that never gets one. Every message with results is a batch, also when none of them is of a waiting call.
    """
    waiting: dict[str, deque[ToolUse]] = {}
    batch = 0
    for at, message in enumerate(messages):
        if message.role == "assistant":
            for block in message.content:
                if isinstance(block, ToolUse):
                    waiting.setdefault(block.id, deque()).append(block)
            continue
        results = False
        for place, block in enumerate(message.content):
            if not isinstance(block, ToolResult):
                continue
            results = True
            asked = waiting.get(block.tool_use_id)
            if asked:
                use = asked.popleft()
                external = message.tool_provenance.get(block.tool_use_id)
                call = RecordedCall(use.name, use.input, block.content, block.is_error, batch, external)
                yield Answered(call, at, place)
        batch += results


def extract(messages: Iterable[Message]) -> Trajectory:
    """The trajectory of the messages in force (12.1).

    Text of the harness and slash commands are turns like any other, as mecha has it; text beside results sets
    ``steered`` and goes nowhere else.
    """
    held = list(messages)
    turns: list[str] = []
    final_text, steered = "", False
    for message in held:
        text = text_of(message)
        if not trimmed(text):
            continue
        if message.role == "assistant":
            final_text = text
        elif brings_results(message):
            steered = True
        else:
            turns.append(text)
    return Trajectory(tuple(turns), tuple(one.call for one in answered(held)), final_text, steered)
