"""Rows or texts and a number of bytes go in; what fits, and how much of it, comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def largest_that_fits(count: int, cost: Callable[[int], int], budget: int) -> int:
    """The largest n up to ``count`` with ``cost(n) <= budget``, 0 when none; ``cost`` never falls as n grows."""
    if cost(count) <= budget:
        return count
    fits, over = 0, count
    while over - fits > 1:
        middle = (fits + over) // 2
        if cost(middle) <= budget:
            fits = middle
        else:
            over = middle
    return fits


def longest_each(lengths: Iterable[int], budget: int) -> int:
    """The longest length every text may have so that all together fit ``budget``.

    Short texts stay whole, long ones are cut alike.

    Returns the longest text's own length when nothing has to be cut.
    """
    ordered = sorted(lengths)
    remaining = budget
    for place, length in enumerate(ordered):
        share = remaining // (len(ordered) - place)
        if length > share:
            return max(0, share)
        remaining -= length
    return ordered[-1] if ordered else 0
