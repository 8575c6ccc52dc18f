"""The commands on datalayer session files: check, export, import, clone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import output
from sessionlab.cli.datalayer_export import export
from sessionlab.cli.datalayer_store import clone, import_
from sessionlab.cli.options import Json
from sessionlab.cli.secrets import AppspecFile, SecretNames, declared
from sessionlab.errors import WrongUse

if TYPE_CHECKING:
    from sessionlab.redaction import Finding
    from sessionlab.systems.datalayer import Verdict

app = typer.Typer(name="datalayer", no_args_is_help=True, help="datalayer session files: check, export, import, clone.")
_LEAKS = 20
"""So many leaks of a file are printed; `--json` has them all."""


def register(parent: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (check, export, clone):
        app.command()(command)
    app.command("import")(import_)
    parent.add_typer(app)


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Session files, team files.")],
    leaks: Annotated[
        bool, typer.Option("--leaks", help="Also name what the format's own redaction rules leave in a file.")
    ] = False,
    secret: SecretNames = None,
    appspec: AppspecFile = None,
    json: Json = False,
) -> None:
    """Whether an importer takes each file, and if not, why; exit code 1 when one is refused, or leaks."""
    from sessionlab.systems.datalayer import check_file, leaks_of  # noqa: PLC0415 (a command that does not need it starts faster)

    absent = [str(file) for file in files if not file.is_file()]
    if absent:
        raise WrongUse(f"{', '.join(absent)}: no such file (of a folder name its files: FOLDER/*.session.jsonl)")
    values = declared(secret, appspec) if leaks or secret or appspec else []
    told: list[dict[str, object]] = []
    held = True
    for file in files:
        verdict = check_file(file)
        found = leaks_of(file.read_bytes(), declared=values) if leaks and verdict.ok else []
        held = held and verdict.ok and not found
        told.append(
            {"file": str(file), **_row(verdict), **({"leaks": [one._asdict() for one in found]} if leaks else {})}
        )
        if not json:
            sys.stdout.write(f"{output.visible(str(file))}: {_line(verdict)}\n")
            _print_leaks(found, asked=leaks and verdict.ok)
    if json:
        output.print_json(told)
    if not held:
        raise typer.Exit(1)


def _line(verdict: Verdict) -> str:
    if not verdict.ok:
        return f"refused ({verdict.name}, {verdict.status}): {output.visible(verdict.sentence or '')}"
    what = "session" if verdict.kind == "session" else f"team of {output.counted(verdict.sessions, 'session')}"
    notes = f"; {output.counted(len(verdict.notes), 'note')}: {'; '.join(verdict.notes)}" if verdict.notes else ""
    return (
        f"taken: {what}, {output.counted(verdict.turns, 'turn')}, {verdict.entries:,}"
        f" {'entry' if verdict.entries == 1 else 'entries'}, {verdict.bytes:,} bytes{output.visible(notes)}"
    )


def _row(verdict: Verdict) -> dict[str, object]:
    return {name: getattr(verdict, name) for name in verdict.__struct_fields__}


def _print_leaks(found: list[Finding], *, asked: bool) -> None:
    if asked and not found:
        sys.stdout.write("  no leak found\n")
    for leak in found[:_LEAKS]:
        times = "" if leak.count == 1 else f", {leak.count:,} times"
        sys.stdout.write(f"  leaks: {leak.rule} at {output.visible(leak.place)}{times}\n")
    if len(found) > _LEAKS:
        sys.stdout.write(f"  and {len(found) - _LEAKS:,} more places; --json names them all\n")
