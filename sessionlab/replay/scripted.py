"""A recorded conversation in; a model that says what its assistant said, turn by turn, out.

It needs no network and costs nothing. Driven by its own recording it must follow it, which is a check of the recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Self

import msgspec

from sessionlab.formats.mecha.wire import AnyBlock, Message, Text, ToolUse
from sessionlab.replay.model import Reply, Settings
from sessionlab.replay.trajectory import brings_results, text_of, trimmed

if TYPE_CHECKING:
    from sessionlab.replay.trajectory import RecordedCall, Trajectory
    from sessionlab.systems.mecha.surfaces import ToolDefinition

SUMMARY = "The conversation so far."
"""What a scripted model says when it is asked for a summary: no recording tells what it would be."""


class Scripted:
    """A model that follows a script: for each user turn, the replies it gives until that turn is over.

    A turn's replies that are left when the next turn begins are not given any more; a turn that has run out, and a
    turn beyond the script, is answered with nothing, which ends it.

    Attributes:
        asked: how many replies were asked for so far.
    """

    sampled = False
    takes_seed = True

    def __init__(self, turns: Iterable[Sequence[Reply]]) -> None:
        """A script of replies for each user turn, in order."""
        self._turns = [list(replies) for replies in turns]
        self.asked = 0

    @classmethod
    def from_messages(cls, messages: Iterable[Message]) -> Self:
        """The script of a loaded conversation: what its assistant said after each user turn."""
        turns: list[list[Reply]] = []
        went_on = False
        for message in messages:
            if message.role == "assistant":
                if not turns:
                    turns.append([])  # an assistant that spoke first answers the first turn there is
                replies = turns[-1]
                if went_on and replies and not replies[-1].calls:  # said more without being told anything
                    replies[-1] = msgspec.structs.replace(replies[-1], finish="pause_turn")
                replies.append(_reply(message.content))
            elif not brings_results(message) and trimmed(text_of(message)):
                turns.append([])
            went_on = message.role == "assistant"
        return cls(turns)

    @classmethod
    def from_trajectory(cls, trajectory: Trajectory) -> Self:
        """The script of an extracted run, of any format: every batch in the first turn, and then the last text.

        Which turn a call belongs to is not in a trajectory, so all are made in the first.
        """
        replies = []
        for _, calls in groupby(enumerate(trajectory.calls), key=_batch):
            replies.append(_reply([ToolUse(f"s{position}", call.name, call.input) for position, call in calls]))
        turns = [replies, *([] for _ in trajectory.turns[1:])]
        turns[-1].append(_reply([Text(trajectory.final_text)] if trajectory.final_text else []))
        return cls(turns)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings) -> Reply:  # noqa: ARG002
        """The next reply of the turn that the conversation stands in; its usage is unknown."""
        if settings.purpose == "compaction":
            return Reply([Text(SUMMARY)])
        turn = -1
        said = 0
        for message in messages:
            if message.role == "assistant":
                said += 1
            elif not brings_results(message):
                turn, said = turn + 1, 0
        self.asked += 1
        return self._at(turn, said)

    def _at(self, turn: int, said: int) -> Reply:
        if 0 <= turn < len(self._turns) and said < len(self._turns[turn]):
            return self._turns[turn][said]
        return Reply([])


def _batch(placed: tuple[int, RecordedCall]) -> tuple[int | None, int]:
    """What the calls of one batch have in common; a call without a batch has nothing in common with any."""
    position, call = placed
    return call.batch, position if call.batch is None else -1


def _reply(content: Sequence[AnyBlock]) -> Reply:
    calls = any(isinstance(block, ToolUse) for block in content)
    return Reply(list(content), None, "tool_use" if calls else "end_turn")
