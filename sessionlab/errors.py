"""Every error a caller may catch, and nothing else.

    SessionlabError
    ├── LoadError               nothing could be loaded from what was given
    │   ├── JournalRefused      no session record is made of a gg capture journal
    │   └── BadInput            strict=True met its first problem
    │       └── Refused         a file that must not be read in part was refused whole
    ├── UnknownName             a view, table, session, format or column that does not exist (also a KeyError)
    │   └── AmbiguousName       an abbreviation that fits several sessions
    ├── WrongUse                an argument that cannot be meant (also a ValueError)
    ├── SessionRefused          a datalayer session that cannot be exported, imported or cloned as asked
    ├── TranscriptGone          a mecha transcript that was to be appended to is no longer there
    ├── Incomparable            two arms of a comparison whose difference could not be told apart from another
    ├── MissingColumns          a chart or widget was given a table without the columns it draws
    ├── PriceFileError          a rates file says something that is not a rate
    ├── ReplayRefused           a recording that cannot be replayed as asked
    ├── ModelFailed             a model that a replay asked gave no reply
    └── QueryError              SQL that DuckDB refuses, with the names that exist

Each message says where, what was expected, what was found and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

SHOWN = 4
"""How many of many names a message lists."""
LISTED = 20
"""Up to so many names are all listed when none is near."""


class SessionlabError(Exception):
    """Base of every error raised on purpose by sessionlab."""


class LoadError(SessionlabError):
    """Nothing could be loaded from what was given."""


class BadInput(LoadError):
    """The first problem of a load with ``strict=True``: which file, where in it, what is wrong.

    Attributes:
        uri: the file.
        line: 1-based line, or None where the file is not made of lines.
        kind: the problem's kind, as in the ``problems`` table.
        detail: the problem in words.
    """

    def __init__(self, uri: str, line: int | None, kind: str, detail: str) -> None:
        self.uri, self.line, self.kind, self.detail = uri, line, kind, detail
        place = uri if line is None else f"{uri}:{line}"
        super().__init__(f"{place}: {kind}: {detail}")


class Refused(BadInput):
    """A file that is taken whole or not at all was refused, in the words of its specification."""


class JournalRefused(LoadError):
    """No record is made of a gg capture journal, because it would be a wrong one; the journal stays where it is.

    Attributes:
        path: the journal.
        kind: ``format``, ``second_header``, ``gap``, ``dangling_reference``, ``no_header`` or ``unreadable``.
        line: 1-based line that decided it, or None where the end of the file did.
        detail: why, in the words of the specification.
    """

    def __init__(self, path: Path, kind: str, detail: str, *, line: int | None) -> None:
        self.path, self.kind, self.line, self.detail = path, kind, line, detail
        super().__init__(f"gg capture journal `{path}` {detail}")


class UnknownName(SessionlabError, KeyError):
    """A name that does not exist; the message lists the closest ones and where to find all."""

    def __init__(self, what: str, name: str, known: Iterable[str], hint: str = "") -> None:
        self.name = name
        names = sorted(known)
        close = get_close_matches(name, names, n=3, cutoff=0.5)
        verb = "matching" if what == "session" else "named"
        parts = [f"no {what} {verb} {name!r}"]
        if close:
            parts.append(f"did you mean: {', '.join(close)}")
        elif len(names) <= LISTED and (names or not hint):
            parts.append(f"there are: {', '.join(names) or 'none'}")
        super().__init__("; ".join(parts) + (f". {hint}" if hint else ""))

    def __str__(self) -> str:
        """The sentence itself: KeyError would show its repr."""
        return str(self.args[0])


class AmbiguousName(UnknownName):
    """An abbreviation that several sessions begin with."""

    def __init__(self, name: str, matches: Iterable[str]) -> None:
        found = sorted(matches)
        self.name = name
        shown = ", ".join(found[:SHOWN]) + (" …" if len(found) > SHOWN else "")
        KeyError.__init__(self, f"{name!r} matches {len(found)} sessions ({shown}); use a longer prefix")


class WrongUse(SessionlabError, ValueError):
    """An argument that cannot be meant: what was expected, what was given."""


class SessionRefused(SessionlabError):
    """A datalayer session that cannot be exported, imported or cloned as asked; nothing was written.

    Attributes:
        kind: a word for the condition: a refusal name of the format (``too_large``, ``field_refusal`` …),
            ``unknown_app``, ``unknown_agent``, ``unknown_session``, ``unknown_state``, ``unknown_format``,
            ``beyond_turns``, ``uid_in_use``, ``title_too_long``, ``no_session_entry``, ``no_conversations``, ``ended``.
        status: the HTTP status the format gives it.
        line: 1-based line of the file that decided it, or None.
    """

    def __init__(self, kind: str, status: int, sentence: str, *, line: int | None = None) -> None:
        self.kind, self.status, self.line = kind, status, line
        super().__init__(sentence)


class TranscriptGone(SessionlabError):
    """A mecha transcript that was to be appended to is no longer there: its conversation was deleted, or moved.

    Attributes:
        path: where it stood.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path}: expected the transcript to append to, found no file: nothing was written,"
            " so that a deleted conversation does not come back; begin a new session"
        )


class Incomparable(SessionlabError):
    """Two arms of a comparison that differ in more than what is compared; the message says in what.

    Attributes:
        first, other: what the arms are called.
    """

    def __init__(self, first: str, other: str, why: str) -> None:
        self.first, self.other = first, other
        super().__init__(
            f"{first!r} and {other!r} are not compared: {why}; a difference between them could not be attributed"
        )


class MissingColumns(SessionlabError):
    """A table lacks columns that a picture needs."""

    def __init__(self, picture: str, missing: Iterable[str], present: Iterable[str]) -> None:
        need, have = ", ".join(missing), ", ".join(present)
        super().__init__(f"{picture} needs the columns {need}; the table given has: {have or 'none'}")


class PriceFileError(SessionlabError):
    """A rates file says something that is not a rate; the message names the file and the key."""


class ReplayRefused(SessionlabError):
    """A recording that cannot be replayed as asked; the message says why and what would help (mecha 12.6).

    Attributes:
        kind: a word for the condition: ``no_config``, ``no_turns``, ``tool_unavailable``, ``provider_not_configured``,
            ``no_model``, ``plan_checks`` (unsupported), ``server``, ``no_pins``.
    """

    def __init__(self, kind: str, detail: str) -> None:
        self.kind = kind
        super().__init__(detail)


class ModelFailed(SessionlabError):
    """A model that a replay asked gave no reply; the message says where it was asked and what to look at.

    Attributes:
        kind: ``timeout``, ``unreachable``, ``fatal``, ``retry_exhausted`` or ``parse``.
        status: the HTTP status where one decided it, or None.
    """

    def __init__(self, kind: str, detail: str, *, status: int | None = None) -> None:
        self.kind, self.status = kind, status
        super().__init__(detail)


class QueryError(SessionlabError):
    """DuckDB refused the SQL text; the message is DuckDB's, followed by the names that exist."""
