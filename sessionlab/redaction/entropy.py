"""A text goes in; strings in it that look drawn at random come out: neither hashes, uuids, record ids nor paths."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from sessionlab.redaction.encoded import decoded

BASE64_LIMIT: Final = 4.5
"""Bits a character from which on a string of letters and digits counts as drawn at random."""
HEXADECIMAL_LIMIT: Final = 3.0
"""The same for hexadecimal digits."""
SHORTEST: Final = 20

_HASH_LENGTHS: Final = frozenset({32, 40, 56, 64, 96, 128})
_RUN: Final = re.compile(r"(?<![\w+/=.@%-])[A-Za-z0-9+/_-]{20,}+={0,2}(?![\w+/@%-]|\.\w)", re.ASCII)
_BESIDE_SIGN: Final = re.compile(r"(?<==)[A-Za-z0-9+/_-]{20,}+={0,2}(?![\w+/@%-]|\.\w)", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_JOINTS: Final = re.compile(r"[/_-]")
_ID: Final = re.compile(
    r"(?:toolu|srvtoolu|msg|call|req|run|chatcmpl|resp|fc|rs|item|ses|session|prt|asst|thread|file|batch|step|evt|msgbatch"
    r"|cus|sub|pi|ch|cs|in|ctc|ws|tool|part|agent|trace|span|turn|task|job|build|sha256|sha384|sha512|sha1|md5|user|host"
    r"|mail|entropy|redacted)[_-]"
)
_LONGEST_PART: Final = 16


def random_strings(text: str) -> Iterator[tuple[int, int]]:
    """First character and end of each string that looks drawn at random."""
    for pattern in (_RUN, _BESIDE_SIGN):
        for found in pattern.finditer(text):
            if is_random(found[0]):
                yield found.span()


@lru_cache(maxsize=8192)
def is_random(run: str) -> bool:
    """Whether ``run`` looks drawn at random."""
    if _UUID.search(run) or _ID.match(run):
        return False
    bare = run.rstrip("=")
    if _HEXADECIMAL.fullmatch(bare):
        is_mixed = not bare.isdigit() and not bare.isalpha()
        return is_mixed and len(bare) not in _HASH_LENGTHS and entropy(bare) >= HEXADECIMAL_LIMIT
    if not any(mark.isdigit() for mark in bare) or bare.islower() or bare.isupper():
        return False
    if max(map(len, _JOINTS.split(bare))) < _LONGEST_PART:
        return False  # words joined: a path, a name
    if (plain := decoded(run)) is not None:  # text in base64 is as random as what it says
        return any(len(word) >= SHORTEST and is_random(word) for word in plain.split())
    return entropy(run) >= BASE64_LIMIT


def entropy(run: str) -> float:
    """Shannon's entropy of the characters of ``run``, in bits a character."""
    length = len(run)
    return -sum(count / length * math.log2(count / length) for count in Counter(run).values())
