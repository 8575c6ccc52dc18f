"""The refusals of datalayer session files: their sentences word for word, and which check comes first."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.formats.datalayer.fields import KINDS as KIND_NAMES
from sessionlab.formats.datalayer.judge import Refusal, judge, refusal, too_large
from tests.formats.datalayer_files import KINDS, accepted, entry, head, refused, team

MEBI = 1_048_576
UNVERSIONED = (
    "A session file's first line is a session line that says its format, datalayer-session/1; "
    "this file's first line does not."
)
RUN = entry("run")


# ------------------------------------------------------------------ section 4: the sentences


def test_the_25_kinds_stand_in_order() -> None:
    """The kinds are those of section 1, in its order."""
    assert ", ".join(KIND_NAMES) == KINDS
    assert len(KIND_NAMES) == 25


def test_sentence_unversioned() -> None:
    """A first line of no known record type says `unversioned`, word for word."""
    assert refused({}) == ("unversioned", 1, UNVERSIONED)


@pytest.mark.parametrize(
    ("stated", "printed"),
    [
        ("datalayer-session/2", "datalayer-session/2"),
        (2, "2"),
        (["datalayer-session/1"], "['datalayer-session/1']"),
        ("DATALAYER-SESSION/1", "DATALAYER-SESSION/1"),
        (True, "True"),
        ({"a": None}, "{'a': None}"),
    ],
)
def test_sentence_other_version(stated: Any, printed: str) -> None:
    """The stated format is printed plainly, a string without quotes."""
    said = f"The file is {printed}; this runtime reads datalayer-session/1."
    assert refused(head(format=stated)) == ("other_version", 1, said)


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ([], "'list'"),
        ('"text"', "'str'"),
        ("5", "'int'"),
        ("5.5", "'float'"),
        ("true", "'bool'"),
        ("null", "'NoneType'"),
        ({}, "None"),
        ({"record_type": True}, "True"),
        ({"record_type": 5}, "5"),
        ({"record_type": ["entry"]}, "['entry']"),
        ({"record_type": {"a": 1}}, "{'a': 1}"),
        ({"record_type": "Entry"}, "'Entry'"),
        ({"record_type": " entry"}, "' entry'"),
        ({"record_type": "it's"}, '"it\'s"'),
        ({"record_type": 'it\'s "so"'}, "'it\\'s \"so\"'"),
        ({"record_type": "a\nb"}, "'a\\nb'"),
    ],
)
def test_sentence_not_a_line(line: Any, printed: str) -> None:
    """The record type is shown as Python shows it; of a value that is no object, the name of its type."""
    said = f"Line 2 of the file is not a session, team_session or entry line: it says record_type {printed}."
    assert refused(head(), line) == ("not_a_line", 2, said)


@pytest.mark.parametrize("line", [[], '"text"', "5", "null"])
def test_not_a_line_holds_on_the_first_line_too(line: Any) -> None:
    """A first line that is JSON but no object is `not_a_line`, not `unversioned` (section 14, 2)."""
    assert refused(line)[:2] == ("not_a_line", 1)


@pytest.mark.parametrize(
    ("kind", "printed"), [("shell", "'shell'"), ("Run", "'Run'"), (None, "None"), (3, "3"), (["run"], "['run']")]
)
def test_sentence_unknown_kind(kind: Any, printed: str) -> None:
    """The kind is shown as Python shows it, and the 25 are listed."""
    said = f"Line 3 is an entry of kind {printed}, which the record does not have: one of {KINDS}."
    assert refused(head(), RUN, {**RUN, "kind": kind}) == ("unknown_kind", 3, said)


@pytest.mark.parametrize("at", [None, "", "  ", "\u3000", 0, False, [], {}])
def test_sentence_entry_without_at(at: Any) -> None:
    """An `at` that is absent, null, falsy or blank after trimming; the sentence keeps its backticks."""
    said = "Line 2 is an entry that does not say when it was recorded (`at`)."
    assert refused(head(), {**RUN, "at": at}) == ("entry_without_at", 2, said)
    assert refused(head(), {"record_type": "entry", "kind": "run"}) == ("entry_without_at", 2, said)


def test_sentence_team_without_seats() -> None:
    """An empty list of seats says the bare sentence (section 17); seats missing or null do not."""
    said = "A team session line names its seats, in order, each with its session uid; this one names none."
    assert refused(team(seats=[])) == ("team_without_seats", 1, said)
    without = team()
    del without["seats"]
    assert refused(without)[2].startswith("Line 1 is refused: seats ")
    assert refused(team(seats=None))[0] == "field_refusal"


@pytest.mark.parametrize(
    ("entries", "size", "said"),
    [
        (31_204, 70 * MEBI, "31 204 entries over 70 MB"),
        (20_001, 0, "20 001 entries over 0 MB"),
        (1_234_567, MEBI // 2, "1 234 567 entries over 0 MB"),
        (7, MEBI * 3 // 2, "7 entries over 2 MB"),
        (7, MEBI * 5 // 2, "7 entries over 2 MB"),
        (0, 64 * MEBI + 1, "0 entries over 64 MB"),
    ],
)
def test_sentence_too_large(entries: int, size: int, said: str) -> None:
    """Entries are grouped by spaces, megabytes rounded to the nearest, ties to even; status 413."""
    verdict = too_large(entries, size)
    assert verdict.sentence == f"The file has {said}; a session file holds at most 20 000 entries in 64 MB."
    assert verdict.status == 413


def test_sentence_not_json() -> None:
    """A line that is not JSON is named by its number."""
    assert refused(head(), "{not json") == ("not_json", 2, "Line 2 of the file is not JSON.")


def test_sentences_are_ascii() -> None:
    """The eight sentences hold no character beyond ASCII."""
    for name, facts in {
        "unversioned": {}, "other_version": {"format": "x"}, "not_a_line": {"record_type": 1},
        "unknown_kind": {"kind": "x"}, "entry_without_at": {}, "team_without_seats": {},
        "too_large": {"entries": "1", "megabytes": 1}, "not_json": {},
    }.items():  # fmt: skip
        assert refusal(name, line=4, **facts).sentence.isascii()  # type: ignore[arg-type]


def test_team_and_second_head_refusals() -> None:
    """The importer refuses a team file, and a second head; both with 422 and the line."""
    assert refused(team())[:2] == ("team_refusal", 1)
    assert refused(head(), RUN, head(uid="other-uid-1"))[:2] == ("second_head", 3)
    assert refused(head(), team())[:2] == ("second_head", 2)


# ------------------------------------------------------------------ section 3: the order of checks


def test_broken_json_under_a_leading_entry_is_the_answer() -> None:
    """A file that starts with a sound entry and breaks on line 2 is refused for line 2."""
    assert refused(RUN, "{broken")[:2] == ("not_json", 2)


def test_only_an_entry_is_unversioned() -> None:
    """A sound entry first is `unversioned`, but only after every line has passed."""
    assert refused(RUN) == ("unversioned", 1, UNVERSIONED)
    assert refused(RUN, head())[0] == "unversioned"


def test_an_unsound_entry_first_is_refused_for_itself() -> None:
    """An unsound first entry gives `unknown_kind` or `entry_without_at` on line 1."""
    assert refused({**RUN, "kind": "shell"})[:2] == ("unknown_kind", 1)
    assert refused({**RUN, "at": ""})[:2] == ("entry_without_at", 1)


def test_kind_is_looked_at_before_at() -> None:
    """An entry with neither kind nor time is refused for its kind."""
    assert refused(head(), {"record_type": "entry"})[0] == "unknown_kind"


def test_second_head_comes_after_broken_json() -> None:
    """A sound second session line followed by broken JSON is refused for the JSON."""
    assert refused(head(), head(), "{")[:2] == ("not_json", 3)


@pytest.mark.parametrize("falsy", [None, "", 0, False, []])
def test_a_second_session_line_is_judged_as_the_first(falsy: Any) -> None:
    """One of another version says `other_version`; one without format says `unversioned`, on any line."""
    assert refused(head(), head(format="datalayer-session/9"))[:2] == ("other_version", 2)
    assert refused(head(), head(format=falsy))[:2] == ("unversioned", 2)
    assert refused(head(format=falsy))[:2] == ("unversioned", 1)


def test_nothing_after_the_first_failing_line_is_looked_at() -> None:
    """A version-2 head with garbage under it says `other_version`."""
    assert refused(head(format="datalayer-session/2"), "garbage")[0] == "other_version"


def test_format_is_looked_at_before_the_fields() -> None:
    """A head of another version with unsound fields is refused for its version."""
    assert refused(head(format="x", uid=5))[0] == "other_version"


def test_caps_come_before_json() -> None:
    """A file over a cap that is not JSON at all says `too_large`."""
    assert refused(*["garbage"] * 20_002)[2].startswith("The file has 20 001 entries over 0 MB;")


@pytest.mark.parametrize("first", ["", "   ", "\t", "\u00a0", "\u3000"])
def test_a_blank_first_line_is_not_skipped(first: str) -> None:
    """A first line of white space, Unicode's included, is `unversioned`, and so is an empty file."""
    assert refused(first, head())[:2] == ("unversioned", 1)
    verdict = judge(b"")
    assert isinstance(verdict, Refusal)
    assert (verdict.name, verdict.status, verdict.sentence) == ("unversioned", 422, UNVERSIONED)


def test_wrong_counts_in_the_head_are_taken() -> None:
    """A head that says 7 entries over a file of 1 is taken (2.1)."""
    assert len(accepted(head(entries=7, turns=3, kinds=[]), RUN).sections[0].entries) == 1
