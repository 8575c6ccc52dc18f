"""Comparison on random calls: against a slow reading of mecha 12.2, and the properties that follow from it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.replay import Call, RecordedCall, align, as_json, compare

JSON = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 0.5, "", " a", "a", "b\u2028"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["k", " k", "m"]), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.sampled_from("ABC")
CALLS = st.lists(st.builds(Call, NAMES, JSON), max_size=9)
RECORDED = st.lists(
    st.builds(RecordedCall, NAMES, JSON, batch=st.sampled_from([None, 0, 0, 0, 1, 1, 2])), max_size=9
).map(lambda calls: sorted(calls, key=lambda call: -1 if call.batch is None else call.batch))


def equal(one: Any, other: Any) -> bool:
    """12.2: strings by their trimmed text, objects and arrays by their parts, all else exactly."""
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return json.dumps(one) == json.dumps(other)


def reference(ours: list[RecordedCall], theirs: list[Call], *, positional: bool) -> list[dict[str, Any]]:
    """12.2 step by step, without a thought for speed."""
    out: list[dict[str, Any]] = []
    i = 0
    while i < len(ours) and i < len(theirs):
        end = i + 1
        if ours[i].batch is not None and not positional:
            while end < len(ours) and ours[end].batch == ours[i].batch:
                end += 1
        want, got = ours[i:end], theirs[i : min(end, len(theirs))]
        mates: dict[int, int] = {}
        for exact in (True, False):
            for w, call in enumerate(want):
                for g, other in enumerate(got):
                    free = w not in mates and g not in mates.values()
                    if free and call.name == other.name and (not exact or equal(call.input, other.input)):
                        mates[w] = g
        if len(want) == len(got) and len(mates) == len(want):
            for w in range(len(want)):
                expected, actual = want[w].input, got[mates[w]].input
                if not equal(expected, actual):
                    out.append(
                        {
                            "kind": "arguments",
                            "index": i + w,
                            "tool": want[w].name,
                            "expected": expected,
                            "actual": actual,
                        }
                    )
            i = end
            continue
        for offset in range(min(len(want), len(got))):
            if want[offset].name != got[offset].name:
                names = {"expected": want[offset].name, "actual": got[offset].name}
                return [*out, {"kind": "tool", "index": i + offset, **names}]
        break
    out += [{"kind": "extra", "index": n, "actual": theirs[n].name} for n in range(len(ours), len(theirs))]
    out += [{"kind": "missing", "index": n, "expected": ours[n].name} for n in range(len(theirs), len(ours))]
    return out


def told(ours: list[RecordedCall], theirs: list[Call], **how: Any) -> list[dict[str, Any]]:
    """The divergences as objects."""
    return [as_json(one) for one in compare(ours, theirs, **how)]


@settings(max_examples=400, deadline=None)
@given(RECORDED, CALLS, st.booleans(), st.randoms(use_true_random=False))
def test_agrees_with_a_slow_reading_of_the_text(ours: Any, theirs: Any, positional: bool, rng: Any) -> None:
    """Random calls, and the recorded ones shuffled a little, give the reference's divergences to the last member."""
    near = list(ours)
    for _ in range(2):
        if near and rng.random() < 0.5:
            near[rng.randrange(len(near))] = near[rng.randrange(len(near))]
        if len(near) > 1 and rng.random() < 0.5:
            at = rng.randrange(len(near) - 1)
            near[at], near[at + 1] = near[at + 1], near[at]
    for replayed in (theirs, near, near[: len(near) // 2], [*near, *theirs]):
        found = told(ours, replayed, positional=positional)
        assert json.dumps(found) == json.dumps(reference(ours, replayed, positional=positional))


@given(RECORDED, st.booleans())
def test_a_trajectory_against_itself_is_empty(ours: Any, positional: bool) -> None:
    """Whatever the batches."""
    assert compare(ours, ours, positional=positional) == []


@given(RECORDED, st.randoms(use_true_random=False))
def test_permuting_calls_inside_batches_is_no_divergence(ours: Any, rng: Any) -> None:
    """Neither a structural one nor one of arguments, as every call finds its own double."""
    replayed: list[RecordedCall] = []
    at = 0
    while at < len(ours):
        end = at + 1
        while ours[at].batch is not None and end < len(ours) and ours[end].batch == ours[at].batch:
            end += 1
        replayed += rng.sample(ours[at:end], end - at)
        at = end
    assert compare(ours, replayed) == []


@given(RECORDED, CALLS, st.integers(0, 1000))
def test_base_only_shifts_indices(ours: Any, theirs: Any, base: int) -> None:
    """A partial recording says the same, further on."""
    plain, shifted = told(ours, theirs), told(ours, theirs, base=base)
    assert json.dumps([{**one, "index": one["index"] + base} for one in plain]) == json.dumps(shifted)


@given(RECORDED, CALLS)
def test_divergences_end_at_the_first_tool(ours: Any, theirs: Any) -> None:
    """A `tool` divergence is the last one; indices of the others grow."""
    found = told(ours, theirs)
    kinds = [one["kind"] for one in found]
    assert "tool" not in kinds[:-1]
    for kind in ("arguments", "extra", "missing"):
        places = [one["index"] for one in found if one["kind"] == kind]
        assert places == sorted(set(places))
    assert not {"extra", "missing"} <= set(kinds)


@given(RECORDED, CALLS)
def test_alignment_tells_the_same_as_the_comparison(ours: Any, theirs: Any) -> None:
    """Every call is in it once; mates point at each other; standings are those of the divergences."""
    rows = align(ours, theirs)
    left, right = rows[: len(ours)], rows[len(ours) :]
    assert [row.position for row in left] == list(range(len(ours)))
    assert [row.position for row in right] == list(range(len(theirs)))
    for row in left:
        if row.mate is not None:
            assert right[row.mate].mate == row.position
            assert right[row.mate].standing == row.standing
    found = told(ours, theirs)
    for kind, side in (("arguments", left), ("tool", left), ("missing", left), ("extra", right)):
        assert [row.position for row in side if row.standing == kind] == [
            one["index"] for one in found if one["kind"] == kind
        ]
