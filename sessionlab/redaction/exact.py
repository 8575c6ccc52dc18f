"""Texts and JSON values go in; the same after the exact rules comes out, with counts and places.

The walk (section 6.1 of ``datalayer-session/1``) keeps what is open in a list of its own, so that no nesting overflows
the stack. What happens at a key, a member, a string, an object or a list are methods of their own: a redactor with
more rules overrides these and leaves the walk alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import NoneType
from typing import Final

from sessionlab.redaction.credential_names import rule_of_key
from sessionlab.redaction.marks import MARK, UNCOUNTED, Finding
from sessionlab.redaction.text_rules import held_pattern, text_rules

_PLAIN_KEY: Final = re.compile(r"[^\W\d]\w*")
_LEAVES: Final = (str, int, float, NoneType)
_DROPPING: Final = ("signed_user", "runtime_address")
_LEFT: Final = ("", MARK)
"""What no key makes a credential of: nothing, or what was one (section 6.1, steps 1 and 2)."""
_SHOWN_STEPS: Final = 40
_SHOWN_KEY: Final = 60


class Walk(Enum):
    """What becomes of a member that is not replaced."""

    INTO = "its value is walked"
    DROP = "it goes, key and value"


class _Open:
    """An object or list that is being walked: what is still to come, what is written so far, the step it is at."""

    __slots__ = ("items", "members", "step", "written")

    def __init__(self, value: Mapping[object, object] | Sequence[object]) -> None:
        self.step: str | int | None = None
        self.items: list[object] | None = None
        self.written: dict[str, object] = {}
        self.members: Iterator[tuple[object, object]]
        if isinstance(value, Mapping):
            self.members = iter(value.items())
        else:
            self.items = []
            self.members = iter(enumerate(value))


class Redactor:
    """The six exact rules (section 6), applied to any number of texts and values, with one account of all.

    ``declared`` are the values of declared secrets, in the order in which they are looked for (sections 6.3 and 6.5:
    a shorter one first spoils a longer one that contains it). ``held`` are values known to be credentials
    (section 6.4); the longest is looked for first. Empty ones are passed over.

    ``place`` is set by the caller, for instance to ``line 3``: it stands in front of the places of what is found from
    then on, and within a value the path to it follows (``line 3.headers[0].value``).
    """

    def __init__(self, *, declared: Iterable[str] = (), held: Iterable[str] = ()) -> None:
        self.place = ""
        self.declared = tuple(value for value in declared if value)
        self.held = held_pattern(held)
        self._found: dict[tuple[str, str], int] = {}
        self._open: list[_Open] = []

    @property
    def counts(self) -> dict[str, int]:
        """Removals of each rule that removed anything, ``runtime_address`` among them."""
        counts: dict[str, int] = {}
        for (rule, _), count in self._found.items():
            counts[rule] = counts.get(rule, 0) + count
        return counts

    @property
    def redactions(self) -> int:
        """Removals of all rules but ``runtime_address`` (section 6.6)."""
        return sum(count for (rule, _), count in self._found.items() if rule != UNCOUNTED)

    @property
    def findings(self) -> list[Finding]:
        """What was removed where, one for each rule and place, in the order in which they were first met."""
        return [Finding(rule, place, count) for (rule, place), count in self._found.items()]

    def learn(self, value: object) -> None:
        """Look at a text or JSON value before anything is redacted: the exact rules learn nothing from it."""

    def title(self, text: str) -> str:
        """A name in a file's head: the exact rules leave it (section 6)."""
        return text

    def identifier(self, text: str) -> str:
        """An id: the exact rules leave it (section 6)."""
        return text

    def text(self, text: str) -> str:
        """``text`` after the text rules (section 6.3)."""
        return self._string(text)

    def value(self, value: object) -> object:
        """A JSON value after all rules (section 6.1); ``value`` itself is left as it is.

        Objects are mappings, their keys made strings; lists are ``list`` or ``tuple``, and become lists. What is
        neither of these nor a string stays the object it is.
        """
        outer, self._open = self._open, []
        try:
            return self._walked(value)
        finally:
            self._open = outer

    # What a redactor with more rules overrides.

    def _key(self, key: str) -> str:
        """The key under which a member is kept: the exact rules leave keys (section 6)."""
        return key

    def _member(self, key: str, value: object) -> object:
        """What becomes of an object's member: its replacement, or a `Walk` (section 6.1, steps 1, 2 and 4)."""
        rule = rule_of_key(key)
        if rule is None:
            return Walk.INTO
        if rule in _DROPPING:
            self._hit(rule)
            return Walk.DROP
        if value is None or (isinstance(value, str) and value in _LEFT):
            return Walk.INTO
        if rule == "bearer_token" and isinstance(value, (Mapping, list, tuple)):
            return Walk.INTO
        self._hit(rule)
        return MARK

    def _string(self, text: str) -> str:
        """A string after the text rules (section 6.3)."""
        return text_rules(text, self.declared, self.held, self._hit)

    def _scalar(self, value: object) -> object:
        """What is neither string, object nor list: the exact rules leave it (section 6.1, step 6)."""
        return value

    def _object(self, value: Mapping[object, object]) -> Mapping[object, object]:
        """An object before its members are walked; another may be walked in its place."""
        return value

    def _list(self, items: Sequence[object]) -> Sequence[object]:
        """A list before its items are walked; another may be walked in its place."""
        return items

    def _shown_key(self, key: str) -> str:
        """A key as it is shown in a place: without what the text rules find in it, and cut."""
        shown = text_rules(key, self.declared, self.held, _untold)
        return shown if len(shown) <= _SHOWN_KEY else shown[:_SHOWN_KEY] + "…"

    # What it calls.

    def _hit(self, rule: str, times: int = 1, *, at: str = "") -> None:
        """Count removals by ``rule`` at the place the walk has reached, ``at`` being a further path from there."""
        found = (rule, self._here() + at)
        self._found[found] = self._found.get(found, 0) + times

    def _here(self) -> str:
        """`place`, and the path to what is being walked; the middle of a long one is left out."""
        steps = self._open
        if len(steps) <= _SHOWN_STEPS:
            return self.place + "".join(map(self._shown_step, steps))
        half = _SHOWN_STEPS // 2
        first, last = ("".join(map(self._shown_step, part)) for part in (steps[:half], steps[-half:]))
        return f"{self.place}{first}…{last}"

    def _shown_step(self, open_: _Open) -> str:
        step = open_.step
        if not isinstance(step, str):
            return "" if step is None else f"[{step}]"
        key = self._shown_key(step)
        return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"

    def _walked(self, value: object) -> object:
        first = self._entered(value)
        if first is None:
            return self._leaf(value)
        self._open.append(first)
        while self._open:
            here = self._open[-1]
            inner = self._on(here)
            if inner is None:
                self._open.pop()
            else:
                self._open.append(inner)
        return first.written if first.items is None else first.items

    def _on(self, here: _Open) -> _Open | None:
        """Go on in what is open up to the next object or list in it, which is returned; None at its end."""
        items, written = here.items, here.written
        for step, value in here.members:
            if items is not None:
                here.step = len(items)
                inner = self._entered(value)
                if inner is not None:
                    items.append(inner.written if inner.items is None else inner.items)
                    return inner
                items.append(self._leaf(value))
                continue
            here.step = key = str(step)
            became = self._member(key, value)
            if became is Walk.DROP:
                continue
            name = self._key(key)
            if became is Walk.INTO:
                inner = self._entered(value)
                if inner is not None:
                    written[name] = inner.written if inner.items is None else inner.items
                    return inner
                became = self._leaf(value)
            written[name] = became
        return None

    def _entered(self, value: object) -> _Open | None:
        if isinstance(value, _LEAVES):
            return None
        if isinstance(value, Mapping):
            return _Open(self._object(value))
        if isinstance(value, (list, tuple)):
            return _Open(self._list(value))
        return None

    def _leaf(self, value: object) -> object:
        return self._string(value) if isinstance(value, str) else self._scalar(value)


def _untold(_rule: str, _times: int) -> None:
    """A removal that is not counted: from a key that is shown."""
