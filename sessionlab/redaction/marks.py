"""What stands where a value was, and what a removal is called: no input; constants and the type of a finding come out.

Section numbers are those of the specification of ``datalayer-session/1``.
"""

from __future__ import annotations

from typing import NamedTuple

MARK = "[redacted]"
"""What a removed value becomes."""

WITHHELD = "[a credential, withheld]"
"""What a recorder may already have put in place of a credential (section 1)."""

RULES = (
    "authorization_header",
    "bearer_token",
    "declared_secret",
    "url_userinfo",
    "signed_user",
    "runtime_address",
)
"""The exact rules, in the specification's order."""

UNCOUNTED = "runtime_address"
"""The rule whose removals are noted and not added to a file's ``redactions`` (section 6.6)."""


class Finding(NamedTuple):
    """How often a rule removed something at a place; never what it removed."""

    rule: str
    place: str
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody asks a finding for
