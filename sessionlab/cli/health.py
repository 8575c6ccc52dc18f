"""A corpus in, the text or JSON of `sessionlab health` out (mecha 11.3 and 11.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.cli.output import UNKNOWN, records, visible

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus


def as_json(corpus: Corpus, hidden: dict[str, int], unreadable: int = 0) -> dict[str, object]:
    """The members of mecha 11.4, and what goes beyond them."""
    [summary] = records(corpus.view("health.summary"))
    by_model = records(corpus.view("health.by_model"))
    return {
        "runs": summary["runs"],
        "sessions_read": summary["sessions_read"],
        "sessions_unreadable": unreadable,
        "tests_hidden": hidden["test"],
        "experiments_hidden": hidden["experiment"],
        "tool_calls": summary["tool_calls"] or 0,
        "tool_errors": summary["tool_errors"] or 0,
        "tool_error_rate": summary["tool_error_rate"],
        "tool_denied": summary["tool_denied"] or 0,
        "tool_staged": summary["tool_staged"] or 0,
        "malformed_tool_args": summary["malformed_tool_args"] or 0,
        "blocked_sends": summary["blocked_sends"] or 0,
        "ended_on_failed_call": summary["ended_on_failed_call"] or 0,
        "ended_on_failed_call_rate": summary["ended_on_failed_call_rate"],
        "cut_short": summary["cut_short"],
        "cut_short_rate": summary["cut_short_rate"],
        "compactions": summary["compactions"] or 0,
        "cost_usd": summary["recorded_usd"] or 0,
        "runs_priced": summary["runs_priced"],
        "stop_causes": _causes(corpus),
        "by_model": [
            {
                name: row[name]
                for name in ("model", "runs", "tool_error_rate", "ended_on_failed_call_rate", "cut_short_rate")
            }
            for row in by_model
        ],
        "findings": records(corpus.view("health.findings")),
    }


def _causes(corpus: Corpus) -> dict[str, int]:
    """Runs per recorded word, in the view's order: one word may stand for several classes."""
    counted: dict[str, int] = {}
    for row in records(corpus.view("health.stop_causes")):
        word = str(row["stop_cause"])
        counted[word] = counted.get(word, 0) + int(str(row["runs"]))
    return counted


def as_text(corpus: Corpus, hidden: dict[str, int], days: float | None) -> str:
    """The lines of mecha 11.3, then findings, with their evidence."""
    told = as_json(corpus, hidden)
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


def _plural(count: object, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
