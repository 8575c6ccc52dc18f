"""A kind, status or taint state goes in; how it is named, coloured and shaped comes out, for every drawing of it."""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """How one kind of entry is drawn.

    Colours are Okabe and Ito's set, which the common kinds of colour blindness keep apart; no kind is told by
    colour alone, ``shape`` and ``glyph`` say it again.

    Attributes:
        key: the kind.
        label: its name in the legend.
        color: fill, as #rrggbb; "ink" is the text colour of the surrounding page.
        ink: text on that fill.
        shape: ``bar``, ``stripes``, ``dots``, ``outline``, ``bracket``, ``dot``, ``cross``, ``pinch``, ``fold``,
            ``ring`` or ``stop``.
        glyph: a character for pictures too small for a shape.
        track: ``top``, ``model`` or ``tool``: the line of the lane it is drawn on.
    """

    key: str
    label: str
    color: str
    ink: str
    shape: str
    glyph: str
    track: str


MARKS = {
    mark.key: mark
    for mark in (
        Mark("run", "run", "ink", "#ffffff", "bracket", "⊓", "top"),
        Mark("message", "message", "ink", "#ffffff", "dot", "●", "model"),
        Mark("model_call", "model call", "#0072b2", "#ffffff", "bar", "■", "model"),
        Mark("model_error", "model error", "#d55e00", "#ffffff", "cross", "✕", "model"),
        Mark("tool_call", "tool call", "#009e73", "#00150e", "bar", "■", "tool"),
        Mark("shell", "shell", "#e69f00", "#1d1400", "stripes", "▤", "tool"),
        Mark("git", "git", "#cc79a7", "#240a19", "dots", "▦", "tool"),
        Mark("compaction", "compaction", "#56b4e9", "#06202f", "pinch", "▶", "model"),
        Mark("rewrite", "rewrite", "#8f8f8f", "#000000", "fold", "↺", "model"),
        Mark("probe", "probe", "#d55e00", "#ffffff", "ring", "⊘", "tool"),
        Mark("limit", "limit", "#d55e00", "#ffffff", "stop", "◆", "model"),
        Mark("other", "other", "#8f8f8f", "#000000", "bar", "■", "tool"),
    )
}
"""Every kind of span but ``agent`` (a lane), in the order of the legend."""

FLAGS = {
    "forced": ("forced call", "▨"),
    "failed": ("failed", "✕"),
    "refused": ("refused", "⊘"),
    "asked": ("asked", "?"),
    "interrupted": ("interrupted", "‖"),
    "unanswered": ("unanswered", "…"),
    "staged": ("staged", "⇡"),
}
"""What a mark may carry besides its kind (label, glyph), in the order of the legend: how it came about and ended."""

STATES = {
    "clean": ("clean", "·", "A checkpoint says: neither private nor untrusted content had entered."),
    "private": ("private", "P", "A checkpoint says: private data had entered."),
    "untrusted": ("untrusted", "U", "A checkpoint says: content from outside had entered."),
    "both": ("private + untrusted", "PU", "A checkpoint says: private data and content from outside had entered."),
    "unknown": ("unknown", "?", "No checkpoint covers it: nothing is known, which is not clean."),
}
"""Taint states in the order of the legend: label, glyph, meaning."""

PRIVATE, UNTRUSTED, NEUTRAL = "#0072b2", "#e69f00", "#8f8f8f"
