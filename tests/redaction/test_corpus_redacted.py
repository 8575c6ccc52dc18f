"""A corpus redacted: figures, joins and views as before, secrets in no table, saved and loaded with its findings."""

from __future__ import annotations

import gzip
import json
import math
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest

import sessionlab as sl
from sessionlab import views
from sessionlab.redaction import PRIVATE_RULES
from sessionlab.tables import TABLES, columns
from tests.conftest import NOW, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

RATES = str(SAMPLES / "rates.toml")
KEY = b"a key for tests"
RAW = [name for name in TABLES if name != "prices"]
WORD = "harbour"
"""Stands in titles, paths, bodies, arguments and details of many samples: declared a secret, it changes them all."""
AWS, PASSWORD = "AKIA" + "QX7RZ2M4T9KD3WPB", "vK9-tulip-Zq41"


@pytest.fixture(scope="module")
def whole() -> sl.Corpus:
    """Every sample, with bodies."""
    return sl.load(SAMPLES, rate_file=RATES, tz="Europe/Berlin", now=NOW, progress=False)


@pytest.fixture(scope="module")
def redacted(whole: sl.Corpus) -> sl.Corpus:
    """The same under every rule, and without a word that stands nearly everywhere."""
    return whole.redacted(rules="all", secrets=[WORD], key=KEY)


def texts_of(corpus: sl.Corpus) -> list[str]:
    """Every text of every table, raw and plain."""
    found: list[str] = []
    for name in (*(f"raw.{name}" for name in RAW), *RAW):
        frame = corpus.table(name)
        for column in frame.select(pl.col(pl.String)).columns:
            found += frame[column].drop_nulls().unique().to_list()
    return found


def figures(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    """The rows of a view without what names things: numbers, times and flags; of a float nine digits."""
    kept = [
        name
        for name, kind in frame.schema.items()
        if kind != pl.String and not name.endswith(("source_id", "superseded_by"))
    ]
    rows = frame.select(kept).rows()
    return sorted((tuple(map(_rounded, row)) for row in rows), key=repr)


def _rounded(value: object) -> object:
    return float(f"{value:.9g}") if isinstance(value, float) and math.isfinite(value) else value


def test_every_view_tells_the_same_figures(whole: sl.Corpus, redacted: sl.Corpus) -> None:
    """Costs, health, times, taint and every other view: the same rows, the same numbers, under other names."""
    assert redacted.findings is not None
    assert set(redacted.findings["rule"]) >= {"declared_secret", "home_folder", "user_name"}
    assert {name.split(".")[0] for name in views.public_views()} >= {"cost", "health", "time", "taint"}
    for name in views.public_views():
        before, after = whole.view(name), redacted.view(name)
        assert after.schema == before.schema, name
        if name == "timeline.details":  # measures the text it shows
            before, after = before.drop("body_bytes"), after.drop("body_bytes")
        assert figures(after) == figures(before), name


def test_every_raw_table_keeps_what_is_not_text(whole: sl.Corpus, redacted: sl.Corpus) -> None:
    """Row for row: numbers, times and flags of the raw tables are those that were read."""
    for name in RAW:
        before, after = whole.table(f"raw.{name}"), redacted.table(f"raw.{name}")
        kept = [
            c.name
            for c in columns(TABLES[name])
            if c.type != "VARCHAR" and c.name not in {"source_id", "record_id", "parent_id"}
        ]
        assert sorted(after.select(kept).rows(), key=repr) == sorted(before.select(kept).rows(), key=repr), name


def test_the_declared_word_stands_nowhere(whole: sl.Corpus, redacted: sl.Corpus) -> None:
    """Neither in a table nor in a view, and it did stand in many."""
    assert sum(WORD in text for text in texts_of(whole)) > 20
    assert [text for text in texts_of(redacted) if WORD in text] == []


def test_folded_anew_the_figures_are_the_same(whole: sl.Corpus, redacted: sl.Corpus) -> None:
    """What is redacted still folds by itself: charges, copies and retellings are found again from its raw tables."""
    con = views.connect()
    views.insert(con, {name: redacted._cursor().sql(f"FROM raw.{name}").to_arrow_table() for name in RAW})
    views.fold(con, bodies=True)
    for name, sums in {
        "usage": "count(*), sum(output_tokens), sum(cache_read_tokens), sum(uncached_input_tokens), sum(figures)",
        "copies": "count(*), count(*) FILTER (WHERE rule = 'replayed')",
        "sources": "count(*), count(superseded_by)",
        "sessions": "count(*), sum(entries), sum(sources)",
        "agents": "count(*), count(DISTINCT session_id)",
    }.items():
        query = f"SELECT {sums} FROM {name}"
        assert con.sql(query).fetchall() == whole.sql(query).rows(), name


def test_clock_zone_and_rates_are_kept(whole: sl.Corpus, redacted: sl.Corpus) -> None:
    """The same corpus but for its texts: days in the same zone, the same now, prices from the same file."""
    assert (redacted.tz, redacted.now, redacted.bodies, redacted.figures) == ("Europe/Berlin", NOW, True, False)
    later = whole.reprice(at="now")
    assert figures(later.redacted(key=KEY).view("cost.by_model")) == figures(later.view("cost.by_model"))
    assert figures(redacted.reprice(at="now").view("cost.by_model")) == figures(later.view("cost.by_model"))


def test_redacting_again_finds_nothing(redacted: sl.Corpus) -> None:
    """Under the same rules and key, what is redacted stays as it is, to the last cell."""
    again = redacted.redacted(rules="all", secrets=[WORD], key=KEY)
    assert again.findings is not None
    assert again.findings.height == 0
    for name in RAW:
        assert again.table(f"raw.{name}").equals(redacted.table(f"raw.{name}")), name


def test_what_is_clean_stays_as_it_was(whole: sl.Corpus) -> None:
    """The samples hold no credential: under the strict rules alone not a cell of them changes."""
    clean = whole.redacted(key=KEY)
    assert clean.findings is not None
    assert clean.findings.height == 0
    for name in RAW:
        assert sorted(clean.table(name).rows(), key=repr) == sorted(whole.table(name).rows(), key=repr), name


def moved(corpus: sl.Corpus) -> set[int]:
    """The ids of the files whose uri was changed."""
    assert corpus.findings is not None
    return set(corpus.findings.filter(pl.col("column") == "uri")["source_id"])


def test_another_key_gives_other_names(whole: sl.Corpus, redacted: sl.Corpus) -> None:
    """One key, one pseudonym; without a key nobody makes the same again."""
    whole, redacted = whole.where(format="claude_code"), redacted.where(format="claude_code")
    workspaces = "SELECT DISTINCT workspace FROM sessions WHERE workspace LIKE '%user-%'"
    mine = set(redacted.sql(workspaces)["workspace"])
    same = whole.redacted(rules="all", secrets=[WORD], key=KEY)
    assert set(same.sql(workspaces)["workspace"]) == mine != set()
    ids = set(redacted.table("raw.sources")["source_id"])
    assert moved(same) == moved(redacted) & ids != set()
    for other in (whole.redacted(rules="all", key=b"another"), whole.redacted(rules="all")):
        assert not mine & set(other.sql(workspaces)["workspace"])
        assert not moved(redacted) & moved(other)


def test_a_narrowed_corpus_is_redacted_narrowed(whole: sl.Corpus) -> None:
    """Only its sessions come along, with the figures they had."""
    narrow = whole.where(format="claude_code")
    done = narrow.redacted(secrets=[WORD], key=KEY)
    assert set(done.table("raw.sessions")["format"]) == {"claude_code"}
    for name in ("cost.by_session", "health.runs", "time.by_agent"):
        assert figures(done.view(name)) == figures(narrow.view(name)), name


@pytest.mark.parametrize("how", [{"bodies": False}, {"figures": True}], ids=["no-bodies", "figures"])
def test_a_corpus_that_holds_less_is_redacted_too(how: dict[str, bool]) -> None:
    """Without bodies, and of figures alone: what there is, is gone through."""
    corpus = sl.load(SAMPLES, rate_file=RATES, now=NOW, progress=False, **how)
    done = corpus.redacted(secrets=[WORD], key=KEY)
    assert (done.bodies, done.figures) == (corpus.bodies, corpus.figures)
    assert WORD not in str(done.table("sessions").to_dicts())
    assert figures(done.view("cost.by_day")) == figures(corpus.view("cost.by_day"))


def test_findings_say_where_and_never_what(redacted: sl.Corpus) -> None:
    """Rule, table, column, file and count: the counts of a column are the marks that stand in it."""
    found = redacted.findings
    assert found is not None
    assert found.columns == ["rule", "table", "column", "source_id", "count"]
    folders = found.filter(
        pl.col("rule") == "declared_secret", pl.col("table") == "configs", pl.col("column") == "workspace"
    )
    marked = redacted.sql("SELECT count(*) FROM raw.configs WHERE workspace LIKE '%[redacted]%'").item()
    assert folders["count"].sum() == marked > 0
    assert set(found["source_id"]) <= set(redacted.table("raw.sources")["source_id"])
    assert WORD not in str(found.to_dicts())


def test_it_is_saved_and_loaded_with_its_findings(redacted: sl.Corpus, tmp_path: Path) -> None:
    """Any command on the folder gives the figures of the originals; the findings come along."""
    folder = redacted.save(tmp_path / "out")
    assert json.loads((folder / "sessionlab.json").read_text())["findings"] == redacted.findings.height  # type: ignore[union-attr]
    other = sl.load(folder, rate_file=RATES, tz="Europe/Berlin", now=NOW, progress=False)
    assert other.findings is not None
    assert other.findings.equals(redacted.findings)
    assert other.where(format="gg").findings is other.findings
    for name in ("cost.by_model", "health.summary", "time.by_session"):
        assert figures(other.view(name)) == figures(redacted.view(name)), name
    for path in folder.iterdir():
        assert WORD.encode() not in path.read_bytes(), path.name


def test_a_load_is_redacted_only_when_all_of_it_is(redacted: sl.Corpus, whole: sl.Corpus, tmp_path: Path) -> None:
    """Beside files, or a saved corpus nobody went through, it makes no promise."""
    redacted.where(format="gg").save(tmp_path / "gg")
    whole.where(format="mecha").save(tmp_path / "mecha")
    redacted.where(format="claude_code").save(tmp_path / "claude")
    assert sl.load(tmp_path / "gg", tmp_path / "claude", now=NOW, progress=False).findings is not None
    assert sl.load(tmp_path / "gg", tmp_path / "mecha", now=NOW, progress=False).findings is None
    assert sl.load(tmp_path / "gg", SAMPLES / "mecha", now=NOW, progress=False).findings is None
    assert whole.findings is None


def planted(folder: Path, cases: list[str]) -> None:
    """Samples of every format with two secrets in what somebody said and in a call's arguments."""
    for case in cases:
        shutil.copytree(SAMPLES / case, folder / case)
    put = 0
    for path in folder.rglob("*.*"):
        if not path.is_file() or path.suffix not in {".jsonl", ".ndjson", ".gz"}:
            continue
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        new = data.replace(b" the ", f" the password={PASSWORD} the {AWS} and {PASSWORD} ".encode(), 3)
        put += new != data
        path.write_bytes(gzip.compress(new) if path.suffix == ".gz" else new)
    assert put >= len(cases)


def test_planted_secrets_go_from_every_format(tmp_path: Path) -> None:
    """A password in an assignment, then bare, and a key of a known shape: in no text of any table."""
    cases = ["claude_code/session", "datalayer/every-kind", "gg/clean-journal", "mecha/golden"]
    planted(tmp_path, cases)
    corpus = sl.load(tmp_path, now=NOW, progress=False)
    before = " ".join(texts_of(corpus))
    assert AWS in before
    assert PASSWORD in before
    done = corpus.redacted(key=KEY)
    after = " ".join(texts_of(done))
    assert AWS not in after
    assert PASSWORD not in after
    assert done.findings is not None
    holding = set(
        done.table("raw.sources").filter(pl.col("source_id").is_in(done.findings["source_id"].unique()))["format"]
    )
    assert len(holding) >= 3
    changed = done.table("raw.sources").join(corpus.table("raw.sources"), on="source_id", suffix="_before")
    assert changed.height == corpus.table("raw.sources").height  # no uri was changed
    told = set(done.findings["source_id"])
    for source, content, content_before in changed.select("source_id", "content_id", "content_id_before").rows():
        assert (content != content_before) == (source in told)


def test_wrong_use_is_told() -> None:
    """A rule nobody knows, secrets that are one string, and a key of no bytes."""
    corpus = sl.load(SAMPLES / "mecha", now=NOW, progress=False)
    with pytest.raises(sl.WrongUse, match="no rule named beards; there are: " + ", ".join(PRIVATE_RULES)):
        corpus.redacted(rules=["beards"])
    with pytest.raises(sl.WrongUse, match="found one string"):
        corpus.redacted(secrets="hunter2")
    with pytest.raises(sl.WrongUse, match="found an empty one"):
        corpus.redacted(key=b"")


def test_names_of_users_and_hosts_ask_for_their_rules() -> None:
    """Naming a user is asking for the user's name to go; secrets may come with their names."""
    corpus = sl.load(SAMPLES / "mecha", now=NOW, progress=False)
    [title] = corpus.sql("SELECT title FROM sessions WHERE title IS NOT NULL ORDER BY title LIMIT 1")["title"]
    word = max(title.split(), key=len)
    named = corpus.redacted(users=[word], key=KEY)
    assert word not in " ".join(named.table("sessions")["title"].drop_nulls())
    assert set(named.findings["rule"]) == {"user_name"}  # type: ignore[index]
    by_name = corpus.redacted(secrets={"TITLE_WORD": word}, key=KEY)
    assert word not in " ".join(by_name.table("sessions")["title"].drop_nulls())
    assert set(by_name.findings["rule"]) == {"declared_secret"}  # type: ignore[index]
