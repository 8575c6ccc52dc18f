"""Rates with intervals, two arms compared, configurations that differ, findings by thresholds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sessionlab as sl
from sessionlab.cli import compare as command
from sessionlab.comparisons import (
    Arm,
    Thresholds,
    compare,
    difference,
    differing,
    findings,
    parse_arm,
    policies,
    rates,
    wilson,
)
from sessionlab.corpus import Corpus
from sessionlab.errors import Incomparable, UnknownName, WrongUse
from tests.conftest import NOW, SAMPLES
from tests.formats.mecha_lines import line
from tests.systems.mecha.recalled import HEADER

app = typer.Typer()
command.register(app)


@app.command("nothing")
def _nothing() -> None:
    """A second command, so that the first one is named."""


@pytest.mark.parametrize(
    ("cases", "out_of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval_at_published_values(cases: int, out_of: int, low: float, high: float) -> None:
    """The four worked examples of Newcombe (Statistics in Medicine 17, 857, 1998), method 3, to four digits."""
    found = wilson(cases, out_of)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@pytest.mark.parametrize(
    ("first", "other", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 20), 0.6791, 1.0),
     ((10, 10), (0, 10), 0.6075, 1.0)],
)  # fmt: skip
def test_the_interval_of_a_difference_at_published_values(
    first: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """Worked examples of Newcombe (Statistics in Medicine 17, 873, 1998), method 10, to four digits."""
    found = difference(*first, *other)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_an_interval_holds_its_rate_mirrors_and_widens_with_confidence(pair: tuple[int, int], share: float) -> None:
    """The rate lies inside; of the opposite it is the mirror image; more confidence is wider."""
    cases, out_of = pair
    found, mirrored, wider = wilson(cases, out_of, share), wilson(out_of - cases, out_of, share), wilson(*pair, 0.9999)
    assert found is not None and mirrored is not None and wider is not None  # noqa: PT018 (they are one claim)
    assert 0 <= found.low <= cases / out_of <= found.high <= 1
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-12)
    assert wider.low <= found.low + 1e-12
    assert wider.high >= found.high - 1e-12


def test_nothing_counted_has_no_interval_and_nonsense_is_wrong_use() -> None:
    """None of nothing; more cases than there are, and a confidence of 1, are refused."""
    assert wilson(0, 0) is None
    assert difference(0, 0, 1, 2) is None
    for cases, out_of, confidence in ((3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 95)):
        with pytest.raises(WrongUse):
            wilson(cases, out_of, confidence)


def _write(folder: Path, name: str, created: str, *records: dict[str, Any]) -> None:
    lines = [line(**{**HEADER, "id": name, "created_at": created}), *(line(**record) for record in records)]
    (folder / f"{name}.jsonl").write_bytes(b"".join(each + b"\n" for each in lines))


def _config(**members: Any) -> dict[str, Any]:
    return {"record": "config", "provider": "p", "model": "m1", **members}


def _outcome(calls: int, errors: int, **members: Any) -> dict[str, Any]:
    return {"record": "outcome", "tool_calls": calls, "tool_errors": errors, **members}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two sessions in October under model m1, one in November whose second run is under m2."""
    _write(tmp_path, "a", "2026-10-01T00:00:00Z", _config(system_prompt="brief"), _outcome(10, 5))
    _write(tmp_path, "b", "2026-10-31T23:59:59Z", _config(seed=7, system_prompt="brief"),
           _outcome(10, 3, stop_cause="loop"))  # fmt: skip
    _write(tmp_path, "c", "2026-11-01T00:00:00Z", _config(permission_mode="allow", system_prompt="brief"),
           _outcome(4, 0, stop_cause="stopped"), _config(model="m2", effort="high", tools=["fs_read"]),
           _outcome(6, 6, ended_on_failed_call=True))  # fmt: skip
    return sl.load(tmp_path, now=NOW)


def test_two_periods_with_the_evidence(corpus: Corpus) -> None:
    """8 of 20 against 6 of 10 calls: counts, rates, what is between them; the first bound in, the second out."""
    first, other = (parse_arm(corpus, text) for text in ("from=2026-10-01,until=2026-11-01", "from=2026-11-01"))
    found = compare(first, other)
    assert (found.first_runs, found.other_runs) == (2, 2)
    errors, _, cut_short, interventions = found.rates
    assert (errors.name, errors.first.cases, errors.first.out_of, errors.other.cases) == ("tool_error_rate", 8, 20, 6)
    assert (errors.first.value, errors.other.value, errors.apart) == (0.4, 0.6, pytest.approx(0.2))
    assert errors.interval == difference(6, 10, 8, 20)
    assert not errors.clear
    assert (cut_short.first.value, cut_short.other.value) == (0.5, 0.0)
    assert (interventions.first.value, interventions.other.value) == (0.0, 0.5)


def test_two_models_of_one_session_and_what_was_configured_differently(corpus: Corpus) -> None:
    """Runs are told apart by the configuration in effect, and so are configurations; absent is null."""
    found = compare(parse_arm(corpus, "model=m1"), parse_arm(corpus, "model=m2"))
    assert (found.first_runs, found.other_runs) == (3, 1)
    assert {one.member: (one.first, one.other) for one in found.differing} == {
        "effort": ({"null": 3}, {"high": 1}), "model": ({"m1": 3}, {"m2": 1}),
        "permission_mode": ({"ask": 2, "allow": 1}, {"ask": 1}), "seed": ({"null": 2, "7": 1}, {"null": 1}),
        "system_prompt": ({"brief": 3}, {"null": 1}), "tools": ({"": 3}, {"fs_read": 1}),
    }  # fmt: skip
    [errors, *_] = found.rates
    assert errors.clear
    assert errors.apart == pytest.approx(1 - 8 / 24)


def test_prompts_and_tools_are_compared_where_bodies_are_loaded(tmp_path: Path, corpus: Corpus) -> None:
    """Without bodies they are left out, not told to be equal or different."""
    bare = sl.load(tmp_path, bodies=False, now=NOW)
    members = [one.member for one in differing(parse_arm(bare, "model=m1"), parse_arm(bare, "model=m2"))]
    assert members == ["effort", "model", "permission_mode", "seed"]


def test_replays_under_different_policies_are_refused(corpus: Corpus) -> None:
    """The sentence names the member and its values; arms that are no replays are compared, with it listed."""
    arms = parse_arm(corpus, "until=2026-11-01"), parse_arm(corpus, "from=2026-11-01")
    with pytest.raises(Incomparable, match=r"different policies: permission_mode is ask in .*, allow, ask in "):
        compare(*arms, replayed=True)
    assert "permission_mode" in [one.member for one in compare(*arms).differing]
    assert compare(arms[0], arms[0], replayed=True).differing == []
    assert policies(arms[0]) == {"permission_mode": {"ask": 2}, "trifecta": {"block": 2}}


def test_an_arm_of_nothing_has_no_rates(corpus: Corpus) -> None:
    """Null, not zero; and nothing differs from what is not told."""
    found = compare(parse_arm(corpus, "model=m1"), parse_arm(corpus, "model=none"))
    assert {(one.other.value, one.apart, one.interval, one.clear) for one in found.rates} == {(None, None, None, False)}
    assert found.differing == []


def test_an_arm_that_cannot_be_told_is_wrong_use(corpus: Corpus) -> None:
    """An unknown word and a date that is none, with what there is."""
    for text in ("colour=red", "m1", "from=yesterday"):
        with pytest.raises(WrongUse):
            parse_arm(corpus, text)
    assert rates(parse_arm(corpus, ""))[0] == 4


def test_more_errors_than_calls_have_a_rate_and_no_interval(tmp_path: Path) -> None:
    """A record may claim so; nothing breaks."""
    _write(tmp_path, "x", "2026-10-01T00:00:00Z", _outcome(1, 3))
    [errors, *_] = rates(Arm(sl.load(tmp_path), "all"))[1]
    assert (errors.value, errors.interval) == (3.0, None)


def test_findings_with_the_default_thresholds_are_the_views() -> None:
    """The function and `health.findings` judge alike; the ends of Wilson's interval stand beside."""
    corpus = sl.load(SAMPLES / "corpus", figures=True, now=NOW)
    found = findings(corpus)
    columns = ("model", "finding", "observed", "threshold", "cases", "out_of", "runs")
    assert [{name: row[name] for name in columns} for row in found] == corpus.view("health.findings").to_dicts()
    assert len(found) == 3
    for row in found:
        assert (row["low"], row["high"]) == wilson(row["cases"], row["out_of"])  # type: ignore[arg-type]


def test_thresholds_are_parameters(corpus: Corpus) -> None:
    """With one run enough, m2 fails its calls from 6 calls on; a finding fires at its very threshold."""
    few = Thresholds.told("min_runs=1", "min_calls=6")
    assert [(row["model"], row["finding"]) for row in findings(corpus, few)] == [
        ("m1", "fails its tool calls"), ("m1", "is cut short by the harness"), ("m2", "ends runs on a failed call"),
        ("m2", "fails its tool calls"),
    ]  # fmt: skip
    assert findings(corpus, Thresholds.told("min_runs=1", "min_calls=7", "cut_short=0.34", "ends_failed=1.1")) == [
        {**findings(corpus, few)[0]}
    ]
    assert findings(corpus) == []
    assert findings(corpus, Thresholds.told("min_runs=1", "sessions=1", "cut_short=0.9", "ends_failed=2")) == []


@pytest.mark.parametrize(("text", "error"), [("taste=1", UnknownName), ("min_runs=x", WrongUse), ("min_runs", WrongUse),
                                             ("cut_short=-1", WrongUse), ("cut_short=nan", WrongUse)])  # fmt: skip
def test_thresholds_that_are_none(text: str, error: type[Exception]) -> None:
    """A name that no threshold has, a value that is no number."""
    with pytest.raises(error):
        Thresholds.told(text)


def test_the_command(tmp_path: Path, corpus: Corpus) -> None:
    """Both arms, their rates with counts and intervals, the difference, and what differs; as text and JSON."""
    run = ["compare", "model=m1", "model=m2", str(tmp_path)]
    text = CliRunner().invoke(app, run, catch_exceptions=False).stdout
    assert text.startswith("first: model=m1 (3 runs)\nother: model=m2 (1 run)\n")
    assert "33.3% (8 of 24; 18.0% to 53.3%)  100.0% (6 of 6; 61.0% to 100.0%)" in text
    assert "  seed: null ×2, 7 ×1 | null ×1" in text
    told = json.loads(CliRunner().invoke(app, [*run, "--json", "--confidence", "0.9"], catch_exceptions=False).stdout)
    assert told["rates"]["tool_error_rate"]["other"]["rate"] == 1
    assert told["confidence"] == 0.9
    assert told["differing"]["model"] == {"first": {"m1": 3}, "other": {"m2": 1}}
