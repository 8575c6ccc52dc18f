"""Small values every format reads and writes: times as microseconds, JSON as compact text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import msgspec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONG_FRACTION = re.compile(r"(\.\d{6})\d+")
_encode = msgspec.json.Encoder(order=None).encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def micros(text: str | None) -> int | None:
    """An RFC 3339 time as microseconds since 1970 UTC; digits past microseconds are cut. None: not such a time.

    A time without a zone is None too: the caller decides what to assume, and says so.
    """
    if not text:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        try:
            when = datetime.fromisoformat(_LONG_FRACTION.sub(r"\1", text))
        except ValueError:
            return None
    return None if when.tzinfo is None else (when - _EPOCH) // _MICROSECOND


def compact(value: object) -> str:
    """``value`` as compact JSON text, members in the order given (`detail` columns)."""
    return _encode(value).decode()


def compact_sorted(value: object) -> str:
    """``value`` as compact JSON text with sorted keys."""
    return _encode_sorted(value).decode()


def detail(**members: object) -> str | None:
    """The members that are not None as a `detail` text; None when none is left."""
    kept = {name: value for name, value in members.items() if value is not None}
    return compact(kept) if kept else None
