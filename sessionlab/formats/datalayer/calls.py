"""Tool calls of one session: its `tool_call`, `decision` and `approval` entries go in, one `ToolCall` each comes out.

An agent's own tool is one entry with arguments and result. A harness tells one action in several entries that share a
`tool_call_id`, and a terminal's exit by its `terminal_id` alone (datalayer.md section 11). A call that was refused may
stand in the record only as the decision or approval that refused it: then that entry is the call.
"""

from __future__ import annotations

import msgspec

from sessionlab.tables import ToolCall

NOT_OFFERED = frozenset({"left_out", "not_connected"})
"""Reasons of a decision about offering a tool at all: no call was made."""


class Told(msgspec.Struct, frozen=True):
    """One entry about a call, as its row has it."""

    seq: int
    line: int
    run: int | None
    at: int | None
    name: str | None
    call_id: str | None
    status: str | None
    reason: str | None
    exit_code: int | None = None


class _Call(msgspec.Struct):
    seq: int
    line: int
    run: int | None
    call_id: str | None
    name: str | None
    caller: str | None
    called_at: int | None
    status: str | None = None
    refused_by: str | None = None
    reason: str | None = None
    exit_code: int | None = None
    arguments: str | None = None
    output_ix: int | None = None
    output_block: int | None = None
    result_seq: int | None = None
    returned_at: int | None = None
    recorded: bool = True  # False: only a decision or an approval tells of it so far


class Calls:
    """The calls of one session so far."""

    def __init__(self) -> None:
        self._all: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_terminal: dict[str, _Call] = {}
        self._refused: dict[str | None, _Call] = {}  # by tool: refused and not followed by its tool_call entry
        self._asked: dict[str | None, Told] = {}  # by tool: put before a person

    def forget_ids(self) -> None:
        """Another process or harness takes over: it numbers its actions anew."""
        self._by_id.clear()
        self._by_terminal.clear()
        self.forget_open()

    def forget_open(self) -> None:
        """A run begins or ends: no call of the one before is still being decided."""
        self._refused.clear()
        self._asked.clear()

    def earlier(self, told: Told, terminal: str | None, *, is_exit: bool) -> _Call | None:
        """The call that ``told`` goes on with, when an entry before told of it."""
        if told.call_id is not None:
            call = self._by_id.get(told.call_id)
            return call if call is not None and call.recorded else None
        return self._by_terminal.get(terminal) if is_exit and terminal is not None else None

    def tell(
        self,
        told: Told,
        *,
        earlier: _Call | None,
        terminal: str | None,
        arguments: str | None,
        output_ix: int | None,
        output_block: int | None,
    ) -> None:
        """A `tool_call` entry: the call itself, or more about an ``earlier`` one."""
        call = earlier or self._begun(told)
        if earlier is not None or told.status is not None:
            call.result_seq, call.returned_at = told.seq, told.at
        if told.status is not None and not (call.status == "refused" and told.status == "failed"):
            call.status, call.refused_by = told.status, None
            call.reason = told.reason
        call.name = call.name or told.name
        call.exit_code = call.exit_code if told.exit_code is None else told.exit_code
        call.arguments = call.arguments if arguments is None else arguments
        if output_block is not None:
            call.output_ix, call.output_block = output_ix, output_block
        if told.call_id is not None:
            self._by_id[told.call_id] = call
        if terminal is not None:
            self._by_terminal.setdefault(terminal, call)

    def decide(self, told: Told) -> None:
        """A `decision` entry, its status `ok`, `asked`, `refused` or None."""
        self._refused.pop(told.name, None)
        self._asked.pop(told.name, None)
        if told.status == "asked":
            self._asked[told.name] = told
        elif told.status == "refused" and (told.call_id is not None or told.reason not in NOT_OFFERED):
            self._refuse(told, told, by="policy")

    def approve(self, told: Told) -> None:
        """An `approval` entry, its status `ok`, `refused`, `unanswered` or None."""
        asked = self._asked.pop(told.name, told)
        if told.status == "refused":
            self._refuse(asked, told, by="person")
        elif told.status == "unanswered":
            self._refuse(asked, told, by=None)

    def rows(self, session_id: str) -> list[ToolCall]:
        """The calls in the order of their entries."""
        return [
            ToolCall(
                session_id=session_id, seq=c.seq, line=c.line, result_seq=c.result_seq, call_id=c.call_id, run=c.run,
                name=c.name, caller=c.caller, arguments=c.arguments,
                output_pool=None if c.output_ix is None else "text", output_ix=c.output_ix,
                output_block=c.output_block, status=c.status, refused_by=c.refused_by, reason=c.reason,
                exit_code=c.exit_code, called_at=c.called_at, returned_at=c.returned_at,
            )
            for c in sorted(self._all, key=lambda c: c.seq)
        ]  # fmt: skip

    def _begun(self, told: Told) -> _Call:
        known = self._by_id.get(told.call_id) if told.call_id is not None else None
        refused = self._refused.pop(told.name, None)
        if refused is not None:
            other = told.call_id is not None and refused.call_id is not None and told.call_id != refused.call_id
            if other or told.status == "ok":
                refused = None  # another call of the same tool
        call = known or refused
        if call is not None:  # refused before: its own entry has come after all, and is the call
            call.seq, call.line, call.recorded = told.seq, told.line, True
            call.call_id = call.call_id or told.call_id
            return call
        caller = "model" if told.call_id is None else None
        call = _Call(told.seq, told.line, told.run, told.call_id, told.name, caller, told.at)
        self._all.append(call)
        return call

    def _refuse(self, origin: Told, told: Told, *, by: str | None) -> None:
        call_id = told.call_id or origin.call_id
        begun = self._by_id.get(call_id) if call_id is not None else None
        if begun is not None:
            begun.status, begun.refused_by, begun.reason = told.status, by, told.reason
            begun.result_seq, begun.returned_at = told.seq, told.at
            return
        call = _Call(origin.seq, origin.line, origin.run, call_id, told.name, None, origin.at, recorded=False)
        call.status, call.refused_by, call.reason = told.status, by, told.reason
        call.result_seq, call.returned_at = told.seq, told.at
        self._all.append(call)
        self._refused[told.name] = call
        if call_id is not None:
            self._by_id[call_id] = call
