"""The commands diff, interventions and probe: text, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from sessionlab.cli import diff
from sessionlab.errors import SessionlabError, UnknownName, WrongUse
from tests.conftest import SAMPLES
from tests.formats.mecha_lines import META, call, line, result
from tests.replay.conversations import a, u

GOLDEN = "20261003T081500-5e1d20aa"
STEER = "note: the recording was steered mid-run; steering cannot be re-injected, so the comparison is approximate"
app = typer.Typer(pretty_exceptions_enable=False)
diff.register(app)


def run(*words: object) -> Result:
    """A command line, run; an error of the house is raised."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(done.exception, SessionlabError):
        raise done.exception
    return done


def write(folder: Path, name: str, *lines: bytes) -> Path:
    """A transcript of that id."""
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(one + b"\n" for one in (line(**{**META, "id": name}), *lines)))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three sessions: one, one that does the same in another order, and one that parts from it."""
    both = a(call("t1", "fs_read", path="a.md"), call("t2", "fs_list", path="."))
    turned = a(call("t2", "fs_list", path=" . "), call("t1", "fs_read", path="a.md"))
    results = u(result("t2", "x"), result("t1", "y"))
    write(tmp_path, "one", u("go"), both, results, a(call("t3", "web", n=1)), u(result("t3")), a("done"))
    write(tmp_path, "same", u("go"), turned, results, a(call("t3", "web", n=1)), u(result("t3")), a("done"))
    other = (a(call("t3", "web", n=1.0)), u(result("t3")), a(call("t4", "shell")), u(result("t4")), a("gave up\nhere"))
    write(tmp_path, "other", u("go"), both, results, *other)
    return tmp_path


def test_sessions_that_do_the_same(store: Path) -> None:
    """Exit code 0, and one line that says so."""
    done = run("diff", "one", "same", store)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "A  mecha:one  3 calls, 1 turn",
        "B  mecha:same  3 calls, 1 turn",
        "matched: 3 calls over 1 turn",
    ]


def test_sessions_that_part(store: Path) -> None:
    """Exit code 1; a line per divergence, the counts, the first lines of both final texts."""
    done = run("diff", "one", "other", store)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[2:] == [
        "replayed 4 of 3 calls over 1 turn",
        'call 3: web with other arguments: expected {"n":1}, found {"n":1.0}',
        "call 4: extra, shell",
        "1 structural difference, 1 of arguments only",
        "final text of A: done",
        "final text of B: gave up",
    ]


def test_json_has_the_members_of_a_report(store: Path) -> None:
    """The divergences as in 12.3, the counts, both texts, figures to the last digit."""
    done = run("diff", "one", "other", store, "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told["divergences"] == [
        {"kind": "arguments", "index": 2, "tool": "web", "expected": {"n": 1}, "actual": {"n": 1.0}},
        {"kind": "extra", "index": 3, "actual": "shell"},
    ]
    assert '"n": 1.0' in done.stdout
    counts = ("recorded_calls", "replayed_calls", "turns", "structural", "arguments_only", "legacy_provenance_calls")
    assert [told[name] for name in counts] == [3, 4, 1, 1, 1, 3]
    assert (told["session"], told["replay"], told["final_text"]) == ("mecha:one", "mecha:other", "gave up\nhere")


def test_final_text_alone_is_no_divergence(store: Path, tmp_path: Path) -> None:
    """It is reported; the exit code is 0."""
    ours = write(tmp_path, "x", u("go"), a("Seven."))
    theirs = write(tmp_path, "y", u("go"), a("Eight."))
    done = run("diff", ours, theirs)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[2:] == [
        "matched: 0 calls over 1 turn",
        "final text of A: Seven.",
        "final text of B: Eight.",
    ]


def test_positional_rule(store: Path) -> None:
    """The early rule takes another order inside a batch for another tool."""
    [name] = (SAMPLES / "mecha" / "golden").glob("*.jsonl")
    assert run("diff", name, name, "--positional").exit_code == 0
    swapped = write(store, "swapped", u("go"), a(call("t1", "x"), call("t2", "y")), u(result("t1"), result("t2")))
    turned = write(store, "turned", u("go"), a(call("t1", "x"), call("t2", "y")), u(result("t2"), result("t1")))
    assert run("diff", swapped, turned).exit_code == 0
    done = run("diff", swapped, turned, "--positional")
    assert done.exit_code == 1
    assert "call 1: expected x, found y" in done.stdout


def test_side_by_side(store: Path) -> None:
    """Two columns around what differs; a call that stands elsewhere says where."""
    done = run("diff", "one", "other", store, "--side-by-side")
    assert done.stdout.split("\n\n")[1].splitlines() == [
        f"  call  {'A':<34}   B",
        f"     1  {'fs_list':<34} = fs_list",
        f"     2  {'fs_read':<34} = fs_read",
        f"     3  {'web':<34} ≈ web",
        f"     4  {'':<34} + shell",
    ]


def test_side_by_side_shortens_what_is_the_same(tmp_path: Path) -> None:
    """Forty equal calls before the end of one: a line for them."""
    steps = [step for n in range(40) for step in (a(call(f"c{n}", "read", n=n)), u(result(f"c{n}")))]
    ours, theirs = write(tmp_path, "x", u("go"), *steps), write(tmp_path, "y", u("go"), *steps[:-2])
    table = run("diff", ours, theirs, "--side-by-side").stdout.split("\n\n")[1].splitlines()
    assert [row.split()[:2] for row in table[1:]] == [["…", "37"], ["38", "read"], ["39", "read"], ["40", "read"]]


def test_across_formats_and_agents() -> None:
    """A mecha session against a gg run, and an agent of it against itself."""
    gg = SAMPLES / "gg" / "several-agents"
    done = run("diff", GOLDEN, "run-0113", SAMPLES / "mecha" / "golden", gg, "--json")
    assert json.loads(done.stdout)["formats"] == ["mecha", "gg"]
    assert run("diff", "run-0113", "run-0113", gg, "--agent-a", "agent-0", "--agent-b", "agent-0").exit_code == 0
    assert run("diff", "run-0113", "run-0113", gg, "--agent-b", "agent-0").exit_code == 1


def test_steered_recording_is_noted() -> None:
    """In words, and in the JSON."""
    [path] = (SAMPLES / "mecha" / "golden").glob("*.jsonl")
    assert run("diff", path, path).stdout.splitlines()[-1] == STEER
    assert json.loads(run("diff", path, path, "--json").stdout)["notes"] == [STEER.removeprefix("note: ")]


def test_many_divergences_are_cut_and_counted(tmp_path: Path) -> None:
    """Twenty lines, then how many more; control characters cannot act."""
    steps = [step for n in range(25) for step in (a(call(f"c{n}", "re\x1bad", n=n)), u(result(f"c{n}")))]
    ours = write(tmp_path, "x", u("go"), *steps)
    theirs = write(tmp_path, "y", u("go"))
    lines = run("diff", ours, theirs).stdout.splitlines()
    assert lines[3] == "call 1: missing, re␛ad"
    assert lines[23:25] == ["… 5 more (--json has them all)", "25 structural differences, 0 of arguments only"]


def test_file_of_several_sessions_is_wrong_use(store: Path, tmp_path: Path) -> None:
    """A file must be one session's, and an id must be one's."""
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    with pytest.raises(WrongUse, match="expected the file of one session, found none"):
        run("diff", path, "one", store)
    with pytest.raises(UnknownName, match="no session matching 'nobody'"):
        run("diff", "nobody", "one", store)


def test_interventions_of_the_golden_sample() -> None:
    """Two follow-ups and a steer, none of them learnable: what covers them is untrusted or unknown."""
    done = run("interventions", GOLDEN, SAMPLES / "mecha" / "golden")
    assert done.exit_code == 0
    assert [row.split(maxsplit=4)[1:] for row in done.stdout.splitlines()] == [
        ["4", "follow-up", "untrusted", "Compare with the web list."],
        ["6", "steer", "untrusted", "skip the web, then"],
        ["8", "follow-up", "untrusted", "thanks"],
    ]


def test_interventions_as_json() -> None:
    """Trigger, place, words, what stood before and after, taint."""
    [path] = (SAMPLES / "mecha" / "golden").glob("*.jsonl")
    told: list[dict[str, Any]] = json.loads(run("interventions", path, "--json").stdout)
    assert told[1] == {
        "trigger": "steer",
        "index": 6,
        "text": "skip the web, then",
        "context": "Seven.",
        "aftermath": "No comparison made.",
        "taint": {"private": True, "untrusted": True},
        "learnable": "untrusted",
    }
    assert [one["taint"] is None for one in told] == [False, False, True]


def test_no_intervention_is_said(tmp_path: Path) -> None:
    """A line, not silence; JSON is an empty list."""
    path = write(tmp_path, "x", u("go"), a("done"))
    assert run("interventions", path).stdout.startswith("no intervention")
    assert json.loads(run("interventions", path, "--json").stdout) == []


def test_interventions_of_another_format_are_wrong_use() -> None:
    """Only mecha tells."""
    with pytest.raises(WrongUse, match="expected a mecha session, found gg:run-0007"):
        run("interventions", "run-0007", SAMPLES / "gg" / "clean-journal")


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """A run whose second call a person refused, and two replays of it."""
    first = (u("go"), a(call("t1", "read")), u(result("t1")))
    denied = u(result("t2", "Denied by the user: too much", is_error=True))
    write(
        tmp_path,
        "run",
        *first,
        a(call("t2", "shell", c="rm")),
        denied,
        a("ok"),
        u("next"),
        a(call("t9", "web")),
        u(result("t9")),
    )
    write(tmp_path, "again", *first, a(call("t2", "shell", c="rm")), denied, a("ok"))
    write(tmp_path, "better", *first, a(call("t2", "shell", c="ls")), u(result("t2")), a("ok"))
    write(tmp_path, "tail", u("go"), a(call("t2", "shell", c="rm")), u(result("t2")), a("ok"))
    return tmp_path


def test_probe_point_of_a_denial(refused: Path) -> None:
    """Where it stands, what was refused, where the run ends; nothing is judged without a replay."""
    done = run("probe", "run", refused, "--denial", "too much")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "denial in message 4: 1 call asked for before, 1 answered; its run ends before message 6",
        'refused: shell {"c":"rm"}',
    ]


@pytest.mark.parametrize(
    ("replay", "more", "told", "code"),
    [
        ("again", (), "fail", 1),
        ("better", (), "pass", 0),
        ("tail", ("--base", 1), "fail", 1),
        ("tail", (), "inconclusive", 1),
    ],
)
def test_probe_verdict(refused: Path, replay: str, more: tuple[object, ...], told: str, code: int) -> None:
    """The refused call made again: fail; another one: pass; parted before: inconclusive. The next run is out."""
    done = run("probe", "run", refused, "--denial", "too much", "--replay", replay, *more, "--json")
    found = json.loads(done.stdout)
    assert (found["verdict"], done.exit_code) == (told, code)
    assert (found["message_index"], found["call_index"], found["answered_index"], found["until"]) == (4, 1, 1, 6)
    assert found["refused"] == {"name": "shell", "input": {"c": "rm"}}


def test_probe_of_a_recording_that_ran_plan_checks_is_unsupported(tmp_path: Path) -> None:
    """Exit code 1, and no verdict even with a replay."""
    lines = (u("go"), a(call("t1")), u(result("t1"), "no"), line(record="outcome", checks_declared=2))
    path = write(tmp_path, "x", *lines)
    done = run("probe", path, "--steer", "no", "--replay", path)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1].startswith("unsupported: the recording ran checks of its plan")


def test_wrong_use_of_probe(refused: Path) -> None:
    """One of the two must be named, it must be there, and a base must fit the recording."""
    with pytest.raises(WrongUse, match="expected one of --steer TEXT and --denial REASON"):
        run("probe", "run", refused)
    with pytest.raises(UnknownName, match="no denial named 'too little'; there are: too much"):
        run("probe", "run", refused, "--denial", "too little")
    with pytest.raises(WrongUse, match="expected at most the 2 recorded calls, found 3"):
        run("probe", "run", refused, "--denial", "too much", "--replay", "again", "--base", 3)
