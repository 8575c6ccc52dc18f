"""One line of a mecha transcript in, one typed record out: the strict rules of the wire, and the lenient second look.

:data:`decode` is the fast road: a line written exactly as known. What it refuses goes to :func:`recover`, which
ignores members it does not know, reads messages block by block (section 8.4), and says what it had to leave out.
Integers of the wire are unsigned (32 or 64 bits), ``20.0`` is no integer, ``NaN`` is no number, and an optional
member may be null while a defaulted one may not (section 3).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

import msgspec

from sessionlab.formats._values import micros

U64_MAX = 2**64 - 1
U32 = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
U64 = Annotated[int, msgspec.Meta(ge=0)]
"""At least 0; the upper end does not fit msgspec's bounds, so each struct that holds one checks it after decoding."""

Free = Any
"""JSON of any shape, kept as it is."""

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def _within_u64(*values: int | None) -> None:
    if any(value is not None and value > U64_MAX for value in values):
        raise ValueError("Expected an unsigned 64-bit `int`")


class _Known(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """An object of the wire with no member but the known ones."""


class Block(_Known, frozen=True, tag_field="type"):
    """A content block (section 5.2)."""


class Text(Block, frozen=True, tag="text"):
    """What somebody says."""

    text: str


class Thinking(Block, frozen=True, tag="thinking"):
    """What the model thought."""

    text: str
    signature: str | None = None


class ToolUse(Block, frozen=True, tag="tool_use"):
    """A call the model asks for."""

    id: str
    name: str
    input: Free

    def __hash__(self) -> int:
        """By the canonical form of the input: keys sorted, ``1`` and ``1.0`` apart (section 5.4)."""
        return hash((self.id, self.name, _encode_sorted(self.input)))


class ToolResult(Block, frozen=True, tag="tool_result", omit_defaults=False):
    """What came back from a call."""

    tool_use_id: str
    content: str
    is_error: bool = False


class Image(Block, frozen=True, tag="image"):
    """A picture, base64 without a prefix."""

    media_type: str
    data: str
    source: str | None = None


AnyBlock = Text | Thinking | ToolUse | ToolResult | Image
BLOCKS: dict[str, type[Block]] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyBlock)}


class Message(_Known, frozen=True):
    """A message of the conversation (section 5.1)."""

    role: Literal["user", "assistant"]
    content: tuple[AnyBlock, ...]
    tool_provenance: dict[str, bool] = {}
    harness: bool = False
    planning: dict[str, Free] | None = None


class Tokens(_Known, frozen=True):
    """A usage object: four members, each required."""

    input_tokens: U64
    output_tokens: U64
    cache_creation_input_tokens: U64
    cache_read_input_tokens: U64

    def __post_init__(self) -> None:
        _within_u64(
            self.input_tokens,
            self.output_tokens,
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
        )


class Legs(_Known, frozen=True):
    """The two legs of taint."""

    private: bool = False
    untrusted: bool = False


class Meta(_Known, frozen=True, tag_field="record", tag="meta"):
    """The header (section 4.1)."""

    id: str
    created_at: str
    provider: str
    model: str
    workspace: str
    title: str | None = None
    kind: Free = None

    def __post_init__(self) -> None:
        if not _RFC3339.fullmatch(self.created_at) or micros(self.created_at.upper()) is None:
            raise ValueError("Expected an RFC 3339 time as `created_at`")


class MessageLine(Message, frozen=True, tag_field="record", tag="message"):
    """A ``message`` record: the message itself at top level."""


class Summary(_Known, frozen=True, tag_field="record", tag="summary"):
    """Tokens and turns of one finished run (section 4.3)."""

    usage: Tokens
    turns: U32


class Outcome(_Known, frozen=True, tag_field="record", tag="outcome"):
    """How one finished run went (section 4.4)."""

    SENSORS: ClassVar[tuple[str, ...]]

    turns: U32 = 0
    usage: Tokens | msgspec.UnsetType = msgspec.UNSET
    cost_usd: float | None = None
    usage_complete: bool = False
    stop_cause: str | None = None
    exhausted: bool = False
    ended_on_failed_call: bool = False
    tool_calls: U32 = 0
    tool_errors: U32 = 0
    tool_denied: U32 = 0
    tool_staged: U32 = 0
    malformed_tool_args: U32 = 0
    blocked_sends: U32 = 0
    compactions: U32 = 0
    taint: Legs = Legs()
    goal_anchor: Free = None
    duration_secs: float | None = None
    context_overflows: U32 | None = None
    boredom_notices: U32 | None = None
    step_escalations_attempted: U32 | None = None
    step_escalations_revised: U32 | None = None
    checks_declared: U32 | None = None
    checks_passed: U32 | None = None
    step_completions: U32 | None = None
    step_measured: U32 | None = None
    step_nulls: U32 | None = None
    step_reopens: U32 | None = None
    goal_plan_writes: U32 | None = None
    goal_drift_writes: U32 | None = None
    goal_unnamed_writes: U32 | None = None
    homeostat: Free = None
    delivered: Free = None


Outcome.SENSORS = Outcome.__struct_fields__[Outcome.__struct_fields__.index("context_overflows") :]


class Config(_Known, frozen=True, tag_field="record", tag="config"):
    """What a process attached with (section 4.5). Words are kept as recorded, unknown ones too (section 22)."""

    mecha_version: str = ""
    provider: str = ""
    model: str = ""
    workspace: str = ""
    system_prompt: str | None = None
    tools: tuple[str, ...] = ()
    effort: str | None = None
    temperature: float | None = None
    seed: U64 | None = None
    thinking: bool = False
    cache_prompt: bool = False
    max_tokens: U32 = 0
    max_turns: U32 = 0
    max_output_tokens: U64 | None = None
    max_cost_usd: float | None = None
    compact_at_tokens: U64 | None = None
    compact_keep_recent: U64 = 0
    permission_mode: str = "ask"
    trifecta: str = "block"
    sandbox: str = "none"
    sandbox_network: bool = False
    tools_hash: str | None = None
    rules_workspace: str | None = None
    rules_surface: str | None = None
    rules_goal: str | None = None
    rules_hash: str | None = None

    def __post_init__(self) -> None:
        _within_u64(self.seed, self.max_output_tokens, self.compact_at_tokens, self.compact_keep_recent)


class Taint(Legs, frozen=True, tag_field="record", tag="taint"):
    """A taint checkpoint (section 4.6)."""


class Rewrite(_Known, frozen=True, tag_field="record", tag="rewrite"):
    """The whole message list, in place of the one before (section 4.7)."""

    messages: tuple[Message, ...]


class Title(_Known, frozen=True, tag_field="record", tag="title"):
    """A new name for the conversation (section 4.8)."""

    title: str


class GoalAnchor(_Known, frozen=True, tag_field="record", tag="goal_anchor"):
    """The goal a run was tied to (section 4.9)."""

    goal: Free = None


class Extend(_Known, frozen=True, tag_field="record", tag="extend"):
    """Blocks added to a message already recorded (section 4.10)."""

    index: U64
    blocks: tuple[AnyBlock, ...]

    def __post_init__(self) -> None:
        _within_u64(self.index)


class Notes(_Known, frozen=True, tag_field="record", tag="notes"):
    """Texts the harness shows the model around a persona call (section 4.10)."""

    notes: tuple[str, ...]


Record = (
    Meta | MessageLine | Summary | Outcome | Config | Taint | Rewrite | Title | GoalAnchor | Extend | Notes
)  # fmt: skip
RECORDS: dict[str, type[Record]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Record)}

decode = msgspec.json.Decoder(Record).decode
"""A line exactly as known, as its record; ``UNREADABLE`` errors otherwise."""
decode_meta = msgspec.json.Decoder(Meta).decode
UNREADABLE = _UNREADABLE

_decode_free = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_DECODERS = {kind: msgspec.json.Decoder(kind).decode for kind in (*RECORDS.values(), *BLOCKS.values())}
_decode_provenance = msgspec.json.Decoder(dict[str, bool]).decode

Extra = tuple[str, Free]
"""What no member of a struct holds: where it stood in the line (``content[2]``, ``mood``), and its JSON."""


class Unreadable(Exception):  # noqa: N818 (a verdict on the line, never seen by a caller)
    """The line is no record that mecha can read; says why."""

    def __init__(self, why: str, word: str | None = None) -> None:
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


def recover(line: bytes) -> Recovered:
    """The record in a line that is not written exactly as known.

    Raises:
        Unreadable: mecha cannot read it either.
    """
    try:
        found = _decode_free(line)
    except _UNREADABLE as error:
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
    except _UNREADABLE as error:
        raise Unreadable(str(error), word) from error
    except Unreadable as error:
        error.word = word
        raise


_Kind = TypeVar("_Kind", bound=msgspec.Struct)


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
    record: Record = _DECODERS[kind](_encode(known))
    return Recovered(record, unknown, [extras])


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
    result.record = Rewrite(tuple(kept))
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
        except _UNREADABLE:
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
        content=tuple(blocks),
        tool_provenance=provenance,
        harness=_member(found, "harness", bool, extras, result) or False,
        planning=_member(found, "planning", dict, extras, result) if found.get("planning") is not None else None,
    )
    return message, extras


def _block(found: Free) -> AnyBlock:
    kind = BLOCKS.get(found["type"]) if isinstance(found, dict) and isinstance(found.get("type"), str) else None
    if kind is None:
        raise msgspec.ValidationError("Unknown block type")
    block: AnyBlock = _DECODERS[kind](_encode(found))
    return block


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


def word(record: Record) -> str:
    """The word that names the record's kind."""
    return str(record.__struct_config__.tag)


MEMBERS: frozenset[str] = frozenset(
    name
    for kind in (*RECORDS.values(), *BLOCKS.values(), Message, Tokens, Legs)
    for name in (*kind.__struct_encode_fields__, kind.__struct_config__.tag_field)
    if name
)
"""Every member name of the wire that is known."""
