"""Jobs in, gg session captures out: a journal, a record, or both, in a folder per run."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from generator import prose
from generator.gg_agents import COST_LIMIT, ERROR_WINDOW, PROVIDERS, Agent
from generator.gg_recorder import Recorder
from generator.story import GG, MODELS, Job
from generator.tokens import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

HELPERS = {"scout": "mini", "builder": "sonnet", "critic": "gemini", "merger": "haiku"}
"""Profiles beside the root's, and the models they run on."""


def write(ledger: Ledger) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every gg file; each call that is left on disk is entered in ``ledger`` once."""
    for number, job in enumerate(GG):
        run = Session(job, Random(f"gg/{number}"), f"run-{401 + number * 3:04d}", ledger)
        run.work()
        folder = f"gg/{run.id}"
        if job.surface in {"journal", "both"}:
            journal = run.recorder.journal()
            yield f"{folder}/replay.ndjson", journal[:-61] if "killed" in job.traits else journal
        if job.surface in {"record", "both"}:
            yield f"{folder}/replay.json.gz", run.recorder.record()


class Session:
    """One run: its agents, and the recorder that watches them."""

    def __init__(self, job: Job, rng: Random, run_id: str, ledger: Ledger) -> None:
        self.job, self.rng, self.id, self.ledger = job, rng, run_id, ledger
        self.topic = prose.TOPICS[job.topic]
        self.elapsed = rng.randint(150, 900)
        self.prompt = prose.ask(rng, self.topic)
        self.models = {"lead": MODELS[job.model], **{slug: MODELS[name] for slug, name in HELPERS.items()}}
        self.vision = True
        self.minted = 0
        key = "".join(rng.choice("abcdefghijkmnpqrstuvwxyz0123456789") for _ in range(24))
        header = {
            "sessionId": run_id,
            "routingKey": key,
            "capabilitySet": self._capabilities(),
            "recorder": {"ggVersion": "0.9.4"},
        }
        self.recorder = Recorder(header, self._seed())

    def work(self) -> None:
        """Let the root agent work, and whoever it sends."""
        traits, root = self.job.traits, Agent(self, "root", "lead", {"type": "root"}, self.prompt)
        if "board" in traits:
            root.turns_of(2)
            self._issues()
            root.turns_of(2)
        elif "spawn" in traits:
            root.turns_of(self.job.runs // 2)
            self._helpers(root)
            root.turns_of(self.job.runs - self.job.runs // 2)
        else:
            root.turns_of(self.job.runs - 1)
            if "canceled" in traits:
                root.cancel()
                self.recorder.end()
                return
            if "killed" in traits:
                return
        if "full" in traits:
            last = self.recorder.entries - 1
            self.recorder.end({"reason": "byte_ceiling", "lastSeq": last, "bytes": len(self.recorder.journal())})
            return
        root.finish()
        if not self.vision:
            self.recorder.seed(self._seed())
        self.recorder.end()

    def mint(self) -> str:
        """A fresh agent id."""
        self.minted += 1
        return f"agent-{self.minted - 1}"

    def git(self, agent_id: str, command: str, out: str = "") -> None:
        """Git is run on an agent's behalf."""
        told = {"command": command, "cwd": {"type": "workspace"}, "exitCode": 0}
        streams = {"stdout": self.recorder.stream(out), "stderr": self.recorder.stream("")}
        self.recorder.entry(agent_id, "git", command={**told, **streams})

    def _issues(self) -> None:
        """The board: attempts at issues, reviews of them, rework where a review asks for it, merges.

        In a run with rework the first attempt fails, the second is sent back by its review, the third passes.
        """
        prefix, rework = self.topic.name.upper(), "rework" in self.job.traits
        for number in (1,) if rework else (1, 2):
            issue = f"{prefix}-{number}"
            for attempt in range(3 if rework else 1):
                origin = {"type": "issue_attempt", "issue": issue, "attempt": attempt}
                name = f"{issue}.{attempt}i"
                worker = Agent(self, name, "builder", origin, prose.ask(self.rng, self.topic))
                self.git(name, f"git worktree add ../wt/{issue} -b issue/{issue}-{attempt}")
                worker.turns_of(2)
                if rework and attempt == 0:
                    worker.fail()
                    continue
                worker.finish()
                self.git(
                    name, f"git commit -am '{issue}: {self.topic.things[number]}'", f"[issue/{issue}] 2 files changed"
                )
                origin = {"type": "reviewer", "issue": issue, "round": attempt - rework, "position": 0}
                critic = Agent(self, f"{name}.0r", "critic", origin, f"Review {issue}: {worker.prompt}")
                critic.turns_of(1)
                critic.finish()
            if "merge" in self.job.traits and number == 1:
                merger = Agent(
                    self, self.mint(), "merger", {"type": "merge", "issue": issue, "ordinal": 0}, f"Merge {issue}."
                )
                merger.turns_of(1)
                merger.finish()
                self.git(merger.id, f"git merge --no-ff issue/{issue}-0", "Merge made by the 'ort' strategy.")
        if "idle" in self.job.traits:  # dispatched, and the run ended before its turn came
            origin = {"type": "issue_attempt", "issue": f"{prefix}-3", "attempt": 0}
            Agent(self, f"{prefix}-3.0i", "builder", origin, "")

    def _helpers(self, root: Agent) -> None:
        """Helpers the root spawned work; one of them hands over to a successor."""
        helpers = [root.spawn("scout") for _ in range(2)] + [root.spawn("builder")]
        for helper in helpers:
            helper.turns_of(ERROR_WINDOW if helper.stumbles else 2)
            if "succession" in self.job.traits and helper is helpers[0]:
                origin = {"type": "succession", "predecessor": helper.id, "ordinal": 0}
                helper.finish()
                heir = Agent(self, self.mint(), "scout", origin, prose.summary(self.rng, self.topic))
                heir.turns_of(2)
                heir.finish()
            else:
                helper.finish()
        root.collect(helpers)

    def _capabilities(self) -> Json:
        traits = self.job.traits
        crew = ("lead", *HELPERS) if {"board", "spawn"} & traits else ("lead",)
        agents = []
        for slug in crew:
            capabilities: list[Json] = [{"id": "shell", "enabled": True, "params": {}}]
            if slug == "lead" and "compaction" in traits:
                params = {"model": MODELS["haiku"].routed}
                one = {"id": "compaction", "enabled": True, "implementation": "handoff-summarization", "params": params}
                capabilities.append(one)
            agent: Json = {"slug": slug, "name": slug.capitalize(), "capabilities": capabilities}
            agent |= {"modelId": self.models[slug].routed, "openingTurn": {"modules": [], "functions": []}}
            if slug == "lead":
                agent["reasoning"] = {"effort": "medium"}
            agents.append(agent)
        limits: Json = {
            "maxParallel": 3,
            "maxTurns": self.job.runs - 1 if "turns_limit" in traits else 60,
            "replayMaxBytes": 4_194_304,
        }
        limits |= {
            "maxCost": COST_LIMIT if "cost_limit" in traits else 12.5,
            "maxErrorRate": 0.6,
            "errorRateWindow": ERROR_WINDOW,
        }
        more = {"hooks": [{"event": "turn_end", "command": self.topic.test}]} if "hook" in traits else {}
        return {
            "preset": "board" if "board" in traits else "crew" if "spawn" in traits else "solo",
            "agents": agents,
            "limits": limits,
            **more,
        }

    def _seed(self) -> Json:
        used = sorted({self.models[slug] for slug in self.models}, key=lambda model: model.routed)
        return {
            "baselineCommit": f"{Random(self.id).getrandbits(28):07x}",
            "prompt": self.prompt,
            "modelWindows": {model.routed: 400_000 if model.provider == "openai" else 200_000 for model in used},
            "modelProviders": {
                model.routed: [{"provider": PROVIDERS[model.provider], "quantization": "unknown"}] for model in used
            },
            "modelModalities": {
                model.routed: {"vision": self.vision or model is not self.models["lead"]} for model in used
            },
        }
