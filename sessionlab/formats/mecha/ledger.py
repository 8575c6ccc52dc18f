"""What runs were configured with, what they used and how they ended: those three records in, their rows out.

Provider and model of a run are those of the nearest earlier ``config``, empty strings included, else of the header
(section 8.8). A member that is absent has the value the format defines for it (sections 4.4, 4.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

import msgspec

from sessionlab.columns import Fault, tokens, tokens_fault, usd, usd_fault
from sessionlab.formats._values import compact, detail
from sessionlab.formats.mecha.wire import Config, Meta, Outcome, Summary, Tokens
from sessionlab.tables import Config as ConfigRow
from sessionlab.tables import Outcome as OutcomeRow
from sessionlab.tables import Usage

Json = Mapping[str, Any]

STOP_CLASSES = {
    "completed": "completed",
    "max_turns": "cut_short",
    "output_token_budget": "cut_short",
    "cost_budget": "cut_short",
    "loop": "cut_short",
    "no_output": "cut_short",
    "interrupted": "interrupted",
    "stopped": "interrupted",
}
"""Stop cause → stop class (section 4.4). A word that is not here has no class; the word itself is kept."""

_LONGEST_SECS = 1e12
_sensors = attrgetter(*Outcome.SENSORS)
_counts = attrgetter(*Tokens.__struct_fields__)


class Ledger:
    """Counts runs and charges, and knows the configuration in effect.

    Attributes:
        run: the run whose records are being read, 1-based: outcomes so far plus one.
        said: CRC-32 of the lines so far that wrote the conversation.
        recorder_version: as the first config names it.
    """

    def __init__(self, session_id: str, header: Meta) -> None:
        """The first run, under the provider and model that the header names."""
        self.run = 1
        self.said = 0
        self.recorder_version: str | None = None
        self._session_id = session_id
        self._native_id = header.id
        self._provider, self._model = header.provider, header.model
        self._charges = 0
        self._said_before = 0  # what was said before the latest summary

    @property
    def charge_id(self) -> str:
        """The charge of the latest summary of this run; of the run itself while it has none.

        It names what was said before, so that files of one session share the charges of what they have in common
        and no others.
        """
        number = "" if self._charges < 2 else f".{self._charges}"  # noqa: PLR2004 (the first needs no number)
        said = self._said_before if self._charges else self.said
        return f"{self._native_id}/{self.run}{number}/{said:08x}"

    def config(
        self,
        record: Config,
        *,
        seq: int,
        line: int,
        position: int,
        system_ix: int | None,
        toolset_ix: int,
        unknown: Json,
    ) -> ConfigRow:
        """The row of a configuration, in force from here on."""
        if self.recorder_version is None:
            self.recorder_version = record.mecha_version
        self._provider, self._model = record.provider, record.model
        return ConfigRow(
            session_id=self._session_id,
            seq=seq,
            line=line,
            position=position,
            provider=record.provider,
            model=record.model,
            effort=record.effort,
            temperature=record.temperature,
            max_turns=record.max_turns,
            max_usd=usd(record.max_cost_usd),
            compact_at_tokens=tokens(record.compact_at_tokens),
            permission_mode=record.permission_mode,
            sandbox=record.sandbox,
            workspace=record.workspace,
            recorder_version=record.mecha_version,
            system_ix=system_ix,
            toolset_ix=toolset_ix,
            tools_hash=record.tools_hash,
            detail=detail(
                seed=record.seed,
                thinking=record.thinking,
                cache_prompt=record.cache_prompt,
                max_tokens=record.max_tokens,
                max_output_tokens=record.max_output_tokens,
                compact_keep_recent=record.compact_keep_recent,
                trifecta=record.trifecta,
                sandbox_network=record.sandbox_network,
                rules_workspace=record.rules_workspace,
                rules_surface=record.rules_surface,
                rules_goal=record.rules_goal,
                rules_hash=record.rules_hash,
                unknown=unknown or None,
            ),
        )

    def summary(self, record: Summary, *, seq: int, line: int, unknown: Json) -> Usage:
        """The run's ledger row."""
        self._charges += 1
        self._said_before = self.said
        return self._usage(
            record.usage,
            seq=seq,
            line=line,
            standing="ledger",
            recorded_in="summary",
            turns=record.turns,
            unknown=unknown,
        )

    def outcome(self, record: Outcome, *, seq: int, line: int, unknown: Json) -> tuple[OutcomeRow, Usage | None]:
        """The row of a run's end, and its stand-in figure where it tells tokens or a cost; the next run begins."""
        spent = None
        if record.usage is not msgspec.UNSET or record.cost_usd is not None:
            spent = self._usage(
                None if record.usage is msgspec.UNSET else record.usage,
                seq=seq,
                line=line,
                standing="stand_in",
                recorded_in="outcome",
                turns=record.turns,
                recorded_usd=record.cost_usd,
                is_lower_bound=not record.usage_complete,
            )
        goal = record.goal_anchor if isinstance(record.goal_anchor, str) else None
        measured = _sensors(record)
        sensors: dict[str, Any] = {}
        if measured.count(None) < len(measured):
            sensors = dict(zip(Outcome.SENSORS, measured, strict=True))
        if goal is None:
            sensors["goal_anchor"] = record.goal_anchor
        row = OutcomeRow(
            session_id=self._session_id,
            seq=seq,
            line=line,
            run=self.run,
            provider=self._provider,
            model=self._model,
            duration_ms=_milliseconds(record.duration_secs),
            turns=record.turns,
            stop_cause=record.stop_cause,
            stop_class=STOP_CLASSES.get(record.stop_cause or ""),
            exhausted=record.exhausted,
            ended_on_failed_call=record.ended_on_failed_call,
            tool_calls=record.tool_calls,
            tool_errors=record.tool_errors,
            tool_denied=record.tool_denied,
            tool_staged=record.tool_staged,
            malformed_tool_args=record.malformed_tool_args,
            blocked_sends=record.blocked_sends,
            compactions=record.compactions,
            private=record.taint.private,
            untrusted=record.taint.untrusted,
            recorded_usd=usd(record.cost_usd),
            usage_complete=record.usage_complete,
            goal=goal,
            sensors=detail(**{**unknown, **sensors}),
        )
        self.run += 1
        self._charges = 0
        return row, spent

    def _usage(
        self,
        spent: Tokens | None,
        *,
        seq: int,
        line: int,
        standing: str,
        recorded_in: str,
        turns: int,
        recorded_usd: float | None = None,
        is_lower_bound: bool = False,
        unknown: Json | None = None,
    ) -> Usage:
        """The row of a figure. What no figure can mean is null, and then more was spent than the row says."""
        is_lower_bound |= usd_fault(recorded_usd) is not None
        is_lower_bound |= spent is not None and any(tokens_fault(count) for count in _counts(spent))
        return Usage(
            session_id=self._session_id,
            seq=seq,
            line=line,
            run=self.run,
            charge_id=self.charge_id,
            grain="run",
            standing=standing,
            recorded_in=recorded_in,
            provider=self._provider,
            model=self._model,
            turns=turns,
            uncached_input_tokens=None if spent is None else tokens(spent.input_tokens),
            cache_read_tokens=None if spent is None else tokens(spent.cache_read_input_tokens),
            cache_write_tokens=None if spent is None else tokens(spent.cache_creation_input_tokens),
            output_tokens=None if spent is None else tokens(spent.output_tokens),
            recorded_usd=usd(recorded_usd),
            is_lower_bound=is_lower_bound,
            detail=compact(unknown) if unknown else None,
        )


def faults(record: Config | Summary | Outcome) -> Iterator[tuple[str, Fault]]:
    """Name of each member whose number the wire may hold and no figure can mean, and what is wrong with it."""
    counts: list[tuple[str, int | None]] = []
    dollars: tuple[str, float | None] | None = None
    if isinstance(record, Config):
        counts.append(("compact_at_tokens", record.compact_at_tokens))
        dollars = "max_cost_usd", record.max_cost_usd
    elif isinstance(record.usage, Tokens):
        counts += zip(Tokens.__struct_fields__, _counts(record.usage), strict=True)
    if isinstance(record, Outcome):
        dollars = "cost_usd", record.cost_usd
    for name, count in counts:
        if (fault := tokens_fault(count)) is not None:
            yield name, fault
    if dollars is not None and (fault := usd_fault(dollars[1])) is not None:
        yield dollars[0], fault


def _milliseconds(secs: float | None) -> int | None:
    return None if secs is None or abs(secs) > _LONGEST_SECS else round(secs * 1000)
