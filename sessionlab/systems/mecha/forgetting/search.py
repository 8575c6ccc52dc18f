"""Directories and a session id in; every file that still holds the id, in its name or its bytes, out (mecha 15.4)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sessionlab.systems.mecha.forgetting.disk import LOCK, Disk

BLOCK_BYTES = 1 << 20
"""Read at a time: what a search costs in memory, however large a file is."""
_NOT_SEARCHED = frozenset({LOCK, ".git"})


class Holders(NamedTuple):
    """What a search found, each list in order.

    Attributes:
        holding: files, folders and links that hold the id.
        unreadable: files and folders that could not be read, so that nobody knows.
    """

    holding: list[Path]
    unreadable: list[Path]


def holders(disk: Disk, roots: Iterable[Path], session: str, passed: Iterable[Path] = ()) -> Holders:
    """Search everything below ``roots``; links in it are not followed.

    Args:
        disk: where it happens; a rehearsal is searched as the disk would be.
        roots: folders or files; what is below two of them is searched once.
        session: the id.
        passed: what is not searched, beside lock files and ``.git``: the set-aside transcript, and what goes next
            (paths without a link on the way).
    """
    needle = session.encode()
    holding: set[Path] = set()
    unreadable: set[Path] = set()
    skipped = frozenset(passed)
    entered: set[Path] = set()
    left = [Path(os.path.realpath(root)) for root in roots]
    while left:
        path = left.pop()
        if path in entered or path in skipped or path.name in _NOT_SEARCHED:
            continue
        entered.add(path)
        try:
            kind = disk.kind(path)
            if kind is not None and session in path.name:
                holding.add(path)
            if kind == "folder":
                left += [path / name for name in disk.names(path)]
            elif kind == "link":
                if session in str(path.readlink()):
                    holding.add(path)
            elif kind == "file" and path not in holding and _holds(disk.view(path), needle):
                holding.add(path)
        except FileNotFoundError:
            continue
        except OSError:
            unreadable.add(path)
    return Holders(sorted(holding), sorted(unreadable))


def _holds(content: Path | bytes | None, needle: bytes) -> bool:
    if content is None:
        return False
    if isinstance(content, bytes):
        return needle in content
    with content.open("rb") as stream:
        tail = b""
        while block := stream.read(BLOCK_BYTES):
            held = tail + block
            if needle in held:
                return True
            tail = held[len(held) - len(needle) + 1 :]
    return False
