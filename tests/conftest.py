"""What several tests share: a fixed clock, the real session files, a browser, small tables written as CSV."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import servers

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "data-samples"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    """A fixed clock."""
    return NOW


@pytest.fixture(params=[0, 400], ids=["today", "400-days-on"])
def any_now(request: pytest.FixtureRequest) -> datetime:
    """The fixed clock, and the same 400 days on: nothing may depend on when the tests run."""
    return NOW + timedelta(days=request.param)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real session files; tests that read them are skipped where it is not there."""
    folder = os.environ.get("SESSIONLAB_CORPORA")
    if not folder:
        pytest.skip("real session files are not part of the project; name their folder in SESSIONLAB_CORPORA")
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def program() -> str:
    """The Chromium to use; without one nothing that needs it is tried, and no server started."""
    found = servers.chromium_program()
    if found is None:
        pytest.skip("no Chromium on PATH, and SESSIONLAB_CHROMIUM is not set")
    return found


@pytest.fixture(scope="session")
def browser(program: str) -> Iterator[Browser]:
    """A headless Chromium, one for all tests: two of its drivers cannot live side by side in one process."""
    with servers.chromium(program) as opened:
        yield opened


def read_csv(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """Header and rows of a table written as CSV: an empty cell is null, ``''`` is the empty string."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    return header, [[None if cell == "" else "" if cell == "''" else cell for cell in row] for row in rows]
