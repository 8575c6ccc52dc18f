"""gg content addresses (specification, section 3): vectors, float layout, verification of what is stored."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionlab.formats.gg.addresses import canonical_json, fingerprint_exact, fingerprint_json, parse_json, verify
from sessionlab.tables import Problem
from tests.formats.gg_examples import HEADER, end, journal, message, of, read


def _image(data: str) -> dict[str, Any]:
    return {"mediaType": "image/png", "dataBase64": data, "bytes": 3}


@pytest.mark.parametrize(
    ("data", "address"),
    [
        (b"abc", "ba7816bf8f01cfea414140de5dae2223"),
        (b"", "e3b0c44298fc1c149afbf4c8996fb924"),
        (b"ok\n", "dc51b8c96c2d745df3bd5590d990230a"),
        (b"nope\n", "29872037c9573567744ef10ed2de5786"),
    ],
)
def test_exact_addresses(data: bytes, address: str) -> None:
    """Section 3.8, exact bytes; R17: 32 digits."""
    assert fingerprint_exact(data) == address
    assert len(address) == 32


@pytest.mark.parametrize(
    ("value", "canonical", "address"),
    [
        ({}, "{}", "44136fa355b3678a1146ad16f7e8649e"),
        ([], "[]", "4f53cda18c2baa0c0354bb5f9a3ecbe5"),
        ({"b": 2, "a": 1}, '{"a":1,"b":2}', "43258cff783fe7036d8a43033f830adf"),
        ({"Z": 1, "a": 2, "é": 3, "_": 4}, '{"Z":1,"_":4,"a":2,"é":3}', "49d0c2ea12b9c45d34f6facf96b2c87e"),
        (
            {"role": "user", "content": "build it"},
            '{"content":"build it","role":"user"}',
            "6afe456ba54b94fc66331cc5fd285585",
        ),
        (
            {"role": "system", "content": "you are gg"},
            '{"content":"you are gg","role":"system"}',
            "fdc6eac1863f89f7133301ec40380688",
        ),
        ([{"name": "shell"}], '[{"name":"shell"}]', "ebc66a408a30eeaa12a650a48b6c8f68"),
        (
            {"role": "user", "content": [_image("QUJD")]},
            '{"content":[{"bytes":3,"dataBase64":"QUJD","mediaType":"image/png"}],"role":"user"}',
            "d1d1f1085887323d5664f90539e9269c",
        ),
        ({"role": "user", "content": [_image("WFla")]}, None, "3e041859619054e50603fbe1b12cf6b9"),
        ({"role": "user", "content": "look", "images": [_image("QUJD")]}, None, "c1c9d780fd358fb45845682c2279a0dc"),
        ({"role": "user", "content": "look", "images": [_image("WFla")]}, None, "6356a9fc86c53a2e42a1d1f0a19a3a70"),
    ],
)
def test_json_addresses(value: object, canonical: str | None, address: str) -> None:
    """Section 3.8, canonical JSON; R18: the order of keys does not matter."""
    if canonical is not None:
        assert canonical_json(value).decode() == canonical
    assert fingerprint_json(value) == address


def test_numbers_keep_their_kind() -> None:
    """The last vector of section 3.8: integers, floats and the ends of their ranges."""
    text = (
        b'{"x":[1,1.0,-0.0,1e21,1e16,1e15,1e-5,1.5e-7,123456.789,18446744073709551615,-9223372036854775808,true,null]}'
    )
    canonical = (
        '{"x":[1,1.0,-0.0,1e+21,1e+16,1000000000000000.0,0.00001,1.5e-7,123456.789,'
        "18446744073709551615,-9223372036854775808,true,null]}"
    )
    assert canonical_json(parse_json(text)).decode() == canonical
    assert fingerprint_json(parse_json(text)) == "dc94183d71b4d63ad55c2e732d8f301c"


@pytest.mark.parametrize(
    ("value", "layout"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (50.0, "50.0"),
        (123456.789, "123456.789"),
        (0.00001, "0.00001"),
        (0.000012, "0.000012"),
        (-0.000012, "-0.000012"),
        (1e-6, "1e-6"),
        (1.5e-7, "1.5e-7"),
        (-2.5e-9, "-2.5e-9"),
        (1e-10, "1e-10"),
        (1e16, "1e+16"),
        (1.2345678901234568e17, "1.2345678901234568e+17"),
        (5e-324, "5e-324"),
    ],
)
def test_float_layout(value: float, layout: str) -> None:
    """Section 3.3, every case of the table."""
    assert canonical_json(value).decode() == layout


def test_older_builds_leave_out_the_plus() -> None:
    """Section 3.3: older builds write a large exponent without its sign."""
    assert canonical_json([1e16, 1e-7], plus=False) == b"[1e16,1e-7]"


def test_odd_integers_are_floats() -> None:
    """Section 0.3: minus zero, and integers past 64 bits, are floats inside free-form values."""
    assert canonical_json(parse_json(b"[-0,18446744073709551616]")) == b"[-0.0,1.8446744073709552e+19]"


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=300, deadline=None)
def test_any_float_reads_back(value: float) -> None:
    """Whatever the layout, the digits are the shortest that give the same float."""
    written = canonical_json(value).decode()
    assert float(written) == value
    assert _digits(written) == _digits(repr(value))


def _digits(number: str) -> str:
    """The significant digits of a written number."""
    return number.partition("e")[0].replace(".", "").strip("-0")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
@settings(max_examples=200, deadline=None)
def test_any_string_is_written_as_json_does(value: str) -> None:
    """Section 3.2: only quotes, backslashes and control characters are escaped."""
    assert canonical_json(value).decode() == json.dumps(value, ensure_ascii=False)


def test_stored_bodies_are_checked() -> None:
    """Section 3.4: an id is the address of its body, in either exponent spelling; a lost image leaves it open."""
    assert verify(b'{"a":1,"b":2}', "43258cff783fe7036d8a43033f830adf", images=True) == "match"
    assert verify(b'{ "b": 2, "a": 1 }', "43258cff783fe7036d8a43033f830adf", images=True) == "match"
    old = hashlib.sha256(b"[1e16]").hexdigest()[:32]
    assert verify(b"[1e16]", old, images=True) == "match"
    assert verify(b"[ 1e+16 ]", old, images=True) == "match"
    assert verify(b'{"a":1,"b":3}', "43258cff783fe7036d8a43033f830adf", images=True) == "mismatch"
    reduced = b'{"content":"look","images":[{"bytes":3,"mediaType":"image/png"}],"role":"user"}'
    assert verify(reduced, "c1c9d780fd358fb45845682c2279a0dc", images=True) == "unverifiable"
    assert verify(reduced, "c1c9d780fd358fb45845682c2279a0dc", images=False) == "mismatch"


@pytest.mark.parametrize("bodies", [True, False])
def test_a_wrong_id_is_noted_where_bodies_are_read(bodies: bool) -> None:
    """An id that is not the address of its body is a note, and costs no hashing in a reading without bodies."""
    wrong = message(0, "one")
    wrong["message"]["body"]["content"] = "two"
    rows = read(journal(HEADER, wrong, end(0)), bodies=bodies)
    assert [p.kind for p in of(rows, Problem)] == (["address_mismatch"] if bodies else [])


@pytest.mark.parametrize("address", ["ABC", "g" * 32, "0" * 31, "0" * 33, "A" * 32])
def test_an_id_is_32_lowercase_hex_digits(address: str) -> None:
    """Section 5.2: an id of another spelling is a note."""
    odd = message(0)
    odd["message"]["id"] = address
    (problem,) = of(read(journal(HEADER, odd, end(0))), Problem)
    assert (problem.kind, problem.severity, problem.line) == ("malformed_address", "note", 2)


def test_an_id_stands_once_in_its_pool() -> None:
    """Section 5.2: interning makes ids unique; a repeat is a note."""
    rows = read(journal(HEADER, message(0), message(1), end(0)))
    assert [(p.kind, p.line) for p in of(rows, Problem)] == [("repeated_id", 3)]
