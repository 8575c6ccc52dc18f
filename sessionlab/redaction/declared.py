"""An application's specification goes in; the names of its declared secrets, and their values, come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def declared_names(appspec: Mapping[str, object]) -> list[str]:
    """Names of environment variables an Appspec declares as secrets, in its order, each once.

    Those of ``requires.secrets`` come first, then those of ``env``. Either is a list of names (``NAME``, or ``NAME=``
    and a value) or of objects whose ``env`` or else ``name`` says it, or an object by name. Whatever else stands there
    is passed over: the published schema lets an application add members of any form.
    """
    requires = appspec.get("requires")
    secrets = requires.get("secrets") if isinstance(requires, Mapping) else None
    return list(dict.fromkeys([*_names(secrets), *_names(appspec.get("env"))]))


def declared_values(names: Iterable[str], environ: Mapping[str, str]) -> list[str]:
    """The value of each name in ``environ`` as it is, in the order of the names (section 6.5).

    A variable that is missing or blank is passed over.
    """
    values = (environ.get(name, "") for name in names)
    return [value for value in values if value.strip()]


def _names(declared: object) -> list[str]:
    if isinstance(declared, Mapping):
        return [name for key, value in declared.items() for name in _name(_named(value) or key)]
    if isinstance(declared, (list, tuple)):
        return [name for item in declared for name in _name(_named(item) or item)]
    return _name(declared)


def _named(declared: object) -> object:
    """What the object says is its variable; None when it says none, or is no object."""
    if not isinstance(declared, Mapping):
        return None
    return next((declared[key] for key in ("env", "name") if _name(declared.get(key))), None)


def _name(said: object) -> list[str]:
    """The name in ``NAME`` or ``NAME=value``; none when it is no text, or blank."""
    name = said.partition("=")[0].strip() if isinstance(said, str) else ""
    return [name] if name else []
