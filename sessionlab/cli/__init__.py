"""The command line: one command per question, ``--json`` on each.

Exit codes: 0 done; 1 something was refused, or a check found a difference; 2 wrong use.
"""

from __future__ import annotations

import sys

import typer

from sessionlab.cli import ask, pages, sessions, start
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
for _room in (start, sessions, ask, pages):
    _room.register(app)


def main() -> None:
    """Run the command line; an error a caller may catch is one sentence on stderr."""
    try:
        app()
    except SessionlabError as error:
        sys.stderr.write(f"sessionlab: {error}\n")
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has gone (`| head`)
        sys.stderr.close()
        sys.exit(0)
