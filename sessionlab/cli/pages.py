"""Commands that draw one session as a self-contained page: timeline and taint."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output
from sessionlab.cli.options import Json, Paths

NAME_LENGTH = 100
"""Characters of a session's id that a page's name takes: file systems end at some 250 bytes."""
WINDOW_ITEMS = 50_000
"""Items of all windows of a session together above which a page leaves the windows out."""

if TYPE_CHECKING:
    import polars as pl

    from sessionlab.corpus import Corpus
    from sessionlab.widgets import AgentTimeline

Identifier = Annotated[str, typer.Argument(metavar="ID", help="A session id, or the beginning of one.")]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="Where to write the page; default: ./ID.KIND.html.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(timeline)
    app.command()(taint)


def timeline(
    identifier: Identifier, paths: Paths = None, out: Out = None, show: Open = False, json: Json = False
) -> None:
    """One session's agents over time, as a page that needs no network."""
    corpus = options.load(paths, bodies=True)
    session_id = corpus.session_id(identifier)
    if json:
        output.print_json(output.records(corpus.view("timeline.spans", session_id=session_id)))
        return
    _write(agent_page(corpus, session_id), out or _place(session_id, "timeline"), show)


def taint(identifier: Identifier, paths: Paths = None, out: Out = None, show: Open = False, json: Json = False) -> None:
    """When private and outside content entered one session, as a page that needs no network."""
    corpus = options.load(paths, bodies=True)
    session_id = corpus.session_id(identifier)
    if json:
        output.print_json(output.records(corpus.view("taint.timeline", session_id=session_id)))
        return
    _write(taint_page(corpus, session_id), out or _place(session_id, "taint"), show)


def agent_page(corpus: Corpus, session_id: str) -> str:
    """The page of one session's agent timeline."""
    from sessionlab import widgets  # noqa: PLC0415 (anywidget loads with it)

    return widgets.page([_agents(corpus, session_id)], title=f"{_title(corpus, session_id)}: agents over time")


def taint_page(corpus: Corpus, session_id: str) -> str:
    """The page of one session's taint timeline."""
    from sessionlab import widgets  # noqa: PLC0415 (anywidget loads with it)

    shown = widgets.TaintTimeline(corpus.view("taint.timeline", session_id=session_id))
    return widgets.page([shown], title=f"{_title(corpus, session_id)}: what had entered when")


def both_pages(corpus: Corpus, agents_of: str, taint_of: str, title: str) -> str:
    """One page with both timelines."""
    from sessionlab import widgets  # noqa: PLC0415 (anywidget loads with it)

    shown = widgets.TaintTimeline(corpus.view("taint.timeline", session_id=taint_of))
    return widgets.page([_agents(corpus, agents_of), shown], title=title)


def _agents(corpus: Corpus, session_id: str) -> AgentTimeline:
    from sessionlab import widgets  # noqa: PLC0415 (anywidget loads with it)

    return widgets.AgentTimeline(corpus.view("timeline.spans", session_id=session_id), _details(corpus, session_id))


def _details(corpus: Corpus, session_id: str) -> pl.DataFrame:
    """What the entries hold; of a very long session without the windows, whose items grow with its square."""
    listed = corpus.sql(
        "SELECT coalesce(sum(messages), 0) FROM entries WHERE session_id = ? AND kind IN ('model_call', 'window')",
        [session_id],
    ).item()
    if listed <= WINDOW_ITEMS:
        return corpus.view("timeline.details", session_id=session_id)
    return corpus.sql("SELECT * FROM timeline.details WHERE session_id = ? AND part <> 'window'", [session_id])


def _title(corpus: Corpus, session_id: str) -> str:
    [(title,)] = corpus.sql(
        "SELECT coalesce(title, session_id) FROM sessions WHERE session_id = ?", [session_id]
    ).rows()
    return str(title)


def _place(session_id: str, kind: str) -> Path:
    name = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in session_id)[:NAME_LENGTH]
    return Path(f"{name}.{kind}.html")


def _write(page: str, out: Path, show: bool) -> None:
    out.write_text(page, encoding="utf-8")
    sys.stdout.write(f"{out.resolve()}\n")
    if show:
        webbrowser.open(out.resolve().as_uri())
