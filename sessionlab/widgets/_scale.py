"""A range, its folds and a width in pixels go in; the pixel of every place comes out: the axis of a still picture."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLD = 18.0
"""Width of a fold in pixels, whatever time it holds."""

MOST_SHARE = 0.4
"""All folds together take no more of the width than this."""


class Scale:
    """Places on an axis as pixels: busy time in proportion, every folded stretch in the same small width.

    Attributes:
        fold: width of a fold in pixels.
    """

    def __init__(self, span: Sequence[float], folds: Sequence[Sequence[float]], left: float, width: float) -> None:
        """``span`` is (low, high), drawn from pixel ``left`` on and ``width`` pixels wide; ``folds`` ascend."""
        self.fold = min(FOLD, MOST_SHARE * width / len(folds)) if folds else 0.0
        self._low, self._left, self._folds = span[0], left, folds
        self._begins = [begin for begin, _ in folds]
        self._idle = list(accumulate((end - begin for begin, end in folds), initial=0.0))
        self._scale = (width - self.fold * len(folds)) / (span[1] - span[0] - self._idle[-1])

    def x(self, place: float) -> float:
        """The pixel of ``place``; inside a fold in proportion to the fold's width."""
        before = bisect_left(self._begins, place)
        if not before:
            return self._left + (place - self._low) * self._scale
        begin, end = self._folds[before - 1]
        inside = min(place, end) - begin
        busy = place - self._low - self._idle[before - 1] - inside
        return self._left + busy * self._scale + self.fold * (before - 1 + inside / (end - begin))
