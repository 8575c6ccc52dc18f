"""`sessionlab recall TEXT`: everything that recorded sessions ever held, searched; also what was rewritten since."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output
from sessionlab.cli.options import Days, Json, Now, Paths
from sessionlab.errors import LoadError
from sessionlab.paths import Found, find, known_stores

if TYPE_CHECKING:
    from sessionlab.recall import FileHit, Sweep


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(recall)


def recall(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Looked for within a line, in any case, literally.")],
    paths: Paths = None,
    session: Annotated[str | None, typer.Option("--session", help="Only this session: an id or its beginning.")] = None,
    days: Days = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only sessions of this front end: run, chat …")] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Show this many matching blocks.")] = 20,
    count: Annotated[
        bool, typer.Option("--count", help="Read on when enough is found, and say how many more there are.")
    ] = False,
    json: Json = False,
    now: Now = None,
) -> None:
    """Search everything sessions ever held, newest file first; what was rewritten or summarised since is found too."""
    from sessionlab.recall import sweep  # noqa: PLC0415 (kept beside its use)

    narrowed = session is not None or days is not None or kind is not None
    files = _of_sessions(paths, session, days, kind, now) if narrowed else _files(paths)
    found = sweep(files, text, max_matches=limit, count_all=count)
    if json:
        output.print_json(_as_json(text, found))
    else:
        sys.stdout.write(_as_text(text, found))
    raise typer.Exit(1 if found.unreadable else 0)


def _files(paths: list[str] | None) -> list[Found]:
    given = paths or known_stores()
    if not given:
        raise LoadError("no path given, and none of the known session stores exists on this machine")
    options.hold_files(paths, "recall searches session files")
    return find(given)


def _of_sessions(
    paths: list[str] | None, session: str | None, days: float | None, kind: str | None, now: str | None
) -> list[Found]:
    """The files that tell of the sessions asked for; which those are only the loaded figures say."""
    corpus = options.ask(options.load(paths, figures=True, now=now), days).corpus
    if kind is not None:
        corpus = corpus.where(surface=kind)
    if session is not None:
        corpus = corpus.where(session_id=corpus.session_id(session))
    rows = corpus.sql(
        "SELECT DISTINCT f.uri FROM raw.sessions s JOIN sources f ON f.source_id = s.source_id"
        " WHERE f.superseded_by IS NULL"
    ).rows()
    wanted = {uri for (uri,) in rows}
    return [file for file in _files(paths) if file.uri in wanted]


def _as_json(query: str, found: Sweep) -> dict[str, object]:
    return {
        "query": query,
        "matches": [
            {
                "session_id": one.session_id,
                "uri": one.uri,
                "format": one.format,
                "pool": one.hit.pool,
                "message": one.hit.message,
                "role": one.hit.role,
                "block": one.hit.block,
                "kind": one.hit.kind,
                "excerpts": [
                    {"start_line": part.first, "end_line": part.last, "text": "\n".join(part.lines)}
                    for part in one.hit.excerpts
                ],
            }
            for one in found.hits
        ],
        "more": found.more,
        "messages": found.messages,
        "files": found.files,
        "files_read": found.read,
        "files_left": found.left,
        "unreadable": [{"uri": uri, "reason": reason} for uri, reason in found.unreadable],
    }


def _as_text(query: str, found: Sweep) -> str:
    from sessionlab.recall import block_text  # noqa: PLC0415 (only for the text)

    parts = []
    for (session, uri), hits in groupby(found.hits, key=_place):
        shown = (output.visible(line) for one in hits for line in f"{block_text(one.hit)}\n".split("\n"))
        parts.append(f"── {output.visible(session or 'no header')}  {output.visible(uri)}\n" + "\n".join(shown))
    return "\n".join([*parts, _closing(query, found)]) + "\n"


def _place(one: FileHit) -> tuple[str | None, str]:
    return one.session_id, one.uri


def _closing(query: str, found: Sweep) -> str:
    files = output.counted(found.files, "file")
    if not found.hits:
        told = f"no match for {output.visible(query)!r} in {files}"
    else:
        places = len({_place(one) for one in found.hits})
        told = f"{output.counted(len(found.hits), 'matching block')} in {places:,} of {files}"
        if found.more:
            told += f", {found.more:,} more in the files read"
        if found.left:
            told += f"; {output.counted(found.left, 'older file')} not searched (-n shows more, --count counts all)"
    lines = [told]
    lines += [f"not read to its end: {output.visible(uri)}: {reason}" for uri, reason in found.unreadable]
    return "\n".join(lines)
