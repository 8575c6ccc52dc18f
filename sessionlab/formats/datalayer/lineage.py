"""Where a session comes from and what it has of others: a section of a file goes in; links, and copies, come out."""

from __future__ import annotations

from sessionlab.columns import big
from sessionlab.formats._values import detail
from sessionlab.formats.datalayer.fields import EntryLine, TeamLine
from sessionlab.formats.datalayer.judge import Section
from sessionlab.formats.datalayer.payloads import text
from sessionlab.tables import Link

NEVER_IMPORTED = frozenset({"session", "paused", "ended", "imported", "exported", "cloned"})
"""Kinds an import leaves out (datalayer.md section 8): one that stands in an import is the import's own."""
NEVER_CLONED = NEVER_IMPORTED | {"titled"}
"""Kinds a clone leaves out (section 9)."""


def session_id(uid: str) -> str:
    """The id of a session, in every table."""
    return f"datalayer:{uid}"


def team_id(execution_id: str) -> str:
    """The id of a team run: apart from every session's, whose uid holds no colon."""
    return f"datalayer:team:{execution_id}"


def copies(section: Section) -> tuple[frozenset[int], str | None]:
    """Indices of the entries a clone or an import took over, and a word of doubt where nothing tells which they are.

    A clone's own record begins with its `session` entry, an import's taken-over part ends with its `imported` entry;
    an export of chosen kinds may lack either. Then a clone's `cloned` entry, or the turn it was cut after, still
    tells.
    """
    lineage, entries = section.head.lineage, section.entries
    found: set[int] = set()
    doubt = None
    if lineage.forked_from is not None:
        end = _first(entries, "session")
        if end is None:
            end = next((n for n, e in enumerate(entries) if e.kind == "cloned" and "from" in e.payload), None)
        if end is None:
            turns = [n for n, e in enumerate(entries) if e.kind == "turn"][: lineage.forked_from.at_turn]
            end = turns[-1] + 1 if turns else 0
        found.update(n for n in range(end) if entries[n].kind not in NEVER_CLONED)
    if lineage.imported_from is not None:
        ends = [n for n, e in enumerate(entries) if e.kind == "imported"]
        same = [n for n in ends if entries[n].payload.get("digest") == lineage.imported_from.digest]
        if ends:
            found.update(n for n in range((same or ends)[-1]) if entries[n].kind not in NEVER_IMPORTED)
        elif entries:
            doubt = "an imported session without its imported entry: which entries were taken over is not told"
    return frozenset(found), doubt


def _first(entries: list[EntryLine], kind: str) -> int | None:
    return next((n for n, entry in enumerate(entries) if entry.kind == kind), None)


class Links:
    """The claims one session makes: the head's, completed by entries that tell the same claim with more."""

    def __init__(self, section: Section) -> None:
        self._of = session_id(section.head.uid)
        self._links: list[Link] = []
        forked, imported = section.head.lineage.forked_from, section.head.lineage.imported_from
        if forked is not None:
            self._add(section.line, None, "forked_from", other=forked.uid, at_run=forked.at_turn)
        if imported is not None:
            self._add(
                section.line, None, "imported_from", digest=imported.digest, exported_at=imported.exported_at,
                exported_by=imported.exported_by,
            )  # fmt: skip

    def hear(self, entry: EntryLine, payload: dict[str, object], line: int, seq: int) -> None:
        """A `cloned`, `imported` or `exported` entry; other kinds and other shapes claim nothing.

        The `cloned` entry of a clone's source tells of another session's claim, so it stays an entry.
        """
        digest = text(payload, "digest")
        if entry.kind == "cloned" and (source := text(payload, "from")) is not None:
            at = payload.get("at_turn")
            self._add(line, seq, "forked_from", other=source, at_run=at if type(at) is int else None)
        elif entry.kind == "imported":
            self._add(
                line, seq, "imported_from", other=text(payload, "source_uid"), digest=digest,
                exported_at=text(payload, "exported_at"), exported_by=text(payload, "exported_by"),
            )  # fmt: skip
        elif entry.kind == "exported":
            self._add(line, seq, "exported_to", digest=digest, exported_by=text(payload, "by"))

    def rows(self) -> list[Link]:
        """The links, the head's first."""
        return self._links

    def _add(
        self, line: int, seq: int | None, relation: str, *, other: str | None = None, at_run: int | None = None,
        digest: str | None = None, **more: str | None,
    ) -> None:  # fmt: skip
        link = Link(
            session_id=self._of, seq=seq, line=line, relation=relation,
            other_session_id=None if other is None else session_id(other), at_run=big(at_run), digest=digest,
            detail=detail(**more),
        )  # fmt: skip
        for n, told in enumerate(self._links):
            if told.relation == relation and told.seq is None and _agree(told, link):
                self._links[n] = Link(
                    session_id=told.session_id, line=told.line, relation=relation,
                    other_session_id=told.other_session_id or link.other_session_id,
                    at_run=told.at_run if told.at_run is not None else link.at_run,
                    digest=told.digest or link.digest, detail=told.detail or link.detail,
                )  # fmt: skip
                return
        self._links.append(link)


def _agree(told: Link, link: Link) -> bool:
    """Whether two links can be one claim: they share a fact, and none contradicts."""
    pairs = [
        (told.other_session_id, link.other_session_id),
        (told.at_run, link.at_run),
        (told.digest, link.digest),
    ]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(both) and all(a == b for a, b in both)


def seat_links(team: TeamLine, sections: list[Section]) -> list[Link]:
    """What the team line claims: each session of the file sat in the team run; the run may itself come from another.

    A seat whose session is not in the file is told by its agent alone: no row here speaks for an absent session.
    """
    run = team_id(team.execution_id)
    there = {section.head.uid for section in sections}
    rows = [
        Link(
            session_id=session_id(seat.session_uid), line=1, relation="seat_of", other_session_id=run,
            detail=detail(seat=seat.id, position=n),
        )
        for n, seat in enumerate(team.seats)
        if seat.session_uid in there
    ]  # fmt: skip
    forked, imported = team.lineage.forked_from, team.lineage.imported_from
    if forked is not None:
        rows.append(Link(session_id=run, line=1, relation="forked_from", other_session_id=team_id(forked.execution_id)))
    if imported is not None:
        rows.append(
            Link(
                session_id=run, line=1, relation="imported_from", digest=imported.digest,
                detail=detail(exported_at=imported.exported_at, exported_by=imported.exported_by),
            )
        )  # fmt: skip
    return rows
