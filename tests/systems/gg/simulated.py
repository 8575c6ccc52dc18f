"""Invented gg sessions: what an agent run does, drawn at random, recorded by a `JournalWriter` and remembered.

What is remembered is what went in, so that a record can be compared with it; addresses are computed here with hashlib
and json, not with the package.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from pathlib import Path
from typing import Any, NamedTuple

from sessionlab.systems import gg

MODEL = "acme/sparrow-1"
SETS: dict[str, object] = {
    "agents": [
        {"slug": slug, "name": slug.title(), "capabilities": [], "modelId": MODEL,
         "openingTurn": {"modules": [], "functions": []}}
        for slug in ("root", "helper")
    ],
}  # fmt: skip
ERRORS = (
    "missing_api_key", "fatal", "retry_exhausted", "vision_unsupported", "parse", "provider_mismatch", "response_loop",
    "timeout",
)  # fmt: skip
LIMITS = ("turns", "runtime", "consecutive_errors", "error_rate", "cost")
OPERATIONS = (
    "call", "call", "refused_image", "error", "frame", "tool", "tool", "read_file", "shell", "git", "clock", "probe",
    "compaction", "spawn", "succession", "issue_attempt", "reviewer", "merge", "end", "failed_end", "deny_vision",
    *(f"end:{limit}" for limit in LIMITS),
)  # fmt: skip
DUE = 16
"""Batches that may wait before an operation: a busy machine must not decide what is recorded."""
WORDS = ("kite", "blau", "él", "風", "a", "\n", "\u2028", '"', "\\", "\x07", "🪁", "of", "paper")


class Remembered(NamedTuple):
    """An entry as it went in: its kind and agent, and what its record must resolve to."""

    agent: str
    kind: str
    told: dict[str, Any]


def address(value: object) -> str:
    """The address of a JSON value without floats (3.1), or of bytes."""
    data = value if isinstance(value, bytes) else canonical(value).encode()
    return hashlib.sha256(data).hexdigest()[:32]


def canonical(value: object) -> str:
    """Canonical JSON of a value without floats (3.2)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


class Session:
    """A session that is recorded and remembered.

    Attributes:
        entries: what went in so far.
        origins: the origin and last row of each agent, in order of creation.
    """

    def __init__(self, workspace: Path, seed: int, **limits: Any) -> None:
        """Record into ``workspace``; ``limits`` go to the writer."""
        self.draw = random.Random(seed)
        self.workspace = workspace
        self.writer = gg.JournalWriter(
            workspace,
            session_id=f"run-{seed}",
            capability_set=SETS,
            seed=gg.Seed(prompt="fly", model_modalities={MODEL: gg.Modalities(vision=True)}),
            recorder=gg.Recorder("0.9.1"),
            **limits,
        )
        self.entries: list[Remembered] = []
        self.origins: dict[str, gg.Root | Any] = {}
        self.statuses: dict[str, tuple[str | None, str | None]] = {}
        self._live: list[_Agent] = []
        self._born("root", gg.Root())

    def do(self, operation: str) -> None:
        """Carry out one operation by some live agent, when the journal has caught up."""
        sink = self.writer._sink
        while sink._queue.qsize() > DUE and sink.failure is None:
            time.sleep(0.0002)  # a run has other things to do than to fill the queue
        agent = self.draw.choice(self._live)
        match operation:
            case "call":
                agent.call()
            case "compaction":
                agent.compact()
            case "refused_image":
                agent.say(image=True)
                agent.fail("vision_unsupported")
                agent.unsay()
                agent.call()
                agent.frame()
            case "error":
                agent.fail(self.draw.choice(ERRORS))
            case "frame":
                agent.called()
                agent.frame()
            case "tool":
                agent.tool()
            case "read_file":
                agent.read_file()
            case "shell":
                agent.shell()
            case "git":
                agent.git()
            case "clock":
                agent.clock()
            case "probe":
                agent.probe()
            case "end" | "failed_end":
                self._end("done" if operation == "end" else "failed", None)
            case "deny_vision":
                self.writer.deny_vision(MODEL)
            case _ if operation.startswith("end:"):
                self._end(self.draw.choice(("done", "failed")), operation.removeprefix("end:"))
            case _:
                self._born(f"agent-{len(self.origins)}", self._origin(operation, agent.name))

    def text(self, most: int = 12) -> str:
        """Some words."""
        return " ".join(self.draw.choices(WORDS, k=self.draw.randint(0, most)))

    def _origin(self, kind: str, maker: str) -> Any:
        number = len(self.origins)
        match kind:
            case "spawn":
                return gg.Spawn(maker, number)
            case "succession":
                return gg.Succession(maker, number)
            case "issue_attempt":
                return gg.IssueAttempt(f"KITE-{number}", 0)
            case "reviewer":
                return gg.Reviewer(f"KITE-{number}", 1, number)
            case _:
                return gg.Merge(f"KITE-{number}", number)

    def _born(self, name: str, origin: Any) -> None:
        profile = "root" if name == "root" else "helper"
        capture = self.writer.agent(name, profile_id=profile, profile=profile.title(), origin=origin)
        self.origins[name], self.statuses[name] = origin, (None, None)
        self._live.append(_Agent(self, name, capture))

    def _end(self, status: Any, limit: str | None) -> None:
        if len(self._live) == 1:  # the root ends with the session
            self._born(f"agent-{len(self.origins)}", self._origin("spawn", "root"))
        agent = self.draw.choice(self._live[1:])
        self.end_agent(agent, status, limit)
        self._live.remove(agent)

    def end_agent(self, agent: _Agent, status: Any, limit: str | None) -> None:
        """The closing row of an agent."""
        window = 10 if limit == "error_rate" else None
        hit = None if limit is None else gg.LimitHit(limit, 0.5, 2, 3, agent.name, window)  # type: ignore[arg-type]
        agent.capture.end(status, limit_hit=hit)
        self.statuses[agent.name] = status, limit

    @property
    def root(self) -> _Agent:
        """The root agent."""
        return self._live[0]


class _Agent:
    """An agent of the session: its conversation, window and open calls."""

    def __init__(self, session: Session, name: str, capture: gg.AgentCapture) -> None:
        self.session, self.name, self.capture = session, name, capture
        self.bodies: list[dict[str, Any]] = [{"role": "system", "content": f"You are {name}."}]
        self.sent: list[Any] = [self._kept(self.bodies[0])]
        self.tools = [{"name": "shell", "description": session.text(3), "parameters": {"type": "object"}}]
        self.open: list[str] = []
        self.calls = 0
        self.elapsed = 0
        self._window: dict[int, gg.WindowItem] = {}

    def say(self, *, image: bool = False) -> None:
        """A message more."""
        body: dict[str, Any] = {"role": "user", "content": self.session.text()}
        if image:
            data = self.session.draw.choice(("QUJD", "WFla"))
            body["images"] = [{"mediaType": "image/png", "dataBase64": data, "bytes": 3}]
        self.bodies.append(body)
        self.sent.append(self._kept(body))

    def unsay(self) -> None:
        """The last message without its images."""
        body = {name: value for name, value in self.bodies[-1].items() if name != "images"}
        self.bodies[-1], self.sent[-1] = body, self._kept(body)

    def call(self, role: Any = "agent") -> None:
        """A model call, with a few tool calls."""
        self.say()
        draw = self.session.draw
        asked = [f"c{self.calls}-{i}" for i in range(draw.randint(0, 2))] if role == "agent" else []
        self.calls += 1
        reply = {
            "text": self.session.text(),
            "toolCalls": [{"id": one, "name": "shell", "arguments": {"n": self.calls}} for one in asked],
            "usage": {"uncachedInput": draw.randint(0, 9), "cachedInput": None, "output": 3, "reasoning": None},
        }
        shape: Any = draw.choice(("complete", "complete_requiring"))
        tools = draw.choice((None, [], self.tools))
        took = draw.choice((None, 0, 812))
        self.capture.model_io(self.sent, reply, tools=tools, role=role, shape=shape, duration_ms=took)
        told = {"messages": list(self.bodies), "tools": tools or None, "role": role, "shape": shape}
        self._remember("model_io", **told, response=reply, durationMs=took)
        if role == "agent":
            self.open = asked

    def called(self) -> None:
        """See to it that there was a call."""
        if not any(entry.agent == self.name and entry.told.get("response") and entry.told["role"] == "agent"
                   for entry in self.session.entries):  # fmt: skip
            self.call()

    def compact(self) -> None:
        """A compaction, after which the conversation is short."""
        self.call("compaction")
        self.bodies = [self.bodies[0], {"role": "user", "content": f"so far: {self.session.text()}"}]
        self.sent = [self._kept(body) for body in self.bodies]
        self._window.clear()

    def fail(self, kind: Any) -> None:
        """A model call that failed."""
        error = gg.ModelFailure(kind, self.session.text(3), status=402 if kind == "fatal" else None)
        self.capture.model_error(self.sent, error, tools=self.tools)
        told = {"messages": list(self.bodies), "tools": self.tools, "role": "agent", "shape": "complete"}
        self._remember("model_error", **told, error=kind)

    def frame(self) -> None:
        """The window: the whole conversation."""
        for i, body in enumerate(self.sent):
            if i not in self._window or self._window[i].message is not body:
                label = "src/kite.py" if i % 3 == 1 else None
                self._window[i] = gg.WindowItem(
                    body,
                    slot="system" if i == 0 else "thread",
                    source="system" if i == 0 else "file_view",
                    retention="pinned" if i == 0 else "ephemeral",
                    turn=i,
                    label=label,
                    region=gg.Region(40, 25) if label else None,
                )
        items = [self._window[i] for i in range(len(self.sent))]
        self.capture.prompt_frame(items)
        self._remember("prompt_frame", messages=list(self.bodies), turns=[item.turn for item in items])

    def tool(self) -> None:
        """A tool result, with the shell command that made it."""
        self.called()
        if not self.open:
            self.open.append("program:1")
        call_id, output = self.open.pop(0), self.session.text(40)
        self.shell(output)
        data = {"kind": "shell", "data": {"exitCode": 0, "body": output, "truncated": False}}
        images = [gg.Image("image/png", 3)] if self.calls % 2 else []
        ok = self.session.draw.random() < 0.8
        self.capture.tool_result(
            call_id, "shell", {"command": "ls"}, ok=ok, output=f"exit code: 0\n{output}", summary="ran",
            images=images, data=data, failure=None if ok else "refused",
        )  # fmt: skip
        self._remember(
            "tool_result", id=call_id, ok=ok, output=f"exit code: 0\n{output}", summary="ran", lifted=output,
            images=len(images), field="body", failure=None if ok else "refused",
        )  # fmt: skip

    def read_file(self) -> None:
        """A file read: what the model was fed is the file itself."""
        self.called()
        if not self.open:
            self.open.append("program:2")
        call_id, contents = self.open.pop(0), self.session.text(60)
        facts = {"contents": contents, "firstLine": 1, "lastLine": 1, "totalLines": 1, "byteTruncated": False}
        self.capture.tool_result(
            call_id, "read_file", {"path": "kite.py"}, output=contents, data={"kind": "fileText", "data": facts}
        )
        self._remember(
            "tool_result", id=call_id, ok=True, output=contents, summary=None, lifted=contents, images=0,
            field="contents", failure=None,
        )  # fmt: skip

    def shell(self, output: str | None = None) -> None:
        """A shell command."""
        origin: Any = self.session.draw.choice(("tool", "program", "hook"))
        cwd = self.session.draw.choice((gg.Workspace(), gg.Relative("web"), gg.Absolute("/usr/lib")))
        out = self.session.text(30) if output is None else output
        self.capture.shell("make", origin=origin, cwd=cwd, exit_code=-1, stdout=out, stderr="")
        self._remember("shell", origin=origin, stdout=out, stderr="", exitCode=-1)

    def git(self) -> None:
        """A git command."""
        out = self.session.text(30)
        self.capture.git("git status", exit_code=1, stdout=out, stderr=out)
        self._remember("git", stdout=out, stderr=out, exitCode=1)

    def clock(self) -> None:
        """A look at the clock."""
        self.elapsed += self.session.draw.randint(0, 5000)
        left = self.session.draw.choice((None, 60_000))
        self.capture.clock(self.elapsed, left)
        self._remember("clock", elapsedMs=self.elapsed, remainingMs=left)

    def probe(self) -> None:
        """A look at the cancel file."""
        canceled = self.session.draw.random() < 0.2
        self.capture.cancel_probe(canceled)
        self._remember("cancel_probe", canceled=canceled)

    def _kept(self, body: dict[str, Any]) -> Any:
        """The body itself, or what the writer made of it."""
        return self.session.writer.message(body) if self.session.draw.random() < 0.7 else body

    def _remember(self, kind: str, **told: Any) -> None:
        self.session.entries.append(Remembered(self.name, kind, told))
