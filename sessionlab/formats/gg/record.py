"""An assembled record in (`replay.json.gz`, or its JSON); the rows of the journal it was folded from out, or a refusal.

The version is looked at before anything else, then the document must parse whole (section 5.1). References past a
pool's end and other oddities of section 5.2 are notes: the assembly that wrote the record has ruled them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from sessionlab.formats.byte_order import mark_of
from sessionlab.formats.gg.lines import Document
from sessionlab.formats.gg.records import (
    FORMAT_VERSION,
    U32,
    AgentRow,
    Clip,
    Entry,
    Message,
    ModelError,
    ModelIo,
    PromptFrame,
    Toolset,
)
from sessionlab.formats.gg.references import Counts, dangling, mended
from sessionlab.formats.gg.refusals import Refusal, refused
from sessionlab.formats.gg.rows import SessionRows
from sessionlab.formats.gg.strict import Parsed, Strict, Unparseable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionlab.formats.recording import Recording
    from sessionlab.tables import Row

T = TypeVar("T")


class _Gate(msgspec.Struct):
    """The one member that is looked at first."""

    version: Raw | UnsetType = msgspec.field(default=UNSET, name="formatVersion")


_gate = msgspec.json.Decoder(_Gate).decode
_version = msgspec.json.Decoder(U32).decode
_document: Strict[Document] = Strict(Document)
_agent: Strict[AgentRow] = Strict(AgentRow)
_message: Strict[Message] = Strict(Message)
_toolset: Strict[Toolset] = Strict(Toolset)
_clip: Strict[Clip] = Strict(Clip)
_entry: Strict[Entry] = Strict(Entry)


def read_record(recording: Recording) -> Iterator[Row]:
    """The rows of a record. It is held whole: a single document is taken whole or not at all."""
    mark = mark_of(recording.head())
    data = recording.read_all()
    try:
        document, rows = document_rows(data, bodies=recording.bodies)
    except Unparseable as error:
        yield from refused(recording, Refusal("malformed_record", f"is no session record: {error}", line=None), mark)
        return
    except Refusal as refusal:
        yield from refused(recording, refusal, mark)
        return
    recording.whole("read")
    rows.finish("snapshot", document.truncation)
    yield from rows.out.rows
    reason = None if document.truncation is None else document.truncation.reason
    yield from recording.end(
        state="whole" if reason is None else "short", reason=reason, format_version=str(FORMAT_VERSION)
    )


def document_rows(data: bytes, *, bodies: bool) -> tuple[Document, SessionRows]:
    """The document and the rows of all its elements.

    Raises:
        Refusal: it is of another format version, or states none.
        Unparseable: it is no document of this one.
    """
    _check_version(data)
    document, _, unknown = _document(data)
    rows = SessionRows(
        document.session_id, document.routing_key, document.capability_set, document.recorder, bodies=bodies
    )
    if unknown:
        rows.unknown(unknown)
    rows.seed(document.seed)
    for agent, _, extra in _elements(document.agents, _agent, rows):
        rows.agent(agent, extra)
    for ix, (message, body, _) in enumerate(_elements(document.messages, _message, rows)):
        rows.message(ix, message, body)
    for ix, (toolset, tools, _) in enumerate(_elements(document.toolsets, _toolset, rows)):
        rows.toolset(ix, toolset, tools)
    clips = _clips(document, rows)
    for ix, text in enumerate(document.texts):
        if not bytes(text).startswith(b'"'):
            raise Unparseable(f"Expected `str` - at `$.texts[{ix}]`")
        rows.text(ix, text, clips.get(ix))
    counts = Counts(len(document.messages), len(document.toolsets), len(document.texts))
    for entry, free, extra in _elements(document.entries, _entry, rows):
        beside: dict[str, object] | None = {"unknown": extra} if extra else None
        found = dangling(entry, counts)
        if found is None:
            rows.entry(entry, free, beside)
        else:
            rows.out.note("dangling_reference", found.sentence(entry.seq), seq=rows.entry_count)
            rows.entry(mended(entry, counts), free, {"recorded_messages": _messages(entry), **(beside or {})})
    return document, rows


def _check_version(data: bytes) -> None:
    try:
        stated = _gate(data).version
        version = _version(stated) if stated is not UNSET else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unparseable(str(error)) from None
    if version is None:
        raise Refusal("malformed_record", "missing field `formatVersion`", line=None)
    if version != FORMAT_VERSION:
        raise Refusal(
            "format",
            f"session record format {version} is not the format this build reads ({FORMAT_VERSION})",
            line=None,
            format_version=version,
        )


def _elements(raws: list[Raw], parse: Strict[T], rows: SessionRows) -> Iterator[Parsed[T]]:
    for raw in raws:
        parsed = parse(bytes(raw))
        if parsed[2]:
            rows.unknown(parsed[2])
        yield parsed


def _clips(document: Document, rows: SessionRows) -> dict[int, Clip]:
    """The clip of each clipped text; the order of the table is not relied on."""
    clips: dict[int, Clip] = {}
    before = -1
    for clip, _, _ in _elements(document.clips, _clip, rows):
        if clip.text <= before:
            rows.out.note("clip_order", f"the clip of text {clip.text} stands behind that of text {before}")
        if clip.text >= len(document.texts):
            rows.out.note("dangling_reference", f"a clip names text {clip.text}, but there are {len(document.texts)}")
        if clips.setdefault(clip.text, clip) is not clip:
            rows.out.note("repeated_clip", f"text {clip.text} has two rows in the clip table")
        before = clip.text
    return clips


def _messages(entry: Entry) -> list[int] | None:
    """The message list of an entry as recorded, for the detail of a mended one."""
    match entry:
        case ModelIo(request=request) | ModelError(request=request):
            return request.messages
        case PromptFrame(items=items):
            return [item.message for item in items]
    return None
