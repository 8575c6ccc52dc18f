"""What the tables tell of a session of several agents in; a team run with a seat per agent out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.formats.datalayer.fields import ForkedExecution, Team, TeamLineage
from sessionlab.systems.datalayer.mapping.head import UNKNOWN, state_of, uid_of
from sessionlab.systems.datalayer.mapping.material import ROOT
from sessionlab.systems.datalayer.mapping.session import one_agent
from sessionlab.systems.datalayer.record import Seat, TeamRecord

if TYPE_CHECKING:
    from sessionlab.systems.datalayer.mapping.material import Material


def team(material: Material, *, whole: bool, owner: str | None) -> TeamRecord:
    """A seat per agent: the root's first, then the others as they first act, then those of which no entry tells."""
    agents = dict.fromkeys([told.agent for told in material.entries])
    order = sorted([*agents, *(agent for agent in material.agents if agent not in agents)], key=lambda a: a != ROOT)
    session = material.session
    forked = next((link for link in material.links if link.relation == "forked_from" and link.other_session_id), None)
    seats = [Seat(id=agent, record=one_agent(material, agent, whole=whole, owner=owner)) for agent in order or [ROOT]]
    return TeamRecord(
        execution_id=session.native_id or session.session_id,
        team=Team(id=session.format, version="0"),
        owner=owner or UNKNOWN,
        state=state_of(session.state),
        seats=seats,
        lineage=TeamLineage(
            forked_from=None
            if forked is None or forked.other_session_id is None
            else ForkedExecution(execution_id=uid_of(forked.other_session_id)),
            imported_from=None,
        ),
    )
