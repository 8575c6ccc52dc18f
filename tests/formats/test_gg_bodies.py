"""Bodies and replies of gg sessions as blocks (specification, sections 1.8 and 1.16)."""

from __future__ import annotations

import json
from typing import Any

from sessionlab.tables import Block, Entry, Pool, Problem
from tests.formats.gg_examples import (
    HEADER,
    ROOT,
    USAGE,
    call,
    end,
    entry,
    journal,
    message,
    of,
    read,
    request,
)


def test_a_reply_that_is_no_object() -> None:
    """Section 11: null for a required free-form member is accepted; nothing is known of the reply."""
    rows = read(journal(HEADER, ROOT, message(0), entry(0, "model_io", request=request(0), response=None), end(1)))
    assert [p.kind for p in of(rows, Problem)] == ["malformed_reply", "usage_missing"]
    assert [(p.pool, p.ix, p.body_bytes) for p in of(rows, Pool)][1:] == [("response", 0, 4)]
    assert [e.output_ix for e in of(rows, Entry)] == [0]


def test_blocks_of_every_shape() -> None:
    """Section 1.16: content, calls, images; a tool's answer; members of other names as extras, never dropped."""
    bodies: list[Any] = [
        {"role": "assistant", "content": "hi", "toolCalls": [{"id": "c", "name": "n", "arguments": {"a": 1}}]},
        {"role": "tool", "content": "out", "toolCallId": "c"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, "y", {"mediaType": "image/gif", "bytes": 9}, 4]},
        {"role": "user", "mood": "calm"},
        "bare",
    ]
    lines = [{"type": "message", "index": i, "message": {"id": f"{i}" * 32, "body": b}} for i, b in enumerate(bodies)]
    found = [
        (b.ix, b.block, b.kind, b.call_id, b.name, b.text, b.detail) for b in of(read(journal(HEADER, *lines)), Block)
    ]
    assert found == [
        (0, 0, "text", None, None, "hi", None),
        (0, 1, "call", "c", "n", '{"a":1}', None),
        (1, 0, "result", "c", None, "out", None),
        (2, 0, "text", None, None, "x", '{"type":"text"}'),
        (2, 1, "text", None, None, "y", None),
        (2, 2, "image", None, None, None, '{"mediaType":"image/gif","bytes":9}'),
        (2, 3, "extra", None, "content", "4", None),
        (3, 0, "extra", None, "mood", '"calm"', None),
        (4, 0, "extra", None, None, '"bare"', None),
    ]


def test_members_of_a_reply() -> None:
    """Facts go to columns and details, what is said to blocks, the unheard-of to extras."""
    response = {
        "text": "done",
        "finishReason": {"other": "paused"},
        "usage": USAGE,
        "usageWire": {"prompt_tokens": 3},
        "usageReconciled": True,
        "mood": [1],
    }
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0, response=response), end(1)))
    (told,) = of(rows, Entry)
    assert told.reason == "paused"
    assert json.loads(told.detail or "") == {
        "shape": "complete",
        "finishReason": {"other": "paused"},
        "usageWire": {"prompt_tokens": 3},
        "usageReconciled": True,
    }
    replies = [(b.kind, b.name, b.text) for b in of(rows, Block) if b.pool == "response"]
    assert replies == [("text", None, "done"), ("extra", "mood", "[1]")]
