"""The commands `datalayer import` and `datalayer clone`: sessions taken into a local store, and cut from it anew."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from sessionlab.cli import output
from sessionlab.cli.options import Json, Now, clock
from sessionlab.errors import SessionRefused, WrongUse

_NAMED_WRONGLY = frozenset({"unknown_session", "unknown_format", "beyond_turns"})
IMPORTER = "me"
"""Author of what is imported or cloned, unless told."""

StoreFolder = Annotated[
    Path, typer.Option("--store", envvar="SESSIONLAB_STORE", metavar="DIR", help="The folder that keeps sessions.")
]
By = Annotated[str, typer.Option("--by", metavar="UID", help="The author of the new session.")]
Agent = Annotated[str | None, typer.Option("--agent", help="Another agent than the one it was recorded with.")]
ApplicationsFile = Annotated[
    Path | None,
    typer.Option(
        "--applications",
        dir_okay=False,
        help="The applications known here, with their versions and agents (JSON, TOML).",
    ),
]


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A session file.")],
    store: StoreFolder,
    by: By = IMPORTER,
    agent: Agent = None,
    applications: ApplicationsFile = None,
    json: Json = False,
    now: Now = None,
) -> None:
    """Take a session file into a store as a new session of yours; nothing in it is run. Exit code 1: refused."""
    from sessionlab.systems import datalayer  # noqa: PLC0415 (a command that does not need it starts faster)

    if not file.is_file():
        raise WrongUse(f"{file}: no such file")
    known = None if applications is None else datalayer.Applications.read(applications)
    try:
        done = datalayer.import_file(
            file, datalayer.Store(store), by=by, agent=agent, applications=known, now=clock(now)
        )
    except SessionRefused as refusal:
        refused(refusal, json=json)
    if json:
        output.print_json(done.as_dict())
        return
    sys.stdout.write(
        f"{done.uid}: {done.state}, {output.counted(done.turns, 'turn')},"
        f" {output.counted(done.redactions, 'redaction')}, {output.visible(done.title)!r}\n"
    )
    for note in done.notes:
        sys.stdout.write(f"  {output.visible(note)}\n")
    if done.versions.file != done.versions.current:
        sys.stdout.write(
            f"  recorded with version {done.versions.file} of the application; here it is {done.versions.current}\n"
        )


def clone(
    uid: Annotated[str, typer.Argument(metavar="UID", help="A session of the store.")],
    store: StoreFolder,
    at_turn: Annotated[int | None, typer.Option("--at-turn", min=0, help="Cut after this turn; default: all.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="Its title; default: the source's.")] = None,
    by: By = IMPORTER,
    agent: Agent = None,
    applications: ApplicationsFile = None,
    json: Json = False,
    now: Now = None,
) -> None:
    """Cut a new session from one of the store, after a turn; the source stays, and says that it was cloned."""
    from sessionlab.systems import datalayer  # noqa: PLC0415 (the same)

    known = None if applications is None else datalayer.Applications.read(applications)
    try:
        done = datalayer.clone(
            datalayer.Store(store), uid, at_turn=at_turn, title=title, by=by, agent=agent, applications=known,
            now=clock(now),
        )  # fmt: skip
    except SessionRefused as refusal:
        refused(refusal, json=json)
    if json:
        output.print_json(done.as_dict())
    else:
        sys.stdout.write(f"{done.uid}: {done.state}, {output.counted(done.turns, 'turn')}, cut from {uid}\n")


def refused(refusal: SessionRefused, *, json: bool, hint: str = "") -> NoReturn:
    """Say why an export, import or clone is refused, and leave: with 2 where something was named that is not there.

    ``hint``: what would help where the caps refuse.
    """
    if json:
        told = {"refused": refusal.kind, "status": refusal.status, "line": refusal.line, "detail": str(refusal)}
        output.print_json(told)
    else:
        sys.stderr.write(f"sessionlab: {output.visible(str(refusal))}\nnothing was written\n")
        if hint and refusal.kind == "too_large":
            sys.stderr.write(f"{hint}\n")
    raise typer.Exit(2 if refusal.kind in _NAMED_WRONGLY else 1)
