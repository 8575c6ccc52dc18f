"""The rows of ``taint.timeline`` go in; messages, checkpoints and rewrites that only need drawing come out."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sessionlab.widgets import _table
from sessionlab.widgets._budget import largest_that_fits
from sessionlab.widgets._marks import NEUTRAL, PRIVATE, STATES, UNTRUSTED
from sessionlab.widgets._words import one_line, plural, size

COLUMNS = {
    "session_id": _table.TEXT,
    "ordinal": _table.BIG,
    "kind": _table.TEXT,
    "position": _table.BIG,
    "seq": _table.BIG,
    "run": _table.BIG,
    "role": _table.TEXT,
    "voice": _table.TEXT,
    "state": _table.TEXT,
    "private": _table.FLAG,
    "untrusted": _table.FLAG,
    "covered_by_seq": _table.BIG,
    "learnable": _table.FLAG,
    "external": _table.FLAG,
    "name": _table.TEXT,
    "excerpt": _table.TEXT,
    "agent_id": _table.TEXT,
}

LEAST_BYTES = 10
"""No packed row takes less: a code or number in each of at least five columns."""

EVENTS = {"checkpoint": "checkpoint", "rewrite": "rewrite", "extend": "extension"}
"""What stands between messages, in the order of the legend."""


def timeline(messages: _table.Table, budget: int, picture: str) -> dict[str, Any]:
    """Everything a taint timeline draws, as JSON-ready values of at most about ``budget`` bytes.

    A state that is not one of the five, or null, is ``unknown``: nothing is taken for clean that is not said to be.

    Raises:
        TypeError, MissingColumns: as :func:`sessionlab.widgets._table.arrow`.
    """
    table = _table.arrow(messages, COLUMNS, picture)
    columns = _table.rows(table.sort_by([("session_id", "ascending"), ("ordinal", "ascending")]))
    for name in ("role", "voice", "name", "excerpt", "session_id", "agent_id"):
        columns[name] = [value and one_line(value) for value in columns[name]]
    columns["state"] = [
        (state if state in STATES else "unknown") if kind not in EVENTS else None
        for kind, state in zip(columns["kind"], columns["state"], strict=True)
    ]
    columns["kind"] = [kind if kind in EVENTS else "message" for kind in columns["kind"]]
    columns["told"] = [
        _told(*values) for values in zip(*(columns[name] for name in ("kind", "private", "untrusted")), strict=True)
    ]
    for name in ("session_id", "agent_id"):
        if len(set(columns[name])) <= 1:
            columns[name] = [None] * table.num_rows
    del columns["ordinal"]
    notices: list[str] = []
    payload = _drawn(columns, table.num_rows)
    if _table.encoded_bytes(payload) > budget:
        columns["excerpt"] = [None] * table.num_rows
        most = min(table.num_rows, budget // LEAST_BYTES)
        fits = largest_that_fits(most, lambda n: _table.encoded_bytes(_drawn(columns, n)), budget)
        payload = _drawn(columns, fits)
        notices = [f"The byte budget of {size(budget)} is reached.", "Excerpts left out."]
        if lost := table.num_rows - fits:
            notices.append(f"The last {plural(lost, 'row')} of {table.num_rows:,} left out.")
    return payload | {"notices": notices}


def _told(kind: str, private: bool | None, untrusted: bool | None) -> str | None:
    """What a checkpoint says in words; None for a message."""
    if kind == "rewrite":
        return "the conversation was replaced; checkpoints before this point no longer cover it"
    if kind == "extend":
        return "blocks were added to a message; only a checkpoint after this point covers it"
    if kind != "checkpoint":
        return None
    legs = [
        f"{leg}: {'not told' if value is None else 'yes' if value else 'no'}"
        for leg, value in (("private", private), ("untrusted", untrusted))
    ]
    return f"{legs[0]}, {legs[1]} (merged so far)"


def _drawn(columns: dict[str, list[Any]], count: int) -> dict[str, Any]:
    """The first ``count`` rows, and what is said about all of them together."""
    kinds = Counter(columns["kind"][:count])
    states = Counter(state for state in columns["state"][:count] if state)
    events = [plural(kinds[kind], label) for kind, label in EVENTS.items() if kinds[kind]]
    return {
        "picture": "taint",
        "summary": ", ".join([plural(kinds["message"], "message"), *events]),
        "legend": [
            {"key": key, "label": label, "glyph": glyph, "meaning": meaning, "count": states[key]}
            for key, (label, glyph, meaning) in STATES.items()
        ],
        "events": [{"key": key, "label": label, "count": kinds[key]} for key, label in EVENTS.items() if kinds[key]],
        "colors": {"private": PRIVATE, "untrusted": UNTRUSTED, "neutral": NEUTRAL},
        "rows": _table.pack({name: values[:count] for name, values in columns.items()}),
    }
