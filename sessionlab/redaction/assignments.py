"""A text goes in; the values that a credential's name stands before in it come out: settings, code, JSON, options.

``password=x``, ``"token": "x"`` under any number of escapes, ``PASSWORD: x``, ``?api_key=x&``, ``--password x``,
``"--token", "x"``, ``<password>x</password>``, ``{"name": "PASSWORD", "value": "x"}``, ``the password is x``. What
only stands where a credential could (types, calls, variables, placeholders, numbers, paths) is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sessionlab.redaction.learned import is_learnable
from sessionlab.redaction.quoted import Quoted, opened, past_quote, run_at, whole_run
from sessionlab.redaction.spans import SIGN, Find, words
from sessionlab.redaction.strict_names import is_password_name, is_strict_key
from sessionlab.redaction.strict_values import is_clean, is_code, is_number, is_path, is_words, looks_random

_PLAIN_HINTS: Final = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "auth",
    "cookie",
    "jwt",
    "conn",
    "contrase",
    "psk",
    "_pat",
    "_pw",
)
HINTS: Final = (
    *_PLAIN_HINTS,
    "kennwort",
    "woord",
    "senha",
    "hasło",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
)
"""A text without one of these, in small letters, has no name of a credential."""

_NAME_END: Final = re.compile(
    r"(?:passw(?:or)?d|passwort|kennwort|wachtwoord|senha|hasło|пароль|密码|密碼|パスワード|비밀번호|mot de passe"
    r"|passphrase|passcode|pass|pwd|psk|_pat|_pw|secret|token|credentials?|key(?:_base)?|auth|cookie|jwt|contrase(?:n|ñ)a"
    r"|conn_?str|string|value|b64|base64|pem|plain(?:text)?)(?:[_-]?\d{1,3})?"
    r"(?P<close>\\{0,7}[\"'`]|)\]?\??\*{0,2}"
    r"(?:(?P<sign>[ \t]{0,8}(?:=>|:=|={1,3}|!={1,2}|::?)\*{0,2}[ \t]{0,8})"
    r"|(?P<value>\s{0,40},\s{0,40}\\{0,7}[\"']val(?:ue)?\\{0,7}[\"']\s{0,8}(?:=>|[:=])\s{0,8})"
    r"|(?P<next>\s{0,8},\s{0,40})|(?P<said>[ \t]+(?:is|was)(?::|[ \t])[ \t]{0,8})|(?P<tag>>)|(?P<gap>[ \t]{1,8}))"
)
_NAME: Final = re.compile(r"[\w.\-]*")
_WORD_BEFORE: Final = re.compile(r"[ ](\w{1,24})")
_LINE_BEFORE: Final = re.compile(r"(?:^|[\r\n])[ \t]*(?:(?:export|set|env|ENV|-|\+|\$env:)[ \t]*)?\Z")
_NO_VALUE: Final = re.compile(r"\s*[),;+\]}:]")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://")
_PROSE: Final = words(
    "a an and argument as by can flag followed for from if in instead is it may must not of on option or parameter "
    "set should so that the then there this to used using via was when where which will with"
)
_LONGEST_NAME: Final = 64
_SHORTEST: Final = 3
_SHORTEST_WORD: Final = 6
_DIGITS: Final = 3
_LONG_NUMBER: Final = 16  # digits of what counts nothing
_WINDOW: Final = 2000

# Values beside a name that says too little by itself; the shape of the value says the rest.
_VENDOR_VALUES: Final = (
    (re.compile(r"(?:cloudant|clou|cl)"), re.compile(r"[0-9a-f]{64}|[a-z]{24}", re.IGNORECASE)),
    (re.compile(r"(?:softlayer|sl)"), re.compile(r"[a-z0-9]{64}", re.IGNORECASE)),
    (re.compile(r"aws"), re.compile(r"[0-9A-Za-z/+]{40}")),
    (re.compile(r""), re.compile(r"(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*[0-9])[A-Za-z0-9_-]{44}")),
)
_VENDOR_NAME: Final = re.compile(r"(?:key|pwd|pw|password|pass|token)\Z", re.IGNORECASE)


def assignments(text: str, low: str) -> Iterator[Find]:
    """Where values of credentials stand, in order and apart; ``low`` is ``text`` in small letters, as long as it."""
    at = 0
    while (found := _NAME_END.search(low, at)) is not None:
        at = found.end()
        end_of_name = found.start("close")
        start = _name_start(text, found.start())
        name = _name(text, start, end_of_name)
        if text.startswith("]", end_of_name) and text[start - 1 : start] == "[":
            continue  # a variable that something is kept under: names[token] = x
        find: Find | list[Find] | None
        if name is None:
            find = _vendor(text, start, end_of_name, found)
        elif found["tag"] is not None:
            find = _tagged(text, start, at)
        elif found["said"] is not None:
            find = _said(text, at)
        elif found["gap"] is not None or found["next"] is not None:
            find = _option(text, name, found)
        else:
            find = _assigned(text, start, name, found)
        if isinstance(find, Find):
            yield find
            at = max(at, find.end)
        elif find is not None:
            for one in find:
                yield one
                at = max(at, one.end)


def _name_start(text: str, keyword: int) -> int:
    before = _NAME.match(text[max(0, keyword - _LONGEST_NAME) : keyword][::-1])
    return keyword - (0 if before is None else before.end())


def _name(text: str, start: int, end: int) -> str | None:
    """The name of a credential that ends at ``end``; None when it names something else."""
    name = text[start:end]
    if is_strict_key(name):
        return name
    if name.lower() in {"key", "keys", "string"}:
        before = _WORD_BEFORE.match(text[max(0, start - 25) : start][::-1])
        if before is not None and is_strict_key(f"{before[1][::-1]}_{name}"):
            return f"{before[1][::-1]}_{name}"
    return None


def _vendor(text: str, start: int, end: int, found: re.Match[str]) -> Find | None:
    """A value of a known shape behind a name that ends as a credential's does: IBM, Cloudant, SoftLayer, AWS."""
    name = text[start:end]
    is_said = found["sign"] is not None or found["gap"] is not None
    if not is_said or _VENDOR_NAME.search(name) is None:
        return None
    quoted = opened(text, found.end())
    bare = past_quote(text, found.end())
    first, last = (quoted.start, quoted.end) if quoted is not None else (bare, run_at(text, bare))
    for prefix, shape in _VENDOR_VALUES:
        if prefix.match(name.lower().lstrip("-_.")) and shape.fullmatch(text, first, last):
            return Find(first, last, "assignment", known=True)
    return None


def _find(text: str, start: int, end: int, rule: str, *, sure: bool = False) -> Find | None:
    """A find, when anything but marks stands between ``start`` and ``end``."""
    value = text[start:end]
    if not value.strip(SIGN + " \t.,;"):
        return None
    return Find(start, end, rule, known=is_learnable(value) and (sure or looks_random(value)))


def _tagged(text: str, start: int, at: int) -> Find | None:
    if start == 0 or text[start - 1] not in "<:":
        return None
    end = text.find("<", at, at + _WINDOW)
    if end < 0 or is_clean(text[at:end]) or "\n\n" in text[at:end]:
        return None
    return _find(text, at, end, "assignment")


def _said(text: str, at: int) -> Find | None:
    quoted = opened(text, at)
    if quoted is not None:
        return None if is_clean(quoted.of(text)) else _find(text, quoted.start, quoted.end, "assignment")
    end = run_at(text, at)
    value = text[at:end].rstrip(".,;:!?)")
    has_both = any(mark.isdigit() for mark in value) and any(mark.isalpha() for mark in value)
    if len(value) < _SHORTEST_WORD or not has_both or is_path(value) or is_code(value, is_spaced=False):
        return None
    return _find(text, at, at + len(value), "assignment")


def _option(text: str, name: str, found: re.Match[str]) -> Find | None:
    """What follows an option behind a blank or, in a list of quoted arguments, a comma."""
    is_list = found["next"] is not None
    if not name.startswith("-") or is_list != bool(found["close"]):
        return None
    at = found.end()
    quoted = opened(text, at)
    if quoted is not None:
        value = quoted.of(text)
        is_harmless = is_clean(value) or is_path(value) or value.startswith("-") or not value
        return None if is_harmless else _find(text, quoted.start, quoted.end, "argument", sure=True)
    if is_list:
        return None
    end = run_at(text, at, stops="")
    value = text[at:end].rstrip(",")
    if not value or value[0] in "-$|)]}&>" or value.lower() in _PROSE or _is_metavariable(value):
        return None
    if is_clean(value) or is_path(value):
        return None
    return _find(text, at, at + len(value), "argument")


def _is_metavariable(value: str) -> bool:
    return value.isupper() and value.rstrip(")]").replace("_", "").replace("-", "").isalpha()


def _assigned(text: str, start: int, name: str, found: re.Match[str]) -> Find | list[Find] | None:
    at = found.end()
    quoted = opened(text, at)
    if quoted is not None:
        return _quoted(text, quoted)
    if text[at : at + 1] == "[" and text[at + 1 : at + 9].lstrip()[:1] in {'"', "'", "\\"}:
        return _listed(text, at)
    sign = found["sign"] or found["value"]
    at = past_quote(text, at)
    is_option = name.startswith("-")
    is_line = not is_option and _LINE_BEFORE.search(text, max(0, start - 40), start) is not None
    is_spaced = sign[-1:] in " \t"
    stops = "" if is_line else ",;&"
    end = run_at(text, at, stops)
    value = text[at:end].rstrip(",;" if is_line else ")]}.:!?,;")
    is_whole = text[at + len(value) : at + len(value) + 1] in {"", "\n", "\r"} or text.startswith(
        "\\n", at + len(value)
    )
    if not _is_secret(value, name, is_spaced=is_spaced, is_setting=is_line and is_whole, sign=sign.strip(" \t*")):
        return None
    further = whole_run(text, at, end, stops)
    return _find(text, at, further if further > end else at + len(value), "assignment")


def _is_secret(value: str, name: str, *, is_spaced: bool, is_setting: bool, sign: str) -> bool:
    """Whether an unquoted value is a credential itself. ``is_setting``: name and value are all there is on the line."""
    if len(value) < _SHORTEST or sign.startswith("!") or sign in {"==", "==="}:
        return False
    if is_clean(value) or is_path(value) or _URL.match(value) or value[0] in "$%{<@&|([":
        return False
    if is_number(value):
        return (is_password_name(name) and len(value) > _SHORTEST) or len(value) >= _LONG_NUMBER
    if sign == ":" and is_password_name(name) and sum(map(str.isdigit, value)) >= _DIGITS:
        return True  # words joined into a pass phrase; a type or a variable does not end in a number
    is_yaml = sign == ":" and is_setting
    if is_code(value, is_spaced=is_spaced and not is_yaml):
        return False
    if is_words(value):
        return len(value) >= _SHORTEST_WORD and (is_yaml or (sign == "=" and not is_spaced))
    return True


def _quoted(text: str, quoted: Quoted) -> Find | None:
    value = quoted.of(text)
    if is_clean(value) or is_path(value) or _NO_VALUE.match(value) or (quoted.is_template and "{" in value):
        return None
    if value.isupper() and "_" in value and is_strict_key(value):
        return None  # the name of a variable that holds it
    return _find(text, quoted.start, quoted.end, "assignment")


def _listed(text: str, at: int) -> list[Find]:
    """The quoted values of a list."""
    finds: list[Find] = []
    end = text.find("]", at, at + _WINDOW)
    at += 1
    while at < end:
        while at < end and text[at] in " \t\r\n,":
            at += 1
        quoted = opened(text, at)
        if quoted is None or quoted.end > end:
            break
        find = _quoted(text, quoted)
        if find is not None:
            finds.append(find)
        at = quoted.end + quoted.width
    return finds
