"""A datalayer session of a corpus in; its file, read and judged again, out: a record of its own is never retold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.errors import LoadError, WrongUse
from sessionlab.formats.datalayer.judge import Accepted, Refusal, judge
from sessionlab.formats.recording import Recording
from sessionlab.paths import find
from sessionlab.systems.datalayer.record import Record, TeamRecord, record_of_section, record_of_team

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus

TEAM = "datalayer:team:"
"""What the id of a team run begins with."""
_AGAIN = "load it again"


def exact_record(corpus: Corpus, session_id: str) -> Record:
    """The record of a datalayer session, its payloads and entries as they stand in its file.

    Raises:
        LoadError: the file is gone, or is no longer what was loaded.
        WrongUse: the id is a team run's.
    """
    if session_id.startswith(TEAM):
        raise WrongUse(f"{session_id} is a team run, expected a session of one agent; take it with team_of (--team)")
    uri, verdict = _verdict(corpus, session_id)
    uid = session_id.removeprefix("datalayer:")
    section = next((section for section in verdict.sections if section.head.uid == uid), None)
    if section is None:
        raise LoadError(f"{uri}: expected the session {uid}, which is no longer in the file; {_AGAIN}")
    return record_of_section(section)


def exact_team(corpus: Corpus, session_id: str) -> TeamRecord:
    """The record of a team run, seat by seat as its file has it.

    Raises:
        LoadError: the file is gone, or is no longer what was loaded.
    """
    uri, verdict = _verdict(corpus, session_id)
    if verdict.team is None:
        raise LoadError(f"{uri}: expected a team file, found one session; {_AGAIN}")
    return record_of_team(verdict.team, verdict.sections)


def _verdict(corpus: Corpus, session_id: str) -> tuple[str, Accepted]:
    sources = corpus.sql(
        "SELECT f.uri, f.content_id FROM raw.sessions s JOIN sources f ON f.source_id = s.source_id"
        " WHERE s.session_id = ? AND f.superseded_by IS NULL ORDER BY s.entries DESC NULLS LAST, f.modified_at DESC"
        " NULLS LAST, f.uri",
        [session_id],
    ).rows()
    if not sources:
        raise LoadError(f"{session_id}: expected its file among the sources of the corpus, found none; {_AGAIN}")
    uri, content_id = map(str, sources[0])
    data, found = _bytes(uri)
    if found != content_id:
        raise LoadError(
            f"{uri}: expected the bytes that were loaded ({content_id}: size and CRC-32), found others ({found});"
            f" the record of a datalayer session is its file's: {_AGAIN}"
        )
    verdict = judge(data, teams=True)
    if isinstance(verdict, Refusal):  # the reader's one leniency (datalayer.md section 17)
        refused, verdict = verdict, judge(data, teams=True, lf_only=True)
        if isinstance(verdict, Refusal):
            raise LoadError(f"{uri}: expected a session file that is taken, found one refused: {refused.sentence}")
    return uri, verdict


def _bytes(uri: str) -> tuple[bytes, str]:
    """The file, decompressed, and its content id."""
    if uri.startswith("stream:"):
        raise LoadError(
            f"{uri}: expected a file that can be read again, found an open stream; load the session from its path"
        )
    try:
        [file] = find([uri])
        with file.open() as stream:
            recording = Recording(stream, uri=uri)
            data = recording.read_all()
    except (LoadError, OSError, ValueError) as error:
        raise LoadError(
            f"{uri}: expected the file the session was loaded from, found none that can be read ({error});"
            " the record of a datalayer session is its file's: put it back, or load it from where it is now"
        ) from error
    return data, str(recording.source().content_id)
