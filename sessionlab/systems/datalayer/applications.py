"""What a place knows of applications in (a file or a mapping); their versions, agents and harnesses out.

An import and a clone ask it: is the application known, is the agent, what does it run in (datalayer.md 8, 9).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from sessionlab.errors import SessionRefused, WrongUse

_Named = Annotated[str, msgspec.Meta(min_length=1)]


class KnownAgent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent of an application.

    Attributes:
        harness: what it runs in; None: it is no harness.
        replays: the harness can take up a conversation that it has not led itself.
    """

    harness: _Named | None = None
    replays: bool = True


class Application(msgspec.Struct, frozen=True):
    """An application as it is here.

    Attributes:
        version: its version.
        agents: by name.
        keeps_conversations: its record keeps them; one that does not exports no session.
    """

    version: int
    agents: Mapping[str, KnownAgent]
    keeps_conversations: bool = True


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Annotated[int, msgspec.Meta(ge=0)]
    agents: list[_Named] | dict[_Named, _Named | KnownAgent | None]
    keeps_conversations: bool = True


class Applications:
    """The applications of a place, by id.

    Told as ``{"harbor": {"version": 3, "agents": {"surveyor": null, "coder": "codex"}}}``: each agent with its
    harness, or with ``{"harness": ..., "replays": ...}``; agents that are no harness also as a list of names.
    """

    def __init__(self, told: Mapping[str, object], *, where: str = "applications") -> None:
        """What ``told`` says; ``where`` names it in a refusal.

        Raises:
            WrongUse: it is told in another shape, with the member that is.
        """
        try:
            read = msgspec.convert(dict(told), dict[_Named, _Told])
        except msgspec.ValidationError as error:
            raise WrongUse(
                f"{where}: expected an application's id with its version and agents, such as"
                f' {{"harbor": {{"version": 3, "agents": {{"coder": "codex"}}}}}}; found: {error}'
            ) from error
        self._known = {
            name: Application(one.version, _agents(one), one.keeps_conversations) for name, one in read.items()
        }

    @classmethod
    def read(cls, path: str | Path) -> Applications:
        """The applications a JSON or TOML file tells.

        Raises:
            WrongUse: it is neither, or tells them in another shape.
            OSError: it cannot be read.
        """
        data = Path(path).read_bytes()
        try:
            told = tomllib.loads(data.decode()) if Path(path).suffix == ".toml" else json.loads(data)
        except (ValueError, RecursionError) as error:
            kind = "TOML" if Path(path).suffix == ".toml" else "JSON (or TOML, in a file named *.toml)"
            raise WrongUse(f"{path}: expected {kind}, found something else: {error}") from error
        if not isinstance(told, dict):
            raise WrongUse(f"{path}: expected an object of applications by id, found {type(told).__name__}")
        return cls(told, where=str(path))

    def application(self, app_id: str) -> Application:
        """The application of this id.

        Raises:
            SessionRefused: ``unknown_app`` (422), naming those that are known.
        """
        try:
            return self._known[app_id]
        except KeyError:
            raise SessionRefused(
                "unknown_app", 422,
                f"the session is of application {app_id!r}, which is not known here;"
                f" known: {', '.join(sorted(self._known)) or 'none'}",
            ) from None  # fmt: skip

    def agent(self, app_id: str, name: str, *, status: int = 422) -> KnownAgent:
        """An agent of an application.

        Raises:
            SessionRefused: ``unknown_app`` (422), or ``unknown_agent`` with ``status``, naming those that are known.
        """
        agents = self.application(app_id).agents
        try:
            return agents[name]
        except KeyError:
            raise SessionRefused(
                "unknown_agent", status,
                f"application {app_id!r} has no agent {name!r} here; it has: {', '.join(sorted(agents)) or 'none'}",
            ) from None  # fmt: skip


def _agents(told: _Told) -> dict[str, KnownAgent]:
    if isinstance(told.agents, list):
        return {name: KnownAgent() for name in told.agents}
    return {name: agent if isinstance(agent, KnownAgent) else KnownAgent(agent) for name, agent in told.agents.items()}
