"""Places of entries go in; the axes they can be drawn on, each with its title, range and folds, come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sessionlab.widgets._idle import idle
from sessionlab.widgets._words import duration, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Columns = dict[str, list[Any]]


class Axis(NamedTuple):
    """One way to place entries.

    Attributes:
        begin: the column that says where an entry begins.
        end: the column that says where it ends.
        title: what the axis says about itself, with its unit.
        place: what an entry without a place on it lacks.
        bare: what a lane says none of whose entries has a place on it.
    """

    begin: str
    end: str
    title: str
    place: str
    bare: str


AXES = {
    "clock": Axis("begin_at", "end_at", "clock time, UTC", "a time", "no clock reading"),
    "elapsed": Axis("begin_ms", "end_ms", "elapsed since the session began", "a time", "no clock reading"),
    "order": Axis("begin_order", "end_order", "order of entries, not time", "a place", "no place in the order"),
}
"""Axes from the most to the least telling."""

LEAST_SHARE = 0.5
"""An axis is offered when at least this share of the entries has a place on it."""

_ENCLOSING = frozenset({"agent", "run"})
"""Kinds that last from the first to the last of what they enclose, through hours in which nothing happens."""


def offered(columns: Columns, drawn: Sequence[int]) -> list[str]:
    """The axes on which at least half of the entries ``drawn`` have a place; the order when there is none."""
    told = {name: sum(columns[axis.begin][i] is not None for i in drawn) for name, axis in AXES.items()}
    return [name for name, count in told.items() if count and count >= LEAST_SHARE * len(drawn)] or ["order"]


def place(columns: Columns, i: int, name: str, zero: int) -> float | None:
    """Where entry ``i`` stands by column ``name``; times of day in milliseconds since ``zero`` (us since 1970)."""
    value: float | None = columns[name][i]
    return (value - zero) / 1_000 if value is not None and name.endswith("_at") else value


def axes(columns: Columns, line: Sequence[int], lane_of: Mapping[int, int], zero: int) -> list[dict[str, Any]]:
    """What is drawn and said about every axis offered, JSON-ready, the most telling first.

    An entry without a place on an axis is not drawn there: a place that is not told is never made up. ``remark`` counts
    those entries, and ``bare`` lists the lanes that have no others, which say ``bare_note``. ``folds`` are the idle
    stretches (:func:`sessionlab.widgets._idle.idle`) of an axis of time, ``idle`` the words for each, ``folded`` for
    all together.

    Args:
        columns: of ``timeline.spans``.
        line: the rows in use.
        lane_of: the lane of each row, counted from the top.
        zero: the first time of day, in microseconds since 1970.
    """
    drawn = [i for i in line if columns["kind"][i] != "agent"]
    names = offered(columns, drawn)
    elsewhere = "order" in names
    described = []
    for name in names:
        axis, is_time = AXES[name], name != "order"
        told = [i for i in drawn if columns[axis.begin][i] is not None]
        low, high = _range(columns, line, axis, zero)
        folds = idle(_active(columns, told, axis, zero), low, high) if is_time else []
        lengths = [end - begin for begin, end in folds]
        remark = f"{plural(len(drawn) - len(told), 'entry', 'entries')} without {axis.place}"
        together = f"{plural(len(folds), 'idle stretch', 'idle stretches')} folded, {duration(sum(lengths))} in all"
        described.append(
            {
                "key": name,
                "label": axis.title,
                "remark": remark + " (see order)" * (is_time and elsewhere) if len(told) < len(drawn) else None,
                "range": [low, high],
                "bare": sorted({lane_of[i] for i in drawn} - {lane_of[i] for i in told}),
                "bare_note": axis.bare + ": order only" * (is_time and elsewhere),
                "folds": [list(fold) for fold in folds],
                "idle": [f"idle {duration(length)}" for length in lengths],
                "folded": together if folds else None,
            },
        )
    return described


def _active(columns: Columns, told: Sequence[int], axis: Axis, zero: int) -> list[tuple[float, float]]:
    """Begin and end of all that happens, without what only encloses it; what has no end is a moment."""
    return [
        (begin, begin if (end := place(columns, i, axis.end, zero)) is None else max(begin, end))
        for i in told
        if columns["kind"][i] not in _ENCLOSING and (begin := place(columns, i, axis.begin, zero)) is not None
    ]


def _range(columns: Columns, line: Sequence[int], axis: Axis, zero: int) -> tuple[float, float]:
    """Where the axis begins and ends; on the order axis every entry is one step wide."""
    places = [p for i in line for name in axis[:2] if (p := place(columns, i, name, zero)) is not None]
    low, high = min(places, default=0), max(places, default=0)
    return (low, high + 1) if axis.begin == "begin_order" or high == low else (low, high)
