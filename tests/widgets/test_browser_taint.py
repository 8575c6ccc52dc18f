"""The taint timeline in a real browser, on a page opened from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sessionlab.widgets import TaintTimeline, page

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


def test_unknown_never_looks_like_clean(show: Show, messages: Build, settle: Settle, inked: Inked) -> None:
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
        (state, leg): inked(shown, ".sl-ribbon", [92 + 30 * n + 4, top, 22, 16])
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


def test_checkpoints_and_rewrites_are_marked(show: Show, messages: Build, settle: Settle) -> None:
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


def test_columns_are_as_wide_as_their_texts(show: Show, messages: Build, settle: Settle) -> None:
    """A name up to 26 letters is read whole; without any name there is no column; a number is not cut."""
    tool = "mcp__ledger__write_entry"
    rows = [{"position": 1_204, "state": "unknown", "voice": "harness", "name": tool, "excerpt": "said"}]
    shown = show(page(TaintTimeline(messages(rows)), title="Taint"))
    settle(shown)
    for name, text in (("position", "1204"), ("state", "unknown"), ("voice", "harness"), ("tool", tool)):
        cell = shown.locator(f".sl-row-{name}")
        assert cell.inner_text() == text
        assert cell.evaluate("(element) => element.scrollWidth <= element.clientWidth"), name
    shown = show(page(TaintTimeline(messages([rows[0] | {"name": None}])), title="Taint"))
    assert shown.locator(".sl-row-voice").count() == 1
    assert shown.locator(".sl-row-tool").count() == 0


def test_the_conversations_of_agents_are_parted(show: Show, messages: Build, settle: Settle) -> None:
    """Positions begin anew with each agent: its name stands in the row, and a line above its first one."""
    rows = [{"agent_id": agent, "position": n, "state": "clean"} for agent in ("root", "a-7") for n in (0, 1)]
    shown = show(page(TaintTimeline(messages(rows)), title="Taint"))
    settle(shown)
    assert shown.locator(".sl-row-agent").all_inner_texts() == ["root", "root", "a-7", "a-7"]
    assert [row.get_attribute("data-row") for row in shown.locator(".sl-row-first").all()] == ["2"]
    shown.locator(".sl-row").nth(2).click()
    assert "a-7" in shown.locator(".sl-facts").inner_text()
    shown = show(page(TaintTimeline(messages(rows[:2])), title="Taint"))
    assert shown.locator(".sl-row-agent").count() == 0
