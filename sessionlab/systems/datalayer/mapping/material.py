"""A corpus and a session id in; what the common tables tell of that session, in memory and in order, out."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from sessionlab.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessionlab.corpus import Corpus

_S = TypeVar("_S", bound=msgspec.Struct)

ROOT = "root"
"""The agent a session begins with; of the others each works for another."""
Place = tuple[int, int]
"""Source and seq: the key of an entry."""
Body = tuple[int, str, int]
"""Source, pool and index: the key of a body."""


class Part(NamedTuple):
    """One block of a body."""

    kind: str
    call_id: str | None
    name: str | None
    text: str | None
    detail: str | None


class Told(msgspec.Struct, frozen=True, dict=True):
    """One entry, as `raw.entries` has it, in the order of its session."""

    source: int
    seq: int
    agent: str
    is_taken_over: bool
    kind: str
    native: str | None
    run: int | None
    at: datetime | None
    role: str | None
    voice: str | None
    purpose: str | None
    name: str | None
    call_id: str | None
    message_ix: int | None
    output_ix: int | None
    status: str | None
    reason: str | None
    exit_code: int | None
    private: bool | None
    untrusted: bool | None
    detail_text: str | None

    @property
    def place(self) -> Place:
        """Its key."""
        return self.source, self.seq

    @cached_property
    def detail(self) -> dict[str, object]:
        """What no column holds."""
        return members(self.detail_text)


class Call(msgspec.Struct, frozen=True):
    """One tool call, as `raw.tool_calls` has it."""

    source: int
    seq: int
    result_seq: int | None
    call_id: str | None
    name: str | None
    caller: str | None
    arguments: str | None
    output_pool: str | None
    output_ix: int | None
    output_block: int | None
    status: str | None
    refused_by: str | None
    reason: str | None
    exit_code: int | None


class Outcome(msgspec.Struct, frozen=True):
    """How a run of an agent ended."""

    source: int
    seq: int | None
    agent: str
    run: int | None
    stop_cause: str | None
    stop_class: str | None
    ended_at: datetime | None

    @property
    def is_told(self) -> bool:
        """Whether anything tells that the run ended at all."""
        return self.seq is not None or self.stop_class is not None or self.stop_cause is not None


class AgentFacts(msgspec.Struct, frozen=True):
    """One agent of the session."""

    agent_id: str
    parent: str | None = None
    profile_id: str | None = None
    profile: str | None = None
    status: str | None = None
    limit_hit: str | None = None
    limit_threshold: float | None = None
    limit_observed: float | None = None

    @property
    def name(self) -> str:
        """What it is called in a record."""
        return self.profile or self.profile_id or self.agent_id


class SessionFacts(msgspec.Struct, frozen=True):
    """The session's own row."""

    session_id: str
    format: str
    native_id: str | None
    title: str | None
    created_title: str | None
    created_at: datetime | None
    state: str | None
    archived: bool | None
    detail_text: str | None


class Link(msgspec.Struct, frozen=True):
    """A claim that the session belongs to another."""

    relation: str
    other_session_id: str | None
    at_run: int | None


class Setting(NamedTuple):
    """A configuration in force from an entry on: the columns of `SETTINGS`, by name."""

    place: Place
    agent: str
    values: dict[str, object]


SETTINGS = (
    "provider", "model", "effort", "temperature", "max_turns", "max_usd", "window_tokens", "compact_at_tokens",
    "permission_mode", "sandbox", "workspace", "branch", "recorder_version",
)  # fmt: skip


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What the tables tell of one session.

    Attributes:
        entries: in the order of the session's timeline, superseded files left out, each record once.
        parts: the blocks of every body.
        roles: of the pooled messages, by source and index.
        placed: messages that a request or a rewrite put into its list, by entry, in order.
        outcomes: by agent, then run.
        modified_at: when the files it was read from were last modified, the earliest; None where nothing tells.
        figures: recorded figures of tokens and cost.
        retold: entries left out since an earlier one of the same file, agent, role and time says all that they say.
    """

    session: SessionFacts
    entries: list[Told]
    parts: dict[Body, list[Part]]
    roles: dict[Place, str | None]
    placed: dict[Place, list[int]]
    calls: list[Call]
    outcomes: dict[str, dict[int | None, Outcome]]
    agents: dict[str, AgentFacts]
    settings: dict[Place, list[Setting]]
    links: list[Link]
    modified_at: datetime | None
    figures: int
    retold: int

    def texts(self, source: int, pool: str | None, ix: int | None) -> str | None:
        """The texts of a body, joined by line ends; None where there is none."""
        if pool is None or ix is None:
            return None
        parts = self.parts.get((source, pool, ix), ())
        found = [part.text for part in parts if part.kind in ("text", "result", "thinking") and part.text]
        return "\n".join(found) if found else None


def members(text: str | None) -> dict[str, object]:
    """A `detail` text as an object; what is none is empty."""
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


_LIVE = "LEFT JOIN sources f ON f.source_id = x.source_id WHERE f.superseded_by IS NULL AND x.session_id = ?"


def read(corpus: Corpus, session_id: str) -> Material:
    """What the tables tell of the session of that full id.

    Raises:
        QueryError: the corpus was loaded without bodies.
    """
    if not corpus.bodies:
        raise QueryError("a record holds what was said; load with bodies=True")

    def rows(query: str) -> list[tuple[object, ...]]:
        return corpus.sql(query, [session_id]).rows()

    def live(table: str, columns: str, more: str = "") -> list[tuple[object, ...]]:
        return rows(f"SELECT {columns} FROM raw.{table} x {_LIVE} {more}")

    [session] = rows(
        "SELECT session_id, format, native_id, title, created_title, created_at, state, archived, detail"
        " FROM sessions WHERE session_id = ?"
    )
    parts: dict[Body, list[Part]] = {}
    for source, pool, ix, *part in live(
        "blocks", "x.source_id, x.pool, x.ix, x.kind, x.call_id, x.name, x.text, x.detail",
        "AND x.pool <> 'toolset' ORDER BY x.source_id, x.pool, x.ix, x.block",
    ):  # fmt: skip
        parts.setdefault((source, pool, ix), []).append(Part(*part))  # type: ignore[arg-type]
    placed: dict[Place, list[int]] = {}
    for source, seq, message in live(
        "windows", "x.source_id, x.seq, x.message_ix",
        "AND x.message_ix IS NOT NULL AND x.queue <> 'frame' ORDER BY x.source_id, x.seq, x.position",
    ):  # fmt: skip
        placed.setdefault((source, seq), []).append(message)  # type: ignore[arg-type]
    [(modified_at,)] = rows(
        "SELECT min(modified_at) FROM sources WHERE source_id IN"
        " (SELECT source_id FROM raw.sessions WHERE session_id = ?) AND superseded_by IS NULL"
    )
    [(figures,)] = live("usage", "count(*)")
    found = [_struct(Told, row) for row in rows(_ENTRIES)]
    entries = _told_once(found, parts)
    return Material(
        session=_struct(SessionFacts, session),
        entries=entries,
        parts=parts,
        roles={
            (source, ix): role  # type: ignore[misc]
            for source, ix, role in live("pools", "x.source_id, x.ix, x.role", "AND x.pool = 'message'")
        },
        placed=placed,
        calls=[
            _struct(Call, row)
            for row in live(
                "tool_calls",
                "x.source_id, x.seq, x.result_seq, x.call_id, x.name, x.caller, x.arguments, x.output_pool,"
                " x.output_ix, x.output_block, x.status, x.refused_by, x.reason, x.exit_code",
                "ORDER BY x.source_id, x.seq, x.ordinal",
            )
        ],
        outcomes=_outcomes(
            live("outcomes", "x.source_id, x.seq, x.agent_id, x.run, x.stop_cause, x.stop_class, x.ended_at",
                 "ORDER BY x.source_id, x.seq")
        ),
        agents={
            agent.agent_id: agent
            for agent in (
                _struct(AgentFacts, row)
                for row in rows(
                    "SELECT agent_id, parent_agent_id, profile_id, profile, status, limit_hit, limit_threshold,"
                    " limit_observed FROM agents WHERE session_id = ? ORDER BY depth NULLS LAST, seq, agent_id"
                )
            )
        },
        settings=_settings(
            live("configs", "x.source_id, x.seq, x.agent_id, " + ", ".join(f"x.{name}" for name in SETTINGS),
                 "ORDER BY x.source_id, x.seq, x.line")
        ),
        links=[
            _struct(Link, row)
            for row in rows(
                "SELECT relation, other_session_id, at_run FROM links WHERE session_id = ? ORDER BY line, seq, relation"
            )
        ],
        modified_at=modified_at if isinstance(modified_at, datetime) else None,
        figures=figures if isinstance(figures, int) else 0,
        retold=len(found) - len(entries),
    )  # fmt: skip


_ENTRIES = """
SELECT
  o.source_id, o.seq, o.agent_id, o.is_taken_over, e.kind, e.native_kind, e.run, coalesce(e.recorded_at, e.started_at),
  e.role, e.voice, e.purpose, e.name, e.call_id, e.message_ix, e.output_ix, e.status, e.reason, e.exit_code,
  e.private, e.untrusted, e.detail
FROM timeline._order o
JOIN raw.entries e ON e.session_id = o.session_id AND e.source_id = o.source_id AND e.seq = o.seq
WHERE o.session_id = ?
ORDER BY o.place
"""


def _told_once(entries: list[Told], parts: dict[Body, list[Part]]) -> list[Told]:
    """The entries without those that a file tells again under new ids, as recorders do that write a branch anew."""
    said: dict[tuple[int, str, datetime, str | None], set[Part]] = {}
    kept: list[Told] = []
    for told in entries:
        body = parts.get((told.source, "message", told.message_ix)) if told.message_ix is not None else None
        if body and told.at is not None:
            before = said.setdefault((told.source, told.agent, told.at, told.role), set())
            if before.issuperset(body):
                continue
            before.update(body)
        kept.append(told)
    return kept


def _struct(kind: type[_S], row: Iterable[object]) -> _S:
    return kind(*row)


def _outcomes(rows: list[tuple[object, ...]]) -> dict[str, dict[int | None, Outcome]]:
    found: dict[str, dict[int | None, Outcome]] = {}
    for row in rows:
        outcome = _struct(Outcome, row)
        found.setdefault(outcome.agent, {})[outcome.run] = outcome
    return found


def _settings(rows: list[tuple[object, ...]]) -> dict[Place, list[Setting]]:
    found: dict[Place, list[Setting]] = {}
    for source, seq, agent, *values in rows:
        place: Place = (source, seq)  # type: ignore[assignment]
        found.setdefault(place, []).append(Setting(place, str(agent), dict(zip(SETTINGS, values, strict=True))))
    return found
