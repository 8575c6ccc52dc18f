"""Texts made to be slow: each is answered in one pass, where a search from every start would take minutes."""

from __future__ import annotations

import pytest

from sessionlab.redaction import MARK, Redactor
from sessionlab.redaction.credential_names import is_credential_key

TAIL = "b" * 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a" * 1_000_000, None, id="one long word"),
        pytest.param("://" * 300_000, None, id="ends of schemes"),
        pytest.param("-----BEGIN " * 90_000, None, id="starts of blocks"),
        pytest.param("-----BEGIN A" * 80_000, None, id="starts of blocks with a word"),
        pytest.param("-----BEGIN PRIVATE KEY-----" + "-----END A" * 90_000, MARK, id="a block without an end"),
        pytest.param("sk-" * 300_000, f"{MARK}-", id="starts of API keys"),
        pytest.param("sk-" + "-" * 1_000_000, None, id="an API key of hyphens"),
        pytest.param("xoxb-" * 200_000, f"{MARK}-", id="starts of Slack tokens"),
        pytest.param("ghp_" * 250_000, None, id="starts of GitHub tokens"),
        pytest.param("AIza" * 250_000, None, id="starts of Google keys"),
        pytest.param("AKIA" * 250_000, None, id="starts of AWS keys"),
        pytest.param("eyJ-" * 250_000, None, id="starts of signed tokens"),
        pytest.param("eyJ-" * 250_000 + ".eyJ" + TAIL, None, id="a signed token without its last part"),
        pytest.param("eyJ-" * 250_000 + f".eyJ{TAIL}.{TAIL}", MARK, id="a signed token with a long first part"),
        pytest.param("ü" + "eyJ_" * 250_000 + f".eyJ{TAIL}.{TAIL}", None, id="the same behind a letter"),
        pytest.param(".eyJ" * 250_000, None, id="parts that are too short"),
        pytest.param(("_eyJ" + TAIL + ".") * 60_000, None, id="first parts that do not begin at a boundary"),
        pytest.param("token " * 200_000, f"token {MARK} " * 100_000, id="schemes"),
        pytest.param("token" + " " * 1_000_000, None, id="a scheme and nothing"),
        pytest.param("a." * 500_000 + "@", None, id="starts of URLs"),
        pytest.param("a." * 500_000 + "://u@h", "a." * 500_000 + "://h", id="a URL with a long scheme"),
        pytest.param("1." * 500_000 + "://u@h", None, id="a scheme without a letter"),
        pytest.param("x://u:" * 160_000 + "@", "x://u:" * 159_999 + "x://", id="userinfo that is none"),
        pytest.param("@x://" + "u" * 1_000_000, None, id="userinfo without an end"),
        pytest.param("@x://u:" + ":" * 1_000_000, None, id="a password without an end"),
    ],
)
def test_hostile_text(text: str, expected: str | None) -> None:
    """A megabyte each; what becomes of it can be said without running it."""
    assert Redactor().text(text) == (text if expected is None else expected)


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("_" * 1_000_000, id="separators"),
        pytest.param("token" * 200_000, id="words"),
        pytest.param("token_" * 160_000, id="words and separators"),
        pytest.param("." + "\n" * 1_000_000 + "_token", id="newlines"),
    ],
)
def test_hostile_key(key: str) -> None:
    """None of these ends in a credential word right behind a separator on its own line."""
    assert not is_credential_key(key)
