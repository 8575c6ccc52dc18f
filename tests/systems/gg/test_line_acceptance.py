"""Which lines assembly takes (section 0.3): what is not acceptable ends the walk there, and never reaches a record."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessionlab.tables import Source
from tests.formats.gg_examples import HEADER, ROOT, call, dump, end, frame, journal, message, of, read, result, text
from tests.formats.test_gg_acceptance import ACCEPTED, CLOCK, REFUSED
from tests.systems.gg.journals import fold, members

CALL = dump(call(0, 0, response={"x": 0}, durationMs=5))
MESSAGE = dump(message(1, "?"))
TEXT = dump(text(1, "?"))
TOOLSET = dump({"type": "toolset", "index": 0, "toolset": {"id": 32 * "0", "tools": ["?"]}})
RESULT = dump(result(0, "c", 0, data={"x": 0}, failure="?"))
FRAME = dump(frame(0, 0, label="?", region={"offset": 40, "limit": 25}))


def _said(**members: object) -> bytes:
    """A message line whose body has these members beside its role and content."""
    line = message(1)
    line["message"]["body"] = {"content": "x", "role": "assistant", **members}
    return dump(line)


BROKEN_STRINGS = {
    "invalid UTF-8": b"\xff",
    "a cut character": b"\xc3",
    "an encoded surrogate": b"\xed\xa0\x80",
    "an overlong slash": b"\xc0\xaf",
    "a lone surrogate": b"\\ud800",
    "a lone low surrogate": b"\\udfff",
    "a surrogate and a letter": b"\\ud800x",
    "a control character": b"\x1f",
    "a raw tab": b"\t",
    "an unknown escape": b"\\x",
    "a short escape": b"\\u12",
    "a quote": b'"',
}
"""What no string may hold."""
BROKEN_VALUES = {
    "NaN": b"NaN",
    "infinity": b"-Infinity",
    "an overflow": b"1e400",
    "a leading zero": b"01",
    "a bare point": b"1.",
    "a plus": b"+1",
    "a trailing comma": b"[1,]",
    "a missing comma": b"[1 2]",
    "nothing": b"",
    "two values": b"1,2",
    "an open list": b"[1",
    "an unquoted name": b"{a:1}",
    "a comment": b"1/*x*/",
    "a word": b"nil",
}
"""What is no JSON value."""
PLACES = {
    "a message's body": MESSAGE,
    "a message's body, in a list": dump(message(1, [{"type": "text", "text": "?"}])),
    "a message's role": dump(message(1, role="?")),
    "a call in a body": _said(toolCalls=[{"id": "c", "name": "look", "arguments": {"path": "?"}}]),
    "the id a body answers": _said(toolCallId="?"),
    "an image in a body": _said(images=[{"mediaType": "?", "bytes": 3}]),
    "an unknown member of a body": _said(mood="?"),
    "the name of a member of a body": _said(**{"?": 1}),
    "the name of a member deep in a body": _said(toolCalls=[{"arguments": {"?": 1}}]),
    "a text": TEXT,
    "a toolset": TOOLSET,
    "a failure": RESULT,
    "a message's id": dump(message(1)).replace(dump(message(1)["message"]["id"]), b'"?"'),
    "a toolset's id": TOOLSET.replace(b"?", b"").replace(32 * b"0", b"?"),
    "an agent's id on a call": CALL.replace(b'"root"', b'"?"'),
    "an agent's id on a frame": FRAME.replace(b"?", b"x").replace(b'"root"', b'"?"'),
    "a frame's label": FRAME,
    "an agent's id on a clock": CLOCK.replace(b'"root"', b'"?"'),
    "a response": dump(call(0, 0, response="?")),
}
"""Lines of all kinds, with a string where each has one."""
INTEGERS = {
    "a leading zero in an index": MESSAGE.replace(b'"index":1', b'"index":01'),
    "an index of no digits": MESSAGE.replace(b'"index":1', b'"index":'),
    "a negative index": TEXT.replace(b'"index":1', b'"index":-1'),
    "an index written as a float": TEXT.replace(b'"index":1', b'"index":1.0'),
    "an index past 32 bits": MESSAGE.replace(b'"index":1', b'"index":4294967297'),
    "a reference past 32 bits": CALL.replace(b'"messages":[0]', b'"messages":[4294967296]'),
    "a reference with a leading zero": CALL.replace(b'"messages":[0]', b'"messages":[00]'),
    "a trailing comma": CALL.replace(b'"messages":[0]', b'"messages":[0,]'),
    "a doubled comma": CALL.replace(b'"messages":[0]', b'"messages":[0,,0]'),
    "a seq with a leading zero": CALL.replace(b'"seq":0', b'"seq":00'),
    "a seq past 64 bits": CALL.replace(b'"seq":0', b'"seq":18446744073709551616'),
    "a negative duration": CALL.replace(b'"durationMs":5', b'"durationMs":-5'),
    "a duration with a leading zero": CALL.replace(b'"durationMs":5', b'"durationMs":05'),
    "a duration past 64 bits": CALL.replace(b'"durationMs":5', b'"durationMs":18446744073709551616'),
    "two durations": CALL.replace(b'"durationMs":5', b'"durationMs":5,"durationMs":5'),
    "two responses": CALL.replace(b'"response":', b'"response":0,"response":'),
    "two bodies": MESSAGE.replace(b'"body":', b'"body":0,"body":'),
    "two texts": TEXT.replace(b'"text":"?"', b'"text":"?","text":"?"'),
    "a call with something behind it": CALL + b"}",
    "a message with something behind it": MESSAGE + b" x",
    "a text with something behind it": TEXT[:-1] + b',"clip":4}',
    "an unended call": CALL[:-1],
    "a frame's turn with a leading zero": FRAME.replace(b'"turn":1', b'"turn":01'),
    "a negative turn": FRAME.replace(b'"turn":1', b'"turn":-1'),
    "a turn past 64 bits": FRAME.replace(b'"turn":1', b'"turn":18446744073709551616'),
    "a region without a limit": FRAME.replace(b',"limit":25', b""),
    "a region written as a float": FRAME.replace(b'"offset":40', b'"offset":40.0'),
    "an unknown slot": FRAME.replace(b'"thread"', b'"attic"'),
    "an unknown source": FRAME.replace(b'"history"', b'"rumour"'),
    "an unknown retention": FRAME.replace(b'"pinned"', b'"glued"'),
    "an item without a turn": FRAME.replace(b'"turn":1,', b""),
    "two labels": FRAME.replace(b'"label":"?"', b'"label":"?","label":"?"'),
    "a comma in front of the items": FRAME.replace(b'"items":[', b'"items":[,'),
    "a comma behind the items": FRAME.replace(b"]}}", b",]}}"),
    "an item that is none": FRAME.replace(b"]}}", b",0]}}"),
    "a frame with something behind it": FRAME + b"}",
}
"""Lines whose strings are sound and whose numbers or members are not."""


def _taken(folder: Path, line: bytes) -> bool:
    """Whether a line counts: then the entry or pool line behind it does too; if not, the walk ends in front of it."""
    data = journal(HEADER, ROOT, message(0), text(0, "x"), line, message(1, "other"), text(1, "other"))
    whole = journal(HEADER, ROOT, message(0), text(0, "x"))
    folded = fold(folder, data)
    (source,) = of(read(data), Source)
    assert source.reason == (members(folded.told.truncation) or {}).get("reason")
    if folded.told.truncation is not None and folded.told.truncation.reason == "corrupt_journal":
        expected = fold(folder, whole).raw.replace(b"session_killed", b"corrupt_journal")
        assert folded.raw == expected
        return False
    return True


@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED.keys())
def test_what_the_reader_refuses(tmp_path: Path, line: bytes) -> None:
    """What the reader calls corrupt ends the walk of assembly too, and hides the entry behind it."""
    folded = fold(tmp_path, journal(HEADER, ROOT, line, CLOCK, end(1)))
    assert members(folded.told.truncation) == {"reason": "corrupt_journal"}
    assert folded.told.entries == 0


@pytest.mark.parametrize("line", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_the_reader_accepts(tmp_path: Path, line: bytes) -> None:
    """What the reader takes is an entry of the record, and reads the same from there."""
    data = journal(HEADER, ROOT, line, end(1))
    folded = fold(tmp_path, data)
    assert (folded.told.entries, folded.told.truncation) == (1, None)
    assert of(read(folded.raw), Source)[0].state == of(read(data), Source)[0].state == "whole"


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize("broken", BROKEN_STRINGS.values(), ids=BROKEN_STRINGS.keys())
def test_a_broken_string(tmp_path: Path, place: bytes, broken: bytes) -> None:
    """A string that is none ends the walk, in whichever member of whichever line it stands."""
    assert place.count(b"?") == 1
    assert not _taken(tmp_path, place.replace(b"?", broken))


@pytest.mark.parametrize("broken", BROKEN_VALUES.values(), ids=BROKEN_VALUES.keys())
def test_a_broken_value(tmp_path: Path, broken: bytes) -> None:
    """A free-form value that is none ends the walk: body, tools, response, facts, failure."""
    for line in (MESSAGE, TOOLSET.replace(b'["?"]', b'"?"'), dump(call(0, 0, response="?")), RESULT):
        assert not _taken(tmp_path, line.replace(b'"?"', broken))
    assert not _taken(tmp_path, CALL.replace(b'"x":0', b'"x":' + (broken or b"?")))


@pytest.mark.parametrize("line", INTEGERS.values(), ids=INTEGERS.keys())
def test_a_broken_member(tmp_path: Path, line: bytes) -> None:
    """A number out of its type, a member twice, or something too much ends the walk."""
    assert not _taken(tmp_path, line)


@pytest.mark.parametrize(
    "behind",
    [b",", b",0", b",{}", b'{"message":0}', b" {", b']},"more":[', b',{"message":0,"slot":"thread"}', b"}"],
)
def test_a_frame_that_begins_like_the_last(tmp_path: Path, behind: bytes) -> None:
    """A frame that repeats its agent's last one and goes on wrongly ends the walk like any other broken line."""
    lines = (HEADER, ROOT, message(0), FRAME, FRAME.replace(b'"seq":0', b'"seq":1').replace(b"]}}", behind + b"]}}"))
    folded = fold(tmp_path, journal(*lines, end(2)))
    assert members(folded.told.truncation) == {"reason": "corrupt_journal", "lastSeq": 0}


def test_frames_that_grow_shrink_and_alternate(tmp_path: Path) -> None:
    """Frames are carried as they are written, whatever the agent's last one was."""
    frames = [(0,), (0, 1), (0, 1), (), (1, 0), (1,), (1, 0, 1)]
    lines = [
        frame(seq, *indices, agent=agent)
        for seq, (indices, agent) in enumerate((indices, agent) for indices in frames for agent in ("root", "a", "é"))
    ]
    folded = fold(tmp_path, journal(HEADER, ROOT, message(0), message(1, "other"), *lines, end(len(lines))))
    assert folded.told.truncation is None
    assert folded.document["entries"] == [line["entry"] for line in lines]


@pytest.mark.parametrize(
    "inside", ["é", "\\u00e9", "\\ud83d\\ude00", "\U0001f600", '\\\\ \\" \\/ \\b\\f\\n\\r\\t', "\x7f", "\u2028"]
)
def test_a_sound_string(tmp_path: Path, inside: str) -> None:
    """Every escape, pairs of surrogates and characters of all planes are carried as they were written."""
    lines = [
        *(x.replace(b"?", inside.encode()) for x in (MESSAGE, TEXT, TOOLSET, dump(call(0, 0, response="?")))),
        end(1),
    ]
    folded = fold(tmp_path, journal(HEADER, ROOT, message(0), text(0, "x"), *lines))
    assert folded.told.truncation is None
    assert folded.raw.count(inside.encode()) == 4
