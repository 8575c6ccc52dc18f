"""The probe command: a place where a person stepped in; whether a replay, there or made now, needs it again (13)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sessionlab.cli import output
from sessionlab.cli.diff import LINES, Name, cut, more, print_json, sides, transcript_file, transcript_in
from sessionlab.cli.options import Json, Paths
from sessionlab.cli.replay import Api, BaseUrl, KeyVariable, ModelName, Seed, Temperature, Tools, failed
from sessionlab.errors import ModelFailed, ReplayRefused, UnknownName, WrongUse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessionlab.formats.mecha.loading import Transcript
    from sessionlab.replay import Divergence, ProbePoint, RecordedCall
    from sessionlab.replay.probes import Verdict
    from sessionlab.replay.report import Report
    from sessionlab.replay.session import Asked

Steer = Annotated[str | None, typer.Option("--steer", help="The text that came in beside results.")]
Denial = Annotated[str | None, typer.Option("--denial", help="The reason for which a person refused a call.")]
Replay = Annotated[str | None, typer.Option("--replay", help="The session that replayed it: gives the verdict.")]
Base = Annotated[int, typer.Option("--base", min=0, help="Recorded calls before the first one of --replay.")]
Provider = Annotated[
    str | None,
    typer.Option("-p", "--provider", help="Replay it now, from that place on: who answers. `scripted`: the recording."),
]


def probe(
    identifier: Name,
    paths: Paths = None,
    steer: Steer = None,
    denial: Denial = None,
    replay_of: Replay = None,
    base: Base = 0,
    provider: Provider = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    api: Api = None,
    key_env: KeyVariable = None,
    tools: Tools = None,
    temperature: Temperature = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """A place where a person stepped into a mecha session; with --replay, -p or -m whether it was needed again.

    Exit code 0: the point, or a verdict of pass; 1: fail, inconclusive, or a recording no probe can judge.
    """
    from sessionlab import replay  # noqa: PLC0415 (a command that does not need it starts faster)
    from sessionlab.replay.session import Asked, tools_at  # noqa: PLC0415 (the same)

    if (steer is None) == (denial is None):
        raise WrongUse("probe: expected one of --steer TEXT and --denial REASON")
    drives = any(one is not None for one in (provider, model, base_url))
    if drives and replay_of is not None:
        raise WrongUse("probe: expected a replay there is (--replay) or one to be made now (-p, -m), found both")
    file = transcript_file(identifier, paths)
    transcript = transcript_in(file)
    point = _point(transcript, steer, denial)
    judged = replay.eligibility(transcript)
    told: dict[str, object] = {
        "session": transcript.header.id,
        **_point_as_json(point),
        "unsupported": [one.sentence for one in judged.unsupported],
        "divergences": None,
        "verdict": None,
    }
    lines = _point_lines(point) + [one.sentence for one in judged.unsupported]
    verdict: Verdict | None = None
    if drives and not judged.unsupported:
        asked = Asked(
            provider=provider,
            model=model,
            base_url=base_url,
            api=None if api is None else api.value,
            key_variable=key_env,
            tools=None if tools is None else tools_at(tools),
            temperature=temperature,
            seed=seed,
        )
        report, verdict = _driven(file, asked, point, json=json)
        told |= {"divergences": [replay.as_json(one) for one in report.divergences], "report": report.as_dict()}
        lines.append(
            f"replayed from call {report.call_base + 1:,} on by {output.visible(f'{report.provider}/{report.model}')}:"
            f" {output.counted(report.replayed_calls, 'call')}"
        )
        lines += _sentences(report.divergences) + [output.visible(f"note: {note}") for note in report.notes]
    elif replay_of is not None and not judged.unsupported:
        recording = replay.extract(transcript.messages[: point.until])
        if base > len(recording.calls):
            raise WrongUse(f"--base: expected at most the {len(recording.calls):,} recorded calls, found {base:,}")
        calls = _replayed(replay_of, paths, turns=None if base else len(recording.turns))
        found = replay.compare(recording.calls[base:], calls, base=base)
        verdict = replay.verdict(point, found, calls, base=base)
        told["divergences"] = [replay.as_json(one) for one in found]
        lines += _sentences(found)
    if verdict is not None:
        told["verdict"] = verdict
        lines.append(f"verdict: {verdict}")
    if json:
        print_json(told)
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    raise typer.Exit(1 if judged.unsupported or verdict in ("fail", "inconclusive") else 0)


def _driven(file: str, asked: Asked, point: ProbePoint, *, json: bool) -> tuple[Report, Verdict]:
    """What a replay made now shows; where there is none, why, and exit code 1."""
    from sessionlab.replay import session  # noqa: PLC0415 (the same)

    try:
        with session.prepared(Path(file), asked, message=point.message_index) as ready:
            return session.probed(ready, point)
    except (ReplayRefused, ModelFailed) as error:
        failed(error, json=json)


def _replayed(name: str, paths: list[str] | None, *, turns: int | None) -> Sequence[RecordedCall]:
    """The calls of a session that replayed a run, in its first turns; None: all of it is the run's.

    Only of mecha's own it is known which turn a call belongs to.
    """
    from sessionlab import replay  # noqa: PLC0415 (the same)

    [other] = sides([(name, "root")], paths)
    if turns is None or other.format != "mecha":
        return other.trajectory.calls
    messages = transcript_in(transcript_file(name, paths)).messages
    return replay.extract(messages[: replay.turns_end(messages, turns)]).calls


def _sentences(found: Sequence[Divergence]) -> list[str]:
    from sessionlab.replay.wording import sentence  # noqa: PLC0415 (the same)

    return [output.visible(sentence(one)) for one in found[:LINES]] + more(len(found))


def _point(transcript: Transcript, steer: str | None, denial: str | None) -> ProbePoint:
    from sessionlab import replay  # noqa: PLC0415 (the same)

    messages = transcript.messages
    if steer is not None:
        point, kind, wanted = replay.probe_steer(messages, steer), "steer", steer
    else:
        point, kind, wanted = replay.probe_denial(messages, denial or ""), "denial", denial or ""
    if point is None:
        there = [one.text for one in replay.interventions(messages, transcript.covering) if one.trigger == kind]
        raise UnknownName(kind, wanted, there)
    return point


def _point_lines(point: ProbePoint) -> list[str]:
    from sessionlab.replay.wording import compact  # noqa: PLC0415 (the same)

    before = f"{output.counted(point.call_index, 'call')} asked for before, {point.answered_index:,} answered"
    lines = [
        f"{point.trigger} in message {point.message_index:,}: {before}; its run ends before message {point.until:,}"
    ]
    if point.refused is not None:
        lines.append(f"refused: {cut(f'{point.refused.name} {compact(point.refused.input)}')}")
    return lines


def _point_as_json(point: ProbePoint) -> dict[str, object]:
    refused = None if point.refused is None else {"name": point.refused.name, "input": point.refused.input}
    return {
        "trigger": point.trigger,
        "message_index": point.message_index,
        "call_index": point.call_index,
        "answered_index": point.answered_index,
        "until": point.until,
        "refused": refused,
    }
