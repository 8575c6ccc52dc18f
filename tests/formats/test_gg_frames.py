"""Frames that continue the one before: whatever they hold, the short road tells what the long one does."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from sessionlab.formats.gg.frames import line_parser
from sessionlab.formats.gg.lines import EntryLine, Line
from sessionlab.formats.gg.records import PromptFrame
from sessionlab.formats.gg.strict import Parsed, Strict, Unparseable

_strict: Strict[Line] = Strict(Line)
_ENDS = (b",]}}", b'],"items":[]}}', b'],"other":[1]}}', b'],"seq":1}}', b']},"type":"entry"}', b"]} }", b"]}}}")


def _item(rng: random.Random) -> dict[str, Any]:
    item: dict[str, Any] = {"message": rng.randint(0, 9), "slot": "thread", "source": "file_view"}
    item |= {"retention": "ephemeral", "turn": rng.randint(0, 3)}
    if rng.random() < 0.5:
        item["label"] = rng.choice(["src/kite.js", '},{"message":', "]}}", "é"])
    if rng.random() < 0.3:
        item["region"] = {"offset": 40, "limit": 25}
    if rng.random() < 0.05:
        item["odd"] = 1
    return item


def _frame(items: list[dict[str, Any]], seq: int, agent: str) -> bytes:
    entry = {"agentId": agent, "seq": seq, "type": "prompt_frame", "items": items}
    return json.dumps({"type": "entry", "entry": entry}, ensure_ascii=False, separators=(",", ":")).encode()


def _grown(items: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """The next frame: longer, cut, evicted from the middle, or with another last item."""
    way, at = rng.random(), rng.randrange(len(items) + 1)
    if way < 0.5:
        return items + [_item(rng) for _ in range(rng.randint(0, 3))]
    if way < 0.7:
        return items[:at]
    return items[:at] + items[at + 1 :] if way < 0.85 else [*items[:-1], _item(rng)]


def _damaged(line: bytes, rng: random.Random) -> bytes:
    at = rng.randint(60, len(line) - 1)
    way = rng.random()
    if way < 0.3:
        return line[:at] + line[at + 1 :]
    if way < 0.6:
        return line[:at] + bytes([rng.choice(b'",{}[]:0\xff -e')]) + line[at:]
    if way < 0.8:
        return line[:at] + line[rng.randint(60, len(line) - 1) :]
    return line[:-3] + rng.choice(_ENDS)


def _told(parse: Any, line: bytes) -> Parsed[Line] | str:
    try:
        parsed: Parsed[Line] = parse(line)
    except Unparseable as why:
        return str(why)
    return parsed


@pytest.mark.parametrize("seed", range(8))
def test_a_frame_is_read_as_if_it_stood_alone(seed: int) -> None:
    """Frames of two agents that grow, shrink and are damaged: the same struct, unknown members and reasons."""
    rng = random.Random(seed)
    read = refused = 0
    for _ in range(60):
        parse, items = line_parser(), [_item(rng)]
        for seq in range(8):
            items = _grown(items, rng)
            line = _frame(items, seq, rng.choice(["root", "root", "é"]))
            if rng.random() < 0.3:
                line = _damaged(line, rng)
            wanted = _told(_strict, line)
            assert _told(parse, line) == wanted, line
            refused += isinstance(wanted, str)
            read += not isinstance(wanted, str)
    assert read > 100
    assert refused > 50


def test_only_what_is_new_is_made_again() -> None:
    """Items that stood in the frame before are the very objects of that frame."""
    rng = random.Random(1)
    parse, items = line_parser(), [_item(random.Random(n)) for n in range(5)]
    found: list[PromptFrame] = []
    for seq, frame in enumerate([items, [*items[:3], {**items[3], "message": 77}], [*items[:2], _item(rng)]]):
        line = parse(_frame([{k: v for k, v in i.items() if k != "odd"} for i in frame], seq, "root"))[0]
        assert isinstance(line, EntryLine)
        assert isinstance(line.entry, PromptFrame)
        found.append(line.entry)
    assert [a is b for a, b in zip(found[0].items, found[1].items, strict=False)] == [True, True, True, False]
    assert [a is b for a, b in zip(found[1].items, found[2].items, strict=False)] == [True, True, False]
    assert found[1].items[3].message == 77
