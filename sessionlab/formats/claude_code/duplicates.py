"""The text of a reply's line in, a note out where one of its objects names a member twice."""

from __future__ import annotations

import json

from sessionlab.formats.claude_code.decoding import Notes, Repairs
from sessionlab.formats.claude_code.records import Iteration, TokenUsage

LAST_BYTES = 800
"""Where the usage stands in a line: behind the content, before a few hundred bytes of the rest."""
_COUNTS = b'_tokens"'


def repeated(text: bytes, usage: TokenUsage) -> Notes:
    """A note where an object of a reply's line names a member twice; the last one stands (rule 50).

    Looking at every member of every line would cost a fifth of the reading, so a line is looked at only where its
    figures are in doubt: its last LAST_BYTES name more counts of tokens than were read.
    """
    if text.count(_COUNTS, -LAST_BYTES) <= _told(usage):
        return []
    repairs = Repairs()
    try:
        json.loads(text, parse_int=repairs.integer, object_pairs_hook=repairs.members)
    except (ValueError, RecursionError):
        return []
    return [note for note in repairs.notes() if note[0] == "duplicate_key"]


def _told(usage: TokenUsage) -> int:
    """How many members of a usage object whose names end in ``_tokens`` are not null."""
    split, details, attempts = usage.cache_creation, usage.output_tokens_details, usage.iterations
    told = (
        (usage.input_tokens is not None)
        + (usage.output_tokens is not None)
        + (usage.cache_creation_input_tokens is not None)
        + (usage.cache_read_input_tokens is not None)
    )
    if split is not None:
        told += (split.ephemeral_5m_input_tokens is not None) + (split.ephemeral_1h_input_tokens is not None)
    if details is not None:
        told += details.thinking_tokens is not None
    if usage.rest is not None:
        told += sum(name.endswith("_tokens") for name in usage.rest)
    if attempts:
        told += sum(map(_told_by_attempt, attempts))
    return told


def _told_by_attempt(attempt: Iteration) -> int:
    return _told(
        TokenUsage(
            input_tokens=attempt.input_tokens,
            output_tokens=attempt.output_tokens,
            cache_creation_input_tokens=attempt.cache_creation_input_tokens,
            cache_read_input_tokens=attempt.cache_read_input_tokens,
            cache_creation=attempt.cache_creation,
            output_tokens_details=attempt.output_tokens_details,
            rest=attempt.rest,
        )
    )
