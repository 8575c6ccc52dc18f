"""What happened in one replayed run in, call by call; its outcome out, and the outcomes of an episode folded (4.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import msgspec

from sessionlab.formats.mecha import marks
from sessionlab.formats.mecha.wire import Legs, Outcome, Tokens
from sessionlab.replay.model import NO_TOKENS, Reply, added

Price = Callable[[Tokens], float | None]
"""What one request of that usage costs in US dollars at today's rates; None where no rate is known."""
CUT_SHORT = frozenset({"max_turns", "output_token_budget", "cost_budget"})
"""Causes that a budget is behind."""


class Tally:
    """The counters of a run that is going on.

    Attributes:
        turns: replies so far.
        usage: the tokens told so far.
    """

    def __init__(self, price: Price | None = None) -> None:
        """Nothing has happened yet; ``price``: what tokens cost."""
        self._price = price
        self.turns = 0
        self.usage = NO_TOKENS
        self._told = self._untold = False
        self._cost: float | None = None
        self._calls = self._errors = self._denied = self._malformed = self._blocked = self._compactions = 0
        self._last_failed = False

    @property
    def cost_usd(self) -> float | None:
        """What the run cost so far, in US dollars; None when no reply has a price, which is not 0."""
        return self._cost

    def replied(self, reply: Reply, *, summary: bool = False) -> None:
        """A reply came; ``summary``: it summarises the conversation and is no turn of it."""
        self.turns += not summary
        self._compactions += summary
        if reply.usage is None:
            self._untold = True
        else:
            self._told = True
            self.usage = added(self.usage, reply.usage)
            paid = None if self._price is None else self._price(reply.usage)  # each request has its own price band
            if paid is not None:
                self._cost = paid + (self._cost or 0.0)
        self._malformed += len(reply.malformed)

    def called(self, text: str, *, is_error: bool, blocked_send: bool = False) -> None:
        """A call was answered with ``text``. A refusal is no error of the environment, though it is told as one."""
        refused = is_error and marks.verdict(text).status == "refused"
        self._calls += 1
        self._denied += refused
        self._errors += is_error and not refused
        self._blocked += blocked_send
        self._last_failed = is_error

    def outcome(self, stop_cause: str, taint: Legs) -> Outcome:
        """The run as it ended. A usage that no reply told is absent, not 0."""
        return Outcome(
            turns=self.turns,
            usage=self.usage if self._told else msgspec.UNSET,
            cost_usd=self.cost_usd,
            usage_complete=not self._untold,
            stop_cause=stop_cause,
            exhausted=stop_cause in CUT_SHORT,
            ended_on_failed_call=stop_cause == "completed" and self._last_failed,
            tool_calls=self._calls,
            tool_errors=self._errors,
            tool_denied=self._denied,
            malformed_tool_args=self._malformed,
            blocked_sends=self._blocked,
            compactions=self._compactions,
            taint=taint,
        )


_SUMMED = (
    "turns", "tool_calls", "tool_errors", "tool_denied", "tool_staged", "malformed_tool_args", "blocked_sends",
    "compactions",
)  # fmt: skip


def fold(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The runs of one replayed episode as one row; None when there is none (4.4).

    Counters and usage add up, cost where it is known; a usage that is incomplete once is incomplete; the last run
    says how it ended; taint only grows. Sensors are none of a replay's.
    """
    if not outcomes:
        return None
    last = outcomes[-1]
    costs = [one.cost_usd for one in outcomes if one.cost_usd is not None]
    usages = [one.usage for one in outcomes if one.usage is not msgspec.UNSET]
    return Outcome(
        **{name: sum(getattr(one, name) for one in outcomes) for name in _SUMMED},
        usage=reduce(added, usages) if usages else msgspec.UNSET,
        cost_usd=sum(costs) if costs else None,
        usage_complete=all(one.usage_complete for one in outcomes),
        stop_cause=last.stop_cause,
        exhausted=last.exhausted,
        ended_on_failed_call=last.ended_on_failed_call,
        taint=Legs(any(one.taint.private for one in outcomes), any(one.taint.untrusted for one in outcomes)),
    )
