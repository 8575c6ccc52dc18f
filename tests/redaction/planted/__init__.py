"""500 invented secrets and more than 5,000 clean values in, sessions of four formats that hold them out."""

from __future__ import annotations

from tests.redaction.planted.clean import CLEAN_CLASSES, SCHEME_WORDS, Clean, clean_values
from tests.redaction.planted.contexts import CONTEXTS, FORMATS, Planted, planted_all
from tests.redaction.planted.finding import strings, surviving, table_texts
from tests.redaction.planted.secrets import BY_ENTROPY, KINDS, PER_KIND
from tests.redaction.planted.sessions import Written, write_sessions

__all__ = [
    "BY_ENTROPY",
    "CLEAN_CLASSES",
    "CONTEXTS",
    "FORMATS",
    "KINDS",
    "PER_KIND",
    "SCHEME_WORDS",
    "Clean",
    "Planted",
    "Written",
    "clean_values",
    "planted_all",
    "strings",
    "surviving",
    "table_texts",
    "write_sessions",
]
