"""The lines of a journal and the document of a record: their bytes in, one frozen struct out."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Raw

from sessionlab.formats.gg import records
from sessionlab.formats.gg.records import (
    U32,
    U64,
    AgentRow,
    Clip,
    Entry,
    Message,
    Recorder,
    Seed,
    Toolset,
    Truncation,
    Typed,
)


class HeaderLine(Typed, frozen=True, tag="header"):
    """Journal line: which session this is and how it was launched."""

    format_version: U32
    session_id: str
    capability_set: Raw
    recorder: Recorder
    routing_key: str | None = None


class SeedLine(Typed, frozen=True, tag="seed"):
    """Journal line: the seed; the last one stands."""

    seed: Seed


class AgentLine(Typed, frozen=True, tag="agent"):
    """Journal line: an agent; the last one of an id stands."""

    agent: AgentRow


class MessageLine(Typed, frozen=True, tag="message"):
    """Journal line: the next message of the pool."""

    index: U32
    message: Message


class ToolsetLine(Typed, frozen=True, tag="toolset"):
    """Journal line: the next toolset of the pool."""

    index: U32
    toolset: Toolset


class TextLine(Typed, frozen=True, tag="text"):
    """Journal line: the next text of the pool."""

    index: U32
    text: Raw  # a string: kept as bytes, as most readings want no texts
    clip: Clip | None = None


class EntryLine(Typed, frozen=True, tag="entry"):
    """Journal line: one consumed input."""

    entry: Entry


class EndLine(Typed, frozen=True, tag="end"):
    """Journal line: how many entries were written, and why capture stopped early."""

    entries: U64
    truncation: Truncation | None = None


Line: TypeAlias = HeaderLine | SeedLine | AgentLine | MessageLine | ToolsetLine | TextLine | EntryLine | EndLine


class Document(Typed, frozen=True):
    """The assembled record; elements of its lists are decoded one by one."""

    format_version: U32
    recorder: Recorder
    session_id: str
    capability_set: Raw
    seed: Seed
    agents: list[Raw]
    messages: list[Raw]
    toolsets: list[Raw]
    texts: list[Raw]
    clips: list[Raw]
    entries: list[Raw]
    routing_key: str | None = None
    truncation: Truncation | None = None


_STRUCTS = [
    value
    for value in (
        *vars(records).values(),
        HeaderLine,
        SeedLine,
        AgentLine,
        MessageLine,
        ToolsetLine,
        TextLine,
        EntryLine,
        EndLine,
        Document,
    )
    if isinstance(value, type) and issubclass(value, Typed)
]
MEMBERS = frozenset({"type"}.union(*(struct.__struct_encode_fields__ for struct in _STRUCTS)))
"""Every member name the typed objects know."""
