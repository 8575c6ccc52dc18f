"""What is known of a thread so far: whose it is, what it works under, how far it has come, what has been counted."""

from __future__ import annotations

import re

from sessionlab.columns import BIGINT_MAX
from sessionlab.formats._values import detail
from sessionlab.formats.codex.figures import Tokens
from sessionlab.tables import Agent, Session, Usage

NAME = "codex"
ROOT = "root"
REPLAY_PAUSE_US = 1_000_000
"""A history is written again in one go, and no model answers faster: such a pause ends it where no turn has an id."""
_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class Opening:
    """What a `session_meta` line (or the bare header of the oldest files) tells of a thread."""

    __slots__ = ("agent_nickname", "agent_path", "agent_role", "depth", "forked_from", "native_id", "parent_id",
                 "root_id", "subagent")  # fmt: skip

    def __init__(self) -> None:
        self.native_id: str | None = None
        self.root_id: str | None = None
        self.forked_from: str | None = None
        self.parent_id: str | None = None
        self.subagent: str | None = None
        self.depth: int | None = None
        self.agent_nickname: str | None = None
        self.agent_role: str | None = None
        self.agent_path: str | None = None


class Work:
    """One task worked to its end, as far as the log has told."""

    __slots__ = ("by_message", "calls", "compactions", "denied", "errors", "failed", "last_status", "said",
                 "started_at", "turns")  # fmt: skip

    def __init__(self, started_at: int | None, *, by_message: bool) -> None:
        self.started_at, self.by_message = started_at, by_message
        self.turns = self.calls = self.errors = self.denied = self.compactions = 0
        self.said = False
        self.failed: str | None = None
        self.last_status: str | None = None


class Thread:
    """One thread of the file, the agent that works in it, and the session it belongs to.

    A subagent's thread is an agent of the session of its root thread where that can be told (its parent is one step
    below the root, or the opening names the root); any other thread is a session of its own.
    """

    def __init__(self, opening: Opening, source_id: int) -> None:
        native = opening.native_id
        self.opening = opening
        self.native_id = native
        root = None
        if opening.parent_id is not None and native is not None:
            if opening.depth in (None, 1):
                root = opening.parent_id
            if opening.root_id not in (None, native):
                root = opening.root_id
        self.is_agent = root is not None
        self.session_native = root or native
        self.session_id = f"{NAME}:{source_id if self.session_native is None else self.session_native}"
        self.agent_id = native if self.is_agent and native is not None else ROOT
        self.agent_row: Agent | None = None
        self.entries = 0
        self.created_at = BIGINT_MAX
        self.ended_at = -BIGINT_MAX
        # the replay of a parent's history at the beginning of a fork
        self.replaying = False
        self.replayed = False
        self.has_turn_ids = False
        self.scope = native
        self.last_at: int | None = None
        # what is in force
        self.provider: str | None = None
        self.model: str | None = None
        self.effort: str | None = None
        self.tier: str | None = None
        self.window_tokens: int | None = None
        self.approval: str | None = None
        self.sandbox: str | None = None
        self.workspace: str | None = None
        self.branch: str | None = None
        self.version: str | None = None
        self.system_ix: int | None = None
        self.configured: tuple[object, ...] = ()
        # what the opening said, for the session
        self.first_workspace: str | None = None
        self.first_version: str | None = None
        self.first_provider: str | None = None
        self.commit: str | None = None
        self.recorder: str | None = None
        self.surface: str | None = None
        self.repository: str | None = None
        self.title: str | None = None
        self.goal: str | None = None
        # how far the work has come
        self.run: int | None = None
        self.work: Work | None = None
        self.turns = 0
        self.epoch = 0
        self.batch = -1
        self.in_batch = False
        self.window: list[tuple[int, int]] | None = []
        # what was counted
        self.total: Tokens | None = None
        self.charge_id: str | None = None
        self.counted: dict[tuple[str | None, str], int] = {}
        self.waiting: list[Usage] = []
        self.records: dict[int, int] = {}
        self.responses: dict[str, Usage] = {}
        self.summaries: set[str] = set()

    def ends_replay(self, turn_id: str | None, at: int | None) -> bool:
        """Whether the record that comes now is the thread's own.

        Ids of turns are made of the time: the first one newer than the thread's own id is its own. Where no turn of
        the replay had an id, the first record behind a pause is.
        """
        if turn_id is not None:
            self.has_turn_ids = True
            own = self.native_id or ""
            if _UUID7.fullmatch(own.lower()) and _UUID7.fullmatch(turn_id.lower()):
                return turn_id.lower() > own.lower()
            self.has_turn_ids = False
        if self.has_turn_ids or at is None or self.last_at is None:
            return False
        return at - self.last_at >= REPLAY_PAUSE_US

    def session_row(self) -> Session:
        """The session as this thread tells it: a subagent's file tells no title and no opening of its session."""
        own = not self.is_agent
        return Session(
            session_id=self.session_id,
            format=NAME,
            native_id=self.session_native,
            part="log",
            title=self.title if own else None,
            created_at=self.created_at if self.created_at != BIGINT_MAX else None,
            ended_at=self.ended_at if self.ended_at != -BIGINT_MAX else None,
            entries=self.entries,
            provider=self.first_provider if own else None,
            workspace=self.first_workspace if own else None,
            surface=self.surface if own else None,
            goal=self.goal if own else None,
            recorder=self.recorder or "codex",
            recorder_version=self.first_version,
            recorder_commit=None,
            detail=detail(workspace_commit=self.commit, repository=self.repository) if own else None,
        )
