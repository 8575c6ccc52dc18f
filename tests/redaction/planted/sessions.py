"""Planted secrets and clean values in, session files of all four formats out, each with its share of both."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from sessionlab.systems import gg, mecha
from tests.formats import claude_code_lines as claude
from tests.formats import datalayer_files as datalayer
from tests.redaction.planted.clean import Clean
from tests.redaction.planted.contexts import FORMATS, QUESTION, RESULT, Planted

START = datetime(2026, 10, 3, 8, tzinfo=UTC)
ARGUMENTS = 340
"""So many characters of clean values one tool call takes as its arguments."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, of which format, and what of the planted is in it."""

    path: Path
    format: str
    planted: tuple[Planted, ...]
    clean: tuple[Clean, ...]


@dataclass
class _Turn:
    """A question, a tool call with its result, an answer."""

    question: str = "And now?"
    answer: str = "Done."
    tool: str = "keep"
    arguments: dict[str, object] = field(default_factory=lambda: {"berth": 7})
    result: str = "ok"


def write_sessions(folder: Path, planted: Iterable[Planted], clean: Sequence[Clean]) -> list[Written]:
    """Write them all below ``folder``, a folder for each format: the clean values are dealt out evenly."""
    planted = list(planted)
    written: list[Written] = []
    for at, name in enumerate(FORMATS):
        mine = [one for one in planted if one.format == name]
        titles = [one for one in mine if one.carrier == "title"]
        others = [one for one in mine if one.carrier != "title"]
        kept = clean[at :: len(FORMATS)]
        for i, title in enumerate(titles):
            share, values = others[i :: len(titles)], kept[i :: len(titles)]
            turns = [*map(_turn, share), *_clean_turns(values)]
            place = folder / name
            place.mkdir(parents=True, exist_ok=True)
            path = _WRITERS[name](place, i, str(title.content), turns)
            written.append(Written(path, name, (title, *share), tuple(values)))
    return written


def _turn(one: Planted) -> _Turn:
    """The turn that holds one planted secret."""
    if one.carrier == "command":
        return _Turn(tool="Bash", arguments={"command": one.content})
    return _Turn(**{one.carrier: one.content})  # type: ignore[arg-type]


def _clean_turns(values: Sequence[Clean]) -> Iterator[_Turn]:
    """The turns that hold clean values: some in each part, as many as fit."""
    left = [one.value for one in values]
    while left:
        question = _lines(left, QUESTION)
        held: dict[str, object] = {"lines": _fitting(left, ARGUMENTS)}
        result = _lines(left, RESULT)
        yield _Turn(question or "And now?", _lines(left, QUESTION) or "Done.", "keep", held, result or "ok")


def _lines(left: list[str], limit: int) -> str:
    return "\n".join(f"- {value}" for value in _fitting(left, limit))


def _fitting(left: list[str], limit: int) -> list[str]:
    """Take values from the front as long as they fit."""
    size, count = 0, 0
    for value in left:
        size += len(value) + 5
        if size >= limit:
            break
        count += 1
    taken = list(islice(left, count))
    del left[:count]
    return taken


def _gg(folder: Path, i: int, title: str, turns: list[_Turn]) -> Path:
    """A journal, of every third session the assembled record instead: the title is the first question."""
    model = "gale/tern-1"
    writer = gg.JournalWriter(
        folder / f"run-{i}",
        session_id=f"run-{i}",
        capability_set={"agents": [{"slug": "root", "name": "Root", "modelId": model}]},
        seed=gg.Seed(prompt="Keep the harbour."),
        recorder=gg.Recorder(gg_version="0.9.1"),
    )
    root = writer.agent("root", profile_id="root", profile="Root", origin=gg.Root())
    usage = {"uncachedInput": 3, "cachedInput": None, "output": 2, "reasoning": None}
    told: list[Any] = []
    for n, turn in enumerate([_Turn(title), *turns]):
        call_id = f"call-{n}"
        call = {"id": call_id, "name": turn.tool, "arguments": turn.arguments}
        told.append({"role": "user", "content": turn.question})
        root.model_io(told, {"text": "", "toolCalls": [call], "usage": usage})
        if turn.tool == "Bash":
            root.shell(str(turn.arguments["command"]), exit_code=0, stdout=turn.result)
        root.tool_result(call_id, turn.tool, turn.arguments, output=turn.result)
        told.append({"role": "assistant", "content": "", "toolCalls": [call]})
        told.append({"role": "tool", "content": turn.result, "toolCallId": call_id})
        root.model_io(told, {"text": turn.answer, "toolCalls": [], "usage": usage})
        told.append({"role": "assistant", "content": turn.answer})
    root.end("done")
    captured = writer.finish()
    assert captured.landed
    assert captured.truncation is None
    journal = folder / f"run-{i}" / ".gg" / "replay.ndjson"
    if i % 3 != 2:
        return journal
    record = folder / f"run-{i}" / "replay.json.gz"
    gg.assemble(journal, record)
    journal.unlink()
    return record


def _mecha(folder: Path, i: int, title: str, turns: list[_Turn]) -> Path:
    """A transcript: the title is given at the beginning, or later by a person."""
    writer = mecha.TranscriptWriter.create(
        mecha.Store(folder),
        provider="shore",
        model="plover-3",
        workspace="/srv/harbour",
        title=title if i % 2 else "Harbour",
        clock=lambda: START + timedelta(minutes=i),
        random=lambda: uuid.UUID(int=(i + 1) << 96),
    )
    told: list[dict[str, object]] = []
    for n, turn in enumerate(turns):
        use = {"type": "tool_use", "id": f"call-{n}", "name": turn.tool, "input": turn.arguments}
        back = {"type": "tool_result", "tool_use_id": f"call-{n}", "content": turn.result}
        for role, block in (
            ("user", {"type": "text", "text": turn.question}),
            ("assistant", use),
            ("user", back),
            ("assistant", {"type": "text", "text": turn.answer}),
        ):
            told.append({"role": role, "content": [block]})
    writer.record(told)
    if i % 2 == 0:
        writer.rename(title)
    assert writer.path is not None
    return writer.path


def _claude_code(folder: Path, i: int, title: str, turns: list[_Turn]) -> Path:
    """A session file whose title a model or a person gave."""
    session = str(uuid.UUID(int=0x4B5A_4697 << 96 | 4 << 76 | 8 << 60 | i))
    line = claude.line("ai-title", aiTitle=title) if i % 2 else claude.line("custom-title", customTitle=title)
    lines = [line]
    for n, turn in enumerate(turns):
        told = claude.tokens(12, 0, 0, 7)
        lines += [
            claude.prompt(turn.question),
            claude.reply(f"msg_{i}_{n}a", claude.call(f"call-{n}", turn.tool, **turn.arguments), usage=told),
            claude.result(f"call-{n}", turn.result),
            claude.reply(f"msg_{i}_{n}b", claude.said(turn.answer), usage=told, stop="end_turn"),
        ]
    for n, one in enumerate(lines):
        at = START + timedelta(minutes=i, seconds=n)
        one |= {"sessionId": session, "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.000Z", "version": "2.1.217"}
        one["uuid"] = str(uuid.UUID(int=i << 32 | n | 4 << 76 | 8 << 60))
    path = folder / f"{session}.jsonl"
    path.write_bytes(claude.joined(*lines))
    return path


def _datalayer(folder: Path, i: int, title: str, turns: list[_Turn]) -> Path:
    """A session file: calls as an agent's tools, as hand-made records and as a harness's actions tell them."""
    entries = [datalayer.entry("session", app={"id": "harbor", "version": 3}, state="open", agent="surveyor")]
    for n, turn in enumerate(turns):
        command = turn.arguments.get("command") if turn.tool == "Bash" else None
        call: dict[str, object]
        if command is not None:
            call = {"tool": "terminal", "tool_call_id": f"call-{n}", "status": "completed", "command": command}
        elif n % 2:
            call = {"tool": turn.tool, "arguments": str(turn.arguments), "result": turn.result}
        else:
            call = {"name": turn.tool, "input": turn.arguments, "result": turn.result}
        entries += [
            datalayer.entry("run"),
            datalayer.entry("tool_call", **call),
            datalayer.entry("turn", asked=turn.question, answered=turn.answer, suggest_tests=False),
            datalayer.entry("output", status="answered", ended_at=datalayer.AT),
        ]
    entries.append(datalayer.entry("titled", title=title, archived=False))
    uid = f"planted-{i:04}"
    head = datalayer.head(uid=uid, title=title, turns=len(turns), entries=len(entries))
    path = folder / f"{uid}.session.jsonl"
    path.write_bytes("".join(json.dumps(one) + "\n" for one in (head, *entries)).encode())
    return path


_WRITERS: dict[str, Callable[[Path, int, str, list[_Turn]], Path]] = {
    "gg": _gg,
    "mecha": _mecha,
    "claude_code": _claude_code,
    "datalayer": _datalayer,
}
