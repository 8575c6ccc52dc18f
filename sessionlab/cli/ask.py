"""Commands that ask a corpus anything: load, view, sql; and those that tell what there is to ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output
from sessionlab.cli.options import Days, Json, Now, Paths, RateFile, Rates, RatesOption, Zone
from sessionlab.errors import UnknownName, WrongUse

if TYPE_CHECKING:
    import polars as pl


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (load, view, sql, views, tables, formats, prices):
        app.command()(command)


def load(paths: Paths = None, json: Json = False, now: Now = None) -> None:
    """What was read: files, sessions, rows per table, problems."""
    corpus = options.load(paths, bodies=True, now=now)
    from sessionlab.views import RAW_TABLES  # noqa: PLC0415 (duckdb loads with it)

    counts = [
        {
            "table": name,
            "rows": corpus.sql(f"SELECT count(*) FROM {name}").item(),
            "raw_rows": corpus.sql(f"SELECT count(*) FROM raw.{name}").item(),
        }
        for name in RAW_TABLES
    ]
    by_format = corpus.view("coverage.by_format")
    by_kind = corpus.view("problems.by_kind")
    if json:
        output.print_json(
            {
                "formats": output.records(by_format),
                "tables": counts,
                "problems": output.records(by_kind),
                "unclaimed": list(corpus.unclaimed),
            }
        )
    else:
        import polars as pl  # noqa: PLC0415 (only for the text)

        out = output.console()
        out.print(repr(corpus).splitlines()[0], style="bold")
        output.print_table(by_format, title="files by format", totals=True)
        output.print_table(pl.DataFrame(counts), title="rows by table (raw: as each file says)")
        if by_kind.height:
            output.print_table(by_kind, title="problems (sessionlab view problems.list has each)")
        if corpus.unclaimed:
            out.print(f"{len(corpus.unclaimed):,} other files are in no format known here:")
            for uri in corpus.unclaimed[:10]:
                out.print(f"  {output.visible(uri)}", markup=False, soft_wrap=True)
    raise typer.Exit(options.refused(corpus))


def view(
    name: Annotated[str, typer.Argument(help="A view, e.g. cost.by_model; a table; `sessionlab views` lists them.")],
    paths: Paths = None,
    days: Days = None,
    json: Json = False,
    rates: RatesOption = Rates.all,
    rate_file: RateFile = None,
    tz: Zone = None,
    at: Annotated[str, typer.Option("--at", help="Rates of: `call` (each call's day), `now`, or a date.")] = "call",
    like: Annotated[str | None, typer.Option("--like", help="Price everything as this model.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only this session: an id or its beginning.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="COLUMN=TEXT", help="Only rows whose column reads so.")
    ] = None,
    sort: Annotated[str | None, typer.Option("--sort", metavar="COLUMN", help="Largest of this column first.")] = None,
    limit: Annotated[int | None, typer.Option("-n", "--limit", min=1, help="Show this many rows of text.")] = 200,
    now: Now = None,
) -> None:
    """The rows of a view or table."""
    from sessionlab.tables import TABLES  # noqa: PLC0415 (kept beside its use)
    from sessionlab.views import library  # noqa: PLC0415 (duckdb loads with it)

    known = library().get(name)
    bodies = known.needs_bodies if known is not None else name in {"pools", "blocks", "tool_calls"}
    figures = known is not None and not bodies and not known.needs_steps
    asked = options.ask(
        options.load(paths, bodies=bodies, figures=figures, rates=rates, rate_file=rate_file, tz=tz, now=now), days
    )
    corpus = asked.corpus
    if at != "call" or like:
        corpus = corpus.reprice(at, like=like)
    only = {} if session is None else {"session_id": corpus.session_id(session)}
    frame = corpus.table(name, **only) if name.removeprefix("raw.") in TABLES else corpus.view(name, **only)
    frame = _chosen(frame, name, where or [], sort)
    if json:
        output.print_json(output.records(frame))
    else:
        out = output.console()
        output.print_table(frame, totals=name.startswith("cost."), limit=limit)
        if limit is not None and frame.height > limit:
            out.print(f"{frame.height - limit:,} more rows (-n {frame.height} shows them all)")
        if name.endswith("by_day"):
            out.print(f"days in {corpus.tz}", style="dim")
        out.print(asked.undated_note(), style="dim", end="")
    raise typer.Exit(asked.exit_code)


def _chosen(frame: pl.DataFrame, name: str, where: list[str], sort: str | None) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 (brought by the corpus)

    for test in where:
        column, equals, text = test.partition("=")
        if not equals:
            raise WrongUse(f"--where: expected COLUMN=TEXT, found {test!r}")
        if column not in frame.columns:
            raise UnknownName(f"column of {name}", column, frame.columns)
        frame = frame.filter(pl.col(column).cast(pl.String) == text)
    if sort is None:
        return frame
    if sort not in frame.columns:
        raise UnknownName(f"column of {name}", sort, frame.columns)
    return frame.sort(sort, descending=True, nulls_last=True, maintain_order=True)


def sql(
    query: Annotated[str, typer.Argument(help="DuckDB SQL over the tables and views.")],
    paths: Paths = None,
    json: Json = False,
    tz: Zone = None,
    now: Now = None,
) -> None:
    """The answer to an SQL question."""
    corpus = options.load(paths, bodies=True, tz=tz, now=now)
    frame = corpus.sql(query)
    if json:
        output.print_json(output.records(frame))
    else:
        output.print_table(frame)
    raise typer.Exit(options.refused(corpus))


def views(
    name: Annotated[str | None, typer.Argument(help="One view, with its columns; or a subject, e.g. cost.")] = None,
    json: Json = False,
) -> None:
    """The views, a sentence each; with a name, its columns."""
    from sessionlab.views import public_views  # noqa: PLC0415 (duckdb loads with it)

    known = public_views()
    chosen = {n: v for n, v in known.items() if name in (None, n, n.split(".")[0])}
    if not chosen:
        raise UnknownName("view", str(name), known)
    if json:
        output.print_json(
            [
                {"view": n, "sentence": v.sentence, "grain": v.grain, "columns": [c._asdict() for c in v.columns]}
                for n, v in chosen.items()
            ]
        )
        return
    out = output.console()
    if name in known:
        out.print(f"[bold]{name}[/bold]  {known[name].sentence} {known[name].grain}")
        _dictionary([(c.name, c.type, c.doc) for c in known[name].columns])
        return
    _dictionary([(n, v.sentence) for n, v in chosen.items()], ("view", "what it answers"))


def tables(
    name: Annotated[str | None, typer.Argument(help="One table, with its columns.")] = None, json: Json = False
) -> None:
    """The common tables: the data dictionary."""
    from sessionlab.tables import TABLES, plain_columns  # noqa: PLC0415 (kept beside its use)

    if name is not None and name not in TABLES:
        raise UnknownName("table", name, TABLES)
    chosen = TABLES if name is None else {name: TABLES[name]}
    if json:
        output.print_json(
            [
                {
                    "table": n,
                    "sentence": (row.__doc__ or "").strip(),
                    "columns": [c._asdict() for c in plain_columns(row)],
                }
                for n, row in chosen.items()
            ]
        )
        return
    out = output.console()
    for n, row in chosen.items():
        out.print(f"[bold]{n}[/bold]  {(row.__doc__ or '').strip()}")
        _dictionary(
            [(c.name, c.type, c.doc + (" (folded table only)" if c.plain_only else "")) for c in plain_columns(row)]
        )


def formats(json: Json = False) -> None:
    """The formats that can be read, the built-in ones and those of installed packages."""
    from sessionlab.formats import all_formats  # noqa: PLC0415 (kept beside its use)

    rows = [(name, (fmt.__doc__ or "").strip().split("\n")[0]) for name, fmt in sorted(all_formats().items())]
    if json:
        output.print_json([{"format": name, "sentence": sentence} for name, sentence in rows])
    else:
        _dictionary(rows, ("format", "what it reads"))


def prices(
    paths: Paths = None,
    json: Json = False,
    rates: RatesOption = Rates.all,
    rate_file: RateFile = None,
    like: Annotated[str | None, typer.Option("--like", help="Price everything as this model.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Past rates and those of other tiers too.")] = False,
    now: Now = None,
) -> None:
    """The rates in force for the models of a corpus, and the models without one."""
    corpus = options.load(paths, rates=rates, rate_file=rate_file, now=now)
    if like:
        corpus = corpus.reprice("call", like=like)
    found = corpus.sql(
        "SELECT * FROM prices WHERE ? OR (variant = 'standard'"
        " AND coalesce(until_at > (SELECT now_at FROM settings), true))"
        " ORDER BY provider NULLS FIRST, model, variant, from_at NULLS FIRST,"
        " from_time NULLS FIRST, band_from_tokens",
        [every],
    )
    missing = corpus.view("cost.unpriced")
    if json:
        output.print_json({"prices": output.records(found), "unpriced": output.records(missing)})
        return
    empty = [n for n in found.columns if found[n].null_count() == found.height]
    output.print_table(found.drop(empty), title="rates, US dollars per million tokens")
    if missing.height:
        output.print_table(missing, title="models without a rate: their cost is unknown, not zero")


def _dictionary(rows: Sequence[tuple[str, ...]], headings: tuple[str, ...] = ("column", "type", "meaning")) -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 (drawn only for text)
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, title in enumerate(headings):
        drawn.add_column(title, no_wrap=number < len(headings) - 1, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(text) for text in row))
    output.console().print(drawn)
