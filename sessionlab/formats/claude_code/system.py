"""`system` lines in, `Entry` rows out: hooks, ends of runs, compactions, errors of the model's service, notices."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from sessionlab.formats.claude_code.decoding import UNREADABLE, Notes, partly, text_of, value_of
from sessionlab.formats.claude_code.outcomes import outcome
from sessionlab.formats.claude_code.payload import details, kept, milliseconds
from sessionlab.formats.claude_code.records import CompactMetadata, Line
from sessionlab.formats.claude_code.state import DETAIL_BYTES, Transcript

SYSTEM: dict[str, str] = {
    "stop_hook_summary": "hook",
    "turn_duration": "run_end",
    "compact_boundary": "compaction",
    "microcompact_boundary": "rewrite",
    "api_error": "model_error",
    "model_refusal_fallback": "model_error",
    "local_command": "command",
}
"""Kind of entry per subtype of a `system` line; any other subtype is a note."""

_compact = msgspec.json.Decoder(CompactMetadata)


def system(t: Transcript, line: Line, notes: Notes) -> None:
    """A `system` line, by its subtype."""
    subtype = line.subtype or ""
    kind, native = SYSTEM.get(subtype, "note"), f"system/{subtype}"
    if subtype == "turn_duration":
        t.entry(
            kind, native, duration_ms=milliseconds(line.duration_ms), detail=details(line, messages=line.message_count)
        )
        outcome(t, duration_ms=milliseconds(line.duration_ms))
    elif subtype == "stop_hook_summary":
        hooks, ix = kept(t, "hookInfos", line.hook_infos)
        failed = bool(line.hook_errors) and bytes(line.hook_errors) != b"[]"
        t.entry(
            kind,
            native,
            name="Stop",
            call_id=line.tool_use_id,
            status="failed" if failed else "ok",
            reason=line.stop_reason or None,
            output_ix=ix,
            voice="harness",
            detail=details(
                line,
                hooks=hooks,
                errors=value_of(line.hook_errors) if failed else None,
                context=value_of(line.hook_additional_context),
                stopped=line.prevented_continuation or None,
            ),
        )
    elif kind in ("compaction", "rewrite"):
        _boundary(t, line, notes, kind, native)
    elif subtype == "api_error":
        error, ix = kept(t, "error", line.error)
        t.entry(
            kind,
            native,
            status="failed",
            voice="harness",
            reason=_error_word(line.error, line.cause),
            output_ix=ix,
            detail=details(
                line,
                error=error,
                retry_attempt=line.retry_attempt,
                max_retries=line.max_retries,
                retry_in_ms=milliseconds(line.retry_in_ms),
            ),
        )
    elif subtype == "model_refusal_fallback":
        t.entry(
            kind,
            native,
            status="refused",
            voice="harness",
            name=line.original_model,
            reason=line.api_refusal_category or line.trigger,
            detail=details(
                line,
                text=text_of(line.content),
                fallback_model=line.fallback_model,
                direction=line.direction,
                request_id=line.request_id,
                explanation=line.api_refusal_explanation,
                refused_uuid=line.refused_user_message_uuid,
            ),
        )
    else:
        text, ix = kept(t, "content", line.content)
        t.entry(
            kind,
            native,
            name=_command_name(line.content) if kind == "command" else None,
            voice="harness",
            output_ix=ix,
            detail=details(line, text=text, level=line.level, url=line.url),
        )


def _boundary(t: Transcript, line: Line, notes: Notes, kind: str, native: str) -> None:
    """The conversation before this line was summarised, or cleared of old results without a summary."""
    agent = t.agent
    raw = line.compact_metadata or line.microcompact_metadata
    told = partly(raw, _compact, notes) or CompactMetadata()
    whole, ix = kept(t, "compactMetadata", raw)
    after = told.post_tokens
    if after is None and told.tokens_saved is not None and told.pre_tokens is not None:
        after = max(told.pre_tokens - told.tokens_saved, 0)
    t.entry(
        kind,
        native,
        voice="harness",
        purpose="compaction" if kind == "compaction" else None,
        duration_ms=milliseconds(told.duration_ms),
        output_ix=ix,
        detail=details(
            line,
            trigger=told.trigger,
            before_tokens=told.pre_tokens,
            after_tokens=after,
            metadata=whole,
            logical_parent=line.logical_parent_uuid,
        ),
    )
    if t.is_copy:
        return
    agent.epoch += 1
    if kind == "compaction" and agent.run is not None:
        agent.run.compactions += 1


def _error_word(error: Raw, cause: Raw) -> str | None:
    """The shortest word for an error: its type, code, status or message, wherever it stands."""
    for raw in (error, cause):
        try:
            found = _word(msgspec.json.decode(raw) if raw else None, 3)
        except UNREADABLE:
            found = None
        if found is not None:
            return found
    return None


def _word(value: object, depth: int) -> str | None:
    if isinstance(value, str):
        return value.split("\n", 1)[0][:DETAIL_BYTES] or None
    if not isinstance(value, dict) or depth == 0:
        return None
    for name in ("error", "cause"):
        inner = _word(value.get(name), depth - 1)
        if inner is not None:
            return inner
    return next((str(value[name]) for name in ("type", "code", "status", "message") if value.get(name)), None)


def _command_name(content: Raw) -> str | None:
    text = text_of(content) or ""
    _before, tag, rest = text.partition("<command-name>")
    return rest.partition("</command-name>")[0].strip() or None if tag else None
