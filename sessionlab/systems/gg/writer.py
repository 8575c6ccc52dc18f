"""What a running session consumed, call by call, in; its capture journal out, without the run noticing (gg.md 1.15).

A body is written once, with the entry that needs it first. Pool indices, entry numbers and the order of the queue are
settled in one critical section, and a batch is written whole or not at all. Whatever goes wrong stops capture for good,
is logged, and is never raised at the run that is observed.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sessionlab.formats.gg.lines import HeaderLine
from sessionlab.formats.gg.records import FORMAT_VERSION, AgentRow, Modalities, Origin, Recorder, Seed, Truncation
from sessionlab.formats.gg.strict import Strict
from sessionlab.systems.gg.agent import AgentCapture
from sessionlab.systems.gg.exclusion import exclude_from_git
from sessionlab.systems.gg.pooling import (
    STREAM_CEILING,
    TOOL_CEILING,
    Body,
    Json,
    Pools,
    Tools,
    checked,
    plain_json,
)
from sessionlab.systems.gg.sink import Sink, worded

if TYPE_CHECKING:
    from typing import Self

MAX_BYTES = 268_435_456
"""The journal's ceiling where the capability set names none."""

_log = logging.getLogger("sessionlab.gg")
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="deterministic").encode
"""Maps by their keys, objects by their members as declared."""
_recorder, _seed, _row = (msgspec.json.Decoder(kind) for kind in (Recorder, Seed, AgentRow))
_header: Strict[HeaderLine] = Strict(HeaderLine)
_open: weakref.WeakSet[JournalWriter] = weakref.WeakSet()


class Captured(NamedTuple):
    """What became of a capture.

    Attributes:
        entries: entries that were queued, which the terminating line states.
        truncation: why capture stopped early; None when it did not. A writer that died is ``write_failed``.
        landed: whether everything queued, the terminating line included, is known to be in the file.
    """

    entries: int
    truncation: Truncation | None
    landed: bool


class JournalWriter:
    """Writes the journal of one session into ``workspace/.gg/replay.ndjson``.

    No method raises for what happens to the capture: a full disk, a dead writer or a body that is no JSON stops it,
    and `stopped` says why. An entry costs the caller some microseconds; hash a long-lived body once, with `message`
    and `toolset`, and hand the result over in every later request. Calls may come from several threads. A forked
    child captures nothing.

    Args:
        workspace: root of the run's workspace; its git excludes get ``/.gg/``.
        session_id: the run's id.
        capability_set: the launched configuration, a JSON object.
        seed: what the session starts from.
        routing_key: the id the run sends with every model request.
        recorder: the program that records.
        max_bytes: ceiling of the journal; default: ``limits.replayMaxBytes`` of the capability set, else 256 MiB.
        stream_ceiling, tool_ceiling: bytes kept of one stream, of one tool payload.
    """

    def __init__(
        self,
        workspace: Path | str,
        *,
        session_id: str,
        capability_set: Mapping[str, object],
        seed: Seed,
        routing_key: str | None = None,
        recorder: Recorder = Recorder(),  # noqa: B008 (frozen)
        max_bytes: int | None = None,
        stream_ceiling: int = STREAM_CEILING,
        tool_ceiling: int = TOOL_CEILING,
    ) -> None:
        self.session_id = session_id
        self.stream_ceiling, self.tool_ceiling = stream_ceiling, tool_ceiling
        self.pools = Pools()
        self.lock = threading.Lock()
        self._max_bytes = _ceiling(capability_set) if max_bytes is None else max_bytes
        self._seed, self._denied = seed, False
        self._bytes = self._entries = 0
        self._stopped: Truncation | None = None
        self._finishing = threading.Lock()
        self._captured: Captured | None = None
        self.idle = False
        self._sink = Sink(Path(workspace), prepare=lambda: exclude_from_git(workspace))
        _open.add(self)
        try:
            header = {
                "type": "header",
                "formatVersion": FORMAT_VERSION,
                "sessionId": plain_json(session_id),
                "routingKey": plain_json(routing_key),
                "capabilitySet": plain_json(capability_set),
                "recorder": checked(recorder, _recorder),
            }
            line = _encode({name: value for name, value in header.items() if value is not None})
            _header(line)  # a header that no reader takes would cost the whole journal
            with self.lock:
                self.queue(line + b"\n")
        except BaseException as error:
            self.broke(error)
        self._tell_seed()

    def __enter__(self) -> Self:
        """The writer itself; `finish` is called at the end, whatever ends it."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Write the terminating line."""
        self.finish()

    @property
    def stopped(self) -> Truncation | None:
        """Why capture stopped early, or None as long as it has not."""
        if self._stopped is None and self._sink.failure is not None:
            return self._truncation("write_failed")
        return self._stopped

    def message(self, body: Json) -> Body:
        """Take a message body in: it is hashed now, as it stands, and written with the first entry that sends it."""
        try:
            if not self.idle:
                return self.pools.take_message(body)
        except Exception as error:
            self.broke(error)
        return Body(self.pools, "")

    def toolset(self, tools: Json) -> Tools:
        """Take an offered list of tools in, as `message` does a body."""
        try:
            if not self.idle:
                return self.pools.take_toolset(tools)
        except Exception as error:
            self.broke(error)
        return Tools(self.pools, "")

    def agent(self, agent_id: str, *, profile_id: str, profile: str, origin: Origin) -> AgentCapture:
        """An agent that comes into existence now: its opening row, and the one to record its entries with."""
        row = AgentRow(agent_id, profile_id, profile, origin)
        self.tell_agent(row)
        return AgentCapture(self, row)

    def deny_vision(self, model: str) -> None:
        """A provider refused an image: the model has no vision for the rest of the run (a second seed at the end)."""
        try:
            modalities = dict(self._seed.model_modalities)
            if modalities.get(model) != Modalities(vision=False):
                modalities[model] = Modalities(vision=False)
                self._seed, self._denied = msgspec.structs.replace(self._seed, model_modalities=modalities), True
        except Exception as error:
            self.broke(error)

    def finish(self) -> Captured:
        """Write the terminating line, once, and wait for the file; a disk that does not move is waited for 2 s."""
        with self._finishing:
            if self._captured is None:
                self._reseed()
                with self.lock:
                    self.idle = True
                    stopped = self.stopped
                    end = {"type": "end", "entries": self._entries}
                    landed_line = _encode(end if stopped is None else {**end, "truncation": stopped}) + b"\n"
                landed = self._sink.close(landed_line)
                if not landed:  # never "no failure": the journal may lack any number of lines
                    self._stopped = self._stopped or self._truncation("write_failed")
                    why = self._sink.failure or "the disk does not move"
                    _log.warning("%s: the journal is not known to be whole: %s", self.session_id, why)
                self._captured = Captured(self._entries, self.stopped, landed)
            return self._captured

    def tell_agent(self, row: AgentRow, *, is_root_end: bool = False) -> None:
        """Write a row of an agent; before the one that closes the root, the second seed where one is due."""
        if self.idle:
            return
        if is_root_end:
            self._reseed()
        try:
            line = b'{"type":"agent","agent":%b}\n' % _encode(checked(row, _row))
            with self.lock:
                self.queue(line)
        except BaseException as error:
            self.broke(error)

    def enter(self, agent: bytes, *payload: bytes) -> None:
        """Number an entry and queue it behind the bodies interned for it. Call it holding ``lock``.

        Args:
            agent: the agent's id as JSON.
            payload: pieces of the members from ``type`` on, without the closing brace.
        """
        head = b'{"type":"entry","entry":{"agentId":%b,"seq":%d,' % (agent, self._entries)
        if self.queue(b"".join((*self.pools.take_lines(), head, *payload, b"}}\n"))):
            self._entries += 1

    def queue(self, batch: bytes) -> bool:
        """Queue a batch, or stop capture when it does not fit or nobody takes it. Call it holding ``lock``."""
        if self.idle:
            return False
        if self._bytes + len(batch) > self._max_bytes:
            self._stop("byte_ceiling", f"the next {len(batch):,} bytes would pass the ceiling of {self._max_bytes:,}")
            return False
        if not self._sink.offer(batch):
            self._stop("write_failed", self._sink.failure or "the disk does not keep up: the queue is full")
            return False
        self._bytes += len(batch)
        return True

    def broke(self, error: BaseException) -> None:
        """Stop capture because of an error; only what was meant for the run itself, such as an interrupt, is raised."""
        self._stop("write_failed", worded(error))
        if not isinstance(error, Exception):
            raise error

    def _stop(self, reason: str, why: str) -> None:
        """For good. What was interned for the batch in hand is lost with it, so nothing may follow."""
        self.idle = True
        if self._stopped is None:
            self._stopped = self._truncation(reason)
            _log.warning(
                "%s: capture stopped (%s) after %d entries: %s; the run goes on",
                self.session_id,
                reason,
                self._entries,
                why,
            )

    def _truncation(self, reason: str) -> Truncation:
        last = self._entries - 1 if self._entries else None
        return Truncation(reason, last, self._bytes)  # type: ignore[arg-type]  # one of the two a recorder knows

    def _tell_seed(self) -> None:
        try:
            line = b'{"type":"seed","seed":%b}\n' % _encode_sorted(checked(self._seed, _seed))
            with self.lock:
                self.queue(line)
        except BaseException as error:
            self.broke(error)

    def _reseed(self) -> None:
        if self._denied and not self.idle:
            self._denied = False
            self._tell_seed()

    def abandon(self) -> None:
        """At the end of the interpreter: write what is queued of a capture that was not finished, and say so."""
        if self._captured is None and not self.idle:
            self.idle = True
            self._sink.drain()
            _log.warning("%s: the capture was not finished: its record will say session_killed", self.session_id)

    def forget_parent(self) -> None:
        """In a forked child: there is no thread here, and the journal is the parent's."""
        self.idle = True
        self.lock, self._finishing = threading.Lock(), threading.Lock()
        self._stopped = self._truncation("write_failed")
        self._captured = Captured(self._entries, self._stopped, landed=False)


def _ceiling(capability_set: Mapping[str, object]) -> int:
    limits = capability_set.get("limits") if isinstance(capability_set, Mapping) else None
    told = limits.get("replayMaxBytes") if isinstance(limits, Mapping) else None
    if isinstance(told, bool) or not isinstance(told, int | float) or not math.isfinite(told):
        return MAX_BYTES
    return int(told)


def _drain_unfinished() -> None:
    """A process that ends without `finish` leaves what it recorded, without a terminating line."""
    for writer in list(_open):
        writer.abandon()


def _forget_parents() -> None:
    for writer in list(_open):
        writer.forget_parent()


atexit.register(_drain_unfinished)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)
