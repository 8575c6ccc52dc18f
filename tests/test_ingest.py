"""Files in, batches out: in one process or several, whatever the order, and never lost to one bad file."""

from __future__ import annotations

import gc
import gzip
import random
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sessionlab as sl
from sessionlab import formats, ingest, views
from sessionlab.paths import find
from tests.conftest import SAMPLES

PLAIN = [name for name in views.RAW_TABLES if name != "problems"]


def _plain(corpus: sl.Corpus) -> dict[str, list[tuple[object, ...]]]:
    return {name: sorted(corpus.sql(f"FROM {name}").rows(), key=repr) for name in PLAIN}


@pytest.fixture(scope="module")
def cases() -> list[Path]:
    """Every sample file that is not of the generated corpus."""
    files = [p for p in sorted(SAMPLES.rglob("*")) if p.is_file() and not {"expect", "corpus"} & set(p.parts)]
    return [p for p in files if p.suffix not in {".md", ".py", ".toml"}]


def test_any_order_and_split_of_the_files_gives_the_same_tables(
    cases: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read forwards, shuffled, or in batches of a few bytes: the plain tables are the same up to row order."""
    now = datetime.fromisoformat("2026-11-30T12:00:00+00:00")
    wanted = _plain(sl.load(*cases, now=now))
    assert wanted["entries"]
    monkeypatch.setattr(ingest, "BATCH_BYTES", 2000)
    monkeypatch.setattr(ingest, "_CHUNK_ROWS", 7)
    assert _plain(sl.load(*cases, now=now)) == wanted
    con = views.connect()
    found = find(cases)
    random.Random(3).shuffle(found)
    for start in range(0, len(found), 5):
        for part in ingest.read_files(found[start : start + 5]):
            views.insert(con, part.tables)
    views.fold(con, bodies=True)
    for name in PLAIN:
        assert sorted(con.sql(f"FROM {name}").fetchall(), key=repr) == wanted[name], name


def test_worker_processes_and_executors_give_the_same(cases: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Three processes that share small parts, or somebody's executor, read what one process reads."""
    wanted = _plain(sl.load(*cases))
    monkeypatch.setattr(ingest, "BATCH_BYTES", 5000)
    assert _plain(sl.load(*cases, workers=3)) == wanted
    with ThreadPoolExecutor(2) as pool:
        assert _plain(sl.load(*cases, executor=pool)) == wanted


def test_what_a_worker_stores_comes_back_whole(cases: list[Path], tmp_path: Path) -> None:
    """The file by which a worker hands over its rows holds every table, and is removed when it is fetched."""
    found = find(cases)
    stored = ingest._store_part(found, ingest.Wanted(), str(tmp_path))
    fetched = [ingest._fetched(part) for part in stored]
    assert not list(tmp_path.iterdir())
    for got, wanted in zip(fetched, ingest.read_files(found), strict=True):
        assert got.tables.keys() == wanted.tables.keys()
        assert all(got.tables[name].equals(table) for name, table in wanted.tables.items())
        assert (got.unclaimed, got.bytes) == (wanted.unclaimed, wanted.bytes)


def test_the_collector_rests_only_while_rows_are_made(cases: list[Path]) -> None:
    """Between parts, after an error too, garbage is collected as before; a caller who switched it off keeps that."""
    for _ in ingest.read_files(find(cases)):
        assert gc.isenabled()
    with pytest.raises(sl.SessionlabError):
        list(ingest.read_files(find(cases), ingest.Wanted(strict=True)))
    assert gc.isenabled()
    gc.disable()
    try:
        list(ingest.read_files(find(cases)))
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("rows", [1, 50, 10**9])
def test_the_inserter_appends_what_it_is_given(cases: list[Path], monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Whether parts are inserted one by one, several together or all at the end, every row arrives, in order."""
    monkeypatch.setattr(ingest, "BATCH_BYTES", 2000)
    monkeypatch.setattr(views, "INSERTED_ROWS", rows)
    parts = [part.tables for part in ingest.read_files(find(cases))]
    con = views.connect()
    with views.inserter(con) as insert:
        for part in parts:
            insert(part)
    for name in views.RAW_TABLES:
        wanted = [row for part in parts if name in part for row in part[name].to_pylist()]
        found = con.sql(f"FROM raw.{name}").to_arrow_table().to_pylist()
        assert found == wanted, name


def test_an_insertion_that_fails_is_told(cases: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of DuckDB in the thread that inserts is the caller's, not lost."""
    monkeypatch.setattr(views, "INSERTED_ROWS", 1)
    [part, *_] = ingest.read_files(find(cases))
    con = views.connect()
    con.execute("DROP TABLE raw.entries")
    with pytest.raises(duckdb.CatalogException, match="entries"), views.inserter(con) as insert:
        insert(part.tables)


def test_an_unguarded_script_may_load_in_parallel(tmp_path: Path, cases: list[Path]) -> None:
    """Workers do not run the caller's script again: a guard in it is not needed."""
    import subprocess
    import sys

    script = tmp_path / "script.py"
    script.write_text(
        "import sessionlab as sl\nimport sessionlab.ingest as i\ni.BATCH_BYTES = 100\n"
        f"print(sl.load({str(SAMPLES / 'mecha')!r}, workers=2).sql('SELECT count(*) FROM raw.sources').item())\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60)
    assert len(done.stdout.split()) == 1
    assert int(done.stdout) >= 4


def test_progress_tells_bytes(cases: list[Path]) -> None:
    """A function given as `progress` hears of all bytes in the end."""
    heard: list[tuple[int, int]] = []
    sl.load(*cases, progress=lambda done, total: heard.append((done, total)))
    total = sum(p.stat().st_size for p in cases)
    assert heard[-1][1] == total
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_strict_raises_the_first_problem(tmp_path: Path) -> None:
    """With strict, a torn line and a refusal are errors that say where."""
    torn = next(p for p in (SAMPLES / "mecha/golden").iterdir() if p.suffix == ".jsonl")
    with pytest.raises(sl.BadInput, match=r"jsonl:22: torn_line"):
        sl.load(torn, strict=True)
    refused = tmp_path / "x.session.jsonl"
    refused.write_text('{"record_type":"session","format":"datalayer-session/2"}\n')
    with pytest.raises(sl.Refused, match=r"The file is datalayer-session/2; this runtime reads datalayer-session/1\."):
        sl.load(refused, strict=True)


def test_a_reader_that_fails_costs_its_file_only(cases: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect in one format leaves a problem row for the file, and the other files whole."""
    from sessionlab.formats import mecha

    def read(_recording: object) -> object:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(mecha, "read", read)
    formats.all_formats.cache_clear()
    corpus = sl.load(SAMPLES / "mecha/golden", SAMPLES / "datalayer")
    kinds = corpus.sql("SELECT DISTINCT kind FROM problems WHERE detail = 'ZeroDivisionError: a defect'").rows()
    assert kinds == [("reader_failed",)]
    assert corpus.where(format="datalayer").sql("FROM sessions").height


def test_a_file_that_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    """A dangling link, a vanished file: told, and the rest is loaded."""
    found = find([SAMPLES / "mecha/golden"])
    gone = found[0]._replace(uri=str(tmp_path / "gone.jsonl"))
    [read] = ingest.read_files([gone])
    assert read.tables["problems"].to_pylist()[0]["kind"] == "unreadable_file"
    with pytest.raises(sl.BadInput, match="unreadable_file"):
        list(ingest.read_files([gone], ingest.Wanted(strict=True)))


def test_a_file_too_damaged_to_tell_whose_it_is_is_refused(tmp_path: Path) -> None:
    """A compressed session cut before its first record is whole is nobody's file, and is not passed over."""
    packed = gzip.compress((SAMPLES / "mecha/golden").glob("*.jsonl").__next__().read_bytes(), mtime=0)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(packed[:40])
    corpus = sl.load(path)
    told = "the compressed stream ends before its end mark"
    assert corpus.sql("SELECT format, state, reason FROM sources").rows() == [("unknown", "refused", told)]
    assert corpus.sql("SELECT kind, severity, detail FROM problems").rows() == [("cut_stream", "refusal", told)]
    assert corpus.unclaimed == ()
    with pytest.raises(sl.Refused, match="ends before its end mark"):
        sl.load(path, strict=True)


def test_strict_raises_for_a_cut_stream(tmp_path: Path) -> None:
    """Trailing bytes behind a whole session lose something too."""
    session = next((SAMPLES / "claude_code/session").glob("*.jsonl"))
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(session.read_bytes()) + b"more")
    with pytest.raises(sl.BadInput, match="cut_stream"):
        sl.load(path, strict=True)


def test_files_are_spread_over_workers_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large loads are cut into several parts per worker; each file is in one of them."""
    monkeypatch.setattr(ingest, "BATCH_BYTES", 10)
    for number in range(20):
        (tmp_path / f"{number}.jsonl").write_text("x" * (number + 1) * 10)
    seen: list[list[str]] = []

    class Watching(Executor):
        def submit(self, fn: Callable[..., object], /, *args: Any, **kwargs: Any) -> Future[object]:
            seen.append([f.uri for f in args[0]])
            future: Future[object] = Future()
            future.set_result(fn(*args, **kwargs))
            return future

    list(ingest.read_all(find([tmp_path]), workers=2, executor=Watching()))
    assert len(seen) > 4
    assert sorted(uri for part in seen for uri in part) == sorted(str(p) for p in tmp_path.iterdir())
