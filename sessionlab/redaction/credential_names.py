"""Names of members and of environment variables go in; whether what stands under them is a credential comes out.

Sections 6.1, 6.2 and 6.4 of the specification of ``datalayer-session/1``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

HEADER_KEYS: Final = frozenset({"authorization", "proxy-authorization", "proxy_authorization", "cookie", "set-cookie"})
"""Headers whose whole value is a credential, in lower case (section 6.1, step 1)."""

CREDENTIAL_WORDS: Final = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "secret_key",
    "private_key",
    "credential",
    "credentials",
)
"""What a credential key is, or ends in after ``_``, ``-`` or ``.`` (section 6.2)."""

SIGNED_KEYS: Final = frozenset({"signed", "user"})
"""Members that say who is signed in: dropped (section 6.1, step 4)."""

ADDRESS_KEYS: Final = frozenset({"runs_on", "host", "sandbox_host", "runtime_uid"})
"""Members that say where a runtime is: dropped, and not counted as redactions (section 6.1, step 4)."""

SECRET_NAME_WORDS: Final = frozenset(
    {
        "KEY",
        "APIKEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PAT",
        "CREDENTIAL",
        "CREDENTIALS",
        "COOKIE",
        "AUTHORIZATION",
        "JWT",
        "BEARER",
    }
)
"""A word of a variable's name that makes its value a secret (section 6.4, last paragraph)."""

SECRET_NAME_ENDS: Final = ("APIKEY", "_KEY", "TOKEN", "SECRET", "PASSWORD")
"""An end of a variable's name that does."""

HARMLESS_LAST_WORDS: Final = frozenset(
    {
        "URL",
        "URI",
        "HOST",
        "PORT",
        "PATH",
        "FILE",
        "DIR",
        "ID",
        "NAME",
        "USER",
        "USERNAME",
        "TYPE",
        "KIND",
        "TTL",
        "EXPIRY",
        "EXPIRES",
        "LIMIT",
        "LENGTH",
        "ENABLED",
        "DISABLED",
        "VALIDATE",
        "HEADER",
        "SCOPE",
        "SCOPES",
        "ALGORITHM",
        "ALG",
    }
)
"""A last word that says that the value is not the secret itself, whatever stands before it."""

HELD_LENGTH: Final = 8
"""Characters from which on a held value is looked for: a shorter one would be found in innocent words."""

_CREDENTIAL_KEY: Final = re.compile(rf"(?:.*[_\-.])?(?:{'|'.join(CREDENTIAL_WORDS)})\n?", re.IGNORECASE)
_NOT_IN_WORDS: Final = re.compile(r"[^A-Z0-9]+")
_SHORT_KEY: Final = 64
_PATH_STARTS: Final = ("/", "~", "./")


def is_header_key(key: str) -> bool:
    """Whether a member of this name is a header that is removed whole (section 6.1, step 1)."""
    return key.lower() in HEADER_KEYS


def is_credential_key(key: str) -> bool:
    """Whether a scalar under this name is a credential (section 6.2)."""
    return _CREDENTIAL_KEY.fullmatch(key) is not None


def rule_of_key(key: str) -> str | None:
    """The rule that a member's key brings about whatever stands under it, None for most (section 6.1).

    One of ``signed_user``, ``runtime_address``, ``authorization_header`` and ``bearer_token``.
    """
    return _rule_of_short_key(key) if len(key) <= _SHORT_KEY else _rule_of_key(key)


def _rule_of_key(key: str) -> str | None:
    if key in SIGNED_KEYS:
        return "signed_user"
    if key in ADDRESS_KEYS:
        return "runtime_address"
    if is_header_key(key):
        return "authorization_header"
    return "bearer_token" if is_credential_key(key) else None


_rule_of_short_key = lru_cache(maxsize=4096)(_rule_of_key)


def reads_as_secret(name: str) -> bool:
    """Whether an environment variable of this name holds a secret (section 6.4, last paragraph)."""
    upper = name.upper()
    words = [word for word in _NOT_IN_WORDS.split(upper) if word]
    if not words or words[-1] in HARMLESS_LAST_WORDS:
        return False
    return upper.endswith(SECRET_NAME_ENDS) or not SECRET_NAME_WORDS.isdisjoint(words)


def held_values(environ: Mapping[str, str]) -> list[str]:
    """The values of the variables whose names read as secrets, longest first, each once (section 6.4).

    Whitespace round a value is no part of it. Values of fewer than 8 characters and paths are left out.
    """
    held = {value.strip() for name, value in environ.items() if reads_as_secret(name)}
    return sorted(
        (value for value in held if len(value) >= HELD_LENGTH and not value.startswith(_PATH_STARTS)),
        key=lambda value: (-len(value), value),
    )
