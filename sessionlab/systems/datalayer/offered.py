"""The formats a session can be exported as: an id goes in; how files of it are written and judged comes out.

There is one built in. Another package may contribute more, each under an id of its own (datalayer.md section 15).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.formats.datalayer.fields import FORMAT_ID
from sessionlab.formats.datalayer.judge import Accepted, Refusal, judge
from sessionlab.systems.datalayer.export import EXTENSION, MEDIA_TYPE, Exported, export


class SessionFormat(msgspec.Struct, frozen=True, kw_only=True):
    """A format of session files.

    Attributes:
        id: as a file's head says it.
        media_type, extension: of its files.
        export: as `export.export` is called.
        judge: whether a file's bytes are taken.
    """

    id: str
    media_type: str
    extension: str
    export: Callable[..., Exported]
    judge: Callable[[bytes], Accepted | Refusal]


BUILT_IN = SessionFormat(id=FORMAT_ID, media_type=MEDIA_TYPE, extension=EXTENSION, export=export, judge=judge)
"""`datalayer-session/1`."""


class SessionFormats:
    """The formats that are offered, the built-in one first."""

    def __init__(self) -> None:
        self._by_id = {BUILT_IN.id: BUILT_IN}

    def __iter__(self) -> Iterator[SessionFormat]:
        """Each format, in the order contributed."""
        return iter(self._by_id.values())

    def add(self, offered: SessionFormat) -> None:
        """Offer another format.

        Raises:
            WrongUse: its id is taken: two packages that write one id would write files neither reads.
        """
        if not offered.id or offered.id in self._by_id:
            raise WrongUse(f"session format: expected an id that is not taken, found {offered.id!r}; {self._known()}")
        self._by_id[offered.id] = offered

    def get(self, format_id: str = "") -> SessionFormat:
        """The format of this id; of an empty one the built-in.

        Raises:
            SessionRefused: ``unknown_format`` (422), naming the ids that are known.
        """
        try:
            return self._by_id[format_id] if format_id else BUILT_IN
        except KeyError:
            said = f"no session format {format_id!r}; {self._known()}"
            raise SessionRefused("unknown_format", 422, said) from None

    def _known(self) -> str:
        return f"known: {', '.join(self._by_id)}"


FORMATS = SessionFormats()
"""The formats of this process."""
