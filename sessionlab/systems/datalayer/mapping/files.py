"""Pictures and attachments of a conversation in; `file` payloads (name, type, size, digest, path) out, never bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sessionlab.systems.datalayer.mapping.material import Part, members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessionlab.systems.datalayer.mapping.script import Payload

_CONTENTS = ("content", "snippet", "text", "file", "base64", "data")
_ENCODED = frozenset({"base64", "data"})


def pictures(parts: Iterable[Part]) -> Iterator[Payload]:
    """The files of a message: its pictures and documents, and the pictures inside a tool's result."""
    for part in parts:
        detail = members(part.detail)
        if part.kind == "image":
            yield picture(detail, name=part.name, data=part.text)
        elif part.kind == "extra" and part.name == "document":
            yield picture(members(part.text))
        elif part.kind == "result" and isinstance(others := detail.get("parts"), list):
            for other in others:
                if isinstance(other, dict) and other.get("type") in ("image", "document"):
                    yield picture(other)


def picture(told: Payload, *, name: str | None = None, data: str | None = None) -> Payload:
    """One picture or document: its bytes, where the recorder kept them, give size and digest."""
    source = told.get("source")
    facts = {**told, **source} if isinstance(source, dict) else told
    encoded = data or facts.get("data")
    size = next((value for key in ("bytes", "image_bytes") if type(value := facts.get(key)) is int), 0)
    digest = ""
    if isinstance(encoded, str) and encoded:
        held = _decoded(encoded)
        size, digest = len(held), _digest(held)
    kind = _text(facts, "media_type", "mediaType")
    named = name or _text(facts, "title", "label", "name", "filename")
    return _file(named or "image", kind, size, digest, "")


def attachment(told: Payload) -> Payload | None:
    """A file a harness put into the conversation; None when what it put there is no file."""
    path = _text(told, "path", "filename", "filePath")
    if not path:
        return None
    held = _content(told)
    name = PurePosixPath(path.replace("\\", "/")).name or path
    return _file(name, "", len(held or b""), "" if held is None else _digest(held), path)


def _file(name: str, kind: str, size: int, digest: str, path: str) -> Payload:
    return {"name": name, "type": kind, "size": size, "digest": digest, "path": path}


def _content(value: object) -> bytes | None:
    """What stands under a name for contents, however it is nested; of several the longest."""
    todo, found = [value], list[bytes]()
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            for name in _CONTENTS:
                inner = item.get(name)
                if isinstance(inner, str):
                    found.append(_decoded(inner) if name in _ENCODED else inner.encode(errors="replace"))
                elif isinstance(inner, dict | list):
                    todo.append(inner)
        elif isinstance(item, list):
            todo.extend(item)
    return max(found, key=len) if found else None


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text.encode(errors="replace")


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _text(facts: Payload, *names: str) -> str:
    return next((value for name in names if isinstance(value := facts.get(name), str) and value), "")


def attached(detail: Payload, text: str | None) -> Payload:
    """What an attachment says: in `detail`, or, where it is long, as a JSON text of its own."""
    told = detail.get("attachment")
    if told is None and text:
        try:
            told = json.loads(text)
        except ValueError:
            return {}
    return told if isinstance(told, dict) else {}
