"""The text rules on one string: section 6.3 of the specification of `datalayer-session/1`, row by row."""

from __future__ import annotations

import pytest

from sessionlab.redaction import MARK, Redactor


def redacted(text: str, *, declared: tuple[str, ...] = (), held: tuple[str, ...] = ()) -> tuple[str, dict[str, int]]:
    """The text after the exact rules, and the counts."""
    redactor = Redactor(declared=declared, held=held)
    return redactor.text(text), redactor.counts


def bearer(times: int) -> dict[str, int]:
    """So many under `bearer_token`, and nothing else."""
    return {"bearer_token": times} if times else {}


def test_each_placeholder_of_the_record_becomes_the_mark_and_counts() -> None:
    """6.3, 1: and nothing of another spelling does."""
    said = "[a credential, withheld] and [a credential, withheld][A credential, withheld]"
    assert redacted(said) == (f"{MARK} and {MARK}[A credential, withheld]", bearer(2))


@pytest.mark.parametrize(
    ("text", "declared", "expected", "count"),
    [
        pytest.param(
            "pass s3cret, s3cret!", ("s3cret",), "pass [redacted], [redacted]!", 1, id="every occurrence counts once"
        ),
        pytest.param("as3cretb S3CRET", ("s3cret",), "a[redacted]b S3CRET", 1, id="inside a word, case-sensitive"),
        pytest.param("xax", ("x",), "[redacted]a[redacted]", 1, id="no minimum length"),
        pytest.param(
            "alphabet", ("alpha", "alphabet"), "[redacted]bet", 1, id="a shorter one first spoils a longer one"
        ),
        pytest.param("alphabet alpha", ("alphabet", "alpha"), "[redacted] [redacted]", 2, id="longer one first"),
        pytest.param("a b", ("", "a"), "[redacted] b", 1, id="an empty value is never looked for"),
        pytest.param("nothing", ("else",), "nothing", 0, id="none"),
        pytest.param("one two", ("two", "one"), "[redacted] [redacted]", 2, id="one for each secret"),
    ],
)
def test_declared_secret(text: str, declared: tuple[str, ...], expected: str, count: int) -> None:
    """6.3, 2."""
    assert redacted(text, declared=declared) == (expected, {"declared_secret": count} if count else {})


def test_a_declared_secret_is_not_looked_for_in_numbers_or_keys() -> None:
    """6.3, 2: only strings are searched, and a key is no value."""
    redactor = Redactor(declared=["1234"])
    assert redactor.value({"1234": 1234, "b": [12345.5, "x1234"]}) == {"1234": 1234, "b": [12345.5, "x[redacted]"]}
    assert redactor.counts == {"declared_secret": 1}


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("Bearer abc.", "Bearer [redacted]", 1),
        ('{"Authorization": "Bearer abc"}', '{"Authorization": "Bearer [redacted]', 1),
        ("sent with Basic Zm9v then token abc", "sent with Basic [redacted] then token [redacted]", 2),
        ("the token count is 5", "the token [redacted] is 5", 1),
        ("basic usage", "basic [redacted]", 1),
        ("token bearer abc", "token [redacted] abc", 1),
        ("token token token x", "token [redacted] token [redacted]", 2),
        ("my-token abc", "my-token [redacted]", 1),
        ("my_token abc", "my_token abc", 0),
        ("tokens abc", "tokens abc", 0),
        ("token: abc", "token: abc", 0),
        ("token=abc", "token=abc", 0),
        ("Bearer:abc", "Bearer:abc", 0),
        ("éBearer abc", "éBearer abc", 0),
        ("Bearer", "Bearer", 0),
        ("Bearer [redacted]", "Bearer [redacted]", 0),
        ("Bearer  [redacted]", "Bearer  [redacted]", 0),
        ("Bearer [redacted]x", "Bearer [redacted]x", 0),
        ('{"token": "abc"}', '{"token": "abc"}', 0),
        ("password=hunter2", "password=hunter2", 0),
    ],
)
def test_schemes_table(text: str, expected: str, count: int) -> None:
    """6.3, 4: the table of what follows from the rule."""
    assert redacted(text) == (expected, bearer(count))


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("BEARER abc bAsIc d Token e", "BEARER [redacted] bAsIc [redacted] Token [redacted]", 3),
        ("Bearer\nabc", "Bearer [redacted]", 1),
        ("Bearer\t \xa0\u3000abc def", "Bearer [redacted] def", 1),
        ("Bearer\x1fabc", "Bearer [redacted]", 1),
        ("Bearer\x85abc\u2028d", "Bearer [redacted]\u2028d", 1),
        ("Bearer\u200babc", "Bearer\u200babc", 0),
        ("Bearer \u200babc", "Bearer [redacted]", 1),
        ("Bearer [redacted", "Bearer [redacted]", 1),
        ("Bearer [REDACTED] token [Redacted]x", "Bearer [REDACTED] token [Redacted]x", 0),
        ("Bearer ", "Bearer ", 0),
        ("token\n\n", "token\n\n", 0),
        ("Bearer [redacted] abc", "Bearer [redacted] abc", 0),
        ("token [redacted] token abc", "token [redacted] token [redacted]", 1),
        ("\U0001d7d8token abc", "\U0001d7d8token abc", 0),
        ("٣token abc", "٣token abc", 0),
        ("«token abc»", "«token [redacted]", 1),
        ("ba\u017fic abc to\u212aen d", "ba\u017fic [redacted] to\u212aen [redacted]", 2),
        ("bas\u0130c abc bas\u0131c d", "bas\u0130c [redacted] bas\u0131c [redacted]", 2),
        ("bearerabc token", "bearerabc token", 0),
    ],
    ids=ascii,
)
def test_schemes_whitespace_case_and_boundaries(text: str, expected: str, count: int) -> None:
    """6.3, 4: one or more whitespace characters of any script become one space; words are those of any script."""
    assert redacted(text) == (expected, bearer(count))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://ada:pw@api.example/v1", "https://api.example/v1"),
        ("git+ssh://git@github.com/a/b", "git+ssh://github.com/a/b"),
        ("s3://AKIA@bucket", "s3://bucket"),
        ("https://u:p@h/?next=https://a:b@c", "https://h/?next=https://c"),
        ("https://u:p@ss@h", "https://ss@h"),
        ("https://h?m=a@b.c", "https://b.c"),
        ("HTTPS://U:P@H", "HTTPS://H"),
        ("see (x-y.z+1://u@h)", "see (x-y.z+1://h)"),
        ("https://u:@h", "https://h"),
        ("https://u:p:q@h", "https://h"),
        ("1.https://u:p@h", "1.https://h"),
        ("_x-https://u:p@h", "_x-https://h"),
        ("https://ü[]{}\\?#@h", "https://h"),
        ("\u212a://u@h", "\u212a://h"),
        ("a://u@b://c@d", "a://b://d"),
    ],
    ids=ascii,
)
def test_userinfo_goes(text: str, expected: str) -> None:
    """6.3, 5: everything between `://` and `@`, and the `@`; 1 however many URLs the string has."""
    assert redacted(text) == (expected, {"url_userinfo": 1})


@pytest.mark.parametrize(
    "text",
    [
        "https://h/x?m=a@b.c",
        "https://:p@h",
        "https://u:p/w@h",
        "//u:p@h",
        "mailto:a@b.c",
        "1https://u:p@h",
        "_https://u:p@h",
        "éhttps://u:p@h",
        "https://@h",
        "https://u p@h",
        "https://u:p\xa0@h",
        "https:/u:p@h",
        "://u:p@h",
        "+://u@h",
        "https://u:p",
    ],
    ids=ascii,
)
def test_userinfo_left(text: str) -> None:
    """6.3, 5: no scheme at a word boundary, no first part, or a character that ends it before the `@`."""
    assert redacted(text) == (text, {})


def test_rules_go_in_their_order_each_on_what_the_one_before_left() -> None:
    """6.3: a placeholder after a scheme counts once, a declared secret spoils a shape, a shape spoils a scheme."""
    assert redacted("Bearer [a credential, withheld]") == (f"Bearer {MARK}", bearer(1))
    key = "AKIA" + "B" * 16
    assert redacted(key, declared=("AKIA",)) == (f"{MARK}{'B' * 16}", {"declared_secret": 1})
    assert redacted(f"token {key} x") == (f"token {MARK} x", bearer(1))
    assert redacted("https://token abc@h") == (f"https://token {MARK}", bearer(1))


def test_a_name_in_the_head_and_an_id_are_left() -> None:
    """6: the session line is not redacted by the exact rules."""
    redactor = Redactor(declared=["abc"])
    assert redactor.title("Bearer abc") == "Bearer abc"
    assert redactor.identifier("abc") == "abc"
    redactor.learn({"token": "abc"})
    assert redactor.counts == {}
