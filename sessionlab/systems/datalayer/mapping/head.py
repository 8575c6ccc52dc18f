"""A session's facts and links in; the head of its record, and the entries that open and close it, out."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from sessionlab.formats.datalayer.fields import App, ForkedFrom, Lineage

if TYPE_CHECKING:
    from sessionlab.systems.datalayer.mapping.dialects import Dialect
    from sessionlab.systems.datalayer.mapping.material import AgentFacts, Link, SessionFacts

UNKNOWN = "unknown"
"""Owner of a session whose recorder names nobody."""
_UID = re.compile(r"[A-Za-z0-9_-]{8,128}")
_STATES = {"open": "open", "running": "open", "paused": "paused", "ended": "ended", "done": "ended", "failed": "ended"}


def uid_of(session_id: str) -> str:
    """The uid of a session in files: its native id where that has the shape of one, else a digest of the whole id."""
    native = session_id.partition(":")[2]
    return native if _UID.fullmatch(native) else hashlib.sha256(session_id.encode()).hexdigest()[:32]


def seat_uid(session_id: str, agent_id: str) -> str:
    """The uid of the session recorded at a seat."""
    return hashlib.sha256(f"{session_id}\0{agent_id}".encode()).hexdigest()[:32]


def app_of(session: SessionFacts) -> App:
    """The application: the format, which records none of its own."""
    return App(id=session.format, version=0)


def agent_name(dialect: Dialect, agent: AgentFacts | None, *, is_root: bool) -> str:
    """Who answered."""
    if is_root and dialect.agent is not None:
        return dialect.agent
    return agent.name if agent is not None else dialect.harness


def state_of(word: str | None) -> str:
    """`open`, `paused` or `ended`; a recording of which nothing tells is at rest, and may go on: `paused`."""
    return _STATES.get(word or "", "paused")


def lineage_of(links: list[Link], turns_taken_over: int) -> Lineage:
    """Where the session was forked from; the turn is the recorded one, else how many turns it took over."""
    for link in links:
        if link.relation == "forked_from" and link.other_session_id is not None:
            at_turn = link.at_run if link.at_run is not None else turns_taken_over
            return Lineage(
                forked_from=ForkedFrom(uid=uid_of(link.other_session_id), at_turn=max(at_turn, 0)), imported_from=None
            )
    return Lineage(forked_from=None, imported_from=None)
