"""Entries of a record in; title, archive mark, agent and harness as they tell them out, and where the head differs.

The rules are those of datalayer.md section 10.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessionlab.formats.datalayer.fields import TITLE_POINTS, SessionLine
from sessionlab.formats.datalayer.payloads import Cleaned, Payload, text, valid

HEARD = frozenset({"session", "titled", "swapped"})
"""Kinds of entry that tell."""
_UNTOLD = object()


class Derived:
    """The facts as they stand after the entries heard; what no entry tells is not known, and never compared.

    The first `session` entry tells all four. Later `titled` entries replace title and mark, each where it says one; a
    `swapped` entry replaces agent and harness.
    """

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._facts: dict[str, object] = {}
        self._opening: dict[str, object] | None = None

    def hear(self, native: str, payload: Payload) -> None:
        """An entry of a kind that tells."""
        if native == "swapped":
            self._facts["agent"] = text(payload, "agent") or text(payload, "to") or _UNTOLD
            self._facts["harness"] = _harness(payload, "harness", "to_harness")
            return
        told = {"title": (text(payload, "title") or "")[:TITLE_POINTS] or _UNTOLD, "archived": _mark(payload)}
        if native == "titled":
            self._facts |= {name: value for name, value in told.items() if value is not _UNTOLD}
        elif self._opening is None:
            self._opening = {
                **told, "agent": text(payload, "agent") or _UNTOLD, "harness": _harness(payload, "harness"),
            }  # fmt: skip

    def differences(self, head: SessionLine) -> Iterator[tuple[str, str]]:
        """Where the head differs: the kind of the note, and both values in words."""
        facts = {**(self._opening or {}), **self._facts}
        for name in ("title", "archived", "agent", "harness"):
            derived, stated = facts.get(name, _UNTOLD), getattr(head, name)
            if isinstance(stated, str):
                stated = valid(stated, Cleaned())
            if derived is not _UNTOLD and derived != stated:
                yield f"head_{name}", f"the head says {_word(stated)}, the entries of the record say {_word(derived)}"


def _mark(payload: Payload) -> object:
    value = payload.get("archived")
    return value if type(value) is bool else _UNTOLD


def _harness(payload: Payload, *names: str) -> object:
    """The first of these members that names a harness; None when one says there is none, untold when none is there."""
    named = next((found for name in names if (found := text(payload, name)) is not None), None)
    if named is None and any(name in payload and payload[name] is None for name in names):
        return None
    return _UNTOLD if named is None else named


def _word(value: object) -> str:
    return "none" if value is None else str(value).lower() if type(value) is bool else repr(value)
