"""`sessionlab health`: how runs went, as the text of mecha 11.3 or the JSON of 11.4, and what goes beyond."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output, sensors
from sessionlab.cli.options import Days, Json, Now, Paths, Zone
from sessionlab.cli.output import UNKNOWN, records, visible

if TYPE_CHECKING:
    from sessionlab.comparisons import Rate, Thresholds
    from sessionlab.corpus import Corpus

HIDDEN_SURFACES = ("test", "experiment")
"""Front ends whose sessions are left out unless asked for (mecha 11.1, later builds)."""
CONFIDENCE = 0.95


class Generation(StrEnum):
    """Whose JSON is printed: mecha's release 0.1.11 (a), its later builds (b), or sessionlab's own, which holds b."""

    a = "a"
    b = "b"
    own = "own"


GenerationOption = Annotated[
    Generation,
    typer.Option(
        "--generation", help="JSON as mecha 0.1.11 prints it (a), as later builds do (b), or with all there is (own)."
    ),
]
Confidence = Annotated[float, typer.Option("--confidence", help="Confidence of every interval.", metavar="SHARE")]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(health)


def health(
    paths: Paths = None,
    days: Days = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only sessions of this front end: run, chat …")] = None,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="Look at this many sessions, newest first.")
    ] = None,
    include_tests: Annotated[bool, typer.Option("--include-tests", help="Test and experiment sessions too.")] = False,
    workspace: Annotated[
        str | None, typer.Option("--workspace", metavar="PATH", help="Only sessions that worked in it or below it.")
    ] = None,
    generation: GenerationOption = Generation.own,
    confidence: Confidence = CONFIDENCE,
    threshold: Annotated[
        list[str] | None,
        typer.Option("--threshold", metavar="NAME=VALUE", help="Of findings: sessions, min_runs, ends_failed, …"),
    ] = None,
    json: Json = False,
    tz: Zone = None,
    now: Now = None,
) -> None:
    """How runs went: why they stopped, what failed, model by model."""
    from sessionlab.comparisons import Thresholds  # noqa: PLC0415 (kept beside its use)

    asked = options.ask(options.load(paths, figures=True, tz=tz, now=now), days)
    thresholds = Thresholds.told(*(threshold or ()))
    corpus = asked.corpus if kind is None else asked.corpus.where(surface=kind)
    if workspace is not None:
        path = workspace.rstrip("/").replace("'", "''")
        corpus = corpus.where(f"workspace = '{path}' OR starts_with(workspace, '{path}/')")
    hidden = dict.fromkeys(HIDDEN_SURFACES, 0)
    if not include_tests and generation is not Generation.a:  # mecha 0.1.11 knew no kinds and hid nothing
        for word in HIDDEN_SURFACES:
            hidden[word] = corpus.sql("SELECT count(*) FROM sessions WHERE surface = ?", [word]).item()
        corpus = corpus.where("surface IS NULL OR surface NOT IN ('test', 'experiment')")
    if limit is not None:
        corpus = corpus.where(
            "session_id IN (SELECT session_id FROM sessions ORDER BY created_at DESC NULLS LAST, session_id DESC"
            f" LIMIT {limit})"
        )
    if json:
        told = as_json(corpus, hidden, asked.unreadable, generation, confidence=confidence, thresholds=thresholds)
        output.print_json(told)
    else:
        text = as_text(corpus, hidden, days, confidence=confidence, thresholds=thresholds)
        sys.stdout.write(text + asked.undated_note() + asked.unreadable_note())
    raise typer.Exit(asked.exit_code)


def as_json(
    corpus: Corpus,
    hidden: dict[str, int],
    unreadable: int = 0,
    generation: Generation = Generation.own,
    *,
    confidence: float = CONFIDENCE,
    thresholds: Thresholds | None = None,
) -> dict[str, object]:
    """The members of mecha 11.4, in its order; of its own more: all counts, stop causes, intervals, findings."""
    [summary] = records(corpus.view("health.summary"))
    members: dict[str, object] = {
        "runs": summary["runs"],
        "sessions_read": summary["sessions_read"],
        "tool_calls": summary["tool_calls"] or 0,
        "tool_errors": summary["tool_errors"] or 0,
        "tool_error_rate": summary["tool_error_rate"],
        "ended_on_failed_call": summary["ended_on_failed_call"] or 0,
        "ended_on_failed_call_rate": summary["ended_on_failed_call_rate"],
        "compactions": summary["compactions"] or 0,
        "cost_usd": summary["recorded_usd"] or 0,
        "runs_priced": summary["runs_priced"],
    }
    by_model: list[dict[str, object]] = [
        {name: row[name] for name in ("model", "runs", "tool_error_rate", "ended_on_failed_call_rate")}
        for row in records(corpus.view("health.by_model"))
    ]
    members["by_model"] = by_model
    if generation is Generation.a:
        return members
    members |= {
        "sessions_unreadable": unreadable,
        "tests_hidden": hidden["test"],
        "experiments_hidden": hidden["experiment"],
        **sensors.as_members(corpus),
    }
    overflows = sensors.overflow_by_model(corpus)
    for row in by_model:
        row["overflow_rate"] = overflows.get(row["model"])
    return members if generation is Generation.b else members | _own(corpus, by_model, confidence, thresholds)


def _own(
    corpus: Corpus, by_model: list[dict[str, object]], confidence: float, thresholds: Thresholds | None
) -> dict[str, object]:
    """What goes beyond mecha's members."""
    from sessionlab.comparisons import Arm, Thresholds, findings, rates  # noqa: PLC0415 (kept beside its use)

    [summary] = records(corpus.view("health.summary"))
    found = {rate.name: rate for rate in rates(Arm(corpus, "all runs"), confidence)[1]}
    cut_short = {row["model"]: row["cut_short_rate"] for row in records(corpus.view("health.by_model"))}
    for row in by_model:
        arm = Arm(corpus, str(row["model"]), (("model", str(row["model"])),))
        row["cut_short_rate"] = cut_short[row["model"]]
        row["intervals"] = None if row["model"] is None else _intervals(rates(arm, confidence)[1])
    return {
        "tool_denied": summary["tool_denied"] or 0,
        "tool_staged": summary["tool_staged"] or 0,
        "malformed_tool_args": summary["malformed_tool_args"] or 0,
        "blocked_sends": summary["blocked_sends"] or 0,
        "cut_short": summary["cut_short"],
        "cut_short_rate": summary["cut_short_rate"],
        "interventions": found["intervention_rate"].cases,
        "intervention_rate": found["intervention_rate"].value,
        "stop_causes": _causes(corpus),
        "confidence": confidence,
        "interval_method": "wilson",
        "intervals": _intervals(found.values()),
        "findings": findings(corpus, thresholds or Thresholds(), confidence=confidence),
    }


def _intervals(found: Iterable[Rate]) -> dict[str, dict[str, float] | None]:
    return {rate.name: None if rate.interval is None else rate.interval._asdict() for rate in found}


def _causes(corpus: Corpus) -> dict[str, int]:
    """Runs per recorded word, in the view's order: one word may stand for several classes."""
    counted: dict[str, int] = {}
    for row in records(corpus.view("health.stop_causes")):
        word = str(row["stop_cause"])
        counted[word] = counted.get(word, 0) + int(str(row["runs"]))
    return counted


def as_text(
    corpus: Corpus,
    hidden: dict[str, int],
    days: float | None,
    *,
    confidence: float = CONFIDENCE,
    thresholds: Thresholds | None = None,
) -> str:
    """The lines of mecha 11.3, then intervals, what sensors measured, and findings with their evidence."""
    told = as_json(corpus, hidden, confidence=confidence, thresholds=thresholds)
    sessions = told["sessions_read"]
    if not told["runs"]:
        return f"no finished run in {sessions} sessions read; older transcripts record none\n"
    window = f" in the last {days:g} days" if days is not None else ""
    causes = told["stop_causes"]
    assert isinstance(causes, dict)
    parts = (
        ("stopped", " · ".join(f"{word} {count}" for word, count in causes.items())),
        ("ended on a failed call", _of(told, "ended_on_failed_call")),
        ("tool calls", f"{told['tool_calls']:,}, errors {_of(told, 'tool_errors', 'tool_error_rate')}"),
        ("", f"denied {told['tool_denied']:,}, staged {told['tool_staged']:,}"),
        ("malformed arguments", f"{told['malformed_tool_args']:,}, blocked sends {told['blocked_sends']:,}"),
        ("compactions", f"{told['compactions']:,}"),
    )
    lines = [f"{_plural(told['runs'], 'run')} in {_plural(sessions, 'session')} read{window}"]
    lines += [f"  {label:<24}{text}" for label, text in parts]
    by_model = told["by_model"]
    assert isinstance(by_model, list)
    if len(by_model) > 1:
        lines.append(f"  {'model':<28} {'runs':>6} {'tool errors':>12} {'failed ends':>12} {'cut short':>10}")
        lines += [
            f"  {visible(row['model'] or UNKNOWN):<28} {row['runs']:>6,}"
            f" {_rate(row['tool_error_rate']):>12}"
            f" {_rate(row['ended_on_failed_call_rate']):>12} {_rate(row['cut_short_rate']):>10}"
            for row in by_model
        ]
    if told["runs_priced"]:
        cost = f"at least ${told['cost_usd']:,.2f}, of {told['runs_priced']:,} of {told['runs']:,} runs"
        lines.append(f"  {'recorded cost':<24}{cost}")
    intervals = told["intervals"]
    assert isinstance(intervals, dict)
    named = [f"{name.replace('_', ' ')} {_span(span)}" for name, span in intervals.items() if span is not None]
    lines.append(f"  {f'{confidence:.0%} intervals':<24}{' · '.join(named)}")
    lines += [f"  {label:<24} {text}" for label, text in sensors.as_lines(corpus)]
    findings = told["findings"]
    assert isinstance(findings, list)
    lines += [
        f"  ! {visible(row['model'])} {row['finding']}: {_rate(row['observed'])}"
        f" ({row['cases']:,} of {row['out_of']:,}; worth a look from {_rate(row['threshold'])})"
        for row in findings
    ]
    silent = corpus.sql(
        "SELECT count(*) FROM sessions s ANTI JOIN outcomes o ON o.session_id = s.session_id"
        " WHERE s.same_as_session_id IS NULL"
    ).item()
    if silent:
        lines.append(
            f"  {_plural(silent, 'session')} record no finished run: sessionlab view health.by_tool has all calls"
        )
    lines += [f"  {_plural(count, word + ' session')} left out" for word, count in hidden.items() if count]
    return "\n".join(lines) + "\n"


def _of(told: dict[str, object], count: str, rate: str | None = None) -> str:
    return f"{told[count]:,} ({_rate(told[rate or f'{count}_rate'])})"


def _rate(value: object) -> str:
    return UNKNOWN if value is None else f"{float(str(value)):.1%}"


def _span(interval: dict[str, float]) -> str:
    return f"{interval['low']:.1%} to {interval['high']:.1%}"


def _plural(count: object, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
