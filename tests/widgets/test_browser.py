"""The widgets in a real browser, on a page opened from a file: what is seen, said and kept harmless."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.widgets import AgentTimeline, TaintTimeline, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa
    from playwright.sync_api import Browser, Page

    Rows = list[dict[str, Any]]
    Build = Callable[[Rows], pa.Table]
    Show = Callable[[str], Page]

pytestmark = pytest.mark.browser

INKED = """([selector, box]) => {
  const canvas = document.querySelector(selector);
  const scale = canvas.width / canvas.getBoundingClientRect().width;
  const [x, y, w, h] = box.map((n) => Math.round(n * scale));
  const seen = new Map();
  const data = canvas.getContext("2d").getImageData(x, y, w, h).data;
  for (let i = 0; i < data.length; i += 4) {
    const key = [data[i], data[i + 1], data[i + 2], data[i + 3]].join(",");
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].sort((a, b) => b[1] - a[1]);
}"""
"""The colours (r,g,b,a) in a box of a canvas, most frequent first."""

HOSTILE = (
    '</script><script>window.__pwned = 1</script><img src=x onerror="window.__pwned = 2"><!-- <b>bold</b> '
    "\x1b[31mred\x1b[0m \u202ereversed\u202c \u2028 & \x00"
)


def settle(shown: Page) -> None:
    """Wait until two frames have been drawn."""
    shown.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def center(shown: Page, span: str) -> None:
    """Put the keyboard's cursor on the entry whose announcement begins with ``span``."""
    shown.locator(".sl-chart").focus()
    for _ in range(40):
        if shown.locator(".sl-spoken").inner_text().startswith(span):
            return
        shown.keyboard.press("ArrowRight")
    raise AssertionError(f"no entry announced as {span}")


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


def test_hover_tells_an_entry_in_short(show: Show, spans: Build, story: Rows) -> None:
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
    shown.mouse.move(canvas["x"] + canvas["width"] * 50 / 70, canvas["y"] + 17)
    assert tip.is_hidden()


def test_every_entry_is_reached_by_keyboard(show: Show, spans: Build, story: Rows) -> None:
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


def test_a_click_shows_the_entry_in_full(show: Show, spans: Build, details: Build, story: Rows) -> None:
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


def test_a_lane_label_opens_its_agent(show: Show, spans: Build, story: Rows) -> None:
    """An agent without entries can be asked, too: where it came from and why it is empty."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    shown.locator(".sl-lane-label").nth(2).click()
    told = shown.locator(".sl-panel").inner_text()
    assert "reviewer from lead" in told
    assert "created but never ran" in told


def test_selected_is_a_trait(show: Show, spans: Build, story: Rows) -> None:
    """A widget with a selection opens with it; an id that does not exist opens nothing."""
    widget = AgentTimeline(spans(story))
    widget.selected = "boom"
    shown = show(page(widget, title="Session"))
    assert shown.locator(".sl-panel-title").inner_text().split() == ["model", "error", "model-b"]
    widget.selected = "nothing like it"
    shown = show(page(widget, title="Session"))
    assert shown.locator(".sl-panel").is_hidden()


def test_axes_are_switched_by_buttons(show: Show, spans: Build, story: Rows) -> None:
    """The axis says what it is, and only axes on which every entry has its place are offered."""
    story[4] = story[4] | {"begin_at": None}
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    buttons = shown.locator(".sl-switch button")
    assert buttons.all_inner_texts() == ["elapsed", "order"]
    assert shown.locator(".sl-axis-title").inner_text() == "time since the session began"
    buttons.nth(1).focus()
    shown.keyboard.press("Enter")
    assert shown.locator(".sl-axis-title").inner_text() == "order of entries, not time"
    assert [button.get_attribute("aria-pressed") for button in buttons.all()] == ["false", "true"]


def test_legend_hides_and_highlights(show: Show, spans: Build, story: Rows) -> None:
    """A hidden kind is neither drawn nor reached; a highlight dims all others."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    # the middle of read_file: 30 to 61 s of 70, in the lane of the helper, on the line of tools
    spot = [".sl-marks", [canvas["width"] * 45 / 70 - 2, 48 + 34, 4, 2]]
    green = "0,158,115,255"
    assert shown.evaluate(INKED, spot)[0][0] == green
    failed = shown.locator('.sl-key[data-key="failed"]')
    failed.click()
    settle(shown)
    assert shown.evaluate(INKED, spot)[0][0] != green
    failed.click()
    settle(shown)
    assert shown.evaluate(INKED, spot)[0][0] == green
    shown.locator('.sl-key[data-key="tool_call"]').click()
    settle(shown)
    assert green not in [color for color, _ in shown.evaluate(INKED, spot)]
    shown.locator(".sl-chart").focus()
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press("End")
    assert shown.locator(".sl-spoken").inner_text().startswith("model error")


def test_zoom_by_key_wheel_and_button(show: Show, spans: Build, story: Rows) -> None:
    """Zooming in makes a mark wider, panning moves it away, fit brings all back."""
    shown = show(page(AgentTimeline(spans(story)), title="Session"))
    settle(shown)
    canvas = shown.locator(".sl-marks").bounding_box()
    assert canvas is not None
    whole = [".sl-marks", [0, 48 + 34, canvas["width"] - 1, 2]]

    def green() -> int:
        settle(shown)
        return dict(shown.evaluate(INKED, whole)).get("0,158,115,255", 0)

    fitted = green()
    shown.locator(".sl-chart").focus()
    shown.keyboard.press("+")
    assert green() > fitted * 1.5
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
    assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_hostile_text_is_only_text(show: Show, spans: Build, details: Build, messages: Build) -> None:
    """Markup in every column, title and heading runs nothing, adds no element, and is seen as it stands."""
    shown_in = {"name": HOSTILE, "status": "failed", "reason": HOSTILE, "excerpt": HOSTILE, "note": HOSTILE}
    rows = [
        {"span_id": "a", "kind": "agent", "origin": HOSTILE} | shown_in,
        {"span_id": HOSTILE, "kind": "shell", "begin_order": 0, "end_order": 0, "place": HOSTILE, "caller": HOSTILE}
        | shown_in,
        {"span_id": "e", "kind": "agent", "agent_id": HOSTILE, "lane": 1} | shown_in,
    ]
    parts = [
        {"span_id": HOSTILE, "part": part, "ix": 0, "label": HOSTILE, "text": HOSTILE} for part in ("output", HOSTILE)
    ]
    agents = AgentTimeline(spans(rows), details(parts))
    agents.selected = HOSTILE
    said = {"role": HOSTILE, "voice": HOSTILE, "state": HOSTILE, "name": HOSTILE, "excerpt": HOSTILE}
    taint = TaintTimeline(messages([said]))
    taint.selected = 0
    shown = show(page([(HOSTILE, agents), (HOSTILE, taint), HOSTILE], title=HOSTILE))
    settle(shown)
    center(shown, "shell")
    assert shown.evaluate("window.__pwned") is None
    assert shown.locator("img, main b:text-is('bold'), section.sl-widget script:not([type])").count() == 0
    seen = '<img src=x onerror="window.__pwned = 2"><!-- <b>bold</b> ⟨ESC⟩[31mred⟨ESC⟩[0m ⟨U+202E⟩reversed⟨U+202C⟩'
    assert seen in (shown.locator(".sl-text").first.text_content() or "")
    assert seen in (shown.locator(".sl-row-excerpt").text_content() or "")
    assert seen in (shown.locator("h1").text_content() or "")


def test_unknown_never_looks_like_clean(show: Show, messages: Build) -> None:
    """In the ribbon: filled, hatched with a question mark, or empty; in the list: letters, question marks or dots."""
    states = ["clean", "private", "untrusted", "both", "unknown"]
    rows = [{"position": n, "state": state, "voice": "person"} for n, state in enumerate(states)]
    shown = show(page(TaintTimeline(messages(rows)), title="Taint"))
    settle(shown)
    assert [row.get_attribute("data-state") for row in shown.locator(".sl-row").all()] == states
    badges = shown.locator(".sl-row .sl-state").all_inner_texts()
    assert [badge.replace("\n", "") for badge in badges] == ["··", "P·", "·U", "PU", "??"]
    blue, orange = "0,114,178,255", "230,159,0,255"
    # five cells of 30 px from x = 92 on; the legs are 20 px high from y = 6 and y = 31 on
    cells = {
        (state, leg): shown.evaluate(INKED, [".sl-ribbon", [92 + 30 * n + 4, top, 22, 16]])
        for n, state in enumerate(states)
        for leg, top in (("private", 8), ("untrusted", 33))
    }
    assert {cell for cell, ink in cells.items() if ink[0][0] == blue} == {("private", "private"), ("both", "private")}
    assert {cell for cell, ink in cells.items() if ink[0][0] == orange} == {
        ("untrusted", "untrusted"),
        ("both", "untrusted"),
    }
    for leg in ("private", "untrusted"):
        assert len(cells["unknown", leg]) > 10, "hatching has many shades"
        assert len(cells["clean", leg]) < 6, "clean is a plain cell"
        assert cells["unknown", leg][0][0] != cells["clean", leg][0][0]


def test_checkpoints_and_rewrites_are_marked(show: Show, messages: Build) -> None:
    """Each stands in its place with what it means; counts in the legend; a key takes rows away."""
    rows = [
        {"position": 0, "state": "private", "covered_by_seq": 7},
        {"kind": "checkpoint", "private": True, "untrusted": False},
        {"kind": "rewrite"},
        {"position": 0, "state": "unknown"},
    ]
    shown = show(page(TaintTimeline(messages(rows)), title="Taint"))
    settle(shown)
    assert [text.replace("\n", " ") for text in shown.locator(".sl-row-event").all_inner_texts()] == [
        "checkpoint · private: yes, untrusted: no (merged so far)",
        "rewrite · the conversation was replaced; checkpoints before this point no longer cover it",
    ]
    shown.locator('.sl-key[data-key="checkpoint"]').click()
    settle(shown)
    assert shown.locator(".sl-row-event").count() == 1
    shown.locator(".sl-list").focus()
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press("Enter")
    facts = shown.locator(".sl-facts").inner_text()
    assert "checkpoint in entry 7" in facts
    shown.keyboard.press("Escape")
    assert shown.locator(".sl-panel").is_hidden()
    assert shown.evaluate("document.activeElement.className") == "sl-list"


def test_empty_tables_are_a_sentence(show: Show, spans: Build, messages: Build) -> None:
    """Nothing to draw is said in words."""
    shown = show(page([AgentTimeline(spans([])), TaintTimeline(messages([]))], title="Empty"))
    assert shown.locator(".sl-empty").all_inner_texts() == [
        "No agents and no entries in the table given.", "No messages in the table given.",
    ]  # fmt: skip


def test_twenty_thousand_entries_are_drawn_in_time(show: Show, spans: Build, messages: Build) -> None:
    """Both widgets with 20,000 rows are drawn within 3 s, and a redraw within a tenth of a second."""
    rows = [
        {
            "span_id": f"{n}",
            "agent_id": f"a{n % 40:02d}",
            "lane": n % 40,
            "kind": ("model_call", "shell", "model_error")[n % 3],
        }
        | {"begin_order": n, "end_order": n, "name": f"name {n % 7}"}
        for n in range(20_000)
    ]
    said = [{"position": n, "state": ("clean", "unknown", "both")[n % 3], "excerpt": "text"} for n in range(20_000)]
    html = page([AgentTimeline(spans(rows)), TaintTimeline(messages(said))], title="Long")
    begin = time.perf_counter()
    shown = show(html)
    settle(shown)
    assert time.perf_counter() - begin < 3
    assert shown.locator(".sl-row").count() < 40
    chart = shown.locator(".sl-chart")
    chart.focus()
    begin = time.perf_counter()
    for key in ("+", "+", "Shift+ArrowRight", "-", "ArrowDown", "0") * 2:
        shown.keyboard.press(key)
        settle(shown)
    assert (time.perf_counter() - begin) / 12 < 0.1


def test_notices_are_seen(show: Show, spans: Build, story: Rows) -> None:
    """What the byte budget left out stands above the drawing."""
    many = [{"span_id": f"m{n}", "kind": "shell", "begin_order": 10 + n} for n in range(2_000)]
    widget = AgentTimeline(spans([*story, *many]), byte_budget=20_000)
    shown = show(page(widget, title="Session"))
    assert shown.locator(".sl-notice").inner_text() == " ".join(widget.notices)
    assert "The byte budget of 20.0 kB is reached." in widget.notices


def test_the_module_runs_as_anywidget_runs_it(show: Show, spans: Build, messages: Build, story: Rows) -> None:
    """Imported as a module, its render draws, tells the model what was chosen, follows it, and cleans up."""
    widgets = [AgentTimeline(spans(story)), TaintTimeline(messages([{"state": "clean"}]))]
    given = json.dumps([{"esm": str(widget._esm), "state": widget.state()} for widget in widgets]).replace(
        "<", "\\u003c"
    )
    shown = show(f"<!doctype html><body><script type='application/json'>{given}</script><div></div><div></div></body>")
    heard = shown.evaluate(
        """async () => {
          const heard = [];
          const hosts = document.querySelectorAll("div");
          for (const [n, { esm, state }] of JSON.parse(document.querySelector("script").textContent).entries()) {
            const { default: widget } = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
            const on = new Map();
            const model = {
              get: (name) => state[name],
              set: (name, value) => { state[name] = value; },
              save_changes: () => heard.push(state.selected),
              on: (event, listener) => on.set(event, listener),
              off: (event, listener) => on.get(event) === listener && on.delete(event),
            };
            const cleanup = widget.render({ model, el: hosts[n] });
            await new Promise((done) => setTimeout(done, 100));
            hosts[n].querySelector(".sl-lane-label, .sl-row").click();
            heard.push(hosts[n].querySelector(".sl-panel").hidden, on.size);
            state.selected = n ? -1 : "";
            on.get("change:selected")();
            heard.push(hosts[n].querySelector(".sl-panel").hidden);
            cleanup();
            heard.push(hosts[n].childElementCount, on.size);
          }
          return heard;
        }""",
    )
    assert heard == ["lead", False, 2, True, 0, 0, 0, False, 1, True, 0, 0]


def test_the_policy_stops_scripts_that_are_not_the_pages_own(
    browser: Browser, tmp_path: Path, spans: Build, story: Rows
) -> None:
    """Even a script element in the page itself does not run unless the page was made with it."""
    html = page(AgentTimeline(spans(story)), title="Session").replace(
        "<main>", "<main><script>window.__pwned = 1</script>"
    )
    file = tmp_path / "page.html"
    file.write_text(html, encoding="utf-8")
    shown = browser.new_page()
    shown.goto(file.as_uri())
    assert shown.evaluate("window.__pwned") is None
    assert shown.locator(".sl-lane").count() == 3
    shown.close()
