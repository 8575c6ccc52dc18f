"""The columns of the common tables; for each column of text, how it is gone through when a corpus is redacted."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc


class Treatment(StrEnum):
    """How the texts of a column are gone through."""

    TEXT = "text"
    """Free text, or a word of the recorder's: as text."""
    JSON = "json"
    """JSON where it can be read as that: as a value; anything else as text."""
    BODY = "body"
    """Of a part of a body, by its kind: what was called and what came besides as JSON, the rest as text."""
    IDENTIFIER = "identifier"
    """An id that other rows name: itself, or one pseudonym wherever it stands."""
    SESSION = "session"
    """The same for ``format:id``: what stands before the colon stays."""
    DIGEST = "digest"
    """A digest of bytes: replaced, wherever it stands, where what it was taken of was changed."""
    KEPT = "kept"
    """A word out of a closed list, which a format of ours chose: as it is."""


_WORDS: Final[dict[str, dict[Treatment, str]]] = {
    "sources": {
        Treatment.TEXT: "uri format_version reason",
        Treatment.DIGEST: "content_id",
        Treatment.KEPT: "format state superseded_rule",
    },
    "sessions": {
        Treatment.SESSION: "session_id same_as_session_id",
        Treatment.IDENTIFIER: "native_id routing_key",
        Treatment.TEXT: "title created_title provider model workspace surface state goal recorder recorder_version"
        " recorder_commit",
        Treatment.JSON: "detail",
        Treatment.KEPT: "format part",
    },
    "links": {
        Treatment.SESSION: "session_id other_session_id",
        Treatment.DIGEST: "digest",
        Treatment.JSON: "detail",
        Treatment.KEPT: "relation",
    },
    "agents": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "agent_id parent_agent_id spawn_call_id origin_key issue profile_id limit_agent_id",
        Treatment.TEXT: "profile model limit_hit",
        Treatment.JSON: "detail",
        Treatment.KEPT: "origin status",
    },
    "entries": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "agent_id call_id charge_id",
        Treatment.TEXT: "native_kind role purpose name reason",
        Treatment.JSON: "detail",
        Treatment.KEPT: "kind voice status",
    },
    "windows": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "agent_id",
        Treatment.TEXT: "slot band retention label",
        Treatment.KEPT: "queue",
    },
    "pools": {
        Treatment.SESSION: "session_id",
        Treatment.TEXT: "role",
        Treatment.DIGEST: "content_id original_id",
        Treatment.JSON: "detail",
        Treatment.KEPT: "pool",
    },
    "blocks": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "call_id",
        Treatment.TEXT: "name",
        Treatment.BODY: "text",
        Treatment.JSON: "detail",
        Treatment.KEPT: "pool kind",
    },
    "tool_calls": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "agent_id call_id charge_id",
        Treatment.TEXT: "name reason",
        Treatment.JSON: "arguments",
        Treatment.KEPT: "caller output_pool status refused_by",
    },
    "usage": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "agent_id charge_id request_id",
        Treatment.TEXT: "provider served_by model purpose tier",
        Treatment.JSON: "detail",
        Treatment.KEPT: "grain standing recorded_in",
    },
    "outcomes": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "agent_id",
        Treatment.TEXT: "provider model stop_cause goal",
        Treatment.JSON: "sensors",
        Treatment.KEPT: "stop_class",
    },
    "configs": {
        Treatment.SESSION: "session_id",
        Treatment.IDENTIFIER: "agent_id",
        Treatment.TEXT: "provider model effort permission_mode sandbox workspace branch recorder_version",
        Treatment.DIGEST: "tools_hash",
        Treatment.JSON: "detail",
    },
    "problems": {
        Treatment.SESSION: "session_id",
        Treatment.TEXT: "detail",
        Treatment.KEPT: "kind severity",
    },
    "extents": {Treatment.KEPT: "fate"},
    "_tellings": {Treatment.SESSION: "session_id"},
    "copies": {Treatment.KEPT: "rule"},
}

TREATMENTS: Final[dict[str, dict[str, Treatment]]] = {
    table: {name: treatment for treatment, names in told.items() for name in names.split()}
    for table, told in _WORDS.items()
}
"""By table and column: every column of text of every raw table, and of the tables folded out of them."""

SOURCE_IDS: Final = ("source_id", "superseded_by")
"""Columns that hold the digest of a file's uri."""
RECORD_IDS: Final = ("record_id", "parent_id")
"""Columns of entries that hold the digest of a record."""
JSON_KINDS: Final = frozenset({"call", "extra"})
"""Kinds of parts whose text is JSON of somebody's making; a tool's schema is text, as its names mean no values."""


def by_kind(blocks: pa.RecordBatch) -> dict[Treatment, pa.Array]:
    """Which parts of bodies have a text that is JSON, and which have plain text: a mask of the rows for each."""
    json = pc.is_in(blocks.column("kind"), value_set=pa.array(sorted(JSON_KINDS)))
    return {Treatment.JSON: json, Treatment.TEXT: pc.invert(json)}
