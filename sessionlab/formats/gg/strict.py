"""Bytes of one typed object in; the decoded struct out, or the reason why format version 1 calls it unparseable.

msgspec settles JSON syntax, required members, types, ranges and tags. What it lets pass is caught here: a known
member given twice, an integer written as ``-0`` or past 64 bits, invalid UTF-8 and numbers that overflow inside
free-form values. The test is cheap for what gg writes: a struct written again is exactly as long as a line that
holds each known member once and nothing else, whatever the order; only other lines are walked member by member.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import msgspec
from msgspec import Raw, inspect

from sessionlab.formats.gg import lines, records

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_U64_MAX = 2**64 - 1
_encode = msgspec.json.Encoder().encode
_free = msgspec.json.Decoder().decode
_TWO_DIGITS = re.compile(rb"\d\d")
_OVERFLOWING = re.compile(rb"\d{309}")
_QUOTE = ord('"')
_STRIDE = 150  # two samples this far apart lie inside any run of 309 digits
_DEEPEST = 300
"""Levels of nesting that are read: gg itself stops at 127 (section 11)."""


Parsed = tuple[T, Any, "dict[str, object] | None"]
"""The struct; its free-form value as Python objects (of a tool result: arguments, data, failure; None where there is
none); and members that the struct does not know, by path, or None."""
_Look = tuple[Any, bool]


class Unparseable(ValueError):
    """These bytes are no typed object of format version 1; the text says why."""


class Strict(Generic[T]):
    """A decoder of one typed object that holds the acceptance rules (section 0.3)."""

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 (a union of structs is no type[T])
        """Decode objects of type ``kind``."""
        self._decode = msgspec.json.Decoder(kind).decode
        self._info = inspect.type_info(kind)

    def __call__(self, data: bytes) -> Parsed[T]:
        """Decode ``data``.

        Raises:
            Unparseable: the bytes are no such object.
        """
        try:
            value: T = self._decode(data)
            if not data.isascii():
                data.decode()
            free, careful = _LOOK.get(type(value), _rare)(value)
            if free is not None and data.count(b"{") + data.count(b"[") > _DEEPEST:
                _bound(free)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise Unparseable(str(error)) from None
        if careful or (free is not None and _may_overflow(data)) or len(_encode(value)) != len(data):
            return value, free, self._walk(data)
        return value, free, None

    def _walk(self, data: bytes) -> dict[str, object] | None:
        try:
            tree = json.loads(
                data, object_pairs_hook=_Members, parse_int=_integer, parse_float=_finite, parse_constant=_constant
            )
            _bound(tree)
            unknown: dict[str, object] = {}
            _check(tree, self._info, "", unknown)
        except (RecursionError, ValueError) as error:
            raise Unparseable(str(error)) from None
        return unknown or None


def free_value(data: bytes) -> Any:  # noqa: ANN401 (free-form JSON)
    """One free-form value, decoded.

    Raises:
        Unparseable: the bytes are not exactly one JSON value that format version 1 accepts.
    """
    try:
        if not data.isascii():
            data.decode()
        free = _free(data)
        if data.count(b"{") + data.count(b"[") > _DEEPEST:
            _bound(free)
        if _may_overflow(data):
            json.loads(data, parse_int=_integer)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise Unparseable(str(error)) from None
    return free


def _rare(_: object) -> _Look:
    return None, True


def _of_model_io(entry: records.ModelIo) -> _Look:
    return _free(entry.response), entry.seq > _U64_MAX or (entry.duration_ms or 0) > _U64_MAX


def _of_model_error(entry: records.ModelError) -> _Look:
    return None, entry.seq > _U64_MAX or (entry.duration_ms or 0) > _U64_MAX


def _of_tool_result(entry: records.ToolResult) -> _Look:
    outcome = entry.outcome
    data = _free(outcome.data) if isinstance(outcome.data, Raw) else None
    failure = _free(outcome.failure) if isinstance(outcome.failure, Raw) else None
    return (_free(entry.call.arguments), data, failure), entry.seq > _U64_MAX or bool(outcome.images)


def _of_clock(entry: records.Clock) -> _Look:
    return None, max(entry.seq, entry.elapsed_ms, entry.remaining_ms or 0) > _U64_MAX


def _of_plain_entry(entry: records.Shell | records.Git | records.CancelProbe | records.PromptFrame) -> _Look:
    return None, entry.seq > _U64_MAX


def _of_entry_line(line: lines.EntryLine) -> _Look:
    return _LOOK[type(line.entry)](line.entry)


def _of_text_line(line: lines.TextLine) -> _Look:
    if memoryview(line.text)[0] != _QUOTE:
        raise msgspec.ValidationError("Expected `str` - at `$.text`")
    return None, line.clip is not None


def _of_header(header: lines.HeaderLine) -> _Look:
    return _capability_set(header.capability_set), True


def _of_document(document: lines.Document) -> _Look:
    """Nothing but its own members: its elements are decoded one by one, and it may be long."""
    _bound(_capability_set(document.capability_set))
    short = document.truncation
    stated = [*document.seed.model_windows.values()]
    if short is not None:
        stated += [number for number in (short.last_seq, short.bytes) if number is not None]
    return None, any(number > _U64_MAX for number in stated) or _may_overflow(bytes(document.capability_set))


def _capability_set(raw: Raw) -> dict[str, Any]:
    value = _free(raw)
    if not isinstance(value, dict):
        raise msgspec.ValidationError("Expected `object` - at `$.capabilitySet`")
    return value


_LOOK: dict[type, Callable[[Any], _Look]] = {
    lines.EntryLine: _of_entry_line,
    lines.HeaderLine: _of_header,
    lines.Document: _of_document,
    lines.MessageLine: lambda line: (_free(line.message.body), False),
    lines.ToolsetLine: lambda line: (_free(line.toolset.tools), False),
    lines.TextLine: _of_text_line,
    records.Message: lambda message: (_free(message.body), False),
    records.Toolset: lambda toolset: (_free(toolset.tools), False),
    records.ModelIo: _of_model_io,
    records.ModelError: _of_model_error,
    records.ToolResult: _of_tool_result,
    records.PromptFrame: _of_plain_entry,
    records.Shell: _of_plain_entry,
    records.Git: _of_plain_entry,
    records.CancelProbe: _of_plain_entry,
    records.Clock: _of_clock,
}
"""What to look at again in each object: its free-form value, whose bytes msgspec has skipped over, and whether to walk
it for integers past 64 bits. Objects that are not listed are rare and always walked."""


def _may_overflow(data: bytes) -> bool:
    """Whether an integer so long that it overflows a double may stand in ``data``."""
    return len(data) > _STRIDE and _TWO_DIGITS.search(data[::_STRIDE]) is not None and bool(_OVERFLOWING.search(data))


class _Members(dict[str, Any]):
    """An object of the careful reading: its members, and the names that came twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        """The members; the last of a name stands."""
        super().__init__(pairs)
        self.twice: set[str] = set()
        if len(pairs) != len(self):
            self.twice = {name for name, times in Counter(name for name, _ in pairs).items() if times > 1}


class _MinusZero(int):
    """An integer written ``-0``: fine inside free-form values, where it is a float, refused where typed."""


def _plain(value: Any) -> Any:  # noqa: ANN401
    """``value`` in plain types, as it is kept in a detail."""
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return -0.0 if isinstance(value, _MinusZero) else value


def _bound(value: object) -> None:
    """Refuse a value that is nested deeper than what follows can recurse through."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise ValueError(f"more than {_DEEPEST} nested values")
        level = [
            member
            for one in level
            if isinstance(one, dict | list | tuple)
            for member in (one.values() if isinstance(one, dict) else one)
        ]


def _integer(text: str) -> int:
    if text == "-0":
        return _MinusZero(0)
    if len(text) > 308 and math.isinf(float(text)):  # noqa: PLR2004 (digits of the largest double)
        raise ValueError("number out of range")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"number out of range: {text}")
    return value


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON value")


def _check(value: Any, info: inspect.Type, path: str, unknown: dict[str, object]) -> None:  # noqa: ANN401
    """Walk ``value`` beside its type: refuse repeated members and odd integers, collect unknown members."""
    match info:
        case inspect.Metadata(type=inner):
            _check(value, inner, path, unknown)
        case inspect.UnionType(types=types):
            for kind in types:
                if _fits(value, kind):
                    _check(value, kind, path, unknown)
                    return
        case inspect.StructType(fields=fields, tag_field=tag_field):
            known = {field.encode_name: field for field in fields}
            for name in value.twice:
                if name in known or name == tag_field:
                    raise ValueError(f"member `{name}` given twice - at `${path}`")
            for name, member in value.items():
                if name in known:
                    _check(member, known[name].type, f"{path}.{name}", unknown)
                elif name != tag_field:
                    unknown[f"{path}.{name}".lstrip(".")] = _plain(member)
        case inspect.ListType(item_type=item):
            for i, member in enumerate(value):
                _check(member, item, f"{path}[{i}]", unknown)
        case inspect.DictType(value_type=item):
            for name, member in value.items():
                _check(member, item, f"{path}.{name}", unknown)
        case inspect.IntType():
            if isinstance(value, _MinusZero) or value > _U64_MAX:
                raise ValueError(f"integer out of range - at `${path}`")


def _fits(value: Any, info: inspect.Type) -> bool:  # noqa: ANN401
    """Whether ``value``, already known to fit the union, is of this member of it."""
    match info:
        case inspect.StructType(tag=tag, tag_field=field):
            return isinstance(value, dict) and (tag is None or value.get(field) == tag)
        case inspect.ListType():
            return isinstance(value, list)
        case inspect.IntType():
            return isinstance(value, int)
    return False
