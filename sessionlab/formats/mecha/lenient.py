"""The second look: a line that is not written exactly as known in, its record and what had to be left out of it out.

Members nobody knows are ignored at every level, as mecha does, but kept beside the record. Messages are read block by
block (section 8.4), and a member that must not cost its message counts as absent (section 22).
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from sessionlab.formats._values import compact
from sessionlab.formats.mecha.wire import (
    BLOCKS,
    RECORDS,
    UNREADABLE,
    AnyBlock,
    Extend,
    Free,
    Legs,
    Message,
    MessageLine,
    Notes,
    Record,
    Rewrite,
    Tokens,
    decode,
)

_decode_free = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_DECODE_RECORD: dict[type[Record], msgspec.json.Decoder[Record]] = {
    kind: msgspec.json.Decoder(kind) for kind in RECORDS.values()
}
_DECODE_BLOCK: dict[type[AnyBlock], msgspec.json.Decoder[AnyBlock]] = {
    kind: msgspec.json.Decoder(kind) for kind in BLOCKS.values()
}

Extra = tuple[str, Free]
"""What no member of a struct holds: where it stood in the line (``content[2]``, ``mood``), and its JSON."""


class Unreadable(Exception):
    """The line is no record that mecha can read; says why."""

    def __init__(self, why: str, word: str | None = None) -> None:
        """``why`` in words; ``word``: the kind of record it would have been, where that can be told."""
        super().__init__(why)
        self.word = word


class Recovered(msgspec.Struct, gc=False):
    """What the second look found in a line.

    Attributes:
        record: the record, as the fast road would have given it.
        unknown: members nobody knows, by name (nested ones under the name of their object).
        extras: for each message of the record, what was left out of it; for ``extend``, one list for its blocks.
        dropped_blocks, dropped_messages: how many could not be read (their JSON is in ``extras``, ``lost``).
        lost: messages of a rewrite that were dropped.
        absent: members that were unreadable and count as absent.
    """

    record: Record
    unknown: dict[str, Free] = {}
    extras: list[list[Extra]] = []
    dropped_blocks: int = 0
    dropped_messages: int = 0
    lost: list[Extra] = []
    absent: list[str] = []

    def told(self) -> str | None:
        """The unknown members as a ``detail``; None when there are none."""
        return compact(self.unknown) if self.unknown else None

    def dropped(self) -> dict[str, int]:
        """How much was left out, as members of a ``detail``."""
        counts = {"dropped_blocks": self.dropped_blocks, "dropped_messages": self.dropped_messages}
        return {name: count for name, count in counts.items() if count}


def is_blank(line: bytes) -> bool:
    """Whether a line is white space as Unicode has it, which is what mecha trims."""
    if not line or line.isspace():
        return True
    try:
        return line.decode().isspace()
    except UnicodeDecodeError:
        return False


def record_in(line: bytes) -> Record | None:
    """The record in a line, written exactly as known or not; None in a blank line.

    Raises:
        Unreadable: mecha cannot read it.
    """
    try:
        return decode(line)
    except UNREADABLE:
        return None if is_blank(line) else recover(line).record


def recover(line: bytes) -> Recovered:
    """The record in a line that is not written exactly as known.

    Raises:
        Unreadable: mecha cannot read it either.
    """
    try:
        found = _decode_free(line)
    except UNREADABLE as error:
        raise Unreadable(str(error)) from error
    if not isinstance(found, dict):
        raise Unreadable("Expected a JSON object")
    word = found.get("record")
    if not isinstance(word, str):
        raise Unreadable("The object has no member `record` that is a word")
    kind = RECORDS.get(word)
    if kind is None:
        raise Unreadable(f"Unknown record word {word!r}")
    try:
        if kind is MessageLine:
            return _recover_message(found)
        if kind is Rewrite:
            return _recover_rewrite(found)
        return _recover_other(found, kind)
    except UNREADABLE as error:
        raise Unreadable(str(error), word) from error
    except Unreadable as error:
        error.word = word
        raise


def _split(found: dict[str, Free], kind: type[msgspec.Struct]) -> tuple[dict[str, Free], dict[str, Free]]:
    """The members the struct knows, and the others."""
    names = {*kind.__struct_encode_fields__, kind.__struct_config__.tag_field}
    return (
        {name: value for name, value in found.items() if name in names},
        {name: value for name, value in found.items() if name not in names},
    )


def _recover_other(found: dict[str, Free], kind: type[Record]) -> Recovered:
    known, unknown = _split(found, kind)
    extras: list[Extra] = []
    for name, nested in (("usage", Tokens), ("taint", Legs)):
        if name in known and isinstance(known[name], dict):
            known[name], rest = _split(known[name], nested)
            if rest:
                unknown[name] = rest
    if kind is Extend and isinstance(known.get("blocks"), list):
        known["blocks"] = [_known_block(block, f"blocks[{at}]", extras) for at, block in enumerate(known["blocks"])]
    return Recovered(_DECODE_RECORD[kind].decode(_encode(known)), unknown, [extras])


def _known_block(block: Free, path: str, extras: list[Extra]) -> Free:
    """The block without the members nobody knows; those go to ``extras``."""
    kind = BLOCKS.get(block["type"]) if isinstance(block, dict) and isinstance(block.get("type"), str) else None
    if kind is None:
        return block
    known, unknown = _split(block, kind)
    extras += [(f"{path}.{name}", value) for name, value in unknown.items()]
    return known


def _recover_message(found: dict[str, Free]) -> Recovered:
    result = Recovered(Notes(()), extras=[], absent=[])
    message, extras = _lenient_message(found, MessageLine, result)
    result.record, result.extras = message, [extras]
    return result


def _recover_rewrite(found: dict[str, Free]) -> Recovered:
    messages = found.get("messages")
    if not isinstance(messages, list):
        raise Unreadable("Expected an array as `messages`")
    result = Recovered(Notes(()), _split(found, Rewrite)[1], extras=[], lost=[], absent=[])
    kept: list[Message] = []
    for at, item in enumerate(messages):
        blocks_before, absent_before = result.dropped_blocks, len(result.absent)
        try:
            message, extras = _lenient_message(item, Message, result)
        except Unreadable:
            result.dropped_blocks, result.absent = blocks_before, result.absent[:absent_before]
            result.dropped_messages += 1
            result.lost.append((f"messages[{at}]", item))
            continue
        kept.append(message)
        result.extras.append(extras)
    if messages and not kept:
        raise Unreadable("No message of the rewrite can be read")
    result.record = Rewrite(kept)
    return result


_M = TypeVar("_M", bound=Message)


def _lenient_message(found: Free, kind: type[_M], result: Recovered) -> tuple[_M, list[Extra]]:
    """A message of the blocks that can be read (section 8.4), and what was left out of it."""
    if not isinstance(found, dict) or found.get("role") not in ("user", "assistant"):
        raise Unreadable("Expected a message whose `role` is user or assistant")
    content = found.get("content")
    if not isinstance(content, list):
        raise Unreadable("Expected an array as `content`")
    extras: list[Extra] = [(name, value) for name, value in _split(found, MessageLine)[1].items()]
    blocks: list[AnyBlock] = []
    for at, item in enumerate(content):
        beside: list[Extra] = []
        try:
            blocks.append(_block(_known_block(item, f"content[{at}]", beside)))
        except UNREADABLE:
            result.dropped_blocks += 1
            extras.append((f"content[{at}]", item))
        else:
            extras += beside
    if content and not blocks:
        raise Unreadable("No block of the message can be read")
    provenance = _member(found, "tool_provenance", dict, extras, result) or {}
    if not all(type(value) is bool for value in provenance.values()):
        result.absent.append("tool_provenance")
        extras.append(("tool_provenance", provenance))
        provenance = {}
    message = kind(
        role=found["role"],
        content=blocks,
        tool_provenance=provenance,
        harness=_member(found, "harness", bool, extras, result) or False,
        planning=_member(found, "planning", dict, extras, result) if found.get("planning") is not None else None,
    )
    return message, extras


def _block(found: Free) -> AnyBlock:
    kind = BLOCKS.get(found["type"]) if isinstance(found, dict) and isinstance(found.get("type"), str) else None
    if kind is None:
        raise msgspec.ValidationError("Unknown block type")
    return _DECODE_BLOCK[kind].decode(_encode(found))


def _member(found: dict[str, Free], name: str, kind: type, extras: list[Extra], result: Recovered) -> Free:
    """A member of a message that must not cost the message (section 22): None when it is absent or unreadable."""
    if name not in found:
        return None
    value = found[name]
    if type(value) is kind:
        return value
    result.absent.append(name)
    extras.append((name, value))
    return None
