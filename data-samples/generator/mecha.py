"""Jobs in, mecha transcripts out: one append-only file of records per session."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from generator import prose
from generator.mecha_runs import Run, text
from generator.story import MECHA, MODELS, Job
from generator.tokens import Context, Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]

TOOLS = ("fs_list", "fs_read", "fs_search", "fs_write", "fs_edit", "shell", "web_fetch", "mail_send")
SYSTEM = "You work in one folder of a small research group. Say what you found, change as little as needed."
TITLED = {"web": "web: ", "task": "task: "}


def write(ledger: Ledger) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every mecha file; what its runs used is entered in ``ledger``."""
    for number, job in enumerate(MECHA):
        session = Session(job, Random(f"mecha/{number}"), ledger)
        yield f"mecha/{session.id}.jsonl", session.recorded()


class Session:
    """One transcript in the making: its records, and the conversation as mecha holds it."""

    def __init__(self, job: Job, rng: Random, ledger: Ledger) -> None:
        self.job, self.rng, self.ledger = job, rng, ledger
        self.topic = prose.TOPICS[job.topic]
        self.model = MODELS[job.model]
        self.id = f"{job.at:%Y%m%dT%H%M%S}-{rng.getrandbits(32):08x}"
        self.records: list[Json] = []
        self.messages: list[Json] = []
        self.context = self._context(job.model)
        self.calls = 0
        self.private = self.untrusted = False

    def recorded(self) -> bytes:
        """The whole file."""
        job, traits = self.job, self.job.traits
        first = prose.ask(self.rng, self.topic)
        self._header(first)
        self.config()
        for number in range(1, job.runs + 1):
            last = number == job.runs
            if number == 2 and "switch" in traits:
                self.model = MODELS["opus"]
                self.context = self._context("opus")
                self.config()
            if number > 1 and job.surface in {"run", "task"}:
                self.config()  # each run is a process of its own that attaches again
            asked = first if number == 1 else prose.ask(self.rng, self.topic)
            Run(self, number, asked, last=last).work()
        if "torn" in traits:
            self.say("user", [text(prose.ask(self.rng, self.topic))])
            self.say("assistant", [text(prose.opening(self.rng, self.topic))])
            return lines(self.records)[:-37]
        return lines(self.records)

    def record(self, kind: str, /, **members: Any) -> None:  # noqa: ANN401 (JSON)
        """Append a record."""
        self.records.append({"record": kind, **members})

    def say(self, role: str, content: list[Json], **members: Any) -> None:  # noqa: ANN401 (JSON)
        """Append a message to file and conversation."""
        message = {"role": role, "content": content, **members}
        self.messages.append(message)
        self.record("message", **message)

    def rewrite(self, messages: list[Json]) -> None:
        """Replace the conversation."""
        self.messages = messages
        self.record("rewrite", messages=list(messages))

    def call_id(self) -> str:
        """A fresh id for a tool call."""
        self.calls += 1
        return f"toolu_{self.calls:02d}{self.rng.getrandbits(40):010x}"

    def config(self) -> None:
        """The configuration a process attaches with."""
        job, traits = self.job, self.job.traits
        self.record(
            "config",
            mecha_version="0.1.14" if job.at.month == 10 else "0.1.16",
            provider=self.model.provider,
            model=self.model.name,
            workspace=self.topic.folder,
            system_prompt=SYSTEM,
            tools=list(TOOLS),
            effort={"explicit": "medium", "implicit": "high"}.get(self.model.caching),
            temperature=0.2 if self.model.caching == "none" else None,
            seed=7 if self.model.caching == "none" else None,
            thinking=self.model.caching == "explicit",
            cache_prompt=self.model.caching == "explicit",
            max_tokens=8192,
            max_turns=12,
            max_output_tokens=60_000 if job.surface == "trigger" else None,
            max_cost_usd=0.75 if "budget" in traits else None,
            compact_at_tokens=120_000 if "compact" in traits else None,
            compact_keep_recent=2,
            permission_mode="read-only"
            if "refuse_policy" in traits
            else "allow"
            if job.surface == "trigger"
            else "ask",
            trifecta="block",
            sandbox="bwrap" if job.surface == "trigger" else "none",
            sandbox_network=job.surface == "trigger",
        )

    def _context(self, model: str) -> Context:
        return Context(self.rng, self.rng.randint(92_000, 134_000), caching=MODELS[model].caching)

    def _header(self, first: str) -> None:
        name = prose.title(self.topic, first)
        if self.job.surface == "trigger":
            name = "trigger: morning rain"
        self.record(
            "meta",
            id=self.id,
            created_at=f"{self.job.at:%Y-%m-%dT%H:%M:%SZ}",
            provider=self.model.provider,
            model=self.model.name,
            workspace=self.topic.folder,
            title=TITLED.get(self.job.surface, "") + name,
            kind=self.job.surface,
        )


def lines(records: Sequence[Json]) -> bytes:
    """Records as the file holds them."""
    return "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in records).encode()
