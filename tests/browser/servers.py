"""A folder or a notebook goes in; a JupyterLab, a Voila and a Chromium of our own, with no network, come out."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parent.parent.parent
LOCAL = ("http://127.0.0.1:", "ws://127.0.0.1:", "file:", "blob:", "data:", "about:")
"""What a page may ask for. Everything else would be the network."""

_TOKEN = "a-token-for-this-run"
_PATIENCE_S = 60.0
_SERVER = {
    "ServerApp": {"ip": "127.0.0.1", "port_retries": 0, "allow_root": True},
    "IdentityProvider": {"token": _TOKEN},
    "LabApp": {"expose_app_in_browser": True, "news_url": None},
}
_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Cells out of sight are drawn too: a test and a picture of a whole notebook want them.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}


def chromium_program() -> str | None:
    """The Chromium to use: ``$SESSIONLAB_CHROMIUM``, else the first on PATH."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("SESSIONLAB_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@contextlib.contextmanager
def chromium(program: str) -> Iterator[Browser]:
    """A headless Chromium that talks to nobody on its own."""
    from playwright.sync_api import sync_playwright

    switches = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program,
            args=["--headless", *switches.split(), "--disable-component-update", "--disable-sync"],
        )
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def offline_page(
    browser: Browser, *, width: int = 1280, height: int = 900, scale: float = 1, scheme: str = "light"
) -> Iterator[tuple[Page, list[str]]]:
    """A page that reaches this machine only, and the list of what else it asked for or failed at."""
    trouble: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        locale="en-US",
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
    page.on(
        "request", lambda call: None if call.url.startswith(LOCAL) else trouble.append(f"request: {call.url[:200]}")
    )
    context.route(lambda url: not url.startswith(LOCAL), lambda route: route.abort())
    try:
        yield page, trouble
    finally:
        context.close()


@contextlib.contextmanager
def jupyter_lab(folder: Path) -> Iterator[Lab]:
    """``sessionlab lab`` on ``folder``."""
    port = _free_port()
    command = [sys.executable, "-m", "sessionlab", "lab", str(folder), "--no-browser", f"--port={port}"]
    with _served(command, f"http://127.0.0.1:{port}/api"):
        yield Lab(f"http://127.0.0.1:{port}")


@contextlib.contextmanager
def dashboard(*paths: Path) -> Iterator[str]:
    """The address of ``sessionlab dashboard PATHS``."""
    port = _free_port()
    command = [sys.executable, "-m", "sessionlab", "dashboard", *map(str, paths), "--no-browser", f"--port={port}"]
    with _served(command, f"http://127.0.0.1:{port}/voila/static/"):
        yield f"http://127.0.0.1:{port}/"


class Lab:
    """A running JupyterLab."""

    def __init__(self, url: str) -> None:
        self.url = url

    def open(self, page: Page, notebook: str, *, workspace: str) -> None:
        """Show a notebook in a workspace of its own, its kernel started; nothing has run yet."""
        page.goto(f"{self.url}/lab/workspaces/{workspace}/tree/{notebook}?token={_TOKEN}")
        opened = "() => window.jupyterapp?.shell?.currentWidget?.sessionContext"
        page.wait_for_function(opened, timeout=_PATIENCE_S * 1000)
        _promised(page, "window.jupyterapp.shell.currentWidget.context.ready")
        _promised(page, "window.jupyterapp.shell.currentWidget.sessionContext.ready")

    def run_all(self, page: Page) -> None:
        """Run all cells and wait until the last one is done; a cell that fails is an error here."""
        if not _promised(page, "window.jupyterapp.commands.execute('notebook:run-all-cells')"):
            told = page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').all_inner_texts()
            raise AssertionError(f"a cell failed: {' '.join(told)[-1500:] or 'no kernel'}")

    def save(self, page: Page) -> None:
        """Save the notebook."""
        _promised(page, "window.jupyterapp.commands.execute('docmanager:save')")

    def close(self, page: Page) -> None:
        """End the notebook's kernel, and what it knew with it."""
        _promised(page, "window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")


def _promised(page: Page, promise: str) -> object:
    """What a promise of the page comes to, or an error when it takes too long."""
    late = f"setTimeout(() => no(new Error(`too late: {promise}`)), {_PATIENCE_S * 1000:g})"
    return page.evaluate(f"() => Promise.race([{promise}, new Promise((_, no) => {late})])")


@contextlib.contextmanager
def _served(command: list[str], up: str) -> Iterator[None]:
    """Run a server with settings and folders of its own while the body runs, from its first answer on."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, (Path(home) / "log").open("w+b") as log:
        labconfig = Path(home) / "config" / "labconfig"
        labconfig.mkdir(parents=True)
        (labconfig / "default_setting_overrides.json").write_text(json.dumps(_SETTINGS))
        (labconfig.parent / "jupyter_server_config.json").write_text(json.dumps(_SERVER))
        (labconfig.parent / "jupyter_lab_config.json").write_text(json.dumps(_SERVER))
        own = {
            "HOME": home,
            "JUPYTER_CONFIG_DIR": f"{home}/config",
            "JUPYTER_DATA_DIR": f"{home}/data",
            "JUPYTER_RUNTIME_DIR": f"{home}/runtime",
            "JUPYTERLAB_SETTINGS_DIR": f"{home}/settings",
            "JUPYTERLAB_WORKSPACES_DIR": f"{home}/workspaces",
            "IPYTHONDIR": f"{home}/ipython",
            "PYTHONPATH": str(ROOT),
        }
        server = subprocess.Popen(
            command, env=os.environ | own, cwd=home, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait(server, up, log.name)
            yield
        finally:
            _end(server)


def _end(server: subprocess.Popen[bytes]) -> None:
    """Stop the server and what it started, a process group of their own, and wait until it is gone."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, sign)
            until = time.monotonic() + 15
            while time.monotonic() < until:
                server.poll()
                os.killpg(server.pid, 0)
                time.sleep(0.1)
        except ProcessLookupError:
            break
    server.wait()


def _wait(server: subprocess.Popen[bytes], url: str, log: str) -> None:
    """Return when ``url`` answers, with whatever."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError as answered:
            answered.close()
            return
        except (OSError, TimeoutError):
            time.sleep(0.2)
    told = Path(log).read_text(encoding="utf-8", errors="replace")[-3000:]
    raise RuntimeError(f"no answer at {url} within {_PATIENCE_S:g} s:\n{told}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
