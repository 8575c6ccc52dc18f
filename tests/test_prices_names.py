"""Names as harnesses write them: each finds the model it means, and a name that means none finds none."""

from __future__ import annotations

import pytest

from sessionlab.prices.names import PROVIDER_ALIASES, find_listed, squash


@pytest.mark.parametrize(
    ("provider", "model", "found"),
    [
        ("anthropic", "claude-opus-4-5-20251101", ("anthropic", "claude-opus-4-5")),
        (None, "claude-opus-4-5-20251101", ("anthropic", "claude-opus-4-5")),
        ("openai", "gpt-5.5-20260423", ("openai", "gpt-5.5")),
        (None, "claude-sonnet-4-5[1m]", ("anthropic", "claude-sonnet-4-5")),
        (None, "gpt-5.5[1m]", ("openai", "gpt-5.5")),
        (None, "anthropic/claude-opus-4-5", ("anthropic", "claude-opus-4-5")),
        ("anthropic", "anthropic/claude-opus-4-5", ("anthropic", "claude-opus-4-5")),
        (None, "openai/gpt-5.5", ("openai", "gpt-5.5")),
        (None, "openrouter/anthropic/claude-opus-4.5", ("openrouter", "anthropic/claude-opus-4.5")),
        ("openrouter", "anthropic/claude-opus-4.5", ("openrouter", "anthropic/claude-opus-4.5")),
        (None, "us.anthropic.claude-opus-4-6-v1:0", ("aws", "regional.anthropic.claude-opus-4-6-v1:0")),
        ("anthropic", "us.anthropic.claude-opus-4-5-20251101-v1:0", ("aws", "regional.anthropic.claude-opus-4-5-v1:0")),
        (None, "bedrock/anthropic.claude-opus-4-5-20251101-v1:0", ("aws", "regional.anthropic.claude-opus-4-5-v1:0")),
        ("amazon-bedrock", "global.anthropic.claude-opus-4-6-v1:0", ("aws", "global.anthropic.claude-opus-4-6-v1:0")),
        ("vertex_ai", "claude-sonnet-4-5@20250929", ("google", "claude-sonnet-4-5")),
        (None, "vertex_ai/gemini-2.5-pro", ("google", "gemini-2.5-pro")),
        ("google", "models/gemini-2.5-flash", ("google", "gemini-2.5-flash")),
        ("xai", "grok-4.3", ("x-ai", "grok-4.3")),
        ("X AI", "grok-4.3", ("x-ai", "grok-4.3")),
        ("Kimi", "kimi-k2.5", ("moonshotai", "kimi-k2.5")),
        ("litellm", "anthropic/claude-opus-4-5", ("anthropic", "claude-opus-4-5")),
    ],
)  # fmt: skip
def test_a_name_finds_its_model(provider: str | None, model: str, found: tuple[str, str]) -> None:
    """Dated suffixes, vendor prefixes, gateways, Bedrock ids, context marks and provider spellings are understood."""
    listed = find_listed((provider, model))
    assert listed is not None
    assert (listed[0].id, listed[1].id) == found


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        (None, None), ("anthropic", None), (None, ""), (None, "<synthetic>"), ("ollama", "deepseek-r1:8b"),
        ("somewhere", "gpt-5.5"), ("anthropic", "opus"), (None, "qwen/qwen3-coder"), ("deepseek", "no-such-model"),
        ("openai", "codex-auto-review"), (None, "gmini-pro"),
    ],
)  # fmt: skip
def test_a_name_that_means_nothing_finds_nothing(provider: str | None, model: str | None) -> None:
    """A local server, an unknown gateway or a made-up model is not priced as what its name resembles."""
    assert find_listed((provider, model)) is None


def test_spellings_of_one_provider_are_one() -> None:
    """Gg 6.4: spellings are equal when their letters and digits are, whatever the case."""
    assert squash("Z.AI") == squash("z-ai") == "zai"


def test_aliases_lead_to_providers_that_exist() -> None:
    """Every alias is written as it is looked up, and ends at a provider genai-prices knows by that very id."""
    from genai_prices.data_snapshot import get_snapshot

    ids = {provider.id for provider in get_snapshot().providers}
    assert {squash(alias) for alias in PROVIDER_ALIASES} == set(PROVIDER_ALIASES)
    assert set(PROVIDER_ALIASES.values()) <= ids
