"""The lines of a journal in, in file order; the elements of the record's arrays out, in the very bytes they had.

Each line is judged by the rules the reader goes by. The three kinds that most of a journal consists of are known by
their beginning and need no typed decoding; whatever differs in the least takes the road of all others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import msgspec
from msgspec import Raw

from sessionlab.formats.gg.frames import line_parser
from sessionlab.formats.gg.judge import Judge
from sessionlab.formats.gg.lines import (
    AgentLine,
    EntryLine,
    HeaderLine,
    MessageLine,
    SeedLine,
    TextLine,
    ToolsetLine,
)
from sessionlab.formats.gg.records import OLD_BANDS, OLD_SLOTS, U32, Band, Slot
from sessionlab.formats.gg.strict import Unparseable, free_value

if TYPE_CHECKING:
    from sessionlab.systems.gg.segments import Segment

_MESSAGE = re.compile(rb'\{"type":"message","index":(0|[1-9]\d{0,8}),"message":(\{)"id":"[ !#-\[\]-~]*","body":')
_TEXT = re.compile(rb'\{"type":"text","index":(0|[1-9]\d{0,8}),"text":')
_CALL = re.compile(
    rb'\{"type":"entry","entry":(\{)"agentId":"[ !#-\[\]-~]*","seq":(0|[1-9]\d{0,17}),"type":"model_io","request":'
    rb'\{"role":"(?:agent|compaction)","shape":"complete(?:_requiring)?","messages":(\[[\d,]*\])'
    rb'(?:,"toolset":(0|[1-9]\d{0,8}))?\},"response":'
)
_FRAME = re.compile(
    rb'\{"type":"entry","entry":\{"agentId":("[ !#-\[\]-~]*"),"seq":(0|[1-9]\d{0,17}),"type":"prompt_frame","items":\['
)
_WORD = rb'"(?:%b)"'
_ITEM = (
    rb'\{"message":(?:0|[1-9]\d{0,8}),"slot":%b,"source":%b,"retention":"(?:pinned|ephemeral)","turn":(?:0|[1-9]\d{0,17})%b\}'
    % (
        _WORD % b"|".join(word.encode() for word in get_args(Slot) if word not in OLD_SLOTS),
        _WORD % b"|".join(word.encode() for word in get_args(Band) if word not in OLD_BANDS),
        rb'(?:,"label":"[^"\\\x00-\x1f]*")?(?:,"region":\{"offset":(?:0|[1-9]\d{0,17}),"limit":(?:0|[1-9]\d{0,17})\})?',
    )
)
_ITEMS = re.compile(rb"%b(?:,%b)*" % (_ITEM, _ITEM))
_ITEM_MESSAGE = re.compile(rb'\{"message":(\d+),')
_DURATION = re.compile(rb',"durationMs":(?:0|[1-9]\d{0,17})\}\}\n$')
_TAIL_BYTES = 40
"""More than the duration at the end of a line can take."""
_ENTRY = b'{"type":"entry","entry":{'
_ENTRY_BYTES = len(_ENTRY)

_string = msgspec.json.Decoder(Raw).decode
_indices = msgspec.json.Decoder(list[U32]).decode
QUOTE = 0x22


class _Element(msgspec.Struct):
    """The one member of a line that goes into the record, as it stands."""

    entry: Raw = Raw()
    message: Raw = Raw()
    toolset: Raw = Raw()
    text: Raw = Raw()
    clip: Raw = Raw(b"null")
    agent: Raw = Raw()
    seed: Raw = Raw()


_ABSENT = Raw()


class _Body(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A message body of the shape gg sends (1.16); one of any other shape is decoded whole."""

    content: Raw = _ABSENT
    role: Raw = _ABSENT
    tool_calls: Raw = _ABSENT
    tool_call_id: Raw = _ABSENT
    images: Raw = _ABSENT


class RawHeader(msgspec.Struct, rename="camel"):
    """The members of a header that go into the record, as they stand."""

    recorder: Raw
    session_id: Raw
    capability_set: Raw
    routing_key: Raw = Raw(b"null")


_element = msgspec.json.Decoder(_Element).decode
_body = msgspec.json.Decoder(_Body).decode
_header = msgspec.json.Decoder(RawHeader).decode


class Fold:
    """Takes the lines of one journal.

    Attributes:
        judge: how far the journal can be relied on.
        header, seed: as they stand; None until they were met.
        agents: rows by id, in the order of their first.
    """

    def __init__(self, messages: Segment, toolsets: Segment, texts: Segment, clips: Segment, entries: Segment) -> None:
        """Elements go to these segments."""
        self.judge = Judge()
        self.header: RawHeader | None = None
        self.seed: bytes | None = None
        self.agents: dict[str, bytes] = {}
        self._messages, self._toolsets, self._texts = messages, toolsets, texts
        self._clips, self._entries = clips, entries
        self._frames: dict[bytes, tuple[bytes, int]] = {}  # by agent: the items of its last frame, the highest index
        self._parse = line_parser(old_words=False)

    def take(self, line: bytes) -> bool:
        """Take the next line, with its line feed; whether the one behind it is to be read, too.

        Raises:
            Refusal: with it in the file, no record is made.
        """
        if self._known(line):
            return True
        data = line[:-1]
        try:
            if data:
                self._other(data)
        except Unparseable:
            self.judge.unparseable(data)
        return not self.judge.damaged and self.judge.end is None

    def _known(self, data: bytes) -> bool:
        """Take a line of the common kinds; False when it is none that can be told by its beginning."""
        judge = self.judge
        match data[9:13]:
            case b"mess":
                found = _MESSAGE.match(data)
                if found is None or not data.endswith(b"}}\n") or not _is_body(data[found.end() : -3]):
                    return False
                judge.message(int(found[1]))
                self._messages.add(data[found.start(2) : -2])
            case b"text":
                found = _TEXT.match(data)
                if found is None or not data.endswith(b'"}\n') or data[found.end()] != QUOTE:
                    return False
                text = data[found.end() : -2]
                if not _is_string(text):
                    return False
                judge.text(int(found[1]))
                self._texts.add(text)
            case b"entr":
                if data.startswith(b'"prompt_frame"', data.find(b'"type":', _ENTRY_BYTES) + 7):
                    return self._frame(data)
                found = _CALL.match(data)
                if found is None or not data.endswith(b"}}\n"):
                    return False
                tail = _DURATION.search(data, max(found.end(), len(data) - _TAIL_BYTES))
                if not _is_value(data[found.end() : -3 if tail is None else tail.start()]):
                    return False
                if not self._resolves(found[3], found[4]):
                    return False
                judge.entry(int(found[2]))
                self._entries.add(data[found.start(1) : -2])
            case _:
                return False
        return True

    def _frame(self, data: bytes) -> bool:
        """Take a frame whose items are those of its agent's last one and more; False where it is any other."""
        found = _FRAME.match(data)
        if found is None or not data.endswith(b"]}}\n"):
            return False
        agent, start = found[1], found.end()
        listed, top = self._frames.get(agent, (b"", -1))
        if not data.startswith(listed, start):
            listed, top = b"", -1
        new = data[start + len(listed) : -4]
        if new:
            begun = bool(listed)
            if begun and new[:1] != b",":
                return False
            items = _ITEMS.fullmatch(new, begun)
            if items is None or not _is_utf8(new):
                return False
            top = max(top, *map(int, _ITEM_MESSAGE.findall(new)))
        if top >= self.judge.counts.message:
            return False  # the other road says which item it is
        self._frames[agent] = data[start:-4], top
        self.judge.entry(int(found[2]))
        self._entries.add(data[_ENTRY_BYTES - 1 : -2])
        return True

    def _resolves(self, messages: bytes, toolset: bytes | None) -> bool:
        """Whether the references of a request are good; where not, the other road finds the first that is bad."""
        counts = self.judge.counts
        try:
            indices = _indices(messages)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        return (not indices or max(indices) < counts.message) and (toolset is None or int(toolset) < counts.toolset)

    def _other(self, data: bytes) -> None:
        """Take any line.

        Raises:
            Unparseable: it is none of format version 1.
        """
        line, _, unknown = self._parse(data)
        self.judge.take(line)
        match line:
            case HeaderLine():
                self.header = _header(data)
            case SeedLine():
                self.seed = bytes(_element(data).seed)
            case AgentLine(agent=agent):
                self.agents[agent.agent_id] = bytes(_element(data).agent)
            case MessageLine():
                self._messages.add(bytes(_element(data).message))
            case ToolsetLine():
                self._toolsets.add(bytes(_element(data).toolset))
            case TextLine(clip=clip):
                element = _element(data)
                self._texts.add(bytes(element.text))
                if clip is not None:
                    self._clips.add(bytes(element.clip))
            case EntryLine():
                plain = unknown is None and data.startswith(_ENTRY) and data.endswith(b"}}")
                self._entries.add(data[_ENTRY_BYTES - 1 : -1] if plain else bytes(_element(data).entry))


def _is_value(data: bytes) -> bool:
    """Whether ``data`` is one free-form JSON value."""
    try:
        free_value(data)
    except Unparseable:
        return False
    return True


def _is_body(data: bytes) -> bool:
    """The same of a message body, whose long strings are looked over without being decoded."""
    try:
        body = _body(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _is_value(data)
    if not _is_utf8(data):
        return False
    for member in (body.content, body.role, body.tool_calls, body.tool_call_id, body.images):
        if member is not _ABSENT and memoryview(member)[0] != QUOTE and not _is_value(bytes(member)):
            return False
    return True


def _is_string(data: bytes) -> bool:
    """Whether ``data``, which begins with a quote, is one JSON string."""
    try:
        _string(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return _is_utf8(data)


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeDecodeError:
        return False
