"""Commands to begin with: the demo on the bundled samples, JupyterLab on the notebooks, the dashboard."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab import bundled
from sessionlab.cli import options, output
from sessionlab.cli.options import Json, Now, Paths
from sessionlab.errors import SessionlabError

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

Folder = Annotated[Path, typer.Argument(help="Where to put the notebooks; those already there are left as they are.")]
Port = Annotated[int | None, typer.Option("--port", help="Port to serve on.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]

_JUPYTER = Path(__file__).parent.parent / "jupyter"
"""What Jupyter is given when it is started here: the dashboard's page template, and settings other than its own."""


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (demo, lab, dashboard):
        app.command()(command)


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Where to write the page.")] = Path("sessionlab-demo.html"),
    json: Json = False,
    now: Now = None,
) -> None:
    """The main job on the bundled samples: costs, health, and a page with both timelines."""
    samples = bundled.samples()
    corpus = options.load([str(samples / "corpus")], bodies=True, rate_file=samples / "rates.toml", tz="UTC", now=now)
    from sessionlab.cli.health import as_json, as_text  # noqa: PLC0415 (kept beside its use)
    from sessionlab.cli.pages import both_pages  # noqa: PLC0415 (anywidget loads with it)

    agents_of, taint_of = _most_agents(corpus), _most_taint(corpus)
    hidden = {"test": 0, "experiment": 0}
    out.write_text(both_pages(corpus, agents_of, taint_of, "sessionlab: two sessions of the samples"), encoding="utf-8")
    by_model = corpus.reprice("now").view("cost.by_model")
    if json:
        output.print_json(
            {
                "stats": output.records(corpus.view("cost.stats")),
                "cost_by_model": output.records(by_model),
                "health": as_json(corpus, hidden),
                "page": str(out.resolve()),
            }
        )
        return
    shown = by_model.select("provider", "model", "sessions", "calls", "output_tokens", "cost_usd", "unpriced")
    console = output.console()
    console.print(repr(corpus).rsplit("\n", 1)[0])
    output.print_table(shown, title="\nWhat it would cost at today's rates", totals=True)
    console.print("How it went", style="italic")
    sys.stdout.write(as_text(corpus, hidden, None))
    sys.stdout.write(f"\nBoth timelines, agents and taint, are on this page:\n  {out.resolve()}\n")
    sys.stdout.write("Next: sessionlab list ~/.claude/projects, sessionlab views, sessionlab lab\n")


def _most_agents(corpus: Corpus) -> str:
    return str(
        corpus.sql(
            "SELECT session_id FROM agents GROUP BY session_id ORDER BY count(*) DESC, session_id LIMIT 1"
        ).item()
    )


def _most_taint(corpus: Corpus) -> str:
    return str(
        corpus.sql(
            "SELECT session_id FROM taint.timeline WHERE kind = 'message' GROUP BY session_id"
            " ORDER BY count(DISTINCT state) DESC, count(*) DESC, session_id LIMIT 1"
        ).item()
    )


def lab(folder: Folder = Path("sessionlab-notebooks"), port: Port = None, no_browser: NoBrowser = False) -> None:
    """JupyterLab on the starter notebooks, copied into a folder of yours; it keeps what widgets show when it saves."""
    _needs("jupyterlab")
    _copy_notebooks(folder)
    command = [sys.executable, "-m", "jupyterlab", str(folder)]
    command += [f"--ServerApp.port={port}"] * (port is not None) + ["--no-browser"] * no_browser
    _become(command, _environment())


def dashboard(paths: Paths = None, port: Port = None, no_browser: NoBrowser = False) -> None:
    """The dashboard over outcome records, served by Voila on this machine; on the samples where no session store is."""
    _needs("voila")
    from sessionlab.paths import find  # noqa: PLC0415 (fsspec loads with it)

    given = [_absolute(path) for path in paths or []]
    find(given)  # a path that names nothing is told here, not on a page that stays empty
    command = [sys.executable, "-m", "voila", str(bundled.notebooks() / "03_dashboard.ipynb"), "--template=sessionlab"]
    command += [f"--port={port}"] * (port is not None) + ["--no-browser"] * no_browser
    environment = _environment()
    if given:
        environment["SESSIONLAB_PATHS"] = "\n".join(given)
    _become(command, environment)


def _become(command: list[str], environment: dict[str, str]) -> None:
    """Run a server in place of this process, so that who stops the one stops the other."""
    if os.name == "posix":
        os.execve(command[0], command, environment)  # noqa: S606 (our own interpreter and arguments)
    raise typer.Exit(subprocess.call(command, env=environment))  # noqa: S603 (the same)


def _absolute(path: str) -> str:
    """The path from wherever Voila runs its kernels; a URL is as it is."""
    return path if "://" in path else os.path.abspath(Path(path).expanduser())  # noqa: PTH100 (a glob is no path yet)


def _environment() -> dict[str, str]:
    """This environment, in which Jupyter finds our page template and settings besides, and before, its own."""
    environment = dict(os.environ)
    for variable in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH"):
        told = environment.get(variable)
        environment[variable] = os.pathsep.join([str(_JUPYTER), *([told] if told else [])])
    return environment


def _needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise SessionlabError(f"{module} is not installed; expected the extra `lab`: pip install 'sessionlab[lab]'")


def _copy_notebooks(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(bundled.notebooks().glob("*.ipynb")):
        place = folder / notebook.name
        if not place.exists():
            shutil.copy(notebook, place)
