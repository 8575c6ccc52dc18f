"""A file of pinned session ids in; which of them still replay without any divergence out (12.9).

Pins are a machine's own: transcripts are personal data. A pin that diverges means that the harness or the model has
changed; which one, its report tells.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from sessionlab.errors import ReplayRefused, SessionlabError, WrongUse
from sessionlab.replay.report import Report
from sessionlab.systems.mecha.home import FILE_MODE, mecha_home, private_folder

VARIABLE = "MECHA_REGRESSION_PINS"
NAME = "regression-sessions.txt"
SERVER_TIMEOUT_S = 5.0
_MOST_BYTES = 1 << 20
"""No server tells more than this of its slots."""

Replay = Callable[[str], Report]
"""Replays a session with `error` and reports."""


class Pinned(NamedTuple):
    """What became of a pinned session.

    Attributes:
        id: as it was given.
        report: the report; None when there is none.
        failure: why there is none, in words; None when there is one.
    """

    id: str
    report: Report | None
    failure: str | None

    @property
    def ok(self) -> bool:
        """It replayed without any divergence."""
        return self.report is not None and self.report.clean


def pin_file() -> Path:
    """The file in ``$MECHA_REGRESSION_PINS``, else ``regression-sessions.txt`` of the mecha home."""
    told = os.environ.get(VARIABLE)
    return Path(told).expanduser() if told else mecha_home() / NAME


def read(path: Path) -> list[str]:
    """The ids of a pin file, in order, each once; blank lines and those that begin with ``#`` are passed over.

    Raises:
        ReplayRefused: the file is missing, or has no id.
        OSError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise ReplayRefused("no_pins", f"{path}: no pin file; `sessionlab pins add ID` begins one") from error
    ids = list(_ids(text))
    if not ids:
        raise ReplayRefused("no_pins", f"{path}: no session is pinned; `sessionlab pins add ID` pins one")
    return ids


def append(path: Path, session_id: str) -> bool:
    """Pin a session; whether it was not pinned before. A new file is its owner's alone.

    Raises:
        OSError: the file cannot be written.
    """
    before = path.read_bytes() if path.exists() else b""
    if session_id in _ids(before.decode(errors="replace")):
        return False
    if not path.parent.exists():
        private_folder(path.parent)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
    try:
        os.write(file, (b"\n" if before and not before.endswith(b"\n") else b"") + f"{session_id}\n".encode())
    finally:
        os.close(file)
    return True


def run(ids: Iterable[str], replay: Replay) -> Iterator[Pinned]:
    """Replay each session, one after the other: a seed repeats only where nothing else is asked meanwhile."""
    for one in ids:
        try:
            yield Pinned(one, replay(one), None)
        except (SessionlabError, OSError) as error:
            yield Pinned(one, None, str(error))


def one_slot(server: str, *, timeout_s: float = SERVER_TIMEOUT_S) -> None:
    """Refuse unless the model server reports exactly one slot.

    Seeded sampling repeats only in sequence on one slot: batched requests disturb each other's numerics. Both ways a
    llama.cpp server tells of its slots are asked: ``/slots``, a list of them, and ``total_slots`` of ``/props``.

    Args:
        server: its address, without ``/v1``.
        timeout_s: seconds to wait for each answer.

    Raises:
        ReplayRefused: it has more slots, does not tell, or does not answer.
        WrongUse: the address is no HTTP address.
    """
    root = server_root(server)
    listed, why = _asked(f"{root}/slots", timeout_s)
    found = len(listed) if isinstance(listed, list) else None
    if found is None:
        props, why = _asked(f"{root}/props", timeout_s)
        total = props.get("total_slots") if isinstance(props, dict) else None
        found = total if type(total) is int else None
    if found is None:
        raise ReplayRefused(
            "server",
            f"{root} does not tell how many slots it has ({why}): pins are replayed against a server with exactly one"
            " (llama-server -np 1); name another one with --server",
        )
    if found != 1:
        raise ReplayRefused(
            "server",
            f"{root} has {found} slots: expected exactly one (llama-server -np 1), since concurrent requests would"
            " disturb each other and divergences would mean nothing",
        )


def server_root(address: str) -> str:
    """The root of a server whose interface is at ``address``.

    Raises:
        WrongUse: it is no HTTP address.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise WrongUse(f"server: expected an address such as http://127.0.0.1:8080, found {address!r}")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"


def _asked(url: str, timeout_s: float) -> tuple[object, str]:
    """The JSON there, and why there is none."""
    try:
        request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 (the scheme was looked at)
        with urlopen(request, timeout=timeout_s) as answer:  # noqa: S310
            return json.loads(answer.read(_MOST_BYTES)), "its answer names none"
    except HTTPError as error:
        error.close()
        return None, f"HTTP {error.code}"
    except (URLError, OSError, HTTPException) as error:
        return None, str(getattr(error, "reason", error))
    except (ValueError, RecursionError):
        return None, "its answer is no JSON"


def _ids(text: str) -> Iterator[str]:
    seen = set()
    for line in text.split("\n"):
        word = line.strip()
        if word and not word.startswith("#") and word not in seen:
            seen.add(word)
            yield word
