"""One transcript and a text in; what the conversation ever held of it, as mecha tells it (section 14), out.

The search itself, for every format and for many files, is in :mod:`sessionlab.recall`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sessionlab.errors import LoadError, WrongUse
from sessionlab.formats.recording import Recording
from sessionlab.recall.matching import MAX_MATCHES, Found, Needle, block_text
from sessionlab.recall.transcript import search_transcript

DESCRIPTION = (
    "Search everything this conversation has ever held, also what was summarised or removed from it since. Finds lines"
    " that contain the query, in any case, and shows each with the lines around it. Use it to look up a detail that a"
    " summary left out, instead of running a tool again."
)


class Recalled(NamedTuple):
    """What a transcript holds.

    Attributes:
        query: what was searched.
        found: the matching blocks, how many more there are, and the size of the union.
    """

    query: str
    found: Found

    @property
    def text(self) -> str:
        """What the model reads: a header, each block with its windows, how many more matched."""
        hits, more, messages, _ = self.found
        size = _count(messages, "recorded message")
        if not hits:
            return f'no match for "{self.query}" in {size}'
        parts = [f'{_count(len(hits), "matching block")} for "{self.query}" in {size}', *map(block_text, hits)]
        if more:
            parts.append(f"{more} more matching {'block' if more == 1 else 'blocks'} not shown")
        return "\n\n".join(parts)


class ToolAnswer(NamedTuple):
    """What a call of a tool gives back: a text, and whether it is an error result."""

    text: str
    is_error: bool


class RecallTool:
    """Recall as a tool for a model, bound to one transcript for good: no input can name another.

    Attributes:
        name, description, input_schema: what the model is told of the tool.
    """

    name = "recall"
    description = DESCRIPTION

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """``path``: the transcript; it need not exist yet."""
        self.__path = Path(path).absolute()  # a change of the working folder must not change it either

    @property
    def path(self) -> Path:
        """The transcript it is bound to."""
        return self.__path

    @property
    def input_schema(self) -> dict[str, object]:
        """JSON Schema of the input, a new object each time."""
        return {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "Text to find within a line; in any case, otherwise taken literally.",
                },
                "max_matches": {
                    "type": "integer",
                    "minimum": 1,
                    "default": MAX_MATCHES,
                    "description": "How many matching blocks to show.",
                },
            },
            "required": ["query"],
        }

    def call(self, arguments: Mapping[str, object]) -> ToolAnswer:
        """Answer a call; it never raises for its input. Other members than the two of the schema mean nothing."""
        query, wanted = arguments.get("query"), arguments.get("max_matches")
        if not isinstance(query, str):
            return ToolAnswer(f"query: expected a text to search for, found {_named(query)}", is_error=True)
        if wanted is None:
            wanted = MAX_MATCHES
        if not isinstance(wanted, int) or isinstance(wanted, bool):
            return ToolAnswer(f"max_matches: expected a whole number, found {_named(wanted)}", is_error=True)
        try:
            return ToolAnswer(recall(self.__path, query, wanted).text, is_error=False)
        except (LoadError, WrongUse) as error:
            return ToolAnswer(str(error), is_error=True)


def recall(path: str | os.PathLike[str], query: str, max_matches: int = MAX_MATCHES) -> Recalled:
    """Search everything a transcript ever held.

    Args:
        path: the transcript, packed with gzip or not; it needs no header, and lines nobody can read are passed over.
        query: searched as it is, in any case (Unicode), within single lines.
        max_matches: blocks shown; those beyond are counted. Below 1 means 1.

    Raises:
        WrongUse: a blank query.
        LoadError: no such file, or one that cannot be read.
    """
    needle = Needle(query)
    try:
        return Recalled(query, search_transcript(_lines(Path(path)), needle, max(max_matches, 1)))
    except FileNotFoundError as error:
        raise LoadError(f"{os.fspath(path)}: no such file; the conversation may not be recording") from error
    except OSError as error:
        raise LoadError(f"{os.fspath(path)}: the recording cannot be read: {error.strerror or error}") from error


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        yield from Recording(stream, uri=str(path)).lines()


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _named(value: object) -> str:
    return "nothing" if value is None else f"{value!r}"
