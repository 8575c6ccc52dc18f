"""The session commands, for every format: list, show, path, stats, health."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output
from sessionlab.cli.options import Days, Json, Now, Paths, RateFile, Rates, RatesOption, Zone
from sessionlab.errors import WrongUse
from sessionlab.formats.recording import Recording
from sessionlab.paths import find

if TYPE_CHECKING:
    import polars as pl

    from sessionlab.corpus import Corpus

HIDDEN_SURFACES = ("test", "experiment")
"""Front ends whose sessions `health` leaves out unless asked (mecha 11.1)."""
Kind = Annotated[str | None, typer.Option("--kind", help="Only sessions of this front end: run, chat, web …")]
Identifier = Annotated[str, typer.Argument(metavar="ID", help="A session id, or the beginning of one.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("list")(list_sessions)
    for command in (show, path, stats, health):
        app.command()(command)


def list_sessions(
    paths: Paths = None,
    days: Days = None,
    kind: Kind = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Show this many, newest first.")] = 20,
    json: Json = False,
    now: Now = None,
) -> None:
    """The sessions, newest first."""
    asked = options.ask(options.load(paths, now=now), days)
    corpus = asked.corpus if kind is None else asked.corpus.where(surface=kind)
    found = corpus.sql(
        "SELECT s.native_id AS id, s.session_id, s.format, s.surface AS kind, s.created_at, s.ended_at, s.provider,"
        " coalesce(s.model, u.model) AS model, s.created_title, s.title, s.workspace, s.state, s.entries, s.sources"
        " FROM sessions s LEFT JOIN (SELECT session_id, max_by(model, output_tokens) AS model FROM usage"
        " WHERE standing <> 'check' GROUP BY session_id) u ON u.session_id = s.session_id"
        " ORDER BY s.created_at DESC NULLS LAST, s.session_id DESC"
    )
    shown = found.head(limit)
    if json:
        output.print_json(output.records(shown))
    elif not found.height:
        sys.stdout.write(_nothing(paths, asked))
    else:
        _list_text(shown, found.height)
    if not json:
        sys.stdout.write(asked.undated_note())
    raise typer.Exit(asked.exit_code)


def _list_text(shown: pl.DataFrame, of: int) -> None:
    width = max(len(output.visible(row["id"] or row["session_id"])) for row in shown.iter_rows(named=True))
    formats = shown["format"].n_unique() > 1
    for row in shown.iter_rows(named=True):
        name = output.visible(row["id"] or row["session_id"])
        when = f"{row['created_at']:%Y-%m-%d %H:%M}" if row["created_at"] else f"{output.UNKNOWN:<16}"
        cells = [f"{name:<{width}}", when]
        if formats:
            cells.append(f"{row['format']:<11}")
        cells += [
            f"{output.visible(row['kind'] or output.UNKNOWN):<9}",
            f"{output.visible(row['model'] or output.UNKNOWN):<24}",
        ]
        title = output.visible(row["title"] or row["created_title"] or "")
        if row["sources"] > 1:
            title += f"  [{row['sources']} files]"
        sys.stdout.write("  ".join([*cells, title]).rstrip() + "\n")
    if of > shown.height:
        sys.stdout.write(f"… {of - shown.height:,} more (-n {of})\n")


def path(identifier: Identifier, paths: Paths = None, json: Json = False) -> None:
    """The files that tell of a session."""
    corpus = options.load(paths)
    files = _files(corpus, corpus.session_id(identifier))
    if json:
        output.print_json(files)
    else:
        sys.stdout.write("".join(f"{name}\n" for name in files))


def show(identifier: Identifier, paths: Paths = None, json: Json = False) -> None:
    """A session's conversation; with --json, its file's bytes unchanged (unpacked where they are compressed)."""
    corpus = options.load(paths, bodies=not json)
    session_id = corpus.session_id(identifier)
    if json:
        files = _files(corpus, session_id)
        if len(files) > 1:
            raise WrongUse(f"{identifier} stands in {len(files)} files; name one of them as PATHS: {', '.join(files)}")
        for name in files:
            [found] = find([name])
            with found.open() as stream:
                for block in Recording(stream, uri=name).blocks():
                    sys.stdout.buffer.write(block)
        return
    from sessionlab.cli.conversation import write  # noqa: PLC0415 (only for the text)

    write(corpus, session_id)


def _nothing(paths: list[str] | None, asked: options.Asked) -> str:
    unclaimed = len(asked.corpus.unclaimed)
    hint = f" ({unclaimed:,} files there are in no format known here)" if unclaimed else ""
    return f"no session in {', '.join(paths or ['the known stores'])}{hint}\n"


def _files(corpus: Corpus, session_id: str) -> list[str]:
    rows = corpus.sql(
        "SELECT DISTINCT f.uri FROM raw.sessions s JOIN sources f ON f.source_id = s.source_id"
        " WHERE s.session_id = ? AND f.superseded_by IS NULL ORDER BY f.uri",
        [session_id],
    )
    return [str(uri) for (uri,) in rows.rows()]


def stats(
    paths: Paths = None,
    days: Days = None,
    rates: RatesOption = Rates.all,
    rate_file: RateFile = None,
    json: Json = False,
    now: Now = None,
) -> None:
    """What sessions cost at today's rates, by the provider and model they name."""
    asked = options.ask(options.load(paths, figures=True, rates=rates, rate_file=rate_file, now=now), days)
    rows = output.records(asked.corpus.view("cost.stats"))
    if json:
        kept = [{name: value for name, value in row.items() if name != "unpriced"} for row in rows]
        output.print_json({"rows": kept, "sessions_unreadable": asked.unreadable})
    elif not rows:
        sys.stdout.write(_nothing(paths, asked))
    else:
        sessions = asked.corpus.sql(
            "SELECT count(*) FROM sessions"
        ).item()  # one of several models stands in several rows
        sys.stdout.write(
            _stats_text(rows, sessions) + "\n" + _stats_notes(rows, asked.unreadable) + _stand_ins(asked.corpus)
        )
    if not json:
        sys.stdout.write(asked.undated_note())
    raise typer.Exit(asked.exit_code)


def _stats_notes(rows: list[dict[str, object]], unreadable: int) -> str:
    notes = ""
    unpriced = sum(int(str(row["unpriced"])) for row in rows)
    if any(row["cost_usd"] is not None for row in rows):
        more = f"; {unpriced:,} rows of usage without a rate are not in it: at least" if unpriced else ""
        notes += f"costs at today's rates{more}\n"
    elif unpriced:
        notes += "no rate for these models: `sessionlab prices` names them\n"
    if unreadable:
        notes += f"{unreadable:,} files could not be read (sessionlab view problems.list)\n"
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


def health(
    paths: Paths = None,
    days: Days = None,
    kind: Kind = None,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="Look at this many sessions, newest first.")
    ] = None,
    include_tests: Annotated[bool, typer.Option("--include-tests", help="Test and experiment sessions too.")] = False,
    json: Json = False,
    tz: Zone = None,
    now: Now = None,
) -> None:
    """How runs went: why they stopped, what failed, model by model."""
    asked = options.ask(options.load(paths, figures=True, tz=tz, now=now), days)
    corpus = asked.corpus if kind is None else asked.corpus.where(surface=kind)
    hidden = {
        word: corpus.sql("SELECT count(*) FROM sessions WHERE surface = ?", [word]).item() for word in HIDDEN_SURFACES
    }
    if not include_tests:
        corpus = corpus.where("surface IS NULL OR surface NOT IN ('test', 'experiment')")
    else:
        hidden = dict.fromkeys(hidden, 0)
    if limit is not None:
        corpus = corpus.where(
            "session_id IN (SELECT session_id FROM sessions ORDER BY created_at DESC NULLS LAST, session_id DESC"
            f" LIMIT {limit})"
        )
    from sessionlab.cli.health import as_json, as_text  # noqa: PLC0415 (kept beside its use)

    if json:
        output.print_json(as_json(corpus, hidden, asked.unreadable))
    else:
        sys.stdout.write(as_text(corpus, hidden, days) + asked.undated_note())
    raise typer.Exit(asked.exit_code)
