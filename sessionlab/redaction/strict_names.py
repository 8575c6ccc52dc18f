"""Names of members, headers, variables and options go in; whether what belongs to them is a credential comes out.

Wider than section 6.2 of the specification of ``datalayer-session/1``: hyphenated, camel-case and run-together names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from sessionlab.redaction.credential_names import is_credential_key, is_header_key
from sessionlab.redaction.spans import words

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST: Final = 80

_ALONE: Final = words(
    "password passwd passphrase passcode pwd secret token credential credentials apikey jwt psk contrasena passwort "
    "kennwort senha wachtwoord"
)
_OTHER_SCRIPTS: Final = ("contraseña", "hasło", "пароль", "密码", "密碼", "パスワード", "비밀번호", "mot de passe")
_ENDS: Final = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "accountkey",
    "connectionstring",
)
_KEY_OF: Final = words(
    "access account admin api auth authentication client consumer db database deploy encryption hmac master preshared "
    "priv private root sas secret service shared signing ssh storage subscription webhook"
)
_PASS_OF: Final = words(
    "admin auth database db ftp key ldap login mail mysql pg postgres proxy redis root smtp ssh user"
)
_LAST_OF_ALL: Final = words("b64 base64 pem plain plaintext string value")
_COUNTED: Final = words(
    "bos cancel cancellation cls completion continuation cost cursor end eos first image input last mask max next "
    "output pad page per prompt sep special start stop sync unk"
)
"""What stands before ``token`` when it is a piece of text or a place in a list, and no credential."""

_HEADERS: Final = words(
    "authorization proxy-authorization cookie set-cookie x-authorization x-auth x-api-key api-key apikey x-auth-token "
    "x-access-token x-csrf-token x-xsrf-token x-amz-security-token x-goog-api-key x-goog-iam-authorization-token "
    "x-gitlab-token private-token job-token deploy-token x-vault-token x-functions-key ocp-apim-subscription-key "
    "x-github-token x-slack-signature x-hub-signature x-forwarded-access-token x-figma-token x-shopify-access-token "
    "x-auth-key x-rapidapi-key dd-api-key dd-application-key x-datadog-api-key x-webhook-secret"
)
_SHORT_OPTIONS: Final = frozenset(("-u", "-U", "--user", "--proxy-user", "--basic-auth", "--userpass", "--creds"))


def is_header(name: str) -> bool:
    """Whether a header of this name, in any case, carries a credential."""
    return is_header_key(name) or name.strip().lower().replace("_", "-") in _HEADERS


@lru_cache(maxsize=8192)
def is_strict_key(name: str) -> bool:
    """Whether ``name`` names a credential: section 6.2 and what that misses; ``max_tokens`` and its like never."""
    if len(name) > _LONGEST:
        return is_credential_key(name)
    if not name.isascii() or " " in name:
        return name.casefold().endswith(_OTHER_SCRIPTS)
    parts = [word.lower() for word in _WORD.findall(name)]
    while parts and parts[-1].isdigit():
        parts.pop()
    if len(parts) > 1 and parts[-1] in _LAST_OF_ALL:
        if parts[-2:] == ["connection", "string"]:
            return True
        if parts[-2] != "token" or parts[-1] == "value":
            parts.pop()
    if not parts:
        return False
    if parts[-3:] == ["secret", "key", "base"]:
        return True
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last == "token":
        return before not in _COUNTED
    if last == "key":
        return before in _KEY_OF
    if last in {"pat", "pw"}:
        return name.isupper() and bool(before)  # GITHUB_PAT, DB_PW: what only names of variables are called
    if last == "pass":
        return before in _PASS_OF
    if last == "auth":
        return before in {"basic", "http"} or name == "_auth"
    if last == "cookie":
        return before in {"session", "auth", "login", "csrf"}
    if last == "str":
        return before in {"conn", "connection"}
    return last in _ALONE or last.endswith(_ENDS)


def is_password_name(name: str) -> bool:
    """Whether ``name`` names something a person types: then a number is one too."""
    lower = name.lower()
    return is_strict_key(name) and ("pass" in lower or "pwd" in lower or "secret" in lower)


def is_option(item: str) -> bool:
    """Whether an argument is an option that is followed by a credential."""
    if item in _SHORT_OPTIONS:
        return True
    return len(item) > 2 and item[0] == "-" and "=" not in item and is_strict_key(item.lstrip("-"))  # noqa: PLR2004 - "-x" is none


def takes_a_pair(item: str) -> bool:
    """Whether an option is followed by ``user:password``, so that a value without a colon is no credential."""
    return item in _SHORT_OPTIONS
