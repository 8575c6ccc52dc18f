"""A listed session, or a loaded transcript, in; its lines as mecha prints them, in either generation, out (16.4).

Generation ``a`` is that of release 0.1.11; ``b``, the later one, adds the kind of a session and a sign of its own for
text that the harness wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from sessionlab.formats._values import compact_sorted, micros
from sessionlab.formats.mecha import marks
from sessionlab.formats.mecha.loading import Transcript
from sessionlab.formats.mecha.wire import Message, Text, ToolResult, ToolUse
from sessionlab.systems.mecha.store import StoredSession
from sessionlab.systems.mecha.times import at

Generation = Literal["a", "b"]

UNKNOWN = "—"
CUT = 120
"""Characters shown of a call's input and of a result's first line."""
_KIND_WIDTH, _MODEL_WIDTH = 9, 24


def list_line(session: StoredSession, generation: Generation = "b") -> str:
    """Id, creation time in UTC to the minute, kind (b), model, created title or nothing."""
    cells = [session.id, f"{session.created_at:%Y-%m-%d %H:%M}"]
    if generation == "b":
        cells.append(f"{session.kind or UNKNOWN:<{_KIND_WIDTH}}")
    return "  ".join([*cells, f"{session.model:<{_MODEL_WIDTH}}", session.title or ""]).rstrip()


def show_lines(transcript: Transcript, generation: Generation = "b") -> Iterator[str]:
    """A head line; then the list in force: › user, ⟐ harness (b), the model plain, → calls, ✓ ✗ results.

    Thinking and images are not shown. A text may take several lines, which are yielded one by one.
    """
    header = transcript.header
    created = micros(header.created_at.upper())
    when = UNKNOWN if created is None else f"{at(created):%Y-%m-%d %H:%M:%S}"
    yield f"{header.id}  {header.model}  {header.provider}  {when}"
    for message in transcript.messages:
        if message.role == "assistant":
            yield from _reply(message)
        else:
            yield from _heard(message, generation)


def _reply(message: Message) -> Iterator[str]:
    for block in message.content:
        if isinstance(block, Text) and block.text.strip():
            yield from block.text.split("\n")
        elif isinstance(block, ToolUse):
            yield f"→ {block.name} {_first(compact_sorted(block.input))}"


def _heard(message: Message, generation: Generation) -> Iterator[str]:
    texts = [block.text for block in message.content if isinstance(block, Text)]
    by_harness = generation == "b" and marks.speaker(texts, harness=message.harness) == "harness"
    for block in message.content:
        if isinstance(block, Text) and block.text.strip():
            first, *rest = block.text.split("\n")
            yield f"{'⟐' if by_harness else '›'} {first}"
            yield from rest
        elif isinstance(block, ToolResult):
            yield f"{'✗' if block.is_error else '✓'} {_first(block.content)}".rstrip()


def _first(text: str) -> str:
    line = text.split("\n", 1)[0].removesuffix("\r")
    return line if len(line) <= CUT else line[:CUT] + "…"
