"""Small values every format reads and writes: times as microseconds, JSON as compact text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime(1, 1, 3, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime(9999, 12, 30, tzinfo=UTC) - _EPOCH) // _MICROSECOND - 1
_LONG_FRACTION = re.compile(r"(\.\d{6})\d+")
_LEAP_SECOND = re.compile(r"(:\d\d):60(?!\d)")
_encode = msgspec.json.Encoder(order=None).encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def micros(text: str | None, *, assume: tzinfo | None = None) -> int | None:
    """An RFC 3339 time as microseconds since 1970 UTC; digits past microseconds are cut. None: not such a time.

    A time without a zone is None too, unless the caller says which to ``assume`` (and says so in a note). So is a time
    before 0001-01-03 or from 9999-12-30 on: within two days of the ends of the calendar some time zone has no name for
    it. A leap second (``:60``), which no table can hold, is the second after it.
    """
    if not text:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        regular, leaps = _LEAP_SECOND.subn(r"\1:59", _LONG_FRACTION.sub(r"\1", text), count=1)
        try:
            when = datetime.fromisoformat(regular)
        except ValueError:
            return None
    else:
        leaps = 0
    if when.tzinfo is None:
        if assume is None:
            return None
        when = when.replace(tzinfo=assume)
    found = (when - _EPOCH) // _MICROSECOND + leaps * 1_000_000
    return found if _FIRST <= found <= _LAST else None


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
