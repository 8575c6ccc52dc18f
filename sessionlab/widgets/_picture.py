"""The payload of a timeline goes in; a still SVG picture of all of it, every text escaped, comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from sessionlab.widgets._axes import AXES
from sessionlab.widgets._scale import Scale
from sessionlab.widgets._words import duration, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

WIDTH = 960
LEFT = 240
LANE = 34
MOST_LANES = 60
INK, QUIET, RULE, PAPER = "#1f2328", "#5b6570", "#d5dade", "#ffffff"

_TRACKS = {"top": (3, 3), "model": (8, 10), "tool": (20, 8)}
"""Offset and height inside a lane of each track."""

_PATTERNS = (
    '<defs><pattern id="sl-unknown" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="6" height="6" fill="{PAPER}"/><rect width="2.5" height="6" fill="#8f8f8f"/></pattern></defs>'
)


def svg(payload: Mapping[str, Any], name: str) -> str:
    """The picture as one SVG element in the colours of paper, whatever the theme around it.

    Marks closer than a pixel are drawn as one, and lanes beyond the first 60 are counted in a sentence, so that the
    picture stays small beside the payload.
    """
    parts = list(_agents(payload) if payload["picture"] == "agents" else _taint(payload))
    height = int(parts.pop())
    title = f"{name}: {payload['summary']}"
    for notice in payload["notices"]:
        height += 16
        parts.append(_text(12, height - 8, notice, fill="#a33f00"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="system-ui, sans-serif" font-size="11">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="{PAPER}" stroke="{RULE}"/>'
        f"{_PATTERNS}{_text(12, 20, title, weight=600)}{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, *, fill: str = INK, weight: int = 400, anchor: str = "start") -> str:
    """A text element; the caller's text has been made visible already, and is escaped here."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-weight="{weight}" text-anchor="{anchor}" '
        f'unicode-bidi="isolate">{escape(text)}</text>'
    )


def _bars(bars: Iterable[tuple[float, float]], y: float, height: float, style: str) -> str:
    """Bars (from, to) of one height and style as one path: a fraction of the text that as many rectangles take."""
    path = "".join(f"M{start:.1f} {y:g}h{stop - start:.1f}v{height:g}h{start - stop:.1f}z" for start, stop in bars)
    return f'<path d="{path}" {style}/>' if path else ""


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def column(packed: Mapping[str, Any], name: str) -> list[Any]:
    """A packed column as a list again: see :func:`sessionlab.widgets._table.pack`."""
    values = packed["columns"].get(name)
    if values is None:
        return [None] * packed["count"]
    if isinstance(values, dict):
        return [None if code < 0 else values["values"][code] for code in values["codes"]]
    return list(values)


def _merged(bars: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Bars (from, to) in pixels, those that touch or overlap as one."""
    start, stop = None, 0.0
    for low, high in sorted(bars):
        if start is not None and low <= stop + 0.5:
            stop = max(stop, high)
            continue
        if start is not None:
            yield start, stop
        start, stop = low, high
    if start is not None:
        yield start, stop


def _agents(payload: Mapping[str, Any]) -> Iterator[str]:
    """The parts of an agent timeline; the last one is its height."""
    lanes = payload["lanes"]
    if not lanes:
        yield _text(12, 46, "No agents and no entries in the table given.", fill=QUIET)
        yield "60"
        return
    x, y = 12.0, 40
    for mark in [*payload["legend"], *({"color": "ink"} | flag for flag in payload["flags"])]:
        label = f"{mark['label']} {mark['count']:,}"
        if x + 26 + 6.2 * len(label) > WIDTH:
            x, y = 12.0, y + 17
        yield _text(x, y, mark["glyph"], fill=INK if mark["color"] == "ink" else mark["color"])
        yield _text(x + 14, y, label, fill=QUIET)
        x += 26 + 6.2 * len(label)
    axis = payload["axes"][0]
    scale = Scale(axis["range"], axis["folds"], LEFT, WIDTH - 12 - LEFT)
    y += 20
    yield _text(LEFT, y, " · ".join(filter(None, (axis["label"], axis["remark"]))), fill=QUIET)
    if axis["key"] != "order":
        low, high = axis["range"]
        length = f"{duration(high - low)}; {axis['folded']}" if axis["folds"] else duration(high - low)
        y += 15 if axis["folds"] and axis["remark"] else 0
        yield _text(WIDTH - 12, y, length, fill=QUIET, anchor="end")
    if axis["folds"]:
        y += 16
        yield from _idle_words(axis, scale, y)
    top, shown = y + 8, lanes[:MOST_LANES]
    bare = set(axis["bare"])
    for place, lane in enumerate(shown):
        y = top + place * LANE
        yield f'<line x1="12" x2="{WIDTH - 12}" y1="{y}" y2="{y}" stroke="{RULE}"/>'
        indent = 12 + 12 * min(lane["depth"], 6)
        room = LEFT - 8 - indent
        yield _text(indent, y + 15, _cut(lane["label"], int(room / 6.6)), weight=600)
        told = " · ".join(lane[part] for part in ("origin", "status") if part in lane)
        told = f"{told} · {lane['count']}" if told else lane["count"]
        yield _text(indent, y + 28, _cut(told, int(room / 5.8)), fill=QUIET)
        if not lane["entries"] or place in bare:
            yield _text(LEFT, y + 20, axis["bare_note"] if lane["entries"] else lane["note"], fill=QUIET)
    height = top + len(shown) * LANE
    for fold in axis["folds"]:
        yield _break(scale.x(fold[0]) + scale.fold / 2, top, height, scale.fold)
    yield from _marks(payload, axis, scale, top, len(shown))
    height += 8
    if len(lanes) > len(shown):
        yield _text(12, height + 8, f"{plural(len(lanes) - len(shown), 'more agent')} not shown here.", fill=QUIET)
        height += 18
    yield str(height)


def _idle_words(axis: Mapping[str, Any], scale: Scale, y: float) -> Iterator[str]:
    """How long each fold was idle, over the fold, where the one before leaves room for it."""
    reached = float(LEFT)
    for (begin, _), words in zip(axis["folds"], axis["idle"], strict=True):
        half = 3.0 * len(words)
        middle = min(max(scale.x(begin) + scale.fold / 2, LEFT + half), WIDTH - 12 - half)
        if middle - half < reached:
            continue
        reached = middle + half + 6
        yield _text(middle, y, words, fill=QUIET, anchor="middle")


def _break(x: float, top: float, bottom: float, room: float) -> str:
    """Two torn edges around ``x`` with nothing between: the sign that an axis leaves something out."""
    half, depth = min(2.5, room / 6), bottom - top
    edge = "".join(f"l{-half if n % 2 else half:g} 4" for n in range(round(depth / 4)))
    edges = "".join(f"M{x + side:.1f} {top:g}{edge}" for side in (-half, half))
    gap = f'<rect x="{x - half:.1f}" y="{top:g}" width="{2 * half:g}" height="{depth:g}" fill="{PAPER}"/>'
    return f'{gap}<path d="{edges}" fill="none" stroke="{QUIET}" stroke-width="0.8"/>'


def _marks(
    payload: Mapping[str, Any],
    axis: Mapping[str, Any],
    scale: Scale,
    top: int,
    lanes: int,
) -> Iterator[str]:
    """Every entry of the first ``lanes`` lanes, by lane and kind in the order of the legend: errors over calls."""
    spans, legend = payload["spans"], {mark["key"]: mark for mark in payload["legend"]}
    step = 1 if axis["key"] == "order" else 0
    bars: dict[tuple[int, str], list[tuple[float, float]]] = {}
    names = ("lane", "kind", *AXES[axis["key"]][:2], "status")
    for lane, kind, first, last, status in zip(*(column(spans, name) for name in names), strict=True):
        if kind == "agent" or first is None or lane >= lanes:
            continue
        x = scale.x(first)
        width = 1.0 if last is None else max(2.0, scale.x(last + step) - x - 1)
        bars.setdefault((lane, kind), []).append((x, x + width))
        if status in ("failed", "refused", "interrupted"):
            bars.setdefault((lane, f"!{kind}"), []).append((x, x + max(3.0, width)))
    for (lane, kind), places in bars.items():
        mark = legend[kind.lstrip("!")]
        offset, height = _TRACKS[mark["track"]]
        y = top + lane * LANE + offset
        failed, hollow = kind.startswith("!"), mark["shape"] in ("outline", "fold", "ring")
        color = INK if mark["color"] == "ink" else mark["color"]
        style = f'fill="{PAPER}" stroke="{color}"' if hollow else f'fill="{color}"'
        if failed:
            y, height, style = y + height, 2, 'fill="#d55e00"'
        merged = list(_merged(places))
        yield _bars(merged, y, height, style)
        if mark["shape"] in ("cross", "stop", "ring", "pinch", "dot") and not failed:
            for start, stop in merged:
                yield _text((start + stop) / 2, y + height - 1, mark["glyph"], anchor="middle", weight=700)


def _taint(payload: Mapping[str, Any]) -> Iterator[str]:
    """The parts of a taint timeline; the last one is its height."""
    rows = payload["rows"]
    if not rows["count"]:
        yield _text(12, 46, "No messages in the table given.", fill=QUIET)
        yield "60"
        return
    x = 12.0
    for state in payload["legend"]:
        label = f"{state['label']} {state['count']:,}"
        yield _text(x, 40, f"[{state['glyph']}]", weight=700)
        yield _text(x + 30, 40, label, fill=QUIET)
        x += 46 + 6.2 * len(label)
    left, top, height = 90, 66, 22
    scale = (WIDTH - 12 - left) / rows["count"]
    fills = {"private": payload["colors"]["private"], "untrusted": payload["colors"]["untrusted"]}
    legs: dict[str, list[tuple[float, float]]] = {"clean": [], "unknown": [], "private": [], "untrusted": []}
    events: dict[str, list[tuple[float, float]]] = {}
    for place, (kind, state) in enumerate(zip(column(rows, "kind"), column(rows, "state"), strict=True)):
        start = left + place * scale
        bar = (start, start + max(1.0, scale - (1 if scale > 4 else 0)))  # noqa: PLR2004 - room for a gap
        if kind != "message":
            events.setdefault(kind, []).append((start + scale / 2, start + scale / 2))
        for leg in ("private", "untrusted") if state == "both" else (state,) if state else ():
            legs[leg].append(bar)
    for leg, y in (("private", top), ("untrusted", top + height + 4)):
        yield _text(12, y + 15, leg, fill=QUIET)
        yield _bars(_merged(legs["clean"]), y + height / 2 - 1, 2, f'fill="{RULE}"')
        unknown = list(_merged(legs["unknown"]))
        yield _bars(unknown, y, height, 'fill="url(#sl-unknown)" stroke="#8f8f8f"')
        for start, stop in unknown:
            yield _text((start + stop) / 2, y + 15, "?", anchor="middle", weight=700)
        yield _bars(_merged(legs[leg]), y, height, f'fill="{fills[leg]}"')
    below = top + 2 * height + 4
    for kind, glyph in (("checkpoint", "▲"), ("rewrite", "↺"), ("extend", "+")):
        for start, stop in _merged(events.get(kind, [])):
            yield _text((start + stop) / 2, below + 14, glyph, anchor="middle")
    counts = ", ".join(
        f"{glyph} {plural(event['count'], event['label'])}"
        for event in payload["events"]
        for glyph in [{"checkpoint": "▲", "rewrite": "↺", "extend": "+"}[event["key"]]]
    )
    yield _text(left, below + 30, f"messages in order; {counts or 'no checkpoint'}", fill=QUIET)
    yield str(below + 42)
