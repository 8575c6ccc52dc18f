"""The agent timeline in a real browser, on a page opened from a file: what is seen, said and reached by keyboard."""

from __future__ import annotations

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


def test_lanes_and_counts(show: Show, spans: Build, story: Rows) -> None:
    """A lane per agent with origin, status and count; the legend counts; the empty lane says why."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    lanes = shown.locator(".sl-lane")
    assert [text.split("\n") for text in lanes.all_inner_texts()] == [
        ["lead", "root · ✓ done", "4"],
        ["└ helper", "spawn · ✕ failed", "2"],
        ["└ silent", "reviewer", "0", "created but never ran"],
    ]
    assert [text.split("\n") for text in shown.locator(".sl-key").all_inner_texts()] == [
        ["message", "1"], ["model call", "1"], ["model error", "1"], ["tool call", "1"], ["shell", "1"], ["limit", "1"],
        ["▨", "forced call", "1"], ["✕", "failed", "1"],
    ]  # fmt: skip
    assert shown.locator(".sl-bar strong").inner_text() == "3 agents, 6 entries"


def test_hover_tells_an_entry_in_short(show: Show, spans: Build, story: Rows, settle: Settle) -> None:
    """The call of 1 to 13.4 s of 70: kind, name, forced, status, duration, window and output."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    shown.mouse.move(canvas["x"] + canvas["width"] * 7 / 70, canvas["y"] + 17)
    tip = shown.locator(".sl-tip")
    assert tip.inner_text().split("\n") == [
        "model call", "model-a", "forced · ok · 12.4 s", "18.2k of 64k window (28 %) · 950 tokens out",
    ]  # fmt: skip
    # the command of 14 to 14.34 s, on the line of tools; 9 px are kept free at both ends
    shown.mouse.move(canvas["x"] + 9 + (canvas["width"] - 18) * 14.17 / 70, canvas["y"] + 34)
    assert tip.inner_text().split("\n") == ["shell", "pytest -q", "failed · exit 1 · 340 ms · in web"]
    shown.mouse.move(canvas["x"] + canvas["width"] * 50 / 70, canvas["y"] + 17)
    assert tip.is_hidden()


def test_every_entry_is_reached_by_keyboard(show: Show, spans: Build, story: Rows, settle: Settle) -> None:
    """Tab reaches the chart, arrows its entries and lanes, Enter opens, Escape closes and gives the focus back."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    settle(shown)
    for _ in range(30):
        shown.keyboard.press("Tab")
        if shown.evaluate("document.activeElement.className") == "sl-chart":
            break
    said = shown.locator(".sl-spoken")
    heard = [said.inner_text()]
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowDown", "ArrowUp", "Home"):
        shown.keyboard.press(key)
        heard.append(said.inner_text())
    assert heard == [
        "message, person, of lead",
        "model call, model-a, forced, ok, 12.4 s, 18.2k of 64k window (28 %), of lead",
        "shell, pytest -q, failed, 340 ms, of lead",
        "limit, turns, of lead",
        "tool call, read_file, ok, 31.0 s, of helper",
        "model error, model-b, status unknown, 4.0 s, of helper",
        "silent, reviewer, created but never ran",
        "model error, model-b, status unknown, 4.0 s, of helper",
        "model error, model-b, status unknown, 4.0 s, of helper",
    ]
    panel = shown.locator(".sl-panel")
    assert panel.is_hidden()
    shown.keyboard.press("Enter")
    assert panel.is_visible()
    assert shown.evaluate("document.activeElement.className") == "sl-panel"
    shown.keyboard.press("Escape")
    assert panel.is_hidden()
    assert shown.evaluate("document.activeElement.className") == "sl-chart"


def test_a_click_shows_the_entry_in_full(show: Show, spans: Build, details: Build, story: Rows, settle: Settle) -> None:
    """Facts, then window, response and output in this order, each with its label; a tail says so."""
    body = details(
        [
            {"span_id": "call", "part": "response", "ix": 0, "label": "assistant", "text": "I look."},
            {"span_id": "call", "part": "window", "ix": 0, "label": "system / profile", "text": "Be exact."},
            {
                "span_id": "call",
                "part": "output",
                "ix": 0,
                "text": "…end",
                "body_bytes": 4_096,
                "original_bytes": 9_000,
            },
        ],
    )
    shown = show(page(AgentTimeline(spans(story), body), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    shown.mouse.click(canvas["x"] + canvas["width"] * 7 / 70, canvas["y"] + 17)
    facts = dict(
        zip(
            shown.locator(".sl-facts dt").all_inner_texts(),
            shown.locator(".sl-facts dd").all_inner_texts(),
            strict=True,
        ),
    )
    assert facts == {
        "status": "ok", "agent": "lead", "origin": "root", "asked for by": "harness",
        "forced": "yes: the model had to call the one tool offered", "run, turn": "1, 2",
        "time": "2026-09-14 08:30:13.250 \N{EN DASH} 08:30:25.650 UTC", "since the start": "0:01.000", "took": "12.4 s",
        "window": "18.2k of 64k window (28 %)", "written": "950 tokens", "in order": "1",
    }  # fmt: skip
    assert shown.locator(".sl-group > summary").all_inner_texts() == ["Window", "Response", "Output"]
    assert shown.locator(".sl-text").all_inner_texts() == ["Be exact.", "I look.", "…end"]
    assert shown.locator(".sl-item-label").all_inner_texts() == ["system / profile", "assistant"]
    assert shown.locator(".sl-remark").all_inner_texts() == ["tail of 4,096 bytes; 9,000 in the original"]


def test_what_ended_an_agent_is_seen_and_said(
    show: Show, spans: Build, details: Build, settle: Settle, story: Rows
) -> None:
    """A ceiling at the very edge is moved in, can be pointed at and says what it was; so does a probe that read so."""
    words = "stopped by the ceiling on turns: 6 of 6"
    story[0] |= {"reason": "turns"}
    story[-1] |= {"reason": "turns", "note": words}
    probe = {"kind": "probe", "begin_order": 6, "end_order": 6, "begin_ms": 61_000, "agent_id": "a-7", "lane": 1}
    story.append(probe | {"span_id": "cancel", "name": "cancel_probe", "note": "canceled: this ends the session"})
    body = details([{"span_id": "lead", "part": "probes", "ix": 0, "text": "6 read, none of them canceled"}])
    shown = show(page(AgentTimeline(spans(story), body), title="Session"))
    settle(shown)
    assert shown.locator(".sl-lane").first.inner_text().split("\n")[1] == "root · ✓ done · ◆ turns"
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    shown.mouse.move(canvas["x"] + canvas["width"] - 9, canvas["y"] + 17)
    told = shown.locator(".sl-tip").inner_text().split("\n")
    assert (told[:2], told[-1]) == (["limit", "turns"], words)
    shown.mouse.click(canvas["x"] + canvas["width"] - 9, canvas["y"] + 17)
    labels, facts = (shown.locator(f".sl-facts {part}").all_inner_texts() for part in ("dt", "dd"))
    said = dict(zip(labels, facts, strict=True))
    assert (said["ceiling"], said["note"], "status" in said) == ("turns", words, False)
    shown.locator(".sl-lane-label").first.click()
    assert shown.locator(".sl-group > summary").all_inner_texts() == ["Cancel probes"]
    assert shown.locator(".sl-text").all_inner_texts() == ["6 read, none of them canceled"]


def test_a_lane_label_opens_its_agent(show: Show, spans: Build, story: Rows) -> None:
    """An agent without entries can be asked, too: where it came from and why it is empty."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    shown.locator(".sl-lane-label").nth(2).click()
    told = shown.locator(".sl-panel").inner_text()
    assert "reviewer from lead" in told
    assert "created but never ran" in told


def test_a_long_label_is_read_whole(show: Show, spans: Build, settle: Settle) -> None:
    """Its lane grows with it, the next begins below, and marks stay in their lanes."""
    long = "Builder of the winter timetable and of the ferry to the island"
    rows = [
        {"span_id": name, "kind": "agent", "name": name, "agent_id": name, "lane": n, "origin": "issue_attempt"}
        for n, name in enumerate([long, "short"])
    ]
    rows += [
        {"span_id": f"{n}", "kind": "shell", "agent_id": row["agent_id"], "lane": n, "begin_order": n}
        for n, row in enumerate(rows)
    ]
    shown = show(page(AgentTimeline(spans(rows)), title="Session"))
    settle(shown)
    lines = "(name) => [name.clientHeight / 18, name.scrollHeight <= name.clientHeight]"
    (many, whole), short = (name.evaluate(lines) for name in shown.locator(".sl-lane-name").all())
    assert (many in (2, 3), whole, short) == (True, True, [1, True])
    first, second = (shown.locator(".sl-lane").nth(n).bounding_box() for n in (0, 1))
    assert first is not None
    assert second is not None
    assert first["height"] > second["height"]
    assert second["y"] == pytest.approx(first["y"] + first["height"])
    told = shown.locator(".sl-lane").first.inner_text()
    assert told.split("\n") == [long, "issue attempt", "1"]


def test_moments_at_the_same_time_stand_on_lines_of_their_own(
    show: Show, spans: Build, settle: Settle, inked: Inked
) -> None:
    """A tool and the command it runs begin at one reading of the clock: neither hides the other."""
    rows = [
        {"span_id": kind, "kind": kind, "begin_order": n, "begin_ms": 5_000.0}
        for n, kind in enumerate(["tool_call", "shell"])
    ] + [{"span_id": "call", "kind": "model_call", "begin_order": 2, "begin_ms": 0.0, "end_ms": 10_000.0}]
    shown = show(page(AgentTimeline(spans(rows)), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    lines = [[".sl-marks", [canvas["width"] / 2 - 4, top, 10, 12]] for top in (28, 42)]
    assert ["0,158,115,255" in dict(inked(shown, *line)) for line in lines] == [True, False]
    shown.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"] + 48)
    assert shown.locator(".sl-tip").inner_text().startswith("shell")


def test_selected_is_a_trait(show: Show, spans: Build, story: Rows) -> None:
    """A widget with a selection opens with it; an id that does not exist opens nothing."""
    widget = AgentTimeline(spans(story))
    widget.selected = "boom"
    shown = show(page(widget, title="Session"))
    assert shown.locator(".sl-panel-title").inner_text().split() == ["model", "error", "model-b"]
    widget.selected = "nothing like it"
    shown = show(page(widget, title="Session"))
    assert shown.locator(".sl-panel").is_hidden()


def test_legend_hides_and_highlights(show: Show, spans: Build, story: Rows, settle: Settle, inked: Inked) -> None:
    """A hidden kind is neither drawn nor reached; a highlight dims all others."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    # the middle of read_file: 30 to 61 s of 70, in the lane of the helper, on the line of tools
    spot = [".sl-marks", [canvas["width"] * 45 / 70 - 2, 48 + 34, 4, 2]]
    green = "0,158,115,255"
    assert inked(shown, *spot)[0][0] == green
    failed = shown.locator('.sl-key[data-key="failed"]')
    failed.click()
    settle(shown)
    assert inked(shown, *spot)[0][0] != green
    failed.click()
    settle(shown)
    assert inked(shown, *spot)[0][0] == green
    shown.locator('.sl-key[data-key="tool_call"]').click()
    settle(shown)
    assert green not in [color for color, _ in inked(shown, *spot)]
    shown.locator(".sl-chart").focus()
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press("End")
    assert shown.locator(".sl-spoken").inner_text().startswith("model error")


def test_zoom_by_key_wheel_and_button(show: Show, spans: Build, story: Rows, settle: Settle, inked: Inked) -> None:
    """Zooming in keeps the current entry in its place and makes it wider; zero and fit bring all back."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    whole = [".sl-marks", [0, 48 + 34, canvas["width"] - 1, 2]]

    def green() -> int:
        settle(shown)
        return dict(inked(shown, *whole)).get("0,158,115,255", 0)

    fitted = green()
    shown.locator(".sl-chart").focus()
    # around the cursor, of the call of 30 to 61 s: 20 of 35 s are seen where 31 of 70 s were, 1.29 times as wide
    for key in ("ArrowDown", "End", "+"):
        shown.keyboard.press(key)
    assert fitted * 1.2 < green() < fitted * 1.4
    shown.keyboard.press("0")
    assert green() == fitted
    shown.mouse.move(canvas["x"] + 5, canvas["y"] + 70)
    shown.keyboard.down("Control")
    shown.mouse.wheel(0, -400)
    shown.keyboard.up("Control")
    assert green() != fitted
    shown.get_by_role("button", name="Show all (0)").click()
    assert green() == fitted


def test_a_megabyte_on_one_line_is_shown_on_demand(show: Show, spans: Build, details: Build, story: Rows) -> None:
    """The beginning first; the rest after a click, all of it; the page stays as wide as it was."""
    line = "0123456789" * 100_000
    body = details([{"span_id": "shell", "part": "output", "ix": 0, "text": line}])
    widget = AgentTimeline(spans(story), body)
    widget.selected = "shell"
    shown = show(page(widget, title="Session"))
    text = shown.locator(".sl-text")
    assert len(text.text_content() or "") < 2_000
    more = shown.locator(".sl-item .sl-more")
    assert more.inner_text() == "show all (1.0 MB)"
    more.click()
    assert text.text_content() == line
    # the direction of such a line is not worked out letter by letter, but it still turns nothing around it
    assert text.evaluate("(element) => getComputedStyle(element).unicodeBidi") == "isolate"
    assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_notices_are_seen(show: Show, spans: Build, story: Rows) -> None:
    """What the byte budget left out stands above the drawing."""
    many = [{"span_id": f"m{n}", "kind": "shell", "begin_order": 10 + n} for n in range(2_000)]
    widget = AgentTimeline(spans([*story, *many]), byte_budget=20_000)
    shown = show(page(widget, title="Session"))
    assert shown.locator(".sl-notice").inner_text() == " ".join(widget.notices)
    assert "The byte budget of 20.0 kB is reached." in widget.notices
