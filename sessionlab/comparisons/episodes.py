"""The outcomes of the runs of a session in; one episode, folded as mecha section 4.4 says, out.

An episode is one session, or one replay of it, as one row. No outcomes give no episode, not one of zeros.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from sessionlab.errors import WrongUse

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

Json = object
COUNTERS = (
    "turns", "tool_calls", "tool_errors", "tool_denied", "tool_staged", "malformed_tool_args", "blocked_sends",
    "compactions", "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
)  # fmt: skip
"""Members that are summed, over the runs that tell them."""


@dataclass(frozen=True)
class Episode:
    """Several runs as one row; what no run tells is None.

    Attributes:
        id: what pairs it with the same episode of another arm.
        sessions: ids of the sessions it was folded from.
        runs: how many outcomes were folded.
        stop_cause, stop_class, exhausted, ended_on_failed_call: of the last run, None included.
        usage_complete: every run's usage was complete.
        private, untrusted: any run's taint.
        cost_usd: of the runs with a known cost, US dollars.
        goal: the last that was told.
        sensors: optional counters by name, over the runs that measured them.
        homeostat: conditions of the first run that sampled any, with the ``backlog_delta`` of all of them.
        delivered: learned rules delivered to any of the runs, each once.
    """

    id: str
    sessions: tuple[str, ...]
    runs: int
    turns: int | None
    tool_calls: int | None
    tool_errors: int | None
    tool_denied: int | None
    tool_staged: int | None
    malformed_tool_args: int | None
    blocked_sends: int | None
    compactions: int | None
    input_tokens: int | None
    output_tokens: int | None
    cache_creation_input_tokens: int | None
    cache_read_input_tokens: int | None
    cost_usd: float | None
    usage_complete: bool
    stop_cause: str | None
    stop_class: str | None
    exhausted: bool | None
    ended_on_failed_call: bool | None
    private: bool | None
    untrusted: bool | None
    goal: str | None
    duration_ms: int | None
    sensors: dict[str, int] = field(default_factory=dict)
    homeostat: dict[str, Json] | None = None
    delivered: list[Json] | None = None

    @property
    def net_backlog(self) -> float | None:
        """The change of every backlog together; None where none was sampled."""
        delta = (self.homeostat or {}).get("backlog_delta")
        if isinstance(delta, dict):
            return sum((value for value in delta.values() if _is_number(value)), 0.0)
        return float(delta) if isinstance(delta, int | float) and _is_number(delta) else None


def fold(rows: Sequence[Mapping[str, Json]], episode_id: str) -> Episode | None:
    """The episode of these outcomes, in the order of their runs; None without any.

    Args:
        rows: rows of ``outcomes``, with the members of COUNTERS that are tokens beside them where they are known.
        episode_id: what the episode is called.
    """
    if not rows:
        return None
    last = rows[-1]
    told = [_sensors(row) for row in rows]
    counts = {name: _sum([row.get(name) for row in rows]) for name in COUNTERS}
    costs = [float(cost) for row in rows if isinstance(cost := row.get("recorded_usd"), int | float)]
    return Episode(
        id=episode_id,
        sessions=tuple(dict.fromkeys(str(row.get("session_id", "")) for row in rows)),
        runs=len(rows),
        **counts,
        cost_usd=sum(costs) if costs else None,
        usage_complete=all(row.get("usage_complete") is True for row in rows),
        stop_cause=_text(last.get("stop_cause")),
        stop_class=_text(last.get("stop_class")),
        exhausted=_flag(last.get("exhausted")),
        ended_on_failed_call=_flag(last.get("ended_on_failed_call")),
        private=_any([_flag(row.get("private")) for row in rows]),
        untrusted=_any([_flag(row.get("untrusted")) for row in rows]),
        goal=next((goal for row in reversed(rows) if (goal := _text(row.get("goal"))) is not None), None),
        duration_ms=_sum([row.get("duration_ms") for row in rows]),
        sensors=_counters(told),
        homeostat=_homeostat([sensed.get("homeostat") for sensed in told]),
        delivered=_union([sensed.get("delivered") for sensed in told]),
    )


def episodes(corpus: Corpus, name: Callable[[str, str | None], str | None] | None = None) -> dict[str, Episode]:
    """Every session of a corpus that has outcomes, folded, by episode id.

    Args:
        corpus: any load; figures are enough.
        name: the episode id of a session, from its session id and its recorder's own id; None leaves it out. By
            default the recorder's own id, else the session id. Two sessions of one name are runs of one episode, in
            the order of their session ids.
    """
    rows = corpus.sql(
        "SELECT o.*, s.native_id, u.uncached_input_tokens AS input_tokens, u.output_tokens,"
        " u.cache_write_tokens AS cache_creation_input_tokens, u.cache_read_tokens AS cache_read_input_tokens"
        " FROM outcomes o JOIN sessions s ON s.session_id = o.session_id"
        " LEFT JOIN raw.usage u ON u.source_id = o.source_id AND u.seq = o.seq AND u.recorded_in = 'outcome'"
        " WHERE s.same_as_session_id IS NULL ORDER BY o.session_id, o.run NULLS LAST, o.source_id, o.seq NULLS LAST"
    ).to_dicts()
    named = name or (lambda session_id, native_id: native_id or session_id)
    held: dict[str, list[dict[str, Json]]] = {}
    for (session_id, native_id), runs in groupby(rows, key=lambda row: (row["session_id"], row["native_id"])):
        episode_id = named(str(session_id), native_id)
        if episode_id is not None:
            held.setdefault(episode_id, []).extend(runs)
    folded = {episode_id: fold(runs, episode_id) for episode_id, runs in held.items()}
    return {episode_id: episode for episode_id, episode in sorted(folded.items()) if episode is not None}


def by_recording(*arms: Corpus) -> Callable[[str, str | None], str | None]:
    """Names for `episodes`, by which a recorded replay is the episode of the session it replays.

    A replay is known by what its header says: front end `experiment`, created title `replay ID`. Any other session is
    called as by default.

    Raises:
        WrongUse: an arm holds several tellings of one episode. Folded together they would look like one long run.
    """
    names: dict[str, str] = {}
    for corpus in arms:
        held: dict[str, list[str]] = {}
        rows = corpus.sql(
            "SELECT session_id, coalesce(CASE WHEN surface = 'experiment'"
            " THEN nullif(regexp_extract(created_title, '^replay (\\S+)$', 1), '') END, native_id, session_id)"
            " FROM sessions WHERE same_as_session_id IS NULL ORDER BY session_id"
        ).rows()
        for session_id, name in rows:
            names[session_id] = name
            held.setdefault(name, []).append(session_id)
        for name, tellings in held.items():
            if len(tellings) > 1:
                raise WrongUse(
                    f"episode {name}: expected one session of it in an arm, found {len(tellings)}:"
                    f" {', '.join(tellings[:4])}; give one replay of each session, apart from the sessions themselves"
                )
    return lambda session_id, native_id: names.get(session_id, native_id or session_id)


def _sensors(row: Mapping[str, Json]) -> dict[str, Json]:
    told = row.get("sensors")
    found = json.loads(told) if isinstance(told, str) else told
    return found if isinstance(found, dict) else {}


def _counters(told: Sequence[dict[str, Json]]) -> dict[str, int]:
    """Optional counters: summed where both are present, otherwise whichever is."""
    sums: dict[str, int] = {}
    for sensed in told:
        for name, value in sensed.items():
            if isinstance(value, int) and not isinstance(value, bool):
                sums[name] = sums.get(name, 0) + value
    return sums


def _homeostat(sampled: Sequence[Json]) -> dict[str, Json] | None:
    conditions = [one for one in sampled if isinstance(one, dict) and one]
    if not conditions:
        return None
    found: dict[str, Json] = {name: value for name, value in conditions[0].items() if name != "backlog_delta"}
    deltas = [one["backlog_delta"] for one in conditions if one.get("backlog_delta") is not None]
    if deltas and all(isinstance(delta, dict) for delta in deltas):
        summed: dict[str, float] = {}
        for delta in deltas:
            for name, value in delta.items():
                if _is_number(value):
                    summed[name] = summed.get(name, 0) + value
        found["backlog_delta"] = summed
    elif deltas:
        found["backlog_delta"] = sum(delta for delta in deltas if _is_number(delta))
    return found


def _union(told: Sequence[Json]) -> list[Json] | None:
    known = [one for one in told if one is not None]
    if not known:
        return None
    found: dict[str, Json] = {}
    for one in known:
        for item in one if isinstance(one, list) else [one]:
            found.setdefault(json.dumps(item, sort_keys=True), item)
    return list(found.values())


def _sum(values: Sequence[Json]) -> int | None:
    known = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return sum(known) if known else None


def _any(flags: Sequence[bool | None]) -> bool | None:
    """True when any is; unknown is not clean, so False only when all are known to be."""
    if any(flags):
        return True
    return None if None in flags else False


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
