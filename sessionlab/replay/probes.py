"""A place where a person stepped in, in; where a replay of it has to be looked at, and what it shows, out (mecha 13).

A probe replays a run up to an intervention and asks whether the model needs it again. Its verdict is derived from the
divergences on demand and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from sessionlab.errors import WrongUse
from sessionlab.formats.mecha.wire import Message, Text, ToolUse
from sessionlab.replay.comparison import Divergence, same_json
from sessionlab.replay.interventions import denial
from sessionlab.replay.trajectory import Call, answered, brings_results, text_of, trimmed

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive"]


class ProbePoint(msgspec.Struct, frozen=True):
    """Where an intervention stands.

    Attributes:
        trigger: `steer` or `denial`.
        message_index: of the message, in the list in force (``m``).
        call_index: calls asked for before that point, answered or not (``k``, section 13).
        answered_index: the same place among the calls of the trajectory, which are the answered ones in the order of
            their results (22): what divergence indices are compared with.
        refused: of a denial the refused call.
        until: the messages of the run end before this index: what follows is another run's.
    """

    trigger: Literal["steer", "denial"]
    message_index: int
    call_index: int
    answered_index: int
    refused: Call | None
    until: int


def probe_steer(messages: Sequence[Message], text: str) -> ProbePoint | None:
    """Where ``text`` came in beside results: the first such message; None when it never did.

    A turn of the same words is no steer.
    """
    wanted = trimmed(text)
    _not_blank(wanted, "the text of a steer")
    for at, message in enumerate(messages):
        if brings_results(message) and trimmed(text_of(message)) == wanted:
            asked = sum(_calls(one) for one in messages[: at + 1])
            done = sum(1 for _ in answered(messages[: at + 1]))
            return ProbePoint("steer", at, asked, done, None, run_end(messages, at))
    return None


def probe_denial(messages: Sequence[Message], reason: str) -> ProbePoint | None:
    """Where a person refused a call for this reason: the first such result; None when there is none.

    The refused call is looked up by its id in the nearest earlier message of the model that made one of that id; None,
    too, when there is no such call.
    """
    wanted = trimmed(reason)
    for at, message in enumerate(messages):
        for place, block in enumerate(message.content):
            if message.role != "user" or denial(block) != wanted:
                continue
            found = _refused_call(messages, at, block.tool_use_id)  # type: ignore[union-attr]  # a denial is a result
            if found is None:
                return None
            made_in, offset, use = found
            asked = sum(_calls(one) for one in messages[:made_in]) + offset
            before = sum(1 for one in answered(messages[: at + 1]) if (one.message, one.block) < (at, place))
            return ProbePoint("denial", at, asked, before, Call(use.name, use.input), run_end(messages, at))
    return None


def run_end(messages: Sequence[Message], index: int) -> int:
    """Where the run of a message ends: at the first message of the user without results behind it, or at the end."""
    for at in range(index + 1, len(messages)):
        if messages[at].role == "user" and not brings_results(messages[at]):
            return at
    return len(messages)


def turns_end(messages: Sequence[Message], turns: int) -> int:
    """Where so many turns of the user have come to their end: before the next one, or at the end.

    A replay is fed the turns of its whole recording; this is where its part of the probed run ends.
    """
    for at, message in enumerate(messages):
        if message.role == "user" and not brings_results(message) and trimmed(text_of(message)):
            if not turns:
                return at
            turns -= 1
    return len(messages)


def branch_point(messages: Sequence[Message], point: ProbePoint) -> list[Message]:
    """What a probe sends as it is before the model goes on by itself: the replay branches off behind it (13).

    Of a denial everything before the reply that made the refused call; of a steer everything up to its message, which
    keeps its results and loses the person's words, for the question is whether the model needs them again.
    """
    if point.trigger == "steer":
        message = messages[point.message_index]
        results = [block for block in message.content if not isinstance(block, Text)]
        return [*messages[: point.message_index], msgspec.structs.replace(message, content=results)]
    asked = 0
    for at, message in enumerate(messages):
        asked += _calls(message)
        if asked > point.call_index:
            return list(messages[:at])
    return list(messages[: point.message_index])


def verdict(
    point: ProbePoint, divergences: Sequence[Divergence], replayed: Sequence[Call] = (), *, base: int = 0
) -> Verdict:
    """What a replay shows about the place where a person stepped in.

    `inconclusive`: it had already parted before. Of a steer `fail`: it parted there or later, else `pass`. Of a denial
    `fail`: it made the refused call again, there or later, with exactly the same arguments, else `pass`.

    Args:
        point: the place.
        divergences: what :func:`~sessionlab.replay.compare` found, indices in the whole recording.
        replayed: the calls made; needed for a denial.
        base: position in the whole recording of the first of ``replayed``.
    """
    at = point.answered_index
    structural = [one.index for one in divergences if one.structural]
    if any(index < at for index in structural):
        return "inconclusive"
    if point.refused is None:
        return "fail" if structural else "pass"
    refused = point.refused
    later = replayed[max(0, at - base) :]
    again = any(call.name == refused.name and same_json(call.input, refused.input) for call in later)
    return "fail" if again else "pass"


def _calls(message: Message) -> int:
    return sum(isinstance(block, ToolUse) for block in message.content) if message.role == "assistant" else 0


def _refused_call(messages: Sequence[Message], at: int, call_id: str) -> tuple[int, int, ToolUse] | None:
    """The message of the model that made a call, the call's place among its calls, and the call."""
    for before in range(at - 1, -1, -1):
        if messages[before].role != "assistant":
            continue
        uses = [block for block in messages[before].content if isinstance(block, ToolUse)]
        for offset, use in enumerate(uses):
            if use.id == call_id:
                return before, offset, use
    return None


def _not_blank(text: str, what: str) -> None:
    if not text:
        raise WrongUse(f"{what}: expected words, found nothing but white space")
