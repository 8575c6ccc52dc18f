"""Which axes are offered, what they say about entries without a place, and which idle stretches they fold."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.widgets import AgentTimeline
from sessionlab.widgets._idle import idle
from sessionlab.widgets._scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    Rows = list[dict[str, Any]]
    Build = Callable[[Rows], pa.Table]


def axes(widget: AgentTimeline) -> dict[str, dict[str, Any]]:
    """The axes of the payload by key."""
    return {axis["key"]: axis for axis in json.loads(widget.payload)["axes"]}


def said(widget: AgentTimeline) -> list[str]:
    """Every text of the still picture."""
    return [element.text or "" for element in ET.fromstring(widget.svg()).iter("{http://www.w3.org/2000/svg}text")]


def untimed(story: Rows, *span_ids: str) -> Rows:
    """The story without any time for these spans."""
    bare = {"begin_ms": None, "end_ms": None, "begin_at": None, "end_at": None}
    return [row | bare if row["span_id"] in span_ids else row for row in story]


def test_the_most_telling_axis_comes_first(spans: Build, story: Rows) -> None:
    """Clock, then elapsed, then order; an agent without entries does not decide."""
    widget = AgentTimeline(spans(story))
    assert widget.axes == ("clock", "elapsed", "order")
    assert widget.axis == "clock"
    # the session's clock: 08:30:12.250 UTC, the lead ends 70 s later
    assert json.loads(widget.payload)["clock_zero_ms"] == 1_789_374_612_250
    assert [axis["range"] for axis in axes(widget).values()] == [[0, 70_000], [0, 70_000], [0, 6]]
    assert [axis["remark"] for axis in axes(widget).values()] == [None, None, None]


def test_an_axis_needs_the_place_of_half_the_entries(spans: Build, story: Rows) -> None:
    """Three of six with a time are enough for an axis, two are not."""
    assert AgentTimeline(spans(untimed(story, "ask", "call", "shell"))).axes == ("clock", "elapsed", "order")
    assert AgentTimeline(spans(untimed(story, "ask", "call", "shell", "cap"))).axes == ("order",)


def test_each_axis_counts_for_itself(spans: Build, story: Rows) -> None:
    """Without a clock the time elapsed is the default; what it lacks is said of it alone."""
    for n in (3, 4, 5, 6):
        story[n] = story[n] | {"begin_at": None}
    story[4] = story[4] | {"begin_ms": None}
    widget = AgentTimeline(spans(story))
    assert (widget.axes, widget.axis) == (("elapsed", "order"), "elapsed")
    told = axes(widget)
    assert told["elapsed"]["remark"] == "1 entry without a time (see order)"
    assert told["order"]["remark"] is None


def test_entries_without_a_time_are_counted_everywhere_else(spans: Build, story: Rows) -> None:
    """The remark says how many; the legend and the lanes count all; a lane with no time at all says so."""
    widget = AgentTimeline(spans(untimed(story, "boom", "read")))
    told = axes(widget)["clock"]
    assert told["remark"] == "2 entries without a time (see order)"
    # the lane of the helper, second from the top; the third has no entries and its own note
    assert (told["bare"], told["bare_note"]) == ([1], "no clock reading: order only")
    payload = json.loads(widget.payload)
    assert sum(mark["count"] for mark in payload["legend"]) == 6
    assert [lane["entries"] for lane in payload["lanes"]] == [4, 2, 0]


def test_entries_without_an_order_are_counted(spans: Build, story: Rows) -> None:
    """The order axis, too, says what it cannot place, and refers to no other."""
    story[3] = story[3] | {"begin_order": None}
    assert axes(AgentTimeline(spans(story)))["order"]["remark"] == "1 entry without a place"


def test_times_that_are_no_numbers_are_not_told(spans: Build, story: Rows) -> None:
    """NaN and infinity are no places on an axis, and would be no JSON."""
    story[4] = story[4] | {"begin_ms": float("nan")}
    story[5] = story[5] | {"begin_ms": float("inf"), "end_ms": float("-inf")}
    assert axes(AgentTimeline(spans(story)))["elapsed"]["remark"] == "2 entries without a time (see order)"


def test_an_unavailable_axis_is_refused(spans: Build, story: Rows) -> None:
    """At the start and later; the message lists what there is."""
    for n in (3, 4, 5, 6):
        story[n] = story[n] | {"begin_at": None}
    message = "axis 'clock' is not available; at least half of the entries have a place on: elapsed, order"
    with pytest.raises(ValueError, match=message):
        AgentTimeline(spans(story), axis="clock")
    widget = AgentTimeline(spans(story), axis="order")
    with pytest.raises(ValueError, match=message):
        widget.axis = "clock"
    assert widget.axis == "order"


def test_the_picture_says_what_it_cannot_place(spans: Build, story: Rows) -> None:
    """Beside the title and in the lane; the entry is not drawn."""
    told = said(AgentTimeline(spans(untimed(story, "boom", "read"))))
    assert "clock time, UTC · 2 entries without a time (see order)" in told
    assert "no clock reading: order only" in told
    assert "created but never ran" in told
    assert "1 min 10 s" in told
    # the error of the helper is the only one that is drawn as a cross on its mark
    assert told.count("✕") == 2, "in the legend: model error and failed"
    assert said(AgentTimeline(spans(story))).count("✕") == 3


@pytest.mark.parametrize(
    ("active", "high", "folds"),
    [
        ([(0, 10_000), (70_000, 80_000)], 80_000, []),  # 60 s are not longer than a minute
        ([(0, 10_000), (70_001, 80_000)], 80_000, [(10_000, 70_001)]),
        ([(0, 4_000_000), (4_120_000, 4_120_000)], 4_120_000, []),  # 120 s are 3 % of 4,000 s
        ([(0, 4_000_000), (4_120_001, 4_120_001)], 4_120_001, [(4_000_000, 4_120_001)]),
        ([(100_000, 110_000)], 300_000, [(0, 100_000), (110_000, 300_000)]),  # before the first and after the last
        ([(200_000, 201_000), (0, 190_000), (5, 6), (180_000, 195_000)], 201_000, []),  # any order, overlapping
        ([(0, 10_000), (50_000, 50_000), (100_000, 110_000)], 110_000, []),  # a moment parts idle time
        ([(0, 0), (3_600_000, 3_600_000)], 3_600_000, []),  # nothing would be left between the folds
        ([], 500_000, []),
    ],
)  # fmt: skip
def test_long_idle_stretches_are_folded(
    active: list[tuple[float, float]], high: float, folds: list[tuple[float, float]]
) -> None:
    """Longer than a minute and than 3 % of the busy time, to the millisecond."""
    assert idle(active, 0, high) == folds


def test_axes_of_time_have_folds(spans: Build, pause: Rows) -> None:
    """From the end of one call to the begin of the next, with words; runs and agents are no activity."""
    told = axes(AgentTimeline(spans(pause)))
    for key in ("clock", "elapsed"):
        assert told[key]["folds"] == [[40_000, 8_020_000]]
        assert told[key]["idle"] == ["idle 2 h 13 min"]
        assert told[key]["folded"] == "1 idle stretch folded, 2 h 13 min in all"
    assert (told["order"]["folds"], told["order"]["folded"]) == ([], None)


def test_a_scale_gives_folds_a_fixed_width() -> None:
    """70 s in 700 of 718 px: 10 px a second, and 18 px for the 7,980 s that are folded."""
    scale = Scale((0, 8_050_000), [(40_000, 8_020_000)], 100, 718)
    places = (0, 20_000, 40_000, 4_030_000, 8_020_000, 8_050_000)
    assert [scale.x(place) for place in places] == pytest.approx([100, 300, 500, 509, 518, 818])
    assert scale.fold == 18


def test_many_folds_leave_room_for_the_rest() -> None:
    """100 folds of 18 px would fill 1,000 px: they share 400."""
    folds = [(1_000 * n + 1, 1_000 * n + 1_000) for n in range(100)]
    scale = Scale((0, 100_000), folds, 0, 1_000)
    assert scale.fold == 4
    assert scale.x(100_000) == pytest.approx(1_000)
    assert scale.x(1) == pytest.approx(6), "1 of 100 busy ms in 600 px"


def test_the_picture_is_folded(spans: Build, pause: Rows) -> None:
    """The last call stands right of the fold, whose length is told; the whole length is the true one."""
    widget = AgentTimeline(spans(pause))
    told = said(widget)
    assert "idle 2 h 13 min" in told
    assert "2 h 14 min; 1 idle stretch folded, 2 h 13 min in all" in told
    # 708 px from 240 on, 18 of them folded: 9.857 px a second; the last call begins after 40 s and the fold
    assert "M240.0 " in widget.svg()
    assert f"M{240 + 40 * 690 / 70 + 18:.1f} " in widget.svg()
