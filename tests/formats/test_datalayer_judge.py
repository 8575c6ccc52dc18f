"""The judge of datalayer session files at the edges: text, numbers, nesting, caps, and team files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionlab.formats.datalayer.judge import Accepted, Refusal, judge, too_large
from tests.formats.datalayer_files import AT, accepted, bytes_of, entry, head, judged, refused, team

MEBI = 1_048_576
UNVERSIONED = (
    "A session file's first line is a session line that says its format, datalayer-session/1; "
    "this file's first line does not."
)
RUN = entry("run")


# ------------------------------------------------------------------ section 5: text edges


def test_byte_order_mark_and_other_encodings() -> None:
    """A byte-order mark is kept and makes line 1 `not_json`; so do UTF-16 and UTF-32."""
    for data in (
        b"\xef\xbb\xbf" + bytes_of(head()),
        *(bytes_of(head()).decode().encode(name) for name in ("utf-16", "utf-32")),
    ):
        verdict = judge(data)
        assert isinstance(verdict, Refusal)
        assert (verdict.name, verdict.line) == ("not_json", 1)


def test_invalid_utf8_is_replaced_and_taken() -> None:
    """A Latin-1 byte becomes U+FFFD; the file is taken and the judge says so."""
    verdict = judge(bytes_of(head(title="Olstand")).replace(b"Ol", b"\xd6l"))
    assert isinstance(verdict, Accepted)
    assert verdict.replaced
    assert verdict.sections[0].head.title == "\ufffdlstand"


@pytest.mark.parametrize(
    "end", ["\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"], ids=ascii
)
def test_what_ends_a_line(end: str) -> None:
    """LF, CRLF, CR, VT, FF, FS, GS, RS, NEL, LS and PS all end a line, with or without one after the last."""
    data = bytes_of(head(), RUN, RUN, end=end)
    for body in (data, data[: -len(end.encode())]):
        verdict = judge(body)
        assert isinstance(verdict, Accepted)
        assert verdict.lines == 3
        assert verdict.sections[0].numbers == [2, 3]


@pytest.mark.parametrize("raw", ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_a_raw_line_end_inside_a_string_cuts_it(raw: str) -> None:
    """Raw inside a string it cuts the line in two: `not_json`; written as an escape it is fine."""
    cut = '{"record_type": "entry", "kind": "run", "at": "x", "summary": "a' + raw + 'b"}'
    assert refused(head(), cut)[:2] == ("not_json", 2)
    whole = cut.replace(raw, f"\\u{ord(raw):04x}")
    assert accepted(head(), whole).sections[0].entries[0].summary == f"a{raw}b"


def test_the_unit_separator_ends_no_line() -> None:
    """U+001F is no line end: between two objects it is `not_json` on their line."""
    assert refused(head(), json.dumps(RUN) + "\x1f" + json.dumps(RUN))[:2] == ("not_json", 2)


def test_blank_lines_are_skipped_and_counted() -> None:
    """Blank lines carry no entry and still number the lines after them."""
    verdict = accepted(head(), "", " \t ", "\u00a0", RUN, "")
    assert verdict.sections[0].numbers == [5]
    assert verdict.blank == {2, 3, 4, 6}
    assert verdict.lines == 6


@pytest.mark.parametrize("around", [" ", "\t", " \t "])
def test_json_white_space_round_a_line_is_taken(around: str) -> None:
    """Spaces and tabs round a line's JSON do not matter."""
    assert accepted(around + json.dumps(head()) + around, around + json.dumps(RUN) + around).lines == 2


@pytest.mark.parametrize("around", ["\u00a0", "\u3000", "\ufeff"], ids=ascii)
def test_other_white_space_round_a_line_is_not_json(around: str) -> None:
    """A no-break space or another white space that is none of JSON's is `not_json`."""
    assert refused(head(), around + json.dumps(RUN))[:2] == ("not_json", 2)


@pytest.mark.parametrize(
    "payload",
    [
        "{'a': 1}", '{"a": 1,}', '{"a": 1} // said', '{"a": 1} {"b": 2}', '{"a": "\t"}', '{"a": "\x01"}', '{"a": 01}',
        '{"a": .5}', '{"a": "\\x"}', '{"a": True}', "{" + '"a": ' + "9" * 4301 + "}",
    ],
)  # fmt: skip
def test_what_is_not_json(payload: str) -> None:
    """Single quotes, trailing commas, comments, two objects, raw control characters, 4301 digits: `not_json`."""
    assert (
        refused(head(), f'{{"record_type": "entry", "kind": "run", "at": "x", "payload": {payload}}}')[0] == "not_json"
    )


def test_numbers_that_are_taken() -> None:
    """Not-finite numbers are taken as floats; an integer of 4300 digits exactly."""
    line = (
        '{"record_type": "entry", "kind": "run", "at": "x", "payload": {"a": [NaN, Infinity, -Infinity, 1e999], "b": '
    )
    payload = accepted(head(), line + "9" * 4300 + "}}").sections[0].entries[0].payload
    assert repr(payload["a"]) == "[nan, inf, -inf, inf]"
    assert payload["b"] == 10**4300 - 1


def test_the_last_of_two_equal_keys_stands() -> None:
    """The last one stands before anything is checked, whichever of the two is sound."""
    taken = accepted(head(), '{"record_type": 5, "kind": "run", "kind": "turn", "at": "x", "record_type": "entry"}')
    assert taken.sections[0].entries[0].kind == "turn"
    assert refused(head(), '{"record_type": "entry", "kind": "run", "at": "x", "kind": "shell"}')[0] == "unknown_kind"
    assert refused(head(), '{"record_type": "entry", "kind": "run", "at": "x", "at": ""}')[0] == "entry_without_at"


@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_nesting_is_bounded(opened: str) -> None:
    """980 levels are taken, line and payload among them; 981 and a hundred thousand are `not_json`, never a crash."""
    closed = "]" if opened == "[" else "}"

    def line(levels: int) -> str:
        inner = opened * levels + ("1" if closed == "}" else "") + closed * levels
        return f'{{"record_type": "entry", "kind": "run", "at": "x", "payload": {{"a": {inner}}}}}'

    accepted(head(), line(977))
    accepted(head(), line(978))
    assert refused(head(), line(979))[:2] == ("not_json", 2)
    assert refused(head(), line(100_000))[:2] == ("not_json", 2)
    assert refused(opened * 100_000)[:2] == ("not_json", 1)


def test_brackets_inside_strings_are_no_nesting() -> None:
    """A payload may hold any number of brackets in its texts, and any number of shallow lists."""
    accepted(head(), entry("run", a="[{" * 5000, b=[[1], {"c": '\\"['}] * 2000))


def test_surrogates() -> None:
    """`summary`, `harness` and payloads take half a pair; fields with a rule do not; in `kinds` it is no kind."""
    half = "\\ud800"
    accepted(head(harness="HALF"), entry("run"))
    text = json.dumps(head(harness="HALF")).replace("HALF", half)
    line = json.dumps({**entry("run", a="HALF"), "summary": "HALF"}).replace("HALF", half)
    assert accepted(text, line).sections[0].entries[0].payload == {"a": "\ud800"}
    for name in ("title", "agent", "exported_at"):
        said = refused(json.dumps(head(**{name: "HALF"})).replace("HALF", half))[2]
        assert said.startswith(f"Line 1 is refused: {name} ")
    assert refused(json.dumps(head(kinds=["HALF"])).replace("HALF", half))[2].startswith("Line 1 is refused: kinds ")


# ------------------------------------------------------------------ section 5: caps at the edge


@pytest.mark.parametrize("last", ["", "\n"])
def test_twenty_thousand_entries_are_taken(last: str) -> None:
    """20 000 entries, with or without a final newline."""
    data = "\n".join([json.dumps(head()), *[json.dumps(RUN)] * 20_000]) + last
    assert isinstance(judge(data.encode()), Accepted)


@pytest.mark.parametrize("where", [1, 10_000, 20_001])
def test_a_blank_line_weighs_as_an_entry(where: int) -> None:
    """20 000 entries and one blank line anywhere after the head are 20 001."""
    lines: list[Any] = [json.dumps(head()), *[json.dumps(RUN)] * 20_000]
    lines.insert(where, "")
    assert refused(*lines)[2].startswith("The file has 20 001 entries over 2 MB;")


def test_one_entry_too_many() -> None:
    """A head and 20 001 entries are refused with 413 and their count."""
    assert "20 001 entries" in refused(head(), *[RUN] * 20_001)[2]


def _of_size(size: int, last: str) -> bytes:
    line = json.dumps({**RUN, "summary": "@"})
    rest = size - len(bytes_of(head())) - len(line) + 1 - len(last)
    return bytes_of(head()) + line.replace("@", "x" * rest).encode() + last.encode()


@pytest.mark.parametrize(
    ("size", "last", "taken"),
    [
        (64 * MEBI, "\n", True),
        (64 * MEBI, "", False),
        (64 * MEBI - 1, "", True),
        (64 * MEBI + 1, "\n", False),
    ],
)
def test_caps_in_bytes(size: int, last: str, taken: bool) -> None:
    """A file at the cap is taken when it ends in a newline; without one it weighs a byte more."""
    data = _of_size(size, last)
    assert len(data) == size
    verdict = judge(data)
    if taken:
        assert isinstance(verdict, Accepted)
    else:
        assert verdict == too_large(1, 64 * MEBI)
        assert "The file has 1 entries over 64 MB;" in verdict.sentence


def test_each_replaced_byte_weighs_three() -> None:
    """Check 4 weighs the text as decoded: 22 million invalid bytes are over the cap."""
    data = bytes_of(head()) + b"\xff" * 22_400_000
    verdict = judge(data)
    assert isinstance(verdict, Refusal)
    assert verdict.name == "too_large"
    small = judge(bytes_of(head()) + b"\xff" * 1000)
    assert isinstance(small, Refusal)
    assert small.name == "not_json"


# ------------------------------------------------------------------ team files and the lenient split


def test_a_team_file_is_taken_seat_by_seat_when_asked() -> None:
    """With ``teams`` each session line opens a section; a later team line is a second head."""
    lines = (team(), head(uid="lead-0001"), RUN, RUN, head(uid="scout-001"), RUN)
    verdict = judged(*lines, teams=True)
    assert isinstance(verdict, Accepted)
    assert [(s.head.uid, s.line, s.numbers) for s in verdict.sections] == [
        ("lead-0001", 2, [3, 4]),
        ("scout-001", 5, [6]),
    ]
    again = judged(*lines, team(), teams=True)
    assert isinstance(again, Refusal)
    assert (again.name, again.line) == ("second_head", 7)


@pytest.mark.parametrize("after", [(), (head(),)])
def test_an_entry_before_the_first_seat_is_refused(after: tuple[Any, ...]) -> None:
    """An entry that no session line stands above belongs to nobody."""
    verdict = judged(team(), RUN, *after, teams=True)
    assert isinstance(verdict, Refusal)
    assert (verdict.name, verdict.line, verdict.status) == ("entry_without_seat", 2, 422)


def test_lf_only_splits_at_newlines_alone() -> None:
    """Split at LF a raw U+2028 in a string is text, and CR LF still ends a line."""
    data = bytes_of(head(), {**RUN, "summary": "a\u2028b\u0085c"}, end="\r\n")
    assert isinstance(judge(data), Refusal)
    verdict = judge(data, lf_only=True)
    assert isinstance(verdict, Accepted)
    assert verdict.sections[0].entries[0].summary == "a\u2028b\u0085c"


def test_cases_of_the_format_tests() -> None:
    """Export then import: version 2, kind `shell` on line 2, no `at` on line 3, broken JSON on line 2 (section 15)."""
    turn = entry("turn", asked="a", answered="b")
    assert refused(head(format="datalayer-session/2"), turn, turn)[0] == "other_version"
    assert refused(head(), {**turn, "kind": "shell"}, turn)[:2] == ("unknown_kind", 2)
    assert refused(head(), turn, {"record_type": "entry", "kind": "turn"})[:2] == ("entry_without_at", 3)
    assert refused(head(), "{not json", turn)[:2] == ("not_json", 2)
    assert accepted(head(), turn, turn).sections[0].entries[1].at == AT
