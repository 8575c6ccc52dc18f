"""The commands on gg's own files: assemble, salvage, verify, serve."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import output
from sessionlab.cli.gg_serve import serve
from sessionlab.cli.options import Json
from sessionlab.errors import JournalRefused, WrongUse
from sessionlab.progress import reporter

if TYPE_CHECKING:
    from sessionlab.systems.gg import Assembled, Finding, Verification
    from sessionlab.systems.gg.verification import Clip, OutputMatch

Source = Annotated[
    Path,
    typer.Argument(metavar="RUN_DIR|JOURNAL", help="A run directory, a collected tree, or a journal itself."),
]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="Where to write the record.", dir_okay=False)]
Keep = Annotated[bool, typer.Option("--keep-journal", help="Leave the journal where it is.")]
Whole = Annotated[
    Path | None,
    typer.Option("--output", help="A whole output: which recorded text is it, or the tail of it?", dir_okay=False),
]

app = typer.Typer(name="gg", no_args_is_help=True, help="gg's own files: assemble, salvage, verify, serve.")
_CLIPS = 4
_FINDINGS = 20
"""So many findings of a file are printed; `--json` has them all."""


def register(parent: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (assemble, salvage, verify, serve):
        app.command()(command)
    parent.add_typer(app)


def assemble(source: Source, out: Out = None, keep_journal: Keep = False, json: Json = False) -> None:
    """Fold a capture journal into the session record replay.json.gz, and remove it; a refused or damaged one stays."""
    from sessionlab.systems import gg  # noqa: PLC0415 (a command that does not need it starts faster)

    journal, record = _places(source, out)
    try:
        with _progress(journal) as progress:
            done = gg.assemble(journal, record, progress=progress)
    except JournalRefused as refusal:
        _refused(refusal, json=json)
    kept = None
    if done.truncation is not None and done.truncation.reason == "corrupt_journal":
        kept = f"{journal}: the journal is left where it is: what stands behind its damage stands nowhere else"
    elif not keep_journal:
        kept = gg.remove_journal(journal)
    if json:
        output.print_json({"record": str(record), **done.as_dict(), "warning": kept})
        return
    sys.stdout.write(f"{output.visible(str(record))}: {_told(done)}\n")
    if kept is not None:
        sys.stderr.write(f"sessionlab: {output.visible(kept)}\n")


def salvage(
    workspace: Annotated[Path, typer.Argument(metavar="WORKSPACE", help="The workspace of a run that did not end.")],
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Where the record goes.")],
) -> None:
    """Fold the journal of a run that hangs or was killed, leaving its workspace as it is."""
    from sessionlab.systems import gg  # noqa: PLC0415 (the same)

    _log_to_stderr()
    record = gg.salvage(workspace, run_dir)
    if record is None:
        raise typer.Exit(1)
    sys.stdout.write(f"{output.visible(str(record))}\n")


def verify(
    path: Annotated[Path, typer.Argument(metavar="RECORD|JOURNAL|DIR", help="A file, or a folder of them.")],
    whole: Whole = None,
    json: Json = False,
) -> None:
    """Check that records and journals hold together; exit code 1 when one does not."""
    from sessionlab.systems import gg  # noqa: PLC0415 (the same)

    if not path.exists():
        raise WrongUse(f"{path}: no such file or folder")
    in_hand = None if whole is None else whole.read_bytes()
    paths = list(gg.files(path)) if path.is_dir() else [path]
    if not paths:
        raise WrongUse(f"{path}: neither a session record nor a journal is below this folder")
    found: list[Verification] = []
    for one in paths:
        with _progress(one) as progress:
            found.append(gg.verify(one, output=in_hand, progress=progress))
        if not json:
            sys.stdout.write(_report(found[-1]))
    if json:
        output.print_json([one.as_dict() for one in found] if path.is_dir() else found[0].as_dict())
    elif len(found) > 1:
        wrong = sum(not one.ok for one in found)
        sys.stdout.write(f"\n{len(found):,} files: {'all hold' if not wrong else f'{wrong:,} do not hold'} together\n")
    matched = in_hand is None or any(match.same for one in found for match in one.outputs or ())
    if not all(one.ok for one in found) or not matched:
        raise typer.Exit(1)


def _places(source: Path, out: Path | None) -> tuple[Path, Path]:
    """The journal, and where its record goes: the root of the run directory, never the tree the model produced."""
    from sessionlab.systems.gg import JOURNAL, RECORD  # noqa: PLC0415 (the same)

    if source.is_dir():
        tried = [source / JOURNAL, source / "implementation" / JOURNAL]
        journal = next((one for one in tried if one.exists()), None)
        if journal is None:
            raise WrongUse(f"{source}: no journal here: looked for {' and '.join(str(one) for one in tried)}")
        root = source
    else:
        if not source.exists():
            raise WrongUse(f"{source}: no such file or folder")
        journal = source
        root = source.resolve().parent
        if root.name == ".gg":
            root = root.parent
    if out is None and root.resolve().name == "implementation":
        root = root.resolve().parent
    return journal, out or root / RECORD


def _refused(refusal: JournalRefused, *, json: bool) -> None:
    if json:
        output.print_json({"refused": refusal.kind, "line": refusal.line, "detail": str(refusal)})
    else:
        place = "" if refusal.line is None else f" (line {refusal.line:,})"
        sys.stderr.write(
            f"sessionlab: {output.visible(str(refusal))}{place}\nno record was made; the journal is left as it is\n"
        )
    raise typer.Exit(1)


def _told(done: Assembled) -> str:
    short = done.truncation
    state = "complete"
    if short is not None:
        last = "no entry" if short.last_seq is None else f"entries up to seq {short.last_seq:,}"
        state = f"short ({short.reason}, {last})"
    return f"{_counted(done.entries, 'entries')}, {state}, {f'{done.compressed_bytes:,} bytes'}"


def _report(found: Verification) -> str:
    """A file in a few lines: what it is, what holds, what does not."""
    lines = [f"{output.visible(found.path)}: {'holds' if found.ok else 'does not hold'} together"]
    if found.kind is not None and found.session_id is not None:
        counts = ", ".join(_counted(count, name) for name, count in found.counts.items())
        lines.append(f"  {found.kind} of session {output.visible(found.session_id)}: {counts}")
        right = found.addresses
        lines.append(
            f"  addresses: {right['match']:,} match, {right['mismatch']:,} differ,"
            f" {right['unverifiable']:,} beyond checking (an image was taken out)"
        )
        short = found.truncation
        if short is None:
            lines.append("  complete")
        else:
            last = "no entry" if short.last_seq is None else f"entries up to seq {short.last_seq:,}"
            lines.append(f"  short: {short.reason}; {last} can be relied on")
        if found.clips:
            shown = ", ".join(_clip(one) for one in found.clips[:_CLIPS])
            more = len(found.clips) - _CLIPS
            lines.append(f"  tails only: {shown}{f' and {more:,} more' if more > 0 else ''}")
    told = None if found.truncation is None else found.truncation.reason  # said above
    findings = [one for one in found.findings if one.kind != told]
    lines += [f"  {_finding(one)}" for one in findings[:_FINDINGS]]
    if len(findings) > _FINDINGS:
        lines.append(f"  and {len(findings) - _FINDINGS:,} more; --json tells them all")
    if found.outputs is not None:
        lines += [f"  {_match(one)}" for one in found.outputs]
        if not found.outputs:
            lines.append("  the output in hand is no text of this session, nor does one that was clipped end it")
    return "\n".join(lines) + "\n"


def _counted(count: int, many: str) -> str:
    word = many if count != 1 else {"entries": "entry"}.get(many, many.removesuffix("s"))
    return f"{count:,} {word}"


def _clip(clip: Clip) -> str:
    return f"text {clip.text} ({clip.kept_bytes:,} of {clip.original_bytes:,} bytes)"


def _finding(one: Finding) -> str:
    place = "" if one.line is None else f" line {one.line:,}"
    place += "" if one.seq is None else f" entry {one.seq:,}"
    return f"{one.weight}{place}: {one.kind}: {output.visible(one.detail)}"


def _match(one: OutputMatch) -> str:
    if not one.same:
        size = f"{one.original_bytes:,} bytes"
        return f"text {one.text} ends like the output in hand, but is the tail of another one, of {size}"
    what = "the whole of" if one.recorded == "whole" else "the tail of"
    return f"text {one.text} is {what} the output in hand ({one.original_bytes:,} bytes)"


@contextmanager
def _progress(path: Path) -> Iterator[Callable[[int], None] | None]:
    with reporter(None) as report:
        if report is None:
            yield None
        else:
            total = path.stat().st_size
            yield lambda done: report(done, total)


def _log_to_stderr() -> None:
    """Salvage alone speaks through the log; here it is printed as everything else is."""

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            sys.stderr.write(f"sessionlab: {output.visible(record.getMessage())}\n")

    logging.getLogger("sessionlab.gg").addHandler(Told())
