"""A session's header in; its workspace and spilled tool output removed, or kept and said so, out (mecha 15.2, 15.3)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sessionlab.formats.mecha.wire import Meta
from sessionlab.systems.mecha.forgetting.disk import Disk
from sessionlab.systems.mecha.forgetting.places import Places
from sessionlab.systems.mecha.peek import peek

ENDINGS = (".jsonl", ".jsonl.forgetting")
"""Transcripts that may name a workspace: also those that a delete of another session has set aside."""


class Belongings(NamedTuple):
    """What a session's header says of where it worked.

    Attributes:
        folders: what goes, in order: its workspace and its spilled tool output.
        kept: what stays on purpose, in words.
        unknown: what stays because nobody can tell whose it is, in words.
    """

    folders: tuple[Path, ...]
    kept: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def belongings(disk: Disk, places: Places, session: str, header: Meta | None) -> Belongings:
    """What of ``work`` and ``spill`` is the session's alone.

    A workspace is removed when it is really below the home's ``work`` directory, links resolved, and no other header
    names it or a folder in it. Spilled output goes with it when its folder has the same path below ``spill``, or the
    session's id for a name.

    Raises:
        OSError: another session's header cannot be read: it may name the same workspace.
    """
    work, spill = places.at("work"), places.at("spill")
    own = spill / session
    headers = [header for _, header in transcripts(disk, places) if header.id != session]
    others = [place for place in map(_place, headers) if place is not None]
    owners = {session, *(header.id for header in headers)}
    if header is None:
        told = "the transcript's header could not be read, so its workspace could not be determined; what it wrote"
        return Belongings((own,), (), (f"{told} below {work} was kept", *_strangers(disk, spill, owners, others, work)))
    place = _place(header)
    if place is None:
        told = f"its workspace could not be determined: the header says {header.workspace!r}, which is no full path"
        return Belongings((own,), (), (told, *_strangers(disk, spill, owners, others, work)))
    unknown = tuple(_strangers(disk, spill, owners, [*others, place], work))
    if work not in place.parents:
        told = (
            f"files the conversation wrote in {header.workspace} are outside of {work}: they are yours, and were kept"
        )
        return Belongings((own,), (told,), unknown)
    spilled = spill / place.relative_to(work)
    sharing = sum(1 for one in others if one == place or place in one.parents)
    if sharing:
        which = f"{sharing} other conversation{'' if sharing == 1 else 's'}"
        also = f" and its spilled tool output in {spilled}" if disk.kind(spilled) else ""
        return Belongings((own,), (f"{header.workspace}{also} is shared with {which}, and was kept",), unknown)
    return Belongings((place, spilled, own), (), unknown)


def transcripts(disk: Disk, places: Places) -> Iterator[tuple[Path, Meta]]:
    """Every file of the session directory that has a header, with it.

    Raises:
        OSError: the directory or a file cannot be read.
    """
    for name in disk.names(places.sessions):
        path = places.sessions / name
        seen = disk.view(path) if name.endswith(ENDINGS) and disk.kind(path) == "file" else None
        if isinstance(seen, Path):
            try:
                header = peek(seen)
            except FileNotFoundError:
                continue
            if header is not None:
                yield path, header


def _place(header: Meta) -> Path | None:
    """Where a session's workspace really is; None when the header has no full path."""
    workspace = header.workspace
    if "\0" in workspace or not workspace.startswith(os.sep):
        return None
    return Path(os.path.realpath(workspace))


def _strangers(disk: Disk, spill: Path, owners: set[str], known: list[Path], work: Path) -> Iterator[str]:
    """A sentence about spilled output of which no header says whose it is."""
    firsts = {place.relative_to(work).parts[0] for place in known if work in place.parents}
    names = [name for name in disk.names(spill) if name not in owners | firsts and disk.kind(spill / name)]
    if names:
        shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")  # noqa: PLR2004 (an example or three)
        yield f"{spill} has spilled tool output of which no session says that it is its own ({shown}): it was kept"
