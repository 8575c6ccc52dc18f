"""A corpus and thresholds in; what is worth a look, model by model, out (mecha 11.5)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from sessionlab.comparisons.intervals import CONFIDENCE, wilson
from sessionlab.errors import UnknownName, WrongUse

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus


@dataclass(frozen=True)
class Thresholds:
    """From when on something is worth a look; the defaults are mecha's, with which the view ``health.findings`` judges.

    Attributes:
        sessions: how many sessions, newest first, are looked at.
        min_runs: a model with fewer runs among them is not judged.
        min_calls: a model with fewer tool calls is not judged by its error rate.
        ends_failed: share of runs that end on a failed call.
        fails_calls: share of tool calls that fail.
        cut_short: share of runs that the harness cuts short.
    """

    sessions: int = 200
    min_runs: int = 20
    min_calls: int = 20
    ends_failed: float = 0.20
    fails_calls: float = 0.25
    cut_short: float = 0.25

    @classmethod
    def told(cls, *texts: str) -> Thresholds:
        """The defaults, changed as texts such as ``min_runs=5`` tell.

        Raises:
            UnknownName: no such threshold.
            WrongUse: no number stands behind the name, or one that cannot be meant.
        """
        kinds = {field.name: int if isinstance(field.default, int) else float for field in fields(cls)}
        changed: dict[str, float] = {}
        for text in texts:
            name, _, value = text.partition("=")
            if name not in kinds:
                raise UnknownName("threshold", name, kinds)
            try:
                changed[name] = kinds[name](value)
            except ValueError as error:
                raise WrongUse(
                    f"{name}: expected a number as in {name}={getattr(cls(), name)}, found {text!r}"
                ) from error
            if not 0 <= changed[name] < float("inf"):
                raise WrongUse(f"{name}: expected a number of at least 0, found {value!r}")
        return cls(**changed)  # type: ignore[arg-type]


def findings(
    corpus: Corpus,
    thresholds: Thresholds = Thresholds(),
    *,
    confidence: float = CONFIDENCE,
) -> list[dict[str, object]]:
    """What fires, by model and finding: rows as of ``health.findings``, with the ends of Wilson's interval.

    ``interrupted`` runs are not cut short. A finding fires at its very threshold.
    """
    told = thresholds
    rows = corpus.sql(
        "SELECT model, count(*), count(*) FILTER (WHERE ended_on_failed_call), count(ended_on_failed_call),"
        " sum(tool_errors) FILTER (WHERE tool_calls IS NOT NULL),"
        " sum(tool_calls) FILTER (WHERE tool_errors IS NOT NULL), count(*) FILTER (WHERE stop_class = 'cut_short')"
        " FROM health.runs WHERE model IS NOT NULL AND session_id IN (SELECT session_id FROM sessions"
        " WHERE same_as_session_id IS NULL ORDER BY created_at DESC NULLS LAST, session_id DESC LIMIT ?)"
        " GROUP BY model HAVING count(*) >= ? ORDER BY model",
        [told.sessions, told.min_runs],
    ).rows()
    found: list[dict[str, object]] = []
    for model, runs, failed, known, errors, calls, cut in rows:
        measured = (
            ("ends runs on a failed call", failed, known, told.ends_failed),
            (
                "fails its tool calls",
                errors or 0,
                (calls or 0) if (calls or 0) >= told.min_calls else 0,
                told.fails_calls,
            ),
            ("is cut short by the harness", cut, runs, told.cut_short),
        )
        for finding, cases, out_of, threshold in measured:
            if out_of and cases / out_of >= threshold:
                interval = wilson(cases, out_of, confidence) if cases <= out_of else None
                found.append(
                    {
                        "model": model, "finding": finding, "observed": cases / out_of, "threshold": threshold,
                        "cases": cases, "out_of": out_of, "runs": runs,
                        "low": None if interval is None else interval.low,
                        "high": None if interval is None else interval.high,
                    }
                )  # fmt: skip
    return found
