"""A recording of any format in; the blocks of its pooled bodies that hold a text out."""

from __future__ import annotations

import msgspec

from sessionlab.formats import Format, Recording
from sessionlab.recall.matching import Found, Hit, Needle, image_placeholder
from sessionlab.tables import Block, Pool

POOLS = frozenset({"message", "response", "text"})
"""Pools that hold what was said: messages, replies kept apart, and texts such as outputs. Tool lists are none."""
KINDS = {"text": "text", "thinking": "thinking", "call": "tool_use", "result": "tool_result", "image": "image"}
"""Kinds of blocks that are searched, and the words recall has for them; ``extra`` and ``tool`` are no part of it."""


def search_pooled(fmt: Format, recording: Recording, needle: Needle, max_matches: int) -> Found:
    """Search what a format's reader pools of a recording; a message has one index, however often it is sent.

    Args:
        fmt: the format that claims the recording.
        recording: open, with bodies.
        needle: what is searched.
        max_matches: matching blocks beyond so many are only counted.
    """
    hits: list[Hit] = []
    more = messages = 0
    session_id: str | None = None
    roles: dict[tuple[str, int], str | None] = {}
    for row in fmt.read(recording):
        if isinstance(row, Pool) and row.pool in POOLS:
            messages += 1
            roles[row.pool, row.ix] = row.role
        elif isinstance(row, Block) and row.pool in POOLS and row.kind in KINDS:
            session_id = session_id or row.session_id
            text = text_of(row)
            if len(hits) >= max_matches:
                more += needle.matches(text)
            elif excerpts := needle.excerpts(text):
                role = roles.get((row.pool, row.ix))
                hits.append(Hit(row.pool, row.ix, role, row.block, KINDS[row.kind], excerpts))
    return Found(hits, more, messages, session_id)


def text_of(block: Block) -> str:
    """The text by which a pooled block is searched."""
    if block.kind == "call":
        return f"{block.name or ''} {block.text or ''}"
    if block.kind == "image":
        media_type = msgspec.json.decode(block.detail or "{}").get("media_type")
        return image_placeholder(block.name, None if media_type is None else str(media_type))
    return block.text or ""
