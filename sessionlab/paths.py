"""What a user points at (files, folders, globs, URLs, open files) becomes a list of files to read, each once."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

import fsspec

from sessionlab.errors import LoadError

PathLike = str | os.PathLike[str] | IO[bytes]

SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".venv"})
"""Folders that hold no session files and may hold very many others."""
PASSED_OVER = (".forgetting",)
"""Endings of files that their owner has set aside (mecha section 2): a folder's listing passes over them."""


class Found(NamedTuple):
    """A file to read. ``stream`` is set for an open file, which is read where it is."""

    uri: str
    size_bytes: int | None
    modified_at: int | None
    stream: IO[bytes] | None = None

    def open(self) -> IO[bytes]:
        """The file, opened for reading bytes."""
        if self.stream is not None:
            return self.stream
        if "://" in self.uri:
            return cast("IO[bytes]", fsspec.open(self.uri, "rb").open())
        return Path(self.uri).open("rb")


def known_stores() -> list[str]:
    """The session stores that exist on this machine."""
    mecha_home = os.environ.get("MECHA_HOME") or "~/.mecha"
    candidates = [
        os.environ.get("MECHA_SESSION_DIR") or f"{mecha_home}/sessions",
        "~/.claude/projects",
        "~/.codex/sessions",
    ]
    return [path for path in map(os.path.expanduser, candidates) if Path(path).is_dir()]


def find(paths: Iterable[PathLike]) -> list[Found]:
    """Every file that ``paths`` name, once, ordered by uri; open files come first, in the order given.

    Raises:
        LoadError: a path that exists nowhere, or a glob without a match, by name.
    """
    streams: list[Found] = []
    files: dict[str, Found] = {}
    for number, path in enumerate(paths):
        if not isinstance(path, str | os.PathLike):
            stream = path
            name = getattr(stream, "name", None)
            streams.append(Found(f"stream:{name if isinstance(name, str) else number}", None, None, stream))
            continue
        text = os.fspath(path)
        found = list(_remote(text) if "://" in text else _local(text))
        if not found and not Path(text).expanduser().is_dir():
            raise LoadError(f"no file at {text!r}: expected a file, a folder, a glob that matches, or an fsspec URL")
        files.update((f.uri, f) for f in found)
    return streams + [files[uri] for uri in sorted(files)]


def _local(text: str) -> Iterator[Found]:
    path = os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 (a glob is no path yet; ".." stays as written)
    if os.path.isdir(path):  # noqa: PTH112
        yield from _walk(path)
    elif os.path.isfile(path):  # noqa: PTH113
        yield _stat(path)
    elif glob.has_magic(path):
        for match in glob.iglob(path, recursive=True, include_hidden=True):  # noqa: PTH207 (Path.glob knows no hidden files)
            if os.path.isfile(match) and not match.endswith(PASSED_OVER):  # noqa: PTH113
                yield _stat(match)


def _walk(folder: str) -> Iterator[Found]:
    stack = [folder]
    while stack:
        with os.scandir(stack.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED_FOLDERS:
                        stack.append(entry.path)
                elif entry.is_file() and not entry.name.endswith(PASSED_OVER):
                    facts = entry.stat()
                    yield Found(entry.path, facts.st_size, facts.st_mtime_ns // 1000)


def _stat(path: str) -> Found:
    facts = os.stat(path)  # noqa: PTH116
    return Found(path, facts.st_size, facts.st_mtime_ns // 1000)


def _remote(url: str) -> Iterator[Found]:
    fs, path = fsspec.core.url_to_fs(url)
    names = fs.glob(path) if glob.has_magic(path) else fs.find(path)
    for name in names:
        facts = fs.info(name)
        if facts.get("type") == "file" and not str(name).endswith(PASSED_OVER):
            modified = facts.get("mtime") or facts.get("created")
            at = int(modified * 1_000_000) if isinstance(modified, int | float) else None
            yield Found(fs.unstrip_protocol(name), facts.get("size"), at)
