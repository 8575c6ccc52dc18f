"""Texts and JSON values go in; the same after the exact rules, and those that close their holes, comes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sessionlab.redaction.credential_names import rule_of_key
from sessionlab.redaction.exact import Redactor, Walk
from sessionlab.redaction.marks import MARK, RULES, Finding
from sessionlab.redaction.members import argument_places, has_pair, is_schema, names_user_and_password, without_strings
from sessionlab.redaction.private import PRIVATE_RULES, Private
from sessionlab.redaction.pseudonyms import Pseudonyms
from sessionlab.redaction.seen import seen
from sessionlab.redaction.strict_names import is_header, is_password_name, is_strict_key
from sessionlab.redaction.strict_text import Hits, StrictText
from sessionlab.redaction.strict_values import is_clean, is_path

__all__ = ["PRIVATE_RULES", "STRICT_RULES", "StrictRedactor", "leaks"]

STRICT_RULES: Final = (
    *RULES,
    "object_key",
    "header_pair",
    "credential_key",
    "assignment",
    "argument",
    "credential_shape",
    "encoded",
    "learned_value",
)
"""The strict rules, the exact ones first."""

_ROUNDS: Final = 6


class _Strict(Redactor):
    """The walk of the strict rules. ``drops``: members that say who is signed in, and where, are dropped."""

    def __init__(self, texts: StrictText, *, drops: bool) -> None:
        super().__init__()
        self._texts = texts
        self._drops = drops

    def _string(self, text: str) -> str:
        answer = self._texts.redacted(text)
        for rule, count in answer.hits.items():
            self._hit(rule, count)
        return answer.text

    def _shown_key(self, key: str) -> str:
        return super()._shown_key(self._texts.redacted(key).text)

    def _member(self, key: str, value: object) -> object:
        if not self._drops and rule_of_key(key) in {"signed_user", "runtime_address"}:
            return Walk.INTO
        became = super()._member(key, value)
        if became == MARK:
            _, _, removed = without_strings(value, is_clean=_never)
            for text in removed:
                self._hear(text)
        return became

    def _see(self, text: str) -> None:
        """Take note of a text or key before it is redacted: there is nothing to note."""

    def _hear(self, text: str) -> None:
        """Take a credential, and what of it follows the name of a scheme, for one to be looked for elsewhere."""
        self._texts.hear(text)
        self._texts.hear(text.strip())
        self._texts.hear(text.strip().partition(" ")[2].strip())
        if "=" in text and ";" in text:
            for part in text.split(";"):
                value = part.partition("=")[2].strip()
                if any(mark.isdigit() for mark in value):
                    self._texts.hear(value)

    def _object(self, value: Mapping[object, object]) -> Mapping[object, object]:
        pair = has_pair(value)
        became: dict[str, object] | None = None
        names = self._names(value)
        if names is not None:
            became = {names[n]: member for n, member in enumerate(value.values())}
        for n, (key, member) in enumerate(value.items()):
            old = str(key)
            name = old if names is None else names[n]
            rule = pair.rule if key in pair.values else self._rule(old, name, member)
            if rule is None:
                continue
            new, count, removed = without_strings(
                member, is_clean=_is_marked if rule == "header_pair" else _is_harmless, numbers=is_password_name(old)
            )
            if count:
                became = {str(one): inner for one, inner in value.items()} if became is None else became
                became[name] = new
                self._hit(rule, count, at=self._step(name))
                for text in removed:
                    self._hear(text)
        return value if became is None else dict(became.items())

    def _step(self, name: str) -> str:
        shown = self._shown_key(name)
        return f".{shown}" if shown.isidentifier() else f"[{shown!r}]"

    def _rule(self, old: str, name: str, member: object) -> str | None:
        """The rule by which strings are removed from ``member`` that the exact rules leave there."""
        if not isinstance(member, (str, int, float, Mapping, list, tuple)) or isinstance(member, bool):
            return None
        exact = rule_of_key(name)
        if exact in {"authorization_header", "signed_user", "runtime_address"}:
            return None
        if is_header(old) or is_header(name):
            return "header_pair"
        is_scalar = not isinstance(member, (Mapping, list, tuple))
        if exact == "bearer_token" and is_scalar:
            return None
        if (
            is_scalar
            and old.lower() in {"auth", "_auth"}
            and isinstance(member, str)
            and names_user_and_password(member)
        ):
            return "credential_key"
        if exact or is_strict_key(old) or is_strict_key(name):
            return None if is_schema(member) else "credential_key"
        return None

    def _names(self, value: Mapping[object, object]) -> list[str] | None:
        """The keys of an object without what is secret in them, all distinct; None when nothing is."""
        old = [str(key) for key in value]
        new: list[str] = []
        for key in old:
            self._see(key)
            answer = self._texts.redacted(key)
            if answer.hits:
                self._hit("object_key", sum(answer.hits.values()))
            new.append(answer.text)
        if new == old:
            return None
        taken = {name for name, key in zip(new, old, strict=True) if name == key}
        for n, key in enumerate(old):
            if new[n] != key:
                name, number = new[n], 1
                while name in taken:
                    number += 1
                    name = f"{new[n]} {number}"
                taken.add(name)
                new[n] = name
        return new

    def _list(self, items: Sequence[object]) -> Sequence[object]:
        became: list[object] | None = None
        for n, rule in argument_places(items):
            secret = items[n]
            if isinstance(secret, str):
                became = list(items) if became is None else became
                became[n] = MARK
                self._hit(rule, at=f"[{n}]")
                self._hear(secret)
                if rule == "argument":
                    self._hear(secret.partition(":")[2])
        return items if became is None else became


class StrictRedactor(_Strict):
    """The exact rules, and what closes their holes: `STRICT_RULES`, and those of `PRIVATE_RULES` that ``also`` names.

    ``learn`` is called over everything first: credentials it meets are then removed wherever they stand. Redacting
    what is redacted changes and counts nothing. ``key`` is that of the pseudonyms (random when None): one key, one
    pseudonym for one thing. ``users`` and ``hosts`` are names to be replaced wherever they stand as words.
    ``keeps_prose``: behind the words bearer, basic and token, leave what reads as a sentence or as code
    (``the token count``), which the exact rule (section 6.3, rule 4) takes too.

    Raises:
        ValueError: ``also`` names no private rule.
    """

    def __init__(
        self,
        *,
        declared: Iterable[str] = (),
        held: Iterable[str] = (),
        also: Iterable[str] = (),
        key: bytes | None = None,
        users: Iterable[str] = (),
        hosts: Iterable[str] = (),
        keeps_prose: bool = False,
    ) -> None:
        self._pseudonyms = Pseudonyms(key)
        rules = tuple(also)
        self._private = Private(rules, self._pseudonyms, users, hosts) if rules else None
        texts = StrictText(declared, held, self._private, self._within, keeps_prose=keeps_prose)
        super().__init__(texts, drops=True)
        self._is_learning = False

    def learn(self, value: object) -> None:
        """Take the credentials, users and hosts in a text or JSON value, to be removed wherever they stand."""
        found, self._found = self._found, {}
        self._is_learning = True
        self._texts.drop_heard()
        try:
            super().value(value)
        finally:
            self._found = found
            self._is_learning = False
        self._texts.take_heard()

    def text(self, text: str) -> str:
        """``text`` after the strict rules."""
        return self._string(text)

    def title(self, text: str) -> str:
        """A name in a file's head, redacted as any text; what a cut left of a credential goes too."""
        text = self._string(text)
        last = (text.split() or [""])[-1]
        if not self._texts.begins(last):
            return text
        self._hit("learned_value")
        return text.rstrip().removesuffix(last) + MARK

    def identifier(self, text: str) -> str:
        """An id: itself when nothing in it is secret, else a pseudonym, the same wherever the id stands."""
        answer = self._texts.redacted(text)
        if not answer.hits:
            return text
        for rule, count in answer.hits.items():
            self._hit(rule, count)
        return self._pseudonyms.of("redacted", text)

    def value(self, value: object) -> object:
        """A JSON value after the strict rules: a new value; ``value`` itself is left as it is."""
        for _ in range(_ROUNDS):
            before = sum(self._found.values())
            value = super().value(value)
            if sum(self._found.values()) == before:
                return value
        self._hit("credential_key")
        return MARK

    def _see(self, text: str) -> None:
        if self._is_learning and self._private is not None:
            as_seen = seen(text)
            if self._private.learn(text if as_seen is None else as_seen.text):
                self._texts.forget()

    def _string(self, text: str) -> str:
        self._see(text)
        return super()._string(text)

    def _within(self, value: object) -> tuple[object, Hits]:
        """The value of a text that is JSON, after the rules; nothing is dropped from it."""
        inner = _Strict(self._texts, drops=False)
        return inner.value(value), inner.counts


def leaks(lines: Iterable[tuple[str, object]], *, declared: Iterable[str] = ()) -> list[Finding]:
    """What the strict rules find in ``lines``, pairs of a place and a JSON value or text; never a value itself.

    Places are those given, each with the path within its value: ``line 3.payload.headers[0].value``.
    """
    pairs = list(lines)
    redactor = StrictRedactor(declared=declared, keeps_prose=True)
    for _, value in pairs:
        redactor.learn(value)
    for place, value in pairs:
        redactor.place = place
        redactor.value(value)
    return redactor.findings


def _never(_text: str) -> bool:
    return False


def _is_harmless(text: str) -> bool:
    return is_clean(text) or is_path(text)


def _is_marked(text: str) -> bool:
    return not text.strip() or text == MARK
