"""The first bytes of a file in; its byte order mark by name, and the same bytes as UTF-8 without it, out.

No format here is written with a mark, and none is read behind one: an editor or a shell that put it there broke the
file. It is looked at to tell whose file that was, and to name the reason when it is refused.
"""

from __future__ import annotations

_MARKS = (
    (b"\xef\xbb\xbf", "UTF-8", "utf-8"),
    (b"\xff\xfe", "UTF-16, little-endian", "utf-16-le"),
    (b"\xfe\xff", "UTF-16, big-endian", "utf-16-be"),
)


def mark_of(head: bytes) -> str | None:
    """Name of the encoding whose byte order mark stands in front; None: there is none."""
    return next((name for mark, name, _ in _MARKS if head.startswith(mark)), None)


def without_mark(head: bytes) -> bytes:
    """``head`` as UTF-8 without its mark; unchanged where it has none. A character cut at the end is left out."""
    for mark, _, codec in _MARKS:
        if head.startswith(mark):
            rest = head[len(mark) :]
            return rest if codec == "utf-8" else rest.decode(codec, "ignore").encode("utf-8", "replace")
    return head
