"""Whatever lists a run goes through, what is on file leads to the last one: properties of the writer (7, 8.2)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.systems.mecha import Message, Store, TranscriptWriter, load
from sessionlab.tables import Problem
from tests.formats.mecha_lines import call, loaded, of, raw, result, said
from tests.formats.mecha_lines import texts as row_texts
from tests.systems.mecha.transcripts import folded, records

Json = dict[str, Any]

TEXT = st.text(st.sampled_from('aé\u2028\u0085\n\r\t\x00\x7f"\\/😀 '), max_size=6)
NUMBER = st.sampled_from([0, 1, 1.0, -2, 0.5, 2**53, 2**64 - 1, -(2**63)])
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)
IDS = st.sampled_from(["c1", "c2", "toolu_é"])
BLOCK = st.one_of(
    TEXT.map(lambda text: {"type": "text", "text": text}),
    TEXT.map(lambda text: {"type": "thinking", "text": text}),
    st.builds(lambda text, sign: {"type": "thinking", "text": text, "signature": sign}, TEXT, TEXT),
    st.builds(lambda at, name, value: {**call(at, name), "input": value}, IDS, TEXT, VALUE),
    st.builds(lambda at, text, failed: result(at, text, is_error=failed), IDS, TEXT, st.booleans()),
    st.builds(lambda kind, data: {"type": "image", "media_type": kind, "data": data}, TEXT, TEXT),
    st.builds(lambda data, name: {"type": "image", "media_type": "i", "data": data, "source": name}, TEXT, TEXT),
)
MESSAGE: st.SearchStrategy[Json] = st.builds(
    lambda role, blocks, more: said(role, *blocks, **more),
    st.sampled_from(["user", "assistant"]),
    st.lists(BLOCK, max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            "tool_provenance": st.dictionaries(IDS, st.booleans(), min_size=1),
            "harness": st.just(value=True),
            "planning": st.dictionaries(TEXT, VALUE, max_size=2),
        },
    ),
)


@st.composite
def walks(draw: st.DrawFn) -> list[list[Json]]:
    """Lists as a run leads through them: longer ones, edited ones, cut ones, summaries, the same once more."""
    states: list[list[Json]] = [[]]
    for _ in range(draw(st.integers(1, 5))):
        now = list(states[-1])
        how = draw(st.sampled_from(["add", "add", "edit", "cut", "summarise", "same"]))
        if how == "add":
            now += draw(st.lists(MESSAGE, min_size=1, max_size=3))
        elif how == "edit" and now:
            now[draw(st.integers(0, len(now) - 1))] = draw(MESSAGE)
        elif how == "cut":
            now = now[: draw(st.integers(0, len(now)))]
        elif how == "summarise":
            now = [draw(MESSAGE), *now[len(now) // 2 :]]
        states.append(now)
    return states[1:]


def _writer(folder: str) -> tuple[TranscriptWriter, Path]:
    writer = TranscriptWriter.create(Store(folder), provider="p", model="m", workspace="/")
    assert writer.path is not None
    return writer, writer.path


def _same(one: list[Json], other: list[Json]) -> bool:
    """Equal as JSON: 1 and 1.0 apart, keys in any order, defaults filled in."""
    return _canonical(one) == _canonical(other)


def _canonical(messages: list[Json]) -> list[bytes]:
    encode = msgspec.json.Encoder(order="sorted").encode
    return [encode({"harness": False, "planning": None, "tool_provenance": {}, **message}) for message in messages]


def _loaded(path: Path) -> list[Json]:
    return [msgspec.to_builtins(Message(*(getattr(m, f) for f in m.__struct_fields__))) for m in load(path).messages]


@settings(deadline=None, max_examples=60)
@given(walks())
def test_the_last_list_is_read_back(states: list[list[Json]]) -> None:
    """By a strict reader written from the specification, by the loader, and by the rows of the format."""
    with tempfile.TemporaryDirectory() as folder:
        writer, path = _writer(folder)
        for state in states:
            writer.record(state)
        final = states[-1]
        assert _same(folded(records(path)), final)
        assert _same(_loaded(path), final)
        rows = raw(path.read_bytes())
        assert not [problem for problem in of(rows, Problem) if problem.severity != "note"]
        assert len(loaded(rows)) == len(final)
        told = [[block["text"] for block in message["content"] if block["type"] == "text"] for message in final]
        kinds = [[block["type"] == "text" for block in message["content"]] for message in final]
        found = [
            [text for text, is_text in zip(t, k, strict=False) if is_text]
            for t, k in zip(row_texts(rows), kinds, strict=True)
        ]
        assert found == told


@settings(deadline=None, max_examples=40)
@given(walks(), st.data())
def test_loading_is_the_same_for_any_split_of_writes(states: list[list[Json]], data: st.DataObject) -> None:
    """States told one by one, several at a time, or by a new process each time: the same records, the same list."""
    with tempfile.TemporaryDirectory() as folder:
        one, by_one = _writer(folder)
        for state in states:
            one.record(state)
        some, by_some = _writer(folder)
        left = list(states)
        while left:
            size = data.draw(st.integers(1, len(left)))
            *before, after = left[:size]
            some.record(after, replaced=before)
            left = left[size:]
        assert by_one.read_bytes().split(b"\n")[1:] == by_some.read_bytes().split(b"\n")[1:]
        new, by_new = _writer(folder)
        for state in states:
            new.record(state)
            new = TranscriptWriter.resume(new.id, {}, Store(folder))
        assert [r for r in records(by_new) if r["record"] != "config"][1:] == records(by_one)[1:]
        assert _same(_loaded(by_new), states[-1])


@settings(deadline=None, max_examples=40)
@given(st.lists(MESSAGE, max_size=6), st.data())
def test_a_list_that_only_grows_is_written_once(messages: list[Json], data: st.DataObject) -> None:
    """However its growth is told: message records alone, one for each message, byte for byte the same."""
    with tempfile.TemporaryDirectory() as folder:
        at_once, whole = _writer(folder)
        at_once.record(messages)
        by_parts, parts = _writer(folder)
        for cut in sorted(data.draw(st.lists(st.integers(0, len(messages)), max_size=4))):
            by_parts.record(messages[:cut])
        by_parts.record(messages)
        assert whole.read_bytes().split(b"\n")[1:] == parts.read_bytes().split(b"\n")[1:]
        assert [record["record"] for record in records(whole)] == ["meta", *["message"] * len(messages)]
