"""A workspace in; its git excludes the journal out, so that the journal never enters a commit (gg.md 4.8)."""

from __future__ import annotations

import logging
from pathlib import Path

PATTERN = "/.gg/"
"""Anchored: a folder of that name further down is the model's own."""

_log = logging.getLogger("sessionlab.gg")


def exclude_from_git(workspace: Path | str) -> bool:
    """Append ``/.gg/`` to the excludes of the repository ``workspace`` is the root of, unless it stands there.

    In a linked worktree they are those of the repository it hangs from, which all its worktrees share.

    Returns:
        Whether the line stands there now. False, with a warning in the log, where it could not be written; False
        where there is no repository.
    """
    try:
        folder = _git_folder(Path(workspace))
        if folder is None:
            return False
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}, which `.git` leads to, is no folder")
        _append_once(folder / "info" / "exclude")
    except (OSError, ValueError) as error:
        _log.warning("%s: the journal could not be excluded from git: %s", workspace, error)
        return False
    return True


def _git_folder(workspace: Path) -> Path | None:
    """The folder that holds ``info/exclude``: ``.git`` itself, or what a ``.git`` file leads to."""
    dot_git = workspace / ".git"
    if dot_git.is_dir():
        return dot_git
    if not dot_git.is_file():
        return None
    key, _, target = dot_git.read_text(encoding="utf-8").partition(":")
    if key != "gitdir":
        raise ValueError(f"{dot_git} does not begin with `gitdir:`")
    folder = workspace / target.strip()
    shared = folder / "commondir"
    return folder / shared.read_text(encoding="utf-8").strip() if shared.is_file() else folder


def _append_once(exclude: Path) -> None:
    if exclude.exists() and not exclude.is_file():  # a pipe would be waited at for ever
        raise OSError(f"{exclude} is no file")
    present = exclude.read_bytes() if exclude.exists() else b""
    if PATTERN.encode() in (line.rstrip(b"\r") for line in present.split(b"\n")):
        return
    exclude.parent.mkdir(parents=True, exist_ok=True)
    with exclude.open("ab") as file:
        file.write((b"" if not present or present.endswith(b"\n") else b"\n") + PATTERN.encode() + b"\n")
