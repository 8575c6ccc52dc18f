"""Recorded agent sessions as Arrow tables, DuckDB answers and notebook pictures.

``sessionlab.load(paths)`` gives a `Corpus`; its views answer questions; ``charts`` and ``widgets`` draw what they say.
Importing this package loads neither duckdb, polars, altair nor anywidget: each name brings what it needs when used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sessionlab.errors import (
    AmbiguousName,
    BadInput,
    LoadError,
    MissingColumns,
    PriceFileError,
    QueryError,
    Refused,
    SessionlabError,
    UnknownName,
    WrongUse,
)

if TYPE_CHECKING:
    from sessionlab import charts, replay, widgets
    from sessionlab.corpus import Corpus, load

__version__ = "0.1.0"

__all__ = [
    "AmbiguousName",
    "BadInput",
    "Corpus",
    "LoadError",
    "MissingColumns",
    "PriceFileError",
    "QueryError",
    "Refused",
    "SessionlabError",
    "UnknownName",
    "WrongUse",
    "charts",
    "load",
    "replay",
    "widgets",
]

_ROOMS = {"Corpus": "corpus", "load": "corpus"}
_MODULES = frozenset({"charts", "replay", "widgets"})


def __getattr__(name: str) -> object:
    """Bring a public name when it is first used."""
    if name in _MODULES:
        return import_module(f"sessionlab.{name}")
    if name in _ROOMS:
        return getattr(import_module(f"sessionlab.{_ROOMS[name]}"), name)
    raise AttributeError(f"module 'sessionlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
