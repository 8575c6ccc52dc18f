"""A text goes in; where credentials of many services stand in it comes out, by shapes section 6.4 does not list.

Every pattern is bounded on both sides and begins at characters that the text is searched for first, so that a search
stays linear and no hash, uuid or record id is taken for a credential.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sessionlab.redaction.shapes import Shape, Span

_BEFORE: Final = r"(?<![A-Za-z0-9])"
_AFTER: Final = r"(?![A-Za-z0-9])"
_NEAR: Final = 80  # characters in which a name stands before the key it names


def _by(pattern: str, flags: int = 0) -> Callable[[str], Iterator[Span]]:
    compiled = re.compile(pattern, flags)

    def spans(text: str) -> Iterator[Span]:
        return (found.span() for found in compiled.finditer(text))

    return spans


def _prefixed(name: str, body: str, *prefixes: str) -> Shape:
    """A shape that begins with one of ``prefixes``, literally, and goes on as ``body``."""
    rest = re.compile(body + _AFTER)

    def spans(text: str) -> Iterator[Span]:
        for prefix in prefixes:
            at = text.find(prefix)
            while at >= 0:
                end = at + len(prefix)
                found = rest.match(text, end)
                if found is not None and not _is_within_word(text, at):
                    end = found.end()
                    yield at, end
                at = text.find(prefix, end)

    return Shape(name, prefixes, spans)


def _is_within_word(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return before.isascii() and before.isalnum()


def _telegram(text: str) -> Iterator[Span]:
    for found in _BOT.finditer(text):
        before = text[max(0, found.start() - 3) : found.start()]
        if before == "bot" or not before or not (before[-1].isalnum() or before[-1] in "_:.-"):
            yield found.span()


def _azure(text: str) -> Iterator[Span]:
    at = text.find("==", _ACCOUNT_KEY)
    while at >= 0:
        start = at - _ACCOUNT_KEY
        before = text[max(0, start - 7) : start]
        is_key = _STANDARD.fullmatch(text, start, at) and not text.startswith("=", at + 2)
        if is_key and not _STANDARD.fullmatch(before[-1:]) and not before.endswith(("-", "sha512:")):
            yield start, at + 2
        at = text.find("==", at + 2)


def _mailchimp(text: str) -> Iterator[Span]:
    for found in _DATA_CENTRE.finditer(text):
        start = found.start() - _MAILCHIMP
        if start >= 0 and _SMALL.fullmatch(text, start, found.start()) and not _is_within_word(text, start):
            yield start, found.end()


_DATA_CENTRE: Final = re.compile(rf"-us[0-9]{{1,2}}{_AFTER}")
_MAILCHIMP: Final = 32  # characters of a key before its data centre
_SMALL: Final = re.compile(r"[0-9a-z]+")
_BOT: Final = re.compile(r"\d{8,10}:[0-9A-Za-z_-]{35}(?![\w-])", re.ASCII)
_ACCOUNT_KEY: Final = 86  # characters of an account key before its padding
_STANDARD: Final = re.compile(r"[A-Za-z0-9+/]+")
_FORTY: Final = re.compile(r"(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9+/=_-])")
_NAMED: Final = re.compile(r"aws|secret|access.?key", re.IGNORECASE)


def aws_secrets(text: str, words: Sequence[str]) -> Iterator[Span]:
    """Forty characters of base64 close behind a name; not the hexadecimal digits of a hash.

    ``words`` are the long words of ``text``.
    """
    for word in dict.fromkeys(words):
        for key in _FORTY.findall(word) if len(word) >= 40 else ():  # noqa: PLR2004 - the length of such a key
            if not key.islower() and not key.isupper() and any(mark.isdigit() for mark in key):
                at = text.find(key)
                while at >= 0:
                    if _NAMED.search(text, max(0, at - _NEAR), at):
                        yield at, at + len(key)
                    at = text.find(key, at + len(key))


FURTHER_SHAPES: Final = (
    Shape(
        "private key block",
        ("PRIVATE KEY", "PuTTY-User-Key-File"),
        _by(
            r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
            r".*?(?:-{4,5} ?END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)"
            r"|PuTTY-User-Key-File-\d.*?(?:Private-MAC: ?\w+|\Z)",
            re.DOTALL,
        ),
    ),
    Shape(
        "token without a signature",
        ("eyJ",),
        _by(r"(?<![\w-])eyJ[\w-]{10,}+={0,2}\.(?:eyJ[\w-]{8,}+|[\w-]{20,}+)={0,2}(?:\.[\w+/-]*+={0,2})?", re.ASCII),
    ),
    Shape(
        "AWS key id",
        ("A3T", "ABIA", "ACCA", "AKIA", "ASIA"),
        _by(rf"{_BEFORE}(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{{16}}{_AFTER}"),
    ),
    Shape(
        "Artifactory credential",
        ("AKC", "AP"),
        _by(
            r"A(?:KC|P[0-9A-F])(?<![\w+/.-]...)(?:(?<=[0-9])|(?=[A-Za-z]*+[0-9]))[A-Za-z0-9]{8,}+(?![\w+/=-])", re.ASCII
        ),
    ),
    Shape("Azure account key", ("==",), _azure),
    Shape(
        "Discord token", (".",), _by(r"[MNO](?<![\w.-].)[A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])", re.ASCII)
    ),
    Shape(
        "webhook",
        ("hooks.slack.com", "/api/webhooks/", "webhook.office.com", "api.softlayer.com"),
        _by(
            r"https?://(?:hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]+"
            r"|(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]+"
            r"|[\w-]+\.webhook\.office\.com/[\w/@-]+|api\.softlayer\.com/soap/v3(?:\.1)?/[a-z0-9]{64})",
            re.IGNORECASE | re.ASCII,
        ),
    ),
    _prefixed("GitHub token", r"[A-Za-z0-9_]{36,255}+", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _prefixed("GitHub fine-grained token", r"[A-Za-z0-9_]{22,255}+", "github_pat_"),
    _prefixed(
        "GitLab token",
        r"[A-Za-z0-9_.-]{20,1030}+",
        *(
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "glcbt-",
            "glimt-",
            "glptt-",
            "glagent-",
            "gloas-",
            "glffct-",
        ),
        *("GR1348941",),
    ),
    Shape("Mailchimp key", ("-us",), _mailchimp),
    _prefixed("npm token", r"[A-Za-z0-9]{36,}+", "npm_"),
    _prefixed("PyPI token", r"[A-Za-z0-9_-]{50,}+", "pypi-Ag"),
    Shape("SendGrid key", ("SG.",), _by(rf"{_BEFORE}SG\.[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{32,64}}{_AFTER}")),
    Shape(
        "Slack token",
        ("xox", "XOX", "xapp-"),
        _by(rf"(?<![A-Za-z0-9-])(?:xox[a-z]|XOX[A-Z])-[A-Za-z0-9-]{{10,}}+|{_BEFORE}xapp-\d-[A-Za-z0-9-]{{10,255}}+"),
    ),
    _prefixed("Square secret", r"[0-9A-Za-z\\_-]{22,64}+", "sq0csp-", "sq0atp-", "sq0idp-"),
    _prefixed("Square token", r"[0-9A-Za-z_-]{60}", "EAAA"),
    _prefixed("Stripe key", r"[0-9A-Za-z]{16,255}+", "sk_live_", "rk_live_", "sk_test_", "rk_test_"),
    _prefixed("Stripe webhook secret", r"[0-9A-Za-z+/]{24,255}+", "whsec_"),
    Shape("Telegram token", (":",), _telegram),
    _prefixed("Twilio key", r"[a-z0-9]{32}", "AC", "SK"),
    _prefixed("Hugging Face token", r"[A-Za-z0-9]{30,}+", "hf_", "api_org_"),
    _prefixed("DigitalOcean token", r"[a-f0-9]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    _prefixed("Google token", r"[A-Za-z0-9_-]{20,}+(?:\.[A-Za-z0-9_-]+)*", "ya29.", "GOCSPX-"),
    _prefixed("Google refresh token", r"[A-Za-z0-9_-]{30,}+", "1//0"),
    _prefixed("Vault token", r"[A-Za-z0-9_-]{20,}+", "hvs.", "hvb.", "dp.pt.", "dp.st."),
    _prefixed("Databricks token", r"[a-f0-9]{32}(?:-\d)?", "dapi"),
    _prefixed("Shopify token", r"[A-Fa-f0-9]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _prefixed("Atlassian token", r"[A-Za-z0-9_=-]{50,}+", "ATATT3", "ATCTT3", "ATBB"),
    _prefixed("Grafana token", r"[A-Za-z0-9_]{32,}+", "glsa_", "glc_"),
    _prefixed("age key", r"[A-Z0-9]{58}", "AGE-SECRET-KEY-1"),
    _prefixed(
        "model service key", r"[A-Za-z0-9_-]{32,}+", "gsk_", "xai-", "pplx-", "r8_", "lin_api_", "figd_", "tskey-"
    ),
    _prefixed("Notion token", r"[A-Za-z0-9]{40,}+", "ntn_", "secret_"),
    _prefixed("service key", r"[A-Za-z0-9-]{27,}+", "NRAK-", "PMAK-", "HRKU-"),
    _prefixed("Supabase token", r"[a-f0-9]{40}", "sbp_"),
    _prefixed(
        "service token",
        r"[A-Za-z0-9_-]{20,}+={0,2}",
        *("nfp_", "vercel_blob_rw_", "pscale_tkn_", "pscale_pw_", "sntrys_", "sntryu_", "fm2_", "CFPAT-", "CCIPAT_"),
        *("rubygems_", "xkeysib-", "FLWSECK_TEST-", "FLWSECK-", "tfp_", "ops_eyJ", "CLOJARS_", "duffel_live_"),
        *("duffel_test_", "rdme_", "dckr_pat_", "dckr_oat_", "lsv2_pt_", "lsv2_sk_", "tvly-", "e2b_", "pcsk_"),
        *("nvapi-", "jina_", "phx_", "phc_", "napi_", "ABSKQmVkcm9ja0FQSUtleS", "EAACEdEose0cBA"),
    ),
    _prefixed("service token", r"[a-f0-9]{40}", "bkua_", "pul-", "sqp_", "squ_", "sqa_"),
    _prefixed("Resend key", r"[A-Za-z0-9]{6,16}_[A-Za-z0-9]{20,32}", "re_"),
    _prefixed("Razorpay key", r"[A-Za-z0-9]{14}", "rzp_live_", "rzp_test_"),
    _prefixed("Bitbucket password", r"[A-Za-z0-9]{32}", "ATBB"),
    _prefixed("Dynatrace token", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0c01."),
    Shape("Airtable token", ("pat",), _by(rf"{_BEFORE}pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}{_AFTER}")),
    Shape("Terraform token", (".atlasv1.",), _by(rf"{_BEFORE}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,80}}")),
    Shape(
        "password hash",
        ("$",),
        _by(r"\$(?:2[abxy]\$\d\d|[156y]|apr1|argon2(?:id?|d))\$[A-Za-z0-9./$=,+-]{22,200}(?![A-Za-z0-9./])"),
    ),
    _prefixed("OpenSSH key", r"[A-Za-z0-9+/\s]{20,20000}={0,2}", "b3BlbnNzaC1rZXktdjEA"),
)
"""Shapes of detect-secrets' plugins and of further services; which of them hit is never said, only that one did."""
