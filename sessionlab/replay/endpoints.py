"""An address and a key in; a model that answers over HTTP through its provider's own SDK out (extra ``replay``).

Nothing of an address or a key is ever taken from a transcript, nor left to the SDK to find: a key meant for one
provider is not sent to another address. Retries are the SDK's, and so is the time a retry waits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol, cast

from sessionlab.errors import ModelFailed, WrongUse
from sessionlab.formats.mecha.wire import Message
from sessionlab.replay import anthropic_messages, chat_completions
from sessionlab.replay.model import Reply, Settings
from sessionlab.systems.mecha.surfaces import ToolDefinition

if TYPE_CHECKING:
    from anthropic.types import Message as AnthropicAnswer
    from openai.types.chat import ChatCompletion

Api = Literal["openai", "anthropic"]
TIMEOUT_S = 600.0
RETRIES = 2
NO_KEY = "none"
"""What is sent where a key is asked for and none is needed."""
_SHOWN = 300
"""Characters of a provider's own words that a message repeats."""
_PASSING = frozenset({408, 409, 429})
_SERVER_ERRORS = 500


class Endpoint:
    """A model behind an OpenAI-compatible or an Anthropic address."""

    sampled = True

    def __init__(
        self,
        api: Api,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
    ) -> None:
        """The client of one provider; nothing is sent yet.

        Args:
            api: which of the two interfaces is spoken there.
            base_url: its address; None: the provider's own.
            api_key: the key; None where none is needed.
            timeout_s: seconds one request may take.
            retries: how often the SDK asks again after a failure that may pass.

        Raises:
            WrongUse: the SDK is not installed.
        """
        self.base_url = base_url or PROVIDER_URLS[api]
        self._api = api
        self._own = base_url is None
        self._timeout_s = timeout_s
        self._open(api_key or NO_KEY, retries)

    def _open(self, key: str, retries: int) -> None:
        try:
            with _without_variables(self._api.upper()):
                if self._api == "openai":
                    import openai  # noqa: PLC0415 (an SDK takes a second to load, and only one is needed)

                    self._errors: _Errors = cast("_Errors", openai)
                    self._openai = openai.OpenAI(
                        api_key=key, base_url=self.base_url, timeout=self._timeout_s, max_retries=retries
                    )
                else:
                    import anthropic  # noqa: PLC0415 (the same)

                    self._errors = cast("_Errors", anthropic)
                    self._anthropic = anthropic.Anthropic(
                        api_key=key, base_url=self.base_url, timeout=self._timeout_s, max_retries=retries
                    )
        except ModuleNotFoundError as error:
            missing = (error.name or self._api).partition(".")[0]
            raise WrongUse(
                f"{missing} is not installed; expected the extra `replay`: pip install 'sessionlab[replay]'"
            ) from error

    @property
    def takes_seed(self) -> bool:
        """Anthropic's interface knows no seed."""
        return self._api == "openai"

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings) -> Reply:
        """One reply, asked for over HTTP."""
        sdk = self._errors
        try:
            return self._ask(messages, tools, settings)
        except sdk.APITimeoutError as error:
            raise ModelFailed("timeout", f"{self.base_url} did not answer within {self._timeout_s:g} s") from error
        except sdk.APIConnectionError as error:
            why = str(getattr(error, "__cause__", None) or error)
            raise ModelFailed("unreachable", f"{self.base_url} cannot be reached: {_short(why)}") from error
        except sdk.APIStatusError as error:
            raise self._refused(int(getattr(error, "status_code", 0)), str(error)) from error
        except (sdk.APIError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            # ValueError among others: a body that is no JSON; the rest: JSON that is no reply
            raise ModelFailed("parse", f"{self.base_url} answered what is no reply: {_short(str(error))}") from error

    def _ask(self, messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings) -> Reply:
        if self._api == "openai":
            asked = chat_completions.request(messages, tools, settings, official=self._own)
            completion = self._openai.chat.completions.create(**asked)  # type: ignore[call-overload]
            return chat_completions.reply(cast("ChatCompletion", completion))
        asked = anthropic_messages.request(messages, tools, settings)
        answer = self._anthropic.messages.create(**asked)  # type: ignore[call-overload]
        return anthropic_messages.reply(cast("AnthropicAnswer", answer))

    def _refused(self, status: int, words: str) -> ModelFailed:
        passing = status in _PASSING or status >= _SERVER_ERRORS
        hint = "; check the key" if status in {401, 403} else ""
        return ModelFailed(
            "retry_exhausted" if passing else "fatal",
            f"{self.base_url} refused with HTTP {status}{hint}: {_short(words)}",
            status=status,
        )


PROVIDER_URLS: dict[Api, str] = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
"""Addresses are always told: an SDK would otherwise look for one in the environment."""


class _Errors(Protocol):
    """The errors of an SDK; both have them under the same names."""

    APIError: type[Exception]
    APIConnectionError: type[Exception]
    APIStatusError: type[Exception]
    APITimeoutError: type[Exception]


_environment = threading.Lock()


@contextmanager
def _without_variables(word: str) -> Iterator[None]:
    """As if the environment held nothing of a provider: an SDK takes tokens, organisations and headers from there.

    They are meant for the provider's own address, and not every version of an SDK leaves them out where a key is told.
    """
    with _environment:
        held = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(f"{word}_")}
        try:
            yield
        finally:
            os.environ.update(held)


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"
