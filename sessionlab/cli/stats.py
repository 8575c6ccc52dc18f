"""`sessionlab stats`: what sessions cost at today's rates, as the table of mecha 10.4 or its JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from sessionlab.cli import options, output
from sessionlab.cli.health import Generation, GenerationOption
from sessionlab.cli.options import Days, Json, Now, Paths, RateFile, Rates, RatesOption

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(stats)


def stats(
    paths: Paths = None,
    days: Days = None,
    rates: RatesOption = Rates.all,
    rate_file: RateFile = None,
    generation: GenerationOption = Generation.own,
    json: Json = False,
    now: Now = None,
) -> None:
    """What sessions cost at today's rates, by the provider and model they name."""
    asked = options.ask(options.load(paths, figures=True, rates=rates, rate_file=rate_file, now=now), days)
    rows = output.records(asked.corpus.view("cost.stats"))
    if json:
        kept = [{name: value for name, value in row.items() if name != "unpriced"} for row in rows]
        # mecha 0.1.11 printed the rows alone; later builds, and sessionlab, an object
        whole = {"rows": kept, "sessions_unreadable": asked.unreadable}
        output.print_json(kept if generation is Generation.a else whole)
    elif not rows:
        sys.stdout.write(nothing(paths, asked))
    else:
        sessions = asked.corpus.sql(
            "SELECT count(*) FROM sessions"
        ).item()  # one of several models stands in several rows
        sys.stdout.write(
            _stats_text(rows, sessions) + "\n" + _stats_notes(rows) + asked.unreadable_note() + _stand_ins(asked.corpus)
        )
    if not json:
        sys.stdout.write(asked.undated_note())
    raise typer.Exit(asked.exit_code)


def _stats_notes(rows: list[dict[str, object]]) -> str:
    notes = ""
    unpriced = sum(int(str(row["unpriced"])) for row in rows)
    if any(row["cost_usd"] is not None for row in rows):
        more = f"; {unpriced:,} rows of usage without a rate are not in it: at least" if unpriced else ""
        notes += f"costs at today's rates{more}\n"
    elif unpriced:
        notes += "no rate for these models: `sessionlab prices` names them\n"
    return notes


def _stand_ins(corpus: Corpus) -> str:
    """What the rollup leaves out by its specification (mecha 10.1): runs that only an outcome tells of."""
    [(runs, cost)] = (
        corpus.reprice("now").sql("SELECT count(*), sum(cost_usd) FROM cost.by_call WHERE standing = 'stand_in'").rows()
    )
    if not runs:
        return ""
    return f"{runs:,} runs without a summary are not in it: {output.money(cost)} more (sessionlab view cost.by_model)\n"


def _stats_text(rows: list[dict[str, object]], sessions: int) -> str:
    columns = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    header = ("provider/model", "sessions", "turns", "input", "output", "cache-w", "cache-r", "cost")

    def line(label: str, group: list[dict[str, object]], sessions: object) -> tuple[str, ...]:
        costs = [row["cost_usd"] for row in group if row["cost_usd"] is not None]
        return (
            label,
            f"{sessions}",
            f"{_sum(group, 'turns')}",
            *(short_tokens(_sum(group, name)) for name in columns),
            f"${sum(float(str(cost)) for cost in costs):.2f}" if costs else output.UNKNOWN,
        )

    named = [
        line(
            output.visible("/".join(str(row[n] or output.UNKNOWN) for n in ("provider", "model"))),
            [row],
            row["sessions"],
        )
        for row in rows
    ]
    return output.lines([header, *named, line("total", rows, sessions)], (34, 8, 7, 9, 9, 9, 9, 10))


def _sum(rows: list[dict[str, object]], name: str) -> int | None:
    known = [int(str(row[name])) for row in rows if row[name] is not None]
    return sum(known) if known else None


def short_tokens(count: int | None) -> str:
    """Tokens as mecha 10.4 writes them: up to 9,999 plain, then thousands with a k, then millions with an M."""
    if count is None:
        return output.UNKNOWN
    if count < 10_000:  # noqa: PLR2004 (the specification's own limits)
        return str(count)
    if count < 10_000_000:  # noqa: PLR2004
        return f"{count / 1000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def nothing(paths: list[str] | None, asked: options.Asked) -> str:
    """A line for an empty answer: where was looked, and what else is there."""
    unclaimed = len(asked.corpus.unclaimed)
    hint = f" ({unclaimed:,} files there are in no format known here)" if unclaimed else ""
    return f"no session in {', '.join(paths or ['the known stores'])}{hint}\n"
