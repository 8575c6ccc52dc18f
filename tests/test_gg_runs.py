"""Journals of whole gg runs, loaded: agents across runs, time, lower bounds, what `show` says of the launch."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import sessionlab as sl
from sessionlab.cli import app
from tests.formats.gg_examples import (
    HEADER,
    USAGE,
    agent,
    asks,
    call,
    end,
    entry,
    frame,
    journal,
    message,
    record,
    request,
    result,
    text,
)

ORIGINS: dict[str, dict[str, Any]] = {
    "root": {"type": "root"},
    "scout": {"type": "spawn", "parent": "root", "ordinal": 0},
    "twin": {"type": "spawn", "parent": "root", "ordinal": 1},
    "digger": {"type": "spawn", "parent": "scout", "ordinal": 0},
    "deeper": {"type": "spawn", "parent": "digger", "ordinal": 2},
    "heir": {"type": "succession", "predecessor": "digger", "ordinal": 0},
    "mason": {"type": "issue_attempt", "issue": "KITE-3", "attempt": 0},
    "again": {"type": "issue_attempt", "issue": "KITE-3", "attempt": 1},
    "hand": {"type": "spawn", "parent": "mason", "ordinal": 0},
    "judge": {"type": "reviewer", "issue": "KITE-3", "round": 1, "position": 0},
    "merger": {"type": "merge", "issue": "KITE-3", "ordinal": 0},
}
"""All six origins, spawns three deep, an heir, and two attempts of one issue; by what each is called here."""


def _run(session: str, turns: dict[str, int], *, seed: int) -> list[dict[str, Any]]:
    """The lines of a run in which each agent takes so many turns; ids and order of creation are drawn."""
    rng = random.Random(seed)
    numbers = rng.sample(range(100), len(ORIGINS))
    ids = {name: f"agent-{number}" for name, number in zip(ORIGINS, numbers, strict=True)} | {"root": "root"}
    born = [name for name in ORIGINS if name in turns]
    rng.shuffle(born)
    lines = [{**HEADER, "sessionId": session}, message(0), text(0, "x")]
    for name in born:
        origin = {
            key: ids[value] if key in {"parent", "predecessor"} else value for key, value in ORIGINS[name].items()
        }
        lines.append(agent(ids[name], origin, profile=name, terminalStatus="done"))
    work = [name for name in born for _ in range(turns[name])]
    rng.shuffle(work)
    entries: list[dict[str, Any]] = []
    for name in work:
        at, who = len(entries), ids[name]
        entries += [
            call(at, 0, agent=who, response=asks("c"), durationMs=100),
            frame(at + 1, 0, agent=who),
            result(at + 2, "c", agent=who, ok=name != "hand"),
        ]
    return [*lines, *entries, end(len(entries))]


def _as_record(lines: list[dict[str, Any]]) -> bytes:
    of: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        of.setdefault(line["type"], []).append(line)
    return record(
        sessionId=of["header"][0]["sessionId"],
        agents=[line["agent"] for line in of["agent"]],
        messages=[line["message"] for line in of["message"]],
        texts=[line["text"] for line in of["text"]],
        entries=[line["entry"] for line in of["entry"]],
    )


@pytest.mark.parametrize("seed", range(4))
def test_two_runs_pair_up_by_origin(tmp_path: Path, seed: int) -> None:
    """Ids permuted, creation order shuffled, one run a journal and one a record: every agent meets itself alone."""
    turns = {name: n + 1 for n, name in enumerate(ORIGINS)}
    others = {name: 2 * count for name, count in turns.items() if name != "twin"}
    (tmp_path / "a.ndjson").write_bytes(journal(*_run("a", turns, seed=seed)))
    (tmp_path / "b.json").write_bytes(_as_record(_run("b", others, seed=seed + 100)))
    corpus = sl.load(tmp_path)
    assert corpus.problems.is_empty()
    pairs = corpus.view("agents.compare", session_id="gg:a", other_session_id="gg:b")
    assert dict(pairs.select("profile", "other_profile").iter_rows()) == {
        name: None if name == "twin" else name for name in ORIGINS
    }
    assert dict(pairs.select("profile", "found_in").iter_rows()) == {
        name: "this" if name == "twin" else "both" for name in ORIGINS
    }
    met = pairs.filter(pl.col("found_in") == "both")
    assert dict(met.select("profile", "turns_diff").iter_rows()) == {n: c for n, c in turns.items() if n != "twin"}
    assert dict(met.select("profile", "tool_errors_diff").iter_rows())["hand"] == turns["hand"]
    assert met["tool_errors_diff"].sum() == turns["hand"]
    assert met["tokens_diff"].to_list() == [5 * diff for diff in met["turns_diff"]]
    back = corpus.view("agents.compare", session_id="gg:b", other_session_id="gg:a")
    assert dict(back.select("origin_key", "turns_diff").iter_rows()) == {
        key: None if diff is None else -diff for key, diff in pairs.select("origin_key", "turns_diff").iter_rows()
    }


def test_a_record_and_its_journal_have_the_same_agents(tmp_path: Path) -> None:
    """By origin, with every figure: the two files of one run differ in nothing."""
    lines = _run("a", dict.fromkeys(ORIGINS, 2), seed=7)
    (tmp_path / "a.ndjson").write_bytes(journal(*lines))
    (tmp_path / "a.json").write_bytes(_as_record(lines))
    journal_of, record_of = (sl.load(tmp_path / name) for name in ("a.ndjson", "a.json"))
    first, second = (corpus.view("agents.by_origin") for corpus in (journal_of, record_of))
    assert first.height == len(ORIGINS)
    assert first.equals(second)
    told = [corpus.table("agents").drop("source_id", "line").sort("agent_id") for corpus in (journal_of, record_of)]
    assert told[0].equals(told[1])


def test_time_between_readings(tmp_path: Path) -> None:
    """Model 350 + 140, shell 150, waiting 60; the last call lies behind the last reading."""
    shell = {"command": "make", "cwd": {"type": "workspace"}, "exitCode": 0, "stdout": 0, "stderr": 0}
    lines = [
        entry(0, "clock", elapsedMs=1000),
        entry(1, "cancel_probe", canceled=False),
        call(2, 0, response=asks("c"), durationMs=350),
        frame(3, 0),
        entry(4, "shell", origin="tool", command=shell),
        result(5, "c"),
        entry(6, "clock", elapsedMs=1500),
        call(7, 0, durationMs=140),
        entry(8, "clock", elapsedMs=1700),
        call(9, 0, durationMs=500),
    ]
    root = agent("root", {"type": "root"}, terminalStatus="done")
    (tmp_path / "a.ndjson").write_bytes(journal(HEADER, root, message(0), text(0, "x"), *lines, end(10)))
    corpus = sl.load(tmp_path)
    [row] = corpus.view("time.by_agent").iter_rows(named=True)
    told = {name: value for name, value in row.items() if name.endswith("_ms")}
    assert told == {
        "elapsed_ms": 700, "model_ms": 990, "model_outside_ms": 500, "tool_ms": None, "shell_ms": 150, "git_ms": None,
        "waiting_ms": 60, "unattributed_ms": 0, "overrun_ms": 0,
    }  # fmt: skip
    assert corpus.view("time.by_session").select("elapsed_ms", "shell_ms", "agents").rows() == [(700, 150, 1)]


def test_what_is_not_recorded_is_named(tmp_path: Path) -> None:
    """Discarded replies, a parse failure and a capture that stopped: a lower bound, with figures alone too."""
    aborted = {"usage": USAGE, "loopAborts": {"attempts": 2, "words": 9, "chars": 40}}
    cost = {"usage": USAGE, "cost": {"actual": 0.25, "comparable": 0.5}}
    error = {"kind": "parse", "message": "no JSON"}
    lines = [
        call(0, 0, response=cost),
        call(1, 0, response=aborted),
        entry(2, "model_error", request=request(0), error=error),
    ]
    stopped = end(3, reason="byte_ceiling", lastSeq=2, bytes=900)
    root = agent("root", {"type": "root"})
    (tmp_path / "a.ndjson").write_bytes(journal(HEADER, root, message(0), *lines, stopped))
    for corpus in (sl.load(tmp_path), sl.load(tmp_path, bodies=False), sl.load(tmp_path, figures=True)):
        reasons = corpus.view("cost.lower_bounds").select("reason", "cases", "seq").rows()
        assert reasons == [("capture_stopped", 1, 2), ("discarded_replies", 1, 1), ("parse_failed", 1, 2)]
        row = corpus.view("cost.by_session").row(0, named=True)
        assert (row["is_lower_bound"], row["lower_bound_reasons"], row["recorded_usd"], row["recorded_list_usd"]) == (
            True, "discarded_replies, parse_failed, capture_stopped", 0.25, 0.5,
        )  # fmt: skip


def test_ceilings_and_probes_are_marks(tmp_path: Path) -> None:
    """A ceiling stands at the end of its lane; a probe that read a cancellation is a mark, the others a count."""
    lines = [
        entry(0, "cancel_probe", canceled=False),
        call(1, 0),
        entry(2, "cancel_probe", "agent-0", canceled=False),
        call(3, 0, agent="agent-0"),
        entry(4, "cancel_probe", "agent-0", canceled=True),
    ]
    hit = {"limit": "turns", "threshold": 1.0, "observed": 1.0, "turns": 1, "agentId": "root"}
    agents = [
        agent("root", {"type": "root"}, terminalStatus="done", limitHit=hit),
        agent("agent-0", {"type": "spawn", "parent": "root", "ordinal": 0}, terminalStatus="done"),
    ]
    (tmp_path / "a.ndjson").write_bytes(journal(HEADER, *agents, message(0), *lines, end(5)))
    corpus = sl.load(tmp_path)
    spans = corpus.view("timeline.spans").filter(pl.col("kind").is_in(["limit", "probe"]))
    assert spans.select("agent_id", "kind", "begin_order", "note").rows() == [
        ("root", "limit", 1, "stopped by the ceiling on turns: 1 of 1"),
        ("agent-0", "probe", 4, "canceled: this ends the session"),
    ]
    probes = corpus.view("timeline.details", part="probes").select("span_id", "text").rows()
    assert probes == [
        ("agent/agent-0", "2 read, 1 of them canceled"),
        ("agent/root", "1 read, none of them canceled"),
    ]


def test_both_sums_can_be_asked(tmp_path: Path) -> None:
    """Section 6.3: the view says what the outcome's own two sums say."""
    replies = [{"usage": USAGE, "finishReason": word} for word in ("stop", "length", "tool_calls")]
    lines = [call(n, 0, response=reply) for n, reply in enumerate(replies)]
    lines.append(call(3, 0, role="compaction"))
    root = agent("root", {"type": "root"}, terminalStatus="done")
    (tmp_path / "a.ndjson").write_bytes(journal(HEADER, root, message(0), *lines, end(4)))
    corpus = sl.load(tmp_path)
    sums = corpus.view("cost.by_scope").select("scope", "calls", "uncached_input_tokens", "output_tokens").rows()
    assert sums == [("all", 4, 12, 8), ("turns", 2, 6, 4)]
    told = json.loads(corpus.table("outcomes")["sensors"][0])
    assert [(scope, *(told[scope][n] for n in ("calls", "uncachedInput", "output"))) for scope in told] == sums


def test_show_says_how_the_run_was_launched(tmp_path: Path) -> None:
    """Recorder, baseline commit, ceilings and where capture stopped stand below the head; other formats have none."""
    header = {
        **HEADER,
        "capabilitySet": {**HEADER["capabilitySet"], "limits": {"maxTurns": 40, "maxCost": 2.5}},
        "recorder": {"ggVersion": "0.7.0", "commit": "4af242d9"},
    }
    seed = {"type": "seed", "seed": {"prompt": "Draw.", "baselineCommit": "9f1c2d3"}}
    stopped = end(1, reason="write_failed", lastSeq=0, bytes=90)
    root = agent("root", {"type": "root"})
    (tmp_path / "a.ndjson").write_bytes(journal(header, seed, root, message(0), call(0, 0), stopped))
    shown = CliRunner().invoke(app, ["show", "run-1", str(tmp_path)], catch_exceptions=False).stdout.splitlines()
    assert shown[:6] == [
        "run-1  gale/tern-1  —  —",
        "recorder   gg 0.7.0 commit 4af242d9",
        "baseline   commit 9f1c2d3",
        "limits     maxTurns 40, maxCost 2.5",
        "capture    stopped early after entry 0 (write_failed): what came later is not recorded",
        "",
    ]
