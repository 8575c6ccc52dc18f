"""Windows of gg sessions as changes (specification, section 5.4; data model, section 1)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from sessionlab.formats.gg.windows import common_prefix
from sessionlab.tables import Entry, Window
from tests.formats.gg_examples import (
    HEADER,
    ROOT,
    agent,
    call,
    end,
    entry,
    frame,
    journal,
    message,
    of,
    read,
    request,
)


def _state(rows: list[Any], queue: str, seq: int) -> list[int]:
    """The list of a queue after entry ``seq``, rebuilt from its changes."""
    window: list[int] = []
    for row in of(rows, Window):
        if row.queue == queue and row.seq <= seq:
            if row.message_ix is None:
                del window[row.position :]
            else:
                window[row.position : row.position + 1] = [row.message_ix]
    return window


def test_windows_are_changes() -> None:
    """Rows hold what follows the common prefix, and where a shorter list ends; every list can be rebuilt from them."""
    lists = [[0], [0, 1, 2], [0, 1, 2], [0, 3, 2, 1], [0, 3], [0, 3, 1, 2, 0], []]
    lines = [call(i, *sent) for i, sent in enumerate(lists)]
    rows = read(journal(HEADER, ROOT, *[message(i, f"m{i}") for i in range(4)], *lines, end(len(lines))))
    assert [(w.seq, w.position, w.message_ix) for w in of(rows, Window)] == [
        (0, 0, 0),
        (1, 1, 1),
        (1, 2, 2),
        (3, 1, 3),
        (3, 2, 2),
        (3, 3, 1),
        (4, 2, None),
        (5, 2, 1),
        (5, 3, 2),
        (5, 4, 0),
        (6, 0, None),
    ]
    assert [_state(rows, "agent", i) for i in range(len(lists))] == lists
    assert [e.messages for e in of(rows, Entry)] == [1, 3, 3, 4, 2, 5, 0]


def test_queues_are_apart() -> None:
    """Each agent has a list of requests, one of compactions and one of frames; an error's request is in the first."""
    error = {"kind": "timeout", "message": "900 s"}
    lines = [
        call(0, 0),
        call(1, 1, 0, role="compaction"),
        entry(2, "model_error", request=request(0, 2), error=error),
        frame(3, 0, 2),
        call(4, 1, agent="agent-0"),
        call(5, 1, 2, role="compaction"),
    ]
    agents = [ROOT, agent("agent-0", {"type": "spawn", "parent": "root", "ordinal": 0})]
    rows = read(journal(HEADER, *agents, *[message(i, f"m{i}") for i in range(3)], *lines, end(6)))
    assert [(w.seq, w.agent_id, w.queue, w.position, w.message_ix) for w in of(rows, Window)] == [
        (0, "root", "agent", 0, 0),
        (1, "root", "compaction", 0, 1),
        (1, "root", "compaction", 1, 0),
        (2, "root", "agent", 1, 2),
        (3, "root", "frame", 0, 0),
        (3, "root", "frame", 1, 2),
        (4, "agent-0", "agent", 0, 1),
        (5, "root", "compaction", 1, 2),
    ]


@pytest.mark.parametrize(
    "change",
    [{"slot": "system"}, {"source": "memory"}, {"retention": "ephemeral"}, {"turn": 2}, {"label": "a"},
     {"region": {"offset": 1, "limit": 2}}],
)  # fmt: skip
def test_a_frame_changes_with_any_field(change: dict[str, Any]) -> None:
    """An item that names the same message is written again when one of its other fields differs."""
    rows = read(journal(HEADER, ROOT, message(0), call(0, 0), frame(1, 0), frame(2, 0), frame(3, 0, **change), end(4)))
    assert [(w.seq, w.position) for w in of(rows, Window) if w.queue == "frame"] == [(1, 0), (3, 0)]


def test_the_common_prefix() -> None:
    """The number of equal elements at the beginning, wherever the first difference stands."""
    for length in range(9):
        for differs_at in range(length):
            old = list(range(length))
            assert common_prefix(old, [*old[:differs_at], -1, *old[differs_at + 1 :]]) == differs_at
        assert common_prefix(list(range(length)), list(range(12))) == length


def test_long_sessions_stay_cheap() -> None:
    """A thousand turns of a growing conversation give rows for what is new, in time that grows with the bytes."""
    turns = 1_000
    lines: list[dict[str, Any]] = []
    for i in range(turns):
        lines += [message(i, f"m{i}"), call(2 * i, *range(i + 1)), frame(2 * i + 1, *range(i + 1))]
    data = journal(HEADER, ROOT, *lines, end(2 * turns))
    begun = time.process_time()
    rows = read(data, bodies=False)
    assert len(of(rows, Window)) == 2 * turns
    assert time.process_time() - begun < len(data) / 5e6  # 5 MB/s: a quadratic reading would be far below
