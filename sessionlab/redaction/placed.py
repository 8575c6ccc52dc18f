"""A text goes in; credentials that only their place in a format tells come out: SQL, HTML, XML, YAML, tables.

``IDENTIFIED BY 'x'``, ``<input type="password" value="x">``, ``<key>password</key><string>x</string>``,
``login ada password x``, ``setx API_TOKEN x``, ``| password | x |``, ``?X-Amz-Signature=x``, ``Password=x y;``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sessionlab.redaction.learned import is_learnable
from sessionlab.redaction.members import names_user_and_password
from sessionlab.redaction.spans import SIGN, Find
from sessionlab.redaction.strict_names import is_header, is_strict_key
from sessionlab.redaction.strict_values import is_clean, is_path, looks_random

HINTS: Final = (
    *("pass", "pwd", "secret", "token", "key", "credential", "auth", "cookie", "identified", "signature", "sig="),
    *("otp", "2fa", "mfa"),
)
"""A text without one of these, in small letters, has none of these places."""

_TAG: Final = re.compile(r"<[A-Za-z][\w:.-]{0,40}\s[^<>]{1,2000}>")
_ATTRIBUTE: Final = re.compile(r"([\w:.-]{1,64})\s{0,4}=\s{0,4}(?:\"([^\"]{0,1000})\"|'([^']{0,1000})')")
_NAMED: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        (
            r"<(?:[\w-]{1,32}:)?(?P<name>[\w.-]{1,64})(?:\s[^<>]{0,500})?>(?:\s{0,20}<!\[CDATA\[)?"
            r"(?P<value>[^<>\]]{1,500}?)(?:\]\]>)?</"
        ),
        r"<key>(?P<name>[^<>]{1,64})</key>\s{0,40}<string>(?P<value>[^<>]{1,500})</string>",
        r"\bname=\"(?P<name>[\w.-]{1,64})\"\r?\n\r?\n(?P<value>[^\r\n]{1,500})",
        (
            r"\b(?:setx|setenv|set[ \t]+-\w{1,4}|config[ \t]+set|config[ \t]+--\w{1,16})[ \t]+"
            r"(?P<name>[^\s=]{1,128})[ \t]+(?P<value>[^\s\"'`=-][^\s\"'`]{5,})"
        ),
        (
            r"^(?P<gap>[ \t]{0,40})(?P<name>[\w.-]{1,64}):[ \t]{0,8}[|>][+-]?[ \t]{0,8}\r?\n"
            r"(?P=gap)[ \t]{1,8}(?P<value>[^\s]{6,500})[ \t]*$"
        ),
    )
)
_ROW: Final = re.compile(
    r"^[ \t]{0,40}\|?[ \t]{0,40}(?P<name>[\w.-]{1,40})[ \t]{0,40}(?:\||\t|[ ]{4})[ \t]{0,80}"
    r"(?P<value>[^\s|]{8,200})[ \t]{0,80}\|?[ \t]{0,8}$",
    re.MULTILINE,
)
_LAST_PART: Final = re.compile(r"[^/:.]{1,128}\Z")
_SURE: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"\bidentified\s{1,8}(?:with\s{1,8}\w{1,40}\s{1,8})?(?:by|as)\s{1,8}(?:password\s{1,8})?"
            r"(?P<quote>['\"])(?P<value>[^'\"\n]{1,200})(?P=quote)"
        ),
        r"\bidentified\s{1,8}by\s{1,8}(?P<value>(?=[^\s'\"`;,\d]{0,100}\d)[^\s'\"`;,]{3,200})",
        r"\b(?:user|role|login|with|encrypted)\b[^\n;]{0,200}?\spassword\s{1,8}'(?P<value>[^'\n]{1,200})'",
        r"=\s{0,8}password\s{0,4}\(\s{0,4}'(?P<value>[^'\n]{1,200})'",
        r"\blogin\s{1,40}[^\s]{1,128}\s{1,40}password\s{1,40}(?P<value>[^\s]{3,200})",
        r"\brequirepass[ \t]{1,40}(?P<value>[^\s\"']{3,200})",
        r"[?&](?:sig|signature|x-(?:amz|goog)-signature)=(?P<value>[^&\s\"'<>`\\]{16,2000})",
        r"(?<=;)[ \t]?(?:password|pwd)[ \t]?=[ \t]?\{(?P<value>[^{}\n:,()$]{1,200})\}(?=;)",
        (
            r"(?<=;)[ \t]?(?:password|pwd)[ \t]?=[ \t]?"
            r"(?P<value>[^;\"'`\n{}()=]{1,100}\s[^;\"'`\n{}()=]{1,100})(?=;|[\"'\n]|\Z)"
        ),
        (
            r"\b(?:otp|totp|2fa|mfa)[ _-]?(?:seed|secret|key)?[\"']?[ \t]{0,4}[:=]"
            r"[ \t]{0,4}[\"']?(?P<value>[A-Z2-7]{16,128})\b"
        ),
    )
)
_TOLD: Final = re.compile(
    r"\b(?:password|passphrase|passcode|passwort|kennwort)\b[^\n.:;=!?\"'`]{0,60}?[ \t]"
    r"(?:is|was|to|now|ist|lautet)[ \t]+[\"'`]?(?P<value>[^\s\"'`<>()\[\]{}]{8,64})",
    re.IGNORECASE,
)
_END: Final = ".,;:!?"
_DIGITS: Final = 2
_AUTH: Final = re.compile(
    r"\\{0,7}\"auth\\{0,7}\"\s{0,8}:\s{0,8}\\{0,7}\""
    r"(?P<value>[A-Za-z0-9+/]{8,2000}={0,2})\\{0,7}\""
)


def placed(text: str) -> Iterator[Find]:
    """Where such credentials stand; they may overlap."""
    if "<" in text:
        yield from _in_tags(text)
    for pattern in _NAMED:
        for found in pattern.finditer(text):
            name = _LAST_PART.search(found["name"])
            if name is not None and (is_strict_key(name[0]) or is_header(name[0])):
                yield from _find(text, found)
    for found in _ROW.finditer(text):
        value = found["value"]
        if is_strict_key(found["name"]) and looks_random(value) and any(mark.isdigit() for mark in value):
            yield from _find(text, found)
    for pattern in _SURE:
        for found in pattern.finditer(text):
            yield from _find(text, found)
    for found in _TOLD.finditer(text):
        start, value = found.start("value"), found["value"].rstrip(_END)
        if _reads_as_password(value):
            yield from _span(text, start, start + len(value))
    for found in _AUTH.finditer(text):
        if names_user_and_password(found["value"]):
            yield from _find(text, found)


def _in_tags(text: str) -> Iterator[Find]:
    """The values of tags that say beside them that they are credentials."""
    for tag in _TAG.finditer(text):
        told = [(found[1].lower(), found) for found in _ATTRIBUTE.finditer(text, *tag.span())]
        said = {name: found[2] or found[3] or "" for name, found in told}
        names = [said[name] for name in ("name", "id", "key", "property") if name in said]
        if said.get("type", "").lower() == "password" or any(is_strict_key(name) or is_header(name) for name in names):
            for name, found in told:
                if name in {"value", "content"}:
                    yield from _span(text, *found.span(2 if found[2] is not None else 3))


def _reads_as_password(value: str) -> bool:
    """Whether a word of a sentence about a password is one: letters with digits or signs; no address, no file."""
    if "@" in value or "." in value or "/" in value or "_" in value or not any(map(str.isalpha, value)):
        return False
    digits = sum(map(str.isdigit, value))
    return digits >= _DIGITS or (digits > 0 and any(not sign.isalnum() and sign not in "-’" for sign in value))


def _find(text: str, found: re.Match[str]) -> Iterator[Find]:
    yield from _span(text, *found.span("value"))


def _span(text: str, start: int, end: int) -> Iterator[Find]:
    value = text[start:end]
    if is_clean(value) or is_path(value) or value[:1] in {"$", "%", "?", ":", "@"} or SIGN in value:
        return
    if value[:1] == "{" and (value[-1:] != "}" or value[1:2] == "{"):
        return
    yield Find(start, end, "assignment", known=is_learnable(value) and looks_random(value))
