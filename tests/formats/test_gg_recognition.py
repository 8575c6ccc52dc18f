"""Whose file it is when a byte order mark hides its beginning, and what the refusal says (sections 4.5, 5.1)."""

from __future__ import annotations

import pytest

from sessionlab.formats import detect
from sessionlab.formats.recording import HEAD_BYTES
from sessionlab.tables import Extent, Problem, Source
from tests.formats.gg_examples import A_RECORD, B_LINES, HEADER, A, dump, of, read

MARKS = {
    "UTF-8": (b"\xef\xbb\xbf", "utf-8"),
    "UTF-16, little-endian": (b"\xff\xfe", "utf-16-le"),
    "UTF-16, big-endian": (b"\xfe\xff", "utf-16-be"),
}


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    ("data", "kind", "opening"),
    [
        (A, "no_header", "has no header line"),
        (B_LINES[0] + b"\n", "no_header", "has no header line"),
        (dump(HEADER), "no_header", "has no header line"),
        (A_RECORD, "malformed_record", "is no session record"),
    ],
    ids=["journal", "header", "header without its end", "record"],
)
def test_a_byte_order_mark_is_named(mark: str, data: bytes, kind: str, opening: str) -> None:
    """A journal or a record behind a mark is still gg's: claimed, refused, and the mark is the reason given."""
    first, codec = MARKS[mark]
    written = first + data.decode().encode(codec)
    fmt = detect(written[:HEAD_BYTES])
    assert fmt is not None
    assert fmt.NAME == "gg"
    rows = read(written)
    assert {type(row) for row in rows} == {Problem, Extent, Source}
    (source,) = of(rows, Source)
    (problem,) = of(rows, Problem)
    assert (source.state, source.reason) == ("refused", problem.detail)
    assert (problem.kind, problem.severity, problem.byte_length) == (kind, "refusal", len(written))
    assert (problem.detail or "").startswith(opening)
    assert (problem.detail or "").endswith(f"; it begins with a byte order mark ({mark})")
    assert [(row.byte_length, row.fate) for row in of(rows, Extent)] == [(len(written), "problem")]


def test_a_refusal_without_a_mark_names_none() -> None:
    """The sentence of the specification stands alone where no mark is in front."""
    (problem,) = of(read(A.split(b"\n", 1)[1]), Problem)
    assert problem.detail == "has no header line, so the session it belongs to is unknown"


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\xef\xbb\xbf", b"\xff\xfe{", "\ufeffnoise\n".encode("utf-16-be")])
def test_a_mark_alone_is_nobodys(data: bytes) -> None:
    """A mark in front of nothing, or of another text, makes no file gg's or anybody's."""
    assert detect(data) is None
