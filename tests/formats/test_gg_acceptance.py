"""Which journal lines parse (specification, section 0.3): what is not acceptable stops the walk at that line."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.tables import Block, Entry, Problem, Source, Usage
from tests.formats.gg_examples import HEADER, ROOT, call, dump, end, entry, journal, message, of, read, text

CLOCK = b'{"type":"entry","entry":{"agentId":"root","seq":0,"type":"clock","elapsedMs":7}}'


def _clock(**changes: bytes) -> bytes:
    parts = {"agentId": b'"root"', "seq": b"0", "type": b'"clock"', "elapsedMs": b"7", **changes}
    return b'{"type":"entry","entry":{' + b",".join(b'"%s":%s' % (k.encode(), v) for k, v in parts.items()) + b"}}"


ACCEPTED = {
    "unknown member": _clock(mood=b'"calm"'),
    "null optional member": _clock(remainingMs=b"null"),
    "tag in another place": b'{"entry":{"elapsedMs":7,"type":"clock","seq":0,"agentId":"root"},"type":"entry"}',
    "spaces between tokens": CLOCK.replace(b":", b" : ").replace(b",", b" , "),
    "white space around": b" \t" + CLOCK + b" \r",
    "escaped member name": CLOCK.replace(b'"seq"', b'"s\\u0065q"'),
    "largest u64 minus": _clock(remainingMs=b"9223372036854775807"),
    "a key twice in free-form": dump(call(0)).replace(b'{"usage"', b'{"mood":1,"mood":2,"usage"'),
    "null free-form member": dump(call(0)).replace(
        b'{"usage":{"uncachedInput":3,"cachedInput":null,"output":2,"reasoning":null}}', b"null"
    ),
    "nesting": dump(call(0, response={"n": 0})).replace(b'"n":0', b'"n":' + b"[" * 200 + b"]" * 200),
    "anything in an unknown member": _clock(mood=b'{"a":[-0,1e-400,18446744073709551616,null],"b":{"c":1,"c":2}}'),
    "a pair of surrogates": _clock(mood=b'"\\ud83d\\ude00"'),
    "minus zero in free-form": dump(call(0, response={"n": 0})).replace(b'"n":0', b'"n":-0'),
}

REFUSED = {
    "missing member": _clock().replace(b',"elapsedMs":7', b""),
    "wrong type": _clock(elapsedMs=b'"7"'),
    "bool for a number": _clock(elapsedMs=b"true"),
    "number for a bool": b'{"type":"entry","entry":{"agentId":"root","seq":0,"type":"cancel_probe","canceled":1}}',
    "negative": _clock(elapsedMs=b"-1"),
    "past 64 bits": _clock(elapsedMs=b"18446744073709551616"),
    "seq past 64 bits": _clock(seq=b"18446744073709551616"),
    "float for an integer": _clock(elapsedMs=b"3.0"),
    "exponent for an integer": _clock(elapsedMs=b"1e2"),
    "minus zero": _clock(elapsedMs=b"-0"),
    "unknown kind": CLOCK.replace(b'"clock"', b'"weather"'),
    "unknown line type": b'{"type":"note"}',
    "unknown role": dump(call(0)).replace(b'"agent"', b'"critic"'),
    "unknown error kind": dump(
        entry(0, "model_error", request={"role": "agent", "shape": "complete", "messages": []},
              error={"kind": "boredom", "message": "m"})
    ),
    "a known member twice": CLOCK.replace(b'"seq":0', b'"seq":0,"seq":0'),
    "a known member twice, in other spelling": CLOCK.replace(b'"seq":0', b'"seq":0,"s\\u0065q":0'),
    "the line tag twice": CLOCK.replace(b'{"type":"entry"', b'{"type":"entry","type":"entry"'),
    "the entry tag twice": CLOCK.replace(b'"type":"clock"', b'"type":"clock","type":"clock"'),
    "invalid UTF-8": _clock(mood=b'"\xff"'),
    "invalid UTF-8 in free-form": dump(call(0, response={"text": "?"})).replace(b"?", b"\xc3"),
    "a lone surrogate": _clock(mood=b'"\\ud800"'),
    "a lone low surrogate in free-form": dump(call(0, response={"text": "?"})).replace(b"?", b"\\udc00"),
    "a control character": _clock(mood=b'"\x01"'),
    "a byte order mark": b"\xef\xbb\xbf" + CLOCK,
    "NaN": dump(call(0, response={"n": 0})).replace(b'"n":0', b'"n":NaN'),
    "infinity": dump(call(0, response={"n": 0})).replace(b'"n":0', b'"n":1e400'),
    "infinity in an unknown member": _clock(mood=b"-1e999"),
    "an endless integer": dump(call(0, response={"n": 0})).replace(b'"n":0', b'"n":1' + b"0" * 400),
    "something behind the object": CLOCK + b" 1",
    "an array for an object": b'["entry"]',
    "only a carriage return": b"\r",
    "only spaces": b"   ",
    "a capability set that is a list": dump({**HEADER, "capabilitySet": []}),
    "deep nesting": dump(call(0, response={"n": 0})).replace(b'"n":0', b'"n":' + b"[" * 700 + b"]" * 700),
    "deep nesting in an unknown member": _clock(mood=b"[" * 500 + b"]" * 500),
    "endless nesting": dump(call(0, response={"n": 0})).replace(b'"n":0', b'"n":' + b"[" * 3000 + b"]" * 3000),
}  # fmt: skip


@pytest.mark.parametrize("line", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(line: bytes) -> None:
    """A line of this kind is read as an entry."""
    rows = read(journal(HEADER, ROOT, line, end(1)))
    assert len(of(rows, Entry)) == 1
    assert of(rows, Source)[0].state == "whole"


@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("bodies", [True, False])
def test_unparseable(line: bytes, bodies: bool) -> None:
    """A line of this kind is corrupt, with or without bodies, and hides the entry behind it."""
    rows = read(journal(HEADER, ROOT, line, CLOCK, end(1)), bodies=bodies)
    assert of(rows, Entry) == []
    source = of(rows, Source)[0]
    assert (source.state, source.reason) == ("short", "corrupt_journal")
    kinds = [(p.kind, p.severity, p.line) for p in of(rows, Problem)]
    assert ("corrupt_line", "loss", 3) in kinds
    assert ("after_damage", "loss", 4) in kinds


@pytest.mark.parametrize("member", ["modelWindows", "modelProviders", "modelModalities"])
def test_a_defaulted_map_is_not_null(member: str) -> None:
    """A map that may be absent may not be null."""
    line = {"type": "seed", "seed": {"prompt": "p", member: None}}
    assert of(read(journal(HEADER, line)), Source)[0].reason == "corrupt_journal"


def test_a_float_member_may_be_written_as_an_integer() -> None:
    """`40` is read as 40.0 where a float is due."""
    hit = {"limit": "cost", "threshold": 40, "observed": 41, "turns": 3, "agentId": "root"}
    row: dict[str, Any] = {"type": "agent", "agent": {**ROOT["agent"], "limitHit": hit}}
    rows = read(journal(HEADER, row, end(0)))
    assert [r.limit_threshold for r in rows if hasattr(r, "limit_threshold")] == [40.0]


def test_unknown_members_are_kept_and_named_once() -> None:
    """A member that format version 1 does not know stands in the detail, and the first of its name is noted."""
    rows = read(journal(HEADER, ROOT, _clock(mood=b'"calm"'), _clock(seq=b"1", mood=b'"tense"'), end(2)))
    assert [e.detail for e in of(rows, Entry)] == [
        '{"unknown":{"entry.mood":"calm"}}',
        '{"unknown":{"entry.mood":"tense"}}',
    ]
    assert [(p.kind, p.line, p.detail) for p in of(rows, Problem)] == [
        ("unknown_member", 3, "`entry.mood` is no member that format version 1 knows")
    ]


def test_integers_past_a_bigint_are_null() -> None:
    """A u64 that no BIGINT holds is null in its column, with a note; the line stands."""
    rows = read(journal(HEADER, ROOT, _clock(elapsedMs=b"18446744073709551615"), end(1)))
    assert [e.elapsed_ms for e in of(rows, Entry)] == [None]
    assert [(p.kind, p.severity, p.seq) for p in of(rows, Problem)] == [("number_too_large", "note", 0)]


def test_token_counts_past_a_bigint_are_null() -> None:
    """The same holds for tokens and for their sum."""
    usage = {"uncachedInput": 2**63, "cachedInput": 5, "output": 1, "reasoning": None}
    rows = read(journal(HEADER, ROOT, call(0, response={"usage": usage}), end(1)))
    (figure,) = of(rows, Usage)
    assert (figure.uncached_input_tokens, figure.context_tokens) == (None, None)
    assert (figure.cache_read_tokens, figure.output_tokens) == (5, 1)
    assert {p.kind for p in of(rows, Problem)} == {"number_too_large"}


@pytest.mark.parametrize(("slot", "band"), [("trailing_notice", "history"), ("thread", "board"), ("thread", "plan")])
def test_words_of_older_recorders(slot: str, band: str) -> None:
    """Section 7, row 12 and section 10: a slot and two bands of older recorders are read, with a note."""
    item = {"message": 0, "slot": slot, "source": band, "retention": "pinned", "turn": 1}
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0), entry(1, "prompt_frame", items=[item]), end(2)))
    assert [p.kind for p in of(rows, Problem)] == ["old_word"]
    assert len(of(rows, Entry)) == 2


@pytest.mark.parametrize("told", ["Harbour", ["Harbour"]])
def test_a_provider_told_as_a_string(told: object) -> None:
    """Section 11: a string in modelProviders is one candidate, with a note."""
    seed = {"type": "seed", "seed": {"prompt": "p", "modelProviders": {"gale/tern-1": told}}}
    rows = read(journal(HEADER, seed, end(0)))
    assert [(p.kind, p.severity) for p in of(rows, Problem)] == [("old_providers", "note")]
    assert of(rows, Source)[0].state == "whole"


def test_line_separators_inside_a_string_do_not_end_a_line() -> None:
    """Only LF ends a line: U+2028 and U+0085 occur raw inside strings."""
    rows = read(journal(HEADER, ROOT, text(0, "a\u2028b\x85c"), end(0)))
    assert [b.text for b in of(rows, Block)] == ["a\u2028b\x85c"]
