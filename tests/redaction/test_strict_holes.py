"""Each hole of the exact rules, closed: what goes in, and what the strict rules make of it."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

from sessionlab.redaction import MARK, StrictRedactor


def after(value: object, **options: object) -> object:
    """``value`` after the strict rules, learned first; checked to be at rest."""
    redactor = StrictRedactor(**options)  # type: ignore[arg-type]
    redactor.learn(value)
    became = redactor.value(value)
    again = StrictRedactor(**options)  # type: ignore[arg-type]
    again.learn(became)
    assert again.value(became) == became
    assert again.counts == {}
    return became


TEXTS = {
    "a setting": ("password=hunter2", "password=[redacted]"),
    "JSON in a sentence": ('got {"token": "abc"} back', 'got {"token": "[redacted]"} back'),
    "JSON escaped once": (r"{\"token\": \"abc\"}", r"{\"token\": \"[redacted]\"}"),
    "JSON escaped twice": (r"{\\\"token\\\": \\\"abc\\\"}", r"{\\\"token\\\": \\\"[redacted]\\\"}"),
    "an option": ("deploy --password hunter2 now", "deploy --password [redacted] now"),
    "an option with a sign": ("deploy --api-key=q1w2e3 now", "deploy --api-key=[redacted] now"),
    "YAML": ("host: a\nPASSWORD: hunter2\n", "host: a\nPASSWORD: [redacted]\n"),
    "an exported variable": ("export GH_X_TOKEN=q1w2e3", "export GH_X_TOKEN=[redacted]"),
    "a connection string": ("Name=a;AccountKey=q1w2+e3/==;X=1", "Name=a;AccountKey=[redacted];X=1"),
    "a query": ("https://h/p?api_key=q1w2e3&page=2", "https://h/p?api_key=[redacted]&page=2"),
    "a user of curl": ("curl -u ada:pw1 https://h", "curl -u [redacted] https://h"),
    "a dict as Python shows it": ("{'token': 'abc'}", "{'token': '[redacted]'}"),
    "a list under a name": ("{'secret': ['abc', 'def']}", "{'secret': ['[redacted]', '[redacted]']}"),
    "a bearer in quotes": (
        "curl -H 'Authorization: Bearer q1' https://h",
        "curl -H 'Authorization: [redacted]' https://h",
    ),
    "a digest header": ("Authorization: Digest username=a, response=b", "Authorization: [redacted]"),
    "cookies": ("Host: h\nCookie: a=b; c=d\nAccept: x", "Host: h\nCookie: [redacted]\nAccept: x"),
    "a key header": ("X-Api-Key: abc", "X-Api-Key: [redacted]"),
    "a header pair as text": ('("Authorization", "q1w2")', '("Authorization", "[redacted]")'),
    "a pair of name and value as text": (
        "{'name': 'Cookie', 'value': 'a=b'}",
        "{'name': 'Cookie', 'value': '[redacted]'}",
    ),
    "arguments as text": ('["--token", "abc", "x"]', '["--token", "[redacted]", "x"]'),
    "an element": ("<password>hunter2</password>", "<password>[redacted]</password>"),
    "a sentence": ("the password is hunter2x.", "the password is [redacted]."),
    "an npmrc": ("//registry.npmjs.org/:_authToken=q1w2e3r4", "//registry.npmjs.org/:_authToken=[redacted]"),
    "two at signs": ("https://u:p@ss@h/x", "https://h/x"),
    "userinfo without a user": ("redis://:p@h", "redis://h"),
    "a password of sshpass": ("sshpass -p hunter2 ssh a", "sshpass -p [redacted] ssh a"),
    "a text cut short": ('{"token": "q1w2e3', '{"token": "[redacted]'),
    "JSON Lines": ('{"a": {"pwd": "q1"}}\n{"b": 1}', '{"a": {"pwd": "[redacted]"}}\n{"b": 1}'),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_holes_in_text(text: str, expected: str) -> None:
    """What section 14 of the specification lists as missed inside text is found by the strict rules."""
    assert after(text) == expected


VALUES = {
    "a header pair of name and value": (
        [{"name": "Authorization", "value": "x"}, {"Name": "accept", "Value": "y"}],
        [{"name": "Authorization", "value": MARK}, {"Name": "accept", "Value": "y"}],
    ),
    "a header pair of key and val": ({"key": "Set-Cookie", "val": "a"}, {"key": "Set-Cookie", "val": MARK}),
    "a header pair in a list": ([["Cookie", "a=b"], ["Accept", "x"]], [["Cookie", MARK], ["Accept", "x"]]),
    "a setting's name and value": ({"name": "DB_PASSWORD", "value": "x"}, {"name": "DB_PASSWORD", "value": MARK}),
    "camel case": ({"clientSecret": "a", "accessToken": "b"}, {"clientSecret": MARK, "accessToken": MARK}),
    "hyphens": ({"x-api-key": "a", "private-key": "b"}, {"x-api-key": MARK, "private-key": MARK}),
    "run together": ({"accesskey": "a", "dbpassword": "b"}, {"accesskey": MARK, "dbpassword": MARK}),
    "vendors' names": (
        {"AccountKey": "a", "SharedAccessKey": "b", "connectionString": "c", "_authToken": "d"},
        {"AccountKey": MARK, "SharedAccessKey": MARK, "connectionString": MARK, "_authToken": MARK},
    ),
    "a list under a credential's name": ({"token": ["a", {"b": "c"}]}, {"token": [MARK, {"b": MARK}]}),
    "arguments": (
        ["run", "--token", "abc", "-u", "ada:pw", "-H", "Authorization: x", "--verbose", "yes"],
        ["run", "--token", MARK, "-u", MARK, "-H", f"Authorization: {MARK}", "--verbose", "yes"],
    ),
    "a registry's login": ({"auth": base64.b64encode(b"ada:pw").decode()}, {"auth": MARK}),
    "a key": ({"Bearer q1w2e3r4": 1}, {f"Bearer {MARK}": 1}),
    "numbers that count": (
        {"maxTokens": 5, "tokens": "x", "input_tokens": 7, "token_count": 9, "clientSecretSet": True},
        {"maxTokens": 5, "tokens": "x", "input_tokens": 7, "token_count": 9, "clientSecretSet": True},
    ),
    "a schema": (
        {"accessToken": {"type": "string", "description": "who asks"}},
        {"accessToken": {"type": "string", "description": "who asks"}},
    ),
}


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_holes_in_values(value: object, expected: object) -> None:
    """Pairs, lists, names in other spellings and arguments are found; counts and schemas stay."""
    assert after(value) == expected


def test_keys_stay_distinct() -> None:
    """Two keys that hold different secrets stay two members, and one that reads as their replacement stays itself."""
    one, two = "ghp_" + "a" * 36, "ghp_" + "b" * 36
    became = after({one: 1, two: 2, MARK: 3})
    assert became == {"[redacted] 2": 1, "[redacted] 3": 2, MARK: 3}


def test_titles_are_redacted() -> None:
    """A title, which the exact rules leave, is redacted as text."""
    assert StrictRedactor().title("Deploy with password=hunter2") == "Deploy with password=[redacted]"


def test_json_within_json_within_json() -> None:
    """A secret three texts deep is found, and what stands round it is kept."""
    text = json.dumps({"a": json.dumps({"b": json.dumps({"clientSecret": 'x"y', "c": 1})})})
    became = after(text)
    assert isinstance(became, str)
    assert json.loads(json.loads(json.loads(became)["a"])["b"]) == {"clientSecret": MARK, "c": 1}


def test_json_text_keeps_its_layout() -> None:
    """Indentation and raw letters of a JSON text stay when something in it is removed."""
    text = json.dumps({"ü": [1, 2], "pwd": "q1"}, indent=2, ensure_ascii=False)
    assert after(text) == text.replace("q1", MARK)


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(b"password=hunter22").decode(),
        base64.urlsafe_b64encode(b"api_key=q1w2e3\xc3\xbf\xc3\xbe?>").decode().rstrip("="),
        base64.b64encode(base64.b64encode(b"password=hunter22")).decode(),
        base64.b64encode("password=hunter22".encode("utf-16-le")).decode(),
        b"password=hunter22".hex(),
        urllib.parse.quote("password=hunter22", safe=""),
        urllib.parse.quote('{"token": "abc"}', safe=""),
    ],
    ids=["base64", "for URLs", "twice", "of UTF-16", "hexadecimal", "percent", "percent JSON"],
)
def test_encoded_text_is_replaced_whole(written: str) -> None:
    """What decodes to text that holds a secret is a mark as a whole; what decodes to anything else stays."""
    assert after(f"see {written} there") == f"see {MARK} there"
    assert after(f"see {base64.b64encode(b'nothing to hide in this text').decode()}") == (
        "see bm90aGluZyB0byBoaWRlIGluIHRoaXMgdGV4dA=="
    )


def test_wrapped_base64_is_replaced_whole() -> None:
    """Base64 in lines of 76 characters is read as one text."""
    wrapped = base64.encodebytes(b"a line of words, " * 6 + b"password=hunter22 " + b"and more words, " * 6).decode()
    assert after(f"file:\n{wrapped}\nend") == f"file:\n{MARK}\n\nend"


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_declared_values_in_base64_at_every_alignment(shift: int) -> None:
    """A declared value within base64 of other bytes is found wherever it begins there."""
    written = base64.b64encode(b"\xff" * shift + b"Correct-Horse-9" + b"\xfe\xff").decode()
    assert after(f"data {written} end", declared=["Correct-Horse-9"]) == f"data {MARK} end"


@pytest.mark.parametrize(
    "form",
    [
        r"he said \"no\" 9",
        "he%20said%20%22no%22%209",
        b'he said "no" 9'.hex(),
        b'he said "no" 9'.hex().upper(),
    ],
)
def test_declared_values_in_other_forms(form: str) -> None:
    """A declared value is found as JSON, URLs and hexadecimal digits write it."""
    assert MARK in str(after(f"x {form} y", declared=['he said "no" 9']))
    assert form not in str(after(f"x {form} y", declared=['he said "no" 9']))


def test_the_longest_declared_value_goes_first() -> None:
    """A shorter declared value does not spoil one that contains it, whatever their order."""
    assert after("key abcdef", declared=["abc", "abcdef"]) == f"key {MARK}"


def test_learned_values_are_removed_everywhere() -> None:
    """What is known to be a password in one place is removed from sentences, keys and other texts too."""
    value = {"env": {"DB_PASSWORD": "correct horse 9"}, "log": "tried correct horse 9!", "correct horse 9": 1}
    assert after(value) == {"env": {"DB_PASSWORD": MARK}, "log": f"tried {MARK}!", MARK: 1}


def test_common_words_are_not_learned() -> None:
    """A type or placeholder under a credential's name says nothing about the same word elsewhere."""
    value = [{"password": "undefined"}, {"password": "<your-password>"}, "it was undefined: <your-password>"]
    assert after(value)[-1] == "it was undefined: <your-password>"  # type: ignore[index]


def test_identifiers_become_pseudonyms_that_join() -> None:
    """An id that holds a secret becomes the same pseudonym each time under one key, another under another."""
    one = StrictRedactor(key=b"k", declared=["s3cr3t"])
    same = StrictRedactor(key=b"k", declared=["s3cr3t"])
    other = StrictRedactor(key=b"l", declared=["s3cr3t"])
    assert one.identifier("run-s3cr3t") == same.identifier("run-s3cr3t") != other.identifier("run-s3cr3t")
    assert one.identifier("run-7") == "run-7"
    assert one.identifier(one.identifier("run-s3cr3t")) == one.identifier("run-s3cr3t")
    assert one.identifier("run-s3cr3t").startswith("redacted-")


def test_the_input_is_left_as_it_is() -> None:
    """Learning and redacting change nothing in the value given."""
    value = {"token": ["abc"], "headers": [["Cookie", "a=b"]]}
    before = json.dumps(value)
    after(value)
    assert json.dumps(value) == before


def test_findings_say_rule_and_place_and_no_value() -> None:
    """A finding names the rule and the path, never what was removed."""
    redactor = StrictRedactor()
    redactor.place = "line 3"
    redactor.value({"a": [{"clientSecret": "hunter22"}], "b": "password=hunter22"})
    assert [tuple(finding) for finding in redactor.findings] == [
        ("credential_key", "line 3.a[0].clientSecret", 1),
        ("assignment", "line 3.b", 1),
    ]


def test_deep_values_do_not_overflow() -> None:
    """A value nested 5,000 levels deep is redacted to its end."""
    value: object = "password=hunter2"
    for _ in range(5000):
        value = [value]
    became = StrictRedactor().value(value)
    for _ in range(5000):
        assert isinstance(became, list)
        became = became[0]
    assert became == "password=[redacted]"


SCHEMES = {
    "the token count is 5": "the token [redacted] is 5",
    "basic usage": "basic [redacted]",
    "token (optional), now": "token ([redacted]), now",
    'say "token walrus" twice': 'say "token [redacted]" twice',
    "token walrus": "token [redacted]",
    "token )": "token )",
}


@pytest.mark.parametrize(("text", "expected"), SCHEMES.items(), ids=SCHEMES)
def test_what_follows_a_scheme_goes_as_by_the_exact_rule_unless_prose_is_kept(text: str, expected: str) -> None:
    """Rule 6.3.4 takes words too, so the strict rules do; quotes and brackets round what goes are left."""
    assert StrictRedactor().text(text) == expected
    assert StrictRedactor(keeps_prose=True).text(text) == text


def test_a_token_glued_behind_bot_in_a_url() -> None:
    """The path of a bot's address is the one place where a token stands behind letters."""
    token = "ghp_" + "aB3" * 12
    assert after(f"GET https://api.example/bot{token}/getMe") == "GET https://api.example/bot[redacted]/getMe"
    assert after("https://h.example/bottleneck-analysis-2024-q3") == "https://h.example/bottleneck-analysis-2024-q3"


def test_half_a_credential_at_the_end_of_a_title() -> None:
    """A title that was cut inside a credential ends in its beginning: it is known from where it stands whole."""
    redactor = StrictRedactor()
    redactor.learn("Push with glpat-Zx81Yw72Xv63Ut54Ts45 now")
    assert redactor.title("Push with glpat-Zx81Yw7") == "Push with [redacted]"
    assert redactor.title("Push with glpat") == "Push with glpat"


def test_a_pass_phrase_of_joined_words_and_a_number() -> None:
    """Behind a password's name and a colon it is no variable."""
    assert after("log in with password: cobalt_lagoon_6800 today") == "log in with password: [redacted] today"
    assert after("def f(password: str_or_none): ...") == "def f(password: str_or_none): ..."
