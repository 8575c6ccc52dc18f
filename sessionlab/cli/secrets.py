"""Declared secrets on the command line: names and an application's specification in, their values out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from sessionlab.cli.output import visible
from sessionlab.errors import WrongUse

SecretNames = Annotated[
    list[str] | None,
    typer.Option(
        "--secret", metavar="NAME", help="An environment variable whose value is a secret; may be given again."
    ),
]
AppspecFile = Annotated[
    Path | None,
    typer.Option(
        "--appspec", dir_okay=False, help="An application's specification (JSON, YAML): the secrets it declares."
    ),
]

Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="RULE",
        help="A further rule: home_folder, user_name, host_name, email_address, high_entropy, or all; may be given"
        " again.",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", dir_okay=False, help="The key of the pseudonyms: one key, one pseudonym. Default: one not kept."
    ),
]
Users = Annotated[
    list[str] | None, typer.Option("--user", metavar="NAME", help="A user name, for user_name; may be given again.")
]
Hosts = Annotated[
    list[str] | None, typer.Option("--host", metavar="NAME", help="A host name, for host_name; may be given again.")
]
_NAMED = {type(None): "nothing", str: "a text", list: "a list", int: "a number", float: "a number", bool: "a boolean"}
_SHORT = 6
"""Characters up to which a declared value is likely to stand inside other words."""


def key_of(path: Path | None) -> bytes | None:
    """The key of the pseudonyms; None: one that is not kept."""
    if path is None:
        return None
    key = path.read_bytes().strip()
    if not key:
        raise WrongUse(f"{path}: expected the key of the pseudonyms, found an empty file")
    return key


def declared(names: Iterable[str] | None, appspec: Path | None) -> list[str]:
    """The values, from the environment, of the secrets that are named or that a specification declares by name.

    A name without a value is said on stderr: a secret that nobody can tell is not looked for.
    """
    from sessionlab.redaction import declared_names, declared_values  # noqa: PLC0415 (commands start faster)

    wanted = list(names or [])
    if "" in wanted:
        raise WrongUse("--secret: expected the name of an environment variable, found an empty text")
    if appspec is not None:
        found = declared_names(_specification(appspec))
        if not found:
            sys.stderr.write(
                f"sessionlab: {visible(str(appspec))}: declares no secrets (neither requires.secrets nor env)\n"
            )
        wanted += found
    wanted = list(dict.fromkeys(wanted))
    unset = [name for name in wanted if not os.environ.get(name, "").strip()]
    if unset:
        sys.stderr.write(
            f"sessionlab: {visible(', '.join(unset))}: declared, but without a value in the environment:"
            " not looked for by value\n"
        )
    short = [name for name in wanted if 0 < len(os.environ.get(name, "").strip()) < _SHORT]
    if short:
        sys.stderr.write(
            f"sessionlab: {visible(', '.join(short))}: fewer than {_SHORT} characters,"
            " which are removed inside other words and numbers too\n"
        )
    return declared_values(wanted, os.environ)


def held() -> list[str]:
    """Values of this process's environment whose names read as secrets (datalayer.md 6.4)."""
    from sessionlab.redaction import held_values  # noqa: PLC0415 (the same)

    return held_values(os.environ)


def _specification(path: Path) -> Mapping[str, object]:
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text)
    except ValueError:
        found = _yaml(path, text)
    if not isinstance(found, dict):
        kind = _NAMED.get(type(found), "something else")
        raise WrongUse(f"{path}: expected an application's specification, an object; found {kind}")
    return found


def _yaml(path: Path, text: str) -> object:
    try:
        import yaml  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise WrongUse(f"{path}: not JSON, and YAML needs an extra: pip install 'sessionlab[share]'") from error
    try:
        found: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise WrongUse(f"{path}: neither JSON nor YAML: {error}") from error
    return found
