"""The lines of a mecha transcript in; the blocks of its union of messages that hold a text out (section 14).

The union: the messages of ``message`` records and those inside ``rewrite`` records, in order of first sighting, each
once by the equality of section 5.4; after an ``extend`` the message as it was and as it became (section 22). No header
is needed; lines nobody can read are passed over, messages are read leniently, block by block (section 8.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sessionlab.formats._values import compact_sorted
from sessionlab.formats.mecha import wire
from sessionlab.formats.mecha.conversation import Conversation
from sessionlab.formats.mecha.lenient import Unreadable, recover
from sessionlab.recall.matching import Excerpt, Found, Hit, Needle, image_placeholder


class _Match(NamedTuple):
    """A block of a message that matches; its excerpts are kept while they may be shown."""

    block: int
    kind: str
    excerpts: tuple[Excerpt, ...]


def search_transcript(lines: Iterable[bytes], needle: Needle, max_matches: int) -> Found:
    r"""Search a transcript.

    Args:
        lines: its lines, parted at ``\n`` alone.
        needle: what is searched.
        max_matches: matching blocks beyond so many are only counted.
    """
    search = _Search(needle, max_matches)
    for line in lines:
        try:
            record = wire.decode(line)
        except wire.UNREADABLE:
            try:
                record = recover(line).record
            except Unreadable:
                continue
        search.take(record, line)
    return Found(search.hits, search.more, search.messages, search.session_id)


class _Search:
    """Follows the conversation, and keeps of each message of the union what matches in it."""

    def __init__(self, needle: Needle, wanted: int) -> None:
        self.hits: list[Hit] = []
        self.more = 0
        self.messages = 0
        self.session_id: str | None = None
        self._needle, self._wanted = needle, wanted
        self._conversation = Conversation(hold=False)
        self._matches: dict[int, list[_Match]] = {}  # of the messages that match, by index in the union

    def take(self, record: wire.Record, line: bytes) -> None:
        """The next record, with its line: what cannot hold the text is counted, but not looked through."""
        conversation, may_hold = self._conversation, self._needle.probe.may_hold
        if isinstance(record, wire.MessageLine):
            if conversation.append(record, 0):
                self._add(record.role, [], record.content if may_hold(line) else ())
        elif isinstance(record, wire.Rewrite):
            change = conversation.rewrite(record.messages, 0)
            looked = may_hold(line)
            for message, is_new in zip(record.messages, change.new, strict=True):
                if is_new:
                    self._add(message.role, [], message.content if looked else ())
        elif isinstance(record, wire.Extend):
            if record.index < len(conversation.list):
                was = conversation.pooled(record.index)
                before = self._matches.get(conversation.list[record.index], [])
                if conversation.extend(record.index, record.blocks, 0)[0]:
                    self._add(was.role, before, record.blocks if may_hold(line) else (), first=was.blocks)
        elif isinstance(record, wire.Meta) and self.session_id is None:
            self.session_id = f"mecha:{record.id}"

    def _add(self, role: str, before: Sequence[_Match], blocks: Sequence[wire.AnyBlock], *, first: int = 0) -> None:
        """One more message of the union: its blocks that matched before it was extended, and those to look at."""
        ix, needle = self.messages, self._needle
        self.messages += 1
        matches = [*before]
        for at, block in enumerate(blocks, first):
            kind, text = str(block.__struct_config__.tag), text_of(block)
            if len(self.hits) + len(matches) >= self._wanted:
                if needle.matches(text):
                    matches.append(_Match(at, kind, ()))
            elif excerpts := needle.excerpts(text):
                matches.append(_Match(at, kind, excerpts))
        if not matches:
            return
        self._matches[ix] = matches
        for match in matches:
            if len(self.hits) < self._wanted:
                self.hits.append(Hit("message", ix, role, match.block, match.kind, match.excerpts))
            else:
                self.more += 1


def text_of(block: wire.AnyBlock) -> str:
    """The text by which a block is searched."""
    if isinstance(block, wire.ToolUse):
        return f"{block.name} {compact_sorted(block.input)}"
    if isinstance(block, wire.ToolResult):
        return block.content
    if isinstance(block, wire.Image):
        return image_placeholder(block.source, block.media_type)
    return block.text
