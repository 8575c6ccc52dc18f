"""Rows in, one list of rows out, with the place in the file that notes speak of."""

from __future__ import annotations

from sessionlab.columns import BIGINT_MAX, tokens, tokens_fault, usd, usd_fault
from sessionlab.tables import Problem, Row


class Output:
    """The rows of one session so far.

    Rows are held until the file has been walked: a refusal may come on the last line and must leave none of them.
    A journal is bounded by the ceiling of its recorder (256 MiB as authored), and rows without bodies are small.

    Attributes:
        session_id, native_id: the session.
        bodies: whether bodies are wanted.
        rows: what was made so far, in order.
        line, offset, length: where the object in hand stands; None in a record, which is not lines.
    """

    def __init__(self, native_id: str, *, bodies: bool) -> None:
        """No rows yet."""
        self.native_id = native_id
        self.session_id = f"gg:{native_id}"
        self.bodies = bodies
        self.rows: list[Row] = []
        self.line: int | None = None
        self.offset: int | None = None
        self.length: int | None = None
        self._noted: set[tuple[str, str]] = set()

    def at(self, line: int | None, offset: int | None, length: int | None) -> None:
        """The object in hand stands there."""
        self.line, self.offset, self.length = line, offset, length

    def note(self, kind: str, detail: str, *, seq: int | None = None) -> None:
        """A problem by which nothing is lost."""
        self.rows.append(
            Problem(
                session_id=self.session_id,
                seq=seq,
                line=self.line,
                byte_offset=self.offset,
                byte_length=self.length,
                kind=kind,
                severity="note",
                detail=detail,
            )
        )

    def note_once(self, kind: str, about: str, detail: str, *, seq: int | None = None) -> None:
        """The same, for the first thing ``about`` which there is such a problem."""
        if (kind, about) not in self._noted:
            self._noted.add((kind, about))
            self.note(kind, detail, seq=seq)

    def whole(self, value: int | None, member: str, *, seq: int | None = None) -> int | None:
        """A recorded integer, or None and a note where a BIGINT cannot hold it."""
        if value is None or -BIGINT_MAX <= value <= BIGINT_MAX:
            return value
        self.note("number_too_large", f"{member} is {value}, which no BIGINT holds", seq=seq)
        return None

    def tokens(self, value: int | None, member: str, *, seq: int | None = None) -> int | None:
        """A recorded count of tokens, or None and a note where it is more than a count can mean."""
        if (fault := tokens_fault(value)) is not None:
            self.note(fault, f"{member} is {value}, which no count of tokens is", seq=seq)
        return tokens(value)

    def usd(self, value: float | None, member: str, *, seq: int | None = None) -> float | None:
        """A recorded amount of dollars, or None and a note where it is none that can be meant."""
        if (fault := usd_fault(value)) is not None:
            self.note(fault, f"{member} is {value}, which no amount of dollars is", seq=seq)
        return usd(value)
