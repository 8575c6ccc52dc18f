"""The path of a transcript in; what loading it as mecha does gives out (section 8)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sessionlab.formats import mecha
from sessionlab.formats.mecha.loading import Transcript
from sessionlab.formats.mecha.loading import load as load_recording
from sessionlab.formats.recording import Recording

_WORD = re.compile(r"[\w-]+: ")


def load(path: str | os.PathLike[str], *, guard_title: bool = False) -> Transcript:
    """A transcript, which may be torn, or still be written: a line that is no record is passed over and counted.

    Args:
        path: the file.
        guard_title: where the created title is ``<word>: rest``, the last rename counts only if it keeps that word
            (8.5, as later builds have it); otherwise the last rename counts, whatever it says.

    Raises:
        Refused: its first record is no header.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        transcript = load_recording(Recording(file, uri=os.fspath(path), format=mecha.NAME))
    if guard_title:
        transcript.title = _guarded(transcript.header.title, transcript.title)
    return transcript


def _guarded(created: str | None, last: str | None) -> str | None:
    """The title by the guard of 8.5, its word as section 22 takes it; only the last rename is looked at."""
    word = _WORD.match(created or "")
    return created if word is not None and not (last or "").startswith(word[0]) else last
