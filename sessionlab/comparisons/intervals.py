"""Counts in, confidence intervals of rates and of differences between rates out.

Both take what is counted as independent of one another. Calls of one run are not quite: read the interval of a rate of
calls as the narrowest that can be meant.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from sessionlab.errors import WrongUse

CONFIDENCE = 0.95
"""Share of intervals that hold the true rate, were the counting repeated."""


class Interval(NamedTuple):
    """Both ends of a confidence interval."""

    low: float
    high: float


def wilson(cases: int, out_of: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval of the rate ``cases`` in ``out_of`` (Wilson 1927); None: nothing was counted.

    Raises:
        WrongUse: more cases than there are, or a confidence that is none.
    """
    z = _quantile(confidence)
    if not 0 <= cases <= max(out_of, 0):
        raise WrongUse(f"expected 0 to {out_of} cases out of {out_of}, found {cases}")
    if not out_of:
        return None
    rate, square = cases / out_of, z * z
    middle = (rate + square / (2 * out_of)) / (1 + square / out_of)
    half = z / (1 + square / out_of) * sqrt(rate * (1 - rate) / out_of + square / (4 * out_of * out_of))
    low = 0.0 if cases == 0 else max(middle - half, 0.0)  # the ends are exact there: rounding must not hide it
    return Interval(low, 1.0 if cases == out_of else min(middle + half, 1.0))


def difference(
    cases: int, out_of: int, other_cases: int, other_out_of: int, confidence: float = CONFIDENCE
) -> Interval | None:
    """The interval of the first rate minus the other, from both rates' own (Newcombe 1998, method 10).

    None: one of the rates is of nothing.
    """
    one, other = wilson(cases, out_of, confidence), wilson(other_cases, other_out_of, confidence)
    if one is None or other is None:
        return None
    first, second = cases / out_of, other_cases / other_out_of
    apart = first - second
    below = sqrt((first - one.low) ** 2 + (other.high - second) ** 2)
    above = sqrt((one.high - first) ** 2 + (second - other.low) ** 2)
    return Interval(apart - below, apart + above)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise WrongUse(f"confidence: expected a share between 0 and 1 such as 0.95, found {confidence!r}")
    return NormalDist().inv_cdf((1 + confidence) / 2)
