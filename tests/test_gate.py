"""The candidate gate of mecha 11.6: pairing, the holdout, floors, work kept, verdicts, refused policies."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import sessionlab as sl
from sessionlab.cli import compare as command
from sessionlab.comparisons import Episode, GateRules, decide, judge
from sessionlab.comparisons.gate import is_held_out, sign_test
from sessionlab.errors import Incomparable, WrongUse
from tests.formats.mecha_lines import line
from tests.systems.mecha.recalled import HEADER

app = typer.Typer()
command.register(app)
IDS = [f"20261003T08{number:02}00-abcd{number:04}" for number in range(60)]


def fnv(text: str) -> int:
    """FNV-1a 64, by its published definition."""
    return reduce(lambda d, b: (d ^ b) * 0x100000001B3 % 2**64, text.encode(), 0xCBF29CE484222325)


CHOSEN = [name for name in IDS if fnv(name) % 3]
HELD_OUT = [name for name in IDS if fnv(name) % 3 == 0]


def episode(name: str, **told: Any) -> Episode:
    """An episode of 10 calls without an error in 5 turns, unless told otherwise."""
    members: dict[str, Any] = dict.fromkeys(Episode.__dataclass_fields__)
    members |= {
        "id": name, "sessions": (name,), "runs": 1, "turns": 5, "tool_calls": 10, "tool_errors": 0, "tool_denied": 0,
        "compactions": 0, "malformed_tool_args": 0, "ended_on_failed_call": False, "stop_class": "completed",
        "sensors": {},
    }  # fmt: skip
    return Episode(**{**members, **told})


def arm(selection: int = 8, holdout: int = 4, **told: Any) -> dict[str, Episode]:
    """So many episodes of either part, all alike."""
    return {name: episode(name, **told) for name in CHOSEN[:selection] + HELD_OUT[:holdout]}


def test_holdout_is_fnv_1a_of_the_id_modulo_the_divisor() -> None:
    """The check value of mecha 4.5 for `abc`; the same ids are held out whatever else is there."""
    assert fnv("abc") == 0xE71FA2190541574B
    assert is_held_out("abc", 0xE71FA2190541574B)
    assert [name for name in IDS if is_held_out(name, 3)] == HELD_OUT
    assert [name for name in IDS if is_held_out(name, 1)] == IDS


@pytest.mark.parametrize(
    ("wins", "losses", "chance"), [(8, 0, 1 / 256), (7, 1, 9 / 256), (0, 0, 1), (0, 3, 1), (2, 1, 0.5)]
)
def test_sign_test(wins: int, losses: int, chance: float) -> None:
    """Tails of Pascal's triangle, by hand."""
    assert sign_test(wins, losses) == chance


def test_a_shown_improvement_is_accepted() -> None:
    """8 of 8 pairs and 4 of 4 held out take fewer turns (p 1/256 below 0.05/6), nothing is worse: accept."""
    found = decide(arm(), arm(turns=4), change="config")
    assert (found.verdict, found.selection.pairs, found.holdout.pairs) == ("accept", 8, 4)
    turns = found.selection.metrics["turns"]
    assert (turns.baseline, turns.candidate, turns.apart, turns.better, turns.p_better) == (5, 4, -1, 8, 1 / 256)
    assert found.selection.work_kept == 1


def test_floors_are_eight_and_four_pairs() -> None:
    """7 pairs, or 3 held out, are too few to decide on: reject, and say so."""
    assert decide(arm(7, 4), arm(7, 4, turns=4), change="config").reasons == [
        "7 selection pairs, at least 8 are needed"
    ]
    few = decide(arm(8, 3), arm(8, 3, turns=4), change="config")
    assert (few.verdict, few.reasons) == ("reject", ["3 holdout pairs, at least 4 are needed"])
    rules = GateRules(selection_floor=6, holdout_floor=3)
    assert decide(arm(6, 3), arm(6, 3, turns=4), change="config", rules=rules).verdict == "propose"


def test_three_quarters_of_the_work_must_be_kept() -> None:
    """8 of 10 calls that go through is enough, 7 of 10 is not; calls that fail or are denied are no work."""
    assert decide(arm(), arm(turns=4, tool_calls=8), change="config").verdict == "accept"
    lazy = decide(arm(), arm(turns=1, tool_calls=7), change="config")
    assert lazy.verdict == "reject"
    assert "70% of the work of the selection kept, at least 75% is needed" in lazy.reasons
    assert decide(arm(), arm(turns=4, tool_denied=3), change="config").selection.work_kept == 0.7
    fewer = decide(arm(tool_calls=20, tool_errors=10), arm(tool_calls=10), change="config")
    assert (fewer.selection.work_kept, fewer.verdict) == (1, "accept")


def test_without_calls_the_error_rate_is_zero_and_there_is_no_work_to_keep() -> None:
    """Mecha 11.6: 0 when no calls."""
    found = decide(arm(tool_calls=0), arm(tool_calls=0, turns=4), change="config")
    assert (found.verdict, found.selection.work_kept) == ("accept", None)
    assert found.selection.metrics["tool_error_rate"].baseline == 0


def test_what_is_better_but_not_shown_is_proposed() -> None:
    """6 of 8 pairs better, two alike (p 1/64 above 0.05/6): a person decides."""
    candidate = arm(turns=4) | {name: episode(name) for name in CHOSEN[:2]}
    found = decide(arm(), candidate, change="config")
    assert (found.verdict, found.selection.metrics["turns"].p_better) == ("propose", 1 / 64)
    assert "not shown" in found.reasons[0]


def test_what_gets_better_in_the_selection_alone_is_not_accepted() -> None:
    """Held-out episodes unchanged: proposed; worse there: rejected."""
    same = arm(turns=4) | {name: episode(name) for name in HELD_OUT[:4]}
    assert decide(arm(), same, change="config").verdict == "propose"
    worse = arm(turns=4) | {name: episode(name, turns=6) for name in HELD_OUT[:4]}
    assert decide(arm(), worse, change="config").verdict == "reject"


def test_a_metric_that_gets_worse_keeps_a_candidate_from_being_accepted() -> None:
    """One compaction more in one pair: proposed with the doubt; in all of them: rejected."""
    one = arm(turns=4) | {CHOSEN[0]: episode(CHOSEN[0], turns=4, compactions=1)}
    found = decide(arm(), one, change="config")
    assert (found.verdict, found.reasons) == ("propose", ["compactions is worse in the selection by 0.125 on average"])
    assert decide(arm(), arm(turns=4, compactions=1), change="config").verdict == "reject"


def test_nothing_better_is_rejected() -> None:
    """An arm against itself."""
    assert decide(arm(), arm(), change="config").verdict == "reject"


@pytest.mark.parametrize(
    ("change", "replayed", "verdict"),
    [("config", True, "accept"), ("prose", True, "propose"), ("prose", False, "accept"),
     ("architecture", False, "propose"), ("security", False, "propose")],
)  # fmt: skip
def test_what_a_person_decides(change: Any, verdict: str, *, replayed: bool) -> None:
    """Architecture and security always; prose where an arm is a replay, which cannot see it."""
    assert decide(arm(), arm(turns=4), change=change, replayed=replayed).verdict == verdict


def test_other_classes_and_rules_are_wrong_use() -> None:
    """A class that is none, a divisor of 0."""
    with pytest.raises(WrongUse, match="config, prose, architecture, security"):
        decide({}, {}, change="taste")  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="divisor"):
        decide({}, {}, change="config", rules=GateRules(holdout_divisor=0))


@pytest.mark.parametrize(
    "told", [{"ended_on_failed_call": True}, {"stop_class": "cut_short"}, {"compactions": 2}, {"turns": 9},
             {"malformed_tool_args": 1}, {"tool_errors": 1}],
)  # fmt: skip
def test_every_metric_is_a_cost(told: dict[str, Any]) -> None:
    """Lower is better in each of the six: the arm that has more of it loses to the one that has less."""
    assert decide(arm(**told), arm(), change="config").verdict == "accept"
    assert decide(arm(), arm(**told), change="config").verdict == "reject"


def test_episodes_of_one_arm_alone_are_named_and_not_counted() -> None:
    """Pairs are the ids both have; a metric an episode does not tell leaves the pair out of that metric alone."""
    baseline = arm() | {"only": episode("only")}
    candidate = arm(turns=4) | {"other": episode("other"), CHOSEN[0]: episode(CHOSEN[0], turns=None)}
    found = decide(baseline, candidate, change="config")
    assert (found.unpaired_baseline, found.unpaired_candidate) == (["only"], ["other"])
    assert (found.selection.pairs, found.selection.metrics["turns"].pairs) == (8, 7)


def write_arm(folder: Path, turns: int, *, mode: str = "ask", trifecta: str = "block", effort: str = "low") -> Path:
    """Twelve sessions on disk, enough for the floors."""
    folder.mkdir()
    for name in CHOSEN[:8] + HELD_OUT[:4]:
        lines = [
            line(**{**HEADER, "id": name}),
            line(record="config", permission_mode=mode, trifecta=trifecta, effort=effort, model="m", provider="p"),
            line(record="outcome", turns=turns, tool_calls=10, stop_cause="completed", usage_complete=True),
        ]
        (folder / f"{name}.jsonl").write_bytes(b"".join(each + b"\n" for each in lines))
    return folder


def test_arms_on_disk_are_judged_and_their_configurations_compared(tmp_path: Path) -> None:
    """Accepted, and the one member in which the arms differ is listed with its values."""
    arms = write_arm(tmp_path / "a", 5), write_arm(tmp_path / "b", 4, effort="high")
    found = judge(*(sl.load(path, bodies=False) for path in arms), change="config")
    assert found.verdict == "accept"
    assert [tuple(one) for one in found.differing] == [("effort", {"low": 12}, {"high": 12})]


@pytest.mark.parametrize("other", [{"mode": "allow"}, {"trifecta": "allow"}])
def test_arms_replayed_under_different_policies_are_refused(tmp_path: Path, other: dict[str, str]) -> None:
    """Permission mode or trifecta differ: a sentence says which and how; arms that are no replays are compared."""
    arms = [sl.load(p, bodies=False) for p in (write_arm(tmp_path / "a", 5), write_arm(tmp_path / "b", 4, **other))]
    with pytest.raises(Incomparable, match=r"replayed under different policies.*(ask.*allow|block.*allow)"):
        judge(*arms, change="config")
    assert judge(*arms, change="config", replayed=False).verdict == "accept"


def test_a_replay_without_a_recorded_policy_is_refused(tmp_path: Path) -> None:
    """Unknown is not the same."""
    write_arm(tmp_path / "a", 5)
    write_arm(tmp_path / "b", 4)
    for path in (tmp_path / "b").iterdir():
        path.write_bytes(b"\n".join(one for one in path.read_bytes().split(b"\n") if b'"config"' not in one))
    with pytest.raises(Incomparable, match="no configuration is recorded in 'candidate'"):
        judge(*(sl.load(tmp_path / name, bodies=False) for name in "ab"), change="config")


def test_the_command(tmp_path: Path) -> None:
    """Verdict, reasons and evidence as text and JSON; exit code 1 for a rejection."""
    a, b = write_arm(tmp_path / "a", 5), write_arm(tmp_path / "b", 4)
    done = CliRunner().invoke(app, ["gate", str(a), str(b), "--change", "config"], catch_exceptions=False)
    assert done.exit_code == 0
    assert done.stdout.startswith("accept\n  turns: better in selection and holdout\n")
    assert "5 → 4" in done.stdout
    done = CliRunner().invoke(app, ["gate", str(b), str(a), "--change", "config", "--json"], catch_exceptions=False)
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["verdict"], told["selection"]["pairs"], told["holdout"]["metrics"]["turns"]["worse"]) == (
        "reject",
        8,
        4,
    )
