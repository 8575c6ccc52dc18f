"""The command `datalayer export`: any session, of whatever format, as a datalayer session file."""

from __future__ import annotations

import sys
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sessionlab.cli import output
from sessionlab.cli.datalayer_store import refused
from sessionlab.cli.options import Json, Now, Paths, clock, load
from sessionlab.cli.secrets import Also, AppspecFile, Hosts, KeyFile, SecretNames, Users, declared, held, key_of
from sessionlab.errors import SessionRefused, WrongUse

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus
    from sessionlab.redaction import Redactor
    from sessionlab.systems.datalayer import Exported

_SPLIT = "--split writes it as several files, each linked to the one before"
EXPORTER = "anonymous"
"""Who exports, unless told: a file that is handed on names nobody by itself."""

By = Annotated[str, typer.Option("--by", metavar="UID", help="Who exports, as the file will say.")]
Out = Annotated[
    str,
    typer.Option("-o", "--out", metavar="FILE|DIR|-", help="A file, a folder, or - for stdout; default: here."),
]
Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict/--exact",
        help="The format's own six rules (--exact, the default for datalayer sessions), or also what they leave"
        " (--strict, the default for sessions of other formats).",
        show_default=False,
    ),
]
KeepProse = Annotated[
    bool,
    typer.Option(
        "--keep-prose", help="With strict rules: leave plain words behind bearer, basic and token (`the token count`)."
    ),
]
Split = Annotated[bool, typer.Option("--split", help="Over the caps: several files, each linked to the one before.")]
TeamFile = Annotated[bool, typer.Option("--team", help="A session of several agents as a team file, a seat for each.")]
Whole = Annotated[
    bool,
    typer.Option("--whole", help="Texts whole, not cut as the runtime cuts them: answers 4,000, results 300."),
]
Kinds = Annotated[
    str | None, typer.Option("--kinds", metavar="KIND,…", help="The kinds that the head lists; default: those present.")
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="DIR", help="Export a session of this store; its record then says that it was exported."
    ),
]
Format = Annotated[str, typer.Option("--format", metavar="ID", help="Another format of session files, by its id.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


class _Private(NamedTuple):
    """What is asked for besides the strict rules."""

    also: list[str]
    key: bytes | None
    users: list[str]
    hosts: list[str]
    keeps_prose: bool


def export(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A session id, or the beginning of one.")],
    paths: Paths = None,
    out: Out = ".",
    by: By = EXPORTER,
    strict: Strict = None,
    also: Also = None,
    keep_prose: KeepProse = False,
    key_file: KeyFile = None,
    user: Users = None,
    host: Hosts = None,
    secret: SecretNames = None,
    appspec: AppspecFile = None,
    split: Split = False,
    team: TeamFile = False,
    whole: Whole = False,
    kinds: Kinds = None,
    format: Format = "",  # noqa: A002 (the option's own name)
    store: Store = None,
    force: Force = False,
    json: Json = False,
    now: Now = None,
) -> None:
    """A session as a datalayer session file, redacted; nothing is written when it is over the format's caps."""
    if split and team:
        raise WrongUse("--split and --team: a team is one file; export the session of each agent by itself instead")
    if team and kinds is not None:
        raise WrongUse("--team and --kinds: each seat's head lists the kinds of its own entries; leave --kinds out")
    if store is not None and (paths or team or whole):
        raise WrongUse("--store: a session of a store is exported as it is kept; leave PATHS and the other ways out")
    told: dict[str, object] = {"by": by, "now": clock(now)}
    if kinds is not None:
        told["kinds"] = [kind.strip() for kind in kinds.split(",") if kind.strip()]
    private = _Private(also or [], key_of(key_file), user or [], host or [], keep_prose)
    values = declared(secret, appspec)
    try:
        if store is not None:
            told["redactor"] = _redactor(values, private, strict=bool(strict))
            parts = _from_store(store, identifier, told, split=split, format_id=format)
        else:
            corpus = load(paths, bodies=True, now=now)
            session_id = corpus.session_id(identifier)
            is_datalayer = corpus.table("sessions", session_id=session_id)["format"].item() == "datalayer"
            is_strict = not is_datalayer if strict is None else strict
            told["redactor"] = _redactor(values, private, strict=is_strict)
            parts = _exported(corpus, session_id, told, format_id=format, split=split, team=team, whole=whole)
    except SessionRefused as refusal:
        refused(refusal, json=json, hint="" if split or team else _SPLIT)
    places = _written(parts, out, split=split, force=force)
    if store is not None:
        _tell_store(store, identifier, parts)
    if json and out != "-":
        rows = [_row(part, place) for part, place in zip(parts, places, strict=True)]
        output.print_json(rows if split else rows[0])
    else:
        _report(parts, places)


def _redactor(values: list[str], private: _Private, *, strict: bool) -> Redactor:
    from sessionlab.redaction import Redactor, StrictRedactor  # noqa: PLC0415 (commands start faster)

    if strict:
        from sessionlab.redaction.sharing import private_rules  # noqa: PLC0415 (the same)

        also = private_rules(private.also, users=private.users, hosts=private.hosts)
        return StrictRedactor(
            declared=values, held=held(), also=also, key=private.key, users=private.users, hosts=private.hosts,
            keeps_prose=private.keeps_prose,
        )  # fmt: skip
    if any(private):
        raise WrongUse("--also, --user, --host, --key-file, --keep-prose: these go with the strict rules; add --strict")
    return Redactor(declared=values, held=held())


def _from_store(folder: Path, uid: str, told: dict[str, object], *, split: bool, format_id: str) -> list[Exported]:
    from sessionlab.systems import datalayer  # noqa: PLC0415 (the same)

    written_as = datalayer.FORMATS.get(format_id)
    record = datalayer.exportable(datalayer.Store(folder), uid)
    return list(datalayer.split(record, **told)) if split else [written_as.export(record, **told)]  # type: ignore[arg-type]


def _tell_store(folder: Path, uid: str, parts: list[Exported]) -> None:
    from sessionlab.systems import datalayer  # noqa: PLC0415 (the same)

    datalayer.tell_exported(datalayer.Store(folder), uid, parts)


def _exported(
    corpus: Corpus, session_id: str, told: dict[str, object], *, format_id: str, split: bool, team: bool, whole: bool
) -> list[Exported]:
    from sessionlab.systems import datalayer  # noqa: PLC0415 (the same)

    written_as = datalayer.FORMATS.get(format_id)
    if team:
        return [datalayer.export_team(datalayer.team_of(corpus, session_id, whole=whole), **told)]  # type: ignore[arg-type]
    record = datalayer.record_of(corpus, session_id, whole=whole)
    if split:
        return list(datalayer.split(record, **told))  # type: ignore[arg-type]
    return [written_as.export(record, **told)]


def _written(parts: list[Exported], out: str, *, split: bool, force: bool) -> list[str]:
    """Where each file went; all places are looked at before the first is written. ``split``: they go into a folder."""
    if out == "-":
        if len(parts) > 1:
            raise WrongUse(f"-o -: the session takes {len(parts)} files, and stdout holds one; name a folder")
        sys.stdout.buffer.write(parts[0].data)
        return ["-"]
    target = Path(out).expanduser()
    is_folder = target.is_dir() or split
    files = [target / part.file_name for part in parts] if is_folder else [target]
    taken = [str(file) for file in files if file.exists()]
    if taken and not force:
        raise WrongUse(f"{', '.join(taken)}: there already; --force writes over it, -o names another place")
    for file, part in zip(files, parts, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, part.data)
    return [str(file) for file in files]


def _write(file: Path, data: bytes) -> None:
    """The file whole or not at all: a half-written one would be refused by whoever it is handed to."""
    partial = file.with_name(f".{file.name}.{token_hex(6)}.sessionlab-tmp")
    try:
        with partial.open("xb") as stream:
            stream.write(data)
        partial.replace(file)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _row(part: Exported, place: str) -> dict[str, object]:
    return {
        "file": place, "uid": part.uid, "turns": part.turns, "entries": part.entries, "bytes": len(part.data),
        "redactions": part.redactions, "rules": part.counts, "digest": part.digest, "notes": list(part.notes),
    }  # fmt: skip


def _report(parts: list[Exported], places: list[str]) -> None:
    stream = sys.stderr if places[0] == "-" else sys.stdout
    for part, place in zip(parts, places, strict=True):
        counts = f"{output.counted(part.turns, 'turn')}, {part.entries:,} {'entry' if part.entries == 1 else 'entries'}"
        stream.write(f"{output.visible(place)}: {counts}, {len(part.data):,} bytes\n  {part.digest}\n")
        told = dict(sorted(part.counts.items()))
        dropped = told.pop("runtime_address", 0)  # told, and no redaction (datalayer.md 6.6)
        rules = ", ".join(f"{rule} {count:,}" for rule, count in told.items())
        stream.write(f"  {output.counted(part.redactions, 'redaction')}{f': {rules}' if rules else ''}\n")
        if dropped:
            stream.write(f"  runtime addresses dropped: {dropped:,}\n")
        for note in part.notes:
            stream.write(f"  {output.visible(note)}\n")
