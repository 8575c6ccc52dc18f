"""Agent rows as told in; `Agent` rows with their place in the session out, and what is known of each agent so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sessionlab.formats._values import detail
from sessionlab.formats.gg.capabilities import Capabilities, Profile
from sessionlab.formats.gg.records import (
    AgentRow,
    IssueAttempt,
    Item,
    LimitHit,
    Merge,
    Origin,
    Reviewer,
    Root,
    Spawn,
    Succession,
)
from sessionlab.tables import Agent

if TYPE_CHECKING:
    from sessionlab.formats.gg.output import Output

_NO_PROFILE = Profile(None, None, None)
_ORIGINS: dict[type, str] = {
    Root: "root",
    Spawn: "spawn",
    Succession: "succession",
    IssueAttempt: "issue_attempt",
    Reviewer: "reviewer",
    Merge: "merge",
}


class OpenCall:
    """A tool call of the agent's current model call that has no result yet."""

    __slots__ = ("arguments", "call_id", "name", "ordinal")

    def __init__(self, ordinal: int, call_id: str, name: str | None, arguments: str | None) -> None:
        """A call as its reply asked for it; arguments are JSON text."""
        self.ordinal, self.call_id, self.name, self.arguments = ordinal, call_id, name, arguments


class CurrentCall:
    """The agent's latest model call of its turn loop: frames and tool results attach to it (5.4)."""

    __slots__ = ("charge_id", "line", "open", "seq", "turn")

    def __init__(self, seq: int, line: int | None, charge_id: str, turn: int) -> None:
        """The model call of entry ``seq``."""
        self.seq, self.line, self.charge_id, self.turn = seq, line, charge_id, turn
        self.open: list[OpenCall] = []

    def answer(self, call_id: str) -> OpenCall | None:
        """Take the first open call of that id off the list."""
        for i, call in enumerate(self.open):
            if call.call_id == call_id:
                return self.open.pop(i)
        return None


class Sums:
    """Recorded spend of several calls: per class, None until one call tells it (6.2)."""

    __slots__ = ("calls", "values")
    NAMES = ("uncachedInput", "cachedInput", "output", "reasoning", "actual", "comparable")

    def __init__(self) -> None:
        """No call yet."""
        self.calls = 0
        self.values: list[float | None] = [None] * len(self.NAMES)

    def add(self, values: tuple[float | None, ...]) -> None:
        """One call more."""
        self.calls += 1
        sums = self.values
        for i, value in enumerate(values):
            if value is not None:
                sums[i] = value + (sums[i] or 0)

    @property
    def usd(self) -> float | None:
        """What the calls cost as billed; None when no call tells."""
        return self.values[self.NAMES.index("actual")]

    def told(self) -> dict[str, object]:
        """The sums by name, with the number of calls."""
        return {"calls": self.calls, **dict(zip(self.NAMES, self.values, strict=True))}


class AgentState:
    """One agent: how it was last told, and what its entries said so far."""

    __slots__ = (
        "agent_id",
        "all_sums",
        "call",
        "canceled",
        "depth",
        "epoch",
        "frame",
        "key",
        "last_failed",
        "line",
        "place",
        "placed",
        "profile",
        "requests",
        "row",
        "rows",
        "tool_calls",
        "tool_denied",
        "tool_errors",
        "turn_sums",
        "turns",
        "unrecorded",
    )  # fmt: skip

    def __init__(self, agent_id: str) -> None:
        """An agent of which nothing is known but its id."""
        self.agent_id = agent_id
        self.row: AgentRow | None = None
        self.rows: list[tuple[int, int | None, int | None, int | None]] = []  # index among all rows; where it was told
        self.line: int | None = None
        self.place: int | None = None  # among the agents that have a row, by their first one
        self.key: str | None = None  # key and depth are settled at the end
        self.depth: int | None = None
        self.placed = False
        self.profile = _NO_PROFILE
        self.call: CurrentCall | None = None
        self.requests: dict[str, list[int]] = {"agent": [], "compaction": []}
        self.frame: list[Item] = []
        self.turns = self.epoch = 0
        self.tool_calls = self.tool_errors = self.tool_denied = 0
        self.last_failed = False
        self.canceled = False
        self.unrecorded: dict[str, list[int]] = {}  # why spend is not in the recording (6.1): entries that tell of it
        self.all_sums, self.turn_sums = Sums(), Sums()

    def hides(self, why: str, seq: int) -> None:
        """Entry ``seq`` tells of spend that the recording does not hold."""
        self.unrecorded.setdefault(why, []).append(seq)

    @property
    def ended(self) -> bool:
        """Whether the file tells that its loop ended."""
        return self.row is not None and self.row.terminal_status in {"done", "failed"}


class AgentTable:
    """The agents of a session, in the order they were first met."""

    def __init__(self, out: Output, capabilities: Capabilities) -> None:
        """Write into ``out``; profiles are looked up in ``capabilities``."""
        self._out = out
        self._capabilities = capabilities
        self._tellings = 0
        self._placed = 0
        self.states: dict[str, AgentState] = {}

    def rowless(self, agent_id: str, seq: int) -> AgentState:
        """The state of an agent that an entry names before any row does; a note the first time."""
        state = self.states.setdefault(agent_id, AgentState(agent_id))
        words = f"entries belong to agent `{agent_id}`, which has no row so far"
        self._out.note_once("agent_without_row", agent_id, words, seq=seq)
        return state

    @property
    def root(self) -> AgentState | None:
        """The agent whose origin is root."""
        return next((s for s in self.states.values() if s.row is not None and isinstance(s.row.origin, Root)), None)

    def told(self, agent: AgentRow, unknown: dict[str, object] | None = None) -> None:
        """A row of an agent, which replaces the one before; writes it down.

        ``seq`` is the agent's place by its first row, the same in a journal and the record folded from it; of several
        rows the last line stands. A record has no lines: there a row told again is numbered behind the others.
        Key and depth are settled at the end: the row of the agent that made this one may come later.
        """
        out = self._out
        state = self.states.setdefault(agent.agent_id, AgentState(agent.agent_id))
        state.row, state.line = agent, out.line
        state.profile = self._capabilities.profiles.get(agent.profile_id, _NO_PROFILE)
        if agent.profile_id not in self._capabilities.profiles:
            out.note_once(
                "unknown_profile", agent.profile_id, f"no profile of the capability set is `{agent.profile_id}`"
            )
        state.rows.append((len(out.rows), out.line, out.offset, out.length))
        if state.place is None:
            state.place = self._placed
            self._placed += 1
        out.rows.append(
            Agent(
                session_id=out.session_id,
                seq=self._tellings if out.line is None else state.place,
                line=out.line,
                agent_id=agent.agent_id,
                parent_agent_id=_maker(agent.origin),
                origin=_ORIGINS[type(agent.origin)],
                **_coordinates(agent.origin),
                profile_id=agent.profile_id,
                profile=agent.profile,
                model=state.profile.model,
                status=agent.terminal_status,
                **self._limit(agent.limit_hit),
                detail=detail(unknown=unknown),
            )
        )
        self._tellings += 1

    def _limit(self, hit: LimitHit | None) -> dict[str, Any]:
        """The columns of the ceiling that stopped an agent."""
        if hit is None:
            return {}
        return {
            "limit_hit": hit.limit,
            "limit_threshold": hit.threshold,
            "limit_observed": hit.observed,
            "limit_turns": self._out.whole(hit.turns, "limitHit.turns"),
            "limit_window": self._out.whole(hit.window, "limitHit.window"),
            "limit_agent_id": hit.agent_id,
        }

    def settle(self) -> None:
        """Write key and depth into the rows told so far: by the last telling of each agent, in any order.

        An agent whose maker never got a row has neither, and a note; nor has one that descends from itself. What hangs
        from such an agent has neither, without a note of its own.
        """
        for state in self.states.values():
            self._place(state)
        rows = self._out.rows
        for state in self.states.values():
            for at, *_ in state.rows:
                told = rows[at]
                if state.key is not None and isinstance(told, Agent):
                    rows[at] = msgspec.structs.replace(told, origin_key=state.key, depth=state.depth)

    def _place(self, state: AgentState) -> None:
        """Origin key, spelled from the root down, and the number of steps in it, of an agent and those that made it.

        Agents of the board name no maker: their issue stands directly below the root.
        """
        line: dict[str, AgentState] = {}  # from the agent up to the first one that is placed, or cannot be
        while state.row is not None and not state.placed:
            line[state.agent_id] = state
            state.placed = True
            maker = _maker(state.row.origin)
            if maker is None:
                break
            made_by = self.states.get(maker)
            if made_by is None or made_by.row is None:
                self._note(state, "unknown_parent", f"the agent `{maker}` that made this one has no row")
                return
            if maker in line:
                self._note(state, "own_ancestor", f"the agent `{state.agent_id}` is its own ancestor by `{maker}`")
                return
            state = made_by
        for one in reversed(line.values()):
            if one.row is not None:
                above = self.states.get(_maker(one.row.origin) or "")
                one.key, one.depth = _key(one.row.origin, above)

    def _note(self, state: AgentState, kind: str, words: str) -> None:
        """A note where the agent was first told."""
        self._out.at(*state.rows[0][1:])
        self._out.note(kind, words)
        self._out.at(None, None, None)


def _key(origin: Origin, made_by: AgentState | None) -> tuple[str | None, int | None]:
    match origin:
        case Root():
            return "root", 0
        case IssueAttempt(issue=issue, attempt=attempt):
            return f"root/issue_attempt:{issue}:{attempt}", 1
        case Reviewer(issue=issue, round=turn, position=position):
            return f"root/reviewer:{issue}:{turn}:{position}", 1
        case Merge(issue=issue, ordinal=ordinal):
            return f"root/merge:{issue}:{ordinal}", 1
        case Spawn(ordinal=ordinal) | Succession(ordinal=ordinal):
            if made_by is None or made_by.key is None or made_by.depth is None:
                return None, None
            return f"{made_by.key}/{_ORIGINS[type(origin)]}:{ordinal}", made_by.depth + 1


def _maker(origin: Origin) -> str | None:
    match origin:
        case Spawn(parent=maker) | Succession(predecessor=maker):
            return maker
    return None


def _coordinates(origin: Origin) -> dict[str, Any]:
    """The columns issue, ordinal, round and position of an origin."""
    match origin:
        case Spawn(ordinal=ordinal) | Succession(ordinal=ordinal):
            return {"ordinal": ordinal}
        case IssueAttempt(issue=issue, attempt=ordinal) | Merge(issue=issue, ordinal=ordinal):
            return {"issue": issue, "ordinal": ordinal}
        case Reviewer(issue=issue, round=turn, position=position):
            return {"issue": issue, "round": turn, "position": position}
    return {}
