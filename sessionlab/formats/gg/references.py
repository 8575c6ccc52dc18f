"""An entry and the pool sizes in; the first reference past a pool's end, or the entry without such references, out."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from sessionlab.formats.gg.records import (
    CancelProbe,
    Clock,
    Entry,
    Git,
    ModelError,
    ModelIo,
    PromptFrame,
    Shell,
    ToolResult,
)

_message_of = attrgetter("message")


class Counts:
    """How many bodies of each pool there are (so far)."""

    __slots__ = ("message", "text", "toolset")

    def __init__(self, message: int = 0, toolset: int = 0, text: int = 0) -> None:
        """Start with these sizes."""
        self.message, self.toolset, self.text = message, toolset, text


class Dangling(NamedTuple):
    """A reference past a pool's end."""

    pool: str
    ix: int
    size: int

    def sentence(self, seq: int) -> str:
        """The refusal, in the words of section 4.5."""
        return (
            f"has a dangling reference: the entry at seq {seq} names {self.pool} {self.ix}, "
            f"but only {self.size} have been read"
        )


def dangling(entry: Entry, counts: Counts) -> Dangling | None:
    """The first reference of ``entry`` past its pool's end, in the order of section 4.3; ``dataText`` comes last."""
    match entry:
        case Clock() | CancelProbe():
            return None
        case ModelIo(request=request) | ModelError(request=request):
            if request.messages and max(request.messages) >= counts.message:
                first = next(index for index in request.messages if index >= counts.message)
                return Dangling("message", first, counts.message)
            if request.toolset is not None and request.toolset >= counts.toolset:
                return Dangling("toolset", request.toolset, counts.toolset)
        case PromptFrame(items=items):
            if items and max(map(_message_of, items)) >= counts.message:
                first = next(item.message for item in items if item.message >= counts.message)
                return Dangling("message", first, counts.message)
        case ToolResult(outcome=outcome):
            return _text(counts, outcome.output, outcome.summary, outcome.data_text)
        case Shell(command=command) | Git(command=command):
            return _text(counts, command.stdout, command.stderr)
    return None


def mended(entry: Entry, counts: Counts) -> Entry:
    """The entry with every reference past a pool's end left out: a list loses it, a member becomes None."""
    match entry:
        case ModelIo(request=request) | ModelError(request=request):
            kept = [index for index in request.messages if index < counts.message]
            toolset = _kept(request.toolset, counts.toolset)
            return replace(entry, request=replace(request, messages=kept, toolset=toolset))
        case PromptFrame(items=items):
            return replace(entry, items=[item for item in items if item.message < counts.message])
        case ToolResult(outcome=outcome):
            texts = {name: _kept(getattr(outcome, name), counts.text) for name in ("output", "summary", "data_text")}
            return replace(entry, outcome=replace(outcome, **texts))
        case Shell(command=command) | Git(command=command):
            texts = {name: _kept(getattr(command, name), counts.text) for name in ("stdout", "stderr")}
            return replace(entry, command=replace(command, **texts))
    return entry


def _text(counts: Counts, *indices: int | None) -> Dangling | None:
    for index in indices:
        if index is not None and index >= counts.text:
            return Dangling("text", index, counts.text)
    return None


def _kept(index: int | None, count: int) -> int | None:
    return index if index is not None and index < count else None
