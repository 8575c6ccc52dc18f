"""What a walk did and left in; the report of section 15.5 out."""

from __future__ import annotations

import msgspec


class Report(msgspec.Struct):
    """What was deleted of one session, and what was not.

    Attributes:
        id: the session.
        removed: in the order of the walk, each store and how many of its rows or files went or lost a pointer; a
            store that had nothing is there too.
        kept: what is left on purpose, in words.
        traces: what may still tell of the session, in words: every file that holds its id, and every one of which
            that is unknown.
        errors: stores that could not answer, each beginning with its name; then the transcript is still set aside,
            and the same command finishes.
        complete: the transcript is gone. In a rehearsal: it would be.
        rehearsed: nothing was changed.
    """

    id: str
    removed: list[tuple[str, int]] = []
    kept: list[str] = []
    traces: list[str] = []
    errors: list[str] = []
    complete: bool = False
    rehearsed: bool = False

    @property
    def residue(self) -> list[str]:
        """What is left: on purpose first, then what may still tell of the session."""
        return [*self.kept, *self.traces]

    @property
    def exit_code(self) -> int:
        """0 when the session is gone; 1 when it is not, or when something may still tell of it."""
        return int(not self.complete or bool(self.traces))

    def count(self, store: str, rows: int) -> None:
        """Add to what a store lost."""
        if self.removed and self.removed[-1][0] == store:
            rows += self.removed.pop()[1]
        self.removed.append((store, rows))

    def as_dict(self) -> dict[str, object]:
        """The object of section 15.5; a rehearsal says so in a member more."""
        told: dict[str, object] = {
            "id": self.id,
            "removed": [[store, rows] for store, rows in self.removed],
            "residue": self.residue,
            "errors": list(self.errors),
            "complete": self.complete,
        }
        return {**told, "dry_run": True} if self.rehearsed else told
