"""Axes in a real browser: entries without a time, folded idle stretches, and ticks that stay true."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.widgets import AgentTimeline, page

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from playwright.sync_api import Page

    Rows = list[dict[str, Any]]
    Build = Callable[[Rows], pa.Table]
    Show = Callable[[str], Page]
    Settle = Callable[[Page], None]
    Inked = Callable[[Page, str, list[float]], list[tuple[str, int]]]

pytestmark = pytest.mark.browser

INSET = 9
"""Pixels kept free at both ends of an axis."""

FOLD = 28
"""Pixels a fold takes."""

WRITTEN = """() => {
  const write = CanvasRenderingContext2D.prototype.fillText;
  window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.written.push(text);
    return write.call(this, text, ...rest);
  };
}"""
"""Notes every text drawn from now on."""

LAID_OUT = """([source, width, range, folds, zero, axis, zooms]) => {
  const { Viewport, ticks } = new Function(source)();
  const viewport = new Viewport([0, 1], 1, () => {});
  viewport.reset(range, 10, folds);
  viewport.resize(width, 0);
  for (const x of zooms) viewport.zoom(0.5, x);
  const places = Array.from({ length: width + 1 }, (_, x) => viewport.at(x));
  return {
    back: places.map((place) => viewport.x(place)),
    folds: folds.map(([from, to]) => viewport.x(to) - viewport.x(from)),
    ends: range.map((place) => viewport.x(place)),
    ticks: ticks(viewport, axis, zero).map((tick) => ({ ...tick, x: viewport.x(tick.value) })),
  };
}"""
"""What a viewport without a page says: pixels to places and back, widths of folds, and ticks."""


@pytest.fixture
def lay_out(show: Show) -> Callable[..., dict[str, Any]]:
    """Runs the module's own viewport and ticks on an axis."""
    shown = show("<!doctype html><title>none</title>")
    source = str(AgentTimeline._esm).replace("export default { render };", "return { Viewport, ticks };")

    def run(span: list[float], folds: list[list[float]], **given: Any) -> dict[str, Any]:
        told = {"width": 1_000, "zero": 0, "axis": "elapsed", "zooms": []} | given
        arguments = [source, told["width"], span, folds, told["zero"], told["axis"], told["zooms"]]
        laid: dict[str, Any] = shown.evaluate(LAID_OUT, arguments)
        return laid

    return run


def untimed(rows: Rows, *span_ids: str) -> Rows:
    """The rows without any time for these spans."""
    bare = {"begin_ms": None, "end_ms": None, "begin_at": None, "end_at": None}
    return [row | bare if row["span_id"] in span_ids else row for row in rows]


def test_axes_are_switched_by_buttons(show: Show, spans: Build, story: Rows) -> None:
    """The axis says what it is, and only axes on which most entries have a place are offered."""
    for n in (3, 4, 5, 6):
        story[n] = story[n] | {"begin_at": None}
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    buttons = shown.locator(".sl-switch button")
    assert buttons.all_inner_texts() == ["elapsed", "order"]
    assert shown.locator(".sl-axis-title").inner_text() == "elapsed since the session began"
    buttons.nth(1).focus()
    shown.keyboard.press("Enter")
    assert shown.locator(".sl-axis-title").inner_text() == "order of entries, not time"
    assert [button.get_attribute("aria-pressed") for button in buttons.all()] == ["false", "true"]


def test_one_axis_needs_no_switch(show: Show, spans: Build) -> None:
    """Where there is only the order, its title says so, and there is nothing to press."""
    rows = [{"span_id": "a", "kind": "shell", "begin_order": 0, "end_order": 0}]
    shown = show(page(AgentTimeline(spans(rows)), title="Session"))
    assert shown.locator(".sl-switch").count() == 0
    assert shown.locator(".sl-axis-title").inner_text() == "order of entries, not time"
    assert shown.get_by_role("button", name="fold idle").is_hidden()


def test_entries_without_a_time_are_said_and_skipped(
    show: Show, spans: Build, story: Rows, settle: Settle, inked: Inked
) -> None:
    """Their number beside the title, a note in a lane of nothing else; neither drawn, hit nor reached; legend whole."""
    shown = show(page(AgentTimeline(spans(untimed(story, "call", "boom", "read"))), title="Session"))
    settle(shown)
    title = shown.locator(".sl-axis-title")
    assert title.inner_text().split("\n") == ["clock time, UTC", "3 entries without a time (see order)"]
    notes = shown.locator(".sl-lane-note")
    assert [note.inner_text() for note in notes.all() if note.is_visible()] == [
        "no clock reading: order only", "created but never ran",
    ]  # fmt: skip
    assert shown.locator(".sl-count").all_inner_texts() == ["1", "1", "1", "1", "1", "1", "1", "1"]
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    lead = [".sl-marks", [0, 12, canvas["width"] - 1, 8]]
    assert "0,114,178,255" not in dict(inked(shown, *lead)), "the call is not drawn"
    shown.mouse.move(canvas["x"] + canvas["width"] * 7 / 70, canvas["y"] + 17)
    assert shown.locator(".sl-tip").is_hidden()
    shown.locator(".sl-chart").focus()
    heard = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "Enter", "Escape"):
        shown.keyboard.press(key)
        heard.append(shown.locator(".sl-spoken").inner_text())
    assert heard[:4] == [
        "message, person, of lead", "shell, pytest -q, failed, 340 ms, of lead", "limit, turns, of lead",
        "helper, spawn, failed, 2 entries, no clock reading: order only",
    ]  # fmt: skip
    assert set(heard[4:]) == {heard[3]}, "there is nowhere to go in that lane"
    shown.get_by_role("button", name="order", exact=True).click()
    settle(shown)
    assert title.inner_text() == "order of entries, not time"
    assert [note.inner_text() for note in notes.all() if note.is_visible()] == ["created but never ran"]
    assert "0,114,178,255" in dict(inked(shown, *lead))


def test_a_selected_entry_without_a_time_is_told(show: Show, spans: Build, story: Rows, settle: Settle) -> None:
    """Its panel opens on an axis where it is not drawn, and says that its time is not told."""
    widget = AgentTimeline(spans(untimed(story, "call")))
    widget.selected = "call"
    shown = show(page(widget, title="Session"))
    settle(shown)
    facts = shown.locator(".sl-facts > div").all_inner_texts()
    assert ["time", "not told"] in [fact.split("\n") for fact in facts]
    shown.locator(".sl-chart").focus()
    shown.keyboard.press("+")
    shown.keyboard.press("ArrowRight")
    assert shown.locator(".sl-spoken").inner_text() == "message, person, of lead"


def test_idle_time_is_folded_until_asked_for(show: Show, spans: Build, pause: Rows, settle: Settle) -> None:
    """The last call stands right behind the fold, which tells its length; a button, by keyboard, unfolds it."""
    shown = show(page(AgentTimeline(spans(pause)), title="Session"))
    shown.evaluate(WRITTEN)
    button = shown.get_by_role("button", name="fold idle")
    assert (button.get_attribute("aria-pressed"), button.get_attribute("title")) == (
        "true", "1 idle stretch folded, 2 h 13 min in all",
    )  # fmt: skip
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    # 70 busy seconds in what the fold leaves
    span = canvas["width"] - 2 * INSET
    second = (span - FOLD) / 70
    tip = shown.locator(".sl-tip")

    def told(x: float, y: float = 17) -> list[str]:
        shown.mouse.move(canvas["x"] + INSET + x, canvas["y"] + y)
        return tip.inner_text().split("\n") if tip.is_visible() else []

    assert told(30 * second)[:2] == ["model call", "model-2"]
    assert told(41 * second + FOLD)[:2] == ["model call", "model-3"]
    fold = [
        "idle 2 h 13 min",
        "2026-09-14 08:30:52.250 \N{EN DASH} 10:43:52.250 UTC",
        "nothing was at work: folded here",
    ]
    assert told(40 * second + FOLD / 2, 42) == fold
    assert told(40 * second + FOLD / 2, -12) == fold, "in the row of ticks"
    shown.get_by_role("button", name="elapsed").click()
    settle(shown)
    assert told(40 * second + FOLD / 2, 42)[1] == "0:40.000 \N{EN DASH} 2:13:40.000"
    assert "idle 2 h 13 min" in shown.evaluate("written")
    button.focus()
    shown.keyboard.press("Space")
    shown.evaluate("written.length = 0")
    settle(shown)
    assert button.get_attribute("aria-pressed") == "false"
    assert "idle 2 h 13 min" not in shown.evaluate("written")
    # the second call ends after 40 of 8,050 s, in the first 5 pixels
    assert told(30 * second, 17) == []
    assert told(span - 3)[:2] == ["model call", "model-3"]
    shown.get_by_role("button", name="order", exact=True).click()
    assert button.is_hidden()
    shown.get_by_role("button", name="elapsed").click()
    assert button.get_attribute("aria-pressed") == "false", "the choice is kept"


def test_the_agent_lasts_through_a_fold(show: Show, spans: Build, pause: Rows, settle: Settle, inked: Inked) -> None:
    """Its band is as shaded beside the break as anywhere, and the break itself is paper between two lines."""
    shown = show(page(AgentTimeline(spans(pause)), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    begin = INSET + 40 * (canvas["width"] - 2 * INSET - FOLD) / 70
    band = inked(shown, ".sl-marks", [begin - 20, 36, 4, 4])[0][0]
    assert band != "0,0,0,0"
    assert inked(shown, ".sl-marks", [begin + 3, 36, 3, 4])[0][0] == band
    assert inked(shown, ".sl-marks", [begin + FOLD - 6, 36, 3, 4])[0][0] == band
    torn = dict(inked(shown, ".sl-marks", [begin + FOLD / 2 - 6, 20, 12, 20]))
    assert torn.get("255,255,255,255", 0) > 40, "paper"
    assert len(torn) > 5, "two slanted lines"


def test_zoom_and_pan_keep_folds_small(lay_out: Callable[..., dict[str, Any]]) -> None:
    """However near one looks a fold takes 28 px; every pixel leads to one place, and back."""
    folds = [[40_000, 8_020_000], [8_050_000, 90_000_000]]
    whole = lay_out([0, 90_010_000], folds)
    assert whole["folds"] == pytest.approx([FOLD, FOLD])
    assert whole["ends"] == pytest.approx([0, 1_000])
    # 80 busy seconds in 944 px: before the first fold, 40 s
    near = lay_out([0, 90_010_000], folds, zooms=[472 + FOLD / 2] * 3)
    assert near["folds"] == pytest.approx([FOLD, FOLD])
    assert near["ends"][1] - near["ends"][0] == pytest.approx(944 * 8 + 2 * FOLD)
    for laid in (whole, near):
        assert laid["back"] == pytest.approx(list(range(1_001)), abs=1e-4)


def test_crowded_folds_leave_room(lay_out: Callable[..., dict[str, Any]]) -> None:
    """60 folds would take 1,680 of 1,000 px: together they take 400."""
    folds = [[100_000 * n + 1_000, 100_000 * n + 100_000] for n in range(60)]
    laid = lay_out([0, 6_001_000], folds)
    assert laid["folds"] == pytest.approx([400 / 60] * 60)
    assert laid["ends"] == pytest.approx([0, 1_000])


@pytest.mark.parametrize("zooms", [[], [300], [700, 700, 700], [20] * 7])
def test_ticks_never_stand_in_a_fold(lay_out: Callable[..., dict[str, Any]], zooms: list[float]) -> None:
    """Each is at a place outside, says the time of that place, and says the day where that is new."""
    zero = dt.datetime(2026, 9, 14, 22, 58, 21, 250_000, tzinfo=dt.UTC)
    folds = [[400_000, 41_000_000], [41_900_000, 50_000_000], [50_030_000, 131_000_000]]
    laid = lay_out([0, 131_700_000], folds, axis="clock", zero=zero.timestamp() * 1_000, zooms=zooms)
    assert laid["ticks"]
    day = None
    for tick in laid["ticks"]:
        assert not [fold for fold in folds if fold[0] < tick["value"] < fold[1]]
        assert -1e-6 <= tick["x"] <= 1_000 + 1e-6
        time = zero + dt.timedelta(milliseconds=tick["value"])
        *date, clock = tick["text"].split(" ")
        fine = {5: "%H:%M", 8: "%H:%M:%S", 12: "%H:%M:%S.%f"}[len(clock)]
        assert time.strftime(fine)[: len(clock)] == clock, "the text is the place, not near it"
        assert time.second + time.microsecond == 0 or len(clock) > len("22:58"), "a minute's text, a full minute"
        assert time.microsecond == 0 or len(clock) > len("22:58:21")
        assert date == ([] if time.day == day else [str(time.day), "Sep"])
        day = time.day


def test_every_stretch_between_folds_has_a_tick(lay_out: Callable[..., dict[str, Any]]) -> None:
    """Ticks are minutes apart, and a stretch of less than one has one all the same."""
    folds = [[600_000, 7_000_000], [7_050_000, 9_000_000]]
    laid = lay_out([0, 9_600_000], folds)
    # 1,250 s in 944 px: 110 px are 146 s, so ticks stand 5 min apart; 7,000 to 7,050 s hold one full minute
    assert [(tick["value"], tick["text"]) for tick in laid["ticks"]] == [
        (0, "0:00"), (300_000, "5:00"), (600_000, "10:00"), (7_020_000, "1:57:00"), (9_000_000, "2:30:00"),
        (9_300_000, "2:35:00"), (9_600_000, "2:40:00"),
    ]  # fmt: skip
