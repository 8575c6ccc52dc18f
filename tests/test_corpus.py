"""A corpus answers by views, tables and SQL; narrower and re-priced ones are corpora too."""

from __future__ import annotations

import io
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import sessionlab as sl
from sessionlab import views
from tests.conftest import SAMPLES

GOLDEN = SAMPLES / "mecha/golden"
RATES = "[providers.anthropic]\ninput_price_per_mtok = 5.0\noutput_price_per_mtok = 25.0\n"


@pytest.fixture
def golden(now: datetime) -> sl.Corpus:
    """The golden sample of mecha section 20."""
    return sl.load(GOLDEN, now=now)


@pytest.fixture
def rate_file(tmp_path: Path) -> str:
    """The golden sample's rates."""
    (tmp_path / "rates.toml").write_text(RATES)
    return str(tmp_path / "rates.toml")


def _mecha(day: str, number: int, model: str = "m") -> io.BytesIO:
    text = (
        f'{{"record":"meta","id":"s{number}","created_at":"{day}","provider":"p","model":"{model}","workspace":"/w"}}\n'
        '{"record":"outcome","turns":1,"stop_cause":"completed","tool_calls":3,"tool_errors":1}\n'
    )
    return io.BytesIO(text.encode())


def test_golden_figures_with_the_users_own_rates(any_now: datetime, rate_file: str) -> None:
    """Mecha 20: one session, four turns, 0.018625 dollars, whatever today is."""
    corpus = sl.load(GOLDEN, rates="file", rate_file=rate_file, now=any_now)
    [row] = corpus.view("cost.stats").to_dicts()
    assert row["cost_usd"] == pytest.approx(0.018625, rel=1e-12)
    assert [row[n] for n in ("provider", "model", "sessions", "turns")] == ["anthropic", "claude-opus-5", 1, 4]
    tokens = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    assert [row[n] for n in tokens] == [1500, 125, 1200, 1000]
    [health] = corpus.view("health.summary").to_dicts()
    assert (health["runs"], health["sessions_read"], health["tool_calls"], health["tool_errors"]) == (2, 1, 3, 1)
    assert (health["tool_error_rate"], health["ended_on_failed_call"], health["ended_on_failed_call_rate"]) == (
        1 / 3,
        1,
        0.5,
    )
    assert (health["recorded_usd"], health["runs_priced"]) == (0.01425, 1)


def test_the_same_file_twice_and_an_older_backup_count_once(tmp_path: Path, rate_file: str) -> None:
    """A byte copy is superseded whole; of an older backup the shared records fold."""
    [golden] = [p for p in GOLDEN.iterdir() if p.suffix == ".jsonl"]
    data = golden.read_bytes()
    for name, part in (("live", data), ("copy", data), ("backup", b"".join(data.splitlines(keepends=True)[:10]))):
        (tmp_path / f"{name}.jsonl").write_bytes(part)
    corpus = sl.load(tmp_path / "*.jsonl", rates="file", rate_file=rate_file)
    [row] = corpus.view("cost.stats").to_dicts()
    assert row["cost_usd"] == pytest.approx(0.018625, rel=1e-12)
    assert corpus.view("health.summary")["runs"].item() == 2
    assert corpus.sql("SELECT count(*) FROM entries").item() == 21
    assert corpus.sql("SELECT sources FROM sessions").item() == 2
    kinds = corpus.sql("SELECT kind, count(*) FROM problems WHERE severity = 'note' GROUP BY kind").rows()
    assert kinds == [("session_in_several_files", 1)]


def test_two_files_that_part_keep_both_tails(tmp_path: Path) -> None:
    """One session id, a common head, two tails: the head once, both tails."""
    head = (
        b'{"record":"meta","id":"s","created_at":"2026-10-01T00:00:00Z","provider":"p","model":"m","workspace":"/w"}\n'
    )
    usage = '{"input_tokens":%d,"output_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}'
    for name, tokens in (("a", 100), ("b", 7)):
        said = f'{{"record":"message","role":"user","content":[{{"type":"text","text":"{name}"}}]}}\n'
        summary = f'{{"record":"summary","usage":{usage % tokens},"turns":1}}\n'
        (tmp_path / f"{name}.jsonl").write_bytes(head + said.encode() + summary.encode())
    corpus = sl.load(tmp_path)
    assert corpus.sql("SELECT count(*) FROM entries").item() == 5
    assert corpus.view("cost.stats")["input_tokens"].item() == 107
    assert corpus.view("cost.stats")["sessions"].item() == 1


def test_last_includes_the_boundary(now: datetime) -> None:
    """A session that began exactly N days ago is in, a microsecond earlier is out (mecha 10.3)."""
    at = (now - timedelta(days=30)).isoformat()
    before = (now - timedelta(days=30, microseconds=1)).isoformat()
    corpus = sl.load(_mecha(at, 1), _mecha(before, 2), now=now)
    assert corpus.last(days=30).table("sessions")["native_id"].to_list() == ["s1"]
    assert corpus.last(days=31).view("health.summary")["runs"].item() == 2
    assert corpus.last(days=1).view("health.summary")["runs"].item() == 0


def test_where_narrows_every_view_and_nests(now: datetime) -> None:
    """By equality, by SQL, twice over; nulls equal nulls; the parent is untouched."""
    corpus = sl.load(*(_mecha(f"2026-10-0{n}T00:00:00Z", n, f"m{n % 2}") for n in range(1, 7)), now=now)
    odd = corpus.where(model="m1")
    assert odd.view("health.summary")["runs"].item() == 3
    assert odd.where("created_at >= '2026-10-03'").view("health.by_day").height == 2
    assert corpus.where(title=None).table("sessions").height == 6
    assert (
        corpus.where("native_id IN (SELECT native_id FROM sessions ORDER BY created_at LIMIT 1)")
        .table("outcomes")
        .height
        == 1
    )
    assert odd.table("sources").height == 3
    assert odd.sql("SELECT count(*) FROM raw.sessions").item() == 3
    assert corpus.view("health.summary")["runs"].item() == 6


def test_days_follow_the_zone(now: datetime) -> None:
    """The same instant is another day elsewhere, also across a change of clocks."""
    corpus = sl.load(_mecha("2026-10-24T22:30:00Z", 1), _mecha("2026-10-25T23:30:00Z", 2), now=now)
    assert corpus.view("health.by_day")["day"].to_list() == [date(2026, 10, 24), date(2026, 10, 25)]
    berlin = [date(2026, 10, 25), date(2026, 10, 26)]
    assert corpus.view("health.by_day", tz="Europe/Berlin")["day"].to_list() == berlin
    assert corpus.in_zone("Europe/Berlin").view("health.by_day")["day"].to_list() == berlin
    assert sl.load(_mecha("2026-10-24T22:30:00Z", 1), tz="Asia/Tokyo").view("health.by_day")["day"].to_list() == [
        date(2026, 10, 25)
    ]


def test_reprice_by_date_and_model(golden: sl.Corpus) -> None:
    """`at` takes words and dates; `like` prices everything as another model; the parent keeps its prices."""
    from genai_prices import Usage, calc_price

    mine = golden.view("cost.by_model")["cost_usd"].item()
    runs = [(1200, 80, 1000, 0), (300, 45, 200, 1000)]
    wanted = sum(
        float(
            calc_price(
                Usage(input_tokens=i + w + r, output_tokens=o, cache_write_tokens=w, cache_read_tokens=r),
                "claude-sonnet-4-5",
                provider_id="anthropic",
                genai_request_timestamp=datetime(2026, 11, 1, tzinfo=UTC),
            ).total_price
        )
        for i, o, w, r in runs
    )
    other = golden.reprice(date(2026, 11, 1), like="claude-sonnet-4-5")
    assert other.view("cost.by_model")["cost_usd"].item() == pytest.approx(wanted, rel=1e-9)
    assert other.sql("SELECT price_at FROM settings").item() == datetime(2026, 11, 1)
    assert golden.reprice("2026-11-01").sql("SELECT price_at FROM settings").item() == datetime(2026, 11, 1)
    assert golden.reprice("now").sql("SELECT price_at FROM settings").item() == datetime(2026, 11, 30, 12)
    assert other.reprice("call").sql("SELECT price_at FROM settings").item() is None
    assert golden.view("cost.by_model")["cost_usd"].item() == mine


def test_wrong_names_say_what_there_is(golden: sl.Corpus) -> None:
    """A typo in a view, table, column, session or query is told with what was meant."""
    with pytest.raises(sl.UnknownName, match=r"no view named 'cost.by_modell'; did you mean: cost.by_model"):
        golden.view("cost.by_modell")
    with pytest.raises(sl.UnknownName, match=r"no table named 'usages'; did you mean: usage"):
        golden.table("usages")
    with pytest.raises(sl.UnknownName, match=r"no column of cost\.by_model named 'modle'; did you mean: model"):
        golden.view("cost.by_model", modle="x")
    with pytest.raises(sl.UnknownName, match="no session matching '1999'"):
        golden.session_id("1999")
    with pytest.raises(sl.QueryError, match="Parser Error"):
        golden.sql("SELEC 1")
    with pytest.raises(sl.QueryError, match="nothing_there"):
        golden.where("nothing_there = 1")
    with pytest.raises(KeyError):
        golden.view("nothing.there")


def test_sessions_by_the_beginning_of_their_id(golden: sl.Corpus) -> None:
    """Native id, full id, or the beginning of either; two that begin so are told."""
    assert golden.session_id("2026") == golden.session_id("mecha:20261003") == "mecha:20261003T081500-5e1d20aa"
    both = sl.load(_mecha("2026-10-01T00:00:00Z", 1), _mecha("2026-10-01T00:00:00Z", 12))
    with pytest.raises(
        sl.AmbiguousName, match=re.escape("'s' matches 2 sessions (mecha:s1, mecha:s12); use a longer prefix")
    ):
        both.session_id("s")
    assert both.session_id("s1") == "mecha:s1"


def test_without_bodies_views_that_need_them_say_so(now: datetime) -> None:
    """What was said is not there, and that is an error, not an empty answer."""
    light = sl.load(GOLDEN, bodies=False, now=now)
    assert light.view("health.summary")["runs"].item() == 2
    with pytest.raises(sl.QueryError, match="the table blocks reads what was said; load with bodies=True"):
        light.table("blocks")
    needing = [name for name, view in views.public_views().items() if view.needs_bodies]
    assert needing
    for name in needing:
        with pytest.raises(sl.QueryError, match="load with bodies=True"):
            light.view(name)


def test_every_public_view_answers_on_every_kind_of_corpus(golden: sl.Corpus) -> None:
    """All views run, on a whole, an empty and a narrowed corpus."""
    for corpus in (golden, golden.last(days=1), golden.reprice("now").in_zone("Asia/Tokyo")):
        for name in views.public_views():
            assert corpus.view(name).columns == [c.name for c in views.library()[name].columns]


def test_nothing_to_load_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No path and no known store: told, with what to do."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("MECHA_HOME", "MECHA_SESSION_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(sl.LoadError, match=r"no path given, and none of the known session stores exists"):
        sl.load()


def test_it_says_what_is_inside(golden: sl.Corpus) -> None:
    """The prompt and the notebook show sessions, period, problems and what to ask."""
    assert repr(golden).splitlines() == [
        "Corpus of 1 session, 2026-10-03 to 2026-10-03",
        "  mecha              1 sessions       1 files         21 entries",
        f"  problems: 1 loss; {len(golden.unclaimed)} other files unclaimed  (see .problems)",
        '  ask: .view("cost.by_model"), .view("health.summary"), .sql("FROM usage LIMIT 5")',
    ]
    assert "<td style='text-align:left'>mecha</td><td>1</td>" in golden._repr_html_()
    assert golden.problems.to_dicts()[0]["kind"] == "torn_line"


def test_two_questions_at_a_time(golden: sl.Corpus) -> None:
    """Threads may ask one corpus at once: each question has its own connection."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: golden.view("health.summary" if n % 2 else "cost.stats").height, range(40)))
    assert answers == [1] * 40


def test_sql_finds_views_however_they_are_named(now: datetime) -> None:
    """Quoted, in capitals, behind a string that looks like a comment; in the condition of `where` too."""
    corpus = sl.load(_mecha("2026-10-01T00:00:00Z", 1), now=now)
    for query in (
        'FROM "health"."by_model"', "FROM Health.By_Model", "SELECT '--' AS x, model FROM health.by_model",
        "FROM health . by_model",
    ):  # fmt: skip
        assert corpus.sql(query).height == 1
    assert corpus.where("session_id IN (SELECT session_id FROM health.runs)").table("sessions").height == 1
    assert corpus.where("true -- all of them").table("sessions").height == 1
    assert corpus.sql("FROM PRICES").height == 0


def test_a_condition_never_widens_what_is_given(now: datetime) -> None:
    """Brackets in a condition do not get around the columns that must be equal."""
    corpus = sl.load(_mecha("2026-10-01T00:00:00Z", 1, "m1"), _mecha("2026-10-02T00:00:00Z", 2, "m2"), now=now)
    assert corpus.where("false) OR (true", model="m1").table("sessions")["model"].to_list() == ["m1"]


def test_sums_of_integers_are_integers(golden: sl.Corpus) -> None:
    """DuckDB sums into 128 bits; what fits comes as Int64, which charts and JSON take."""
    frame = golden.sql("SELECT sum(output_tokens) AS o, 2::HUGEINT ** 0 AS x, 1.5 AS half FROM usage")
    assert str(frame.schema["o"]) == "Int64"
    assert frame["o"].item() == 125
    assert golden.sql("SELECT 170141183460469231731687303715884105727 AS big").height == 1


def test_sql_that_asks_nothing_is_an_error(golden: sl.Corpus) -> None:
    """An empty text, or one that gives no rows, is told."""
    for query in ("", ";"):
        with pytest.raises(sl.QueryError):
            golden.sql(query)
    assert golden.sql("SELECT $n AS n", {"n": 4})["n"].item() == 4


@pytest.mark.parametrize("days", [float("nan"), float("inf"), 1e9, "30", None])
def test_days_that_reach_nowhere_are_refused(golden: sl.Corpus, days: float) -> None:
    """A period is a number of days that leads to a date."""
    with pytest.raises(sl.WrongUse, match="days: expected a number of days"):
        golden.last(days=days)


def test_arguments_that_cannot_be_meant_are_refused(golden: sl.Corpus) -> None:
    """Zone, date, rates, clock: what was expected and what was given; also a ValueError."""
    for ask, words in (
        (lambda: golden.in_zone("No/Where"), "tz: expected a zone such as 'Europe/Berlin' or 'UTC', found 'No/W"),
        (lambda: golden.in_zone(None), "tz: expected a zone"),  # type: ignore[arg-type]
        (lambda: sl.load(GOLDEN, tz="X/Y"), "tz: expected a zone"),
        (lambda: sl.load(GOLDEN, now="2026-01-01"), "now: expected a datetime, found '2026-01-01'"),  # type: ignore[arg-type]
        (lambda: golden.reprice("garbage"), "at: expected 'call', 'now' or a date such as 2026-11-01, found 'garbage'"),
        (lambda: golden.reprice(3), "at: expected"),  # type: ignore[arg-type]
        (lambda: golden.reprice(rates="x"), "rates: expected 'all' or 'file', found 'x'"),  # type: ignore[arg-type]
        (lambda: golden.session_id(None), "expected a session id as text"),  # type: ignore[arg-type]
    ):  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(words)):
            ask()


def test_narrowed_corpora_are_let_go(golden: sl.Corpus) -> None:
    """A dashboard narrows at every move: what it no longer holds is given back, what it holds still answers."""
    import gc

    held = golden.where(format="mecha")
    inner = held.where("true").in_zone("Asia/Tokyo")
    for _ in range(5):
        golden.where(format="mecha").view("health.summary")
    gc.collect()
    names = golden.sql("SELECT database_name FROM duckdb_databases() WHERE NOT internal")["database_name"].to_list()
    assert len(names) == 3, names
    del held
    gc.collect()
    assert inner.view("health.summary")["runs"].item() == 2


def test_a_column_called_name_can_be_asked_for(golden: sl.Corpus) -> None:
    """The view's own name is positional, so every column can be named."""
    assert golden.table("tool_calls", name="web_fetch").height == 1
    with pytest.raises(sl.UnknownName, match=r"no table named 'raw\.prices'"):
        golden.table("raw.prices")


def test_figures_alone_give_the_same_answers(now: datetime) -> None:
    """`figures=True` is faster and answers costs and health alike; what was done step by step it does not hold."""
    full, light = sl.load(SAMPLES / "corpus", now=now), sl.load(SAMPLES / "corpus", now=now, figures=True)
    for name, view in views.public_views().items():
        if view.needs_steps or view.needs_bodies:
            with pytest.raises(sl.QueryError, match="load with"):
                light.view(name)
        elif not name.startswith(("problems.", "coverage.")):  # notes about steps are not made
            wanted, found = full.view(name), light.view(name)
            assert wanted.equals(found) or _close(wanted, found), name
    assert light.table("sessions")["entries"].null_count() == light.table("sessions").height
    assert light.where(format="gg").view("health.summary").equals(full.where(format="gg").view("health.summary"))
    with pytest.raises(
        sl.QueryError, match="the table entries reads what was done step by step; load without figures=True"
    ):
        light.table("entries")
    assert "figures alone" in repr(light)


def _close(a: pl.DataFrame, b: pl.DataFrame) -> bool:
    from polars.testing import assert_frame_equal

    assert_frame_equal(a, b, check_exact=False, rel_tol=1e-12)
    return True
