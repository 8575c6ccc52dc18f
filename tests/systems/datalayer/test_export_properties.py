"""Arbitrary records exported: each file is taken, and read back and exported again it is the same but for its stamp."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.formats.datalayer.fields import KINDS, App, EntryLine, Lineage
from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer import Record, check, export, record_of_section, split
from tests.systems.datalayer.written import BY, NOW

ODD = st.sampled_from(["\x85", "\u2028", "\u2029", "\ud800", "\udfff", "\ud83d\ude00", "\r", "\x1c", "\\", '"', "\0"])
TEXTS = st.lists(st.one_of(st.text(max_size=8), ODD, st.sampled_from(["Bearer abc", "token"])), max_size=4).map("".join)
SCALARS = st.one_of(
    TEXTS, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False), st.sampled_from([float("inf"), 10**400])
)
KEYS = st.one_of(TEXTS, st.sampled_from(["token", "Authorization", "user", "runs_on", "state", "status"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
PAYLOADS = st.dictionaries(KEYS, VALUES, max_size=4)
QUIET_KINDS = st.sampled_from([*(kind for kind in KINDS if kind not in ("session", "paused", "ended")), "shell"])
ENTRIES = st.builds(
    EntryLine, record_type=st.just("entry"), kind=QUIET_KINDS, at=TEXTS, summary=TEXTS, payload=PAYLOADS
)
NAMES = st.builds(lambda text: text + "x", TEXTS)
RECORDS = st.builds(
    Record,
    uid=st.text("abcXYZ019-_", min_size=8, max_size=128),
    app=st.builds(App, id=NAMES, version=st.integers(min_value=0)),
    agent=NAMES,
    harness=st.one_of(st.none(), TEXTS),
    owner=NAMES,
    state=st.sampled_from(["open", "paused", "ended"]),
    turns=st.just(0),
    title=st.one_of(TEXTS, st.text(min_size=150, max_size=300)),
    archived=st.booleans(),
    lineage=st.just(Lineage(forked_from=None, imported_from=None)),
    entries=st.lists(ENTRIES, max_size=6),
)
STAMPED = ("exported_at", "exported_by", "redactions")


def unstamped(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """A file's head without what an export stamps on it, and its other lines."""
    first, *rest = data.split(b"\n")
    return {name: value for name, value in json.loads(first).items() if name not in STAMPED}, rest


@given(RECORDS)
@settings(max_examples=150, deadline=None)
def test_an_export_is_taken_and_exports_again_the_same(record: Record) -> None:
    """Export, check, read, export by another on another day: the same but for exported_at, exported_by, redactions.

    Rules are told to look for nothing here but what a second pass leaves alone (6.7 lists what it does not).
    """
    first = export(record, by=BY, now=NOW, redactor=Redactor())
    verdict = check(first.data)
    assert verdict.ok, verdict
    assert (verdict.entries, verdict.turns, verdict.bytes) == (first.entries, first.turns, len(first.data))
    judged = judge(first.data)
    assert isinstance(judged, Accepted)
    again = record_of_section(judged.sections[0])
    second = export(again, by="u-other", now=NOW + timedelta(days=400), redactor=Redactor())
    assert unstamped(second.data) == unstamped(first.data)
    third = export(again, by=BY, now=NOW, redactor=Redactor())
    assert third.data == first.data.replace(
        f'"redactions": {first.redactions}}}\n'.encode(), f'"redactions": {third.redactions}}}\n'.encode(), 1
    )


@given(RECORDS, st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_parts_hold_every_entry_once_and_in_order(record: Record, most: int) -> None:
    """Whatever the record, its parts are taken, and their entries, opening ones aside, are those of one file."""
    whole = export(record, by=BY, now=NOW, redactor=Redactor())
    parts = split(record, by=BY, now=NOW, redactor=Redactor(), max_entries=most)
    lines: list[bytes] = []
    for n, part in enumerate(parts):
        assert check(part.data).ok
        assert part.entries <= most
        lines += part.data.split(b"\n")[1 + (n > 0) : -1]
    assert lines == whole.data.split(b"\n")[1:-1]
    assert sum(part.turns for part in parts) == whole.turns
