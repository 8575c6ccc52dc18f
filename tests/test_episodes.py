"""Outcomes folded into episodes: the table of mecha 4.4, the decisions of section 22, the golden row of section 20."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sessionlab as sl
from sessionlab.comparisons import Episode, episodes, fold
from sessionlab.corpus import Corpus
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import line, tokens
from tests.systems.mecha.recalled import HEADER

GOLDEN = next((SAMPLES / "mecha/golden").glob("*.jsonl"))


def _loaded(folder: Path, *outcomes: dict[str, Any]) -> Corpus:
    lines = [line(**HEADER), *(line(record="outcome", **members) for members in outcomes)]
    (folder / "x.jsonl").write_bytes(b"".join(each + b"\n" for each in lines))
    return sl.load(folder, figures=True)


def _episode(folder: Path, *outcomes: dict[str, Any]) -> Episode:
    return episodes(_loaded(folder, *outcomes))["r1"]


def test_golden_episode_of_section_20() -> None:
    """4 turns, 3 calls, 1 error, cost 0.01425, complete usage, cause completed, ended on failure, taint both."""
    [episode] = episodes(sl.load(GOLDEN, figures=True)).values()
    assert episode.id == "20261003T081500-5e1d20aa"
    assert (episode.runs, episode.turns, episode.tool_calls, episode.tool_errors) == (2, 4, 3, 1)
    assert (episode.cost_usd, episode.usage_complete) == (0.01425, True)
    assert (episode.stop_cause, episode.stop_class, episode.ended_on_failed_call) == ("completed", "completed", True)
    assert (episode.private, episode.untrusted) == (True, True)
    assert (episode.input_tokens, episode.output_tokens) == (1500, 125)
    assert (episode.cache_creation_input_tokens, episode.cache_read_input_tokens) == (1200, 1000)


def test_18_1_two_runs_fold(tmp_path: Path) -> None:
    """Sums of counters, cost and usage; cause, exhaustion and failed end of the last run; taint of any."""
    each = {"malformed_tool_args": 1, "compactions": 1, "cost_usd": 0.25, "usage": tokens(10, 0)}
    episode = _episode(
        tmp_path,
        {**each, "turns": 2, "tool_calls": 3, "tool_errors": 3, "ended_on_failed_call": True, "exhausted": True,
         "stop_cause": "max_turns", "taint": {"private": True}},
        {**each, "turns": 4, "tool_calls": 5, "stop_cause": "completed"},
    )  # fmt: skip
    assert (episode.turns, episode.tool_calls, episode.tool_errors, episode.malformed_tool_args) == (6, 8, 3, 2)
    assert (episode.compactions, episode.cost_usd, episode.input_tokens) == (2, 0.5, 20)
    assert (episode.stop_cause, episode.ended_on_failed_call, episode.exhausted) == ("completed", False, False)
    assert (episode.private, episode.untrusted) == (True, False)


def test_18_1_an_incomplete_usage_then_a_complete_one_is_incomplete(tmp_path: Path) -> None:
    """AND over all runs, in either order; one complete run alone is complete."""
    for first, other, both in ((False, True, False), (True, False, False), (True, True, True)):
        assert _episode(tmp_path, {"usage_complete": first}, {"usage_complete": other}).usage_complete is both


def test_18_1_no_outcomes_give_no_episode(tmp_path: Path) -> None:
    """Not an episode of zeros."""
    assert fold([], "x") is None
    assert episodes(_loaded(tmp_path)) == {}


def test_18_2_outcomes_of_two_and_five_turns(tmp_path: Path) -> None:
    """(2 turns, 3 calls) and (5, 7): 7 turns, 10 calls."""
    episode = _episode(tmp_path, {"turns": 2, "tool_calls": 3}, {"turns": 5, "tool_calls": 7})
    assert (episode.turns, episode.tool_calls) == (7, 10)


def test_cost_is_whichever_is_known(tmp_path: Path) -> None:
    """Known and null: the known one; both null: unknown, not zero."""
    assert _episode(tmp_path, {"cost_usd": None}, {"cost_usd": 0.25}).cost_usd == 0.25
    assert _episode(tmp_path, {}, {}).cost_usd is None


def test_a_null_cause_in_the_last_row_wins(tmp_path: Path) -> None:
    """The last run decides, also when nothing tells how it ended."""
    episode = _episode(tmp_path, {"stop_cause": "completed"}, {"stop_cause": None})
    assert (episode.stop_cause, episode.stop_class) == (None, None)


def test_18_2_optional_counters_are_summed_where_both_are_present(tmp_path: Path) -> None:
    """Null + 1 is 1, 2 + 3 is 5, absent in both is absent; checks 2 declared and 1 passed twice are 4 and 2."""
    first = {"boredom_notices": None, "step_nulls": 2, "checks_declared": 2, "checks_passed": 1}
    other = {"boredom_notices": 1, "step_nulls": 3, "checks_declared": 2, "checks_passed": 1}
    assert _episode(tmp_path, first, other, {}).sensors == {
        "boredom_notices": 1, "step_nulls": 5, "checks_declared": 4, "checks_passed": 2,
    }  # fmt: skip
    assert _episode(tmp_path, {}, {}).sensors == {}


@pytest.mark.parametrize(
    ("sampled", "load", "net"),
    [
        ([{"load_avg_1m": 1.0, "backlog_delta": {"questions": 1}},
          {"load_avg_1m": 9.0, "backlog_delta": {"questions": -2, "outbox": -1}}], 1.0, -2),
        ([{"load_avg_1m": 1.0}, {"load_avg_1m": 9.0, "backlog_delta": {"questions": -2, "outbox": -1}}], 1.0, -3),
        ([None, {"load_avg_1m": 9.0}], 9.0, None),
    ],
)  # fmt: skip
def test_18_2_homeostat_of_the_first_sample_and_the_net_backlog_of_all(
    tmp_path: Path, sampled: list[Any], load: float, net: float | None
) -> None:
    """Conditions are those of the first sampled run; what changed is summed."""
    episode = _episode(tmp_path, *({"homeostat": one} for one in sampled))
    assert episode.homeostat is not None
    assert (episode.homeostat["load_avg_1m"], episode.net_backlog) == (load, net)


def test_18_2_an_episode_that_sampled_nothing_has_no_homeostat(tmp_path: Path) -> None:
    """Null, not an empty object."""
    assert _episode(tmp_path, {}, {"homeostat": None}).homeostat is None
    assert _episode(tmp_path, {"homeostat": {}}).homeostat is None


def test_22_duration_goal_and_delivered(tmp_path: Path) -> None:
    """Durations are summed, the last goal that was told stays, delivered rules are a union."""
    episode = _episode(
        tmp_path,
        {"duration_secs": 1.5, "goal_anchor": "task:a", "delivered": ["r1", "r2"]},
        {"duration_secs": 2, "goal_anchor": None, "delivered": ["r2", "r3"]},
        {},
    )  # fmt: skip
    assert (episode.duration_ms, episode.goal, episode.delivered) == (3500, "task:a", ["r1", "r2", "r3"])


def test_an_episode_may_be_called_otherwise(tmp_path: Path) -> None:
    """A replay is named after the session it replays; what has no name is left out."""
    corpus = _loaded(tmp_path, {"turns": 3})
    assert list(episodes(corpus, lambda session, native: f"{session}>{native}")) == ["mecha:r1>r1"]
    assert episodes(corpus, lambda *_: None) == {}


def test_unknown_legs_are_not_clean() -> None:
    """One run whose taint nothing tells: not known to be clean; tainted all the same if another is."""
    rows = [{"private": False, "untrusted": True, "sensors": json.dumps({"n": True})}, {"private": None}]
    episode = fold(rows, "x")
    assert episode is not None
    assert (episode.private, episode.untrusted, episode.turns, episode.sensors) == (None, True, None, {})
