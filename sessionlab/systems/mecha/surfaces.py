"""Tool definitions in; their fingerprint, their place in the surface store, and how they compare out (mecha 4.5)."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec

from sessionlab.errors import WrongUse
from sessionlab.formats._values import compact_sorted
from sessionlab.systems.mecha.home import mecha_home, private_folder

Likeness = Literal["matches", "differs", "unknown"]

_OFFSET_BASIS, _PRIME = 0xCBF29CE484222325, 0x100000001B3
_U64 = 2**64 - 1
_HASH = re.compile(r"[0-9a-f]{16}")


class Described(Protocol):
    """Anything that tells a tool's name, description and input schema, whatever else it is."""

    @property
    def name(self) -> str:
        """What calls say."""

    @property
    def description(self) -> str:
        """In words."""

    @property
    def input_schema(self) -> Mapping[str, object]:
        """JSON Schema of the input."""


class ToolDefinition(NamedTuple):
    """A tool as it is described to the model.

    Attributes:
        name: what calls say.
        description: in words.
        input_schema: JSON Schema of the input.
    """

    name: str
    description: str
    input_schema: Mapping[str, object]


def fnv1a_64(data: bytes) -> int:
    """The FNV-1a digest of 64 bits."""
    found = _OFFSET_BASIS
    for byte in data:
        found = (found ^ byte) * _PRIME & _U64
    return found


def fingerprint(tools: Sequence[Described]) -> str:
    """16 hex digits that stand for these definitions in this order: the registry's (4.5).

    Raises:
        WrongUse: a schema that is no JSON.
    """
    text = b"".join(
        part.encode() + b"\0" for tool in tools for part in (tool.name, tool.description, _schema(tool))
    )  # fmt: skip
    return f"{fnv1a_64(text):016x}"


def compare(recorded: str | None, tools: Sequence[Described]) -> Likeness:
    """Whether a recording's ``tools_hash`` is that of these tools.

    ``unknown`` where none is recorded, or what stands there is no such hash: never to be taken for a match.
    """
    if recorded is None or _HASH.fullmatch(recorded) is None:
        return "unknown"
    return "matches" if recorded == fingerprint(tools) else "differs"


class SurfaceStore:
    """The definitions that recordings were made with, a file ``<hash>.json`` each."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        """The store in ``folder``; the default is ``surfaces`` of the mecha home."""
        self.folder = mecha_home() / "surfaces" if folder is None else Path(folder)

    def save(self, tools: Sequence[Described]) -> str:
        """Keep these definitions, owner-only, unless they are kept already; their fingerprint.

        Raises:
            WrongUse: a schema that is no JSON.
            OSError: they cannot be written.
        """
        found = fingerprint(tools)
        if self.load(found) is None:
            told = [
                {"name": tool.name, "description": tool.description, "input_schema": json.loads(_schema(tool))}
                for tool in tools
            ]
            private_folder(self.folder)
            self._replace(self._path(found), json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False).encode())
        return found

    def load(self, tools_hash: str) -> list[ToolDefinition] | None:
        """The definitions of that fingerprint, in registry order.

        None when they are not kept, cannot be read, or are not what the fingerprint stands for: words that a recording
        was not made with must not speak for it.
        """
        if _HASH.fullmatch(tools_hash) is None:
            return None
        try:
            tools = msgspec.json.decode(self._path(tools_hash).read_bytes(), type=list[_Kept])
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        found = [ToolDefinition(tool.name, tool.description, tool.input_schema) for tool in tools]
        return found if fingerprint(found) == tools_hash else None

    def _path(self, tools_hash: str) -> Path:
        return self.folder / f"{tools_hash}.json"

    def _replace(self, path: Path, content: bytes) -> None:
        """Write beside and rename: whoever reads meanwhile sees the whole of it or nothing."""
        handle, beside = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".new")  # owner-only
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(beside).replace(path)
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise


class _Kept(msgspec.Struct, frozen=True):
    name: str
    description: str
    input_schema: dict[str, object]


def _schema(tool: Described) -> str:
    """The input schema as compact JSON with sorted keys, which is what the fingerprint goes by."""
    try:
        text = compact_sorted(tool.input_schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongUse(f"tool {tool.name!r}: expected a JSON object as its input schema: {error}") from error
    if json.loads(text) != tool.input_schema:
        raise WrongUse(f"tool {tool.name!r}: expected a JSON object as its input schema, found other values")
    return text
