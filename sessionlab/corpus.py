"""Files in, a `Corpus` out: the tables and views of one load, as polars frames, SQL answers and narrower corpora."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack

import duckdb
import pyarrow as pa

from sessionlab import arguments, saved, views
from sessionlab import prices as rates_room
from sessionlab.arrow import from_rows
from sessionlab.errors import AmbiguousName, LoadError, QueryError, UnknownName, WrongUse
from sessionlab.ingest import Wanted, read_all
from sessionlab.paths import PathLike, find, known_stores
from sessionlab.tables import TABLES

if TYPE_CHECKING:
    import polars as pl

    from sessionlab.redaction.proof import Proof
    from sessionlab.redaction.sharing import Sharing

Rates = Literal["all", "file"]
T = TypeVar("T")
_serial = itertools.count(1)


class Corpus:
    """The tables and views of one load. Make one with :func:`sessionlab.load`; every method that narrows makes another.

    Attributes:
        unclaimed: files that no format claims, by uri.
        bodies: whether `pools` and `blocks` were loaded.
        figures: whether sessions, agents, usage and outcomes are all that was loaded.
        tz: the zone days are formed in.
        catalog: DuckDB catalog that holds its tables and views.
        now: the clock: what "today", ``last(days=…)`` and ``reprice(at="now")`` mean.
        findings: of a redacted corpus, how often each rule removed something from which column; None of any other.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        catalog: str,
        *,
        bodies: bool,
        figures: bool = False,
        now: datetime,
        tz: str,
        price_at: datetime | None = None,
        rates: Rates = "all",
        rate_file: str | None = None,
        like: str | None = None,
        unclaimed: Sequence[str] = (),
        scoped: bool = False,
        findings: pl.DataFrame | None = None,
    ) -> None:
        self._con, self.catalog = con, catalog
        self.bodies, self.figures, self.now, self.tz = bodies and not figures, figures, now, arguments.zone(tz)
        self._scoped, self.findings = scoped, findings
        self._price_at, self._rates, self._rate_file, self._like = price_at, rates, rate_file, like
        self._priced = False
        self._defined: set[str] = set()
        self._lock = threading.Lock()
        views.settings(con, now=arguments.naive(now), tz=tz, price_at=arguments.naive(price_at))
        self.unclaimed = tuple(unclaimed)

    # -- answers ------------------------------------------------------------------------------------------------

    def view(self, name: str, /, *, tz: str | None = None, **equal: object) -> pl.DataFrame:
        """The rows of a view as a polars frame, those whose columns equal what is given (None: those that are null).

        Raises:
            UnknownName: no such view, or no such column; the message lists what there is.
            QueryError: the view needs bodies and the corpus was loaded without.
        """
        if tz is not None and tz != self.tz:
            return self.in_zone(tz).view(name, tz=tz, **equal)
        known = views.public_views()
        if name not in known:
            raise UnknownName("view", str(name), known, "`sessionlab views` lists them all")
        self._holds(f"the view {name}", bodies=known[name].needs_bodies, steps=known[name].needs_steps)
        return self._filtered(name, [c.name for c in known[name].columns], equal)

    def table(self, name: str, /, **equal: object) -> pl.DataFrame:
        """The rows of a common table as a polars frame; ``raw.usage`` is what each file says, ``usage`` the whole."""
        bare = str(name).removeprefix("raw.")
        if bare not in TABLES or name == "raw.prices":
            raise UnknownName("table", str(name), TABLES, "`sessionlab tables` describes them")
        self._holds(f"the table {name}", bodies=bare in views.BODY_TABLES, steps=bare in views.STEP_TABLES)
        return self._filtered(name, [c.name for c in views.documented(bare)], equal)

    def sql(self, query: str, parameters: Sequence[object] | dict[str, object] | None = None) -> pl.DataFrame:
        """The answer to SQL text over the tables and views, as a polars frame.

        Sums of integers come as integers, though DuckDB makes them wider than 64 bits.

        Raises:
            QueryError: with DuckDB's own message, or when the text asks nothing.
        """

        def ask() -> pl.DataFrame:
            found = self._cursor().sql(query, params=parameters or None)
            if found is None:
                raise QueryError("the SQL text gives no rows; ask with SELECT … or FROM …")
            return _narrowed(found.pl())

        return self._answered(query, ask)

    @property
    def problems(self) -> pl.DataFrame:
        """What was wrong, worst first, each with its file: the view ``problems.list``."""
        return self.view("problems.list")

    def session_id(self, name: str) -> str:
        """The full session id that ``name`` means: an id, a native id, or the beginning of either.

        Raises:
            UnknownName, AmbiguousName: none, or several, begin so (an exact id always means itself).
        """
        if not isinstance(name, str):
            raise WrongUse(f"expected a session id as text, found {name!r}")
        found = self.sql("SELECT session_id, native_id FROM sessions").rows()
        exact = [sid for sid, native in found if name in (sid, native)]
        if len(exact) == 1:
            return str(exact[0])
        matches = [sid for sid, native in found if sid.startswith(name) or (native or "").startswith(name)]
        if not matches:
            raise UnknownName("session", name, [sid for sid, _ in found], "`sessionlab list` shows them")
        if len(matches) > 1:
            raise AmbiguousName(name, matches)
        return str(matches[0])

    # -- narrower, or priced otherwise ----------------------------------------------------------------------------

    def last(self, *, days: float) -> Corpus:
        """The sessions that began within the last ``days`` × 24 hours, the boundary included (mecha 10.3).

        Sessions without a date cannot be placed and are left out; ``where("created_at IS NULL")`` has them.
        """
        since = arguments.days_before(self.now, days)
        return self.where(f"created_at >= TIMESTAMP '{arguments.timestamp(since)}'")

    def where(self, condition: str | None = None, **equal: object) -> Corpus:
        """The sessions for which an SQL condition on `sessions` holds, and whose columns equal what is given.

        ``corpus.where(format="gg")``, ``corpus.where("created_at >= '2026-10-01'")``. Figures stay as folded over the
        whole load: narrowing never moves a charge from one session to another.
        """
        columns = [c.name for c in views.documented("sessions")]
        tests, values = _tests(columns, equal, "sessions")
        chosen = f"SELECT * FROM sessions WHERE (\n{condition or 'true'}\n)"
        child = self._child(scoped=True)
        told = f"SELECT session_id FROM ({chosen}) WHERE {' AND '.join(tests) or 'true'}"
        create = f"CREATE TABLE {child.catalog}.main.scope AS {told}"
        self._answered(chosen, lambda: self._cursor().execute(create, values))
        return self._narrow(child)

    def in_zone(self, tz: str) -> Corpus:
        """The same corpus with days formed in another zone, e.g. ``Europe/Berlin``."""
        return self._narrow(self._child(tz=tz))

    def reprice(
        self,
        at: str | date | datetime = "now",
        *,
        like: str | None = None,
        rates: Rates | None = None,
        rate_file: str | None = None,
    ) -> Corpus:
        """The same corpus with other rates.

        Args:
            at: ``"call"`` (the rates of each call's own day, the default of a load), ``"now"``, or a date.
            like: price everything as if it had been this model.
            rates: ``"file"`` uses the user's own rates alone; ``"all"`` looks them up first, then in genai-prices.
            rate_file: another rates file (TOML).
        """
        arguments.rates(rates or "all")
        changed = {"rates": rates, "rate_file": rate_file, "like": like}
        kept = {name: value for name, value in changed.items() if value is not None}
        child = self._narrow(self._child(price_at=arguments.price_time(at, self.now), **kept))
        if like is not None:
            child.sql("SELECT count(*) FROM prices")  # a model that has no rates is told here, not by a view later
        return child

    # -- given away -----------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> Path:
        """Write its tables, as Parquet, into a new or empty folder; ``load(folder)`` gives an equal corpus again."""
        findings = None if self.findings is None else self.findings.to_arrow()
        return saved.write(folder, self._held(), bodies=self.bodies, figures=self.figures, findings=findings)

    def redacted(self, **wanted: Unpack[Sharing]) -> Corpus:
        """The same corpus without what must not be shared, in every text of every table; figures stay as they are.

        Args:
            **wanted: ``rules`` beside the strict ones (names, or ``"all"``), values of ``secrets``, ``key`` of the
                pseudonyms, ``users``, ``hosts``: see `sessionlab.redaction.sharing.Sharing`.
        """
        from sessionlab.redaction.sharing import share  # noqa: PLC0415 (few loads are redacted)

        tables, findings = share(self._held, **wanted)
        con = views.connect()
        views.insert(con, {name: tables[name] for name in tables.keys() & set(views.RAW_TABLES)})
        views.fold(con, bodies=self.bodies, figures=self.figures)
        saved.restore(con, saved.folds(tables), figures=self.figures)
        changed = {"findings": findings, "unclaimed": (), "scoped": False}
        return Corpus(con, views.WHOLE, **self._kept() | changed)  # type: ignore[arg-type]

    def proof(self, *, secrets: Iterable[str] | Mapping[str, str] = ()) -> Proof:
        """Scan every text again, by the strict rules and by detect-secrets (extra ``share``); see `Proof`."""
        from sessionlab.redaction.proof import prove  # noqa: PLC0415 (the same)

        return prove(self._held, declared=secrets)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _held(self) -> Iterator[tuple[str, pa.RecordBatchReader]]:
        """The raw tables, and as ``folded.…`` what was folded out of them, cut to the sessions in scope."""
        absent = views.left_out(bodies=self.bodies, figures=self.figures)
        tables = [name for name in views.RAW_TABLES if name not in absent]
        asked = saved.selects(tables, views.FOLDED, views.WHOLE, scoped=self._scoped, figures=self.figures)
        for stem, query in asked.items():
            yield stem, self._cursor().sql(query).to_arrow_reader(views.INSERTED_ROWS)

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own for each question: an open result owns its connection in DuckDB 2."""
        cursor = self._con.cursor()
        cursor.execute(f"USE {self.catalog}")
        return cursor

    def _filtered(self, name: str, columns: list[str], equal: dict[str, object]) -> pl.DataFrame:
        tests, values = _tests(columns, equal, name)
        return self.sql(f"SELECT * FROM {name}" + (f" WHERE {' AND '.join(tests)}" if tests else ""), values)

    def _holds(self, what: str, *, bodies: bool, steps: bool) -> None:
        if steps and self.figures:
            raise QueryError(f"{what} reads what was done step by step; load without figures=True")
        if bodies and not self.bodies:
            raise QueryError(f"{what} reads what was said; load with bodies=True")

    def _answered(self, text: str, ask: Callable[[], T]) -> T:
        """What ``ask`` gives, once the views that ``text`` names are there; DuckDB's refusal as a QueryError."""
        self._define(views.named_in(text), prices=views.reads(text, "prices"))
        try:
            try:
                return ask()
            except duckdb.CatalogException:
                self._define(views.library(), prices=True)  # a view may be named in a way that reading does not see
                return ask()
        except (duckdb.Error, OverflowError) as error:
            raise QueryError(str(error)) from error

    def _child(self, **changed: object) -> Corpus:
        catalog = f"c{next(_serial)}"
        con = self._con.cursor()
        con.execute(f"ATTACH ':memory:' AS {catalog}")
        con.execute(f"USE {catalog}")
        child = Corpus(con, catalog, **self._kept() | changed)  # type: ignore[arg-type]
        weakref.finalize(child, _release, con, catalog)
        return child

    def _kept(self) -> dict[str, object]:
        """How to make a corpus like this one, of other tables."""
        kept = {"bodies": self.bodies, "figures": self.figures, "now": self.now, "tz": self.tz, "like": self._like}
        kept |= {"price_at": self._price_at, "rates": self._rates, "rate_file": self._rate_file}
        return kept | {"scoped": self._scoped, "unclaimed": self.unclaimed, "findings": self.findings}

    def _narrow(self, child: Corpus) -> Corpus:
        if self._scoped and child._scoped:
            child._con.execute(f"CREATE TABLE IF NOT EXISTS scope AS FROM {self.catalog}.main.scope")
        absent = views.left_out(bodies=self.bodies, figures=self.figures)
        views.narrow(child._con, absent=absent, scoped=child._scoped)
        return child

    def _define(self, names: Iterable[str], *, prices: bool = False) -> None:
        """Make the views a question needs, and the rates if it needs them: most questions need few."""
        with self._lock:
            known = views.library()
            held = {"bodies": self.bodies, "figures": self.figures}
            new = [n for n in names if n not in self._defined and known[n].can_be_made(**held)]
            if not self._priced and (prices or views.need_prices(new)):
                pairs = self._cursor().sql(
                    "SELECT DISTINCT provider, model FROM usage UNION SELECT DISTINCT provider, model FROM sessions"
                )
                file = rates_room.read_rate_file(self._rate_file) if self._rate_file else rates_room.default_rate_file()
                rows = rates_room.compile_rates(pairs.fetchall(), rates=self._rates, rate_file=file, like=self._like)
                views.set_prices(self._con, from_rows(rows, "prices"))
                self._priced = True
            views.define(self._con, new, **held)
            self._defined.update(new)

    def __repr__(self) -> str:
        """What is inside, in a few lines."""
        from sessionlab.summary import text  # noqa: PLC0415 (drawn only when shown)

        return text(self)

    def _repr_html_(self) -> str:
        from sessionlab.summary import html  # noqa: PLC0415 (drawn only when shown)

        return html(self)


def load(
    *paths: PathLike,
    bodies: bool = True,
    figures: bool = False,
    strict: bool = False,
    rates: Rates = "all",
    rate_file: str | None = None,
    tz: str = "UTC",
    now: datetime | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
) -> Corpus:
    """Read session files into a corpus, in memory.

    Args:
        paths: files, folders, globs, ``~``, fsspec URLs or open binary files; none: the known stores of this machine.
        bodies: False leaves out what was said (`pools`, `blocks`): faster, and enough for most questions.
        figures: True loads sessions, agents, usage and outcomes alone: enough for costs and health, and fastest.
        strict: raise at the first problem worse than a note, instead of keeping it as a row of ``problems``.
        rates: ``"file"`` prices with the user's own rates alone (mecha's rule); ``"all"`` adds genai-prices.
        rate_file: the user's rates (TOML); default: ``$SESSIONLAB_RATES`` or the user's configuration folder.
        tz: zone in which days are formed.
        now: the clock; default: the real one.
        workers: processes to read with; default: one per core once there is enough to read.
        executor: any ``concurrent.futures.Executor`` to read with instead.
        progress: a bar on stderr (default: when it takes long, in a terminal), or a function of (bytes done, in all).

    Raises:
        LoadError: a path that names nothing, or no path given and no known store on this machine.
        BadInput, Refused: with ``strict``.
    """
    given: Iterable[PathLike] = paths or known_stores()
    if not given:
        raise LoadError("no path given, and none of the known session stores exists on this machine")
    clock, zone = arguments.clock(now), arguments.zone(tz)
    arguments.rates(rates)
    kept, files = saved.sort(find(given), given)
    bodies, figures = bodies and all(one.bodies for one in kept), figures or any(one.figures for one in kept)
    con = views.connect()
    unclaimed: list[str] = []
    from sessionlab.progress import reporter  # noqa: PLC0415 (draws with rich, only when it takes long)

    with reporter(progress) as report, views.inserter(con) as insert:
        for tables in saved.parts(kept, bodies=bodies, figures=figures):
            insert(tables)
        wanted, fresh = Wanted(bodies, figures, strict), False
        for part in read_all(files, wanted, workers=workers, executor=executor, progress=report):
            insert(part.tables)
            unclaimed.extend(part.unclaimed)
            fresh |= bool(part.tables)
    views.fold(con, bodies=bodies, figures=figures)
    if not fresh:
        saved.restore(con, saved.folded(kept, bodies=bodies, figures=figures), figures=figures)
    findings = None if fresh else saved.findings(kept)
    told = {"rates": rates, "rate_file": rate_file, "unclaimed": sorted(unclaimed), "findings": findings}
    return Corpus(con, views.WHOLE, bodies=bodies, figures=figures, now=clock, tz=zone, **told)  # type: ignore[arg-type]


def _release(con: duckdb.DuckDBPyConnection, catalog: str) -> None:
    """Let go of a narrowed corpus's catalog; the tables it reads are the whole load's and stay."""
    with suppress(duckdb.Error):
        con.execute(f"USE {views.WHOLE}")
        con.execute(f"DETACH {catalog}")


def _narrowed(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole decimals, which DuckDB makes of sums of integers, as 64-bit integers where they fit."""
    import polars as pl  # noqa: PLC0415 (brought by DuckDB's own call)

    for name, kind in frame.schema.items():
        if isinstance(kind, pl.Decimal) and kind.scale == 0:
            as_integers = frame[name].cast(pl.Int64, strict=False)
            if as_integers.null_count() == frame[name].null_count():
                frame = frame.with_columns(as_integers)
    return frame


def _tests(columns: list[str], equal: dict[str, object], where: str) -> tuple[list[str], list[object]]:
    for name in equal:
        if name not in columns:
            raise UnknownName(f"column of {where}", name, columns)
    # `IS NOT DISTINCT FROM ?` would say both in one, but DuckDB does not push it through joins
    tests = [f'"{name}" IS NULL' if value is None else f'"{name}" = ?' for name, value in equal.items()]
    return tests, [value for value in equal.values() if value is not None]
