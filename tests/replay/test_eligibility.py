"""Eligibility: refusals, what is unsupported, and notes, as mecha 12.6 to 12.8 list them."""

from __future__ import annotations

from typing import Any

import pytest

from sessionlab.replay import Eligibility, eligibility, extract, provenance_note
from tests.formats.mecha_lines import call, line, result, rewrite, said
from tests.replay.conversations import a, transcript, u

PINNED = {"record": "config", "provider": "shore", "tools": ["fs_read", "todo"], "temperature": 0.0, "seed": 7}


def judged(*lines: bytes, **known: Any) -> Eligibility:
    """What is said of a transcript of these lines."""
    return eligibility(transcript(*lines), **known)


def kinds(reasons: Any) -> list[str]:
    """The words of some reasons."""
    return [one.kind for one in reasons]


def test_pinned_run_of_known_provenance_is_replayable_with_one_note() -> None:
    """Always: which learned rules the run carried."""
    lines = (line(**PINNED), u("go"), a(call("t")), u(result("t"), tool_provenance={"t": False}), a("done"))
    found = judged(*lines, tools=["fs_read", "todo"], providers=["shore"])
    assert found.replayable
    assert kinds(found.notes) == ["learned_rules"]


def test_no_config_record_is_refused() -> None:
    """The run cannot be rebuilt."""
    found = judged(u("go"))
    assert (kinds(found.refusals), found.replayable) == (["no_config"], False)
    assert "no config record" in found.refusals[0].sentence


def test_no_user_turn_is_refused() -> None:
    """Nothing to replay; results are no turn."""
    assert kinds(judged(line(**PINNED), a(call("t")), u(result("t"))).refusals) == ["no_turns"]


def test_recorded_tool_that_cannot_be_supplied_is_refused_by_name() -> None:
    """Each one is named; without knowledge of the tools nothing is judged."""
    lines = (line(**PINNED), u("go"))
    found = judged(*lines, tools=["fs_read"])
    assert [(one.kind, one.sentence) for one in found.refusals] == [
        ("tool_unavailable", "the recorded tool 'todo' cannot be supplied")
    ]
    assert judged(*lines).replayable


def test_provider_that_is_not_configured_is_refused_by_name() -> None:
    """The recorded one, or the chosen one."""
    lines = (line(**PINNED), u("go"))
    assert judged(*lines, providers=["reed"]).refusals[0].sentence == "the provider 'shore' is not configured"
    assert judged(*lines, providers=["reed"], provider="reed").replayable


@pytest.mark.parametrize(
    "sign",
    [
        line(record="outcome", checks_declared=1),
        a("x", planning={"steps": [{"step": "s", "verification": "pending"}, {"verification": "passed"}]}),
        a("x", planning={"steps": [{"verification": "failed"}]}),
        u("x", planning={"steps": [{"verification": "refused"}]}),
        rewrite(said("user", "go"), said("assistant", "x", planning={"steps": [{"verification": "passed"}]})),
    ],
)
def test_recording_that_ran_plan_checks_is_unsupported(sign: bytes) -> None:
    """By the signs of 12.6, wherever in the file they stand: an explicit unsupported result, no refusal."""
    found = judged(line(**PINNED), u("go"), sign, rewrite(said("user", "go")))
    assert (kinds(found.unsupported), kinds(found.refusals), found.replayable) == (["plan_checks"], [], False)


@pytest.mark.parametrize(
    "planning",
    [
        {"steps": [{"verification": "pending"}, {"verification": "not_declared"}, {"verification": "skipped"}]},
        {"steps": "passed"},
        {"steps": [None, "passed", {"verification": ["passed"]}]},
        {"decisions": [{"action": "verify"}]},
        "passed",
    ],
)
def test_plan_without_a_check_that_ran_is_supported(planning: Any) -> None:
    """Pending, skipped or unreadable plans, and no checks declared."""
    lines = (line(record="outcome", checks_declared=0), line(record="outcome"))
    assert judged(line(**PINNED), u("go"), a("x", planning=planning), *lines).unsupported == ()


def test_several_configs_are_noted() -> None:
    """The note says how many there are, and that the first is used."""
    found = judged(line(**PINNED), u("go"), line(**PINNED), line(**PINNED))
    assert found.notes[0].sentence == "the session has 3 config records; the first is used"


def test_steering_is_noted() -> None:
    """It cannot be re-injected; the comparison is approximate."""
    lines = (line(**PINNED), u("go"), a(call("t")), u(result("t"), "no, b", tool_provenance={"t": True}))
    assert kinds(judged(*lines).notes) == ["steered", "learned_rules"]


def test_unpinned_sampler_is_noted() -> None:
    """Neither temperature nor seed: the server chose. One of them is a pin."""
    assert "unpinned_sampler" in kinds(judged(line(record="config"), u("go")).notes)
    assert "unpinned_sampler" not in kinds(judged(line(record="config", seed=1), u("go")).notes)


def test_learned_rules_are_named_by_their_fingerprint() -> None:
    """Or it is said that none is recorded."""
    found = judged(line(**PINNED, rules_hash="ab12"), u("go"))
    assert found.notes[-1].sentence == "the run carried learned rules ab12"
    assert judged(line(**PINNED), u("go")).notes[-1].sentence == "the run carried no fingerprint of learned rules"


def test_legacy_provenance_is_counted_and_noted() -> None:
    """Calls of unknown provenance, refusals among them; none: no note."""
    lines = (
        u("go"),
        a(call("t1"), call("t2"), call("t3")),
        u(
            result("t1"),
            result("t2", "Denied by the user: no", is_error=True),
            result("t3"),
            tool_provenance={"t3": True},
        ),
    )
    told = extract(transcript(*lines).messages)
    assert told.legacy_provenance_calls == 2
    note = provenance_note(told)
    assert note is not None
    assert note.startswith("2 of 3 recorded calls have no recorded provenance and count as external")
    assert "legacy_provenance" in kinds(judged(line(**PINNED), *lines).notes)
    assert provenance_note(extract([])) is None
