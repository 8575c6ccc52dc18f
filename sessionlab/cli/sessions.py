"""The session commands, for every format: list, show, path."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output
from sessionlab.cli.options import Days, Json, Now, Paths
from sessionlab.cli.stats import nothing
from sessionlab.errors import WrongUse
from sessionlab.formats.recording import Recording
from sessionlab.paths import find

if TYPE_CHECKING:
    import polars as pl


Kind = Annotated[str | None, typer.Option("--kind", help="Only sessions of this front end: run, chat, web …")]
Identifier = Annotated[str, typer.Argument(metavar="ID", help="A session id, or the beginning of one.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("list")(list_sessions)
    for command in (show, path):
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
        sys.stdout.write(nothing(paths, asked))
    else:
        _list_text(shown, found.height)
    if not json:
        sys.stdout.write(asked.undated_note() + asked.unreadable_note())
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
    options.hold_files(paths, "path names a session's files")
    files = options.files_of(corpus, corpus.session_id(identifier))
    if json:
        output.print_json(files)
    else:
        sys.stdout.write("".join(f"{name}\n" for name in files))


def show(identifier: Identifier, paths: Paths = None, json: Json = False) -> None:
    """A session's conversation; with --json, its file's bytes unchanged (unpacked where they are compressed)."""
    corpus = options.load(paths, bodies=not json)
    session_id = corpus.session_id(identifier)
    if json:
        options.hold_files(paths, "show --json hands out a session's file")
        files = options.files_of(corpus, session_id)
        if len(files) > 1:
            raise WrongUse(f"{identifier} stands in {len(files)} files; name one of them as PATHS: {', '.join(files)}")
        [found] = find(files)
        with found.open() as stream:
            for block in Recording(stream, uri=found.uri).blocks():
                sys.stdout.buffer.write(block)
        return
    from sessionlab.cli.conversation import write  # noqa: PLC0415 (only for the text)

    write(corpus, session_id)
