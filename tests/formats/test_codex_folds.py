"""Codex sessions in several files: the plain tables are those of the whole, in whatever order they were loaded."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import sessionlab
from tests.conftest import SAMPLES

TOTALS = (
    "SELECT count(*) AS calls, sum(uncached_input_tokens)::BIGINT AS fresh, sum(cache_read_tokens)::BIGINT AS reads,"
    " sum(output_tokens)::BIGINT AS output FROM usage WHERE standing = 'ledger'"
)


def totals(*paths: Path) -> tuple[int, ...]:
    """Calls, fresh input, cache reads and output of one load."""
    (row,) = sessionlab.load(*(str(path) for path in paths)).sql(TOTALS).rows()
    return tuple(row)


def test_a_session_in_three_files_is_charged_once() -> None:
    """Two calls: 2,000 input and 2,150 more, of which 512 and 1,920 cached; whichever file is named first."""
    folder = SAMPLES / "codex" / "resumed"
    files = sorted(folder.glob("*.jsonl"))
    wanted = (2, 1488 + 230, 512 + 1920, 33)
    assert {totals(*order) for order in itertools.permutations(files)} == {wanted}
    assert totals(files[0], files[2]) == totals(files[1]) == wanted


def test_forks_cost_what_they_did_with_or_without_their_parent() -> None:
    """Parent 2 calls, fork 2, the unused one none: the sum of the parts is the whole."""
    parent, fork, unused = (
        SAMPLES / "codex" / "forked" / name for name in ("parent.jsonl", "tenmoku.jsonl", "unused-fork.jsonl")
    )
    assert totals(parent) == (2, 3976 + 308, 1024 + 4992, 190)
    assert totals(fork) == (2, 558 + 402, 4992 + 5248, 121)
    assert totals(unused)[0] == 0
    assert totals(unused, fork, parent) == totals(parent, fork, unused) == (4, 5244, 16256, 311)


def test_a_replay_is_nothing_of_its_own() -> None:
    """Entries and tool calls of the replay are in no plain table of the fork."""
    corpus = sessionlab.load(str(SAMPLES / "codex" / "forked" / "tenmoku.jsonl"))
    assert corpus.sql("SELECT call_id FROM tool_calls").rows() == [("call_c1",)]
    assert corpus.sql("SELECT count(*) FROM entries").rows() == [(11,)]


def test_a_subagent_is_an_agent_of_the_session_from_either_file() -> None:
    """One session of two agents; what the spawning call and the subagent's own file tell stands together."""
    corpus = sessionlab.load(str(SAMPLES / "codex" / "subagent"))
    assert corpus.sql("SELECT count(*), max(sources) FROM sessions").rows() == [(1, 2)]
    agents = corpus.sql("SELECT origin, depth, spawn_call_id, profile_id, profile FROM agents ORDER BY depth").rows()
    assert agents == [("root", 0, None, None, None), ("spawn", 1, "call_r1", "explorer", "Wedgwood")]
    by_model = corpus.sql("SELECT model, sum(output_tokens)::BIGINT FROM usage GROUP BY 1 ORDER BY 1").rows()
    assert by_model == [("gpt-5.1-codex", 130), ("gpt-5.1-codex-mini", 61)]


@pytest.mark.parametrize("lines", [3, 6, 9, 11])
def test_a_file_cut_in_two_costs_what_the_whole_does(tmp_path: Path, lines: int) -> None:
    """The second piece has no opening; its name tells the thread, and the first count its own last call."""
    whole = SAMPLES / "codex" / "resumed" / "2-later.jsonl"
    text = whole.read_bytes().split(b"\n")
    name = "rollout-2026-03-04T09-00-00-01990005-0000-7000-8000-00000000e001.jsonl"
    for folder, part in (("one", text[:lines]), ("two", text[lines:-1])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(b"\n".join(part) + b"\n")
    assert totals(tmp_path) == totals(whole)
