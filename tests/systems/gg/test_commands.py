"""`sessionlab gg assemble`, `salvage` and `verify`: arguments in; records, text, JSON and exit codes out."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from sessionlab.cli import main
from tests.formats.gg_examples import HEADER, ROOT, A, agent, call, end, frame, journal, message, record, text
from tests.systems.gg.failing import small_volume
from tests.systems.gg.journals import JOURNAL, RECORD, S, unpacked

WHOLE = journal(*S, end(2))
REFUSED = journal(HEADER, ROOT, message(1))
GAP = "has a gap in its message pool (a line claims index 1, but 0 message entries have been read)"
EVIL = "\x1b]0;PWNED\x07\x1b[31m\u202e\x9b2Jx"
HARMFUL = set("\x1b\x07\u202e\x9b")


class Told(NamedTuple):
    """What a command ended with and said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it said as JSON."""
        return json.loads(self.out)


Run: TypeAlias = Callable[..., Told]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `sessionlab gg` with arguments, as the installed command does."""

    def gg(*arguments: object) -> Told:
        monkeypatch.setattr(sys, "argv", ["sessionlab", "gg", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return Told(ended.value.code, *capsys.readouterr())

    return gg


def _put(folder: Path, place: str, data: bytes = WHOLE) -> Path:
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_bytes(data)
    return folder / place


@pytest.mark.parametrize(
    ("place", "source", "target"),
    [
        (JOURNAL, ".", RECORD),
        (JOURNAL, JOURNAL, RECORD),
        (JOURNAL, ".gg/../.gg/replay.ndjson", RECORD),
        (f"implementation/{JOURNAL}", ".", RECORD),
        (f"implementation/{JOURNAL}", "implementation", RECORD),
        (f"implementation/{JOURNAL}", f"implementation/{JOURNAL}", RECORD),
        ("implementation/replay.ndjson", "implementation/replay.ndjson", RECORD),
        ("copies/seven.ndjson", "copies/seven.ndjson", f"copies/{RECORD}"),
    ],
)
@pytest.mark.parametrize("here", [False, True], ids=["by-path", "from-there"])
def test_where_the_record_goes(
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    source: str,
    target: str,
    here: bool,
) -> None:
    """To the root of the run, whichever way the journal is named; never into the tree that the model made."""
    _put(tmp_path, place)
    if here:
        monkeypatch.chdir(tmp_path)
    told = run("assemble", source if here else tmp_path / source)
    assert (told.code, told.err) == (0, "")
    assert told.out.endswith(f"2 entries, complete, {(tmp_path / target).stat().st_size:,} bytes\n")
    assert len(json.loads(unpacked(tmp_path / target))["entries"]) == 2
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / target]
    assert not (tmp_path / place).exists()
    assert not list(tmp_path.rglob(".gg"))


def test_two_journals(tmp_path: Path, run: Run) -> None:
    """The journal of the workspace itself comes before that of a tree collected in it, which is left alone."""
    _put(tmp_path, JOURNAL)
    other = _put(tmp_path, f"implementation/{JOURNAL}", REFUSED)
    assert run("assemble", tmp_path).code == 0
    assert other.read_bytes() == REFUSED


def test_the_journal_is_kept_on_request(tmp_path: Path, run: Run) -> None:
    """With --keep-journal it stays as it is."""
    log = _put(tmp_path, JOURNAL)
    assert run("assemble", tmp_path, "--keep-journal").code == 0
    assert log.read_bytes() == WHOLE
    assert (tmp_path / RECORD).exists()


def test_the_record_by_name(tmp_path: Path, run: Run) -> None:
    """With -o it goes there, into folders that are made; something else in the journal's folder keeps that folder."""
    _put(tmp_path, JOURNAL)
    note = _put(tmp_path, ".gg/note", b"mine")
    assert run("assemble", tmp_path, "-o", tmp_path / "a" / "b" / "seven.json.gz").code == 0
    assert (tmp_path / "a" / "b" / "seven.json.gz").exists()
    assert not (tmp_path / RECORD).exists()
    assert list(note.parent.iterdir()) == [note]


@pytest.mark.parametrize("out", ["implementation/x.json.gz", "implementation/a/b/x.json.gz", "a/../implementation/x"])
def test_no_record_in_the_models_tree(tmp_path: Path, run: Run, out: str) -> None:
    """A record inside `implementation/` is wrong use: nothing is made there, and the journal stays."""
    log = _put(tmp_path, f"implementation/{JOURNAL}")
    (tmp_path / "a").mkdir()
    told = run("assemble", tmp_path, "-o", tmp_path / out)
    assert told.code == 2
    assert "never written inside `implementation/`" in told.err
    assert log.read_bytes() == WHOLE
    assert sorted(path.name for path in (tmp_path / "implementation").iterdir()) == [".gg"]


def test_no_record_in_the_models_tree_through_a_link(tmp_path: Path, run: Run) -> None:
    """The same where a link leads there."""
    log = _put(tmp_path, f"implementation/{JOURNAL}")
    (tmp_path / "way").symlink_to(tmp_path / "implementation")
    assert run("assemble", tmp_path, "-o", tmp_path / "way" / "x.json.gz").code == 2
    assert log.read_bytes() == WHOLE


def test_assembled_as_json(tmp_path: Path, run: Run) -> None:
    """The record's place, what is in it, and why it is short in the format's own words."""
    _put(tmp_path, JOURNAL, journal(*S, end(2, reason="byte_ceiling", lastSeq=1, bytes=4096)))
    told = run("assemble", tmp_path, "--json").json
    assert told == {
        "record": str(tmp_path / RECORD),
        "entries": 2,
        "truncation": {"reason": "byte_ceiling", "lastSeq": 1, "bytes": 4096},
        "compressed_bytes": (tmp_path / RECORD).stat().st_size,
        "warning": None,
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (journal(*S), "2 entries, short (session_killed, entries up to seq 1)"),
        (journal(HEADER), "0 entries, short (session_killed, no entry)"),
        (journal(HEADER, ROOT, message(0), call(0, 0)) + b"{", "1 entry, short (corrupt_journal, entries up to seq 0)"),
    ],
)
def test_a_short_record(tmp_path: Path, run: Run, data: bytes, words: str) -> None:
    """A record that is short is made all the same, and says so."""
    _put(tmp_path, JOURNAL, data)
    told = run("assemble", tmp_path)
    assert told.code == 0
    assert words in told.out


def test_a_refused_journal(tmp_path: Path, run: Run) -> None:
    """Exit code 1, the sentence of the specification, no record, the journal where it was; an earlier record, too."""
    log = _put(tmp_path, JOURNAL, REFUSED)
    _put(tmp_path, RECORD, b"earlier")
    told = run("assemble", tmp_path)
    assert (told.code, told.out) == (1, "")
    assert f"gg capture journal `{log}` {GAP} (line 3)" in told.err
    assert log.read_bytes() == REFUSED
    assert (tmp_path / RECORD).read_bytes() == b"earlier"
    told = run("assemble", tmp_path, "--json")
    assert told.code == 1
    assert told.json == {"refused": "gap", "line": 3, "detail": f"gg capture journal `{log}` {GAP}"}


def test_a_refusal_that_no_line_decided(tmp_path: Path, run: Run) -> None:
    """Where the end of the file decided it, no line is named."""
    _put(tmp_path, JOURNAL, b"")
    assert run("assemble", tmp_path, "--json").json["line"] is None
    assert "(line" not in run("assemble", tmp_path).err


@pytest.mark.parametrize("arguments", [["nowhere"], ["."], [".", "-o", "a-folder"], [], [".", "--keep"]])
def test_wrong_use_of_assemble(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """A source that is not there, one without a journal, a record that would be a folder, unknown options: code 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-folder").mkdir()
    told = run("assemble", *arguments)
    assert (told.code, told.out) == (2, "")
    assert "Traceback" not in told.err
    assert [path.name for path in tmp_path.iterdir()] == ["a-folder"]


def test_a_journal_that_cannot_be_removed(tmp_path: Path, run: Run) -> None:
    """The record stands, exit code 0, and a warning says that the journal stays; in JSON it is a member."""
    (tmp_path / "implementation").mkdir()
    with small_volume(tmp_path / "implementation" / ".gg") as disk:
        log = _put(disk, "replay.ndjson")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        warning = f"{log}: the journal could not be removed: Read-only file system"
        told = run("assemble", tmp_path)
        assert (told.code, told.err) == (0, f"sessionlab: {warning}\n")
        assert run("assemble", tmp_path, "--json").json["warning"] == warning
        assert log.read_bytes() == WHOLE
    assert len(json.loads(unpacked(tmp_path / RECORD))["entries"]) == 2


def _salvage(*arguments: object) -> Told:
    done = subprocess.run(
        [sys.executable, "-m", "sessionlab", "gg", "salvage", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return Told(done.returncode, done.stdout, done.stderr)


def test_salvage(tmp_path: Path) -> None:
    """The record's place on stdout, and the workspace as it was; or exit code 1 and why, in one sentence."""
    workspace, target = tmp_path / "workspace", tmp_path / "run"
    log = _put(workspace, JOURNAL, journal(*S))
    assert _salvage(workspace, target) == (0, f"{target / RECORD}\n", "")
    assert log.read_bytes() == journal(*S)
    log.write_bytes(REFUSED)
    told = _salvage(workspace, tmp_path / "other")
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("sessionlab: ")
    assert GAP in told.err
    assert len(told.err.splitlines()) == 1
    told = _salvage(tmp_path / "nowhere", tmp_path / "third")
    assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)


CLIPPED = {"text": 1, "originalBytes": 10, "originalId": "84d89877f0d4041efb6bf91a16f0248f"}
SOUND = record(
    agents=[ROOT["agent"]], messages=[message(0)["message"]], texts=["a\n", "6789"], clips=[CLIPPED],
    entries=[call(0, 0)["entry"]],
)  # fmt: skip
FAULTY = record(agents=[ROOT["agent"]], entries=[frame(0)["entry"]])


def test_verify_what_holds(tmp_path: Path, run: Run) -> None:
    """Exit code 0: what the file is, its figures, its tails."""
    path = _put(tmp_path, RECORD, gzip.compress(SOUND))
    told = run("verify", path)
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines() == [
        f"{path}: holds together",
        "  record of session run_1: 1 agent, 1 entry, 1 message, 0 toolsets, 2 texts, 1 clip",
        "  addresses: 1 match, 0 differ, 0 beyond checking (an image was taken out)",
        "  complete",
        "  tails only: text 1 (4 of 10 bytes)",
    ]
    found = run("verify", path, "--json").json
    assert (found["path"], found["kind"], found["ok"], found["findings"]) == (str(path), "record", True, [])
    assert set(found) == {
        "path", "kind", "session_id", "ok", "findings", "counts", "addresses", "truncation", "clips", "outputs",
    }  # fmt: skip


def test_verify_what_does_not(tmp_path: Path, run: Run) -> None:
    """Exit code 1 with what is wrong; what is no session at all is wrong, too."""
    path = _put(tmp_path, "replay.json", FAULTY)
    told = run("verify", path)
    assert told.code == 1
    assert "  fault entry 0: orphan: a frame before any model call of its agent" in told.out
    told = run("verify", path, "--json")
    assert (told.code, [one["kind"] for one in told.json["findings"]]) == (1, ["orphan"])
    assert run("verify", _put(tmp_path, "kite.html", b"<p>kite</p>")).code == 1


def test_verify_a_folder(tmp_path: Path, run: Run) -> None:
    """All files below it, each with its answer and a count; one that does not hold makes it exit code 1."""
    good, other = _put(tmp_path, f"a/{RECORD}", gzip.compress(SOUND)), _put(tmp_path, f"b/{JOURNAL}", A)
    told = run("verify", tmp_path)
    assert told.code == 0
    assert told.out.splitlines()[-1] == "2 files: all hold together"
    bad = _put(tmp_path, "c/replay.json", FAULTY)
    told = run("verify", tmp_path)
    assert told.code == 1
    assert told.out.splitlines()[-1] == "3 files: 1 do not hold together"
    told = run("verify", tmp_path, "--json")
    assert (told.code, [one["path"] for one in told.json]) == (1, [str(good), str(other), str(bad)])


def test_wrong_use_of_verify(tmp_path: Path, run: Run) -> None:
    """Nothing there, or nothing of gg's: exit code 2 and a sentence."""
    _put(tmp_path, "kite.html", b"<p>kite</p>")
    for told, words in (
        (run("verify", tmp_path / "nowhere"), "no such file or folder"),
        (run("verify", tmp_path), "neither a session record nor a journal"),
        (run("verify", tmp_path / "kite.html", "--output", tmp_path / "nowhere"), "nowhere"),
    ):
        assert (told.code, told.out) == (2, "")
        assert words in told.err
        assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("output", "code", "words"),
    [
        (b"a\n", 0, "text 0 is the whole of the output in hand (2 bytes)"),
        (b"0123456789", 0, "text 1 is the tail of the output in hand (10 bytes)"),
        (b"another 6789", 1, "text 1 ends like the output in hand, but is the tail of another one, of 10 bytes"),
        (b"nothing", 1, "the output in hand is no text of this session, nor does one that was clipped end it"),
    ],
)
def test_verify_an_output(tmp_path: Path, run: Run, output: bytes, code: int, words: str) -> None:
    """An output in hand that is none of the session's is a difference: exit code 1."""
    path, held = _put(tmp_path, "replay.json", SOUND), _put(tmp_path, "output", output)
    told = run("verify", path, "--output", held)
    assert told.code == code
    assert told.out.splitlines()[-1] == f"  {words}"
    assert run("verify", path, "--output", held, "--json").code == code


def test_many_findings(tmp_path: Path, run: Run) -> None:
    """Twenty are printed and the rest counted; as JSON there are all."""
    lines = [HEADER, ROOT, *(text(n, "same") for n in range(31)), end(0)]
    path = _put(tmp_path, "replay.ndjson", journal(*lines))
    told = run("verify", path)
    assert told.out.count("repeated_text") == 20
    assert told.out.splitlines()[-1] == "  and 10 more; --json tells them all"
    assert len(run("verify", path, "--json").json["findings"]) == 30


def test_what_a_session_says_does_not_command_the_terminal(tmp_path: Path, run: Run) -> None:
    """Escapes in ids, addresses, members and providers are shown as signs."""
    evil = {
        "id": EVIL,
        "body": {"role": "user"},
    }
    row = agent(EVIL, {"type": "spawn", "parent": f"{EVIL}2", "ordinal": 0}, profileId=EVIL, profile=EVIL)["agent"]
    one = record(
        sessionId=EVIL, agents=[row], messages=[evil], entries=[frame(0, 0, agent=f"{EVIL}3")["entry"]],
        seed={"prompt": "", "modelProviders": {EVIL: EVIL}}, **{EVIL: 1},
    )  # fmt: skip
    told = run("verify", _put(tmp_path, "replay.json", one))
    assert told.code == 1
    assert told.out.count("PWNED") > 4
    assert not HARMFUL & set(told.out + told.err)


@pytest.mark.parametrize("command", ["assemble", "refused", "nowhere", "verify", "wrong"])
def test_names_of_files_do_not_command_the_terminal(tmp_path: Path, run: Run, command: str) -> None:
    """The same of the names of files and folders."""
    place = tmp_path / EVIL
    place.mkdir()
    if command in {"assemble", "refused"}:
        _put(place, JOURNAL, WHOLE if command == "assemble" else REFUSED)
        told = run("assemble", place)
    elif command == "nowhere":
        told = run("assemble", place)
    else:
        told = run("verify", _put(place, "replay.json", SOUND) if command == "verify" else place)
    assert "PWNED" in told.out + told.err
    assert not HARMFUL & set(told.out + told.err)


def test_names_of_workspaces_do_not_command_the_terminal(tmp_path: Path) -> None:
    """The same of what salvage has to say, which speaks through the log."""
    workspace = tmp_path / EVIL
    _put(workspace, JOURNAL, REFUSED)
    told = _salvage(workspace, workspace / "run")
    assert (told.code, told.out) == (1, "")
    assert "PWNED" in told.err
    assert not HARMFUL & set(told.err)


def test_a_closed_pipe(tmp_path: Path) -> None:
    """A reader that goes away ends the command without a traceback."""
    path = _put(tmp_path, "replay.ndjson", journal(HEADER, ROOT, *(text(n, "same") for n in range(9000)), end(0)))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "sessionlab", "gg", "verify", path, "--json"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert "Traceback" not in done.stderr
