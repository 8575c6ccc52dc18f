"""A folder of run directories goes in; a web application that hands out each run's session record comes out.

``GET /runs/ID/replay`` sends ``DIR/ID/replay.json.gz`` (gg section 2.1): the stored gzip, byte for byte, to clients
whose ``Accept-Encoding`` admits it, decoded JSON otherwise. What is stored is opaque here: its JSON is never parsed, so
a record of any format version is served. ``GET /runs/ID/code-analysis`` does the same for the analysis beside the
record, and ``GET /runs`` lists the runs that have a record.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import re
import socket
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from sessionlab.errors import WrongUse
from sessionlab.systems.gg.artifacts import (
    ARTIFACTS,
    RECORD,
    CutShort,
    Stored,
    as_stored,
    decoded,
    open_stored,
    recorded,
)

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.datastructures import Headers
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Route
except ModuleNotFoundError as _error:
    _missing = (_error.name or "starlette").partition(".")[0]
    raise WrongUse(
        f"{_missing} is not installed; expected the extra `serve`: pip install 'sessionlab[serve]'"
    ) from _error

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
"""Records hold whatever the agents read, so only this machine is served unless someone says otherwise."""
PORT = 8707
_NOT_ALLOWED = 405
_LAST_PORT = 65_535
_PATIENCE_S = 1
"""How long those still receiving are waited for when the server is stopped."""
_SHOWN = 100
"""Characters of what was asked for that an answer repeats."""
_ENTRY = re.compile(r"([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?", re.IGNORECASE)
"""One coding of an Accept-Encoding with its weight (RFC 9110, 12.4.2 and 12.5.3)."""
_TAG = re.compile(r'"[^"]*"')
_ALWAYS = {
    "Vary": "Accept-Encoding",
    "Cache-Control": "no-cache",  # keep it, but ask each time: a record can be assembled again under its name
    "X-Content-Type-Options": "nosniff",
    "Accept-Ranges": "none",
}

Coding = Literal["gzip", "identity"]


class _Sending(StreamingResponse):
    """An answer that closes the file it reads from, also when the client leaves before the end."""

    def __init__(self, file: FileIO, blocks: Iterator[bytes], headers: Mapping[str, str]) -> None:
        super().__init__(blocks, headers=headers, media_type="application/json")
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


class _KnownHost:
    """Answers only to addresses, local names and the host given.

    A page from elsewhere can have its own name resolve to this machine (DNS rebinding) and would then read the records
    as if they were its own; the name it asks for gives it away.
    """

    def __init__(self, app: ASGIApp, given: str) -> None:
        self._app, self._given = app, given

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Headers(scope=scope).get("host", "")
        if not answers_to(asked, self._given):
            sentence = f"this server answers to {self._given} and to addresses, not to {_shown(asked)}"
            await _words(421, sentence)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def application(folder: Path) -> Starlette:
    """The web application that serves the runs in ``folder``.

    Raises:
        WrongUse: ``folder`` is no folder of run directories.
    """
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise WrongUse(f"{folder}: expected a folder of run directories, found {found}")
    if (folder / RECORD).exists():
        raise WrongUse(f"{folder} is the directory of one run; serve the folder it is in: {folder.resolve().parent}")
    root = Path(os.path.realpath(folder))
    runs = partial(_listing, root)
    app = Starlette(
        routes=[
            Route("/", runs),
            Route("/runs", runs),
            Route("/runs/{run}/{artifact}", partial(_artifact, root)),
        ],
        exception_handlers={HTTPException: _unknown},
    )
    app.router.redirect_slashes = False  # a path names one thing or nothing
    return app


def serve(
    folder: Path, host: str = HOST, port: int = PORT, *, announce: Callable[[str], None] = lambda _url: None
) -> None:
    """Serve the runs in ``folder`` until interrupted; ``announce`` is told the address once it can be asked.

    Port 0 takes any that is free. Of a record that breaks while it is sent, a line on stderr tells.

    Raises:
        WrongUse: ``folder`` is no folder of run directories; the address cannot be listened on.
    """
    app = application(folder)
    if not 0 <= port <= _LAST_PORT:
        raise WrongUse(f"port {port}: expected 0 to {_LAST_PORT}, where 0 takes any free one")
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise WrongUse(
            f"cannot listen on {host}, port {port}: {error.strerror}; --port 0 takes any free one"
        ) from error
    with listening:
        address, bound = listening.getsockname()[:2]
        if ipaddress.ip_address(address).is_loopback:
            app.add_middleware(_KnownHost, given=host)
        server = uvicorn.Server(
            uvicorn.Config(
                app, log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=_PATIENCE_S,
                server_header=False, proxy_headers=False,
            )
        )  # fmt: skip
        logging.getLogger("uvicorn.error").addFilter(_in_one_line)
        announce(f"http://{f'[{host}]' if ':' in host else host}:{bound}/runs")
        with contextlib.suppress(KeyboardInterrupt):  # which is how it is meant to end
            server.run(sockets=[listening])


def negotiate(header: str | None, *, is_gzip: bool = True) -> Coding | None:
    """In which coding to send what is stored as gzip, or as it is (``is_gzip=False``); None: in no acceptable one.

    RFC 9110, 12.5.3: the greater weight wins; at equal weights gzip, which is what is stored. ``*`` stands for whatever
    is not named. Identity that neither is named nor falls under ``*`` is acceptable, but comes after a named gzip of
    any weight. An entry that follows no grammar is as good as not there; of one that is there twice the greater weight
    counts. Without the header anything is acceptable: identity is sent then, as those who leave it out (curl, say)
    mostly do not decode.
    """
    weights: dict[str, float] = {}
    for entry in (header or "").split(","):
        if found := _ENTRY.fullmatch(entry.strip(" \t")):
            coding = "gzip" if found[1].lower() == "x-gzip" else found[1].lower()  # RFC 9110, 8.4.1.3
            weights[coding] = max(weights.get(coding, 0.0), float(found[2] or 1))
    gzip = weights.get("gzip", weights.get("*", 0.0)) if is_gzip else 0.0
    identity = weights.get("identity", weights.get("*"))
    if gzip and (identity is None or gzip >= identity):
        return "gzip"
    return "identity" if identity is None or identity else None


def answers_to(host: str, given: str) -> bool:
    """Whether a request for the ``Host`` named can be meant for a server that listens on this machine only."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if "." not in name or name == given.lower() or name.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


def _listing(root: Path, _request: Request) -> Response:
    try:
        runs = [{"id": run, "bytes": size} for run, size in recorded(root)]
    except OSError as error:
        return _words(500, f"the folder served cannot be read: {error.strerror}")
    return JSONResponse({"runs": runs}, headers=_ALWAYS)


def _artifact(root: Path, request: Request) -> Response:
    run, artifact = request.path_params["run"], request.path_params["artifact"]
    name = ARTIFACTS.get(artifact)
    if name is None or not _is_asked_in_parts(request, run, artifact):
        return _unknown(request, HTTPException(404))
    try:
        stored = open_stored(root, run, name)
    except OSError as error:
        return _words(500, f"{name} of run {_shown(run)} cannot be read: {error.strerror}")
    if stored is None:
        looked = f"looked for {name} in that run's directory; GET /runs lists the runs that have a record"
        return _words(404, f"no {artifact} of run {_shown(run)}: {looked}")
    answer: Response | None = None
    try:
        answer = _answer(request, stored)
    finally:
        if not isinstance(answer, _Sending):
            stored.file.close()
    return answer


def _answer(request: Request, stored: Stored) -> Response:
    given = request.headers.getlist("accept-encoding")
    coding = negotiate(", ".join(given) if given else None, is_gzip=stored.is_gzip)
    if coding is None:
        kept = "can be sent as gzip or as plain JSON" if stored.is_gzip else "is stored without compression"
        refused = f"Accept-Encoding {_shown(', '.join(given))} refuses that; leave the header out"
        return _words(406, f"{stored.name} {kept}, and {refused}")
    tag = f'"{stored.version}-{coding}"'
    headers = _ALWAYS | {"ETag": tag}
    known = ", ".join(request.headers.getlist("if-none-match"))
    if known.strip() == "*" or tag in _TAG.findall(known):
        return Response(status_code=304, headers=headers)
    if coding == "gzip":
        headers["Content-Encoding"] = "gzip"
    try:
        # HTTP 1.0 has no way to tell a client that it did not get all, but for a length told before.
        counted = request.scope["http_version"] == "1.0"
        body = decoded(stored, counted=counted) if stored.is_gzip and coding == "identity" else as_stored(stored)
    except CutShort as error:
        return _words(500, f"{error}; ask with `Accept-Encoding: gzip` for the bytes as they are stored")
    if body.size is not None:
        headers["Content-Length"] = str(body.size)
    return _Sending(stored.file, iter(()) if request.method == "HEAD" else body.blocks, headers)


def _is_asked_in_parts(request: Request, run: str, artifact: str) -> bool:
    """Whether run and artifact were whole parts of the path before ``%2F`` was decoded in it."""
    raw = request.scope.get("raw_path")
    if not isinstance(raw, bytes):
        return True
    parts = raw.split(b"?")[0].decode("latin-1").split("/")[-3:]
    return [unquote(part) for part in parts] == ["runs", run, artifact]


def _unknown(request: Request, error: Exception) -> Response:
    """What the routes do not know, in words."""
    if isinstance(error, HTTPException) and error.status_code == _NOT_ALLOWED:
        answer = _words(_NOT_ALLOWED, f"{request.method} is not answered here; use GET or HEAD")
        answer.headers["Allow"] = "GET, HEAD"
        return answer
    ways = " and ".join(f"/runs/ID/{artifact}" for artifact in ARTIFACTS)
    told = f"GET /runs lists the runs, {ways} send what is kept of one"
    return _words(404, f"nothing at {_shown(request.url.path)}; {told}")


def _words(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status, headers=_ALWAYS)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _in_one_line(record: logging.LogRecord) -> bool:
    """What ends an answer early is told in a sentence, where a traceback would say nothing more."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, CutShort):
        record.msg, record.args, record.exc_info = f"{error}; the connection was ended", (), None
    return not isinstance(error, CancelledError)  # the server was stopped, and says how many it did not wait for
