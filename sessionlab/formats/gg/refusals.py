"""Why a file must not be read in part, in; the rows that say so, which are all its rows, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.tables import Problem, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionlab.formats.recording import Recording


class Refusal(Exception):
    """The file is refused.

    Attributes:
        kind: what is wrong, in snake case.
        sentence: why, in the words of the specification.
        line: the line that decided it; None when the end of the file did, or the file is not lines.
        format_version: the version the file states, when that is why.
    """

    def __init__(self, kind: str, sentence: str, *, line: int | None, format_version: int | None = None) -> None:
        """Refuse for the reason given in ``sentence``."""
        super().__init__(sentence)
        self.kind, self.sentence, self.line, self.format_version = kind, sentence, line, format_version


def refused(recording: Recording, refusal: Refusal, mark: str | None = None) -> Iterator[Row]:
    """The rows of a refused file: the problem, which covers it whole, one extent, and the source.

    ``mark`` names the byte order mark in front, if there is one: then it is what the first bytes were refused for.
    """
    recording.whole("problem")
    sentence = refusal.sentence if mark is None else f"{refusal.sentence}; it begins with a byte order mark ({mark})"
    yield Problem(
        line=refusal.line,
        byte_offset=0,
        byte_length=recording.decoded_bytes,
        kind=refusal.kind,
        severity="refusal",
        detail=sentence,
    )
    version = refusal.format_version
    yield from recording.end(state="refused", reason=sentence, format_version=None if version is None else str(version))
