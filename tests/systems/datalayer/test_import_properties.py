"""An import of an export of an import of an export works, and differs only where the format says so."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.formats.datalayer.judge import Accepted, judge
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer.importing import Imported, import_session
from sessionlab.systems.datalayer.store import Store
from sessionlab.systems.datalayer.stored_export import export_from
from tests.formats.datalayer_files import KINDS, bytes_of, head
from tests.systems.datalayer.stored import LATER, LATER_TEXT, NOW, json_lines

LEFT_OUT = {"session", "paused", "ended", "imported", "exported", "cloned"}


def _is_plain(text: str) -> bool:
    """The exact rules take neither the text nor what stands under it as a key: an export leaves it."""
    redactor = Redactor()
    redactor.value({text: "x"})
    return redactor.text(text) == text and not redactor.findings


TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="@"), max_size=12).filter(_is_plain)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ENTRY = st.fixed_dictionaries(
    {
        "record_type": st.just("entry"),
        "kind": st.sampled_from(KINDS.split(", ")),
        "at": st.just("x") | st.datetimes().map(lambda at: at.isoformat() + "Z"),
    },
    optional={
        "summary": TEXT,
        "payload": st.dictionaries(
            TEXT | st.sampled_from(["title", "agent", "harness", "state", "lineage", "path", "from", "runs_on"]),
            VALUE, max_size=4,
        ),
    },
)  # fmt: skip
HEAD = st.builds(
    head,
    title=st.text(st.characters(exclude_categories=("Cs",)), max_size=200),
    archived=st.booleans(),
    harness=st.none() | TEXT,
    state=st.sampled_from(["open", "paused", "ended"]),
    turns=st.integers(0, 9),
)


def once(data: bytes, store: Store) -> tuple[Imported, bytes]:
    """Imported, and the new session's own export."""
    done = import_session(data, store, by="u-two", now=LATER)
    return done, export_from(store, done.uid, by="u-out", now=NOW, redactor=Redactor()).data


def expected(before: list[Any], done: Imported) -> list[Any]:
    """The entries of the export of an import of a file of these lines."""
    opened = before[0]
    lineage = json.loads(json.dumps(done.as_dict()["lineage"]))
    first = {
        "app": opened["app"],
        "state": "paused",
        "agent": opened["agent"],
        "harness": opened["harness"] or None,
        "title": opened["title"],
        "archived": opened["archived"],
        "lineage": lineage,
    }
    last = {
        **lineage["imported_from"],
        "redactions": opened["redactions"],
        "file_version": opened["app"]["version"],
        "current_version": opened["app"]["version"],
        "source_uid": opened["uid"],
    }
    kept = []
    for one in before[1:]:
        if one["kind"] not in LEFT_OUT:
            payload = dict(one.get("payload", {}))
            payload.pop("runs_on", None)
            if one["kind"] == "file":
                payload |= {"present": False, "path": ""}
            kept.append((one["kind"], one["at"], one.get("summary", ""), payload))
    return [("session", LATER_TEXT, None, first), *kept, ("imported", LATER_TEXT, None, last)]


@settings(max_examples=60, deadline=None)
@given(HEAD, st.lists(ENTRY, max_size=8))
def test_import_export_import_export(opened: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    """Over arbitrary heads and records: each step keeps what section 8 keeps, and the file is always taken."""
    data = bytes_of(json.dumps(opened), *map(json.dumps, entries))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        for _ in range(3):
            before = json_lines(data)
            done, data = once(data, store)
            after = json_lines(data)
            found = [
                (one["kind"], one["at"], None if n in (1, len(after) - 1) else one["summary"], one["payload"])
                for n, one in enumerate(after[1:], 1)
            ]
            assert found == expected(before, done)
            changed = {"uid", "owner", "state", "turns", "kinds", "entries", "exported_at", "exported_by", "lineage"}
            kept = set(before[0]) - changed - {"title", "harness", "redactions"}
            assert {key: after[0][key] for key in kept} == {key: before[0][key] for key in kept}
            assert after[0]["title"] == (before[0]["title"] or done.title)
            assert after[0]["harness"] == (before[0]["harness"] or None)
            assert after[0]["redactions"] == 0
            assert (after[0]["state"], after[0]["owner"]) == ("paused", {"uid": "u-two"})
            assert after[0]["turns"] == [one["kind"] for one in entries].count("turn")
            assert isinstance(judge(data), Accepted)
            assert isinstance(judge(Path(folder, f"{done.uid}.session.jsonl").read_bytes()), Accepted)
        assert len(store.sessions(archived=True)) == 3
        assert store.listing().skipped == []
