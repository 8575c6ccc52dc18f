"""Names as harnesses write them → the (provider, model) of genai-prices they stand for.

A name is tried as written first, so whatever genai-prices knows itself (dated suffixes, `[1m]` on Claude models,
`@` dates, provider families such as `amazon-bedrock`) stays its decision. Only what it does not find is rewritten,
and a rewriting never guesses a provider: an unknown gateway stays unmatched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genai_prices.types import ModelInfo, Provider

Pair = tuple[str | None, str | None]
"""Provider and model exactly as the usage names them; either may be null."""

PROVIDER_ALIASES: dict[str, str] = {
    "claude": "anthropic",
    "chatgpt": "openai",
    "codex": "openai",
    "fireworksai": "fireworks",
    "grok": "x-ai",
    "kimi": "moonshotai",
    "novitaai": "novita",
    "togetherai": "together",
    "zhipu": "zhipuai",
}
"""Spellings (letters and digits, lower case) of providers that are no spelling of a genai-prices id."""

_SUFFIX = re.compile(r"\[[^\]]*\]$")
_BEDROCK = re.compile(
    r"^(?:[a-z]{2,6}(?:-[a-z]+)?\.)?(?:anthropic|amazon|meta|mistral|deepseek|cohere|ai21|qwen|openai)\."
)


def squash(name: str) -> str:
    """Letters and digits of ``name`` in lower case: `Z.AI`, `z-ai` and `zai` are one provider (gg 6.4)."""
    return "".join(character for character in name.lower() if character.isalnum())


def find_listed(pair: Pair) -> tuple[Provider, ModelInfo] | None:
    """The genai-prices provider and model that ``pair`` names, or None when nothing matches."""
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - heavy; only needed when rates are asked for

    snapshot = get_snapshot()
    for provider, model in candidates(pair):
        try:
            return snapshot.find_provider_model(model, None, provider, None)
        except LookupError:
            continue
    return None


def listed_models() -> set[str]:
    """The model ids genai-prices knows."""
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - as above

    return {model.id for provider in get_snapshot().providers for model in provider.models}


def candidates(pair: Pair) -> Iterator[tuple[str | None, str]]:
    """The ways to read ``pair``, the likeliest first; nothing for a pair that names no model."""
    provider, model = pair
    if not model:
        return
    yield provider, model
    plain = _SUFFIX.sub("", model).removeprefix("models/")
    known = _provider_id(provider) if provider else None
    if provider and not known:
        return
    yield known, plain
    head, slash, rest = plain.partition("/")
    if slash and known:
        yield known, rest  # the provider is told; `vendor/model` is how gateways spell the model
    elif slash and (named := _provider_id(head)):
        yield named, rest
    if _BEDROCK.match(rest if slash else plain):
        yield "aws", rest if slash else plain  # only Bedrock spells a model `us.anthropic.…-v1:0`


def _provider_id(name: str) -> str | None:
    """The genai-prices id of a provider spelling; None when it knows no such provider."""
    from genai_prices.data_snapshot import find_provider_by_id, get_snapshot  # noqa: PLC0415 - as above

    providers = get_snapshot().providers
    if found := find_provider_by_id(providers, name):
        return found.id
    key = squash(name)
    if key in PROVIDER_ALIASES:
        return PROVIDER_ALIASES[key]
    return next((provider.id for provider in providers if squash(provider.id) == key), None)
