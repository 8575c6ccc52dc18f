"""Divergences in, the sentences of a report about them out (mecha 12.8)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sessionlab.replay.comparison import (
    ArgumentsDivergence,
    Divergence,
    ExtraDivergence,
    ToolDivergence,
)
from sessionlab.replay.trajectory import Json


def sentence(divergence: Divergence) -> str:
    """One divergence in a sentence; calls are counted from 1."""
    place = f"call {divergence.index + 1:,}"
    if isinstance(divergence, ToolDivergence):
        return f"{place}: expected {divergence.expected}, found {divergence.actual}"
    if isinstance(divergence, ArgumentsDivergence):
        expected, actual = compact(divergence.expected), compact(divergence.actual)
        return f"{place}: {divergence.tool} with other arguments: expected {expected}, found {actual}"
    if isinstance(divergence, ExtraDivergence):
        return f"{place}: extra, {divergence.actual}"
    return f"{place}: missing, {divergence.expected}"


def opening(divergences: Sequence[Divergence], *, recorded: int, replayed: int, turns: int) -> str:
    """Whether a replay matched, with its calls and turns; else how much of the recording was replayed."""
    over = f"over {_counted(turns, 'turn')}"
    if not divergences:
        return f"matched: {_counted(recorded, 'call')} {over}"
    return f"replayed {replayed:,} of {_counted(recorded, 'call')} {over}"


def counts(divergences: Sequence[Divergence]) -> str:
    """How many divergences are structural, and how many differ in arguments only."""
    structural = sum(one.structural for one in divergences)
    alone = len(divergences) - structural
    return f"{_counted(structural, 'structural difference')}, {alone:,} of arguments only"


def final_texts(recorded: str, replayed: str) -> tuple[str, str] | None:
    """The first lines of both final texts where the texts differ; None where they are equal. No divergence."""
    if recorded == replayed:
        return None
    first, other = recorded.split("\n", 1)[0], replayed.split("\n", 1)[0]
    return first, other


def compact(value: Json) -> str:
    """A JSON value on one line, keys sorted, as arguments are written."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
