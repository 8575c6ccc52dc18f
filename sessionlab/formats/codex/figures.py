"""Token counts as Codex writes them in, the disjoint tokens of one call out.

Cached and cache-write tokens are parts of the input, reasoning is a part of the output (rules 22 to 24). Totals are
running sums over a thread, so a call is the difference of two of them (rules 12 to 16, 33). Null stays null.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from sessionlab.columns import tokens, tokens_fault
from sessionlab.formats.codex.members import UNREADABLE, Notes, members_of

FIELDS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens",
          "reasoning_output_tokens", "total_tokens")  # fmt: skip


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """One `total_token_usage` or `last_token_usage`; null where a field is not told."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None

    def parts(self) -> tuple[int | None, ...]:
        """The fields without the total."""
        return (
            self.input_tokens,
            self.cached_input_tokens,
            self.cache_write_input_tokens,
            self.output_tokens,
            self.reasoning_output_tokens,
        )

    def vector(self) -> str:
        """All fields as a text that names the total."""
        return "-".join("" if part is None else str(part) for part in (*self.parts(), self.total_tokens))


class Disjoint(NamedTuple):
    """What one call is charged for."""

    uncached: int | None
    read: int | None
    written: int | None
    output: int | None
    reasoning: int | None
    unsplit: int | None


_strict = msgspec.json.Decoder(Tokens)


def tokens_of(raw: bytes | None, notes: Notes) -> Tokens | None:
    """A usage object; None when there is none. A field that cannot be a count is null, with a note."""
    if raw is None:
        return None
    try:
        found = _strict.decode(raw)
    except UNREADABLE:
        members = members_of(raw, notes)
        if members is None:
            notes.append(("wrong_type", f"{raw[:40].decode(errors='replace')} where token counts were expected"))
            return None
        found = Tokens(*(members.integer(name) for name in FIELDS))
    values = (*found.parts(), found.total_tokens)
    faults = [tokens_fault(value) for value in values]
    if any(faults):
        for name, value, fault in zip(FIELDS, values, faults, strict=True):
            if fault is not None:
                notes.append((fault, f"{name} {value} cannot be meant; read as null"))
        return Tokens(*(tokens(value) for value in values))
    return found


def unchanged(now: Tokens, before: Tokens) -> bool:
    """Whether a total is the one already counted: all parts are equal (rules 14, 15).

    The plain total decides only where no part is told; alone it also moves when a context was compacted (rule 33).
    """
    if any(part is not None for part in now.parts()):
        return now.parts() == before.parts()
    return now.total_tokens == before.total_tokens


def dropped(now: Tokens, before: Tokens) -> bool:
    """Whether the counter began anew: a part is smaller than it was."""
    pairs = zip((*now.parts(), now.total_tokens), (*before.parts(), before.total_tokens), strict=True)
    told = [(a, b) for a, b in pairs if a is not None and b is not None]
    return any(a < b for a, b in told[:-1]) or (len(told) == 1 and told[0][0] < told[0][1])


def difference(now: Tokens, before: Tokens) -> Tokens:
    """What came on top; a field told for the first time counts from nothing."""
    pairs = zip((*now.parts(), now.total_tokens), (*before.parts(), before.total_tokens), strict=True)
    return Tokens(*(None if a is None else max(a - (b or 0), 0) for a, b in pairs))


def disjoint(figure: Tokens, notes: Notes) -> Disjoint:
    """The figure in tokens that add up; what a part has over its whole is cut off, with a note."""
    fresh, read, written = figure.input_tokens, figure.cached_input_tokens, figure.cache_write_input_tokens
    output, reasoning = figure.output_tokens, figure.reasoning_output_tokens
    if fresh is None and read is None and written is None and output is None:
        return Disjoint(None, None, None, None, reasoning, figure.total_tokens)
    if fresh is not None:
        cached = (read or 0) + (written or 0)
        if cached > fresh:
            notes.append(("clamped", f"{cached} cached tokens are more than the {fresh} input tokens they are part of"))
        fresh = max(fresh - cached, 0)
    if reasoning is not None and output is not None and reasoning > output:
        notes.append(("clamped", f"{reasoning} reasoning tokens are more than the {output} output tokens"))
        reasoning = output
    return Disjoint(fresh, read, written, output, reasoning, None)
