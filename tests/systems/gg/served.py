"""A folder of runs goes in; ``sessionlab gg serve`` on it, and what it answers to bytes sent raw, come out."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from email.message import Message

T = TypeVar("T")
ROOT = Path(__file__).parent.parent.parent.parent
RECORD = b'{"formatVersion":1,"recorder":{},"sessionId":"lamp","seed":{"prompt":"h\xc3\xa4ng it"}}'
ANALYSIS = b'{"files":7}'
SECRET = b"what is outside stays outside"
GZIP = {"Accept-Encoding": "gzip"}
NOISE = os.urandom(3 << 20)


def runs_in(top: Path) -> Path:
    """A folder of runs with a record, with a damaged one, without any; and with links out of it."""
    outside, place = top / "outside", top / "runs"
    outside.mkdir()
    place.mkdir()
    (outside / "replay.json.gz").write_bytes(gzip.compress(SECRET))
    whole = gzip.compress(RECORD, mtime=0)
    noisy = gzip.compress(NOISE, 1)
    stored = {
        "lamp": whole,
        "other version": gzip.compress(b'{"formatVersion":99}'),
        "plain": RECORD,
        "empty": b"",
        "no-json": gzip.compress(b"\x00 no JSON"),
        "two-members": gzip.compress(RECORD[:9]) + gzip.compress(RECORD[9:]) + bytes(512),
        "noisy": noisy,
        "early-cut": whole[:-9],
        "early-sum": whole[:-8] + bytes(4) + whole[-4:],
        "early-head": whole[:2] + b"\x07" + whole[3:],
        "early-tail": whole + b"tail",
        "late-cut": noisy[: 2 << 20],
        "late-sum": noisy[:-8] + bytes(4) + noisy[-4:],
        "ünï%2f": whole,
    }
    for run, content in stored.items():
        (place / run).mkdir()
        (place / run / "replay.json.gz").write_bytes(content)
    (place / "lamp" / "code-analysis.json.gz").write_bytes(gzip.compress(ANALYSIS))
    (place / "without").mkdir()
    (place / "a-file").write_bytes(SECRET)
    (place / "folder" / "replay.json.gz").mkdir(parents=True)
    (place / "out-whole").symlink_to(outside)
    for run, target in {
        "out-file": outside / "replay.json.gz",
        "out-relative": Path("../..") / outside.name / "replay.json.gz",
        "circle": Path("replay.json.gz"),
        "nowhere": Path("gone"),
        "inside": place / "lamp" / "replay.json.gz",
    }.items():
        (place / run).mkdir()
        (place / run / "replay.json.gz").symlink_to(target)
    (place / "pipe").mkdir()
    os.mkfifo(place / "pipe" / "replay.json.gz")
    return place


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Message
    body: bytes


class Served(NamedTuple):
    """A running server."""

    url: str
    process: subprocess.Popen[str]
    said: str

    def address(self, run: str, artifact: str = "replay") -> str:
        """Where a run's artifact is."""
        return f"{self.url}/runs/{run}/{artifact}"

    def ask(self, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> Answer:
        """The answer to a request with these headers and no others but Host."""
        with self.asking(path, headers, method) as answer:
            return Answer(answer.status, answer.headers, answer.read())

    @contextlib.contextmanager
    def asking(self, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> Iterator[HTTPResponse]:
        """The same, its body not read yet."""
        with contextlib.closing(HTTPConnection(urlsplit(self.url).netloc, timeout=30)) as connection:
            connection.putrequest(method, path, skip_accept_encoding=True, skip_host="Host" in (headers or {}))
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            connection.endheaders()
            with connection.getresponse() as answer:
                yield answer

    def ask_raw(self, request: bytes) -> bytes:
        """All that comes back on a connection to which just this was written."""
        host, port = urlsplit(self.url).hostname, urlsplit(self.url).port
        with socket.create_connection((host or "", port or 0), timeout=30) as connection:
            connection.sendall(request)
            parts = []
            while part := connection.recv(1 << 16):
                parts.append(part)
        return b"".join(parts)

    def memory(self) -> tuple[int, int]:
        """Bytes of memory in use, and the most that were since ``forget_peak``."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        told = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line.startswith(("VmRSS", "VmHWM"))}
        return told["VmRSS"], told["VmHWM"]

    def forget_peak(self) -> None:
        """Let the peak begin anew."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


@contextlib.contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Served]:
    """The server on ``folder`` at a free port; an interrupt ends it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sessionlab", "gg", "serve", str(folder), "--port=0", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    assert process.stderr
    with process.stdout, process.stderr:
        try:
            said = process.stdout.readline()
            assert said, process.stderr.read()
            yield Served(said.split()[0].removesuffix("/runs"), process, said)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def awaited(made: Callable[[], Coroutine[None, None, T]]) -> T:
    """What a coroutine returns, on a thread of its own: the browser of other tests keeps a loop running on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(made())).result()
