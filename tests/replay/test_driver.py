"""The replay driver against the cases of mecha 18.5 and the rules of 12.4 to 12.7, with scripted models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sessionlab.errors import ReplayRefused, WrongUse
from sessionlab.formats.mecha.wire import AnyBlock, Message, Text, Tokens, ToolResult, ToolUse
from sessionlab.replay.comparison import ArgumentsDivergence, ExtraDivergence, MissingDivergence, ToolDivergence
from sessionlab.replay.cursor import Cursor
from sessionlab.replay.driver import Episode, branch, replay
from sessionlab.replay.model import Reply
from sessionlab.replay.report import report
from sessionlab.replay.scripted import Scripted
from sessionlab.replay.surface import Answer, Tool
from sessionlab.replay.trajectory import Call, RecordedCall, extract
from tests.formats.mecha_lines import call, message, result
from tests.replay.sessions_to_replay import NAMES, TODAY, TWO_TURNS, planned, transcript

READ = ("fs_read", {"path": "a.md"})
LIST = ("fs_list", {"path": "."})
FETCH = ("web_fetch", {"url": "http://news"})
ONE_CALL = (
    message("user", "Which birds?"),
    message("assistant", call("c1", "fs_read", path="a.md")),
    message("user", result("c1", "plover", is_error=False), tool_provenance={"c1": False}),
    message("assistant", "Plovers."),
)


def said(text: str = "", *calls: tuple[str, Any], usage: Tokens | None = None, finish: Any = "end_turn") -> Reply:
    """A reply of a text and of calls."""
    blocks: list[AnyBlock] = [Text(text)] if text else []
    blocks += [ToolUse(f"r{number}", name, given) for number, (name, given) in enumerate(calls)]
    return Reply(blocks, usage, "tool_use" if calls else finish)


def driven(tmp_path: Path, lines: Sequence[bytes], *turns: Sequence[Reply], mode: str = "stop", **more: Any) -> Episode:
    """A recording driven by a script."""
    approve = more.pop("approve", None)
    config = more.pop("config", {})
    model = Scripted(turns)
    return replay(planned(transcript(tmp_path, *lines, **config), model, mode=mode, **more), model, approve=approve)


def results(episode: Episode) -> list[ToolResult]:
    """What the model was told of its calls, in order."""
    return [block for message in episode.messages for block in message.content if isinstance(block, ToolResult)]


def ran(*answers: Any, name: str = "fs_read", **rights: Any) -> tuple[tuple[Tool, ...], list[Any]]:
    """Today's tools, one of which answers and remembers what it was called with."""
    made: list[Any] = []
    left = list(answers)

    def run(given: Any) -> Any:
        made.append(given)
        told = left.pop(0)
        if isinstance(told, Exception):
            raise told
        return told

    def none(given: Any) -> str:
        raise AssertionError("called without being meant")

    tools = (Tool(one, run=run if one == name else none, **(rights if one == name else {})) for one in NAMES)
    return tuple(tools), made


def test_matching_calls_get_the_recorded_outputs_in_order_and_are_not_cancelled(tmp_path: Path) -> None:
    """18.5: matching calls: recorded outputs, nothing cancelled."""
    episode = driven(tmp_path, TWO_TURNS, [said("", READ, LIST), said("Plovers.")], [said("", FETCH), said("Calm.")])
    assert [block.content for block in results(episode)][:2] == ["plover", "a.md"]
    assert "calm seas" in results(episode)[2].content
    assert (episode.stopped_early, episode.departure, episode.seen) == (False, None, ())


def test_a_faithful_run_has_no_divergence_and_keeps_the_final_text(tmp_path: Path) -> None:
    """18.5: faithful run: no divergence, not stopped early, final text kept, 1 turn."""
    recording = transcript(tmp_path, *ONE_CALL)
    model = Scripted.from_messages(recording.messages)
    plan = planned(recording, model)
    told = report(plan, replay(plan, model))
    assert (told.divergences, told.stopped_early, told.final_text, told.turns) == ((), False, "Plovers.", 1)
    assert told.exit_code == 0


def test_a_recorded_error_is_an_error_result_with_the_same_text(tmp_path: Path) -> None:
    """18.5: recorded error: error result with the same text."""
    lines = [*ONE_CALL[:2], message("user", result("c1", "no such file", is_error=True), tool_provenance={"c1": False})]
    episode = driven(tmp_path, lines, [said("", READ), said("Gone.")])
    [told] = results(episode)
    assert (told.content, told.is_error, episode.stopped_early) == ("no such file", True, False)
    assert episode.outcomes[0].tool_errors == 1
    assert episode.outcomes[0].ended_on_failed_call


@pytest.mark.parametrize("mode", ["stop", "error"])
def test_a_wrong_tool_is_cancelled_and_afterwards_even_the_expected_one_is_told_of_the_divergence(
    tmp_path: Path, mode: str
) -> None:
    """18.5: wrong tool: error result, cancelled; afterwards even the expected tool gets an error that says so."""
    episode = driven(tmp_path, ONE_CALL, [said("", LIST, READ), said("never")], mode=mode)
    assert [(told.is_error, "diverged" in told.content) for told in results(episode)] == [(True, True), (True, True)]
    assert episode.stopped_early
    assert episode.outcomes[0].stop_cause == "interrupted"
    assert episode.final_text == ""
    assert episode.seen == (ToolDivergence(0, "fs_read", "fs_list"),)


def test_one_call_past_the_end_is_an_error_result_and_cancelled(tmp_path: Path) -> None:
    """18.5: one call past the end: error result, cancelled."""
    episode = driven(tmp_path, ONE_CALL, [said("", READ), said("", LIST), said("never")])
    assert [told.is_error for told in results(episode)] == [False, True]
    assert episode.stopped_early
    assert episode.seen == (ExtraDivergence(1, "fs_list"),)
    assert "the recording had 1 call" in str(episode.departure)


def test_other_arguments_get_the_recorded_output_and_are_not_cancelled(tmp_path: Path) -> None:
    """18.5: other arguments: recorded output, not cancelled."""
    episode = driven(tmp_path, ONE_CALL, [said("", ("fs_read", {"path": "./a.md"})), said("Plovers.")])
    assert results(episode)[0].content == "plover"
    assert not episode.stopped_early
    assert episode.seen == (ArgumentsDivergence(0, "fs_read", {"path": "a.md"}, {"path": "./a.md"}),)


def test_live_a_wrong_tool_runs_for_real_and_later_calls_stay_live(tmp_path: Path) -> None:
    """18.5: live, wrong tool: the real tool's output, not cancelled; later calls stay live."""
    tools, made = ran("in here", "still here", name="fs_list")
    turns = [said("", LIST), said("", LIST), said("Done.")]
    episode = driven(tmp_path, ONE_CALL, turns, mode="live", tools=tools, permission_mode="allow")
    assert [told.content for told in results(episode)] == ["in here", "still here"]
    assert made == [{"path": "."}, {"path": "."}]
    assert not episode.stopped_early
    assert episode.final_text == "Done."
    assert episode.outcomes[0].stop_cause == "completed"


def test_live_the_recorded_tool_runs_for_real_once_the_replay_has_parted(tmp_path: Path) -> None:
    """The recording answers nobody any more: what it still holds answers a question nobody asked."""
    tools, made = ran("now", name="fs_read")
    listed = [Tool("fs_list", run=lambda _: "x"), *(tool for tool in tools if tool.name != "fs_list")]
    turns = [said("", LIST), said("", READ), said("Done.")]
    episode = driven(tmp_path, ONE_CALL, turns, mode="live", tools=tuple(listed), permission_mode="allow")
    assert [told.content for told in results(episode)] == ["x", "now"]
    assert made == [{"path": "a.md"}]


def test_live_follows_the_recording_without_a_tool_or_a_question_as_long_as_it_can(tmp_path: Path) -> None:
    """12.4: only a structural divergence turns to real tools, and only then is anybody asked."""
    tools, made = ran()
    episode = driven(tmp_path, ONE_CALL, [said("", READ), said("Plovers.")], mode="live", tools=tools)
    assert (results(episode)[0].content, made, episode.departure) == ("plover", [], None)


def test_the_reason_of_a_divergence_names_the_call_and_both_tools_and_the_first_is_kept() -> None:
    """18.5: none while following; names call number and both tools; the first reason is kept."""
    cursor = Cursor([RecordedCall("fs_read", {}, batch=0), RecordedCall("fs_list", {}, batch=1)])
    assert cursor.take([Call("fs_read", {})])[0] is not None
    assert cursor.departure is None
    assert cursor.take([Call("shell", {})]) == [None]
    first = str(cursor.departure)
    assert "call 2" in first
    assert "fs_list" in first
    assert "shell" in first
    assert cursor.take([Call("mail", {})]) == [None]
    assert str(cursor.departure) == first


def test_a_divergent_first_turn_of_two_stops_early_after_one_turn(tmp_path: Path) -> None:
    """18.5: divergent first turn of two: stopped early, 1 turn fed, at least one structural divergence."""
    recording = transcript(tmp_path, *TWO_TURNS)
    model = Scripted([[said("", FETCH)], [said("", FETCH), said("Calm.")]])
    plan = planned(recording, model)
    told = report(plan, replay(plan, model))
    assert (told.stopped_early, told.turns) == (True, 1)
    assert any(one.structural for one in told.divergences)


def test_a_branch_from_call_one_that_is_faithful_reports_nothing(tmp_path: Path) -> None:
    """18.5: branch from call 1, faithful: nothing reported, base 1, one replayed call, no turn fed."""
    recording = transcript(tmp_path, *TWO_TURNS[:2], *_second_batch())
    model = Scripted.from_messages(recording.messages)
    plan = planned(recording, model)
    told = report(plan, branch(plan, model, at=3))
    assert (told.divergences, told.call_base, told.replayed_calls, told.turns) == ((), 1, 1, 0)


def test_a_branch_from_call_one_that_forks_is_structural_at_index_one(tmp_path: Path) -> None:
    """18.5: branch from call 1, fork: structural, index 1."""
    recording = transcript(tmp_path, *TWO_TURNS[:2], *_second_batch())
    model = Scripted([[said("unused"), said("", LIST), said("Done.")]])
    plan = planned(recording, model)
    told = report(plan, branch(plan, model, at=3))
    assert [(one.index, one.structural) for one in told.divergences] == [(1, True)]
    assert told.stopped_early


def _second_batch() -> tuple[bytes, ...]:
    """One answered call, and another one in a batch of its own."""
    return (
        message("user", result("c1", "plover")),
        message("assistant", call("c3", "web_fetch", url="http://news")),
        message("user", result("c3", "calm seas")),
        message("assistant", "Calm."),
    )


def test_a_branch_ends_its_recording_where_the_run_ends(tmp_path: Path) -> None:
    """13: what follows the run is another run's: its calls are not missing."""
    recording = transcript(tmp_path, *TWO_TURNS)
    model = Scripted.from_messages(recording.messages)
    plan = planned(recording, model)
    episode = branch(plan, model, at=3, until=4)
    assert (episode.recorded, episode.seen, episode.base) == ((), (), 2)


@pytest.mark.parametrize("order", [(READ, LIST), (LIST, READ)])
def test_calls_inside_a_batch_find_their_own_answer_in_any_order(tmp_path: Path, order: Any) -> None:
    """12.4: inside a batch the expected call is searched."""
    episode = driven(tmp_path, TWO_TURNS[:4], [said("", *order), said("Plovers.")])
    found = dict(zip([name for name, _ in order], [told.content for told in results(episode)], strict=True))
    assert found == {"fs_read": "plover", "fs_list": "a.md"}
    assert episode.seen == ()


def test_a_batch_made_one_call_at_a_time_is_followed_too(tmp_path: Path) -> None:
    """The comparison knows no replies, only calls: a batch taken in two steps is no divergence."""
    episode = driven(tmp_path, TWO_TURNS[:4], [said("", LIST), said("", READ), said("Plovers.")])
    assert [told.content for told in results(episode)] == ["a.md", "plover"]
    assert episode.seen == ()


def test_the_same_tool_twice_in_a_batch_is_answered_by_its_arguments_first() -> None:
    """12.2: the same tool and arguments first, then the same tool: each result stays with its own call."""
    recorded = [
        RecordedCall("fs_read", {"path": "a"}, "A", batch=0, external=False),
        RecordedCall("fs_read", {"path": "b"}, "B", batch=0, external=True),
    ]
    cursor = Cursor(recorded)
    given = cursor.take([Call("fs_read", {"path": "c"}), Call("fs_read", {"path": "a"})])
    assert [one.output for one in given if one] == ["B", "A"]
    assert [one.external for one in given if one] == [True, False]
    assert cursor.seen == [ArgumentsDivergence(1, "fs_read", {"path": "b"}, {"path": "c"})]


def test_calls_of_separate_batches_keep_their_order() -> None:
    """18.4: the same two in batches 0 and 1, reversed: `tool` index 0, expected kg_search, actual fs_list."""
    cursor = Cursor([RecordedCall("kg_search", {}, batch=0), RecordedCall("fs_list", {}, batch=1)])
    assert cursor.take([Call("fs_list", {}), Call("kg_search", {})]) == [None, None]
    assert cursor.seen == [ToolDivergence(0, "kg_search", "fs_list")]


def test_calls_without_a_batch_are_positional() -> None:
    """18.4: null batches, reversed: `tool` index 0."""
    cursor = Cursor([RecordedCall("kg_search", {}), RecordedCall("fs_list", {})])
    assert cursor.take([Call("fs_list", {})]) == [None]
    assert cursor.seen == [ToolDivergence(0, "kg_search", "fs_list")]


def test_a_reply_may_reach_over_the_end_of_a_batch() -> None:
    """Batches are the recording's: two of them may be called in one reply."""
    recorded = [RecordedCall(name, {}, name, batch=at) for at, name in enumerate(("one", "two", "three"))]
    given = Cursor(recorded).take([Call(name, {}) for name in ("one", "two", "three")])
    assert [one.output for one in given if one] == ["one", "two", "three"]


def test_a_replay_that_ends_before_its_recording_misses_what_is_left(tmp_path: Path) -> None:
    """18.4: recorded 2, replayed 1: `missing` index 1; the driver sees it, too."""
    recording = transcript(tmp_path, *TWO_TURNS)
    model = Scripted([[said("", READ, LIST), said("Plovers.")], [said("No news.")]])
    plan = planned(recording, model, mode="error")
    told = report(plan, replay(plan, model))
    assert told.seen == told.divergences == (MissingDivergence(2, "web_fetch"),)
    assert (told.stopped_early, told.exit_code) == (False, 1)


def test_a_batch_reordered_and_cut_is_told_twice(tmp_path: Path) -> None:
    """22: the comparison says what 12.2 says, the driver what it saw; `error` fails on the latter."""
    recording = transcript(tmp_path, *TWO_TURNS[:4])
    model = Scripted([[said("", READ), said("Enough.")]])
    plan = planned(recording, model, mode="error")
    told = report(plan, replay(plan, model))
    assert told.divergences == (ToolDivergence(0, "fs_list", "fs_read"),)
    assert told.seen == (MissingDivergence(0, "fs_list"),)
    assert told.exit_code == 1


@pytest.mark.parametrize(
    ("mode", "code"),
    [("stop", 0), ("error", 1), ("live", 0)],
)
def test_only_error_exits_otherwise_and_for_arguments_too(tmp_path: Path, mode: str, code: int) -> None:
    """12.4: exit status 0 in stop and live, non-zero in error when there is any divergence, arguments included."""
    tools, _ = ran()
    recording = transcript(tmp_path, *ONE_CALL)
    model = Scripted([[said("", ("fs_read", {"path": "./a.md"})), said("Plovers.")]])
    plan = planned(recording, model, mode=mode, tools=tools)
    told = report(plan, replay(plan, model))
    assert [one.structural for one in told.divergences] == [False]
    assert told.exit_code == code


def test_a_text_that_ends_otherwise_is_no_divergence(tmp_path: Path) -> None:
    """12.8: a final-text difference is reported only."""
    recording = transcript(tmp_path, *ONE_CALL)
    model = Scripted([[said("", READ), said("Terns.\nReally.")]])
    plan = planned(recording, model, mode="error")
    told = report(plan, replay(plan, model))
    assert (told.divergences, told.exit_code) == ((), 0)
    assert "recorded final text: Plovers.\nreplayed final text: Terns.\n" in told.as_text()


def test_a_script_made_of_a_trajectory_follows_it(tmp_path: Path) -> None:
    """Any recording can be the script, also one of which only the trajectory is known."""
    recording = transcript(tmp_path, *TWO_TURNS)
    model = Scripted.from_trajectory(extract(recording.messages))
    episode = replay(planned(recording, model), model)
    assert (episode.seen, episode.final_text, episode.turns) == ((), "Calm.", 2)


def test_a_reply_that_pauses_is_asked_to_go_on(tmp_path: Path) -> None:
    """A provider may pause a turn without a call: it is not over."""
    paused = said("Wait.", finish="pause_turn")
    episode = driven(tmp_path, ONE_CALL[:1], [paused, said("Done.")])
    assert (episode.final_text, episode.outcomes[0].turns) == ("Done.", 2)


def test_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    """A name stands for one tool."""
    with pytest.raises(WrongUse, match="'fs_read' twice"):
        driven(tmp_path, ONE_CALL, [], tools=(*TODAY, TODAY[0]))


def test_an_answer_of_another_type_is_its_text(tmp_path: Path) -> None:
    """Whatever a tool returns is told as a text; an `Answer` says more."""
    tools, _ = ran(Answer("broken", is_error=True), 42, name="fs_list")
    turns = [said("", LIST), said("", LIST), said("Done.")]
    episode = driven(tmp_path, ONE_CALL, turns, mode="live", tools=tools, permission_mode="allow")
    assert [(told.content, told.is_error) for told in results(episode)] == [("broken", True), ("42", False)]


def test_a_tool_that_raises_is_an_error_result(tmp_path: Path) -> None:
    """The replay goes on: the model is told."""
    tools, _ = ran(OSError("the disk is gone"), name="fs_list")
    episode = driven(
        tmp_path, ONE_CALL, [said("", LIST), said("Sad.")], mode="live", tools=tools, permission_mode="allow"
    )
    assert [(told.content, told.is_error) for told in results(episode)] == [("OSError: the disk is gone", True)]


def test_a_recorded_tool_that_is_not_available_is_named(tmp_path: Path) -> None:
    """18.5: recorded tool not available: error naming it."""
    with pytest.raises(ReplayRefused, match="'web_fetch'") as refused:
        driven(tmp_path, ONE_CALL, [], tools=TODAY[:2])
    assert refused.value.kind == "tool_unavailable"


def test_the_conversation_is_one_and_every_turn_is_fed_in_order(tmp_path: Path) -> None:
    """12.4: turns one by one, in one conversation."""
    episode = driven(tmp_path, TWO_TURNS, [said("", READ, LIST), said("P.")], [said("", FETCH), said("C.")])
    heard = [m.content[0].text for m in episode.messages if m.role == "user" and isinstance(m.content[0], Text)]
    assert heard == ["Which birds?", "And the news?"]
    assert [m.role for m in episode.messages] == ["user", "assistant", "user", "assistant"] * 2
    assert all(isinstance(one, Message) for one in episode.messages)
