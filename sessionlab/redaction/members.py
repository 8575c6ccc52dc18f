"""Objects and lists go in; which of their members are credentials by what stands beside them comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from sessionlab.redaction.encoded import decoded
from sessionlab.redaction.marks import MARK
from sessionlab.redaction.strict_names import is_header, is_option, is_strict_key, takes_a_pair
from sessionlab.redaction.strict_values import is_clean, looks_random

_NAMING: Final = frozenset({"name", "key", "header", "headername", "header_name", "field", "k", "variable"})
_VALUES: Final = frozenset({"value", "val", "v", "values", "headervalue", "header_value", "content"})
_SCHEMA_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SCHEMA_MEMBERS: Final = frozenset({"$ref", "anyOf", "allOf", "oneOf"})
_PAIR: Final = 2
_LONG: Final = 8
_PASSWORD_COMMANDS: Final = frozenset({"sshpass", "mysql", "mysqldump", "mysqladmin", "mariadb"})


class Pair(NamedTuple):
    """The keys whose members belong to a name said beside them, and the rule that removes them."""

    values: frozenset[object]
    rule: str | None


_NO_PAIR: Final = Pair(frozenset(), None)


def has_pair(value: Mapping[object, object]) -> Pair:
    """What of an object is the value of a header or setting that the object names: ``{"name": …, "value": …}``."""
    if len(value) < _PAIR:
        return _NO_PAIR
    rule: str | None = None
    values: list[object] = []
    for key, member in value.items():
        if isinstance(key, str):
            lower = key.lower()
            if lower in _NAMING and isinstance(member, str) and rule is None:
                rule = "header_pair" if is_header(member) else "credential_key" if is_strict_key(member) else None
            elif lower in _VALUES:
                values.append(key)
    return Pair(frozenset(values), rule) if rule and values else _NO_PAIR


def is_schema(value: object) -> bool:
    """Whether a value says what a member is to look like, as the schemas of tools do."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    is_typed = kind in _SCHEMA_TYPES if isinstance(kind, str) else isinstance(kind, (list, tuple))
    return is_typed or any(member in value for member in _SCHEMA_MEMBERS)


def names_user_and_password(text: str) -> bool:
    """Whether a text is base64 of ``user:password``."""
    plain = decoded(text) if text.isascii() and text.strip("=").replace("+", "").replace("/", "").isalnum() else None
    return plain is not None and ":" in plain.strip(":")


def without_strings(
    value: object, *, is_clean: Callable[[str], bool], numbers: bool = False
) -> tuple[object, int, list[str]]:
    """``value`` with a mark for every string in it, at any depth, how many there were, and the strings.

    Strings that are marks, empty or ``is_clean`` stay. ``numbers`` are marked too when asked for.
    """
    removed: list[str] = []
    count = 0
    found: list[object] = []
    todo: list[tuple[object, dict[str, object] | list[object], str | None]] = [(value, found, None)]
    while todo:
        item, target, key = todo.pop()
        became = item
        if isinstance(item, str):
            if item and item != MARK and not is_clean(item):
                became = MARK
                count += 1
                removed.append(item)
        elif isinstance(item, Mapping):
            inner: dict[str, object] = {str(name): None for name in item}
            todo += ((member, inner, str(name)) for name, member in item.items())
            became = inner
        elif isinstance(item, (list, tuple)):
            items: list[object] = []
            todo += ((member, items, None) for member in reversed(item))
            became = items
        elif numbers and isinstance(item, (int, float)) and not isinstance(item, bool):
            became = MARK
            count += 1
        if isinstance(target, dict):
            target[str(key)] = became
        else:
            target.append(became)
    return found[0], count, removed


def argument_places(items: Sequence[object]) -> Iterator[tuple[int, str]]:
    """Places of a list's items that are credentials by the item before, and the rule: a header's value, an option's."""
    if len(items) == _PAIR and isinstance(items[0], str) and isinstance(items[1], str):
        if is_header(items[0]):
            if items[1].strip() and items[1] != MARK:
                yield 1, "header_pair"
            return
        if is_strict_key(items[0]) and not items[0].startswith("-"):
            if _is_drawn(items[1]):
                yield 1, "header_pair"
            return
    takes_password = any(item in _PASSWORD_COMMANDS for item in items[:3] if isinstance(item, str)) or (
        "login" in items[:4] and "-p" in items
    )
    yield from _options(items, takes_password=takes_password)


def _is_drawn(value: str) -> bool:
    has_digit = any(mark.isdigit() for mark in value)
    return len(value) >= _LONG and has_digit and looks_random(value) and not is_strict_key(value)


def _options(items: Sequence[object], *, takes_password: bool) -> Iterator[tuple[int, str]]:
    for n in range(len(items) - 1):
        option, value = items[n], items[n + 1]
        if isinstance(option, str) and isinstance(value, str) and option.startswith("-"):
            is_wanted = is_option(option) or (takes_password and option == "-p")
            if is_wanted and value and value != MARK and not value.startswith("-") and not is_clean(value):
                if takes_a_pair(option) and (":" not in value or value.replace(":", "").isdigit()):
                    continue
                yield n + 1, "argument"
    if takes_password:
        for n, item in enumerate(items):
            if (
                isinstance(item, str)
                and item.startswith("-p")
                and len(item) > _PAIR
                and not item.startswith(f"-p{MARK}")
            ):
                yield n, "argument"
