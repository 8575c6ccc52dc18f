"""The texts of ``timeline.details`` go in; what the panel shows within a number of bytes comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sessionlab.widgets import _table
from sessionlab.widgets._budget import longest_each
from sessionlab.widgets._words import one_line, plural, size, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = {
    "session_id": _table.TEXT,
    "span_id": _table.TEXT,
    "part": _table.TEXT,
    "ix": _table.BIG,
    "label": _table.TEXT,
    "text": _table.TEXT,
    "body_bytes": _table.BIG,
    "original_bytes": _table.BIG,
}

PARTS = ("message", "summary", "response", "arguments", "output", "stderr", "error", "probes", "window")
"""Parts in the order they are kept: the window comes last, for most of it is told by the entries before."""

ROW_BYTES = 24
"""What a detail takes beside its text: span, part, label, sizes and codes, measured on long sessions, rounded up."""

SHORTEST_CUT = 120
"""No text is cut shorter than this; where even that does not fit, whole details are left out."""

SpanKey = tuple[str | None, str | None]


class Details(NamedTuple):
    """What the panel shows, and what had to be left out, in sentences."""

    packed: dict[str, Any] | None
    notices: list[str]


def details(table: _table.Table | None, spans: Mapping[SpanKey, int], budget: int, picture: str) -> Details:
    """The details of the drawn ``spans`` (their place by session and id), packed, in at most about ``budget`` bytes.

    Equal texts are stored once. When not all fits, long texts are cut to the same length; when there are too many
    texts for that, those of the window, then those of the last entries are left out.

    Raises:
        TypeError, MissingColumns: as :func:`sessionlab.widgets._table.arrow`.
    """
    if table is None:
        return Details(None, [])
    kept, notices = _within(_ordered(_table.arrow(table, COLUMNS, picture), spans), budget)
    encoded = _encoded(kept)
    texts = encoded.dictionary
    lengths = pc.fill_null(pc.binary_length(texts), 0).to_pylist()
    room = budget - ROW_BYTES * kept.num_rows
    limit = max(SHORTEST_CUT, longest_each(lengths, room))
    shown = [visible(text) for text in pc.utf8_slice_codeunits(texts, 0, limit).to_pylist()]
    # JSON escapes and names of hidden characters make texts longer than they were counted
    while limit > SHORTEST_CUT and _table.encoded_bytes(shown) > room:
        limit = max(SHORTEST_CUT, int(limit * 0.8))
        shown = [visible(text) for text in pc.utf8_slice_codeunits(texts, 0, limit).to_pylist()]
    # a text of n bytes has at most n characters: only those with more bytes than the limit may have been cut
    whole = pc.utf8_length(texts).to_pylist()
    cut = {place for place, characters in enumerate(whole) if characters > limit}
    if cut:
        lost = sum(lengths[place] for place in cut) - sum(len(shown[place].encode()) for place in cut)
        notices.append(f"{plural(len(cut), 'long text')} cut to {limit:,} characters; {size(max(0, lost))} left out.")
    columns = _table.rows(kept.drop_columns("text"))
    codes = [-1 if code is None else code for code in encoded.indices.to_pylist()]
    sizes = [
        None if code < 0 else size(lengths[code] if told is None else told)
        for code, told in zip(codes, columns["body_bytes"], strict=True)
    ]
    packed = _table.pack(
        {
            "span": columns["span"],
            "part": columns["part"],
            "label": [label and one_line(label) for label in columns["label"]],
            "size": sizes,
            "remark": [
                _remark(told, original, limit if code in cut else None)
                for code, told, original in zip(codes, columns["body_bytes"], columns["original_bytes"], strict=True)
            ],
        },
    )
    packed["columns"]["text"] = {"codes": codes, "values": shown}
    return Details(packed, notices)


def _remark(told: int | None, original: int | None, limit: int | None) -> str | None:
    """What the shown text is of the recorded one: a tail by the recorder, a head by the byte budget, or all of it."""
    tail = None
    if original is not None:
        of = "tail" if told is None else f"tail of {plural(told, 'byte')}"
        tail = f"{of}; {original:,} in the original"
    head = None if limit is None else f"first {limit:,} characters: byte budget reached"
    return "; ".join(remark for remark in (tail, head) if remark) or None


def _ordered(table: pa.Table, spans: Mapping[SpanKey, int]) -> pa.Table:
    """The details of drawn spans with their ``span`` place, in the order they are kept."""
    keys = zip(table["session_id"].to_pylist(), table["span_id"].to_pylist(), strict=True)
    places = pa.array([spans.get(key) for key in keys], pa.int64())
    rank = pc.fill_null(pc.index_in(table["part"], value_set=pa.array(PARTS, _table.TEXT)), len(PARTS))
    window = pc.fill_null(pc.equal(table["part"], "window"), fill_value=False)
    table = table.append_column("span", places).append_column("rank", rank).append_column("is_window", window)
    order = [(name, "ascending") for name in ("is_window", "span", "rank", "part", "ix")]
    table = table.filter(pc.is_valid(table["span"])).sort_by(order)
    return table.select(["span", "part", "label", "text", "body_bytes", "original_bytes"])


def _encoded(table: pa.Table) -> pa.DictionaryArray:
    """The texts, each distinct one once, in the order they first occur."""
    return table["text"].combine_chunks().dictionary_encode()


def _within(table: pa.Table, budget: int) -> tuple[pa.Table, list[str]]:
    """As many of the first rows as have room when every text is cut as short as allowed, and a notice of the rest."""
    encoded = _encoded(table)
    lengths = pc.fill_null(pc.binary_length(encoded.dictionary), 0).to_pylist()
    spent, fits, seen = 0, 0, -1
    for code in encoded.indices.to_pylist():
        spent += ROW_BYTES
        if code is not None and code > seen:
            spent += min(lengths[code], SHORTEST_CUT)
            seen = code
        if spent > budget:
            break
        fits += 1
    if fits == table.num_rows:
        return table, []
    lost = table.slice(fits)
    spans = pc.count_distinct(lost["span"]).as_py()
    notice = f"{plural(lost.num_rows, 'text')} of {plural(spans, 'entry', 'entries')} left out, the windows' first."
    return table.slice(0, fits), [notice]
