"""A folder of run directories goes in; a server of their session records, until it is interrupted, comes out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of run directories: DIR/ID/replay.json.gz is a record.")
]
Host = Annotated[str, typer.Option("--host", help="Address to listen on; other machines reach only those of yours.")]
Port = Annotated[int, typer.Option("--port", help="Port to listen on; 0: any free one.", min=0, max=65_535)]


def serve(folder: Folder, host: Host = "127.0.0.1", port: Port = 8707) -> None:
    """Session records over HTTP: GET /runs lists them, /runs/ID/replay sends one, as gzip or decoded as asked."""
    from sessionlab.systems.gg import serving  # noqa: PLC0415 (needs the extra `serve`)

    def announce(url: str) -> None:
        sys.stdout.write(f"{url} lists the runs in {folder.resolve()}; Ctrl+C stops\n")
        sys.stdout.flush()

    serving.serve(folder, host, port, announce=announce)
