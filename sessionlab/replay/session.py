"""A transcript's path and what a user asks for in; the plan of its replay, or the report on one, out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from sessionlab.errors import WrongUse
from sessionlab.formats.mecha.loading import Transcript
from sessionlab.prices import default_rate_file
from sessionlab.replay import driver, rebuilding
from sessionlab.replay.endpoints import RETRIES, TIMEOUT_S, Api
from sessionlab.replay.gate import Approve
from sessionlab.replay.model import Model, Reply
from sessionlab.replay.observer import Observer
from sessionlab.replay.probes import ProbePoint, Verdict, branch_point, verdict
from sessionlab.replay.providers import SCRIPTED, Provider, configured
from sessionlab.replay.rates import price_of
from sessionlab.replay.rebuilding import Plan, Setup
from sessionlab.replay.report import Report, report
from sessionlab.replay.scripted import Scripted
from sessionlab.replay.surface import Mode, Tool
from sessionlab.replay.trajectory import extract
from sessionlab.systems.mecha.reading import load
from sessionlab.systems.mecha.store import Store
from sessionlab.systems.mecha.surfaces import SurfaceStore, ToolDefinition

MakeTools = Callable[[Path], Iterable[Tool | ToolDefinition]]
"""Makes the tools of today for a workspace."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How a recording is to be replayed.

    Attributes:
        mode: what happens at a structural divergence.
        provider: who answers; None: the recorded provider. `scripted`: a recording.
        model: the model; None: see `rebuilding.chosen`.
        base_url: the provider's address.
        api: the interface spoken there.
        key_variable: the environment variable that holds the key.
        script: the recording that a scripted model follows; None: the one that is replayed.
        tools: the tools of today, made for a workspace; None: there are none.
        permission_mode: what happens before one of them runs: `ask`, `allow`, `read-only`.
        trifecta: what happens to a send once private data and outside content have met: `block`, `ask`, `allow`.
        temperature: of the sampler, where it is pinned.
        seed: the same.
        timeout_s: seconds one request may take.
        retries: how often the SDK asks again.
    """

    mode: Mode = "stop"
    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api: Api | None = None
    key_variable: str | None = None
    script: Path | None = None
    tools: MakeTools | None = None
    permission_mode: Literal["ask", "allow", "read-only"] = "ask"
    trifecta: Literal["block", "ask", "allow"] = "block"
    temperature: float | None = None
    seed: int | None = None
    timeout_s: float = TIMEOUT_S
    retries: int = RETRIES


class Prepared(NamedTuple):
    """A replay that could begin.

    Attributes:
        plan: the run as it would be driven.
        model: who would answer; of a replay that is only looked at, nobody.
        address: where; None: nowhere, a recording answers.
    """

    plan: Plan
    model: Model
    address: str | None


def find(named: str, store: Store | None = None) -> Path:
    """The transcript that is meant: a path where there is such a file, else an id or the beginning of one (16.3).

    Raises:
        UnknownName, AmbiguousName: no session, or several, begin so.
    """
    path = Path(named).expanduser()
    return path if path.is_file() else (store or Store()).find(named).path


@contextmanager
def prepared(
    path: Path, asked: Asked, *, only_looked_at: bool = False, message: int | None = None
) -> Iterator[Prepared]:
    """Rebuild the run of a transcript, with a model to drive it by.

    Args:
        path: the transcript.
        asked: how it is to be replayed.
        only_looked_at: nothing is going to be asked, so no SDK is needed.
        message: index of the message a probe looks at: the configuration that covers it is used, not the first (8.6).

    Raises:
        ReplayRefused: it cannot be replayed so.
        Refused: the file is no session.
        WrongUse: the extra `replay` is not installed, or the tools are none.
    """
    transcript = load(path)
    rebuilding.check(transcript)
    covering = None if message is None else transcript.config_covering(message)
    if covering is not None:
        transcript.configs = [covering]
    provider = None if asked.provider == SCRIPTED else _provider(transcript, asked)
    if provider is None:
        name, model_name = SCRIPTED, asked.model or SCRIPTED
        model: Model = Scripted.from_messages((load(asked.script) if asked.script else transcript).messages)
    else:
        name, model_name = rebuilding.chosen(
            transcript, provider=asked.provider, model=asked.model, default_model=provider.model
        )
        model = (
            _Nobody(provider) if only_looked_at else provider.endpoint(timeout_s=asked.timeout_s, retries=asked.retries)
        )
    with rebuilding.workspace(transcript.configs[0]) as (folder, note):
        setup = Setup(
            tools=tuple(_tool(one) for one in asked.tools(folder)) if asked.tools is not None else (),
            surfaces=SurfaceStore(),
            by_name=provider is None,
            permission_mode=asked.permission_mode,
            trifecta=asked.trifecta,
            temperature=asked.temperature,
            seed=asked.seed,
            price=None if provider is None else price_of(name, model_name, rate_file=default_rate_file()),
        )
        plan = rebuilding.plan(transcript, model, provider=name, model_name=model_name, mode=asked.mode, setup=setup)
        if note is not None:
            plan = plan._replace(notes=(*plan.notes, note))
        address = None if provider is None else provider.address
        yield Prepared(plan, model, address)


def replayed(ready: Prepared, *, approve: Approve | None = None, observers: Sequence[Observer] = ()) -> Report:
    """Replay once. Raises as `driver.replay`."""
    return report(ready.plan, driver.replay(ready.plan, ready.model, approve=approve, observers=observers))


def probed(ready: Prepared, point: ProbePoint) -> tuple[Report, Verdict]:
    """Branch off where a person stepped in, and judge whether it was needed again (13). Raises as `driver.branch`."""
    messages = ready.plan.messages
    sent = branch_point(messages, point)
    plan = ready.plan._replace(messages=[*sent, *messages[len(sent) :]], recorded=extract(messages[: point.until]))
    episode = driver.branch(plan, ready.model, at=len(sent), until=point.until)
    told = report(plan, episode)
    return told, verdict(point, told.divergences, episode.calls, base=episode.base)


def tools_at(name: str) -> MakeTools:
    """The tools under ``package.module:NAME``: a sequence of them, or a function that makes one for a workspace.

    Modules of the working directory are found, too.

    Raises:
        WrongUse: there is no such module or name, or what stands there is something else.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise WrongUse(f"--tools: expected package.module:NAME, found {name!r}")
    here = os.getcwd()  # noqa: PTH109 (a search path is text)
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        found: object = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise WrongUse(f"--tools {name}: {error}") from error
    finally:
        if added:
            sys.path.remove(here)
    if callable(found):
        return lambda folder: _sequence(name, found(folder))
    return lambda _: _sequence(name, found)


def _sequence(name: str, found: object) -> list[Tool | ToolDefinition]:
    given = found if isinstance(found, Iterable) and not isinstance(found, str | ToolDefinition) else [found]
    tools: list[Tool | ToolDefinition] = []
    for tool in given:
        if not isinstance(tool, Tool | ToolDefinition):
            raise WrongUse(
                f"--tools {name}: expected tools (sessionlab.replay.surface.Tool), found {type(tool).__name__}"
            )
        tools.append(tool)
    return tools


def _tool(given: Tool | ToolDefinition) -> Tool:
    """A definition alone as a tool that is only described."""
    if isinstance(given, Tool):
        return given
    return Tool(given.name, given.description, dict(given.input_schema))  # type: ignore[arg-type]  # JSON both


def _provider(transcript: Transcript, asked: Asked) -> Provider:
    recorded = transcript.configs[0].provider or transcript.header.provider
    return configured(
        asked.provider or recorded, base_url=asked.base_url, api=asked.api, key_variable=asked.key_variable
    )


class _Nobody:
    """Stands where a model would, of a replay that is only looked at."""

    sampled = True

    def __init__(self, provider: Provider) -> None:
        self.takes_seed = provider.api == "openai"

    def complete(self, *_: object) -> Reply:
        """Nobody is asked."""
        raise AssertionError("a replay that is only looked at asks nobody")
