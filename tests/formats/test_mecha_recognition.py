"""Whose file it is, and what becomes of one whose header cannot be read (sections 8.1, 16.2, 18.1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessionlab.formats import detect, mecha
from sessionlab.formats.recording import HEAD_BYTES
from sessionlab.tables import Extent, Problem, Row, Source
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import META, line, message, of, raw, read, rewrite, said, tokens

HEADER = line(**META)
USER = message("user", "count the gulls")


def _refusal(data: bytes) -> str:
    """The reason a file is refused for; nothing but its refusal is told of it."""
    rows: list[Row] = raw(data)
    (problem,) = of(rows, Problem)
    (source,) = of(rows, Source)
    assert (problem.kind, problem.severity) == ("no_session_header", "refusal")
    assert (problem.byte_offset, problem.byte_length) == (0, len(data))
    assert source.state == "refused"
    assert source.reason == problem.detail
    assert sum(row.byte_length for row in of(rows, Extent)) == len(data)
    assert {row.fate for row in of(rows, Extent)} <= {"problem", "blank"}
    assert {type(row) for row in rows} <= {Problem, Source, Extent}
    return problem.detail or ""


UNREADABLE_HEADERS = {
    "a UTF-8 mark in front": (b"\xef\xbb\xbf" + HEADER + b"\n" + USER + b"\n", "byte order mark (UTF-8)"),
    "a UTF-8 mark and no more lines": (b"\xef\xbb\xbf" + HEADER, "byte order mark (UTF-8)"),
    "UTF-16 as a shell writes it": ((HEADER + b"\r\n").decode().encode("utf-16"), "byte order mark (UTF-16"),
    "torn header": (HEADER[:-1] + b"\n" + USER + b"\n", "no record"),
    "torn header and no more lines": (HEADER[:60], "no record"),
    "header on line 2": (USER + b"\n" + HEADER + b"\n", "another kind (message)"),
    "header behind console output": (b"console output\n" + HEADER + b"\n", "no record"),
    "lone surrogate in the title": (HEADER[:-1] + b',"title":"\\ud83d gulls"}\n' + USER + b"\n", "no record"),
    "created_at without a zone": (line(**{**META, "created_at": "2026-11-01T07:00:00"}) + b"\n", "RFC 3339"),
    "created_at in words": (line(**{**META, "created_at": "yesterday"}) + b"\n", "RFC 3339"),
    "no model": (line(**{**META, "model": None}) + b"\n", "`str`"),
    "no header, a message first": (USER + b"\n", "another kind (message)"),
    "no header, a rewrite first": (rewrite(said("user", "u")) + b"\n", "another kind (rewrite)"),
    "no header, an outcome first": (line(record="outcome", turns=3) + b"\n", "another kind (outcome)"),
    "no header, a summary first": (line(record="summary", usage=tokens(5, 7), turns=3) + b"\n", "kind (summary)"),
    "header on line 20": (b"noise\n" * 19 + HEADER + b"\n", "no record"),
}


@pytest.mark.parametrize("case", UNREADABLE_HEADERS)
def test_an_unreadable_header_is_claimed_and_refused(case: str) -> None:
    """The file is mecha's and counted, one refusal that says what stands where the header should (8.1, 16.2)."""
    data, said_of_it = UNREADABLE_HEADERS[case]
    assert mecha.sniff(data[:HEAD_BYTES])
    fmt = detect(data[:HEAD_BYTES])
    assert fmt is not None
    assert fmt.NAME == "mecha"
    reason = _refusal(data)
    assert said_of_it in reason
    assert "no session header" in reason


NOT_MECHA = {
    "nothing": b"",
    "blank lines": b"\n\n",
    "a word and nothing that goes with it": b'{"record":"meta"}\n',
    "saved prompts": b'{"kind":"prompt","record":"image","text":"a gull"}\n',
    "prompts without a record word": b'{"id":"p1","prompt":"a gull","image":"aGk="}\n',
    "another word": line(record="meeting", id="x", created_at="2026-11-01T07:00:00Z") + b"\n",
    "the word of a message without its members": line(record="message", text="hi") + b"\n",
    "a message of another shape": line(record="message", role="user", content="hi") + b"\n",
    "the word deeper down": line(meta={"record": "meta", "id": "x"}) + b"\n",
    "the word in a text": line(text=HEADER.decode()) + b"\n",
    "a list": b'["record","meta","id"]\n',
    "a torn list": b'["record",{"record":"meta","id":"x"}\n',
    "a torn object behind noise": b'>> {"record":"meta","id":"x"\n',
    "a broken object closed before": b'{"a":1} {"record":"meta","id":"x"}\n',
    "a header behind twenty lines": b"noise\n" * 20 + HEADER + b"\n",
}


@pytest.mark.parametrize("case", NOT_MECHA)
def test_other_files_stay_unclaimed(case: str) -> None:
    """Neither a lone word nor one deeper down makes a file mecha's; read anyway it is refused."""
    data = NOT_MECHA[case]
    assert not mecha.sniff(data[:HEAD_BYTES])
    _refusal(data)


def test_sniff_takes_a_header_with_its_word_anywhere() -> None:
    """The word may stand behind other members and beside unknown ones; leading blank lines do not count."""
    members = {name: value for name, value in META.items() if name != "record"}
    assert mecha.sniff(b"\n \n" + line(**members, weather={"record": "fog"}, record="meta") + b"\nnoise")


@pytest.mark.parametrize(
    ("content", "claimed"),
    [
        (line(**META, title="x" * HEAD_BYTES), True),
        (line(record="message", role="user", content=[{"type": "text", "text": "x" * HEAD_BYTES}]), True),
        (line(title={"record": "meta"}, note="x" * HEAD_BYTES), False),
        (line(title="meta", record="message", note="x" * HEAD_BYTES), False),
        (b'["record","meta","' + b"x" * HEAD_BYTES, False),
    ],
)
def test_sniff_of_a_line_longer_than_the_head(content: bytes, claimed: bool) -> None:
    """Of a line longer than the head its beginning decides, by the object's own members."""
    assert mecha.sniff(content[:HEAD_BYTES]) is claimed


def test_samples_of_other_formats_stay_unclaimed() -> None:
    """No sample of another format begins like one of mecha's."""
    others = [path for name in ("claude_code", "datalayer", "gg") for path in (SAMPLES / name).rglob("*.*json*")]
    assert others
    assert [path for path in others if mecha.sniff(path.read_bytes()[:HEAD_BYTES])] == []


@pytest.mark.corpora
def test_real_files_of_other_formats_stay_unclaimed(corpora: Path) -> None:
    """No real recording of another tool begins like one of mecha's."""
    looked_at = 0
    for folder in sorted(path for path in corpora.iterdir() if path.is_dir() and path.name != "mecha"):
        for root, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".jsonl", ".ndjson", ".json")):
                    with Path(root, name).open("rb") as file:
                        assert not mecha.sniff(file.read(HEAD_BYTES)), (root, name)
                    looked_at += 1
    assert looked_at


@pytest.mark.parametrize(
    ("lines", "end", "state", "reason"),
    [
        ([USER], b"\n", "whole", None),
        ([USER], b"", "whole", None),
        ([USER, b"", b"  "], b"\n", "whole", None),
        ([b"noise", USER], b"\n", "short", "1 line could not be read"),
        ([b"noise", USER, b'{"record":"outcome","turns":-1}'], b"\n", "short", "2 lines could not be read"),
        ([USER, USER[:30]], b"", "short", "1 line could not be read, the last line being torn"),
        ([b"noise", USER[:30]], b"", "short", "2 lines could not be read, the last line being torn"),
        ([b"noise", USER], b"", "short", "1 line could not be read"),
    ],
)
def test_a_transcript_with_unreadable_lines_is_short(
    lines: list[bytes], end: bytes, state: str, reason: str | None
) -> None:
    """A line that told nothing, broken or torn, makes the source short, and the reason counts such lines (8.3)."""
    (source,) = of(raw(b"\n".join([HEADER, *lines]) + end), Source)
    assert (source.state, source.reason) == (state, reason)


def test_what_is_only_noted_leaves_a_transcript_whole() -> None:
    """A second header and an extend out of range lose nothing: the source is whole."""
    rows = read(HEADER, line(record="extend", index=9, blocks=[{"type": "text", "text": "late"}]))
    assert [row.kind for row in of(rows, Problem)] == ["second_header", "extend_out_of_range"]
    assert of(rows, Source)[0].state == "whole"
