"""Models, tokens and cost of gg calls (specification, section 6): unknown is not zero."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.tables import Agent, Config, Entry, Outcome, Problem, Usage
from tests.formats.gg_examples import (
    HEADER,
    ROOT,
    USAGE,
    agent,
    call,
    dump,
    end,
    entry,
    journal,
    message,
    of,
    read,
    request,
)


def _profiles(**capability: object) -> dict[str, Any]:
    agents = [
        {"slug": "root", "modelId": "gale/tern-1", "capabilities": [{"id": "compaction", **capability}]},
        {"slug": "shell", "modelId": ""},
    ]
    return {**HEADER, "capabilitySet": {"agents": agents}}


@pytest.mark.parametrize(
    ("capability", "model"),
    [
        (
            {"enabled": True, "implementation": "handoff-summarization", "params": {"model": "gale/gull-2"}},
            "gale/gull-2",
        ),
        ({"enabled": True, "implementation": "handoff-compaction", "params": {"model": "gale/gull-2"}}, "gale/gull-2"),
        ({"enabled": True, "implementation": "handoff-compaction", "params": {"model": "  "}}, "gale/tern-1"),
        ({"enabled": True, "implementation": "self-compaction", "params": {"model": "gale/gull-2"}}, "gale/tern-1"),
        ({"enabled": False, "implementation": "handoff-compaction", "params": {"model": "x"}}, "gale/tern-1"),
        ({"enabled": True, "implementation": "handoff-compaction"}, "gale/tern-1"),
    ],
)
def test_the_model_of_a_compaction(capability: dict[str, Any], model: str) -> None:
    """Section 6.4: the strategy's own model where it may name one, else the agent's."""
    lines = [call(0, 0), call(1, 0, role="compaction")]
    rows = read(journal(_profiles(**capability), ROOT, message(0), *lines, end(2)))
    assert [(u.purpose, u.turn, u.model) for u in of(rows, Usage)] == [
        ("agent", 1, "gale/tern-1"),
        ("compaction", None, model),
    ]
    assert [u.provider for u in of(rows, Usage)] == [None, None]


@pytest.mark.parametrize("profile", ["shell", "unheard-of"])
def test_an_agent_without_a_model(profile: str) -> None:
    """Section 11: an empty model id is no model; neither is that of a profile nobody told."""
    row = {"type": "agent", "agent": {**ROOT["agent"], "profileId": profile}}
    rows = read(journal(_profiles(), row, message(0), call(0, 0), end(1)))
    assert [u.model for u in of(rows, Usage)] == [None]
    assert [a.model for a in of(rows, Agent)] == [None]
    assert [p.kind for p in of(rows, Problem)] == ([] if profile == "shell" else ["unknown_profile"])


@pytest.mark.parametrize("enabled", [True, False])
def test_a_state_machine_shell_has_no_model(*, enabled: bool) -> None:
    """Section 6.4, rule 3: agents run under the profiles the states of a shell name; the shell itself calls none."""
    shell = {"slug": "root", "modelId": "gale/tern-1", "capabilities": [{"id": "fsm", "enabled": enabled}]}
    header = {**HEADER, "capabilitySet": {"agents": [shell, {"slug": "state", "modelId": "gale/gull-2"}]}}
    row = {"type": "agent", "agent": {**ROOT["agent"], "agentId": "agent-0", "profileId": "state"}}
    lines = [call(0, 0), call(1, 0, agent="agent-0"), call(2, 0, agent="agent-0", role="compaction")]
    rows = read(journal(header, ROOT, row, message(0), *lines, end(3)))
    own = None if enabled else "gale/tern-1"
    assert [u.model for u in of(rows, Usage)] == [own, "gale/gull-2", "gale/gull-2"]
    assert [a.model for a in of(rows, Agent)] == [own, "gale/gull-2"]


Tokens = tuple[int | None, int | None, int | None, int | None, int | None]
TOKENS: list[tuple[object, Tokens, list[str]]] = [
    ({"uncachedInput": 7, "cachedInput": 11, "output": 13, "reasoning": 17}, (7, 11, 30, 17, 18), []),
    ({"uncachedInput": 7, "cachedInput": None, "output": 13, "reasoning": None}, (7, None, 13, None, 7), []),
    ({"uncachedInput": None, "cachedInput": 11, "output": None, "reasoning": 17}, (None, 11, 17, 17, 11), []),
    (dict.fromkeys(["uncachedInput", "cachedInput", "output", "reasoning"]), (None,) * 5, []),
    ({"uncachedInput": 0, "cachedInput": 0, "output": 0, "reasoning": 0}, (0, 0, 0, 0, 0), []),
    (None, (None,) * 5, ["usage_missing"]),
    ([1], (None,) * 5, ["usage_missing"]),
    ({"uncachedInput": 7.5, "cachedInput": True, "output": -1, "reasoning": "x"}, (None,) * 5, ["malformed_usage"] * 4),
]


@pytest.mark.parametrize(("usage", "expected", "kinds"), TOKENS)
def test_tokens(usage: object, expected: Tokens, kinds: list[str]) -> None:
    """Section 6.2: unknown is not zero; output takes reasoning in; a sum is unknown only when both parts are."""
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0, response={"usage": usage}), end(1)))
    (row,) = of(rows, Usage)
    tokens = (
        row.uncached_input_tokens,
        row.cache_read_tokens,
        row.output_tokens,
        row.reasoning_tokens,
        row.context_tokens,
    )
    assert tokens == expected
    assert row.cache_write_tokens is None
    assert [p.kind for p in of(rows, Problem)] == kinds


def test_both_sums() -> None:
    """Section 6.3: over all calls, and without compactions and replies cut off at their length."""

    def reply(n: int, cost: float | None, **more: object) -> dict[str, Any]:
        usage = {"uncachedInput": n, "cachedInput": None, "output": 10 * n, "reasoning": None}
        return {"usage": usage, **({} if cost is None else {"cost": {"actual": cost, "comparable": None}}), **more}

    lines = [
        call(0, 0, response=reply(1, 0.5)),
        call(1, 0, response=reply(2, 0.25, finishReason="length")),
        call(2, 0, role="compaction", response=reply(4, 0.125)),
        call(3, 0, response=reply(8, None, finishReason="stop")),
    ]
    (outcome,) = of(read(journal(HEADER, ROOT, message(0), *lines, end(4))), Outcome)
    assert json.loads(outcome.sensors or "") == {
        "all": {
            "calls": 4,
            "uncachedInput": 15,
            "cachedInput": None,
            "output": 150,
            "reasoning": None,
            "actual": 0.875,
            "comparable": None,
        },
        "turns": {
            "calls": 2,
            "uncachedInput": 9,
            "cachedInput": None,
            "output": 90,
            "reasoning": None,
            "actual": 0.5,
            "comparable": None,
        },
    }
    assert (outcome.turns, outcome.compactions, outcome.recorded_usd) == (3, 1, 0.875)


def test_spend_that_is_not_recorded() -> None:
    """Section 6.1: discarded replies cost money that no record holds, so the figure is a lower bound."""
    aborted = {"usage": USAGE, "loopAborts": {"attempts": 1, "words": 5, "chars": 25}}
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0), call(1, 0, response=aborted), end(2)))
    assert [u.is_lower_bound for u in of(rows, Usage)] == [False, True]
    assert [u.detail for u in of(rows, Usage)] == [None, '{"lower_bound":"discarded_replies"}']
    (outcome,) = of(rows, Outcome)
    assert outcome.usage_complete is False
    assert json.loads(outcome.sensors or "")["unrecorded"] == {"discarded_replies": {"cases": 1, "seq": 1}}


@pytest.mark.parametrize(
    ("kind", "complete"),
    [
        ("parse", False),
        ("provider_mismatch", False),
        ("response_loop", False),
        ("timeout", True),
        ("missing_api_key", True),
    ],
)
def test_errors_that_cost_money(kind: str, complete: bool) -> None:
    """Section 6.1: after a parse failure, a foreign provider or a looping reply the usage is not complete."""
    failed = entry(0, "model_error", request=request(0), error={"kind": kind, "message": "m", "attempts": 3})
    last = agent("root", {"type": "root"}, terminalStatus="done")
    rows = read(journal(HEADER, ROOT, message(0), failed, last, end(1)))
    (outcome,) = of(rows, Outcome)
    assert outcome.usage_complete is complete
    told = json.loads(outcome.sensors or "").get("unrecorded")
    assert told == (None if complete else {kind: {"cases": 1, "seq": 0}})
    assert [(e.status, e.reason) for e in of(rows, Entry)] == [("failed", kind)]


MOST_TOKENS = 1_000_000_000_000_000
"""What the project takes for the largest count of tokens."""


@pytest.mark.parametrize(
    ("usage", "expected", "notes"),
    [
        ((MOST_TOKENS, 0, MOST_TOKENS, None), (MOST_TOKENS, 0, MOST_TOKENS, None, MOST_TOKENS), 0),
        ((MOST_TOKENS + 1, 5, 7, 3), (None, 5, 10, 3, None), 1),
        ((11, 2**63, 7, 2**80), (11, None, None, None, None), 2),
        ((MOST_TOKENS, 1, 2, MOST_TOKENS), (MOST_TOKENS, 1, None, MOST_TOKENS, None), 2),
    ],
)
def test_tokens_nobody_can_mean_are_null(
    usage: tuple[int | None, ...], expected: tuple[int | None, ...], notes: int
) -> None:
    """A count or a sum above 10^15 is null with a note each; the call stays, and its figure is a lower bound."""
    names = ("uncachedInput", "cachedInput", "output", "reasoning")
    reply = {"usage": dict(zip(names, usage, strict=True))}
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0, response=reply), end(1)))
    (row,) = of(rows, Usage)
    assert (
        row.uncached_input_tokens, row.cache_read_tokens, row.output_tokens, row.reasoning_tokens, row.context_tokens,
    ) == expected  # fmt: skip
    assert [(p.kind, p.severity, p.seq) for p in of(rows, Problem)] == [("number_too_large", "note", 0)] * notes
    assert row.is_lower_bound is (notes > 0)
    assert of(rows, Outcome)[0].usage_complete is (False if notes else None)
    assert [e.kind for e in of(rows, Entry)] == ["model_call"]


@pytest.mark.parametrize(
    ("amount", "kept"),
    [
        (b"0.5", 0.5),
        (b"1000000000000", 1e12),
        (b"1000000000001", None),
        (b"-2e12", None),
        (b"1e300", None),
        (b"1" + b"0" * 300, None),
    ],
)
def test_costs_nobody_can_mean_are_null(amount: bytes, kept: float | None) -> None:
    """An amount above 10^12 dollars, however it is written, is null with a note, and the figure a lower bound."""
    line = dump(call(0, 0, response={"usage": USAGE, "cost": {"actual": "AMOUNT", "comparable": 0.25}}))
    rows = read(journal(HEADER, ROOT, message(0), line.replace(b'"AMOUNT"', amount), end(1)))
    (row,) = of(rows, Usage)
    assert (row.recorded_usd, row.recorded_list_usd, row.is_lower_bound) == (kept, 0.25, kept is None)
    assert [p.kind for p in of(rows, Problem)] == ([] if kept is not None else ["number_too_large"])
    assert of(rows, Outcome)[0].recorded_usd == kept


def test_limits_nobody_can_mean_are_null() -> None:
    """A cost ceiling above 10^12 and a context window above 10^15 are null in the configuration, with notes."""
    capabilities = {**HEADER["capabilitySet"], "limits": {"maxCost": "AMOUNT", "maxTurns": 9}}
    header = dump({**HEADER, "capabilitySet": capabilities}).replace(b'"AMOUNT"', b"1" + b"0" * 300)
    seed = {"type": "seed", "seed": {"prompt": "p", "modelWindows": {"gale/tern-1": MOST_TOKENS + 1}}}
    rows = read(journal(header, ROOT, seed, end(0)))
    (config,) = of(rows, Config)
    assert (config.max_usd, config.max_turns, config.window_tokens) == (None, 9, None)
    assert [(p.kind, p.severity) for p in of(rows, Problem)] == [("number_too_large", "note")] * 2
