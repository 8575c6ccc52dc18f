"""The promises the house makes about itself: names, light import, the dictionary, the size of a room."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sessionlab
from sessionlab.columns import SQL_TYPES
from sessionlab.tables import ENTRY_KINDS, TABLES, plain_columns
from tests.conftest import ROOT

HEAVY = ("duckdb", "polars", "altair", "anywidget", "ipywidgets", "pyarrow", "genai_prices", "typer", "rich", "pandas")
UNITS = {"_at": "TIMESTAMP", "_ms": "BIGINT", "_tokens": "BIGINT", "_bytes": "BIGINT", "_usd": "DOUBLE"}
RESERVED = {"window", "limit", "at", "end", "order", "group", "select", "from", "where", "table", "index", "user"}


def test_public_names_are_sorted_complete_and_there() -> None:
    """`__all__` is the public surface: sorted, each name brought when asked, nothing else offered."""
    assert sessionlab.__all__ == sorted(sessionlab.__all__)
    for name in sessionlab.__all__:
        assert getattr(sessionlab, name) is not None
    assert set(dir(sessionlab)) == {*sessionlab.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sessionlab.nothing  # noqa: B018


def test_import_is_light() -> None:
    """Importing the package loads none of the heavy libraries."""
    code = f"import sys, sessionlab; print([m for m in {HEAVY} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_error_is_in_the_drawn_tree() -> None:
    """The tree in the docstring of `errors` names every error, under its parent."""
    from sessionlab import errors

    drawn = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([\s│]*)(?:[├└]── )?([A-Z]\w+)", line)
        if found and found[2] in vars(errors):
            depth = (len(line) - len(line.lstrip(" │├└─")) - 4) // 4
            path[depth:] = [found[2]]
            drawn[found[2]] = path[depth - 1] if depth else None
    real = {k: v for k, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.SessionlabError)}
    assert set(drawn) == set(real)
    for name, parent in drawn.items():
        assert parent is None or real[name].__bases__[0].__name__ == parent


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_column_has_a_sentence_a_type_and_its_unit(table: str) -> None:
    """The dictionary is whole, and a unit in a name means that type."""
    names = [c.name for c in plain_columns(TABLES[table])]
    assert len(set(names)) == len(names)
    if table != "prices":
        assert names[0] == "source_id"
    for column in plain_columns(TABLES[table]):
        assert column.type in SQL_TYPES
        assert column.doc[0].isupper() or column.doc[0] in "`63f"
        assert column.doc.endswith((".", "…"))
        assert column.name not in RESERVED
        assert re.fullmatch(r"[a-z][a-z0-9_]*", column.name)
        for ending, kind in UNITS.items():
            if column.name.endswith(ending):
                assert column.type == kind, column.name


def test_entry_kinds_are_a_closed_list() -> None:
    """The kinds are words, each once."""
    assert len(set(ENTRY_KINDS)) == len(ENTRY_KINDS) == 29


def _sources() -> list[Path]:
    return [
        path for path in sorted(ROOT.rglob("*"))
        if path.suffix in {".py", ".js", ".css", ".sql"} and not {"build", "dist", ".venv"} & set(path.parts)
    ]  # fmt: skip


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    """A longer module is a design question."""
    long = {str(p.relative_to(ROOT)): n for p in _sources() if (n := len(p.read_text().splitlines())) > 400}
    assert not long


def test_rooms_are_named_by_subject() -> None:
    """No room is called after what everything could be put in."""
    banned = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
    assert not [p for p in _sources() if {part.strip("_").removesuffix(p.suffix) for part in p.parts} & banned]


def test_every_module_opens_with_a_sentence() -> None:
    """A module says in one line what goes in and what comes out."""
    for path in _sources():
        if path.suffix == ".py":
            first = path.read_text().lstrip().split("\n", 1)[0]
            assert first.lstrip("r").startswith('"""'), path
            assert len(first) > 20, path


def test_every_test_has_a_sentence() -> None:
    """A test says what it holds."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for found in re.finditer(r"^( *)def (test_\w+)\([^)]*\)[^:]*:\n( *)(\S.*)$", path.read_text(), re.MULTILINE):
            assert found[4].lstrip("r").startswith('"""'), f"{path.name}: {found[2]}"
