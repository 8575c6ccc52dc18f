"""Arbitrary payloads with secrets planted in them: nothing planted survives the strict rules, and they come to rest."""

from __future__ import annotations

import base64
import copy
import json
import string
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionlab.redaction import MARK, PRIVATE_RULES, StrictRedactor

_LETTERS = string.ascii_letters + string.digits
_FEW = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))

# Neither brackets nor blanks at the ends: what stands beside a mark could otherwise read as a secret again.
secrets = st.text(_LETTERS + "!#$%*+_-/=?~äß日", min_size=4, max_size=24).filter(lambda text: text not in MARK)
header_values = st.text(_LETTERS + "!#$%*+_-/=?~", min_size=8, max_size=30).filter(
    lambda text: text not in MARK and any(mark.isdigit() for mark in text)
)
shapes = st.one_of(
    st.text(_LETTERS, min_size=36, max_size=36).map("ghp_".__add__),
    st.text(string.digits + string.ascii_uppercase, min_size=16, max_size=16).map("AKIA".__add__),
    st.text(_LETTERS, min_size=40, max_size=60).map("sk-ant-".__add__),
    st.text(_LETTERS, min_size=34, max_size=34).map("hf_".__add__),
    st.text(_LETTERS, min_size=24, max_size=24).map("sk_live_".__add__),
    st.text(_LETTERS, min_size=20, max_size=20).map("glpat-".__add__),
)
# Words that bring rules about, and pieces that hostile text is made of.
pieces = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            *(
                MARK,
                "password=",
                '"token": "',
                "Bearer ",
                "token ",
                "://",
                "@",
                "Cookie: a=",
                "--token ",
                "eyJ",
                "\\",
                '"',
            ),
            *(
                "{",
                "}",
                "[",
                "]",
                "\n",
                " ",
                "-u a:",
                "%41",
                "\\u0041",
                "/home/ada/",
                "user@host.lan",
                "\ufdd0",
                "=",
                ":",
            ),
            *("-----BEGIN PRIVATE KEY-----", "https://u:p@h/", "[redacted", "redacted]", "<password>", "X-Api-Key: "),
            *("cGFzc3dvcmQ9aHVudGVyMjI=", "10.0.0.1", "'name': 'Cookie', 'value': '", "password=hunter22", "is ", ","),
        ]
    ),
)
texts = st.lists(pieces, max_size=8).map("".join)
names = st.one_of(
    st.sampled_from(
        ["name", "value", "key", "Authorization", "cookie", "token", "clientSecret", "args", "auth", "pwd"]
    ),
    texts,
)
scalars = st.one_of(texts, st.integers(-9, 9), st.booleans(), st.none(), st.floats(allow_nan=False))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=12,
)


def strings(value: object) -> list[str]:
    """Every string of a value, keys among them."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, member in value.items() for text in (key, *strings(member))]
    return [text for member in value for text in strings(member)] if isinstance(value, list) else []


def planted(draw: st.DrawFn, value: object, secret: str) -> object:
    """``value`` with ``secret`` somewhere in it: a string, a part of one, a key, encoded."""
    form = draw(
        st.sampled_from(
            [
                lambda text: text,
                lambda text: f"see {text} there",
                lambda text: json.dumps({"note": f"it is {text}"}),
                lambda text: json.dumps({"note": json.dumps([text])}),
                lambda text: "https://h/p?x=" + quote(text, safe=""),
                lambda text: base64.b64encode(f"it is {text} then".encode()).decode(),
                lambda text: text.encode().hex(),
            ]
        )
    )(secret)
    spot = draw(st.integers(0, 2))
    if spot == 0:
        return {"planted": form, "rest": value}
    if spot == 1:
        return [value, {form: value}]
    return [{"deep": [form]}, value]


def at_rest(value: object, **options: object) -> object:
    """``value`` redacted; checked that the input stays, and that a second pass changes and counts nothing."""
    before = copy.deepcopy(value)
    redactor = StrictRedactor(**options)  # type: ignore[arg-type]
    redactor.learn(value)
    became = redactor.value(value)
    assert value == before
    again = StrictRedactor(**options)  # type: ignore[arg-type]
    again.learn(became)
    assert again.value(became) == became
    assert again.counts == {}
    return became


def in_any_form(secret: str) -> list[str]:
    """The secret as it is, as JSON and URLs write it, and in hexadecimal digits."""
    return [secret, json.dumps(secret)[1:-1], quote(secret, safe=""), secret.encode().hex()]


@_FEW
@given(st.data())
def test_no_declared_secret_survives(data: st.DataObject) -> None:
    """A declared secret of 4 characters or more is nowhere in what comes out, in whatever form it was planted."""
    secret = data.draw(secrets)
    value = planted(data.draw, data.draw(values), secret)
    for text in strings(at_rest(value, declared=[secret])):
        for form in in_any_form(secret):
            assert form not in text.replace(MARK, "\0")


@_FEW
@given(st.data())
def test_no_header_value_survives(data: st.DataObject) -> None:
    """The value of a header, met as a member, a pair or a line, is nowhere in what comes out."""
    secret = data.draw(header_values)
    header = data.draw(
        st.sampled_from(
            [
                {"headers": {"Authorization": secret}},
                {"headers": [{"name": "Cookie", "value": secret}]},
                {"headers": [["X-Api-Key", secret]]},
                {"Cookie": [secret]},
                {"clientSecret": secret},
            ]
        )
    )
    value = [header, planted(data.draw, data.draw(values), secret)]
    for text in strings(at_rest(value)):
        assert secret not in text.replace(MARK, "\0")


@_FEW
@given(st.data())
def test_no_credential_shape_survives(data: st.DataObject) -> None:
    """A credential of a known shape is nowhere in what comes out."""
    secret = data.draw(shapes)
    value = planted(data.draw, data.draw(values), secret)
    for text in strings(at_rest(value)):
        for form in in_any_form(secret):
            assert form not in text


@_FEW
@given(texts)
def test_redacting_a_text_twice_changes_nothing(text: str) -> None:
    """Any text is at rest after one pass, also when the first pass learned nothing beforehand."""
    became = StrictRedactor().text(text)
    again = StrictRedactor()
    assert again.text(became) == became
    assert again.counts == {}


@_FEW
@given(values)
def test_private_rules_come_to_rest(value: object) -> None:
    """With all private rules and one key a second pass changes nothing."""
    at_rest(value, also=PRIVATE_RULES, key=b"k", users=["ada"], hosts=["host.lan"])


@_FEW
@given(values)
def test_structure_is_kept(value: object) -> None:
    """Lists keep their length, objects their number of members (but those dropped by name), others their type."""

    def same(before: object, after: object) -> None:
        if after == MARK:
            return
        if isinstance(before, dict):
            assert isinstance(after, dict)
            assert len(after) == len([key for key in before if key not in {"user", "signed", "host", "runs_on"}])
            for one, other in zip(before.values(), after.values(), strict=True):
                same(one, other)
        elif isinstance(before, list):
            assert isinstance(after, list)
            assert len(before) == len(after)
            for one, other in zip(before, after, strict=True):
                same(one, other)
        else:
            assert type(before) is type(after)

    same(value, at_rest(value))
