"""Stretches of activity go in; the idle stretches between them that are worth folding away come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_MS = 60_000
"""Idle time up to a minute is never folded."""

LEAST_SHARE = 0.03
"""Idle time up to this share of the busy time does not squeeze what is drawn, and is not folded either."""


def idle(active: Iterable[tuple[float, float]], low: float, high: float) -> list[tuple[float, float]]:
    """The stretches of ``low`` to ``high`` in which nothing was active for long, as (from, to) in ascending order.

    All in milliseconds. Long is longer than a minute and than 3 % of the time in which something was active.

    Args:
        active: begin and end of everything that counts as activity, in any order, overlapping or not; a moment has
            one place for both.
        low: where the axis begins, at or before the first activity.
        high: where the axis ends, at or after the last.

    Returns:
        None at all when nothing but idle stretches would be left: there would be no axis between the folds.
    """
    gaps: list[tuple[float, float]] = []
    busy, reached = 0.0, low
    for begin, end in sorted(active):
        if begin > reached:
            gaps.append((reached, begin))
        busy += max(0.0, end - max(begin, reached))
        reached = max(reached, begin, end)
    if high > reached:
        gaps.append((reached, high))
    least = max(LEAST_MS, LEAST_SHARE * busy)
    folds = [(begin, end) for begin, end in gaps if end - begin > least]
    return folds if sum(end - begin for begin, end in folds) < high - low else []
