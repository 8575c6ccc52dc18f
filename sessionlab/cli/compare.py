"""`sessionlab compare` and `sessionlab gate`: two arms side by side, with the evidence; and what to do about it."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output
from sessionlab.cli.health import CONFIDENCE, Confidence
from sessionlab.cli.options import Json, Now, Paths
from sessionlab.cli.output import UNKNOWN, counted, visible

if TYPE_CHECKING:
    from sessionlab.comparisons import Comparison, Decision, Differing, Interval, Rate
    from sessionlab.comparisons.gate import MetricEvidence, Part

HELD_OUT, SELECTION_FLOOR, HOLDOUT_FLOOR, WORK_KEPT, ALPHA = 3, 8, 4, 0.75, 0.05


class Change(StrEnum):
    """What kind of change a candidate is (mecha 11.6)."""

    config = "config"
    prose = "prose"
    architecture = "architecture"
    security = "security"


ArmText = Annotated[
    str, typer.Argument(help="model=…, provider=…, kind=…, format=…, from=DATE, until=DATE; with commas.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (compare, gate):
        app.command()(command)


def compare(
    first: ArmText,
    other: ArmText,
    paths: Paths = None,
    replayed: Annotated[
        bool, typer.Option("--replayed", help="The arms are replays: refuse them where their policies differ.")
    ] = False,
    confidence: Confidence = CONFIDENCE,
    bodies: Annotated[bool, typer.Option("--prompts", help="Compare system prompts and tool lists, too.")] = False,
    json: Json = False,
    now: Now = None,
) -> None:
    """Two periods, models or front ends: their rates, what is between them, and what was configured differently."""
    from sessionlab.comparisons import compare as compared  # noqa: PLC0415 (kept beside its use)
    from sessionlab.comparisons import parse_arm  # noqa: PLC0415

    corpus = options.load(paths, bodies=bodies, now=now)
    arms = parse_arm(corpus, first), parse_arm(corpus, other)
    found = compared(*arms, replayed=replayed, confidence=confidence)
    if json:
        output.print_json(_comparison_json(found))
    else:
        sys.stdout.write(_comparison_text(found))
    raise typer.Exit(options.refused(corpus))


def gate(
    baseline: Annotated[str, typer.Argument(help="Files of the arm as it is: a file, folder, glob or URL.")],
    candidate: Annotated[str, typer.Argument(help="Files of the arm with the change.")],
    change: Annotated[Change, typer.Option("--change", help="What kind of change it is.")],
    live: Annotated[bool, typer.Option("--live", help="Neither arm is a replay.")] = False,
    holdout: Annotated[int, typer.Option("--holdout", min=1, help="One episode in so many is held out.")] = HELD_OUT,
    selection_floor: Annotated[int, typer.Option("--selection-floor", min=1, help="Fewest pairs.")] = SELECTION_FLOOR,
    holdout_floor: Annotated[
        int, typer.Option("--holdout-floor", min=1, help="Fewest held-out pairs.")
    ] = HOLDOUT_FLOOR,
    work_kept: Annotated[float, typer.Option("--work-kept", help="Least share of the work.")] = WORK_KEPT,
    alpha: Annotated[float, typer.Option("--alpha", help="Of the sign tests together.")] = ALPHA,
    json: Json = False,
    now: Now = None,
) -> None:
    """Whether a candidate is accepted, proposed or rejected, by episodes paired by id (exit code 1: rejected).

    A replay that was recorded (`replay --record-transcript`) is paired by the session it replays.
    """
    from sessionlab.comparisons import GateRules, by_recording, judge  # noqa: PLC0415 (kept beside its use)

    arms = options.load([baseline], now=now), options.load([candidate], now=now)
    rules = GateRules(holdout, selection_floor, holdout_floor, work_kept, alpha)
    decision = judge(*arms, change=change.value, replayed=not live, rules=rules, name=by_recording(*arms))
    if json:
        output.print_json(_decision_json(decision))
    else:
        sys.stdout.write(_decision_text(decision))
    raise typer.Exit(1 if decision.verdict == "reject" or any(map(options.refused, arms)) else 0)


def _comparison_json(found: Comparison) -> dict[str, object]:
    return {
        "first": found.first,
        "other": found.other,
        "runs": {"first": found.first_runs, "other": found.other_runs},
        "confidence": found.confidence,
        "interval_methods": {"rate": "wilson", "difference": "newcombe"},
        "rates": {
            one.name: {
                "first": _rate_json(one.first),
                "other": _rate_json(one.other),
                "difference": one.apart,
                "interval": None if one.interval is None else one.interval._asdict(),
                "clear": one.clear,
            }
            for one in found.rates
        },
        "differing": _differing_json(found.differing),
    }


def _rate_json(rate: Rate) -> dict[str, object]:
    interval = None if rate.interval is None else rate.interval._asdict()
    return {"cases": rate.cases, "out_of": rate.out_of, "rate": rate.value, "interval": interval}


def _differing_json(differing: list[Differing]) -> dict[str, object]:
    return {one.member: {"first": one.first, "other": one.other} for one in differing}


def _comparison_text(found: Comparison) -> str:
    lines = [
        f"first: {visible(found.first)} ({counted(found.first_runs, 'run')})",
        f"other: {visible(found.other)} ({counted(found.other_runs, 'run')})",
        *(
            f"no run of {visible(arm)} here: nothing is compared (sessionlab view health.by_model lists the models)"
            for arm, runs in ((found.first, found.first_runs), (found.other, found.other_runs))
            if not runs
        ),
        "",
    ]
    rows = [("", "first", "other", f"difference, {found.confidence:.0%} intervals")]
    for one in found.rates:
        apart = UNKNOWN if one.apart is None else f"{one.apart * 100:+.1f} points"
        if one.interval is not None:
            apart += f" ({one.interval.low * 100:+.1f} to {one.interval.high * 100:+.1f})"
        label = one.name.replace("_", " ")
        rows.append((label, _rate_text(one.first), _rate_text(one.other), apart + ("  clear" if one.clear else "")))
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines += ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", *_differing_text(found.differing)]) + "\n"


def _rate_text(rate: Rate) -> str:
    if rate.value is None:
        return UNKNOWN
    return f"{rate.value:.1%} ({rate.cases:,} of {rate.out_of:,}{_span(rate.interval)})"


def _span(interval: Interval | None) -> str:
    return "" if interval is None else f"; {interval.low:.1%} to {interval.high:.1%}"


def _differing_text(differing: list[Differing]) -> list[str]:
    if not differing:
        return ["no recorded member of the configurations differs"]
    lines = ["configured differently, which may be the reason instead:"]
    for one in differing:
        sides = (", ".join(f"{visible(v)} ×{n:,}" for v, n in side.items()) for side in (one.first, one.other))
        lines.append(f"  {one.member}: {' | '.join(sides)}")
    return lines


def _decision_json(decision: Decision) -> dict[str, object]:
    return {
        "verdict": decision.verdict,
        "reasons": decision.reasons,
        "selection": _part_json(decision.selection),
        "holdout": _part_json(decision.holdout),
        "unpaired": {"baseline": decision.unpaired_baseline, "candidate": decision.unpaired_candidate},
        "differing": _differing_json(decision.differing),
    }


def _part_json(part: Part) -> dict[str, object]:
    metrics = {name: one._asdict() for name, one in part.metrics.items()}
    return {"pairs": part.pairs, "work_kept": part.work_kept, "metrics": metrics}


def _decision_text(decision: Decision) -> str:
    lines = [decision.verdict, *(f"  {visible(reason)}" for reason in decision.reasons)]
    for name, part in (("selection", decision.selection), ("holdout", decision.holdout)):
        kept = UNKNOWN if part.work_kept is None else f"{part.work_kept:.0%}"
        lines += ["", f"{name}: {counted(part.pairs, 'pair')}, {kept} of the work kept"]
        lines += [_metric_text(metric, one) for metric, one in part.metrics.items()]
    for name, ids in (("baseline", decision.unpaired_baseline), ("candidate", decision.unpaired_candidate)):
        if ids:
            lines += ["", f"only in the {name}: {counted(len(ids), 'episode')}"]
    return "\n".join([*lines, "", *_differing_text(decision.differing)]) + "\n"


def _metric_text(name: str, one: MetricEvidence) -> str:
    if one.apart is None:
        return f"  {name:<22}{UNKNOWN}"
    means = f"{one.baseline:.4g} → {one.candidate:.4g}"
    counted = f"better {one.better:,} (p {one.p_better:.4f}), worse {one.worse:,} (p {one.p_worse:.4f})"
    return f"  {name:<22}{means:<20}{counted}"
