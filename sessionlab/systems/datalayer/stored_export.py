"""A kept session in; its session files out, and the store's record says that it was exported (datalayer.md 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sessionlab.errors import SessionRefused
from sessionlab.redaction import Redactor
from sessionlab.systems.datalayer.applications import Applications
from sessionlab.systems.datalayer.export import Exported, export
from sessionlab.systems.datalayer.record import Record
from sessionlab.systems.datalayer.store import Store


def export_from(
    store: Store,
    uid: str,
    *,
    by: str,
    now: datetime,
    redactor: Redactor,
    kinds: Sequence[str] | None = None,
    turns: int | None = None,
    applications: Applications | None = None,
) -> Exported:
    """Export a kept session; its record then gets the `exported` entry, which the file itself never holds.

    Where the file has still to reach its place, take the steps apart: `exportable`, `export` or `split`, write, then
    `tell_exported`, so that no record tells of a file that was never written.

    Args:
        store: where it is kept.
        uid: the session.
        by: uid of who exports.
        now: time of export, with its zone.
        redactor: the exact rules, or stricter ones.
        kinds: what the head says, as in `export`.
        turns: the same.
        applications: what is known here; None asks nothing of the application.

    Raises:
        SessionRefused: what `exportable` and `export` raise. Nothing was written.
        OSError: the store cannot be read or written.
    """
    record = exportable(store, uid, applications=applications)
    exported = export(record, by=by, now=now, redactor=redactor, kinds=kinds, turns=turns)
    tell_exported(store, uid, [exported])
    return exported


def exportable(store: Store, uid: str, *, applications: Applications | None = None) -> Record:
    """The record of a kept session that may be exported.

    Raises:
        SessionRefused: ``unknown_session`` (404); ``no_conversations`` (409), where the application's record does not
            keep them; ``unknown_app`` (422).
        OSError: the store cannot be read.
    """
    record = store.record(uid)
    if applications is not None and not applications.application(record.app.id).keeps_conversations:
        said = (
            f"application {record.app.id!r} keeps no conversations in its record: there is no session {uid} to export"
        )
        raise SessionRefused("no_conversations", 409, said)
    return record


def tell_exported(store: Store, uid: str, files: Iterable[Exported]) -> None:
    """Add to a kept session's record the `exported` entry of each of its files.

    Raises:
        SessionRefused: ``unknown_session`` (404).
        OSError: the store cannot be written.
    """
    store.append(uid, [file.exported_entry for file in files])
