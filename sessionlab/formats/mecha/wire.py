"""One line of a mecha transcript in, one typed record out: the strict rules of the wire.

:data:`decode` is the fast road: a line written exactly as known. What it refuses gets a second look in ``lenient``.
Integers of the wire are unsigned (32 or 64 bits), ``20.0`` is no integer, ``NaN`` is no number, and an optional
member may be null while a defaulted one may not (section 3).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal, get_args

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
BLOCKS: dict[str, type[AnyBlock]] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyBlock)}


class Message(_Known, frozen=True):
    """A message of the conversation (section 5.1)."""

    role: Literal["user", "assistant"]
    content: list[AnyBlock]
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
    rules_surface: Free = None
    rules_goal: Free = None
    rules_hash: str | None = None

    def __post_init__(self) -> None:
        _within_u64(self.seed, self.max_output_tokens, self.compact_at_tokens, self.compact_keep_recent)


class Taint(Legs, frozen=True, tag_field="record", tag="taint"):
    """A taint checkpoint (section 4.6)."""


class Rewrite(_Known, frozen=True, tag_field="record", tag="rewrite"):
    """The whole message list, in place of the one before (section 4.7)."""

    messages: list[Message]


class Title(_Known, frozen=True, tag_field="record", tag="title"):
    """A new name for the conversation (section 4.8)."""

    title: str


class GoalAnchor(_Known, frozen=True, tag_field="record", tag="goal_anchor"):
    """The goal a run was tied to (section 4.9)."""

    goal: Free = None


class Extend(_Known, frozen=True, tag_field="record", tag="extend"):
    """Blocks added to a message already recorded (section 4.10)."""

    index: U64
    blocks: list[AnyBlock]

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
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding a line may raise."""


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
