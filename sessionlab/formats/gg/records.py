"""The typed objects of gg session capture: a journal line, or an element of a record, in; one frozen struct out.

Member names and optionality are those of format version 1. Free-form members stay `msgspec.Raw`: their bytes are
carried as they stand.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

U16 = Annotated[int, Meta(ge=0, le=2**16 - 1)]
U32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
U64 = Annotated[int, Meta(ge=0)]
"""Up to 2^64 - 1; the upper end is held by :mod:`strict`, as a constraint there must fit a signed word."""
Word = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A u64 of which a long list holds many: bounded here, where that costs nothing, at the end of a BIGINT."""
I32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]

FORMAT_VERSION = 1
OLD_SLOTS = frozenset({"trailing_notice"})
OLD_BANDS = frozenset({"board", "plan"})
"""Words of older recorders: accepted, with a note."""

Slot = Literal["system", "thread", "context_usage", "trailing_notice"]
Band = Literal[
    "system", "user_prompt", "assistant", "tool_output", "compiler_error", "runtime_error", "file_view", "text_view",
    "docs_view", "search_results", "skill", "memory", "task_list", "history", "board", "plan",
]  # fmt: skip
ErrorKind = Literal[
    "missing_api_key", "fatal", "retry_exhausted", "vision_unsupported", "parse", "provider_mismatch",
    "response_loop", "timeout",
]  # fmt: skip
Reason = Literal["byte_ceiling", "session_killed", "corrupt_journal", "write_failed"]


class Typed(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """An object whose members are known; what is absent is left out when it is written again."""


class Recorder(Typed, frozen=True):
    """The program that wrote the capture."""

    gg_version: str | None = None
    commit: str | None = None


class Candidate(Typed, frozen=True):
    """One provider a model may be served by."""

    provider: str
    quantization: str


class Modalities(Typed, frozen=True):
    """What a model accepts beside text, as resolved so far."""

    vision: bool


class Seed(Typed, frozen=True, kw_only=True):
    """What the session started from."""

    baseline_commit: str | None = None
    prompt: str
    model_windows: dict[str, U64] = {}
    model_providers: dict[str, list[Candidate | str] | str] = {}
    model_modalities: dict[str, Modalities] = {}


class Root(Typed, frozen=True, tag="root"):
    """The one root agent."""


class Spawn(Typed, frozen=True, tag="spawn"):
    """Spawned by an agent, the ordinal-th of that agent."""

    parent: str
    ordinal: U32


class Succession(Typed, frozen=True, tag="succession"):
    """Took over from an agent."""

    predecessor: str
    ordinal: U32


class IssueAttempt(Typed, frozen=True, tag="issue_attempt"):
    """Dispatched to an issue for the attempt-th time."""

    issue: str
    attempt: U32


class Reviewer(Typed, frozen=True, tag="reviewer"):
    """Reviews an issue."""

    issue: str
    round: U32
    position: U32


class Merge(Typed, frozen=True, tag="merge"):
    """Merges an issue."""

    issue: str
    ordinal: U32


Origin: TypeAlias = Root | Spawn | Succession | IssueAttempt | Reviewer | Merge


class LimitHit(Typed, frozen=True):
    """The ceiling that stopped an agent, in the limit's unit."""

    limit: Literal["turns", "runtime", "consecutive_errors", "error_rate", "cost"]
    threshold: float
    observed: float
    turns: U64
    agent_id: str
    window: U64 | None = None


class AgentRow(Typed, frozen=True):
    """An agent, as told when it comes into being and again when its loop ends."""

    agent_id: str
    profile_id: str
    profile: str
    origin: Origin
    terminal_status: Literal["running", "blocked", "done", "failed"] | None = None
    limit_hit: LimitHit | None = None


class Message(Typed, frozen=True):
    """A pooled message: address of the body as sent, body without image payloads."""

    id: str
    body: Raw


class Toolset(Typed, frozen=True):
    """A pooled list of tool definitions."""

    id: str
    tools: Raw


class Clip(Typed, frozen=True):
    """Says that a text is the tail of a longer one."""

    text: U32
    original_bytes: U64
    original_id: str


class Request(Typed, frozen=True):
    """What was sent to a model: the whole conversation as message indices."""

    role: Literal["agent", "compaction"]
    shape: Literal["complete", "complete_requiring"]
    messages: list[U32]
    toolset: U32 | None = None


class Workspace(Typed, frozen=True, tag="workspace"):
    """The agent's own workspace root."""


class Relative(Typed, frozen=True, tag="relative"):
    """A folder beneath it."""

    path: str


class Absolute(Typed, frozen=True, tag="absolute"):
    """A folder outside it."""

    path: str


Cwd: TypeAlias = Workspace | Relative | Absolute


class Command(Typed, frozen=True):
    """A command gg ran; streams are text indices."""

    command: str
    cwd: Cwd
    exit_code: I32
    stdout: U32
    stderr: U32


class ModelFailure(Typed, frozen=True):
    """Why a model call failed."""

    kind: ErrorKind
    message: str
    status: U16 | None = None
    attempts: U32 | None = None
    model_id: str | None = None


class Call(Typed, frozen=True):
    """A tool call as dispatched."""

    id: str
    name: str
    arguments: Raw
    cwd: Cwd | None = None


class Image(Typed, frozen=True):
    """An image a tool returned, without its bytes."""

    media_type: str
    bytes: U64


class Result(Typed, frozen=True):
    """What a dispatch returned; output, summary and data_text are text indices."""

    ok: bool
    output: U32
    summary: U32 | None = None
    images: list[Image] = []
    data: Raw | UnsetType = UNSET
    data_text: U32 | None = None
    failure: Raw | UnsetType = UNSET


class Region(Typed, frozen=True):
    """The lines a paged file view covers."""

    offset: Word
    limit: Word


class Item(Typed, frozen=True):
    """One item of a context window."""

    message: U32
    slot: Slot
    source: Band
    retention: Literal["pinned", "ephemeral"]
    turn: Word
    label: str | None = None
    region: Region | None = None


class _Entry(Typed, frozen=True):
    """What every entry carries."""

    agent_id: str
    seq: U64


class ModelIo(_Entry, frozen=True, tag="model_io"):
    """A model call and its reply."""

    request: Request
    response: Raw
    duration_ms: U64 | None = None


class ModelError(_Entry, frozen=True, tag="model_error"):
    """A model call that failed."""

    request: Request
    error: ModelFailure
    duration_ms: U64 | None = None


class ToolResult(_Entry, frozen=True, tag="tool_result"):
    """A tool call and what its dispatch returned."""

    call: Call
    outcome: Result


class PromptFrame(_Entry, frozen=True, tag="prompt_frame"):
    """An agent's context window as it stood for the turn just recorded."""

    items: list[Item]


class Shell(_Entry, frozen=True, tag="shell"):
    """A shell command."""

    origin: Literal["tool", "program", "hook"]
    command: Command


class Git(_Entry, frozen=True, tag="git"):
    """A git command of gg's own orchestration."""

    command: Command


class CancelProbe(_Entry, frozen=True, tag="cancel_probe"):
    """A look at the cancel file."""

    canceled: bool


class Clock(_Entry, frozen=True, tag="clock"):
    """A look at the clock."""

    elapsed_ms: U64
    remaining_ms: U64 | None = None


Entry: TypeAlias = ModelIo | ModelError | ToolResult | PromptFrame | Shell | Git | CancelProbe | Clock


class Truncation(Typed, frozen=True):
    """Why capture stopped early."""

    reason: Reason
    last_seq: U64 | None = None
    bytes: U64 | None = None
