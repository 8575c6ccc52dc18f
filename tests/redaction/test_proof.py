"""The proof: what our rules and detect-secrets still find in a corpus, by column, and never the value."""

from __future__ import annotations

import base64
import builtins
import json
from typing import TYPE_CHECKING, Any

import pytest

import sessionlab as sl
from sessionlab.redaction import proof as room
from sessionlab.redaction.proof import NOT_INSTALLED, OURS, THEIRS, WITHOUT_SHAPE, prove
from tests.conftest import NOW, SAMPLES
from tests.redaction.test_tables import AWS, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

pytest.importorskip("detect_secrets")

LETTERS = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
KINDS = {
    "ArtifactoryDetector": f"AKC{LETTERS[:12]} ",
    "AWSKeyDetector": AWS,
    "AzureStorageKeyDetector": f"AccountKey={'Ab3' * 28}Ab==",
    "BasicAuthDetector": "https://ada:Zq41-tulip@example.org/x",
    "GitHubTokenDetector": f"ghp_{'Ab3' * 12}",
    "GitLabTokenDetector": f"glpat-{LETTERS[:20]}",
    "JwtTokenDetector": ".".join(
        base64.urlsafe_b64encode(part).rstrip(b"=").decode()
        for part in (b'{"alg":"HS256"}', b'{"sub":"12345"}', b"z" * 24)
    ),
    "KeywordDetector": 'db_password = "Zq41-tulip-vK9"',
    "MailchimpDetector": f"{HEX}-us4",
    "NpmDetector": "//registry.npmjs.org/:_authToken=npm_abcdefAB12",
    "OpenAIDetector": f"sk-{LETTERS[:20]}T3BlbkFJ{LETTERS[:20]}",
    "PrivateKeyDetector": "-----BEGIN RSA PRIVATE KEY-----",
    "SendGridDetector": f"SG.{LETTERS[:22]}.{(LETTERS * 2)[:43]}",
    "SlackDetector": "xoxb-123456789012-123456789012-AbCdEfGhIjKl",
    "StripeDetector": f"sk_live_{LETTERS[:24]}",
    "TwilioKeyDetector": f"SK{HEX}",
}
"""A text of each plugin's own kind, made of letters and digits in rows."""


def held(*tables: tuple[str, pa.Table]) -> Any:
    """Tables as a corpus hands them over."""

    def anew() -> Iterable[tuple[str, pa.RecordBatchReader]]:
        return [(name, one.to_reader()) for name, one in tables]

    return anew


def said(*texts: str) -> Any:
    """Texts of one session's messages."""
    return held(("blocks", table("blocks", *({"kind": "text", "text": text, "source_id": 1} for text in texts))))


@pytest.mark.parametrize("plugin", KINDS)
def test_detect_secrets_is_asked_with_every_plugin(plugin: str) -> None:
    """A secret of the plugin's kind in a sentence is found by it, whatever our own rules say."""
    found = prove(said(f"first line\nset it: {KINDS[plugin]}\nlast line")).found
    theirs = found.filter(found["scanner"] == THEIRS)
    assert plugin in set(theirs["rule"])
    assert set(theirs.select("table", "column").rows()) == {("blocks", "text")}


def test_a_comment_does_not_make_it_look_away() -> None:
    """detect-secrets obeys `pragma: allowlist secret` in files; in somebody's session it is a text like any other."""
    found = prove(said(f"key {AWS}  # pragma: allowlist secret")).found
    assert "AWSKeyDetector" in set(found["rule"])


def test_nothing_is_sent_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """detect-secrets can ask a provider whether a secret is alive: it is not let."""
    import requests

    def refused(*_: object, **__: object) -> None:
        pytest.fail("a secret was sent to be verified")

    monkeypatch.setattr(requests.Session, "request", refused)
    text = f"aws_access_key_id={AWS} aws_secret_access_key = '{(LETTERS * 2)[:40]}' {KINDS['SlackDetector']}"
    assert prove(said(text)).left > 0


def test_its_settings_are_put_back() -> None:
    """The settings of detect-secrets are those of the process: whoever set them finds them again."""
    from detect_secrets.settings import get_settings, transient_settings

    with transient_settings({"plugins_used": [{"name": "AWSKeyDetector"}]}):
        prove(said(AWS))
        assert list(get_settings().plugins) == ["AWSKeyDetector"]


def test_marks_and_pseudonyms_are_no_secrets() -> None:
    """What stands where a secret was is not found again."""
    assert prove(said('password = "[redacted]"', "Authorization: Bearer [redacted]", "by user-0a1b2c3d4e5f")).ok
    named = prove(said('api_key = "redacted-0a1b2c3d4e5f"', json.dumps({"secret": "user-0a1b2c3d4e5f"}))).found
    assert THEIRS not in set(named["scanner"])


def test_what_has_no_shape_decides_nothing() -> None:
    """Random strings and public addresses are reported apart: hashes and ids look like that."""
    found = prove(said('hash "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"', "from 93.184.216.34 on"))
    assert found.ok
    assert (found.left, found.without_shape) == (0, 2)
    assert set(found.found["rule"]) <= WITHOUT_SHAPE
    assert not any(found.found["has_shape"])


def test_it_counts_rows_and_never_tells_the_value() -> None:
    """One text in three rows and another in one: four places; neither frame nor sentence holds a secret."""
    found = prove(said(*[f"use {AWS}"] * 3, f"or {AWS}"))
    by_scanner = {scanner: count for scanner, _, _, _, count, _ in found.found.rows()}
    assert by_scanner == {OURS: 4, THEIRS: 4}
    assert found.left == 8
    assert not found.ok
    assert AWS not in f"{found}{found!r}{found.found.to_dicts()}"
    assert "AWSKeyDetector in blocks.text" in str(found)


@pytest.mark.parametrize(
    ("name", "of"), [("entries", "kind"), ("pools", "content_id"), ("sources", "uri"), ("configs", "tools_hash")]
)
def test_no_column_is_passed_over(name: str, of: str) -> None:
    """Words of closed lists and digests are not redacted; they are scanned all the same."""
    found = prove(held((name, table(name, {of: AWS}))))
    assert {(scanner, table_, column) for scanner, _, table_, column, _, _ in found.found.rows()} == {
        (OURS, name, of),
        (THEIRS, name, of),
    }


def test_strings_in_json_are_scanned_as_what_they_say() -> None:
    """An escape right before a key hides its beginning from who reads the raw text only."""
    arguments = json.dumps({"text": f"first\n{AWS}"})
    assert f"n{AWS}" in arguments
    found = prove(held(("tool_calls", table("tool_calls", {"arguments": arguments})))).found
    assert "AWSKeyDetector" in set(found["rule"])


@pytest.mark.parametrize("at", [0, 3_000, 4_090, 4_096, 5_000, 9_990])
def test_a_long_line_is_scanned_whole(at: int) -> None:
    """Wherever a key stands in a line of ten thousand characters, at an end of a piece or past it."""
    line = " ".join(["word"] * 2_000)
    found = prove(said(f"{line[:at]} {AWS} {line[at:]}")).found
    assert found.filter(found["rule"] == "AWSKeyDetector")["count"].to_list() == [1]


def test_declared_values_are_looked_for() -> None:
    """A value that looks like nothing is left where it was declared and still stands."""
    assert prove(said("the tulip opens")).ok
    found = prove(said("the tulip opens"), declared=["tulip"])
    assert [row[:2] for row in found.found.rows()] == [(OURS, "declared_secret")]
    assert prove(said("the tulip opens"), declared={"FLOWER": "tulip"}).left == 1
    with pytest.raises(sl.WrongUse, match="found one string"):
        prove(said("the tulip opens"), declared="tulip")


def test_without_detect_secrets_it_is_half_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is not there: our own rules are asked, the proof says what is missing and does not hold."""
    real = builtins.__import__

    def gone(name: str, *rest: Any) -> Any:
        if name.startswith("detect_secrets"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", gone)
    found = prove(said("nothing to see"))
    assert (found.ok, found.left, found.missing) == (False, 0, NOT_INSTALLED)
    assert "not installed: pip install 'sessionlab[share]'" in str(found)


def test_the_samples_are_clean_and_a_redacted_corpus_is_proved() -> None:
    """Before: a planted password is named, in which column; afterwards both scanners find nothing that has a shape."""
    clean = sl.load(SAMPLES / "mecha", now=NOW, progress=False)
    assert clean.proof().ok
    word = max(clean.table("sessions")["title"].drop_nulls()[0].split(), key=len)
    assert not clean.proof(secrets=[word]).ok
    done = clean.redacted(secrets=[word])
    proof = done.proof(secrets=[word])
    assert proof.ok
    assert proof.found.columns == ["scanner", "rule", "table", "column", "count", "has_shape"]
    assert proof.sentences()[0] == f"{proof.characters:,} characters were scanned again."


def test_equal_lines_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that stands in a thousand texts costs one question."""
    asked: list[str] = []
    real = room._Scanner._asked
    monkeypatch.setattr(room._Scanner, "_asked", lambda self, line: asked.append(line) or real(self, line))
    prove(said(*(f"{n}\nthe same line" for n in range(1_000))))
    assert asked == ["the same line"]
