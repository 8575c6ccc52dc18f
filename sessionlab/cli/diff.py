"""Commands on what sessions did: where two part, and where a person stepped in."""

from __future__ import annotations

import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sessionlab.cli import options, output
from sessionlab.cli.options import Json, Paths
from sessionlab.errors import WrongUse
from sessionlab.paths import find

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessionlab.corpus import Corpus
    from sessionlab.formats.mecha.loading import Transcript
    from sessionlab.replay import Aligned, Divergence, Intervention, Trajectory

LINES = 20
"""So many divergences are told line by line; `--json` has them all."""
NEAR = 2
"""Calls that are shown before and after one that differs."""
CUT = 120
"""Characters shown of one line of text."""
CELL = 34
"""Characters shown of a tool's name, side by side."""

Name = Annotated[str, typer.Argument(metavar="ID", help="A session id, the beginning of one, or a file.")]
Recorded = Annotated[str, typer.Argument(metavar="A", help="The recording: a session id, its beginning, or a file.")]
Replayed = Annotated[str, typer.Argument(metavar="B", help="What is held against it: the same.")]
Positional = Annotated[
    bool, typer.Option("--positional", help="Call by call, whatever the batches: the rule of early builds.")
]
SideBySide = Annotated[bool, typer.Option("--side-by-side", help="Both runs in two columns, around what differs.")]
AgentA = Annotated[str, typer.Option("--agent-a", help="The agent of A.")]
AgentB = Annotated[str, typer.Option("--agent-b", help="The agent of B.")]


class _Side(NamedTuple):
    """A session and what one of its agents did."""

    session_id: str
    format: str
    trajectory: Trajectory


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    from sessionlab.cli.probe import probe  # noqa: PLC0415 (it builds on this module)

    for command in (diff, interventions, probe):
        app.command()(command)


def diff(
    recorded: Recorded,
    replayed: Replayed,
    paths: Paths = None,
    positional: Positional = False,
    side_by_side: SideBySide = False,
    agent_a: AgentA = "root",
    agent_b: AgentB = "root",
    json: Json = False,
) -> None:
    """Where two sessions part in what they did, whatever their formats; exit code 1 when they do."""
    from sessionlab import replay  # noqa: PLC0415 (a command that does not need it starts faster)

    ours, theirs = sides([(recorded, agent_a), (replayed, agent_b)], paths)
    found = replay.compare(ours.trajectory.calls, theirs.trajectory.calls, positional=positional)
    if json:
        print_json(_as_json(ours, theirs, found, positional=positional))
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _report(ours, theirs, found)))
        if side_by_side:
            rows = replay.align(ours.trajectory.calls, theirs.trajectory.calls, positional=positional)
            sys.stdout.write("\n" + "".join(f"{line}\n" for line in _columns(rows, len(ours.trajectory.calls))))
    raise typer.Exit(1 if found else 0)


def interventions(identifier: Name, paths: Paths = None, json: Json = False) -> None:
    """Where a person stepped into a mecha session: refusals, steers, follow-ups, and whether to learn from them."""
    from sessionlab import replay  # noqa: PLC0415 (the same)

    transcript = transcript_in(transcript_file(identifier, paths))
    found = replay.interventions(transcript.messages, transcript.covering)
    if json:
        print_json([_intervention_as_json(one) for one in found])
        return
    if not found:
        sys.stdout.write("no intervention: nobody refused a call, steered a run or followed up\n")
    for one in found:
        words = f"message {one.index:<5,} {one.trigger.replace('_', '-'):<10} {one.learnable:<10} {cut(one.text)}"
        sys.stdout.write(f"{words.rstrip()}\n")


def sides(asked: Sequence[tuple[str, str]], paths: list[str] | None) -> list[_Side]:
    """The sessions asked for, each with its agent: files as they are, ids among ``paths``.

    All of the paths are looked through for ids, but only the files of the sessions found are read for what was said.
    """
    from sessionlab import replay  # noqa: PLC0415 (the same)

    store: Corpus | None = None
    sides = []
    for name, agent in asked:
        if Path(name).is_file():
            corpus = options.load([name], bodies=True)
            session_id = _only_session(corpus, name)
        else:
            store = store or options.load(paths, figures=True)
            session_id = store.session_id(name)
            corpus = options.load(options.files_of(store, session_id), bodies=True)
        kind = corpus.sql("SELECT format FROM sessions WHERE session_id = ?", [session_id]).item()
        sides.append(_Side(session_id, kind, replay.trajectory(corpus, session_id, agent_id=agent)))
    return sides


def transcript_file(name: str, paths: list[str] | None) -> str:
    """The file of the mecha transcript a name means: a file as it is, an id among ``paths``."""
    if Path(name).is_file():
        return name
    store = options.load(paths, figures=True)
    session_id = store.session_id(name)
    if not session_id.startswith("mecha:"):
        raise WrongUse(f"{name}: expected a mecha session, found {session_id}; only mecha tells who spoke mid-run")
    files = options.files_of(store, session_id)
    if len(files) > 1:
        raise WrongUse(f"{name} stands in {len(files)} files; name one of them: {', '.join(files)}")
    return files[0]


def transcript_in(file: str) -> Transcript:
    """The mecha transcript of a file."""
    from sessionlab.formats.mecha import loading  # noqa: PLC0415 (the same)
    from sessionlab.formats.recording import Recording  # noqa: PLC0415 (the same)

    [found] = find([file])
    with found.open() as stream:
        return loading.load(Recording(stream, uri=file, format="mecha"))


def _only_session(corpus: Corpus, name: str) -> str:
    """The session a file tells of."""
    found = [str(row[0]) for row in corpus.sql("SELECT session_id FROM sessions ORDER BY session_id").rows()]
    if len(found) != 1:
        told = ", ".join(found) or "none"
        raise WrongUse(f"{name}: expected the file of one session, found {told}; name an id, and the file as PATHS")
    return found[0]


def _report(ours: _Side, theirs: _Side, found: Sequence[Divergence]) -> Iterator[str]:
    """The comparison in words (mecha 12.8)."""
    from sessionlab.replay import wording  # noqa: PLC0415 (the same)

    a, b = ours.trajectory, theirs.trajectory
    for run, side in (("A", ours), ("B", theirs)):
        calls, turns = len(side.trajectory.calls), len(side.trajectory.turns)
        did = f"{output.counted(calls, 'call')}, {output.counted(turns, 'turn')}"
        yield f"{run}  {output.visible(side.session_id)}  {did}"
    yield wording.opening(found, recorded=len(a.calls), replayed=len(b.calls), turns=len(b.turns))
    for one in found[:LINES]:
        yield cut(wording.sentence(one), 2 * CUT)
    yield from more(len(found))
    if found:
        yield wording.counts(found)
    finals = wording.final_texts(a.final_text, b.final_text)
    if finals is not None:
        yield from (
            f"final text of {run}: {cut(text) or output.UNKNOWN}" for run, text in zip("AB", finals, strict=True)
        )
    yield from (f"note: {note}" for note in _notes(ours))


def _notes(ours: _Side) -> list[str]:
    if not ours.trajectory.steered:
        return []
    return ["the recording was steered mid-run; steering cannot be re-injected, so the comparison is approximate"]


def more(found: int) -> list[str]:
    """A line on the divergences that are not told line by line."""
    return [f"… {found - LINES:,} more (--json has them all)"] if found > LINES else []


def _as_json(ours: _Side, theirs: _Side, found: Sequence[Divergence], *, positional: bool) -> dict[str, object]:
    from sessionlab.replay import as_json  # noqa: PLC0415 (the same)

    a, b = ours.trajectory, theirs.trajectory
    structural = sum(one.structural for one in found)
    return {
        "session": ours.session_id,
        "replay": theirs.session_id,
        "formats": [ours.format, theirs.format],
        "positional": positional,
        "recorded_calls": len(a.calls),
        "replayed_calls": len(b.calls),
        "recorded_turns": len(a.turns),
        "turns": len(b.turns),
        "divergences": [as_json(one) for one in found],
        "structural": structural,
        "arguments_only": len(found) - structural,
        "recorded_final_text": a.final_text,
        "final_text": b.final_text,
        "steered": a.steered,
        "legacy_provenance_calls": a.legacy_provenance_calls,
        "notes": _notes(ours),
    }


_SIGNS = {"same": "=", "arguments": "≈", "tool": "≠", "missing": "-", "extra": "+", "not compared": "·"}


def _columns(rows: Sequence[Aligned], recorded: int) -> Iterator[str]:
    """Both runs call by call in two columns, stretches without a difference shortened."""
    ours, theirs = rows[:recorded], rows[recorded:]
    length = max(len(ours), len(theirs))
    differs = [at for at in range(length) if any(_telling(side, at) for side in (ours, theirs))]
    near = {n for at in differs for n in range(at - NEAR, at + NEAR + 1)}
    yield f"{'call':>6}  {'A':<{CELL}}   B"
    skipped = 0
    for at in range(length):
        if at not in near:
            skipped += 1
            continue
        if skipped:
            yield _skipped(skipped)
            skipped = 0
        left, right = (side[at] if at < len(side) else None for side in (ours, theirs))
        sign = _SIGNS[(left or right).standing]  # type: ignore[union-attr]  # one of the runs is as long as `length`
        cells = [cut(one.tool if one else "", CELL) for one in (left, right)]
        mate = "" if left is None or left.mate in (None, at) else f"  (A's stands at {left.mate + 1:,})"
        yield f"{at + 1:>6,}  {cells[0]:<{CELL}} {sign} {cells[1]}{mate}".rstrip()
    if skipped:
        yield _skipped(skipped)


def _telling(side: Sequence[Aligned], at: int) -> bool:
    return at < len(side) and side[at].standing not in ("same", "not compared")


def _skipped(calls: int) -> str:
    return f"{'…':>6}  {output.counted(calls, 'more call')}"


def _intervention_as_json(one: Intervention) -> dict[str, object]:
    taint = None if one.taint is None else {"private": one.taint.private, "untrusted": one.taint.untrusted}
    return {
        "trigger": one.trigger,
        "index": one.index,
        "text": one.text,
        "context": one.context,
        "aftermath": one.aftermath,
        "taint": taint,
        "learnable": one.learnable,
    }


def print_json(value: object) -> None:
    """JSON as it is: arguments of calls are compared to the last digit, so no figure among them is rounded."""
    sys.stdout.write(dumps(value, ensure_ascii=False, indent=2) + "\n")


def cut(text: str, most: int = CUT) -> str:
    """A line of text as a terminal may be shown it, shortened."""
    shown = output.visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"
