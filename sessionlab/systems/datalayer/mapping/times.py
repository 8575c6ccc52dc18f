"""The entries of a session in; the `at` of each, and whether times were recorded at all, out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessionlab.systems.datalayer.mapping.material import Material, Told

_UNTOLD = "1970-01-01T00:00:00.000000Z"


class Times:
    """When each entry was stored.

    An entry that tells no time has that of the entry before it, since the order is the record's. Where none tells
    any, all have the time the session was created, else the time its file was last modified, else 1970.

    Attributes:
        note: why no time of the record was recorded, in a sentence; None: some were.
        first: the time the record begins.
    """

    def __init__(self, material: Material, entries: list[Told]) -> None:
        known = next((told.at for told in entries if told.at is not None), None)
        created = material.session.created_at
        self.note: str | None = None
        if known is None:
            if created is not None:
                source, begin = "its session was created", stamp(created)
            elif material.modified_at is not None:
                source, begin = "the file it was read from was last modified", stamp(material.modified_at)
            else:
                source, begin = "1970 began", _UNTOLD
            self.note = f"times were not recorded: `at` of every entry says when {source}"
        else:
            begin = stamp(known if created is None else min(known, created))
        self.first = begin
        self._at: dict[tuple[int, int], str] = {}
        for told in entries:
            if told.at is not None:
                begin = stamp(told.at)
            self._at[told.place] = begin
        self.last = begin

    def of(self, told: Told) -> str:
        """`at` of that entry."""
        return self._at[told.place]


def stamp(time: datetime) -> str:
    """ISO 8601, UTC, microseconds, `Z`; ``time`` is UTC without a zone, as the tables have it."""
    return time.isoformat(timespec="microseconds") + "Z"
