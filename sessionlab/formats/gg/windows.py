"""A recorded list and the one before it in; the `Window` rows of what changed out.

What follows the common prefix is written again. A row without a message says that the list now ends before its
position: whatever stood there or behind it is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.tables import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessionlab.formats.gg.output import Output
    from sessionlab.formats.gg.records import Item


def common_prefix(old: Sequence[object], new: Sequence[object]) -> int:
    """How many elements ``old`` and ``new`` share at their beginning, by a few slice comparisons."""
    low, high = 0, min(len(old), len(new))
    if old[:high] == new[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def request_changes(out: Output, seq: int, agent_id: str, queue: str, *, old: list[int], new: list[int]) -> None:
    """The rows by which the messages of a request differ from those of the last one in its queue."""
    for position in range(common_prefix(old, new), len(new)):
        out.rows.append(
            Window(
                session_id=out.session_id,
                seq=seq,
                line=out.line,
                agent_id=agent_id,
                queue=queue,
                position=position,
                message_ix=new[position],
            )
        )
    _ends(out, seq, agent_id, queue, old=old, new=new)


def frame_changes(out: Output, seq: int, agent_id: str, old: list[Item], new: list[Item]) -> list[Item]:
    """The rows by which the items of a frame differ, in any of their fields, from those of the last; those items."""
    begin = common_prefix(old, new)
    changed = new[begin:]
    for position, item in enumerate(changed, begin):
        region = item.region
        out.rows.append(
            Window(
                session_id=out.session_id,
                seq=seq,
                line=out.line,
                agent_id=agent_id,
                queue="frame",
                position=position,
                message_ix=item.message,
                slot=item.slot,
                band=item.source,
                retention=item.retention,
                turn=item.turn,
                label=item.label,
                region_offset=None if region is None else region.offset,
                region_limit=None if region is None else region.limit,
            )
        )
    _ends(out, seq, agent_id, "frame", old=old, new=new)
    return changed


def _ends(out: Output, seq: int, agent_id: str, queue: str, *, old: Sequence[object], new: Sequence[object]) -> None:
    if len(new) < len(old):
        out.rows.append(
            Window(session_id=out.session_id, seq=seq, line=out.line, agent_id=agent_id, queue=queue, position=len(new))
        )
