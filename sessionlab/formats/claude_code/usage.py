"""What a reply was charged for in, raw `Usage` rows out: one per recorded figure, nothing folded.

Every line of a reply repeats the reply's figures, so copies share a ``charge_id`` and the fold takes the maximum per
column (rules 1 to 5). Tokens are made disjoint: an hour's cache writes stand apart, the rest of the writes, also what
the split leaves over, is priced as five minutes (rule 27). Null stays null (rule 38).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import msgspec

from sessionlab.columns import tokens
from sessionlab.formats._values import detail
from sessionlab.formats.claude_code.decoding import NULL, Notes, lenient, usage_of
from sessionlab.formats.claude_code.records import (
    CacheCreation,
    Count,
    Iteration,
    Message,
    Result,
    ServerTools,
    TokenUsage,
)
from sessionlab.formats.claude_code.state import AgentState, Reply, Transcript, provider_of
from sessionlab.tables import Usage

CHARACTERS_PER_TOKEN = 16
"""No model writes longer tokens on average; measured replies hold 3 to 5 characters a token."""
NOWHERE = (None, "", "not_available")
COUNTS = frozenset({"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"})
"""Counts a reply is charged for; one that stands in ``rest`` could not be read."""
NO_COUNTS = dict.fromkeys(COUNTS)
TOTALS = ("total_tokens", "totalTokens")
_count: msgspec.json.Decoder[Count | None] = msgspec.json.Decoder(Count | None, strict=False)


def cache_writes(total: int | None, split: CacheCreation | None) -> tuple[int | None, int | None]:
    """Tokens written for five minutes (or for a time not told), and for an hour.

    The larger of the total and the sum of its parts is written; what is not for an hour is for five minutes.
    """
    if split is None:
        return total, None
    five, hour = split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens
    if total is not None and five is not None and hour is not None and total == five + hour:
        return five, hour
    if total is None and five is None and hour is None:
        return None, None
    return tokens(max(total or 0, (five or 0) + (hour or 0)) - (hour or 0)), hour


def context(*parts: int | None) -> int | None:
    """All input of the request; null when none of it is told, or when it is more than a request can hold."""
    told = [part for part in parts if part is not None]
    return tokens(sum(told)) if told else None


def only_total(members: dict[str, msgspec.Raw]) -> int | None:
    """The total that stands for the counts of a usage object which tells none of them, or only zeros (rule 39)."""
    totals = (lenient(members.get(name, NULL), _count) for name in TOTALS)
    return next((total for total in totals if total), None)


def characters(message: Message) -> int:
    """How much text a line holds of its reply, in bytes of JSON: what the output tokens are compared with."""
    content = message.content
    if content is None or isinstance(content, str):
        return len(content or "")
    size = 0
    for part in content:
        if part.type in {"text", "thinking"}:
            size += max(len(memoryview(part.text)), len(memoryview(part.thinking)), 2) - 2
        else:
            size += len(memoryview(part.input))
    return size


def charge(
    t: Transcript,
    agent: AgentState,
    usage: TokenUsage,
    *,
    charge_id: str | None,
    request_id: str | None,
    model: str | None,
    stopped: bool,
    size: int,
    recorded_in: str,
    recorded_usd: float | None = None,
    turn: int | None = None,
) -> None:
    """Note the ``usage`` one line states of a reply of which it holds ``size`` bytes of text.

    The rows are given out when the reply's last line is known. Only then is it told whether the figure
    is a lower bound: no line of the reply has a ``stop_reason``, and its text is longer than CHARACTERS_PER_TOKEN times
    the output tokens of the fullest line (rule 6). It is one too where a count is no number that can be meant.
    """
    reply = agent.reply
    if reply is None or charge_id is None or reply.charge_id != charge_id:
        settle(t, agent)
        reply = agent.reply = Reply(charge_id)
    written, hour = cache_writes(usage.cache_creation_input_tokens, usage.cache_creation)
    tools, reasoning = usage.server_tool_use, usage.output_tokens_details
    fresh, read, output, speed = (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens, usage.speed)
    unsplit = None
    unread: AbstractSet[str] = frozenset()
    if usage.rest is not None:
        unread = usage.rest.keys() & COUNTS
        unsplit = None if fresh or read or written or hour or output else only_total(usage.rest)
        if unsplit is not None:
            fresh = read = written = hour = output = None
    row = Usage(
        session_id=t.session.session_id,
        seq=t.seq,
        line=t.number,
        agent_id=agent.agent_id,
        run=agent.prompts,
        turn=turn,
        charge_id=charge_id,
        request_id=request_id,
        grain="call",
        standing="ledger",
        recorded_in=recorded_in,
        recorded_at=t.at,
        provider=provider_of(model),
        model=model,
        purpose=agent.purpose,
        tier=usage.service_tier or speed if speed is None or speed == "standard" else speed,
        uncached_input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=hour,
        output_tokens=output,
        reasoning_tokens=None if reasoning is None else reasoning.thinking_tokens,
        unsplit_tokens=unsplit,
        context_tokens=None if unread - {"output_tokens"} else context(fresh, read, written, hour),
        web_searches=None if tools is None else tools.web_search_requests,
        recorded_usd=recorded_usd,
        is_lower_bound=bool(unread),
        detail=_rest(usage, tools),
    )
    reply.usage.append(row)
    reply.characters += size
    reply.stopped = reply.stopped or stopped
    most = output or unsplit
    if most is not None and most > reply.output:
        reply.output = most
    attempts = usage.iterations
    if attempts and (len(attempts) > 1 or attempts[0].type != "message"):
        _attempts(row, model, attempts, reply)


def settle(t: Transcript, agent: AgentState) -> None:
    """Give out the rows of the agent's reply whose last line has been seen."""
    reply = agent.reply
    if reply is None:
        return
    if reply.stopped or reply.characters <= CHARACTERS_PER_TOKEN * reply.output:
        t.out += reply.usage
    else:
        t.out += [
            msgspec.structs.replace(row, is_lower_bound=True) if row.charge_id == reply.charge_id else row
            for row in reply.usage
        ]
    agent.reply = None


def _attempts(row: Usage, model: str | None, iterations: list[Iteration], reply: Reply) -> None:
    """Rows for the attempts that the reply's own figures leave out.

    An adviser (rule 28) and a compaction on the server are calls of their own. The attempt of a model that was then
    replaced by another (``fallback_message``) is listed and not charged (rule 29).
    """
    replaced = any(attempt.type == "fallback_message" for attempt in iterations)
    for ordinal, attempt in enumerate(iterations):
        kind = attempt.type or ""
        if kind == "fallback_message" or (kind == "message" and not (replaced and attempt.model not in (None, model))):
            continue
        billed = kind in ("advisor_message", "compaction")
        called = attempt.model or (model if kind == "compaction" else None)
        written, hour = cache_writes(attempt.cache_creation_input_tokens, attempt.cache_creation)
        thinking = attempt.output_tokens_details
        reply.usage.append(
            msgspec.structs.replace(
                row,
                charge_id=f"{row.charge_id}#{kind}-{ordinal}" if row.charge_id is not None else None,
                standing="ledger" if billed else "check",
                recorded_in="iterations",
                provider=provider_of(called),
                model=called,
                purpose={"advisor_message": "advisor", "compaction": "compaction"}.get(kind, row.purpose),
                uncached_input_tokens=attempt.input_tokens,
                cache_read_tokens=attempt.cache_read_input_tokens,
                cache_write_tokens=written,
                cache_write_1h_tokens=hour,
                output_tokens=attempt.output_tokens,
                reasoning_tokens=thinking.thinking_tokens if thinking is not None else None,
                context_tokens=context(attempt.input_tokens, attempt.cache_read_input_tokens, written, hour),
                web_searches=None,
                recorded_usd=None,
                detail=detail(iteration=kind, ordinal=ordinal, rest=attempt.rest),
            )
        )


def subagent_total(t: Transcript, agent_id: str, result: Result, notes: Notes) -> None:
    """A `check` row for what the parent was told its subagent used.

    The split is that of the subagent's last call, so the total goes to ``unsplit_tokens`` only where no split is told.
    """
    usage = usage_of(result.usage, notes)
    if usage is None and result.total_tokens is None:
        return
    split = usage or TokenUsage()
    written, hour = cache_writes(split.cache_creation_input_tokens, split.cache_creation)
    parts = (split.input_tokens, split.cache_read_input_tokens, written, hour, split.output_tokens)
    if not any(parts) and result.total_tokens:  # rule 39: zeros beside a total are no split
        split, written, hour = msgspec.structs.replace(split, **NO_COUNTS), None, None
    t.out.append(
        Usage(
            session_id=t.session.session_id,
            seq=t.seq,
            line=t.number,
            agent_id=agent_id,
            run=t.agent.prompts,
            grain="agent",
            standing="check",
            recorded_in="toolUseResult",
            recorded_at=t.at,
            provider=provider_of(result.resolved_model),
            model=result.resolved_model,
            purpose="agent",
            tier=split.service_tier,
            uncached_input_tokens=split.input_tokens,
            cache_read_tokens=split.cache_read_input_tokens,
            cache_write_tokens=written,
            cache_write_1h_tokens=hour,
            output_tokens=split.output_tokens,
            unsplit_tokens=None if any(parts) else result.total_tokens,
            context_tokens=context(split.input_tokens, split.cache_read_input_tokens, written, hour),
            detail=detail(total_tokens=result.total_tokens, tool_calls=result.total_tool_use_count),
        )
    )


def _rest(usage: TokenUsage, tools: ServerTools | None) -> str | None:
    """What no column holds; null for the usual line."""
    geo = usage.inference_geo
    if geo in NOWHERE:
        geo = None
    fetches = None if tools is None else tools.web_fetch_requests or None
    if fetches is None and geo is None and usage.rest is None:
        return None
    return detail(web_fetches=fetches, inference_geo=geo, rest=usage.rest)
