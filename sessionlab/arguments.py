"""Arguments of a corpus in; what they mean (zones, clocks, periods, dates of rates) or WrongUse, in words, out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sessionlab.errors import WrongUse


def days_before(now: datetime, days: float) -> datetime:
    """The time ``days`` × 24 hours before ``now``."""
    try:
        since = now - timedelta(days=days) if days >= 0 else None
    except (OverflowError, TypeError, ValueError):
        since = None
    if since is None:
        raise WrongUse(f"days: expected a number of days that reaches back to a date, found {days!r}")
    return since


def zone(tz: str) -> str:
    """The zone's IANA name, or WrongUse."""
    try:
        return ZoneInfo(tz).key
    except (TypeError, ValueError, ZoneInfoNotFoundError, OSError) as error:
        raise WrongUse(f"tz: expected a zone such as 'Europe/Berlin' or 'UTC', found {tz!r}") from error


def rates(rates: str) -> None:
    """Nothing for a known choice of rates, else WrongUse."""
    if rates not in ("all", "file"):
        raise WrongUse(f"rates: expected 'all' or 'file', found {rates!r}; a file of your rates goes to rate_file=")


def clock(now: datetime | None) -> datetime:
    """The clock in UTC: the real one when none is given."""
    if now is not None and not isinstance(now, datetime):
        raise WrongUse(f"now: expected a datetime, found {now!r}")
    return (now or datetime.now(UTC)).astimezone(UTC)


def price_time(at: str | date | datetime, now: datetime) -> datetime | None:
    """The instant whose rates apply; None: each call's own."""
    if at == "call":
        return None
    if at == "now":
        return now
    try:
        if isinstance(at, str):
            at = datetime.fromisoformat(at)
        if not isinstance(at, datetime):
            at = datetime(at.year, at.month, at.day, tzinfo=UTC)
    except (AttributeError, ValueError) as error:
        raise WrongUse(f"at: expected 'call', 'now' or a date such as 2026-11-01, found {at!r}") from error
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def naive(when: datetime | None) -> datetime | None:
    """The UTC time without its zone, as TIMESTAMP columns hold it."""
    return None if when is None else when.astimezone(UTC).replace(tzinfo=None)


def timestamp(when: datetime) -> str:
    """The time as a TIMESTAMP literal holds it."""
    return when.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")
