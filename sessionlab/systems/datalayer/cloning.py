"""A kept session and a turn in; a new session with what was recorded up to there out (datalayer.md section 9)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import EntryLine, ForkedFrom, Lineage
from sessionlab.formats.datalayer.lineage import NEVER_CLONED
from sessionlab.systems.datalayer.applications import Applications
from sessionlab.systems.datalayer.importing import SUMMARY_POINTS, hold_named, new_uid, opening_payload
from sessionlab.systems.datalayer.record import Record, facts
from sessionlab.systems.datalayer.resuming import rules_in_force
from sessionlab.systems.datalayer.store import Store, check_title, made
from sessionlab.systems.datalayer.wording import counted


class Cloned(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a clone.

    Attributes:
        uid: the new session's.
        state: ``paused``.
        runs_on: None: it runs nowhere.
        at_turn: the turn after which it was cut; how many turns it has.
        turns: the same, counted.
        agent, harness: who goes on with it.
        title: the one given, else the source's.
        lineage: the source, and the turn.
        said: what is told of the change of agent; None where there was none.
    """

    uid: str
    state: str
    runs_on: None
    at_turn: int
    turns: int
    agent: str
    harness: str | None
    title: str
    lineage: Lineage
    said: str | None

    def as_dict(self) -> dict[str, object]:
        """The answer as JSON has it."""
        told: dict[str, object] = msgspec.to_builtins(self)
        return told


class _Seated(msgspec.Struct, frozen=True):
    """An agent and its harness; whether that takes up a conversation it has not led."""

    agent: str
    harness: str | None
    replays: bool = True


def clone(
    store: Store,
    uid: str,
    *,
    at_turn: int | None = None,
    by: str,
    title: str | None = None,
    agent: str | None = None,
    applications: Applications | None = None,
    now: datetime,
) -> Cloned:
    """Cut a new session of ``by`` from a kept one, paused, on no runtime; both records get their `cloned` entry.

    An ended session clones. Nothing else of the source changes.

    Args:
        store: where the source is kept, and the clone will be.
        uid: the source.
        at_turn: the turn after which to cut, 0 for none; unsaid: all.
        by: uid of the clone's author.
        title: of the clone; unsaid: the source's.
        agent: who goes on, unsaid: who led it at the cut. Another agent makes a `swapped` entry, and so does a
            harness that cannot replay.
        applications: what is known here. None takes any agent, without a harness where the record names none.
        now: when it is cloned.

    Raises:
        SessionRefused: ``unknown_session`` or ``unknown_agent`` (404); ``beyond_turns``, ``title_too_long`` or
            ``unknown_app`` (422). Nothing was written.
        WrongUse: ``by`` or ``agent`` is nobody.
        OSError: it cannot be written.
    """
    hold_named(by, agent)
    source = store.record(uid)
    cut = source.turns if at_turn is None else at_turn
    if not 0 <= cut <= source.turns:
        raise SessionRefused(
            "beyond_turns", 422,
            f"at_turn: expected a turn of session {uid}, 0 to {source.turns}, found {cut}; name one of these",
        )  # fmt: skip
    title = source.title if title is None else title
    check_title(title)
    copied = copied_entries(source.entries, cut)
    before = _at_cut(source, cut)
    after = _seat(source, before, agent, applications)
    lineage = Lineage(forked_from=ForkedFrom(uid=uid, at_turn=cut), imported_from=None)
    opening = made(
        "session", f"Cloned as a session of {by}"[:SUMMARY_POINTS],
        opening_payload(source.app, before.agent, before.harness, title=title, archived=False, lineage=lineage), now,
    )  # fmt: skip
    new = new_uid()
    entries = [*copied, opening, made("cloned", f"Cloned from {uid} at turn {cut}", {"from": uid, "at_turn": cut}, now)]
    swapped = None
    if after.agent != before.agent or not after.replays:
        swapped = _swapped(before, after, cut, copied, now)
        entries.append(swapped)
    record = store.add(
        Record(
            uid=new, app=source.app, agent=after.agent, harness=after.harness, owner=by, state="paused", turns=cut,
            title=title, archived=False, lineage=lineage, entries=entries,
        ),
        also={uid: [made("cloned", f"Cloned to {new} at turn {cut}", {"to": new, "at_turn": cut}, now)]},
    )  # fmt: skip
    return Cloned(
        uid=new, state=record.state, runs_on=None, at_turn=cut, turns=record.turns, agent=record.agent,
        harness=record.harness, title=record.title, lineage=lineage, said=None if swapped is None else swapped.summary,
    )  # fmt: skip


def entries_up_to(entries: Iterable[EntryLine], at_turn: int) -> list[EntryLine]:
    """The entries up to and including the ``at_turn``-th `turn` entry; none for 0, all where there are fewer turns."""
    found: list[EntryLine] = []
    turns = 0
    for entry in entries:
        if turns == at_turn:
            break
        found.append(entry)
        turns += entry.kind == "turn"
    return found


def copied_entries(entries: list[EntryLine], at_turn: int) -> list[EntryLine]:
    """What a clone at this turn takes over: the entries up to it that are copied, then all later rules (section 9)."""
    kept = entries_up_to(entries, at_turn)
    rules = [entry for entry in entries[len(kept) :] if entry.kind == "rule"]
    return [entry for entry in kept if entry.kind not in NEVER_CLONED] + rules


def _at_cut(source: Record, cut: int) -> _Seated:
    """Who led the session at the cut: its agent of now, unless it was swapped later."""
    kept = entries_up_to(source.entries, cut)
    if all(entry.kind != "swapped" for entry in source.entries[len(kept) :]):
        return _Seated(source.agent, source.harness)
    opening = next(entry for entry in source.entries if entry.kind == "session")
    told = facts([opening, *(entry for entry in kept if entry.kind == "swapped")])
    return _Seated(told.agent or source.agent, told.harness)


def _seat(source: Record, before: _Seated, agent: str | None, applications: Applications | None) -> _Seated:
    name = before.agent if agent is None else agent
    if applications is None:
        return before if name == before.agent else _Seated(name, None)
    if agent is None and name not in applications.application(source.app.id).agents:
        return before  # nobody was named, and a clone runs nowhere yet
    known = applications.agent(source.app.id, name, status=404)
    return _Seated(name, known.harness, known.replays)


def _swapped(before: _Seated, after: _Seated, cut: int, copied: list[EntryLine], now: datetime) -> EntryLine:
    """The change of agent (section 11); what was never recorded (grants, settings) is not counted."""
    files = sum(entry.kind == "file" for entry in copied)
    rules = len(rules_in_force(copied))
    carried = f"{counted(cut, 'turn')}, {counted(files, 'file')} and {counted(rules, 'rule')} carried over"
    said = (
        f"{after.agent} takes over from {before.agent} after turn {cut}: {carried}."
        if after.agent != before.agent
        else f"{after.agent} cannot replay what its harness did; it goes on after turn {cut}: {carried}."
    )
    payload = {
        "from": before.agent, "to": after.agent, "from_harness": before.harness, "to_harness": after.harness,
        "agent": after.agent, "harness": after.harness, "at_turn": cut, "said": said,
        "carried": {"turns": cut, "files": files, "rules": rules, "settings": []},
        "dropped": {"allow_always": None, "harness_state": before.harness is not None},
    }  # fmt: skip
    return made("swapped", said, payload, now)
