"""A run in, its message lists, figures and marks; a transcript written by appending out (mecha 2 to 4, 7, 16.1)."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import msgspec

from sessionlab.errors import TranscriptGone
from sessionlab.formats.mecha.loading import Transcript
from sessionlab.formats.mecha.wire import (
    Config,
    GoalAnchor,
    Legs,
    Message,
    Meta,
    Outcome,
    Record,
    Rewrite,
    Summary,
    Taint,
    Title,
    Tokens,
)
from sessionlab.systems.mecha import archive
from sessionlab.systems.mecha.home import create, private_folder, write_whole
from sessionlab.systems.mecha.lines import bare, canonical, given, line, record_of
from sessionlab.systems.mecha.reading import load
from sessionlab.systems.mecha.store import SUFFIX, Store, check_kind
from sessionlab.systems.mecha.times import zulu_text

TITLE_CHARACTERS = 60
"""So much of a prompt's beginning becomes the title (4.1)."""
FORCED_KINDS = ("test", "experiment")
"""What ``$MECHA_SESSION_KIND`` can force (4.1)."""
_DRAWS = 8
"""Ids drawn before a directory is given up in which each of them is taken."""
_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)

MessageGiven = Message | Mapping[str, object]
"""A message: the struct, or an object as section 5 has it."""

_log = logging.getLogger("sessionlab.mecha")


def opening_title(prompt: str) -> str | None:
    """The title of a session that begins with this prompt: its words on one line, cut after 60 characters with ``…``.

    None when the prompt is blank.
    """
    words = " ".join(prompt.split())
    return (words if len(words) <= TITLE_CHARACTERS else words[:TITLE_CHARACTERS] + "…") or None


def new_id(now: datetime, unique: UUID) -> str:
    """``YYYYMMDDTHHMMSS-xxxxxxxx``: UTC to the second, and the first 8 hex digits of a random UUID (16.1)."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S}-{unique.hex[:8]}"


class TranscriptWriter:
    """One session's transcript, written record by record: opened, written once and closed for each.

    `create` and `resume` make one. What is written is read back first, so that mecha reads what stands in the file. A
    list is told with `record`; blocks folded into an earlier message become a ``rewrite``, which every release reads,
    never an ``extend``. When the file has gone, nothing is written any more: a conversation that was deleted does not
    come back. A file whose last line was torn gets the missing line end first. One thread at a time.

    Attributes:
        id: of the session.
        header: the first record.
        path: the file; None when recording is switched off: then nothing is written anywhere.
        resumed: what was on file when the session was resumed; None for a new one.
        taint: everything merged so far; it only grows.
        goal: what the coming runs are anchored to.
    """

    def __init__(self, header: Meta, path: Path | None, resumed: Transcript | None = None) -> None:
        """A writer of the file at ``path``, which begins with ``header``; see `create` and `resume`."""
        self.header, self.path, self.resumed = header, path, resumed
        self.id = header.id
        self.taint = Legs() if resumed is None else Legs(resumed.private, resumed.untrusted)
        self.goal = None if resumed is None else resumed.goal
        self._known = [] if resumed is None else [_digest(one) for one in resumed.messages]

    @classmethod
    def create(
        cls,
        store: Store | None = None,
        *,
        provider: str,
        model: str,
        workspace: str | os.PathLike[str],
        title: str | None = None,
        kind: str | None = None,
        config: Config | Mapping[str, object] | None = None,
        recording: bool = True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Callable[[], UUID] = uuid4,
    ) -> TranscriptWriter:
        """Begin a session in ``store`` (default: mecha's own), in a directory that is made owner-only (section 2).

        Args:
            store: where.
            provider: name of a configured provider.
            model: the model.
            workspace: where it works.
            title: as it is to stand there; `opening_title` makes one of a prompt.
            kind: the front end; ``$MECHA_SESSION_KIND`` may force another one (4.1).
            config: what the process attaches with, written behind the header.
            recording: False: nothing is written, now or later.
            clock: the time.
            random: the random part of the id.

        Raises:
            WrongUse: a member that mecha could not read.
            OSError: the file cannot be written.
        """
        now = clock().astimezone(UTC)
        attached = None if config is None else line(given(Config, config))
        forced = _kind(kind)
        folder = (store or Store()).folder
        if recording:
            private_folder(folder)
        for draw in range(1, _DRAWS + 1):
            session_id = new_id(now, random())
            header = Meta(session_id, zulu_text(now), provider, model, os.fspath(workspace), title, forced)
            written = line(header)
            path = folder / f"{session_id}{SUFFIX}" if recording else None
            try:
                if path is not None:
                    create(path, written)
                break
            except FileExistsError:
                if draw == _DRAWS:
                    raise
        writer = cls(header, path)
        if attached is not None:
            writer._append(attached)
        return writer

    @classmethod
    def resume(
        cls,
        prefix: str,
        config: Config | Mapping[str, object],
        store: Store | None = None,
        *,
        recording: bool = True,
    ) -> TranscriptWriter:
        """Attach to the one session whose id begins with ``prefix``: a new config; its list, taint and goal are kept.

        Its archive mark is taken away. With ``recording`` off the conversation is read, and nothing is changed.

        Raises:
            UnknownName, AmbiguousName: no session, or several, begin so.
            TranscriptGone: its file went away meanwhile.
            WrongUse: a configuration that mecha could not read.
            OSError: the file cannot be read or written.
        """
        store = store or Store()
        found = store.find(prefix)
        attached = line(given(Config, config))
        try:
            resumed = load(found.path)
        except FileNotFoundError as error:
            raise TranscriptGone(found.path) from error
        writer = cls(resumed.header, found.path if recording else None, resumed)
        if recording:
            writer._append(attached)
            if archive.is_id(writer.id):
                archive.unmark(store.folder, writer.id)
        return writer

    # What a run tells.

    def record(self, messages: Sequence[MessageGiven], replaced: Sequence[Sequence[MessageGiven]] = ()) -> None:
        """The list is ``messages`` now; ``replaced`` are the states that in-run rewrites did away with, in order.

        From each list to the next one: what was added is written as ``message`` records when the list before stands
        unchanged at the beginning, else the whole list as one ``rewrite`` (section 7). A failed turn is rolled back by
        recording the list before it.

        Raises:
            WrongUse: a message that mecha could not read; nothing of its list is written.
            TranscriptGone: the file has gone.
            OSError: it cannot be written; what was written counts, and the call can be repeated.
        """
        for state in (*replaced, messages):
            self._step([bare(given(Message, _without_word(one))) for one in state])

    def config(self, config: Config | Mapping[str, object]) -> None:
        """Another configuration from here on (4.5). Raises as `record`."""
        self._write(given(Config, config))

    def checkpoint(self, *, private: bool = False, untrusted: bool = False) -> None:
        """What had been read by now, after the messages it describes (4.6), merged with all before. As `record`."""
        merged = Legs(self.taint.private or private, self.taint.untrusted or untrusted)
        self._write(Taint(merged.private, merged.untrusted))
        self.taint = merged

    def anchor(self, goal: str | None) -> None:
        """The goal of the run, ``<kind>:<id>``, or none (4.9). Raises as `record`."""
        self._write(GoalAnchor(goal))
        self.goal = goal

    def rename(self, title: str) -> None:
        """A new name for the conversation (4.8). Raises as `record`."""
        self._write(Title(title))

    def summary(self, usage: Tokens | Mapping[str, object], turns: int) -> None:
        """Tokens and turns of a finished run (4.3). Raises as `record`."""
        self._write(Summary(given(Tokens, usage), turns))

    def outcome(self, outcome: Outcome | Mapping[str, object]) -> None:
        """How a finished run went, after all its messages (4.4). Raises as `record`."""
        self._write(given(Outcome, outcome))

    def finish(self, outcome: Outcome | Mapping[str, object]) -> None:
        """All that follows the messages of a finished run: checkpoint, anchor, summary, outcome (section 7).

        The taint of the outcome is merged with what is known, and stands in both. There is a summary when the outcome
        tells its usage: a run of unknown usage has none. Raises as `record`.
        """
        told = given(Outcome, outcome)
        line(told)  # refused before anything is written
        self.checkpoint(private=told.taint.private, untrusted=told.taint.untrusted)
        self.anchor(self.goal)
        if told.usage is not msgspec.UNSET:
            self.summary(told.usage, told.turns)
        self.outcome(msgspec.structs.replace(told, taint=self.taint))

    def _step(self, after: list[Message]) -> None:
        digests = [_digest(one) for one in after]
        before = len(self._known)
        if digests[:before] != self._known:
            self._write(Rewrite(after))
            self._known = digests
            return
        lines = [line(record_of(one)) for one in after[before:]]
        for written, digest in zip(lines, digests[before:], strict=True):
            self._append(written)
            self._known.append(digest)

    def _write(self, record: Record) -> None:
        self._append(line(record))

    def _append(self, written: bytes) -> None:
        if self.path is None:
            return
        try:
            file = os.open(self.path, _APPEND)
        except FileNotFoundError as error:
            raise TranscriptGone(self.path) from error
        try:
            size = os.fstat(file).st_size
            is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            write_whole(file, b"\n" + written if is_torn else written)
        finally:
            os.close(file)


def _digest(message: Message) -> bytes:
    """Stands for a message: lists may change under their writer's hands, so nothing of them is kept."""
    return hashlib.blake2b(canonical(message), digest_size=16).digest()


def _without_word(message: MessageGiven) -> MessageGiven:
    """A message as a record has it, too: the object without its ``record``."""
    if isinstance(message, Mapping) and message.get("record") == "message":
        return {name: value for name, value in message.items() if name != "record"}
    return message


def _kind(kind: str | None) -> str | None:
    """The front end a new session names: what the environment forces, else what is given (4.1)."""
    told = os.environ.get("MECHA_SESSION_KIND")
    if told in FORCED_KINDS:
        return told
    if told:
        _log.warning("MECHA_SESSION_KIND: expected %s, found %r: ignored", " or ".join(FORCED_KINDS), told)
    if kind is not None:
        check_kind(kind)
    return kind
