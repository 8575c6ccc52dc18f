"""A kept record in; what a conversation that goes on from it shows, out: questions, rules, files, tool calls.

Nothing is run: this is the part of a resume that the record alone tells (datalayer.md sections 10, 11 and 15).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sessionlab.errors import SessionRefused
from sessionlab.formats.datalayer.fields import EntryLine, Lineage
from sessionlab.formats.datalayer.payloads import text
from sessionlab.systems.datalayer.record import Record


class ShownCall(msgspec.Struct, frozen=True):
    """A tool call as it is shown again.

    Attributes:
        tool: its name.
        kind, action_class, path: members `kind`, `class` and `path` of its entry, where it has them; a display's are
            looked for in the display and its data too.
    """

    tool: str | None
    kind: str | None
    action_class: str | None
    path: str | None


class Resumption(msgspec.Struct, frozen=True):
    """What a record gives a conversation that goes on.

    Attributes:
        uid, title, agent, harness, lineage: as recorded.
        questions: what was asked, in order.
        answers: what was answered, in the same order.
        rules: those in force, by name.
        files: payloads of the `file` entries, in order.
        calls: the tool calls, in order.
    """

    uid: str
    title: str
    agent: str
    harness: str | None
    lineage: Lineage
    questions: list[str]
    answers: list[str]
    rules: dict[str, dict[str, object]]
    files: list[dict[str, object]]
    calls: list[ShownCall]


def resumption(record: Record) -> Resumption:
    """What is shown when a session goes on.

    Raises:
        SessionRefused: ``ended`` (409); a clone of it goes on.
    """
    if record.state == "ended":
        raise SessionRefused("ended", 409, f"session {record.uid} has ended and does not go on; clone it")
    turns = [entry.payload for entry in record.entries if entry.kind == "turn"]
    return Resumption(
        uid=record.uid, title=record.title, agent=record.agent, harness=record.harness, lineage=record.lineage,
        questions=[text(turn, "asked") or "" for turn in turns],
        answers=[text(turn, "answered") or "" for turn in turns],
        rules=rules_in_force(record.entries),
        files=[dict(entry.payload) for entry in record.entries if entry.kind == "file"],
        calls=[_shown(entry.payload) for entry in record.entries if entry.kind == "tool_call"],
    )  # fmt: skip


def rules_in_force(entries: Iterable[EntryLine]) -> dict[str, dict[str, object]]:
    """The rules that were made and not taken back, by name, the latest of a name; one without a name is none."""
    found: dict[str, dict[str, object]] = {}
    for entry in entries:
        if entry.kind != "rule":
            continue
        rule, removed = entry.payload.get("rule"), text(entry.payload, "removed")
        if isinstance(rule, dict) and (name := text(rule, "name")):
            found.pop(name, None)
            found[name] = dict(rule)
        elif removed is not None:
            found.pop(removed, None)
    return found


def _shown(payload: dict[str, object]) -> ShownCall:
    display = payload.get("display")
    places = [payload]
    if isinstance(display, dict):
        data = display.get("data")
        places += [display, data] if isinstance(data, dict) else [display]

    def member(name: str) -> str | None:
        return next((found for place in places if (found := text(place, name)) is not None), None)

    return ShownCall(text(payload, "tool") or text(payload, "name"), member("kind"), member("class"), member("path"))
