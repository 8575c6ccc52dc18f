"""Two arms of a corpus in (two periods, two models); their rates side by side, with the evidence, out."""

from __future__ import annotations

from typing import NamedTuple

from sessionlab.comparisons.arms import Arm, Rate, rates
from sessionlab.comparisons.configurations import Differing, differing, same_policies
from sessionlab.comparisons.intervals import CONFIDENCE, Interval, difference


class RateDifference(NamedTuple):
    """A rate in two arms.

    Attributes:
        name: of the rate.
        first, other: the rate of each arm, with counts and interval.
        apart: the other's minus the first's; None where one is of nothing.
        interval: of ``apart`` (Newcombe); None with it.
        clear: the interval leaves zero out: the arms differ in it at the confidence asked for.
    """

    name: str
    first: Rate
    other: Rate
    apart: float | None
    interval: Interval | None
    clear: bool


class Comparison(NamedTuple):
    """Two arms compared.

    Attributes:
        first, other: what the arms are called.
        first_runs, other_runs: how many runs each has.
        rates: every rate in both.
        differing: members of their configurations in which they differ: each may be the reason instead.
        confidence: of every interval.
    """

    first: str
    other: str
    first_runs: int
    other_runs: int
    rates: list[RateDifference]
    differing: list[Differing]
    confidence: float


def compare(first: Arm, other: Arm, *, replayed: bool = False, confidence: float = CONFIDENCE) -> Comparison:
    """Compare how the runs of two arms went.

    Args:
        first: one arm.
        other: the other; differences are this one's minus the first's.
        replayed: the arms are replays: they must have been replayed under one policy.
        confidence: of the intervals.

    Raises:
        Incomparable: replays under different policies.
        QueryError: a corpus loaded with ``figures=True`` holds no configurations.
    """
    if replayed:
        same_policies(first, other)
    (first_runs, ones), (other_runs, twos) = rates(first, confidence), rates(other, confidence)
    found = [_apart(one, two, confidence) for one, two in zip(ones, twos, strict=True)]
    return Comparison(first.label, other.label, first_runs, other_runs, found, differing(first, other), confidence)


def _apart(one: Rate, two: Rate, confidence: float) -> RateDifference:
    if one.value is None or two.value is None:
        return RateDifference(one.name, one, two, None, None, clear=False)
    interval = None
    if one.interval is not None and two.interval is not None:
        interval = difference(two.cases, two.out_of, one.cases, one.out_of, confidence)
    clear = interval is not None and (interval.low > 0 or interval.high < 0)
    return RateDifference(one.name, one, two, two.value - one.value, interval, clear)
