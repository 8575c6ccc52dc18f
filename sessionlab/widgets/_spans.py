"""The rows of ``timeline.spans`` go in; lanes, legend, axes and packed spans that only need drawing come out."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sessionlab.widgets import _axes, _table
from sessionlab.widgets._axes import Columns
from sessionlab.widgets._budget import largest_that_fits
from sessionlab.widgets._details import SpanKey, details
from sessionlab.widgets._marks import FLAGS, MARKS
from sessionlab.widgets._words import duration, one_line, plural, size, window_use, written

COLUMNS = {
    "session_id": _table.TEXT,
    "agent_id": _table.TEXT,
    "lane": _table.BIG,
    "span_id": _table.TEXT,
    "kind": _table.TEXT,
    "name": _table.TEXT,
    "parent_agent_id": _table.TEXT,
    "depth": _table.BIG,
    "origin": _table.TEXT,
    "status": _table.TEXT,
    "reason": _table.TEXT,
    "is_forced": _table.FLAG,
    "caller": _table.TEXT,
    "place": _table.TEXT,
    "run": _table.BIG,
    "turn": _table.BIG,
    "begin_order": _table.BIG,
    "end_order": _table.BIG,
    "begin_ms": _table.REAL,
    "end_ms": _table.REAL,
    "begin_at": _table.TIME,
    "end_at": _table.TIME,
    "context_tokens": _table.BIG,
    "window_tokens": _table.BIG,
    "output_tokens": _table.BIG,
    "excerpt": _table.TEXT,
    "note": _table.TEXT,
}

LEAST_BYTES = 30
"""No packed entry takes less: a code or number in each of some fifteen columns."""

_TEXTS = ("name", "reason", "caller", "place", "excerpt", "note")
_AS_GIVEN = ("status", "caller", "place", "reason", "run", "turn", "begin_order", "end_order", "begin_ms", "end_ms")


def timeline(spans: _table.Table, texts: _table.Table | None, budget: int, picture: str) -> dict[str, Any]:
    """Everything an agent timeline draws, as JSON-ready values of at most about ``budget`` bytes.

    Entries come first and excerpts next; details take what is left. What does not fit is named in ``notices``.

    Raises:
        TypeError, MissingColumns: as :func:`sessionlab.widgets._table.arrow`.
    """
    table = _table.arrow(spans, COLUMNS, picture)
    order = [("session_id", "ascending"), ("lane", "ascending"), ("begin_order", "ascending")]
    columns = _table.rows(table.sort_by(order))
    for name in _TEXTS:
        columns[name] = [value and one_line(value) for value in columns[name]]
    kinds = columns["kind"] = [kind if kind == "agent" or kind in MARKS else "other" for kind in columns["kind"]]
    # agents first, then entries as they happened: a budget that ends early keeps every lane and the beginning
    begins = columns["begin_order"]
    line = sorted(range(len(kinds)), key=lambda i: (kinds[i] != "agent", begins[i] is None, begins[i] or 0))
    notices: list[str] = []
    payload = _drawn(columns, line)
    if _table.encoded_bytes(payload) > budget:
        columns["excerpt"] = [None] * len(kinds)
        notices.append("Excerpts left out.")
        most = min(len(line), budget // LEAST_BYTES)
        fits = largest_that_fits(most, lambda n: _table.encoded_bytes(_drawn(columns, line[:n])), budget)
        payload = _drawn(columns, line[:fits])
        if lost := len(line) - fits:
            what = "entry" if lost <= sum(kind != "agent" for kind in kinds) else "entry or agent"
            notices.append(f"The last {plural(lost, what, 'entries')} of {len(line):,} left out.")
        line = line[:fits]
    places: dict[SpanKey, int] = {}
    for place, i in enumerate(line):
        places.setdefault((columns["session_id"][i], columns["span_id"][i]), place)
    told = details(texts, places, budget - _table.encoded_bytes(payload), picture)
    notices += told.notices
    if notices:
        notices.insert(0, f"The byte budget of {size(budget)} is reached.")
    return payload | {"details": told.packed, "notices": notices}


def _drawn(columns: Columns, line: list[int]) -> dict[str, Any]:
    """The entries at the places ``line``, and what is said about all of them together."""
    lanes, lane_of = _lanes(columns, line)
    kinds = Counter(columns["kind"][i] for i in line)
    flags = Counter(flag for i in line if columns["kind"][i] != "agent" for flag in _flags(columns, i))
    entries = len(line) - kinds["agent"]
    starts = [columns["begin_at"][i] for i in line if columns["begin_at"][i] is not None]
    zero = min(starts, default=0)
    return {
        "picture": "agents",
        "summary": f"{plural(len(lanes), 'agent')}, {plural(entries, 'entry', 'entries')}",
        "axes": _axes.axes(columns, line, lane_of, zero),
        "clock_zero_ms": zero / 1_000,
        "legend": [mark._asdict() | {"count": kinds[mark.key]} for mark in MARKS.values() if kinds[mark.key]],
        "flags": [
            {"key": key, "label": label, "glyph": glyph, "count": flags[key]}
            for key, (label, glyph) in FLAGS.items()
            if flags[key]
        ],
        "lanes": lanes,
        "spans": _table.pack(_spans(columns, line, lane_of, zero)),
    }


def _flags(columns: Columns, i: int) -> list[str]:
    status = columns["status"][i]
    return ["forced"] * bool(columns["is_forced"][i]) + [status] * (status in FLAGS)


def _lanes(columns: Columns, line: list[int]) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """A lane per agent from the top down, with why it is empty where it is, and the lane of each row."""

    def key(i: int) -> tuple[Any, Any, Any]:
        return columns["session_id"][i], columns["lane"][i], columns["agent_id"][i]

    def top_down(lane: tuple[Any, Any, Any]) -> tuple[str, bool, int, str]:
        session, number, agent = lane
        return session or "", number is None, number or 0, agent or ""

    entries = Counter(key(i) for i in line if columns["kind"][i] != "agent")
    agents = {key(i): place for place, i in enumerate(line) if columns["kind"][i] == "agent"}
    ordered = sorted(set(entries) | set(agents), key=top_down)
    place_of = {lane: place for place, lane in enumerate(ordered)}
    by_agent = {(session, agent): place_of[session, number, agent] for session, number, agent in ordered}
    sessions = {session for session, _, _ in ordered}
    lanes = []
    for lane in ordered:
        session, _, agent = lane
        span = agents.get(lane)
        i = None if span is None else line[span]
        told: dict[str, Any] = {
            "agent": one_line(agent or "agent not told", 80),
            "label": one_line((i is not None and columns["name"][i]) or agent or "agent not told", 80),
            "session": one_line(session, 80) if session and len(sessions) > 1 else None,
            "span": span,
            "entries": entries[lane],
            "count": plural(entries[lane], "entry", "entries"),
            "depth": 0,
        }
        if i is not None:
            parent = columns["parent_agent_id"][i]
            told["depth"] = max(0, columns["depth"][i] or 0)
            told["parent"] = by_agent.get((session, parent))
            told |= {name: columns[name][i] for name in ("status", "reason", "note")}
            told["origin"] = (columns["origin"][i] or "").replace("_", " ") or None
        if not entries[lane] and not told.get("note"):
            told["note"] = "no entries; nothing tells why"
        lanes.append({name: value for name, value in told.items() if value is not None})
    return lanes, {i: place_of[key(i)] for i in line}


def _spans(columns: Columns, line: list[int], lane_of: dict[int, int], zero: int) -> Columns:
    """The packed table's columns: what is drawn, and what hover and panel say in words."""
    spans: Columns = {
        "span_id": [columns["span_id"][i] for i in line],
        "lane": [lane_of[i] for i in line],
        "kind": [columns["kind"][i] for i in line],
        "name": [columns["name"][i] for i in line],
        "forced": [int(columns["is_forced"][i] or 0) for i in line],
    }
    spans |= {name: [columns[name][i] for i in line] for name in _AS_GIVEN}
    spans |= {name: [_axes.place(columns, i, name, zero) for i in line] for name in ("begin_at", "end_at")}
    spans |= {
        "length": [_length(columns, i) for i in line],
        "use": [window_use(columns["context_tokens"][i], columns["window_tokens"][i]) for i in line],
        "written": [written(columns["output_tokens"][i]) for i in line],
        "excerpt": [columns["excerpt"][i] for i in line],
        "note": [columns["note"][i] for i in line],
    }
    return spans


def _length(columns: Columns, i: int) -> str | None:
    """How long an entry took, by the session's clock where it is told, else by the wall clock."""
    for begin, end, per_ms in (("begin_ms", "end_ms", 1), ("begin_at", "end_at", 1_000)):
        a, b = columns[begin][i], columns[end][i]
        if a is not None and b is not None and b >= a:
            return duration((b - a) / per_ms)
    return None
