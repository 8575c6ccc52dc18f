"""Datalayer session files acted on: any session exported, checked, split, imported and cloned (datalayer.md)."""

from __future__ import annotations

from sessionlab.systems.datalayer.applications import Application, Applications, KnownAgent
from sessionlab.systems.datalayer.checking import Verdict, check, check_file, leaks_of
from sessionlab.systems.datalayer.cloning import Cloned, clone
from sessionlab.systems.datalayer.export import Exported, export
from sessionlab.systems.datalayer.importing import Imported, Versions, import_file, import_session
from sessionlab.systems.datalayer.mapping import record_of, team_of
from sessionlab.systems.datalayer.offered import FORMATS, SessionFormat, SessionFormats
from sessionlab.systems.datalayer.record import (
    Facts,
    Record,
    Seat,
    TeamRecord,
    facts,
    known_state,
    record_of_section,
    record_of_team,
)
from sessionlab.systems.datalayer.resuming import Resumption, ShownCall, resumption
from sessionlab.systems.datalayer.splitting import split
from sessionlab.systems.datalayer.store import Listing, Store, StoredSession
from sessionlab.systems.datalayer.stored_export import export_from, exportable, tell_exported
from sessionlab.systems.datalayer.teams import export_team

__all__ = [
    "FORMATS",
    "Application",
    "Applications",
    "Cloned",
    "Exported",
    "Facts",
    "Imported",
    "KnownAgent",
    "Listing",
    "Record",
    "Resumption",
    "Seat",
    "SessionFormat",
    "SessionFormats",
    "ShownCall",
    "Store",
    "StoredSession",
    "TeamRecord",
    "Verdict",
    "Versions",
    "check",
    "check_file",
    "clone",
    "export",
    "export_from",
    "export_team",
    "exportable",
    "facts",
    "import_file",
    "import_session",
    "known_state",
    "leaks_of",
    "record_of",
    "record_of_section",
    "record_of_team",
    "resumption",
    "split",
    "team_of",
    "tell_exported",
]
