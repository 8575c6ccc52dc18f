"""A call of a real tool in; its answer, or the refusal of a policy or a person, out (12.4).

Nothing here runs before a replay in `live` has parted from its recording.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sessionlab.formats.mecha.wire import ToolUse
from sessionlab.replay.surface import Answer, Offered

if TYPE_CHECKING:
    from sessionlab.replay.rebuilding import Setup

Approve = Callable[[ToolUse, Offered], str | None]
"""Asks a person whether a call may run: None for yes, else the reason why not (which may be empty)."""
_DENIED, _BLOCKED = "Denied by the user:", "Blocked by policy:"
"""How a refusal begins, so that it is told from a failure (section 6)."""


class Called(NamedTuple):
    """What became of a call.

    Attributes:
        answer: what the model is told.
        ran: the tool was called.
        blocked_send: it was a send, and the interlock stopped it.
    """

    answer: Answer
    ran: bool = False
    blocked_send: bool = False


class Gate:
    """Lets calls through to the tools of today, as far as today's policies do."""

    def __init__(self, setup: Setup, approve: Approve | None) -> None:
        """The policies of ``setup``; ``approve``: asks a person; None: nobody is there to ask."""
        self._setup, self._approve = setup, approve

    def call(self, use: ToolUse, offered: Offered | None, *, armed: bool, malformed: bool = False) -> Called:
        """Carry out a call, or say why not. ``armed``: private data and outside content have met in what was said."""
        tool = None if offered is None else offered.tool
        if offered is None or tool is None or tool.run is None:
            return Called(Answer(f"no tool named {use.name!r}", is_error=True))
        if malformed:
            return Called(Answer("the arguments are not valid JSON", is_error=True))
        sends = armed and offered.rights.send
        if sends and self._setup.trifecta == "block":
            why = "private data and content from outside are both in this conversation, so nothing may be sent"
            return Called(Answer(f"{_BLOCKED} {why}", is_error=True), blocked_send=True)
        mode = self._setup.permission_mode
        if mode == "read-only" and not tool.read_only:
            return Called(Answer(f"{_BLOCKED} the permission mode is read-only", is_error=True))
        if mode == "ask" or (sends and self._setup.trifecta == "ask"):
            refusal = self._asked(use, offered)
            if refusal is not None:
                return Called(refusal, blocked_send=sends and self._approve is None)
        return Called(self._run(use, offered), ran=True)

    def _asked(self, use: ToolUse, offered: Offered) -> Answer | None:
        if self._approve is None:
            return Answer(f"{_BLOCKED} nobody is here to be asked", is_error=True)
        why = self._approve(use, offered)
        return None if why is None else Answer(f"{_DENIED} {why}".strip(), is_error=True)

    def _run(self, use: ToolUse, offered: Offered) -> Answer:
        assert offered.tool is not None
        assert offered.tool.run is not None
        try:
            found = offered.tool.run(use.input)
        except Exception as error:  # noqa: BLE001 (whatever a stranger's tool raises is a failed call, and told as one)
            found = Answer(f"{type(error).__name__}: {error}", is_error=True)
        answer = found if isinstance(found, Answer) else Answer(str(found))
        if answer.external is None:
            answer = msgspec.structs.replace(answer, external=offered.rights.untrusted)
        return answer
