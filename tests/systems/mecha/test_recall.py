"""Recall over one transcript: every case of mecha 18.7, the golden row, the layout, the traps of lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from sessionlab.errors import LoadError, WrongUse
from sessionlab.systems.mecha.recall import RecallTool, recall
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import call, message, result, rewrite, said
from tests.systems.mecha.recalled import write

GOLDEN = next((SAMPLES / "mecha/golden").glob("*.jsonl"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test writes its transcript."""
    return tmp_path / "r1.jsonl"


def test_golden_row_of_section_20() -> None:
    """`WREN`: one block, message 2, user, tool_result, both lines of that result; 9 messages were recorded."""
    assert recall(GOLDEN, "WREN").text == (
        '1 matching block for "WREN" in 9 recorded messages\n\n[message 2 · user · tool_result]\n  wren,4\n  robin,3'
    )


def test_18_7_message_dropped_by_a_rewrite_is_found_and_text_only_in_the_rewrite_too(path: Path) -> None:
    """The union holds what a rewrite replaced, with its role, and what only the rewrite says."""
    write(path, message("assistant", "the harbour code is 74656"), rewrite(said("user", "a summary of it")))
    assert "[message 0 · assistant · text]\n  the harbour code is 74656" in recall(path, "74656").text
    assert "[message 1 · user · text]" in recall(path, "SUMMARY").text


def test_18_7_the_same_message_in_a_message_and_a_rewrite_is_one_block(path: Path) -> None:
    """Messages are told apart by equality: sighted twice, matched once."""
    write(path, message("user", "count the gulls"), rewrite(said("user", "count the gulls"), said("user", "more")))
    found = recall(path, "gulls").found
    assert (len(found.hits), found.more, found.messages) == (1, 0, 2)


def test_18_7_quarterly_total_in_other_case(path: Path) -> None:
    """`quarterly total` finds `Quarterly Total: $12,345`, labelled tool_result."""
    write(path, message("user", result("c1", "Quarterly Total: $12,345")))
    assert recall(path, "quarterly total").text.endswith("[message 0 · user · tool_result]\n  Quarterly Total: $12,345")


def test_18_7_no_match_is_no_error(path: Path) -> None:
    """It says how large the corpus is: 1 recorded message."""
    write(path, message("user", "hello"))
    answer = RecallTool(path).call({"query": "absent"})
    assert answer == ('no match for "absent" in 1 recorded message', False)


def test_18_7_missing_file_and_blank_query_are_errors(path: Path) -> None:
    """A missing file mentions recording; a blank query is refused; both are error results of the tool."""
    with pytest.raises(LoadError, match="recording"):
        recall(path, "x")
    with pytest.raises(WrongUse, match="blank"):
        recall(path, " \t")
    assert RecallTool(path).call({"query": "x"}).is_error
    assert RecallTool(GOLDEN).call({"query": "  "}).is_error


def test_18_7_five_matches_cap_two(path: Path) -> None:
    """Two blocks shown, three more mentioned."""
    write(path, *(message("user", f"gull {number}") for number in range(5)))
    text = recall(path, "gull", 2).text
    assert text.splitlines()[0] == '2 matching blocks for "gull" in 5 recorded messages'
    assert text.splitlines()[-1] == "3 more matching blocks not shown"
    assert ("gull 1" in text, "gull 2" in text) == (True, False)


def test_windows_of_two_lines_merge_when_they_overlap_or_touch(path: Path) -> None:
    """Matches on lines 3 and 8 touch (1-5, 6-10) and are one window; one on line 20 stands apart, parted by ⋮."""
    lines = [f"line {number}" + (" gull" if number in (3, 8, 20) else "") for number in range(1, 24)]
    write(path, message("user", "\n".join(lines)))
    [hit] = recall(path, "gull").found.hits
    assert [(part.first, part.last) for part in hit.excerpts] == [(1, 10), (18, 22)]
    shown = recall(path, "gull").text.split("\n")[3:]
    assert shown == [*(f"  {line}" for line in lines[:10]), "  ⋮", *(f"  {line}" for line in lines[17:22])]


def test_lines_part_at_newlines_alone(path: Path) -> None:
    """U+2028 and U+0085 stand inside a line; CR before LF is no part of it; a last LF begins no line."""
    write(path, message("user", "one\u2028two\u0085three\r\nfour\n", ""))
    [hit] = recall(path, "two\u0085three").found.hits
    assert hit.excerpts == ((1, ("one\u2028two\u0085three", "four")),)


def test_a_query_cannot_span_lines(path: Path) -> None:
    """A query with a newline matches nothing, and one that crosses the end of a line neither."""
    write(path, message("user", "one\ntwo"))
    assert not recall(path, "one\ntwo").found.hits
    assert not recall(path, "onetwo").found.hits


@pytest.mark.parametrize(
    ("held", "query", "found"),
    [
        ("İstanbul", "i̇stanbul", True), ("İstanbul", "istanbul", False), ("i̇", "İ", True),
        ("straße", "STRASSE", False), ("STRAẞE", "straße", True), ("ſail", "sail", False), ("ſail", "ſAIL", True),
        ("ΟΔΟΣ", "οδος", True), ("ΟΔΟΣ", "οδοσ", False), ("οδοσ", "ΟΔΟΣ", False), ("ΟΔΟΣ", "ΔΟΣ", True),
        ("273 \u212a", "273 k", True), ("ılık", "ILIK", False), ("ÉCOLE", "école", True), ("Москва", "МОСКВА", True),
        ("日本語", "本", True), ("😀 smile", "😀", True),
    ],
)  # fmt: skip
def test_case_as_unicode_lowers_it(path: Path, held: str, query: str, *, found: bool) -> None:
    """Both sides lower-cased, then literal: İ is i and a dot, ß is no ss, the last sigma is another letter."""
    write(path, message("user", held))
    assert bool(recall(path, query).found.hits) is found
    path.write_bytes(path.read_text().encode("ascii", "backslashreplace").replace(b"\\U0001f600", b"\\ud83d\\ude00")
                     .replace(b"\\x", b"\\u00"))  # fmt: skip
    assert bool(recall(path, query).found.hits) is found


@pytest.mark.parametrize("query", ['say "hi"', r"C:\users", "$1.50", "a/b", "(x|y)*", "a\tb", "\x1b[31m"])
def test_queries_are_literal_whatever_json_makes_of_them(path: Path, query: str) -> None:
    """Quotes, backslashes, signs of regular expressions and control characters are looked for as they are."""
    write(path, message("user", f"before {query} after"), message("user", "nothing here"))
    assert [hit.message for hit in recall(path, query).found.hits] == [0]


def test_texts_of_blocks(path: Path) -> None:
    """A call is its name, a space and its input with sorted keys; a picture its placeholder, never its data."""
    image = {"type": "image", "media_type": "image/png", "data": "Z3VsbA==", "source": "nest.png"}
    bare = {"type": "image", "media_type": "image/webp", "data": "Z3VsbA=="}
    write(
        path, message("assistant", {"type": "thinking", "text": "hm"}, call("c1", "fs_read", b=1, a="x")),
        message("user", image, bare),
    )  # fmt: skip
    assert '[message 0 · assistant · tool_use]\n  fs_read {"a":"x","b":1}' in recall(path, 'fs_read {"a"').text
    assert "[message 0 · assistant · thinking]\n  hm" in recall(path, "hm").text
    assert "  [image: nest.png (image/png)]" in recall(path, "NEST.PNG (").text
    assert "  [image: image/webp]" in recall(path, "[image: image/webp]").text
    assert not recall(path, "Z3VsbA").found.hits


def test_a_number_written_anew_is_found_as_it_is_shown(path: Path) -> None:
    """`1e5` in an input reads 100000.0 in the call's text; so it is found by that."""
    write(path, message("assistant", call("c1", n=0)).replace(b'"n":0', b'"n":1e5'))
    assert recall(path, "100000").found.hits


def test_22_an_extended_message_is_held_as_it_was_and_as_it_became(path: Path) -> None:
    """Blocks added make another message of the union; its earlier blocks match in both."""
    extend = {"record": "extend", "index": 1, "blocks": [{"type": "text", "text": "only gulls of 2026"}]}
    late = {"record": "extend", "index": 9, "blocks": [{"type": "text", "text": "gulls nowhere"}]}
    write(path, message("user", "hello"), message("user", "gulls please"), json.dumps(extend).encode(), late)
    found = recall(path, "gulls").found
    assert [(hit.message, hit.block) for hit in found.hits] == [(1, 0), (2, 0), (2, 1)]
    assert found.messages == 3


def test_equality_tells_numbers_apart_and_fills_defaults(path: Path) -> None:
    """1, 1.0 and true are three inputs (5.4); an absent default and a written one are the same message."""
    calls = [message("assistant", call("c1", n=0)).replace(b":0}", b":%s}" % one) for one in (b"1", b"1.0", b"true")]
    write(path, *calls, message("user", "gull"), message("user", "gull", harness=False))
    assert (recall(path, "fs_read").found.messages, len(recall(path, "fs_read").found.hits)) == (4, 3)


def test_no_header_is_needed_and_unreadable_lines_are_passed_over(path: Path) -> None:
    """Broken lines, bytes that are no UTF-8, a torn end: the rest is searched, an unknown block left out."""
    strange = message("user", {"type": "hologram"}, "a gull at last")
    write(path, b"{broken", b'{"record":"message","role":"user\xff gull"}', strange, b'{"record":"mess', header=False)
    [hit] = recall(path, "gull").found.hits
    assert (hit.message, hit.block) == (0, 0)


def test_a_packed_transcript_is_searched_as_it_is(path: Path) -> None:
    """Gzip is taken off."""
    path.write_bytes(gzip.compress(GOLDEN.read_bytes()))
    assert len(recall(path, "wren").found.hits) == 1


def test_the_cap_is_at_least_one(path: Path) -> None:
    """`max_matches` has minimum 1."""
    write(path, message("user", "gull", "gull two"))
    assert [len(recall(path, "gull", wanted).found.hits) for wanted in (-3, 0, 1, 2)] == [1, 1, 1, 2]


def test_the_tools_path_is_fixed_whatever_the_input_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No member of the input, no change of its schema and no change of folder leads to another conversation."""
    write(tmp_path / "mine.jsonl", message("user", "my gull"))
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "elsewhere/mine.jsonl", message("user", "somebody's secret"))
    monkeypatch.chdir(tmp_path)
    tool = RecallTool("mine.jsonl")
    other = str(tmp_path / "elsewhere/mine.jsonl")
    monkeypatch.chdir(tmp_path / "elsewhere")
    tool.input_schema["path"] = other
    for name in ("path", "file", "session", "_RecallTool__path", "id"):
        assert tool.call({"query": "secret", name: other}) == ('no match for "secret" in 1 recorded message', False)
    assert "my gull" in tool.call({"query": "GULL"}).text
    with pytest.raises(AttributeError):
        tool.path = Path(other)  # type: ignore[misc]


@pytest.mark.parametrize(
    "arguments", [{}, {"query": None}, {"query": 7}, {"query": "x", "max_matches": "many"},
                  {"query": "x", "max_matches": True}, {"query": "x", "max_matches": 1.5}],
)  # fmt: skip
def test_the_tool_answers_bad_input_with_an_error(arguments: dict[str, object]) -> None:
    """Whatever a model sends, the tool answers; it does not raise."""
    answer = RecallTool(GOLDEN).call(arguments)
    assert answer.is_error
    assert "expected" in answer.text


def test_the_tool_describes_itself() -> None:
    """Name, description and a schema that wants a query and takes a cap of at least 1, 20 by default."""
    tool = RecallTool(GOLDEN)
    schema = tool.input_schema
    assert (tool.name, schema["required"]) == ("recall", ["query"])
    assert json.loads(json.dumps(schema)) == schema
    wanted = schema["properties"]["max_matches"]  # type: ignore[index]
    assert (wanted["type"], wanted["minimum"], wanted["default"]) == ("integer", 1, 20)
