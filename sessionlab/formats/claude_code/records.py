"""The records of a Claude Code transcript: JSON text in, frozen structs out; a member no struct knows is an error here.

The names of the fields are the recorder's own, so that a struct reads like a line of the file. The decoders are strict
on purpose: a line with a member, a type or a number they do not expect takes the tolerant road of
:mod:`sessionlab.formats.claude_code.decoding`, which keeps what it does not know in ``rest``.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Raw, Struct, field

from sessionlab.columns import BIGINT_MAX, TOKENS_MAX

Count = Annotated[int, msgspec.Meta(ge=0, le=TOKENS_MAX)]
Signed = Annotated[int, msgspec.Meta(ge=-BIGINT_MAX, le=BIGINT_MAX)]
ABSENT = Raw(b"")
REST = "(rest)"
"""Member name that stands for the members no field knows; only the tolerant road fills it."""


class Lenient(Struct, frozen=True, gc=False):
    """A record read only for the members it names; others are kept elsewhere as text."""


class Strict(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A record whose every member is known."""


class CacheCreation(Strict, frozen=True, gc=False):
    """Tokens written to the cache, by lifetime."""

    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class ServerTools(Strict, frozen=True, gc=False):
    """Requests the provider's own tools made."""

    web_search_requests: Count | None = None
    web_fetch_requests: Count | None = None
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class OutputDetails(Strict, frozen=True, gc=False):
    """Parts of the output tokens."""

    thinking_tokens: Count | None = None
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class Iteration(Strict, frozen=True, gc=False):
    """One attempt inside a reply: the reply itself, an advisor, a refused model, a compaction."""

    type: str | None = None
    model: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation: CacheCreation | None = None
    output_tokens_details: OutputDetails | None = None
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class TokenUsage(Strict, frozen=True, gc=False):
    """`message.usage`: what one reply was charged for."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation: CacheCreation | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    server_tool_use: ServerTools | None = None
    output_tokens_details: OutputDetails | None = None
    iterations: list[Iteration] | None = None
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class Part(Strict, frozen=True, gc=False):
    """One block of a message's content."""

    type: str = ""
    text: Raw = ABSENT
    thinking: Raw = ABSENT
    signature: Raw = ABSENT
    data: Raw = ABSENT
    id: str | None = None
    name: str | None = None
    input: Raw = ABSENT
    caller: Raw = ABSENT
    tool_use_id: str | None = None
    content: Raw = ABSENT
    is_error: bool | None = None
    source: Raw = ABSENT
    citations: Raw = ABSENT
    cache_control: Raw = ABSENT
    from_: Raw = field(default=ABSENT, name="from")
    to: Raw = ABSENT
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class Message(Strict, frozen=True, gc=False):
    """The provider's message inside a chat line."""

    role: str | None = None
    id: str | None = None
    model: str | None = None
    type: str | None = None
    content: str | list[Part] | None = None
    usage: TokenUsage | None = None
    stop_reason: str | None = None
    stop_sequence: Raw = ABSENT
    stop_details: Raw = ABSENT
    container: Raw = ABSENT
    context_management: Raw = ABSENT
    diagnostics: Raw = ABSENT
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class Line(Strict, frozen=True, gc=False, rename="camel"):
    """One record of the file: the envelope of a chat line, or a bookkeeping line."""

    type: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    message: Message | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    request_id: str | None = None
    version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    tool_use_result: Raw = ABSENT
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    logical_parent_uuid: str | None = None
    other_session_id: str | None = field(default=None, name="session_id")
    entrypoint: str | None = None
    user_type: str | None = None
    slug: str | None = None
    permission_mode: str | None = None
    effort: str | None = None
    prompt_id: str | None = None
    prompt_source: str | None = None
    origin: Raw = ABSENT
    thinking_metadata: Raw = ABSENT
    todos: Raw = ABSENT
    plan_content: Raw = ABSENT
    image_paste_ids: Raw = ABSENT
    mcp_meta: Raw = ABSENT
    source_tool_assistant_uuid: str | None = field(default=None, name="sourceToolAssistantUUID")
    source_tool_use_id: str | None = field(default=None, name="sourceToolUseID")
    is_visible_in_transcript_only: bool | None = None
    attribution_skill: str | None = None
    attribution_mcp_server: str | None = None
    attribution_mcp_tool: str | None = None
    cost_usd: float | None = field(default=None, name="costUSD")
    error: Raw = ABSENT
    forked_from: Raw = ABSENT
    team_name: str | None = None
    agent_name: str | None = None
    # type system
    subtype: str | None = None
    level: str | None = None
    content: Raw = ABSENT
    duration_ms: float | None = None
    message_count: int | None = None
    compact_metadata: Raw = ABSENT
    microcompact_metadata: Raw = ABSENT
    cause: Raw = ABSENT
    retry_in_ms: float | None = None
    retry_attempt: int | None = None
    max_retries: int | None = None
    hook_count: int | None = None
    hook_infos: Raw = ABSENT
    hook_errors: Raw = ABSENT
    hook_additional_context: Raw = ABSENT
    prevented_continuation: bool | None = None
    stop_reason: str | None = None
    has_output: bool | None = None
    url: str | None = None
    trigger: str | None = None
    direction: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None
    refused_user_message_uuid: str | None = None
    # type progress, attachment
    data: Raw = ABSENT
    tool_use_id: str | None = field(default=None, name="toolUseID")
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")
    attachment: Raw = ABSENT
    # bookkeeping
    summary: str | None = None
    leaf_uuid: str | None = None
    message_id: str | None = None
    snapshot: Raw = ABSENT
    is_snapshot_update: bool | None = None
    operation: str | None = None
    last_prompt: str | None = None
    mode: str | None = None
    ai_title: str | None = None
    custom_title: str | None = None
    rest: dict[str, Raw] | None = field(default=None, name=REST)


class Whole(Lenient, frozen=True, gc=False):
    """A line, read only for the text of its message."""

    message: Raw = ABSENT


class Result(Lenient, frozen=True, gc=False, rename="camel"):
    """`toolUseResult`, read only for what a column holds; the whole of it is a block of the entry's body."""

    interrupted: bool | None = None
    agent_id: str | None = None
    status: str | None = None
    description: str | None = None
    resolved_model: str | None = None
    duration_ms: float | None = None
    duration_seconds: float | None = None
    total_duration_ms: float | None = None
    total_tokens: Count | None = None
    total_tool_use_count: Count | None = None
    usage: Raw = ABSENT


class TextPart(Lenient, frozen=True, gc=False):
    """A part of a tool's result, read only for its text."""

    text: str | None = None


class SpawnInput(Lenient, frozen=True, gc=False):
    """Arguments of the tool that starts a subagent."""

    subagent_type: str | None = None
    description: str | None = None
    model: str | None = None


class Embedded(Lenient, frozen=True, gc=False, rename="camel"):
    """A subagent's line inside a `progress` line of its parent."""

    type: str | None = None
    message: Raw = ABSENT
    request_id: str | None = None
    timestamp: str | None = None


class Progress(Lenient, frozen=True, gc=False, rename="camel"):
    """`data` of a `progress` line."""

    type: str | None = None
    message: Raw = ABSENT
    agent_id: str | None = None
    hook_name: str | None = None
    hook_event: str | None = None
    command: str | None = None


class Attachment(Lenient, frozen=True, gc=False, rename="camel"):
    """`attachment` of an `attachment` line."""

    type: str | None = None
    hook_name: str | None = None
    hook_event: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
    exit_code: Signed | None = None
    duration_ms: float | None = None
    command_mode: str | None = None
    prompt: Raw = ABSENT
    condition: str | None = None
    met: bool | None = None


class CompactMetadata(Lenient, frozen=True, gc=False, rename="camel"):
    """`compactMetadata` and `microcompactMetadata`."""

    trigger: str | None = None
    pre_tokens: Count | None = None
    post_tokens: Count | None = None
    tokens_saved: Count | None = None
    duration_ms: float | None = None


class Origin(Lenient, frozen=True, gc=False):
    """`origin` of a user line: who really wrote it."""

    kind: str | None = None


class Fork(Lenient, frozen=True, gc=False, rename="camel"):
    """`forkedFrom`: where a line was copied from when the session was forked."""

    session_id: str | None = None
    message_uuid: str | None = None


IGNORED = frozenset(
    {
        "container",  # the provider's sandbox for its own tools
        "diagnostics",
        "hasOutput",
        "isVisibleInTranscriptOnly",  # says how the recorder shows the line
        "sourceToolAssistantUUID",  # the assistant line the result answers; the call id says the same
        "stop_details",
        "stop_sequence",
        "userType",  # "external" in every line seen
    }
)
OPEN = frozenset(
    {
        "apiError",
        "attachment",
        "caller",
        "cause",
        "citations",
        "compactMetadata",
        "context_management",
        "data",
        "error",
        "forkedFrom",
        "from",
        "hookAdditionalContext",
        "hookErrors",
        "hookInfos",
        "input",
        "mcpMeta",
        "microcompactMetadata",
        "origin",
        "snapshot",
        "source",
        "thinkingMetadata",
        "to",
        "todos",
        "toolUseResult",
    }
)
"""Members whose values are kept whole or read only in part; the names below them are the tools' and hooks' own."""

_STRICT = (CacheCreation, ServerTools, OutputDetails, Iteration, TokenUsage, Part, Message, Line)
_PART_KEYS = frozenset({"media_type", "title", "context"})
USED = frozenset(name for struct in _STRICT for name in struct.__struct_encode_fields__) - IGNORED - {REST} | _PART_KEYS
