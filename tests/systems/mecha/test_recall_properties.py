"""Recall against a slow exact reader, and the quick look at raw bytes: it never passes over what matches."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionlab.formats import Recording, all_formats, detect
from sessionlab.paths import find
from sessionlab.recall.files import _Look
from sessionlab.recall.matching import Needle
from sessionlab.recall.pooled import KINDS, POOLS, text_of
from sessionlab.recall.probe import Probe
from sessionlab.systems.mecha.recall import recall
from sessionlab.tables import Block
from tests.conftest import SAMPLES
from tests.systems.mecha.recalled import HEADER, dump, slow

SIGNS = 'abkiKIsS09 \n\r\t"\\/.:{}u\x1b\u2028\u0085éÉßẞſİıςσΣ\u212a\u0307日😀жЖ'
texts = st.text(st.sampled_from(SIGNS), max_size=12)
inputs = st.dictionaries(
    texts, st.one_of(texts, st.integers(0, 99999), st.booleans(), st.none(), st.just(1.5)), max_size=2
)
blocks = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, texts),
    st.builds(lambda t: {"type": "thinking", "text": t}, texts),
    st.builds(lambda n, i: {"type": "tool_use", "id": "c", "name": n, "input": i}, texts, inputs),
    st.builds(lambda t: {"type": "tool_result", "tool_use_id": "c", "content": t, "is_error": False}, texts),
    st.builds(lambda t: {"type": "image", "media_type": "image/png", "data": "eHg=", "source": t}, texts),
)
messages = st.builds(
    lambda role, content: {"role": role, "content": content}, st.sampled_from(["user", "assistant"]),
    st.lists(blocks, min_size=1, max_size=3),
)  # fmt: skip
records = st.one_of(
    messages.map(lambda m: {"record": "message", **m}),
    st.lists(messages, max_size=3).map(lambda ms: {"record": "rewrite", "messages": ms}),
    st.builds(
        lambda i, b: {"record": "extend", "index": i, "blocks": b}, st.integers(0, 3), st.lists(blocks, max_size=2)
    ),
)


def _spelled(text: str, chance: random.Random) -> str:
    """The same JSON text with some signs of its strings written as escapes."""
    out, inside, at = [], False, 0
    while at < len(text):
        sign = text[at]
        if inside and sign == "\\":
            length = 6 if text[at + 1] == "u" else 2
            out.append(text[at : at + length])
            at += length
            continue
        if sign == '"':
            inside = not inside
            out.append(sign)
        elif inside and chance.random() < 0.5:
            units = sign.encode("utf-16-be")
            out += [f"\\u{units[n]:02x}{units[n + 1]:02X}" for n in range(0, len(units), 2)]
        else:
            out.append(sign)
        at += 1
    return "".join(out)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(records, max_size=5), st.data())
def test_recall_finds_what_a_slow_reader_finds(
    tmp_path: Path, written: list[dict[str, object]], data: st.DataObject
) -> None:
    """The same blocks with the same windows, whatever the spelling of the file, and the same size of the union."""
    plain = [dump(record) for record in written]
    held = [text for line in plain for text in _parts(json.loads(line))]
    query = data.draw(st.one_of(texts, *(st.just(t[:5]) for t in held), *(st.just(t[2:].swapcase()) for t in held)))
    if not query.strip():
        return
    chance = random.Random(data.draw(st.integers(0, 99)))
    lines = [_spelled(line, chance) for line in plain] if data.draw(st.booleans()) else plain
    path = tmp_path / "x.jsonl"
    path.write_bytes("".join(f"{line}\n" for line in [dump(HEADER), *lines]).encode())
    wanted, size = slow(plain, query)
    found = recall(path, query, max_matches=1000).found
    assert found.messages == size
    shown = [
        (hit.message, hit.role, hit.block, hit.kind, [(part.first, list(part.lines)) for part in hit.excerpts])
        for hit in found.hits
    ]
    assert shown == wanted
    if wanted:
        probe = Probe(query.lower())
        for compiled in (False, True):
            held_bytes = bytearray(path.read_bytes())
            assert _Look(probe, [], compiled=compiled)._may_hold(held_bytes, len(held_bytes)) or probe.looks is None


def _parts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [part for inner in value.values() for part in _parts(inner)]
    if isinstance(value, list):
        return [part for inner in value for part in _parts(inner)]
    return [value] if isinstance(value, str) else []


def test_the_only_signs_beyond_ascii_that_lower_to_ascii_are_known() -> None:
    """The Kelvin sign and İ: what a look for ASCII letters has to look for besides, by a walk over all of Unicode."""
    everything = (chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000)
    assert {sign for sign in everything if any(one < "\x80" for one in sign.lower())} == {"\u0130", "\u212a"}


@pytest.mark.parametrize("name", sorted(name for name in all_formats() if name in {p.name for p in SAMPLES.iterdir()}))
def test_no_sample_of_any_format_is_passed_over(name: str) -> None:
    """Whatever word of whatever pooled text is asked for, in any case: the look at the file says perhaps."""
    for file in find([SAMPLES / name]):
        with file.open() as stream:
            recording = Recording(stream, uri=file.uri)
            fmt = detect(recording.head())
            if fmt is None:
                continue
            texts = {text_of(row) for row in fmt.read(recording) if isinstance(row, Block) and row.pool in POOLS
                     and row.kind in KINDS and row.kind != "image"}  # fmt: skip
        words = {word for text in sorted(texts)[:60] for word in text.split()[:40]}
        look = {}
        for word in words:
            needle = Needle(word.swapcase())
            run = needle.probe.run
            if run not in look:
                look[run] = needle.probe.looks is None or _Look(needle.probe, [], compiled=False)(file)
            assert look[run], (file.uri, word)


def test_what_crosses_two_blocks_of_a_large_file_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the run falls in relation to the blocks a file is looked at in, compiled or not."""
    monkeypatch.setattr("sessionlab.recall.files.BLOCK_BYTES", 256)
    probe = Probe("zebrafish")
    path = tmp_path / "x"
    for at in range(230, 530, 7):
        for inside in (b"ZebraFish", b"\\u005aEBRAFISH", b"zebraf\\u0130sh"):
            path.write_bytes(b"." * at + inside + b"." * 300)
            [file] = find([path])
            for compiled in (False, True):
                assert _Look(probe, [], compiled=compiled)(file), (at, inside, compiled)
    path.write_bytes(b"." * 900 + b"zebra fish")
    [file] = find([path])
    assert not any(_Look(probe, [], compiled=compiled)(file) for compiled in (False, True))
