"""Requests and replies of both interfaces against a real server, and everything that can go wrong there."""

from __future__ import annotations

import builtins
import json
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from sessionlab.errors import ModelFailed, ReplayRefused, WrongUse
from sessionlab.formats.mecha.wire import Image, Message, Text, Thinking, Tokens, ToolResult, ToolUse
from sessionlab.replay.endpoints import PROVIDER_URLS, Endpoint
from sessionlab.replay.model import Settings
from sessionlab.replay.providers import LOCAL_URL, configured
from sessionlab.systems.mecha.surfaces import ToolDefinition
from tests.replay.model_server import Fault, Say, Server, client, serving

APIS = ("openai", "anthropic")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOL = ToolDefinition("fs_read", "Read a file.", SCHEMA)
CONVERSATION = [
    Message("user", [Text("What is "), Image("image/png", "iVBORw0KGgo=", "nest.png"), Text("this?")]),
    Message("assistant", [Thinking("Look.", "c2ln"), Thinking("unsigned"), Text("I look."),
                          ToolUse("c1", "fs_read", {"path": "ä"}), ToolUse("c2", "fs_read", {})]),
    Message("user", [ToolResult("c2", "no", is_error=True), ToolResult("c1", "yes"), Text("and hurry")]),
    Message("assistant", []),
]  # fmt: skip
SETTINGS = Settings(
    model="tern-1", system_prompt="Be brief.", effort="high", temperature=0.25, seed=3, thinking=True,
    cache_prompt=True, max_tokens=77,
)  # fmt: skip


@pytest.fixture(scope="module")
def started() -> Iterator[Server]:
    """One server for all tests here."""
    with serving() as found:
        yield found


@pytest.fixture
def server(started: Server) -> Server:
    """The server, told nothing yet by this test."""
    started.begin()
    return started


def endpoint(server: Server, api: Any, **more: Any) -> Endpoint:
    """A model at the server."""
    return client(api, server.v1 if api == "openai" else server.url, **{"retries": 0, **more})


def test_a_conversation_as_chat_completions(server: Server) -> None:
    """The whole request, member by member."""
    endpoint(server, "openai").complete(CONVERSATION, [TOOL], SETTINGS)
    assert server.asked[0].path == "/v1/chat/completions"
    assert server.asked[0].body == {
        "model": "tern-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "What is "},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                {"type": "text", "text": "this?"},
            ]},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "fs_read", "arguments": '{"path": "ä"}'}},
                {"id": "c2", "type": "function", "function": {"name": "fs_read", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "c2", "content": "no"},
            {"role": "tool", "tool_call_id": "c1", "content": "yes"},
            {"role": "user", "content": "and hurry"},
        ],
        "tools": [{"type": "function",
                   "function": {"name": "fs_read", "description": "Read a file.", "parameters": SCHEMA}}],
        "max_tokens": 77,
        "temperature": 0.25,
        "seed": 3,
        "reasoning_effort": "high",
    }  # fmt: skip


def test_a_conversation_as_anthropic_messages(server: Server) -> None:
    """The whole request: an unsigned thought cannot be sent back, an empty message is none, a seed is not known."""
    endpoint(server, "anthropic").complete(CONVERSATION, [TOOL], SETTINGS)
    assert server.asked[0].path == "/v1/messages"
    assert server.asked[0].body == {
        "model": "tern-1",
        "max_tokens": 77,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "What is "},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                {"type": "text", "text": "this?"},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Look.", "signature": "c2ln"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "fs_read", "input": {"path": "ä"}},
                {"type": "tool_use", "id": "c2", "name": "fs_read", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
                {"type": "tool_result", "tool_use_id": "c1", "content": "yes", "is_error": False},
                {"type": "text", "text": "and hurry"},
            ]},
        ],
        "tools": [{"name": "fs_read", "description": "Read a file.", "input_schema": SCHEMA}],
        "temperature": 0.25,
        "output_config": {"effort": "high"},
        "thinking": {"type": "adaptive"},
        "cache_control": {"type": "ephemeral"},
    }  # fmt: skip


@pytest.mark.parametrize("api", APIS)
def test_what_is_not_set_is_not_sent(server: Server, api: str) -> None:
    """A recording that pins nothing sends nothing: the provider's own defaults hold."""
    endpoint(server, api).complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    body = server.asked[0].body
    assert set(body) == ({"model", "messages"} if api == "openai" else {"model", "messages", "max_tokens"})


@pytest.mark.parametrize("api", APIS)
def test_a_reply_with_parallel_calls(server: Server, api: str) -> None:
    """Text first, then the calls in order, disjoint tokens, the reason it ended."""
    server.script = [Say("Both.", (("fs_read", {"path": "a"}), ("fs_list", {})), fresh=7, output=4, cached=2)]
    reply = endpoint(server, api).complete([Message("user", [Text("hi")])], [TOOL], Settings(model="m"))
    assert reply.content == [
        Text("Both."), ToolUse("call-1", "fs_read", {"path": "a"}), ToolUse("call-2", "fs_list", {}),
    ]  # fmt: skip
    assert (reply.usage, reply.finish, reply.text) == (Tokens(7, 4, 0, 2), "tool_use", "Both.")


@pytest.mark.parametrize(
    ("api", "word", "finish"),
    [
        ("openai", "length", "max_tokens"),
        ("openai", "content_filter", "refusal"),
        ("openai", "of_its_own", "other"),
        ("anthropic", "max_tokens", "max_tokens"),
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "pause_turn", "pause_turn"),
        ("anthropic", "stop_sequence", "end_turn"),
        ("anthropic", "of_its_own", "other"),
    ],
)
def test_why_a_reply_ended_in_the_words_of_mecha(server: Server, api: str, word: str, finish: str) -> None:
    """4.4: end_turn, tool_use, max_tokens, refusal, pause_turn, other."""
    server.script = [Say("x", finish=word)]
    assert endpoint(server, api).complete([Message("user", [Text("hi")])], [], Settings(model="m")).finish == finish


@pytest.mark.parametrize("arguments", ["{", "[1, NaN]", "nothing"])
def test_arguments_that_are_no_json_stay_as_their_text(server: Server, arguments: str) -> None:
    """Nothing is guessed: the text as it came, and the call is marked."""
    server.script = [Say(calls=(("fs_read", None),), raw_arguments=arguments)]
    reply = endpoint(server, "openai").complete([Message("user", [Text("hi")])], [TOOL], Settings(model="m"))
    assert (reply.calls[0].input, reply.malformed) == (arguments, frozenset({"call-1"}))


def test_what_a_compatible_server_thought_is_kept(server: Server) -> None:
    """`reasoning_content` is a thought; two calls of one id are told apart."""
    call = {"id": "", "type": "function", "function": {"name": "x", "arguments": ""}}
    said = {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [call, call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": said}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    server.script = [Fault(200, json.dumps(body).encode())]
    reply = endpoint(server, "openai").complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    assert reply.content == [Thinking("Hm."), ToolUse("call_0", "x", {}), ToolUse("call_1", "x", {})]
    assert reply.usage is None


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "fatal"), (404, "fatal"), (429, "retry_exhausted"), (500, "retry_exhausted"), (529, "retry_exhausted")],
)
def test_a_refusal_by_status(server: Server, api: str, status: int, kind: str) -> None:
    """The status, where it was asked, and the server's own words."""
    server.script = [Fault(status, b'{"error":{"message":"out of order","type":"x"}}')]
    with pytest.raises(ModelFailed, match=rf"HTTP {status}.*out of order") as failed:
        endpoint(server, api).complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    assert (failed.value.kind, failed.value.status) == (kind, status)
    assert server.url in str(failed.value)
    assert ("check the key" in str(failed.value)) is (status == 401)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [429, 500])
def test_the_sdk_asks_again_after_a_failure_that_passes(server: Server, api: str, status: int) -> None:
    """Retries are the SDK's: one failure, then the reply."""
    server.script = [Fault(status, headers=(("retry-after-ms", "1"),)), Say("Here.")]
    reply = endpoint(server, api, retries=1).complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    assert (reply.text, len(server.asked)) == ("Here.", 2)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "body", [b"{", b"<html>sorry</html>", b"[]", b"{}", b"null", b'"x"', b'{"choices":[],"content":1}']
)
def test_an_answer_that_is_no_reply(server: Server, api: str, body: bytes) -> None:
    """Malformed JSON, and JSON of another shape: said to be no reply, whatever the SDK makes of it."""
    server.script = [Fault(200, body)]
    with pytest.raises(ModelFailed, match="what is no reply") as failed:
        endpoint(server, api).complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    assert failed.value.kind == "parse"


@pytest.mark.parametrize("api", APIS)
def test_nobody_there(api: Any) -> None:
    """An address nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelFailed, match="cannot be reached") as failed:
            Endpoint(api, base_url=url, retries=0).complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    assert failed.value.kind == "unreachable"


@pytest.mark.parametrize("api", APIS)
def test_a_key_of_the_environment_is_not_sent_to_an_address_it_was_not_told_for(
    server: Server, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK finds nothing by itself: neither a key nor an address."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "secret-of-another")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "Authorization: secret-of-another")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    url = server.v1 if api == "openai" else server.url
    Endpoint(api, base_url=url).complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    assert "secret-of-another" not in str(server.asked)
    assert os.environ["OPENAI_API_KEY"] == "secret-of-another"
    assert Endpoint(api).base_url == PROVIDER_URLS[api]


@pytest.mark.parametrize("api", APIS)
def test_the_key_that_was_told_is_sent(server: Server, api: Any) -> None:
    """The one key, in the header where the SDK puts it."""
    endpoint(server, api, api_key="k-1").complete([Message("user", [Text("hi")])], [], Settings(model="m"))
    sent = [value for name, value in server.asked[0].headers.items() if name in ("authorization", "x-api-key")]
    assert sent in (["Bearer k-1"], ["k-1"])


def test_a_long_reply_may_be_asked_for_without_a_stream(server: Server) -> None:
    """The SDK's own guess of how long that takes does not refuse it: the time-out that was told holds."""
    endpoint(server, "anthropic").complete([Message("user", [Text("hi")])], [], Settings(model="m", max_tokens=128_000))
    assert server.asked[0].body["max_tokens"] == 128_000


@pytest.mark.parametrize("api", APIS)
def test_a_missing_extra_is_a_sentence(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK: what is missing and how to get it."""
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == api:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(WrongUse, match=rf"{api} is not installed.*pip install 'sessionlab\[replay\]'"):
        Endpoint(api)


class TestProviders:
    """Where a provider is: options and environment say, a transcript never does."""

    def test_the_environment_of_a_provider_of_ones_own(self) -> None:
        """Address, key, interface and default model, by name."""
        env = {
            "SESSIONLAB_SHORE_2_BASE_URL": "http://shore/v1", "SESSIONLAB_SHORE_2_API_KEY": "k",
            "SESSIONLAB_SHORE_2_API": "anthropic", "SESSIONLAB_SHORE_2_MODEL": "tern-1",
        }  # fmt: skip
        assert configured("shore-2", env=env) == ("shore-2", "anthropic", "http://shore/v1", "k", "tern-1")

    def test_options_come_before_the_environment(self) -> None:
        """An address and a key's variable on the command line."""
        env = {"SESSIONLAB_SHORE_BASE_URL": "http://shore/v1", "SESSIONLAB_SHORE_API_KEY": "k", "MINE": "m"}
        found = configured("shore", base_url="http://dune", api="anthropic", key_variable="MINE", env=env)
        assert found == ("shore", "anthropic", "http://dune", "m", None)

    @pytest.mark.parametrize("name", APIS)
    def test_the_variables_of_the_sdks_hold_for_their_own_providers(self, name: str) -> None:
        """ANTHROPIC_API_KEY and OPENAI_API_KEY, for these names alone."""
        found = configured(name, env={f"{name.upper()}_API_KEY": "k", f"{name.upper()}_BASE_URL": "http://proxy"})
        assert (found.api, found.api_key, found.base_url) == (name, "k", "http://proxy")

    def test_another_providers_variables_are_not_looked_at(self) -> None:
        """A transcript that names a provider SHORE cannot reach for SHORE_API_KEY."""
        found = configured("shore", base_url="http://shore", env={"SHORE_API_KEY": "k", "OPENAI_API_KEY": "k"})
        assert found.api_key is None

    def test_local_is_a_server_of_this_machine(self) -> None:
        """By custom on port 8080, without a key."""
        found = configured("local", env={})
        assert (found.base_url, found.api_key, found.address) == (LOCAL_URL, None, LOCAL_URL)

    @pytest.mark.parametrize(
        ("name", "env", "hint"),
        [
            ("shore", {}, "SESSIONLAB_SHORE_BASE_URL"),
            ("anthropic", {}, "ANTHROPIC_API_KEY"),
            ("openai", {}, "OPENAI_API_KEY"),
            (
                "shore",
                {"SESSIONLAB_SHORE_BASE_URL": "x", "SESSIONLAB_SHORE_API": "grpc"},
                "expected openai or anthropic",
            ),
        ],
    )
    def test_a_provider_that_is_not_configured_is_refused_by_name(self, name: str, env: Any, hint: str) -> None:
        """12.6: chosen provider not configured: refused, naming it, and what to set."""
        with pytest.raises(ReplayRefused, match=f"'{name}' is not configured.*{hint}") as refused:
            configured(name, env=env)
        assert refused.value.kind == "provider_not_configured"

    def test_a_key_variable_that_is_not_set_is_refused(self) -> None:
        """A key that was asked for is not left out in silence."""
        with pytest.raises(ReplayRefused, match="MINE is not set"):
            configured("local", key_variable="MINE", env={})
