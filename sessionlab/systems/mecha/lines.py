r"""A typed record in; its line out, byte for byte as mecha writes it and read back before it is given away (3 to 5).

``record`` first, members in the order of the specification, keys of tool input sorted, text unescaped, one ``\n``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from sessionlab.errors import WrongUse
from sessionlab.formats.mecha import wire
from sessionlab.formats.mecha.wire import Free, Message, Record, ToolUse

_S = TypeVar("_S", bound=msgspec.Struct)
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_NOT_JSON = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)

_LEFT_OUT: dict[type[Record], frozenset[str]] = {
    wire.Meta: frozenset({"title", "kind"}),
    wire.Outcome: frozenset({"cost_usd", "stop_cause", "goal_anchor", "duration_secs", *wire.Outcome.SENSORS}),
    wire.Config: frozenset({"tools_hash", "rules_workspace", "rules_surface", "rules_goal", "rules_hash"}),
}
"""Members that a line lacks where they are null; every other member is always written (4.1, 4.4, 4.5).

The specification leaves open whether the four `rules_*` of a configuration are written as null: without them the line
is one that every release writes.
"""
_NO_TOKENS = wire.Tokens(0, 0, 0, 0)


def line(record: Record) -> bytes:
    r"""The record as a line with its ``\n``.

    Raises:
        WrongUse: read back, the line would be no such record: a number out of range, a text that is no Unicode, an
            input that is no JSON.
    """
    if isinstance(record, wire.Outcome) and record.usage is msgspec.UNSET:
        record = msgspec.structs.replace(record, usage=_NO_TOKENS)
    kind = wire.word(record)
    try:
        written = _encode({"record": kind, **_members(record)})
        back = wire.decode(written)
    except _NOT_JSON as error:
        raise WrongUse(f"{kind}: expected a record that mecha can read, found one it cannot: {error}") from error
    if back != record:
        raise WrongUse(f"{kind}: expected a record of JSON values, found one that would be read back otherwise")
    return written + b"\n"


def given(kind: type[_S], value: _S | Mapping[str, object]) -> _S:
    """A struct of the wire: the one given, or that of an object as the specification has it.

    Raises:
        WrongUse: no such object, by name of the member.
    """
    if isinstance(value, kind):
        return value
    word = kind.__name__.lower()
    if not isinstance(value, Mapping):
        raise WrongUse(f"{word}: expected a {kind.__name__} or an object, found {type(value).__name__}")
    try:
        return msgspec.convert(dict(value), kind)
    except _NOT_JSON as error:
        raise WrongUse(f"{word}: expected an object as mecha writes it: {error}") from error


def bare(message: Message) -> Message:
    """The message itself, also of a ``message`` record, which is one with the member ``record`` beside."""
    if type(message) is Message:
        return message
    return Message(message.role, message.content, message.tool_provenance, message.harness, message.planning)


def record_of(message: Message) -> wire.MessageLine:
    """The ``message`` record that a message is written as."""
    return wire.MessageLine(message.role, message.content, message.tool_provenance, message.harness, message.planning)


def canonical(message: Message) -> bytes:
    """What two messages have alike when they are the same (5.4): members with defaults left out, all keys sorted.

    Raises:
        WrongUse: an input that is no JSON.
    """
    try:
        return _encode_sorted(bare(message))
    except _NOT_JSON as error:
        raise WrongUse(f"message: expected JSON values, found others: {error}") from error


def _members(record: Record) -> dict[str, Free]:
    """The members beside `record`, in the order they are written."""
    if isinstance(record, Message):
        return _message(record)
    if isinstance(record, wire.Rewrite):
        return {"messages": [_message(one) for one in record.messages]}
    if isinstance(record, wire.Extend):
        return {"index": record.index, "blocks": [_block(one) for one in record.blocks]}
    left_out = _LEFT_OUT.get(type(record), frozenset())
    members = {name: getattr(record, name) for name in record.__struct_fields__}
    if isinstance(record, wire.Outcome):
        members["taint"] = {name: getattr(record.taint, name) for name in wire.Legs.__struct_fields__}
    return {name: value for name, value in members.items() if value is not None or name not in left_out}


def _message(given: Message) -> dict[str, Free]:
    members: dict[str, Free] = {"role": given.role, "content": [_block(one) for one in given.content]}
    if given.tool_provenance:
        members["tool_provenance"] = msgspec.Raw(_encode_sorted(given.tool_provenance))
    if given.harness:
        members["harness"] = True
    if given.planning is not None:
        members["planning"] = given.planning
    return members


def _block(block: wire.AnyBlock) -> Free:
    """A block; of a call, with the keys of its input sorted at every depth."""
    if not isinstance(block, ToolUse):
        return block
    return {"type": "tool_use", "id": block.id, "name": block.name, "input": msgspec.Raw(_encode_sorted(block.input))}
