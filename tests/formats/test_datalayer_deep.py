"""Deep nesting: read and written without the stack, in any thread, as the usual readers do (sections 5 and 17)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionlab.formats.datalayer import deep
from sessionlab.formats.datalayer.judge import Accepted, Refusal, judge
from sessionlab.tables import Block, Problem, Row, Source, ToolCall
from tests.formats.datalayer_files import bytes_of, head, of, rows_of

SMALL_STACK = 128 * 1024


def _in_small_thread(work: Callable[[], Any]) -> Any:
    """What ``work`` gives in a thread whose stack is small."""
    found: list[Any] = []
    before = threading.stack_size(SMALL_STACK)
    try:
        thread = threading.Thread(target=lambda: found.append(work()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return found[0]


def _nested(levels: int, opened: str, inner: str = "7") -> str:
    return opened * levels + inner + ("]" if opened == "[" else "}") * levels


def _line(levels: int, opened: str, inner: str = "7", kind: str = "tool_call") -> str:
    """An entry line of so many levels: itself, its payload, and the rest below ``result``."""
    payload = f'{{"tool": "t", "tool_call_id": "c", "result": {_nested(levels - 2, opened, inner)}}}'
    return f'{{"record_type": "entry", "kind": "{kind}", "at": "2026-10-03T08:15:00Z", "payload": {payload}}}'


@pytest.mark.parametrize("opened", ["[", '{"a":'])
@pytest.mark.parametrize(("levels", "taken"), [(99, True), (101, True), (979, True), (980, True), (981, False)])
def test_levels_that_are_taken(levels: int, taken: bool, opened: str) -> None:
    """980 levels are taken and stand whole in the tables, 981 are not JSON, whatever stack the thread has."""
    data = bytes_of(head(entries=1, kinds=["tool_call"]), _line(levels, opened))
    rows: list[Row] = _in_small_thread(lambda: rows_of(data))
    assert rows == rows_of(data)  # where the stack is large, but calls stand on it already
    assert of(rows, Source)[0].state == ("whole" if taken else "refused")
    if taken:
        assert [row.text for row in of(rows, Block) if row.kind == "result"] == [_nested(levels - 2, opened)]
        assert [row.status for row in of(rows, ToolCall)] == ["ok"]
        assert not of(rows, Problem)
    else:
        assert [(row.kind, row.line) for row in of(rows, Problem)] == [("not_json", 2)]


@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_a_hundred_thousand_levels_are_not_json(opened: str) -> None:
    """However deep a line is, head or entry, whole or cut, the answer is `not_json`."""
    for data in (
        bytes_of(head(), _line(100_000, opened)),
        bytes_of(_nested(100_000, opened)),
        bytes_of(head(), opened * 100_000),
    ):
        verdict = _in_small_thread(partial(judge, data))
        assert isinstance(verdict, Refusal)
        assert verdict.name == "not_json"


def test_a_deep_line_is_cleaned_like_any_other() -> None:
    """Numbers that are not finite and unpaired surrogates below the depth of the usual writers are mended, and told."""
    inner = '{"n": [NaN, 1e400, 12345678901234567890123], "s": "\\ud800", "t": "\u00e9\\n"}'
    rows = _in_small_thread(lambda: rows_of(bytes_of(head(entries=1, kinds=["tool_call"]), _line(500, "[", inner))))
    (text,) = [row.text for row in of(rows, Block) if row.kind == "result"]
    assert text == _nested(498, "[", '{"n":[null,null,12345678901234567890123],"s":"\ufffd","t":"\u00e9\\n"}')
    assert sorted(row.kind for row in of(rows, Problem)) == ["number_not_finite", "unpaired_surrogate"]


def test_sentences_show_what_is_deep() -> None:
    """A version, kind or record type that is a deep list is shown in the sentence of the refusal as Python shows it."""
    deep_list = _nested(900, "[")
    lines = {
        "other_version": f'{{"record_type": "session", "format": {deep_list}}}',
        "unknown_kind": f'{{"record_type": "entry", "kind": {deep_list}}}',
        "not_a_line": f'{{"record_type": {{"b": {deep_list}, "a": null}}}}',
    }
    for name, line in lines.items():
        verdict = _in_small_thread(partial(judge, bytes_of(head(), line)))
        assert isinstance(verdict, Refusal)
        assert verdict.name == name
        assert deep_list in verdict.sentence
    assert "{'b': " + deep_list + ", 'a': None}" in verdict.sentence


def test_many_shallow_brackets_are_no_depth() -> None:
    """Ten thousand lists beside one another, and brackets in texts, leave a line shallow."""
    data = bytes_of(head(entries=1, kinds=["output"]), _line(3, "[", "[[1],[2]]," * 5000 + '"[[[["', "output"))
    assert isinstance(judge(data), Accepted)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=25,
)


@given(VALUES, st.sampled_from([None, 1, " \t\n\r"]))
def test_it_reads_what_json_reads(value: Any, indent: Any) -> None:
    """Any JSON text, however spaced, has the value the standard reader gives it, and is shown as Python shows it."""
    text = json.dumps(value, indent=indent)
    assert deep.parsed(text, int) == json.loads(text)
    assert repr(deep.parsed(text, int)) == repr(json.loads(text))
    assert deep.shown(value) == repr(value)
    assert json.loads(deep.text_of(value)) == value


@given(VALUES, st.data())
def test_it_refuses_what_json_refuses(value: Any, data: st.DataObject) -> None:
    """A text with one character left out, doubled or replaced is JSON for both readers or for none."""
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text) - 1))
    changed = (
        text[:at] + data.draw(st.sampled_from(["", text[at] * 2, ",", "]", "}", "{", '"', ":", " "])) + text[at + 1 :]
    )
    try:
        expected: object = json.loads(changed)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            deep.parsed(changed, int)
    else:
        assert repr(deep.parsed(changed, int)) == repr(expected)


@pytest.mark.parametrize(
    "text",
    ["", " ", "[", "{", "[1,]", '{"a":1,}', "[,1]", '{,"a":1}', "[1 2]", '{"a" 1}', "{1:2}", "[1]]", "[1}", '"a'],
)
def test_texts_that_are_not_json(text: str) -> None:
    """What is cut, doubled or out of place is refused by both readers."""
    with pytest.raises(ValueError, match=r"."):
        json.loads(text)
    with pytest.raises(ValueError, match=r"."):
        deep.parsed(text, int)


def test_the_last_of_equal_keys_stands() -> None:
    """A key told twice has the later value, in the earlier place."""
    assert list(deep.parsed('{"a":1,"b":2,"a":[3]}', int).items()) == [("a", [3]), ("b", 2)]  # type: ignore[attr-defined]
