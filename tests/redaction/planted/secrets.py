"""A kind and a number in, an invented secret of that kind out: 20 kinds, after the plugins of detect-secrets."""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.redaction.planted.drawing import ALNUM, BASE32, BASE64, DIGITS, HEX, LOWER, UPPER, URLSAFE, Drawing

PER_KIND = 25


@dataclass(frozen=True, slots=True)
class Secret:
    """An invented secret.

    Attributes:
        kind: one of `KINDS`.
        value: the secret itself.
        bearing: what stands in running text: the value, or the least around it by which it can be known.
        name: what it is called where it is given a name.
        is_named: it has no shape of its own: only a name beside it (or ``bearing``) tells.
        in_sight: its bearing is part of what surrounds it (a URL, a connection string) wherever it stands.
    """

    kind: str
    value: str
    bearing: str
    name: str
    is_named: bool = False
    in_sight: bool = False


def _aws(i: int, draw: Drawing) -> Secret:
    if i % 5 == 4:
        value = draw.text(BASE64, 40)
        return Secret("aws", value, f"aws_secret_access_key = '{value}'", "AWS_SECRET_ACCESS_KEY", is_named=True)
    value = ("AKIA", "ASIA", "ABIA", "ACCA")[i % 5] + draw.text(BASE32, 16)
    return Secret("aws", value, value, "AWS_ACCESS_KEY_ID")


def _azure_storage(_: int, draw: Drawing) -> Secret:
    value = base64.b64encode(draw.octets(64)).decode()
    around = f"DefaultEndpointsProtocol=https;AccountName={draw.one(_PLACES)};AccountKey={value}"
    return Secret("azure_storage", value, around, "AZURE_STORAGE_CONNECTION_STRING", in_sight=True)


def _basic_auth(i: int, draw: Drawing) -> Secret:
    scheme = ("https", "postgres", "redis", "amqps", "mongodb+srv", "git+https", "http", "mysql")[i % 8]
    value = draw.text(ALNUM + "._~-", draw.between(11, 19)) + draw.one(ALNUM)
    url = f"{scheme}://{draw.one(_PEOPLE)}:{value}@{draw.one(_PLACES)}.example/{draw.one(_PLACES)}"
    return Secret("basic_auth", value, url, "DATABASE_URL", in_sight=True)


def _discord(_: int, draw: Drawing) -> Secret:
    value = f"{draw.one('MNO')}{draw.text(URLSAFE, draw.between(23, 25))}.{draw.text(URLSAFE, 6)}."
    value += draw.text(URLSAFE, 27)
    return Secret("discord", value, value, "DISCORD_BOT_TOKEN")


def _github(i: int, draw: Drawing) -> Secret:
    if i % 5 == 4:
        value = f"github_pat_{draw.text(ALNUM, 22)}_{draw.text(ALNUM, 59)}"
    else:
        value = f"gh{draw.one('pousr')}_{draw.text(ALNUM, 36)}"
    return Secret("github", value, value, "GITHUB_TOKEN")


def _gitlab(i: int, draw: Drawing) -> Secret:
    value = (
        lambda: "glpat-" + draw.text(URLSAFE, 20),
        lambda: "gldt-" + draw.text(URLSAFE, 20),
        lambda: "glrt-" + draw.text(URLSAFE, 20),
        lambda: "glptt-" + draw.text(HEX, 40),
        lambda: "gloas-" + draw.text(HEX, 64),
        lambda: "GR1348941" + draw.text(URLSAFE, 20),
        lambda: f"glcbt-{draw.text(HEX, 2)}_{draw.text(URLSAFE, 20)}",
        lambda: "glimt-" + draw.text(LOWER + DIGITS, 25),
        lambda: "glagent-" + draw.text(URLSAFE, 50),
        lambda: "glsoat-" + draw.text(URLSAFE, 20),
        lambda: "glft-" + draw.text(URLSAFE, 20),
    )[i % 11]()
    return Secret("gitlab", value, value, "GITLAB_TOKEN")


def _jwt(_: int, draw: Drawing) -> Secret:
    head = {"alg": draw.one(("HS256", "RS256", "ES256")), "typ": "JWT"}
    body = {"sub": draw.text(DIGITS, 8), "name": draw.one(_PEOPLE), "exp": 1_800_000_000 + draw.below(10**7)}
    parts = [json.dumps(part, separators=(",", ":")).encode() for part in (head, body)]
    value = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (*parts, draw.octets(32)))
    return Secret("jwt", value, value, "ID_TOKEN")


def _keyword(i: int, draw: Drawing) -> Secret:
    words = draw.words(3)
    number = draw.between(1000, 9999)
    value = (
        f"{words[0].title()}-{words[1].title()}-{number}!",
        f"{words[0]}{number}{words[1].title()}#",
        f"{words[0]}_{words[1]}_{words[2]}_{number}",
        f"{words[0].upper()}{number}{words[1]}{words[2]}",
        f"{words[0]} {words[1]} {number} {words[2]}",
    )[i % 5]
    name = ("password", "DB_PASSWORD", "client_secret", "admin_passwd", "passphrase", "api_key", "auth_key", "pwd")
    if i % 5 == 4:  # the words of a pass phrase stand apart
        return Secret("keyword", value, f'passphrase: "{value}"', "passphrase", is_named=True)
    told = ("password: {}", "passphrase is {}", "client_secret={}", 'api_key = "{}"')[i // 5 % 4]
    return Secret("keyword", value, told.format(value), name[i % 8], is_named=True)


def _mailchimp(_: int, draw: Drawing) -> Secret:
    value = f"{draw.text(HEX, 32)}-us{draw.between(1, 21)}"
    return Secret("mailchimp", value, value, "MAILCHIMP_API_KEY")


def _npm(i: int, draw: Drawing) -> Secret:
    if i % 5 == 4:
        text = draw.text(HEX, 32)
        value = f"{text[:8]}-{text[8:12]}-4{text[13:16]}-9{text[17:20]}-{text[20:]}"
        return Secret("npm", value, f"//registry.npmjs.org/:_authToken={value}", "_authToken", in_sight=True)
    value = "npm_" + draw.text(ALNUM, 36)
    return Secret("npm", value, value, "NPM_TOKEN")


def _openai(i: int, draw: Drawing) -> Secret:
    if i % 5 == 4:
        value = f"sk-ant-api03-{draw.text(URLSAFE, 93)}AA"
        return Secret("openai", value, value, "ANTHROPIC_API_KEY")
    value = f"{('sk-', 'sk-proj-', 'sk-svcacct-')[i % 3]}{draw.text(ALNUM, 20)}T3BlbkFJ{draw.text(ALNUM, 20)}"
    return Secret("openai", value, value, "OPENAI_API_KEY")


def _private_key(i: int, draw: Drawing) -> Secret:
    word = ("RSA ", "EC ", "OPENSSH ", "")[i % 4]
    lines = [draw.text(BASE64, 64), draw.text(BASE64, 31) + "="]
    value = "\n".join((f"-----BEGIN {word}PRIVATE KEY-----", *lines, f"-----END {word}PRIVATE KEY-----"))
    return Secret("private_key", value, value, "DEPLOY_KEY")


def _pypi(i: int, draw: Drawing) -> Secret:
    start = "pypi-AgENdGVzdC5weXBpLm9yZw" if i % 5 == 4 else "pypi-AgEIcHlwaS5vcmc"
    value = start + draw.text(URLSAFE, draw.between(70, 90))
    return Secret("pypi", value, value, "TWINE_PASSWORD")


def _sendgrid(_: int, draw: Drawing) -> Secret:
    value = f"SG.{draw.text(URLSAFE, 22)}.{draw.text(URLSAFE, 43)}"
    return Secret("sendgrid", value, value, "SENDGRID_API_KEY")


def _slack(i: int, draw: Drawing) -> Secret:
    if i % 5 == 4:
        path = f"T{draw.text(UPPER + DIGITS, 8)}/B{draw.text(UPPER + DIGITS, 9)}/{draw.text(ALNUM, 24)}"
        value = f"https://hooks.slack.com/services/{path}"
        return Secret("slack", value, value, "SLACK_WEBHOOK_URL")
    numbers = "-".join(draw.text(DIGITS, 12) for _ in range(1 + i % 2))
    value = f"xox{'bpars'[i % 5]}-{numbers}-{draw.text(LOWER + DIGITS, 24)}"
    return Secret("slack", value, value, "SLACK_BOT_TOKEN")


def _stripe(i: int, draw: Drawing) -> Secret:
    value = f"{'sr'[i % 3 == 2]}k_live_{draw.text(ALNUM, 24)}"
    return Secret("stripe", value, value, "STRIPE_API_KEY")


def _telegram(_: int, draw: Drawing) -> Secret:
    value = f"{draw.between(1, 9)}{draw.text(DIGITS, draw.between(7, 9))}:AA{draw.text(URLSAFE, 33)}"
    return Secret("telegram", value, value, "TELEGRAM_BOT_TOKEN")


def _twilio(i: int, draw: Drawing) -> Secret:
    value = ("SK", "AC")[i % 3 == 2] + draw.text(HEX, 32)
    return Secret("twilio", value, value, "TWILIO_AUTH_TOKEN")


def _base64_entropy(i: int, draw: Drawing) -> Secret:
    value = ""
    while _entropy(value) <= 4.5:  # the limit of detect-secrets for this alphabet
        value = base64.b64encode(draw.octets((33, 36, 39, 45)[i % 4])).decode()
    return Secret("base64_entropy", value, value, "")


def _hex_entropy(i: int, draw: Drawing) -> Secret:
    value = ""
    while _entropy(value) <= 3.0:
        value = draw.text(HEX, (44, 48, 52, 56)[i % 4])  # no digest has these lengths, bar SHA-224
    return Secret("hex_entropy", value, value, "")


def _entropy(text: str) -> float:
    """Shannon entropy, bits per character; 0 for the empty text."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


_PLACES = ("north", "berth", "charts", "tides", "quay", "locks", "pilots", "moor")
_PEOPLE = ("pilot", "deploy", "reader", "writer", "tally", "batch")
_MAKERS: dict[str, Callable[[int, Drawing], Secret]] = {
    "aws": _aws,
    "azure_storage": _azure_storage,
    "basic_auth": _basic_auth,
    "discord": _discord,
    "github": _github,
    "gitlab": _gitlab,
    "jwt": _jwt,
    "keyword": _keyword,
    "mailchimp": _mailchimp,
    "npm": _npm,
    "openai": _openai,
    "private_key": _private_key,
    "pypi": _pypi,
    "sendgrid": _sendgrid,
    "slack": _slack,
    "stripe": _stripe,
    "telegram": _telegram,
    "twilio": _twilio,
    "base64_entropy": _base64_entropy,
    "hex_entropy": _hex_entropy,
}
KINDS = tuple(_MAKERS)
BY_ENTROPY = ("base64_entropy", "hex_entropy")
"""The kinds that have neither shape nor name: they are reported, no more."""


def secret(kind: str, i: int) -> Secret:
    """Secret number ``i`` of a kind."""
    return _MAKERS[kind](i, Drawing(f"planted/{kind}/{i}"))
