"""Usage of Claude Code lines: the raw rows, and an independent fold of them against other people's counts."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from sessionlab.tables import Agent, Entry, Problem, Usage
from tests.formats.claude_code_lines import call, joined, line, prompt, reply, result, rows, said, table, tokens

TOKEN_COLUMNS = (
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
)


def fold(usage: list[Usage]) -> list[dict[str, int]]:
    """One call per message id, per column the maximum; told apart by context, then by request ids, when they differ.

    Written from the counting rules, not from the project's SQL.
    """
    groups: dict[Any, list[Usage]] = defaultdict(list)
    for row in usage:
        if row.standing == "ledger":
            groups[row.charge_id if row.charge_id is not None else ("alone", row.seq, row.line)].append(row)
    calls = []
    for members in groups.values():
        contexts = {row.context_tokens for row in members if row.context_tokens}
        parts: dict[Any, list[Usage]] = defaultdict(list)
        for row in members:
            apart = len(contexts) > 1 and row.context_tokens
            named = {m.request_id for m in members if m.request_id}
            parts[(row.context_tokens, row.request_id if len(named) > 1 else None) if apart else None].append(row)
        calls += [
            {name: max((getattr(row, name) or 0) for row in part) for name in TOKEN_COLUMNS} for part in parts.values()
        ]
    return calls


def expectations(corpora: Path) -> list[Path]:
    """The counts other tools made."""
    return sorted((corpora / "claude-code").rglob("*.expected-usage.json"))


@pytest.mark.corpora
def test_real_files_fold_to_the_counts_of_another_tool(corpora: Path) -> None:
    """Folded by an independent reference, the raw rows give every expected count to the token."""
    found = expectations(corpora)
    assert len(found) == 7
    for path in found:
        expected = json.loads(path.read_text(encoding="utf-8"))
        transcript = path.with_name(path.name.removesuffix(".expected-usage.json"))
        usage = [row for row in rows(transcript.read_bytes()) if isinstance(row, Usage)]
        calls = fold([row for row in usage if row.line is not None and row.line >= expected["first_line"]])
        got = {
            "input": sum(one["uncached_input_tokens"] for one in calls),
            "cache_write": sum(one["cache_write_tokens"] + one["cache_write_1h_tokens"] for one in calls),
            "cache_read": sum(one["cache_read_tokens"] for one in calls),
            "output": sum(one["output_tokens"] for one in calls),
            "calls": len(calls),
        }
        assert got == {name: expected[name] for name in got}, transcript


def test_1_one_reply_on_two_lines_is_one_charge() -> None:
    """Rule 1: two content lines of one message id share the charge; the fold counts 90 once."""
    usage = table(
        Usage,
        reply("m1", {"type": "thinking", "thinking": "hm"}, usage=tokens(1, 2, 3, 90), requestId="r1"),
        reply("m1", call("t1"), usage=tokens(1, 2, 3, 90), requestId="r1"),
    )
    assert [(row.charge_id, row.output_tokens) for row in usage] == [("m1", 90), ("m1", 90)]
    assert [one["output_tokens"] for one in fold(usage)] == [90]


def test_2_without_a_request_id_the_message_id_decides_and_null_never_merges() -> None:
    """Rule 2: gateways write no request id; a line without any id is a call of its own."""
    usage = table(
        Usage,
        reply("chatcmpl-1", said("a"), usage=tokens(100, 0, 0, 5)),
        reply("chatcmpl-1", said("b"), usage=tokens(100, 0, 0, 5)),
        reply(None, said("c"), usage=tokens(7, 0, 0, 5)),
        reply(None, said("d"), usage=tokens(7, 0, 0, 5)),
    )
    assert [row.charge_id for row in usage] == ["chatcmpl-1", "chatcmpl-1", None, None]
    assert sorted(one["uncached_input_tokens"] for one in fold(usage)) == [7, 7, 100]


@pytest.mark.parametrize("outputs", [(1, 1, 427), (427, 3, 1), (500, 0, 0)], ids=["3-rising", "4-falling", "5-zeroed"])
def test_3_4_5_the_maximum_of_the_copies_counts(outputs: tuple[int, ...]) -> None:
    """Rules 3 to 5: whichever copy is complete, first or last, its figure stands."""
    usage = table(Usage, *(reply("m1", said("x"), usage=tokens(9, 0, 0, output)) for output in outputs))
    assert [row.output_tokens for row in usage] == list(outputs)
    assert [one["output_tokens"] for one in fold(usage)] == [max(outputs)]


def test_6_a_placeholder_beside_a_long_text_is_a_lower_bound() -> None:
    """Rule 6: no copy has a stop reason and 4,000 characters stand beside 3 tokens: more was spent."""
    (row,) = table(Usage, reply("m1", said("word " * 800), usage=tokens(5, 0, 0, 3)))
    assert row.is_lower_bound


def test_6_all_lines_of_a_reply_are_judged_together() -> None:
    """Rule 6: a short first block does not hide that the second one is long; every copy says so."""
    usage = table(
        Usage,
        reply("m1", said("Hi."), usage=tokens(5, 0, 0, 1)),
        reply("m1", call("t1", command="x" * 900), usage=tokens(5, 0, 0, 1)),
    )
    assert [row.is_lower_bound for row in usage] == [True, True]


@pytest.mark.parametrize(
    "second",
    [tokens(5, 0, 0, 3, stop="end_turn"), tokens(5, 0, 0, 250)],
    ids=["a stop reason", "a plausible count"],
)
def test_6_a_finished_or_plausible_reply_is_no_lower_bound(second: dict[str, Any]) -> None:
    """Rule 6: one copy with a stop reason, or a count that fits 1,000 characters, is taken as it stands."""
    stop = second.pop("stop", None)
    usage = table(
        Usage,
        reply("m1", said("a" * 500), usage=tokens(5, 0, 0, 3)),
        reply("m1", said("b" * 500), usage=second, stop=stop),
    )
    assert [row.is_lower_bound for row in usage] == [False, False]


def test_6_a_short_text_with_few_tokens_is_no_lower_bound() -> None:
    """Rule 6: "Done." may well be 2 tokens."""
    (row,) = table(Usage, reply("m1", said("Done."), usage=tokens(5, 0, 0, 2)))
    assert not row.is_lower_bound


def test_9_11_the_echo_of_a_subagent_has_the_charge_of_its_own_line() -> None:
    """Rules 9 and 11: agent_progress in the main file and the subagent's file name one charge of one agent."""
    message = {"role": "assistant", "id": "m7", "model": "claude-haiku-4-5", "content": [], "usage": tokens(3, 4, 5, 6)}
    data = {"type": "agent_progress", "agentId": "a77", "message": {"type": "assistant", "message": message}}
    main = table(Usage, prompt("go"), line("progress", data=data, parentToolUseID="t1"))
    own = table(Usage, line("assistant", isSidechain=True, agentId="a77", message=message))
    assert [(row.agent_id, row.charge_id, row.recorded_in) for row in main + own] == [
        ("a77", "m7", "progress"),
        ("a77", "m7", "message"),
    ]
    assert len(fold(main + own)) == 1


def test_27_an_hours_cache_writes_stand_apart_and_the_rest_is_for_five_minutes() -> None:
    """Rule 27: 400 = 100 + 300; a split of 250 out of 400 leaves 150 more for five minutes; a half loses nothing."""
    splits: list[dict[str, Any] | None] = [
        {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300},
        {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 200},
        {"ephemeral_5m_input_tokens": 100},
        {"ephemeral_1h_input_tokens": 300},
        None,
    ]
    usage = table(
        Usage, *(reply(f"m{i}", usage=tokens(1, 400, 0, 1, cache_creation=split)) for i, split in enumerate(splits))
    )
    assert [(row.cache_write_tokens, row.cache_write_1h_tokens) for row in usage] == [
        (100, 300),
        (200, 200),
        (400, None),
        (100, 300),
        (400, None),
    ]
    assert {row.context_tokens for row in usage} == {401}


def test_28_an_adviser_is_a_call_of_its_own() -> None:
    """Rule 28: an advisor_message is billed under its model and stands in no top-level figure."""
    attempts = [
        {"type": "message", "input_tokens": 11, "output_tokens": 13},
        {"type": "advisor_message", "model": "claude-sonnet-5", "input_tokens": 17, "output_tokens": 19},
    ]
    usage = table(Usage, reply("m1", usage=tokens(11, 0, 0, 13, iterations=attempts)))
    assert [(row.model, row.standing, row.uncached_input_tokens, row.output_tokens) for row in usage] == [
        ("claude-opus-4-7", "ledger", 11, 13),
        ("claude-sonnet-5", "ledger", 17, 19),
    ]
    assert usage[0].charge_id != usage[1].charge_id


def test_29_the_attempt_of_a_refused_model_is_listed_and_not_charged() -> None:
    """Rule 29: the model that answered is charged by the top level; the other's attempt is a check."""
    attempts = [
        {"type": "message", "model": "claude-fable-5", "cache_creation_input_tokens": 21874},
        {"type": "fallback_message", "model": "claude-opus-4-7", "output_tokens": 136},
    ]
    usage = table(Usage, reply("m1", usage=tokens(2, 0, 0, 136, iterations=attempts)))
    assert [(row.model, row.standing, row.cache_write_tokens, row.output_tokens) for row in usage] == [
        ("claude-opus-4-7", "ledger", 0, 136),
        ("claude-fable-5", "check", 21874, None),
    ]


def test_34_synthetic_lines_are_no_call_and_no_model() -> None:
    """Rule 34: an error line has no usage row; it is an event of the harness that failed."""
    error = reply("x1", said("API Error: 500"), model="<synthetic>", usage=tokens(0, 0, 0, 0), isApiErrorMessage=True)
    assert table(Usage, prompt("go"), error) == []
    entry = table(Entry, prompt("go"), error)[1]
    assert (entry.kind, entry.voice, entry.status, entry.reason, entry.turn) == (
        "model_error",
        "harness",
        "failed",
        "API Error: 500",
        None,
    )


def test_38_40_null_and_missing_counters_keep_the_row() -> None:
    """Rules 38 and 40: a null counter stays null, the others stand; only cache writes and no time is a row too."""
    usage = table(
        Usage,
        reply("m1", usage={"input_tokens": 100, "cache_read_input_tokens": None, "output_tokens": 4}),
        reply("m2", usage={"cache_creation_input_tokens": 55}),
    )
    assert [
        (
            row.uncached_input_tokens,
            row.cache_read_tokens,
            row.cache_write_tokens,
            row.output_tokens,
            row.context_tokens,
        )
        for row in usage
    ] == [(100, None, None, 4, 100), (None, None, 55, None, 55)]
    assert [row.recorded_at for row in usage] == [None, None]


def test_31_the_speed_that_was_served_is_the_tier() -> None:
    """Rule 31: fast stands before the service tier; standard speed leaves the tier as told."""
    usage = table(
        Usage,
        reply("m1", usage=tokens(1, 1, 1, 1, speed="fast", service_tier="standard")),
        reply("m2", usage=tokens(1, 1, 1, 1, speed="standard", service_tier="batch")),
        reply("m3", usage=tokens(1, 1, 1, 1)),
    )
    assert [row.tier for row in usage] == ["fast", "batch", None]


def test_recorded_costs_of_old_versions_are_kept() -> None:
    """Versions 1.0.x wrote `costUSD` beside the message, and no type."""
    message = {"role": "assistant", "id": "m1", "model": "claude-haiku-4-5", "usage": tokens(50, 5, 15, 25)}
    (row,) = table(
        Usage, {"sessionId": "s", "timestamp": "2026-02-03T08:00:00.000Z", "message": message, "costUSD": 0.03}
    )
    assert (row.recorded_usd, row.output_tokens, row.provider) == (0.03, 25, "anthropic")


def test_the_provider_is_named_only_for_the_vendors_own_names() -> None:
    """The log never says who was called: a name of another form leaves the provider unknown."""
    usage = table(
        Usage,
        reply("m1", usage=tokens(1, 1, 1, 1), model="claude-opus-4-7"),
        reply("m2", usage=tokens(1, 1, 1, 1), model="kimi-k3"),
    )
    assert [row.provider for row in usage] == ["anthropic", None]


def test_a_subagents_total_is_a_check_whose_split_is_not_counted_twice() -> None:
    """With a split the total stands in detail; without one it is the only figure."""
    usage = table(
        Usage,
        reply("m1", call("t1", "Task"), call("t2", "Task")),
        result("t1", "a", told={"agentId": "a1", "totalTokens": 900, "usage": tokens(1, 2, 3, 4)}),
        result("t2", "b", told={"agentId": "a2", "totalTokens": 800}),
    )
    assert [(row.agent_id, row.standing, row.grain, row.output_tokens, row.unsplit_tokens) for row in usage] == [
        ("a1", "check", "agent", 4, None),
        ("a2", "check", "agent", None, 800),
    ]


@pytest.mark.parametrize("missing", ["", None], ids=["empty", "absent"])
def test_2_an_empty_id_is_no_id(missing: str | None) -> None:
    """Rule 2: two replies with the id `""` are two calls and two turns; an empty request id is none either."""
    found = rows(
        joined(
            *(reply(missing, call(f"t{n}"), usage=tokens(7, 0, 0, n), requestId=missing, uuid=missing) for n in (5, 6))
        )
    )
    usage = [row for row in found if isinstance(row, Usage)]
    assert [(row.charge_id, row.request_id, row.turn) for row in usage] == [(None, None, 1), (None, None, 2)]
    assert sum(one["output_tokens"] for one in fold(usage)) == 11
    entries = [row for row in found if isinstance(row, Entry)]
    assert [(row.charge_id, row.record_id, row.is_copy) for row in entries] == [(None, None, False)] * 2


@pytest.mark.parametrize("name", ["totalTokens", "total_tokens"])
@pytest.mark.parametrize("counts", [tokens(0, 0, 0, 0), {}], ids=["zeros", "nothing"])
def test_39_where_only_a_total_is_told_the_tokens_are_unsplit(counts: dict[str, Any], name: str) -> None:
    """Rule 39: zeros beside a total are no call for nothing; what it was spent on is not known."""
    (row,) = table(Usage, reply("m1", said("y" * 9000), usage={**counts, name: 1234}))
    assert row.unsplit_tokens == 1234
    assert [getattr(row, column) for column in (*TOKEN_COLUMNS, "context_tokens")] == [None] * 6
    assert not row.is_lower_bound


def test_39_a_total_beside_its_parts_is_not_counted_again() -> None:
    """Rule 39: with a split told, or with a total of zero, nothing is unsplit."""
    usage = table(
        Usage,
        reply("m1", usage=tokens(1, 2, 3, 4, totalTokens=10)),
        reply("m2", usage=tokens(0, 0, 0, 0, totalTokens=0)),
    )
    assert [(row.unsplit_tokens, row.output_tokens, row.context_tokens) for row in usage] == [
        (None, 4, 6),
        (None, 0, 0),
    ]


@pytest.mark.parametrize(
    ("count", "kind"),
    [(10**15 + 1, "number_too_large"), (2**63 - 1, "number_too_large"), (-1, "negative_number"), (10**15, None)],
)
def test_a_count_that_cannot_be_meant_is_null_and_noted(count: int, kind: str | None) -> None:
    """A thousand billion tokens are the most one figure can say; without the count the figure is a lower bound."""
    found = rows(joined(reply("m1", usage=tokens(count, 1, 1, 4), stop="end_turn")))
    (row,) = [row for row in found if isinstance(row, Usage)]
    told = kind is None
    assert (row.uncached_input_tokens, row.output_tokens) == (count if told else None, 4)
    assert (row.context_tokens, row.is_lower_bound) == (None, not told)
    assert [(p.kind, p.severity) for p in found if isinstance(p, Problem)] == ([] if told else [(kind, "note")])


@pytest.mark.parametrize(("cost", "kept"), [(b"1e12", 1e12), (b"1.5e12", None), (b"1e400", None)])
def test_a_recorded_cost_that_cannot_be_meant_is_null_and_noted(cost: bytes, kept: float | None) -> None:
    """A million million dollars are the most one figure can say."""
    data = joined(reply("m1", usage=tokens(1, 1, 1, 4), costUSD="COST")).replace(b'"COST"', cost)
    found = rows(data)
    assert [row.recorded_usd for row in found if isinstance(row, Usage)] == [kept]
    noted = [(p.kind, p.severity) for p in found if isinstance(p, Problem)]
    assert noted == ([] if kept else [("number_too_large", "note")])


def test_39_zeros_beside_a_subagents_total_are_no_split() -> None:
    """Rule 39: the parent may be told the total only; its zeros are not what the subagent used."""
    told = {"agentId": "a1", "totalTokens": 640, "usage": tokens(0, 0, 0, 0)}
    usage = table(Usage, reply("m1", call("t1", "Task")), result("t1", "ok", told=told))
    assert [(row.standing, row.unsplit_tokens, row.output_tokens, row.context_tokens) for row in usage] == [
        ("check", 640, None, None)
    ]


def test_a_wrong_number_in_a_tools_result_costs_itself_only() -> None:
    """A negative total beside a subagent's name: the name and the parentage stand."""
    found = rows(joined(reply("m1", call("t1", "Task")), result("t1", "ok", told={"agentId": "a1", "totalTokens": -5})))
    assert [row.spawn_call_id for row in found if isinstance(row, Agent) and row.agent_id == "a1"] == ["t1"]
    assert [(p.kind, p.line) for p in found if isinstance(p, Problem)] == [("negative_number", 2)]


def test_a_number_past_bigint_is_null_with_a_note_and_kept_in_words() -> None:
    """2**63 does not fit: the column is null, the number stands in detail and in the problem."""
    huge = 2**63
    data = joined(reply("m1", usage=tokens(1, 1, 1, huge)))
    (row,) = [row for row in rows(data) if isinstance(row, Usage)]
    assert (row.output_tokens, row.uncached_input_tokens) == (None, 1)
    assert row.detail is not None
    assert json.loads(row.detail) == {"rest": {"output_tokens": huge}}


def test_figures_whose_sum_no_request_holds_have_no_context() -> None:
    """Each count can be meant; what they add up to cannot, so the sum is null."""
    (row,) = table(Usage, reply("m1", usage=tokens(10**15, 0, 10**15, 1)))
    assert (row.uncached_input_tokens, row.cache_read_tokens, row.context_tokens) == (10**15, 10**15, None)
