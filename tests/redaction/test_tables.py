"""Tables redacted: every column of text has its treatment, digests of what changed are replaced, joins hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionlab.arrow import SCHEMAS
from sessionlab.formats.recording import digest63
from sessionlab.redaction import MARK, StrictRedactor
from sessionlab.redaction.identifiers import KeyedDigests, with_sources
from sessionlab.redaction.stored import Texts, parsed
from sessionlab.redaction.tables import FINDINGS, Redacted, redact
from sessionlab.redaction.treatments import TREATMENTS, Treatment
from sessionlab.tables import TABLES, plain_columns

if TYPE_CHECKING:
    from collections.abc import Iterable

KEY = b"a key for tests"
HEX = "0123456789abcdef"
AWS = "AKIA" + "QX7RZ2M4T9KD3WPB"


def table(name: str, *rows: dict[str, Any]) -> pa.Table:
    """Rows of a common table; what a row does not say is null, or nothing where it may not be."""
    empty = {pa.string(): "", pa.int64(): 0, pa.bool_(): False}
    schema = SCHEMAS[name]
    whole = [{f.name: row.get(f.name, None if f.nullable else empty[f.type]) for f in schema} for row in rows]
    return pa.Table.from_pylist(whole, schema)


def gone_through(tables: dict[str, pa.Table], **how: Any) -> Redacted:
    """The tables after the strict rules."""

    def held() -> Iterable[tuple[str, pa.RecordBatchReader]]:
        return [(name, one.to_reader(2)) for name, one in tables.items()]  # several batches of each

    return redact(held, StrictRedactor(key=KEY, **how), KEY)


def column(done: Redacted, name: str, of: str) -> list[Any]:
    """A column of a redacted table."""
    return done.tables[name][of].to_pylist()


def test_every_column_of_text_has_a_treatment() -> None:
    """A new column of text, raw or folded, is not passed over: it has a treatment, or this test fails."""
    for name, row in TABLES.items():
        if name == "prices":  # rates are not of the sessions, and are not saved
            continue
        texts = {c.name for c in plain_columns(row) if c.type == "VARCHAR"}
        assert texts == set(TREATMENTS[name]), name


def test_digests_are_those_the_data_dictionary_calls_so() -> None:
    """What says digest, content address or fingerprint in its sentence is treated as one, and nothing else."""
    words = ("digest", "crc", "content address", "fingerprint")
    told = {
        (name, c.name)
        for name, row in TABLES.items()
        for c in plain_columns(row)
        if c.type == "VARCHAR" and any(word in c.doc.lower() for word in words)
    }
    treated = {(t, c) for t, told in TREATMENTS.items() for c, how in told.items() if how is Treatment.DIGEST}
    assert treated == told


def test_numbers_times_and_flags_stay() -> None:
    """A row whose every text is secret keeps every other value."""
    row = {f.name: AWS for f in SCHEMAS["usage"] if f.type == pa.string()}
    row |= {f.name: n for n, f in enumerate(SCHEMAS["usage"]) if f.type in {pa.int64(), pa.float64()}}
    row |= {"recorded_at": 1_700_000_000_000_000, "is_lower_bound": True, "standing": "ledger"}
    before = table("usage", row)
    after = gone_through({"usage": before}).tables["usage"]
    for field in before.schema:
        if field.type != pa.string():
            assert after[field.name].equals(before[field.name]), field.name
    assert AWS not in str(after.select(["session_id", "charge_id", "model", "detail"]).to_pylist())


@pytest.mark.parametrize("name", [name for name in TABLES if name != "prices"])
def test_a_secret_in_any_open_column_goes(name: str) -> None:
    """Of every table: each column that is not a closed word or a digest, alone and in the middle of more text."""
    for of, how in TREATMENTS[name].items():
        if how in {Treatment.KEPT, Treatment.DIGEST} or of not in SCHEMAS[name].names:
            continue
        for text in (AWS, f"use {AWS} for it", json.dumps({"it": [AWS]})):
            done = gone_through({name: table(name, {of: text, "source_id": 7})})
            told = KeyedDigests(KEY).number(7, "source") if of == "uri" else 7
            assert AWS not in column(done, name, of)[0], (name, of, text)
            assert done.findings.select("table", "column", "source_id").rows() == [(name, of, told)]


def test_ids_are_one_pseudonym_wherever_they_stand() -> None:
    """A session named by a secret is still one session, its native id still what stands behind the colon."""
    native = f"run-{AWS}"
    tables = {
        "sessions": table("sessions", {"session_id": f"mecha:{native}", "native_id": native, "format": "mecha"}),
        "entries": table("entries", *({"session_id": f"mecha:{native}", "seq": n} for n in range(5))),
        "links": table("links", {"session_id": "gg:clean-1", "other_session_id": f"mecha:{native}"}),
    }
    done = gone_through(tables)
    [session], [told] = column(done, "sessions", "session_id"), column(done, "sessions", "native_id")
    assert told.startswith("redacted-")
    assert session == f"mecha:{told}"
    assert column(done, "entries", "session_id") == [session] * 5
    assert column(done, "links", "other_session_id") == [session]
    assert column(done, "links", "session_id") == ["gg:clean-1"]


def test_equal_texts_count_in_every_row_they_stand_in() -> None:
    """Three rows of two files hold the same text: gone through once, counted thrice, by file."""
    rows = [{"source_id": n, "session_id": "s", "name": f"curl -H 'X-Api-Key: {AWS}'", "seq": n} for n in (1, 1, 2)]
    done = gone_through({"entries": table("entries", *rows)})
    assert done.findings.columns == FINDINGS.names
    found = done.findings
    per_file = {source: found.filter(found["source_id"] == source)["count"].sum() for source in (1, 2)}
    assert per_file[1] == 2 * per_file[2] > 0


def test_what_is_learned_in_one_table_goes_from_all() -> None:
    """A password met under its name in a call's arguments is removed from a title, though nothing there names it."""
    word = "vK9-tulip-Zq41"
    tables = {
        "sessions": table("sessions", {"session_id": "s", "title": f"why {word} fails"}),
        "tool_calls": table("tool_calls", {"session_id": "s", "arguments": json.dumps({"password": word})}),
    }
    done = gone_through(tables)
    assert column(done, "sessions", "title") == [f"why {MARK} fails"]
    assert json.loads(column(done, "tool_calls", "arguments")[0]) == {"password": MARK}


def test_a_body_is_json_where_its_kind_is() -> None:
    """What was called is gone through as a value, so that a header pair in it is seen; prose as text."""
    pair = json.dumps({"headers": [{"name": "Cookie", "value": "tulip"}]})
    rows = [
        {"kind": "call", "text": pair, "session_id": "s", "pool": "message"},
        {"kind": "text", "text": "the tulip opens", "session_id": "s", "pool": "message", "block": 1},
        {"kind": "text", "text": None, "session_id": "s", "pool": "message", "block": 2},
    ]
    call, prose, nothing = column(gone_through({"blocks": table("blocks", *rows)}), "blocks", "text")
    assert json.loads(call) == {"headers": [{"name": "Cookie", "value": MARK}]}
    assert (prose, nothing) == ("the tulip opens", None)


def test_clean_json_keeps_its_spelling() -> None:
    """Spaces, escapes and the order of members stay where nothing was removed, numbers as they were written."""
    told = '{ "b" : 1.50, "a": "\\u00e9", "big": 123456789012345678901234567890, "c": [ ] }'
    assert column(gone_through({"configs": table("configs", {"detail": told})}), "configs", "detail") == [told]


def test_a_member_named_twice_hides_nothing() -> None:
    """Reading such an object drops the first member: it is gone through as text."""
    told = f'{{"password":"{AWS}","password":"x"}}'
    assert parsed(told) is None
    assert AWS not in column(gone_through({"configs": table("configs", {"detail": told})}), "configs", "detail")[0]


def test_json_nested_deeper_than_the_stack() -> None:
    """Ten thousand lists round a secret: it goes, and nothing overflows."""
    told = "[" * 10_000 + f'"{AWS}"' + "]" * 10_000
    assert AWS not in column(gone_through({"configs": table("configs", {"detail": told})}), "configs", "detail")[0]


def test_a_source_is_called_otherwise_once_its_uri_was_changed() -> None:
    """A guessed path cannot be confirmed by its digest, in any table, nor in the id of a session without a name."""
    uri = "/home/ada/notes/day.jsonl"
    source = digest63(uri)
    tables = {
        "sources": table("sources", {"source_id": source, "uri": uri}, {"source_id": 5, "uri": "/srv/logs/day.jsonl"}),
        "sessions": table("sessions", {"source_id": source, "session_id": f"mecha:{source}"}),
        "usage": table("usage", {"source_id": source, "session_id": f"mecha:{source}", "charge_id": f"{source}/1"}),
        "folded.sources": table("sources", {"source_id": 5, "uri": "/srv/logs/day.jsonl"}).append_column(
            "superseded_by", pa.array([source])
        ),
    }
    done = gone_through(tables, also=["home_folder"])
    new, kept = column(done, "sources", "source_id")
    assert kept == 5
    assert new not in {source, digest63(column(done, "sources", "uri")[0])}
    assert 0 < new < 2**63
    assert column(done, "sessions", "session_id") == [f"mecha:{new}"]
    assert column(done, "usage", "charge_id") == [f"{new}/1"]
    assert column(done, "folded.sources", "superseded_by") == [new]
    assert str(source) not in str({name: one.to_pylist() for name, one in done.tables.items()})
    assert set(done.findings["source_id"]) == {new}


def test_digests_of_what_was_changed_are_replaced_everywhere() -> None:
    """A changed body's address, its file's checksum and its records' ids: elsewhere, too; all others stay."""
    body, other, file, apart = HEX * 2, HEX[::-1] * 2, "1-aaaaaaaa", "2-bbbbbbbb"
    tables = {
        "sources": table(
            "sources", *({"source_id": n, "content_id": c} for n, c in ((1, file), (2, apart), (3, file)))
        ),
        "pools": table(
            "pools",
            {"source_id": 1, "pool": "text", "ix": 0, "content_id": body},
            {"source_id": 1, "pool": "text", "ix": 1, "content_id": other},
            {"source_id": 2, "pool": "text", "ix": 0, "content_id": other, "original_id": body},
        ),
        "blocks": table(
            "blocks",
            {"source_id": 1, "pool": "text", "ix": 0, "kind": "text", "text": f"key {AWS}"},
            {"source_id": 1, "pool": "text", "ix": 1, "kind": "text", "text": "no key"},
        ),
        "entries": table(
            "entries",
            {"source_id": 1, "seq": 0, "record_id": 11, "parent_id": None},
            {"source_id": 1, "seq": 1, "record_id": 12, "parent_id": 11},
            {"source_id": 2, "seq": 0, "record_id": 12, "parent_id": 21},
            {"source_id": 2, "seq": 1, "record_id": 22, "parent_id": 21},
        ),
    }
    done = gone_through(tables)
    keyed = KeyedDigests(KEY)
    assert column(done, "sources", "content_id") == [keyed.content_id(file), apart, keyed.content_id(file)]
    assert column(done, "pools", "content_id") == [keyed.content_id(body), other, other]
    assert column(done, "pools", "original_id") == [None, None, keyed.content_id(body)]
    first, second = keyed.number(11, "record"), keyed.number(12, "record")
    assert column(done, "entries", "record_id") == [first, second, second, 22]
    assert column(done, "entries", "parent_id") == [None, first, 21, 21]
    assert column(done, "sources", "source_id") == [1, 2, 3]


def test_nothing_is_replaced_where_nothing_was_found() -> None:
    """Clean tables come out as they went in, every digest among them, and the findings are empty."""
    tables = {
        "sources": table("sources", {"source_id": 1, "uri": "/srv/a", "content_id": "1-aaaaaaaa"}),
        "entries": table("entries", {"source_id": 1, "session_id": "mecha:1", "record_id": 11, "name": "ls"}),
    }
    done = gone_through(tables)
    assert done.tables == tables
    assert done.findings.height == 0
    assert done.findings.columns == FINDINGS.names


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_keyed_digests_keep_apart_what_is_apart(one: int, other: int) -> None:
    """Of one key equal digests are equal and others are not; a second key, or another purpose, shares nothing."""
    keyed = KeyedDigests(KEY)
    assert (keyed.number(one, "source") == keyed.number(other, "source")) == (one == other)
    assert 0 <= keyed.number(one, "source") < 2**63
    assert keyed.number(one, "source") != keyed.number(one, "record")
    assert keyed.content_id(str(one)) != KeyedDigests(b"another").content_id(str(one))


def test_a_keyed_digest_is_an_hmac() -> None:
    """Worked out with the standard library: HMAC-SHA256 of purpose and digest."""
    import hashlib
    import hmac

    told = hmac.new(KEY, b"source\x00123", hashlib.sha256).digest()
    assert KeyedDigests(KEY).number(123, "source") == int.from_bytes(told[:8], "big") >> 1
    told = hmac.new(KEY, b"content\x00abc", hashlib.sha256).hexdigest()
    assert KeyedDigests(KEY).content_id("abc") == f"redacted-{told[:32]}"


def test_only_whole_numbers_are_source_ids() -> None:
    """A source id inside a longer number is not one."""
    assert with_sources("mecha:12/3", {12: 99}) == "mecha:99/3"
    assert with_sources("mecha:123/3", {12: 99}) == "mecha:123/3"
    assert with_sources("run-12a", {}) == "run-12a"


def test_equal_texts_are_redacted_once() -> None:
    """The redactor is asked about a text once, however many rows hold it."""
    asked = []

    class Counting(StrictRedactor):
        def text(self, text: str) -> str:
            asked.append(text)
            return super().text(text)

    texts = Texts(Counting(key=KEY))
    answers = [texts.became(Treatment.TEXT, f"use {AWS}") for _ in range(3)]
    assert len(set(answers)) == len(asked) == 1
    assert answers[0].text == f"use {MARK}"


def test_counting_without_paths_counts_the_same() -> None:
    """A corpus is counted by rule alone: as many removals as where each path is told, and the same texts."""
    from sessionlab.redaction.sharing import share

    rows = [{"arguments": json.dumps({f"k{n}": {"password": f"Zq41-{n}-tulip"}, "all": [AWS]})} for n in range(9)]
    calls = table("tool_calls", *rows)
    ours = share(lambda: [("tool_calls", calls.to_reader())], key=KEY)
    theirs = gone_through({"tool_calls": calls})
    assert ours.tables == theirs.tables
    assert ours.findings.equals(theirs.findings)
