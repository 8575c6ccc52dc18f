"""The fields of a datalayer line: which values the lenient types take, and which field a refusal names first."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.formats.datalayer.fields import FieldRefusal, boolean, integer
from tests.formats.datalayer_files import DIGEST, accepted, entry, head, judged, refused, team


def _path(*lines: Any) -> str:
    name, line, sentence = refused(*lines)
    assert name == "field_refusal"
    assert sentence.startswith(f"Line {line} is refused: ")
    assert sentence.endswith(".")
    assert not sentence.endswith("..")
    return sentence.removeprefix(f"Line {line} is refused: ").split(" ")[0]


# ------------------------------------------------------------------ 2.4


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("3", 3), (" 3 ", 3), ("+1", 1), ("3.0", 3), ("1_000", 1000), (3.0, 3), (1e3, 1000), (True, 1), (False, 0),
        (10**40, 10**40), ("00012", 12), ("0_1", 1), ("1_0.00", 10), ("\u00a03\u2028", 3), (-0.0, 0), ("-0", 0),
        (1e18, 10**18), ("0" * 5000 + "7", 7), ("9" * 4300, 10**4300 - 1),
    ],
)  # fmt: skip
def test_integers_are_read_leniently(value: Any, number: int) -> None:
    """Text, whole floats and booleans that spell an integer are one."""
    assert integer(value, "turns") == number
    assert type(integer(value, "turns")) is int


@pytest.mark.parametrize(
    "value",
    [
        3.5, "", "x", float("nan"), float("inf"), None, [], {}, "3.5", "3.", ".0", "1__0", "_1", "1_", "+", "--1",
        "+ 1", "1e3", "0x10", "\uff13", "1.0_0", "\x1f3", 1e19, -1, "-1", -1.0, "9" * 4301,
    ],
)  # fmt: skip
def test_what_is_no_integer(value: Any) -> None:
    """Fractions, words, null, lists, and whatever is below 0."""
    with pytest.raises(FieldRefusal) as caught:
        integer(value, "turns")
    assert caught.value.path == "turns"


@pytest.mark.parametrize("yes", [True, 1, 1.0, "true", "t", "yes", "y", "on", "1", "TRUE", "oN", "Y"])
def test_what_is_true(yes: Any) -> None:
    """1, 1.0 and the words for it, in any case."""
    assert boolean(yes, "archived") is True


@pytest.mark.parametrize("no", [False, 0, 0.0, -0.0, "false", "f", "no", "n", "off", "0", "FALSE", "Off"])
def test_what_is_false(no: Any) -> None:
    """0, 0.0 and the words for it, in any case."""
    assert boolean(no, "archived") is False


@pytest.mark.parametrize("value", [2, 0.5, "", "maybe", None, [], {}, " true", "\ufb00", float("nan"), 10**40, -1])
def test_what_is_no_boolean(value: Any) -> None:
    """Other numbers, other words, null, lists."""
    with pytest.raises(FieldRefusal):
        boolean(value, "archived")


def test_lenient_fields_reach_the_head() -> None:
    """What was read leniently stands in the head as its number or boolean."""
    line = accepted(head(turns="1_000", archived="off", app={"id": "a", "version": 2.0})).sections[0].head
    assert (line.turns, line.archived, line.app.version) == (1000, False, 2)


# ------------------------------------------------------------------ 2.1 to 2.3: each field's constraint


@pytest.mark.parametrize("name", [name for name in head() if name not in ("record_type", "format")])
def test_every_field_of_a_session_line_is_required(name: str) -> None:
    """Nothing of a session line has a default."""
    line = head()
    del line[name]
    assert _path(line) == name


@pytest.mark.parametrize("name", [name for name in team() if name not in ("record_type", "format")])
def test_every_field_of_a_team_line_is_required(name: str) -> None:
    """Nothing of a team line has a default."""
    line = team()
    del line[name]
    assert _path(line) == name


IMPORTED = {"digest": DIGEST, "exported_at": "x", "exported_by": "u"}


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"uid": "short-7"}, "uid"),
        ({"uid": "u" * 129}, "uid"),
        ({"uid": "abcd-1234\n"}, "uid"),
        ({"uid": "abcd.1234"}, "uid"),
        ({"uid": 12345678}, "uid"),
        ({"app": "harbor"}, "app"),
        ({"app": {"id": "", "version": 1}}, "app.id"),
        ({"app": {"id": "a"}}, "app.version"),
        ({"app": {"id": "a", "version": -1}}, "app.version"),
        ({"app": {"id": "a", "version": 1, "name": "b"}}, "app.name"),
        ({"agent": ""}, "agent"),
        ({"agent": None}, "agent"),
        ({"harness": 5}, "harness"),
        ({"owner": {"uid": ""}}, "owner.uid"),
        ({"owner": "u"}, "owner"),
        ({"state": "Open"}, "state"),
        ({"state": "stopped"}, "state"),
        ({"turns": -1}, "turns"),
        ({"title": "t" * 201}, "title"),
        ({"title": None}, "title"),
        ({"archived": 2}, "archived"),
        ({"lineage": None}, "lineage"),
        ({"lineage": {"forked_from": None}}, "lineage.imported_from"),
        ({"lineage": {"forked_from": {"uid": "u"}, "imported_from": None}}, "lineage.forked_from.at_turn"),
        ({"lineage": {"forked_from": [], "imported_from": None}}, "lineage.forked_from"),
        (
            {"lineage": {"forked_from": None, "imported_from": {**IMPORTED, "digest": DIGEST.upper()}}},
            "lineage.imported_from.digest",
        ),
        (
            {"lineage": {"forked_from": None, "imported_from": {**IMPORTED, "exported_by": {"uid": "u"}}}},
            "lineage.imported_from.exported_by",
        ),
        (
            {"lineage": {"forked_from": None, "imported_from": {**IMPORTED, "redactions": 1}}},
            "lineage.imported_from.redactions",
        ),
        ({"kinds": "run"}, "kinds"),
        ({"kinds": ["run", 5]}, "kinds.1"),
        ({"kinds": ["run", "shell"]}, "kinds"),
        ({"entries": None}, "entries"),
        ({"exported_at": ""}, "exported_at"),
        ({"exported_by": {"uid": "u", "name": "n"}}, "exported_by.name"),
        ({"redactions": "many"}, "redactions"),
        ({"note": None}, "note"),
    ],
)
def test_the_field_a_session_line_is_refused_for(changed: dict[str, Any], path: str) -> None:
    """Each constraint of section 2.1, by the dotted path it is refused under."""
    assert _path(head(**changed)) == path


@pytest.mark.parametrize(
    "changed",
    [
        {"uid": "u" * 8}, {"uid": "u" * 128}, {"harness": ""}, {"title": ""}, {"title": "\U0001f30a" * 200},
        {"kinds": []}, {"kinds": ["run", "run", "asked"]}, {"exported_at": "whenever"}, {"redactions": 10**40},
        {"lineage": {"forked_from": {"uid": "u", "at_turn": 0}, "imported_from": IMPORTED}},
    ],
)  # fmt: skip
def test_what_a_session_line_may_say(changed: dict[str, Any]) -> None:
    """The edges that are taken: lengths at their limit, empty texts where allowed, both lineages."""
    accepted(head(**changed))


SEAT = {"id": "lead", "session_uid": "x", "agent": "a", "harness": None}


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"execution_id": ""}, "execution_id"),
        ({"team": {"id": "t", "version": 2}}, "team.version"),
        ({"team": {"id": "t", "version": ""}}, "team.version"),
        ({"seats": {}}, "seats"),
        ({"seats": [SEAT, {**SEAT, "session_uid": ""}]}, "seats.1.session_uid"),
        ({"seats": [{k: v for k, v in SEAT.items() if k != "harness"}]}, "seats.0.harness"),
        ({"seats": [SEAT, SEAT]}, "seats"),
        ({"seats": [{**SEAT, "role": "r"}]}, "seats.0.role"),
        ({"lineage": {"forked_from": {"uid": "u"}, "imported_from": None}}, "lineage.forked_from.execution_id"),
        ({"uid": "abcd-1234"}, "uid"),
    ],
)
def test_the_field_a_team_line_is_refused_for(changed: dict[str, Any], path: str) -> None:
    """Each constraint of section 2.3; list positions stand in the path as numbers."""
    assert _path(team(**changed)) == path


def test_a_seats_session_uid_needs_no_shape() -> None:
    """A seat's session uid is not held to the uid shape: the file gets as far as the team refusal."""
    assert refused(team(seats=[SEAT]))[0] == "team_refusal"
    assert not hasattr(judged(team(seats=[SEAT]), teams=True), "name")


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"at": 5}, "at"),
        ({"summary": None}, "summary"),
        ({"summary": 5}, "summary"),
        ({"payload": None}, "payload"),
        ({"payload": []}, "payload"),
        ({"payload": "x"}, "payload"),
        ({"uid": "u"}, "uid"),
        ({"seq": 1}, "seq"),
    ],
)
def test_the_field_an_entry_is_refused_for(changed: dict[str, Any], path: str) -> None:
    """Each constraint of section 2.2; an entry carries no id and no sequence number."""
    assert _path(head(), {**entry("run"), **changed}) == path


def test_what_an_entry_may_say() -> None:
    """`summary` and `payload` have defaults; `at` need be no time and is kept untrimmed; payloads are open."""
    bare = accepted(head(), {"record_type": "entry", "kind": "run", "at": " x "}).sections[0].entries[0]
    assert (bare.at, bare.summary, bare.payload) == (" x ", "", {})
    accepted(head(), entry("run", anything={"at": [None, {"any": "depth"}]}))


# ------------------------------------------------------------------ which refusal comes first


def test_the_first_refusal_is_by_declaration_depth_first() -> None:
    """Declared order, not the line's; a nested object's unknown field before the next declared one; unknowns last."""
    assert _path({"zz": 1, **head(redactions=None, uid=5)}) == "uid"
    assert _path(head(app={"id": "a", "version": 1, "zz": 0}, agent="")) == "app.zz"
    assert _path({"zz": 1, "aa": 2, **head(redactions=-1)}) == "redactions"
    assert _path({"zz": 1, "aa": 2, **head()}) == "zz"
    assert _path(team(seats=[{**SEAT, "agent": ""}, {**SEAT, "id": ""}])) == "seats.0.agent"
