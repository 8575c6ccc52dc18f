"""The messages in force in, where a person stepped in out: denials, steers, follow-ups (mecha 13).

Interventions are derived whenever they are asked for and stored nowhere; the transcript stays the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import msgspec

from sessionlab.formats.mecha.marks import command, speaker
from sessionlab.formats.mecha.wire import Legs, Message, Text, ToolResult
from sessionlab.replay.trajectory import brings_results, text_of, trimmed

Trigger: TypeAlias = Literal["denial", "steer", "follow_up"]
Covering: TypeAlias = Callable[[int], Legs | None]
"""The taint that covers the message at an index; None: unknown."""

DENIED = "Denied by the user:"
"""How an error result begins where a person refused the call (6). Refusals of policies and hooks begin otherwise."""


class Intervention(msgspec.Struct, frozen=True):
    """A place where a person stepped in.

    Attributes:
        trigger: `denial` (a call was refused), `steer` (text beside results, mid-run), `follow_up` (a further turn).
        index: of the message, in the list in force.
        text: what the person said, trimmed; of a denial the reason.
        context: the model's last text before; None when it had said nothing.
        aftermath: the model's next text after; None when it said nothing more.
        taint: what covers the message; None: unknown.
    """

    trigger: Trigger
    index: int
    text: str
    context: str | None
    aftermath: str | None
    taint: Legs | None

    @property
    def learnable(self) -> Literal["clean", "untrusted"]:
        """Whether it may be learned from (9): `clean` only where it is known that nothing untrusted had entered."""
        return learnable(self.taint)


def learnable(taint: Legs | None) -> Literal["clean", "untrusted"]:
    """The class of a message by the taint that covers it: private alone is acceptable, unknown is not (9)."""
    return "clean" if taint is not None and not taint.untrusted else "untrusted"


def interventions(messages: Sequence[Message], covering: Covering) -> list[Intervention]:
    """Where a person stepped in, in order; in one message denials before the steer.

    What the harness says in the user role and slash commands are never a steer or a follow-up; refusals by a policy or
    a hook and plain tool errors are never a denial.

    Args:
        messages: the list in force.
        covering: taint by index of that list, as :meth:`Transcript.covering`.
    """
    texts = [trimmed(text_of(message)) for message in messages]
    after = _next_replies(messages, texts)
    found: list[Intervention] = []
    said: str | None = None
    opened = False
    for at, (message, text) in enumerate(zip(messages, texts, strict=True)):
        if message.role == "assistant":
            said = text or said
            continue
        reasons = [reason for block in message.content if (reason := denial(block)) is not None]
        told: list[tuple[Trigger, str]] = [("denial", reason) for reason in reasons]
        if brings_results(message):
            told += [("steer", text)] if _is_a_persons(message) else []
        elif text:
            told += [("follow_up", text)] if opened and said is not None and _is_a_persons(message) else []
            opened = True
        found += [Intervention(trigger, at, words, said, after[at], covering(at)) for trigger, words in told]
    return found


def denial(block: object) -> str | None:
    """The reason, trimmed, of a result that says a person refused its call; None for any other block."""
    if isinstance(block, ToolResult) and block.is_error and block.content.startswith(DENIED):
        return trimmed(block.content[len(DENIED) :])
    return None


def _is_a_persons(message: Message) -> bool:
    """Whether a message has text that a person said: not the harness, and no slash command (6)."""
    said = [block.text for block in message.content if isinstance(block, Text)]
    return speaker(said, harness=message.harness) == "person" and command(said) is None


def _next_replies(messages: Sequence[Message], texts: Sequence[str]) -> list[str | None]:
    """For each message the model's next text after it."""
    after: list[str | None] = []
    coming: str | None = None
    for message, text in zip(reversed(messages), reversed(texts), strict=True):
        after.append(coming)
        if message.role == "assistant" and text:
            coming = text
    return after[::-1]
