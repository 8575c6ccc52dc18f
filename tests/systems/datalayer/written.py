"""Records and their exports for tests: a record of entries goes in; the file's lines as JSON come out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sessionlab.formats.datalayer.fields import App, EntryLine, Lineage
from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer import Exported, Record, check, export
from tests.formats.datalayer_files import AT

NOW = datetime(2026, 10, 5, 6, 7, 8, 9, tzinfo=UTC)
NOW_WRITTEN = "2026-10-05T06:07:08.000009Z"
BY = "u-exp"
MEBI = 1024 * 1024


def line(kind: str, summary: str = "", /, at: str = AT, **payload: Any) -> EntryLine:
    """An entry of that kind with that payload."""
    return EntryLine(record_type="entry", kind=kind, at=at, summary=summary, payload=payload)


def turn(question: str = "How high?", answer: str = "Two metres.") -> EntryLine:
    """A turn."""
    return line("turn", asked=question, answered=answer, suggest_tests=False)


def run(question: str = "How high?", *between: EntryLine) -> list[EntryLine]:
    """A run of one turn: its start, what is between, the turn, the output that ends it."""
    end = line("output", status="answered", ended_at=AT)
    return [line("run"), *between, turn(question), end]


def opening(**changed: Any) -> EntryLine:
    """A `session` entry as a runtime writes it."""
    payload: dict[str, Any] = {
        "app": {"id": "harbor", "version": 3}, "state": "open", "agent": "surveyor", "harness": "codex",
        "title": "Tides", "archived": False, "lineage": {"forked_from": None, "imported_from": None},
    }  # fmt: skip
    return line("session", **{**payload, **changed})


def record(*entries: EntryLine, **changed: Any) -> Record:
    """A record of these entries, its facts those of `opening`."""
    facts: dict[str, Any] = {
        "uid": "abcd-1234", "app": App(id="harbor", version=3), "agent": "surveyor", "harness": "codex",
        "owner": "u-own", "state": "open", "turns": 0, "title": "Tides", "archived": False,
        "lineage": Lineage(forked_from=None, imported_from=None), "entries": list(entries),
    }  # fmt: skip
    return Record(**{**facts, **changed})


def exported(*entries: EntryLine, declared: Iterable[str] = (), **changed: Any) -> Exported:
    """The export of `record` by the exact rules."""
    return export(record(*entries, **changed), by=BY, now=NOW, redactor=Redactor(declared=declared))


def lines_of(file: Exported) -> list[dict[str, Any]]:
    """The lines of an export, parsed by the standard library."""
    return [json.loads(text) for text in file.data.decode().split("\n")[:-1]]


def taken(data: bytes) -> Accepted:
    """The verdict on a file that the check takes without a note."""
    verdict = check(data)
    assert (verdict.ok, verdict.sentence, verdict.notes) == (True, None, ())
    judged = judge(data, teams=True)
    assert isinstance(judged, Accepted)
    return judged
