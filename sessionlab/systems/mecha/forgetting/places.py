"""A mecha home in; the directory of every store that copies from a transcript out (mecha 2, 15)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from sessionlab.errors import WrongUse

DEFAULTS: Mapping[str, str] = {
    "outbox": "outbox",
    "questions": "questions",
    "messages": "messages",
    "learning": "learning",
    "appraisals": "appraisals",
    "comparisons": "comparisons",
    "closures": "closures",
    "triggers": "triggers",
    "workflows": "workflows",
    "requests": "requests",
    "mail-triage": "mail-triage",
    "slack": "slack/threads",
    "pins": "regression-sessions.txt",
    "work": "work",
    "spill": "spill",
}
"""Every store that can be configured to be elsewhere, and its place below the home; `pins` is a file, the others are
directories."""
CONFIGURED: Mapping[str, str] = {"outbox": "outbox", "messages": "messages"}
"""Stores that the home's own `config.toml` may move, and the table in which it says so (member `dir`)."""
_CONFIG, _FILE = "config.toml", "pins"


class Places(msgspec.Struct, frozen=True):
    """Where everything is, links on the way there resolved.

    Attributes:
        home: the mecha home.
        sessions: the session directory.
        stores: every store, by the names of ``DEFAULTS``, and ``sessions``, ``scene`` (beside them) and ``harness``.
    """

    home: Path
    sessions: Path
    stores: Mapping[str, Path]

    def at(self, name: str) -> Path:
        """The directory (or file) of a store."""
        return self.stores[name]

    def roots(self) -> list[Path]:
        """Everything there is to search: the home, and what is configured to be outside of it."""
        return [self.home, *self.stores.values()]


def places(home: Path, sessions: Path | None = None, moved: Mapping[str, Path] | None = None) -> Places:
    """Where the stores of ``home`` are: as given, else as its ``config.toml`` says, else at their default places.

    Args:
        home: the mecha home.
        sessions: the session directory; ``sessions`` of the home when None.
        moved: stores elsewhere, by the names of ``DEFAULTS``; they win over the configuration.

    Raises:
        WrongUse: an unknown store, or a configuration that cannot be followed: a store it moves would be passed over.
        OSError: the configuration cannot be read.
    """
    given = dict(moved or {})
    for name in given:
        if name not in DEFAULTS:
            raise WrongUse(f"store {name!r}: expected one of {', '.join(sorted(DEFAULTS))}")
    home = home.resolve()
    said = {**_configured(home, frozenset(given)), **given}
    stores = {name: (said.get(name) or home / below).resolve() for name, below in DEFAULTS.items() if name != _FILE}
    pins = said.get(_FILE) or home / DEFAULTS[_FILE]
    stores[_FILE] = pins.parent.resolve() / pins.name  # a link in a file's place is not followed
    stores["sessions"] = (sessions or home / "sessions").resolve()
    stores["scene"] = (stores["sessions"].parent / "scene").resolve()
    stores["harness"] = (stores["learning"] / "harness").resolve()
    return Places(home, stores["sessions"], stores)


def _configured(home: Path, given: frozenset[str]) -> dict[str, Path]:
    path = home / _CONFIG
    if not path.is_file():
        return {}
    try:
        told = tomllib.loads(path.read_bytes().decode())
    except ValueError as error:
        if given >= CONFIGURED.keys():
            return {}
        names = " and ".join(f"--store {name}=DIR" for name in sorted(CONFIGURED.keys() - given))
        raise WrongUse(f"{path}: expected TOML that may move a store, found {error}; say it with {names}") from error
    moved: dict[str, Path] = {}
    for name, table in CONFIGURED.items():
        section = told.get(table)
        where = section.get("dir") if isinstance(section, dict) else None
        if where is None or name in given:
            continue
        folder = Path(where).expanduser() if isinstance(where, str) and where else None
        if folder is None or not folder.is_absolute():
            raise WrongUse(
                f"{path}: [{table}] dir: expected an absolute path, found {where!r}; say it with --store {name}=DIR"
            )
        moved[name] = folder
    return moved
