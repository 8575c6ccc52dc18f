"""A launched capability set in; the profiles and limits a reader can use out.

The set is opaque: whatever it holds beside, or in another shape, is carried through and never an error (section 11).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

_OWN_MODEL = frozenset({"handoff-summarization", "handoff-compaction"})
"""Compaction strategies that may name a model of their own (6.4)."""


class Profile(NamedTuple):
    """An agent profile: the models of its calls are None where it names none."""

    model: str | None
    compaction_model: str | None
    effort: str | None


class Capabilities:
    """A capability set.

    Attributes:
        value: the set as decoded; an empty object when it is none.
        profiles: by slug; the first profile of a slug stands.
        root: the first profile, which is the root agent's by position (2.4).
    """

    def __init__(self, raw: bytes | msgspec.Raw) -> None:
        """Decode ``raw``, a JSON value."""
        decoded = msgspec.json.decode(raw)
        self.value: dict[str, Any] = decoded if isinstance(decoded, dict) else {}
        self.profiles: dict[str, Profile] = {}
        self.root = Profile(None, None, None)
        for position, agent in enumerate(_objects(self.value.get("agents"))):
            profile = _profile(agent)
            if position == 0:
                self.root = profile
            slug = agent.get("slug")
            if isinstance(slug, str):
                self.profiles.setdefault(slug, profile)

    def count(self, name: str) -> int | None:
        """The limit ``name`` as a whole number; ``60.0`` is 60, anything else is None."""
        value = self.limit(name)
        return None if value is None or not value.is_integer() else int(value)

    def limit(self, name: str) -> float | None:
        """The limit ``name`` as a number; None when it is not set."""
        limits = self.value.get("limits")
        value = limits.get(name) if isinstance(limits, dict) else None
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def outline(self) -> dict[str, object]:
        """The set without long texts: preset, limits, hooks, and per profile its name, model, tools, capabilities."""
        kept: dict[str, object] = {
            name: self.value[name] for name in ("preset", "presetId", "limits", "hooks") if name in self.value
        }
        kept["profiles"] = [
            {
                "slug": agent.get("slug"),
                "name": agent.get("name"),
                "modelId": agent.get("modelId"),
                "tools": agent.get("tools"),
                "capabilities": [one.get("id") for one in _objects(agent.get("capabilities")) if one.get("enabled")],
            }
            for agent in _objects(self.value.get("agents"))
        ]
        return kept


def _profile(agent: dict[str, Any]) -> Profile:
    model = _named(agent.get("modelId"))
    capabilities = _objects(agent.get("capabilities"))
    if any(one.get("id") == "fsm" and one.get("enabled") is True for one in capabilities):
        model = None  # a state-machine shell: agents run under the profiles its states name (6.4)
    compaction = model
    for one in capabilities:
        if one.get("id") == "compaction" and one.get("enabled") is True and one.get("implementation") in _OWN_MODEL:
            params = one.get("params")
            compaction = _named(params.get("model") if isinstance(params, dict) else None) or model
    reasoning = agent.get("reasoning")
    return Profile(model, compaction, _named(reasoning.get("effort")) if isinstance(reasoning, dict) else None)


def _objects(value: object) -> list[dict[str, Any]]:
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []


def _named(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
