"""`sessionlab datalayer check | export | import | clone`: what they print, write, refuse, and leave alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sessionlab.cli import app
from sessionlab.errors import WrongUse
from sessionlab.formats.datalayer.judge import Accepted, judge
from tests.conftest import SAMPLES
from tests.formats.datalayer_files import bytes_of, entry, head, team

NOW = "2026-11-30T12:00:00Z"
GG = SAMPLES / "corpus" / "gg"
EVERY_KIND = next((SAMPLES / "datalayer" / "every-kind").glob("*.jsonl"))


def _run(*arguments: str | Path, code: int = 0) -> str:
    found = CliRunner().invoke(app, ["datalayer", *map(str, arguments)], catch_exceptions=False)
    assert found.exit_code == code, found.output
    return found.stdout


def _json(*arguments: str | Path, code: int = 0) -> Any:
    return json.loads(_run(*arguments, "--json", code=code))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A sound file, one of another version, a team's, and one that leaks a header pair and a title."""
    lines = {
        "sound": bytes_of(head(turns=1, entries=1, kinds=["turn"]), entry("turn", asked="Which?", answered="That.")),
        "version": bytes_of(head(format="datalayer-session/2")),
        "team": bytes_of(team()),
        "leaky": bytes_of(
            head(title="key AKIAIOSFODNN7EXAMPLE", entries=1, kinds=["tool_call"]),
            entry("tool_call", headers=[{"name": "Authorization", "value": "Bearer 9f8e7d6c5b4a3210"}]),
        ),
    }
    found = {}
    for name, data in lines.items():
        found[name] = tmp_path / f"{name}.session.jsonl"
        found[name].write_bytes(data)
    return found


def test_check_says_one_line_for_each_file(files: dict[str, Path]) -> None:
    """Taken with its counts, or refused with name, status and the sentence; one refused makes exit code 1."""
    size = files["sound"].stat().st_size
    assert _run("check", files["sound"]) == f"{files['sound']}: taken: session, 1 turn, 1 entry, {size} bytes\n"
    both = _run("check", files["sound"], files["version"], code=1).splitlines()
    assert len(both) == 2
    assert both[1].endswith(
        "refused (other_version, 422): The file is datalayer-session/2; this runtime reads datalayer-session/1."
    )


def test_check_as_json(files: dict[str, Path]) -> None:
    """A list of one object per file, with all a script needs."""
    sound, refused = _json("check", files["sound"], files["version"], code=1)
    assert (sound["ok"], sound["kind"], sound["turns"], sound["entries"]) == (True, "session", 1, 1)
    assert (refused["ok"], refused["name"], refused["status"], refused["line"]) == (False, "other_version", 422, 1)


def test_check_takes_a_team_file(files: dict[str, Path]) -> None:
    """Section 17: a team file is checked seat by seat, although the importer of single sessions refuses it."""
    assert "taken: team of 0 sessions" in _run("check", files["team"])


def test_check_leaks_names_rule_and_place_and_never_the_value(files: dict[str, Path]) -> None:
    """What the exact rules leave in a file: the pair in a list of headers, a key in the title."""
    assert "no leak found" in _run("check", "--leaks", files["sound"])
    told = _run("check", "--leaks", files["leaky"], code=1)
    assert "line 1.title" in told
    assert "line 2.payload.headers[0]" in told
    assert "AKIAIOSFODNN7EXAMPLE" not in told
    assert "9f8e7d6c5b4a3210" not in told
    (row,) = _json("check", "--leaks", files["leaky"], code=1)
    assert {leak["place"].split(".")[0] for leak in row["leaks"]} == {"line 1", "line 2"}


def test_check_of_no_file(tmp_path: Path) -> None:
    """A path that is none is wrong use, by name."""
    with pytest.raises(WrongUse, match=r"absent\.jsonl: no such file"):
        _run("check", tmp_path / "absent.jsonl")


def test_export_writes_a_file_its_checker_takes(tmp_path: Path) -> None:
    """The default name is the session's, the digest that of the bytes, the counts those of the lines."""
    told = _json("export", "gg:run-0431", GG, "-o", tmp_path, "--now", NOW)
    data = (tmp_path / "run-0431.session.jsonl").read_bytes()
    assert told["file"] == str(tmp_path / "run-0431.session.jsonl")
    assert told["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
    assert told["entries"] == data.count(b"\n") - 1
    first = json.loads(data.split(b"\n", 1)[0])
    assert (first["uid"], first["exported_at"], first["exported_by"]) == (
        "run-0431", "2026-11-30T12:00:00.000000Z", {"uid": "anonymous"},
    )  # fmt: skip
    assert isinstance(judge(data), Accepted)


def test_export_writes_over_nothing_unasked(tmp_path: Path) -> None:
    """A file that is there stays, unless --force says so."""
    place = tmp_path / "one.session.jsonl"
    place.write_text("mine")
    with pytest.raises(WrongUse, match="there already"):
        _run("export", "gg:run-0431", GG, "-o", place)
    assert place.read_text() == "mine"
    _run("export", "gg:run-0431", GG, "-o", place, "--force")
    assert isinstance(judge(place.read_bytes()), Accepted)
    assert [file.name for file in tmp_path.iterdir()] == ["one.session.jsonl"]


def test_export_to_stdout_is_the_file_alone(tmp_path: Path) -> None:
    """With -o - the bytes go to stdout and the report to stderr."""
    found = CliRunner().invoke(app, ["datalayer", "export", "gg:run-0431", str(GG), "-o", "-", "--now", NOW])
    assert isinstance(judge(found.stdout_bytes), Accepted)
    assert "48 entries" in found.stderr


def test_rules_are_exact_for_datalayer_and_strict_for_the_rest(tmp_path: Path) -> None:
    """A title the exact rules leave; the same session as another format would lose it."""
    file = tmp_path / "in.session.jsonl"
    secret = "AKIAIOSFODNN7EXAMPLE"
    file.write_bytes(bytes_of(head(title=f"key {secret}")))
    exact = _json("export", "abcd-1234", file, "-o", tmp_path / "exact.jsonl")
    strict = _json("export", "abcd-1234", file, "-o", tmp_path / "strict.jsonl", "--strict")
    assert (exact["redactions"], strict["redactions"]) == (0, 1)
    assert secret in (tmp_path / "exact.jsonl").read_text()
    assert secret not in (tmp_path / "strict.jsonl").read_text()


def test_a_declared_secret_is_found_by_its_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--secret names a variable; an Appspec declares others; one without a value is said."""
    monkeypatch.setenv("HARBOR_CODE", "tide-table-seven")
    monkeypatch.delenv("HARBOR_KEYS", raising=False)
    appspec = tmp_path / "app.yaml"
    appspec.write_text("id: harbor\nrequires:\n  secrets: [HARBOR_CODE, HARBOR_KEYS]\n")
    file = tmp_path / "in.session.jsonl"
    file.write_bytes(bytes_of(head(), entry("output", message="said tide-table-seven aloud")))
    found = CliRunner().invoke(
        app,
        ["datalayer", "export", "abcd-1234", str(file), "-o", str(tmp_path / "out.jsonl"), "--appspec", str(appspec)],
    )
    assert found.exit_code == 0
    assert "HARBOR_KEYS: declared, but without a value" in found.stderr
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[1])["payload"]["message"] == (
        "said [redacted] aloud"
    )


def test_a_team_file_of_a_run_of_several_agents(tmp_path: Path) -> None:
    """--team: one file, a seat for each agent; --split with it is wrong use."""
    told = _json("export", "gg:run-0431", GG, "-o", tmp_path / "team.jsonl", "--team")
    verdict = judge((tmp_path / "team.jsonl").read_bytes(), teams=True)
    assert isinstance(verdict, Accepted)
    assert verdict.team is not None
    assert len(verdict.sections) == len(verdict.team.seats) > 1
    assert told["entries"] == sum(len(section.entries) for section in verdict.sections)
    with pytest.raises(WrongUse, match="--split and --team"):
        _run("export", "gg:run-0431", GG, "--team", "--split")


def test_import_then_clone_then_export_from_the_store(tmp_path: Path) -> None:
    """A file becomes a session of the importer's; a clone is cut after a turn; an export is told in its record."""
    store = tmp_path / "kept"
    taken = _json("import", EVERY_KIND, "--store", store, "--by", "u-importer", "--now", NOW)
    assert taken["state"] == "paused"
    assert (
        taken["lineage"]["imported_from"]["digest"] == "sha256:" + hashlib.sha256(EVERY_KIND.read_bytes()).hexdigest()
    )
    cloned = _json("clone", taken["uid"], "--store", store, "--at-turn", "1", "--now", NOW)
    assert (cloned["turns"], cloned["lineage"]["forked_from"]) == (1, {"uid": taken["uid"], "at_turn": 1})
    done = _json("export", taken["uid"], "--store", store, "-o", tmp_path / "out.jsonl", "--now", NOW)
    last = json.loads((store / f"{taken['uid']}.session.jsonl").read_text().splitlines()[-1])
    assert (last["kind"], last["payload"]["digest"]) == ("exported", done["digest"])
    assert "exported" not in [
        json.loads(line)["kind"] for line in (tmp_path / "out.jsonl").read_text().splitlines()[1:-1]
    ]


def test_what_is_refused_is_said_and_nothing_is_written(files: dict[str, Path], tmp_path: Path) -> None:
    """Exit code 1, the sentence, and no store; the same as JSON."""
    store = tmp_path / "none"
    assert _json("import", files["version"], "--store", store, code=1) == {
        "refused": "other_version", "status": 422, "line": 1,
        "detail": "The file is datalayer-session/2; this runtime reads datalayer-session/1.",
    }  # fmt: skip
    found = CliRunner().invoke(app, ["datalayer", "import", str(files["team"]), "--store", str(store)])
    assert found.exit_code == 1
    assert "starts with a team session" in found.stderr
    assert "nothing was written" in found.stderr
    assert not store.exists()


def test_an_application_of_another_version_is_said(tmp_path: Path) -> None:
    """--applications tells what is known here; the file's version and this one are both told."""
    known = tmp_path / "known.toml"
    known.write_text('[harbor]\nversion = 5\nagents = ["surveyor"]\n')
    file = tmp_path / "in.session.jsonl"
    file.write_bytes(bytes_of(head(), entry("turn", asked="Which?", answered="That.")))
    told = _run("import", file, "--store", tmp_path / "kept", "--applications", known)
    assert "recorded with version 3 of the application; here it is 5" in told
    assert (
        _json("import", file, "--store", tmp_path / "kept", "--applications", known, "--agent", "x", code=1)["refused"]
        == "unknown_agent"
    )


def test_a_split_export_goes_into_a_folder_whatever_its_size(tmp_path: Path) -> None:
    """A name that is not there becomes a folder, for one file as for three."""
    _run("export", "gg:run-0431", GG, "--split", "-o", tmp_path / "parts")
    assert [file.name for file in (tmp_path / "parts").iterdir()] == ["run-0431.session.jsonl"]


def test_over_the_caps_the_way_out_is_named(tmp_path: Path) -> None:
    """The format's sentence, and --split behind it."""
    file = tmp_path / "in.session.jsonl"
    turn = entry("turn", asked="Which?", answered="That.")
    file.write_bytes(bytes_of(head(), *[turn] * 20_000))
    store = tmp_path / "kept"
    uid = _json("import", file, "--store", store)["uid"]
    found = CliRunner().invoke(app, ["datalayer", "export", uid, "--store", str(store), "-o", str(tmp_path / "out")])
    assert found.exit_code == 1
    assert found.stderr.splitlines()[-1] == "--split writes it as several files, each linked to the one before"
    assert not (tmp_path / "out").exists()


def test_who_is_named_goes_by_a_pseudonym_of_the_key(tmp_path: Path) -> None:
    """--user asks for its rule; one key gives one pseudonym; without strict rules it is wrong use."""
    key, file = tmp_path / "key", tmp_path / "in.session.jsonl"
    key.write_text("of my own")
    file.write_bytes(bytes_of(head(), entry("output", message="said wrenfield, twice: wrenfield")))
    given = ("export", "abcd-1234", file, "--user", "wrenfield", "--key-file", key)
    for name in ("one", "two"):
        _run(*given, "--strict", "--now", NOW, "-o", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert b"wrenfield" not in (tmp_path / "one").read_bytes()
    with pytest.raises(WrongUse, match="add --strict"):
        _run(*given, "-o", tmp_path / "three")


def test_what_cannot_be_looked_for_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An Appspec without secrets, a value so short that it stands in other words, a name that is none."""
    monkeypatch.setenv("TIDE", "six")
    appspec, file = tmp_path / "app.json", tmp_path / "in.session.jsonl"
    appspec.write_text('{"id": "harbor"}')
    file.write_bytes(bytes_of(head()))
    given = ["datalayer", "export", "abcd-1234", str(file), "-o", str(tmp_path / "out")]
    found = CliRunner().invoke(app, [*given, "--appspec", str(appspec), "--secret", "TIDE"])
    assert "declares no secrets" in found.stderr
    assert "TIDE: fewer than 6 characters" in found.stderr
    with pytest.raises(WrongUse, match="found an empty text"):
        _run("export", "abcd-1234", file, "--secret", "")


def test_a_session_that_a_store_does_not_have_is_wrong_use(tmp_path: Path) -> None:
    """Exit code 2, as everywhere a name is none."""
    _run("import", EVERY_KIND, "--store", tmp_path / "kept")
    _run("clone", "nowhere-0", "--store", tmp_path / "kept", code=2)
