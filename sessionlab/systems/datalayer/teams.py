"""Team export: a team run, each seat with its session, goes in; one team file comes out (datalayer.md 2.3 and 13)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime

import msgspec

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import FORMAT_ID, ForkedExecution, Team, TeamLineage, team_line
from sessionlab.formats.datalayer.judge import refusal
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer.export import Exported, Tally, held_to_caps, packed, redacted, redactions
from sessionlab.systems.datalayer.heads import Counts, HeadTexts, Names, Stamp, head, hold, learn, names, stamp
from sessionlab.systems.datalayer.record import TeamRecord
from sessionlab.systems.datalayer.serialising import line_of

_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_NAME_CHARACTERS = 128


def export_team(team: TeamRecord, *, by: str, now: datetime, redactor: Redactor) -> Exported:
    """A team run as one file: the team line, then each seat's session line with its entries, in seat order.

    The caps hold for the whole file. The published importer refuses a team file; the table reader and `check` read
    it seat by seat.

    Args:
        team: the run; it is not changed.
        by: uid of who exports.
        now: time of export, with its zone.
        redactor: the exact rules, or stricter ones; it is shown all seats before any is redacted.

    Raises:
        SessionRefused: ``too_large`` (413), with the counts; ``team_without_seats`` (422); ``field_refusal`` (422),
            where a head would be refused; ``not_json`` (422), where an entry would be.
        WrongUse: ``now`` says no zone, or ``by`` is nobody.
    """
    _hold_seats(team)
    tally = Tally(redactor)
    for text in (team.execution_id, team.owner, team.team.id, team.team.version):
        redactor.learn(text)
    for seat in team.seats:
        redactor.learn(seat.id)
        learn(seat.record, redactor)
    signed = stamp(now, by, redactor)
    notes = list(team.notes)
    seats: list[dict[str, object]] = []
    lines, turns, entries = [b""], 0, 0  # the team line comes last: it counts what is under it
    for seat in team.seats:
        own = Tally(redactor)
        number = len(lines) + 1
        own_notes = list(seat.record.notes)
        named = names(seat.record, redactor, own_notes, number=number)
        written = redacted(seat.record.entries, redactor, signed, number=number + 1)
        counts = Counts(written.turns, len(written.lines), redactions(own.findings()), written.kinds)
        lines += [line_of(head(named, counts, signed), number=number), *written.lines]
        written_id = HeadTexts(redactor, notes, 1).identifier(f"seats[{len(seats)}].id", seat.id)
        notes += [f"seat {written_id!r}: {note}" for note in own_notes + written.notes]
        seats.append(_seat(written_id, named))
        turns, entries = turns + counts.turns, entries + counts.entries
    execution_id, members = _team_line(team, seats, HeadTexts(redactor, notes, 1), signed)
    findings = tally.findings()
    members["redactions"] = redactions(findings)
    hold(team_line, members)
    lines[0] = line_of(members, number=1)
    held_to_caps(lines)
    stem = _NO_FILE_NAME.sub("-", execution_id)[:_NAME_CHARACTERS]
    return packed(
        lines, uid=execution_id, counts=Counts(turns, entries, redactions(findings), ()), findings=findings,
        notes=notes, signed=signed, by=by, file_name=f"{stem}.session.jsonl",
    )  # fmt: skip


def _hold_seats(team: TeamRecord) -> None:
    """Refuse a team that no reader could tell the sessions of."""
    if not team.seats:
        none = refusal("team_without_seats")
        raise SessionRefused(none.name, none.status, none.sentence)
    for uid, times in Counter(seat.record.uid for seat in team.seats).items():
        if times > 1:
            said = f"The session {uid} sits at {times} seats; a team file holds a session once: give each its own uid."
            raise SessionRefused("field_refusal", 422, said)


def _seat(written_id: str, named: Names) -> dict[str, object]:
    return {"id": written_id, "session_uid": named.uid, "agent": named.agent, "harness": named.harness}


def _team_line(
    team: TeamRecord, seats: list[dict[str, object]], texts: HeadTexts, signed: Stamp
) -> tuple[str, dict[str, object]]:
    """The run's id as it is written, and the team line but for what it counts."""
    execution_id = texts.identifier("execution_id", team.execution_id)
    written = Team(id=texts.name("team.id", team.team.id), version=texts.name("team.version", team.team.version))
    forked = team.lineage.forked_from
    if forked is not None:
        forked = ForkedExecution(texts.identifier("lineage.forked_from.execution_id", forked.execution_id))
    lineage = TeamLineage(forked_from=forked, imported_from=texts.imported(team.lineage.imported_from))
    return execution_id, {
        "record_type": "team_session",
        "format": FORMAT_ID,
        "execution_id": execution_id,
        "team": msgspec.to_builtins(written),
        "owner": {"uid": texts.name("owner.uid", team.owner)},
        "state": team.state or "paused",
        "seats": seats,
        "lineage": msgspec.to_builtins(lineage),
        "exported_at": signed.at,
        "exported_by": {"uid": signed.by},
    }
