"""A corpus and what an arm is made of in; its runs, counted, out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from sessionlab.arguments import naive, price_time
from sessionlab.comparisons.intervals import CONFIDENCE, Interval, wilson
from sessionlab.errors import WrongUse

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

COLUMNS = {"model": "model", "provider": "provider", "kind": "surface", "format": "format", "workspace": "workspace"}
"""Words an arm may be told by, and the columns of ``health.runs`` they mean."""
RATES = {
    "tool_error_rate": (
        "sum(tool_errors) FILTER (WHERE tool_calls IS NOT NULL)",
        "sum(tool_calls) FILTER (WHERE tool_errors IS NOT NULL)",
    ),
    "ended_on_failed_call_rate": ("count(*) FILTER (WHERE ended_on_failed_call)", "count(ended_on_failed_call)"),
    "cut_short_rate": ("count(*) FILTER (WHERE stop_class = 'cut_short')", "count(*)"),
    "intervention_rate": ("count(*) FILTER (WHERE stop_cause = 'stopped')", "count(*)"),
}
"""Each rate of mecha 11.2: what is counted, and out of what."""


@dataclass(frozen=True)
class Arm:
    """The runs of a corpus that one side of a comparison is made of.

    Attributes:
        corpus: where they are; load it without ``figures=True`` for configurations to be compared.
        label: what the arm is called.
        equal: columns of ``health.runs`` and the values they must have.
        since, until: bounds of when a run began (of its session, where a run has no time of its own); the first is in,
            the second is out. Runs without a date are in no period.
    """

    corpus: Corpus
    label: str
    equal: tuple[tuple[str, str], ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def condition(self) -> tuple[str, list[object]]:
        """SQL over ``health.runs`` that holds for its runs, and its parameters."""
        tests = [f"{name} = ?" for name, _ in self.equal]
        values: list[object] = [value for _, value in self.equal]
        for bound, test in ((self.since, "started_at >= ?"), (self.until, "started_at < ?")):
            if bound is not None:
                tests.append(test)
                values.append(naive(bound))
        return " AND ".join(tests) or "true", values


class Rate(NamedTuple):
    """A rate with its evidence: a null one is of nothing, and has no interval.

    Attributes:
        name: as `health` calls it.
        cases, out_of: what was counted, out of what.
        value: cases over out_of.
        interval: Wilson's, for the confidence asked for.
    """

    name: str
    cases: int
    out_of: int
    value: float | None
    interval: Interval | None


def rates(arm: Arm, confidence: float = CONFIDENCE) -> tuple[int, list[Rate]]:
    """How many runs an arm has, and its rates (mecha 11.2) with Wilson's intervals."""
    condition, values = arm.condition()
    counted = ", ".join(f"coalesce({cases}, 0), coalesce({out_of}, 0)" for cases, out_of in RATES.values())
    [(runs, *found)] = arm.corpus.sql(f"SELECT count(*), {counted} FROM health.runs WHERE {condition}", values).rows()
    pairs = zip(found[::2], found[1::2], strict=True)
    return int(runs), [_rate(name, int(a), int(b), confidence) for name, (a, b) in zip(RATES, pairs, strict=True)]


def _rate(name: str, cases: int, out_of: int, confidence: float) -> Rate:
    # a record may claim more failures than calls: then there is a rate, and no interval can be meant
    interval = wilson(cases, out_of, confidence) if cases <= out_of else None
    return Rate(name, cases, out_of, cases / out_of if out_of else None, interval)


def parse_arm(corpus: Corpus, text: str) -> Arm:
    """The arm that ``text`` tells: ``model=claude-opus-5``, ``from=2026-10-01,until=2026-11-01``, ``kind=run,…``.

    Raises:
        WrongUse: a word that no arm is told by, or a date that is none.
    """
    equal: list[tuple[str, str]] = []
    bounds: dict[str, datetime | None] = {}
    for part in text.split(","):
        name, sign, value = part.strip().partition("=")
        if sign and name in COLUMNS:
            equal.append((COLUMNS[name], value))
        elif sign and name in ("from", "until"):
            try:
                bounds[name] = price_time(datetime.fromisoformat(value), corpus.now)
            except ValueError as error:
                raise WrongUse(f"{name}: expected a date such as 2026-11-01, found {value!r}") from error
        elif part.strip():
            words = ", ".join(f"{word}=…" for word in (*COLUMNS, "from", "until"))
            raise WrongUse(f"an arm is told by {words}, joined by commas; found {part.strip()!r}")
    return Arm(corpus, text.strip() or "all runs", tuple(equal), bounds.get("from"), bounds.get("until"))
