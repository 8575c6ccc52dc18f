"""The entries of a session and how its runs ended in; behind which entry each run of each agent is over, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessionlab.systems.datalayer.mapping.material import Outcome, Place, Told

CONVERSATION = frozenset({
    "message", "extend", "model_call", "model_error", "tool_call", "tool_result", "rewrite", "compaction",
    "run_start", "run_end",
})  # fmt: skip
"""Kinds of entries that belong to a run's work; others stand beside it."""
BESIDE = frozenset({"rewrite", "compaction", "run_end"})
"""Those of them that begin no run: by themselves they ask and answer nothing."""


class End(NamedTuple):
    """The end of a run of an agent."""

    outcome: Outcome | None
    is_last: bool


class Ends:
    """Where runs end.

    A run whose end an entry tells is over behind that entry, or behind the last of its work where more came; one whose
    end nothing tells is over behind its last entry.
    """

    def __init__(self, entries: Sequence[Told], outcomes: Mapping[str, Mapping[int | None, Outcome]]) -> None:
        worked: dict[tuple[str, int | None], int] = {}
        named: dict[tuple[str, int | None], int] = {}
        at: dict[Place, int] = {}
        for n, told in enumerate(entries):
            at[told.place] = n
            named[told.agent, told.run] = n
            if told.kind in CONVERSATION:
                worked[told.agent, told.run] = n
        last: dict[str, tuple[str, int | None]] = {}
        for key in sorted(worked, key=worked.__getitem__):
            last[key[0]] = key
        self._ends: dict[Place, list[End]] = {}
        for key, n in named.items():
            outcome = outcomes.get(key[0], {}).get(key[1])
            end = n
            if outcome is not None and outcome.seq is not None:
                told_at = at.get((outcome.source, outcome.seq))
                end = n if told_at is None else max(told_at, worked.get(key, told_at))
            self._ends.setdefault(entries[end].place, []).append(End(outcome, last.get(key[0]) == key))

    def after(self, told: Told) -> Sequence[End]:
        """The runs of its agent that are over behind that entry."""
        return self._ends.get(told.place, ())
