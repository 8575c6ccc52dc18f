"""The plot: who works when, on what, with which model, and what goes wrong. One row per session, in order of time.

Two months of a small group's work, 2026-10-01 to 2026-11-28. From 2026-10-29 to 2026-11-11 the model most used
fails its tool calls about six times as often as before, ends runs on a failed call and is cut short by the harness;
then it recovers. The other models, and the same model called through gg, do not change.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import NamedTuple


class Model(NamedTuple):
    """A model: its provider, its name there, and its name behind the gateway gg uses."""

    provider: str
    name: str
    routed: str
    caching: str


MODELS = {
    "sonnet": Model("anthropic", "claude-sonnet-4-5", "anthropic/claude-sonnet-4.5", "explicit"),
    "opus": Model("anthropic", "claude-opus-4-5", "anthropic/claude-opus-4.5", "explicit"),
    "haiku": Model("anthropic", "claude-haiku-4-5", "anthropic/claude-haiku-4.5", "explicit"),
    "gpt": Model("openai", "gpt-5", "openai/gpt-5", "implicit"),
    "mini": Model("openai", "gpt-5-mini", "openai/gpt-5-mini", "implicit"),
    "gemini": Model("google", "gemini-2.5-pro", "google/gemini-2.5-pro", "implicit"),
    "sparrow": Model("nest", "sparrow-1", "nest/sparrow-1", "implicit"),
    "finch": Model("local", "finch-7b", "local/finch-7b", "none"),
}
"""`sparrow-1` has no price anywhere; `local` is free by the bundled rates.toml; the rest have public prices."""

REGRESSION = (date(2026, 10, 29), date(2026, 11, 11))
"""First and last day on which REGRESSED fails."""
REGRESSED = "sonnet"
USUAL_FAILURES = {"opus": 0.03, "sonnet": 0.05, "sparrow": 0.12, "finch": 0.10}
OTHERS_FAIL, REGRESSED_FAILS = 0.06, 0.36


class Job(NamedTuple):
    """One session to be.

    ``runs`` are requests of a person (gg: turns of the root agent); ``traits`` name what is special about it, in the
    words of the module that writes it.
    """

    at: datetime
    surface: str
    topic: str
    model: str
    runs: int
    traits: frozenset[str]

    @property
    def regressed(self) -> bool:
        """Whether the session falls into the bad two weeks of the bad model."""
        return self.model == REGRESSED and REGRESSION[0] <= self.at.date() <= REGRESSION[1]

    @property
    def failure_rate(self) -> float:
        """Share of tool calls that fail."""
        return REGRESSED_FAILS if self.regressed else USUAL_FAILURES.get(self.model, OTHERS_FAIL)

    @property
    def cut_rate(self) -> float:
        """Share of runs the harness cuts short."""
        return 0.42 if self.regressed else 0.02

    @property
    def failed_end_rate(self) -> float:
        """Share of the other runs that end on a failed call."""
        return 0.68 if self.regressed else 0.02


def _job(when: str, surface: str, topic: str, model: str, runs: int, traits: str = "") -> Job:
    at = datetime.fromisoformat(f"2026-{when}").replace(tzinfo=UTC)
    return Job(at, surface, topic, model, runs, frozenset(traits.split()))


MECHA = (
    _job("10-01T08:15:00", "run", "birds", "sonnet", 1, "goal private cost"),
    _job("10-02T09:40:12", "chat", "tides", "opus", 3, "clean extend cost"),
    _job("10-05T07:30:00", "trigger", "rain", "sparrow", 1, "untrusted"),
    _job("10-07T13:05:44", "run", "parser", "sonnet", 2, "private untrusted compact retitle cost"),
    _job("10-09T10:20:31", "web", "ferry", "gpt", 3, "untrusted steer refuse_person cost"),
    _job("10-10T06:00:00", "trigger", "rain", "sparrow", 1, "clean"),
    _job("10-14T15:45:09", "task", "herbarium", "sonnet", 2, "private staged checks goal cost"),
    _job("10-16T11:10:50", "chat", "moths", "gemini", 2, "clean refuse_policy incomplete"),
    _job("10-20T09:00:27", "run", "lantern", "finch", 2, "clean malformed cost"),
    _job("10-22T16:30:18", "tui", "parser", "sonnet", 3, "private switch cost"),
    _job("10-27T10:50:36", "run", "tides", "opus", 2, "private untrusted budget cost"),
    _job("10-29T08:30:05", "run", "birds", "sonnet", 3, "private cost"),
    _job("10-30T14:10:52", "chat", "ferry", "sonnet", 3, "clean compact cost"),
    _job("11-02T09:25:40", "task", "parser", "sonnet", 4, "clean goal cost"),
    _job("11-03T07:30:00", "trigger", "rain", "sonnet", 2, "untrusted notes"),
    _job("11-04T11:40:13", "run", "moths", "sonnet", 3, "private refuse_hook cost"),
    _job("11-05T13:15:58", "web", "tides", "sonnet", 4, "private untrusted gradual blocked_send crash cost"),
    _job("11-06T10:05:22", "run", "herbarium", "sonnet", 3, "private no_output cost"),
    _job("11-09T09:10:47", "chat", "lantern", "sonnet", 3, "untrusted steer hostile stale cost"),
    _job("11-10T15:00:33", "run", "letters", "sonnet", 4, "clean cost"),
    _job("11-16T10:30:08", "run", "parser", "sonnet", 3, "private compact goal cost"),
    _job("11-19T09:45:55", "slack", "birds", "gpt", 2, "no_taint delivery cost"),
    _job("11-22T08:50:20", "test", "recipes", "finch", 1, "clean cost"),
    _job("11-28T14:20:41", "chat", "tides", "opus", 3, "clean image rollback interrupted torn cost"),
)

CLAUDE_CODE = (
    _job("10-01T14:02:10", "cli", "parser", "sonnet", 2, "growing title"),
    _job("10-06T09:31:45", "cli", "birds", "opus", 2, "subagents"),
    _job("10-08T10:15:03", "cli", "lantern", "sonnet", 3, "denied thinking growing hourly"),
    _job("10-13T13:40:29", "cli", "tides", "sonnet", 3, "compacted"),
    _job("10-21T11:03:37", "sdk-cli", "ferry", "sonnet", 2, "web mcp"),
    _job("10-28T09:50:14", "cli", "moths", "opus", 3, "interrupted denied"),
    _job("10-29T10:30:51", "cli", "parser", "sonnet", 3, "api_error"),
    _job("11-02T14:32:06", "cli", "ferry", "sonnet", 3, "growing web"),
    _job("11-04T09:02:49", "cli", "herbarium", "sonnet", 3, "subagents"),
    _job("11-06T15:20:17", "cli", "moths", "sonnet", 3, "hostile torn web"),
    _job("11-10T10:42:38", "cli", "parser", "sonnet", 2, "resumed_from"),
    _job("11-11T09:15:26", "cli", "parser", "sonnet", 2, "resumes"),
    _job("11-17T10:05:11", "cli", "birds", "sonnet", 3, "hourly hook mcp skill"),
    _job("11-25T13:30:54", "cli", "lantern", "opus", 3, "subagents progress compacted"),
)
"""The session marked `resumes` is the one marked `resumed_from`, taken up again under a new id, its lines copied."""

GG = (
    _job("10-02T10:00:00", "journal", "tides", "sonnet", 14, "hook"),
    _job("10-05T13:00:00", "record", "parser", "gpt", 12, "canceled"),
    _job("10-12T09:00:00", "both", "lantern", "opus", 7, "board merge"),
    _job("10-15T15:00:00", "journal", "ferry", "gemini", 6, "spawn succession"),
    _job("10-19T11:00:00", "record", "rain", "sparrow", 15, "turns_limit"),
    _job("10-23T09:00:00", "record", "birds", "sonnet", 5, "board rework"),
    _job("10-30T16:00:00", "journal", "moths", "gpt", 12, "killed"),
    _job("11-03T10:00:00", "record", "recipes", "mini", 13, "program memory"),
    _job("11-05T14:00:00", "both", "lantern", "sonnet", 11, "vision"),
    _job("11-09T08:00:00", "journal", "herbarium", "opus", 9, "spawn compaction error_limit"),
    _job("11-12T13:00:00", "record", "ferry", "gemini", 5, "board merge idle"),
    _job("11-17T12:00:00", "journal", "letters", "opus", 12, "clip hook"),
    _job("11-20T10:00:00", "record", "tides", "gemini", 13, "cost_limit retries"),
    _job("11-26T11:00:00", "journal", "parser", "gpt", 13, "full"),
)
"""gg writes no dates: these give the order only. The surface says what is left of a run: journal, record or both."""

DATALAYER = (
    _job("10-02T09:00:00", "app", "tides", "", 3, "checks feedback cloned"),
    _job("10-08T13:30:00", "app", "ferry", "", 3, "approvals rules"),
    _job("10-15T10:10:00", "app", "birds", "", 3, "failures retry"),
    _job("10-23T08:45:00", "app", "tides", "", 2, "clone checks"),
    _job("10-30T11:20:00", "app", "moths", "", 2, "limit"),
    _job("11-05T15:00:00", "app", "herbarium", "", 3, "import feedback"),
    _job("11-12T09:40:00", "app", "rain", "", 3, "harness swapped error"),
    _job("11-19T14:15:00", "app", "lantern", "", 3, "ended archived notify unfinished"),
)
"""datalayer names no model and no tokens. The session marked `clone` is one of the session marked `cloned`."""
