"""The walk over JSON values, counting, places, and redacting twice: sections 6.1, 6.6, 6.7, 15."""

from __future__ import annotations

import copy
import json

import pytest

from sessionlab.redaction import MARK, RULES, Finding, Redactor

BEARER = "Bearer eyJhbGciOi.xyz"


def redacted(value: object, *, declared: tuple[str, ...] = ()) -> tuple[object, dict[str, int]]:
    """The value after the exact rules, and the counts."""
    redactor = Redactor(declared=declared)
    return redactor.value(value), redactor.counts


def test_the_rule_ids_in_their_order() -> None:
    """1: six of them."""
    assert (
        ", ".join(RULES)
        == "authorization_header, bearer_token, declared_secret, url_userinfo, signed_user, runtime_address"
    )


@pytest.mark.parametrize("value", [None, True, 0, 1.5, 10**40, float("inf"), "text", "", [], {}, [[]], [{}], {"a": []}])
def test_what_has_nothing_to_remove_stays(value: object) -> None:
    """6.1, 6: numbers, booleans and null unchanged, and what holds no more than these."""
    assert redacted(value) == (value, {})


def test_tuples_become_lists_at_every_depth() -> None:
    """6.1, 5."""
    assert redacted(({"a": (1, (BEARER,))}, ())) == ([{"a": [1, [f"Bearer {MARK}"]]}, []], {"bearer_token": 1})


def test_members_keep_their_order() -> None:
    """6.1, 4: for each member in order."""
    value = {"z": 1, "user": 2, "token": 3, "a": {"c": 4, "b": 5}}
    assert json.dumps(redacted(value)[0]) == '{"z": 1, "token": "[redacted]", "a": {"c": 4, "b": 5}}'


def test_the_value_given_is_left_as_it_is_and_shares_nothing_with_the_result() -> None:
    """A new value comes out; changing it changes nothing of what went in."""
    value = {"a": [{"token": "x", "user": 1}, ["y"]], "b": {"c": (1,)}}
    before = copy.deepcopy(value)
    result = Redactor().value(value)
    assert value == before
    assert isinstance(result, dict)
    result["a"][1].append("more")
    result["b"]["c"].append(2)
    assert value == before


@pytest.mark.parametrize("levels", [2000, 20_000])
def test_deep_nesting_overflows_nothing(levels: int) -> None:
    """2,000 levels and more, of objects and lists by turns, with something to remove at the bottom and on the way."""
    value: object = {"token": "x", "note": "Bearer abc"}
    for level in range(levels):
        value = [value] if level % 2 else {"a": value, "user": "ada"}
    redactor = Redactor()
    inner = redactor.value(value)
    assert redactor.counts == {"signed_user": levels // 2, "bearer_token": 2}
    for level in reversed(range(levels)):
        if level % 2:
            assert isinstance(inner, list)
            [inner] = inner
        else:
            assert isinstance(inner, dict)
            assert list(inner) == ["a"]
            inner = inner["a"]
    assert inner == {"token": MARK, "note": f"Bearer {MARK}"}


def test_the_place_of_a_deep_finding_leaves_its_middle_out() -> None:
    """Twenty steps from either end are shown."""
    value: object = "Bearer abc"
    for _ in range(2000):
        value = [value]
    redactor = Redactor()
    redactor.value(value)
    assert redactor.findings == [Finding("bearer_token", "[0]" * 20 + "…" + "[0]" * 20, 1)]


def test_findings_say_rule_place_and_count() -> None:
    """The place set by the caller, then the path: plain keys behind dots, others and positions in brackets."""
    redactor = Redactor(declared=["quux"])
    redactor.place = "line 3"
    redactor.value(
        {
            "headers": [{"Cookie": 1}, {"x-y": {"": "quux token abc Basic def"}}],
            "user": 1,
            "é_1": ["a", "b", {"host": 1}],
        }
    )
    redactor.place = "line 4"
    redactor.text("https://u:p@h token quux")
    redactor.text("token x")
    assert redactor.findings == [
        Finding("authorization_header", "line 3.headers[0].Cookie", 1),
        Finding("declared_secret", 'line 3.headers[1]["x-y"][""]', 1),
        Finding("bearer_token", 'line 3.headers[1]["x-y"][""]', 2),
        Finding("signed_user", "line 3.user", 1),
        Finding("runtime_address", "line 3.é_1[2].host", 1),
        Finding("declared_secret", "line 4", 1),
        Finding("url_userinfo", "line 4", 1),
        Finding("bearer_token", "line 4", 1),
    ]
    assert redactor.redactions == 8


def test_a_place_shows_no_credential_that_is_a_key() -> None:
    """The exact rules leave keys as they are in the value; a finding never repeats one, nor a whole book."""
    redactor = Redactor(declared=["quux"])
    redactor.value({"AKIA" + "B" * 16: {"a quux": {"k" * 5000: {"user": 1}}}})
    assert redactor.findings == [Finding("signed_user", f'["{MARK}"]["a {MARK}"]["{"k" * 60}…"].user', 1)]
    assert redactor.counts == {"signed_user": 1}


def test_places_after_a_dropped_member_and_after_an_inner_value() -> None:
    """The path goes back where an inner object or list ends."""
    redactor = Redactor()
    redactor.value({"a": {"b": {}}, "user": 1, "c": [[], [1], {"signed": 1}, "Bearer abc"], "token": 5})
    assert [finding.place for finding in redactor.findings] == [".user", ".c[2].signed", ".c[3]", ".token"]


def test_one_redactor_sums_over_many_values() -> None:
    """6.6: `redactions` is all hits of all rules but `runtime_address`."""
    redactor = Redactor(declared=["quux"])
    for value in ({"Cookie": "a"}, {"token": "b"}, "quux", "https://u@h", {"user": 1}, {"runs_on": 1}):
        redactor.value(value)
        redactor.value(value)
    assert redactor.counts == dict.fromkeys(RULES, 2)
    assert redactor.redactions == 10


def test_a_clean_session_exports_with_0_although_runs_on_is_dropped() -> None:
    """6.6."""
    opening = {"app": {"id": "a", "version": 1}, "state": "open", "runs_on": {"kind": "none"}, "title": "t"}
    redactor = Redactor()
    assert redactor.value(opening) == {"app": {"id": "a", "version": 1}, "state": "open", "title": "t"}
    assert redactor.redactions == 0


def test_redacted_values_are_not_counted_again_and_the_records_placeholders_are() -> None:
    """6.6, last sentence."""
    value = {"Cookie": MARK, "token": MARK, "a": f"Bearer {MARK}", "b": "[a credential, withheld]"}
    assert redacted(value) == ({**value, "b": MARK}, {"bearer_token": 1})


def test_twice_a_userinfo_with_two_ats_loses_one_each_time() -> None:
    """6.7, first exception."""
    assert redacted("https://u:p@ss@h") == ("https://ss@h", {"url_userinfo": 1})
    assert redacted("https://ss@h") == ("https://h", {"url_userinfo": 1})


def test_twice_a_declared_secret_that_is_a_part_of_the_mark_is_found_in_it() -> None:
    """6.7, second exception."""
    assert redacted("act", declared=("act",)) == (MARK, {"declared_secret": 1})
    assert redacted(MARK, declared=("act",)) == (f"[red{MARK}ed]", {"declared_secret": 1})


def test_twice_bearer_redacted_under_a_credential_key_becomes_the_mark() -> None:
    """6.7, third exception: 1 more."""
    assert redacted({"a": "Bearer abc"})[0] == {"a": f"Bearer {MARK}"}
    assert redacted({"token": f"Bearer {MARK}"}) == ({"token": MARK}, {"bearer_token": 1})


def test_format_five_entries() -> None:
    """15, the format: two headers, userinfo, secret and signed are 5; the runtime is not counted."""
    entries: list[object] = [
        {"app": {"id": "a"}, "runs_on": {"kind": "sandbox", "uid": "r1"}, "signed": {"user": "ada"}, "state": "open"},
        {"asked": "one", "answered": "two"},
        {
            "tool": "fetch",
            "arguments": {
                "headers": {"Authorization": "Bearer abc", "Cookie": "sid=1"},
                "url": "https://ada:pw@api.example/v1",
                "secret": "s3cr3t-value",
            },
        },
        {"asked": "three", "answered": "four"},
    ]
    redactor = Redactor(declared=["s3cr3t-value"])
    opening, first, call, second = [redactor.value(entry) for entry in entries]
    assert opening == {"app": {"id": "a"}, "state": "open"}
    assert (first, second) == (entries[1], entries[3])
    assert call == {
        "tool": "fetch",
        "arguments": {
            "headers": {"Authorization": MARK, "Cookie": MARK},
            "url": "https://api.example/v1",
            "secret": MARK,
        },
    }
    assert redactor.redactions == 5


def test_format_one_object_counts_one_header_one_declared_secret_one_userinfo() -> None:
    """15, the format: the scheme rule adds nothing, the value being redacted already."""
    value = {"Authorization": "x", "note": "token s3cr3t-value here", "url": "https://u:p@h/x"}
    expected = {"Authorization": MARK, "note": f"token {MARK} here", "url": "https://h/x"}
    counts = {"authorization_header": 1, "declared_secret": 1, "url_userinfo": 1}
    assert redacted(value, declared=("s3cr3t-value",)) == (expected, counts)


def test_format_arguments_count_five_under_bearer_token() -> None:
    """15, the format: a password and an already redacted bearer beside them; `tokens` and `key` untouched.

    The five are `token`, `client_secret`, `password` and the two of the note.
    """
    value = {
        "arguments": {
            "token": BEARER,
            "tokens": 120,
            "key": "a.py",
            "note": "sent with Basic Zm9v then token abc",
            "client_secret": "shh",
        },
        "password": "hunter2",
        "seen": f"Bearer {MARK}",
    }
    expected = {
        "arguments": {
            "token": MARK,
            "tokens": 120,
            "key": "a.py",
            "note": f"sent with Basic {MARK} then token {MARK}",
            "client_secret": MARK,
        },
        "password": MARK,
        "seen": f"Bearer {MARK}",
    }
    assert redacted(value) == (expected, {"bearer_token": 5})


def test_format_a_bearer_in_the_arguments_of_a_call() -> None:
    """15, the format: `arguments` is exactly `{token: "[redacted]"}`; signed and token are 2."""
    redactor = Redactor()
    entries = [
        redactor.value(entry)
        for entry in ({"signed": "ada", "state": "open"}, {"asked": "q"}, {"tool": "t", "arguments": {"token": BEARER}})
    ]
    assert entries == [{"state": "open"}, {"asked": "q"}, {"tool": "t", "arguments": {"token": MARK}}]
    assert redactor.redactions == 2


def test_end_to_end_a_call_with_a_bearer_header_and_a_note_with_a_declared_secret() -> None:
    """15, clone, export, import, third: the header redacted, the value nowhere; a file entry exactly as it is."""
    file = {"name": "a.csv", "type": "text/csv", "size": 3, "digest": "sha256:" + "0" * 64, "path": "files/a.csv"}
    call = {"tool": "t", "headers": {"Authorization": BEARER}, "note": "use s3cr3t-value, then as3cr3t-valueb"}
    redactor = Redactor(declared=["s3cr3t-value"])
    result = [redactor.value(call), redactor.value(file)]
    assert "s3cr3t-value" not in json.dumps(result)
    assert BEARER not in json.dumps(result)
    assert result[1] == file
    assert redactor.counts == {"authorization_header": 1, "declared_secret": 1}
