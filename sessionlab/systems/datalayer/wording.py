"""A number and a noun in; both as a note says them, out."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 text``, ``2,000 texts``; ``many``: the plural, where it is not the noun with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
