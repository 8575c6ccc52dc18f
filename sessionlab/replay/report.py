"""A plan and the episode that was driven by it in; the report on it, as JSON and as text, out (12.8)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from sessionlab.formats.mecha.wire import Outcome
from sessionlab.replay.comparison import Divergence, as_json, compare
from sessionlab.replay.counters import fold
from sessionlab.replay.driver import Episode
from sessionlab.replay.rebuilding import Plan
from sessionlab.replay.surface import Mode
from sessionlab.replay.wording import counts, final_texts, opening, sentence
from sessionlab.systems.mecha.surfaces import Likeness


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay showed.

    Attributes:
        session: id of the recording.
        provider, model: who was asked.
        recorded_calls, replayed_calls: how many.
        turns: user turns fed.
        stopped_early: the replay parted from its recording and was ended there.
        divergences: what the comparison found (12.2).
        final_text: the replay's last text; ``recorded_final_text``: the recording's. That they differ is no divergence.
        outcome: the counters of the replayed episode, its runs folded; None when no run ended.
        legacy_provenance_calls: recorded calls of unknown provenance.
        provenance_note: what is to be said of them; None when there are none.
        on_divergence: what was to happen at a structural divergence.
        diverged_at: where and how the replay parted, in words; None when it followed.
        seen: the divergences the driver itself met. They can be others than ``divergences`` where a batch was reordered
            and cut; `error` fails on these (22).
        call_base: position of the first recorded call that was compared; 0 for a full replay.
        tools: whether the tool definitions offered were the recording's.
        notes: what a reader has to know.
    """

    session: str
    provider: str
    model: str
    recorded_calls: int
    replayed_calls: int
    turns: int
    stopped_early: bool
    divergences: tuple[Divergence, ...]
    final_text: str
    recorded_final_text: str
    outcome: Outcome | None
    legacy_provenance_calls: int
    provenance_note: str | None
    on_divergence: Mode
    diverged_at: str | None
    seen: tuple[Divergence, ...]
    call_base: int
    tools: Likeness
    notes: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """No divergence at all was met on the way, arguments included."""
        return not self.seen

    @property
    def exit_code(self) -> int:
        """1 when `error` met a divergence, else 0 (12.4)."""
        return 1 if self.on_divergence == "error" and not self.clean else 0

    def as_dict(self) -> dict[str, object]:
        """The members of 12.8 and what goes beyond them, by name."""
        told: dict[str, object] = {name: getattr(self, name) for name in self.__struct_fields__}
        told["divergences"] = [as_json(one) for one in self.divergences]
        told["seen"] = [as_json(one) for one in self.seen]
        told["outcome"] = None if self.outcome is None else outcome_members(self.outcome)
        return dict(sorted(told.items()))

    def as_json(self) -> str:
        """One compact JSON object, members in order of their names."""
        return compact(self.as_dict())

    def as_text(self) -> str:
        """Matched or how much was replayed; each divergence; counts; both final texts where they differ; notes."""
        lines = [
            f"session {self.session} on {self.provider}/{self.model}",
            opening(self.divergences, recorded=self.recorded_calls, replayed=self.replayed_calls, turns=self.turns),
        ]
        lines += [f"  {sentence(one)}" for one in self.divergences]
        if self.divergences:
            lines.append(counts(self.divergences))
        if self.diverged_at is not None:
            what = "stopped" if self.stopped_early else "went on with the tools of today"
            lines.append(f"{what}: {self.diverged_at}")
        differ = final_texts(self.recorded_final_text, self.final_text)
        if differ is not None:
            lines += [f"recorded final text: {differ[0]}", f"replayed final text: {differ[1]}"]
        if self.outcome is not None:
            lines.append(_told(self.outcome))
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)]) + "\n"


def report(plan: Plan, episode: Episode) -> Report:
    """The report on an episode."""
    return Report(
        session=plan.session,
        provider=plan.provider,
        model=plan.settings.model,
        recorded_calls=len(episode.recorded),
        replayed_calls=len(episode.calls),
        turns=episode.turns,
        stopped_early=episode.stopped_early,
        divergences=tuple(compare(episode.recorded, episode.calls, base=episode.base)),
        final_text=episode.final_text,
        recorded_final_text=plan.recorded.final_text,
        outcome=fold(episode.outcomes),
        legacy_provenance_calls=plan.recorded.legacy_provenance_calls,
        provenance_note=plan.provenance_note,
        on_divergence=plan.mode,
        diverged_at=None if episode.departure is None else str(episode.departure),
        seen=episode.seen,
        call_base=episode.base,
        tools=plan.fidelity,
        notes=plan.notes,
    )


def several(reports: Sequence[Report]) -> dict[str, object]:
    """Several replays of one recording: how many, how many of them followed it, and each report."""
    return {
        "clean": sum(one.clean for one in reports),
        "reports": [one.as_dict() for one in reports],
        "session": reports[0].session,
        "times": len(reports),
    }


def several_text(reports: Sequence[Report]) -> str:
    """The same as text: k of N, and then each replay that parted."""
    clean = sum(one.clean for one in reports)
    first = f"session {reports[0].session}: {clean} of {len(reports)} replays followed the recording\n"
    parted = [(number, one) for number, one in enumerate(reports, 1) if not one.clean]
    told = "".join(f"replay {number}: {one.diverged_at or sentence(one.seen[0])}\n" for number, one in parted)
    return first + told + "".join(f"note: {note}\n" for note in reports[0].notes)


def outcome_members(outcome: Outcome) -> dict[str, object]:
    """The members of an outcome that a replay measures; sensors it has none of are left out."""
    fields = Outcome.__struct_fields__
    members: dict[str, object] = {name: getattr(outcome, name) for name in fields[: fields.index("goal_anchor")]}
    members["usage"] = None if outcome.usage is msgspec.UNSET else msgspec.to_builtins(outcome.usage)
    members["taint"] = {"private": outcome.taint.private, "untrusted": outcome.taint.untrusted}
    return members


def compact(value: object) -> str:
    """A value as JSON on one line, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _told(outcome: Outcome) -> str:
    cost = "cost unknown"
    if outcome.cost_usd is not None:
        cost = f"${outcome.cost_usd:.4f}" + (
            "" if outcome.usage_complete else " (at least: not every reply told its usage)"
        )
    counted = {"model turn": outcome.turns, "call": outcome.tool_calls, "error": outcome.tool_errors}
    parts = ", ".join(f"{number:,} {word}{'' if number == 1 else 's'}" for word, number in counted.items())
    return f"the replay: {parts}, {outcome.tool_denied:,} denied, ended by {outcome.stop_cause}; {cost}"
