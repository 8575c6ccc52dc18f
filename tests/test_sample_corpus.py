"""The generated corpus: made again byte for byte, holding what it promises, and counted as its own books say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest

import sessionlab as sl
from tests.conftest import NOW, SAMPLES
from tests.sample_files import CORPUS, Json, chat, files, gg, plain, records, replies, usages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

RATES = SAMPLES / "rates.toml"
DAMAGED = {
    "gg/run-0419/replay.ndjson": {"torn_line", "corrupt_journal"},
    "gg/run-0440/replay.ndjson": {"byte_ceiling"},
    "mecha/20261128T142041-e55fa116.jsonl": {"torn_line"},
    "claude_code/-home-ada-moths/ee2b06f8-d890-4efa-808c-b6c60792db01.jsonl": {"torn_line"},
}
LIST_PRICES = {
    "claude-sonnet-4-5": (3.0, 0.3, 3.75, 6.0, 15.0),
    "claude-opus-4-5": (5.0, 0.5, 6.25, 10.0, 25.0),
    "claude-haiku-4-5": (1.0, 0.1, 1.25, 2.0, 5.0),
    "gpt-5": (1.25, 0.125, 0.0, 0.0, 10.0),
    "gpt-5-mini": (0.25, 0.025, 0.0, 0.0, 2.0),
    "gemini-2.5-pro": (1.25, 0.125, 0.0, 0.0, 10.0),
    "finch-7b": (0.0, 0.0, 0.0, 0.0, 0.0),
}
"""US dollars per million tokens as the vendors publish them: input, cache read, write, hourly write, output."""


class Made(NamedTuple):
    """A run of the generator: files by path, and tokens by (format, model)."""

    files: dict[str, bytes]
    used: dict[tuple[str, str], tuple[int, ...]]


@pytest.fixture(scope="module")
def made() -> Made:
    """The corpus as the generator makes it now."""
    sys.path.insert(0, str(SAMPLES))
    try:
        import make_corpus

        made, ledger = make_corpus.build()
    finally:
        sys.path.remove(str(SAMPLES))
    return Made(made, {key: tuple(used) for key, used in ledger.used.items()})


@pytest.fixture(scope="module")
def corpus() -> sl.Corpus:
    """The committed corpus, loaded."""
    return sl.load(CORPUS, rate_file=str(RATES), now=NOW, progress=False)


def test_the_committed_files_are_what_the_script_makes(made: Made) -> None:
    """Each file holds the same bytes as the generator gives now; of compressed ones the content counts."""
    committed = {str(path.relative_to(CORPUS)): path.read_bytes() for path in CORPUS.rglob("*") if path.is_file()}
    assert committed.keys() == made.files.keys()
    assert [name for name, data in committed.items() if plain(data) != plain(made.files[name])] == []
    assert all(data[4:8] == bytes(4) for data in committed.values() if data.startswith(b"\x1f\x8b"))


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_script_gives_the_same_bytes_in_any_process(made: Made, tmp_path: Path, seed: str) -> None:
    """Run as a program, whatever the hash seed, the script writes exactly the files that were built here."""
    command = [sys.executable, "-B", str(SAMPLES / "make_corpus.py"), "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, env={"PYTHONHASHSEED": seed})
    written = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == made.files


def test_the_script_spares_a_folder_with_other_files(tmp_path: Path) -> None:
    """A folder that holds something already is refused as wrong use, and left as it is."""
    (tmp_path / "mecha").mkdir()
    (tmp_path / "mecha" / "mine.jsonl").write_text("{}\n")
    command = [sys.executable, "-B", str(SAMPLES / "make_corpus.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, [path.name for path in tmp_path.rglob("*.jsonl")]) == (2, ["mine.jsonl"])
    assert "expected a new or empty folder" in done.stderr


def test_there_are_sixty_sessions_of_four_formats(corpus: sl.Corpus) -> None:
    """Ids counted from the raw files are the sessions that are loaded."""
    told = {
        "mecha": len({record["id"] for record in records("meta")}),
        "gg": len(gg()),
        "datalayer": len({lines[0]["uid"] for lines in files("datalayer").values()}),
        "claude_code": len({line["sessionId"] for line in chat()}),
    }
    assert told == {"mecha": 24, "gg": 14, "datalayer": 8, "claude_code": 14}
    loaded = corpus.sql("SELECT format, count(*) AS n FROM sessions GROUP BY format").rows()
    assert dict(loaded) == told


def test_the_files_are_small(corpus: sl.Corpus) -> None:
    """The corpus stays under 2.5 MB, and each session between 8 and 120 entries."""
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 2_500_000
    main = "SELECT session_id, count(*) AS n FROM entries WHERE agent_id = 'root' OR session_id LIKE 'gg:%' GROUP BY 1"
    sizes = dict(corpus.sql(main).rows())
    assert {session: size for session, size in sizes.items() if not 8 <= size <= 120} == {}


def test_only_the_damaged_files_have_problems(corpus: sl.Corpus) -> None:
    """Each problem stands in a file the README calls damaged, and each of those has the problems expected."""
    found: dict[str, set[str]] = {}
    for uri, kind in corpus.sql("SELECT s.uri, p.kind FROM problems p JOIN sources s USING (source_id)").rows():
        found.setdefault(uri.partition("/corpus/")[2], set()).add(kind)
    assert found == DAMAGED
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`corpus/{name}`" in readme for name in DAMAGED)


def test_every_byte_is_accounted_for(corpus: sl.Corpus) -> None:
    """The extents of each file add up to its size, decompressed here."""
    sizes = {str(path.resolve()): len(plain(path.read_bytes())) for path in CORPUS.rglob("*") if path.is_file()}
    rows = corpus.sql(
        "SELECT s.uri, sum(x.byte_length)::BIGINT FROM raw.extents x JOIN sources s USING (source_id) GROUP BY 1"
    )
    assert dict(rows.rows()) == sizes


def test_the_work_falls_into_two_months() -> None:
    """Dated sessions begin between 1 October and 28 November 2026, mostly on weekdays."""
    from datetime import datetime

    days = [datetime.fromisoformat(record["created_at"]) for record in records("meta")]
    days += [datetime.fromisoformat(lines[1]["at"]) for lines in files("datalayer").values()]
    days += [datetime.fromisoformat(lines[0]["timestamp"]) for lines in files("claude_code").values()]
    assert {(min(days).month, min(days).day), (max(days).month, max(days).day)} == {(10, 1), (11, 28)}
    weekend = sum(day.weekday() >= 5 for day in days)
    assert 0 < weekend < len(days) / 7


def test_tokens_are_counted_as_the_books_say(corpus: sl.Corpus, made: Made) -> None:
    """Per format and model, each class of tokens is what the generator handed out; gg does not tell writes apart."""
    told = corpus.sql(
        "SELECT s.format, u.model, sum(uncached_input_tokens)::BIGINT, sum(cache_read_tokens)::BIGINT,"
        " sum(cache_write_tokens)::BIGINT, sum(cache_write_1h_tokens)::BIGINT, sum(output_tokens)::BIGINT"
        " FROM usage u JOIN sessions s USING (session_id) WHERE u.standing <> 'check' GROUP BY ALL"
    ).rows()
    counted = {(name, model): tuple(tokens or 0 for tokens in used) for name, model, *used in told}
    fresh, read, written, hourly, output = range(5)
    expected = {
        (name, model): (used[fresh] + used[written], used[read], 0, 0, used[output]) if name == "gg" else used
        for (name, model), used in made.used.items()
    }
    assert counted == expected
    assert sum(used[hourly] for used in made.used.values()) > 0


def test_a_plain_sum_over_the_files_would_be_wrong(made: Made) -> None:
    """Adding every figure on file counts Claude Code's replies and mecha's summarised runs more than once."""
    truth = sum(used[4] for (name, _model), used in made.used.items() if name == "claude_code")
    assert sum(usage["output_tokens"] for usage in usages()) > 1.5 * truth
    by_hand = sum(max(usage["output_tokens"] for usage in usages) for usages in replies().values())
    assert by_hand == truth
    figures = [record["usage"]["output_tokens"] for record in (*records("summary"), *records("outcome"))]
    assert sum(figures) > 1.3 * sum(used[4] for (name, _model), used in made.used.items() if name == "mecha")


def test_costs_are_the_tokens_at_list_prices(corpus: sl.Corpus, made: Made) -> None:
    """Each model costs its tokens times the published prices; the free one 0, the unpriced one nothing known."""
    expected: dict[str, float] = {}
    for (name, model), used in made.used.items():
        prices = LIST_PRICES.get(_short(model))
        if prices is not None:
            paid = (used[0] + used[2], used[1], 0, 0, used[4]) if name == "gg" else used
            cost = sum(tokens * price for tokens, price in zip(paid, prices, strict=True)) / 1e6
            expected[model] = expected.get(model, 0.0) + cost
    found: dict[str, float | None] = {}
    for model, cost in corpus.view("cost.by_model").select("model", "cost_usd").rows():
        found[model] = cost if model not in found else (found[model] or 0.0) + (cost or 0.0)
    assert {model for model, cost in found.items() if cost is None} == {"sparrow-1", "nest/sparrow-1"}
    assert {model: cost for model, cost in found.items() if cost is not None} == pytest.approx(expected)
    assert expected["finch-7b"] == 0.0
    assert 150 < sum(expected.values()) < 400


def _short(model: str) -> str:
    """A model's own name: the gateway spells `anthropic/claude-opus-4.5`."""
    plain = model.rpartition("/")[2]
    return plain.replace(".", "-") if plain.startswith("claude") else plain


def test_the_regression_shows(corpus: sl.Corpus) -> None:
    """On every day of the bad fortnight over a quarter of the calls fail, over the other days less than a tenth."""
    rows = corpus.view("health.by_day").select("day", "tool_calls", "tool_errors").rows()
    inside = [(calls, errors) for day, calls, errors in rows if day and "2026-10-29" <= str(day) <= "2026-11-11"]
    outside = [
        (calls, errors) for day, calls, errors in rows if not day or not "2026-10-29" <= str(day) <= "2026-11-11"
    ]
    assert min(errors / calls for calls, errors in inside) > 0.25
    assert sum(errors for _calls, errors in outside) < 0.1 * sum(calls for calls, _errors in outside)


def test_the_findings_name_the_model_that_regressed(corpus: sl.Corpus) -> None:
    """All three findings fire, for that model alone, on more than 20 runs."""
    found = corpus.view("health.findings").select("model", "finding", "runs").rows()
    assert {model for model, _finding, _runs in found} == {"claude-sonnet-4-5"}
    assert {finding for _model, finding, _runs in found} == {
        "ends runs on a failed call",
        "fails its tool calls",
        "is cut short by the harness",
    }
    assert min(runs for _model, _finding, runs in found) >= 20


def test_outcomes_of_mecha_count_the_calls_on_file() -> None:
    """Each outcome's calls and errors are those of the results since the outcome before; refusals are no errors."""
    for name, transcript in files("mecha").items():
        for counted, told in _runs_of(transcript):
            assert counted == told, name


def _runs_of(transcript: Sequence[Json]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    calls = errors = 0
    for record in transcript:
        if record["record"] == "message":
            results = [block for block in record["content"] if block["type"] == "tool_result"]
            refused = ("Denied by the user:", "Blocked by")
            calls += len(results)
            errors += sum(block["is_error"] and not block["content"].startswith(refused) for block in results)
        elif record["record"] == "outcome":
            yield (calls, errors), (record["tool_calls"], record["tool_errors"])
            calls = errors = 0


def test_taint_of_every_state_is_there(corpus: sl.Corpus) -> None:
    """Messages are clean, private, untrusted, both and unknown; one session goes through four of the states."""
    states = corpus.sql("SELECT session_id, state FROM taint.timeline WHERE kind = 'message' GROUP BY ALL").rows()
    assert {state for _session, state in states} == {"clean", "private", "untrusted", "both", "unknown"}
    assert max(Counter(session for session, _state in states).values()) == 4


def test_hostile_text_stands_in_two_sessions() -> None:
    """Markup, terminal escapes and a right-to-left mark come back from tools, once through each front end."""
    markup = [name for name, records in files("mecha").items() if "<script>alert(1)</script>" in json.dumps(records)]
    escapes = [name for name, lines in files("claude_code").items() if r"\u001b[31m" in json.dumps(lines)]
    assert (len(markup), len(escapes)) == (1, 1)
    assert r"\u200f" in json.dumps(files("claude_code")[escapes[0]])


def test_nothing_points_at_anybody() -> None:
    """Hosts end in `.example`, home folders are ada's."""
    text = "\n".join(plain(path.read_bytes()).decode() for path in CORPUS.rglob("*") if path.is_file())
    assert {host for host in re.findall(r"https?://([^/\s\"'`\\]+)", text) if not host.endswith(".example")} == set()
    assert {host for host in re.findall(r"[\w.]+@([\w.]+)", text) if not host.endswith(".example")} == set()
    assert set(re.findall(r"/home/(\w+)", text)) == {"ada"}
    assert "/Users/" not in text


def test_the_readme_names_every_folder() -> None:
    """What lies in the samples folder has a row in its README, and the counts there are those of the corpus."""
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    there = {path.name for path in SAMPLES.iterdir()} - {"README.md", "__pycache__"}
    assert {name for name in there if f"`{name}`" not in readme and f"`{name}/`" not in readme} == set()
    for folder, sessions in (("gg", 14), ("mecha", 24), ("datalayer", 8), ("claude_code", 14)):
        assert f"| `corpus/{folder}` | {sessions} | {len(files(folder))} |" in readme
