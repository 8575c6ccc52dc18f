"""The starter notebooks: how they are kept, and that each runs from top to bottom, today and 400 days on."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient

import sessionlab as sl
from sessionlab.bundled import notebooks, samples

if TYPE_CHECKING:
    from datetime import datetime

ROOT = Path(__file__).parent.parent.parent
FILES = sorted(notebooks().glob("*.ipynb"))
NAMES = ["01_run_quality", "02_repricing", "03_dashboard", "04_one_session"]
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(params=FILES, ids=[file.stem for file in FILES])
def notebook(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    """Each notebook as it is kept."""
    return nbformat.read(request.param, as_version=4)


@pytest.fixture(scope="module")
def corpus() -> sl.Corpus:
    """The samples, asked here without a notebook."""
    return sl.load(samples() / "corpus")


def sources(notebook: nbformat.NotebookNode, kind: str) -> list[str]:
    """The texts of the cells of one kind."""
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


def executed(name: str, tmp_path: Path, now: datetime | None = None) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell after a run in a kernel of its own, with the clock at ``now``."""
    notebook = nbformat.read(notebooks() / f"{name}.ipynb", as_version=4)
    clock = (
        "import datetime, functools, sessionlab\n"
        f"sessionlab.load = functools.partial(sessionlab.load, now=datetime.datetime.fromisoformat('{now}'))"
        if now
        else ""
    )
    notebook.cells.insert(0, nbformat.v4.new_code_cell(clock))
    own = {
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path),
        "HOME": str(tmp_path),
    }
    client = NotebookClient(
        notebook, timeout=30, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute(env=os.environ | own)
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"][1:]


def shown(outputs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """What the cells show, by kind of content."""
    return [output["data"] for cell in outputs for output in cell if "data" in output]


def cells_of(table: str) -> list[list[str]]:
    """The cells of a polars frame's HTML table, row by row, without quotes."""
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    return [[re.sub(r"&quot;|\"", "", cell) for cell in re.findall(r"<td>(.*?)</td>", row, re.DOTALL)] for row in rows]


def test_the_four_of_them() -> None:
    """There are four notebooks, in this order."""
    assert [file.stem for file in FILES] == NAMES


def test_kept_without_outputs(notebook: nbformat.NotebookNode) -> None:
    """No output, no execution count, no state of widgets, nothing about the machine it was written on."""
    for cell in notebook.cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
        assert cell.metadata == {}
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert set(notebook.metadata.language_info) == {"name"}
    nbformat.validate(notebook)


def test_begins_with_a_question(notebook: nbformat.NotebookNode) -> None:
    """The first cell is a heading that asks; every cell of code is announced by a sentence."""
    kinds = [cell.cell_type for cell in notebook.cells]
    heading = notebook.cells[0].source.splitlines()[0]
    assert kinds[0] == "markdown"
    assert heading.startswith("# ")
    assert heading.endswith("?")
    assert all(before == "markdown" for before, kind in pairwise(kinds) if kind == "code")


def test_says_how_to_load_ones_own(notebook: nbformat.NotebookNode) -> None:
    """Each notebook loads the bundled samples, and tells what to change; the dashboard is told on the command line."""
    code, words = "\n".join(sources(notebook, "code")), "\n".join(sources(notebook, "markdown"))
    if "default_paths()" in code:
        return
    assert 'sl.load(samples() / "corpus")' in code
    assert "change the line that loads" in words.replace("\n", " ")


@pytest.mark.parametrize("name", NAMES)
def test_runs_without_a_word_on_stderr(name: str, tmp_path: Path) -> None:
    """No cell fails, prints or warns, and the last one shows something."""
    outputs = executed(name, tmp_path)
    assert [output for cell in outputs for output in cell if output["output_type"] == "stream"] == []
    assert outputs[-1][-1]["output_type"] == "execute_result"


def test_run_quality_finds_the_model_and_its_weeks(tmp_path: Path, any_now: datetime) -> None:
    """Told at any time, it names the one model, whose two weeks are far worse than the rest of its time."""
    data = shown(executed("01_run_quality", tmp_path, any_now))
    tables = [cells_of(one["text/html"]) for one in data if "dataframe" in one.get("text/html", "")]
    findings = next(table for table in tables if any("fails its tool calls" in cell for row in table for cell in row))
    assert {row[0] for row in findings} == {"claude-sonnet-4-5"}
    [weeks, rest] = next(table for table in tables if table[0][0] == "the two weeks")
    assert rest[0] == "before and after"
    assert float(weeks[3]) > 3 * float(rest[3])
    assert float(weeks[5]) > 3 * float(rest[5])
    assert sum(WIDGET in one for one in data) == 3


def test_repricing_sums_what_the_views_say(tmp_path: Path, any_now: datetime, corpus: sl.Corpus) -> None:
    """Its three sums are those of `cost.by_model` at three kinds of rates, computed here at the same clock."""
    data = shown(executed("02_repricing", tmp_path, any_now))
    tables = [cells_of(one["text/html"]) for one in data if "dataframe" in one.get("text/html", "")]
    told = next(table for table in tables if table[0][0].startswith("of each call"))
    free = corpus.reprice("call", rate_file=str(samples() / "rates.toml"))
    then = any_now.replace(tzinfo=None)
    expected = [free, free.reprice(then), free.reprice(then, like="claude-opus-4-5")]
    for row, priced in zip(told, expected, strict=True):
        models = priced.view("cost.by_model")
        known = [usd for usd in models["cost_usd"].to_list() if usd is not None]
        assert (float(row[1]), int(row[2])) == (pytest.approx(sum(known), abs=0.0006), models["unpriced"].sum())
    unpriced = [table for table in tables if any("no rate for the model" in cell for row in table for cell in row)]
    assert [{row[1] for row in table} for table in unpriced] == [
        {"finch-7b", "sparrow-1", "nest/sparrow-1"},
        {"sparrow-1", "nest/sparrow-1"},
    ]


def test_one_session_draws_both_timelines(tmp_path: Path) -> None:
    """It shows two widgets, each with the still picture that a saved notebook keeps."""
    data = [one for one in shown(executed("04_one_session", tmp_path)) if WIDGET in one]
    assert [one["text/plain"].split(":")[0] for one in data] == ["AgentTimeline", "TaintTimeline"]
    assert all("data:image/svg+xml" in one["text/html"] for one in data)
