"""Saved corpora: a folder of Parquet files in, the same tables, views and figures out; anything else is refused."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sessionlab as sl
from sessionlab import saved, views
from sessionlab.arrow import SCHEMAS
from sessionlab.errors import WrongUse
from sessionlab.tables import TABLES
from tests.conftest import NOW, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

RATES = str(SAMPLES / "rates.toml")
CASES = ["claude_code", "datalayer", "gg", "mecha"]
RAW = [name for name in TABLES if name != "prices"]


@pytest.fixture(scope="module")
def whole() -> sl.Corpus:
    """Every sample, with bodies."""
    return sl.load(SAMPLES, rate_file=RATES, now=NOW, progress=False)


@pytest.fixture(scope="module")
def folder(whole: sl.Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every sample, saved."""
    return whole.save(tmp_path_factory.mktemp("saved") / "out")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mecha cases made by hand, saved."""
    corpus = sl.load(SAMPLES / "mecha", rate_file=RATES, now=NOW, progress=False)
    return corpus.save(tmp_path_factory.mktemp("small") / "out")


def again(folder: Path, **how: bool) -> sl.Corpus:
    """A saved corpus, loaded as the samples were."""
    return sl.load(folder, rate_file=RATES, now=NOW, progress=False, **how)


def tables_of(corpus: sl.Corpus) -> dict[str, list[tuple[object, ...]]]:
    """Every table a corpus holds, raw and plain, its rows in an order of their own."""
    held = {}
    for name in (*RAW, *(f"raw.{name}" for name in RAW)):
        try:
            held[name] = sorted(corpus.table(name).rows(), key=repr)
        except sl.QueryError:
            continue
    return held


def views_of(corpus: sl.Corpus) -> dict[str, list[tuple[object, ...]]]:
    """Every view a corpus can show; of a float nine digits, because sums of floats depend on their order."""
    shown = {}
    for name in views.public_views():
        try:
            rows = corpus.view(name).rows()
        except sl.QueryError:
            continue
        shown[name] = sorted((tuple(map(_rounded, row)) for row in rows), key=repr)
    return shown


def _rounded(value: object) -> object:
    return float(f"{value:.9g}") if isinstance(value, float) and math.isfinite(value) else value


def test_a_corpus_saved_and_loaded_again_is_equal(whole: sl.Corpus, folder: Path) -> None:
    """Every table, raw and plain, of every sample."""
    other = again(folder)
    assert (other.bodies, other.figures, other.findings) == (True, False, None)
    assert tables_of(other) == tables_of(whole)


def test_every_view_shows_the_same(tmp_path: Path) -> None:
    """All of the library, over the cases made by hand."""
    corpus = sl.load(*(SAMPLES / name for name in CASES), rate_file=RATES, now=NOW, progress=False)
    assert views_of(again(corpus.save(tmp_path / "out"))) == views_of(corpus)


@pytest.mark.parametrize("how", [{"bodies": False}, {"figures": True}], ids=["no-bodies", "figures"])
def test_so_is_one_that_holds_less(tmp_path: Path, how: dict[str, bool]) -> None:
    """Loaded without bodies, or of figures alone, it is loaded again as that."""
    corpus = sl.load(SAMPLES, rate_file=RATES, now=NOW, progress=False, **how)
    other = again(corpus.save(tmp_path / "out"))
    assert (other.bodies, other.figures) == (corpus.bodies, corpus.figures)
    assert tables_of(other) == tables_of(corpus)


def test_a_narrowed_corpus_keeps_the_figures_it_had(whole: sl.Corpus, tmp_path: Path) -> None:
    """A charge that went to a session left out stays there: of a resumed pair the second one alone is saved."""
    copied = whole.sql(
        "SELECT e.session_id, count(*) AS n FROM copies c JOIN raw.entries e USING (source_id, seq)"
        " WHERE c.rule = 'same_record' GROUP BY ALL ORDER BY n DESC, e.session_id LIMIT 1"
    ).item(0, 0)
    narrow = whole.where(session_id=copied)
    other = again(narrow.save(tmp_path / "out"))
    assert other.sql("SELECT count(*) FROM sessions").item() == 1
    assert tables_of(other) == tables_of(narrow)
    assert other.view("cost.by_call").equals(narrow.view("cost.by_call"))
    alone = sl.load(
        *whole.sql(
            "SELECT uri FROM sources WHERE source_id IN (SELECT source_id FROM raw.sessions WHERE session_id = $1)",
            [copied],
        )["uri"],
        now=NOW,
        progress=False,
    )
    tokens = "SELECT sum(output_tokens) FROM usage"
    assert other.sql(tokens).item() == narrow.sql(tokens).item() != alone.sql(tokens).item()


@pytest.mark.parametrize("name", ["claude_code", "gg"])
def test_a_narrowed_corpus_holds_only_what_belongs_to_it(whole: sl.Corpus, tmp_path: Path, name: str) -> None:
    """One format of four: rows of its sessions, files of its sessions, and nothing of the others."""
    narrow = whole.where(format=name)
    written = narrow.save(tmp_path / "out")
    sessions = set(narrow.table("sessions")["session_id"])
    for table in RAW:
        rows = pl.read_parquet(written / f"{table}.parquet")
        if "session_id" in rows.columns:
            assert set(rows["session_id"].drop_nulls()) <= sessions
        if "format" in rows.columns:
            assert set(rows["format"]) <= {name}
    assert tables_of(again(written)) == tables_of(narrow)


def test_what_is_saved_has_the_types_of_the_common_tables(folder: Path) -> None:
    """Parquet of another reader's making tells the columns, types and rows that the tables have."""
    told = json.loads((folder / "sessionlab.json").read_text())
    assert (told["format"], told["version"]) == ("sessionlab-tables", 1)
    assert (told["bodies"], told["figures"], told["findings"]) == (True, False, None)
    assert list(told["tables"]) == RAW
    for name in RAW:
        file = pq.ParquetFile(folder / f"{name}.parquet")
        assert file.schema_arrow == SCHEMAS[name]
        assert file.metadata.num_rows == told["tables"][name]
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_a_saved_corpus_is_known_by_its_file_and_from_a_folder_above(folder: Path, whole: sl.Corpus) -> None:
    """The folder, its sessionlab.json, a glob, and the folder it lies in mean the same."""
    rows = whole.table("usage").height
    for path in (folder, folder / "sessionlab.json", folder.parent, f"{folder}/*", f"file://{folder}"):
        corpus = sl.load(path, now=NOW, progress=False)
        assert corpus.table("usage").height == rows
        assert corpus.unclaimed == ()


def test_a_load_holds_what_all_its_parts_hold(folder: Path, whole: sl.Corpus, tmp_path: Path) -> None:
    """Bodies and steps are there where everything read has them; calls without bodies have no arguments."""
    bare = again(folder, bodies=False)
    assert not bare.bodies
    assert bare.table("tool_calls")["arguments"].null_count() == bare.table("tool_calls").height > 0
    figures = again(folder, figures=True)
    assert figures.figures
    assert figures.table("sessions")["entries"].null_count() == figures.table("sessions").height
    assert figures.table("usage").sort(pl.all()).equals(whole.table("usage").sort(pl.all()))
    sl.load(SAMPLES / "gg", bodies=False, now=NOW, progress=False).save(tmp_path / "bare")
    both = sl.load(tmp_path / "bare", SAMPLES / "mecha", now=NOW, progress=False)
    assert not both.bodies
    assert set(both.table("sessions")["format"]) == {"gg", "mecha"}


def test_two_saved_corpora_give_what_their_files_give(tmp_path: Path) -> None:
    """Folded anew, together: the tables of a load of all the files."""
    for name in ("gg", "mecha"):
        sl.load(SAMPLES / name, now=NOW, progress=False).save(tmp_path / name)
    both = sl.load(tmp_path / "gg", tmp_path / "mecha", now=NOW, progress=False)
    assert tables_of(both) == tables_of(sl.load(SAMPLES / "gg", SAMPLES / "mecha", now=NOW, progress=False))


def test_a_file_that_stands_in_two_parts_is_not_counted_twice(folder: Path, tmp_path: Path) -> None:
    """A saved corpus with a file it was made of, or with a copy of itself, is refused by the file's name."""
    with pytest.raises(sl.LoadError, match="expected each file once"):
        sl.load(folder, SAMPLES / "mecha", now=NOW, progress=False)
    shutil.copytree(folder, tmp_path / "copy")
    with pytest.raises(sl.LoadError, match="expected each file once"):
        sl.load(folder, tmp_path / "copy", now=NOW, progress=False)


def test_it_is_written_into_a_new_or_empty_folder_only(whole: sl.Corpus, tmp_path: Path) -> None:
    """What is there stays as it is, and nothing is left beside it."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "full")
    for name in ("full", "file", "link"):
        with pytest.raises(sl.WrongUse, match="expected a new or empty folder"):
            whole.save(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full", "link"]
    (tmp_path / "empty").mkdir()
    assert whole.save(tmp_path / "empty") == tmp_path / "empty"
    assert whole.save(tmp_path / "deep" / "down").is_dir()


def test_a_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """All of it, or nothing: neither the folder nor its unfinished twin stays."""

    def torn() -> object:
        yield "usage", SCHEMAS["usage"].empty_table()
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        saved.write(tmp_path / "out", torn(), bodies=True, figures=False)
    assert list(tmp_path.iterdir()) == []


def _without(folder: Path) -> None:
    (folder / "usage.parquet").unlink()


def _cut(folder: Path) -> None:
    path = folder / "usage.parquet"
    path.write_bytes(path.read_bytes()[:-100])


def _flipped(folder: Path) -> None:
    path = folder / "blocks.parquet"
    data = bytearray(path.read_bytes())
    data[200] ^= 0xFF
    path.write_bytes(data)


def _fewer(folder: Path) -> None:
    path = folder / "usage.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)


def _another_type(folder: Path) -> None:
    path = folder / "usage.parquet"
    table = pq.read_table(path)
    at = table.schema.get_field_index("output_tokens")
    pq.write_table(table.set_column(at, "output_tokens", table["output_tokens"].cast(pa.string())), path)


def _unknown_column(folder: Path) -> None:
    path = folder / "usage.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("mood", pa.nulls(table.num_rows, pa.string())), path)


def _told(folder: Path, **other: object) -> None:
    path = folder / "sessionlab.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **other}))


def _later(folder: Path) -> None:
    _told(folder, version=2)


def _no_counts(folder: Path) -> None:
    _told(folder, tables=None)


def _unknown_table(folder: Path) -> None:
    _told(folder, tables={"moods": 1})


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_without, "expected usage.parquet beside it, found none"),
        (_cut, "usage.parquet is no Parquet file that can be read"),
        (_flipped, "blocks.parquet cannot be read to its end"),
        (_fewer, r"usage.parquet: expected [0-9,]+ rows, found"),
        (_another_type, "expected output_tokens of type int64, found string"),
        (_unknown_column, "usage.parquet has columns that this version does not know: mood"),
        (_later, "expected version 1, found 2"),
        (_no_counts, "expected the rows of each table under 'tables', found nothing"),
        (_unknown_table, "expected common tables, found moods"),
    ],
)
def test_a_damaged_folder_is_refused_whole(small: Path, tmp_path: Path, damage: object, sentence: str) -> None:
    """What is missing, cut, flipped or of another version is said, with what to do."""
    shutil.copytree(small, tmp_path / "out")
    damage(tmp_path / "out")  # type: ignore[operator]
    with pytest.raises(sl.LoadError, match=sentence) as caught:
        again(tmp_path / "out")
    assert str(tmp_path / "out" / "sessionlab.json") in str(caught.value)
    assert "Save it again" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", '{"format": "another"}', "\xff", "[" * 100_000])
def test_a_sessionlab_json_of_somebody_else(tmp_path: Path, text: str) -> None:
    """Named, it is refused; met on the way, it is a file nobody claims, like any other."""
    home = tmp_path / "above" / "theirs"
    home.mkdir(parents=True)
    (home / "sessionlab.json").write_text(text, encoding="latin-1")
    for named in (home, home / "sessionlab.json"):
        with pytest.raises(sl.LoadError, match="expected a saved corpus"):
            sl.load(named, now=NOW, progress=False)
    assert sl.load(tmp_path / "above", now=NOW, progress=False).unclaimed == (str(home / "sessionlab.json"),)


def test_columns_an_older_version_did_not_know_are_null(small: Path, tmp_path: Path) -> None:
    """A column that may be null and is not in the file is null in every row."""
    shutil.copytree(small, tmp_path / "out")
    path = tmp_path / "out" / "outcomes.parquet"
    pq.write_table(pq.read_table(path).drop_columns("sensors"), path)
    outcomes = again(tmp_path / "out").table("outcomes")
    assert outcomes["sensors"].null_count() == outcomes.height > 0


def test_a_corpus_of_nothing_is_saved_too(tmp_path: Path) -> None:
    """No session, no row: the same again."""
    (tmp_path / "none").mkdir()
    empty = sl.load(tmp_path / "none", now=NOW, progress=False)
    assert tables_of(again(empty.save(tmp_path / "out"))) == tables_of(empty)


def test_it_can_be_narrowed_and_saved_once_more(folder: Path, whole: sl.Corpus, tmp_path: Path) -> None:
    """A loaded corpus is one like any other: cut to one format it equals the first one cut so."""
    twice = again(again(folder).where(format="claude_code").save(tmp_path / "out"))
    assert tables_of(twice) == tables_of(whole.where(format="claude_code"))


def test_a_name_that_is_no_table_never_becomes_a_statement(small: Path, tmp_path: Path) -> None:
    """Names out of the manifest name files and tables: one that is no table of ours is refused before either."""
    shutil.copytree(small, tmp_path / "out")
    name = "usage; DROP TABLE sources; --"
    shutil.copy(tmp_path / "out" / "folded.usage.parquet", tmp_path / "out" / f"folded.{name}.parquet")
    told = json.loads((tmp_path / "out" / "sessionlab.json").read_text())
    _told(tmp_path / "out", folded={**told["folded"], name: told["folded"]["usage"]})
    with pytest.raises(sl.LoadError, match="expected common tables, found usage; DROP"):
        again(tmp_path / "out")


@pytest.mark.parametrize(("column", "is_refused"), [("source_id", True), ("model", False)])
def test_a_folded_table_without_a_column(small: Path, tmp_path: Path, column: str, is_refused: bool) -> None:
    """One that may be null is null in every row, as in the raw tables; another one is missed at once, not by a view."""
    shutil.copytree(small, tmp_path / "out")
    path = tmp_path / "out" / "folded.usage.parquet"
    pq.write_table(pq.read_table(path).drop_columns(column), path)
    if is_refused:
        with pytest.raises(sl.LoadError, match=f"columns of today: {column}"):
            again(tmp_path / "out")
    else:
        usage = again(tmp_path / "out").table("usage")
        assert usage["model"].null_count() == usage.height > 0


def test_findings_of_another_table_and_a_folder_for_a_file(small: Path, tmp_path: Path) -> None:
    """What stands where findings or rows should, and is neither, is said."""
    sl.load(small, now=NOW, progress=False).redacted(key=b"key").save(tmp_path / "out")
    shutil.copy(tmp_path / "out" / "agents.parquet", tmp_path / "out" / "findings.parquet")
    with pytest.raises(sl.LoadError, match=r"findings\.parquet: expected column, count"):
        _ = again(tmp_path / "out").findings
    (tmp_path / "out" / "usage.parquet").unlink()
    (tmp_path / "out" / "usage.parquet").mkdir()
    with pytest.raises(sl.LoadError, match=r"expected usage\.parquet beside it"):
        again(tmp_path / "out")


@pytest.mark.parametrize("arguments", [("show", "gg:run-0431", "--json"), ("path", "gg:run-0431"), ("recall", "kite")])
def test_a_command_that_hands_out_files_refuses_a_saved_corpus(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """The files a redacted corpus was made of may still be there: what they say must not come out of it."""
    from typer.testing import CliRunner

    from sessionlab.cli import app

    folder = sl.load(SAMPLES / "corpus" / "gg").redacted().save(tmp_path / "out")
    name, *others = arguments
    given = [name, *others[:1], str(folder), *others[1:]]
    with pytest.raises(WrongUse, match="a saved corpus holds tables"):
        CliRunner().invoke(app, given, catch_exceptions=False)
