"""gg's own files acted on: a journal captured, assembled into a record, salvaged, verified and served (gg.md)."""

from __future__ import annotations

from sessionlab.errors import JournalRefused
from sessionlab.formats.gg.records import (
    Absolute,
    Candidate,
    Clip,
    Image,
    IssueAttempt,
    LimitHit,
    Merge,
    Message,
    Modalities,
    ModelFailure,
    Recorder,
    Region,
    Relative,
    Reviewer,
    Root,
    Seed,
    Spawn,
    Succession,
    Truncation,
    Workspace,
)
from sessionlab.systems.gg.agent import AgentCapture
from sessionlab.systems.gg.assembly import RECORD, Assembled, assemble, scratch_beside
from sessionlab.systems.gg.exclusion import exclude_from_git
from sessionlab.systems.gg.lists import WindowItem
from sessionlab.systems.gg.place import JOURNAL
from sessionlab.systems.gg.pooling import Body, Tools
from sessionlab.systems.gg.stage import StageReport, remove_journal, salvage, session_record
from sessionlab.systems.gg.verification import Finding, Verification, files, verify
from sessionlab.systems.gg.writer import Captured, JournalWriter

__all__ = [
    "JOURNAL",
    "RECORD",
    "Absolute",
    "AgentCapture",
    "Assembled",
    "Body",
    "Candidate",
    "Captured",
    "Clip",
    "Finding",
    "Image",
    "IssueAttempt",
    "JournalRefused",
    "JournalWriter",
    "LimitHit",
    "Merge",
    "Message",
    "Modalities",
    "ModelFailure",
    "Recorder",
    "Region",
    "Relative",
    "Reviewer",
    "Root",
    "Seed",
    "Spawn",
    "StageReport",
    "Succession",
    "Tools",
    "Truncation",
    "Verification",
    "WindowItem",
    "Workspace",
    "assemble",
    "exclude_from_git",
    "files",
    "remove_journal",
    "salvage",
    "scratch_beside",
    "session_record",
    "verify",
]
