"""Instants in, RFC 3339 text as mecha writes it out; and microseconds in, instants out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = 1000


def at(micros: int) -> datetime:
    """The instant that many microseconds after 1970, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def offset_text(when: datetime) -> str:
    """An instant in UTC with the offset ``+00:00`` and 0, 3 or 6 digits of a second, as few as hold it (15.1)."""
    when = when.astimezone(UTC)
    if not when.microsecond:
        digits = "seconds"
    else:
        digits = "microseconds" if when.microsecond % _MILLISECOND else "milliseconds"
    return when.isoformat(timespec=digits)


def zulu_text(when: datetime) -> str:
    """An instant in UTC with ``Z`` and 0, 3 or 6 digits of a second, as few as hold it (section 3)."""
    return offset_text(when).removesuffix("+00:00") + "Z"
