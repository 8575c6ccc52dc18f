"""The episodes of two arms in, paired by id; whether the candidate is accepted, proposed or rejected out (mecha 11.6).

The specification fixes metrics, pairing, holdout, floors, the work to be kept, and the verdicts; it leaves the rule
open. This one is conservative: what is not shown is not accepted, and what cannot be judged is rejected.

- **accept**: a metric gets better in the selection episodes by an exact sign test (one-sided, at ``alpha`` shared among
  the metrics), gets better in the held-out episodes too, and no metric gets worse in either; the change is one that may
  be accepted without a person.
- **propose**: a metric gets better in the selection and not worse in the holdout, and no metric gets worse in either
  by the sign test; a person decides.
- **reject**: anything else, also too few pairs and too little work kept.

Better and worse are means of the paired differences. What a person always decides: changes of class ``architecture``
and ``security``; and ``prose`` where an arm is a replay, for replayed tool results cannot answer to other words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from sessionlab.comparisons.arms import Arm
from sessionlab.comparisons.configurations import Differing, differing, same_policies
from sessionlab.comparisons.episodes import Episode, episodes
from sessionlab.errors import WrongUse
from sessionlab.systems.mecha.surfaces import fnv1a_64

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

ChangeClass = Literal["config", "prose", "architecture", "security"]
Verdict = Literal["accept", "propose", "reject"]


def _error_rate(episode: Episode) -> float | None:
    if episode.tool_calls is None or episode.tool_errors is None:
        return None
    return episode.tool_errors / episode.tool_calls if episode.tool_calls else 0.0


METRICS: dict[str, Callable[[Episode], float | None]] = {
    "ended_on_failed_call": lambda episode: episode.ended_on_failed_call,
    "tool_error_rate": _error_rate,
    "cut_short": lambda episode: episode.stop_class == "cut_short",
    "compactions": lambda episode: episode.compactions,
    "turns": lambda episode: episode.turns,
    "malformed_args": lambda episode: episode.malformed_tool_args,
}
"""Each metric of an episode: a cost, lower is better; None where the episode does not tell it."""


@dataclass(frozen=True)
class GateRules:
    """What the gate demands.

    Attributes:
        holdout_divisor: an episode is held out when FNV-1a 64 of its id leaves no rest by it. The specification names
            none; a third held out is what its floors of 8 and 4 ask for.
        selection_floor, holdout_floor: fewest pairs.
        work_kept: least share of the baseline's work, in either part. Work is calls that went through: attempted,
            neither failed nor denied.
        alpha: of the sign tests of one part together.
    """

    holdout_divisor: int = 3
    selection_floor: int = 8
    holdout_floor: int = 4
    work_kept: float = 0.75
    alpha: float = 0.05


class MetricEvidence(NamedTuple):
    """One metric over the pairs of a part that tell it.

    Attributes:
        pairs: how many tell it in both arms.
        baseline, candidate: means.
        apart: the candidate's mean minus the baseline's: below zero is better.
        better, worse: pairs in which the candidate costs less, more.
        p_better, p_worse: chance of so many or more of them, were both equally likely (exact sign test).
    """

    pairs: int
    baseline: float | None
    candidate: float | None
    apart: float | None
    better: int
    worse: int
    p_better: float
    p_worse: float


class Part(NamedTuple):
    """The evidence of the selection or of the holdout: its pairs, the work kept (None: there was none), the metrics."""

    pairs: int
    work_kept: float | None
    metrics: dict[str, MetricEvidence]


class Decision(NamedTuple):
    """What the gate decides, and on what.

    Attributes:
        verdict: ``accept``, ``propose`` or ``reject``.
        reasons: why, in words.
        selection, holdout: the evidence.
        unpaired_baseline, unpaired_candidate: episodes that only one arm has.
        differing: members of the configurations in which the arms differ; empty where they were not given.
    """

    verdict: Verdict
    reasons: list[str]
    selection: Part
    holdout: Part
    unpaired_baseline: list[str]
    unpaired_candidate: list[str]
    differing: list[Differing]


def is_held_out(episode_id: str, divisor: int) -> bool:
    """Whether an episode is kept out of the selection: the same for everybody, whatever else there is."""
    return fnv1a_64(episode_id.encode()) % divisor == 0


def shared(baseline: Mapping[str, Episode], candidate: Mapping[str, Episode]) -> set[str]:
    """The ids of the episodes that both arms have."""
    return set(baseline.keys() & candidate.keys())


def judge(
    baseline: Corpus,
    candidate: Corpus,
    *,
    change: ChangeClass,
    replayed: bool = True,
    rules: GateRules = GateRules(),
    name: Callable[[str, str | None], str | None] | None = None,
) -> Decision:
    """Decide on the candidate arm by the sessions of two corpora.

    Args:
        baseline: the arm as it is, loaded without ``figures=True``.
        candidate: the arm with the change, loaded so too.
        change: what kind of change the candidate is.
        replayed: an arm is a replay; the two of a pair must then have begun under one policy.
        rules: what is demanded.
        name: the episode id of a session, as `episodes` takes it.

    Raises:
        Incomparable: arms replayed under different policies.
        WrongUse: a class of change, or rules, that cannot be meant.
    """
    arms = Arm(baseline, "baseline"), Arm(candidate, "candidate")
    folded = episodes(baseline, name), episodes(candidate, name)
    found = decide(*folded, change=change, replayed=replayed, rules=rules)
    if replayed:
        same_policies(
            *arms, pairs=[(folded[0][one].sessions, folded[1][one].sessions) for one in sorted(shared(*folded))]
        )
    return found._replace(differing=differing(*arms))


def decide(
    baseline: Mapping[str, Episode],
    candidate: Mapping[str, Episode],
    *,
    change: ChangeClass,
    replayed: bool = True,
    rules: GateRules = GateRules(),
) -> Decision:
    """Decide on the candidate by the episodes of two arms, by id."""
    if change not in get_args(ChangeClass):
        raise WrongUse(f"change: expected one of {', '.join(get_args(ChangeClass))}, found {change!r}")
    if rules.holdout_divisor < 1 or not 0 < rules.alpha < 1:
        raise WrongUse(f"expected a holdout divisor of at least 1 and an alpha between 0 and 1, found {rules}")
    paired = sorted(shared(baseline, candidate))
    kept_out = [one for one in paired if is_held_out(one, rules.holdout_divisor)]
    chosen = [one for one in paired if not is_held_out(one, rules.holdout_divisor)]
    selection, holdout = (_part([(baseline[one], candidate[one]) for one in part]) for part in (chosen, kept_out))
    verdict, reasons = _verdict(selection, holdout, change, replayed=replayed, rules=rules)
    return Decision(
        verdict,
        reasons,
        selection,
        holdout,
        sorted(baseline.keys() - candidate.keys()),
        sorted(candidate.keys() - baseline.keys()),
        [],
    )


def _verdict(
    selection: Part, holdout: Part, change: ChangeClass, *, replayed: bool, rules: GateRules
) -> tuple[Verdict, list[str]]:
    parts = {"selection": selection, "holdout": holdout}
    level = rules.alpha / len(METRICS)
    against = [
        f"{part.pairs} {name} pairs, at least {floor} are needed"
        for (name, part), floor in zip(parts.items(), (rules.selection_floor, rules.holdout_floor), strict=True)
        if part.pairs < floor
    ]
    against += [
        f"{part.work_kept:.0%} of the work of the {name} kept, at least {rules.work_kept:.0%} is needed"
        for name, part in parts.items()
        if part.work_kept is not None and part.work_kept < rules.work_kept
    ]
    against += [
        f"{metric} gets worse in the {name}: {one.worse} pairs against {one.better} (p = {one.p_worse:.4f})"
        for name, part in parts.items()
        for metric, one in part.metrics.items()
        if one.p_worse <= level
    ]
    if against:
        return "reject", against
    helped = [metric for metric, one in selection.metrics.items() if _is_below(one.apart)]
    helped = [metric for metric in helped if not _is_above(holdout.metrics[metric].apart)]
    if not helped:
        return "reject", ["no metric gets better in the selection without getting worse in the holdout"]
    doubts = [
        f"{metric} is worse in the {name} by {one.apart:.4g} on average"
        for name, part in parts.items()
        for metric, one in part.metrics.items()
        if _is_above(one.apart)
    ]
    shown = [m for m in helped if selection.metrics[m].p_better <= level and _is_below(holdout.metrics[m].apart)]
    if not shown:
        doubts.append(f"{', '.join(helped)}: better, but not shown by the sign test and by the holdout too")
    if change in ("architecture", "security"):
        doubts.append(f"a change of class {change} is for a person to decide")
    if change == "prose" and replayed:
        doubts.append("a replay holds tool results fixed and cannot see what a change of prose does")
    return ("propose", doubts) if doubts else ("accept", [f"{', '.join(shown)}: better in selection and holdout"])


def _is_below(value: float | None) -> bool:
    return value is not None and value < 0


def _is_above(value: float | None) -> bool:
    return value is not None and value > 0


def _part(pairs: Sequence[tuple[Episode, Episode]]) -> Part:
    before, after = (sum(_work(pair[side]) for pair in pairs) for side in (0, 1))
    metrics = {name: _evidence(pairs, cost) for name, cost in METRICS.items()}
    return Part(len(pairs), after / before if before else None, metrics)


def _work(episode: Episode) -> int:
    return (episode.tool_calls or 0) - (episode.tool_errors or 0) - (episode.tool_denied or 0)


def _evidence(pairs: Sequence[tuple[Episode, Episode]], cost: Callable[[Episode], float | None]) -> MetricEvidence:
    both = [(one, two) for a, b in pairs if (one := cost(a)) is not None and (two := cost(b)) is not None]
    better, worse = sum(two < one for one, two in both), sum(two > one for one, two in both)
    tests = sign_test(better, worse), sign_test(worse, better)
    if not both:
        return MetricEvidence(0, None, None, None, better, worse, *tests)
    first, other = (sum(pair[side] for pair in both) / len(both) for side in (0, 1))
    apart = sum(two - one for one, two in both) / len(both)
    return MetricEvidence(len(both), first, other, apart, better, worse, *tests)


def sign_test(wins: int, losses: int) -> float:
    """The chance of ``wins`` or more out of all, were a win and a loss equally likely: one-sided, exact; ties apart."""
    total = wins + losses
    return float(sum(comb(total, count) for count in range(wins, total + 1)) / 2**total)
