"""A judged session file as rows: each session's head and entries go in; rows of the common tables come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sessionlab.columns import big
from sessionlab.formats._values import detail, micros
from sessionlab.formats.datalayer import bodies
from sessionlab.formats.datalayer.calls import Calls, Told
from sessionlab.formats.datalayer.derived import HEARD, Derived
from sessionlab.formats.datalayer.fields import STATES, EntryLine, TeamLine
from sessionlab.formats.datalayer.judge import Section
from sessionlab.formats.datalayer.lineage import Links, copies, session_id, team_id
from sessionlab.formats.datalayer.payloads import (
    KINDS_READ,
    RUN_END,
    Cleaned,
    Columns,
    Kind,
    Payload,
    cleaned,
    small,
    text,
    valid,
)
from sessionlab.formats.datalayer.runs import Runs
from sessionlab.formats.recording import digest63
from sessionlab.tables import Agent, Config, Entry, Pool, Problem, Row, Session

_STATE_KINDS = frozenset({"session", "paused", "ended"})
_JUDGED = frozenset({"decision", "approval", "check"})
_LINK_KINDS = frozenset({"cloned", "imported", "exported"})


class Numbers:
    """Where the next entry and the next body of a source stand, over all its sessions."""

    def __init__(self) -> None:
        self.seq = 0
        self._bodies = {"message": 0, "text": 0}

    def body(self, pool: str) -> int:
        """The index of the next body of that pool."""
        ix = self._bodies[pool]
        self._bodies[pool] = ix + 1
        return ix


class SessionRows:
    """The rows of one session.

    Args:
        section: its head and entries.
        numbers: the source's counters.
        unusual: lines whose payload may hold what a table cannot.
        with_bodies: whether pools, blocks and arguments are wanted; entries and numbers are the same without.
    """

    def __init__(self, section: Section, numbers: Numbers, unusual: frozenset[int], *, with_bodies: bool) -> None:
        self._section, self._numbers, self._unusual, self._bodies = section, numbers, unusual, with_bodies
        self._id = session_id(section.head.uid)
        self._runs, self._calls, self._links, self._derived = Runs(), Calls(), Links(section), Derived()
        self._steps: Counter[str] = Counter()
        self._run: int | None = None
        self._at = ""
        self._recorded_at: int | None = None
        self._created_at: int | None = None
        self._created_title: str | None = None
        self._ended_at: int | None = None
        self._opened = False
        self._state: str | None = None

    def rows(self) -> Iterator[Row]:
        """All rows but the session's own, which is ready after them."""
        head = self._section.head
        copied, doubt = copies(self._section)
        yield Agent(
            session_id=self._id, line=self._section.line, agent_id="root", depth=0, origin="root", origin_key="root",
            profile=head.agent, detail=detail(harness=_valid(head.harness)),
        )  # fmt: skip
        for n, (entry, line) in enumerate(zip(self._section.entries, self._section.numbers, strict=True)):
            yield from self._entry(entry, line, is_copy=n in copied)
        yield from self._links.rows()
        calls = self._calls.rows(self._id)
        yield from calls
        told = {entry.kind for entry in self._section.entries}
        yield from self._runs.rows(
            self._id,
            calls,
            calls_told="tool_call" in told,
            refusals_told="decision" in told or "approval" in told,
            checks_told="check" in told,
        )
        yield from self._head_notes(told)
        if doubt is not None:
            yield self._note("copies_not_told", doubt, self._section.line)

    def session(self) -> Session:
        """The session's row; call it after ``rows``."""
        head = self._section.head
        return Session(
            session_id=self._id,
            format="datalayer",
            native_id=head.uid,
            part="snapshot",
            title=head.title or None,
            created_title=self._created_title,
            created_at=self._created_at,
            ended_at=self._ended_at,
            entries=len(self._section.entries),
            state=head.state,
            archived=head.archived,
            recorder="datalayer",
            detail=detail(
                app_id=head.app.id,
                app_version=head.app.version,
                agent=head.agent,
                harness=_valid(head.harness),
                owner=head.owner.uid,
                turns=head.turns,
                kinds=head.kinds,
                exported_at=head.exported_at,
                exported_by=head.exported_by.uid,
                redactions=head.redactions,
            ),
        )

    def _entry(self, entry: EntryLine, line: int, *, is_copy: bool) -> list[Row]:
        """The rows of one entry: notes, the entry, what it configures, its body."""
        seq = self._numbers.seq
        self._numbers.seq = seq + 1
        rows: list[Row] = []
        native, payload, summary = entry.kind, entry.payload, entry.summary
        if line in self._unusual:
            seen = Cleaned()
            payload = cleaned(payload, seen)
            summary = valid(summary, seen)
            rows.extend(self._cleaning_notes(seen, line, seq))
        if entry.at != self._at:  # entries sent together share one
            self._at, self._recorded_at = entry.at, micros(entry.at.strip())
        at = self._recorded_at
        if at is None:
            rows.append(self._note("time_not_read", f"at is {entry.at!r}, which is no time with a zone", line, seq))
        else:
            self._ended_at = at
        kind = self._begun(native, payload, seq, line, at)
        if native in HEARD:
            self._derived.hear(native, payload)
        common = kind.kind
        columns = kind.columns(payload)
        run = self._runs.latest if native == "feedback" else self._run
        self._run = self._runs.open
        pool = "message" if native == "turn" else "text"
        ix = self._numbers.body(pool) if payload or summary else None
        if native == "tool_call":
            common = self._tool_call(payload, columns, (seq, line, run, at), ix)
        elif native in _JUDGED:
            self._judged(native, columns, (seq, line, run, at))
        elif native == "step":
            self._step(payload, columns)
        elif native == "run":
            columns["started_at"] = at
        elif native in _LINK_KINDS:
            self._links.hear(entry, payload, line, seq)
        elif native in _STATE_KINDS:
            rows.extend(self._stated(native, payload, at, line, seq))
        if "exit_code" in payload and type(code := payload["exit_code"]) is int and big(code) is None:
            rows.append(self._note("number_too_large", f"exit_code is {code}, more than a BIGINT holds", line, seq))
        rows.append(
            Entry(
                session_id=self._id,
                seq=seq,
                line=line,
                is_copy=is_copy,
                kind=common,
                native_kind=native,
                run=run,
                recorded_at=at,
                message_ix=ix if pool == "message" else None,
                output_ix=ix if pool == "text" else None,
                detail=small(payload, kind) if payload else None,
                **columns,
            )
        )
        if native in ("session", "swapped"):
            rows.append(self._config(native, payload, line, seq))
        if self._bodies and ix is not None:
            rows.append(Pool(session_id=self._id, line=line, pool=pool, ix=ix))
            rows.extend(bodies.blocks(native, payload, summary, session_id=self._id, line=line, pool=pool, ix=ix))
        return rows

    def _begun(self, native: str, payload: Payload, seq: int, line: int, at: int | None) -> Kind:
        """What the entry is, and what begins or ends with it: a run, a process that numbers its calls anew."""
        if native == "run":
            self._run = self._runs.begin(at)
            self._calls.forget_open()
        elif native == "output" and self._run is not None and (word := text(payload, "status")) is not None:
            self._runs.end(seq, line, word, payload)
            self._calls.forget_open()
            return RUN_END
        elif native == "feedback":
            self._runs.like(payload.get("liked"))
        elif native in ("session", "swapped"):
            self._calls.forget_ids()
        return KINDS_READ[native]

    def _tool_call(
        self, payload: Payload, columns: Columns, place: tuple[int, int, int | None, int | None], ix: int | None
    ) -> str:
        """Tell the calls of it; the entry's kind: the call, or more about one told before."""
        terminal = text(payload, "terminal_id")
        told = _told(place, columns)
        earlier = self._calls.earlier(told, terminal, is_exit=payload.get("what") == "exit")
        self._calls.tell(
            told,
            earlier=earlier,
            terminal=terminal,
            arguments=bodies.arguments(payload) if self._bodies else None,
            output_ix=ix,
            output_block=bodies.RESULT_BLOCK if bodies.has_result(payload) else None,
        )
        return "tool_call" if earlier is None else "tool_result"

    def _judged(self, native: str, columns: Columns, place: tuple[int, int, int | None, int | None]) -> None:
        """Tell calls and runs of a decision, an approval or a check."""
        if native == "check":
            self._runs.check(columns["status"])
        elif native == "approval":
            self._calls.approve(_told(place, columns))
        else:
            self._runs.limit(columns["reason"])
            if columns["name"] is not None:
                self._calls.decide(_told(place, columns))

    def _stated(self, native: str, payload: Payload, at: int | None, line: int, seq: int) -> Iterator[Problem]:
        state = payload.get("state")
        if state is None:
            self._state = "open"
        elif type(state) is str and state in STATES:
            self._state = state
        else:
            yield self._note("unknown_state", f"the state {state!r} is none of {', '.join(STATES)}", line, seq)
        if native == "session" and not self._opened:
            self._opened = True
            self._created_at = at
            self._created_title = text(payload, "title")

    def _step(self, payload: Payload, columns: Columns) -> None:
        """Ids of a step and of the one it hangs from: the tree. A step's id may come again: it counts."""
        own, parent = text(payload, "id"), text(payload, "parent_id")
        if own is not None:
            columns["record_id"] = step_id(self._id, own, self._steps[own])
            self._steps[own] += 1
        if parent is not None:
            columns["parent_id"] = step_id(self._id, parent, 0)

    def _config(self, native: str, payload: Payload, line: int, seq: int) -> Config:
        """Agent and harness in force from here on: of a `swapped` entry `agent`, else `to` (section 10)."""
        swap = native == "swapped"
        carried = payload.get("carried")
        workspace = carried.get("workspace") if swap and type(carried) is dict else None
        return Config(
            session_id=self._id,
            seq=seq,
            line=line,
            workspace=workspace if type(workspace) is str else None,
            detail=detail(
                agent=text(payload, "agent") or (text(payload, "to") if swap else None),
                harness=text(payload, "harness") or (text(payload, "to_harness") if swap else None),
            ),
        )

    def _cleaning_notes(self, seen: Cleaned, line: int, seq: int) -> Iterator[Problem]:
        if seen.not_finite:
            said = f"numbers of the payload that are NaN or infinite: {seen.not_finite}; null in the tables"
            yield self._note("number_not_finite", said, line, seq)
        if seen.surrogates:
            said = f"unpaired surrogates: {seen.surrogates}; U+FFFD in the tables"
            yield self._note("unpaired_surrogate", said, line, seq)

    def _head_notes(self, told: set[str]) -> Iterator[Problem]:
        """What the head says and the record does not bear out; the head stands (the importer never compares)."""
        head, line = self._section.head, self._section.line
        entries = len(self._section.entries)
        turns = sum(entry.kind == "turn" for entry in self._section.entries)
        if head.entries != entries:
            things = "entry" if head.entries == 1 else "entries"
            yield self._note("head_entries", f"the head says {head.entries} {things}, the file holds {entries}", line)
        if head.turns != turns:
            things = "turn" if head.turns == 1 else "turns"
            yield self._note("head_turns", f"the head says {head.turns} {things}, the file holds {turns}", line)
        if left_out := sorted(told - set(head.kinds)):
            yield self._note("head_kinds", f"the head does not list the kinds {', '.join(left_out)}", line)
        if self._state is not None and self._state != head.state:
            said = f"the head says {head.state}, the last entry that states one says {self._state}"
            yield self._note("head_state", said, line)
        for kind, said in self._derived.differences(head):
            yield self._note(kind, said, line)

    def _note(self, kind: str, said: str, line: int, seq: int | None = None) -> Problem:
        return Problem(session_id=self._id, seq=seq, line=line, kind=kind, severity="note", detail=_valid(said))


def team_rows(team: TeamLine, sections: list[Section]) -> Iterator[Row]:
    """The rows of a team run besides its seats' sessions: an agent per seat, and notes where file and seats differ."""
    run = team_id(team.execution_id)
    for n, seat in enumerate(team.seats):
        yield Agent(
            session_id=run, line=1, agent_id=seat.id, depth=0, origin="root", ordinal=n, origin_key=f"seat:{seat.id}",
            profile=seat.agent, detail=detail(session_uid=seat.session_uid, harness=_valid(seat.harness)),
        )  # fmt: skip
    seats = {seat.session_uid: seat for seat in team.seats}
    for section in sections:
        head, line = section.head, section.line
        seat_ = seats.get(head.uid)
        if seat_ is None:
            yield _team_note(run, line, f"the session {head.uid} sits at none of the team's seats")
        elif (seat_.agent, seat_.harness) != (head.agent, head.harness):
            yield _team_note(run, line, f"the seat {seat_.id} names another agent or harness than its session line")
    written = [section.head.uid for section in sections]
    named = [seat.session_uid for seat in team.seats]
    for uid in named:
        if uid not in written:
            yield _team_note(run, 1, f"the session {uid} of a seat is not in the file")
    if len(set(written)) < len(written):
        yield _team_note(run, 1, "a session stands in the file more than once")
    if [uid for uid in written if uid in seats] != [uid for uid in named if uid in written]:
        yield _team_note(run, 1, "the sessions do not stand in the order of the seats")


def team_session(team: TeamLine) -> Session:
    """The team run as a session of its own, which holds no entries: they are its seats'."""
    return Session(
        session_id=team_id(team.execution_id),
        format="datalayer",
        native_id=f"team:{team.execution_id}",
        part="snapshot",
        entries=0,
        state=team.state,
        recorder="datalayer",
        detail=detail(
            execution_id=team.execution_id,
            team_id=team.team.id,
            team_version=team.team.version,
            owner=team.owner.uid,
            seats=len(team.seats),
            exported_at=team.exported_at,
            exported_by=team.exported_by.uid,
            redactions=team.redactions,
        ),
    )


def step_id(session: str, native_id: str, nth: int) -> int:
    """`record_id` of the nth step of a session under one native id."""
    return digest63(f"{session}\0step\0{native_id}\0{nth}")


def _told(place: tuple[int, int, int | None, int | None], columns: Columns) -> Told:
    seq, line, run, at = place
    return Told(
        seq, line, run, at, columns["name"], columns["call_id"], columns["status"], columns["reason"],
        columns.get("exit_code"),
    )  # fmt: skip


def _team_note(session: str, line: int, said: str) -> Problem:
    return Problem(session_id=session, line=line, kind="team_seats", severity="note", detail=_valid(said))


def _valid(text: str | None) -> str | None:
    return None if text is None else valid(text, Cleaned())
