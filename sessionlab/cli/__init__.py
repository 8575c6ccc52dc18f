"""The command line: one command per question, ``--json`` on each.

Exit codes: 0 done; 1 something was refused, or a check found a difference; 2 wrong use.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

import typer

from sessionlab.cli import (
    ask,
    compare,
    datalayer,
    diff,
    gg,
    health,
    mecha,
    pages,
    pins,
    recall,
    redact,
    replay,
    sessions,
    start,
    stats,
)
from sessionlab.cli.output import visible
from sessionlab.errors import SessionlabError

__all__ = ["app", "main"]

app = typer.Typer(
    name="sessionlab",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Recorded agent sessions: what they cost, how they went, what had entered them.",
)
for _room in (
    start,
    sessions,
    stats,
    health,
    compare,
    recall,
    ask,
    diff,
    replay,
    pins,
    pages,
    redact,
    gg,
    mecha,
    datalayer,
):
    _room.register(app)


def main() -> None:
    """Run the command line; an error a caller may catch, and a file that cannot be used, is one sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no › shows ?, not a traceback
    try:
        app()
    except SessionlabError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'output'}: {error.strerror or error}")


def _fail(sentence: str) -> None:
    shown = "\n".join(visible(line) for line in sentence.splitlines())
    sys.stderr.write(f"sessionlab: {shown}\n")
    sys.exit(2)
