"""A session id in; the session, and everything that was derived from it, forgotten, and a report out (mecha 15.2).

The transcript is set aside first, so that nothing new is derived from it, and removed last, when every store has
answered. A store that fails does not end the walk; the keys by which other rows are found go after these rows, so
that the same walk, run again, finds what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sessionlab.errors import UnknownName, WrongUse
from sessionlab.formats.mecha.wire import Meta
from sessionlab.systems.mecha.archive import is_id
from sessionlab.systems.mecha.forgetting import rows, stores
from sessionlab.systems.mecha.forgetting.disk import Disk, Rehearsal
from sessionlab.systems.mecha.forgetting.graph import Graph
from sessionlab.systems.mecha.forgetting.places import Places
from sessionlab.systems.mecha.forgetting.pointing import Keys
from sessionlab.systems.mecha.forgetting.report import Report
from sessionlab.systems.mecha.forgetting.rules import NotToml
from sessionlab.systems.mecha.forgetting.search import holders
from sessionlab.systems.mecha.forgetting.stores import Step
from sessionlab.systems.mecha.forgetting.workspace import Belongings, belongings, transcripts
from sessionlab.systems.mecha.peek import peek

ASIDE = ".jsonl.forgetting"
"""How the name of a transcript ends that is set aside: no listing reads it (section 2)."""
SET_ASIDE, FIND, GRAPH, SEARCH, WORKSPACE, TRANSCRIPT = (
    "set aside", "find", "graph", "search", "workspace", "sessions"
)  # fmt: skip
STEPS: tuple[str, ...] = (
    SET_ASIDE,
    FIND,
    *(step.name for step in stores.BEFORE_GRAPH),
    GRAPH,
    *(step.name for step in stores.AFTER_GRAPH),
    stores.DRAFTS_ASIDE,
    *(step.name for step in stores.KEYS_LAST),
    stores.ARCHIVE_MARK.name,
    SEARCH,
    WORKSPACE,
    TRANSCRIPT,
)
"""Every step of the walk, in its order."""
_LEARNING = "learning store"

Progress = Callable[[str], None]
"""Told the name of each step before it begins. An ``OSError`` it raises counts as a failure of that step."""


def forget(
    places: Places,
    session: str,
    *,
    graph: Graph | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    disk: Disk | None = None,
) -> Report:
    """Delete a session, and every trace of it in every store; what a delete left unfinished is finished.

    Args:
        places: where the stores are.
        session: the whole id, as the transcript's header has it.
        graph: the knowledge graph; by default the one behind the program ``mecha-graph``.
        dry_run: change nothing, and report what would be.
        progress: told each step.
        disk: how files are reached; a rehearsal when ``dry_run``.

    Raises:
        WrongUse: the id has another shape than an id, or its transcript is no file of its own.
        UnknownName: no transcript has this id, whole.
        OSError: the session directory cannot be read; nothing was changed.
    """
    if not is_id(session):
        raise WrongUse(f"expected a whole session id (1 to 128 of A-Z a-z 0-9 - _), found {session!r}")
    used = Rehearsal() if dry_run else disk or Disk()
    live = _transcript(used, places, session)
    return _Walk(places, session, live, graph or Graph(), used, progress, rehearsed=dry_run).run()


def unfinished(sessions: Path) -> list[str]:
    """Sessions that a delete has set aside and not finished; the same command finishes each. Sorted.

    Raises:
        OSError: the session directory cannot be read; a missing one holds none.
    """
    return [name.removesuffix(ASIDE) for name in Disk().names(sessions) if name.endswith(ASIDE)]


def _transcript(disk: Disk, places: Places, session: str) -> Path | None:
    """The file to set aside; None when it is set aside already.

    The file named after the id is looked at first, then every header: the id in the header decides (16.1).
    """
    live, aside = places.sessions / f"{session}.jsonl", places.sessions / f"{session}{ASIDE}"
    kind = disk.kind(live)
    if kind in {"folder", "link", "other"}:
        raise WrongUse(f"{live}: expected a transcript, found a {kind}; nothing was changed")
    is_aside = disk.kind(aside) == "file"
    if kind == "file":
        header = peek(live)
        if header is not None and header.id != session:
            raise WrongUse(
                f"{live}: expected the transcript of {session}, found that of {header.id!r}; rename it after its id,"
                " so that it is clear what is meant; nothing was changed"
            )
        return live
    if is_aside:
        return None
    for path, header in transcripts(disk, places):
        if header.id == session and path.suffix == ".jsonl":
            return path
    # no other session is proposed to somebody who is about to delete one
    hint = f"Looked in {places.sessions}: it was never there, or is deleted; deleting takes a whole id"
    raise UnknownName("session", session, (), hint)


class _Walk:
    """One walk over the stores."""

    def __init__(
        self,
        places: Places,
        session: str,
        live: Path | None,
        graph: Graph,
        disk: Disk,
        progress: Progress | None,
        *,
        rehearsed: bool,
    ) -> None:
        self.places, self.live, self.graph, self.disk = places, live, graph, disk
        self.aside = places.sessions / f"{session}{ASIDE}"
        self.progress = progress or (lambda _: None)
        self.report = Report(session, rehearsed=rehearsed)
        self.keys = Keys(session)
        self.failed: set[str] = set()
        self._lock = ExitStack()
        self._held: tuple[str, str] | None = None
        self._refused: tuple[str, str] | None = None

    def run(self) -> Report:
        """The steps, in their order."""
        with self._answering(TRANSCRIPT):
            self.progress(SET_ASIDE)
            self._set_aside()
        if self.report.errors:
            return self.report
        with self._lock:
            self._find()
            for step in stores.BEFORE_GRAPH:
                self._purge(step)
            self._release()
            self._redact()
            for step in stores.AFTER_GRAPH:
                self._purge(step)
            if self.report.errors:
                self.report.errors.append("outbox and questions: kept until the stores above have answered")
            self._drafts_aside()
            for step in stores.KEYS_LAST:
                self._purge(step)
            self._purge(stores.ARCHIVE_MARK)
        self._finish()
        return self.report

    def _set_aside(self) -> None:
        if self.live is None:
            return
        # A writer that did not notice may have begun the file anew, without a header: what was set aside before has
        # it, and with it the workspace.
        if self.disk.kind(self.aside) == "file" and peek(self.live) is None:
            self.disk.remove(self.live)
        else:
            self.disk.rename(self.live, self.aside)

    def _find(self) -> None:
        """The ids by which other rows are found, before the rows go that have them."""
        session, places, disk = self.report.id, self.places, self.disk
        with self._answering(TRANSCRIPT):
            self.progress(FIND)
        with self._answering("outbox"):
            drafts = rows.names(disk, places, stores.OUTBOX_ITEMS, session)
            self.keys = self.keys._replace(items=drafts | rows.names(disk, places, stores.OUTBOX_ASIDE, session))
        with self._answering("questions"):
            self.keys = self.keys._replace(questions=rows.names(disk, places, stores.QUESTION_ITEMS, session))
        with self._answering(_LEARNING, "learning"):
            ids, lessons = rows.reflections(disk, places, session)
            self.keys = self.keys._replace(reflections=ids, lessons=lessons)

    def _purge(self, step: Step) -> None:
        if not self._is_due(step):
            return
        with self._answering(step.label or step.name, step.group):
            self.progress(step.name)
            if not self._lock_of(step.lock):
                return
            count = sum(rows.purge(self.disk, self.places, part, self.keys, self._trace) for part in step.parts)
            self.report.count(step.name, count)

    def _is_due(self, step: Step) -> bool:
        if step.when == "nothing failed":
            return not self.report.errors
        if step.when == "learning answered":
            return "learning" not in self.failed
        return step.when == "always" or GRAPH not in self.failed

    def _redact(self) -> None:
        """The graph before the learning store, whose ledger says whether the graph holds an episode."""
        session = self.report.id
        distilled = True  # unknown is owed: a ledger that cannot be read may name the session
        with self._answering("distill ledger", GRAPH):
            distilled = rows.holds_line(self.disk, self.places, stores.DISTILLED, session)
        with self._answering(GRAPH, GRAPH):
            self.progress(GRAPH)
            program = self.graph.found()
            if program is None and distilled:
                raise FileNotFoundError(
                    f"this session was distilled, and there is no program {self.graph.program!r} to redact it from the"
                    " knowledge graph; have it found, and run the same command again"
                )
            if program is None:
                self.report.kept.append(
                    f"there is no program {self.graph.program!r}: no knowledge graph was asked, and this session was"
                    " never distilled"
                )
            else:
                if not self.report.rehearsed:
                    self.graph.redact(session)
                self.report.kept.append(
                    "the knowledge graph keeps a tombstone for this session's id, so that no later ingest brings the"
                    " episode back; its backups (~/.mecha-graph/*.bak and backups/) keep what they held"
                )
            self.report.count(GRAPH, int(distilled and program is not None))

    def _drafts_aside(self) -> None:
        if self.report.errors:
            return
        with self._answering("outbox"):
            self.progress(stores.DRAFTS_ASIDE)
            if self._lock_of(("outbox", "")):
                for found in rows.files(self.disk, self.places, stores.OUTBOX_ITEMS, self.report.id):
                    name = found.path.name
                    if name.partition(".json")[0] in self.keys.items and found.kind == "file":
                        self.disk.rename(found.path, found.path.with_name(name + ".forgetting"))

    def _finish(self) -> None:
        """What is left is searched and said, then the workspace goes, then the transcript."""
        report, disk = self.report, self.disk
        if (self.places.at("learning") / ".git").exists():
            report.kept.append(
                f"{self.places.at('learning') / '.git'}: the learning store's history holds what was removed until you"
                " delete that directory"
            )
        owned = Belongings(())
        with self._answering(WORKSPACE):
            owned = belongings(disk, self.places, report.id, self._header())
        with self._answering(SEARCH):
            self.progress(SEARCH)
            if not report.errors:
                self._search(owned)
        with self._answering(WORKSPACE):
            self.progress(WORKSPACE)
            report.count(WORKSPACE, sum(disk.remove_folder(folder) for folder in owned.folders))
        report.kept += owned.kept
        report.traces += owned.unknown
        if not report.errors:
            with self._answering(TRANSCRIPT):
                self.progress(TRANSCRIPT)
                disk.remove(self.aside)
                report.count(TRANSCRIPT, 1)
                report.complete = True

    def _header(self) -> Meta | None:
        seen = self.disk.view(self.aside)
        return peek(seen) if isinstance(seen, Path) else None

    def _search(self, owned: Belongings) -> None:
        found = holders(self.disk, self.places.roots(), self.report.id, [self.aside, *owned.folders])
        for path in found.holding:
            is_other = path.parent == self.places.sessions and path.suffix == ".jsonl"
            what = "quotes this session's id: it is another conversation's" if is_other else (
                "still names this session, in a member or a shape that is not known"
            )  # fmt: skip
            self._trace(f"{path} {what}, and was not edited")
        for path in found.unreadable:
            self._trace(f"{path} could not be read, so that it may still name this session")

    def _trace(self, sentence: str) -> None:
        self.report.traces.append(sentence)

    def _lock_of(self, lock: tuple[str, str] | None) -> bool:
        """Hold this lock and no other; False when it was refused before, and said so."""
        if lock is not None and lock == self._held:
            return True
        self._release()
        if lock is None:
            return True
        if lock == self._refused:
            return False
        try:
            for folder in self._lock_folders(lock):
                self._lock.enter_context(self.disk.locked(folder))
        except OSError:
            self._refused = lock
            self._lock.close()
            raise
        self._held = lock
        return True

    def _lock_folders(self, lock: tuple[str, str]) -> list[Path]:
        store, below = lock
        root = self.places.at(store)
        if below != "*":
            return [root / below if below else root]
        inner = [root / name for name in self.disk.names(root) if not name.startswith(".")]
        return [folder for folder in inner if self.disk.kind(folder) == "folder"]

    def _release(self) -> None:
        self._lock.close()
        self._held = None

    @contextmanager
    def _answering(self, label: str, group: str = "") -> Iterator[None]:
        """What fails within is an error of the store ``label``, and the walk goes on."""
        try:
            yield
        except (OSError, NotToml) as error:
            self.failed.add(group)
            self.report.errors.append(f"{label}: {_sentence(error)}")


def _sentence(error: OSError | NotToml) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    return str(error)
