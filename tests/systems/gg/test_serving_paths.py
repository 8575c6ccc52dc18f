"""What may be asked of the server: runs by their id, reading only, by local names; nothing else is let out."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from sessionlab.systems.gg import serving
from tests.systems.gg.served import SECRET, Served, running, runs_in

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with a record, with a damaged one, without any; and links out of the folder."""
    return runs_in(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """The server on that folder."""
    with running(folder) as server:
        yield server


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../replay", "/runs/%2e%2e/replay", "/runs/./replay", "/runs/%2e/replay", "/runs//replay",
        "/runs/%00/replay",
        "/runs/../outside/replay", "/runs/..%2Foutside0/replay", "/runs/%2e%2e%2f%2e%2e%2fetc/replay",
        "/runs/lamp%2Freplay", "/runs/lamp%2F../replay", "/runs%2Flamp/replay", "/runs/lamp/replay/",
        "/runs/lamp/./replay",
        "/runs/%2Fetc/replay", "//etc/passwd", "/runs//etc/passwd/replay", "/runs/%2Fetc%2Fpasswd%00/replay",
        "/runs/..%5C..%5Coutside0/replay", "/runs/..\\outside0/replay", "/runs/lamp%00/replay", "/runs/lamp/replay%00",
        "/runs/lamp/..%2Freplay", "/runs/lamp/replay.json.gz", "/runs/lamp/..", "/runs/a-file/replay", "/a-file",
        "/runs/%ff/replay", "/runs/%c0%ae%c0%ae/replay", "/runs/%ed%a0%80/replay", "/runs/%/replay",
        "/runs/C:%5CWindows/replay", "/runs/~/replay", "/runs/" + "x" * 300 + "/replay",
        "/runs/unknown/replay", "/runs/without/replay", "/runs/folder/replay", "/runs/plain/code-analysis",
        "/runs/out-whole/replay", "/runs/out-file/replay", "/runs/out-relative/replay", "/runs/circle/replay",
        "/runs/nowhere/replay", "/runs/pipe/replay", "/runs/lamp", "/runs/", "/elsewhere",
    ],
)  # fmt: skip
def test_nothing_outside_a_run_is_served(served: Served, folder: Path, path: str) -> None:
    """Ids are one part of the path; whatever leads elsewhere is not found, in words that name no place outside."""
    answer = served.ask_raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ")
    assert b"content-type: text/plain; charset=utf-8" in head
    assert b"vary: Accept-Encoding" in head
    assert b"; GET /runs lists the runs" in body
    assert len(body) < 600
    for leak in (SECRET, gzip.compress(SECRET)[10:], str(folder.parent).encode()):
        assert leak not in body


@pytest.mark.parametrize("target", [b"/runs/\0/replay", b"/runs/\xff/replay", b"/runs/a b/replay"])
def test_what_is_no_request_is_refused(served: Served, target: bytes) -> None:
    """Bytes that HTTP does not allow in a request are a client's error."""
    assert served.ask_raw(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % target).startswith(b"HTTP/1.1 400 ")


def test_missing_record_is_told_in_words(served: Served) -> None:
    """What was looked for, and what to do."""
    assert served.ask("/runs/without/replay").body == (
        b"no replay of run 'without': looked for replay.json.gz in that run's directory;"
        b" GET /runs lists the runs that have a record\n"
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/runs", "/runs/lamp/replay"])
def test_only_reading_is_allowed(served: Served, method: str, path: str) -> None:
    """Any other method is answered 405 with those that are allowed; no other origin is let in."""
    answer = served.ask(path, {"Origin": "http://elsewhere.example"}, method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert answer.headers["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize("path", ["/", "/runs"])
def test_runs_with_a_record_are_listed(served: Served, folder: Path, path: str) -> None:
    """By id, with what is stored of each; runs without a record and links out of the folder are not."""
    kept = [
        "early-cut", "early-head", "early-sum", "early-tail", "empty", "inside", "lamp", "late-cut", "late-sum",
        "no-json", "noisy", "other version", "plain", "two-members", "ünï%2f",
    ]  # fmt: skip
    runs = [{"id": run, "bytes": (folder / run / "replay.json.gz").stat().st_size} for run in kept]
    assert httpx.get(f"{served.url}{path}").json() == {"runs": runs}


def test_names_from_elsewhere_are_not_answered(served: Served) -> None:
    """A page that lets its own name resolve to this machine reads nothing."""
    port = served.url.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example:1", "[:::"):
        answer = served.ask_raw(f"GET /runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 421 "), host
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST", "runs.localhost", "127.1.2.3"):
        assert served.ask("/runs", {"Host": host}).status == 200, host
        assert serving.answers_to(host, "127.0.0.1"), host
    assert serving.answers_to("runs.example:80", "runs.example")
