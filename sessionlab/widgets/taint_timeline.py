"""The table of ``taint.timeline`` goes in; messages with what had tainted the conversation by then come out."""

from __future__ import annotations

import traitlets

from sessionlab.widgets import _messages, _source
from sessionlab.widgets._table import Table, encode
from sessionlab.widgets._timeline import Timeline


class TaintTimeline(Timeline):
    """What had entered the conversation when: every message private, untrusted, both, clean or *unknown*.

    Unknown (no checkpoint covers the message) is drawn hatched with a question mark: it never looks like clean.

    Args:
        messages: a table of the view ``taint.timeline``: one row per message, checkpoint, rewrite and extension.
        byte_budget: about how many bytes go to the browser and into a saved notebook; what is left out is said.

    Attributes:
        selected: place of the open row, counted from 0 in the order of the table; -1 when none is.

    Raises:
        MissingColumns: ``messages`` lacks a column of its view.
        TypeError: something else than a table was given, or a column has a type that does not fit.
    """

    _esm = _source.module("taint_timeline", "_ribbon.js")
    _css = _source.style("taint_timeline")

    selected = traitlets.Int(-1).tag(sync=True)

    def __init__(self, messages: Table, *, byte_budget: int = 4_000_000) -> None:
        """Check the table, and make the payload."""
        super().__init__(payload=encode(_messages.timeline(messages, byte_budget, type(self).__name__)))
