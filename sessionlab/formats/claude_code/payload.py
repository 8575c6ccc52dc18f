"""A member of a line that no column holds in, its place out: in `detail` while it is short, else a text body."""

from __future__ import annotations

from msgspec import Raw

from sessionlab.columns import BIGINT_MAX
from sessionlab.formats._values import detail
from sessionlab.formats.claude_code.decoding import text_of, value_of
from sessionlab.formats.claude_code.records import Line
from sessionlab.formats.claude_code.state import DETAIL_BYTES, Transcript


def kept(t: Transcript, name: str, payload: Raw | str | None) -> tuple[object, int | None]:
    """A payload for `detail`, or, when it is long, the index of the text it was put aside as."""
    if not payload:
        return None, None
    text = payload if isinstance(payload, str) else text_of(payload)
    if text is None:
        return None, None
    if len(text) <= DETAIL_BYTES:
        return (payload if isinstance(payload, str) else value_of(payload)), None
    return None, t.text(text, name)


def milliseconds(value: float | None) -> int | None:
    """A duration in whole milliseconds; None when it is not told or no BIGINT."""
    return None if value is None or abs(value) >= BIGINT_MAX else round(value)


def details(line: Line, **members: object) -> str | None:
    """`detail` of an entry: the members told, and those of the line that no field knows."""
    return detail(**members, rest=line.rest)
