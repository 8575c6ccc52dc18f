"""The commands on a mecha session store: list, show, path, archive, unarchive, delete."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import output
from sessionlab.cli.mecha_delete import delete
from sessionlab.cli.options import Days, Json, Now, clock

if TYPE_CHECKING:
    from sessionlab.systems.mecha import Store, StoredSession


class Generation(StrEnum):
    """Whose output is meant: release 0.1.11's, or the later one's (mecha 16.4)."""

    a = "a"
    b = "b"


Directory = Annotated[
    Path | None,
    typer.Option(
        "--sessions",
        metavar="DIR",
        help="The session directory; default: $MECHA_SESSION_DIR, else `sessions` of the mecha home.",
    ),
]
Identifier = Annotated[str, typer.Argument(metavar="ID", help="A session id, or the beginning of one.")]
Lines = Annotated[
    Generation, typer.Option("--generation", help="`a`: lines as release 0.1.11 prints them; `b`: as later builds do.")
]

app = typer.Typer(name="mecha", no_args_is_help=True, help="A mecha session store: list, show, file away, delete.")


def register(parent: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("list")(list_sessions)
    for command in (show, path, archive, unarchive, delete):
        app.command()(command)
    parent.add_typer(app)


def list_sessions(
    sessions: Directory = None,
    days: Days = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only sessions of this front end: run, chat, web …")
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Show this many, newest first.")] = 20,
    generation: Lines = Generation.b,
    json: Json = False,
    now: Now = None,
) -> None:
    """The sessions, newest first, by the first line of each file: as fast as a store of any size allows."""
    from sessionlab.systems.mecha import list_line  # noqa: PLC0415 (a command that does not need it starts faster)

    store = _store(sessions)
    found = store.listing(days=days, kind=kind, limit=limit, now=clock(now))
    if json:
        rows = [_row(one) for one in found.sessions]
        output.print_json({"sessions": rows, "more": found.more, "skipped": found.skipped})
        return
    if not found.sessions:
        sys.stdout.write(f"no session in {output.visible(str(store.folder))}\n")
    for one in found.sessions:
        sys.stdout.write(f"{output.visible(list_line(one, generation.value))}\n")
    if found.more:
        sys.stdout.write(f"… {found.more:,} more (-n {len(found.sessions) + found.more})\n")
    if found.skipped and generation is Generation.b:
        files = "1 file has" if found.skipped == 1 else f"{found.skipped:,} files have"
        sys.stdout.write(f"{files} no readable header\n")


def show(
    identifier: Identifier, sessions: Directory = None, generation: Lines = Generation.b, json: Json = False
) -> None:
    """A session's conversation; with --json, its file's bytes unchanged."""
    from sessionlab.systems.mecha import load, show_lines  # noqa: PLC0415 (the same)

    file = _store(sessions).find(identifier).path
    if json:
        with file.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
        return
    for line in show_lines(load(file), generation.value):
        sys.stdout.write(f"{output.visible(line)}\n")


def path(identifier: Identifier, sessions: Directory = None, json: Json = False) -> None:
    """The file of a session."""
    file = str(_store(sessions).find(identifier).path)
    if json:
        output.print_json(file)
    else:
        sys.stdout.write(f"{file}\n")


def archive(identifier: Identifier, sessions: Directory = None, json: Json = False, now: Now = None) -> None:
    """File a session away: a mark, which no reader of transcripts notices."""
    store = _store(sessions)
    session_id = _whole(store, identifier)
    changed = store.archive(session_id, now=clock(now))
    _told(session_id, "archived" if changed else "was archived already", archived=True, changed=changed, json=json)


def unarchive(identifier: Identifier, sessions: Directory = None, json: Json = False) -> None:
    """Take the mark of a session away."""
    store = _store(sessions)
    session_id = identifier if store.is_archived(identifier) else _whole(store, identifier)
    changed = store.unarchive(session_id)
    _told(session_id, "unarchived" if changed else "was not archived", archived=False, changed=changed, json=json)


def _store(sessions: Path | None) -> Store:
    from sessionlab.systems.mecha import Store  # noqa: PLC0415 (the same)

    return Store(None if sessions is None else sessions.expanduser())


def _whole(store: Store, identifier: str) -> str:
    """The whole id that is meant: an id itself, else the one session it is the beginning of."""
    return identifier if store.holds(identifier) else store.find(identifier).id


def _row(session: StoredSession) -> dict[str, object]:
    row = {name: getattr(session, name) for name in session.__struct_fields__}
    times = {name: value.replace(tzinfo=None) for name, value in row.items() if name.endswith("_at") and value}
    return {**row, **times}


def _told(session_id: str, words: str, *, archived: bool, changed: bool, json: bool) -> None:
    if json:
        output.print_json({"id": session_id, "archived": archived, "changed": changed})
    else:
        sys.stdout.write(f"{output.visible(session_id)} {words}\n")
