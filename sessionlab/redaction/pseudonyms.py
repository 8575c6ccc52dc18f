"""A key and what is not to be shared go in; a name that only the key ties to it comes out."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Final

PSEUDONYM: Final = re.compile(r"(?:user|host|mail|entropy|redacted)-[0-9a-f]{12}(?:@example\.invalid)?")
"""What pseudonyms look like: no rule reads into one."""

_DIGITS: Final = 12
_KEY_LENGTH: Final = 32


class Pseudonyms:
    """Pseudonyms of one key: HMAC-SHA256 of kind and value, 12 hexadecimal digits. A random key when none is given."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(_KEY_LENGTH) if key is None else key

    def _digits(self, kind: str, value: str) -> str:
        message = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()[:_DIGITS]

    def of(self, kind: str, value: str) -> str:
        """The pseudonym of ``value`` as one of ``kind`` (``user``, ``host``, ``mail``, ``entropy``, ``redacted``).

        Names of users, hosts and addresses are the same in small letters and in capitals.
        """
        if kind in {"user", "host", "mail"}:
            value = value.casefold()
        pseudonym = f"{kind}-{self._digits(kind, value)}"
        return f"{pseudonym}@example.invalid" if kind == "mail" else pseudonym
