"""`token_count` events in, raw `Usage` rows out: a call per rise of the running total, a `check` where it stands.

A call is the difference to the last total of this file, or `last_token_usage` where there is none before (a file that
begins in the middle of a thread). A total that fell is a new counter and counts whole (rule 33). The charge is named
by the thread, the total reached and which time it was reached in this file, so a thread that goes on in another file,
or is written twice, folds (rule 16).
"""

from __future__ import annotations

from typing import Any

import msgspec

from sessionlab.columns import tokens
from sessionlab.formats.codex.figures import Tokens, difference, disjoint, dropped, tokens_of, unchanged
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Members, Notes
from sessionlab.formats.codex.thread import Thread
from sessionlab.tables import Usage

MOST_WAITING = 1000
"""How many figures may wait for the first line that names a model, or for the one that names a summary's response."""
UNREADABLE_COUNTS = frozenset({"negative_number", "number_too_large"})
"""Notes that say that a count is missing from a figure."""


def token_count(log: Log, members: Members, notes: Notes) -> None:
    """The entry of a `token_count` event, and the figure in it."""
    thread = log.thread
    info = members.inner("info")
    rates = members.raw("rate_limits")
    told: dict[str, object] = {"rate_limits": msgspec.Raw(rates) if rates is not None else None}
    if info is None:
        log.entry("usage", "token_count", detail=log.kept(members, **told))
        return
    total, last = tokens_of(info.raw("total_token_usage"), notes), tokens_of(info.raw("last_token_usage"), notes)
    window = info.integer("model_context_window")
    thread.window_tokens = window if window is not None else thread.window_tokens
    model = info.text("model")
    told["info"] = info.rest()
    found = _figure(log, total, last, notes)
    if found is None:
        log.entry("usage", "token_count", detail=log.kept(members, **told))
        return
    figure, standing, rise = found
    if standing == "ledger":
        thread.turns += 1
        thread.in_batch = False
        if thread.work is not None and not log.is_copy:
            thread.work.turns += 1
    charge_id = thread.charge_id
    turn = thread.turns or None
    log.entry("usage", "token_count", figure=True, turn=turn, charge_id=charge_id, detail=log.kept(members, **told))
    row = _row(log, figure, notes, turn=turn, charge_id=charge_id, standing=standing, recorded_in=rise)
    row = msgspec.structs.replace(
        row,
        model=model or thread.model,
        context_tokens=last.input_tokens if last is not None and last.input_tokens else row.context_tokens,
    )
    if row.model is None:
        thread.waiting.append(row)
        if len(thread.waiting) >= MOST_WAITING:
            give_waiting(log, thread)
    else:
        log.out.append(row)


def _row(log: Log, figure: Tokens, notes: Notes, **columns: Any) -> Usage:  # noqa: ANN401 (columns of a Usage row)
    """A figure of the current record; it is a lower bound where a count could not be meant."""
    thread = log.thread
    is_lower_bound = any(kind in UNREADABLE_COUNTS for kind, _ in notes)
    split = disjoint(figure, notes)
    return Usage(
        session_id=thread.session_id,
        seq=log.seq,
        line=log.number,
        agent_id=thread.agent_id,
        run=thread.run,
        grain="call",
        recorded_at=log.at,
        provider=thread.provider,
        model=thread.model,
        purpose=columns.pop("purpose", "agent"),
        tier=thread.tier,
        uncached_input_tokens=split.uncached,
        cache_read_tokens=split.read,
        cache_write_tokens=split.written,
        output_tokens=split.output,
        reasoning_tokens=split.reasoning,
        unsplit_tokens=split.unsplit,
        context_tokens=tokens(figure.input_tokens),
        window_tokens=thread.window_tokens,
        is_lower_bound=is_lower_bound,
        **columns,
    )


def token_usage_record(log: Log, members: Members, notes: Notes) -> None:
    """What one response cost (0.154 on). A `check`, since the running total tells it too; a compaction's is charged.

    Which response made a summary is told by the `compacted` line, before or behind this one (rule 32).
    """
    thread = log.thread
    response_id = members.text("response_id")
    figure = tokens_of(members.raw("usage"), notes)
    log.entry("usage", "token_usage_record", figure=figure is not None, detail=log.kept(members, response=response_id))
    if figure is None:
        return
    row = _row(
        log, figure, notes, request_id=response_id, standing="check", recorded_in="token_usage_record",
    )  # fmt: skip
    if response_id is None:
        log.out.append(row)
    elif response_id in thread.summaries:
        log.out.append(_summary(thread, row))
    else:
        if len(thread.responses) >= MOST_WAITING:
            give_responses(log, thread)
        thread.responses[response_id] = row


def summarised(log: Log, response_id: str) -> None:
    """The response that made a summary is charged: no running total holds it."""
    thread = log.thread
    row = thread.responses.pop(response_id, None)
    thread.summaries.add(response_id)
    if row is not None:
        log.out.append(_summary(thread, row))


def _summary(thread: Thread, row: Usage) -> Usage:
    charge_id = None if thread.scope is None else f"{thread.scope}/{row.request_id}"
    return msgspec.structs.replace(row, standing="ledger", purpose="compaction", charge_id=charge_id)


def give_responses(log: Log, thread: Thread) -> None:
    """Give out the responses that made no summary."""
    log.out += thread.responses.values()
    thread.responses.clear()


def give_waiting(log: Log, thread: Thread) -> None:
    """Give out the figures that waited for a model: that of the next `turn_context` (rule 37), null without one."""
    for row in thread.waiting:
        log.out.append(
            msgspec.structs.replace(row, model=thread.model, provider=row.provider or thread.provider)
            if thread.model is not None
            else row
        )
    thread.waiting.clear()


def _figure(log: Log, total: Tokens | None, last: Tokens | None, notes: Notes) -> tuple[Tokens, str, str] | None:
    """What is charged, its standing, and how it was found: `total`, `last`; the thread's charge is then this one."""
    thread = log.thread
    before = thread.total
    if total is None:
        if last is None:
            return None
        _charged(thread, f"last-{last.vector()}")
        return last, "ledger", "last_token_usage"
    if before is not None and unchanged(total, before):
        return last if last is not None else Tokens(), "check", "last_token_usage"
    thread.total = total
    if before is None:
        figure, rise = (last, "last_token_usage") if last is not None else (total, "total_token_usage")
    elif dropped(total, before):
        figure, rise = total, "total_token_usage"
        words = f"the running total fell from {before.vector()} to {total.vector()}; it is counted as a new one"
        notes.append(("counter_reset", words))
    else:
        figure, rise = difference(total, before), "total_token_usage"
        if last is not None and not log.is_copy:
            _compared(figure, last, notes)
    _charged(thread, total.vector())
    return figure, "ledger", rise


def _compared(figure: Tokens, last: Tokens, notes: Notes) -> None:
    """Note a rise that is more than the last call: calls without a count of their own stand between the two."""
    rise, told = figure.input_tokens, last.input_tokens
    if rise is not None and told is not None and rise > told:
        words = f"the running total rose by {rise} input tokens where the last call had {told}; the rise is counted"
        notes.append(("total_rose_further", words))


def _charged(thread: Thread, vector: str) -> None:
    key = (thread.scope, vector)
    nth = thread.counted.get(key, 0) + 1
    thread.counted[key] = nth
    thread.charge_id = None if thread.scope is None else f"{thread.scope}/{vector}/{nth}"
