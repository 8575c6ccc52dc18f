"""Jobs in, Claude Code transcripts out: a file per session, and one per subagent in a folder beside it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

from generator import prose
from generator.claude_code_prompts import Prompt
from generator.story import CLAUDE_CODE, MODELS, Job, Model
from generator.tokens import Context, Ledger, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

GROWING, COMPLETE = "2.1.86", "2.1.241"
"""Versions of the recorder: the older one writes the true output tokens on a reply's last line only."""
OPENING = {"sonnet": (98_000, 140_000), "opus": (66_000, 98_000)}
"""Tokens a conversation begins with: instructions, tools and the files the recorder loads, least and most."""
NAMES = ("quiet-otter", "plain-heron", "early-lamp", "slow-tern", "warm-slate", "small-harbour", "late-thrush")


def write(ledger: Ledger) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every Claude Code file; each call is entered in ``ledger`` once."""
    resumed: Session | None = None
    for number, job in enumerate(CLAUDE_CODE):
        rng = Random(f"claude_code/{number}")
        session = Session(job, rng, ledger)
        if "resumes" in job.traits and resumed is not None:
            session.resume(resumed)
        session.work()
        if "resumed_from" in job.traits:
            resumed = session
        yield from session.files()


class Chain:
    """One transcript file in the making: the lines of one agent, each hanging from the one before."""

    def __init__(self, session: Session, agent_id: str | None, model: Model, context: Context) -> None:
        self.session, self.agent_id, self.model, self.context = session, agent_id, model, context
        self.lines: list[Json] = []
        self.parent: str | None = None

    def line(self, kind: str, message: Json | None = None, /, **members: Any) -> Json:  # noqa: ANN401 (JSON)
        """Append a line with the envelope every chat line has."""
        s = self.session
        line: Json = {"parentUuid": self.parent, "isSidechain": self.agent_id is not None, "userType": "external"}
        line |= {"cwd": s.topic.folder, "sessionId": s.id, "version": s.version, "gitBranch": s.branch, "slug": s.slug}
        if self.agent_id is not None:
            line["agentId"] = self.agent_id
        line["type"] = kind
        if message is not None:
            line["message"] = message
        line |= {"uuid": s.uuid(), "timestamp": s.now(), "entrypoint": s.job.surface, **members}
        self.parent = line["uuid"]
        self.lines.append(line)
        return line

    def aside(self, kind: str, **members: Any) -> None:  # noqa: ANN401 (JSON)
        """Append a bookkeeping line, which stands outside the conversation."""
        self.lines.append({"type": kind, "sessionId": self.session.id, **members})

    def reply(self, blocks: list[Json], output: int, *, stop: str) -> None:
        """A reply of the model: a line per block, each with the usage of the whole."""
        s = self.session
        used = self.context.call(output)
        s.ledger.add("claude_code", self.model.name, used)
        message_id = f"msg_01{s.rng.getrandbits(110):022x}"
        request_id = f"req_01{s.rng.getrandbits(110):022x}"
        for at, block in enumerate(blocks):
            last = at == len(blocks) - 1
            told = used if last or not s.growing else used._replace(output=s.rng.randint(1, min(8, output)))
            message = {
                "model": self.model.name,
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": stop if last or not s.growing else None,
                "stop_sequence": None,
                "usage": _usage(told),
            }
            s.pass_time(2, 14)
            self.line("assistant", message, requestId=request_id)

    def result(self, call_id: str, content: str, *, is_error: bool = False, told: object = None) -> None:
        """The result of a tool call."""
        block: Json = {"tool_use_id": call_id, "type": "tool_result", "content": content}
        if is_error:
            block["is_error"] = True
        told = f"Error: {content}" if is_error and told is None else told
        answers = self.parent
        self.line(
            "user",
            {"role": "user", "content": [block]},
            **({} if told is None else {"toolUseResult": told}),
            sourceToolAssistantUUID=answers,
        )

    def written(self) -> bytes:
        """The file."""
        return "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in self.lines).encode()


class Session:
    """One session: its main transcript and those of its subagents."""

    def __init__(self, job: Job, rng: Random, ledger: Ledger) -> None:
        self.job, self.rng, self.ledger = job, rng, ledger
        self.topic, self.model = prose.TOPICS[job.topic], MODELS[job.model]
        self.growing = "growing" in job.traits
        self.version = GROWING if self.growing or "progress" in job.traits else COMPLETE
        self.branch = rng.choice(("main", "main", f"fix-{job.topic}", f"{job.topic}-{rng.randint(2, 40)}"))
        self.slug = "-".join(rng.sample(NAMES, 2))
        self.clock: datetime = job.at
        self.id = self.uuid()
        hourly = "hourly" in job.traits
        self.main = Chain(self, None, self.model, Context(rng, rng.randint(*OPENING[job.model]), hourly=hourly))
        self.sides: list[Chain] = []
        self.calls = 0

    def work(self) -> None:
        """Write the session, prompt by prompt."""
        for number in range(1, self.job.runs + 1):
            Prompt(self, number, last=number == self.job.runs).work()
            self.pass_time(60, 1500)
        if self.version == COMPLETE or "title" in self.job.traits:
            thing, place = self.rng.choice(self.topic.things), self.rng.choice(self.topic.places)
            self.main.aside("ai-title", aiTitle=f"{thing.capitalize()}, {place}")

    def resume(self, other: Session) -> None:
        """Begin with the lines of ``other``, copied under this session's id as a resumed session does."""
        for line in other.main.lines:
            copied = {**line, "sessionId": self.id}
            if "uuid" in line:
                copied["forkedFrom"] = {"sessionId": other.id, "messageUuid": line["uuid"]}
            self.main.lines.append(copied)
        self.main.parent, self.topic, self.branch = other.main.parent, other.topic, other.branch
        self.main.context.size = other.main.context.size

    def side(self, agent_id: str, model: Model, context: Context) -> Chain:
        """A subagent's transcript."""
        chain = Chain(self, agent_id, model, context)
        self.sides.append(chain)
        return chain

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Path and bytes of every file of the session."""
        folder = "claude_code/" + self.topic.folder.replace("/", "-")
        main = self.main.written()
        if "torn" in self.job.traits:
            main = _torn(main)
        yield f"{folder}/{self.id}.jsonl", main
        for chain in self.sides:
            yield f"{folder}/{self.id}/subagents/agent-{chain.agent_id}.jsonl", chain.written()

    def uuid(self) -> str:
        """A fresh random id."""
        return str(UUID(int=self.rng.getrandbits(128), version=4))

    def call_id(self) -> str:
        """A fresh id for a tool call."""
        return f"toolu_01{self.rng.getrandbits(110):022x}"

    def pass_time(self, least: float, most: float) -> None:
        """Let some seconds go by."""
        self.clock += timedelta(milliseconds=round(self.rng.uniform(least, most) * 1000))

    def now(self) -> str:
        """The time as the recorder writes it."""
        return f"{self.clock:%Y-%m-%dT%H:%M:%S}.{self.clock.microsecond // 1000:03d}Z"


def _usage(used: Tokens) -> Json:
    return {
        "input_tokens": used.uncached,
        "cache_creation_input_tokens": used.cache_write + used.cache_write_1h,
        "cache_read_input_tokens": used.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": used.cache_write,
            "ephemeral_1h_input_tokens": used.cache_write_1h,
        },
        "output_tokens": used.output,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
    }


def _torn(data: bytes) -> bytes:
    """The file with a bookkeeping line in its middle cut short, as after a full disk: no call is lost."""
    whole = data.splitlines(keepends=True)
    at = next(n for n, line in enumerate(whole) if n > len(whole) // 2 and b'"type":"file-history-snapshot"' in line)
    return b"".join([*whole[:at], whole[at][:58] + b"\n", *whole[at + 1 :]])
