"""Arbitrary files checked: however the verdict is reached it is the same, and its notes are those of the tables."""

from __future__ import annotations

import json
import sys
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.formats.datalayer.judge import judge
from sessionlab.systems.datalayer import check
from sessionlab.tables import Problem
from tests.formats.datalayer_files import AT, KINDS, bytes_of, entry, head, of, rows_of, team

KIND = st.sampled_from(KINDS.split(", "))
PIECES = st.sampled_from(
    [b"\n", b"\r\n", b"\xff", b"\xc3", "é".encode(), "\u2028".encode(), b"\x85", b"\xc2\x85", b" ", b"\x1c", b"{", b"x"]
)
CODES = st.sampled_from([0, 1, -1, 2**31, 2**63, -(2**63) - 1, 1.0, True, None, [1], "0"])
PAYLOADS = st.fixed_dictionaries(
    {},
    optional={
        "exit_code": CODES,
        "state": st.sampled_from(["open", "paused", "ended", "stopped", None, 5]),
        "title": st.sampled_from(["Tides", "Ebb", ""]),
        "agent": st.sampled_from(["surveyor", "lens"]),
        "harness": st.sampled_from(["codex", None]),
        "archived": st.booleans(),
        "from": st.just("source-1"),
        "odd": st.sampled_from([float("nan"), "\ud800", "plain"]),
    },
)


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    """An entry of any kind, some of whose members are worth a note."""
    at = draw(st.sampled_from([AT, AT, "x", "2026-10-03 08:15", "2026-10-03T08:16:00Z"]))
    return entry(draw(KIND), at, **draw(PAYLOADS))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file that is taken: its head right, or wrong in some counts."""
    lines = draw(st.lists(entries(), max_size=8))
    changed: dict[str, Any] = {}
    if draw(st.booleans()):
        turns = sum(line["kind"] == "turn" for line in lines)
        changed = {"entries": len(lines), "turns": turns}
    if draw(st.booleans()):
        changed["kinds"] = ["run", "turn"]
    digest = {"digest": "sha256:" + "a" * 64, "exported_at": "x", "exported_by": "y"}
    if draw(st.booleans()):
        changed["lineage"] = {"forked_from": None, "imported_from": digest}
    first = json.dumps(head(**changed))
    return bytes_of(first, *(json.dumps(line) for line in lines))


@given(files())
@settings(max_examples=150, deadline=None)
def test_notes_are_those_of_the_tables(data: bytes) -> None:
    """The notes on a file that is taken have the words, the lines and the order of the table reader's."""
    verdict = check(data)
    assert verdict.ok, verdict
    assert list(verdict.notes) == [f"line {note.line}: {note.detail}" for note in of(rows_of(data), Problem)]


@given(st.lists(st.tuples(st.integers(0, 400), PIECES), max_size=3), st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_bytes_and_text_are_judged_the_same(planted: list[tuple[int, bytes]], teams: bool, wide: bool) -> None:
    """Whatever is planted in a file, the verdict made from its bytes is that made from its text."""
    turn = entry("turn", asked="é — “x”" if wide else "x")
    data = bytes_of(*([team(), head(uid="lead-0001")] if teams else [head()]), turn, turn)
    for at, piece in planted:
        data = data[: at % (len(data) + 1)] + piece + data[at % (len(data) + 1) :]
    judged = judge(data, teams=teams)
    with mock.patch.object(sys.modules["sessionlab.formats.datalayer.judge"], "ends_at_lf_alone", return_value=False):
        assert repr(judge(data, teams=teams)) == repr(judged)
