"""A session's record as it is exported, kept and cloned: typed entries go in; a Record, and what it tells, come out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import (
    LONE_SURROGATE,
    STATES,
    TITLE_POINTS,
    App,
    EntryLine,
    ForkedFrom,
    ImportedFrom,
    Lineage,
    Team,
    TeamLine,
    TeamLineage,
)
from sessionlab.formats.datalayer.judge import Section
from sessionlab.formats.datalayer.payloads import Payload, text

FIRST_QUESTION_POINTS = 60
"""Characters of the first question that make the title nobody gave."""

NO_LINEAGE = Lineage(forked_from=None, imported_from=None)
"""The lineage of a session that comes from no other."""
NO_TEAM_LINEAGE = TeamLineage(forked_from=None, imported_from=None)
"""The lineage of a team run that comes from no other."""

_STATED = frozenset({"session", "paused", "ended"})
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Record(msgspec.Struct, kw_only=True):
    """One session with its entries in record order, not yet redacted.

    Attributes:
        uid: 8 to 128 ASCII letters, digits, hyphens or underscores.
        app: the application, with the version of it that the session runs.
        agent: who answered.
        harness: what the agent runs in; None: it is no harness.
        owner: uid of the person who opened the session.
        state: `open`, `paused` or `ended`.
        turns: how many `turn` entries the whole session has.
        title: any length; a file holds the first 200 characters.
        archived: whether it is put away.
        lineage: where it comes from.
        entries: of the 25 kinds; another kind is left out of a file.
        notes: what was left out when the record was made, in sentences.
    """

    uid: str
    app: App
    agent: str
    harness: str | None
    owner: str
    state: str
    turns: int
    title: str
    archived: bool
    lineage: Lineage
    entries: list[EntryLine]
    notes: tuple[str, ...] = ()


class Seat(msgspec.Struct, kw_only=True):
    """One seat of a team, and the session recorded at it."""

    id: str
    record: Record


class TeamRecord(msgspec.Struct, kw_only=True):
    """A team run: its seats in order, each with its session.

    Attributes:
        execution_id: the run's id, any text of at least 1 character.
        team: the team, its version a text.
        owner: uid of the person who ran it.
        state: `open`, `paused` or `ended`.
        seats: at least one, ids unique.
        lineage: the run it comes from.
        notes: what was left out when the record was made, in sentences.
    """

    execution_id: str
    team: Team
    owner: str
    state: str
    seats: list[Seat]
    lineage: TeamLineage
    notes: tuple[str, ...] = ()


class Facts(NamedTuple):
    """What the entries of a record tell (datalayer.md section 10).

    Attributes:
        state: of the last `session`, `paused` or `ended` entry; `open` where none stands or it says none.
        turns: number of `turn` entries.
        title: of the last `titled` entry that has one, else of the first `session` entry, cut at 200 characters; one
            that nobody gave is the first line of the first question that is not blank, cut at 60.
        archived: of the last `titled` entry that says it, else of the first `session` entry.
        agent: of the last `swapped` entry that names one, else of the first `session` entry; "" where none does.
        harness: of that same entry.
        lineage: of the first `session` entry; a `cloned` entry with `from` sets where it was forked from, an
            `imported` entry where it was imported from. A lineage no head could say is none.
        started: `at` of the first `session` entry. None: a record without one is no session that can be listed.
        runs_on: where it runs, of the last `session` entry that says it; None once it ended. Never in a file.
    """

    state: str
    turns: int
    title: str
    archived: bool
    agent: str
    harness: str | None
    lineage: Lineage
    started: str | None
    runs_on: object = None


def facts(entries: Iterable[EntryLine]) -> Facts:
    """What the entries, in record order, tell of their session.

    Raises:
        SessionRefused: ``unknown_state`` (422), when an entry states another than the three states.
    """
    record = list(entries)
    opening = next((entry for entry in record if entry.kind == "session"), None)
    first: Payload = {} if opening is None else opening.payload
    title, archived = _title(first), first.get("archived") is True
    agent, harness = text(first, "agent") or "", text(first, "harness")
    forked, imported = _lineage(first.get("lineage"))
    state, runs_on, turns = "open", None, 0
    for entry in record:
        kind, payload = entry.kind, entry.payload
        if kind in _STATED:
            state = _state(payload)
            runs_on = payload["runs_on"] if kind == "session" and payload.get("runs_on") is not None else runs_on
        elif kind == "turn":
            turns += 1
        elif kind == "titled":
            title = _title(payload) if isinstance(payload.get("title"), str) else title
            archived = payload["archived"] is True if type(payload.get("archived")) is bool else archived
        elif kind == "swapped" and (named := text(payload, "agent") or text(payload, "to")):
            agent, harness = named, text(payload, "harness") or text(payload, "to_harness")
        elif kind == "cloned" and "from" in payload:
            forked = _forked(payload.get("from"), payload.get("at_turn")) or forked
        elif kind == "imported":
            imported = _imported(payload) or imported
    return Facts(
        state, turns, title or _first_question(record), archived, agent, harness,
        Lineage(forked_from=forked, imported_from=imported), None if opening is None else opening.at,
        None if state == "ended" else runs_on,
    )  # fmt: skip


def record_of_section(section: Section) -> Record:
    """The record of one session of a file that was taken: its head's facts, and its entries."""
    head = section.head
    return Record(
        uid=head.uid, app=head.app, agent=head.agent, harness=head.harness or None, owner=head.owner.uid,
        state=head.state, turns=head.turns, title=head.title, archived=head.archived, lineage=head.lineage,
        entries=list(section.entries),
    )  # fmt: skip


def record_of_team(team: TeamLine, sections: Sequence[Section]) -> TeamRecord:
    """The record of a team file that was taken; a seat whose session is not in the file is told by a note."""
    by_uid = {section.head.uid: section for section in sections}
    seats = [
        Seat(id=seat.id, record=record_of_section(by_uid[seat.session_uid]))
        for seat in team.seats
        if seat.session_uid in by_uid
    ]
    absent = [seat.id for seat in team.seats if seat.session_uid not in by_uid]
    return TeamRecord(
        execution_id=team.execution_id, team=team.team, owner=team.owner.uid, state=team.state, seats=seats,
        lineage=team.lineage, notes=tuple(f"seat {seat!r} has no session in the file" for seat in absent),
    )  # fmt: skip


def known_state(state: object, where: str) -> str:
    """``state``, when it is one of the three.

    Raises:
        SessionRefused: ``unknown_state`` (422), naming ``where`` it stands and the three.
    """
    if not isinstance(state, str) or state not in STATES:
        raise SessionRefused(
            "unknown_state", 422,
            f"{where}: expected one of the states {', '.join(STATES)}, found {state!r}; say one of the three",
        )  # fmt: skip
    return state


def _state(payload: Payload) -> str:
    stated = payload.get("state")
    return "open" if stated is None else known_state(stated, "payload.state of an entry of the record")


def _title(payload: Payload) -> str:
    return (text(payload, "title") or "")[:TITLE_POINTS]


def _first_question(record: list[EntryLine]) -> str:
    asked = next((text(entry.payload, "asked") or "" for entry in record if entry.kind == "turn"), "")
    line = next((line.strip() for line in asked.splitlines() if line.strip()), "")
    return line[:FIRST_QUESTION_POINTS]


def _lineage(value: object) -> tuple[ForkedFrom | None, ImportedFrom | None]:
    if not isinstance(value, dict):
        return None, None
    forked, imported = value.get("forked_from"), value.get("imported_from")
    return (
        _forked(forked.get("uid"), forked.get("at_turn")) if isinstance(forked, dict) else None,
        _imported(imported) if isinstance(imported, dict) else None,
    )


def _forked(uid: object, at_turn: object) -> ForkedFrom | None:
    if isinstance(uid, str) and type(at_turn) is int and _is_said(uid) and at_turn >= 0:
        return ForkedFrom(uid=uid, at_turn=at_turn)
    return None


def _imported(payload: Payload) -> ImportedFrom | None:
    digest, at, by = (text(payload, name) or "" for name in ("digest", "exported_at", "exported_by"))
    if _DIGEST.fullmatch(digest) and _is_said(at) and _is_said(by):
        return ImportedFrom(digest=digest, exported_at=at, exported_by=by)
    return None


def _is_said(value: str) -> bool:
    return bool(value) and not LONE_SURROGATE.search(value)
