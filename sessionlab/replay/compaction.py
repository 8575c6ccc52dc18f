"""A conversation that has grown too long in; the question for a summary, and the shorter conversation, out.

The settings are the recording's: from how many tokens on, and how many messages stay as they are (4.5, 6).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sessionlab.formats.mecha.marks import SUMMARY
from sessionlab.formats.mecha.wire import Message, Text
from sessionlab.replay.trajectory import brings_results

QUESTION = (
    "Summarise the conversation so far for yourself: what was asked, what was found out, what was done, what is still"
    " open. You will go on from the summary alone. Answer with the summary, and call no tool."
)


def cut(messages: Sequence[Message], keep_recent: int) -> int:
    """How many messages to summarise: all but the last ``keep_recent``; 0 when there are too few to gain anything.

    Results stay with the calls they answer.
    """
    at = len(messages) - max(keep_recent, 0)
    while 0 < at < len(messages) and brings_results(messages[at]):
        at -= 1
    return at if at > 1 else 0


def question(messages: Sequence[Message], at: int) -> list[Message]:
    """What a model is asked for a summary of the first ``at`` messages."""
    return [*messages[:at], Message("user", [Text(QUESTION)], harness=True)]


def compacted(messages: Sequence[Message], at: int, summary: str) -> list[Message]:
    """The conversation with its first ``at`` messages given as a summary, inside the first one."""
    first = messages[0] if messages[0].role == "user" else Message("user", [])
    told = Text(f"{SUMMARY} into the summary below.]\n{summary}")
    kept = [block for block in first.content if not (isinstance(block, Text) and block.text.startswith(SUMMARY))]
    return [msgspec.structs.replace(first, content=[*kept, told]), *messages[at:]]
