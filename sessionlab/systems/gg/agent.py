"""What one agent consumed in, an entry a call; the entry's bytes out to the journal it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from sessionlab.formats.gg.records import (
    AgentRow,
    Cwd,
    Image,
    LimitHit,
    ModelFailure,
    Root,
    Workspace,
)
from sessionlab.systems.gg.lists import Told, WindowItem
from sessionlab.systems.gg.pooling import Body, Json, Text, Tools, checked, json_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sessionlab.systems.gg.writer import JournalWriter

_SHAPES = {"complete": b'"complete"', "complete_requiring": b'"complete_requiring"'}
_ORIGINS = {"tool": b'"tool"', "program": b'"program"', "hook": b'"hook"'}
_LIFTED = {"fileText": "contents", "shell": "body"}
"""The bulky string of each kind of facts that has one (1.10)."""
_U64_MAX = 2**64 - 1
_I32_MIN, _I32_MAX = -(2**31), 2**31 - 1
_WORKSPACE = Workspace()

_encode = msgspec.json.Encoder().encode
_failure = msgspec.json.Decoder(ModelFailure)
_image = msgspec.json.Decoder(Image)
_folder: msgspec.json.Decoder[Cwd] = msgspec.json.Decoder(Cwd)


class AgentCapture:
    """Records the entries of one agent. Nothing here raises for what happens to the capture; see `JournalWriter`."""

    __slots__ = ("_head", "_row", "_told", "_window", "_writer")

    def __init__(self, writer: JournalWriter, row: AgentRow) -> None:
        """Made by `JournalWriter.agent`."""
        self._writer, self._row = writer, row
        self._head = b""
        self._told = {"agent": Told(), "compaction": Told()}  # by role
        self._window = Told()
        try:
            self._head = json_bytes(row.agent_id)
        except Exception as error:
            writer.broke(error)

    def model_io(
        self,
        messages: Iterable[Json | Body],
        response: Json,
        *,
        tools: Sequence[Json] | Tools | None = None,
        role: Literal["agent", "compaction"] = "agent",
        shape: Literal["complete", "complete_requiring"] = "complete",
        duration_ms: float | None = None,
    ) -> None:
        """A model call and its reply (1.8): the whole conversation sent, in order, and the tools offered with it."""
        writer = self._writer
        if writer.idle:
            return
        try:
            reply = json_bytes(response)
            with writer.lock:
                request = self._request(messages, tools, role, shape)
                took = _duration(duration_ms)
                writer.enter(self._head, b'"type":"model_io","request":', *request, b',"response":', reply, took)
        except BaseException as error:
            writer.broke(error)

    def model_error(
        self,
        messages: Iterable[Json | Body],
        error: ModelFailure,
        *,
        tools: Sequence[Json] | Tools | None = None,
        role: Literal["agent", "compaction"] = "agent",
        shape: Literal["complete", "complete_requiring"] = "complete",
        duration_ms: float | None = None,
    ) -> None:
        """A model call that failed, and why (1.9)."""
        writer = self._writer
        if writer.idle:
            return
        try:
            why = _encode(checked(error, _failure))
            with writer.lock:
                request = self._request(messages, tools, role, shape)
                took = _duration(duration_ms)
                writer.enter(self._head, b'"type":"model_error","request":', *request, b',"error":', why, took)
        except BaseException as raised:
            writer.broke(raised)

    def tool_result(
        self,
        call_id: str,
        name: str,
        arguments: Json,
        *,
        ok: bool = True,
        output: str | bytes = "",
        summary: str | bytes | None = None,
        images: Sequence[Image] = (),
        data: Json = None,
        failure: Json = None,
        cwd: Cwd | None = None,
    ) -> None:
        """A tool call and what its dispatch returned (1.10).

        ``output`` is what was fed back to the model. The bulky string in ``data`` (``contents`` of ``fileText``,
        ``body`` of ``shell``) is lifted into the text pool.
        """
        writer = self._writer
        if writer.idle:
            return
        try:
            call = b'"call":{"id":%b,"name":%b,"arguments":%b' % (
                json_bytes(_word(call_id)), json_bytes(_word(name)), json_bytes(arguments),
            )  # fmt: skip
            if cwd is not None:
                call += b',"cwd":' + _encode(checked(cwd, _folder))
            fed = self._text(output, writer.tool_ceiling)
            told = None if summary is None else self._text(summary, None)
            facts, bulk = _lifted(data)
            lifted = None if bulk is None else self._text(bulk, writer.tool_ceiling)
            facts_told = b"" if facts is None else b',"data":' + json_bytes(facts)
            shown = b',"images":' + _encode([checked(one, _image) for one in images]) if images else b""
            why = b"" if failure is None else b',"failure":' + json_bytes(failure)
            with writer.lock:
                intern = writer.pools.intern_text
                outcome = b'"ok":%b,"output":%b' % (b"true" if ok else b"false", intern(fed))
                text = b"" if lifted is None else b',"dataText":' + intern(lifted)
                if told is not None:
                    outcome += b',"summary":' + intern(told)
                writer.enter(
                    self._head,
                    b'"type":"tool_result",%b},"outcome":{%b%b%b%b%b}' % (call, outcome, shown, facts_told, text, why),
                )
        except BaseException as error:
            writer.broke(error)

    def prompt_frame(self, items: Iterable[WindowItem]) -> None:
        """The agent's context window as it stood for the turn just recorded, in the order rendered (1.11)."""
        writer = self._writer
        if writer.idle:
            return
        try:
            with writer.lock:
                told = self._window.items(items, writer.pools)
                writer.enter(self._head, b'"type":"prompt_frame","items":[', told, b"]")
        except BaseException as error:
            writer.broke(error)

    def shell(
        self,
        command: str,
        *,
        origin: Literal["tool", "program", "hook"] = "tool",
        cwd: Cwd = _WORKSPACE,
        exit_code: int = 0,
        stdout: str | bytes = "",
        stderr: str | bytes = "",
    ) -> None:
        """A shell command gg ran: for the model's tool, for its program, or for a hook (1.12)."""
        self._command(origin, command, cwd, exit_code, stdout, stderr)

    def git(
        self,
        command: str,
        *,
        cwd: Cwd = _WORKSPACE,
        exit_code: int = 0,
        stdout: str | bytes = "",
        stderr: str | bytes = "",
    ) -> None:
        """A git command of gg's own orchestration (1.12)."""
        self._command(None, command, cwd, exit_code, stdout, stderr)

    def cancel_probe(self, canceled: bool) -> None:
        """A look at the cancel file (1.13)."""
        self._plain(lambda: b'"type":"cancel_probe","canceled":%b' % (b"true" if canceled else b"false"))

    def clock(self, elapsed_ms: float, remaining_ms: float | None = None) -> None:
        """A look at the clock: since the session began, and until its ceiling where there is one (1.13)."""
        self._plain(
            lambda: b'"type":"clock","elapsedMs":%d%b' % (
                _count(elapsed_ms),
                b"" if remaining_ms is None else b',"remainingMs":%d' % _count(remaining_ms),
            )
        )  # fmt: skip

    def end(self, status: Literal["done", "failed"], *, limit_hit: LimitHit | None = None) -> None:
        """The agent's loop has ended: its closing row, which replaces the opening one (1.4)."""
        closing = msgspec.structs.replace(self._row, terminal_status=status, limit_hit=limit_hit)
        self._writer.tell_agent(closing, is_root_end=isinstance(self._row.origin, Root))

    def _request(
        self, messages: Iterable[Json | Body], tools: Sequence[Json] | Tools | None, role: str, shape: str
    ) -> tuple[bytes, bytes, bytes]:
        """A request as JSON, in three pieces (1.7); an empty list of tools is none."""
        pools = self._writer.pools
        told, made = self._told[role], _SHAPES[shape]
        head = b'{"role":"%b","shape":%b,"messages":[' % (role.encode(), made)
        sent = told.messages(messages, pools)
        if tools is None or (type(tools) is not Tools and len(tools) == 0):  # type: ignore[arg-type]
            return head, sent, b"]}"
        return head, sent, b'],"toolset":%b}' % pools.intern_toolset(tools)

    def _command(
        self, origin: str | None, command: str, cwd: Cwd, exit_code: int, stdout: str | bytes, stderr: str | bytes
    ) -> None:
        writer = self._writer
        if writer.idle:
            return
        try:
            if type(exit_code) is not int or not _I32_MIN <= exit_code <= _I32_MAX:
                raise ValueError(f"exit code {exit_code!r}: expected a whole number of 32 bits")  # noqa: TRY301
            head = b'"type":"git"' if origin is None else b'"type":"shell","origin":%b' % _ORIGINS[origin]
            line = json_bytes(_word(command))
            folder = b'{"type":"workspace"}' if cwd is _WORKSPACE else _encode(checked(cwd, _folder))
            out = self._text(stdout, writer.stream_ceiling)
            err = self._text(stderr, writer.stream_ceiling)
            with writer.lock:
                intern = writer.pools.intern_text
                writer.enter(
                    self._head,
                    b'%b,"command":{"command":%b,"cwd":%b,"exitCode":%d,"stdout":%b,"stderr":%b}'
                    % (head, line, folder, exit_code, intern(out), intern(err)),
                )
        except BaseException as error:
            writer.broke(error)

    def _plain(self, payload: Callable[[], bytes]) -> None:
        writer = self._writer
        if writer.idle:
            return
        try:
            with writer.lock:
                writer.enter(self._head, payload())
        except BaseException as error:
            writer.broke(error)

    def _text(self, text: str | bytes, ceiling: int | None) -> Text:
        return self._writer.pools.take_text(text if isinstance(text, str) else text.decode(errors="replace"), ceiling)


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, found {value!r}")
    return value


def _count(value: float) -> int:
    """Milliseconds as a u64; a fraction of one is dropped."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected milliseconds, found {value!r}")
    count = int(value)
    if not 0 <= count <= _U64_MAX:
        raise ValueError(f"{value!r} ms: expected 0 to 2^64 - 1")
    return count


def _duration(duration_ms: float | None) -> bytes:
    return b"" if duration_ms is None else b',"durationMs":%d' % _count(duration_ms)


def _lifted(data: Json) -> tuple[Json, str | None]:
    """The facts without their bulky string, and that string; None where there is none to lift."""
    if isinstance(data, dict):
        member = _LIFTED.get(data.get("kind", ""))
        facts = data.get("data")
        if member is not None and isinstance(facts, dict) and isinstance(bulk := facts.get(member), str):
            return {**data, "data": {**facts, member: ""}}, bulk
    return data, None
