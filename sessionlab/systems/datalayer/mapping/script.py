"""Entries of a record as they are found in; the lines of the record, and what was left out, out."""

from __future__ import annotations

from collections import Counter

import msgspec

from sessionlab.formats.datalayer.fields import EntryLine
from sessionlab.systems.datalayer.mapping.lengths import Lengths, summary
from sessionlab.systems.datalayer.wording import counted

Payload = dict[str, object]


class Draft(msgspec.Struct):
    """An entry that may still be taken back: what a model said is a step until it turns out to be the answer."""

    kind: str
    at: str
    payload: Payload
    summary: str = ""
    dropped: bool = False


class Script:
    """The record being written.

    Attributes:
        drafts: its entries so far.
        lengths: cuts what is said.
        left_out: how many of what has no entry, by the words for it.
        notes: other things worth a sentence.
    """

    def __init__(self, *, whole: bool) -> None:
        self.drafts: list[Draft] = []
        self.lengths = Lengths(whole=whole)
        self.left_out: Counter[str] = Counter()
        self.notes: list[str] = []

    def add(self, kind: str, at: str, payload: Payload, said: str = "") -> Draft:
        """One more entry: members that are None are left out."""
        draft = Draft(kind, at, {name: value for name, value in payload.items() if value is not None}, said)
        self.drafts.append(draft)
        return draft

    def step(self, event: str, what: str, at: str, *, agent: str | None = None, **more: object) -> Draft:
        """An event of a harness: `event` is one of session, turn, plan, policy; `what` a word for it."""
        text = more.get("text") or more.get("error") or more.get("name")
        return self.add(
            "step", at, {"event": event, "what": what, "agent": agent, **more},
            summary(what, text if isinstance(text, str) else None),
        )  # fmt: skip

    def lines(self) -> list[EntryLine]:
        """The entries, in order."""
        return [
            EntryLine(record_type="entry", kind=draft.kind, at=draft.at, summary=draft.summary, payload=draft.payload)
            for draft in self.drafts
            if not draft.dropped
        ]

    def sentences(self) -> tuple[str, ...]:
        """What was left out, in sentences."""
        said = list(self.notes)
        if self.left_out:
            told = ", ".join(f"{words}: {count}" for words, count in sorted(self.left_out.items()))
            said.append(f"left out as bookkeeping of the recorder ({told})")
        if self.lengths.cut:
            were = "was" if self.lengths.cut == 1 else "were"
            lost = counted(self.lengths.characters, "character")
            said.append(
                f"{counted(self.lengths.cut, 'text')} {were} cut to the lengths of the format, {lost} left out;"
                " whole texts are kept when asked for"
            )
        return tuple(said)
