"""Codex: what counts as a call, and what each call is charged; "rule" is a number of the list of counting rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.tables import Entry, Problem, Usage
from tests.formats.codex_lines import (
    CHILD,
    FORK_TIME,
    NEW_TURN,
    OLD_TURN,
    PARENT,
    Json,
    context,
    count,
    event,
    item,
    line,
    meta,
    read,
    rows,
    tokens,
)

LATER = "2026-03-04T09:00:07.000Z"


def charged(lines: list[Json]) -> list[Usage]:
    """The ledger rows of a file that are no replay."""
    found = read(lines)
    copies = {row.seq for row in rows(found, Entry) if row.is_copy}
    return [row for row in rows(found, Usage) if row.standing == "ledger" and row.seq not in copies]


def totals(found: list[Usage]) -> tuple[int, int, int, int]:
    """Fresh input, cache reads, cache writes, output."""
    names = ("uncached_input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    fresh, read_, written, output = (sum(getattr(row, name) or 0 for row in found) for name in names)
    return fresh, read_, written, output


def test_rule_12_a_fork_is_charged_only_what_came_after_the_replayed_total() -> None:
    """Parent at 250, fork at 300: the fork's one call is 50, though its file tells of three."""
    lines = [
        meta(CHILD, forked_from_id=PARENT),
        meta(PARENT),
        count(tokens(90, 0, 10)),
        count(tokens(225, 0, 25)),
        context(at=LATER),
        count(tokens(270, 0, 30), tokens(45, 0, 5), LATER),
    ]
    assert totals(charged(lines)) == (45, 0, 0, 5)


def test_rule_12_ids_of_turns_end_a_replay_without_any_pause() -> None:
    """The fork's own turn follows within the same millisecond; its id is newer than the fork's."""
    lines = [
        meta(CHILD, forked_from_id=PARENT),
        meta(PARENT),
        event("task_started", turn_id=OLD_TURN),
        count(tokens(225, 0, 25)),
        event("task_started", turn_id=NEW_TURN),
        context(turn_id=NEW_TURN),
        count(tokens(270, 0, 30)),
    ]
    assert [row.line for row in charged(lines)] == [7]
    assert [row.is_copy for row in rows(read(lines), Entry)] == [False, True, True, True, False, False, False]


def test_rule_12_an_old_turn_behind_a_pause_is_still_replayed() -> None:
    """Where turns have ids, time does not matter: a slow disk wrote the replay."""
    lines = [
        meta(CHILD, forked_from_id=PARENT),
        meta(PARENT),
        event("task_started", turn_id=OLD_TURN),
        count(tokens(225, 0, 25), at=LATER),
    ]
    assert charged(lines) == []


def test_rule_12_siblings_with_equal_totals_stay_two() -> None:
    """Two forks of one parent reach the same total; their charges differ."""
    one, two = (
        charged([meta(name, forked_from_id=PARENT), meta(PARENT), count(tokens(90, 0, 10)), context(at=LATER),
                 count(tokens(180, 0, 20), at=LATER)])
        for name in (CHILD, CHILD.replace("bbbb", "cccc"))
    )  # fmt: skip
    assert [row.output_tokens for row in one + two] == [10, 10]
    assert one[0].charge_id != two[0].charge_id


def test_rule_13_a_replay_holds_more_than_counts_and_an_empty_fork_has_no_call() -> None:
    """Settings between two counts do not end the replay; a fork that never worked is charged nothing."""
    lines = [
        meta(CHILD, forked_from_id=PARENT),
        meta(PARENT),
        count(tokens(90, 0, 10)),
        event("thread_settings_applied", thread_settings={"model": "gpt-5.1-codex"}),
        count(tokens(225, 0, 25)),
    ]
    assert charged(lines) == []


def test_rule_14_an_unchanged_total_is_no_call() -> None:
    """The total is sent again with new rate limits: 130 tokens, and a row that is only compared."""
    total = tokens(100, 0, 30)
    found = rows(read([meta(PARENT), context(), count(total, total), count(total, total)]), Usage)
    assert [(row.standing, row.output_tokens) for row in found] == [("ledger", 30), ("check", 30)]
    assert found[0].charge_id == found[1].charge_id


def test_rule_15_a_missing_total_tokens_does_not_hide_a_rise() -> None:
    """Only `input_tokens` is told, 10 and then 30: 10 and 20 more."""
    found = charged([meta(PARENT), context(), count({"input_tokens": 10}), count({"input_tokens": 30})])
    assert [row.uncached_input_tokens for row in found] == [10, 20]
    assert [row.output_tokens for row in found] == [None, None]


def test_rule_16_the_same_charge_has_the_same_name_in_every_file_of_a_session() -> None:
    """The file that goes on begins at the third total; its first count names the charge the whole file names."""
    counts = [count(tokens(n * 100, 0, n * 10), tokens(100, 0, 10)) for n in (1, 2, 3, 4)]
    whole = charged([meta(PARENT), context(), *counts])
    tail = charged([meta(PARENT), context(), *counts[2:]])
    assert [row.charge_id for row in tail] == [row.charge_id for row in whole[2:]]
    assert totals(tail) == (200, 0, 0, 20)


def test_rule_16_repeats_inside_one_file_keep_their_number() -> None:
    """A total reached again behind a reset is another charge."""
    counts = [tokens(100, 0, 10), tokens(50, 0, 5), tokens(100, 0, 10)]
    found = charged([meta(PARENT), context(), *(count(total) for total in counts)])
    assert [row.output_tokens for row in found] == [10, 5, 5]
    assert len({row.charge_id for row in found}) == 3


def test_rule_22_cached_tokens_are_a_part_of_the_input() -> None:
    """1,000 of which 900 cached: 100 fresh, 900 read, and a context of 1,000."""
    (row,) = charged([meta(PARENT), context(), count(tokens(1000, 900, 20))])
    assert (row.uncached_input_tokens, row.cache_read_tokens, row.output_tokens) == (100, 900, 20)
    assert row.context_tokens == 1000


def test_rule_23_reasoning_is_a_part_of_the_output() -> None:
    """70 output of which 64 reasoning: 70 are billed."""
    (row,) = charged([meta(PARENT), context(), count(tokens(10, 0, 70, 64))])
    assert (row.output_tokens, row.reasoning_tokens) == (70, 64)


def test_rule_24_cache_writes_are_a_third_part_and_a_clamp_is_told() -> None:
    """1,000 = 300 fresh + 500 read + 200 written; where the parts are more than the whole, fresh is 0, with a note."""
    (row,) = charged([meta(PARENT), context(), count(tokens(1000, 500, 5, written=200))])
    assert (row.uncached_input_tokens, row.cache_read_tokens, row.cache_write_tokens) == (300, 500, 200)
    found = read([meta(PARENT), context(), count(tokens(100, 90, 5, written=20))])
    assert rows(found, Usage)[0].uncached_input_tokens == 0
    assert [row.kind for row in rows(found, Problem)] == ["clamped"]


def test_rule_32_a_compaction_says_that_its_own_call_is_not_counted() -> None:
    """The request that summarised is in no total."""
    found = read([meta(PARENT), context(), {"timestamp": FORK_TIME, "type": "compacted", "payload": {"message": "x"}}])
    assert [row.kind for row in rows(found, Problem)] == ["compaction_not_counted"]


@pytest.mark.parametrize("record_first", [True, False])
def test_rule_32_the_record_of_a_compactions_response_is_charged(record_first: bool) -> None:
    """Later versions write what each response cost: only that of the summary is in no total, the other is compared."""
    record = line("token_usage_record", response_id="resp_s", usage=tokens(800, 300, 40))
    summary = line("compacted", message="x", compaction_response_id="resp_s")
    both = [record, summary] if record_first else [summary, record]
    other = line("token_usage_record", response_id="resp_1", usage=tokens(100, 0, 10))
    found = read([meta(PARENT), context(), other, count(tokens(100, 0, 10)), *both])
    ledger = [row for row in rows(found, Usage) if row.standing == "ledger"]
    assert [(row.purpose, row.uncached_input_tokens, row.output_tokens) for row in ledger] == [
        ("agent", 100, 10),
        ("compaction", 500, 40),
    ]
    assert [row.request_id for row in rows(found, Usage) if row.standing == "check"] == ["resp_1"]
    assert rows(found, Problem) == []


def test_rule_33_a_total_that_fell_is_a_new_counter() -> None:
    """2,681 then 255: the 255 are charged, nothing is negative, a note tells it."""
    found = read([meta(PARENT), context(), count(tokens(2681, 0, 9)), count(tokens(255, 0, 3), tokens(20, 0, 3))])
    assert [row.uncached_input_tokens for row in rows(found, Usage)] == [2681, 255]
    assert [row.kind for row in rows(found, Problem)] == ["counter_reset"]


def test_rule_33_a_last_usage_of_zeros_and_a_context_size_is_no_call() -> None:
    """After a compaction only `total_tokens` of the last call moves, to the size of the new context."""
    zeros = {**tokens(0, 0, 0), "total_tokens": 4100}
    total = tokens(900, 0, 10)
    found = charged([meta(PARENT), context(), count(total), count(total, zeros), count(tokens(950, 0, 12), zeros)])
    assert totals(found) == (950, 0, 0, 12)


def test_rule_37_a_count_before_any_model_takes_the_next_one() -> None:
    """No model is made up: the one of the next `turn_context`, and null where none comes."""
    counted = count(tokens(10, 0, 1))
    assert charged([meta(PARENT), counted, context("gpt-5.2")])[0].model == "gpt-5.2"
    assert charged([meta(PARENT), counted])[0].model is None


def test_rule_39_a_total_without_parts_is_unsplit() -> None:
    """Only `total_tokens`, 40 then 100: 40 and 60 tokens that no column splits."""
    found = charged([meta(PARENT), context(), count({"total_tokens": 40}), count({"total_tokens": 100})])
    assert [row.unsplit_tokens for row in found] == [40, 60]
    assert {row.uncached_input_tokens for row in found} == {None}


def test_a_count_without_info_is_an_entry_and_no_figure() -> None:
    """The first event of a session tells rate limits only."""
    found = read([meta(PARENT), event("token_count", info=None, rate_limits={"primary": {"used_percent": 3.5}})])
    assert rows(found, Usage) == []
    assert rows(found, Entry)[1].detail == '{"rate_limits":{"primary": {"used_percent": 3.5}}}'


def test_calls_belong_to_the_model_in_force() -> None:
    """Two models in one session: each call to the one whose turn it was."""
    lines = [meta(PARENT), context("a"), count(tokens(10, 0, 1)), context("b"), count(tokens(30, 0, 2))]
    assert [(row.model, row.provider) for row in charged(lines)] == [("a", "openai"), ("b", "openai")]


def test_a_rise_beyond_the_last_call_is_counted_and_told() -> None:
    """The total jumped by 177 while the last call had 88: 177 are charged, the band is that of the 88."""
    found = read([meta(PARENT), context(), count(tokens(10, 0, 1)), count(tokens(187, 0, 3), tokens(88, 0, 2))])
    row = rows(found, Usage)[1]
    assert (row.uncached_input_tokens, row.context_tokens) == (177, 88)
    assert [row.kind for row in rows(found, Problem)] == ["total_rose_further"]


@pytest.mark.parametrize("bad", [-5, 10**20, "many", 1.5])
def test_a_count_that_cannot_be_meant_is_null_and_noted(bad: object) -> None:
    """Other fields of the figure stand."""
    found = read([meta(PARENT), context(), count({**tokens(100, 0, 7), "cached_input_tokens": bad})])
    (row,) = rows(found, Usage)
    assert (row.cache_read_tokens, row.output_tokens) == (None, 7)
    assert rows(found, Problem)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 999), st.integers(0, 99)), min_size=1, max_size=8), st.data())
def test_any_cut_into_overlapping_files_gives_the_same_charges(
    calls: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Whatever files a session was written in, the charges folded by name are those of the whole."""
    given_, output, counts = 0, 0, []
    for fresh, out in calls:
        given_, output = given_ + fresh, output + out
        counts += [count(tokens(given_, 0, output), tokens(fresh, 0, out))] * data.draw(st.integers(1, 2))
    folded: dict[str | None, tuple[int | None, int | None]] = {}
    ends = sorted(data.draw(st.lists(st.integers(0, len(counts)), max_size=3)))
    begins = [0, *(data.draw(st.integers(0, end)) for end in ends)]
    for begin, end in zip(begins, [*ends, len(counts)], strict=True):
        part = [item("message", role="assistant", content=[]), *counts[begin:end]]
        for row in charged([meta(PARENT), context(), *part]):
            folded[row.charge_id] = (row.uncached_input_tokens, row.output_tokens)
    assert sorted(folded.values(), key=str) == sorted(((a, b) for a, b in calls), key=str)
