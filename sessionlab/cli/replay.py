"""The replay command: a recorded session is driven again, its tools answered from the recording."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import output
from sessionlab.cli.options import Json
from sessionlab.errors import ModelFailed, ReplayRefused, WrongUse

if TYPE_CHECKING:
    from typing import NoReturn

    from sessionlab.formats.mecha.wire import ToolUse
    from sessionlab.replay.observer import Observer
    from sessionlab.replay.report import Report
    from sessionlab.replay.session import Prepared
    from sessionlab.replay.surface import Offered


class OnDivergence(StrEnum):
    """What happens where a replay parts from its recording (mecha 12.4)."""

    stop = "stop"
    error = "error"
    live = "live"


class Interface(StrEnum):
    """What a provider speaks."""

    openai = "openai"
    anthropic = "anthropic"


class Permission(StrEnum):
    """What happens before a real tool runs."""

    ask = "ask"
    allow = "allow"
    read_only = "read-only"


class Trifecta(StrEnum):
    """What happens to a send once private data and outside content have met."""

    block = "block"
    ask = "ask"
    allow = "allow"


ProviderName = Annotated[
    str | None,
    typer.Option("-p", "--provider", help="Who answers; default: the recorded one. `scripted`: the recording itself."),
]
ModelName = Annotated[str | None, typer.Option("-m", "--model", help="The model; default: the recorded one.")]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="The provider's address; default: from the environment.")
]
Api = Annotated[Interface | None, typer.Option("--api", help="What is spoken there.")]
KeyVariable = Annotated[
    str | None, typer.Option("--key-env", metavar="NAME", help="The environment variable that holds the key.")
]
Tools = Annotated[
    str | None,
    typer.Option("--tools", metavar="MODULE:NAME", help="Your tools: described to the model; called in `live` only."),
]
Temperature = Annotated[float | None, typer.Option("--temperature", help="Pin the sampler's temperature.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Pin the sampler's seed.")]
TimeOut = Annotated[float, typer.Option("--timeout", min=0.001, help="Seconds one request may take.")]
Retries = Annotated[int, typer.Option("--retries", min=0, help="How often the SDK asks again after a failure.")]
Directory = Annotated[
    Path | None,
    typer.Option("--sessions", metavar="DIR", help="The session directory; default: $MECHA_SESSION_DIR, else mecha's."),
]
_SECONDS = 600.0
_RETRIES = 2


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(replay)


def replay(
    identifier: Annotated[str, typer.Argument(metavar="ID|PATH", help="A transcript, a session id, or its beginning.")],
    on_divergence: Annotated[
        OnDivergence,
        typer.Option("--on-divergence", help="stop: end there; error: the same, and exit 1; live: go on with --tools."),
    ] = OnDivergence.stop,
    provider: ProviderName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    api: Api = None,
    key_env: KeyVariable = None,
    tools: Tools = None,
    permission_mode: Annotated[
        Permission, typer.Option("--permission-mode", help="Before one of your tools runs.")
    ] = Permission.ask,
    trifecta: Annotated[
        Trifecta, typer.Option("--trifecta", help="Before a send, once private data and outside content have met.")
    ] = Trifecta.block,
    temperature: Temperature = None,
    seed: Seed = None,
    times: Annotated[int, typer.Option("--times", min=1, help="Replay so often; how many of them follow is told.")] = 1,
    script: Annotated[
        str | None, typer.Option("--script", metavar="ID|PATH", help="With -p scripted: the recording that answers.")
    ] = None,
    record_transcript: Annotated[
        Path | None, typer.Option("--record-transcript", metavar="DIR", help="Record the replay as a transcript there.")
    ] = None,
    record_journal: Annotated[
        Path | None, typer.Option("--record-journal", metavar="DIR", help="Record the replay as a gg journal there.")
    ] = None,
    timeout: TimeOut = _SECONDS,
    retries: Retries = _RETRIES,
    sessions: Directory = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be asked of whom; ask nothing.")] = False,
    json: Json = False,
) -> None:
    """Drive a recorded session again: the same turns, a model of your choice, tools answered from the recording."""
    from sessionlab.replay import session  # noqa: PLC0415 (a command that does not need it starts faster)
    from sessionlab.systems.mecha.store import Store  # noqa: PLC0415 (the same)

    store = Store(sessions)
    if script is not None and provider != "scripted":
        raise WrongUse("--script says what a scripted model answers; it goes with -p scripted")
    asked = session.Asked(
        mode=on_divergence.value,
        provider=provider,
        model=model,
        base_url=base_url,
        api=None if api is None else api.value,
        key_variable=key_env,
        script=None if script is None else session.find(script, store),
        tools=None if tools is None else session.tools_at(tools),
        permission_mode=permission_mode.value,
        trifecta=trifecta.value,
        temperature=temperature,
        seed=seed,
        timeout_s=timeout,
        retries=retries,
    )
    path = session.find(identifier, store)
    try:
        with session.prepared(path, asked, only_looked_at=dry_run) as ready:
            if dry_run:
                _tell_plan(ready, json=json)
                return
            reports = _replays(ready, times, record_transcript, record_journal, json=json)
    except (ReplayRefused, ModelFailed) as error:
        failed(error, json=json)
    if max(one.exit_code for one in reports):
        raise typer.Exit(1)


def failed(error: ReplayRefused | ModelFailed, *, json: bool) -> NoReturn:
    """Say why there is no report, and exit with 1."""
    word = "refused" if isinstance(error, ReplayRefused) else "failed"
    if json:
        sys.stdout.write(_line({word: error.kind, "detail": str(error)}))
    else:
        sys.stderr.write(f"sessionlab: {output.visible(str(error))}\n")
    raise typer.Exit(1)


def told(text: str) -> str:
    """A report's lines as a terminal may be shown them."""
    return "".join(f"{output.visible(line)}\n" for line in text.splitlines())


def _replays(
    ready: Prepared, times: int, transcripts: Path | None, journals: Path | None, *, json: bool
) -> list[Report]:
    from sessionlab.replay import recorders, session  # noqa: PLC0415 (the same)
    from sessionlab.replay.report import several, several_text  # noqa: PLC0415 (the same)

    approve = _approve if sys.stdin.isatty() and sys.stderr.isatty() else None
    reports: list[Report] = []
    written: list[Path] = []
    for number in range(1, times + 1):
        observers: list[Observer] = []
        if transcripts is not None:
            observers.append(transcript := recorders.TranscriptRecorder(transcripts))
        if journals is not None:
            observers.append(journal := recorders.JournalRecorder(journals / str(number) if times > 1 else journals))
        try:
            reports.append(session.replayed(ready, approve=approve, observers=observers))
        except ModelFailed as error:
            if times == 1:
                raise
            raise ModelFailed(error.kind, f"replay {number} of {times}: {error}", status=error.status) from error
        if transcripts is not None and transcript.path is not None:
            written.append(transcript.path)
        if journals is not None:
            written.append(journal.path)
            if journal.captured is None or journal.captured.truncation is not None or not journal.captured.landed:
                sys.stderr.write(f"sessionlab: {output.visible(str(journal.path))} is short: not all was recorded\n")
    if json:
        members = reports[0].as_dict() if times == 1 else several(reports)
        sys.stdout.write(_line({**members, "recorded": [str(path) for path in written]} if written else members))
    else:
        sys.stdout.write(told(reports[0].as_text() if times == 1 else several_text(reports)))
        sys.stdout.write("".join(f"recorded: {output.visible(str(path))}\n" for path in written))
    return reports


def _approve(use: ToolUse, offered: Offered) -> str | None:
    """Ask on the terminal whether a tool may run; anything but yes is no, and what else is typed is the reason."""
    from sessionlab.replay.wording import compact  # noqa: PLC0415 (only when something is asked)

    sends = " (it sends something out)" if offered.rights.send else ""
    sys.stderr.write(
        f"{output.visible(use.name)}{sends} {output.visible(compact(use.input))}\nrun it? [y/N, or why not] "
    )
    sys.stderr.flush()
    said = sys.stdin.readline().strip()
    if said.lower() in {"y", "yes"}:
        return None
    return "" if said.lower() in {"", "n", "no"} else said


def _tell_plan(ready: Prepared, *, json: bool) -> None:
    plan = ready.plan
    members: dict[str, object] = {
        "session": plan.session,
        "provider": plan.provider,
        "model": plan.settings.model,
        "address": ready.address,
        "on_divergence": plan.mode,
        "turns": len(plan.recorded.turns),
        "recorded_calls": len(plan.recorded.calls),
        "tools": {name: offered.origin for name, offered in plan.surface.items()},
        "tools_fidelity": plan.fidelity,
        "notes": list(plan.notes),
    }
    if json:
        sys.stdout.write(_line(members))
        return
    where = "answers come from a recording" if ready.address is None else f"asked at {ready.address}"
    tools = ", ".join(f"{name} ({offered.origin})" for name, offered in plan.surface.items()) or "none"
    lines = [
        f"session {plan.session} on {plan.provider}/{plan.settings.model}, {where}; nothing was asked",
        f"turns: {members['turns']}, recorded calls: {members['recorded_calls']}, on divergence: {plan.mode}",
        f"tools: {tools}",
        *(f"note: {note}" for note in plan.notes),
    ]
    sys.stdout.write(told("\n".join(lines)))


def _line(members: object) -> str:
    from sessionlab.replay.report import compact  # noqa: PLC0415 (the same)

    return compact(members) + "\n"
