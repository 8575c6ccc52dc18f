"""A provider's name, options and the environment in; its address, key and interface out.

A transcript names a provider and a model, nothing else: where that provider is, and by which key, only the user says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from sessionlab.errors import ReplayRefused
from sessionlab.replay.endpoints import PROVIDER_URLS, RETRIES, TIMEOUT_S, Api, Endpoint

SCRIPTED = "scripted"
"""The provider that answers from a recording."""
LOCAL_URL = "http://127.0.0.1:8080/v1"
"""Where a model server of this machine is looked for, as mecha's own check of pins does (12.9)."""


class Provider(NamedTuple):
    """Where a model is asked.

    Attributes:
        name: as recordings and reports spell it.
        api: the interface spoken there.
        base_url: its address; None: the interface's own.
        api_key: the key; None where none is told.
        model: its default model; None where none is told.
    """

    name: str
    api: Api
    base_url: str | None
    api_key: str | None
    model: str | None

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.base_url or PROVIDER_URLS[self.api]

    def endpoint(self, *, timeout_s: float = TIMEOUT_S, retries: int = RETRIES) -> Endpoint:
        """A model there.

        Raises:
            WrongUse: the SDK is not installed.
        """
        return Endpoint(self.api, base_url=self.base_url, api_key=self.api_key, timeout_s=timeout_s, retries=retries)


_KNOWN: dict[str, tuple[Api, str | None]] = {
    "anthropic": ("anthropic", None),
    "openai": ("openai", None),
    "local": ("openai", LOCAL_URL),
}
"""Providers with an address of their own, or one by custom."""
_NEEDS_KEY = frozenset({"anthropic", "openai"})


def configured(
    name: str,
    *,
    base_url: str | None = None,
    api: Api | None = None,
    key_variable: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Provider:
    """The provider of that name, as options and environment tell of it.

    ``NAME`` in capitals, other signs as ``_``: ``SESSIONLAB_NAME_BASE_URL``, ``…_API_KEY``, ``…_API``, ``…_MODEL``. For
    `anthropic` and `openai` the variables of their SDKs hold too; `local` is a server of this machine.

    Args:
        name: the provider.
        base_url: its address, before all others.
        api: the interface spoken there.
        key_variable: the environment variable that holds the key.
        env: the environment; default: the real one.

    Raises:
        ReplayRefused: it is not configured: no address, or no key where one is needed.
    """
    env = os.environ if env is None else env
    word = re.sub(r"[^A-Z0-9]", "_", name.upper())
    known = name in _NEEDS_KEY

    def told(what: str) -> str | None:
        return env.get(f"SESSIONLAB_{word}_{what}") or (env.get(f"{word}_{what}") if known else None) or None

    spoken, own = _KNOWN.get(name, ("openai", None))
    address = base_url or told("BASE_URL") or own
    key = env.get(key_variable) if key_variable else told("API_KEY")
    interface = api or told("API") or spoken
    if interface not in ("openai", "anthropic"):
        raise _absent(name, f"SESSIONLAB_{word}_API is {interface!r}: expected openai or anthropic")
    if key_variable and not key:
        raise _absent(name, f"the environment variable {key_variable} is not set")
    if address is None and not known:
        raise _absent(name, f"say where it is: --base-url, or SESSIONLAB_{word}_BASE_URL")
    if address is None and not key:
        raise _absent(name, f"its key is missing: set {word}_API_KEY")
    model = told("MODEL") or ("default" if name == "local" else None)
    return Provider(name, "anthropic" if interface == "anthropic" else "openai", address, key or None, model)


def _absent(name: str, why: str) -> ReplayRefused:
    return ReplayRefused("provider_not_configured", f"the provider {name!r} is not configured: {why}")
