"""What differs per format when its entries become a record: data, looked up by the name of the format."""

from __future__ import annotations

import msgspec


class Dialect(msgspec.Struct, frozen=True):
    """How one format's sessions are told.

    Attributes:
        harness: `harness` of the head.
        agent: `agent` of the head; None: the name of the agent's profile.
        left_out: recorded kinds that are bookkeeping of the recorder or repeat what another entry tells, each with the
            words a note counts them by.
        replies: the pool that `output_ix` of a model call points into; None: a reply is a message like any other.
        requests_tell: messages are told by the requests that hold them (`windows`), not by entries of their own.
    """

    harness: str
    agent: str | None
    left_out: dict[str, str] = {}
    replies: str | None = None
    requests_tell: bool = False


GG = Dialect(
    harness="gg",
    agent=None,
    left_out={
        "clock": "clock readings",
        "prompt_frame": "context frames",
        "cancel_probe": "cancel probes without a cancel",
    },
    replies="response",
    requests_tell=True,
)
MECHA = Dialect(
    harness="mecha",
    agent="mecha",
    left_out={"meta": "transcript headers", "summary": "usage summaries"},
)
CLAUDE_CODE = Dialect(
    harness="claude_code",
    agent="claude-code",
    left_out={
        "progress/agent_progress": "repeated messages of subagents",
        "progress/bash_progress": "progress reports of running tools",
        "progress/mcp_progress": "progress reports of running tools",
        "progress/query_update": "progress reports of running tools",
        "progress/search_results_received": "progress reports of running tools",
        "last-prompt": "repeated prompts",
    },
)

DIALECTS = {"gg": GG, "mecha": MECHA, "claude_code": CLAUDE_CODE}


def dialect_of(name: str) -> Dialect:
    """The dialect of the format of that name; one nobody described is told by the common kinds alone."""
    return DIALECTS.get(name) or Dialect(harness=name, agent=None)
