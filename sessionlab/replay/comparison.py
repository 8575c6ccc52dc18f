"""Recorded calls and replayed calls in, where they part out: an ordered list of divergences (mecha 12.2, 12.3)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

import msgspec

from sessionlab.errors import WrongUse
from sessionlab.replay.trajectory import Call, Json, RecordedCall, trimmed


class ToolDivergence(msgspec.Struct, frozen=True, tag_field="kind", tag="tool"):
    """Another tool was called: the comparison ends here.

    Attributes:
        index: position in the recording, 0-based.
        expected, actual: names of the recorded tool and of the one called.
    """

    structural: ClassVar[bool] = True
    index: int
    expected: str
    actual: str


class ArgumentsDivergence(msgspec.Struct, frozen=True, tag_field="kind", tag="arguments"):
    """The right tool with other arguments: no proof of equivalence, nor of a regression.

    Attributes:
        index: position of the recorded call, 0-based.
        tool: its name.
        expected, actual: the recorded arguments and those of the call paired with it.
    """

    structural: ClassVar[bool] = False
    index: int
    tool: str
    expected: Json
    actual: Json


class ExtraDivergence(msgspec.Struct, frozen=True, tag_field="kind", tag="extra"):
    """The replay called on after the recording ran out.

    Attributes:
        index: position of the call among the replayed ones, 0-based.
        actual: the tool called.
    """

    structural: ClassVar[bool] = True
    index: int
    actual: str


class MissingDivergence(msgspec.Struct, frozen=True, tag_field="kind", tag="missing"):
    """The replay ended before this recorded call.

    Attributes:
        index: position in the recording, 0-based.
        expected: the tool that was not called.
    """

    structural: ClassVar[bool] = True
    index: int
    expected: str


Divergence: TypeAlias = ToolDivergence | ArgumentsDivergence | ExtraDivergence | MissingDivergence
"""One place where a replay departs from its recording; ``structural``: it made another sequence of calls."""


class Pair(NamedTuple):
    """A recorded call and the replayed one that stands for it, by position; ``same``: their arguments are equal."""

    recorded: int
    replayed: int
    same: bool


class Comparison(NamedTuple):
    """What a comparison found: the divergences in order, and the calls that were paired."""

    divergences: list[Divergence]
    pairs: list[Pair]


def as_json(divergence: Divergence) -> dict[str, Json]:
    """The divergence as an object, its members in the order of 12.3."""
    kind = str(divergence.__struct_config__.tag)
    return {"kind": kind, **{name: getattr(divergence, name) for name in divergence.__struct_fields__}}


def same_arguments(one: Json, other: Json) -> bool:
    """Whether two calls have the same arguments: strings trimmed, all else exactly (12.2)."""
    return _canonical(one, trim=True) == _canonical(other, trim=True)


def same_json(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON: ``true`` is not ``1``, ``1`` is not ``1.0``, strings as they are."""
    return _canonical(one, trim=False) == _canonical(other, trim=False)


def compare(
    recorded: Sequence[RecordedCall], replayed: Sequence[Call], *, positional: bool = False, base: int = 0
) -> list[Divergence]:
    """Where the replayed calls part from the recorded ones, in order; empty when they do not.

    The order of calls matters between batches, not inside one. Arguments that differ are reported and passed over;
    another tool ends the comparison.

    Args:
        recorded: the recorded calls, or the tail of them that was replayed.
        replayed: the calls made, in the order they were made.
        positional: compare call by call, whatever the batches: the rule of early builds.
        base: position in the whole recording of the first call of ``recorded``; added to every index.

    Raises:
        WrongUse: arguments that are no JSON.
    """
    return paired(recorded, replayed, positional=positional, base=base).divergences


def paired(
    recorded: Sequence[RecordedCall], replayed: Sequence[Call], *, positional: bool = False, base: int = 0
) -> Comparison:
    """As :func:`compare`, with the calls that were paired on the way (positions without ``base``)."""
    found: list[Divergence] = []
    pairs: list[Pair] = []
    at = 0
    while at < len(recorded) and at < len(replayed):
        end = at + 1 if positional else _window_end(recorded, at)
        want, got = recorded[at:end], replayed[at:end]
        mates = _mates(want, got)
        if mates is None:
            names = ((ours.name, theirs.name) for ours, theirs in zip(want, got, strict=False))
            parted = next(((at + i, *both) for i, both in enumerate(names) if both[0] != both[1]), None)
            if parted is not None:
                index, expected, actual = parted
                return Comparison([*found, ToolDivergence(index + base, expected, actual)], pairs)
            break
        for offset, (mate, same) in enumerate(mates):
            pairs.append(Pair(at + offset, at + mate, same))
            if not same:
                ours = want[offset]
                found.append(ArgumentsDivergence(at + offset + base, ours.name, ours.input, got[mate].input))
        at = end
    found += [ExtraDivergence(i + base, replayed[i].name) for i in range(len(recorded), len(replayed))]
    found += [MissingDivergence(i + base, recorded[i].name) for i in range(len(replayed), len(recorded))]
    return Comparison(found, pairs)


def _window_end(recorded: Sequence[RecordedCall], at: int) -> int:
    """Where the batch of the call ends; a call without a batch is alone."""
    batch = recorded[at].batch
    end = at + 1
    if batch is not None:
        while end < len(recorded) and recorded[end].batch == batch:
            end += 1
    return end


def _mates(want: Sequence[Call], got: Sequence[Call]) -> list[tuple[int, bool]] | None:
    """For each recorded call of a window its replayed one and whether the arguments are equal; None: no pairing.

    The same tool and arguments first, then the same tool, each time the first call not yet taken.
    """
    if len(want) != len(got):
        return None
    if len(want) == 1:
        ours, theirs = want[0], got[0]
        return [(0, same_arguments(ours.input, theirs.input))] if ours.name == theirs.name else None
    keys = [(call.name, _canonical(call.input, trim=True)) for call in got]
    exact: dict[tuple[str, _Key], deque[int]] = defaultdict(deque)
    for place, key in enumerate(keys):
        exact[key].append(place)
    wanted = [exact.get((call.name, _canonical(call.input, trim=True))) for call in want]
    taken: list[int | None] = [places.popleft() if places else None for places in wanted]
    by_name: dict[str, deque[int]] = defaultdict(deque)
    used = set(taken)
    for place, call in enumerate(got):
        if place not in used:
            by_name[call.name].append(place)
    mates: list[tuple[int, bool]] = []
    for call, exactly in zip(want, taken, strict=True):
        if exactly is not None:
            mates.append((exactly, True))
        elif by_name[call.name]:
            mates.append((by_name[call.name].popleft(), False))
        else:
            return None
    return mates


_Key: TypeAlias = tuple[object, ...]


def _canonical(value: Json, *, trim: bool) -> _Key:
    """A hashable form of a JSON value, equal for equal values: its parts in order, each behind the word for its type.

    Built without recursion: arguments may be nested deeper than Python calls.
    """
    return tuple(_parts(value, trim=trim))


def _parts(value: object, *, trim: bool) -> Iterator[object]:
    left: list[object] = [value]
    while left:
        part = left.pop()
        kind = type(part)
        yield kind
        if isinstance(part, str):
            yield trimmed(part) if trim else part
        elif isinstance(part, list):
            yield len(part)
            left.extend(reversed(part))
        elif isinstance(part, dict):
            names = sorted(part)
            yield tuple(names)
            left.extend(part[name] for name in reversed(names))
        elif part is None or isinstance(part, int | float):
            yield part
        else:
            raise WrongUse(f"arguments of a call: expected JSON, found {kind.__name__}")
