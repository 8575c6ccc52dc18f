"""The file being read: the place of the current record, the counters of its pools, and the rows made so far."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import msgspec

from sessionlab.formats._values import compact, micros
from sessionlab.formats.codex.members import Members, Notes
from sessionlab.formats.codex.thread import ROOT, Opening, Thread
from sessionlab.formats.recording import Recording, digest63
from sessionlab.tables import Agent, Block, Config, Entry, Link, Pool, Problem, Row

DETAIL_BYTES = 1000
"""Longest JSON text that `detail` keeps; what is longer becomes a body."""


class Log:
    """The file being read; ``out`` is what the reader gives out and empties after each record."""

    def __init__(self, recording: Recording, native_id: str | None) -> None:
        self.bodies, self.figures = recording.bodies, recording.figures
        self.source_id = recording.source_id
        self.out: list[Row] = []
        self.seq = -1
        self.number = self.offset = self.length = 0
        self.messages = self.texts = 0
        self.at: int | None = None
        self.kind = ""
        self.payload = b""
        self.is_copy = False
        self.zoneless = False
        self.digest: int | None = None
        self.threads: dict[str | None, Thread] = {}
        opening = Opening()
        opening.native_id = native_id
        self.thread = Thread(opening, self.source_id)
        self.legacy = False

    def time(self, stamp: str | None, notes: Notes) -> int | None:
        """A recorded time; one without a zone is taken for UTC, noted once a file."""
        at = micros(stamp)
        if at is not None or stamp is None:
            return at
        at = micros(stamp, assume=UTC) if ":" in stamp else None
        if at is None:
            notes.append(("bad_time", f"timestamp {stamp[:40]!r} is no time; read as null"))
        elif not self.zoneless:
            self.zoneless = True
            notes.append(("time_without_zone", f"timestamp {stamp[:40]!r} names no zone; UTC is assumed in this file"))
        return at

    def enter(self) -> None:
        """The current record belongs to the current thread."""
        thread = self.thread
        if thread.entries == 0 and thread.native_id not in self.threads:
            self.threads[thread.native_id] = thread
        thread.entries += 1
        self.is_copy = thread.replaying
        self.digest = None
        at = self.at
        if at is not None:
            thread.last_at = at
            thread.created_at = min(thread.created_at, at)
            thread.ended_at = max(thread.ended_at, at)
        if thread.agent_row is None:
            self.agent()

    def agent(self, **told: Any) -> None:  # noqa: ANN401 (columns of an Agent row)
        """The `Agent` row of the thread, when it is new or ``told`` says something new of it."""
        thread, opening = self.thread, self.thread.opening
        row = thread.agent_row
        if row is None:
            if thread.is_agent:
                under_root = opening.parent_id == thread.session_native
                columns: dict[str, Any] = {
                    "origin": "spawn",
                    "parent_agent_id": ROOT if under_root else opening.parent_id,
                    "depth": opening.depth or (1 if under_root else None),
                    "profile_id": opening.agent_role or opening.subagent,
                    "profile": opening.agent_nickname,
                    "detail": compact({"forked_from": opening.forked_from}) if opening.forked_from else None,
                }
            else:
                columns = {"origin": "root", "depth": 0}
            row = Agent(session_id=thread.session_id, agent_id=thread.agent_id, **columns)
        elif all(getattr(row, name) == value for name, value in told.items()):
            return
        thread.agent_row = msgspec.structs.replace(row, seq=self.seq, line=self.number, **told)
        self.out.append(thread.agent_row)

    def record_id(self) -> int | None:
        """The current record wherever it was copied; null in a file that names no thread.

        It is told by its thread, type and payload, without the stamp, and by which of equal ones it is.
        """
        thread = self.thread
        if thread.scope is None:
            return None
        if self.digest is None:
            base = digest63(b"\0".join((thread.scope.encode(), self.kind.encode(), self.payload)))
            nth = thread.records.get(base, 0) + 1
            thread.records[base] = nth
            self.digest = base if nth == 1 else digest63(f"{base}/{nth}")
        return self.digest

    def entry(self, kind: str, native_kind: str, *, figure: bool = False, **columns: Any) -> None:  # noqa: ANN401
        """Give out the entry of the current record; a load of figures keeps copies and those a ``figure`` names."""
        if self.figures and not figure and not self.is_copy:
            return
        thread = self.thread
        self.out.append(
            Entry(
                session_id=thread.session_id,
                seq=self.seq,
                line=self.number,
                agent_id=thread.agent_id,
                record_id=self.record_id(),
                is_copy=self.is_copy,
                kind=kind,
                native_kind=native_kind,
                run=columns.pop("run", thread.run),
                epoch=thread.epoch,
                recorded_at=self.at,
                **columns,
            )
        )

    def link(self, relation: str, native_id: str, at_run: int | None = None) -> None:
        """The current thread's session comes from another one."""
        self.out.append(
            Link(
                session_id=self.thread.session_id,
                seq=self.seq,
                line=self.number,
                relation=relation,
                other_session_id=f"codex:{native_id}",
                at_run=at_run,
            )
        )

    def configure(self) -> None:
        """A `Config` row when something in force has changed."""
        if self.figures:
            return
        thread = self.thread
        now = (
            thread.provider, thread.model, thread.effort, thread.window_tokens, thread.approval, thread.sandbox,
            thread.workspace, thread.branch, thread.version, thread.system_ix,
        )  # fmt: skip
        if now == thread.configured:
            return
        thread.configured = now
        self.out.append(
            Config(
                session_id=thread.session_id,
                seq=self.seq,
                line=self.number,
                agent_id=thread.agent_id,
                provider=thread.provider,
                model=thread.model,
                effort=thread.effort,
                window_tokens=thread.window_tokens,
                permission_mode=thread.approval,
                sandbox=thread.sandbox,
                workspace=thread.workspace,
                branch=thread.branch,
                recorder_version=thread.version,
                system_ix=thread.system_ix,
            )
        )

    def text(self, text: str | None, name: str) -> int:
        """Put a text aside as a body of the `text` pool; its index there. Numbered with or without bodies."""
        ix = self.texts
        self.texts += 1
        if self.bodies:
            session_id, line, body = self.thread.session_id, self.number, text or ""
            self.out += [
                Pool(session_id=session_id, line=line, pool="text", ix=ix, body_bytes=len(body.encode())),
                Block(
                    session_id=session_id, line=line, pool="text", ix=ix, block=0, kind="extra", name=name, text=body
                ),
            ]
        return ix

    def kept(self, members: Members | None, **told: object) -> str | None:
        """`detail` of ``told`` and of what no column took; a rest that is long becomes a body, named by `rest_ix`."""
        found = {name: value for name, value in told.items() if value is not None}
        rest = members.rest() if members is not None and members.raws else None
        if rest is not None:
            if sum(len(memoryview(raw)) + len(name) for name, raw in rest.items()) > DETAIL_BYTES:
                found["rest_ix"] = self.text(compact(rest) if self.bodies else None, "rest")
            else:
                found["rest"] = rest
        return compact(found) if found else None

    def notes(self, notes: Notes) -> None:
        """`Problem` rows for what was changed to read the current record."""
        for kind, words in notes:
            self.out.append(
                Problem(
                    session_id=self.thread.session_id,
                    seq=self.seq,
                    line=self.number,
                    byte_offset=self.offset,
                    byte_length=self.length,
                    kind=kind,
                    severity="note",
                    detail=words,
                )
            )
