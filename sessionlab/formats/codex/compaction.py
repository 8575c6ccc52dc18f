"""`compacted` lines in, entries out, with the conversation that replaces the one before as `Window` rows."""

from __future__ import annotations

from sessionlab.formats.codex.counting import summarised
from sessionlab.formats.codex.items import replaced
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Members, Notes, items_of
from sessionlab.tables import Window


def compacted(log: Log, members: Members, notes: Notes) -> None:
    """A summary was taken: what the conversation is from here on, where the line tells it.

    The request that made the summary is in no running total (rule 32): it is charged where the line names its response,
    else a note says that it is not counted.
    """
    thread = log.thread
    history = items_of(members.raw("replacement_history"))
    message, response_id = members.text("message"), members.text("compaction_response_id")
    before = thread.window
    after = None if history is None else replaced(log, history, notes)
    output_ix = log.text(message, "summary") if message else None
    log.entry(
        "compaction", "compacted", voice="harness", purpose="compaction", output_ix=output_ix,
        messages=None if after is None else len(after), detail=log.kept(members, response=response_id),
    )  # fmt: skip
    thread.epoch += 1
    thread.window = after
    if thread.work is not None:
        thread.work.compactions += 1
    if response_id is not None:
        summarised(log, response_id)
    elif not log.is_copy:
        notes.append(("compaction_not_counted", "the call that made the summary is in no running total"))
    if log.figures:
        return
    old = [ix for _, ix in before or []]
    new = [ix for _, ix in after or []]
    if after is None:
        return
    common = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    for position in range(common, len(new)):
        _window(log, position, new[position])
    if len(new) < len(old):
        _window(log, len(new), None)


def _window(log: Log, position: int, message_ix: int | None) -> None:
    log.out.append(
        Window(
            session_id=log.thread.session_id,
            seq=log.seq,
            line=log.number,
            agent_id=log.thread.agent_id,
            queue="agent",
            position=position,
            message_ix=message_ix,
        )
    )
