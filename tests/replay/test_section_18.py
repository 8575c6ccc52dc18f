"""Edge cases of mecha 18.1 and 18.3 about replays that no other test holds; extraction of random transcripts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.formats.mecha.wire import Legs, Text, Tokens, ToolResult, ToolUse
from sessionlab.replay import compare, extract
from sessionlab.replay.counters import Tally
from sessionlab.replay.driver import replay
from sessionlab.replay.model import Reply, added, prompt_size
from sessionlab.replay.scripted import Scripted
from tests.formats.mecha_lines import message
from tests.replay.conversations import drawn, recorded, transcript
from tests.replay.sessions_to_replay import TWO_TURNS, planned
from tests.replay.sessions_to_replay import transcript as written


def test_18_1_outcome_from_the_calls_of_a_run() -> None:
    """An error, an unknown tool, a refusal, a good call; 1 malformed, 2 blocked, 4 compactions, taint private.

    The refusal has the error flag, too, and is excluded from the errors; a replay stages nothing.
    """
    tally = Tally()
    tally.replied(Reply([ToolUse("c1", "fs_read", "{")], malformed=frozenset({"c1"})))
    for _ in range(4):
        tally.replied(Reply([Text("so far")]), summary=True)
    tally.called("exit code 1", is_error=True)
    tally.called("no tool named 'nope'", is_error=True)
    tally.called("Denied by the user: not now", is_error=True, blocked_send=True)
    tally.called("ok", is_error=False, blocked_send=True)
    found = tally.outcome("completed", Legs(private=True))
    assert (found.tool_calls, found.tool_errors, found.tool_denied, found.tool_staged) == (4, 2, 1, 0)
    assert (found.turns, found.malformed_tool_args, found.blocked_sends, found.compactions) == (1, 1, 2, 4)
    assert (found.taint.private, found.taint.untrusted, found.ended_on_failed_call) == (True, False, False)


@pytest.mark.parametrize(("cause", "told"), [("completed", True), ("max_turns", False), ("interrupted", False)])
def test_4_4_only_a_run_that_the_model_ended_ended_on_a_failed_call(cause: str, told: bool) -> None:
    """The last call failed: it counts when the cause is `completed`."""
    tally = Tally()
    tally.called("exit code 1", is_error=True)
    assert tally.outcome(cause, Legs()).ended_on_failed_call is told


def test_18_3_results_of_one_turn_are_one_message(tmp_path: Path) -> None:
    """Two calls of one reply: one user message with two result blocks, under their own ids."""
    recording = written(tmp_path, *TWO_TURNS)
    model = Scripted.from_messages(recording.messages)
    messages = replay(planned(recording, model), model).messages
    brought = [[b.tool_use_id for b in one.content if isinstance(b, ToolResult)] for one in messages]
    assert [one for one in brought if one] == [["c1", "c2"], ["c3"]]


def test_18_3_usage() -> None:
    """100 in, 50 out, 200 written, 3000 read: a prompt of 3300; adding sums all four."""
    usage = Tokens(100, 50, 200, 3000)
    assert prompt_size(usage) == 3300
    assert added(usage, Tokens(1, 2, 3, 4)) == Tokens(101, 52, 203, 3004)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 2**32))
def test_extract_and_compare_of_a_trajectory_with_itself_is_empty(seed: int) -> None:
    """Of any transcript: rewrites, extensions, orphans, ids that repeat; by the positional rule, too."""
    calls = extract(transcript(*drawn(random.Random(seed), "t")[1:]).messages).calls
    assert compare(calls, calls) == []
    assert compare(calls, calls, positional=True) == []


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 2**32))
def test_permuting_calls_inside_a_batch_is_never_a_structural_divergence(seed: int) -> None:
    """Of any transcript, whatever became of the arguments: names alone decide where two runs part."""
    rng = random.Random(seed)
    calls = extract(transcript(*drawn(rng, "t")[1:]).messages).calls
    batches: dict[int | None, list[int]] = {}
    for at, one in enumerate(calls):
        batches.setdefault(one.batch, []).append(at)
    order = [at for members in batches.values() for at in rng.sample(members, len(members))]
    assert compare(calls, [calls[at] for at in order]) == []
    other = recorded(*((calls[at].name, {"other": at}) for at in order))
    assert [one.structural for one in compare(calls, other)] == [False] * len(calls)


def test_a_message_without_a_text_is_no_turn_of_a_replay(tmp_path: Path) -> None:
    """8.7: an image alone is nothing; what is fed are the turns that extraction tells."""
    image = {"type": "image", "media_type": "image/png", "data": "iVBORw0KGgo="}
    recording = written(tmp_path, message("user", image), *TWO_TURNS[:4])
    model = Scripted.from_messages(recording.messages)
    assert replay(planned(recording, model), model).turns == 1
