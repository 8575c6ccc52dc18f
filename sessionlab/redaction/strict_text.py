"""A text goes in; the text after the strict rules comes out, with the rules that removed something and how often.

A text is searched again until nothing is left to find, so that redacting it twice changes nothing. Marks are one sign
meanwhile, which no rule reads into. A text that does not come to rest is a mark as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sessionlab.redaction import assignments, header_lines, placed
from sessionlab.redaction.addresses import every_scheme, schemes, userinfo
from sessionlab.redaction.commands import command_credentials
from sessionlab.redaction.encoded import decoded, encoded
from sessionlab.redaction.further_shapes import FURTHER_SHAPES, aws_secrets
from sessionlab.redaction.json_text import Walk, json_redacted
from sessionlab.redaction.learned import Known, is_learnable
from sessionlab.redaction.marks import MARK, WITHHELD
from sessionlab.redaction.members import names_user_and_password
from sessionlab.redaction.private import Private
from sessionlab.redaction.seen import Seen, seen
from sessionlab.redaction.shapes import SHAPES, Shape
from sessionlab.redaction.spans import SIGN, Find

Hits = dict[str, int]

_ROUNDS: Final = 12
_DEEPEST: Final = 4  # texts within encoded or quoted texts
_LONG: Final = 11  # characters of a word that may hold a credential of a known shape
_KEPT: Final = 32_000_000  # characters of texts whose answers are kept
_GLUED, _PARTED = "/bot", "/bo/"
_OTHERS: Final = tuple(map(chr, range(0xFDD1, 0xFDF0)))
_ASCII_LOW: Final = {capital: capital + 32 for capital in range(65, 91)}


class Answer(NamedTuple):
    """A text after the rules, the removals by rule, and the values in it that are worth looking for everywhere."""

    text: str
    hits: Hits
    known: tuple[str, ...] = ()


class StrictText:
    """The strict rules for texts, and what has been learned so far.

    ``walk`` redacts the value of a JSON text, and says what it removed. ``keeps_prose``: behind the words bearer,
    basic and token, what reads as a sentence or as code is left.
    """

    def __init__(
        self, declared: Iterable[str], held: Iterable[str], private: Private | None, walk: Walk, *, keeps_prose: bool
    ) -> None:
        self.declared, self.held, self.learned = Known(), Known(), Known()
        self.declared.add(sorted(declared, key=len, reverse=True))
        self.held.add(held)
        self.private = private
        self._walk = walk
        self._keeps_prose = keeps_prose
        self._depth = 0
        self._heard: dict[str, None] = {}
        self._answers: dict[tuple[int, str], Answer] = {}
        self._kept = 0

    def hear(self, value: str) -> None:
        """Note that ``value`` was found to be a credential."""
        if SIGN not in value and MARK not in value and is_learnable(value):
            self._heard[value] = None
        token = value.rpartition(" ")[2]
        if names_user_and_password(token) and (pair := decoded(token)) is not None:  # what stands behind Basic
            self._heard.update((part, None) for part in (pair, pair.partition(":")[2]) if is_learnable(part))

    def begins(self, start: str) -> bool:
        """Whether ``start`` is the beginning of a credential that is declared, held or learned."""
        return any(known.begins(start) for known in (self.declared, self.held, self.learned))

    def take_heard(self) -> None:
        """Look everywhere from now on for what was heard since the last call."""
        self.learned.add(self._heard)
        self._heard = {}

    def drop_heard(self) -> None:
        """Leave what was heard since the last call."""
        self._heard = {}

    def forget(self) -> None:
        """Drop the answers kept: something was learned that changes them."""
        self._answers.clear()
        self._kept = 0

    def redacted(self, text: str) -> Answer:
        """``text`` without what must not be shared, with the removals by rule."""
        if not text:
            return Answer(text, {})
        is_known = self._is_known(text)
        answer = None if is_known else self._answers.get((self._depth, text))
        if answer is None:
            outer, self._heard = self._heard, {}
            try:
                became, hits = self._settled(text)
                answer = Answer(became, hits, tuple(self._heard))
            finally:
                self._heard = outer
            if not is_known:
                self._keep(text, answer)
        self._heard.update((value, None) for value in answer.known)
        return answer

    def _is_known(self, text: str) -> bool:
        """Whether a learned value is in ``text``, so that an answer kept from before it was learned is none."""
        as_seen = seen(text)
        texts = (text,) if as_seen is None else (text, as_seen.text)
        return any(next(iter(self.learned.spans(one)), None) is not None for one in texts)

    def holds(self, text: str) -> bool:
        """Whether anything would be removed from ``text``, a text within another."""
        return bool(self._within(text))

    def holds_more(self, text: str) -> bool:
        """The same of an escaped text, in which home folders are found anyway, and the rest of the path is kept."""
        return not self._within(text).keys() <= {"home_folder"}

    def _within(self, text: str) -> Hits:
        if self._depth >= _DEEPEST:
            return {}
        self._depth += 1
        try:
            return self.redacted(text).hits
        finally:
            self._depth -= 1

    def _keep(self, text: str, answer: Answer) -> None:
        self._kept += len(text) + 64
        if self._kept > _KEPT:
            self.forget()
            self._kept = len(text) + 64
        self._answers[self._depth, text] = answer

    def _settled(self, text: str) -> tuple[str, Hits]:
        if SIGN not in text:
            return self._rounds(text)
        other = next((sign for sign in _OTHERS if sign not in text), None)
        if other is None:
            return MARK, {"credential_shape": 1}
        found, hits = self._rounds(text.replace(SIGN, other))
        return found.replace(other, SIGN), hits

    def _rounds(self, text: str) -> tuple[str, Hits]:
        hits: Hits = {}
        for _ in range(_ROUNDS):
            text, is_changed = self._round(text, hits)
            if not is_changed:
                return text, hits
        return MARK, {**hits, "credential_shape": hits.get("credential_shape", 0) + 1}

    def _round(self, text: str, hits: Hits) -> tuple[str, bool]:
        """``text`` after one search of each kind, the first that finds anything; and whether one did."""
        if self._depth < _DEEPEST:
            self._depth += 1
            try:
                written = json_redacted(text, self._walk, hits)
            finally:
                self._depth -= 1
            if written is not None:
                return written, True
        marked = text.replace(MARK, SIGN)
        as_seen = seen(marked)
        finds = [] if as_seen is None else _moved(self._finds(as_seen.text), as_seen)
        finds = finds or self._finds(marked)
        if not finds and self.private is not None:
            finds = self.private.finds(marked) if as_seen is None else _moved(self.private.finds(as_seen.text), as_seen)
        if not finds:
            return text, False
        return _applied(marked, finds, hits).replace(SIGN, MARK), True

    def _finds(self, text: str) -> list[Find]:
        finds = [find for find in self._all(text) if find.becomes == "" or text[find.start : find.end].strip(SIGN)]
        for find in finds:
            if find.known:
                self.hear(text[find.start : find.end])
        return finds

    def _all(self, text: str) -> Iterator[Find]:
        for rule, known in (("declared_secret", self.declared), ("bearer_token", self.held)):
            yield from (Find(*span, rule) for span in known.spans(text))
        if WITHHELD in text:
            at = text.find(WITHHELD)
            while at >= 0:
                yield Find(at, at + len(WITHHELD), "bearer_token")
                at = text.find(WITHHELD, at + len(WITHHELD))
        words = [word for word in text.split() if len(word) >= _LONG]
        dense = "\n".join(words)
        yield from _shapes(text, dense, SHAPES, "bearer_token")
        yield from _shapes(text, dense, FURTHER_SHAPES, "credential_shape")
        if _GLUED in text:  # the one place where a token stands behind letters: https://api.example/bot<token>/call
            parted = text.replace(_GLUED, _PARTED)
            yield from _shapes(parted, parted, (*SHAPES, *FURTHER_SHAPES), "credential_shape")
        if words:
            yield from encoded(text, words, self.holds, self.holds_more)
            yield from (Find(*span, "credential_shape", known=True) for span in aws_secrets(text, words))
        low = text.lower()
        if len(low) != len(text):
            low = text.translate(_ASCII_LOW)
        if any(hint in low for hint in assignments.HINTS):
            yield from assignments.assignments(text, low)
        if any(hint in low for hint in placed.HINTS):
            yield from placed.placed(text)
        if any(hint in low for hint in header_lines.HINTS):
            yield from header_lines.header_lines(text, low)
        if "-" in text:
            yield from command_credentials(text)
        if "bearer" in low or "basic" in low or "token" in low or not text.isascii():
            yield from schemes(text, low)
            if not self._keeps_prose:
                yield from every_scheme(text)
        yield from userinfo(text)
        yield from (Find(*span, "learned_value") for span in self.learned.spans(text))


def _shapes(text: str, dense: str, shapes: Iterable[Shape], rule: str) -> Iterator[Find]:
    for shape in shapes:
        for hint in shape.hints:
            if hint in dense or (" " in hint and hint in text):
                yield from (Find(*span, rule, known=True) for span in shape.spans(text))
                break


def _moved(finds: Iterable[Find], as_seen: Seen) -> list[Find]:
    """The same finds, of a text as it is seen, where they stand in the text itself."""
    moved: list[Find] = []
    for find in finds:
        start, end = as_seen.origin(find.start, find.end)
        moved.append(find._replace(start=start, end=end))
    return moved


def _applied(text: str, finds: list[Find], hits: Hits) -> str:
    """``text`` with what each find becomes; finds that overlap become one, of the widest that stands first."""
    finds.sort(key=lambda find: (find.start, -find.end))
    parts: list[str] = []
    end = at = 0
    while at < len(finds):
        first = finds[at]
        last, becomes = first.end, first.becomes
        at += 1
        while at < len(finds) and finds[at].start < last:
            if finds[at].end > last:
                last = finds[at].end
                becomes = becomes if becomes.endswith(SIGN) else SIGN
            at += 1
        hits[first.rule] = hits.get(first.rule, 0) + 1
        parts += text[end : first.start], becomes
        end = last
    return "".join(parts) + text[end:]
