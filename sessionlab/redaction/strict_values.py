"""A value that stands where a credential could goes in; whether it is a placeholder, a word or code comes out."""

from __future__ import annotations

import re
from typing import Final

from sessionlab.redaction.spans import words

_COMMON: Final = words(
    "none null nil true false yes no on off str string strings text int integer number float double bool boolean "
    "bytes byte char varchar object array list dict map any optional option required undefined unknown unset empty "
    "missing invalid valid expired default enabled disabled hidden secret password passwd token apikey credential "
    "credentials authorization authentication authenticated bearer basic value values example changeme change_me "
    "redacted removed withheld masked filtered sensitive placeholder self this variable constant readonly public "
    "private static const type types field fields column input output request response environment env config "
    "configuration settings undefined. secretstr n/a tbd todo never always nothing something anything confidential "
    "generated provided configured supported available application/json function username parameter"
)
_PLACEHOLDER: Final = re.compile(
    r"""<[^<>]*>|\$\{[^{}]*\}|\$\([^()]*\)|\$[A-Za-z_]+[0-9]{0,2}|%[A-Za-z_]\w*%|%\(?\w*\)?[sdr]|\{\{.*\}\}|\{[^{}"']*\}
    |\$\{\{.*\}\}|[*.•_#?…-]+|(?=...)[*x.•_#?…-]+|\[[A-Za-z _,-]*\]
    |(?:your|insert|replace|enter|paste)(?:[-_ ][a-z_ -]*)?
    |(?:example|changeme|placeholder)
    |[a-z0-9_-]{0,16}?(?:x{4,}|\.{3,}|…|your[-_][a-z_-]*)|[a-z_-]{1,32}[-_]here""",
    re.IGNORECASE | re.VERBOSE,
)
_SHORT: Final = 200
_LONG_STEP: Final = 28  # characters of a step of a path, which a key drawn at random exceeds
_CALL: Final = re.compile(r"(?:await |new |not |\*{0,2}|&|!)?[A-Za-z_][\w.:]*(?:\?\.|!)?[(\[]")
_LITERAL: Final = re.compile(r"[A-Za-z_][\w.]*\{")
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[,;)]*")
_ROOTS: Final = words(
    "self this cls os sys process config cfg conf settings args opts options params request req res resp response ctx "
    "context data event env environ session secrets state props kwargs app user auth client module import meta np "
    "torch tf typing string json var local each module window document vault"
)
_WORDS: Final = re.compile(r"[^\W\d]+(?:[-/'’][^\W\d]+)*[.:!?]?")
_FILE: Final = re.compile(
    r"[\w./~-]*\.(?:pem|key|json|ya?ml|toml|txt|md|py|[jt]sx?|crt|cer|env|ini|cfg|go|rs|rb|sh|sql|log|csv)"
)
_PATH: Final = re.compile(r"(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]*)+|(?:~|\.{1,2})/[\w.-]*|[A-Z]:\\[^\s]*")
_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9_.,]*(?:%|[kKmMgGbB]{1,2}|ms|s)?")
_NAMES: Final = ("pass", "pwd", "token", "secret", "key", "cred", "auth")
_SCHEMES: Final = words("bearer basic token digest negotiate")


def is_common(value: str) -> bool:
    """Whether ``value`` is a word that stands where a credential could and is none: a type, an answer, a label."""
    return value.lower() in _COMMON


def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a credential that is to be put there: ``<your-token>``, ``${TOKEN}``, ``****``."""
    value = value.strip()
    if len(value) > _SHORT:
        return False
    head, _, rest = value.partition(" ")
    if rest and head.lower() in _SCHEMES:
        value = rest.strip()
    return not value or _PLACEHOLDER.fullmatch(value) is not None


def is_clean(value: str) -> bool:
    """Whether a quoted value, or one under a credential's name, is no credential."""
    return is_common(value.strip()) or is_placeholder(value)


def is_code(value: str, *, is_spaced: bool) -> bool:
    """Whether an unquoted value is code that yields a credential: a call, an index, an attribute, a variable.

    ``is_spaced``: blanks stand round the sign before it, as they do in code and not in settings.
    """
    if _CALL.match(value) or (is_spaced and _LITERAL.match(value)):
        return True
    bare = value.rstrip(",;)")
    if _DOTTED.fullmatch(value):
        return is_spaced or re.split(r"\W", value, maxsplit=1)[0] in _ROOTS
    lower = bare.lower()
    if bare.isidentifier() and is_spaced and "_" in bare:
        return True
    if bare.isidentifier() and not any(character.isdigit() for character in bare):
        return is_spaced or lower in _ROOTS or any(name in lower for name in _NAMES)
    return False


def is_path(value: str) -> bool:
    """Whether a value names a file; a key that happens to have slashes does not."""
    if _FILE.fullmatch(value) is None and _PATH.fullmatch(value) is None:
        return False
    return max(map(len, re.split(r"[/\\]", value))) < _LONG_STEP


def is_number(value: str) -> bool:
    """Whether a value is a number and no more."""
    return _NUMBER.fullmatch(value) is not None


def is_words(value: str) -> bool:
    """Whether a value is a word of letters only, or such words joined by hyphens."""
    return _WORDS.fullmatch(value) is not None


def looks_random(value: str) -> bool:
    """Whether no one would write ``value`` in a sentence: letters with digits, or capitals among small letters."""
    has_letter = any(character.isalpha() for character in value)
    has_digit = any(character.isdigit() for character in value)
    return (has_letter and has_digit) or (
        not value.islower() and not value.istitle() and not value.isupper() and has_letter
    )
