"""Session records over HTTP: whose bytes go out in which coding, to real clients, and what is never let out."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from sessionlab.systems.gg import serving
from tests.systems.gg.served import NOISE, RECORD, Served, running, runs_in

if TYPE_CHECKING:
    from collections.abc import Iterator


GZIP = {"Accept-Encoding": "gzip"}
MAY_DIFFER = {"date", "transfer-encoding"}
"""Between HEAD and GET (RFC 9110, 9.3.2): what is decided while a body is sent."""

# Worked out by hand from RFC 9110, 12.5.3; what the server is free to choose is marked.
CODINGS = {
    None: "identity",  # free: anything is acceptable
    "": "identity",  # an empty field: no coding is wanted
    " , ,": "identity",
    "gzip": "gzip",
    "GZip": "gzip",
    "x-gzip": "gzip",  # 8.4.1.3: the same as gzip
    "gzip, deflate, br, zstd": "gzip",
    "br": "identity",  # gzip is not listed; identity is acceptable by default
    "identity": "identity",
    "*": "gzip",  # free: both match with equal weight
    "gzip;q=0": "identity",
    "gzip;q=0.0": "identity",
    "gzip;q=0.001": "gzip",  # free: identity is acceptable, and nobody asked for it
    "gzip;q=1.000": "gzip",
    "gzip ; Q=0.5": "gzip",
    "gzip;q=0.5, identity;q=0.5": "gzip",  # free: equal weights
    "gzip;q=0.5, identity;q=0.6": "identity",
    "identity;q=0.5, gzip;q=0.6": "gzip",
    "identity, gzip;q=0.9": "identity",
    "gzip;q=0, *": "identity",  # * is what is not listed, so identity
    "*;q=0.4, gzip;q=0.3": "identity",
    "*;q=0.4, gzip;q=0.5": "gzip",
    "br, *;q=0.1": "gzip",
    "*;q=0, identity;q=0.1": "identity",
    "*;q=0, gzip": "gzip",
    "identity;q=0, gzip;q=0.1": "gzip",
    "identity;q=0, *;q=0.5": "gzip",
    "identity;q=0": None,  # gzip is not listed, identity refused
    "*;q=0": None,
    "gzip;q=0, identity;q=0": None,
    "gzip;q=0, *;q=0": None,
    "br, identity;q=0": None,
    "gzip;q=2": "identity",  # free: no weight by the grammar, so the entry is not there
    "gzip;q=0.0001": "identity",
    "gzip;level=9": "identity",
    "gzip;q=": "identity",
    "gzip;q=0, gzip": "gzip",  # free: the same coding twice
    "zip": "identity",
    "x-*": "identity",
    "identity, x-identity;q=0": "identity",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with a record, with a damaged one, without any; and links out of the folder."""
    return runs_in(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """The server on that folder."""
    with running(folder) as server:
        yield server


def _curl(*arguments: str, code: int = 0) -> bytes:
    program = shutil.which("curl")
    if program is None:
        pytest.skip("no curl on PATH")
    done = subprocess.run([program, "--silent", "--max-time", "30", *arguments], capture_output=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.parametrize(("header", "coding"), CODINGS.items())
def test_coding_by_accept_encoding(served: Served, folder: Path, header: str | None, coding: str | None) -> None:
    """The table, asked of the server: the stored bytes, the decoded ones, or a refusal in words."""
    assert serving.negotiate(header) == coding
    answer = served.ask("/runs/lamp/replay", {} if header is None else {"Accept-Encoding": header})
    assert answer.headers["Vary"] == "Accept-Encoding"
    if coding is None:
        assert answer.status == 406
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert b"refuses that" in answer.body
        return
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Encoding"] == (None if coding == "identity" else "gzip")
    assert answer.body == (RECORD if coding == "identity" else (folder / "lamp/replay.json.gz").read_bytes())
    assert answer.headers["Content-Length"] == str(len(answer.body))


def test_several_fields_are_one_list(served: Served) -> None:
    """Accept-Encoding on two lines is one list."""
    sent = (
        b"GET /runs/lamp/replay HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %b\r\nAccept-Encoding: %b\r\nConnection: close"
    )
    assert b"content-encoding: gzip" in served.ask_raw(sent % (b"br", b"gzip") + b"\r\n\r\n")
    assert b" 406 " in served.ask_raw(sent % (b"identity;q=0", b"gzip;q=0") + b"\r\n\r\n").splitlines()[0]


def test_curl_gets_each_form(served: Served, folder: Path) -> None:
    """Asked for gzip the stored bytes; with --compressed, and without any wish, the decoded ones."""
    stored = (folder / "lamp/replay.json.gz").read_bytes()
    assert _curl("-H", "Accept-Encoding: gzip", served.address("lamp")) == stored
    assert _curl("--compressed", served.address("lamp")) == RECORD
    assert _curl(served.address("lamp")) == RECORD
    assert _curl("--http1.0", served.address("lamp")) == RECORD
    assert _curl("--compressed", served.address("noisy")) == NOISE
    assert _curl(served.address("noisy")) == NOISE


def test_httpx_decodes_by_itself(served: Served, folder: Path) -> None:
    """Its own Accept-Encoding brings gzip, its text is the JSON, its raw bytes are the file."""
    with httpx.Client() as client:
        assert client.get(served.address("lamp")).json() == json.loads(RECORD)
        with client.stream("GET", served.address("lamp")) as answer:
            assert b"".join(answer.iter_raw()) == (folder / "lamp/replay.json.gz").read_bytes()
        analysis = client.get(served.address("lamp", "code-analysis"))
        assert (analysis.json(), analysis.headers["Content-Encoding"]) == ({"files": 7}, "gzip")


@pytest.mark.parametrize("coding", ["gzip", "identity"])
@pytest.mark.parametrize("run", ["lamp", "noisy", "early-cut", "without"])
def test_head_is_get_without_a_body(served: Served, run: str, coding: str) -> None:
    """Status and headers are those of GET, nothing follows them."""
    ask = {"Accept-Encoding": coding}
    path = f"/runs/{run}/replay"
    head, get = served.ask(path, ask, "HEAD"), served.ask(path, ask)
    assert head.body == b""
    assert get.body != b""
    assert head.status == get.status
    told, wanted = ({k: v for k, v in given.headers.items() if k not in MAY_DIFFER} for given in (head, get))
    assert told == wanted


def test_length_of_a_decoded_body_is_told_when_certain(served: Served) -> None:
    """Not before the end was seen; HTTP 1.0, which could not tell a short body, has it counted."""
    assert served.ask("/runs/noisy/replay").headers["Content-Length"] is None
    told = served.ask_raw(b"GET /runs/noisy/replay HTTP/1.0\r\n\r\n")
    assert f"content-length: {len(NOISE)}".encode() in told.partition(b"\r\n\r\n")[0]
    assert told.partition(b"\r\n\r\n")[2] == NOISE


def test_etags_name_file_and_coding(served: Served, folder: Path) -> None:
    """Each form has its own; 304 only to whoever has that form; another file under the name has another."""
    place = folder / "changing" / "replay.json.gz"
    place.parent.mkdir()
    place.write_bytes(gzip.compress(b"[1]", mtime=0))
    try:
        forms = [{"Accept-Encoding": coding} for coding in ("gzip", "identity")]
        tags = [served.ask("/runs/changing/replay", form).headers["ETag"] for form in forms]
        assert len({*tags}) == 2
        assert not any(tag.startswith("W/") for tag in tags)
        for form, own, other in zip(forms, tags, reversed(tags), strict=True):
            for known in (own, f"W/{own}", f'"x,y", {own}', "*"):
                answer = served.ask("/runs/changing/replay", form | {"If-None-Match": known})
                assert (answer.status, answer.headers["ETag"], answer.body) == (304, own, b"")
                assert answer.headers["Vary"] == "Accept-Encoding"
            assert served.ask("/runs/changing/replay", form | {"If-None-Match": other}).status == 200
        before = place.stat()
        time.sleep(0.02)  # as fine as a file system's clock may be
        place.write_bytes(gzip.compress(b"[2]", mtime=0))
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert place.stat().st_size == before.st_size
        for form, tag in zip(forms, tags, strict=True):
            answer = served.ask("/runs/changing/replay", form | {"If-None-Match": tag})
            assert (answer.status, answer.headers["ETag"] != tag) == (200, True)
    finally:
        shutil.rmtree(place.parent)


def test_ranges_are_not_offered(served: Served, folder: Path) -> None:
    """A range asked for brings the whole."""
    answer = served.ask("/runs/lamp/replay", GZIP | {"Range": "bytes=0-3"})
    assert (answer.status, answer.headers["Accept-Ranges"]) == (200, "none")
    assert answer.body == (folder / "lamp/replay.json.gz").read_bytes()


@pytest.mark.parametrize(
    ("run", "decoded"),
    [
        ("other%20version", b'{"formatVersion":99}'),
        ("no-json", b"\x00 no JSON"),
        ("two-members", RECORD),
        ("inside", RECORD),
        ("%C3%BCn%C3%AF%252f", RECORD),
        ("l%61mp", RECORD),
    ],
)
def test_what_is_stored_is_opaque(served: Served, run: str, decoded: bytes) -> None:
    """Any version, any content, several members, odd names: both forms as ever."""
    assert served.ask(f"/runs/{run}/replay").body == decoded
    assert gzip.decompress(served.ask(f"/runs/{run}/replay", GZIP).body) == decoded


@pytest.mark.parametrize(("run", "stored"), [("plain", RECORD), ("empty", b"")])
def test_what_is_no_gzip_is_sent_as_it_is(served: Served, run: str, stored: bytes) -> None:
    """Uncompressed under that name: the same bytes to everyone, called by no coding."""
    for asked in ({}, GZIP):
        answer = served.ask(f"/runs/{run}/replay", asked)
        assert (answer.status, answer.headers["Content-Encoding"], answer.body) == (200, None, stored)
        assert answer.headers["Content-Length"] == str(len(stored))
    assert served.ask(f"/runs/{run}/replay", {"Accept-Encoding": "gzip, identity;q=0"}).status == 406


@pytest.mark.parametrize("run", ["early-cut", "early-sum", "early-head", "early-tail"])
def test_damage_in_the_first_block_is_told(served: Served, folder: Path, run: str) -> None:
    """Whoever wants it decoded reads why not; whoever takes gzip gets what is stored."""
    answer = served.ask(f"/runs/{run}/replay")
    assert (answer.status, answer.headers["Content-Type"]) == (500, "text/plain; charset=utf-8")
    assert answer.body.startswith(f"replay.json.gz of run '{run}' is damaged: ".encode())
    assert served.ask(f"/runs/{run}/replay", GZIP).body == (folder / run / "replay.json.gz").read_bytes()


@pytest.mark.parametrize("run", ["late-cut", "late-sum"])
def test_damage_further_on_breaks_the_connection(served: Served, folder: Path, run: str) -> None:
    """The client sees an error, not a body that is merely short; HTTP 1.0, which knows no such error, a 500."""
    begun = _curl(served.address(run), code=18)  # "transfer closed with outstanding read data remaining"
    assert NOISE.startswith(begun)
    assert len(begun) < len(NOISE)
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(served.address(run), headers={"Accept-Encoding": "identity"})
    assert b" 500 " in served.ask_raw(f"GET /runs/{run}/replay HTTP/1.0\r\n\r\n".encode()).splitlines()[0]
    assert _curl("-H", "Accept-Encoding: gzip", served.address(run)) == (folder / run / "replay.json.gz").read_bytes()
