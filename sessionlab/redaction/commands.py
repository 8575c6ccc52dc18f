"""A text goes in; the credentials in commands that no name of an option tells apart come out: ``curl -u ada:pw``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sessionlab.redaction.learned import is_learnable
from sessionlab.redaction.spans import SIGN, Find
from sessionlab.redaction.strict_values import is_placeholder, looks_random

_BARE: Final = rf"[^\s\"'`{SIGN}\\]"
_NAME: Final = r"[\w.@+-]{1,128}"  # of a user, a cookie
_USER: Final = re.compile(
    rf"-(?:[uU]|-(?:proxy-)?user|-basic-auth|-userpass|-creds)"
    rf"\\{{0,7}}[\"']?(?:[ \t=]|,[ \t]?){{1,4}}"
    rf"\\{{0,7}}[\"']?(?P<value>(?P<user>[^\s:\"'`{SIGN}\\]{{1,128}}):(?P<password>{_BARE}++))"
)
_SHORT: Final = (
    (("sshpass",), re.compile(rf"\bsshpass[ \t]+-p[ \t]*['\"]?(?P<value>{_BARE}++)")),
    (
        ("mysql", "mariadb"),
        re.compile(rf"\b(?:mysql|mariadb)\w*(?:[ \t]+[^\s|;&]{{1,64}}){{0,12}}?[ \t]+-p['\"]?(?P<value>{_BARE}++)"),
    ),
    (
        ("redis-cli",),
        re.compile(rf"\bredis-cli(?:[ \t]+[^\s|;&]{{1,64}}){{0,12}}?[ \t]+-a[ \t]+['\"]?(?P<value>{_BARE}++)"),
    ),
    (
        (" login",),
        re.compile(rf"\blogin(?:[ \t]+[^\s|;&]{{1,64}}){{0,12}}?[ \t]+-p[ \t]+['\"]?(?P<value>{_BARE}++)"),
    ),
    *(
        (
            (hint,),
            re.compile(rf"\b{command}\b(?:[ \t]+[^\s|;&]{{1,64}}){{0,12}}?[ \t]+{option}['\"]?(?P<value>{_BARE}++)"),
        )
        for hint, command, option in (
            ("http", "https?", rf"(?:-a[ \t]+|--auth[ \t=]+)(?=[\"']?{_NAME}:)"),
            ("mongo", "mongo(?:sh|dump|restore)?", r"-p[ \t]+"),
            ("zip", "(?:un)?zip", r"-P[ \t]+"),
            ("sqlcmd", "sqlcmd", r"-P[ \t]*"),
            ("7z", "7za?", r"-p(?=\S)"),
            ("ldap", "ldap(?:search|modify|add|delete|whoami)", r"-w[ \t]+"),
            ("htpasswd", "htpasswd", rf"-[a-zA-Z]{{0,4}}b[a-zA-Z]{{0,4}}[ \t]+\S{{1,128}}[ \t]+{_NAME}[ \t]+"),
            ("smbclient", "smbclient", rf"-U[ \t]*['\"]?{_NAME}%"),
            ("curl", "curl", rf"-[a-zA-Z]{{0,4}}u[ \t]*(?=['\"]?{_NAME}:)"),
            ("curl", "curl", rf"(?:-b|--cookie)[ \t=]+(?=['\"]?{_NAME}=)"),
        )
    ),
    (
        ("curl",),
        re.compile(
            rf"\bcurl\b(?:[ \t]+[^\s|;&]{{1,64}}){{0,12}}?[ \t]+(?:-b|--cookie)[ \t=]+"
            rf"'(?P<value>{_NAME}=[^'{SIGN}\n]{{1,2000}})'"
        ),
    ),
    (("pass:",), re.compile(rf"-pass(?:in|out)?[ \t]+['\"]?pass:(?P<value>{_BARE}++)")),
)


def command_credentials(text: str) -> Iterator[Find]:
    """Where ``user:password`` and passwords of known short options stand."""
    if "-u" in text or "-U" in text or "--basic" in text or "-user" in text or "--creds" in text:
        for found in _USER.finditer(text):
            before = text[found.start() - 1 : found.start()]
            if before and not before.isspace() and before not in "\"'`(\\":
                continue
            user, password = found["user"], found["password"]
            is_ids = user.isdigit() and password.isdigit()  # as in docker run -u 1000:1000
            if not is_ids and user[0] not in "$<{%-" and password[0] not in "$<{%" and not password.startswith("//"):
                yield Find(*found.span("value"), "argument")
                if is_learnable(password) and looks_random(password):
                    yield Find(*found.span("password"), "argument", known=True)
    for hints, pattern in _SHORT:
        if any(hint in text for hint in hints):
            for found in pattern.finditer(text):
                value = found["value"]
                if value[0] not in "$<{%-" and not is_placeholder(value):
                    yield Find(*found.span("value"), "argument", known=is_learnable(value) and looks_random(value))
