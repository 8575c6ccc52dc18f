"""One mecha transcript in, the conversation as mecha would load it out: messages, configurations, taint (8, 9)."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import msgspec

from sessionlab.errors import Refused
from sessionlab.formats.mecha import wire
from sessionlab.formats.mecha.conversation import Conversation
from sessionlab.formats.mecha.lenient import Unreadable, record_in
from sessionlab.formats.mecha.turns import plan_checks
from sessionlab.formats.mecha.wire import Config, Legs, Message, Meta, Outcome
from sessionlab.formats.recording import Recording

DISPATCHED = frozenset({"passed", "failed", "refused"})
"""Verification words of a plan step whose check was run (12.6)."""


class Checkpoint(NamedTuple):
    """What was merged when a ``taint`` record was read, and how many messages the list had then."""

    messages: int
    private: bool
    untrusted: bool


class Transcript:
    """A transcript as loaded.

    Attributes:
        header: the first record.
        messages: the list in force at the end, after rewrites and extensions.
        configs: configurations in the order read; ``positions``: the first message each covers, as rewrites moved it.
        outcomes: outcomes in the order read.
        checkpoints: taint checkpoints since the last rewrite.
        private, untrusted: the taint merged over the whole file.
        title, goal: the last ones told.
        plan_checks: a check of a plan step was run somewhere in the file (12.6).
        unreadable: lines mecha cannot read.
    """

    def __init__(self, header: Meta) -> None:
        """A transcript of which only the header is read."""
        self.header = header
        self.messages: list[Message] = []
        self.configs: list[Config] = []
        self.positions: list[int] = []
        self.outcomes: list[Outcome] = []
        self.checkpoints: list[Checkpoint] = []
        self.private = self.untrusted = False
        self.title = header.title
        self.goal: str | None = None
        self.plan_checks = False
        self.unreadable = 0
        self._list = Conversation(hold=False)
        self._first_after: dict[int, int] = {}  # extended messages: the first checkpoint that knows of the extension

    def covering(self, index: int) -> Legs | None:
        """The taint that covers the message at an index; None: unknown, which is never clean (9)."""
        known = self._first_after.get(index, 0)
        at = bisect_right(self.checkpoints, index, lo=known, key=lambda one: one.messages)
        if at == len(self.checkpoints):
            return None
        return Legs(self.checkpoints[at].private, self.checkpoints[at].untrusted)

    def config_covering(self, index: int) -> Config | None:
        """The configuration the message at an index was written under; None: none covers it (8.6)."""
        at = bisect_right(self.positions, index)
        return self.configs[at - 1] if at else None

    def take(self, record: wire.Record) -> None:
        """The next readable record after the header."""
        match record:
            case wire.MessageLine():
                self._list.append(record, 0)
                self.messages.append(record)
                self._look_for_checks(record)
            case wire.Rewrite():
                change = self._list.rewrite(record.messages, 0)
                self.messages = list(record.messages)
                most = len(self.messages) if change.in_place else 0
                self.positions = [min(position, most) for position in self.positions]
                self.checkpoints.clear()
                self._first_after.clear()
                for message in record.messages:
                    self._look_for_checks(message)
            case wire.Extend() if record.index < len(self.messages):
                self._list.extend(record.index, record.blocks, 0)
                was = self.messages[record.index]
                self.messages[record.index] = msgspec.structs.replace(was, content=[*was.content, *record.blocks])
                self._first_after[record.index] = len(self.checkpoints)
            case wire.Taint():
                self.private |= record.private
                self.untrusted |= record.untrusted
                self.checkpoints.append(Checkpoint(len(self.messages), self.private, self.untrusted))
            case wire.Config():
                self.configs.append(record)
                self.positions.append(len(self.messages))
            case wire.Outcome():
                self.outcomes.append(record)
                self.plan_checks |= bool(record.checks_declared)
            case wire.Title():
                self.title = record.title
            case wire.GoalAnchor():
                self.goal = record.goal if isinstance(record.goal, str) else None
            case _:  # a second header, a summary, notes, an extension of no message: nothing of the conversation
                pass

    def _look_for_checks(self, message: Message) -> None:
        words = plan_checks(message.planning).get("plan_checks", ())
        self.plan_checks = self.plan_checks or not DISPATCHED.isdisjoint(words)


def load(recording: Recording) -> Transcript:
    """The transcript in a recording, read leniently (8.4); lines that cannot be read are counted and passed over.

    Raises:
        Refused: the first record is no header, so mecha does not regard the file as a session of its own (8.1).
    """
    lines = recording.lines()
    transcript: Transcript | None = None
    for line in lines:
        try:
            record = record_in(line)
        except Unreadable as why:
            if transcript is None:
                raise _no_header(recording, lines.number, f"a line that is no record ({why})") from why
            transcript.unreadable += 1
            continue
        if record is None:
            continue
        if transcript is not None:
            transcript.take(record)
        elif isinstance(record, Meta):
            transcript = Transcript(record)
        else:
            raise _no_header(recording, lines.number, f"a record of another kind ({wire.word(record)})")
    if transcript is None:
        raise _no_header(recording, None, "no record at all")
    return transcript


def _no_header(recording: Recording, line: int | None, found: str) -> Refused:
    words = f"Expected a header (`record` is `meta`) as the first record, found {found}: no session header"
    return Refused(recording.uri, line, "no_session_header", words)
