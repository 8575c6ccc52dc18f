"""One agent of a gg run in, its entries out: clock readings, requests, frames, commands, tool results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from generator import prose
from generator.tokens import Context, Rates, Tokens

if TYPE_CHECKING:
    from generator.gg import Session

Json = dict[str, Any]

LISTED = {
    "anthropic/claude-sonnet-4.5": Rates(3.0, 0.3, 3.75, 15.0),
    "anthropic/claude-opus-4.5": Rates(5.0, 0.5, 6.25, 25.0),
    "anthropic/claude-haiku-4.5": Rates(1.0, 0.1, 1.25, 5.0),
    "openai/gpt-5": Rates(1.25, 0.125, 1.25, 10.0),
    "openai/gpt-5-mini": Rates(0.25, 0.025, 0.25, 2.0),
    "google/gemini-2.5-pro": Rates(1.25, 0.125, 1.25, 10.0),
}
"""What the gateway charges; it reports no charge for any other model."""
PROVIDERS = {"anthropic": "Anthropic", "openai": "OpenAI", "google": "Google Vertex", "nest": "Nest"}
PICTURE = {"mediaType": "image/png", "dataBase64": "iVBORw0KGgo=", "bytes": 8}
SHOWN_BYTES = 16_384
"""What the shell tool shows the model of an output: its end."""
COST_LIMIT = 1.0
"""The ceiling of the run that has one, US dollars."""
COMPACTS_AFTER = 8
"""Turns after which the run that compacts itself does so."""
MEMORY_TURNS = (2, 10)
"""Turns after which the run with a memory looks something up, and keeps something."""
ERROR_WINDOW = 5
"""Calls over which the error rate is taken."""
FAILURES = {"read": "not-found", "list": "not-found", "edit": "conflict", "write": "refused"}


def _tool(name: str, description: str, *required: str) -> Json:
    properties = {one: {"type": "string"} for one in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "parameters": schema}


TOOLS = [
    _tool("read_file", "Read one file.", "path"),
    _tool("list_dir", "List a folder.", "path"),
    _tool("search", "Search the workspace.", "pattern"),
    _tool("write_file", "Write one file.", "path", "contents"),
    _tool("edit_file", "Replace a text in a file.", "path", "old", "new"),
    _tool("shell", "Run a command.", "command"),
    _tool("run_program", "Run a program that may call the other tools.", "source"),
    _tool("recall", "Look something up in what was remembered.", "query"),
    _tool("remember", "Keep something for later runs.", "name", "text"),
    _tool("spawn_agent", "Start a helper.", "profile", "prompt"),
    _tool("wait_agents", "Wait for helpers.", "ids"),
]
HANDOFF = [_tool("handoff", "Hand the work over as a summary.", "summary")]


class Agent:
    """One agent: its conversation with its model, and how it stands."""

    def __init__(self, session: Session, agent_id: str, slug: str, origin: Json, prompt: str) -> None:
        self.s, self.id, self.slug, self.prompt = session, agent_id, slug, prompt
        self.rng, self.topic, self.traits = session.rng, session.topic, session.job.traits
        self.model = session.models[slug]
        self.row = {"agentId": agent_id, "profileId": slug, "profile": slug.capitalize(), "origin": origin}
        self.turns = self.calls = self.answers = self.errors = self.spawned = 0
        self.stumbles = agent_id == "agent-1" and "error_limit" in self.traits
        self.cost = 0.0
        self.compacted = False
        size = self.rng.randint(80_000, 120_000) if slug == "lead" else self.rng.randint(45_000, 80_000)
        self.context = Context(self.rng, size, caching=self.model.caching)
        session.recorder.agent(self.row)
        self.bodies: list[Json] = [
            {"role": "system", "content": f"You are the {slug} of a small crew at work on {self.topic.name}."},
            {"role": "user", "content": prompt},
        ]
        if agent_id == "root" and "vision" in self.traits:
            self.bodies[1] = {**self.bodies[1], "images": [PICTURE]}
        self.sources = ["system", "user_prompt"]
        self.pushed = [0, 0]

    def turns_of(self, turns: int) -> None:
        """Work for so many turns."""
        for _ in range(turns):
            self._turn()

    def spawn(self, slug: str) -> Agent:
        """Start a helper, by a tool call of this agent's."""
        wanted = prose.ask(self.rng, self.topic)
        call = {"arguments": {"profile": slug, "prompt": wanted}, "id": self._call_id(), "name": "spawn_agent"}
        self._ask(calls=[call], output=self.rng.randint(150, 400))
        agent_id = self.s.mint()
        origin = {"type": "spawn", "parent": self.id, "ordinal": self.spawned}
        self.spawned += 1
        helper = Agent(self.s, agent_id, slug, origin, wanted)
        facts = {"id": agent_id, "modelId": helper.model.routed, "slot": slug}
        self._answer(call, f"started {agent_id}", data={"kind": "subagentSpawned", "data": facts})
        return helper

    def collect(self, helpers: list[Agent]) -> None:
        """Wait for helpers, by a tool call."""
        call = {"arguments": {"ids": ",".join(one.id for one in helpers)}, "id": self._call_id(), "name": "wait_agents"}
        self._ask(calls=[call], output=self.rng.randint(80, 200))
        results = [
            {"id": one.id, "status": "completed", "summary": prose.answer(self.rng, self.topic)} for one in helpers
        ]
        self._answer(
            call, "\n".join(str(one["summary"]) for one in results), data={"kind": "subagentResults", "data": results}
        )

    def finish(self) -> None:
        """The last reply, and the row that says how the loop ended."""
        limit = self._limit()
        if limit is None:
            self._boundary()
            self._ask(text=prose.answer(self.rng, self.topic), output=self.rng.randint(200, 900))
        row = {**self.row, "terminalStatus": "done"}
        if limit is not None:
            name, threshold, observed = limit
            hit: Json = {"limit": name, "threshold": threshold, "observed": observed, "turns": self.turns}
            row["limitHit"] = {**hit, "agentId": self.id, **({"window": ERROR_WINDOW} if name == "error_rate" else {})}
        self.s.recorder.agent(row)

    def fail(self) -> None:
        """The model does not answer any more, and the loop ends with that."""
        self._boundary()
        self._error("timeout", "no reply within 900 s", 900_000)
        self.s.recorder.agent({**self.row, "terminalStatus": "failed"})

    def cancel(self) -> None:
        """Somebody calls it off."""
        self.s.recorder.entry(self.id, "cancel_probe", canceled=True)
        self.s.recorder.agent({**self.row, "terminalStatus": "done"})

    def _limit(self) -> tuple[str, float, float] | None:
        if self.id == "root" and "turns_limit" in self.traits:
            return "turns", float(self.turns), float(self.turns)
        if self.id == "root" and "cost_limit" in self.traits:
            return "cost", COST_LIMIT, round(self.cost, 6)
        if self.stumbles:
            return "error_rate", 0.6, round(self.errors / self.answers, 6)
        return None

    def _turn(self) -> None:
        rng, first = self.rng, self.turns == 0
        self._boundary()
        if self.id == "root" and self.turns >= COMPACTS_AFTER and "compaction" in self.traits and not self.compacted:
            self._compact()
        if self.id == "root" and self.turns == 5 and "retries" in self.traits:
            self._error("retry_exhausted", "model request failed after 11 attempt(s): HTTP 503", 301_544, attempts=11)
        if first and self.id == "root" and "vision" in self.traits:
            words = f"the model `{self.model.routed}` does not accept image input: no image route"
            self._error("vision_unsupported", words, 310, modelId=self.model.routed)
            self.s.vision = False
            self.bodies[1] = {name: value for name, value in self.bodies[1].items() if name != "images"}
        if "memory" in self.traits and self.turns in MEMORY_TURNS:
            self._memory()
            return
        if "program" in self.traits and self.turns % 4 == 1:
            self._program()
            return
        failing = 1.0 if self.stumbles else 0.06
        acts = [prose.act(rng, self.topic, failed=rng.random() < failing) for _ in range(rng.randint(1, 2))]
        called = [({"arguments": _arguments(act), "id": self._call_id(), "name": _name(act)}, act) for act in acts]
        words = prose.opening(rng, self.topic)
        self._ask(text=words, calls=[call for call, _act in called], output=rng.randint(280, 4200))
        for call, act in called:
            output = act.output
            if "clip" in self.traits and self.turns == 3 and act is acts[0]:
                act = act._replace(kind="shell", subject="make -j2 pages", failed=False)  # noqa: PLW2901 (told as a build)
                call |= {"arguments": _arguments(act), "name": "shell"}
                output = prose.long_log(rng, self.topic, 40_000)
            self._tool(call, act, output)
        if "hook" in self.traits and self.turns % 3 == 0:
            failed = rng.random() < 0.3
            self._shell("hook", self.topic.test, "1 failed\n" if failed else "all passed\n", 1 if failed else 0)

    def _tool(self, call: Json, act: prose.Act, output: str) -> None:
        """A tool call's result; a shell command stands before it."""
        if act.kind in {"shell", "test"}:
            code = int(act.failed)
            stream = self._shell("tool", act.subject, output + "\n", code)
            shown = f"exit code: {code}\n{output[-SHOWN_BYTES:]}\n"
            data = {"kind": "shell", "data": {"body": "", "exitCode": code, "truncated": len(output) > SHOWN_BYTES}}
            self._answer(call, shown, failed=act.failed, data=data, data_text=stream)
        elif act.kind == "read" and not act.failed:
            rows = output.count("\n") + 1
            facts = {"byteTruncated": False, "contents": "", "firstLine": 1, "lastLine": rows, "totalLines": rows}
            data = {"kind": "fileText", "data": facts}
            self._answer(call, output, data=data, data_text=self.s.recorder.text(output), source="file_view")
        else:
            failure = FAILURES.get(act.kind, "io-error") if act.failed else None
            self._answer(call, output, failed=act.failed, failure=failure)

    def _memory(self) -> None:
        """Something is looked up in what earlier runs kept, or kept for later ones."""
        thing, fact = self.rng.choice(self.topic.things), prose.answer(self.rng, self.topic)
        data: Json
        if self.turns == MEMORY_TURNS[0]:
            call = {"arguments": {"query": thing}, "id": self._call_id(), "name": "recall"}
            hit = {
                "name": thing,
                "description": "from an earlier run",
                "matched": thing,
                "occurrences": 1,
                "excerpt": fact,
            }
            output, data = f"{thing}: {fact}", {"kind": "memoryHits", "data": [hit]}
        else:
            call = {"arguments": {"name": thing, "text": fact}, "id": self._call_id(), "name": "remember"}
            size = {"totalChars": 840 + len(fact), "maxTotalChars": 20_000, "indexChars": 160, "maxIndexChars": 2_000}
            output, data = "kept", {"kind": "memoryUsage", "data": {"count": 7, "maxCount": 64, **size}}
        self._ask(calls=[call], output=self.rng.randint(60, 240))
        self._answer(call, output, data=data)

    def _program(self) -> None:
        """The model submits a program, which calls tools itself."""
        source = f"for path in {self.topic.files[:2]!r}:\n    print(read_file(path)[:80])\n"
        call = {"arguments": {"source": source}, "id": self._call_id(), "name": "run_program"}
        self._ask(text="One program for all files.", calls=[call], output=self.rng.randint(300, 900))
        for _ in range(2):
            act = prose.act(self.rng, self.topic, kind="shell")
            self.calls += 1
            inner = {"id": f"program:{self.calls}", "name": "shell", "arguments": {"command": act.subject}}
            stream = self._shell("program", act.subject, act.output + "\n", 0)
            data = {"kind": "shell", "data": {"body": "", "exitCode": 0, "truncated": False}}
            told = {
                "ok": True,
                "output": self.s.recorder.text(f"exit code: 0\n{act.output}\n"),
                "data": data,
                "dataText": stream,
            }
            self.s.recorder.entry(self.id, "tool_result", call=inner, outcome=told)
        self._answer(call, f"printed {self.rng.randint(2, 9)} lines")

    def _compact(self) -> None:
        """The conversation so far is summarised by the model the profile names for it, and replaced."""
        self.compacted = True
        rec, words = self.s.recorder, prose.summary(self.rng, self.topic)
        indices = [rec.message(body) for body in self.bodies]
        summariser = self.s.models["merger"]
        context = Context(self.rng, self.context.size, caching=summariser.caching)
        used = context.call(self.rng.randint(700, 1600))
        call = {"arguments": {"summary": words}, "id": self._call_id(), "name": "handoff"}
        request = {
            "role": "compaction",
            "shape": "complete_requiring",
            "messages": indices,
            "toolset": rec.toolset(HANDOFF),
        }
        rec.entry(self.id, "model_io", request=request, response=self._response(summariser.routed, used, calls=[call]),
                  durationMs=self.rng.randint(3000, 9000))  # fmt: skip
        self.s.ledger.add("gg", summariser.routed, used)
        self.bodies = [*self.bodies[:2], {"role": "user", "content": f"Summary of the work so far.\n{words}"}]
        self.sources, self.pushed = ["system", "user_prompt", "history"], [0, 0, self.turns]
        self.context.compact(len(words) // 3 + 1500)

    def _boundary(self) -> None:
        """What is read between turns: the clock, and whether somebody has called it off."""
        self.s.elapsed += self.rng.randint(800, 6000)
        self.s.recorder.entry(self.id, "clock", elapsedMs=self.s.elapsed)
        if self.turns % 3 == 0:
            self.s.recorder.entry(self.id, "cancel_probe", canceled=False)

    def _ask(self, *, text: str | None = None, calls: list[Json] | None = None, output: int) -> None:
        """A model call, and the frame that says where each of its messages came from."""
        rec = self.s.recorder
        self.turns += 1
        used = self.context.call(output)
        request = self._request()
        response = self._response(self.model.routed, used, text=text, calls=calls)
        took = self.rng.randint(900, 14_000)
        rec.entry(self.id, "model_io", request=request, response=response, durationMs=took)
        self.s.elapsed += took
        self.s.ledger.add("gg", self.model.routed, used)
        items = []
        for index, source, turn in zip(request["messages"], self.sources, self.pushed, strict=True):
            slot = "system" if source == "system" else "thread"
            kept = "ephemeral" if source in {"file_view", "tool_output"} else "pinned"
            items.append({"message": index, "slot": slot, "source": source, "retention": kept, "turn": turn})
        rec.entry(self.id, "prompt_frame", items=items)
        body: Json = {"role": "assistant"}
        if text:
            body["content"] = text
        if calls:
            body["toolCalls"] = calls
        self._push(body, "assistant")

    def _error(self, kind: str, message: str, took: int, **more: Any) -> None:  # noqa: ANN401 (JSON)
        error = {"kind": kind, "message": message, **more}
        self.s.recorder.entry(self.id, "model_error", request=self._request(), error=error, durationMs=took)
        self.s.elapsed += took

    def _request(self) -> Json:
        rec = self.s.recorder
        messages = [rec.message(body) for body in self.bodies]
        return {"role": "agent", "shape": "complete", "messages": messages, "toolset": rec.toolset(TOOLS)}

    def _response(self, model: str, used: Tokens, *, text: str | None = None, calls: list[Json] | None = None) -> Json:
        """The reply in gg's words, keys sorted: cache writes count as uncached, reasoning stands apart from output."""
        thinks = model.startswith(("openai/", "google/"))
        reasoning = used.output // 3 if thinks else None
        told: Json = {}
        rates = LISTED.get(model)
        if rates is not None:
            charged = rates.cost(used)
            plain = rates.cost(used._replace(uncached=used.uncached + used.cache_write, cache_write=0))
            told["cost"] = {"actual": charged, "comparable": plain}
            self.cost += charged
        told |= {"finishReason": "tool_calls" if calls else "stop", "provider": PROVIDERS[model.partition("/")[0]]}
        if text:
            told["text"] = text
        if calls:
            told["toolCalls"] = calls
        fresh = used.uncached + used.cache_write
        spent = {"cachedInput": used.cache_read, "output": used.output - (reasoning or 0), "reasoning": reasoning}
        return {**told, "usage": {**spent, "uncachedInput": fresh}}

    def _answer(
        self, call: Json, output: str, *, failed: bool = False, failure: str | None = None, data: Json | None = None,
        data_text: int | None = None, source: str = "tool_output",
    ) -> None:  # fmt: skip
        rec = self.s.recorder
        outcome: Json = {"ok": not failed, "output": rec.text(output)}
        if source == "file_view":
            outcome["summary"] = rec.text(f"read {output.count(chr(10)) + 1} lines")
        if data is not None:
            outcome["data"] = data
        if data_text is not None:
            outcome["dataText"] = data_text
        if failure is not None:
            outcome["failure"] = failure
        call = {name: call[name] for name in ("id", "name", "arguments")}
        rec.entry(self.id, "tool_result", call=call, outcome=outcome)
        self.answers += 1
        self.errors += failed
        self._push({"role": "tool", "content": output, "toolCallId": call["id"]}, source)
        self.context.take(self.rng.randint(1800, 11_000))

    def _shell(self, origin: str, command: str, out: str, code: int) -> int:
        """A command that ran; gives the index of its stdout."""
        rec = self.s.recorder
        stdout, stderr = rec.stream(out), rec.stream("")
        told = {"command": command, "cwd": {"type": "workspace"}, "exitCode": code, "stdout": stdout, "stderr": stderr}
        rec.entry(self.id, "shell", origin=origin, command=told)
        self.s.elapsed += self.rng.randint(40, 9000)
        return stdout

    def _push(self, body: Json, source: str) -> None:
        self.bodies.append(body)
        self.sources.append(source)
        self.pushed.append(self.turns)

    def _call_id(self) -> str:
        self.calls += 1
        return f"call_{self.calls:02d}{self.rng.getrandbits(32):08x}"


def _name(act: prose.Act) -> str:
    names = {"read": "read_file", "list": "list_dir", "search": "search", "write": "write_file", "edit": "edit_file"}
    return names.get(act.kind, "shell")


def _arguments(act: prose.Act) -> Json:
    if act.kind in {"shell", "test"}:
        return {"command": act.subject}
    if act.kind == "search":
        return {"pattern": act.subject}
    if act.kind == "write":
        return {"contents": act.content, "path": act.subject}
    if act.kind == "edit":
        return {"new": act.content, "old": "LIMIT = 1\n", "path": act.subject}
    return {"path": act.subject}
