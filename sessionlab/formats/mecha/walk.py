"""A walk over a mecha transcript: one readable record in, its rows out (sections 6 to 9).

Every row depends only on the lines before it, so what the file says later about an earlier line stands on the later
line's entry:

- ``run`` is the number of outcomes so far plus one, ``turn`` the number of assistant messages so far, ``epoch`` the
  number of rewrites so far.
- A ``configs`` row has the position it had when it was read. An entry of kind ``rewrite`` or ``compaction`` moved all
  earlier ones (section 8.6): with ``detail.in_place`` to the smaller of the position and the entry's ``messages``,
  else to 0. ``detail.kept`` is the length of the common prefix, ``detail.before`` that of the list before.
- An entry of kind ``taint`` holds what is merged so far. A message is covered by the first one behind both the entry
  that last wrote its position (message, extend, or a window change) and the last rewrite (section 9).
- Every entry has in ``messages`` the length of the list after it. ``windows`` has rows at rewrites and extends only.
- The pool of messages is the union of everything recorded, each once, in order of first sighting (section 14).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from isal.isal_zlib import crc32

from sessionlab.formats._values import compact, detail, micros
from sessionlab.formats.mecha import marks, wire
from sessionlab.formats.mecha.bodies import Bodies
from sessionlab.formats.mecha.conversation import Conversation
from sessionlab.formats.mecha.ledger import Ledger, faults
from sessionlab.formats.mecha.lenient import Extra, Recovered, Unreadable
from sessionlab.formats.mecha.turns import Turns, plan_checks
from sessionlab.formats.mecha.wire import Free, Message, MessageLine, Meta
from sessionlab.formats.recording import Lines, digest63
from sessionlab.tables import Agent, Entry, Problem, Row, Session, Window

SURFACES = frozenset(
    {
        "run", "chat", "tui", "web", "voice", "task", "trigger", "frontdoor", "mail", "slack", "test", "experiment",
    }
)  # fmt: skip
"""The front ends a header may name; any other word is unknown (section 4.1)."""


class Walk:
    """One transcript, from its header to its end.

    Attributes:
        rows: rows of the records read so far that nobody has taken yet.
        session_id: ``mecha:`` and the id the header names.
    """

    def __init__(self, lines: Lines, header: Meta, *, bodies: bool, figures: bool = False) -> None:
        """At the header, which is still to be taken; ``lines`` tells where the walk stands."""
        self.rows: list[Row] = []
        self.session_id = f"mecha:{header.id}"
        self._lines = lines
        self._header = header
        self._wanted = bodies
        self._header_unknown: dict[str, Free] | None = None
        self._bodies = Bodies(self.session_id, self.rows, wanted=bodies)
        self._conversation = Conversation(hold=bodies)
        self._list = self._conversation.list
        self._turns = Turns(self.session_id, self.rows, self._orphan, arguments=bodies)
        self._ledger = Ledger(self.session_id, header)
        self._digest = digest63(self.session_id)
        self._record_id = 0
        self._epoch = 0
        self._private = self._untrusted = False
        self._title = header.title
        self._goal: str | None = None
        self._summaries: set[int] = set()
        self._passed_by = frozenset({MessageLine, wire.Rewrite, wire.Extend}) if figures else frozenset()
        self._of: dict[type, Callable[[Any, Recovered], None]] = {
            Meta: self._meta,
            wire.Config: self._config,
            wire.Summary: self._summary,
            wire.Outcome: self._outcome,
            wire.Taint: self._taint,
            wire.Rewrite: self._rewrite,
            wire.Title: self._retitle,
            wire.GoalAnchor: self._anchor,
            wire.Extend: self._extend,
            wire.Notes: self._notes,
        }

    def take(self, record: wire.Record, line: bytes, found: Recovered | None) -> None:
        """The next readable line: its record, its bytes, and what the second look found (None: none was needed)."""
        turns = self._turns
        turns.seq += 1
        turns.line = number = self._lines.number
        kind = type(record)
        if kind in self._passed_by:  # figures alone are wanted: what was said, step by step, is only looked at
            self._ledger.said = crc32(line, self._ledger.said)
            if found is not None:
                self._report(found)
            return
        # The same line at the same place of a session of this id is the same record, in whatever file. The digest of
        # the id is spread by line number and checksum, so that no two lines of a session share an id.
        self._record_id = self._digest ^ ((number & 0x7FFFFFFF) << 32 | crc32(line))
        if kind is MessageLine or kind is wire.Rewrite or kind is wire.Extend:
            self._ledger.said = crc32(line, self._ledger.said)
        if kind is MessageLine:
            self._message(record, found)  # type: ignore[arg-type]
        else:
            self._of[kind](record, found or Recovered(record))
        if found is not None:
            self._report(found)

    def end(self) -> Iterator[Row]:
        """The rows that had to wait for the end of the file."""
        yield from self._turns.calls.unanswered(self._turns.moved_on_seq)
        header = self._header
        known = isinstance(header.kind, str) and header.kind in SURFACES
        yield Session(
            session_id=self.session_id,
            format="mecha",
            native_id=header.id,
            part="log",
            title=self._title,
            created_title=header.title,
            created_at=micros(header.created_at.upper()),
            entries=self._turns.seq + 1,
            provider=header.provider,
            model=header.model,
            workspace=header.workspace,
            surface=header.kind if known else None,
            goal=self._goal,
            recorder="mecha",
            recorder_version=self._ledger.recorder_version,
            detail=detail(kind=None if known else header.kind, unknown=self._header_unknown),
        )

    def unreadable(self, line: bytes, why: Unreadable) -> Problem:
        """The row of a line that is no record: it has no other."""
        torn = not self._lines.terminated
        words = f"Expected a record, found a {'torn last' if torn else 'broken'} line: {why}"
        if why.word == "rewrite" or line.startswith(b'{"record":"rewrite"'):
            words += "; the list before it stays in force"
        return self._lines.problem("torn_line" if torn else "unreadable_line", words, session_id=self.session_id)

    def _message(self, record: MessageLine, found: Recovered | None) -> None:
        turns, list_, role, seq = self._turns, self._list, record.role, self._turns.seq
        is_new = self._conversation.append(record, self._lines.length)
        ix, length = list_[-1], len(list_)
        if is_new and self._wanted:
            self._bodies.message(turns.line, ix, record, found.extras[0] if found else ())
        status = turn = None
        members: Mapping[str, Free] | None = None
        voice: str | None = "model"
        if role == "assistant":
            turns.turn = turn = turns.turn + 1
            turns.moved_on_seq = seq
            status = turns.reply(record.content)
        else:
            voice, members = turns.heard(record.content, ix, record.tool_provenance, record.harness)
            if voice == "tool":
                turn = turns.turn or None
        if found is not None or record.planning is not None:
            members = {**(members or {}), **plan_checks(record.planning), **(found.dropped() if found else {})}
        self.rows.append(
            Entry(
                session_id=self.session_id,
                seq=seq,
                line=turns.line,
                record_id=self._record_id,
                kind="message",
                native_kind="message",
                run=turns.run,
                turn=turn,
                epoch=self._epoch,
                role=role,
                voice=voice,
                message_ix=ix,
                position=length - 1,
                messages=length,
                status=status,
                detail=compact(members) if members else None,
            )
        )

    def _rewrite(self, record: wire.Rewrite, found: Recovered) -> None:
        turns = self._turns
        change = self._conversation.rewrite(record.messages, self._lines.length)
        list_ = self._list
        tail = max((at for at, is_new in enumerate(change.new, 1) if not is_new), default=0)
        ordinal = 0
        summarised = False
        for at, (ix, is_new, message) in enumerate(zip(list_, change.new, record.messages, strict=True)):
            if not is_new:
                continue
            self._bodies.message(turns.line, ix, message, found.extras[at] if found.extras else ())
            if message.role == "assistant":
                ordinal = turns.retold_reply(message, ordinal, at_end=at >= tail)
            else:
                summarised |= self._is_summary(message)
                turns.retold_results(message, ix)
        moved = {"kept": change.kept, "before": change.before, "in_place": change.in_place}
        self._entry(
            "compaction" if summarised else "rewrite",
            "rewrite",
            output_ix=self._bodies.leftovers(turns.line, (), found.lost) if found.lost else None,
            detail=compact({**found.unknown, **found.dropped(), **moved}),
        )
        for position in range(change.kept, len(list_)):
            self._window(position, list_[position])
        if len(list_) < change.before:
            self._window(len(list_), None)
        self._epoch += 1

    def _extend(self, record: wire.Extend, found: Recovered) -> None:
        turns, list_, index = self._turns, self._list, record.index
        extras: Sequence[Extra] = found.extras[0] if found.extras else ()
        if index >= len(list_):
            ix = self._bodies.leftovers(turns.line, record.blocks, extras)
            self._entry("extend", "extend", output_ix=ix, detail=compact({**found.unknown, "index": index}))
            words = f"Expected a position below {len(list_)}, found {index}: no message was extended"
            self._note("extend_out_of_range", words)
            return
        was_ix, was = list_[index], self._conversation.pooled(index)
        is_new, whole = self._conversation.extend(index, record.blocks, self._lines.length)
        ix = list_[index]
        if is_new and whole is not None:
            self._bodies.message(turns.line, ix, whole, extras)
        elif is_new:
            self._bodies.continued(turns.line, ix, was=was, was_ix=was_ix, blocks=record.blocks, extras=extras)
        status = members = None
        voice: str | None = "model"
        if was.role == "assistant":
            status = turns.reply(record.blocks)
        else:
            voice, members = turns.heard(record.blocks, ix, first=was.blocks)
        self._entry(
            "extend",
            "extend",
            role=was.role,
            voice=voice,
            message_ix=ix,
            position=index,
            status=status,
            detail=compact({**found.unknown, "extends_ix": was_ix, **(members or {})}),
        )
        self._window(index, ix)

    def _meta(self, record: Meta, found: Recovered) -> None:
        self._entry("other", "meta", detail=found.told())
        if self._turns.seq == 0:
            self._header_unknown = found.unknown or None
            self.rows.append(
                Agent(
                    session_id=self.session_id,
                    seq=0,
                    line=self._turns.line,
                    agent_id="root",
                    depth=0,
                    origin="root",
                )
            )
        else:
            self._note("second_header", f"Expected one header, found another, of id {record.id!r}; the first stands")

    def _config(self, record: wire.Config, found: Recovered) -> None:
        turns = self._turns
        prompt = record.system_prompt
        row = self._ledger.config(
            record,
            seq=turns.seq,
            line=turns.line,
            position=len(self._list),
            system_ix=None if prompt is None else self._bodies.text(turns.line, prompt),
            toolset_ix=self._bodies.toolset(turns.line, record.tools),
            unknown=found.unknown,
        )
        self._entry("config", "config")
        self.rows.append(row)
        self._figures(record)
        for name in ("rules_goal", "rules_surface"):
            if not isinstance(getattr(record, name), str | None):
                self._note("unreadable_member", f"Expected a text as `{name}`, found other JSON: kept as it is")

    def _summary(self, record: wire.Summary, found: Recovered) -> None:
        turns = self._turns
        row = self._ledger.summary(record, seq=turns.seq, line=turns.line, unknown=found.unknown)
        self._entry("usage", "summary", charge_id=row.charge_id)
        self.rows.append(row)
        self._figures(record)

    def _outcome(self, record: wire.Outcome, found: Recovered) -> None:
        turns = self._turns
        charge_id = self._ledger.charge_id
        row, spent = self._ledger.outcome(record, seq=turns.seq, line=turns.line, unknown=found.unknown)
        turns.moved_on_seq = turns.seq
        self._entry("run_end", "outcome", charge_id=charge_id, reason=record.stop_cause)
        self.rows.append(row)
        if spent is not None:
            self.rows.append(spent)
        self._figures(record)
        turns.run = self._ledger.run

    def _taint(self, record: wire.Taint, found: Recovered) -> None:
        self._private |= record.private
        self._untrusted |= record.untrusted
        self._entry("taint", "taint", private=self._private, untrusted=self._untrusted, detail=found.told())

    def _retitle(self, record: wire.Title, found: Recovered) -> None:
        self._title = record.title
        self._entry("title", "title", name=record.title, detail=found.told())

    def _anchor(self, record: wire.GoalAnchor, found: Recovered) -> None:
        self._goal = record.goal if isinstance(record.goal, str) else None
        raw = record.goal if self._goal is None else None
        self._entry("goal", "goal_anchor", name=self._goal, detail=detail(goal=raw, **found.unknown))

    def _notes(self, record: wire.Notes, found: Recovered) -> None:
        ix = self._bodies.text(self._turns.line, *record.notes)
        self._entry("note", "notes", voice="harness", output_ix=ix, detail=found.told())

    # Rows and problems.

    def _entry(
        self,
        kind: str,
        native_kind: str,
        *,
        role: str | None = None,
        voice: str | None = None,
        name: str | None = None,
        charge_id: str | None = None,
        message_ix: int | None = None,
        position: int | None = None,
        output_ix: int | None = None,
        status: str | None = None,
        reason: str | None = None,
        private: bool | None = None,
        untrusted: bool | None = None,
        detail: str | None = None,
    ) -> None:
        self.rows.append(
            Entry(
                session_id=self.session_id,
                seq=self._turns.seq,
                line=self._turns.line,
                record_id=self._record_id,
                kind=kind,
                native_kind=native_kind,
                run=self._turns.run,
                epoch=self._epoch,
                role=role,
                voice=voice,
                name=name,
                charge_id=charge_id,
                message_ix=message_ix,
                position=position,
                messages=len(self._list),
                output_ix=output_ix,
                status=status,
                reason=reason,
                private=private,
                untrusted=untrusted,
                detail=detail,
            )
        )

    def _window(self, position: int, message_ix: int | None) -> None:
        self.rows.append(
            Window(
                session_id=self.session_id,
                seq=self._turns.seq,
                line=self._turns.line,
                queue="agent",
                position=position,
                message_ix=message_ix,
            )
        )

    def _is_summary(self, message: Message) -> bool:
        """Whether the message brings a summary not seen before: one that is merely carried along compacts nothing."""
        texts = {hash(b.text) for b in message.content if isinstance(b, wire.Text) and b.text.startswith(marks.SUMMARY)}
        known = len(self._summaries)
        self._summaries |= texts
        return len(self._summaries) > known

    def _note(self, kind: str, words: str) -> None:
        self.rows.append(
            self._lines.problem(kind, words, severity="note", session_id=self.session_id, seq=self._turns.seq)
        )

    def _orphan(self, call_id: str) -> None:
        self._note("orphan_result", f"Expected a call {call_id!r} that waits for its result, found none")

    def _figures(self, record: wire.Config | wire.Summary | wire.Outcome) -> None:
        for name, fault in faults(record):
            self._note(fault, f"Expected another number as `{name}`, one that can be meant: the column is null")

    def _report(self, found: Recovered) -> None:
        if found.dropped_blocks:
            self._note("dropped_blocks", f"Expected known content blocks, left out {found.dropped_blocks}")
        if found.dropped_messages:
            self._note("dropped_messages", f"Expected readable messages, left out {found.dropped_messages} of the list")
        for name in found.absent:
            self._note("unreadable_member", f"Expected another type as `{name}`: it counts as absent")
