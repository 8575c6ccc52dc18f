"""The server as a program: what it takes in memory and time, what it says, how it ends."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import os
import signal
import socket
import subprocess
import sys
import time
from io import FileIO
from pathlib import Path

import httpx
import pytest

from sessionlab.cli import gg_serve
from sessionlab.errors import WrongUse
from sessionlab.systems.gg import artifacts, serving
from tests.systems.gg.served import NOISE, RECORD, ROOT, awaited, running, runs_in

LARGE = 200 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with a record, with a damaged one, without any; and links out of the folder."""
    return runs_in(tmp_path_factory.mktemp("served"))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("form", ["gzip", "identity"])
def test_memory_does_not_grow_with_the_record(tmp_path: Path, form: str) -> None:
    """200 MB to a client that begins slowly: the server grows by less than 40 MB."""
    place = tmp_path / "large" / "replay.json.gz"
    place.parent.mkdir()
    if form == "identity":
        with gzip.open(place, "wb", compresslevel=1) as file:
            for _ in range(LARGE >> 20):
                file.write(b" " * (1 << 20))
    else:
        place.write_bytes(b"\x1f\x8b")  # opaque: nobody decompresses it
        os.truncate(place, LARGE)
    with running(tmp_path) as server:
        server.ask("/runs")
        before, _ = server.memory()
        server.forget_peak()
        size = 0
        into = bytearray(1 << 20)
        with server.asking("/runs/large/replay", {"Accept-Encoding": form}) as answer:
            time.sleep(0.5)
            while got := answer.readinto(into):
                size += got
        assert size == LARGE
        assert server.memory()[1] - before < 40 << 20


def test_reading_does_not_hold_up_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a slow disk is waited for, the event loop turns."""

    class Slow(FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            time.sleep(0.2)
            return super().read(size)

    monkeypatch.setattr(artifacts, "FileIO", Slow)

    async def ask() -> tuple[bytes, int]:
        turns = 0
        async with httpx.AsyncClient(transport=httpx.ASGITransport(serving.application(folder))) as client:
            asked = asyncio.create_task(client.get("http://x/runs/lamp/replay"))
            while not asked.done():
                await asyncio.sleep(0.01)
                turns += 1
            return asked.result().content, turns

    content, turns = awaited(ask)
    assert content == RECORD
    assert turns > 20


def test_a_file_that_cannot_be_read_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that is there and closed to the server: 500 in words, without its place."""

    def closed(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(serving.application(folder))) as client:
            return await client.get("http://x/runs/lamp/replay")

    monkeypatch.setattr(os, "open", closed)
    answer = awaited(ask)
    assert (answer.status_code, answer.text) == (
        500,
        "replay.json.gz of run 'lamp' cannot be read: Permission denied\n",
    )


def test_a_file_written_to_while_it_is_sent_breaks_off(tmp_path: Path) -> None:
    """Bytes of two versions are never passed off as one; one that takes its place by its name does no harm."""
    place = tmp_path / "record"
    place.write_bytes(NOISE)
    root = tmp_path.parent.resolve()
    stored = artifacts.open_stored(root, tmp_path.name, "record")
    assert stored
    with stored.file:
        other = tmp_path / "other"
        other.write_bytes(b"another")
        blocks = artifacts.as_stored(stored).blocks
        next(blocks)
        other.replace(place)
        assert b"".join(blocks) == NOISE[artifacts.BLOCK_BYTES :]
    stored = artifacts.open_stored(root, tmp_path.name, "record")
    assert stored
    with stored.file:
        place.write_bytes(b"longer than before")
        with pytest.raises(artifacts.CutShort, match="was changed while it was sent"):
            next(artifacts.as_stored(stored).blocks)


def test_the_command_says_where_and_ends_when_interrupted(folder: Path) -> None:
    """One line: address, folder, how to stop; an interrupt is no failure; a broken record is one line on stderr."""
    with running(folder) as server:
        port = int(server.url.rpartition(":")[2])
        assert server.said == f"http://127.0.0.1:{port}/runs lists the runs in {folder.resolve()}; Ctrl+C stops\n"
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(server.address("late-cut"), headers={"Accept-Encoding": "identity"})
        server.process.send_signal(signal.SIGINT)
        _, told = server.process.communicate(timeout=20)
        assert server.process.returncode == 0
    assert "Traceback" not in told
    assert told.count("\n") == 1
    assert "replay.json.gz of run 'late-cut' is damaged: " in told
    assert told.endswith("; the connection was ended\n")


def test_a_client_that_stopped_reading_does_not_keep_the_server(tmp_path: Path) -> None:
    """Interrupted in the middle of an answer that nobody takes, it ends soon, and says so in a line."""
    place = tmp_path / "large" / "replay.json.gz"
    place.parent.mkdir()
    place.write_bytes(b"\x1f\x8b")
    os.truncate(place, LARGE)
    with running(tmp_path) as server, server.asking("/runs/large/replay", {"Accept-Encoding": "gzip"}) as answer:
        assert answer.read(2) == b"\x1f\x8b"
        server.process.send_signal(signal.SIGINT)
        _, told = server.process.communicate(timeout=20)
        assert server.process.returncode == 0
    assert told.count("\n") == 1
    assert "timeout graceful shutdown exceeded" in told


def test_the_command_listens_where_the_server_would() -> None:
    """The command's own defaults, which need no extra to be shown, are those of the server: loopback."""
    defaults = {name: told.default for name, told in inspect.signature(gg_serve.serve).parameters.items()}
    assert (defaults["host"], defaults["port"]) == (serving.HOST, serving.PORT) == ("127.0.0.1", 8707)


def test_wrong_use_is_one_sentence(folder: Path) -> None:
    """No folder, a file, one run instead of all, a port that is taken or none."""
    for wrong, told in {
        folder / "gone": "expected a folder of run directories, found nothing",
        folder / "a-file": "expected a folder of run directories, found a file",
        folder / "lamp": "is the directory of one run; serve the folder it is in",
    }.items():
        with pytest.raises(WrongUse, match=told):
            serving.application(wrong)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(WrongUse, match=f"cannot listen on 127.0.0.1, port {port}: .*; --port 0 takes any free one"):
            serving.serve(folder, port=port)
    with pytest.raises(WrongUse, match="port 70000"):
        serving.serve(folder, port=70_000)


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_a_missing_extra_is_named(folder: Path, missing: str) -> None:
    """Without the extra the command says how to get it."""
    code = f"import sys; sys.modules[{missing!r}] = None; from sessionlab.cli.gg_serve import serve; serve(sys.argv[1])"
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    wanted = f"{missing} is not installed; expected the extra `serve`: pip install 'sessionlab[serve]'"
    assert done.returncode == 1
    assert done.stderr.strip().endswith(f"WrongUse: {wanted}")
