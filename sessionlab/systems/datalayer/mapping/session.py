"""What the tables tell of a session in; the record of it, or of one agent of it, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from sessionlab.systems.datalayer.mapping.dialects import Dialect, dialect_of
from sessionlab.systems.datalayer.mapping.head import (
    UNKNOWN,
    agent_name,
    app_of,
    lineage_of,
    seat_uid,
    state_of,
    uid_of,
)
from sessionlab.systems.datalayer.mapping.lengths import cut, first_line, summary
from sessionlab.systems.datalayer.mapping.material import ROOT
from sessionlab.systems.datalayer.mapping.script import Draft, Payload, Script
from sessionlab.systems.datalayer.mapping.times import Times
from sessionlab.systems.datalayer.mapping.walk import Walk
from sessionlab.systems.datalayer.record import FIRST_QUESTION_POINTS, Record

if TYPE_CHECKING:
    from sessionlab.formats.datalayer.fields import Lineage
    from sessionlab.systems.datalayer.mapping.material import Material, Told

_STATUS_STATES = ("done", "failed")


def whole_session(material: Material, *, whole: bool, owner: str | None) -> Record:
    """The record of the session: its root agent asked and answering, its other agents as helpers."""
    mains = [told.agent for told in material.entries]
    main = ROOT if ROOT in material.agents or ROOT in mains or not mains else mains[0]
    return _Maker(material, material.entries, main, whole=whole, owner=owner, is_seat=False).record()


def one_agent(material: Material, agent_id: str, *, whole: bool, owner: str | None) -> Record:
    """The record of one agent of the session: its own entries, as a session of its own."""
    entries = [told for told in material.entries if told.agent == agent_id]
    return _Maker(material, entries, agent_id, whole=whole, owner=owner, is_seat=True).record()


class _Maker:
    def __init__(
        self, material: Material, entries: list[Told], main: str, *, whole: bool, owner: str | None, is_seat: bool
    ) -> None:
        self._material, self._entries, self._main = material, entries, main
        self._script = Script(whole=whole)
        self._times = Times(material, entries)
        self._dialect: Dialect = dialect_of(material.session.format)
        self._owner, self._is_seat = owner or UNKNOWN, is_seat
        self._is_root = main == ROOT or not is_seat

    def record(self) -> Record:
        session, script, times = self._material.session, self._script, self._times
        if times.note is not None:
            script.notes.append(times.note)
        walk = Walk(self._material, self._entries, self._dialect, script, times, self._main)
        walk.write()
        if not self._is_seat:
            walk.helpers(self._material.agents.values())
        before = len(script.drafts) if walk.own_from is None else walk.own_from
        taken_over = sum(draft.kind == "turn" and not draft.dropped for draft in script.drafts[:before])
        lineage = lineage_of(self._material.links if self._is_root else [], taken_over)
        title = session.title if self._is_root else None
        if title is not None and walk.events.title not in (None, title):
            walk.events.titled(title, times.last)
        if title is None:
            title = walk.events.title or self._first_question()
        told = walk.events.title is not None
        opening_title = (session.created_title or "") if told and self._is_root else title
        state = self._state()
        archived = bool(session.archived)
        app = app_of(session)
        agent = agent_name(self._dialect, self._material.agents.get(self._main), is_root=self._is_root)
        opening = [
            Draft(
                "session", times.first,
                {
                    "app": msgspec.to_builtins(app), "state": "open" if state == "ended" else state, "agent": agent,
                    "harness": self._dialect.harness, "title": opening_title, "archived": archived,
                    "lineage": msgspec.to_builtins(lineage),
                },
                summary("session", agent),
            ),
            *self._links(lineage),
        ]  # fmt: skip
        at = before if lineage.forked_from is not None else 0  # a clone's own record follows what it took over
        script.drafts[at:at] = opening
        if state == "ended":
            script.add("ended", times.last, {"state": "ended", "by": "end"}, "ended")
        lines = script.lines()
        if self._material.retold and self._is_root:
            script.left_out["messages told again under new ids"] += self._material.retold
        figures = self._material.figures
        if figures and self._is_root:
            script.notes.append(f"figures of tokens and cost left out, as no kind of the format has them: {figures}")
        return Record(
            uid=uid_of(session.session_id) if self._is_root else seat_uid(session.session_id, self._main),
            app=app, agent=agent, harness=self._dialect.harness, owner=self._owner, state=state,
            turns=sum(line.kind == "turn" for line in lines), title=title, archived=archived, lineage=lineage,
            entries=lines, notes=script.sentences(),
        )  # fmt: skip

    def _first_question(self) -> str:
        """The first line of the first question, cut at 60: the title nobody gave (section 10)."""
        asked = next((draft.payload["asked"] for draft in self._script.drafts if draft.kind == "turn"), "")
        return cut(first_line(str(asked)), FIRST_QUESTION_POINTS)

    def _state(self) -> str:
        state = state_of(self._material.session.state)
        agent = self._material.agents.get(self._main)
        if not self._is_root and agent is not None and agent.status in _STATUS_STATES:
            return "ended"
        return state

    def _links(self, lineage: Lineage) -> list[Draft]:
        """Entries that tell which sessions this one goes back to."""
        at, drafts = self._times.first, []
        forked = lineage.forked_from
        if forked is not None:
            payload: Payload = {"from": forked.uid, "at_turn": forked.at_turn}
            drafts.append(Draft("cloned", at, payload, summary("cloned", forked.uid)))
        for link in self._material.links if self._is_root else []:
            if link.relation != "forked_from" and link.other_session_id is not None:
                uid = uid_of(link.other_session_id)
                payload = {"event": "session", "what": link.relation, "session": uid}
                drafts.append(Draft("step", at, payload, summary(link.relation, uid)))
        return drafts
