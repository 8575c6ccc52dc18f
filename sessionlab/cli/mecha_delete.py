"""`sessionlab mecha delete`: a session's whole id in; what was deleted of it, and what was not, out (mecha 15)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import output
from sessionlab.cli.options import Json
from sessionlab.errors import WrongUse

if TYPE_CHECKING:
    from sessionlab.systems.mecha.forgetting import Places, Report

_PROGRAM = "mecha-graph"
_SECONDS = 120.0

Identifier = Annotated[
    str | None, typer.Argument(metavar="ID", help="A whole session id: the beginning of one is refused.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the walk and change nothing.")]
Unfinished = Annotated[bool, typer.Option("--unfinished", help="List the sessions whose delete is not finished.")]
Home = Annotated[Path | None, typer.Option("--home", help="The mecha home; default: $MECHA_HOME, else ~/.mecha.")]
Sessions = Annotated[
    Path | None,
    typer.Option(
        "--sessions", help="The session directory; default: `sessions` of a home given, else as mecha has it."
    ),
]
StoreOption = Annotated[
    list[str] | None,
    typer.Option("--store", metavar="NAME=DIR", help="A store that is elsewhere, such as outbox=/data/outbox."),
]
GraphOption = Annotated[str, typer.Option("--graph", help="The knowledge graph's program: a name or a path.")]
GraphSeconds = Annotated[float, typer.Option("--graph-seconds", min=0.0, help="How long that program may take.")]


def delete(
    session_id: Identifier = None,
    dry_run: DryRun = False,
    unfinished: Unfinished = False,
    json: Json = False,
    home: Home = None,
    sessions: Sessions = None,
    store: StoreOption = None,
    graph: GraphOption = _PROGRAM,
    graph_seconds: GraphSeconds = _SECONDS,
) -> None:
    """Delete a session and everything derived from it; exit code 1 when it is not gone, or a file still names it.

    A delete that could not finish says so, and is finished by the same command.
    """
    from sessionlab.systems.mecha import forgetting  # noqa: PLC0415 (a command that does not need it starts faster)

    if unfinished == (session_id is not None):
        raise WrongUse("delete: expected the whole id of a session, or --unfinished; found " + _found(session_id))
    places = _places(home, sessions, store)
    if session_id is None:
        left = forgetting.unfinished(places.sessions)
        if json:
            output.print_json(left)
        else:
            told = "".join(f"{output.visible(one)}\n" for one in left)
            sys.stdout.write(told or "no delete is unfinished\n")
        raise typer.Exit(int(bool(left)))
    report = forgetting.forget(places, session_id, graph=forgetting.Graph(graph, graph_seconds), dry_run=dry_run)
    if json:
        output.print_json(report.as_dict())
    else:
        sys.stdout.write(_told(report))
    raise typer.Exit(report.exit_code)


def _found(session_id: str | None) -> str:
    return "neither" if session_id is None else "both"


def _places(home: Path | None, sessions: Path | None, stores: list[str] | None) -> Places:
    """As given, else as the environment has it: of a home that is given, the sessions are its own."""
    from sessionlab.systems.mecha import mecha_home, session_directory  # noqa: PLC0415 (the same)
    from sessionlab.systems.mecha.forgetting import places  # noqa: PLC0415 (the same)

    moved: dict[str, Path] = {}
    for told in stores or ():
        name, equals, folder = told.partition("=")
        if not equals or not folder:
            raise WrongUse(f"--store: expected NAME=DIR, found {told!r}")
        moved[name] = Path(folder).expanduser()
    if sessions is None and home is None:
        sessions = session_directory()
    home = mecha_home() if home is None else home.expanduser()
    return places(home, None if sessions is None else sessions.expanduser(), moved)


def _told(report: Report) -> str:
    """The walk, what is left and why, and how it ended."""
    width = max((len(name) for name, _ in report.removed), default=0)
    verb = "would lose" if report.rehearsed else "lost"
    lines = [f"{name:<{width}}  {verb} {count:,}" if count else f"{name:<{width}}  —" for name, count in report.removed]
    for heading, sentences in (("kept", report.kept), ("still there", report.traces), ("failed", report.errors)):
        lines += [f"{heading}: {output.visible(one)}" for one in sentences]
    if report.rehearsed:
        ending = "would be deleted" if report.complete else "would be partly deleted"
        lines.append(f"{report.id}: {ending}; nothing was changed")
    elif report.complete:
        lines.append(f"{report.id}: deleted")
    else:
        lines.append(f"{report.id}: partly deleted; the transcript is set aside: run the same command again to finish")
    return "\n".join(lines) + "\n"
