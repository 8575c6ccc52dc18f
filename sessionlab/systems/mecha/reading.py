"""The path of a transcript in; what loading it as mecha does gives out (section 8)."""

from __future__ import annotations

import os
from pathlib import Path

from sessionlab.formats import mecha
from sessionlab.formats.mecha.loading import Transcript
from sessionlab.formats.mecha.loading import load as load_recording
from sessionlab.formats.recording import Recording


def load(path: str | os.PathLike[str]) -> Transcript:
    """A transcript, which may be torn, or still be written: a line that is no record is passed over and counted.

    Raises:
        Refused: its first record is no header.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        return load_recording(Recording(file, uri=os.fspath(path), format=mecha.NAME))
