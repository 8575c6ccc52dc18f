"""A loaded transcript and today's setup in; the run as it is to be driven again, or the reason why it cannot be, out.

What shaped the recorded run comes from its first configuration (12.5). The permission mode, the trifecta policy, the
sandbox and the sampler do not: they are today's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from sessionlab.errors import ReplayRefused
from sessionlab.formats.mecha.loading import Transcript
from sessionlab.formats.mecha.wire import Config, Legs, Message
from sessionlab.replay.counters import Price
from sessionlab.replay.eligibility import eligibility, provenance_note
from sessionlab.replay.envelope import OUTPUT_LIMIT
from sessionlab.replay.model import Model, Settings
from sessionlab.replay.surface import DISPLAY, Mode, Offered, Tool, build
from sessionlab.replay.trajectory import Trajectory, extract
from sessionlab.systems.mecha.surfaces import Likeness, SurfaceStore, ToolDefinition, compare

MOST_TURNS = 200
"""The turn limit of a run whose configuration names none: a model that never stops is stopped."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What is configured today.

    Attributes:
        tools: the tools that are there; only `live` ever calls one.
        display: definitions of front-end tools that only show or ask.
        surfaces: where saved definitions are kept; None: nowhere.
        by_name: offer a tool nobody can describe by its name alone; for a model that reads no definitions.
        permission_mode: `ask`, `allow` or `read-only`: what happens before a real tool runs.
        trifecta: `block`, `ask` or `allow`: what happens to a send once private data and outside content have met.
        temperature, seed: the sampler as far as it is pinned.
        price: what tokens cost; None: not known.
        output_limit: characters of one result that the model is shown; None: all.
    """

    tools: tuple[Tool, ...] = ()
    display: tuple[ToolDefinition, ...] = DISPLAY
    surfaces: SurfaceStore | None = None
    by_name: bool = False
    permission_mode: Literal["ask", "allow", "read-only"] = "ask"
    trifecta: Literal["block", "ask", "allow"] = "block"
    temperature: float | None = None
    seed: int | None = None
    price: Price | None = None
    output_limit: int | None = OUTPUT_LIMIT


class Plan(NamedTuple):
    """A run as it is to be driven.

    Attributes:
        session: id of the recording.
        recorded: what it asked, did and said.
        messages: its conversation, for a replay that branches off it.
        taint: what its checkpoints say had been read by the end: a replay is never less armed.
        config: its first configuration.
        mode: what happens at a structural divergence.
        provider: who is asked.
        settings: how.
        surface: the tools offered, by name.
        fidelity: whether the definitions offered are those of the recording.
        setup: what is configured today.
        notes: what a reader of the report has to know.
        provenance_note: what is to be said of results of unknown provenance; None when there are none.
    """

    session: str
    recorded: Trajectory
    messages: Sequence[Message]
    taint: Legs
    config: Config
    mode: Mode
    provider: str
    settings: Settings
    surface: dict[str, Offered]
    fidelity: Likeness
    setup: Setup
    notes: tuple[str, ...]
    provenance_note: str | None

    @property
    def definitions(self) -> list[ToolDefinition]:
        """What the model is told of the tools, in recorded order."""
        return [offered.definition for offered in self.surface.values()]


def check(transcript: Transcript) -> None:
    """Refuse a recording that no setup could drive again.

    Raises:
        ReplayRefused: no configuration, no user turn, or plan checks, which a replay cannot reconstruct.
    """
    found = eligibility(transcript)
    against = [*found.unsupported, *found.refusals]
    if against:
        whole = "; ".join(reason.sentence for reason in against)
        raise ReplayRefused(against[0].kind, f"session {transcript.header.id} cannot be replayed: {whole}")


def chosen(
    transcript: Transcript, *, provider: str | None = None, model: str | None = None, default_model: str | None = None
) -> tuple[str, str]:
    """The provider and the model to ask: the ones asked for, else the recorded ones.

    A recorded model's name means nothing to another provider: there ``default_model`` is asked.

    Raises:
        ReplayRefused: no model is left to ask, or the recording is one that `check` refuses.
    """
    check(transcript)
    config = transcript.configs[0]
    recorded = config.provider or transcript.header.provider
    who = provider or recorded
    what = model or (config.model or transcript.header.model if who == recorded else default_model)
    if not what:
        raise ReplayRefused("no_model", f"the provider {who!r} has no default model here; name one with -m")
    return who, what


def plan(
    transcript: Transcript,
    model: Model,
    *,
    provider: str,
    model_name: str,
    mode: Mode = "stop",
    setup: Setup = Setup(),  # noqa: B008 (frozen)
) -> Plan:
    """Rebuild the run of a recording.

    Args:
        transcript: the recording.
        model: who will answer.
        provider: who is asked, see `chosen`.
        model_name: the model's name there.
        mode: what happens at a structural divergence.
        setup: what is configured today.

    Raises:
        ReplayRefused: see `check`; or a recorded tool cannot be supplied.
    """
    check(transcript)
    config = transcript.configs[0]
    recorded = extract(transcript.messages)
    saved = None
    if setup.surfaces is not None and config.tools_hash is not None:
        saved = setup.surfaces.load(config.tools_hash)
    surface = build(
        config.tools, mode=mode, today=setup.tools, saved=saved, display=setup.display, by_name=setup.by_name
    )
    settings = Settings(
        model=model_name,
        system_prompt=config.system_prompt,
        effort=config.effort,
        temperature=setup.temperature,
        seed=setup.seed if model.takes_seed else None,
        thinking=config.thinking,
        cache_prompt=config.cache_prompt,
        max_tokens=config.max_tokens,
    )
    fidelity = compare(config.tools_hash, [offered.definition for offered in surface.values()])
    notes = [reason.sentence for reason in eligibility(transcript, recorded).notes]
    notes += _notes(config, model, settings, surface, fidelity, setup)
    return Plan(
        session=transcript.header.id,
        recorded=recorded,
        messages=transcript.messages,
        taint=Legs(transcript.private, transcript.untrusted),
        config=config,
        mode=mode,
        provider=provider,
        settings=settings,
        surface=surface,
        fidelity=fidelity,
        setup=setup,
        notes=tuple(notes),
        provenance_note=provenance_note(recorded),
    )


def _notes(
    config: Config, model: Model, settings: Settings, surface: dict[str, Offered], fidelity: Likeness, setup: Setup
) -> Iterator[str]:
    if model.sampled and not settings.pinned:
        yield (
            "the sampler of this replay is not pinned (temperature 0, or a temperature and a seed): one replay is a"
            " sample; --times N tells how often it follows"
        )
    if setup.seed is not None and not model.takes_seed:
        yield "the provider's interface takes no seed: it is not sent"
    if fidelity == "differs":
        yield "the tool definitions offered differ from the recording's"
    elif fidelity == "unknown" and surface:
        yield "whether the tool definitions offered are the recording's is unknown: it has no fingerprint of them"
    stand_ins = [name for name, offered in surface.items() if offered.origin in ("saved", "name")]
    if stand_ins:
        yield f"not there today, so only told of: {', '.join(stand_ins)}"
    if config.max_cost_usd is not None and setup.price is None:
        yield f"the cost ceiling of ${config.max_cost_usd:g} cannot be held: no rate is known for {settings.model}"
    if not config.max_turns:
        yield f"the recording names no turn limit: a run ends after {MOST_TURNS} turns"


@contextmanager
def workspace(config: Config) -> Iterator[tuple[Path, str | None]]:
    """The recorded workspace, or, where it is not on this disk, an empty scratch directory and a note that says so."""
    folder = Path(config.workspace)
    if config.workspace and folder.is_dir():
        yield folder, None
        return
    named = f"the workspace {config.workspace}" if config.workspace else "a workspace"
    with tempfile.TemporaryDirectory(prefix="sessionlab-replay-") as scratch:
        yield Path(scratch), f"{named} is not on this disk: an empty scratch directory is used"
