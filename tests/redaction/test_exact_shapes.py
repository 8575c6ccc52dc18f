"""Credential shapes and held values: section 6.4 of the specification of `datalayer-session/1`."""

from __future__ import annotations

import pytest

from sessionlab.redaction import MARK, Redactor, held_values, reads_as_secret

AWS = "AKIA" + "7B" * 8
GITHUB = "ghp_" + "a1B2" * 9
SLACK = "xoxb-" + "12345-abcD"
API = "sk-" + "aB3_-" * 4
GOOGLE = "AIza" + "Sy-_9" * 7
SIGNED = "eyJ" + "a" * 10 + ".eyJ" + "b" * 10 + "." + "c" * 10
SHAPES = {"AWS": AWS, "GitHub": GITHUB, "Slack": SLACK, "API": API[:-1] + "x", "Google": GOOGLE, "signed": SIGNED}


LAST_WORDS = ["URI", "PORT", "DIR", "USER", "TYPE", "KIND", "EXPIRY", "EXPIRES", "LENGTH", "ENABLED", "DISABLED"]
LAST_WORDS += ["HEADER", "SCOPE", "SCOPES", "ALGORITHM", "ALG"]


def redacted(text: str, *, held: tuple[str, ...] = ()) -> tuple[str, int]:
    """The text after the exact rules, and the count of `bearer_token`, the only one there may be."""
    redactor = Redactor(held=held)
    cleaned = redactor.text(text)
    assert set(redactor.counts) <= {"bearer_token"}
    return cleaned, redactor.redactions


BEGIN, END = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        pytest.param(f"a {BEGIN}\nMII\n{END} b", "a [redacted] b", 1, id="over lines to its end"),
        pytest.param(f"a {BEGIN}\nMII\nand all the rest", "a [redacted]", 1, id="to the end of the string"),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----x-----END EC PRIVATE KEY-----y", "[redacted]y", 1, id="words differ"
        ),
        pytest.param(f"{BEGIN}1{END}2{BEGIN}3{END}4", "[redacted]2[redacted]4", 2, id="nearest end"),
        pytest.param(f"{BEGIN}1{BEGIN}2{END}3", "[redacted]3", 1, id="a second start inside"),
        pytest.param(f"é{BEGIN}1{END}é", "é[redacted]é", 1, id="needs no boundary"),
        pytest.param(f"{BEGIN}-----END PUBLIC KEY-----", "[redacted]", 1, id="another end is none"),
        pytest.param(f"x-{BEGIN}{END}", "x-[redacted]", 1, id="a dash before"),
        pytest.param(f"{END} alone", f"{END} alone", 0, id="an end alone"),
        *(
            pytest.param(f"-----BEGIN {word}-----1-----END {word}-----", None, 0, id=word)
            for word in (
                *("PUBLIC KEY", "RSA PUBLIC KEY", "PGP PRIVATE KEY BLOCK", "CERTIFICATE", "rsa PRIVATE KEY"),
                *(" PRIVATE KEY", "RSA  PRIVATE KEY", "MY RSA PRIVATE KEY", "R2 PRIVATE KEY", "private key"),
            )
        ),
    ],
)
def test_private_key(text: str, expected: str | None, count: int) -> None:
    """A block to the nearest end, or to the end of the string; one upper-case word and one space may stand before."""
    assert redacted(text) == (text if expected is None else expected, count)


@pytest.mark.parametrize(
    "text",
    [
        *("AKIA" + "Z" * 16, "ASIA" + "0" * 16, AWS),
        *(f"gh{kind}_" + "a" * 36 for kind in "pousr"),
        *("ghp_" + "a" * 200, GITHUB),
        *(f"xox{kind}-" + "a" * 10 for kind in "abposr"),
        *("xoxb-" + "-" * 9 + "a", SLACK),
        *("sk-" + "a" * 20, "sk-ant-" + "a" * 20, "sk-proj-" + "_" * 20, "sk-" + "-" * 19 + "a", "sk-ant-" + "a" * 16),
        *("AIza" + "a" * 35, "AIza" + "-" * 34 + "_", GOOGLE),
        *(SIGNED, "eyJ" + "-" * 10 + ".eyJ" + "_" * 10 + "." + "-" * 9 + "a", SIGNED + "d" * 300),
    ],
)
@pytest.mark.parametrize("around", ["{}", "a {}.", "-{}@", "({})", "«{}»", "\n{}\n", "'{}'"])
def test_each_shape_between_word_boundaries(text: str, around: str) -> None:
    """Each shape at its shortest and longer, alone and between characters that are no part of a word."""
    assert redacted(around.format(text)) == (around.format(MARK), 1)


@pytest.mark.parametrize(
    "text",
    [
        *("AKIA" + "Z" * 15, "AKIA" + "Z" * 17, "AKIA" + "Z" * 15 + "z", "akia" + "z" * 16, "ABIA" + "Z" * 16),
        *("ghp_" + "a" * 35, "ghx_" + "a" * 36, "GHP_" + "a" * 36, "ghp-" + "a" * 36, "github_pat_" + "a" * 36),
        *("xoxb-" + "a" * 9, "xoxc-" + "a" * 10, "XOXB-" + "a" * 10, "xoxb_" + "a" * 10),
        *(
            "sk-" + "a" * 19,
            "sk_live_" + "a" * 24,
            "task-" + "a" * 20,
            "SK-" + "a" * 20,
            "sk-" + "a" * 9 + "." + "a" * 9,
        ),
        *("sk-ant-" + "a" * 15, "sk-" + "-" * 30),
        *("AIza" + "a" * 34, "AIza" + "a" * 36, "aiza" + "a" * 35),
        pytest.param("AIza" + "a" * 34 + "-", id="a Google key whose 35th character is a hyphen"),
        *("eyJ" + "a" * 9 + ".eyJ" + "b" * 10 + "." + "c" * 10, "eyJ" + "a" * 10 + ".eyJ" + "b" * 9 + "." + "c" * 10),
        *("eyJ" + "a" * 10 + ".eyJ" + "b" * 10 + "." + "c" * 9, "eyJ" + "a" * 10 + ".xyJ" + "b" * 10 + "." + "c" * 10),
        *("eyJ" + "a" * 10 + ".eyJ" + "b" * 10, "eyJ" + "a" * 10 + "..eyJ" + "b" * 10 + "." + "c" * 10),
    ],
)
def test_near_a_shape_is_none(text: str) -> None:
    """One character short, one too many where the length is exact, another case, another letter."""
    assert redacted(text) == (text, 0)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("word", ["a", "Z", "0", "_", "é", "٣", "中", "\U0001d7d8"])
def test_a_word_character_of_any_script_before_a_shape_prevents_it(name: str, word: str) -> None:
    """Bounded is meant in the Unicode sense: letters, digits and underscore of any script."""
    assert redacted(word + SHAPES[name]) == (word + SHAPES[name], 0)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("word", ["é", "٣", "中"])
def test_a_word_character_of_another_script_after_a_shape_prevents_it(name: str, word: str) -> None:
    """The same behind: none of these shapes has a boundary further in where it could end."""
    shape = {**SHAPES, "Slack": "xoxb-" + "a" * 12, "API": "sk-" + "a" * 22, "signed": SIGNED}[name]
    assert redacted(shape + word) == (shape + word, 0)


@pytest.mark.parametrize("name", SHAPES)
def test_an_underscore_before_a_shape_prevents_it_and_a_hyphen_does_not(name: str) -> None:
    """6.4, after the table."""
    assert redacted("x_" + SHAPES[name])[1] == 0
    assert redacted("x-" + SHAPES[name]) == (f"x-{MARK}", 1)


def test_a_shape_stops_before_a_trailing_run_of_hyphens() -> None:
    """6.4: `sk-` + 20 letters + `--` leaves the `--`; what is then too short is none."""
    assert redacted("sk-" + "a" * 20 + "--") == (f"{MARK}--", 1)
    assert redacted("sk-" + "a" * 19 + "--") == ("sk-" + "a" * 19 + "--", 0)
    assert redacted("xoxb-" + "1" * 10 + "-.") == (f"{MARK}-.", 1)
    assert redacted(SIGNED + "---") == (f"{MARK}---", 1)
    assert redacted("sk-" + "a" * 20 + "--é") == (f"{MARK}é", 1)  # here the last hyphen lies on a boundary


def test_signed_tokens_are_found_from_the_left_and_do_not_overlap() -> None:
    """Of four parts the first three go; the leftmost start is taken; a first part may hold hyphens and starts."""
    a, b, c, d = ("eyJ" + letter * 10 for letter in "abcd")
    assert redacted(f"{a}.{b}.{c}.{d}") == (f"{MARK}.{d}", 1)
    assert redacted(f"xyz.{a}.{b}.{c}") == (f"xyz.{MARK}", 1)
    assert redacted(f"eyJshort.{a}.{b}.{c}") == (f"eyJshort.{MARK}", 1)
    assert redacted(f"q-eyJ-{a}.{b}.{c}") == (f"q-{MARK}", 1)
    assert redacted(f"{a}.{b}.{c} {a}.{b}.{c}") == (f"{MARK} {MARK}", 2)
    assert redacted(f"ü{a}-{a}.{b}.{c}") == (f"ü{a}-{MARK}", 1)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_behind_a_scheme_counts_once(name: str) -> None:
    """6.4: shapes come before schemes."""
    assert redacted(f"Bearer {SHAPES[name]} x") == (f"Bearer {MARK} x", 1)


def test_a_key_in_a_urls_userinfo_counts_under_both_rules() -> None:
    """6.4: `https://sk-…@h` gives `https://h`, 1 and 1."""
    redactor = Redactor()
    assert redactor.text(f"https://sk-{'a' * 20}@h") == "https://h"
    assert redactor.counts == {"bearer_token": 1, "url_userinfo": 1}


def test_all_shapes_in_one_sentence_count_each() -> None:
    """Six of them, and a private key in front, which comes first and would take what follows it unended."""
    said = " and ".join(SHAPES.values())
    assert redacted(said) == (" and ".join([MARK] * 6), 6)
    assert redacted(f"{BEGIN}{AWS}{END} {said}") == (" ".join([MARK, " and ".join([MARK] * 6)]), 7)
    assert redacted(f"{BEGIN}{said}") == (MARK, 1)


@pytest.mark.parametrize(
    ("text", "held", "expected", "count"),
    [
        pytest.param(
            "x hold-me-now y hold-me-now", ("hold-me-now",), "x [redacted] y [redacted]", 2, id="each place counts"
        ),
        pytest.param("hold-me-now-2", ("hold-me-now", "hold-me-now-2"), "[redacted]", 1, id="longest first"),
        pytest.param("ahold-me-nowb", ("hold-me-now",), "a[redacted]b", 1, id="inside a word"),
        pytest.param("a.c abc", ("a.c",), "[redacted] abc", 1, id="its characters stand for themselves"),
        pytest.param("aaa", ("", "aa"), "[redacted]a", 1, id="an empty one is passed over, none overlap"),
        pytest.param(f"{BEGIN}hold-me-now{END}", ("hold-me-now",), MARK, 1, id="inside a private key"),
        pytest.param("token hold-me-now", ("hold-me-now",), f"token {MARK}", 1, id="before schemes"),
        pytest.param(f"{MARK} x", ("redacted",), f"[{MARK}] x", 1, id="a part of the mark"),
    ],
)
def test_held_values(text: str, held: tuple[str, ...], expected: str, count: int) -> None:
    """6.4, last paragraph, and 6.3, 3: they count under `bearer_token`, one for each place that is left."""
    assert redacted(text, held=held) == (expected, count)


@pytest.mark.parametrize(
    "name",
    [
        *("GITHUB_TOKEN", "OPENAI_API_KEY", "DB_PASSWORD", "MYAPIKEY", "USER_SECRET_4f2a", "PERSONAL_ACCESS_TOKEN"),
        *("KEY", "x-pat", "MY_JWT", "COOKIE", "authorization", "bearer.2", "CREDENTIALS_JSON", "PASSWD", "AUTHTOKEN"),
        *("CLIENTSECRET", "ROOTPASSWORD", "_KEY", "A_KEY_B", "AWS_SECRET_ACCESS_KEY", "github_token"),
    ],
)
def test_secret_names(name: str) -> None:
    """6.4 and 15, credentials: a word of the name, or its end, in any case."""
    assert reads_as_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "DATALAYER_API_KEY_URL",
            "AWS_ACCESS_KEY_ID",
            "DB_PASSWORD_USERNAME",
            "TOKEN_VALIDATE",
            "SECRET_FILE",
            "HOME",
            "PATH",
        ),
        *("", "___", "MONKEY", "TOKENS", "KEYS", "PATTERN", "JWT_TOKEN_TTL", "TOKEN_LIMIT", "COOKIE_NAME", "key_host"),
        *(f"SECRET_{word}" for word in LAST_WORDS),
    ],
)
def test_names_that_are_not_secret(name: str) -> None:
    """6.4 and 15, credentials: no such word, or a last word that says where, who, how long."""
    assert not reads_as_secret(name)


def test_held_values_of_an_environment() -> None:
    """6.4: 8 or more characters, no path, longest first; 15: a 4-letter value or a path is never withheld."""
    environ = {
        "A_TOKEN": "abcdefgh",
        "B_TOKEN": "abcdefghij",
        "C_TOKEN": "abcdefgh",
        "D_TOKEN": "abcdefg",
        "E_SECRET": "/run/secrets/e",
        "F_SECRET": "~/secret-file",
        "G_SECRET": "./secret-file",
        "H_SECRET": "../secret-file",
        "I_SECRET": "  padded-value\n",
        "J_SECRET": "   ab   ",
        "K_TOKEN_URL": "https://example.org/token",
        "L": "not-secret-at-all",
        "M_KEY": "true",
    }
    assert held_values(environ) == ["../secret-file", "padded-value", "abcdefghij", "abcdefgh"]


def test_a_held_value_and_a_github_token_in_one_sentence() -> None:
    """15, credentials: both withheld, 2."""
    held = tuple(held_values({"DB_PASSWORD": "correct-horse"}))
    assert redacted(f"use correct-horse, then {GITHUB}.", held=held) == (f"use {MARK}, then {MARK}.", 2)
