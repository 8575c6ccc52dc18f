"""Writes mecha and gg recordings of a given size, the same each time: what the load benchmark reads."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

WORDS = [
    "the",
    "build",
    "passes",
    "after",
    "the",
    "parser",
    "reads",
    "one",
    "more",
    "token",
    "and",
    "the",
    "test",
    "names",
    "the",
    "file",
    "it",
    "came",
    "from",
    "which",
    "is",
    "why",
    "we",
    "keep",
    "the",
    "old",
    "branch",
    "until",
    "the",
    "review",
    "is",
    "done",
    "and",
    "nobody",
    "asks",
    "for",
    "the",
    "lock",
    "again",
    "except",
    "the",
    "worker",
    "that",
    "owns",
    "it",
]


def text(rng: random.Random, size: int) -> str:
    """About ``size`` characters of words, with line ends, quotes and some letters beyond ASCII."""
    out: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(WORDS)
        word = word + rng.choice((" ", " ", " ", " ", "\n", '" ', " é "))
        out.append(word)
        length += len(word)
    return "".join(out)


def dump(value: object) -> bytes:
    """Compact JSON, as both recorders write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def mecha(folder: Path, size: int, *, file_bytes: int = 2_000_000) -> int:
    """About ``size`` bytes of mecha transcripts in files of about ``file_bytes``; returns the exact size."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(20261130)
    written = number = 0
    usage = {
        "input_tokens": 1200,
        "output_tokens": 80,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 9,
    }
    while written < size:
        name = f"20261001T{number // 3600:02}{number // 60 % 60:02}{number % 60:02}-{number:08x}"
        lines = [
            dump(
                {"record": "meta", "id": name, "created_at": "2026-10-01T08:15:00Z", "provider": "anthropic",
                 "model": "claude-opus-5", "workspace": "/home/ada", "title": "a task", "kind": "run"}
            ),
            dump({"record": "config", "provider": "anthropic", "model": "claude-opus-5", "tools": ["fs_read", "shell"],
                  "system_prompt": text(rng, 3000)}),
        ]  # fmt: skip
        held = sum(map(len, lines))
        call = 0
        while held < file_bytes:
            turn = [dump({"record": "message", "role": "user", "content": [{"type": "text", "text": text(rng, 300)}]})]
            for _ in range(8):
                call += 1
                turn.append(
                    dump({"record": "message", "role": "assistant", "content": [
                        {"type": "thinking", "text": text(rng, 500)},
                        {"type": "tool_use", "id": f"c{call}", "name": "fs_read",
                         "input": {"path": f"src/{call}.py", "limit": 200}}]})
                )  # fmt: skip
                turn.append(
                    dump({"record": "message", "role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": f"c{call}", "content": text(rng, rng.randint(500, 5000)),
                         "is_error": call % 11 == 0}], "tool_provenance": {f"c{call}": call % 3 == 0}})
                )  # fmt: skip
            turn.append(dump({"record": "taint", "private": True, "untrusted": call % 2 == 0}))
            turn.append(dump({"record": "summary", "usage": usage, "turns": 9}))
            turn.append(
                dump({"record": "outcome", "turns": 9, "usage": usage, "cost_usd": 0.02, "usage_complete": True,
                      "stop_cause": "completed", "tool_calls": 8, "tool_errors": 1,
                      "taint": {"private": True, "untrusted": False}})
            )  # fmt: skip
            lines += turn
            held += sum(map(len, turn))
        (folder / f"{name}.jsonl").write_bytes(b"".join(lines))
        written += held
        number += 1
    return written


def _address(value: object) -> str:
    canonical = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    return hashlib.sha256(canonical).hexdigest()[:32]


def gg(folder: Path, size: int, *, file_bytes: int = 4_000_000) -> int:
    """About ``size`` bytes of gg journals, a conversation that grows turn by turn in each; returns the exact size."""
    rng = random.Random(20261201)
    written = number = 0
    tools = [{"description": text(rng, 2000), "name": "shell", "parameters": {"type": "object"}}]
    while written < size:
        run = folder / f"run-{number:05}" / ".gg"
        run.mkdir(parents=True, exist_ok=True)
        model = "anthropic/claude-opus-5"
        profile = {"slug": "root", "name": "Root", "capabilities": [], "modelId": model,
                   "openingTurn": {"modules": [], "functions": []}}  # fmt: skip
        lines = [
            dump({"type": "header", "formatVersion": 1, "sessionId": f"run-{number:05}",
                  "capabilitySet": {"agents": [profile]}, "recorder": {"ggVersion": "0.9.1"}}),
            dump({"type": "seed", "seed": {"prompt": "build it", "modelWindows": {model: 200_000}}}),
            dump({"type": "agent", "agent": {"agentId": "root", "profileId": "root", "profile": "Root",
                                             "origin": {"type": "root"}}}),
            dump({"type": "toolset", "index": 0, "toolset": {"id": _address(tools), "tools": tools}}),
        ]  # fmt: skip
        journal = (run / "replay.ndjson").open("wb")
        held, seq, pool, texts = journal.write(b"".join(lines)), 0, 0, 0
        window: list[int] = []
        while held < file_bytes:
            turn = []
            for role in ("user", "tool"):
                body = {"content": text(rng, rng.randint(500, 4000)), "role": role}
                turn.append(dump({"type": "message", "index": pool, "message": {"id": _address(body), "body": body}}))
                window.append(pool)
                pool += 1
            if len(window) > 120:  # compacted: the first message and the last few stay
                window = [window[0], *window[-3:]]
            usage = {"cachedInput": 900, "output": 80, "reasoning": None, "uncachedInput": 120}
            entries: list[dict[str, object]] = [
                {"type": "model_io", "request": {"role": "agent", "shape": "complete",
                             "messages": window, "toolset": 0},
                 "response": {"cost": {"actual": 0.01, "comparable": 0.02}, "finishReason": "tool_calls",
                              "provider": "Northwind", "text": text(rng, 400), "usage": usage,
                              "toolCalls": [{"arguments": {"command": "make"}, "id": f"c{seq}", "name": "shell"}]},
                 "durationMs": 900},
                {"type": "prompt_frame", "items": [
                    {"message": m, "slot": "thread", "source": "file_view", "retention": "ephemeral", "turn": 1}
                    for m in window]},
            ]  # fmt: skip
            texts_written = (
                [text(rng, rng.randint(200, 3000)), ""] if texts == 0 else [text(rng, rng.randint(200, 3000))]
            )
            for body_text in texts_written:
                turn.append(dump({"type": "text", "index": texts, "text": body_text}))
                texts += 1
            entries.append(
                {"type": "tool_result", "call": {"id": f"c{seq}", "name": "shell", "arguments": {"command": "make"}},
                 "outcome": {"ok": seq % 7 != 0, "output": texts - 1}}
            )  # fmt: skip
            for entry in entries:
                turn.append(dump({"type": "entry", "entry": {"agentId": "root", "seq": seq, **entry}}))
                seq += 1
            held += journal.write(b"".join(turn))
        written += held + journal.write(dump({"type": "end", "entries": seq}))
        journal.close()
        number += 1
    return written
