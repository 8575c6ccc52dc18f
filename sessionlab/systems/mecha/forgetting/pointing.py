"""A row's text and the members that may point at a session in; the row without what points out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sessionlab.systems.mecha.forgetting import spans
from sessionlab.systems.mecha.forgetting.spans import Change, Value
from sessionlab.systems.mecha.forgetting.stores import Key, Pointer


class Keys(NamedTuple):
    """What a store may hold of a session.

    Attributes:
        session: its id.
        reflections: ids of its reflections.
        items: ids of its drafts.
        questions: ids of the questions it left waiting.
        lessons: what its reflections say.
    """

    session: str
    reflections: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()
    questions: frozenset[str] = frozenset()
    lessons: frozenset[str] = frozenset()

    def of(self, key: Key) -> frozenset[str]:
        """The ids that a member of this kind may hold."""
        if key == "session":
            return frozenset({self.session})
        return {"reflections": self.reflections, "items": self.items, "questions": self.questions}[key]


class _Hit(NamedTuple):
    """A value that a path leads to, the member it is, and the list's entry it stands in."""

    value: Value
    member: tuple[Value, int] | None
    entry: tuple[Value, int] | None


def without(text: str, pointers: Iterable[Pointer], keys: Keys) -> str | None:
    """``text`` (one JSON value) without what points; the same when nothing does; None when all of it goes.

    A member that is written twice points nowhere: nobody can say which of the two counts.

    Raises:
        ValueError: it is no JSON.
    """
    row = spans.parse(text)
    changes: list[Change] = []
    gone: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    lists: dict[tuple[int, int], Value] = {}

    def take(of: Value, indexes: Iterable[int]) -> None:
        lists[of.start, of.end] = of
        gone[of.start, of.end].update(indexes)

    for pointer in pointers:
        ids = keys.of(pointer.key)
        for hit in _hits(row, _steps(pointer.path)) if ids else ():
            if pointer.effect in {"element", "source", "support"}:
                named = [i for i, entry in enumerate(hit.value.values) if entry.text in ids]
                if hit.value.kind != "array" or not named:
                    continue
                is_last = len(named) == len(hit.value.values)
                if pointer.effect == "support" and is_last:
                    return None
                if pointer.effect == "source" and is_last and hit.entry is not None:
                    take(hit.entry[0], [hit.entry[1]])
                else:
                    take(hit.value, named)
            elif hit.value.text in ids:
                if pointer.effect == "row":
                    return None
                if pointer.effect == "entry" and hit.entry is not None:
                    take(hit.entry[0], [hit.entry[1]])
                elif pointer.effect == "member" and hit.member is not None:
                    of, index = hit.member
                    beside = (of.member(name) for name in pointer.beside)
                    take(of, [index, *(one for one in beside if one is not None)])
                else:
                    changes.append((hit.value.start, hit.value.end, "null" if pointer.effect == "null" else '""'))
    for place, indexes in gone.items():
        of = lists[place]
        changes += spans.cut(of.parts, indexes, (of.start + 1, of.end - 1))
    return spans.changed(text, changes)


def told(text: str, names: Sequence[str]) -> list[str | None]:
    """What these members of a row say, where they are strings and written once.

    Raises:
        ValueError: it is no JSON.
    """
    row = spans.parse(text)
    places = [row.member(name) for name in names]
    return [None if place is None else row.values[place].text for place in places]


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.replace("[]", ".[]").split("."))


def _hits(
    value: Value,
    path: tuple[str, ...],
    member: tuple[Value, int] | None = None,
    entry: tuple[Value, int] | None = None,
) -> Iterator[_Hit]:
    if not path:
        yield _Hit(value, member, entry)
        return
    step, rest = path[0], path[1:]
    if step == "**":
        yield from _hits(value, rest, member, entry)
        for index, part in enumerate(value.values):
            if value.kind == "array":
                yield from _hits(part, path, None, (value, index))
            elif value.names.count(value.names[index]) == 1:
                yield from _hits(part, path, (value, index), entry)
    elif step == "[]":
        if value.kind == "array":
            for index, part in enumerate(value.values):
                yield from _hits(part, rest, None, (value, index))
    else:
        place = value.member(step) if value.kind == "object" else None
        if place is not None:
            yield from _hits(value.values[place], rest, (value, place), entry)
