"""A replay as it happens in; its own recording out: a mecha transcript, or a gg capture journal.

A recorded replay is a session like any other: it can be loaded, compared, and replayed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from sessionlab.errors import ModelFailed, SessionlabError
from sessionlab.formats.mecha.wire import Image, Message, Outcome, ToolResult, ToolUse
from sessionlab.replay.model import Reply, Settings
from sessionlab.replay.observer import Observer
from sessionlab.replay.rebuilding import Plan
from sessionlab.replay.trajectory import text_of
from sessionlab.systems import gg
from sessionlab.systems.mecha.store import Store
from sessionlab.systems.mecha.surfaces import ToolDefinition, fingerprint
from sessionlab.systems.mecha.writer import TranscriptWriter

KIND = "experiment"
"""The front end a replay's transcript names: figures about real work leave it out."""
RECORDER = "sessionlab"


class TranscriptRecorder(Observer):
    """Writes a replay as a transcript of a session directory, one run after each user turn.

    A replay that is broken off leaves its messages, and neither a summary nor an outcome of the run that was going on.

    Attributes:
        path: the transcript; None before the replay begins.
    """

    def __init__(self, folder: Path) -> None:
        """Into the session directory ``folder``, which is made owner-only where it is missing."""
        self._folder = folder
        self._writer: TranscriptWriter | None = None
        self.path: Path | None = None

    def began(self, plan: Plan) -> None:
        """Begin a session whose configuration is the one that is really used."""
        setup = plan.setup
        config = msgspec.structs.replace(
            plan.config,
            mecha_version=RECORDER,
            provider=plan.provider,
            model=plan.settings.model,
            tools=tuple(plan.surface),
            tools_hash=fingerprint(plan.definitions),
            temperature=plan.settings.temperature,
            seed=plan.settings.seed,
            permission_mode=setup.permission_mode,
            trifecta=setup.trifecta,
            sandbox="none",
            sandbox_network=False,
        )
        self._writer = TranscriptWriter.create(
            Store(self._folder),
            provider=plan.provider,
            model=plan.settings.model,
            workspace=plan.config.workspace,
            title=f"replay {plan.session}",
            kind=KIND,
            config=config,
        )
        self.path = self._writer.path

    def run_ended(self, messages: Sequence[Message], replaced: Sequence[Sequence[Message]], outcome: Outcome) -> None:
        """Write the run: its messages, what had been read, its figures."""
        if self._writer is not None:
            self._writer.record(messages, replaced)
            self._writer.finish(outcome)

    def ended(self, messages: Sequence[Message], replaced: Sequence[Sequence[Message]], *, whole: bool) -> None:
        """Write what was said in a run that was broken off; what broke it off is told by whoever raised it."""
        if self._writer is not None and not whole:
            with suppress(SessionlabError, OSError):
                self._writer.record(messages, replaced)


_FINISHES = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
_FAILURES: Mapping[str, Literal["fatal", "retry_exhausted", "parse", "timeout"]] = {
    "timeout": "timeout",
    "unreachable": "retry_exhausted",
    "fatal": "fatal",
    "retry_exhausted": "retry_exhausted",
    "parse": "parse",
}


class JournalRecorder(Observer):
    """Writes a replay as a gg capture journal, ``.gg/replay.ndjson`` of a folder: every request, reply and result.

    Attributes:
        captured: what became of the capture; None before the replay has ended.
    """

    def __init__(self, folder: Path) -> None:
        """Into ``folder``, which is made where it is missing."""
        self._folder = folder
        self._writer: gg.JournalWriter | None = None
        self._agent: gg.AgentCapture | None = None
        self.captured: gg.Captured | None = None

    @property
    def path(self) -> Path:
        """The journal."""
        return self._folder / gg.JOURNAL

    def began(self, plan: Plan) -> None:
        """Begin a journal with one root agent."""
        self._folder.mkdir(parents=True, exist_ok=True)
        turns: list[object] = []
        profile = {
            "slug": "root",
            "name": "Root",
            "capabilities": turns,
            "modelId": plan.settings.model,
            "openingTurn": {"modules": [], "functions": []},
        }
        self._writer = gg.JournalWriter(
            self._folder,
            session_id=f"replay-{plan.session}",
            capability_set={"agents": [profile]},
            seed=gg.Seed(prompt=plan.recorded.turns[0] if plan.recorded.turns else ""),
        )
        self._agent = self._writer.agent("root", profile_id="root", profile="Root", origin=gg.Root())

    def replied(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition],
        settings: Settings,
        reply: Reply,
        took_ms: int,
    ) -> None:
        """Write a request and its reply."""
        if self._agent is not None:
            self._agent.model_io(
                _bodies(messages, settings),
                _response(reply),
                tools=_tools(tools),
                role="compaction" if settings.purpose == "compaction" else "agent",
                duration_ms=took_ms,
            )

    def failed(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition],
        settings: Settings,
        error: ModelFailed,
        took_ms: int,
    ) -> None:
        """Write a request that got no reply."""
        if self._agent is not None:
            status = error.status if error.kind == "fatal" else None
            failure = gg.ModelFailure(_FAILURES.get(error.kind, "fatal"), str(error), status)
            role: Literal["agent", "compaction"] = "compaction" if settings.purpose == "compaction" else "agent"
            self._agent.model_error(
                _bodies(messages, settings), failure, tools=_tools(tools), role=role, duration_ms=took_ms
            )

    def called(self, use: ToolUse, told: str, is_error: bool) -> None:
        """Write a call and what it was answered with."""
        if self._agent is not None:
            self._agent.tool_result(use.id, use.name, use.input, ok=not is_error, output=told)

    def ended(self, messages: Sequence[Message], replaced: Sequence[Sequence[Message]], *, whole: bool) -> None:  # noqa: ARG002
        """Close the journal."""
        if self._agent is not None and self._writer is not None:
            self._agent.end("done" if whole else "failed")
            self.captured = self._writer.finish()


def _bodies(messages: Sequence[Message], settings: Settings) -> list[dict[str, object]]:
    """The conversation as gg keeps it (gg 1.16): one body for each result, and one for what is said beside them."""
    system = [] if settings.system_prompt is None else [_said("system", settings.system_prompt)]
    return [*system, *(body for message in messages for body in _message(message))]


def _message(message: Message) -> list[dict[str, object]]:
    text = text_of(message)
    if message.role == "assistant":
        calls = [_call(block) for block in message.content if isinstance(block, ToolUse)]
        return [{**_said("assistant", text), **({"toolCalls": calls} if calls else {})}]
    bodies: list[dict[str, object]] = [
        {"role": "tool", "toolCallId": block.tool_use_id, "content": block.content}
        for block in message.content
        if isinstance(block, ToolResult)
    ]
    images = [
        {
            "mediaType": block.media_type,
            "dataBase64": block.data,
            "bytes": len(block.data) * 3 // 4 - block.data[-2:].count("="),
        }
        for block in message.content
        if isinstance(block, Image)
    ]
    if text or images:
        bodies.append({**_said("user", text), **({"images": images} if images else {})})
    return bodies


def _said(role: str, text: str) -> dict[str, object]:
    return {"role": role, **({"content": text} if text else {})}


def _call(use: ToolUse) -> dict[str, object]:
    return {"id": use.id, "name": use.name, "arguments": use.input}


def _tools(tools: Sequence[ToolDefinition]) -> list[dict[str, object]]:
    return [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in tools]


def _response(reply: Reply) -> dict[str, object]:
    usage: dict[str, int | None] = dict.fromkeys(("uncachedInput", "cachedInput", "output", "reasoning"))
    if reply.usage is not None:
        usage |= {
            "uncachedInput": reply.usage.input_tokens + reply.usage.cache_creation_input_tokens,
            "cachedInput": reply.usage.cache_read_input_tokens,
            "output": reply.usage.output_tokens,
        }
    response: dict[str, object] = {
        "toolCalls": [_call(use) for use in reply.calls],
        "finishReason": _FINISHES.get(reply.finish, {"other": reply.finish}),
        "usage": usage,
    }
    return {**response, "text": reply.text} if reply.text else response
