"""Long hostile texts: they come to an answer, which a search that reads its text again and again would not."""

from __future__ import annotations

import random
import string

import pytest

from sessionlab.redaction import PRIVATE_RULES, StrictRedactor

_LENGTH = 60_000
_PARTS = {
    **{
        part: part for part in ("a", "=", "password=", "eyJ", "-eyJ", "eyJ=", "{", "[", "a.", "://", "a://a@", "token ")
    },
    **{
        part: part
        for part in ("token=a(", 'token="', "cookie: ", "--token ", "%41", "\\", '\\"', '"', " ", "@", "a@a.")
    },
    **{
        part: part
        for part in ("-", "-----BEGIN PRIVATE KEY-----", "/home/", "xoxb-", "AKC", "12345678:", "key ", "fe80:")
    },
    "base64": "".join(random.Random(1).choice(string.ascii_letters + "+/") for _ in range(_LENGTH)),
    "quotes of all kinds": "token=f\"{ token=f'{ token=f`{ ",
    "one escape after another": "\\u0070",
}


@pytest.mark.parametrize("part", _PARTS.values(), ids=_PARTS)
def test_hostile_text_comes_to_rest(part: str) -> None:
    """60,000 characters of one part are redacted, and then stay."""
    text = (part * (_LENGTH // len(part) + 1))[:_LENGTH]
    options = {"also": PRIVATE_RULES, "key": b"k"}
    became = StrictRedactor(**options).text(text)  # type: ignore[arg-type]
    again = StrictRedactor(**options)  # type: ignore[arg-type]
    assert again.text(became) == became
    assert again.counts == {}


def test_a_secret_behind_base64_in_base64_is_bounded() -> None:
    """Text encoded twelve times over is looked into to a bound, and stays text."""
    import base64

    text = "password=hunter22"
    for _ in range(12):
        text = base64.b64encode(text.encode()).decode()
    assert StrictRedactor().text(text) == text
