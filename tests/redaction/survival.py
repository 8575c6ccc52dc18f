"""Sessions of all formats with 500 planted secrets in, a table of what outlives each way of sharing them out.

``python -m tests.redaction.survival`` prints, for the exact rules, the strict export and ``corpus.redacted``, how many
planted secrets of each kind survive and how many clean values of each class are destroyed. It exits 1 when a kind with
a shape or a name survives the strict ways, or when one clean value in 1,000 or more is destroyed; what the exact rules
do to scheme words in prose is specified (datalayer.md 6.3, rule 4) and only told.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import sessionlab
from tests.redaction.planted import (
    BY_ENTROPY,
    CLEAN_CLASSES,
    FORMATS,
    KINDS,
    SCHEME_WORDS,
    Clean,
    Planted,
    Written,
    clean_values,
    planted_all,
    strings,
    surviving,
    table_texts,
    write_sessions,
)

if TYPE_CHECKING:
    from sessionlab.redaction import Redactor

NOW = datetime(2026, 10, 4, 7, tzinfo=UTC)
CLEAN_LIMIT = 1000
"""Fewer than one clean value in so many may be destroyed."""
Sharing = Callable[[Sequence[Path]], list[str]]
"""From session files to the decoded texts of what is shared of them."""


@dataclass(frozen=True, slots=True)
class Part:
    """One way of sharing, measured.

    Attributes:
        name: of the way.
        carried: the planted secrets that it would share if nothing were redacted.
        survived: those of them that are found afterwards.
        held: the clean values that it would share if nothing were redacted.
        destroyed: those of them that are not found afterwards.
        is_strict: no kind with a shape or a name may survive.
        takes_schemes: the exact rule 6.3.4 takes whatever follows bearer, basic and token, also in plain prose.
    """

    name: str
    carried: tuple[Planted, ...]
    survived: tuple[Planted, ...]
    held: tuple[Clean, ...]
    destroyed: tuple[Clean, ...]
    is_strict: bool
    takes_schemes: bool = True


def survivors(planted: Iterable[Planted], texts: Sequence[str]) -> list[Planted]:
    """The planted secrets of which a needle, or the value itself, is found in these decoded texts."""
    return [one for one in planted if surviving((one.value, *one.needles), texts)]


def destroyed(clean: Iterable[Clean], texts: Sequence[str]) -> list[Clean]:
    """The clean values that are in none of these texts: neither as they are nor as JSON or Python would quote them."""
    whole = "\0".join(texts)
    return [one for one in clean if not any(spelling in whole for spelling in _spellings(one.value))]


def exported(redactor: Callable[[], Redactor]) -> Sharing:
    """Every session exported as a session file, each with a redactor of its own: all strings of all lines."""

    def share(paths: Sequence[Path]) -> list[str]:
        from sessionlab.systems.datalayer import export, record_of

        corpus = sessionlab.load(*paths)
        found: dict[str, None] = {}
        for session_id in corpus.table("sessions")["session_id"].unique().sort():
            record = record_of(corpus, session_id)
            file = export(record, by="sharer-1", now=NOW, redactor=redactor())
            for line in file.data.decode().split("\n"):
                if line:
                    found |= dict.fromkeys(strings(json.loads(line)))
        return list(found)

    return share


def tables_of(paths: Sequence[Path]) -> list[str]:
    """The texts of the tables as they are."""
    return table_texts(sessionlab.load(*paths))


def redacted_tables_of(paths: Sequence[Path], *, rules: Sequence[str] = ()) -> list[str]:
    """The texts of the tables of the redacted corpus; the planted secrets are not declared."""
    return table_texts(sessionlab.load(*paths).redacted(rules=rules))


def measured(
    name: str,
    files: Sequence[Written],
    before: Sharing,
    after: Sharing,
    *,
    is_strict: bool,
    takes_schemes: bool = True,
) -> Part:
    """One way of sharing: ``before`` shares without redaction, ``after`` with it. The formats are taken one by one."""
    carried: list[Planted] = []
    survived: list[Planted] = []
    held: list[Clean] = []
    lost: list[Clean] = []
    for format_name in FORMATS:
        mine = [file for file in files if file.format == format_name]
        if not mine:
            continue
        paths = [file.path for file in mine]
        planted = [one for file in mine for one in file.planted]
        clean = [one for file in mine for one in file.clean]
        plain, shared = before(paths), after(paths)
        carried += survivors(planted, plain)
        survived += survivors(planted, shared)
        dropped = set(destroyed(clean, plain))
        held += [one for one in clean if one not in dropped]
        lost += [one for one in destroyed(clean, shared) if one not in dropped]
    return Part(name, tuple(carried), tuple(survived), tuple(held), tuple(lost), is_strict, takes_schemes)


def tables(part: Part) -> Iterator[str]:
    """The lines of a part's two tables: secrets by kind, clean values by class."""
    yield f"{part.name}: planted secrets that survive"
    yield f"  {'kind':<24} {'carried':>8} {'survive':>8}  in these contexts"
    for kind in KINDS:
        here = [one for one in part.survived if one.kind == kind]
        contexts = ", ".join(dict.fromkeys(f"{one.context} ({one.format})" for one in here))
        yield f"  {kind:<24} {_count(part.carried, kind):>8} {len(here):>8}  {contexts}".rstrip()
    yield f"  {'all':<24} {len(part.carried):>8} {len(part.survived):>8}"
    yield ""
    yield f"{part.name}: clean values destroyed"
    yield f"  {'class':<24} {'held':>8} {'lost':>8}  for example"
    for kind in CLEAN_CLASSES:
        lost = [one for one in part.destroyed if one.kind == kind]
        example = lost[0].value[:60] if lost else ""
        yield f"  {kind:<24} {_count(part.held, kind):>8} {len(lost):>8}  {example}".rstrip()
    held, gone = _judged(part)
    yield f"  {'all without scheme words' if part.takes_schemes else 'all':<24} {held:>8} {gone:>8}"
    yield ""


def failures(part: Part) -> list[str]:
    """What must not be, in sentences; empty when all is well."""
    told = []
    if part.is_strict:
        known = [one.id for one in part.survived if one.kind not in BY_ENTROPY]
        if known:
            told.append(f"{part.name}: {len(known)} secrets with a shape or a name survive: {', '.join(known[:10])}")
    held, gone = _judged(part)
    if gone * CLEAN_LIMIT >= max(held, 1):
        told.append(f"{part.name}: {gone} of {held} clean values are destroyed, one in {CLEAN_LIMIT:,} or more")
    return told


def untouched() -> Redactor:
    """A redactor that leaves everything as it is: tells what an export would carry."""
    from sessionlab.redaction import Redactor

    class Untouched(Redactor):
        """Leaves everything as it is: tells what an export would carry."""

        def learn(self, value: object) -> None:
            """Learn nothing."""

        def text(self, text: str) -> str:
            """The text itself."""
            return text

        def value(self, value: object) -> object:
            """The value itself."""
            return value

        def title(self, text: str) -> str:
            """The title itself."""
            return text

        def identifier(self, text: str) -> str:
            """The identifier itself."""
            return text

    return Untouched()


def parts(folder: Path) -> list[Part]:
    """The ways measured, with sessions written below ``folder``."""
    from sessionlab.redaction import Redactor, StrictRedactor

    files = write_sessions(folder, planted_all(), clean_values())
    plain = exported(untouched)
    return [
        measured("exact rules", files, plain, exported(Redactor), is_strict=False),
        measured("strict export", files, plain, exported(StrictRedactor), is_strict=True),
        measured(
            "strict export that keeps prose",
            files,
            plain,
            exported(lambda: StrictRedactor(keeps_prose=True)),
            is_strict=True,
            takes_schemes=False,
        ),
        measured("corpus.redacted", files, tables_of, redacted_tables_of, is_strict=True, takes_schemes=False),
        measured(
            "corpus.redacted, high_entropy too",
            files,
            tables_of,
            partial(redacted_tables_of, rules=["high_entropy"]),
            is_strict=True,
            takes_schemes=False,
        ),
    ]


def main() -> int:
    """Measure, print, judge."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        found = parts(Path(folder))
    for part in found:
        print("\n".join(tables(part)))
    wrong = [sentence for part in found for sentence in failures(part)]
    print("\n".join(wrong) or "No kind with a shape or a name survives; clean values stay.")
    return 1 if wrong else 0


def _judged(part: Part) -> tuple[int, int]:
    """How many clean values are held and destroyed; classes of scheme words apart where rule 6.3.4 holds."""
    apart = SCHEME_WORDS if part.takes_schemes else ()
    return sum(one.kind not in apart for one in part.held), sum(one.kind not in apart for one in part.destroyed)


def _count(ones: Sequence[Planted] | Sequence[Clean], kind: str) -> int:
    return sum(one.kind == kind for one in ones)


def _spellings(value: str) -> tuple[str, ...]:
    python = value.replace("\\", "\\\\").replace("'", "\\'")  # in a text that holds both quotes
    return value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1], python


if __name__ == "__main__":
    sys.exit(main())
