"""The tables of a corpus and what its owner wants removed in; tables that can be shared out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from secrets import token_bytes
from typing import TypedDict, Unpack

from sessionlab.errors import WrongUse
from sessionlab.redaction import PRIVATE_RULES, StrictRedactor
from sessionlab.redaction.tables import Held, Redacted, redact


class Sharing(TypedDict, total=False):
    """What is to be removed beside what the strict rules remove.

    Attributes:
        rules: further rules, of `PRIVATE_RULES`; ``"all"`` of them; None: none.
        secrets: values that must not stand anywhere, or name and value.
        key: of the pseudonyms that stand for names, ids and digests; None: a new one, which nobody keeps. Corpora
            redacted with one key have the same pseudonyms, so that they can be loaded together.
        users: names of users, to be replaced wherever they stand as words: asks for the rule ``user_name``.
        hosts: names of hosts, the same: asks for ``host_name``.
    """

    rules: Iterable[str] | None
    secrets: Iterable[str] | Mapping[str, str]
    key: bytes | None
    users: Iterable[str]
    hosts: Iterable[str]


def share(held: Held, **wanted: Unpack[Sharing]) -> Redacted:
    """Go through the tables of a corpus under the strict rules.

    Args:
        held: gives its tables by stem, anew each time it is called.
        **wanted: as `Sharing`.

    Raises:
        WrongUse: no such rule; secrets that are one string; an empty key.
    """
    values, key = secret_values(wanted.get("secrets", ())), wanted.get("key")
    if key is not None and not key:
        raise WrongUse("expected a key of some bytes, found an empty one: anyone could take such pseudonyms again")
    key = key or token_bytes(32)
    users, hosts = tuple(wanted.get("users", ())), tuple(wanted.get("hosts", ()))
    also = private_rules(wanted.get("rules"), users=users, hosts=hosts)
    redactor = _Counting(declared=values, also=also, key=key, users=users, hosts=hosts, keeps_prose=True)
    return redact(held, redactor, key)


class _Counting(StrictRedactor):
    """Counts by rule alone: a table says where, and paths into a million values would be as many places."""

    def _hit(self, rule: str, times: int = 1, *, at: str = "") -> None:  # noqa: ARG002 (a path that is not kept)
        self._found[rule, ""] = self._found.get((rule, ""), 0) + times


def secret_values(secrets: Iterable[str] | Mapping[str, str]) -> tuple[str, ...]:
    """The values of declared secrets, given alone or by name.

    Raises:
        WrongUse: one string, which would be taken for its letters.
    """
    if isinstance(secrets, str):
        raise WrongUse("expected the values of secrets, or a mapping of name and value; found one string")
    return tuple(secrets.values() if isinstance(secrets, Mapping) else secrets)


def private_rules(
    rules: Iterable[str] | None, *, users: Iterable[str] = (), hosts: Iterable[str] = ()
) -> tuple[str, ...]:
    """The optional rules that are meant, in their order; a user or host that is named asks for its rule.

    Raises:
        WrongUse: no such rule; the message lists them.
    """
    named = {rules} if isinstance(rules, str) else set(rules or ())
    if "all" in named:
        return tuple(PRIVATE_RULES)
    if unknown := sorted(named - set(PRIVATE_RULES)):
        raise WrongUse(f"no rule named {', '.join(unknown)}; there are: {', '.join(PRIVATE_RULES)}, or all")
    named |= {"user_name"} if tuple(users) else set()
    named |= {"host_name"} if tuple(hosts) else set()
    return tuple(rule for rule in PRIVATE_RULES if rule in named)
