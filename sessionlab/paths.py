"""What a user points at (files, folders, globs, URLs, open files) becomes a list of files to read, each once."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import IO, NamedTuple, cast

import fsspec

from sessionlab.errors import LoadError

PathLike = str | os.PathLike[str] | IO[bytes]

SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".venv"})
"""Folders that hold no session files and may hold very many others."""
PASSED_OVER = (".forgetting", ".sessionlab-tmp")
"""Endings of files that their owner has set aside (mecha section 2), or was writing when it was stopped: a folder's
listing passes over them."""


class Found(NamedTuple):
    """A file to read. ``stream`` is set for an open file, ``identity`` (device, inode) for a local one."""

    uri: str
    size_bytes: int | None
    modified_at: int | None
    stream: IO[bytes] | None = None
    identity: tuple[int, int] | None = None

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
        LoadError: a path that exists nowhere, a glob without a match, something that is no path at all; by name.
    """
    streams: list[Found] = []
    files: dict[str, Found] = {}
    for path in paths:
        if isinstance(path, bytes):
            path = os.fsdecode(path)  # noqa: PLW2901 (the same path, as text)
        if not isinstance(path, str | os.PathLike):
            streams.append(_opened(path, {f.uri for f in streams}))
            continue
        text = os.fspath(path)
        found = list(_remote(text) if "://" in text else _local(text)) if text else []
        if not found and not (text and os.path.isdir(os.path.expanduser(text))):  # noqa: PTH111, PTH112 (see _local)
            raise LoadError(f"no file at {text!r}: expected a file, a folder, a glob that matches, or an fsspec URL")
        files.update((f.uri, f) for f in found)
    return streams + [files[uri] for uri in sorted(files)]


def _opened(given: object, taken: set[str]) -> Found:
    """An open binary file, from its beginning where it can be rewound; names that repeat get a number."""
    what = f"expected paths or open binary files, found {type(given).__name__}"
    if not hasattr(given, "read"):
        hint = "; pass its items one by one: load(*paths)" if isinstance(given, Iterable) else ""
        raise LoadError(what + hint)
    stream = cast("IO[bytes]", given)
    try:
        if stream.seekable():
            stream.seek(0)
        if not isinstance(stream.read(0), bytes):
            raise LoadError(f"{what} in text mode; open it with mode 'rb'")
    except (AttributeError, ValueError, TypeError) as error:
        raise LoadError(f"{what}: {error}") from error
    name = getattr(stream, "name", None)
    names = (f"stream:{name}{f'#{n}' if n else ''}" if isinstance(name, str) else f"stream:{n}" for n in count())
    uri = next(uri for uri in names if uri not in taken)
    return Found(uri, None, None, stream)


def _local(text: str) -> Iterator[Found]:
    path = os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 (a glob is no path yet; ".." stays as written)
    if os.path.isdir(path):  # noqa: PTH112
        yield from _walk(path)
    elif os.path.exists(path):  # noqa: PTH110 (a file, or what reading will call none)
        yield from _stat(path)
    elif glob.has_magic(path):
        seen: set[tuple[int, int]] = set()  # `**` follows links to folders, also round and round
        for match in glob.iglob(path, recursive=True, include_hidden=True):  # noqa: PTH207 (Path.glob knows no hidden files)
            if os.path.isfile(match) and not match.endswith(PASSED_OVER):  # noqa: PTH113
                for found in _stat(match):
                    if found.identity is None or found.identity not in seen:
                        seen |= {found.identity} if found.identity else set()
                        yield found


def _walk(folder: str) -> Iterator[Found]:
    """Every regular file below a folder; links to folders are followed, each folder is entered once."""
    stack, entered = [folder], set()
    while stack:
        here = stack.pop()
        try:
            facts = os.stat(here)  # noqa: PTH116
            if (facts.st_dev, facts.st_ino) in entered:
                continue
            entered.add((facts.st_dev, facts.st_ino))
            with os.scandir(here) as entries:
                listed = sorted(entries, key=lambda e: e.name)
        except OSError:
            yield Found(here, None, None)  # opening it will say why it cannot be read
            continue
        for entry in listed:
            try:
                if entry.is_dir():
                    if entry.name not in SKIPPED_FOLDERS:
                        stack.append(entry.path)
                elif entry.is_file() and not entry.name.endswith(PASSED_OVER):
                    yield from _stat(entry.path)
            except OSError:
                yield Found(entry.path, None, None)


def _stat(path: str) -> Iterator[Found]:
    facts = os.stat(path)  # noqa: PTH116
    yield Found(path, facts.st_size, facts.st_mtime_ns // 1000, identity=(facts.st_dev, facts.st_ino))


def _remote(url: str) -> Iterator[Found]:
    try:
        fs, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise LoadError(f"{url!r}: {error}") from error
    names = fs.glob(path) if glob.has_magic(path) else fs.find(path)
    for name in names:
        facts = fs.info(name)
        if facts.get("type") == "file" and not str(name).endswith(PASSED_OVER):
            modified = facts.get("mtime") or facts.get("created")
            at = int(modified * 1_000_000) if isinstance(modified, int | float) else None
            yield Found(fs.unstrip_protocol(name), facts.get("size"), at)
