"""Servers that run as long as the tests need them, and pages that reach nothing but them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from sessionlab.bundled import samples
from tests.browser import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

LONG = 1_000_000
"""Letters in the line that is too long."""
HOSTILE = (
    '</script><script>window.__pwned = 1</script><img src=x onerror="window.__pwned = 2"> '
    "\x1b[31mred\x1b[0m \u202ereversed\u202c"
)
"""Markup that would run, ANSI codes, a right-to-left override."""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page as large as what it shows; the module fails when it asked for the network or a script failed."""
    with servers.offline_page(browser, height=1400) as (opened, trouble):
        yield opened
        assert trouble == []


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for notebooks: one that draws a hostile transcript, beside those that `sessionlab lab` puts there."""
    place = tmp_path_factory.mktemp("notebooks")
    (place / "hostile.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in hostile_transcript()))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    notebook.cells = [
        nbformat.v4.new_code_cell(
            "import sessionlab as sl\n"
            'corpus = sl.load("hostile.jsonl")\n'
            'sl.widgets.AgentTimeline(corpus.view("timeline.spans"), corpus.view("timeline.details"))'
        ),
        nbformat.v4.new_code_cell('sl.widgets.TaintTimeline(corpus.view("taint.timeline"))'),
    ]
    nbformat.write(notebook, place / "hostile.ipynb")
    return place


@pytest.fixture(scope="session")
def lab(program: str, folder: Path) -> Iterator[servers.Lab]:
    """``sessionlab lab`` on that folder."""
    with servers.jupyter_lab(folder) as running:
        yield running


@pytest.fixture(scope="session")
def dashboard_url(program: str) -> Iterator[str]:
    """``sessionlab dashboard`` on the sample corpus."""
    with servers.dashboard(samples() / "corpus") as url:
        yield url


def hostile_transcript() -> list[dict[str, object]]:
    """A mecha transcript with hostile text wherever there is text; its last two messages no checkpoint covers."""

    def said(role: str, *content: dict[str, object], **more: object) -> dict[str, object]:
        return {"record": "message", "role": role, "content": list(content), **more}

    where = {"provider": "anthropic", "model": HOSTILE, "workspace": "/home/ada/lamps"}
    head = {"record": "meta", "id": "20261102T080000-0badc0de", "created_at": "2026-11-02T08:00:00Z", **where}
    call = {"type": "tool_use", "id": "c1", "name": HOSTILE, "input": {"query": HOSTILE}}
    return [
        head | {"title": HOSTILE, "kind": "run"},
        {"record": "config", **where, "system_prompt": HOSTILE, "tools": [HOSTILE], "max_turns": 9},
        said("user", {"type": "text", "text": f"begin {HOSTILE}"}),
        said("assistant", call),
        said(
            "user",
            {"type": "tool_result", "tool_use_id": "c1", "content": f"{HOSTILE} {'x' * LONG}", "is_error": True},
            tool_provenance={"c1": True},
        ),
        {"record": "taint", "private": False, "untrusted": True},
        said("assistant", {"type": "text", "text": HOSTILE}),
        said("user", {"type": "text", "text": f"end {HOSTILE}"}),
    ]
