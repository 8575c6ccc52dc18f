"""Kept sessions for tests: records of a few turns, stores that hold them, and what stands in their files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sessionlab.formats.datalayer.fields import App, EntryLine, Lineage
from sessionlab.systems.datalayer.applications import Applications
from sessionlab.systems.datalayer.record import Record
from sessionlab.systems.datalayer.store import Store

NOW = datetime(2026, 10, 6, 7, 30, 15, 250, tzinfo=UTC)
NOW_TEXT = "2026-10-06T07:30:15.000250Z"
LATER = NOW + timedelta(hours=3)
LATER_TEXT = "2026-10-06T10:30:15.000250Z"
UID = "quay-0001-tides"
NO_LINEAGE = Lineage(forked_from=None, imported_from=None)
NO_LINEAGE_MEMBERS = {"forked_from": None, "imported_from": None}

HARBOR = Applications(
    {"harbor": {"version": 3, "agents": {"surveyor": None, "coder": "codex", "lens": {"harness": "gemini"}}}}
)
"""One application: an agent that is no harness, and two that are."""


def line(kind: str, second: int = 0, /, **payload: Any) -> EntryLine:
    """An entry so many seconds after 2026-10-03T08:00:00Z."""
    at = f"2026-10-03T08:{second // 60:02}:{second % 60:02}.000000Z"
    return EntryLine(record_type="entry", kind=kind, at=at, summary=f"{kind} {second}", payload=payload)


def opening(second: int = 0, /, **changed: Any) -> EntryLine:
    """A `session` entry with the eight members one opens with, some replaced."""
    payload: dict[str, Any] = {
        "app": {"id": "harbor", "version": 3},
        "state": "open",
        "agent": "surveyor",
        "harness": None,
        "runs_on": {"kind": "runtime", "uid": "rt-77"},
        "title": "",
        "archived": False,
        "lineage": {"forked_from": None, "imported_from": None},
    }
    return line("session", second, **{**payload, **changed})


def turn(number: int, second: int) -> EntryLine:
    """The turn of that number: question and answer name it."""
    asked = f"Question {number}?\nmore of it"
    return line("turn", second, asked=asked, answered=f"Answer {number}.", suggest_tests=False)


def turns(count: int) -> list[EntryLine]:
    """A session entry and so many turns, ten seconds apart."""
    return [opening(), *(turn(n, 10 * n) for n in range(1, count + 1))]


def record(*entries: EntryLine, **changed: Any) -> Record:
    """A record of these entries, of harbor 3, led by the surveyor, owned by u-own; members replaced."""
    members: dict[str, Any] = {
        "uid": UID,
        "app": App(id="harbor", version=3),
        "agent": "surveyor",
        "harness": None,
        "owner": "u-own",
        "state": "open",
        "turns": sum(entry.kind == "turn" for entry in entries),
        "title": "",
        "archived": False,
        "lineage": NO_LINEAGE,
        "entries": list(entries),
    }
    return Record(**{**members, **changed})


def store_of(folder: Path, *entries: EntryLine, **changed: Any) -> Store:
    """A store with one session of these entries."""
    store = Store(folder)
    store.add(record(*entries, **changed))
    return store


def kinds(entries: Iterable[EntryLine]) -> list[str]:
    """The kinds, in order."""
    return [entry.kind for entry in entries]


def raw_lines(store: Store, uid: str) -> list[bytes]:
    """The lines of a session's file, with their ends."""
    return store.path(uid).read_bytes().splitlines(keepends=True)


def json_lines(data: bytes) -> list[Any]:
    """The lines of a file as Python's own reader has them."""
    return [json.loads(text) for text in data.decode().split("\n") if text]
