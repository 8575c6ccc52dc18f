"""A store's files and what to forget in; the files without it, every row that is kept untouched, and a count out."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from sessionlab.systems.mecha.forgetting.disk import TEMPORARY, Disk
from sessionlab.systems.mecha.forgetting.places import Places
from sessionlab.systems.mecha.forgetting.pointing import Keys, told, without
from sessionlab.systems.mecha.forgetting.rules import UnknownShape, without_sources
from sessionlab.systems.mecha.forgetting.stores import LEAST_ID, LEAST_LESSON, LESSON, REFLECTION_ID, REFLECTIONS, Part


class Found(NamedTuple):
    """A file of a part.

    Attributes:
        path: where it is.
        kind: as ``Disk.kind`` tells it: what is no ``file`` is left alone.
    """

    path: Path
    kind: str | None


def files(disk: Disk, places: Places, part: Part, session: str) -> list[Found]:
    """The files of a part, in order; a temporary file that a killed walk left beside them is removed.

    Raises:
        OSError: a folder cannot be listed, or a link stands in place of a folder, or of a file of a declared name: what
            it leads to would be passed over, and the ids by which it could be found later would go.
    """
    root = places.at(part.store)
    *above, name = part.files.format(id=session).split("/") if part.files else [root.name]
    folders = [root if part.files else root.parent]
    for step in above:
        folders = [inner for folder in folders for inner in _folders(disk, folder, step)]
    found = [Found(path, disk.kind(path)) for folder in folders for path in _clean(disk, folder, name)]
    if part.kind != "named" and "*" not in name:
        for path, kind in found:
            _no_link(path, kind)
    return found


def purge(disk: Disk, places: Places, part: Part, keys: Keys, note: Callable[[str], None]) -> int:
    """Take what points at the session out of a part's files; how many rows (or files, or rules) that was.

    Args:
        disk: where it happens.
        places: where the stores are.
        part: the files, and how they point.
        keys: what to look for.
        note: told what was left alone though it may name the session, in words.

    Raises:
        OSError: a file cannot be read or written; what was done before stays done.
        NotToml: a file of rules cannot be read.
    """
    count = 0
    for found in files(disk, places, part, keys.session):
        path = found.path
        if part.kind == "named":
            if found.kind == "folder":
                note(f"{path} is a folder, and was kept: a file was expected")
            else:
                count += disk.remove(path)
        elif found.kind == "link":
            note(f"{path} is a symbolic link, which is not followed; what it leads to may still name this session")
        elif found.kind == "file":
            try:
                count += disk.edit(path, lambda content: _edited(part, keys, content))
            except UnknownShape as error:
                note(f"{path} was not edited, though it names a reflection of this session: {error}")
    return count


def names(disk: Disk, places: Places, part: Part, session: str) -> frozenset[str]:
    """The ids of the items that a part would drop: their files' names up to ``.json``.

    Raises:
        OSError: a file cannot be read.
    """
    found = set()
    for path, text in _texts(disk, places, part, session):
        try:
            if without(text, part.pointers, Keys(session)) is None:
                found.add(path.name.partition(".json")[0])
        except ValueError:
            continue
    return frozenset(found)


def reflections(disk: Disk, places: Places, session: str) -> tuple[frozenset[str], frozenset[str]]:
    """The ids and the lessons of the session's reflections.

    Raises:
        OSError: the file cannot be read.
    """
    ids, lessons = set(), set()
    for _, text in _texts(disk, places, REFLECTIONS, session):
        for line in text.split("\n"):
            try:
                if not line or without(line, REFLECTIONS.pointers, Keys(session)) is not None:
                    continue
                name, lesson = told(line, (REFLECTION_ID, LESSON))
            except ValueError:
                continue
            ids |= {name} if name else set()
            lessons |= {lesson} if lesson else set()
    return frozenset(ids), frozenset(lessons)


def holds_line(disk: Disk, places: Places, part: Part, session: str) -> bool:
    """Whether a part's file has a line that is the session's id.

    Raises:
        OSError: the file cannot be read.
    """
    texts = (text for _, text in _texts(disk, places, part, session))
    return any(line.strip() == session for text in texts for line in text.split("\n"))


def _texts(disk: Disk, places: Places, part: Part, session: str) -> Iterator[tuple[Path, str]]:
    for found in files(disk, places, part, session):
        if found.kind != "file":
            continue
        try:
            content = disk.read(found.path)
        except FileNotFoundError:
            continue
        yield found.path, content.decode(errors="surrogateescape")


def _folders(disk: Disk, folder: Path, step: str) -> list[Path]:
    if "*" not in step:
        _no_link(folder / step, disk.kind(folder / step))
        return [folder / step]
    return [folder / name for name in _matching(disk, folder, step) if disk.kind(folder / name) == "folder"]


def _no_link(path: Path, kind: str | None) -> None:
    if kind == "link":
        raise OSError(errno.ELOOP, "a symbolic link, which is not followed; expected what it leads to", str(path))


def _clean(disk: Disk, folder: Path, name: str) -> list[Path]:
    if "*" not in name:
        disk.remove(folder / (name + TEMPORARY))
        return [folder / name]
    for left in _matching(disk, folder, name + TEMPORARY):
        disk.remove(folder / left)
    return [folder / one for one in _matching(disk, folder, name) if not one.endswith(TEMPORARY)]


def _matching(disk: Disk, folder: Path, pattern: str) -> list[str]:
    return [one for one in disk.names(folder) if fnmatchcase(one, pattern) and not one.startswith(".")]


def _edited(part: Part, keys: Keys, content: bytes) -> tuple[bytes | None, int]:
    if part.kind == "items":
        row = _row(part, keys, content)
        return row, int(row != content)
    if part.kind == "rules":
        return without_sources(content, keys.reflections) if keys.reflections else (content, 0)
    if part.kind == "rows":
        return _filtered(content, lambda line: _row(part, keys, line))
    if part.kind == "lines":
        ids = frozenset[str]().union(*(keys.of(key) for key in part.keys))
        return _filtered(content, lambda line: None if _decoded(line).strip() in ids else line)
    quoted = _quoting(keys)
    return _filtered(content, lambda line: None if quoted(_decoded(line)) else line)


def _filtered(content: bytes, becomes: Callable[[bytes], bytes | None]) -> tuple[bytes, int]:
    r"""The lines as they become, each with the ``\n`` it had; how many of them are others or none."""
    lines = content.split(b"\n")
    out, count = [], 0
    for index, line in enumerate(lines):
        new = becomes(line) if line.strip() else line
        count += new != line
        if new is not None:
            out.append(new + (b"\n" if index < len(lines) - 1 else b""))
    return b"".join(out), count


def _row(part: Part, keys: Keys, row: bytes) -> bytes | None:
    """One JSON value without what points; as it is when it is none, or does not hold any of the ids."""
    ids = frozenset[str]().union(*(keys.of(pointer.key) for pointer in part.pointers))
    if not any(one.encode(errors="surrogateescape") in row for one in ids) and b"\\" not in row:
        return row
    try:
        new = without(row.decode(), part.pointers, keys)
    except ValueError:
        return row
    return None if new is None else new.encode()


def _decoded(line: bytes) -> str:
    return line.decode(errors="surrogateescape")


def _quoting(keys: Keys) -> Callable[[str], bool]:
    """Whether a line names the session or one of its reflections as a whole word, or quotes a lesson."""
    ids = {keys.session, *(one for one in keys.reflections if len(one) >= LEAST_ID)}
    words = re.compile(rf"(?<![A-Za-z0-9_-])(?:{'|'.join(map(re.escape, sorted(ids)))})(?![A-Za-z0-9_-])")
    parts = {part.strip() for lesson in keys.lessons for part in (lesson, *lesson.split("\n"))}
    quotes = [part for part in parts if len(part) >= LEAST_LESSON]
    return lambda line: words.search(line) is not None or any(quote in line for quote in quotes)
