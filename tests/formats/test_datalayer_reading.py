"""Reading datalayer files as bytes: which are claimed, what a refusal leaves, cuts, coverage, and the lenient split."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.formats.datalayer import sniff
from sessionlab.formats.datalayer.text import LineCounter, byte_ranges
from sessionlab.tables import Entry, Extent, Problem, Session, Source
from tests.formats.datalayer_files import bytes_of, entry, head, of, read, rows_of, team

RUN = entry("run")
MEBI = 1_048_576


# ------------------------------------------------------------------ sniff


@pytest.mark.parametrize(
    "data",
    [
        bytes_of(head(), RUN),
        bytes_of(team()),
        bytes_of(RUN),
        bytes_of(head(format="datalayer-session/2")),
        bytes_of({"format": "datalayer-session/1"}),
        bytes_of({"record_type": "session"}),
        bytes_of({"title": 'a "quoted" {brace', "app": {"record_type": 5}, "record_type": "session"}),
        b"\n \n" + bytes_of(head()),
        b"\xef\xbb\xbf" + bytes_of(head()),
        bytes_of(head(title="x" * 100_000))[:65_536],
        b'{"record_type": "entry", "kind": ',
        b'{"record_type":"session",,,}',
        b'{"recor\\u0064_type": "entry"}',
        b'{"record_type": "session"}\r{"x": 1}',
    ],
)  # fmt: skip
def test_what_is_claimed(data: bytes) -> None:
    """A first line that names a record type or the format, sound or not, whole or not."""
    assert sniff(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"no JSON at all",
        b"record_type session",
        b'["record_type", "session"]',
        b'"record_type"',
        b'{"record_type": "message"}',
        b'{"record_type": ["session"]}',
        b'{"type": "user", "message": {"record_type": "session"}}',
        b'{"type": "user", "text": "\\"record_type\\": \\"session\\""}',
        b'{"type": "user", "text": "\\"record_type\\": \\"session\\"',
        b'{"record": "session", "format": "mecha/1"}',
        b'{"title": "record_type", "name": "session"}',
        b'{"format": "session-datalayer"}',
        b'{"type": "user"}\n{"record_type": "session"}',
        b'{"type": "user"} {"record_type": "session"}',
        bytes_of(head()).decode().encode("utf-16"),
    ],
)
def test_what_is_not_claimed(data: bytes) -> None:
    """Other formats' lines, nested members, texts that quote the words, later lines, and what is no JSON."""
    assert not sniff(data)


# ------------------------------------------------------------------ refusals as rows


REFUSED: list[tuple[str, int | None, list[Any]]] = [
    ("unversioned", 1, [RUN]),
    ("other_version", 1, [head(format="datalayer-session/7")]),
    ("not_a_line", 2, [head(), []]),
    ("unknown_kind", 2, [head(), {**RUN, "kind": "shell"}]),
    ("entry_without_at", 2, [head(), {**RUN, "at": ""}]),
    ("team_without_seats", 1, [team(seats=[])]),
    ("too_large", None, [head(), *[""] * 20_001]),
    ("not_json", 2, [head(), "{"]),
    ("field_refusal", 1, [head(turns=-3)]),
    ("second_head", 2, [head(), head()]),
    ("entry_without_seat", 2, [team(), RUN]),
]


@pytest.mark.parametrize(("name", "line", "lines"), REFUSED, ids=[name for name, _, _ in REFUSED])
def test_a_refused_file_is_one_problem(name: str, line: int | None, lines: list[Any]) -> None:
    """Nothing of a refused file is in a row but the refusal, whose words are the source's reason too."""
    data = bytes_of(*lines)
    problem, extent, source = rows_of(data)
    assert isinstance(problem, Problem)
    assert isinstance(extent, Extent)
    assert isinstance(source, Source)
    assert (problem.kind, problem.severity, problem.line) == (name, "refusal", line)
    assert (problem.byte_offset, problem.byte_length, problem.session_id) == (0, len(data), None)
    assert (extent.byte_offset, extent.byte_length, extent.fate) == (0, len(data), "problem")
    assert (source.state, source.reason, source.decoded_bytes) == ("refused", problem.detail, len(data))


def test_a_refusal_of_another_version_names_it() -> None:
    """The version stated stands in `format_version`, and in the sentence."""
    (source,) = of(read(head(format="datalayer-session/7")), Source)
    assert source.format_version == "datalayer-session/7"
    assert source.reason == "The file is datalayer-session/7; this runtime reads datalayer-session/1."


def test_an_empty_file_is_refused_without_bytes() -> None:
    """A file of no bytes has no extent and still says why."""
    rows = rows_of(b"")
    assert [type(row) for row in rows] == [Problem, Source]
    assert of(rows, Source)[0].state == "refused"


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_file_over_the_cap_is_counted(packed: bool) -> None:
    """80 MiB of CR LF lines, compressed to little or not: the sentence tells lines and megabytes, extents all bytes."""
    line = b'{"record_type": "entry", "kind": "run", "at": "x"}' + b" " * 48 + b"\r\n"
    assert len(line) == 100
    data = line * (80 * MEBI // 100)
    rows = rows_of(gzip.compress(data, 1, mtime=0) if packed else data)
    assert [row.detail for row in of(rows, Problem)] == [
        "The file has 838 859 entries over 80 MB; a session file holds at most 20 000 entries in 64 MB."
    ]
    assert [row.byte_length for row in of(rows, Extent)] == [len(data)]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "\n", "\r", "\r\n", "\v", "\x85", "\u2028", "é", "\x1f"]), max_size=12), st.data()
)
def test_lines_are_counted_as_python_splits_them(parts: list[str], data: st.DataObject) -> None:
    """Whatever the blocks, even inside CR LF or a character, the count is that of the whole text."""
    text = "".join(parts)
    raw = text.encode()
    counter = LineCounter()
    at = 0
    while at < len(raw):
        size = data.draw(st.integers(1, 4))
        counter.add(raw[at : at + size])
        at += size
    counter.add(b"", final=True)
    assert counter.lines == len(text.splitlines())


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([b"a", b"\n", b"\r", b"\xc2", b"\x85", b"\xe2", b"\x80", b"\xa8", b"\xa9", b"\xff", b"\x1c"]),
        max_size=14,
    )
)
def test_byte_ranges_are_the_lines_of_the_text(parts: list[bytes]) -> None:
    """Ranges tile the bytes and are as many as the lines of the text, invalid UTF-8 and all."""
    raw = b"".join(parts)
    ranges = list(byte_ranges(raw))
    assert b"".join(raw[start : start + size] for start, size in ranges) == raw
    assert len(ranges) == len(raw.decode(errors="replace").splitlines())


# ------------------------------------------------------------------ an accepted file


def test_rows_end_with_session_extents_and_source() -> None:
    """The rows of what was met, then the session, the extents and the source."""
    rows = read(head(entries=1), RUN)
    assert [type(row).__name__ for row in rows] == ["Agent", "Entry", "Session", "Extent", "Source"]
    (source,) = of(rows, Source)
    assert (source.state, source.lines, source.format_version) == ("whole", 2, "datalayer-session/1")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2029"])
def test_extents_tell_blank_lines(end: str) -> None:
    """Every byte lies in one run of lines, read or blank, whatever ends a line."""
    data = bytes_of(head(), "", " ", RUN, "", RUN, end=end)
    width = len(end.encode())
    first, run = len(json.dumps(head())) + width, len(json.dumps(RUN)) + width
    found = [(x.from_line, x.to_line, x.byte_offset, x.byte_length, x.fate) for x in of(rows_of(data), Extent)]
    assert found == [
        (1, 1, 0, first, "read"),
        (2, 3, first, 2 * width + 1, "blank"),
        (4, 4, first + 2 * width + 1, run, "read"),
        (5, 5, first + 2 * width + 1 + run, width, "blank"),
        (6, 6, first + 3 * width + 1 + run, run, "read"),
    ]


def test_compressed_files_are_read() -> None:
    """A gzip of a session file gives the rows of the file; one cut short is not taken for whole."""
    data = bytes_of(head(entries=1), RUN)
    packed = gzip.compress(data, mtime=0)
    assert [row for row in rows_of(packed) if not isinstance(row, Source)] == [
        row for row in rows_of(data) if not isinstance(row, Source)
    ]
    (source,) = of(rows_of(packed[:-4]), Source)
    assert source.state != "whole"


def test_cut_at_every_byte() -> None:
    """Cut anywhere a file is taken, or refused once with no other row; it never raises."""
    data = bytes_of(
        head(title="Ö"), RUN, "", entry("tool_call", tool="t", result="é", n=1.5), entry("output", status="answered"),
    )  # fmt: skip
    taken = []
    for cut in range(len(data) + 1):
        rows = rows_of(data[:cut])
        assert sum(x.byte_length for x in of(rows, Extent)) == cut
        refusals = [row for row in of(rows, Problem) if row.severity == "refusal"]
        if of(rows, Source)[0].state == "refused":
            assert len(refusals) == 1
            assert not of(rows, Entry)
        else:
            assert not refusals
            assert len(of(rows, Session)) == 1
            taken.append(cut)
    ends = [n + 1 for n, byte in enumerate(data) if byte == 0x0A]
    assert taken == sorted({cut for end in ends for cut in (end - 1, end)})


# ------------------------------------------------------------------ notes of the reader


@pytest.mark.parametrize("raw", ["\u2028", "\u2029", "\x85"], ids=ascii)
def test_a_raw_separator_alone_does_not_refuse(raw: str) -> None:
    """Where only a raw U+2028, U+2029 or U+0085 stands in the way, the file is read split at LF, with a note."""
    rows = read(head(entries=2), entry("thread", title=f"a{raw}b"), RUN)
    (note,) = of(rows, Problem)
    assert (note.kind, note.severity, note.line) == ("raw_line_separator", "note", 2)
    assert (note.detail or "").endswith("refuses the file: Line 2 of the file is not JSON.")
    assert [(row.line, row.name) for row in of(rows, Entry)] == [(2, f"a{raw}b"), (3, None)]
    assert of(rows, Source)[0].lines == 3


@pytest.mark.parametrize("lines", [
    [head(), entry("thread", title="a\u2028b"), "{broken"],
    [head(), entry("thread", title="a\x0bb\u2028").__repr__()],
    [head(), entry("thread", title="a\u2028b"), {**RUN, "kind": "shell"}],
])  # fmt: skip
def test_a_raw_separator_among_other_faults_refuses(lines: list[Any]) -> None:
    """Where something else is wrong too, the importer's own refusal stands, about the line it found first."""
    (problem,) = of(read(*lines), Problem)
    assert (problem.kind, problem.line) == ("not_json", 2)


def test_separators_between_lines_need_no_leniency() -> None:
    """Between lines they are line ends as any other: accepted, and no note."""
    assert not of(rows_of(bytes_of(head(entries=1), RUN, end="\u2028")), Problem)


def test_invalid_utf8_is_noted() -> None:
    """Replaced bytes are a note on the file."""
    rows = rows_of(bytes_of(head(title="caf@")).replace(b"@", b"\xe9"))
    assert [(row.kind, row.severity) for row in of(rows, Problem)] == [("invalid_utf8", "note")]
    assert of(rows, Session)[0].title == "caf\ufffd"


def test_a_surrogate_in_the_harness_reaches_no_row() -> None:
    """`harness` may hold half a pair; rows hold valid text."""
    text = json.dumps(head(harness="HALF")).replace("HALF", "\\ud800")
    (session,) = of(read(text), Session)
    assert json.loads(session.detail or "")["harness"] == "\ufffd"
