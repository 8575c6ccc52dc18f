"""Rows as dicts go in; tables shaped like the views of both timelines, and a browser that shows them, come out."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

Rows = list[dict[str, Any]]

_KINDS = {"text": pa.string(), "big": pa.int64(), "real": pa.float64(), "flag": pa.bool_(), "time": pa.timestamp("us")}
_SPANS = {
    "text": "session_id agent_id span_id kind name parent_agent_id origin status reason caller place excerpt note",
    "big": "lane depth run turn begin_order end_order context_tokens window_tokens output_tokens",
    "real": "begin_ms end_ms",
    "flag": "is_forced",
    "time": "begin_at end_at",
}
_DETAILS = {"text": "session_id span_id part label text", "big": "ix body_bytes original_bytes"}
_MESSAGES = {
    "text": "session_id kind role voice state name excerpt agent_id",
    "big": "ordinal position seq run covered_by_seq",
    "flag": "private untrusted learnable external",
}

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

BEGAN = dt.datetime(2026, 9, 14, 8, 30, 12, 250_000)


def _table(rows: Rows, columns: dict[str, str]) -> pa.Table:
    kinds = {name: _KINDS[kind] for kind, names in columns.items() for name in names.split()}
    assert not {name for row in rows for name in row} - set(kinds)
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})


@pytest.fixture
def spans() -> Callable[[Rows], pa.Table]:
    """Rows of ``timeline.spans``; what a row does not tell is null, but for session and agent."""
    given = {"session_id": "s-1", "agent_id": "root", "lane": 0}
    return lambda rows: _table([given | row for row in rows], _SPANS)


@pytest.fixture
def details() -> Callable[[Rows], pa.Table]:
    """Rows of ``timeline.details``."""
    return lambda rows: _table([{"session_id": "s-1"} | row for row in rows], _DETAILS)


@pytest.fixture
def messages() -> Callable[[Rows], pa.Table]:
    """Rows of ``taint.timeline``, numbered as given."""
    given = {"session_id": "s-1", "kind": "message"}
    return lambda rows: _table([given | {"ordinal": n} | row for n, row in enumerate(rows)], _MESSAGES)


@pytest.fixture
def story() -> Rows:
    """Three agents: a lead with a forced call, a failed shell and a limit; a spawned one; one without entries."""
    second = dt.timedelta(seconds=1)

    def took(begin: float, end: float | None, order: int) -> dict[str, Any]:
        row = {"begin_order": order, "end_order": order, "begin_ms": begin * 1_000, "begin_at": BEGAN + begin * second}
        return row if end is None else row | {"end_ms": end * 1_000, "end_at": BEGAN + end * second}

    def agent(span_id: str, origin: str, **told: Any) -> dict[str, Any]:
        return {"span_id": span_id, "kind": "agent", "name": span_id, "origin": origin} | told

    helper = {"agent_id": "a-7", "lane": 1}
    call = {"name": "model-a", "status": "ok", "is_forced": True, "caller": "harness", "run": 1, "turn": 2}
    filling = {"context_tokens": 18_234, "window_tokens": 64_000, "output_tokens": 950}
    shell = {"name": "pytest -q", "status": "failed", "reason": "exit 1", "place": "web", "caller": "tool"}
    return [
        agent("lead", "root", depth=0, status="done") | took(0, 70, 0),
        helper | agent("helper", "spawn", depth=1, status="failed", parent_agent_id="root") | took(20, 61, 3),
        {"agent_id": "a-8", "lane": 2}
        | agent("silent", "reviewer", depth=1, parent_agent_id="root", note="created but never ran"),
        {"span_id": "ask", "kind": "message", "name": "person", "excerpt": "find the lost tail"} | took(0, None, 0),
        {"span_id": "call", "kind": "model_call"} | call | filling | took(1, 13.4, 1),
        {"span_id": "shell", "kind": "shell"} | shell | took(14, 14.34, 2),
        helper
        | {"span_id": "boom", "kind": "model_error", "name": "model-b", "reason": "overloaded"}
        | took(20, 24, 3),
        helper | {"span_id": "read", "kind": "tool_call", "name": "read_file", "status": "ok"} | took(30, 61, 4),
        {"span_id": "cap", "kind": "limit", "name": "turns"} | took(70, None, 5),
    ]


@pytest.fixture
def pause() -> Rows:
    """One agent: calls of 0 to 12, 20 to 40 and 8,020 to 8,050 s; nothing in the 2 h 13 min before the last."""
    second = dt.timedelta(seconds=1)

    def took(begin: float, end: float) -> dict[str, Any]:
        at = {"begin_at": BEGAN + begin * second, "end_at": BEGAN + end * second}
        return at | {"begin_ms": begin * 1_000, "end_ms": end * 1_000}

    calls = [(0, 12), (20, 40), (8_020, 8_050)]
    return [
        {"span_id": "lead", "kind": "agent", "name": "lead", "origin": "root", "begin_order": 0} | took(0, 8_050),
        {"span_id": "run", "kind": "run", "begin_order": 0, "end_order": 3} | took(0, 8_050),
        *(
            {"span_id": f"c{n}", "kind": "model_call", "name": f"model-{n}", "begin_order": n, "end_order": n}
            | took(*call)
            for n, call in enumerate(calls, 1)
        ),
    ]


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    """Opens an HTML text from a file, and at the end fails on any script error or request to anywhere else."""
    trouble: list[str] = []
    context = browser.new_context(viewport={"width": 1200, "height": 900}, locale="en-US")
    opened = context.new_page()
    opened.on("pageerror", lambda error: trouble.append(f"error: {error}"))
    opened.on("console", lambda line: trouble.append(f"console: {line.text}") if line.type == "error" else None)
    opened.on(
        "request",
        lambda call: None if call.url.startswith(("file:", "blob:")) else trouble.append(f"request: {call.url}"),
    )

    def open_page(html: str) -> Page:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        opened.goto(file.as_uri())
        return opened

    yield open_page
    context.close()
    assert trouble == []


@pytest.fixture
def settle() -> Callable[[Page], None]:
    """Waits until two frames have been drawn."""
    return lambda shown: shown.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
    )


@pytest.fixture
def inked() -> Callable[[Page, str, list[float]], list[tuple[str, int]]]:
    """The colours ("r,g,b,a", count) in a box (x, y, width, height in CSS pixels) of a canvas, most frequent first."""
    return lambda shown, selector, box: [(color, count) for color, count in shown.evaluate(INKED, [selector, box])]
