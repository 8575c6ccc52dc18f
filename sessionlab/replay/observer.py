"""What a replay does, told as it happens: what it is told to, and what may be done with it, is the observer's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sessionlab.formats.mecha.wire import Message, Outcome, ToolUse
from sessionlab.systems.mecha.surfaces import ToolDefinition

if TYPE_CHECKING:
    from sessionlab.errors import ModelFailed
    from sessionlab.replay.model import Reply, Settings
    from sessionlab.replay.rebuilding import Plan


class Observer:
    """Does nothing with anything; what observes takes from it what it wants to hear."""

    def began(self, plan: Plan) -> None:
        """A replay begins."""

    def replied(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition],
        settings: Settings,
        reply: Reply,
        took_ms: int,
    ) -> None:
        """The model was sent a conversation and answered."""

    def failed(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition],
        settings: Settings,
        error: ModelFailed,
        took_ms: int,
    ) -> None:
        """The model was sent a conversation and gave no reply: the replay ends."""

    def called(self, use: ToolUse, told: str, is_error: bool) -> None:
        """A call was answered with ``told``."""

    def run_ended(self, messages: Sequence[Message], replaced: Sequence[Sequence[Message]], outcome: Outcome) -> None:
        """A turn of the user is over; ``replaced``: the states of the conversation that summaries did away with."""

    def ended(self, messages: Sequence[Message], replaced: Sequence[Sequence[Message]], *, whole: bool) -> None:
        """The replay is over; ``whole``: nothing broke it off."""
