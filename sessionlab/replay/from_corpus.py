"""A session of a corpus in, of whatever format; its `Trajectory` out, put together from the tables.

A mecha session is its list in force, as 12.1 has it: equal to what :func:`~sessionlab.replay.extract` makes of the
file. For the other formats, whose specifications know no trajectory, it is all that an agent of the session did: its
answered calls in the order of their results, its turns, the last text it gave, what it took over from a session it
was forked or resumed from included. Only mecha tells of steering.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from sessionlab.errors import QueryError, UnknownName
from sessionlab.formats.mecha.wire import AnyBlock, Message, Text, ToolResult, ToolUse
from sessionlab.replay.trajectory import Json, RecordedCall, Trajectory, extract, trimmed

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

ROOT = "root"
"""The agent a session begins with."""
_decode = msgspec.json.Decoder().decode
_ERRORS = frozenset({"failed", "refused", "interrupted"})
"""What a result's status is where its call did not do what was asked."""


def trajectory(corpus: Corpus, session: str, *, agent_id: str = ROOT) -> Trajectory:
    """The trajectory of one agent of a session.

    Args:
        corpus: loaded with bodies.
        session: a session id, a native id, or the beginning of either.
        agent_id: whose calls; default: the agent the session began with.

    A call without recorded arguments has null ones, arguments that are no JSON are their text, and a result without
    text is empty. Calls of formats that tell no batches have none, and are compared by position.

    Raises:
        UnknownName, AmbiguousName: no such session or agent, or several sessions.
        QueryError: the corpus was loaded without bodies.
    """
    session_id = corpus.session_id(session)
    if not corpus.bodies:
        raise QueryError("a trajectory holds what was said and asked; load with bodies=True")
    known = {
        row[0]
        for table in ("raw.entries", "agents")
        for row in corpus.sql(f"SELECT DISTINCT agent_id FROM {table} WHERE session_id = ?", [session_id]).rows()
    }
    if agent_id not in known | {ROOT}:
        raise UnknownName(f"agent of {session_id}", agent_id, known)
    if session_id.startswith("mecha:"):
        return extract(_messages_in_force(corpus, session_id))
    said = _said(corpus, session_id, agent_id)
    turns = tuple(text for is_turn, text in said if is_turn)
    final_text = next((text for is_turn, text in reversed(said) if not is_turn), "")
    return Trajectory(turns, _calls(corpus, session_id, agent_id), final_text)


def _calls(corpus: Corpus, session_id: str, agent_id: str) -> tuple[RecordedCall, ...]:
    rows = corpus.sql(
        "SELECT t.name, t.arguments, b.text, t.status, t.batch, t.external FROM raw.tool_calls t"
        " LEFT JOIN raw.blocks b ON b.source_id = t.source_id AND b.session_id = t.session_id"
        " AND b.pool = t.output_pool AND b.ix = t.output_ix AND b.block = coalesce(t.output_block, 0)"
        " JOIN timeline._order o ON o.session_id = t.session_id AND o.source_id = t.source_id AND o.seq = t.result_seq"
        " WHERE t.session_id = ? AND t.agent_id = ? AND t.result_seq IS NOT NULL"
        " AND t.caller IS DISTINCT FROM 'harness'"
        " ORDER BY o.place, t.output_block NULLS FIRST, t.seq, t.ordinal",
        [session_id, agent_id],
    ).rows()
    return tuple(
        RecordedCall(name or "", _json(arguments), text or "", status in _ERRORS, batch, external)
        for name, arguments, text, status, batch, external in rows
    )


def _json(text: str | None) -> Json:
    """Arguments as recorded: JSON where the format keeps JSON, else a text."""
    if text is None:
        return None
    try:
        found: Json = _decode(text)
    except msgspec.DecodeError:
        return text
    return found


def _said(corpus: Corpus, session_id: str, agent_id: str) -> list[tuple[bool, str]]:
    """What was said and is not blank, in order: whether it is a turn of the user, or a text of the agent."""
    rows = corpus.sql(
        """
        WITH heard AS (
          SELECT source_id, session_id, seq, 0 AS position, 'message' AS pool, message_ix AS ix, role, voice, kind
          FROM raw.entries
          WHERE session_id = $1 AND agent_id = $2 AND kind = 'message' AND message_ix IS NOT NULL
          UNION ALL
          SELECT source_id, session_id, seq, 0, 'response', output_ix, 'assistant', voice, kind
          FROM raw.entries
          WHERE session_id = $1 AND agent_id = $2 AND kind = 'model_call' AND output_ix IS NOT NULL
            AND purpose IS DISTINCT FROM 'compaction'
          UNION ALL
          SELECT w.source_id, w.session_id, min(w.seq), min(w.position), 'message', w.message_ix, 'user', 'person',
            'window'
          FROM raw.windows w
          JOIN raw.pools p
            ON p.source_id = w.source_id AND p.session_id = w.session_id AND p.pool = 'message' AND p.ix = w.message_ix
          LEFT JOIN raw.windows f
            ON f.source_id = w.source_id AND f.session_id = w.session_id AND f.message_ix = w.message_ix
            AND f.queue = 'frame' AND f.band <> 'user_prompt'
          WHERE w.session_id = $1 AND w.agent_id = $2 AND w.queue = 'agent' AND p.role = 'user' AND f.seq IS NULL
            AND NOT EXISTS (SELECT 1 FROM raw.entries e WHERE e.session_id = $1 AND e.kind = 'message')
          GROUP BY w.source_id, w.session_id, w.message_ix
        )
        SELECT h.source_id, h.seq, h.position, h.ix, h.kind, h.role, h.voice, b.name, b.text
        FROM heard h
        JOIN raw.blocks b
          ON b.source_id = h.source_id AND b.session_id = h.session_id AND b.pool = h.pool AND b.ix = h.ix
          AND b.kind = 'text'
        JOIN timeline._order o
          ON o.session_id = h.session_id AND o.source_id = h.source_id AND o.seq = h.seq
        ORDER BY o.place, h.position, h.ix, b.block
        """,
        [session_id, agent_id],
    ).rows()
    joined: dict[tuple[object, ...], tuple[bool, str]] = {}
    for source, seq, position, ix, kind, role, voice, name, text in rows:
        is_turn = _is_turn(role, voice, name)
        if is_turn is None:
            continue
        key = (source, seq, position, ix, kind, is_turn)
        joined[key] = (is_turn, joined[key][1] + text if key in joined else text or "")
    said: list[tuple[bool, str]] = []
    prompts: set[str] = set()
    for (*_, kind, _), (is_turn, text) in joined.items():
        if not trimmed(text) or (kind == "window" and text in prompts):
            continue  # a prompt that is sent again without its pictures is another message of the same words
        if kind == "window":
            prompts.add(text)
        said.append((is_turn, text))
    return said


def _is_turn(role: str | None, voice: str | None, name: str | None) -> bool | None:
    """Whether a text is a turn of the user, or of the agent; None: neither.

    Where a message has no role of its own (datalayer keeps question and answer together), the part's name tells.
    """
    if role is None:
        return {"asked": True, "answered": False}.get(name or "")
    if role == "assistant":
        return False
    return True if role == "user" and voice in ("person", "agent") else None


def _messages_in_force(corpus: Corpus, session_id: str) -> list[Message]:
    """The list at the end of a mecha session's file, the fuller one where several tell of it."""
    source: int = corpus.sql(
        "SELECT s.source_id FROM raw.sessions s JOIN sources f ON f.source_id = s.source_id WHERE s.session_id = ?"
        " AND f.superseded_by IS NULL ORDER BY s.entries DESC NULLS LAST, s.source_id LIMIT 1",
        [session_id],
    ).item()
    told = [session_id, source]
    at: dict[int, int | None] = {}
    length = 0
    for _, position, ix, messages in corpus.sql(
        "SELECT seq, position, message_ix, messages FROM raw.entries WHERE session_id = $1 AND source_id = $2"
        " UNION ALL SELECT seq, position, message_ix, NULL FROM raw.windows"
        " WHERE session_id = $1 AND source_id = $2 AND queue = 'agent' ORDER BY seq",
        told,
    ).rows():
        if position is not None:
            at[position] = ix
        length = length if messages is None else messages
    pool = _pool(corpus, told)
    return [pool[ix] for position in range(length) if (ix := at[position]) is not None]


def _pool(corpus: Corpus, told: Sequence[object]) -> dict[int, Message]:
    """The messages of a mecha file by pool index, with what a trajectory is made of: texts, calls, results."""
    content: dict[int, list[AnyBlock]] = {}
    for ix, kind, call_id, name, text, detail in corpus.sql(
        "SELECT ix, kind, call_id, name, text, detail FROM raw.blocks WHERE session_id = ? AND source_id = ?"
        " AND pool = 'message' AND kind IN ('text', 'call', 'result') ORDER BY ix, block",
        told,
    ).rows():
        held = content.setdefault(ix, [])
        if kind == "text":
            held.append(Text(text))
        elif kind == "call":
            held.append(ToolUse(call_id, name, _decode(text)))
        else:
            held.append(ToolResult(call_id, text, json.loads(detail)["is_error"]))
    pool: dict[int, Message] = {}
    for ix, role, detail in corpus.sql(
        "SELECT ix, role, detail FROM raw.pools WHERE session_id = ? AND source_id = ? AND pool = 'message'"
        " ORDER BY ix",
        told,
    ).rows():
        more = json.loads(detail or "{}")
        blocks, provenance = content.get(ix, []), more.get("tool_provenance", {})
        if "continues_ix" in more:  # only the blocks added to an earlier body are told here
            earlier = pool[more["continues_ix"]]
            blocks, provenance = [*earlier.content, *blocks], earlier.tool_provenance
        pool[ix] = Message(role, blocks, provenance)
    return pool
