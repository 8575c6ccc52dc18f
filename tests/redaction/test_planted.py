"""The planted secrets and clean values: their number, shapes and spread, and that the sessions written hold them."""

from __future__ import annotations

import importlib
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import sessionlab
from tests.redaction.planted import (
    BY_ENTROPY,
    CLEAN_CLASSES,
    CONTEXTS,
    FORMATS,
    KINDS,
    PER_KIND,
    SCHEME_WORDS,
    Clean,
    Planted,
    clean_values,
    planted_all,
    strings,
    surviving,
    table_texts,
    write_sessions,
)
from tests.redaction.planted.contexts import QUESTION, RESULT, TITLE
from tests.redaction.planted.secrets import Secret, secret
from tests.redaction.survival import Part, destroyed, failures, measured, survivors, tables, tables_of

PLUGINS = {
    "aws": "aws.AWSKeyDetector",
    "azure_storage": "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth": "basic_auth.BasicAuthDetector",
    "discord": "discord.DiscordBotTokenDetector",
    "github": "github_token.GitHubTokenDetector",
    "gitlab": "gitlab_token.GitLabTokenDetector",
    "jwt": "jwt.JwtTokenDetector",
    "keyword": "keyword.KeywordDetector",
    "mailchimp": "mailchimp.MailchimpDetector",
    "npm": "npm.NpmDetector",
    "openai": "openai.OpenAIDetector",
    "private_key": "private_key.PrivateKeyDetector",
    "pypi": "pypi_token.PypiTokenDetector",
    "sendgrid": "sendgrid.SendGridDetector",
    "slack": "slack.SlackDetector",
    "stripe": "stripe.StripeDetector",
    "telegram": "telegram_token.TelegramBotTokenDetector",
    "twilio": "twilio.TwilioKeyDetector",
    "base64_entropy": "high_entropy_strings.Base64HighEntropyString",
    "hex_entropy": "high_entropy_strings.HexHighEntropyString",
}
GROUPED = ("github", "gitlab", "jwt")
"""Kinds whose plugin tells only a part of what it found."""
VENDORS = {
    "github_pat_": r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    "sk-ant-": r"sk-ant-api03-[A-Za-z0-9_-]{93}AA",
}
"""Shapes that vendors have published and the plugins of detect-secrets 1.5 do not know."""
GOLDEN = ["AKIAXTFGNJE2RNGF6CKR", "Ember-Tundra-5030!", "35ac20e133974c7e4fb8ef04b2b4394d460c0b680ff8"]
PLANTED = planted_all()
CLEAN = clean_values()


def line_of(one: Secret) -> str:
    """A line in which the plugin of its kind is to see the secret."""
    if one.kind == "keyword":
        return f'password = "{one.value}"'
    if one.kind == "npm":
        return f"//registry.npmjs.org/:_authToken={one.value}"
    return f'"{one.value}"' if one.kind in BY_ENTROPY else one.bearing


def test_five_hundred_of_twenty_kinds_each_once() -> None:
    """25 of each of 20 kinds, 125 in each format, no id and no value twice."""
    assert len(PLANTED) == 500
    assert Counter(one.kind for one in PLANTED) == dict.fromkeys(KINDS, PER_KIND)
    assert len(KINDS) == 20
    assert Counter(one.format for one in PLANTED) == dict.fromkeys(FORMATS, 125)
    assert len({one.id for one in PLANTED}) == 500
    assert len({one.value for one in PLANTED}) == 500


def test_no_value_is_inside_another() -> None:
    """No planted secret is part of another one, so none is counted as surviving for another's sake."""
    for one, other in itertools.permutations(PLANTED, 2):
        assert one.value not in other.value


def test_the_same_on_every_python() -> None:
    """The first of each of three kinds is what SHA-256 draws, so what is committed is what is measured."""
    assert [secret(kind, 0).value for kind in ("aws", "keyword", "hex_entropy")] == GOLDEN


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_what_its_plugin_finds(kind: str) -> None:
    """Alone in a suitable line, each secret is found by the detect-secrets plugin of its kind."""
    module, name = PLUGINS[kind].split(".")
    plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
    for i in range(PER_KIND):
        one = secret(kind, i)
        own = [shape for start, shape in VENDORS.items() if one.value.startswith(start)]
        if own:
            assert re.fullmatch(own[0], one.value)
            continue
        found = {hit.secret_value for hit in plugin.analyze_line("x.txt", line_of(one), 1)}
        if kind in GROUPED:
            assert found, line_of(one)
            assert all(hit in one.value for hit in found), (line_of(one), found)
        elif kind == "private_key":
            assert {hit.rsplit(" ", 2)[-2:] == ["PRIVATE", "KEY"] for hit in found} == {True}
        else:
            assert any(one.value in hit for hit in found), (line_of(one), found)


def test_every_kind_stands_in_every_context_meant_for_it() -> None:
    """Kinds with a shape stand in nine or ten contexts, key blocks in five; entropy kinds where no name tells."""
    spread: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for one in PLANTED:
        spread[one.kind].add(one.context)
    for kind in KINDS:
        if kind in BY_ENTROPY:
            assert spread[kind] == {"sentence", "json_in_string", "split_over_arguments", "object_key", "title"}
        elif kind == "private_key":
            assert spread[kind] == {"sentence", "json_in_string", "base64", "split_over_arguments", "assignment"}
        else:
            assert spread[kind] == set(CONTEXTS) - ({"url"} if kind == "azure_storage" else set())


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_context_stands_in_every_format(context: str) -> None:
    """Each context is met in each of the four formats."""
    assert {one.format for one in PLANTED if one.context == context} == set(FORMATS)


def test_texts_are_too_short_to_be_cut() -> None:
    """No planted part is as long as what an exporter cuts: 4,000 of a question, 500 of arguments, 300 of a result."""
    limits = {"result": RESULT, "title": TITLE, "arguments": 400, "command": 400}
    for one in PLANTED:
        assert len(str(one.content)) < limits.get(one.carrier, QUESTION), one.id


def test_every_needle_is_in_what_carries_it() -> None:
    """Each needle of each planted secret is found in its own part of a session."""
    for one in PLANTED:
        assert one.needles
        assert surviving(one.needles, strings(one.content)) == list(one.needles), one


def test_clean_values_are_distinct_and_hold_no_secret() -> None:
    """At least 5,000, none twice or inside another, and none holds a needle of a planted secret."""
    assert len(CLEAN) >= 5000
    whole = "\0".join(one.value for one in CLEAN)
    assert [one for one in CLEAN if whole.count(one.value) != 1] == []
    assert [one for one in PLANTED if any(needle in whole for needle in (one.value, *one.needles))] == []


def test_scheme_words_stand_where_they_are_said_to() -> None:
    """Only the classes named after them hold what rule 4 of section 6.3 replaces, and all of those do."""
    for one in CLEAN:
        found = re.search(r"\b(?:bearer|basic|token)\s+\S", one.value, re.IGNORECASE)
        assert bool(found) == (one.kind in SCHEME_WORDS), one


def test_sessions_hold_all_that_was_planted(tmp_path: Path) -> None:
    """Loaded again, the tables of each file hold every needle and every clean value, and nothing was a problem."""
    written = write_sessions(tmp_path, PLANTED, CLEAN)
    assert Counter(one.format for one in written).keys() == set(FORMATS)
    assert sum(len(one.planted) for one in written) == 500
    assert sum(len(one.clean) for one in written) == len(CLEAN)
    for name in FORMATS:
        mine = [one for one in written if one.format == name]
        corpus = sessionlab.load(*(one.path for one in mine), bodies=True)
        assert corpus.table("sessions").height == len(mine)
        assert set(corpus.table("sessions")["format"]) == {name}
        assert corpus.table("problems").rows() == []
        texts = table_texts(corpus)
        planted: list[Planted] = [one for file in mine for one in file.planted]
        assert [one for one in planted if surviving(one.needles, texts) != list(one.needles)] == []
        values = [one.value for file in mine for one in file.clean]
        assert surviving(values, texts) == values


def test_survivors_are_those_of_which_any_needle_is_found() -> None:
    """Half of a secret left behind counts as the secret; a text that holds none of it does not."""
    one = Planted("aws", "AKIAABCD", "sentence", "gg", "aws-99", "answer", "", ("AKIAABCD", "AKIA", "ABCD"))
    assert survivors([one], ["it is [redacted]ABCD"]) == [one]
    assert survivors([one], ["AK", "IA", "it is [redacted]"]) == []


def test_destroyed_are_those_no_text_holds_in_any_spelling() -> None:
    """A clean value counts as kept as it is, inside longer text, and as JSON or Python would quote it."""
    kept = Clean("json_snippet", '{"n": 1}')
    assert destroyed([kept], ['so {"n": 1}.']) == []
    assert destroyed([kept], [r'x{"body": "{\"n\": 1}"}']) == []
    assert destroyed([Clean("code", "f('a')")], [r"['f(\'a\')']"]) == []
    assert destroyed([kept], ['{"n": [redacted]}']) == [kept]


def test_what_fails_the_measurement() -> None:
    """A shape surviving a strict way, or one clean value in 1,000; not entropy, nor scheme words in exact rules."""
    shaped, drawn = (next(one for one in PLANTED if one.kind == kind) for kind in ("github", "hex_entropy"))
    words = [one for one in CLEAN if one.kind in SCHEME_WORDS]
    others = [one for one in CLEAN if one.kind not in SCHEME_WORDS]

    def part(survived: Planted, lost: list[Clean], *, is_strict: bool) -> Part:
        return Part(
            "it", tuple(PLANTED), (survived,), tuple(CLEAN), tuple(lost), is_strict, takes_schemes=not is_strict
        )

    assert len(failures(part(shaped, [], is_strict=True))) == 1
    assert failures(part(shaped, words, is_strict=False)) == []
    assert failures(part(drawn, others[:6], is_strict=True)) == []  # 6 of 6,350
    assert len(failures(part(drawn, others[:7], is_strict=True))) == 1
    assert failures(part(shaped, others[:5], is_strict=False)) == []  # 5 of 5,850
    assert len(failures(part(shaped, others[:6], is_strict=False))) == 1


def test_the_tables_name_every_kind_and_class(tmp_path: Path) -> None:
    """Measured with a way that hides one secret and one clean value, each table tells exactly those."""
    files = write_sessions(tmp_path, PLANTED, CLEAN[:200])
    hidden = [next(one for one in PLANTED if one.kind == "stripe" and one.format == "mecha")]

    def after(paths: Sequence[Path]) -> list[str]:
        needles = (hidden[0].value, *hidden[0].needles, CLEAN[1].value)
        return [text for text in tables_of(paths) if not any(needle in text for needle in needles)]

    part = measured("hidden", files, tables_of, after, is_strict=True)
    assert len(part.carried) == 500
    assert [one for one in part.carried if one not in part.survived] == hidden
    assert CLEAN[1] in part.destroyed
    lines = [line.split() for line in tables(part)]
    assert [line[:3] for line in lines if line[:1] == ["stripe"]] == [["stripe", "25", "24"]]
    assert {line[0] for line in lines if line} >= {*KINDS, *CLEAN_CLASSES, "all"}
