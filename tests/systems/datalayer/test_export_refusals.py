"""What is not exported: a head or an entry that no importer would take, and a file over the caps; and the edges."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest

from sessionlab.errors import SessionRefused, WrongUse
from sessionlab.formats.datalayer.fields import App, ForkedFrom, ImportedFrom, Lineage
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer import check, export
from tests.systems.datalayer.written import BY, MEBI, NOW, exported, line, lines_of, record


def nested(levels: int) -> dict[str, Any]:
    """A payload of so many levels, itself the first."""
    value: dict[str, Any] = {"a": 1}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize("levels", [400, 979])
def test_deep_payloads_are_written(levels: int) -> None:
    """979 levels in a line are 980 with the line itself: written whatever the stack, and taken."""
    file = exported(line("run", **nested(levels)))
    assert file.data.count(b'{"a": ') == levels
    assert check(file.data).ok


def test_deeper_payloads_are_refused_before_anything_is_written() -> None:
    """980 levels in a payload are 981 in the line, which no importer takes back."""
    with pytest.raises(SessionRefused, match="Line 3 would be nested deeper than 980 levels") as refused:
        exported(line("run"), line("run", **nested(980)))
    assert (refused.value.kind, refused.value.status, refused.value.line) == ("not_json", 422, 3)


def test_an_integer_too_long_to_be_read_is_refused() -> None:
    """4301 digits cannot be taken back; 4300 can."""
    assert check(exported(line("run", a=10**4299)).data).ok
    with pytest.raises(SessionRefused, match="Line 2 would hold an integer of more than 4300 digits"):
        exported(line("run", a=10**4300))


def test_the_recursion_limit_does_not_matter() -> None:
    """Deep payloads are the same bytes with little stack left."""
    source = line("run", **nested(300))
    plain = exported(source).data
    limit = sys.getrecursionlimit()
    depth = len(inspect.stack())
    try:
        sys.setrecursionlimit(depth + 60)
        assert exported(source).data == plain
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"uid": ""}, "uid"),
        ({"uid": "short"}, "uid"),
        ({"uid": "a/b-12345"}, "uid"),
        ({"uid": "x" * 129}, "uid"),
        ({"agent": ""}, "agent"),
        ({"owner": ""}, "owner.uid"),
        ({"app": App(id="", version=0)}, "app.id"),
        ({"app": App(id="a", version=-1)}, "app.version"),
        ({"state": "stopped"}, "state"),
        (
            {"lineage": Lineage(forked_from=ForkedFrom(uid="", at_turn=0), imported_from=None)},
            "lineage.forked_from.uid",
        ),
        (
            {"lineage": Lineage(forked_from=ForkedFrom(uid="a", at_turn=-1), imported_from=None)},
            "lineage.forked_from.at_turn",
        ),
        (
            {
                "lineage": Lineage(
                    forked_from=None,
                    imported_from=ImportedFrom(digest="md5:0", exported_at="x", exported_by="y"),
                )
            },
            "lineage.imported_from.digest",
        ),
    ],
)
def test_a_head_that_would_be_refused_is_an_error(changed: dict[str, Any], path: str) -> None:
    """The published exporter writes such a head; here the member is named before anything is written."""
    with pytest.raises(SessionRefused, match=f"refused on import: {path} is to ") as refused:
        exported(line("run"), **changed)
    assert (refused.value.kind, refused.value.status) == ("field_refusal", 422)


def test_an_unknown_kind_given_is_an_error() -> None:
    """A head that lists a kind the record does not have is refused on import, so it is not written."""
    with pytest.raises(SessionRefused, match="kinds names kinds the record does not have: 'shell'"):
        export(record(), by=BY, now=NOW, redactor=Redactor(), kinds=["shell"])


def test_an_export_by_nobody_or_at_no_time_is_wrong_use() -> None:
    """An empty exporter, and a time without a zone, are named with what to give."""
    with pytest.raises(WrongUse, match="by: expected the uid of who exports"):
        export(record(), by="", now=NOW, redactor=Redactor())
    with pytest.raises(WrongUse, match="now: expected a time with a zone"):
        export(record(), by=BY, now=NOW.replace(tzinfo=None), redactor=Redactor())


def test_a_state_that_is_unsaid_is_paused() -> None:
    """A session whose state is empty is written as paused (section 7)."""
    assert lines_of(exported(state=""))[0]["state"] == "paused"


def test_more_than_20_000_entries_are_refused_with_their_count() -> None:
    """20 000 entries are written; one more is `too_large`, 413, in the format's sentence."""
    assert exported(*[line("run")] * 20_000).entries == 20_000
    with pytest.raises(SessionRefused) as refused:
        exported(*[line("run")] * 20_001)
    assert (refused.value.kind, refused.value.status) == ("too_large", 413)
    assert str(refused.value) == (
        "The file has 20 001 entries over 2 MB; a session file holds at most 20 000 entries in 64 MB."
    )


def test_more_than_64_mb_are_refused_and_the_cap_itself_is_written() -> None:
    """A file of exactly the cap is written and taken; one of a byte more is refused."""
    weight = len(exported(line("run")).data)
    file = exported(line("run", "x" * (64 * MEBI - weight)))
    assert len(file.data) == 64 * MEBI
    assert check(file.data).ok
    with pytest.raises(SessionRefused, match="The file has 1 entries over 64 MB;"):
        exported(line("run", "x" * (64 * MEBI - weight + 1)))
