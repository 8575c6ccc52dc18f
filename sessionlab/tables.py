"""The common tables: a class per table, an attribute per column, a sentence for each. This is the data dictionary.

Formats write these rows into the schema ``raw``: what each file says. The plain name of a table is what is true of
the whole load: the same rows with superseded files and copied rows left out, ``usage`` folded by charge,
``sessions`` and ``agents`` folded by id. ``(source_id, seq)`` is the key of a row and of every join; ``seq`` is
compared inside one source only. Null means "not told", never zero and never clean. Times are UTC.
"""

from __future__ import annotations

from typing import Annotated as Col
from typing import ClassVar

from sessionlab.columns import Big, Column, Flag, Real, Row, Small, Text, Time, columns, plain_columns

__all__ = ["TABLES", "Column", "Row", "columns", "plain_columns"]


class Source(Row, frozen=True, kw_only=True):
    """One row per file read."""

    plain: ClassVar[dict[str, tuple[str, str]]] = {
        "superseded_by": ("BIGINT", "Source that tells all this one tells; its rows stand for both."),
        "superseded_rule": ("VARCHAR", "Why: `same_bytes`, `fuller_snapshot`."),
    }

    uri: Col[str, "VARCHAR", "Where the file was read: a path or an fsspec URL."]
    format: Col[str, "VARCHAR", "Name of the format that claimed it."]
    format_version: Col[Text, "Version of the format the file states."] = None
    size_bytes: Col[Big, "Bytes read, as stored (compressed where it is compressed)."] = None
    decoded_bytes: Col[Big, "Bytes after decompression: what extents and byte offsets speak of."] = None
    modified_at: Col[Time, "Modification time of the file; null for file objects."] = None
    content_id: Col[Text, "Size and CRC-32 of the bytes: equal for byte copies."] = None
    lines: Col[Big, "Lines in the file; null where a file is not lines."] = None
    state: Col[Text, "`whole`, `short` (cut or damaged), `refused` (nothing of it was taken)."] = None
    reason: Col[Text, "Why it is short or refused, in the words of its specification."] = None


class Session(Row, frozen=True, kw_only=True):
    """One row per session (raw: one per source that tells of it)."""

    plain: ClassVar[dict[str, tuple[str, str]]] = {
        "sources": ("BIGINT", "Sources that tell of this session and are not superseded."),
        "same_as_session_id": ("VARCHAR", "Session of another format this one is a retelling of (an export)."),
    }

    session_id: Col[str, "VARCHAR", "`format:native_id`, or `format:source_id` when the file names none."]
    format: Col[str, "VARCHAR", "Format the session was recorded in."]
    native_id: Col[Text, "The recorder's own id."] = None
    part: Col[Text, "`log` grows by appending, `snapshot` retells all, `mark` is a side file."] = None
    title: Col[Text, "Title in force at the end of the file."] = None
    created_title: Col[Text, "Title given when the session was created."] = None
    created_at: Col[Time, "When the session began; null where nothing tells."] = None
    ended_at: Col[Time, "Last time anything was recorded; null where nothing tells."] = None
    entries: Col[Big, "Entries this source holds of the session."] = None
    provider: Col[Text, "Provider named by the opening; null when it names none."] = None
    model: Col[Text, "Model named by the opening; null when it names none."] = None
    workspace: Col[Text, "Working folder named by the opening."] = None
    surface: Col[Text, "Front end: run, chat, cli, exec …, in the recorder's word."] = None
    state: Col[Text, "State the record itself gives: open, paused, ended, done, failed …"] = None
    archived: Col[Flag, "Filed away by its owner; null when the format has no such mark."] = None
    archived_at: Col[Time, "When it was filed away."] = None
    goal: Col[Text, "Goal the session is tied to at the end of the file, raw."] = None
    recorder: Col[Text, "Program that wrote the file."] = None
    recorder_version: Col[Text, "Its version."] = None
    recorder_commit: Col[Text, "Commit of the recorder, or of the workspace it saw first (see detail)."] = None
    routing_key: Col[Text, "Key sent with every model request."] = None
    detail: Col[Text, "What the format knows and no column holds, JSON."] = None


class Link(Row, frozen=True, kw_only=True):
    """One row per claim that two sessions belong together."""

    session_id: Col[str, "VARCHAR", "Session that makes the claim."]
    seq: Col[Big, "Entry that makes it; null when the opening does."] = None
    line: Col[Big, "Line that makes it, 1-based; null where a file is not lines."] = None
    relation: Col[str, "VARCHAR", "forked_from, imported_from, exported_to, continued_from, spawned_from or seat_of."]
    other_session_id: Col[Text, "Session it points at; need not be loaded."] = None
    at_run: Col[Big, "Run (1-based) after which they part."] = None
    digest: Col[Text, "Digest of the file taken in or given out."] = None
    detail: Col[Text, "The rest of the claim, JSON."] = None


class Agent(Row, frozen=True, kw_only=True):
    """One row per agent of a session (raw: one per time it is told)."""

    session_id: Col[str, "VARCHAR", "Session the agent ran in."]
    seq: Col[
        Big, "Position of the telling; the last one of a source stands (gg: of the agent; of equal ones the last line)."
    ] = None
    line: Col[Big, "Line that tells, 1-based."] = None
    agent_id: Col[str, "VARCHAR", "Agent within the session; `root` for the first."]
    parent_agent_id: Col[Text, "Agent that made it (spawner, predecessor); null for root or when not told."] = None
    spawn_call_id: Col[Text, "Tool call that spawned it."] = None
    depth: Col[Small, "Steps down from the root agent; root is 0."] = None
    origin: Col[Text, "`root`, `spawn`, `succession`, `issue_attempt`, `reviewer`, `merge` or `compaction`."] = None
    origin_key: Col[Text, "The same agent across runs: its origin spelled from the root down."] = None
    issue: Col[Text, "Issue it worked on, reviewed or merged."] = None
    ordinal: Col[Big, "Which spawn, succession, attempt or merge, 0-based."] = None
    round: Col[Big, "Review round."] = None
    position: Col[Big, "Position inside the review round."] = None
    profile_id: Col[Text, "Slug of the profile or agent type it ran under."] = None
    profile: Col[Text, "Display name at launch; not unique."] = None
    model: Col[Text, "Model its profile names."] = None
    status: Col[Text, "`running`, `blocked`, `done`, `failed`; null unknown."] = None
    limit_hit: Col[Text, "Ceiling that stopped it: `turns`, `runtime`, `cost` …"] = None
    limit_threshold: Col[Real, "The ceiling, in the limit's unit."] = None
    limit_observed: Col[Real, "What was observed, in the same unit."] = None
    limit_turns: Col[Big, "Turns the observing agent had taken."] = None
    limit_window: Col[Big, "Window of the error rate, in calls."] = None
    limit_agent_id: Col[Text, "Agent that observed the breach."] = None
    detail: Col[Text, "The rest, JSON."] = None


class Entry(Row, frozen=True, kw_only=True):
    """One row per recorded input or line."""

    session_id: Col[str, "VARCHAR", "Session the entry belongs to."]
    seq: Col[int, "BIGINT", "Position in the source, 0-based, ours."]
    line: Col[Big, "Line of the file, 1-based; null where a file is not lines."] = None
    agent_id: Col[str, "VARCHAR", "Agent it belongs to; `root` where a format knows one agent."] = "root"
    record_id: Col[Big, "63-bit digest: the same record wherever it was copied; null when it cannot be told."] = None
    parent_id: Col[Big, "The record it hangs from, by its record_id."] = None
    is_copy: Col[bool, "BOOLEAN", "The file itself shows that this is a replay of an earlier record."] = False
    kind: Col[str, "VARCHAR", "One of ENTRY_KINDS."]
    native_kind: Col[Text, "The recorder's own word for it."] = None
    run: Col[Big, "Request worked to its end this belongs to, 1-based."] = None
    turn: Col[Big, "Model call of the agent this belongs to, 1-based, compactions apart."] = None
    epoch: Col[Big, "Compactions and rewrites before it, 0-based."] = None
    recorded_at: Col[Time, "When it was written down."] = None
    started_at: Col[Time, "When it began, as told."] = None
    elapsed_ms: Col[Big, "Clock reading since the session began, as recorded, never computed."] = None
    duration_ms: Col[Big, "How long it took, as recorded."] = None
    role: Col[Text, "Role of the message: user, assistant, system, tool."] = None
    voice: Col[Text, "Who speaks: `person`, `harness`, `model`, `tool`, `agent`."] = None
    purpose: Col[Text, "What a model call was for: `agent`, `compaction` …"] = None
    name: Col[Text, "Tool, command line, hook, title or check it is about."] = None
    call_id: Col[Text, "Tool call it belongs to."] = None
    charge_id: Col[Text, "Model call it is part of, as in `usage`."] = None
    message_ix: Col[Big, "The one message it holds, in the source's `message` pool."] = None
    position: Col[Big, "Where that message stands in the conversation, 0-based."] = None
    messages: Col[Big, "Length of the conversation or request after it."] = None
    toolset_ix: Col[Big, "Tools offered, in the source's `toolset` pool."] = None
    output_ix: Col[Big, "Output text, in the source's `text` pool; of a gg model call its reply, in `response`."] = None
    status: Col[Text, "`ok`, `failed`, `refused`, `asked`, `interrupted`, `unanswered`, `staged`; null unknown."] = None
    reason: Col[Text, "The recorded word for why: finish reason, error kind, refusal."] = None
    exit_code: Col[Big, "Exit code of a command."] = None
    private: Col[Flag, "Kind `taint`: private data had entered by here (merged so far)."] = None
    untrusted: Col[Flag, "Kind `taint`: content from outside had entered by here (merged so far)."] = None
    detail: Col[Text, "What no column holds, JSON."] = None


ENTRY_KINDS = (
    "message", "model_call", "model_error", "tool_call", "tool_result", "command", "window", "rewrite",
    "compaction", "extend", "run_start", "run_end", "config", "usage", "taint", "goal", "title", "state",
    "decision", "approval", "check", "feedback", "hook", "step", "clock", "probe", "echo", "note", "other",
)  # fmt: skip


class Window(Row, frozen=True, kw_only=True):
    """One row per change of a recorded message list: from this entry on, this position holds this message."""

    session_id: Col[str, "VARCHAR", "Session the window belongs to."]
    seq: Col[int, "BIGINT", "Entry from which on it holds."]
    line: Col[Big, "Line of that entry, 1-based."] = None
    agent_id: Col[str, "VARCHAR", "Agent whose window it is."] = "root"
    queue: Col[str, "VARCHAR", "`agent`, `compaction` (requests) or `frame` (typed items)."]
    position: Col[int, "BIGINT", "Position in the list, 0-based."]
    message_ix: Col[Big, "Message now there, in the source's `message` pool; null: the list ends before it."] = None
    slot: Col[Text, "Frame slot: system, thread, context_usage."] = None
    band: Col[Text, "Frame source: what the item is attributed to."] = None
    retention: Col[Text, "`pinned` or `ephemeral` across compaction."] = None
    turn: Col[Big, "Turn the item was pushed on; 0 before the first."] = None
    label: Col[Text, "Selector tag, e.g. a file view's path."] = None
    region_offset: Col[Big, "First line of a paged view, 1-based."] = None
    region_limit: Col[Big, "Lines of a paged view."] = None


class Pool(Row, frozen=True, kw_only=True):
    """One row per distinct body of a source."""

    session_id: Col[str, "VARCHAR", "Session the body belongs to."]
    line: Col[Big, "Line it was first written on, 1-based."] = None
    pool: Col[str, "VARCHAR", "`message`, `toolset`, `text`, or `response`: a reply that is no pooled message (gg)."]
    ix: Col[int, "BIGINT", "Position in that pool of this source, 0-based."]
    content_id: Col[Text, "Content address the format records or a repeated list needs."] = None
    role: Col[Text, "Role of a message."] = None
    body_bytes: Col[Big, "Bytes of the body as stored."] = None
    original_bytes: Col[Big, "Bytes before clipping; null when it is whole."] = None
    original_id: Col[Text, "Content address before clipping."] = None
    detail: Col[Text, "The rest, JSON."] = None


class Block(Row, frozen=True, kw_only=True):
    """One row per part of a body: the only heavy table."""

    session_id: Col[str, "VARCHAR", "Session the body belongs to."]
    line: Col[Big, "Line it stands on, 1-based."] = None
    pool: Col[str, "VARCHAR", "Pool of the body."]
    ix: Col[int, "BIGINT", "Index of the body in that pool."]
    block: Col[int, "BIGINT", "Position of the part in the body, 0-based."]
    kind: Col[str, "VARCHAR", "`text`, `thinking`, `call`, `result`, `image`, `tool` or `extra`."]
    call_id: Col[Text, "Tool call of a call or result."] = None
    name: Col[Text, "Tool name, image name, or member an extra came from."] = None
    text: Col[Text, "The text; a call's arguments as JSON; a tool's schema as JSON."] = None
    detail: Col[Text, "The rest of the part, JSON."] = None


class ToolCall(Row, frozen=True, kw_only=True):
    """One row per tool call, with its result."""

    session_id: Col[str, "VARCHAR", "Session the call was made in."]
    seq: Col[int, "BIGINT", "Entry that holds the call (of the result, where only that is recorded)."]
    line: Col[Big, "Line of the call, 1-based."] = None
    agent_id: Col[str, "VARCHAR", "Agent that made it."] = "root"
    ordinal: Col[int, "BIGINT", "Position of the call inside its entry, 0-based."] = 0
    result_seq: Col[Big, "Entry that holds the result; null when none came."] = None
    call_id: Col[Text, "Id of the call; repeats across sessions."] = None
    charge_id: Col[Text, "Model call that asked for it, as in `usage`."] = None
    run: Col[Big, "Run it belongs to, 1-based."] = None
    turn: Col[Big, "Turn it belongs to, 1-based."] = None
    batch: Col[Big, "Calls answered together share a batch, 0-based."] = None
    name: Col[Text, "Tool called."] = None
    caller: Col[Text, "`model`, `program` or `harness`."] = None
    arguments: Col[Text, "Arguments, JSON where the format keeps JSON. A body: null when loaded without bodies."] = None
    output_pool: Col[Text, "Pool that holds the result."] = None
    output_ix: Col[Big, "Index of the body that holds the result."] = None
    output_block: Col[Big, "Part of that body; null for the whole."] = None
    status: Col[Text, "`ok`, `failed`, `refused`, `interrupted`, `unanswered`, `staged`; null unknown."] = None
    refused_by: Col[Text, "Who refused: `person`, `policy` or `hook`."] = None
    reason: Col[Text, "The recorded word for why it failed or was refused."] = None
    external: Col[Flag, "The result came from outside the machine; null unknown, which counts as external."] = None
    exit_code: Col[Big, "Exit code, for a command."] = None
    called_at: Col[Time, "When the call was recorded."] = None
    returned_at: Col[Time, "When the result was recorded."] = None
    duration_ms: Col[Big, "How long it took, as recorded, never computed."] = None


class Usage(Row, frozen=True, kw_only=True):
    """One row per billable call, or run where nothing is finer (raw: per recorded figure)."""

    plain: ClassVar[dict[str, tuple[str, str]]] = {
        "figures": ("BIGINT", "Recorded figures folded into this row."),
        "sources": ("BIGINT", "Files they came from."),
    }

    session_id: Col[str, "VARCHAR", "Session that is charged."]
    seq: Col[int, "BIGINT", "Entry that holds the figure."]
    line: Col[Big, "Line that holds it, 1-based."] = None
    agent_id: Col[str, "VARCHAR", "Agent that is charged."] = "root"
    run: Col[Big, "Run it belongs to, 1-based."] = None
    turn: Col[Big, "Turn it belongs to, 1-based; turns of the run where grain is `run`."] = None
    charge_id: Col[Text, "The one charge, in whatever file; figures with one id fold. Null never folds."] = None
    request_id: Col[Text, "The provider's request id."] = None
    grain: Col[str, "VARCHAR", "`call`, `run`, `agent` or `session`: what the figure covers."]
    standing: Col[str, "VARCHAR", "`ledger` counts; `stand_in` where its charge has no ledger row; `check` never."]
    recorded_in: Col[Text, "Record it stands in: `summary`, `outcome`, `response` …"] = None
    recorded_at: Col[Time, "When the call was recorded."] = None
    provider: Col[Text, "Provider the call was sent to."] = None
    served_by: Col[Text, "Who served it, in the provider's spelling."] = None
    model: Col[Text, "Model called."] = None
    purpose: Col[Text, "`agent`, `compaction` …"] = None
    tier: Col[Text, "Service tier or speed billed: `standard`, `batch`, `fast` …"] = None
    turns: Col[Big, "Model calls the figure covers."] = None
    uncached_input_tokens: Col[Big, "Input neither read from nor written to a cache (gg: writes included)."] = None
    cache_read_tokens: Col[Big, "Input tokens read from a cache."] = None
    cache_write_tokens: Col[Big, "Input tokens written to a cache for 5 minutes, or without a lifetime told."] = None
    cache_write_1h_tokens: Col[Big, "Input tokens written to a cache for an hour."] = None
    output_tokens: Col[Big, "Output tokens, reasoning included."] = None
    reasoning_tokens: Col[Big, "Part of output_tokens spent on reasoning."] = None
    unsplit_tokens: Col[Big, "Tokens when only a total is told."] = None
    context_tokens: Col[Big, "All input of the request: decides a price band."] = None
    window_tokens: Col[Big, "Context window of the model, as recorded."] = None
    web_searches: Col[Big, "Billed searches."] = None
    recorded_usd: Col[Real, "Cost the recorder wrote down, US dollars."] = None
    recorded_list_usd: Col[Real, "Second cost it wrote down: list price, US dollars."] = None
    is_lower_bound: Col[bool, "BOOLEAN", "More was spent than the figure says."] = False
    detail: Col[Text, "The rest, JSON."] = None


class Outcome(Row, frozen=True, kw_only=True):
    """One row per finished run, as recorded; counts a format does not record are null."""

    session_id: Col[str, "VARCHAR", "Session the run belongs to."]
    seq: Col[Big, "Entry that tells how it ended; null where an agent row tells."] = None
    line: Col[Big, "Line of that entry, 1-based."] = None
    agent_id: Col[str, "VARCHAR", "Agent that ran."] = "root"
    run: Col[Big, "Run within the session, 1-based."] = None
    provider: Col[Text, "Provider by the configuration in effect."] = None
    model: Col[Text, "Model by the configuration in effect."] = None
    started_at: Col[Time, "When the run began."] = None
    ended_at: Col[Time, "When it ended."] = None
    duration_ms: Col[Big, "How long it took, as recorded."] = None
    turns: Col[Big, "Model calls."] = None
    stop_cause: Col[Text, "Why it stopped, the recorded word; null when none is recorded."] = None
    stop_class: Col[Text, "`completed`, `cut_short`, `interrupted`, `failed`; null where nothing tells."] = None
    exhausted: Col[Flag, "A budget was reached."] = None
    ended_on_failed_call: Col[Flag, "The model ended the run itself and its last call had failed."] = None
    tool_calls: Col[Big, "Calls attempted, refused ones included."] = None
    tool_errors: Col[Big, "Calls that failed; denials are not among them."] = None
    tool_denied: Col[Big, "Calls a person or a policy refused."] = None
    tool_staged: Col[Big, "Calls placed in an outbox for review."] = None
    malformed_tool_args: Col[Big, "Calls whose arguments were not valid JSON."] = None
    blocked_sends: Col[Big, "Sends stopped by the interlock."] = None
    compactions: Col[Big, "Summaries taken."] = None
    private: Col[Flag, "Private data had entered by the end."] = None
    untrusted: Col[Flag, "Content from outside had entered by the end."] = None
    recorded_usd: Col[Real, "Cost written down at the time, US dollars."] = None
    usage_complete: Col[Flag, "False: the recorded usage is a lower bound."] = None
    goal: Col[Text, "Goal the run was tied to, raw."] = None
    sensors: Col[Text, "Optional counters and scores, JSON; absent means not measured."] = None


class Config(Row, frozen=True, kw_only=True):
    """One row per configuration, in force from here on."""

    session_id: Col[str, "VARCHAR", "Session it applies to."]
    seq: Col[int, "BIGINT", "Entry from which on it is in force."]
    line: Col[Big, "Line of that entry, 1-based."] = None
    agent_id: Col[str, "VARCHAR", "Agent it applies to."] = "root"
    position: Col[Big, "Length of the message list when it was read; moved by rewrites (mecha 8.6)."] = None
    provider: Col[Text, "Provider."] = None
    model: Col[Text, "Model."] = None
    effort: Col[Text, "Reasoning effort, the recorded word."] = None
    temperature: Col[Real, "Sampling temperature, when pinned."] = None
    max_turns: Col[Big, "Turn limit."] = None
    max_usd: Col[Real, "Cost ceiling, US dollars."] = None
    window_tokens: Col[Big, "Context window."] = None
    compact_at_tokens: Col[Big, "Context size at which a compaction starts; null: off or not told."] = None
    permission_mode: Col[Text, "Permission mode, the recorded word."] = None
    sandbox: Col[Text, "Sandbox, the recorded word."] = None
    workspace: Col[Text, "Working folder."] = None
    branch: Col[Text, "Git branch."] = None
    recorder_version: Col[Text, "Version of the recorder."] = None
    system_ix: Col[Big, "System prompt, in the source's `text` pool."] = None
    toolset_ix: Col[Big, "Tools configured, in the source's `toolset` pool."] = None
    tools_hash: Col[Text, "Fingerprint of the tool surface, as recorded."] = None
    detail: Col[Text, "The rest, JSON."] = None


class Problem(Row, frozen=True, kw_only=True):
    """One row per thing that is wrong."""

    session_id: Col[Text, "Session it concerns; null when the file was not understood so far."] = None
    seq: Col[Big, "Entry it concerns."] = None
    line: Col[Big, "Line it stands on, 1-based."] = None
    byte_offset: Col[Big, "Where it begins in the file."] = None
    byte_length: Col[Big, "How many bytes of the file it covers."] = None
    kind: Col[str, "VARCHAR", "What is wrong, a word in snake case."]
    severity: Col[str, "VARCHAR", "`note` nothing lost, `loss` these bytes are in no row, `refusal` the file."]
    detail: Col[Text, "What was expected and found, in words."] = None


class Extent(Row, frozen=True, kw_only=True):
    """One row per run of lines with one fate: together they cover every byte of the file."""

    from_line: Col[Big, "First line, 1-based; null where a file is not lines."] = None
    to_line: Col[Big, "Last line."] = None
    byte_offset: Col[int, "BIGINT", "Where the run begins."]
    byte_length: Col[int, "BIGINT", "Bytes it covers, line ends included."]
    fate: Col[str, "VARCHAR", "`read`, `blank`, `problem` or `after_end`."]


class Price(Row, frozen=True, kw_only=True):
    """One row per rate in force: US dollars per million tokens (per thousand searches, per thousand requests)."""

    provider: Col[Text, "Provider as the usage names it."] = None
    model: Col[Text, "Model as the usage names it; null: usage that names none."] = None
    variant: Col[str, "VARCHAR", "`standard`, `batch`, `fast` …"] = "standard"
    input_usd_per_mtok: Col[Real, "Uncached input."] = None
    cache_read_usd_per_mtok: Col[Real, "Cache reads."] = None
    cache_write_usd_per_mtok: Col[Real, "Cache writes, 5 minutes."] = None
    cache_write_1h_usd_per_mtok: Col[Real, "Cache writes, an hour."] = None
    output_usd_per_mtok: Col[Real, "Output, reasoning included."] = None
    reasoning_usd_per_mtok: Col[Real, "Reasoning, where it costs other than output; null: as output."] = None
    web_search_usd_per_thousand: Col[Real, "Billed searches."] = None
    request_usd_per_thousand: Col[Real, "Fee on every request; null: none is charged."] = None
    from_at: Col[Time, "In force from, inclusive; null: always."] = None
    until_at: Col[Time, "In force until, exclusive; null: still."] = None
    from_time: Col[Big, "Time of day (UTC, seconds since midnight) it begins, inclusive; null: all day."] = None
    until_time: Col[Big, "Time of day it ends, exclusive."] = None
    band_from_tokens: Col[int, "BIGINT", "Smallest context_tokens of the band that prices the whole request."] = 0
    band_until_tokens: Col[Big, "First context_tokens of the next band; null: no end."] = None
    origin: Col[str, "VARCHAR", "`file` or `genai-prices`."]
    origin_version: Col[Text, "Version of the origin: package version or file name."] = None


TABLES: dict[str, type[Row]] = {
    "sources": Source, "sessions": Session, "links": Link, "agents": Agent, "entries": Entry, "windows": Window,
    "pools": Pool, "blocks": Block, "tool_calls": ToolCall, "usage": Usage, "outcomes": Outcome, "configs": Config,
    "problems": Problem, "extents": Extent, "prices": Price,
}  # fmt: skip
"""Every common table by name, in reading order."""

TABLE_OF: dict[type[Row], str] = {row: name for name, row in TABLES.items()}
"""The name of a row's table."""
