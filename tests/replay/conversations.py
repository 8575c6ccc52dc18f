"""Conversations of mecha written in a few words, and transcripts drawn at random: what the tests of replay share."""

from __future__ import annotations

import io
import json
import random
from typing import Any

from sessionlab.formats.mecha.loading import Transcript, load
from sessionlab.formats.recording import Recording
from sessionlab.replay import Call, RecordedCall
from tests.formats.mecha_lines import META, call, line, message, result, said

Json = dict[str, Any]


def transcript(*lines: bytes, header: Json = META) -> Transcript:
    """What loading these lines behind a header gives."""
    data = b"".join(one + b"\n" for one in (line(**header), *lines))
    return load(Recording(io.BytesIO(data), uri="mem:x", format="mecha"))


def u(*blocks: Any, **members: Any) -> bytes:
    """A message in the user role."""
    return message("user", *blocks, **members)


def a(*blocks: Any, **members: Any) -> bytes:
    """A message of the assistant."""
    return message("assistant", *blocks, **members)


def recorded(*calls: tuple[Any, ...]) -> list[RecordedCall]:
    """Recorded calls of (name, input, batch); without a batch they have none."""
    return [RecordedCall(name, given, batch=more[0] if more else None) for name, given, *more in calls]


def made(*calls: tuple[str, Any]) -> list[Call]:
    """Calls as a replay makes them."""
    return [Call(name, given) for name, given in calls]


def drawn(rng: random.Random, native_id: str) -> list[bytes]:
    """The lines of a random transcript: calls, results in any order, ids that repeat, rewrites and extensions."""
    lines = [line(**{**META, "id": native_id})]
    now: list[Json] = []
    asked: list[str] = []
    for _ in range(rng.randrange(30)):
        how = rng.choices(
            ["user", "assistant", "results", "rewrite", "extend", "taint", "broken"], [3, 6, 6, 2, 2, 1, 1]
        )
        kind = how[0]
        if kind in ("user", "assistant", "results"):
            one = _message(rng, kind, asked)
            now.append(one)
            lines.append(line(record="message", **one))
        elif kind == "rewrite":
            now = _rewritten(rng, now, asked)
            lines.append(line(record="rewrite", messages=now))
        elif kind == "extend":
            at = rng.randrange(len(now) + 2)
            blocks = [_block(rng, asked) for _ in range(rng.randrange(1, 3))]
            if at < len(now):
                now = [*now]
                now[at] = {**now[at], "content": [*now[at]["content"], *blocks]}
            lines.append(line(record="extend", index=at, blocks=blocks))
        elif kind == "taint":
            lines.append(line(record="taint", private=rng.random() < 0.5, untrusted=rng.random() < 0.5))
        else:
            lines.append(b'{"record":"message","role":"user"')
    return lines


def _block(rng: random.Random, asked: list[str]) -> Json:
    kind = rng.randrange(4)
    if kind == 0:
        return {"type": "text", "text": rng.choice(["", " ", "\u2028", "go on", "so\nit is", "wait: not that"])}
    if kind == 1:
        return {"type": "thinking", "text": "hm"}
    if kind == 2:
        return _use(rng, asked)
    return _result(rng, asked)


def _use(rng: random.Random, asked: list[str]) -> Json:
    asked.append(rng.choice(["c1", "c2", f"c{len(asked) + 3}"]))
    given = rng.choice(
        [{}, {"path": "a.md"}, {"n": 1}, {"n": 1.0}, {"n": True}, ["x", None], "plain", {"z": 1, "b": {"y": 2}}]
    )
    return {**call(asked[-1], rng.choice(["fs_read", "shell"])), "input": given}


def _result(rng: random.Random, asked: list[str]) -> Json:
    call_id = rng.choice(asked[-4:] or ["c9"]) if rng.random() < 0.9 else "never-asked"
    return result(call_id, rng.choice(["ok", "", "wren,4"]), is_error=rng.random() < 0.3)


def _message(rng: random.Random, kind: str, asked: list[str]) -> Json:
    if kind == "results":
        blocks = [_result(rng, asked) for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.3:
            blocks.append({"type": "text", "text": rng.choice([" ", "only the first"])})
        told = {one["tool_use_id"]: rng.random() < 0.5 for one in blocks if "tool_use_id" in one and rng.random() < 0.6}
        return {**said("user", *blocks), **({"tool_provenance": told} if told else {})}
    role = "assistant" if kind == "assistant" else "user"
    return said(role, *(_block(rng, asked) for _ in range(rng.randrange(4))))


def _rewritten(rng: random.Random, now: list[Json], asked: list[str]) -> list[Json]:
    """A list a rewrite may leave: cut, summarised, with an edited result, grown, or the same."""
    how = rng.randrange(5)
    if how == 0:
        return now[: rng.randrange(len(now) + 1)]
    if how == 1:
        return [said("user", "[Earlier turns were compacted] so far"), *now[len(now) - rng.randrange(len(now) + 1) :]]
    if how == 2:
        edited = json.loads(json.dumps(now))
        for one in edited:
            for block in one["content"]:
                if block["type"] == "tool_result" and rng.random() < 0.5:
                    block["content"] = "[stale: superseded]"
            if rng.random() < 0.3:
                one.pop("tool_provenance", None)
        return edited
    if how == 3:
        return [*now, _message(rng, rng.choice(["assistant", "results", "user"]), asked)]
    return list(now)
