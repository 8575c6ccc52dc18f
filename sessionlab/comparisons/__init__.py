"""Arms of a corpus in (periods, models, policies, replays); what differs between them, with the evidence, out.

``intervals`` says how sure a rate is, ``arms`` counts, ``configurations`` lists what the arms were configured with
differently, ``health`` compares two arms, ``findings`` judges models by thresholds, ``episodes`` folds runs, ``gate``
decides on a candidate.
"""

from __future__ import annotations

from sessionlab.comparisons.arms import Arm, Rate, parse_arm, rates
from sessionlab.comparisons.configurations import Differing, differing, policies
from sessionlab.comparisons.episodes import Episode, by_recording, episodes, fold
from sessionlab.comparisons.findings import Thresholds, findings
from sessionlab.comparisons.gate import ChangeClass, Decision, GateRules, decide, judge
from sessionlab.comparisons.health import Comparison, RateDifference, compare
from sessionlab.comparisons.intervals import Interval, difference, wilson

__all__ = [
    "Arm",
    "ChangeClass",
    "Comparison",
    "Decision",
    "Differing",
    "Episode",
    "GateRules",
    "Interval",
    "Rate",
    "RateDifference",
    "Thresholds",
    "by_recording",
    "compare",
    "decide",
    "difference",
    "differing",
    "episodes",
    "findings",
    "fold",
    "judge",
    "parse_arm",
    "policies",
    "rates",
    "wilson",
]
