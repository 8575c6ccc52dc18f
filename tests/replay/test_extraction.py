"""Extraction: the cases of mecha 12.1, 18.4 and the golden sample of section 20."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessionlab.formats.mecha.loading import load
from sessionlab.formats.recording import Recording
from sessionlab.replay import RecordedCall, Trajectory, extract
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import call, result, rewrite, said
from tests.replay.conversations import a, transcript, u


def extracted(*lines: bytes) -> Trajectory:
    """The trajectory of a transcript of these lines."""
    return extract(transcript(*lines).messages)


def golden() -> Trajectory:
    """The trajectory of the golden sample."""
    [path] = Path(SAMPLES / "mecha" / "golden").glob("*.jsonl")
    with path.open("rb") as stream:
        return extract(load(Recording(stream, uri=str(path), format="mecha")).messages)


def test_golden_sample() -> None:
    """Section 20: three turns; calls in the order of their results, in two batches, with provenance; steered."""
    found = golden()
    assert found.turns == ("How many birds are in obs.csv?", "Compare with the web list.", "thanks")
    assert found.calls == (
        RecordedCall("fs_list", {"path": "."}, "obs.csv\nnotes.md", batch=0, external=False),
        RecordedCall("fs_read", {"path": "obs.csv"}, "wren,4\nrobin,3", batch=0, external=False),
        RecordedCall(
            "web_fetch",
            {"url": "https://birds.example/list"},
            "timeout after 10s",
            is_error=True,
            batch=1,
            external=True,
        ),
    )
    assert (found.final_text, found.steered) == ("No comparison made.", True)
    assert found.legacy_provenance_calls == 0


def test_one_turn_one_call() -> None:
    """u, a(call t1), results(t1), a(text): 1 turn, 1 call with name and output, final text, not steered."""
    found = extracted(u("list"), a(call("t1", "fs_list", path=".")), u(result("t1", "x.md")), a("one file"))
    assert found == Trajectory(("list",), (RecordedCall("fs_list", {"path": "."}, "x.md", batch=0),), "one file")


def test_two_turns_in_order() -> None:
    """u, a, u, a: two turns in order, the later answer is the final text."""
    found = extracted(u("first"), a("one"), u("second"), a("two"))
    assert (found.turns, found.calls, found.final_text) == (("first", "second"), (), "two")


def test_results_in_another_order_keep_their_own_output() -> None:
    """Calls t1, t2; results t2, t1: two calls in the order of arrival, each with its own output."""
    found = extracted(a(call("t1", "one"), call("t2", "two")), u(result("t2", "of two"), result("t1", "of one")))
    assert [(one.name, one.output) for one in found.calls] == [("two", "of two"), ("one", "of one")]


def test_text_beside_results_is_steering_and_no_turn() -> None:
    """Results and "change of plan…": turns are only the first; steered."""
    found = extracted(u("start"), a(call("t1")), u(result("t1"), "change of plan: read b"), a("ok"))
    assert (found.turns, found.steered) == (("start",), True)


def test_blank_text_beside_results_is_no_steering() -> None:
    """White space beside results, also U+2028, says nothing."""
    assert not extracted(a(call("t1")), u(result("t1"), " \u2028\n", "\u3000")).steered


def test_two_calls_in_one_turn_one_in_the_next_are_batches_0_0_1() -> None:
    """Calls answered in one message are a batch."""
    found = extracted(a(call("t1"), call("t2")), u(result("t1"), result("t2")), a(call("t3")), u(result("t3")))
    assert [one.batch for one in found.calls] == [0, 0, 1]


def test_results_of_no_call_are_a_batch_all_the_same() -> None:
    """A message whose results match nothing counts: the next one is batch 1."""
    found = extracted(u(result("gone")), a(call("t1")), u(result("t1")))
    assert [(one.name, one.batch) for one in found.calls] == [("fs_read", 1)]


def test_result_whose_call_was_compacted_away_is_dropped() -> None:
    """The list in force decides: a rewrite without the call leaves a result of nothing."""
    found = extracted(
        u("go"), a(call("t1")), rewrite(said("user", "[Earlier turns were compacted] go")), u(result("t1"))
    )
    assert (found.turns, found.calls) == (("[Earlier turns were compacted] go",), ())


def test_call_without_a_result_is_not_in_it_and_can_still_match() -> None:
    """A call that waits is matched by a later result of the same id, the first waiting one first."""
    found = extracted(
        a(call("t1", "early", n=1), call("t2", "never")),
        u("hello?"),
        a(call("t1", "late", n=2)),
        u(result("t1", "a")),
        u(result("t1", "b"), result("t1", "c")),
    )
    assert [(one.name, one.output, one.batch) for one in found.calls] == [("early", "a", 0), ("late", "b", 1)]


def test_two_assistant_messages_in_a_row_share_the_batch_of_the_next_results() -> None:
    """Calls of both come back in one message: one batch."""
    found = extracted(a(call("t1")), a(call("t2")), u(result("t2"), result("t1")))
    assert [one.batch for one in found.calls] == [0, 0]


def test_thinking_and_images_are_ignored_and_an_image_is_no_turn() -> None:
    """An image-only user message is no turn, a thought is no final text."""
    image = {"type": "image", "media_type": "image/png", "data": "iVBORw0KGgo="}
    found = extracted(u("go"), a("said"), u(image), a({"type": "thinking", "text": "thought"}))
    assert (found.turns, found.final_text) == (("go",), "said")


def test_texts_are_joined_and_kept_untrimmed() -> None:
    """Blocks are joined without a separator; nothing is trimmed; blank texts change nothing."""
    found = extracted(u(" a ", "b\n"), a(" x ", " y"), a("  "), u("\x85\u2029"))
    assert (found.turns, found.final_text) == ((" a b\n",), " x  y")


def test_control_characters_are_no_white_space() -> None:
    """U+001C is white space to Python, not to Unicode: a text of it is a turn."""
    assert extracted(u("\x1c")).turns == ("\x1c",)


def test_refused_and_unknown_tools_are_calls_with_their_refusal_as_output() -> None:
    """Denied, blocked and unknown-tool calls are included."""
    found = extracted(
        a(call("t1", "shell"), call("t2", "nope")),
        u(
            result("t1", "Denied by the user: not now", is_error=True),
            result("t2", "no tool named `nope`", is_error=True),
        ),
    )
    assert [(one.name, one.output, one.is_error) for one in found.calls] == [
        ("shell", "Denied by the user: not now", True),
        ("nope", "no tool named `nope`", True),
    ]


def test_harness_text_and_slash_commands_are_turns() -> None:
    """Extraction leaves nobody out: they become turns, or steer."""
    found = extracted(
        u("/model x"), u("note", harness=True), a(call("t")), u(result("t"), "You have used your entire tool budget")
    )
    assert (found.turns, found.steered) == (("/model x", "note"), True)


@pytest.mark.parametrize(("told", "external"), [(True, True), (False, False), (None, None)])
def test_provenance_has_three_states_and_unknown_counts_as_external(told: bool | None, external: bool | None) -> None:
    """12.7: an id without an entry is unknown, and only a known false is not external."""
    provenance = {} if told is None else {"tool_provenance": {"t": told}}
    [one] = extracted(a(call("t")), u(result("t"), **provenance)).calls
    assert one.external is external
    assert one.counts_as_external is (told is not False)
