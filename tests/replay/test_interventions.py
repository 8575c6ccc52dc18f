"""Interventions: the cases of mecha 13 and 18.8."""

from __future__ import annotations

import pytest

from sessionlab.formats.mecha.wire import Legs
from sessionlab.replay import Intervention, interventions, learnable
from tests.formats.mecha_lines import call, line, result
from tests.replay.conversations import a, transcript, u

DENIED = "Denied by the user: not that directory "


def found(*lines: bytes) -> list[Intervention]:
    """The interventions of a transcript of these lines."""
    told = transcript(*lines)
    return interventions(told.messages, told.covering)


def told(*lines: bytes) -> list[tuple[str, int, str]]:
    """Their triggers, places and texts."""
    return [(one.trigger, one.index, one.text) for one in found(*lines)]


def test_denial_has_the_persons_reason() -> None:
    """An error result `Denied by the user: not that directory`: one denial with that reason."""
    lines = (u("go"), a("looking", call("t")), u(result("t", DENIED, is_error=True)), a("sorry"))
    [one] = found(*lines)
    assert (one.trigger, one.index, one.text) == ("denial", 2, "not that directory")
    assert (one.context, one.aftermath) == ("looking", "sorry")


@pytest.mark.parametrize(
    ("content", "is_error"),
    [
        ("Blocked by a hook: no", True),
        ("Blocked by policy: no", True),
        ("exit code 1", True),
        ("no tool named `x`", True),
        (DENIED, False),
        (f" {DENIED}", True),
    ],
)
def test_other_refusals_and_errors_are_no_interventions(content: str, is_error: bool) -> None:
    """Hook refusal, policy refusal, plain error; and words that only look like a denial."""
    assert told(u("go"), a(call("t")), u(result("t", content, is_error=is_error))) == []


def test_follow_up_has_context_and_aftermath() -> None:
    """u, a, u, a: one follow-up, context from the first answer and aftermath from the second."""
    [one] = found(u("first"), a("answer one"), u(" second "), a("answer two"))
    assert one == Intervention("follow_up", 2, "second", "answer one", "answer two", None)


def test_steer_is_text_beside_results() -> None:
    """Text beside results, trimmed; blank text is none."""
    lines = (u("go"), a(call("t1")), u(result("t1"), " stop that\n"), a(call("t2")), u(result("t2"), " \n"))
    assert told(*lines) == [("steer", 2, "stop that")]


def test_denial_and_steer_in_one_message() -> None:
    """A refused call and words beside it: both, the denial first."""
    lines = (u("go"), a(call("t1"), call("t2")), u(result("t1", DENIED, is_error=True), result("t2"), "use b"))
    assert told(*lines) == [("denial", 2, "not that directory"), ("steer", 2, "use b")]


@pytest.mark.parametrize(
    "text",
    [
        "You have used your entire tool budget. Answer now.",
        "/model",
        "/exit",
        "Your previous turn ended without producing anything",
        "Nothing is being learned here: stop",
        "A second opinion on your plan: no",
        "Post: [Message m-1 from crow] hello",
    ],
)
def test_harness_voices_and_slash_commands_are_none(text: str) -> None:
    """Forced-answer nudge, /model, /exit, and the other voices of section 6: neither a follow-up nor a steer."""
    assert told(u("go"), a("done", call("t")), u(result("t"), text), a("done"), u(text)) == []


def test_messages_marked_as_the_harnesss_are_none() -> None:
    """`harness: true` tells directly."""
    assert told(u("go"), a("done"), u("carry on", harness=True)) == []


def test_follow_up_needs_an_answer_before_it_and_is_not_the_first_turn() -> None:
    """A second question before any answer is none, a first one after an answer neither."""
    assert told(u("go"), u("and this"), a("done")) == []
    assert told(a("hello"), u("go")) == []
    assert told(u("go"), a({"type": "thinking", "text": "hm"}), u("well?")) == []


def test_taint_is_that_of_the_message_and_unknown_is_not_clean() -> None:
    """Each carries what covers its index; learnable only where it is known that nothing untrusted had entered."""
    clean, dirty = line(record="taint", private=True), line(record="taint", untrusted=True)
    steps = found(u("1"), a("x"), u("2"), clean, a("y"), u("3"), dirty, a("z"), u("4"))
    assert [(one.text, one.taint, one.learnable) for one in steps] == [
        ("2", Legs(private=True), "clean"),
        ("3", Legs(private=True, untrusted=True), "untrusted"),
        ("4", None, "untrusted"),
    ]


def test_learnable_without_provenance_is_untrusted() -> None:
    """A reflection stored without provenance: untrusted; private alone is acceptable."""
    assert learnable(None) == learnable(Legs(untrusted=True)) == "untrusted"
    assert learnable(Legs()) == learnable(Legs(private=True)) == "clean"
