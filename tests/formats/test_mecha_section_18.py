"""Edge cases of mecha 18.1 to 18.3 and rows of section 20 no other test holds; taint and cuts on random transcripts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sessionlab as sl
from sessionlab.formats import mecha
from sessionlab.formats.mecha.loading import Transcript, load
from sessionlab.formats.mecha.wire import Legs, ToolUse
from sessionlab.formats.recording import Recording
from sessionlab.replay.trajectory import text_of
from sessionlab.tables import Block, Config, Entry, Problem, Row, Usage
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import META, call, line, loaded, message, of, raw, read, rewrite, said, texts, tokens
from tests.formats.test_mecha_taint import covers

GOLDEN = next((SAMPLES / "mecha" / "golden").glob("*.jsonl"))
LEGS = ("private", "untrusted")
PRIVATE, BOTH = Legs(private=True), Legs(private=True, untrusted=True)
TORN = b'{"record":"message","role":"assis'


def transcript(*lines: bytes) -> Transcript:
    """What loading these lines behind a header gives."""
    return _load(b"".join(each + b"\n" for each in (line(**META), *lines)))


def _load(data: bytes) -> Transcript:
    return load(Recording(io.BytesIO(data), uri="mem:x", format=mecha.NAME))


def taint(*legs: str) -> bytes:
    """A taint record."""
    return line(record="taint", **{leg: leg in legs for leg in ("private", "untrusted")})


# 18.1 Session reader


def test_18_1_two_messages_and_both_legs_load_armed() -> None:
    """Header; u "summarise…"; a "done"; taint both: 2 messages, texts kept, model from the header, armed."""
    found = transcript(message("user", "summarise the coast"), message("assistant", "done"), taint(*LEGS))
    assert [text_of(one) for one in found.messages] == ["summarise the coast", "done"]
    assert (found.header.model, found.private, found.untrusted) == ("plover-3", True, True)


def test_18_1_no_taint_loads_clean_and_its_timeline_is_unknown() -> None:
    """Header, one message, no taint: load clean; timeline index 0 null."""
    found = transcript(message("user", "u"))
    assert (found.private, found.untrusted, found.covering(0)) == (False, False, None)


def test_18_1_a_half_line_keeps_what_is_before_it() -> None:
    """Header, message, taint{private}, a half line: 1 message, private kept; the same by rows."""
    data = b"\n".join([line(**META), message("user", "u"), taint("private"), TORN])
    found = _load(data)
    assert (len(found.messages), found.private, found.untrusted, found.covering(0)) == (1, True, False, PRIVATE)
    rows = raw(data)
    assert (texts(rows), covers(rows)) == ([["u"]], [(True, False)])


def test_18_1_rewrites_and_the_timeline() -> None:
    """10 messages, taint{private}, rewrite of 2, taint{both}: both legs. message, taint{both}, rewrite of 2: null."""
    two = rewrite(said("user", "x"), said("assistant", "y"))
    found = transcript(*(message("user", str(at)) for at in range(10)), taint("private"), two, taint(*LEGS))
    assert [found.covering(at) for at in range(2)] == [BOTH, BOTH]
    found = transcript(message("user", "u"), taint(*LEGS), two)
    assert [found.covering(at) for at in range(2)] == [None, None]


def test_18_1_merged_taint_of_the_load() -> None:
    """taint{untrusted}, taint{private}, taint{}: load taint both, armed."""
    found = transcript(taint("untrusted"), taint("private"), taint())
    assert (found.private, found.untrusted) == (True, True)


def test_18_1_configs_in_order_and_none_is_no_error() -> None:
    """config(compaction off), message, config(compaction 1200): two, in order, 1 message. Without any: empty."""
    off, on = line(record="config", compact_at_tokens=None), line(record="config", compact_at_tokens=1200)
    found = transcript(off, message("user", "u"), on)
    assert ([one.compact_at_tokens for one in found.configs], len(found.messages)) == ([None, 1200], 1)
    assert transcript(message("user", "u")).configs == []


def test_18_1_totals_of_a_file() -> None:
    """None: 0 turns. (100 in, 10 out, 2 turns) and (50, 5, 1): 150, 15, 3; `outcome.usage` is not added."""
    two = [line(record="summary", usage=tokens(*given), turns=turns) for *given, turns in ((100, 10, 2), (50, 5, 1))]
    beside = line(record="outcome", usage=tokens(50, 5), turns=1)
    for lines, wanted in (((), (0, 0, 0)), (two, (150, 15, 3)), ([*two, beside], (150, 15, 3))):
        ledger = [row for row in of(read(*lines), Usage) if row.standing == "ledger"]
        names = ("uncached_input_tokens", "output_tokens", "turns")
        assert tuple(sum(getattr(row, name) for row in ledger) for name in names) == wanted


# 18.2 Session reader, added later


def test_18_2_the_one_pass_reader_tells_what_the_rows_tell() -> None:
    """Header, messages, configs, outcomes (2 turns, 3 calls) and (5, 7); the timeline for indices 0 to 4."""
    lines = (
        line(record="config", model="A"), message("user", "1"), message("assistant", "2"), taint(),
        line(record="outcome", turns=2, tool_calls=3), message("user", "3"), message("assistant", "4"),
        taint("untrusted"), line(record="outcome", turns=5, tool_calls=7),
    )  # fmt: skip
    found, rows = transcript(*lines), read(*lines)
    assert found.header.id == META["id"]
    assert [[text_of(one)] for one in found.messages] == texts(rows)
    assert [one.model for one in found.configs] == [row.model for row in of(rows, Config)] == ["A"]
    assert (sum(one.turns for one in found.outcomes), sum(one.tool_calls for one in found.outcomes)) == (7, 10)
    legs = [None if one is None else (one.private, one.untrusted) for one in map(found.covering, range(5))]
    assert legs == [(False, False), (False, False), (False, True), (False, True), None]
    assert legs[:4] == covers(rows)


def test_18_2_an_anchor_covers_the_messages_before_its_outcome(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Runs with anchors A and B, then a message: run 1 maps to A, run 2 to B, the last to none (section 7)."""
    path = tmp_path_factory.mktemp("anchors") / "x.jsonl"
    lines = (
        line(**META), message("user", "1"), message("assistant", "2"), line(record="goal_anchor", goal="task:A"),
        line(record="outcome", goal_anchor="task:A"), message("user", "3"), message("assistant", "4"),
        line(record="outcome", goal_anchor="task:B"), line(record="goal_anchor", goal="task:B"), message("user", "5"),
    )  # fmt: skip
    path.write_bytes(b"".join(each + b"\n" for each in lines))
    corpus = sl.load(path, workers=1)
    covering = corpus.sql(
        "SELECT m.position, (SELECT min_by(o.goal, o.seq) FROM outcomes o WHERE o.seq > m.seq) FROM log.messages m"
        " ORDER BY m.position"
    ).rows()
    assert covering == [(0, "task:A"), (1, "task:A"), (2, "task:B"), (3, "task:B"), (4, None)]
    assert corpus.sql("SELECT goal FROM sessions").item() == "task:B"


def test_18_2_a_message_that_was_extended_is_held_once_as_it_became() -> None:
    """Extend the last message with one block: 2 blocks; looked up among all that was recorded: exactly one."""
    lines = (message("user", "a"), line(record="extend", index=0, blocks=[{"type": "text", "text": "b"}]))
    assert [len(one.content) for one in transcript(*lines).messages] == [2]
    bodies: dict[int, list[str | None]] = {}
    for row in of(read(*lines), Block):
        bodies.setdefault(row.ix, []).append(row.text)
    assert list(bodies.values()).count(["a", "b"]) == 1


def test_17_1_notes_are_recognised_and_other_words_skipped() -> None:
    """`notes` is neither a message nor a malformed line (4.10); a word nobody knows is an unreadable line."""
    lines = (message("user", "u"), line(record="notes", notes=["(From the harness: the call has started.)"]))
    found = transcript(*lines, line(record="dream"))
    assert (len(found.messages), found.unreadable) == (1, 1)
    rows = read(*lines)
    assert (len(loaded(rows)), of(rows, Problem)) == (1, [])


def test_17_3_a_goal_of_an_unknown_kind_is_kept_as_it_is() -> None:
    """`epic:7`, whose kind nobody knows."""
    assert transcript(line(record="goal_anchor", goal="epic:7")).goal == "epic:7"


def test_17_21_a_transcript_with_bytes_that_are_no_utf_8_still_contributes() -> None:
    """Lines are decoded one by one: the broken one is lost, the messages and totals around it count."""
    bad = message("user", "caf").replace(b"caf", b"caf\xe9")
    lines = (
        message("user", "before"), line(record="summary", usage=tokens(100, 10), turns=2), bad, taint("private"),
        message("assistant", "after"), line(record="summary", usage=tokens(50, 5), turns=1),
    )  # fmt: skip
    found, rows = transcript(*lines), read(*lines)
    assert ([text_of(one) for one in found.messages], found.unreadable) == (["before", "after"], 1)
    assert found.covering(0) == PRIVATE
    assert texts(rows) == [["before"], ["after"]]
    assert sum(row.uncached_input_tokens or 0 for row in of(rows, Usage)) == 150


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\u0085"])
def test_a_line_separator_inside_a_text_ends_no_line(sign: str) -> None:
    """Section 3: `str.splitlines` would end a line there; the loader and the rows do not."""
    text = f"one{sign}two"
    lines = (message("user", text), taint("private"), message("assistant", call("c", path=text)))
    found = transcript(*lines)
    assert (text_of(found.messages[0]), len(found.messages), found.unreadable) == (text, 2, 0)
    assert texts(read(*lines))[0] == [text]


# 18.3 Messages


def test_18_3_text_of_a_message() -> None:
    """[thinking, "the answer is ", tool_use, "42"] is `the answer is 42`."""
    thought = {"type": "thinking", "text": "hm"}
    [found] = transcript(message("assistant", thought, "the answer is ", call("c"), "42")).messages
    assert text_of(found) == "the answer is 42"


def test_18_3_tool_uses_around_a_text() -> None:
    """Both, in order."""
    [found] = transcript(message("assistant", call("c1", "first"), "and", call("c2", "second"))).messages
    assert [block.name for block in found.content if isinstance(block, ToolUse)] == ["first", "second"]


@pytest.mark.parametrize("word", ["low", "medium", "high", "xhigh", "max"])
def test_18_3_effort_words_of_the_wire(word: str) -> None:
    """The five lower-case words are read as they are."""
    assert transcript(line(record="config", effort=word)).configs[0].effort == word


# 20 Golden sample


def test_20_golden_taint_and_configurations_by_message() -> None:
    """Covering 0-3 private, 4-7 both, 8 null; learnable 0-3 only; load armed; config of message 5 is the second."""
    found = _load(GOLDEN.read_bytes())
    assert [found.covering(at) for at in range(9)] == [PRIVATE] * 4 + [BOTH] * 4 + [None]
    assert (found.private, found.untrusted, len(found.messages), found.unreadable) == (True, True, 9, 1)
    assert (found.title, found.goal, found.positions) == ("bird counts", None, [0, 4])
    covering = found.config_covering(5)
    assert covering is not None
    assert (found.configs[0].effort, covering.effort) == ("high", "low")
    corpus = sl.load(GOLDEN, workers=1)
    rows = corpus.sql(
        "SELECT position, state, learnable FROM taint.timeline WHERE kind = 'message' ORDER BY position"
    ).rows()
    states = ["private"] * 4 + ["both"] * 4 + ["unknown"]
    assert rows == [(at, state, at < 4) for at, state in enumerate(states)]
    calls = corpus.sql("SELECT name, external FROM tool_calls ORDER BY seq, batch, call_id DESC").rows()
    assert calls == [("fs_list", False), ("fs_read", False), ("web_fetch", True)]


# Properties

WORDS = st.lists(st.sampled_from(["a", "b\u2028", "c"]), min_size=1, max_size=2)
APPENDED = st.one_of(
    WORDS.map(lambda words: message("user", *words)),
    st.sets(st.sampled_from(LEGS)).map(lambda legs: taint(*legs)),
    st.just(line(record="config", model="A")),
    st.just(line(record="outcome", turns=1)),
    st.just(b'{"record":"message","role":"user"'),
)
CHANGED = st.one_of(
    st.lists(WORDS, max_size=4).map(lambda each: rewrite(*(said("user", *words) for words in each))),
    st.integers(0, 3).map(lambda at: line(record="extend", index=at, blocks=[{"type": "text", "text": "x"}])),
)
LINES = st.lists(st.one_of(APPENDED, APPENDED, CHANGED), max_size=14)


def _holds(more: Legs | None, less: Legs | None) -> bool:
    """Whether `more` has every leg that `less` has; unknown has any, for it is never clean."""
    if more is None or less is None:
        return more is None
    return more.private >= less.private and more.untrusted >= less.untrusted


def _merged(found: Transcript) -> Legs:
    return Legs(found.private, found.untrusted)


def _covers(found: Transcript) -> list[Legs | None]:
    return [found.covering(at) for at in range(len(found.messages))]


@settings(deadline=None, max_examples=60)
@given(LINES, st.data())
def test_taint_is_monotone_in_what_was_read(lines: list[bytes], data: st.DataObject) -> None:
    """Had one checkpoint read more, no message, and not the load, would be cleaner; nor does reading on clean."""
    checkpoints = [at for at, one in enumerate(lines) if b'"taint"' in one]
    assume(checkpoints)
    at = data.draw(st.sampled_from(checkpoints))
    was = json.loads(lines[at])
    more = taint(*(leg for leg in LEGS if was[leg] or data.draw(st.booleans())))
    before, after = transcript(*lines), transcript(*lines[:at], more, *lines[at + 1 :])
    assert all(_holds(a, b) for a, b in zip(_covers(after), _covers(before), strict=True))
    assert _holds(_merged(after), _merged(before))
    assert _holds(_merged(before), _merged(transcript(*lines[:at])))


@settings(deadline=None, max_examples=60)
@given(st.lists(APPENDED, max_size=14))
def test_a_later_message_is_never_cleaner_than_an_earlier_one(lines: list[bytes]) -> None:
    """Taint only grows along a list, and what is unknown lies at its end."""
    found = _covers(transcript(*lines))
    assert all(_holds(later, earlier) for earlier, later in pairwise(found))


@settings(deadline=None, max_examples=60)
@given(LINES, st.lists(APPENDED, max_size=8), st.data())
def test_cutting_a_transcript_never_makes_a_message_cleaner(
    head: list[bytes], tail: list[bytes], data: st.DataObject
) -> None:
    """Cut at any byte behind the last change of the list: each message keeps its taint, or is unknown then."""
    whole = b"".join(each + b"\n" for each in (line(**META), *head, *tail))
    least = sum(len(each) + 1 for each in (line(**META), *head))
    cut = data.draw(st.integers(least, len(whole)))
    found, full = _load(whole[:cut]), _load(whole)
    assert len(found.messages) <= len(full.messages)
    for less, more in zip(_covers(found), _covers(full), strict=False):
        assert less is None or less == more
        assert _holds(less, more)


class _Pieces(io.RawIOBase):
    """A file that is handed out in pieces of these sizes, whatever was asked for."""

    def __init__(self, data: bytes, sizes: Iterator[int]) -> None:
        self._data, self._sizes, self._at = data, sizes, 0

    def read(self, size: int = -1) -> bytes:
        """The next piece."""
        most = min(next(self._sizes), size if size >= 0 else len(self._data))
        piece = self._data[self._at : self._at + most]
        self._at += len(piece)
        return piece


@settings(deadline=None, max_examples=60)
@given(LINES, st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_loading_is_the_same_for_any_split_of_writes(lines: list[bytes], sizes: list[int]) -> None:
    """However the bytes of a live file come in: the same rows, the same list, the same taint."""
    data = b"".join(each + b"\n" for each in (line(**META), *lines))

    def pieces() -> Iterator[int]:
        while True:
            yield from sizes

    def split() -> Recording:
        return Recording(_Pieces(data, pieces()), uri="mem:x", format=mecha.NAME)  # type: ignore[arg-type]

    found, whole = load(split()), _load(data)
    assert (found.messages, _covers(found), found.positions) == (whole.messages, _covers(whole), whole.positions)
    rows: list[Row] = list(mecha.read(split()))
    assert rows == raw(data)
    assert len(of(rows, Entry)) == 1 + len(lines) - whole.unreadable
