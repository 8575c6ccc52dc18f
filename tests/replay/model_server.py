"""A model server of one's own: what it is to say in, an address that speaks both interfaces and remembers all out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from sessionlab.replay.endpoints import Endpoint


class Say(NamedTuple):
    """A reply: a text, tool calls as (name, input), or both."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    fresh: int = 10
    output: int = 5
    cached: int = 0
    finish: str | None = None
    raw_arguments: str | None = None


class Fault(NamedTuple):
    """An answer that is none."""

    status: int = 500
    body: bytes = b'{"error":{"message":"out of order","type":"server_error"}}'
    headers: tuple[tuple[str, str], ...] = ()


class Hang(NamedTuple):
    """No answer at all, until the server is closed."""


class Asked(NamedTuple):
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Server:
    """A server that says what is in ``script``, one a request, and then nothing but silence of an empty reply.

    Attributes:
        url: its root.
        script: what is still to be said.
        asked: what came in.
        slots, props: what it tells of its slots; None: HTTP 404.
    """

    def __init__(self, *script: Say | Fault | Hang) -> None:
        """A server with a script; `serving` starts it."""
        self.script = list(script)
        self.asked: list[Asked] = []
        self.slots: Any = None
        self.props: Any = None
        self.closing = threading.Event()
        self.calls = 0
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def begin(self) -> None:
        """Nothing was asked, and nothing is to be said."""
        self.script, self.asked, self.calls = [], [], 0
        self.slots = self.props = None

    @property
    def v1(self) -> str:
        """The address an OpenAI-compatible client is given."""
        return f"{self.url}/v1"


@cache
def client(api: Any, url: str, **more: Any) -> Endpoint:
    """A model there; one for all tests, since a client takes a tenth of a second to make."""
    return Endpoint(api, base_url=url, **more)


@contextmanager
def serving(*script: Say | Fault | Hang) -> Iterator[Server]:
    """A server that runs for as long as the block does."""
    server = Server(*script)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet: a second one would wait 40 ms for the first

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            told = {"/slots": server.slots, "/props": server.props}.get(self.path)
            if isinstance(told, bytes):
                self._answer(200, told)
            elif told is None:
                self._answer(404, b"{}")
            else:
                self._answer(200, json.dumps(told).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            said = server.script.pop(0) if server.script else Say()
            if isinstance(said, Hang):
                server.closing.wait()
                self.close_connection = True
            elif isinstance(said, Fault):
                self._answer(said.status, said.body, said.headers)
            else:
                shape = _completion if self.path.endswith("/chat/completions") else _message
                self._answer(200, json.dumps(shape(server, said, body)).encode())

        def _answer(self, status: int, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
            self.send_response(status)
            for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _named(server: Server, said: Say) -> list[tuple[str, str, Any]]:
    found = []
    for name, given in said.calls:
        server.calls += 1
        found.append((f"call-{server.calls}", name, given))
    return found


def _completion(server: Server, said: Say, body: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": said.raw_arguments or json.dumps(given)},
        }
        for call_id, name, given in _named(server, said)
    ]
    message = {"role": "assistant", "content": said.text or None, **({"tool_calls": calls} if calls else {})}
    finish = said.finish or ("tool_calls" if calls else "stop")
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": said.fresh + said.cached,
            "completion_tokens": said.output,
            "total_tokens": said.fresh + said.cached + said.output,
            "prompt_tokens_details": {"cached_tokens": said.cached},
        },
    }


def _message(server: Server, said: Say, body: dict[str, Any]) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
    blocks += [{"type": "tool_use", "id": i, "name": name, "input": given} for i, name, given in _named(server, said)]
    return {
        "id": "msg-1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": said.finish or ("tool_use" if said.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": said.fresh,
            "output_tokens": said.output,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": said.cached,
        },
    }
