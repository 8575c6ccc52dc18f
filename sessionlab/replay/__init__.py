"""Recorded runs compared: a session's `Trajectory`, where two part, and where a person stepped in (mecha 12, 13)."""

from __future__ import annotations

from sessionlab.replay.alignment import Aligned, align, alignment
from sessionlab.replay.comparison import (
    ArgumentsDivergence,
    Divergence,
    ExtraDivergence,
    MissingDivergence,
    ToolDivergence,
    as_json,
    compare,
    same_arguments,
    same_json,
)
from sessionlab.replay.eligibility import Eligibility, Reason, eligibility, provenance_note
from sessionlab.replay.from_corpus import trajectory
from sessionlab.replay.interventions import Intervention, interventions, learnable
from sessionlab.replay.probes import ProbePoint, branch_point, probe_denial, probe_steer, run_end, turns_end, verdict
from sessionlab.replay.surface import Answer, Tool
from sessionlab.replay.trajectory import Call, RecordedCall, Trajectory, extract

__all__ = [
    "Aligned",
    "Answer",
    "ArgumentsDivergence",
    "Call",
    "Divergence",
    "Eligibility",
    "ExtraDivergence",
    "Intervention",
    "MissingDivergence",
    "ProbePoint",
    "Reason",
    "RecordedCall",
    "Tool",
    "ToolDivergence",
    "Trajectory",
    "align",
    "alignment",
    "as_json",
    "branch_point",
    "compare",
    "eligibility",
    "extract",
    "interventions",
    "learnable",
    "probe_denial",
    "probe_steer",
    "provenance_note",
    "run_end",
    "same_arguments",
    "same_json",
    "trajectory",
    "turns_end",
    "verdict",
]
