"""`sessionlab redact PATHS -o OUT`: a corpus that can be shared: redacted, scanned again, saved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import options, output, secrets
from sessionlab.cli.options import Json, Now, Paths
from sessionlab.cli.secrets import Also, AppspecFile, Hosts, KeyFile, SecretNames, Users

if TYPE_CHECKING:
    import polars as pl

    from sessionlab.redaction.proof import Proof

Out = Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="A new or empty folder to save into.")]
NoProof = Annotated[bool, typer.Option("--no-proof", help="Do not scan the result again.")]


def register(parent: typer.Typer) -> None:
    """Add the command to the command line."""
    parent.command()(redact)


def redact(
    out: Out,
    paths: Paths = None,
    also: Also = None,
    secret: SecretNames = None,
    appspec: AppspecFile = None,
    key_file: KeyFile = None,
    user: Users = None,
    host: Hosts = None,
    no_proof: NoProof = False,
    json: Json = False,
    now: Now = None,
) -> None:
    """Save the sessions without what must not be shared: every text of every table is gone through, then scanned again.

    The folder can be named wherever files can: `sessionlab stats OUT` gives the figures of the originals.
    """
    from sessionlab.redaction.sharing import private_rules  # noqa: PLC0415 (a command that does not need it is faster)
    from sessionlab.saved import check_free  # noqa: PLC0415 (the same)

    check_free(out.expanduser().absolute())
    rules, key = private_rules(also), secrets.key_of(key_file)
    values = [*secrets.declared(secret, appspec), *secrets.held()]
    corpus = options.load(paths, bodies=True, now=now)
    if not corpus.sql("SELECT count(*) FROM sessions").item():
        sys.stderr.write("sessionlab: no session was found in what was given; nothing was saved\n")
        raise typer.Exit(1)
    shared = corpus.redacted(rules=rules, secrets=values, key=key, users=user or (), hosts=host or ())
    proof = None if no_proof else shared.proof(secrets=values)
    folder = shared.save(out)
    unreadable = options.refused(corpus)
    if json:
        output.print_json(_as_json(folder, shared.findings, proof, unreadable=unreadable > 0))
    else:
        _print(folder, _removed(shared.findings), proof)
        sys.stdout.write(options.ask(corpus, None).unreadable_note())
    raise typer.Exit(1 if unreadable or (proof is not None and not proof.ok) else 0)


def _removed(findings: pl.DataFrame | None) -> pl.DataFrame:
    """Findings over all files."""
    import polars as pl  # noqa: PLC0415 (brought by the corpus)

    assert findings is not None, "a redacted corpus has findings"
    by = ["rule", "table", "column"]
    return findings.group_by(by).agg(pl.len().alias("files"), pl.col("count").sum()).sort(by)


def _as_json(
    folder: Path, findings: pl.DataFrame | None, proof: Proof | None, *, unreadable: bool
) -> dict[str, object]:
    told: dict[str, object] = {"folder": str(folder), "findings": output.records(_removed(findings))}
    told["proof"] = (
        None
        if proof is None
        else {
            "ok": proof.ok,
            "left": proof.left,
            "without_shape": proof.without_shape,
            "characters": proof.characters,
            "missing": proof.missing,
            "found": output.records(proof.found),
        }
    )
    return told | {"unreadable": unreadable}


def _print(folder: Path, removed: pl.DataFrame, proof: Proof | None) -> None:
    if removed.height:
        output.print_table(removed, title="removed, never shown", totals=False)
    else:
        sys.stdout.write("nothing was found that must not be shared\n")
    if proof is None:
        sys.stdout.write("not scanned again (--no-proof)\n")
    else:
        sys.stdout.write("".join(f"{output.visible(sentence)}\n" for sentence in proof.sentences()))
    sys.stdout.write(f"saved: {output.visible(str(folder))}\n")
