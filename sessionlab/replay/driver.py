"""A rebuilt run and a model in; the run driven again, its tools answered from the recording, out (12.4).

The user's turns are fed one by one into one conversation. As long as the replay follows its recording no tool runs and
nobody is asked. At a structural divergence `stop` and `error` end it; `live` goes on with the tools of today.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from sessionlab.errors import ModelFailed
from sessionlab.formats.mecha.wire import Legs, Message, Outcome, Text, ToolResult, ToolUse
from sessionlab.replay import compaction
from sessionlab.replay.comparison import Divergence
from sessionlab.replay.counters import Tally
from sessionlab.replay.cursor import Cursor, Departure
from sessionlab.replay.envelope import shown
from sessionlab.replay.gate import Approve, Gate
from sessionlab.replay.model import Model, Reply, prompt_size
from sessionlab.replay.observer import Observer
from sessionlab.replay.rebuilding import MOST_TURNS, Plan
from sessionlab.replay.surface import Answer
from sessionlab.replay.trajectory import Call, RecordedCall, answered, trimmed

_NANOSECONDS = 1_000_000


class Episode(msgspec.Struct, frozen=True):
    """What a replay did.

    Attributes:
        recorded: the recorded calls it was held against.
        base: position of the first of them in the whole recording; 0 for a full replay.
        calls: the calls made, in order.
        turns: user turns fed.
        stopped_early: it parted from its recording and was ended there.
        departure: where it parted; None when it followed.
        seen: the divergences the driver met, arguments included; what `error` fails on.
        outcomes: one for each run that ended.
        final_text: the last text that is not blank; empty when there is none.
        messages: the conversation at the end.
    """

    recorded: tuple[RecordedCall, ...]
    base: int
    calls: tuple[Call, ...]
    turns: int
    stopped_early: bool
    departure: Departure | None
    seen: tuple[Divergence, ...]
    outcomes: tuple[Outcome, ...]
    final_text: str
    messages: tuple[Message, ...]


def replay(plan: Plan, model: Model, *, approve: Approve | None = None, observers: Sequence[Observer] = ()) -> Episode:
    """Drive a recorded run from its first turn.

    Args:
        plan: the run, see `rebuilding.plan`.
        model: who answers.
        approve: asks a person before a real tool runs; None: nobody is there, and what would be asked is refused.
        observers: told of everything as it happens.

    Raises:
        ModelFailed: the model gave no reply; observers are told before.
    """
    drive = _Drive(plan, model, plan.recorded.calls, approve=approve, observers=observers)
    return drive.through(plan.recorded.turns)


def branch(
    plan: Plan,
    model: Model,
    *,
    at: int,
    until: int | None = None,
    approve: Approve | None = None,
    observers: Sequence[Observer] = (),
) -> Episode:
    """Send the recorded conversation up to message ``at`` as it is; hold what comes then against the rest of its run.

    No turn is fed. ``until``: the messages of the run end before this index. Indices of divergences are positions in
    the whole recording. Raises as `replay`.
    """
    done = list(answered(plan.messages[:until]))
    base = sum(one.message < at for one in done)
    calls = tuple(one.call for one in done[base:])
    drive = _Drive(plan, model, calls, base=base, approve=approve, observers=observers, messages=plan.messages[:at])
    return drive.through(())


class _Drive:
    """One replay that is going on."""

    def __init__(
        self,
        plan: Plan,
        model: Model,
        recorded: tuple[RecordedCall, ...],
        *,
        approve: Approve | None,
        observers: Sequence[Observer],
        base: int = 0,
        messages: Sequence[Message] = (),
    ) -> None:
        self._plan, self._model, self._observers = plan, model, observers
        self._recorded, self._base = recorded, base
        self._cursor = Cursor(recorded, base=base)
        self._gate = Gate(plan.setup, approve)
        self._taint = plan.taint
        self._messages = list(messages)
        self._replaced: list[list[Message]] = []
        self._calls: list[Call] = []
        self._outcomes: list[Outcome] = []
        self._final_text = ""
        self._prompt_tokens = 0

    def through(self, turns: Sequence[str]) -> Episode:
        """Feed the turns, or, without any, let the model go on from where the conversation stands."""
        for observer in self._observers:
            observer.began(self._plan)
        fed = 0
        try:
            for turn in turns or (None,):
                if turn is not None:
                    self._messages.append(Message("user", [Text(turn)]))
                    fed += 1
                self._run()
                if self._stopped:
                    break
        except BaseException:
            for observer in self._observers:
                observer.ended(self._messages, self._replaced, whole=False)
            raise
        self._cursor.end()
        for observer in self._observers:
            observer.ended(self._messages, (), whole=True)
        return Episode(
            recorded=self._recorded,
            base=self._base,
            calls=tuple(self._calls),
            turns=fed,
            stopped_early=self._stopped,
            departure=self._cursor.departure,
            seen=tuple(self._cursor.seen),
            outcomes=tuple(self._outcomes),
            final_text=self._final_text,
            messages=tuple(self._messages),
        )

    @property
    def _stopped(self) -> bool:
        return self._cursor.departure is not None and self._plan.mode != "live"

    def _run(self) -> None:
        tally = Tally(self._plan.setup.price)
        cause = self._turns(tally)
        outcome = tally.outcome(cause, self._taint)
        self._outcomes.append(outcome)
        for observer in self._observers:
            observer.run_ended(self._messages, self._replaced, outcome)
        self._replaced = []

    def _turns(self, tally: Tally) -> str:
        """One run, until something ends it; the word for what did (4.4)."""
        while True:
            spent = self._spent(tally)
            if spent is not None:
                return spent
            self._compact(tally)
            reply = self._ask(tally)
            self._messages.append(Message("assistant", reply.content))
            if trimmed(reply.text):
                self._final_text = reply.text
            if reply.calls:
                self._messages.append(self._answered(reply, tally))
                if self._stopped:
                    return "interrupted"
            elif reply.finish != "pause_turn":
                return "completed" if trimmed(reply.text) else "no_output"

    def _spent(self, tally: Tally) -> str | None:
        config, cost = self._plan.config, tally.cost_usd
        if tally.turns >= (config.max_turns or MOST_TURNS):
            return "max_turns"
        if config.max_output_tokens is not None and tally.usage.output_tokens >= config.max_output_tokens:
            return "output_token_budget"
        if config.max_cost_usd is not None and cost is not None and cost >= config.max_cost_usd:
            return "cost_budget"
        return None

    def _ask(self, tally: Tally) -> Reply:
        reply = self._complete(self._messages, compacting=False)
        self._prompt_tokens = 0 if reply.usage is None else prompt_size(reply.usage)
        tally.replied(reply)
        return reply

    def _compact(self, tally: Tally) -> None:
        """Summarise the head of a conversation that has reached the recorded size (4.5)."""
        config = self._plan.config
        if config.compact_at_tokens is None or self._prompt_tokens < config.compact_at_tokens:
            return
        at = compaction.cut(self._messages, config.compact_keep_recent)
        if not at:
            return
        summary = self._complete(compaction.question(self._messages, at), compacting=True)
        tally.replied(summary, summary=True)
        if not trimmed(summary.text):
            return
        self._replaced.append(list(self._messages))
        self._messages = compaction.compacted(self._messages, at, summary.text)
        self._prompt_tokens = 0

    def _complete(self, messages: Sequence[Message], *, compacting: bool) -> Reply:
        settings = msgspec.structs.replace(self._plan.settings, purpose="compaction" if compacting else "turn")
        tools = self._plan.definitions
        begun = time.monotonic_ns()
        try:
            reply = self._model.complete(messages, tools, settings)
        except ModelFailed as error:
            took = (time.monotonic_ns() - begun) // _NANOSECONDS
            for observer in self._observers:
                observer.failed(messages, tools, settings, error, took)
            raise
        took = (time.monotonic_ns() - begun) // _NANOSECONDS
        for observer in self._observers:
            observer.replied(messages, tools, settings, reply, took)
        return reply

    def _answered(self, reply: Reply, tally: Tally) -> Message:
        """The one message that brings the results of a reply's calls, in the order the calls were made."""
        uses = reply.calls
        calls = [Call(use.name, use.input) for use in uses]
        self._calls += calls
        results: list[ToolResult] = []
        provenance: dict[str, bool] = {}
        for use, recorded in zip(uses, self._cursor.take(calls), strict=True):
            if recorded is not None:
                answer, blocked = Answer(recorded.output, recorded.is_error, recorded.external), False
                self._arm(use.name, external=recorded.counts_as_external)
                told = self._shown(answer, use.name, external=recorded.counts_as_external)
                mark = recorded.external
            elif self._plan.mode != "live":
                answer, blocked = self._diverged(), False
                told, mark = answer.text, False
            else:
                answer, blocked = self._really(use, malformed=use.id in reply.malformed)
                mark = bool(answer.external)
                told = self._shown(answer, use.name, external=mark)
            if mark is not None:
                provenance[use.id] = mark
            tally.called(answer.text, is_error=answer.is_error, blocked_send=blocked)
            results.append(ToolResult(use.id, told, answer.is_error))
            for observer in self._observers:
                observer.called(use, told, answer.is_error)
        return Message("user", [*results], tool_provenance=provenance)

    def _diverged(self) -> Answer:
        return Answer(f"The replay has diverged from its recording: {self._cursor.departure}.", is_error=True)

    def _really(self, use: ToolUse, *, malformed: bool) -> tuple[Answer, bool]:
        """A call carried out by a tool of today, when it may be; and whether a send was stopped."""
        offered = self._plan.surface.get(use.name)
        armed = self._taint.private and self._taint.untrusted
        answer, ran, blocked = self._gate.call(use, offered, armed=armed, malformed=malformed)
        if ran:
            self._arm(use.name, external=bool(answer.external))
        return answer, blocked

    def _arm(self, name: str, *, external: bool) -> None:
        """A result has come into the conversation; taint only grows."""
        offered = self._plan.surface.get(name)
        private = offered is None or offered.rights.private
        self._taint = Legs(self._taint.private or private, self._taint.untrusted or external)

    def _shown(self, answer: Answer, name: str, *, external: bool) -> str:
        return shown(answer.text, name, external=external, limit=self._plan.setup.output_limit)
