"""A text goes in; names and addresses of machines that the public network does not know come out."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from sessionlab.redaction.spans import words

_PRIVATE_ENDS: Final = (
    *(".local", ".internal", ".corp", ".lan", ".intra", ".intranet", ".home", ".localdomain", ".private"),
    ".home.arpa",
)
_KNOWN: Final = words(
    "localhost localhost.localdomain host.docker.internal gateway.docker.internal metadata.google.internal "
    "kubernetes.docker.internal"
)
_URL_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?")
_PORT: Final = re.compile(r":\d{1,5}(?!\d)")
_REMOTE: Final = re.compile(
    r"\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)\b(?:[ \t]+[^\s@|;&]{1,80}){0,12}?[ \t]+[\"']?"
    r"(?P<user>[A-Za-z0-9._-]{1,64})@(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252})"
)
_COPY: Final = re.compile(r"(?<=@)(?P<host>[A-Za-z][A-Za-z0-9.-]{0,252})(?=:[~/])")
_ENDED: Final = re.compile(
    r"(?<![\w.@/-])(?=[\w.]*[-\d])[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,6}(?:local|internal|localdomain)(?![\w(-]|\.\w)"
    r"|(?<![\w./-])[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,6}(?:corp|lan|intra|intranet)(?![\w(-]|\.\w)"
)
_IPV4: Final = re.compile(r"(?<![\w.])(?:10|127|172|192|169|100)\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w]|\.\d)")
_IPV6: Final = re.compile(r"(?<![\w:.])(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):[0-9a-f:]{2,34}(?![\w:])", re.IGNORECASE)
_SHARED: Final = ipaddress.ip_network("100.64.0.0/10")


def is_public_name(name: str) -> bool:
    """Whether ``name`` says nothing of a machine: this one, whichever it is, or one that every installation has."""
    return name.casefold() in _KNOWN


def hosts_in(text: str) -> Iterator[tuple[int, int]]:
    """First character and end of each name or address; the same place may come twice."""
    if "://" in text:
        yield from _in_urls(text)
    if "@" in text:
        if "ssh" in text or "scp" in text or "sftp" in text or "rsync" in text or "mosh" in text:
            yield from (_bare(found, text) for found in _REMOTE.finditer(text) if _is_named(found["host"]))
        yield from (_bare(found, text) for found in _COPY.finditer(text) if _is_named(found["host"]))
    if ".local" in text or ".internal" in text or ".corp" in text or ".lan" in text or ".intra" in text:
        yield from (found.span() for found in _ENDED.finditer(text) if not is_public_name(found[0]))
    if "." in text:
        yield from (found.span() for found in _IPV4.finditer(text) if _is_private(found[0]))
    if ":" in text:
        yield from (found.span() for found in _IPV6.finditer(text) if _is_private(found[0]))


def _bare(found: re.Match[str], text: str) -> tuple[int, int]:
    start, end = found.span("host")
    while text[end - 1] in ".-":
        end -= 1
    return start, end


def _is_named(host: str) -> bool:
    return not is_public_name(host) and host.casefold() not in {"github.com", "gitlab.com", "bitbucket.org"}


def _in_urls(text: str) -> Iterator[tuple[int, int]]:
    at = text.find("://")
    while at >= 0:
        found = _URL_HOST.match(text, at + 3)
        if found is not None:
            name = found[0].casefold()
            has_port = _PORT.match(text, found.end()) is not None
            is_bare = "." not in name and has_port and not name.isdigit()
            if (name.endswith(_PRIVATE_ENDS) or is_bare) and not is_public_name(name):
                yield found.span()
        at = text.find("://", at + 3)


def _is_private(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if parsed.is_loopback or parsed.is_unspecified:
        return False
    return parsed.is_private or parsed.is_link_local or (parsed.version == 4 and parsed in _SHARED)  # noqa: PLR2004 - IPv4
