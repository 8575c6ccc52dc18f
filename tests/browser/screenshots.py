"""Writes pictures of what a person would see into a folder: ``python tests/browser/screenshots.py [FOLDER]``.

Both widgets and the notebooks in JupyterLab, the dashboard under Voila in several states, and the demo page: all on the
samples, in a real headless Chromium, and without a network.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from sessionlab.bundled import samples
from tests.browser import servers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

TIMEOUT_MS = 60_000


def main() -> None:
    """Write them all, and say where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"))
    out: Path = parser.parse_args().folder
    program = servers.chromium_program()
    if program is None:
        sys.exit("no Chromium on PATH, and SESSIONLAB_CHROMIUM is not set")
    out.mkdir(parents=True, exist_ok=True)
    with servers.chromium(program) as browser:
        for pictures in (in_lab, of_dashboard, of_demo):
            pictures(browser, out)
    print(*sorted(str(path) for path in out.glob("*.png")), sep="\n")


def in_lab(browser: Browser, out: Path) -> None:
    """Both widgets, light and dark, with and without an entry open; the notebooks of charts from top to bottom."""
    with tempfile.TemporaryDirectory() as folder, servers.jupyter_lab(Path(folder)) as lab:
        for scheme in ("light", "dark"):
            with servers.offline_page(browser, scale=2, scheme=scheme, height=1400) as (page, _):
                _run(lab, page, "04_one_session.ipynb", f"widgets-{scheme}", scheme)
                page.locator(".sl").nth(1).wait_for(timeout=TIMEOUT_MS)
                agents = page.locator(".sl", has=page.locator(".sl-chart")).first
                taint = page.locator(".sl", has=page.locator(".sl-taint")).first
                _shot(agents, out / f"lab-agents-{scheme}.png")
                _shot(taint, out / f"lab-taint-{scheme}.png")
                _open(agents.locator(".sl-chart"), "ArrowRight", 3)
                _shot(agents, out / f"lab-agents-open-{scheme}.png")
                _hover(page, agents)
                _shot(agents, out / f"lab-agents-tooltip-{scheme}.png")
                _open(taint.locator(".sl-list"), "ArrowDown", 30)
                _shot(taint, out / f"lab-taint-open-{scheme}.png")
        for notebook in ("01_run_quality", "02_repricing", "04_one_session"):
            with servers.offline_page(browser, height=4800) as (page, _):
                _run(lab, page, f"{notebook}.ipynb", notebook, "light")
                page.wait_for_timeout(3_000)
                page.locator(".jp-NotebookPanel-notebook").first.screenshot(path=out / f"lab-{notebook}.png")


def of_dashboard(browser: Browser, out: Path) -> None:
    """The dashboard as it opens, over the bad weeks, for one model, and with nothing chosen."""
    with servers.dashboard(samples() / "corpus") as url, servers.offline_page(browser, height=1320) as (page, _):
        page.goto(url)
        page.locator(".vega-embed svg").nth(2).wait_for(timeout=TIMEOUT_MS)
        _settled(page, out / "dashboard-all.png")
        _steps(page, "lower", "ArrowRight", 28)
        _steps(page, "upper", "ArrowLeft", 17)
        _settled(page, out / "dashboard-two-weeks.png")
        _choose(page, "Model", "claude-haiku-4-5")
        _settled(page, out / "dashboard-one-model.png")
        _choose(page, "Format", "datalayer")
        _settled(page, out / "dashboard-nothing.png")


def of_demo(browser: Browser, out: Path) -> None:
    """The page of ``sessionlab demo``, opened from its file, light and dark."""
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo.html"
        command = [sys.executable, "-m", "sessionlab", "demo", "--out", str(demo)]
        subprocess.run(command, check=True, capture_output=True, cwd=servers.ROOT)
        for scheme in ("light", "dark"):
            with servers.offline_page(browser, height=1500, scheme=scheme) as (page, _):
                page.goto(demo.as_uri())
                page.wait_for_timeout(500)
                page.screenshot(path=out / f"demo-{scheme}.png", full_page=True)


def _run(lab: servers.Lab, page: Page, notebook: str, workspace: str, scheme: str) -> None:
    lab.open(page, notebook, workspace=workspace)
    theme = "JupyterLab Dark" if scheme == "dark" else "JupyterLab Light"
    page.evaluate("(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    lab.run_all(page)


def _shot(widget: Locator, path: Path) -> None:
    widget.scroll_into_view_if_needed()
    widget.page.wait_for_timeout(400)
    widget.screenshot(path=path)


def _open(target: Locator, key: str, times: int) -> None:
    """Open an entry by keyboard."""
    target.focus()
    for _ in range(times):
        target.press(key)
    target.press("Enter")


def _hover(page: Page, agents: Locator) -> None:
    """Rest the pointer on the first model call that has a box to show."""
    agents.scroll_into_view_if_needed()
    marks = agents.locator(".sl-marks").bounding_box()
    assert marks is not None
    for step in range(150):
        page.mouse.move(marks["x"] + marks["width"] * (step + 20) / 200, marks["y"] + 17)
        if agents.locator(".sl-tip").is_visible():
            return


def _settled(page: Page, path: Path) -> None:
    page.wait_for_timeout(2_500)
    page.screenshot(path=path)


def _steps(page: Page, end: str, key: str, times: int) -> None:
    """Move an end of the period day by day."""
    handle = page.locator(f".widget-hslider .noUi-handle-{end}")
    handle.focus()
    for _ in range(times):
        page.keyboard.press(key)


def _choose(page: Page, label: str, option: str) -> None:
    page.locator(".widget-dropdown").filter(has_text=label).locator("select").select_option(label=option)


if __name__ == "__main__":
    main()
