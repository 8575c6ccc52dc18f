"""A text and recordings in; the blocks that ever held the text out, whatever was rewritten since (mecha section 14).

``matching`` compares texts line by line, ``probe`` looks at raw bytes to pass over what cannot match, ``transcript``
searches a mecha transcript, ``pooled`` a recording of any other format, ``files`` many files.
"""

from __future__ import annotations

from sessionlab.recall.files import FileHit, Sweep, sweep
from sessionlab.recall.matching import Excerpt, Found, Hit, Needle, block_text
from sessionlab.recall.transcript import search_transcript

__all__ = ["Excerpt", "FileHit", "Found", "Hit", "Needle", "Sweep", "block_text", "search_transcript", "sweep"]
