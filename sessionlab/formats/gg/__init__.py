"""gg session capture, journal or assembled record, in; rows of the common tables out.

A journal and the record folded from it tell the same entries, windows, pools, blocks, tool calls, usage and agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.formats.gg.journal import read_journal
from sessionlab.formats.gg.lines import MEMBERS
from sessionlab.formats.gg.record import read_record
from sessionlab.formats.gg.replies import REPLY_MEMBERS
from sessionlab.formats.gg.sniffing import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessionlab.formats.recording import Recording
    from sessionlab.tables import Row

__all__ = ["IGNORED", "NAME", "OPEN", "USED", "read", "sniff"]

NAME = "gg"

USED: frozenset[str] = MEMBERS | REPLY_MEMBERS
"""Keys of the recording that become part of a row."""

OPEN: frozenset[str] = frozenset(
    {"arguments", "body", "capabilitySet", "data", "failure", "tools", "usageWire"}  # free-form, kept whole
    | {"modelModalities", "modelProviders", "modelWindows"}  # maps whose keys are model ids
)
"""Keys below which names are free."""

IGNORED: frozenset[str] = frozenset()
"""There are none: what no column holds stands in a detail."""


def sniff(head: bytes, /) -> bool:
    """Whether a file beginning with ``head`` is a gg journal or record."""
    return kind_of(head) is not None


def read(recording: Recording, /) -> Iterator[Row]:
    """The rows of a journal or a record; what is neither is read as a journal, and refused for want of a header."""
    return read_record(recording) if kind_of(recording.head()) == "record" else read_journal(recording)
