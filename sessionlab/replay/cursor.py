"""The calls of a replay in, as they are made; the recorded call that answers each out, until the replay parts (12.4).

One cursor serves every tool. It moves batch by batch: inside a batch a call finds its answer in any order, the same
tool and arguments first, then the same tool. A call that finds none is a structural divergence, and from there on the
recording answers nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sessionlab.replay.comparison import (
    ArgumentsDivergence,
    Divergence,
    ExtraDivergence,
    MissingDivergence,
    ToolDivergence,
    same_arguments,
)
from sessionlab.replay.trajectory import Call, RecordedCall


class Departure(msgspec.Struct, frozen=True):
    """Where a replay parted from its recording, for good.

    Attributes:
        index: position of the recorded call that was due, 0-based; the number of calls where none was due.
        expected: the tool that was due; None past the end of the recording.
        actual: the tool called instead.
    """

    index: int
    expected: str | None
    actual: str

    def __str__(self) -> str:
        """In words: which recorded call and which two tools, or how many calls the recording had."""
        if self.expected is None:
            had = f"{self.index:,} call{'' if self.index == 1 else 's'}"
            return f"the recording had {had}, and the replay went on with {self.actual}"
        return f"call {self.index + 1:,} of the recording was {self.expected}, and the replay called {self.actual}"


class Cursor:
    """A place in the recorded calls.

    Attributes:
        departure: where the replay parted; None while it follows. The first one is kept.
        seen: the divergences met on the way, in the order they were met.
        answered: how many recorded calls have been given out.
    """

    def __init__(self, recorded: Sequence[RecordedCall], *, base: int = 0) -> None:
        """Before the first of ``recorded``; ``base``: its position in the whole recording, added to every index."""
        self._recorded = recorded
        self._base = base
        self._next = 0
        self._open: list[int] = []
        self.departure: Departure | None = None
        self.seen: list[Divergence] = []
        self.answered = 0

    def take(self, calls: Sequence[Call]) -> list[RecordedCall | None]:
        """The recorded calls that answer the calls of one reply; None for each that the recording does not answer."""
        given: list[RecordedCall | None] = []
        while len(given) < len(calls) and self.departure is None:
            if not self._open:
                self._open_batch()
            chunk = calls[len(given) : len(given) + max(len(self._open), 1)]
            for call, place in zip(chunk, self._mates(chunk), strict=True):
                if place is None:
                    self._depart(call)
                    break
                given.append(self._give(place, call))
        return [*given, *[None] * (len(calls) - len(given))]

    def end(self) -> None:
        """The replay has ended: what it did not call is missing, unless it had parted before."""
        if self.departure is None:
            left = [*self._open, *range(self._next, len(self._recorded))]
            self.seen += [MissingDivergence(place + self._base, self._recorded[place].name) for place in left]
            self._open, self._next = [], len(self._recorded)

    def _open_batch(self) -> None:
        start = self._next
        if start == len(self._recorded):
            return
        batch = self._recorded[start].batch
        end = start + 1
        while batch is not None and end < len(self._recorded) and self._recorded[end].batch == batch:
            end += 1
        self._open, self._next = list(range(start, end)), end

    def _mates(self, chunk: Sequence[Call]) -> list[int | None]:
        """For each call the recorded one of the open batch that stands for it (the two passes of 12.2)."""
        mates: list[int | None] = [None] * len(chunk)
        left = list(self._open)
        for exactly in (True, False):
            for place in list(left):
                ours = self._recorded[place]
                for at, call in enumerate(chunk):
                    fits = mates[at] is None and call.name == ours.name
                    if fits and (not exactly or same_arguments(ours.input, call.input)):
                        mates[at] = place
                        left.remove(place)
                        break
        return mates

    def _give(self, place: int, call: Call) -> RecordedCall:
        ours = self._recorded[place]
        self._open.remove(place)
        self.answered += 1
        if not same_arguments(ours.input, call.input):
            self.seen.append(ArgumentsDivergence(place + self._base, ours.name, ours.input, call.input))
        return ours

    def _depart(self, call: Call) -> None:
        if self._open:
            due = self._open[0] + self._base
            expected = self._recorded[self._open[0]].name
            self.departure = Departure(due, expected, call.name)
            self.seen.append(ToolDivergence(due, expected, call.name))
        else:
            due = len(self._recorded) + self._base
            self.departure = Departure(due, None, call.name)
            self.seen.append(ExtraDivergence(due, call.name))
