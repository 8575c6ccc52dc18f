"""Recorded and replayed calls in, a table of both out: which call stands for which, and where they part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from sessionlab.replay.comparison import paired
from sessionlab.replay.trajectory import Call, RecordedCall

if TYPE_CHECKING:
    import polars as pl

Standing: TypeAlias = Literal["same", "arguments", "tool", "extra", "missing", "not compared"]
"""What became of a call: paired with equal or other arguments; where another tool stands for it; beyond the end of the
other run; behind the place where the runs part, or in a batch that could not be paired."""


class Aligned(NamedTuple):
    """One call of one run.

    Attributes:
        side: `recorded` or `replayed`.
        position: of the call in its run, 0-based.
        batch: of the call, where it has one.
        tool: its name.
        standing: what became of it.
        mate: position of the call of the other run that stands for it; null when none does.
    """

    side: Literal["recorded", "replayed"]
    position: int
    batch: int | None
    tool: str
    standing: Standing
    mate: int | None


def align(recorded: Sequence[RecordedCall], replayed: Sequence[Call], *, positional: bool = False) -> list[Aligned]:
    """Every call of both runs, the recorded ones first, each with what the comparison says of it (12.2)."""
    comparison = paired(recorded, replayed, positional=positional)
    ours: dict[int, tuple[Standing, int | None]] = {}
    theirs: dict[int, tuple[Standing, int | None]] = {}
    for pair in comparison.pairs:
        standing: Standing = "same" if pair.same else "arguments"
        ours[pair.recorded] = standing, pair.replayed
        theirs[pair.replayed] = standing, pair.recorded
    for one in comparison.divergences:
        if one.__struct_config__.tag == "tool":
            ours[one.index] = theirs[one.index] = "tool", one.index
        elif one.__struct_config__.tag == "missing":
            ours[one.index] = "missing", None
        elif one.__struct_config__.tag == "extra":
            theirs[one.index] = "extra", None
    return [*_side("recorded", recorded, ours), *_side("replayed", replayed, theirs)]


def alignment(recorded: Sequence[RecordedCall], replayed: Sequence[Call], *, positional: bool = False) -> pl.DataFrame:
    """The table that ``charts.divergence`` draws: :func:`align` as a polars frame, a column per attribute."""
    import polars as pl  # noqa: PLC0415 (loads only when a table is asked for)

    schema = {
        "side": pl.String,
        "position": pl.Int64,
        "batch": pl.Int64,
        "tool": pl.String,
        "standing": pl.String,
        "mate": pl.Int64,
    }
    return pl.DataFrame(align(recorded, replayed, positional=positional), schema=schema, orient="row")


def _side(
    side: Literal["recorded", "replayed"], calls: Iterable[Call], found: dict[int, tuple[Standing, int | None]]
) -> list[Aligned]:
    rows: list[Aligned] = []
    for at, call in enumerate(calls):
        standing, mate = found.get(at, ("not compared", None))
        batch = call.batch if isinstance(call, RecordedCall) else None
        rows.append(Aligned(side, at, batch, call.name, standing, mate))
    return rows
