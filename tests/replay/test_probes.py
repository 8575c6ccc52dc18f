"""Probe points, truncation and verdicts: the cases of mecha 13, 18.8 and 22."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.errors import WrongUse
from sessionlab.formats.mecha.wire import Message
from sessionlab.replay import (
    ArgumentsDivergence,
    Call,
    ExtraDivergence,
    MissingDivergence,
    ProbePoint,
    ToolDivergence,
    probe_denial,
    probe_steer,
    run_end,
    verdict,
)
from tests.formats.mecha_lines import call, result
from tests.replay.conversations import a, made, transcript, u

K = 2


def list_of(*lines: bytes) -> list[Message]:
    """The messages of a transcript of these lines."""
    return transcript(*lines).messages


def steer_at(k: int) -> ProbePoint:
    """A steer after ``k`` answered calls."""
    return ProbePoint("steer", 2, k, k, None, 9)


def denial_at(k: int) -> ProbePoint:
    """A denial of ``shell(rm)`` which was call ``k``."""
    return ProbePoint("denial", 2, k, k, Call("shell", {"c": "rm"}), 9)


def test_steer_in_a_message_that_answers_two_calls() -> None:
    """Message index 2, call index 2; a follow-up turn with the wanted text is not a steer."""
    lines = [u("go"), a(call("t1"), call("t2")), u(result("t1"), result("t2"), " use b \n"), a("ok"), u("end")]
    assert probe_steer(list_of(*lines), "use b") == ProbePoint("steer", 2, 2, 2, None, 4)
    assert probe_steer(list_of(u("go"), a("x"), u("use b")), "use b") is None
    later = list_of(u("use b"), *lines)
    assert probe_steer(later, "use b") == ProbePoint("steer", 3, 2, 2, None, 5)


def test_first_of_equal_steers_is_taken() -> None:
    """The same words twice: the first."""
    steps = [a(call("t1")), u(result("t1"), "no"), a(call("t2")), u(result("t2"), "no")]
    point = probe_steer(list_of(u("go"), *steps), "no")
    assert point is not None
    assert (point.message_index, point.call_index) == (2, 1)


def test_denial_of_the_second_call_of_a_turn() -> None:
    """Call index 1 and that call's name and input."""
    messages = list_of(
        u("go"),
        a(call("t1"), call("t2", "shell", c="rm")),
        u(result("t2", "Denied by the user: no!", is_error=True), result("t1")),
        u("next"),
    )
    assert probe_denial(messages, " no! ") == ProbePoint("denial", 2, 1, 0, Call("shell", {"c": "rm"}), 3)


def test_k_counts_calls_asked_for_and_divergences_count_answered_ones() -> None:
    """Section 22: both are stated. A call without a result is in `k` and not in the trajectory."""
    messages = list_of(
        u("go"),
        a(call("lost"), call("t1")),
        u(result("t1")),
        a(call("t2", "shell", c="rm")),
        u(result("t2", "Denied by the user: no", is_error=True), "rather b"),
    )
    denied, steered = probe_denial(messages, "no"), probe_steer(messages, "rather b")
    assert denied is not None
    assert steered is not None
    assert (denied.call_index, denied.answered_index) == (2, 1)
    assert (steered.call_index, steered.answered_index) == (3, 2)


def test_denial_of_nothing_known_has_no_point() -> None:
    """No such reason, or no call of that id in an earlier message of the model."""
    orphan = u(result("t9", "Denied by the user: no", is_error=True))
    assert probe_denial(list_of(u("go"), a(call("t1")), orphan), "no") is None
    assert probe_denial(list_of(u("go"), a(call("t1")), u(result("t1"))), "no") is None


def test_refused_call_is_found_by_id_in_the_nearest_earlier_message() -> None:
    """Ids repeat: the later call is the refused one."""
    messages = list_of(
        a(call("t", "early")),
        u(result("t")),
        a(call("x"), call("t", "late")),
        u(result("t", "Denied by the user: no", is_error=True)),
    )
    point = probe_denial(messages, "no")
    assert point is not None
    assert (point.refused, point.call_index, point.answered_index) == (Call("late", {}), 2, 1)


def test_blank_steer_is_wrong_use() -> None:
    """White space matches nothing."""
    with pytest.raises(WrongUse, match="the text of a steer: expected words"):
        probe_steer([], " \n")


def test_truncation_to_the_run() -> None:
    """After message 2 of 5: 4 messages; after the last: all 5. Results go on with the run."""
    messages = list_of(u("go"), a(call("t")), u(result("t"), "b"), a("ok"), u("next"))
    assert [run_end(messages, at) for at in (2, 4)] == [4, 5]
    longer = list_of(u("go"), a(call("t")), u(result("t"), "b"), a(call("s")), u(result("s")), a("end"))
    assert run_end(longer, 2) == 6


@pytest.mark.parametrize(
    ("divergences", "told"),
    [
        ([], "pass"),
        ([ArgumentsDivergence(K, "x", 1, 2)], "pass"),
        ([ArgumentsDivergence(0, "x", 1, 2)], "pass"),
        ([ToolDivergence(K, "x", "y")], "fail"),
        ([MissingDivergence(K, "x")], "fail"),
        ([ExtraDivergence(K + 3, "x")], "fail"),
        ([ToolDivergence(0, "x", "y")], "inconclusive"),
        ([MissingDivergence(K - 1, "x"), MissingDivergence(K, "x")], "inconclusive"),
    ],
)
def test_steer_verdicts(divergences: list[Any], told: str) -> None:
    """Nothing or `arguments` at k: pass; `tool` or `missing` at k: fail; `tool` at 0: inconclusive."""
    assert verdict(steer_at(K), divergences) == told


OTHER, SAME = ("x", {}), ("shell", {"c": "rm"})


@pytest.mark.parametrize(
    ("replayed", "told"),
    [
        ([OTHER, OTHER, SAME], "fail"),
        ([OTHER, OTHER, OTHER, SAME], "fail"),
        ([OTHER, OTHER, ("shell", {"c": "ls"})], "pass"),
        ([OTHER, OTHER, ("shell", {"c": " rm"})], "pass"),
        ([OTHER, OTHER, ("fs_rm", {"c": "rm"})], "pass"),
        ([OTHER, OTHER], "pass"),
        ([OTHER, SAME], "pass"),
        ([OTHER, SAME, SAME], "fail"),
    ],
)
def test_denial_verdicts(replayed: list[Any], told: str) -> None:
    """Exact call at or after k: fail; other input, or not called: pass; before k only: pass; again after: fail."""
    calls = made(*replayed)
    assert verdict(denial_at(K), [], calls) == told
    assert verdict(denial_at(K), [ToolDivergence(K, "x", "y")], calls) == told
    assert verdict(denial_at(K), [ToolDivergence(0, "x", "y")], calls) == "inconclusive"


def test_denied_number_is_judged_by_its_type() -> None:
    """Exactly equal input: `1` is not `1.0`, `true` is not `1`."""
    point = ProbePoint("denial", 2, 0, 0, Call("x", {"n": 1}), 9)
    assert [verdict(point, [], made(("x", {"n": n}))) for n in (1, 1.0, True)] == ["fail", "pass", "pass"]


def test_verdict_of_a_branch_counts_from_its_base() -> None:
    """Only the tail from call 2 was replayed: its first call stands at 2."""
    assert verdict(denial_at(K), [], made(SAME), base=K) == "fail"
    assert verdict(denial_at(K), [], made(SAME), base=0) == "pass"
    assert verdict(denial_at(K + 1), [], made(SAME), base=K) == "pass"
