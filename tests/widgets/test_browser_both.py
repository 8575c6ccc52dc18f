"""Both widgets in a real browser: hostile, empty and very long tables, and the module as anywidget runs it."""

from __future__ import annotations

import json
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
    Settle = Callable[[Page], None]

pytestmark = pytest.mark.browser

HOSTILE = (
    '</script><script>window.__pwned = 1</script><img src=x onerror="window.__pwned = 2"><!-- <b>bold</b> '
    "\x1b[31mred\x1b[0m \u202ereversed\u202c \u2028 & \x00"
)

COUNTING = """
window.strokes = new Map();
const noted = (canvas) => strokes.get(canvas) ?? strokes.set(canvas, { last: 0 }).get(canvas);
const proto = CanvasRenderingContext2D.prototype;
for (const name of ["fill", "stroke", "fillRect", "strokeRect", "fillText", "strokeText"]) {
  const original = proto[name];
  proto[name] = function (...given) {
    noted(this.canvas).last += 1;
    return original.apply(this, given);
  };
}
const clear = proto.clearRect;
proto.clearRect = function (...given) {
  noted(this.canvas).last = 0;
  return clear.apply(this, given);
};
"""
"""Counts what is drawn on every canvas since it was last cleared: the strokes of one picture."""


def center(shown: Page, span: str) -> None:
    """Put the keyboard's cursor on the entry whose announcement begins with ``span``."""
    shown.locator(".sl-chart").focus()
    for _ in range(40):
        if shown.locator(".sl-spoken").inner_text().startswith(span):
            return
        shown.keyboard.press("ArrowRight")
    raise AssertionError(f"no entry announced as {span}")


def test_hostile_text_is_only_text(show: Show, spans: Build, details: Build, messages: Build, settle: Settle) -> None:
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


def test_empty_tables_are_a_sentence(show: Show, spans: Build, messages: Build) -> None:
    """Nothing to draw is said in words."""
    shown = show(page([AgentTimeline(spans([])), TaintTimeline(messages([]))], title="Empty"))
    assert shown.locator(".sl-empty").all_inner_texts() == [
        "No agents and no entries in the table given.", "No messages in the table given.",
    ]  # fmt: skip


def test_twenty_thousand_entries_take_few_strokes(show: Show, spans: Build, messages: Build, settle: Settle) -> None:
    """What is drawn, and what stands in the page, follows from the pixels there are, not from the number of rows."""
    rows = [
        {"span_id": f"{n}", "agent_id": f"a{n % 4}", "lane": n % 4, "kind": ("model_call", "shell")[n // 4 % 2]}
        | {"begin_order": n, "end_order": n, "name": f"name {n % 7}"}
        for n in range(20_000)
    ]
    said = [{"position": n, "state": ("clean", "unknown", "both")[n % 3], "excerpt": "text"} for n in range(20_000)]
    shown = show("<!doctype html><title>none</title>")
    shown.add_init_script(COUNTING)
    show(page([AgentTimeline(spans(rows)), TaintTimeline(messages(said))], title="Long"))
    settle(shown)
    lanes, ribbon = (shown.locator(name).bounding_box() for name in (".sl-marks", ".sl-ribbon"))
    assert lanes is not None
    assert ribbon is not None

    def strokes(name: str) -> int:
        counted: int = shown.evaluate("(name) => strokes.get(document.querySelector(name))?.last ?? 0", name)
        return counted

    # two lines in each of four lanes, a mark takes at least 3 px; and the ticks, bands and branches
    most = 4 * 2 * lanes["width"] / 3 + 100
    assert 100 < strokes(".sl-marks") <= most
    # two legs, three passes, a cell takes at least a pixel
    assert 100 < strokes(".sl-ribbon") <= 2 * 3 * ribbon["width"] + 100
    assert shown.locator(".sl-row").count() < 40
    assert shown.locator(".sl *").count() < 600
    shown.locator(".sl-chart").focus()
    for key in ("+", "+", "Shift+ArrowRight", "-", "ArrowDown", "0"):
        shown.keyboard.press(key)
        settle(shown)
        assert strokes(".sl-marks") <= most, f"after {key}"


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
