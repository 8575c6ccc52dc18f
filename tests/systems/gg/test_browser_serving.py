"""A browser asks for session records: what it decodes by itself is the JSON that was stored."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from tests.systems.gg.served import running

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

FETCH = """async (path) => {
  const answer = await fetch(path);
  return [answer.status, answer.headers.get("content-encoding"), await answer.json()];
}"""
SIZES = "() => performance.getEntriesByName(location.href)[0].encodedBodySize"


def test_fetch_parses_the_record(browser: Browser, tmp_path: Path) -> None:
    """From a page of the same origin: gzip on the wire, the record in hand, and again from the cache by its ETag."""
    record = {"formatVersion": 1, "sessionId": "lamp", "texts": ["häng it 💡", "x" * 400_000]}
    place = tmp_path / "lamp" / "replay.json.gz"
    place.parent.mkdir()
    place.write_bytes(gzip.compress(json.dumps(record).encode()))
    with running(tmp_path) as server:
        context = browser.new_context()
        page = context.new_page()
        try:
            page.goto(f"{server.url}/runs")
            listing = json.loads(page.inner_text("body"))
            assert listing == {"runs": [{"id": "lamp", "bytes": place.stat().st_size}]}
            for _ in range(2):
                assert page.evaluate(FETCH, "/runs/lamp/replay") == [200, "gzip", record]
            with page.expect_response("**/replay") as seen:
                page.goto(server.address("lamp"))
            assert seen.value.ok
            assert page.evaluate(SIZES) == place.stat().st_size
        finally:
            context.close()
