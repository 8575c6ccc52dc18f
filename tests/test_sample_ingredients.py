"""What the sample corpus promises is in its raw files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.sample_files import (
    agents,
    blocks,
    chat,
    desk,
    entries,
    files,
    gg,
    gg_files,
    growing,
    records,
    results,
    shared_lines,
    texts,
    usages,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MECHA: dict[str, Callable[[], object]] = {
    "front ends": lambda: {"run", "chat", "web", "task", "trigger", "test"} <= {r["kind"] for r in records("meta")},
    "compaction": lambda: any("[Earlier turns were compacted" in json.dumps(r) for r in records("rewrite")),
    "rollback": lambda: any("[Earlier turns" not in json.dumps(r) for r in records("rewrite")),
    "extend": lambda: records("extend"),
    "harness notes": lambda: records("notes"),
    "image": lambda: any(b["type"] == "image" for m in records("message") for b in m["content"]),
    "refused by a person": lambda: any(text.startswith("Denied by the user:") for text in results()),
    "refused by policy": lambda: any(text.startswith("Blocked by policy:") for text in results()),
    "refused by a hook": lambda: any(text.startswith("Blocked by a hook:") for text in results()),
    "steering": lambda: any({b["type"] for b in m["content"]} == {"tool_result", "text"} for m in records("message")),
    "voice of the harness": lambda: any(m.get("harness") for m in records("message")),
    "delivery": lambda: any(text.startswith("[Message m-") for text in texts("user")),
    "interruption": lambda: any(text.startswith("[interrupted after") for text in texts("assistant")),
    "renamed": lambda: records("title"),
    "goal set and lifted": lambda: {type(r["goal"]) for r in records("goal_anchor")} == {str, type(None)},
    "stop causes": lambda: (
        {"completed", "max_turns", "cost_budget", "output_token_budget", "interrupted", "loop", "no_output"}
        == {r["stop_cause"] for r in records("outcome")}
    ),
    "cost recorded and not": lambda: {"cost_usd" in r for r in records("outcome")} == {True, False},
    "usage complete and not": lambda: {r["usage_complete"] for r in records("outcome")} == {True, False},
    "outside content": lambda: any("<untrusted-content" in json.dumps(m) for m in records("message")),
    "staged": lambda: sum(r["tool_staged"] for r in records("outcome")),
    "blocked send": lambda: sum(r["blocked_sends"] for r in records("outcome")),
    "malformed arguments": lambda: sum(r["malformed_tool_args"] for r in records("outcome")),
    "chats without a summary": lambda: any(
        records[0]["kind"] == "chat" and not any(r["record"] == "summary" for r in records)
        for records in files("mecha").values()
    ),
    "model changed by configuration": lambda: any(
        len({r["model"] for r in records if r["record"] == "config"}) > 1 for records in files("mecha").values()
    ),
}

CLAUDE_CODE: dict[str, Callable[[], object]] = {
    "subagents": lambda: (
        sum("/subagents/agent-a" in name and "acompact" not in name for name in files("claude_code")) >= 6
    ),
    "compaction calls": lambda: any("agent-acompact-" in name for name in files("claude_code")),
    "compaction boundary": lambda: any(line.get("subtype") == "compact_boundary" for line in chat()),
    "API error": lambda: any(line.get("isApiErrorMessage") for line in chat()),
    "growing copies": growing,
    "hour-long cache writes": lambda: any(usage["cache_creation"]["ephemeral_1h_input_tokens"] for usage in usages()),
    "lines shared by two sessions": lambda: shared_lines() > 40,
    "denial": lambda: any("doesn't want to proceed" in str(block["content"]) for block in blocks("tool_result")),
    "interruption": lambda: any(block["text"] == "[Request interrupted by user]" for block in blocks("text")),
    "web fetch": lambda: any(block["name"] == "WebFetch" for block in blocks("tool_use")),
    "MCP tool": lambda: any(block["name"].startswith("mcp__") for block in blocks("tool_use")),
    "skill": lambda: any(block["name"] == "Skill" for block in blocks("tool_use")),
    "progress of a subagent": lambda: any(line["type"] == "progress" for line in chat()),
    "hook": lambda: any(line.get("subtype") == "stop_hook_summary" for line in chat()),
    "title": lambda: any(line["type"] == "ai-title" for line in chat()),
}

GG: dict[str, Callable[[], object]] = {
    "six journals, six records, two with both": lambda: gg_files() == {("ndjson",): 6, ("gz",): 6, ("gz", "ndjson"): 2},
    "five runs of 4 to 7 agents": lambda: (
        sorted(n for run in gg().values() if (n := len(run["agents"])) > 1) == [4, 5, 6, 6, 7]
    ),
    "origins": lambda: (
        {a["origin"]["type"] for a in agents()} == {"root", "spawn", "succession", "issue_attempt", "reviewer", "merge"}
    ),
    "review rounds": lambda: {a["origin"]["round"] for a in agents() if a["origin"]["type"] == "reviewer"} == {0, 1},
    "limits": lambda: {a["limitHit"]["limit"] for a in agents() if "limitHit" in a} == {"turns", "cost", "error_rate"},
    "failed agent": lambda: any(a.get("terminalStatus") == "failed" for a in agents()),
    "agent that never ran": lambda: any(
        agent["agentId"] not in {entry["agentId"] for entry in run["entries"]}
        for run in gg().values()
        for agent in run["agents"]
    ),
    "vision denied": lambda: any(
        not m["vision"] for run in gg().values() for m in run["seed"]["modelModalities"].values()
    ),
    "model errors": lambda: (
        {e["error"]["kind"] for e in entries("model_error")} == {"vision_unsupported", "retry_exhausted", "timeout"}
    ),
    "compaction": lambda: any(e["request"]["role"] == "compaction" for e in entries("model_io")),
    "program calls": lambda: any(e["call"]["id"].startswith("program:") for e in entries("tool_result")),
    "shell origins": lambda: {e["origin"] for e in entries("shell")} == {"tool", "program", "hook"},
    "worktrees": lambda: any("git worktree add" in e["command"]["command"] for e in entries("git")),
    "clips": lambda: any(run["clips"] for run in gg().values()),
    "cancelled": lambda: any(e["canceled"] for e in entries("cancel_probe")),
    "killed": lambda: [run["sessionId"] for run in gg().values() if run.get("ended") is False] == ["run-0419"],
}

DATALAYER: dict[str, Callable[[], object]] = {
    "checks passed and failed": lambda: {p["passed"] for p in desk("check")} == {True, False},
    "approvals": lambda: {p["outcome"] for p in desk("approval")} == {"approved", "declined", "unanswered"},
    "decisions": lambda: {"do_it", "ask_first", "refused"} <= {p["behaviour"] for p in desk("decision")},
    "feedback": lambda: desk("feedback"),
    "failed calls": lambda: sum(bool(p.get("error")) for p in desk("tool_call")) >= 2,
    "clone": lambda: {"from", "to"} <= {name for p in desk("cloned") for name in p},
    "import": lambda: desk("imported"),
    "stopped run": lambda: any(p.get("error") == "LimitReached" for p in desk("output")),
    "run without end": lambda: len(desk("run")) > sum("status" in p for p in desk("output")),
    "swapped": lambda: desk("swapped"),
}

INGREDIENTS = [
    pytest.param(holds, id=f"{folder}: {name}")
    for folder, promised in (("mecha", MECHA), ("claude_code", CLAUDE_CODE), ("gg", GG), ("datalayer", DATALAYER))
    for name, holds in promised.items()
]


@pytest.mark.parametrize("holds", INGREDIENTS)
def test_what_is_promised_is_there(holds: Callable[[], object]) -> None:
    """The ingredient stands in the raw files."""
    assert holds()
