"""What many commands take: paths, the clock, the zone, rates; and the corpus that comes of them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sessionlab.cli.output import counted
from sessionlab.errors import WrongUse

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus


class Rates(StrEnum):
    """Where rates come from."""

    all = "all"
    file = "file"


Paths = Annotated[
    list[str] | None,
    typer.Argument(
        help="Files, folders, globs or URLs; default: the session stores of this machine.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Days = Annotated[
    float | None, typer.Option("--days", help="Only sessions begun within the last N x 24 hours.", metavar="N")
]
RatesOption = Annotated[
    Rates, typer.Option("--rates", help="`file`: your own rates alone; `all`: yours first, then genai-prices.")
]
RateFile = Annotated[Path | None, typer.Option("--rate-file", help="Your rates (TOML).", dir_okay=False)]
Zone = Annotated[str | None, typer.Option("--tz", help="Zone in which days are formed; default: this machine's.")]
Now = Annotated[str | None, typer.Option("--now", help="The clock, an ISO time; default: the real one.", hidden=True)]


def clock(now: str | None) -> datetime:
    """The time that ``--now`` or ``$SESSIONLAB_NOW`` tells, else the real one, in UTC."""
    told = now or os.environ.get("SESSIONLAB_NOW")
    if not told:
        return datetime.now(UTC)
    try:
        when = datetime.fromisoformat(told)
    except ValueError as error:
        raise WrongUse(f"--now: expected an ISO time, found {told!r}") from error
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def machine_zone() -> str:
    """The IANA name of this machine's zone; UTC where it cannot be told."""
    told = os.environ.get("TZ", "").lstrip(":")
    if told and "/" in told:
        return told
    try:
        target = os.path.realpath("/etc/localtime")
    except OSError:
        return "UTC"
    _, found, name = target.partition("zoneinfo/")
    name = {"Etc/UTC": "UTC"}.get(name, name)
    return name if found and name else "UTC"


class Asked(NamedTuple):
    """What a command asks, and what it must say besides: nothing is left out unsaid."""

    corpus: Corpus
    unreadable: int
    undated: int

    @property
    def exit_code(self) -> int:
        """1 when a file was refused."""
        return 1 if self.unreadable else 0

    def unreadable_note(self) -> str:
        """A line about the files that were refused, or nothing."""
        if not self.unreadable:
            return ""
        return f"{counted(self.unreadable, 'file')} could not be read (sessionlab view problems.list)\n"

    def undated_note(self) -> str:
        """A line about the sessions that no period can hold, or nothing."""
        if not self.undated:
            return ""
        return f"{counted(self.undated, 'session')} without a date: in no period\n"


def load(
    paths: list[str] | None,
    *,
    bodies: bool = False,
    figures: bool = False,
    rates: Rates = Rates.all,
    rate_file: Path | None = None,
    tz: str | None = None,
    now: str | None = None,
) -> Corpus:
    """The corpus of the files a command was given."""
    from sessionlab.corpus import load as load_corpus  # noqa: PLC0415 (a command that needs no corpus starts faster)

    return load_corpus(
        *(paths or []),
        bodies=bodies,
        figures=figures,
        rates=rates.value,
        rate_file=None if rate_file is None else str(rate_file),
        tz=tz or machine_zone(),
        now=clock(now),
    )


def ask(corpus: Corpus, days: float | None) -> Asked:
    """``corpus`` cut to the last days when told. Unreadable files are counted before: they have no date."""
    unreadable = corpus.sql("SELECT count(*) FROM sources WHERE state = 'refused'").item()
    if days is None:
        return Asked(corpus, unreadable, 0)
    undated = corpus.sql("SELECT count(*) FROM sessions WHERE created_at IS NULL").item()
    return Asked(corpus.last(days=days), unreadable, undated)


def hold_files(paths: list[str] | None, what: str) -> None:
    """Refuse a saved corpus where a command reads session files: those it was made of may be no longer redacted.

    Raises:
        WrongUse: a saved corpus is among the paths.
    """
    from sessionlab.paths import find  # noqa: PLC0415 (the same)
    from sessionlab.saved import sort  # noqa: PLC0415 (the same)

    given = paths or []
    if given and sort(find(given), given).saved:
        raise WrongUse(f"{what}; a saved corpus holds tables: ask it with view, sql, show, or `sessionlab tables`")


def files_of(corpus: Corpus, session_id: str) -> list[str]:
    """The files that tell of a session, those left out that another one retells."""
    rows = corpus.sql(
        "SELECT DISTINCT f.uri FROM raw.sessions s JOIN sources f ON f.source_id = s.source_id"
        " WHERE s.session_id = ? AND f.superseded_by IS NULL ORDER BY f.uri",
        [session_id],
    )
    return [str(uri) for (uri,) in rows.rows()]


def refused(corpus: Corpus) -> int:
    """Exit code after a load: 1 when a file was refused."""
    return ask(corpus, None).exit_code
