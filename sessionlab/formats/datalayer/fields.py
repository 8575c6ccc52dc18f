"""The fields of a session, team or entry line: a parsed JSON object goes in, a typed line comes out, or a FieldRefusal.

The checks run in order of declaration, depth first, unknown fields last, and stop at the first refusal (datalayer.md
sections 2 and 3). Strings are strict; integers and booleans are read as leniently as the published importer reads
them (2.4). Reasons are worded here; line number and path are what the format promises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

FORMAT_ID = "datalayer-session/1"
KINDS = (
    "session", "run", "tool_call", "decision", "check", "approval", "output", "feedback", "turn", "notification",
    "step", "thread", "asked", "audio", "diff", "terminal", "file", "rule", "paused", "ended", "swapped", "cloned",
    "imported", "exported", "titled",
)  # fmt: skip
"""The 25 kinds of entry, in the order the sentences list them."""
KIND_SET = frozenset(KINDS)
STATES = ("open", "paused", "ended")
TITLE_POINTS = 200
NUMBER_DIGITS = 4300
"""Digits of the longest integer taken, in JSON and in text (CPython's own default limit, held on every machine)."""
NO_SEATS = "team_without_seats"
"""Reason of the one field check that has a sentence of its own."""

_UID = re.compile(r"[A-Za-z0-9_-]{8,128}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_INTEGER = re.compile(r"([+-]?)0*([0-9]+(?:_[0-9]+)*)(?:\.0+)?")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "off", "0"})
_UNICODE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What the importer trims from a number written as text: Unicode white space, without the separators U+001C to 1F."""

Check = Callable[[object, str], Any]


class FieldRefusal(Exception):
    """A field that breaks section 2: its dotted path, and why."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} {reason}")


class Line(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What every line of the three kinds is."""


class App(Line, frozen=True):
    """The application a session belongs to."""

    id: str
    version: int


class ForkedFrom(Line, frozen=True):
    """The session a clone was made of, and the turn it was cut after."""

    uid: str
    at_turn: int


class ImportedFrom(Line, frozen=True):
    """The file an import was made of."""

    digest: str
    exported_at: str
    exported_by: str


class Lineage(Line, frozen=True):
    """Where a session comes from."""

    forked_from: ForkedFrom | None
    imported_from: ImportedFrom | None


class Person(Line, frozen=True):
    """Somebody, by uid."""

    uid: str


class SessionLine(Line, frozen=True):
    """The head of a session (2.1)."""

    record_type: str
    format: str
    uid: str
    app: App
    agent: str
    harness: str | None
    owner: Person
    state: str
    turns: int
    title: str
    archived: bool
    lineage: Lineage
    kinds: list[str]
    entries: int
    exported_at: str
    exported_by: Person
    redactions: int


class EntryLine(Line, frozen=True, forbid_unknown_fields=True):
    """One entry of a record (2.2); its place in the file is its only order."""

    record_type: str
    kind: str
    at: str
    summary: str = ""
    payload: dict[str, object] = {}


class Team(Line, frozen=True):
    """The team that ran."""

    id: str
    version: str


class Seat(Line, frozen=True):
    """One seat of a team, and the session that was recorded at it."""

    id: str
    session_uid: str
    agent: str
    harness: str | None


class ForkedExecution(Line, frozen=True):
    """The team run another was made of."""

    execution_id: str


class TeamLineage(Line, frozen=True):
    """Where a team run comes from."""

    forked_from: ForkedExecution | None
    imported_from: ImportedFrom | None


class TeamLine(Line, frozen=True):
    """The head of a team file (2.3)."""

    record_type: str
    format: str
    execution_id: str
    team: Team
    owner: Person
    state: str
    seats: list[Seat]
    lineage: TeamLineage
    exported_at: str
    exported_by: Person
    redactions: int


def integer(value: object, path: str) -> int:
    """An integer of at least 0, read as leniently as the importer reads one (2.4)."""
    if isinstance(value, bool | int):
        number = int(value)
    elif isinstance(value, float):
        number = _whole_float(value, path)
    elif isinstance(value, str):
        match = _INTEGER.fullmatch(value.strip(_UNICODE_SPACE))
        digits = match[2].replace("_", "") if match else ""
        if match is None or len(digits) > NUMBER_DIGITS:
            raise FieldRefusal(path, "is text that does not spell an integer")
        number = int(match[1] + digits)
    else:
        raise FieldRefusal(path, f"is to be an integer, not {_named(value)}")
    if number < 0:
        raise FieldRefusal(path, "is to be 0 or more")
    return number


def boolean(value: object, path: str) -> bool:
    """A boolean, read as leniently as the importer reads one (2.4)."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.isascii():
        word = value.lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
    raise FieldRefusal(path, "is to be true or false")


def _whole_float(value: float, path: str) -> int:
    if not math.isfinite(value) or value != math.trunc(value):
        raise FieldRefusal(path, "is to be a whole number")
    if not -(2.0**63) < value < 2.0**63:
        raise FieldRefusal(path, "is a whole number written with a fraction or exponent, and too large for that")
    return int(value)


def _named(value: object) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


def _string(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise FieldRefusal(path, f"is to be a string, not {_named(value)}")
    return value


def _ruled(value: object, path: str) -> str:
    text = _string(value, path)
    if LONE_SURROGATE.search(text):
        raise FieldRefusal(path, "holds an unpaired surrogate")
    return text


def _filled(value: object, path: str) -> str:
    text = _ruled(value, path)
    if not text:
        raise FieldRefusal(path, "is to have at least 1 character")
    return text


def _title(value: object, path: str) -> str:
    text = _ruled(value, path)
    if len(text) > TITLE_POINTS:
        raise FieldRefusal(path, f"is to have at most {TITLE_POINTS} characters, not {len(text)}")
    return text


def _uid(value: object, path: str) -> str:
    text = _string(value, path)
    if not _UID.fullmatch(text):
        raise FieldRefusal(path, "is to be 8 to 128 ASCII letters, digits, hyphens or underscores")
    return text


def _digest(value: object, path: str) -> str:
    text = _string(value, path)
    if not _DIGEST.fullmatch(text):
        raise FieldRefusal(path, "is to be sha256: and 64 lower-case hexadecimal digits")
    return text


def _state(value: object, path: str) -> str:
    if not isinstance(value, str) or value not in STATES:
        raise FieldRefusal(path, f"is to be one of {', '.join(STATES)}")
    return value


def _kinds(value: object, path: str) -> list[str]:
    names = [_string(item, f"{path}.{n}") for n, item in enumerate(_list(value, path))]
    unknown = [name for name in names if name not in KIND_SET]
    if unknown:
        raise FieldRefusal(path, f"names kinds the record does not have: {', '.join(map(repr, unknown))}")
    return names


def _seats(value: object, path: str) -> list[Seat]:
    seats = [_SEAT(item, f"{path}.{n}") for n, item in enumerate(_list(value, path))]
    if not seats:
        raise FieldRefusal(path, NO_SEATS)
    ids = [seat.id for seat in seats]
    for name in ids:
        if ids.count(name) > 1:
            raise FieldRefusal(path, f"names the seat {name!r} more than once")
    return seats


def _list(value: object, path: str) -> list[object]:
    if not isinstance(value, list):
        raise FieldRefusal(path, f"is to be a list, not {_named(value)}")
    return value


def _payload(value: object, path: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise FieldRefusal(path, f"is to be an object, not {_named(value)}")
    return value


def _or_null(check: Check) -> Check:
    return lambda value, path: None if value is None else check(value, path)


def _object(struct: type[Line], **checks: Check) -> Check:
    """A check of an object: its declared fields in order, then those it has beyond them."""
    optional = frozenset(struct.__struct_fields__[len(struct.__struct_fields__) - len(struct.__struct_defaults__) :])

    def check(value: object, path: str) -> Line:
        members: Mapping[str, object] = _payload(value, path)
        prefix = f"{path}." if path else ""
        found: dict[str, Any] = {}
        for name, check_field in checks.items():
            if name in members:
                found[name] = check_field(members[name], prefix + name)
            elif name not in optional:
                raise FieldRefusal(prefix + name, "is required and missing")
        for name in members:
            if name not in checks:
                raise FieldRefusal(prefix + name, "is not a field of this format")
        return struct(**found)

    return check


_APP = _object(App, id=_filled, version=integer)
_PERSON = _object(Person, uid=_filled)
_IMPORTED = _or_null(_object(ImportedFrom, digest=_digest, exported_at=_filled, exported_by=_filled))
_FORKED = _or_null(_object(ForkedFrom, uid=_filled, at_turn=integer))
_SEAT = _object(Seat, id=_filled, session_uid=_filled, agent=_filled, harness=_or_null(_string))
_SESSION = _object(
    SessionLine,
    record_type=_string, format=_string, uid=_uid, app=_APP, agent=_filled, harness=_or_null(_string), owner=_PERSON,
    state=_state, turns=integer, title=_title, archived=boolean,
    lineage=_object(Lineage, forked_from=_FORKED, imported_from=_IMPORTED),
    kinds=_kinds, entries=integer, exported_at=_filled, exported_by=_PERSON, redactions=integer,
)  # fmt: skip
_TEAM = _object(
    TeamLine,
    record_type=_string, format=_string, execution_id=_filled, team=_object(Team, id=_filled, version=_filled),
    owner=_PERSON, state=_state, seats=_seats,
    lineage=_object(
        TeamLineage,
        forked_from=_or_null(_object(ForkedExecution, execution_id=_filled)),
        imported_from=_IMPORTED,
    ),
    exported_at=_filled, exported_by=_PERSON, redactions=integer,
)  # fmt: skip
_ENTRY = _object(EntryLine, record_type=_string, kind=_string, at=_ruled, summary=_string, payload=_payload)


def session_line(members: Mapping[str, object]) -> SessionLine:
    """A session line whose record_type and format have been looked at; raises FieldRefusal."""
    line: SessionLine = _SESSION(members, "")
    return line


def team_line(members: Mapping[str, object]) -> TeamLine:
    """A team line whose record_type and format have been looked at; raises FieldRefusal."""
    line: TeamLine = _TEAM(members, "")
    return line


def entry_line(members: Mapping[str, object]) -> EntryLine:
    """An entry line whose record_type, kind and at have been looked at; raises FieldRefusal."""
    line: EntryLine = _ENTRY(members, "")
    return line


LINE_FIELDS: frozenset[str] = frozenset(
    name
    for struct in (
        App, ForkedFrom, ImportedFrom, Lineage, Person, SessionLine, EntryLine, Team, Seat, ForkedExecution,
        TeamLineage, TeamLine,
    )
    for name in struct.__struct_encode_fields__
)  # fmt: skip
"""Every field name a line of the format may have, outside `payload`."""
