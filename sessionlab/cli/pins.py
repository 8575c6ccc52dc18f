"""The regression pins: sessions that must replay without any divergence, run one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import output
from sessionlab.cli.options import Json
from sessionlab.cli.replay import (
    Api,
    BaseUrl,
    Directory,
    KeyVariable,
    ModelName,
    ProviderName,
    Retries,
    Seed,
    Temperature,
    TimeOut,
    Tools,
    failed,
    told,
)
from sessionlab.errors import ReplayRefused, WrongUse

if TYPE_CHECKING:
    from sessionlab.replay.pins import Pinned
    from sessionlab.replay.report import Report
    from sessionlab.replay.session import Asked
    from sessionlab.systems.mecha.store import Store

ADD = "add"
_SECONDS = 600.0
_RETRIES = 2


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(pins)


def pins(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[add] [ID]...", help="Sessions to replay instead of the pinned ones; `add ID`: pin one."
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option("--server", help="The model server that must have exactly one slot; default: that of --base-url."),
    ] = None,
    provider: ProviderName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    api: Api = None,
    key_env: KeyVariable = None,
    tools: Tools = None,
    temperature: Temperature = None,
    seed: Seed = None,
    timeout: TimeOut = _SECONDS,
    retries: Retries = _RETRIES,
    sessions: Directory = None,
    json: Json = False,
) -> None:
    """Replay every pinned session and fail on any divergence; `pins add ID` pins one that replays clean."""
    from sessionlab.replay import pins as pinning  # noqa: PLC0415 (a command that does not need it starts faster)
    from sessionlab.replay import session  # noqa: PLC0415 (the same)
    from sessionlab.replay.providers import LOCAL_URL, SCRIPTED  # noqa: PLC0415 (the same)
    from sessionlab.systems.mecha.store import Store  # noqa: PLC0415 (the same)

    named = list(words or ())
    adds = named[:1] == [ADD]
    if adds and len(named) == 1:
        raise WrongUse("pins add: expected a session id, found none")
    asked = session.Asked(
        mode="error",
        provider=provider,
        model=model,
        base_url=base_url,
        api=None if api is None else api.value,
        key_variable=key_env,
        tools=None if tools is None else session.tools_at(tools),
        temperature=temperature,
        seed=seed,
        timeout_s=timeout,
        retries=retries,
    )
    root = None if provider == SCRIPTED else pinning.server_root(server or base_url or LOCAL_URL)
    store = Store(sessions)
    try:
        ids = named[adds:] or pinning.read(pinning.pin_file())
        for name in named[1:] if adds else ():  # a wrong id is told before a server is asked for
            session.find(name, store)
        if root is not None:
            pinning.one_slot(root)
    except ReplayRefused as error:
        failed(error, json=json)
    results = []
    for one in pinning.run(ids, _replay(store, asked, root)):
        results.append(one)
        if not json:
            sys.stdout.write(told(_line(one)))
            sys.stdout.flush()
        if adds and one.ok and one.report is not None:
            new = pinning.append(pinning.pin_file(), one.report.session)
            if not json:
                what = "pinned in" if new else "was pinned already in"
                sys.stdout.write(told(f"{one.report.session} {what} {pinning.pin_file()}"))
    if json:
        output.print_json([_members(one) for one in results])
    if not all(one.ok for one in results):
        raise typer.Exit(1)


def _replay(store: Store, asked: Asked, root: str | None) -> Callable[[str], Report]:
    """Replays a session, on the server whose slots were counted and on no other."""
    from sessionlab.replay import pins as pinning  # noqa: PLC0415 (the same)
    from sessionlab.replay import session  # noqa: PLC0415 (the same)

    def replay(named: str) -> Report:
        with session.prepared(session.find(named, store), asked) as ready:
            if root is not None and (ready.address is None or pinning.server_root(ready.address) != root):
                raise ReplayRefused(
                    "server", f"{named} would be replayed at {ready.address}, and the slots were counted at {root}"
                )
            return session.replayed(ready)

    return replay


def _line(one: Pinned) -> str:
    if one.ok:
        return f"ok {one.id}"
    if one.report is None:
        return f"FAIL {one.id}: {one.failure}"
    return f"FAIL {one.id}\n{one.report.as_text()}"


def _members(one: Pinned) -> dict[str, object]:
    report = None if one.report is None else one.report.as_dict()
    return {"id": one.id, "ok": one.ok, "failure": one.failure, "report": report}
