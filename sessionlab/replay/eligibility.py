"""A loaded transcript in; whether it can be replayed, and what has to be said with it, out (mecha 12.6 to 12.8)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

import msgspec

from sessionlab.formats.mecha.loading import Transcript
from sessionlab.replay.trajectory import Trajectory, extract

ReasonKind: TypeAlias = Literal[
    "no_config",
    "no_turns",
    "tool_unavailable",
    "provider_not_configured",
    "plan_checks",
    "several_configs",
    "steered",
    "legacy_provenance",
    "unpinned_sampler",
    "learned_rules",
]


class Reason(msgspec.Struct, frozen=True):
    """One thing that keeps a recording from being replayed, or that a reader of a replay must know.

    Attributes:
        kind: a word for it.
        sentence: the same in a sentence.
    """

    kind: ReasonKind
    sentence: str


class Eligibility(msgspec.Struct, frozen=True):
    """What stands against a replay, and what to say with it.

    Attributes:
        refusals: why the run cannot be rebuilt; empty when it can.
        unsupported: what a replay cannot reconstruct yet, so that its comparison, and a probe's, would mean nothing.
        notes: what a reader of the comparison has to know.
    """

    refusals: tuple[Reason, ...] = ()
    unsupported: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()

    @property
    def replayable(self) -> bool:
        """Nothing stands against it."""
        return not (self.refusals or self.unsupported)


def eligibility(
    transcript: Transcript,
    trajectory: Trajectory | None = None,
    *,
    tools: Collection[str] | None = None,
    providers: Collection[str] | None = None,
    provider: str | None = None,
) -> Eligibility:
    """Whether a recording can be replayed.

    Args:
        transcript: the recording.
        trajectory: what :func:`~sessionlab.replay.extract` made of it, where that is at hand.
        tools: names that can be supplied; None: not known here, so not judged.
        providers: providers that are configured; None: not judged.
        provider: the one to use; default: the recorded one.
    """
    told = trajectory or extract(transcript.messages)
    refusals: list[Reason] = []
    unsupported: list[Reason] = []
    if not transcript.configs:
        refusals.append(
            Reason(
                "no_config",
                "the session has no config record, so the run cannot be rebuilt: it is older than that record, or its"
                " front end never wrote one",
            )
        )
    if not told.turns:
        refusals.append(Reason("no_turns", "the session has no user turn: there is nothing to replay"))
    if transcript.configs:
        config = transcript.configs[0]
        absent = [] if tools is None else [name for name in config.tools if name not in tools]
        refusals += [Reason("tool_unavailable", f"the recorded tool {name!r} cannot be supplied") for name in absent]
        wanted = provider or config.provider
        if providers is not None and wanted not in providers:
            refusals.append(Reason("provider_not_configured", f"the provider {wanted!r} is not configured"))
    if transcript.plan_checks:
        unsupported.append(
            Reason(
                "plan_checks",
                "unsupported: the recording ran checks of its plan, whose observations a replay cannot reconstruct",
            )
        )
    return Eligibility(tuple(refusals), tuple(unsupported), tuple(_notes(transcript, told)))


def provenance_note(trajectory: Trajectory) -> str | None:
    """What to say of calls with results of unknown provenance; None when there are none (12.7, 12.8)."""
    unknown = trajectory.legacy_provenance_calls
    if not unknown:
        return None
    calls = f"{unknown:,} of {len(trajectory.calls):,} recorded call{'' if len(trajectory.calls) == 1 else 's'}"
    return (
        f"{calls} {'has' if unknown == 1 else 'have'} no recorded provenance and count as external, recorded refusals"
        " too: a replay may add a warning or a second envelope, and live may block a send that once went through"
    )


def _notes(transcript: Transcript, trajectory: Trajectory) -> list[Reason]:
    notes: list[Reason] = []
    if len(transcript.configs) > 1:
        sentence = f"the session has {len(transcript.configs):,} config records; the first is used"
        notes.append(Reason("several_configs", sentence))
    if trajectory.steered:
        notes.append(
            Reason(
                "steered",
                "the recording was steered mid-run; steering cannot be re-injected, so the comparison is approximate",
            )
        )
    legacy = provenance_note(trajectory)
    if legacy is not None:
        notes.append(Reason("legacy_provenance", legacy))
    if transcript.configs:
        config = transcript.configs[0]
        if config.temperature is None and config.seed is None:
            notes.append(
                Reason(
                    "unpinned_sampler",
                    "neither temperature nor seed was pinned, so the server chose: the run is not exactly repeatable,"
                    " and one divergent replay is a sample, no regression",
                )
            )
        carried = f"learned rules {config.rules_hash}" if config.rules_hash else "no fingerprint of learned rules"
        notes.append(Reason("learned_rules", f"the run carried {carried}"))
    return notes
