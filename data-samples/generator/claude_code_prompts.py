"""One prompt of a Claude Code session in, its lines out: replies, results, subagents, and how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from generator import prose
from generator.story import MODELS
from generator.tokens import Context

if TYPE_CHECKING:
    from generator.claude_code import Chain, Session

Json = dict[str, Any]

DENIED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected "
    "(eg. if it was a file edit, the new_string was NOT written to the file). "
    "STOP what you are doing and wait for the user to tell you how to proceed."
)
INTERRUPTED = "[Request interrupted by user]"
MODES = {"cli": "default", "sdk-cli": "bypassPermissions"}
"""Permission mode by front end."""
CONTINUED = "This session is being continued from a previous conversation that ran out of context.\n\n"
NOTHING: Json = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": None,
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
}


class Prompt:
    """One request of a person, worked to its end (or not)."""

    def __init__(self, session: Session, number: int, *, last: bool) -> None:
        self.s, self.number, self.last = session, number, last
        self.rng, self.job, self.topic, self.main = session.rng, session.job, session.topic, session.main
        self.middle = number == (self.job.runs + 1) // 2
        self.cut = self.rng.random() < self.job.cut_rate
        self.end_failed = not self.cut and self.rng.random() < self.job.failed_end_rate

    def trait(self, name: str) -> bool:
        """Whether the session has the trait and this is the prompt to show it in."""
        return name in self.job.traits and self.middle

    def work(self) -> None:
        """Write the run."""
        s, main, rng = self.s, self.main, self.rng
        began = s.clock
        asked = prose.ask(rng, self.topic)
        prompt = main.line(
            "user", {"role": "user", "content": asked}, promptId=s.uuid(), permissionMode=MODES[self.job.surface]
        )
        main.context.take(len(asked) // 3)
        snapshot = {"messageId": prompt["uuid"], "trackedFileBackups": {}, "timestamp": s.now()}
        main.aside("file-history-snapshot", messageId=prompt["uuid"], snapshot=snapshot, isSnapshotUpdate=False)
        if self.trait("compacted"):
            self._compact(asked)
        if self.trait("subagents"):
            self._subagents()
        rounds = rng.randint(4, 6)
        for at in range(rounds):
            self._round(last=at == rounds - 1)
        if self.trait("denied"):
            self._denied()
        if self.trait("interrupted"):
            main.line("user", {"role": "user", "content": [{"type": "text", "text": INTERRUPTED}]})
            return
        if self.trait("api_error"):
            self._api_error()
        else:
            words = prose.answer(rng, self.topic, failed=self.end_failed)
            main.reply([_text(words)], rng.randint(120, 1500), stop="max_tokens" if self.cut else "end_turn")
        self._end(round((s.clock - began).total_seconds() * 1000))

    def _round(self, *, last: bool) -> None:
        """One reply with one to three calls, and their results."""
        s, rng = self.s, self.rng
        acts = [
            prose.act(rng, self.topic, failed=rng.random() < self.job.failure_rate) for _ in range(rng.randint(1, 3))
        ]
        if last and not self.cut:
            acts[-1] = prose.act(rng, self.topic, failed=self.end_failed, kind="test" if self.end_failed else None)
        fetching = self.trait("web") and last
        if fetching:
            acts.insert(0, prose.act(rng, self.topic, kind="fetch"))
            if "hostile" in self.job.traits:
                acts[0] = acts[0]._replace(output=prose.HOSTILE[1])
        called = [(s.call_id(), act, *_use(act, self.topic.folder)) for act in acts]
        if self.trait("skill") and last:
            act = prose.Act("list", "", "", "Launching skill: house-style", failed=False)
            called.insert(0, (s.call_id(), act, "Skill", {"skill": "house-style"}))
        if self.trait("mcp") and last:
            where = rng.choice(self.topic.places)
            act = prose.act(rng, self.topic, kind="read")
            called.insert(0, (s.call_id(), act, "mcp__gazetteer__find_place", {"name": where, "limit": 5}))
        blocks: list[Json] = [_text(prose.opening(rng, self.topic))] if rng.random() < 0.7 else []
        if "thinking" in self.job.traits or rng.random() < 0.25:
            blocks.insert(0, {"type": "thinking", "thinking": prose.thought(rng, self.topic), "signature": "RXJrRENr"})
        blocks += [{"type": "tool_use", "id": i, "name": name, "input": given} for i, _act, name, given in called]
        self.main.reply(blocks, rng.randint(320, 5200), stop="tool_use")
        for call_id, act, name, _given in called:
            s.pass_time(0.2, 9)
            self._result(self.main, call_id, act, name)

    def _result(self, chain: Chain, call_id: str, act: prose.Act, name: str) -> None:
        content, told = act.output, None
        if name == "Bash":
            content = f"Exit code 1\n{content}" if act.failed else content
            if not act.failed:
                told = {"stdout": content, "stderr": "", "interrupted": False, "isImage": False}
        elif name == "WebFetch" and not act.failed:
            code = {"bytes": len(content.encode()), "code": 200, "codeText": "OK", "result": content}
            told = {**code, "durationMs": self.rng.randint(300, 4200), "url": act.subject}
        elif act.failed:
            content = f"<tool_use_error>{content}</tool_use_error>"
        chain.result(call_id, content, is_error=act.failed, told=told)
        chain.context.take(self.rng.randint(1800, 11_000))

    def _denied(self) -> None:
        call_id = self.s.call_id()
        given = {"command": f"rm -r {self.topic.files[0]}", "description": "Remove the old file"}
        self.main.reply([{"type": "tool_use", "id": call_id, "name": "Bash", "input": given}], 140, stop="tool_use")
        self.main.result(call_id, DENIED, is_error=True)

    def _api_error(self) -> None:
        """The service fails: retries, then the recorder speaks in the model's place."""
        s, main = self.s, self.main
        for attempt in (1, 2):
            s.pass_time(1, 6)
            main.line(
                "system",
                subtype="api_error",
                level="error",
                error={"status": 529, "type": "overloaded_error"},
                retryInMs=round(600.5 * 2**attempt, 1),
                retryAttempt=attempt,
                maxRetries=10,
            )
        message = {
            "id": s.uuid(),
            "container": None,
            "model": "<synthetic>",
            "role": "assistant",
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "type": "message",
            "usage": NOTHING,
            "content": [_text("API Error: 529 overloaded_error")],
            "context_management": None,
        }
        main.line("assistant", message, error="server_error", isApiErrorMessage=True)

    def _compact(self, asked: str) -> None:
        """The conversation is summarised: by a call of its own file, then marked and replaced."""
        s, main, rng = self.s, self.main, self.rng
        before = main.context.size
        words = prose.summary(rng, self.topic)
        side = s.side(f"acompact-{rng.getrandbits(24):06x}", main.model, main.context)
        side.line("user", {"role": "user", "content": asked})
        side.line("user", {"role": "user", "content": "Summarise the conversation so far."}, isMeta=True)
        side.reply([_text(words)], rng.randint(900, 2600), stop="end_turn")
        main.context.compact(len(words) // 3 + 3_000)
        hung, main.parent = main.parent, None
        main.line(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            logicalParentUuid=hung,
            compactMetadata={"trigger": "auto", "preTokens": before, "postTokens": main.context.size},
        )
        told = {"role": "user", "content": CONTINUED + words}
        main.line("user", told, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def _subagents(self) -> None:
        """Two helpers work for the main agent, each in a file of its own."""
        s, main, rng = self.s, self.main, self.rng
        for kind, model in (("Explore", MODELS["haiku"]), ("general-purpose", main.model)):
            call_id, agent_id = s.call_id(), f"a{rng.getrandbits(24):06x}"
            wanted = prose.ask(rng, self.topic)
            given = {"description": f"{kind}: {self.topic.things[1]}", "prompt": wanted, "subagent_type": kind}
            blocks = [_text("I send a helper."), {"type": "tool_use", "id": call_id, "name": "Task", "input": given}]
            main.reply(blocks, rng.randint(200, 500), stop="tool_use")
            side = s.side(agent_id, model, Context(rng, rng.randint(18_000, 34_000)))
            began, first = s.clock, len(side.lines)
            side.line("user", {"role": "user", "content": wanted})
            for _ in range(rng.randint(2, 5)):
                act = prose.act(rng, self.topic, failed=rng.random() < self.job.failure_rate)
                name, arguments = _use(act, self.topic.folder)
                inner = s.call_id()
                use = {"type": "tool_use", "id": inner, "name": name, "input": arguments}
                side.reply([use], rng.randint(150, 900), stop="tool_use")
                self._result(side, inner, act, name)
            found = prose.answer(rng, self.topic)
            side.reply([_text(found)], rng.randint(200, 900), stop="end_turn")
            if "progress" in self.job.traits:
                self._progress(side, call_id, first)
            last = side.lines[-1]["message"]["usage"]
            told = {
                "status": "completed",
                "prompt": wanted,
                "agentId": agent_id,
                "content": [_text(found)],
                "totalDurationMs": round((s.clock - began).total_seconds() * 1000),
                "totalTokens": sum(last[name] for name in last if name.endswith("_tokens")),
                "totalToolUseCount": sum(
                    line["message"]["content"][0]["type"] == "tool_use" for line in _replies(side)
                ),
                "usage": last,
            }
            main.result(call_id, found, told=told)
            main.context.take(len(found) // 3 + 200)

    def _progress(self, side: Chain, call_id: str, first: int) -> None:
        """The older recorder also shows the helper's replies in the main file: the same message ids again."""
        for line in side.lines[first:]:
            if line["type"] == "assistant":
                inner = {name: line[name] for name in ("type", "message", "requestId", "uuid", "timestamp")}
                data = {"message": inner, "type": "agent_progress", "prompt": "", "agentId": side.agent_id}
                self.main.line(
                    "progress", data=data, toolUseID=f"agent_{line['message']['id']}", parentToolUseID=call_id
                )

    def _end(self, duration_ms: int) -> None:
        if "hook" in self.job.traits:
            self.main.line(
                "system",
                subtype="stop_hook_summary",
                hookCount=1,
                hookInfos=[{"command": "make check"}],
                hookErrors=[] if self.number > 1 else ["make: *** [check] Error 2"],
                preventedContinuation=False,
                stopReason="",
                hasOutput=True,
                level="suggestion",
                toolUseID=self.s.uuid(),
            )
        self.main.line("system", subtype="turn_duration", durationMs=duration_ms, isMeta=False)


def _replies(side: Chain) -> list[Json]:
    return [line for line in side.lines if line["type"] == "assistant"]


def _use(act: prose.Act, folder: str) -> tuple[str, Json]:
    """Name and arguments of a call."""
    path = f"{folder}/{act.subject}"
    if act.kind in {"shell", "test"}:
        return "Bash", {"command": act.subject, "description": "Run the checks" if act.kind == "test" else "Look"}
    if act.kind == "fetch":
        return "WebFetch", {"url": act.subject, "prompt": "What does the page say?"}
    if act.kind == "search":
        return "Grep", {"pattern": act.subject, "path": folder, "output_mode": "content"}
    if act.kind == "list":
        return "Glob", {"pattern": "*", "path": path}
    if act.kind == "edit":
        return "Edit", {"file_path": path, "old_string": "LIMIT = 1\n", "new_string": act.content}
    if act.kind == "write":
        return "Write", {"file_path": path, "content": act.content}
    return "Read", {"file_path": path}


def _text(words: str) -> Json:
    return {"type": "text", "text": words}
