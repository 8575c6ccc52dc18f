"""A text goes in; what in it names a person or a machine comes out, each with the pseudonym to put in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from sessionlab.redaction.entropy import random_strings
from sessionlab.redaction.hosts import hosts_in, is_public_name
from sessionlab.redaction.pseudonyms import PSEUDONYM, Pseudonyms
from sessionlab.redaction.spans import SIGN, Find, words

PRIVATE_RULES: Final = ("home_folder", "email_address", "user_name", "host_name", "high_entropy")
"""Rules that are applied only when asked for, in the order in which they are applied."""

GENERIC_USERS: Final = words(
    "root user users ubuntu admin administrator runner app public shared default guest node vscode codespace jovyan "
    "ec2-user centos debian fedora alpine pi vagrant docker git www-data nobody circleci travis jenkins builder "
    "developer dev test tester home linuxbrew coder gitpod workspace workspaces sandbox agent anonymous daemon system "
    "service local me name username your you me example all"
)
"""Names of accounts that say nothing of a person: they stay as words."""
SHARED_FOLDERS: Final = GENERIC_USERS - words("user admin administrator dev developer coder test tester me local")
"""Home folders that are nobody's own, or stand in instructions: they stay. A developer's own may well be `dev`."""

_NAME: Final = rf"[^\s/\\:\"'<>|*?,;()\[\]{{}}`$%&#!{SIGN}]{{1,64}}"
_HOME: Final = re.compile(
    rf"(?:(?<![\w.~-])(?<![\w.]/)/home/|/Users/|(?<=[A-Za-z]:)(?:\\{{1,8}}|/)Users(?:\\{{1,8}}|/)"
    rf"|(?<=[A-Za-z]:)\\{{1,8}}Documents and Settings\\{{1,8}}|%2F(?:home|Users)%2F)({_NAME})",
    re.IGNORECASE,
)
_SLUG: Final = re.compile(r"(?<![A-Za-z0-9])-(?:Users|home)-([A-Za-z0-9]{1,64})(?=-|[/\\\"'\s]|\Z)")
_LOCAL: Final = re.compile(r"[A-Za-z0-9._%+\-]{0,64}")
_DOMAIN: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_-])")
_SHORTEST: Final = 3
_LONGEST_LOCAL: Final = 64


class Private:
    """The private rules asked for, with the users and hosts known so far.

    Raises:
        ValueError: ``also`` names no such rule.
    """

    def __init__(
        self, also: Iterable[str], pseudonyms: Pseudonyms, users: Iterable[str] = (), hosts: Iterable[str] = ()
    ) -> None:
        self.rules = tuple(dict.fromkeys(also))
        unknown = [rule for rule in self.rules if rule not in PRIVATE_RULES]
        if unknown:
            raise ValueError(f"No private rule is named {unknown[0]!r}: they are {', '.join(PRIVATE_RULES)}.")
        self._pseudonyms = pseudonyms
        self._users: dict[str, None] = {}
        self._hosts: dict[str, None] = {}
        self._patterns: dict[str, re.Pattern[str] | None] = {}
        for user in users:
            self._add_user(user)
        for host in hosts:
            self._add_host(host)

    def learn(self, text: str) -> bool:
        """Take the users whose home folders ``text`` names and the hosts it speaks to; whether any is new."""
        before = len(self._users), len(self._hosts)
        if "user_name" in self.rules:
            for name, _ in _homes(text):
                if len(name) >= _SHORTEST:
                    self._add_user(name)
        if "host_name" in self.rules:
            for start, end in hosts_in(text):
                host = text[start:end]
                if ("." in host or "-" in host) and not host.replace(".", "").isdigit() and ":" not in host:
                    self._add_host(host)
        return (len(self._users), len(self._hosts)) != before

    def finds(self, text: str) -> list[Find]:
        """What the rules asked for find in ``text``, apart from each other."""
        found: list[Find] = []
        taken: list[tuple[int, int]] = [match.span() for match in PSEUDONYM.finditer(text)] if "-" in text else []
        searches: dict[str, Callable[[str], Iterator[tuple[int, int, str]]]] = {
            "home_folder": self._home_folders,
            "email_address": self._addresses,
            "user_name": self._user_names,
            "host_name": self._host_names,
            "high_entropy": self._random,
        }
        for rule, search in searches.items():
            if rule in self.rules:
                spans = sorted(search(text), key=lambda span: (span[0], -span[1]))
                fresh = _apart(spans, sorted(taken))
                found += [Find(start, end, rule, becomes) for start, end, becomes in fresh]
                taken += [(start, end) for start, end, _ in fresh]
        return found

    def _add_user(self, name: str) -> None:
        if name and name.casefold() not in GENERIC_USERS and not PSEUDONYM.fullmatch(name) and not name.isdigit():
            self._users[name] = None
            self._patterns.pop("user", None)

    def _add_host(self, name: str) -> None:
        if name and not PSEUDONYM.search(name) and not is_public_name(name):
            self._hosts[name] = None
            self._patterns.pop("host", None)

    def _pattern(self, kind: str, names: Iterable[str]) -> re.Pattern[str] | None:
        if kind not in self._patterns:
            ordered = sorted(names, key=lambda name: (-len(name), name))
            bounds = (r"(?<![^\W_])", r"(?![^\W_])") if kind == "user" else (r"(?<![\w-])", r"(?![\w-])")
            inner = "|".join(map(re.escape, ordered))
            self._patterns[kind] = re.compile(f"{bounds[0]}(?:{inner}){bounds[1]}", re.IGNORECASE) if inner else None
        return self._patterns[kind]

    def _home_folders(self, text: str) -> Iterator[tuple[int, int, str]]:
        for name, start in _homes(text):
            if name.casefold() not in SHARED_FOLDERS and not PSEUDONYM.match(text, start):
                yield start, start + len(name), self._pseudonyms.of("user", name)
        for user in self._users:
            slug = re.sub(r"[^A-Za-z0-9]", "-", user)
            if slug != user and slug in text:
                for found in re.finditer(rf"(?<=-Users-|.-home-){re.escape(slug)}(?![A-Za-z0-9])", text):
                    yield *found.span(), self._pseudonyms.of("user", user)

    def _user_names(self, text: str) -> Iterator[tuple[int, int, str]]:
        pattern = self._pattern("user", self._users)
        if pattern is not None:
            for found in pattern.finditer(text):
                yield *found.span(), self._pseudonyms.of("user", found[0])

    def _host_names(self, text: str) -> Iterator[tuple[int, int, str]]:
        for start, end in hosts_in(text):
            yield start, end, self._pseudonyms.of("host", text[start:end])
        pattern = self._pattern("host", self._hosts)
        if pattern is not None:
            for found in pattern.finditer(text):
                yield *found.span(), self._pseudonyms.of("host", found[0])

    def _addresses(self, text: str) -> Iterator[tuple[int, int, str]]:
        at = text.find("@")
        while at >= 0:
            domain = _DOMAIN.match(text, at + 1)
            if domain is not None:
                local = _LOCAL.match(text[max(0, at - _LONGEST_LOCAL) : at][::-1])
                name = "" if local is None else local[0][::-1].lstrip(".%+-")
                if name and name != "git":
                    start = at - len(name)
                    yield start, domain.end(), self._pseudonyms.of("mail", text[start : domain.end()])
            at = text.find("@", at + 1)

    def _random(self, text: str) -> Iterator[tuple[int, int, str]]:
        for start, end in random_strings(text):
            yield start, end, self._pseudonyms.of("entropy", text[start:end])


def _homes(text: str) -> Iterator[tuple[str, int]]:
    """Names of users whose home folders stand in ``text``, and where each name begins."""
    low = text.lower()
    if "home" in low or "users" in low or "documents and" in low:
        for pattern in (_HOME, _SLUG):
            for found in pattern.finditer(text):
                name = found[1].rstrip(".")
                if name:
                    yield name, found.start(1)


def _apart(spans: list[tuple[int, int, str]], taken: list[tuple[int, int]]) -> list[tuple[int, int, str]]:
    """Those of ``spans`` that overlap neither each other nor what is ``taken``; both in order."""
    kept: list[tuple[int, int, str]] = []
    at = end = 0
    for start, stop, becomes in spans:
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        is_free = at == len(taken) or taken[at][0] >= stop
        if start >= end and is_free:
            kept.append((start, stop, becomes))
            end = stop
    return kept
