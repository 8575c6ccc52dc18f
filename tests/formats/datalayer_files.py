"""Datalayer session files for tests: heads, entries and whole files, built from the field tables of the format."""

from __future__ import annotations

import io
import json
from typing import Any, TypeVar

from sessionlab.formats import datalayer
from sessionlab.formats.datalayer.judge import Accepted, Refusal, judge
from sessionlab.formats.recording import Recording
from sessionlab.tables import Entry, Outcome, Problem, Row, ToolCall

KINDS = (
    "session, run, tool_call, decision, check, approval, output, feedback, turn, notification, step, thread, asked, "
    "audio, diff, terminal, file, rule, paused, ended, swapped, cloned, imported, exported, titled"
)
"""The 25 kinds as the sentences list them."""
AT = "2026-10-03T08:15:00Z"
DIGEST = "sha256:" + "5c" * 32

R = TypeVar("R", bound=Row)


def head(**changed: Any) -> dict[str, Any]:
    """A sound session line, with members replaced."""
    line: dict[str, Any] = {
        "record_type": "session",
        "format": "datalayer-session/1",
        "uid": "abcd-1234",
        "app": {"id": "harbor", "version": 3},
        "agent": "surveyor",
        "harness": None,
        "owner": {"uid": "u-own"},
        "state": "open",
        "turns": 0,
        "title": "Tides",
        "archived": False,
        "lineage": {"forked_from": None, "imported_from": None},
        "kinds": KINDS.split(", "),
        "entries": 0,
        "exported_at": "2026-10-04T00:00:00Z",
        "exported_by": {"uid": "u-exp"},
        "redactions": 0,
    }
    return {**line, **changed}


def team(**changed: Any) -> dict[str, Any]:
    """A sound team line of two seats, with members replaced."""
    line: dict[str, Any] = {
        "record_type": "team_session",
        "format": "datalayer-session/1",
        "execution_id": "exec-9",
        "team": {"id": "pilots", "version": "2.1"},
        "owner": {"uid": "u-own"},
        "state": "open",
        "seats": [
            {"id": "lead", "session_uid": "lead-0001", "agent": "navigator", "harness": None},
            {"id": "scout", "session_uid": "scout-001", "agent": "lookout", "harness": "codex"},
        ],
        "lineage": {"forked_from": None, "imported_from": None},
        "exported_at": "2026-10-04T00:00:00Z",
        "exported_by": {"uid": "u-exp"},
        "redactions": 0,
    }
    return {**line, **changed}


def entry(kind: str, at: str = AT, /, **payload: Any) -> dict[str, Any]:
    """An entry of that kind with that payload."""
    return {"record_type": "entry", "kind": kind, "at": at, "summary": "", "payload": payload}


def bytes_of(*lines: Any, end: str = "\n") -> bytes:
    """A file of these lines, each a JSON value or text taken as it stands."""
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    return (end.join(texts) + end).encode("utf-8", "surrogatepass")


def judged(*lines: Any, teams: bool = False) -> Accepted | Refusal:
    """The verdict on a file of these lines."""
    return judge(bytes_of(*lines), teams=teams)


def refused(*lines: Any) -> tuple[str, int | None, str]:
    """Name, line and sentence of the refusal of a file of these lines."""
    verdict = judged(*lines)
    assert isinstance(verdict, Refusal)
    assert verdict.status == (413 if verdict.name == "too_large" else 422)
    return verdict.name, verdict.line, verdict.sentence


def accepted(*lines: Any) -> Accepted:
    """The verdict on a file of these lines, which is to be taken."""
    verdict = judged(*lines)
    assert isinstance(verdict, Accepted), verdict
    return verdict


def rows_of(data: bytes, *, bodies: bool = True) -> list[Row]:
    """The rows the format reads from these bytes."""
    return list(datalayer.read(Recording(io.BytesIO(data), uri="mem:x", format="datalayer", bodies=bodies)))


def read(*lines: Any, bodies: bool = True) -> list[Row]:
    """The rows of a file of these lines."""
    return rows_of(bytes_of(*lines), bodies=bodies)


def of(rows: list[Row], table: type[R]) -> list[R]:
    """The rows of one table."""
    return [row for row in rows if isinstance(row, table)]


US = 1_000_000
T0 = 1_791_014_400 * US
"""2026-10-03T08:00:00Z in microseconds: 20,729 days and 8 hours after 1970 began."""


def at_second(second: float) -> str:
    """The time so many seconds after 2026-10-03T08:00:00Z, as the recorder writes it."""
    return f"2026-10-03T08:{int(second) // 60:02}:{second % 60:09.6f}Z"


def entries(*lines: Any, **changed: Any) -> list[Entry]:
    """The entries of a session of these entry lines."""
    return of(read(head(**changed), *lines), Entry)


def one(line: Any) -> Entry:
    """The entry of a session of one."""
    (row,) = entries(line)
    return row


def calls(*lines: Any) -> list[ToolCall]:
    """The tool calls of a session of these entry lines."""
    return of(read(head(), *lines), ToolCall)


def outcomes(*lines: Any) -> list[Outcome]:
    """The outcomes of a session of these entry lines."""
    return of(read(head(), *lines), Outcome)


def notes(*lines: Any, **changed: Any) -> list[str]:
    """The kinds of the problems of a session of these entry lines."""
    return [row.kind for row in of(read(head(**changed), *lines), Problem)]
