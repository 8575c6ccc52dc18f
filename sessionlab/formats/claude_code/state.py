"""What a reader remembers between the lines of one file: the session, its agents, their runs, and the rows to give out.

All of it is small: ids and counters, never a body, except the arguments of calls that still wait for their result.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any

import msgspec

from sessionlab.columns import BIGINT_MAX
from sessionlab.formats._values import micros
from sessionlab.formats.claude_code.decoding import Notes
from sessionlab.formats.claude_code.records import Line, Message
from sessionlab.formats.recording import Recording, digest63
from sessionlab.tables import Agent, Block, Config, Entry, Link, Pool, Problem, Row, Session, Usage

NAME = "claude_code"
ROOT = "root"
COMPACTION_AGENT = "acompact"
"""How the ids of agents begin that do nothing but summarise."""
DETAIL_BYTES = 1000
"""Longest JSON text of a bookkeeping line that `detail` keeps; a longer one is a body."""


class Run:
    """One prompt worked to its end, as far as the log has told."""

    __slots__ = ("calls", "compactions", "denied", "errors", "failed", "last_status", "started_at",
                 "stop_reason", "turns")  # fmt: skip

    def __init__(self, started_at: int | None) -> None:
        self.started_at = started_at
        self.turns = self.calls = self.errors = self.denied = self.compactions = 0
        self.stop_reason: str | None = None
        self.last_status: str | None = None
        self.failed = False


class Reply:
    """The lines of one message id met so far that stand together: their usage waits for the last of them."""

    __slots__ = ("characters", "charge_id", "output", "stopped", "usage")

    def __init__(self, charge_id: str | None) -> None:
        self.charge_id = charge_id
        self.usage: list[Usage] = []
        self.characters = self.output = 0
        self.stopped = False


class AgentState:
    """One agent of a session: where it stands in its work, and the configuration it was last seen under."""

    __slots__ = ("agent_id", "batch", "batch_charge", "branch", "cwd", "effort", "epoch", "mode", "model",
                 "permission", "prompts", "purpose", "reply", "row", "run", "turn", "turns", "version")  # fmt: skip

    def __init__(self, row: Agent) -> None:
        self.row = row
        self.agent_id = row.agent_id
        self.purpose = "compaction" if row.origin == "compaction" else "agent"
        self.prompts: int | None = None
        self.run: Run | None = None
        self.turn: int | None = None
        self.turns: dict[str, tuple[int, int]] = {}
        self.epoch = 0
        self.batch = -1
        self.batch_charge: str | None = None
        self.reply: Reply | None = None
        self.version: str | None = None
        self.cwd: str | None = None
        self.branch: str | None = None
        self.model: str | None = None
        self.permission: str | None = None
        self.effort: str | None = None
        self.mode: str | None = None


class SessionState:
    """One session the file tells of."""

    __slots__ = ("agents", "created_at", "ended_at", "entries", "native_id", "session_id", "slug", "surface",
                 "titles", "version", "workspace")  # fmt: skip

    def __init__(self, native_id: str | None, session_id: str) -> None:
        self.native_id, self.session_id = native_id, session_id
        self.agents: dict[str, AgentState] = {}
        self.created_at = BIGINT_MAX
        self.ended_at = -BIGINT_MAX
        self.entries = 0
        self.titles: dict[str, str] = {}
        self.workspace: str | None = None
        self.surface: str | None = None
        self.version: str | None = None
        self.slug: str | None = None


class Transcript:
    """The file being read: the place of the current record, the counters of its pools, and the rows made so far.

    ``out`` is what the reader gives out and empties after each record.
    """

    __slots__ = ("agent", "at", "bodies", "is_copy", "length", "linked", "main", "messages", "number", "offset", "out",
                 "parent_id", "previous", "record_id", "said", "seen", "seq", "session", "sessions", "sides", "source",
                 "source_id", "summaries", "texts", "zoneless")  # fmt: skip

    session: SessionState
    agent: AgentState

    def __init__(self, recording: Recording) -> None:
        self.bodies = recording.bodies
        self.source_id = recording.source_id
        self.source = b""
        self.out: list[Row] = []
        self.seq = -1
        self.messages = 0
        self.texts = 0
        self.sessions: dict[str | None, SessionState] = {}
        self.main: str | None = None
        self.seen: set[int] = set()
        self.said: set[int] = set()
        self.previous: tuple[str, int] = ("", 0)
        self.sides: dict[int, str] = {}
        self.linked: set[tuple[str, str, str]] = set()
        self.summaries: list[tuple[int, str]] = []
        self.number = self.offset = self.length = 0
        self.at: int | None = None
        self.record_id: int | None = None
        self.parent_id: int | None = None
        self.is_copy = False
        self.zoneless = False

    def time(self, stamp: str | None, notes: Notes) -> int | None:
        """A recorded time; one without a zone is taken for UTC, which every recorder seen writes, noted once a file."""
        at = micros(stamp)
        if at is not None or stamp is None:
            return at
        at = micros(stamp, assume=UTC) if ":" in stamp else None
        if at is None:
            notes.append(("bad_time", f"timestamp {stamp[:40]!r} is no time; read as null"))
        elif not self.zoneless:
            self.zoneless = True
            notes.append(("time_without_zone", f"timestamp {stamp[:40]!r} names no zone; UTC is assumed in this file"))
        return at

    def _is_said_again(self, message: Message, at: int) -> bool:
        """Whether all of a message was told at this very moment: a history written once more, under new uuids.

        It may be cut otherwise then: a prompt of two parts becomes two lines.
        """
        content = message.content
        parts: list[object] = [content]
        if isinstance(content, list):
            parts = [
                (p.type, p.id, p.tool_use_id, len(memoryview(p.text)), len(memoryview(p.thinking))) for p in content
            ] or [None]
        told = {hash((at, message.role, message.id, part)) for part in parts}
        if told <= self.said:
            return True
        self.said |= told
        return False

    def place(self, line: Line, at: int | None) -> None:
        """Make ``line`` the current record: its sequence number, identity, session and agent."""
        self.seq += 1
        self.at = at
        uuid, parent = line.uuid or None, line.parent_uuid or line.logical_parent_uuid or None
        last, last_id = self.previous
        self.parent_id = None if parent is None else last_id if parent == last else digest63(parent.encode())
        self.is_copy = False
        if uuid is None:
            self.record_id = None
        else:
            self.record_id = digest63(uuid.encode())
            self.previous = (uuid, self.record_id)
            known = len(self.seen)
            self.seen.add(self.record_id)
            self.is_copy = len(self.seen) == known
            if not self.is_copy and at is not None and line.message is not None:
                self.is_copy = self._is_said_again(line.message, at)
        native = line.session_id or line.other_session_id or self.main
        session = self.sessions.get(native)
        if session is None:
            session = self._begin(native)
        self.session = session
        session.entries += 1
        if at is not None:
            if at > session.ended_at:  # noqa: PLR1730 (two calls for every line of every file)
                session.ended_at = at
            if at < session.created_at:  # noqa: PLR1730
                session.created_at = at
        agent_id = line.agent_id or (self._side(line) if line.is_sidechain else ROOT)
        agent = session.agents.get(agent_id)
        if agent is None:
            agent = self.agent_of(agent_id)
        self.agent = agent
        if (
            line.version != agent.version
            or line.cwd != agent.cwd
            or line.git_branch != agent.branch
            or (line.permission_mode is not None and line.permission_mode != agent.permission)
        ):
            self._configure(line)

    def _begin(self, native: str | None) -> SessionState:
        session = SessionState(native, f"{NAME}:{self.source_id if native is None else native}")
        if self.sessions:
            self._link("continued_from", session.session_id, next(reversed(self.sessions.values())).session_id)
        self.sessions[native] = session
        return session

    def _link(self, relation: str, session_id: str, other: str, detail: str | None = None) -> None:
        if (relation, session_id, other) not in self.linked:
            self.linked.add((relation, session_id, other))
            self.out.append(
                Link(
                    session_id=session_id,
                    seq=self.seq,
                    line=self.number,
                    relation=relation,
                    other_session_id=other,
                    detail=detail,
                )
            )

    def forked(self, native_id: str, detail: str | None) -> None:
        """The session was forked from another one."""
        self._link("forked_from", self.session.session_id, f"{NAME}:{native_id}", detail)

    def _side(self, line: Line) -> str:
        """The agent of an old side chain, which names none: chains are told apart by the line they begin with."""
        if self.record_id is None:
            return ROOT
        found = self.sides.get(self.parent_id or 0) or f"sidechain-{line.uuid}"
        self.sides[self.record_id] = found
        return found

    def agent_of(self, agent_id: str, **told: Any) -> AgentState:  # noqa: ANN401 (columns of an Agent row)
        """The agent's state; an `Agent` row is given out when it is new, or when ``told`` says something new of it."""
        agents = self.session.agents
        agent = agents.get(agent_id)
        if agent is None:
            if agent_id == ROOT:
                known: dict[str, Any] = {"origin": "root", "depth": 0}
            else:
                known = {"origin": "compaction" if agent_id.startswith(COMPACTION_AGENT) else "spawn"}
            row = Agent(session_id=self.session.session_id, agent_id=agent_id, **known)
            agent = agents[agent_id] = AgentState(row)
            fresh = True
        else:
            fresh = False
        news = {name: value for name, value in told.items() if value is not None and getattr(agent.row, name) != value}
        if news or fresh:
            agent.row = msgspec.structs.replace(agent.row, seq=self.seq, line=self.number, **news)
            self.out.append(agent.row)
        return agent

    def _configure(self, line: Line) -> None:
        """A `Config` row when the line names another version, folder, branch or permission mode than the last one."""
        agent, session = self.agent, self.session
        before = (agent.version, agent.cwd, agent.branch, agent.permission)
        now = (line.version, line.cwd, line.git_branch, line.permission_mode)
        agent.version, agent.cwd, agent.branch, agent.permission = (
            old if new is None else new for old, new in zip(before, now, strict=True)
        )
        session.workspace = session.workspace or line.cwd
        session.surface = session.surface or line.entrypoint
        session.version = session.version or line.version
        session.slug = session.slug or line.slug
        if before != (agent.version, agent.cwd, agent.branch, agent.permission):
            self.configured()

    def configured(self) -> None:
        """The agent's configuration as it is now in force."""
        agent = self.agent
        self.out.append(
            Config(
                session_id=self.session.session_id,
                seq=self.seq,
                line=self.number,
                agent_id=agent.agent_id,
                provider=provider_of(agent.model),
                model=agent.model,
                effort=agent.effort,
                permission_mode=agent.permission,
                workspace=agent.cwd,
                branch=agent.branch or None,
                recorder_version=agent.version,
                detail=f'{{"mode":{msgspec.json.encode(agent.mode).decode()}}}' if agent.mode else None,
            )
        )

    def entry(self, kind: str, native_kind: str, **more: Any) -> None:  # noqa: ANN401 (columns of an Entry row)
        """Give out the entry of the current record."""
        agent = self.agent
        columns: dict[str, Any] = {
            "agent_id": agent.agent_id,
            "record_id": self.record_id,
            "parent_id": self.parent_id,
            "run": agent.prompts,
            "epoch": agent.epoch,
            "recorded_at": self.at,
            **more,
        }
        self.out.append(
            Entry(
                session_id=self.session.session_id,
                seq=self.seq,
                line=self.number,
                is_copy=self.is_copy,
                kind=kind,
                native_kind=native_kind,
                **columns,
            )
        )

    def text(self, text: str, name: str) -> int:
        """Put a long text aside as a body of the `text` pool; its index there. Numbered with or without bodies."""
        ix = self.texts
        self.texts += 1
        if self.bodies:
            session_id, line = self.session.session_id, self.number
            self.out += [
                Pool(session_id=session_id, line=line, pool="text", ix=ix, body_bytes=len(text.encode())),
                Block(
                    session_id=session_id, line=line, pool="text", ix=ix, block=0, kind="extra", name=name, text=text
                ),
            ]
        return ix

    def notes(self, notes: Notes) -> None:
        """`Problem` rows for what was changed to read the current record."""
        for kind, words in notes:
            self.out.append(
                Problem(
                    session_id=self.session.session_id,
                    seq=self.seq,
                    line=self.number,
                    byte_offset=self.offset,
                    byte_length=self.length,
                    kind=kind,
                    severity="note",
                    detail=words,
                )
            )

    def session_row(self, session: SessionState) -> Session:
        """The session as this file tells it."""
        titles = session.titles
        summary = next((text for leaf, text in reversed(self.summaries) if leaf in self.seen), None)
        return Session(
            session_id=session.session_id,
            format=NAME,
            native_id=session.native_id,
            part="log",
            title=titles.get("custom") or titles.get("ai") or summary,
            created_at=session.created_at if session.created_at != BIGINT_MAX else None,
            ended_at=session.ended_at if session.ended_at != -BIGINT_MAX else None,
            entries=session.entries,
            workspace=session.workspace,
            surface=session.surface,
            recorder="claude-code",
            recorder_version=session.version,
            detail=msgspec.json.encode({"slug": session.slug}).decode() if session.slug else None,
        )


def provider_of(model: str | None) -> str | None:
    """`anthropic` for a model the vendor names itself; the log never says which service was called."""
    return "anthropic" if model is not None and model.startswith("claude") else None
