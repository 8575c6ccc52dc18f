"""The tables of ``timeline.spans`` and ``timeline.details`` go in; a lane per agent with all it did comes out."""

from __future__ import annotations

import json
from typing import Any

import traitlets

from sessionlab.widgets import _source, _spans
from sessionlab.widgets._table import Table, encode
from sessionlab.widgets._timeline import Timeline


class AgentTimeline(Timeline):
    """Who did what when: a lane per agent, nested by origin, with model calls, tools, errors, compactions and limits.

    Hover tells an entry in short, a click (or Enter) opens its window, response, arguments and output. On an axis of
    time, stretches in which nothing happened for long are folded to a mark; a button unfolds them.

    Args:
        spans: a table of the view ``timeline.spans``: one row per agent and per entry.
        details: a table of the view ``timeline.details``: the texts of the entries; None: none to open.
        axis: ``clock``, ``elapsed`` or ``order``; None: the most telling one available. An axis is available when at
            least half of the entries have a place on it; the others are counted beside its title, not drawn there.
        height: height of the lanes in pixels; None: as tall as the lanes, at most 520.
        byte_budget: about how many bytes go to the browser and into a saved notebook; what is left out is said.

    Attributes:
        axes: the axes available, the most telling first.
        axis: the axis in use; may be set to any of ``axes``.
        selected: ``span_id`` of the open entry, empty when none is; follows the reader's clicks, and may be set.

    Raises:
        MissingColumns: ``spans`` or ``details`` lacks a column of its view.
        TypeError: something else than a table was given, or a column has a type that does not fit.
        ValueError: ``axis`` is not one on which at least half of the entries have a place.
    """

    _esm = _source.module("agent_timeline", "_axis.js", "_labels.js", "_lanes.js", "_entry.js")
    _css = _source.style("agent_timeline")

    axis = traitlets.Unicode().tag(sync=True)
    selected = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        spans: Table,
        details: Table | None = None,
        *,
        axis: str | None = None,
        height: int | None = None,
        byte_budget: int = 4_000_000,
    ) -> None:
        """Check the tables, and make the payload."""
        payload = _spans.timeline(spans, details, byte_budget, type(self).__name__)
        self.axes = tuple(told["key"] for told in payload["axes"])
        first = self.axes[0] if axis is None else axis
        super().__init__(payload=encode(payload), axis=first, height=height)

    @traitlets.validate("axis")
    def _known_axis(self, proposal: dict[str, Any]) -> str:
        """Refuse an axis on which most entries would have no place."""
        axis: str = proposal["value"]
        if axis not in self.axes:
            known = ", ".join(self.axes)
            raise ValueError(f"axis {axis!r} is not available; at least half of the entries have a place on: {known}")
        return axis

    @property
    def notices(self) -> tuple[str, ...]:
        """What was left out to stay within the byte budget, in sentences; empty when all is there."""
        return tuple(json.loads(self.payload)["notices"])
