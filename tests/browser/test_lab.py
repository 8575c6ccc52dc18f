"""Both timelines in JupyterLab, in a real browser: what they show, what stays when saved, what hostile text may do."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

import sessionlab as sl
from sessionlab.bundled import samples
from tests.browser.conftest import LONG

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from tests.browser.servers import Lab

pytestmark = pytest.mark.browser

TIMEOUT_MS = 45_000
WIDGET = "application/vnd.jupyter.widget-view+json"
NOTEBOOK = "04_one_session.ipynb"


@pytest.fixture(scope="module")
def corpus() -> sl.Corpus:
    """What the notebook shows, asked here without it."""
    return sl.load(samples() / "corpus")


@pytest.fixture(scope="module")
def shown(lab: Lab, page: Page) -> Page:
    """The notebook of both timelines, run from top to bottom."""
    lab.open(page, NOTEBOOK, workspace="first")
    lab.run_all(page)
    page.locator(".sl").nth(1).wait_for(timeout=TIMEOUT_MS)
    return page


def busiest(corpus: sl.Corpus) -> str:
    """The session with the most agents, the first by name of several."""
    agents = corpus.table("agents")["session_id"].to_list()
    return min(set(agents), key=lambda session: (-agents.count(session), session))


def agent_timeline(page: Page) -> Locator:
    """The agent timeline."""
    return page.locator(".sl", has=page.locator(".sl-chart")).first


def taint_timeline(page: Page) -> Locator:
    """The taint timeline."""
    return page.locator(".sl", has=page.locator(".sl-taint")).first


def legend(widget: Locator) -> dict[str, int]:
    """The legend's keys with their counts."""
    return {
        key.get_attribute("data-key") or "": int(key.locator(".sl-count").inner_text().replace(",", ""))
        for key in widget.locator(".sl-key").all()
    }


def test_a_lane_per_agent(shown: Page, corpus: sl.Corpus) -> None:
    """The lanes are the agents of `timeline.lanes`, in its order, each with the number of its spans."""
    session = busiest(corpus)
    spans = corpus.view("timeline.spans", session_id=session)
    entries = spans.filter(spans["kind"] != "agent")["agent_id"].to_list()
    agents = corpus.view("timeline.lanes", session_id=session).sort("lane")["agent_id"].to_list()
    counts = [
        int(lane.locator(".sl-lane-told > span").last.inner_text().replace(",", ""))
        for lane in agent_timeline(shown).locator(".sl-lane").all()
    ]
    assert counts == [entries.count(agent) for agent in agents]
    assert len(counts) >= 5


def test_the_legend_counts_kinds(shown: Page, corpus: sl.Corpus) -> None:
    """Every kind of span of the session is in the legend, with its number."""
    spans = corpus.view("timeline.spans", session_id=busiest(corpus))
    kinds = [kind for kind in spans["kind"].to_list() if kind != "agent"]
    told = legend(agent_timeline(shown))
    assert {kind: told.get(kind) for kind in set(kinds)} == {kind: kinds.count(kind) for kind in set(kinds)}


def test_hover_tells_an_entry(shown: Page, corpus: sl.Corpus) -> None:
    """Over the first call of the root agent, the box names the kind of entry and the model."""
    session = busiest(corpus)
    spans = corpus.view("timeline.spans", session_id=session, agent_id="root", kind="model_call")
    widget = agent_timeline(shown)
    widget.scroll_into_view_if_needed()
    box = widget.locator(".sl-marks").bounding_box()
    assert box is not None
    models = {name for name in spans["name"].to_list() if name}
    tip = widget.locator(".sl-tip")
    found = set()
    for step in range(100):
        shown.mouse.move(box["x"] + box["width"] * (step + 0.5) / 100, box["y"] + 17)
        if tip.is_visible() and tip.inner_text().startswith("model call\n"):
            found.add(tip.inner_text().split("\n")[1])
    assert found
    assert found <= models


def test_a_click_opens_what_was_said(shown: Page) -> None:
    """By keyboard from the chart: Enter opens the entry, JupyterLab's own keys do not interfere, Escape closes."""
    widget = agent_timeline(shown)
    widget.locator(".sl-chart").focus()
    shown.keyboard.press("ArrowRight")
    shown.keyboard.press("Enter")
    panel = widget.locator(".sl-panel")
    assert panel.is_visible()
    assert panel.inner_text().strip()
    shown.keyboard.press("Escape")
    assert panel.is_hidden()


def test_taint_is_told_and_unknown_looks_different(shown: Page, corpus: sl.Corpus) -> None:
    """The legend counts the states of a session with four of them; unknown rows, and no others, have question marks."""
    rows = corpus.view("taint.timeline", kind="message")
    counted = {
        session: {state: states.count(state) for state in set(states)}
        for (session,), part in rows.group_by("session_id")
        if (states := part["state"].to_list()) and str(session).startswith("mecha:")
    }
    widget = taint_timeline(shown)
    told = legend(widget)
    states = {state: told[state] for state in ("clean", "private", "untrusted", "both", "unknown") if told[state]}
    assert len(states) == 4
    assert states in counted.values()
    assert states["unknown"] > 0
    widget.locator(".sl-list").focus()
    seen = set()
    for key in ("Home", "End"):
        shown.keyboard.press(key)
        shown.wait_for_timeout(200)
        rows_in_sight = widget.locator(".sl-row-message").evaluate_all(
            "rows => rows.map(row => [row.dataset.state, row.querySelector('.sl-state').textContent])"
        )
        assert all((marks == "??") == (state == "unknown") for state, marks in rows_in_sight)
        seen |= {state for state, _ in rows_in_sight}
    assert {"clean", "unknown"} <= seen


def test_saved_and_opened_again(lab: Lab, shown: Page, folder: Path) -> None:
    """The file holds a still picture of each widget; opened again with a new kernel, all widgets are there unrun."""
    before = [agent_timeline(shown).locator(".sl-lane").count(), legend(taint_timeline(shown))]
    lab.save(shown)
    saved = json.loads((folder / NOTEBOOK).read_text(encoding="utf-8"))
    outputs = [out for cell in saved["cells"] for out in cell.get("outputs", [])]
    html = ["".join(out["data"]["text/html"]) for out in outputs if WIDGET in out.get("data", {})]
    pictures = [base64.b64decode(one.split("data:image/svg+xml;base64,")[1].split('"')[0]) for one in html]
    assert len(pictures) == 2
    assert all(picture.startswith(b"<svg") for picture in pictures)
    lab.close(shown)
    lab.open(shown, NOTEBOOK, workspace="second")
    shown.locator(".sl").nth(1).wait_for(timeout=TIMEOUT_MS)
    after = [agent_timeline(shown).locator(".sl-lane").count(), legend(taint_timeline(shown))]
    assert after == before


def test_hostile_text_is_text(lab: Lab, page: Page) -> None:
    """Markup, ANSI codes, direction marks and a line of 1 MB are shown as text by both widgets, and nothing runs."""
    lab.open(page, "hostile.ipynb", workspace="hostile")
    lab.run_all(page)
    page.locator(".sl").nth(1).wait_for(timeout=TIMEOUT_MS)
    taint = taint_timeline(page)
    first = taint.locator(".sl-row-message").first
    assert '<script>window.__pwned = 1</script><img src=x onerror="window.__pwned = 2">' in first.inner_text()
    widget = agent_timeline(page)
    widget.locator(".sl-chart").focus()
    opened = []
    for _ in range(8):
        page.keyboard.press("Enter")
        opened.append(widget.locator(".sl-panel").inner_text())
        widget.locator(".sl-chart").focus()
        page.keyboard.press("ArrowRight")
    assert any("<script>window.__pwned = 1</script>" in text for text in opened)
    assert any("show all" in text for text in opened)
    assert max(len(text) for text in opened) < LONG
    assert page.evaluate("window.__pwned") is None
    drawn = page.locator(".sl").all()
    assert sum(one.locator("script, img, iframe").count() for one in drawn) == 0
    text = "".join(one.inner_text() for one in drawn)
    assert "\x1b" not in text
    assert "\u202e" not in text
