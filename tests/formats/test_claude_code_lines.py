"""Broken bytes in Claude Code files: whole records survive, what is lost is said, nothing raises."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from typing import Any

import pytest

from sessionlab.formats import claude_code
from sessionlab.formats.recording import Recording
from sessionlab.tables import Block, Entry, Extent, Problem, Row, Source, Usage
from tests.formats.claude_code_lines import SESSION, call, joined, line, prompt, reply, result, rows, said, tokens

ONE, TWO = prompt("one", uuid="u-1"), prompt("two", uuid="u-2")
Json = dict[str, Any]


def of(found: list[Row], kind: type[Any]) -> list[Any]:
    """The rows of one table."""
    return [row for row in found if isinstance(row, kind)]


def texts(found: list[Row]) -> list[str | None]:
    """What the messages of a file say."""
    return [row.text for row in of(found, Block)]


def kinds(found: list[Row]) -> list[tuple[str, str, int | None]]:
    """Kind, severity and line of each problem."""
    return [(row.kind, row.severity, row.line) for row in of(found, Problem)]


def encoded(value: Json) -> bytes:
    """A line without its end."""
    return json.dumps(value).encode()


def test_43_a_torn_line_in_the_middle_loses_itself_only() -> None:
    """Rule 43: the lines before and after are read, the torn one is named with its place and length."""
    torn = encoded(TWO)[:40] + b"\n"
    found = rows(joined(ONE, torn, TWO))
    assert texts(found) == ["one", "two"]
    (problem,) = of(found, Problem)
    assert (problem.kind, problem.severity, problem.line) == ("torn_line", "loss", 2)
    assert (problem.byte_offset, problem.byte_length) == (len(joined(ONE)), 41)
    (source,) = of(found, Source)
    assert (source.state, source.lines) == ("short", 3)


def test_43_a_torn_last_line_is_told_apart() -> None:
    """Rule 43: a live file ends in the middle of a line; that is no damage in the middle."""
    found = rows(joined(ONE) + encoded(TWO)[:-5])
    assert kinds(found) == [("torn_tail", "loss", 2)]
    assert texts(found) == ["one"]


def test_43_a_whole_last_line_needs_no_line_end() -> None:
    """The last record counts although its line end is not written yet."""
    found = rows(joined(ONE) + encoded(TWO))
    assert (texts(found), kinds(found)) == (["one", "two"], [])


def test_44_a_record_behind_a_torn_one_is_recovered() -> None:
    """Rule 44: the torn head is lost, the whole record behind it on the same line is read."""
    found = rows(b'{"type":"pr-link","prNu' + joined(ONE))
    assert (texts(found), kinds(found)) == (["one"], [("torn_line", "loss", 1)])
    assert [extent.fate for extent in of(found, Extent)] == ["read"]


def test_44_two_records_on_one_line_are_two_entries() -> None:
    """Rule 44: glued records share the line number and follow each other in seq."""
    found = rows(encoded(ONE) + joined(TWO))
    assert [(entry.seq, entry.line) for entry in of(found, Entry)] == [(0, 1), (1, 1)]
    assert kinds(found) == [("glued_records", "note", 1)]


def test_44_a_whole_record_before_a_torn_one_is_kept() -> None:
    """The reverse of rule 44: what stands whole at the front is read, the rest of the line is lost."""
    found = rows(encoded(ONE) + encoded(TWO)[:30] + b"\n")
    assert (texts(found), kinds(found)) == (["one"], [("torn_line", "loss", 1)])


def test_44_an_object_inside_a_torn_record_is_no_record() -> None:
    """The message a torn `progress` line embeds looks like a record, but is not one of this file's."""
    inner = encoded({**ONE, "requestId": "r"})
    torn = b'{"type":"progress","data":{"type":"agent_progress","message":' + inner + b',"agentId":"a7","prompt":"x'
    found = rows(joined(TWO) + torn + b"\n")
    assert texts(found) == ["two"]
    assert kinds(found) == [("torn_line", "loss", 2)]


@pytest.mark.parametrize("where", ["behind", "before", "own line"])
def test_45_nul_bytes_are_left_out(where: str) -> None:
    """Rule 45: runs of NUL after a crash, at line ends or on a line of their own, lose no record."""
    data = {
        "behind": encoded(ONE) + b"\0" * 200 + b"\n",
        "before": b"\0" * 200 + joined(ONE),
        "own line": joined(ONE) + b"\0" * 200 + b"\n",
    }[where]
    found = rows(data + joined(TWO))
    assert texts(found) == ["one", "two"]
    assert [kind for kind, _severity, _line in kinds(found)] == ["nul_bytes"]


@pytest.mark.parametrize(
    "encoding",
    [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")],
    ids=lambda pair: pair[0],
)
def test_46_a_byte_order_mark_costs_no_record(encoding: tuple[str, bytes]) -> None:
    """Rule 46: decoded by its mark, with characters whose 16-bit form holds the byte of a line feed."""
    name, mark = encoding
    tricky = prompt("\u4e0a and \u010a and \u0a0a")
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in (tricky, ONE, TWO))
    data = mark + text.encode(name)
    assert claude_code.sniff(data[:400])
    found = rows(data)
    assert texts(found) == ["\u4e0a and \u010a and \u0a0a", "one", "two"]
    assert kinds(found)[:1] == [("byte_order_mark", "note", 1)]
    assert sum(extent.byte_length for extent in of(found, Extent)) == len(data)


@pytest.mark.parametrize("escape", ["\\ud83d", "\\uDE00", "\\uD83Eade9"], ids=["high", "low", "half pair"])
def test_47_a_lone_surrogate_is_replaced_and_counted(escape: str) -> None:
    """Rule 47: half an emoji is U+FFFD, so that every text can be written as UTF-8."""
    found = rows(joined(ONE).replace(b"one", escape.encode()))
    (text,) = texts(found)
    assert text is not None
    assert text.startswith("\ufffd")
    text.encode()
    assert kinds(found) == [("lone_surrogate", "note", 1)]


def test_47_a_whole_pair_is_left_alone() -> None:
    """A pair of surrogate escapes is one character and no problem."""
    found = rows(joined(ONE).replace(b"one", b"\\ud83d\\ude00"))
    assert (texts(found), kinds(found)) == (["\U0001f600"], [])


def test_48_lines_of_megabytes_are_read() -> None:
    """Rule 48: a line of 20 MB is a line like any other, and the one behind it is not lost."""
    big = "x" * 20_000_000
    found = rows(joined(prompt(big), ONE))
    assert [len(text or "") for text in texts(found)] == [20_000_000, 3]


@pytest.mark.parametrize("word", [b"NaN", b"Infinity", b"-Infinity"])
def test_49_not_a_number_is_null_and_flagged(word: bytes) -> None:
    """Rule 49: a bare NaN beside the figures costs no figure."""
    data = joined(reply("m1", said("x"), usage=tokens(1, 2, 3, 4), costUSD="COST")).replace(b'"COST"', word)
    found = rows(data)
    (row,) = of(found, Usage)
    assert (row.output_tokens, row.recorded_usd) == (4, None)
    assert kinds(found) == [("not_a_number", "note", 1)]


def test_50_of_two_members_with_one_name_the_last_stands_and_is_flagged() -> None:
    """Rule 50: seen wherever the tolerant road reads the line; here a NaN sends it there."""
    data = b'{"type":"user","sessionId":"s","message":{"role":"user","content":"a","content":"b"},"costUSD":NaN}\n'
    found = rows(data)
    assert texts(found) == ["b"]
    assert {kind for kind, _severity, _line in kinds(found)} == {"not_a_number", "duplicate_key"}


def test_unknown_members_are_kept_in_detail_without_a_problem() -> None:
    """A newer recorder's members are no damage: they stand in `detail` until a column is found for them."""
    found = rows(joined({**ONE, "moonPhase": "waning"}))
    (entry,) = of(found, Entry)
    assert json.loads(entry.detail) == {"rest": {"moonPhase": "waning"}}
    assert (texts(found), kinds(found)) == (["one"], [])


def test_members_of_a_wrong_type_are_kept_and_noted() -> None:
    """A version that is a number, and a message that is a string: the line is read, the note says what was odd."""
    found = rows(joined({**ONE, "version": 5}, {**TWO, "message": "error"}))
    first, second = of(found, Entry)
    assert json.loads(first.detail) == {"rest": {"version": 5}}
    assert json.loads(second.detail) == {"rest": {"message": "error"}}
    assert kinds(found) == [("wrong_type", "note", 1), ("wrong_type", "note", 2)]


def test_58_a_time_without_a_zone_is_taken_for_utc_and_noted_once_a_file() -> None:
    """Rule 58: the assumption is told with the first such time; 1,790,756,100 s are 2026-09-30T08:15 UTC."""
    echo = {"type": "agent_progress", "agentId": "a", "message": {"type": "user", "timestamp": "2026-09-30 08:15:02.5"}}
    found = rows(
        joined(
            {**ONE, "timestamp": "2026-09-30T08:15:00"},
            {**TWO, "timestamp": "2026-09-30T08:15:01"},
            line("progress", data=echo),
        )
    )
    entries = of(found, Entry)
    assert [entry.recorded_at for entry in entries] == [1_790_756_100_000_000, 1_790_756_101_000_000, None]
    assert entries[2].started_at == 1_790_756_102_500_000
    assert kinds(found) == [("time_without_zone", "note", 1)]


@pytest.mark.parametrize(
    "stamp",
    ["yesterday", "2026-10-03", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-10-03T08:15:61Z"],
)
def test_what_is_no_time_a_table_can_hold_is_null_and_noted(stamp: str) -> None:
    """A word, a day, a time within two days of the ends of the calendar: the line is read without it."""
    found = rows(joined({**ONE, "timestamp": stamp}))
    assert [entry.recorded_at for entry in of(found, Entry)] == [None]
    assert kinds(found) == [("bad_time", "note", 1)]


def test_a_leap_second_is_the_next_one() -> None:
    """2016-12-31T23:59:60 UTC happened; it is held as 2017-01-01T00:00:00, 1,483,228,800 s."""
    found = rows(joined({**ONE, "timestamp": "2016-12-31T23:59:60.25Z"}, {**TWO, "timestamp": "2016-12-31T23:59:60Z"}))
    assert [entry.recorded_at for entry in of(found, Entry)] == [1_483_228_800_250_000, 1_483_228_800_000_000]
    assert kinds(found) == []


TWICE = joined(reply("m1", said("x"), usage=tokens(1, 2, 3, 4, service_tier="standard"), stop="end_turn"))


@pytest.mark.parametrize("compact", [False, True], ids=["spaced", "compact"])
@pytest.mark.parametrize(
    ("once", "twice", "name"),
    [
        (b'"output_tokens": 4', b'"output_tokens": 700, "output_tokens": 4', "output_tokens"),
        (b'"usage": {', b'"usage": {"output_tokens": 9}, "usage": {', "usage"),
    ],
    ids=["a count", "the whole usage"],
)
def test_50_figures_told_twice_are_the_last_and_flagged(once: bytes, twice: bytes, name: str, compact: bool) -> None:
    """Rule 50: in the objects that decide what a call costs, also of a line that is sound in every other way."""
    data = TWICE.replace(once, twice)
    if compact:
        data = data.replace(b": ", b":").replace(b", ", b",")
    found = rows(data)
    (row,) = of(found, Usage)
    assert row.output_tokens == 4
    assert kinds(found) == [("duplicate_key", "note", 1)]
    (problem,) = of(found, Problem)
    assert problem.detail.endswith(f": {name}")


def test_50_counts_of_attempts_and_of_newer_kinds_are_no_repetition() -> None:
    """Attempts tell the same members in objects of their own; that is no member given twice."""
    attempt = {
        "type": "message",
        "input_tokens": 1,
        "output_tokens": 4,
        "cache_creation": {"ephemeral_5m_input_tokens": 0},
    }
    usage = tokens(1, 2, 3, 4, iterations=[attempt], output_tokens_details={"thinking_tokens": 2}, tool_tokens=5)
    assert kinds(rows(joined(reply("m1", call("t1", command="usage", usage={"usage": 1}), usage=usage)))) == []


@pytest.mark.parametrize(("written", "value"), [(b"5.0", 5), (b"1E2", 100), (b"25e-1", None), (b"5.5", None)])
def test_a_count_written_as_a_float_is_taken_where_it_is_whole(written: bytes, value: int | None) -> None:
    """JSON knows one kind of number: 5.0 tokens are 5, half a token is none."""
    found = rows(
        joined(reply("m1", usage=tokens(1, 2, 3, 4))).replace(b'"output_tokens": 4', b'"output_tokens": ' + written)
    )
    (row,) = of(found, Usage)
    assert (row.output_tokens, row.is_lower_bound) == (value, value is None)
    assert kinds(found) == [("wrong_type" if value is None else "float_for_integer", "note", 1)]


def test_a_record_nested_too_deeply_is_lost_and_said() -> None:
    """100,000 brackets exhaust no stack: the line is a problem, its neighbours are read."""
    deep = b'{"type":"user","sessionId":"s","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    found = rows(joined(ONE) + deep + joined(TWO))
    assert texts(found) == ["one", "two"]
    assert [severity for _kind, severity, _line in kinds(found)] == ["loss"]


def test_recovering_a_torn_line_is_not_quadratic() -> None:
    """A torn line of 40,000 open objects is given up after work in proportion to its length."""
    torn = b'{"type":"user","message":' + b'{"a":' * 40_000
    found = rows(joined(ONE) + torn + b"\n" + joined(TWO))
    assert texts(found) == ["one", "two"]


CUT = joined(
    prompt("Start.", uuid="c-1", timestamp="2026-10-03T08:15:00.000Z"),
    reply("m1", said("Hm."), usage=tokens(1, 2, 3, 1), uuid="c-2", parentUuid="c-1"),
    reply("m1", call("t1", command="ls"), usage=tokens(1, 2, 3, 40), stop="tool_use", uuid="c-3", parentUuid="c-2"),
    result("t1", "a.py", uuid="c-4", parentUuid="c-3", told={"interrupted": False}),
    reply("m2", said("Done."), usage=tokens(5, 6, 7, 8), stop="end_turn", uuid="c-5", parentUuid="c-4"),
)


@pytest.mark.parametrize("at", range(0, len(CUT), 7))
def test_a_cut_keeps_the_entries_of_whole_lines(at: int) -> None:
    """Wherever the file is cut, the entries and bodies of the complete lines are those of the whole file."""
    complete = CUT[:at].count(b"\n")
    whole, cut = rows(CUT), rows(CUT[:at])
    for kind in (Entry, Block):
        wanted = [row for row in of(whole, kind) if row.line <= complete]
        assert [row for row in of(cut, kind) if row.line <= complete] == wanted
    assert sum(extent.byte_length for extent in of(cut, Extent)) == at


def test_random_damage_never_raises_and_covers_every_byte() -> None:
    """500 files with bytes dropped, replaced and inserted: extents tile each, text is valid, seq has no gap."""
    drawn = random.Random(20261130)
    pieces = [b'{"', b"}", b"]", b'"', b"\\", b"\0", b"\n", b"\xff", b"\\ud83d", b"NaN", b"9" * 25, b"null", b"[]"]
    for _round in range(500):
        data = bytearray(CUT)
        for _blow in range(drawn.randrange(1, 6)):
            at = drawn.randrange(len(data))
            data[at : at + drawn.randrange(12)] = drawn.choice(pieces)
        found = rows(bytes(data))
        assert sum(extent.byte_length for extent in of(found, Extent)) == len(data)
        assert [entry.seq for entry in of(found, Entry)] == list(range(len(of(found, Entry))))
        told = {problem.line for problem in of(found, Problem) if problem.severity == "loss"}
        for extent in of(found, Extent):
            assert extent.fate != "problem" or told.issuperset(range(extent.from_line, extent.to_line + 1))
        for text in texts(found):
            (text or "").encode()


def test_memory_does_not_grow_with_the_file() -> None:
    """What is kept per reply and call is ids: 3,000 more of them, 18 MB of text, take less than 4.5 MB."""

    def peak(count: int) -> int:
        lines = []
        for n in range(count):
            lines += [
                reply(f"m{n}", call(f"t{n}", command="y" * 3000), usage=tokens(n, 1, 1, 900), stop="tool_use"),
                result(f"t{n}", "z" * 3000),
            ]
        data = joined(*lines)
        recording = Recording(io.BytesIO(data), uri="mem:x")
        tracemalloc.start()
        for _row in claude_code.read(recording):
            pass
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(6000) - peak(3000) < 3000 * 1500


def test_the_first_record_that_names_a_session_names_those_before_it() -> None:
    """Snapshots and summaries at the head of a file name no session; they belong to the first one named."""
    head = {"type": "file-history-snapshot", "messageId": "u-1", "snapshot": {}, "isSnapshotUpdate": False}
    found = rows(joined(head, {"type": "summary", "summary": "Old", "leafUuid": "x"}, ONE))
    assert {entry.session_id for entry in of(found, Entry)} == {f"claude_code:{SESSION}"}
    assert [entry.kind for entry in of(found, Entry)] == ["state", "title", "message"]


def test_a_file_that_names_no_session_takes_its_name_or_its_source() -> None:
    """A file of nothing but a summary is named after the session; without such a name its source's id stands in."""
    data = joined({"type": "summary", "summary": "Old", "leafUuid": "x"})
    named = of(rows(data, uri=f"/logs/{SESSION}.jsonl"), Entry)
    assert named[0].session_id == f"claude_code:{SESSION}"
    source = rows(data, uri="mem:other")
    assert of(source, Entry)[0].session_id.startswith("claude_code:")
    assert of(source, Entry)[0].session_id.removeprefix("claude_code:").isdigit()


def test_durations_and_codes_past_bigint_are_null() -> None:
    """A duration of 1e300 ms and an exit code of 25 digits leave the columns empty."""
    hook = {"type": "hook_success", "hookName": "x", "durationMs": 1e300, "exitCode": 10**25}
    found = rows(
        joined(
            {"type": "system", "subtype": "turn_duration", "durationMs": 1e300, "sessionId": "s"},
            {"type": "attachment", "attachment": hook, "sessionId": "s"},
        )
    )
    assert [(entry.duration_ms, entry.exit_code) for entry in of(found, Entry)] == [(None, None), (None, None)]
