"""What holds of the driver's cursor whatever was recorded and whatever is called."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.replay.comparison import compare
from sessionlab.replay.cursor import Cursor
from sessionlab.replay.trajectory import Call, RecordedCall

CALLS = st.builds(Call, st.sampled_from(("read", "list", "fetch")), st.integers(0, 2))
BATCHES = st.lists(st.lists(CALLS, min_size=1, max_size=4), max_size=4)
CUTS = st.lists(st.integers(1, 4), max_size=12)
MARKS = st.sampled_from((True, False, None))


def recording(batches: Sequence[Sequence[Call]]) -> list[RecordedCall]:
    """The calls as recorded: each output names its own call."""
    return [
        RecordedCall(call.name, call.input, f"{call.name} {call.input}", batch=number)
        for number, batch in enumerate(batches)
        for call in batch
    ]


def taken(cursor: Cursor, calls: Sequence[Call], cuts: Sequence[int]) -> list[RecordedCall | None]:
    """The calls made in replies of these sizes, and in one at the end."""
    found: list[RecordedCall | None] = []
    for size in (*cuts, len(calls)):
        found += cursor.take(calls[len(found) : len(found) + size])
    cursor.end()
    return found


@settings(max_examples=200, deadline=None)
@given(BATCHES, CUTS, st.randoms(use_true_random=False))
def test_batches_in_any_order_and_any_replies_are_followed_call_by_call(
    batches: list[list[Call]], cuts: list[int], draw: object
) -> None:
    """Permuting calls inside a batch is never a divergence, and every call gets a result of its own arguments."""
    calls = [call for batch in batches for call in draw.sample(batch, len(batch))]  # type: ignore[attr-defined]
    cursor = Cursor(recording(batches))
    answers = taken(cursor, calls, cuts)
    assert [one.output for one in answers if one] == [f"{call.name} {call.input}" for call in calls]
    assert (cursor.seen, cursor.departure, cursor.answered) == ([], None, len(calls))


@settings(max_examples=300, deadline=None)
@given(BATCHES, st.lists(CALLS, max_size=12), CUTS)
def test_the_driver_and_the_comparison_agree_on_whether_there_is_a_divergence(
    batches: list[list[Call]], calls: list[Call], cuts: list[int]
) -> None:
    """Which ones they see may differ where a batch was cut; that there is one never does."""
    recorded = recording(batches)
    cursor = Cursor(recorded)
    answers = taken(cursor, calls, cuts)
    assert bool(cursor.seen) == bool(compare(recorded, calls))
    for call, answer in zip(calls, answers, strict=True):
        assert answer is None or answer.name == call.name
    given_out = [one for one in answers if one is not None]
    assert len(given_out) == cursor.answered
    assert answers[len(given_out) :] == [None] * (len(calls) - len(given_out))


@settings(max_examples=100, deadline=None)
@given(BATCHES, st.lists(MARKS, min_size=16, max_size=16))
def test_every_result_keeps_its_own_provenance(batches: list[list[Call]], marks: list[bool | None]) -> None:
    """12.7: the mark goes with the recorded call, never with the position of the one it answers."""
    recorded = [
        RecordedCall(one.name, number, str(number), batch=one.batch, external=marks[number])
        for number, one in enumerate(recording(batches))
    ]
    answers = Cursor(recorded).take([Call(one.name, one.input) for one in reversed_in_batches(recorded)])
    assert {one.output: one.external for one in answers if one} == {one.output: one.external for one in recorded}


def reversed_in_batches(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Each batch backwards."""
    return sorted(calls, key=lambda one: (one.batch or 0, -int(one.output)))
