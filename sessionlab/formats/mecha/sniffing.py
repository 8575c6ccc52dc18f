"""The first bytes of a file in; whether they are a mecha transcript's out, readable or not.

A transcript whose header was torn, is behind another line or was rewritten by an editor is still mecha's: it is
claimed by any of its first lines, so that reading it can refuse it and say why (sections 8.1 and 16.2). A file of
saved prompts has no such line and stays unclaimed.
"""

from __future__ import annotations

import json
import re

import msgspec

from sessionlab.formats.byte_order import without_mark
from sessionlab.formats.mecha import wire
from sessionlab.formats.mecha.wire import Free

_LINES_LOOKED_AT = 20
_MARK = b'"record"'
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')
_decode_free = msgspec.json.Decoder().decode

_NAMES: dict[str, frozenset[str]] = {}
"""Word of a record → names of its members."""
_REQUIRED: dict[str, frozenset[str]] = {}
"""Word of a record → names of those it cannot lack."""
for _word, _kind in wire.RECORDS.items():
    _fields = msgspec.structs.fields(_kind)
    _NAMES[_word] = frozenset(field.encode_name for field in _fields)
    _REQUIRED[_word] = frozenset(field.encode_name for field in _fields if field.required)


def is_mecha(head: bytes) -> bool:
    """Whether any of the first lines is an object with a `record` word of mecha's and the members that go with it."""
    lines = without_mark(head).split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]
    return any(_MARK in line and _is_record(line) for line in lines)


def _is_record(line: bytes) -> bool:
    """A whole line has all members its kind cannot lack, and one of those it may have; of a broken one some show."""
    try:
        found = _decode_free(line)
    except wire.UNREADABLE:
        word, names = _beginning(line)
        return bool(names & _NAMES.get(word, frozenset()))
    stated = found.get("record") if isinstance(found, dict) else None
    if not isinstance(stated, str) or stated not in _NAMES:
        return False
    names = found.keys()
    return _REQUIRED[stated] <= names and bool(_NAMES[stated] & names) and _has_shape(stated, found)


def _has_shape(word: str, found: dict[str, Free]) -> bool:
    if word == "message":
        return found["role"] in ("user", "assistant") and isinstance(found["content"], list)
    if word in ("rewrite", "notes"):
        return isinstance(found["messages" if word == "rewrite" else "notes"], list)
    return True


def _beginning(line: bytes) -> tuple[str, frozenset[str]]:
    """The record word and the member names at the top of an object that is cut or damaged, as far as they go."""
    word, names = "", set()
    depth, key, expects_value = 0, "", False
    for match in _TOKEN.finditer(line):
        token = match[0]
        if token in b"{[":
            depth += 1
            if depth == 1 and (token == b"[" or line[: match.start()].strip()):
                break
        elif token in b"}]":
            depth -= 1
            if depth == 0:
                break
        elif depth == 0:
            break
        elif depth > 1:
            continue
        elif token == b":":
            expects_value = True
        elif token == b",":
            expects_value = False
        elif expects_value:
            if key == "record":
                word = _text(token)
        else:
            key = _text(token)
            names.add(key)
    return word, frozenset(names)


def _text(token: bytes) -> str:
    """A string of JSON as text; empty where it is none that can be read."""
    try:
        return str(json.loads(token))
    except ValueError:
        return ""
