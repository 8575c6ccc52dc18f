"""mecha's own files acted on: sessions listed, loaded, written and filed away; tool surfaces kept (mecha.md)."""

from __future__ import annotations

from sessionlab.errors import TranscriptGone
from sessionlab.formats.mecha.loading import Transcript
from sessionlab.formats.mecha.wire import (
    Config,
    Image,
    Legs,
    Message,
    Meta,
    Outcome,
    Text,
    Thinking,
    Tokens,
    ToolResult,
    ToolUse,
)
from sessionlab.systems.mecha.home import mecha_home, session_directory
from sessionlab.systems.mecha.peek import peek
from sessionlab.systems.mecha.reading import load
from sessionlab.systems.mecha.store import Listing, Store, StoredSession
from sessionlab.systems.mecha.surfaces import SurfaceStore, ToolDefinition, compare, fingerprint, fnv1a_64
from sessionlab.systems.mecha.text import list_line, show_lines
from sessionlab.systems.mecha.writer import TranscriptWriter, new_id, opening_title

__all__ = [
    "Config",
    "Image",
    "Legs",
    "Listing",
    "Message",
    "Meta",
    "Outcome",
    "Store",
    "StoredSession",
    "SurfaceStore",
    "Text",
    "Thinking",
    "Tokens",
    "ToolDefinition",
    "ToolResult",
    "ToolUse",
    "Transcript",
    "TranscriptGone",
    "TranscriptWriter",
    "compare",
    "fingerprint",
    "fnv1a_64",
    "list_line",
    "load",
    "mecha_home",
    "new_id",
    "opening_title",
    "peek",
    "session_directory",
    "show_lines",
]
