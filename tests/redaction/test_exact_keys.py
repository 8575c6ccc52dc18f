"""What a member's key brings about: sections 6.1 and 6.2 of the specification of `datalayer-session/1`."""

from __future__ import annotations

import pytest

from sessionlab.redaction import MARK, Redactor


def redacted(value: object) -> tuple[object, dict[str, int]]:
    """The value after the exact rules, and the counts."""
    redactor = Redactor()
    return redactor.value(value), redactor.counts


HEADERS = [
    "authorization",
    "Authorization",
    "AUTHORIZATION",
    "proxy-authorization",
    "Proxy-Authorization",
    "proxy_authorization",
    "cookie",
    "Cookie",
    "set-cookie",
    "Set-Cookie",
]


@pytest.mark.parametrize("key", HEADERS)
@pytest.mark.parametrize(
    "value", ["x", " ", 5, 0, 0.0, True, False, [], ["a=b"], {}, {"user": "ada"}, ("a",), "Bearer [redacted]"], ids=repr
)
def test_a_header_key_replaces_its_value_of_whatever_type(key: str, value: object) -> None:
    """6.1, 1: the whole value, of whatever type, becomes the mark and counts once; nothing inside is looked at."""
    assert redacted({key: value}) == ({key: MARK}, {"authorization_header": 1})


@pytest.mark.parametrize("key", [*HEADERS, "token", "client_secret"])
@pytest.mark.parametrize("value", [None, "", MARK], ids=repr)
def test_null_empty_and_redacted_stay_under_any_key(key: str, value: object) -> None:
    """6.1, 1 and 2: these three are left, and not counted."""
    assert redacted({key: value}) == ({key: value}, {})


@pytest.mark.parametrize(
    "key", ["authorisation", "authorizations", "set_cookie", "cookies", "x-authorization", "cookie\n"]
)
def test_what_only_resembles_a_header_key_is_none(key: str) -> None:
    """6.1, 1: the five names alone."""
    assert redacted({key: "abc"}) == ({key: "abc"}, {})


def test_a_header_in_a_pair_is_not_seen() -> None:
    """14, 9: `{"name": …, "value": …}` and `["Cookie", …]` are left by the exact rules."""
    pairs = {"headers": [{"name": "Authorization", "value": "abc"}, ["Cookie", "a=b"]]}
    assert redacted(pairs) == (pairs, {})


MATCHES = (
    "token APIKEY client_secret refresh_token csrf-token db.password x_api_key aws_secret_access_key cost_per_token"
)
WORDS = (
    "password passwd passphrase secret token api_key apikey access_key secret_key private_key credential credentials"
)


@pytest.mark.parametrize("key", [*MATCHES.split(), "_token", "apiKey", "ApiKey", "x-apikey", *WORDS.split()])
def test_credential_key(key: str) -> None:
    """6.2, match: a scalar under it is replaced and counts under `bearer_token`."""
    assert redacted({key: "abc"}) == ({key: MARK}, {"bearer_token": 1})


LEFT = "tokens max_tokens token_count key keys auth pass pwd jwt passwords secret_name secretvalue x_token_"
HYPHENATED = "api-key x-api-key access-key private-key secret-key"
RUN_TOGETHER = "accesskey privatekey"
CAMEL = "clientSecret accessToken refreshToken accessKey"


@pytest.mark.parametrize(
    "key", [*LEFT.split(), "token ", *HYPHENATED.split(), *RUN_TOGETHER.split(), *CAMEL.split(), ""]
)
def test_no_credential_key(key: str) -> None:
    """6.2, no match: what stands under it is left."""
    assert redacted({key: "abc"}) == ({key: "abc"}, {})


def test_one_newline_at_the_end_of_a_key_is_ignored_and_two_are_not() -> None:
    """6.2: `token` and a newline is a credential key, and keeps its newline."""
    assert redacted({"token\n": "abc"}) == ({"token\n": MARK}, {"bearer_token": 1})
    assert redacted({"token\n\n": "abc"}) == ({"token\n\n": "abc"}, {})
    assert redacted({"token\r": "abc"}) == ({"token\r": "abc"}, {})


@pytest.mark.parametrize(("key", "matches"), [("a\n_token", False), ("a\nb-token", False), ("a\r_token", True)])
def test_a_newline_before_the_separator_prevents_a_match(key: str, *, matches: bool) -> None:
    """6.2: a newline does, and no other line end."""
    assert redacted({key: "abc"})[0] == {key: MARK if matches else "abc"}


@pytest.mark.parametrize(
    "key", ["to\u212aen", "pa\u017f\u017fword", "credent\u0130al", "credent\u0131al", "coo\u212aie"]
)
def test_any_case_takes_the_four_letters_that_python_does(key: str) -> None:
    """6.2: a Kelvin sign is a k, a long s an s, an i an i with and without its dot."""
    assert redacted({key: 1})[0] == {key: MARK}


@pytest.mark.parametrize("value", ["Bearer abc", "[a credential, withheld]", " ", 0, 7, 0.5, True, False], ids=repr)
def test_a_scalar_under_a_credential_key_is_replaced(value: object) -> None:
    """6.1, 2: numbers and booleans too, 0 and false included; a string counts once whatever it holds."""
    assert redacted({"token": value}) == ({"token": MARK}, {"bearer_token": 1})


def test_a_list_or_object_under_a_credential_key_is_walked() -> None:
    """6.1, 2: it is not replaced, and its items are reached under no key."""
    value = {
        "credentials": {"id": "a", "secret": "b"},
        "token": ["abc", 5, ("Bearer abc",)],
        "secret": [],
        "api_key": {},
    }
    expected = {
        "credentials": {"id": "a", "secret": MARK},
        "token": ["abc", 5, [f"Bearer {MARK}"]],
        "secret": [],
        "api_key": {},
    }
    assert redacted(value) == (expected, {"bearer_token": 2})


@pytest.mark.parametrize("value", ["ada", None, {}, {"token": "x"}, [1], 0], ids=repr)
@pytest.mark.parametrize("key", ["signed", "user"])
def test_signed_and_user_are_dropped_whatever_their_value(key: str, value: object) -> None:
    """6.1, 4: null included; 1 under `signed_user`."""
    assert redacted({"a": 1, key: value, "b": 2}) == ({"a": 1, "b": 2}, {"signed_user": 1})


@pytest.mark.parametrize("key", ["runs_on", "host", "sandbox_host", "runtime_uid"])
def test_where_a_runtime_is_is_dropped_and_not_counted(key: str) -> None:
    """6.1, 4 and 6.6: noted under `runtime_address`, and not among the redactions."""
    redactor = Redactor()
    assert redactor.value({key: {"kind": "none"}, "a": [{key: None}]}) == {"a": [{}]}
    assert redactor.counts == {"runtime_address": 2}
    assert redactor.redactions == 0


@pytest.mark.parametrize("key", ["User", "SIGNED", "users", "Host", "hostname", "runs-on", "user\n"])
def test_dropped_keys_are_exact(key: str) -> None:
    """6.1, 4: case-sensitive, the whole key."""
    assert redacted({key: "abc"}) == ({key: "abc"}, {})


def test_dropping_happens_at_every_depth_and_inside_lists() -> None:
    """6.1, 4: also where the key means something else (14, 11)."""
    value = {"a": [{"b": {"user": 1, "c": ({"host": 2, "d": 3},)}}]}
    assert redacted(value) == ({"a": [{"b": {"c": [{"d": 3}]}}]}, {"signed_user": 1, "runtime_address": 1})


def test_a_header_whose_value_has_a_user_counts_once_under_the_header() -> None:
    """6.1, last paragraph."""
    assert redacted({"Cookie": {"user": "ada", "host": "h"}}) == ({"Cookie": MARK}, {"authorization_header": 1})


def test_keys_are_made_strings_and_are_not_redacted() -> None:
    """6, 6.1: a key that is no string becomes one, and then follows the rules; a credential in a key stays."""
    key = "AKIA" + "B" * 16
    assert redacted({2: "a", None: "b", True: "c", key: "d"}) == ({"2": "a", "None": "b", "True": "c", key: "d"}, {})
