"""The post-run stage and salvage, A18 to A21 and C24 of section 8: a collected tree in, a record out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from sessionlab.errors import JournalRefused
from sessionlab.systems import gg
from tests.formats.gg_examples import HEADER, ROOT, end, journal
from tests.systems.gg.journals import JOURNAL, RECORD, S, lines_of, root_of, tree, unpacked, writer, written


def test_a18_another_harness(tmp_path: Path) -> None:
    """A18: a run of another harness gets no record, though a journal lies there; the report is empty."""
    place, run = tree(tmp_path, journal(*S, end(2))), tmp_path / "run"
    report = gg.session_record(run, place, harness="other")
    assert (report.artifact, report.assembled, report.warning) == (None, None, None)
    assert not (run / RECORD).exists()
    assert (place / JOURNAL).read_bytes() == journal(*S, end(2))


def test_a19_no_journal(tmp_path: Path) -> None:
    """A19: a run of gg without a journal is no error; the report is empty."""
    place, run = tmp_path / "implementation", tmp_path / "run"
    place.mkdir()
    report = gg.session_record(run, place)
    assert (report.artifact, report.assembled, report.warning) == (None, None, None)
    assert not (run / RECORD).exists()


def test_a20_the_record_of_a_run(tmp_path: Path) -> None:
    """A20: the report names the record, which has the two entries; the journal is gone from the tree."""
    place, run = tree(tmp_path, journal(*S, end(2))), tmp_path / "run"
    (place / "index.html").write_text("<p>kite</p>")
    report = gg.session_record(run, place)
    assert (report.artifact, report.warning) == (run / RECORD, None)
    assert report.assembled is not None
    assert (report.assembled.entries, report.assembled.truncation) == (2, None)
    assert len(json.loads(unpacked(run / RECORD))["entries"]) == 2
    assert not (place / JOURNAL).exists()
    assert (place / "index.html").read_text() == "<p>kite</p>"


def test_a20_the_journal_may_be_kept(tmp_path: Path) -> None:
    """A20, on request: the record is written and the journal stays."""
    place, run = tree(tmp_path, journal(*S, end(2))), tmp_path / "run"
    report = gg.session_record(run, place, keep_journal=True)
    assert (report.artifact, report.warning) == (run / RECORD, None)
    assert (place / JOURNAL).read_bytes() == journal(*S, end(2))


def test_a20_a_journal_that_cannot_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 4.6: when removal fails the artifact stands, a warning is given, and the journal stays."""
    place, run = tree(tmp_path, journal(*S, end(2))), tmp_path / "run"
    remove = os.unlink

    def unlink(path: Any, *args: Any, **options: Any) -> None:
        if Path(path).name == "replay.ndjson":
            raise PermissionError(13, "not yours", str(path))
        remove(path, *args, **options)

    monkeypatch.setattr(os, "unlink", unlink)
    monkeypatch.setattr(os, "remove", unlink)
    report = gg.session_record(run, place)
    assert report.artifact == run / RECORD
    assert "not yours" in (report.warning or "")
    assert (place / JOURNAL).exists()
    assert len(json.loads(unpacked(run / RECORD))["entries"]) == 2


def test_a21_a_refused_journal_stays(tmp_path: Path) -> None:
    """A21: what is not a journal is refused for want of a header, and lies where it lay."""
    place, run = tree(tmp_path, b"not a journal\n"), tmp_path / "run"
    with pytest.raises(JournalRefused, match="no header line"):
        gg.session_record(run, place)
    assert (place / JOURNAL).read_bytes() == b"not a journal\n"
    assert not (run / RECORD).exists()


def _until_it_says(path: Path, told: bytes) -> None:
    """Wait until a journal that is being written holds ``told``."""
    limit = monotonic() + 10
    while not (path.exists() and told in path.read_bytes()):
        assert monotonic() < limit
        sleep(0.01)


def test_c24_a_hung_run_is_salvaged_before_it_is_stopped(tmp_path: Path) -> None:
    """C24: session, salvage, stop: the record has what was written and says killed; the session notices nothing."""
    workspace, run = tmp_path / "workspace", tmp_path / "run"
    workspace.mkdir()
    recorder = writer(workspace)
    root = root_of(recorder)
    root.clock(elapsed_ms=12)
    _until_it_says(workspace / JOURNAL, b'"elapsedMs":12')
    assert gg.salvage(workspace, run) == run / RECORD
    document = json.loads(unpacked(run / RECORD))
    assert document["truncation"] == {"reason": "session_killed", "lastSeq": 0}
    assert [made["elapsedMs"] for made in document["entries"]] == [12]
    root.clock(elapsed_ms=40)
    assert recorder.finish().landed
    assert [line["type"] for line in lines_of(written(workspace))][-3:] == ["entry", "entry", "end"]


@pytest.mark.parametrize(
    ("data", "truncation"),
    [
        (journal(HEADER), {"reason": "session_killed"}),
        (journal(HEADER, ROOT) + b'{"type":"mess', {"reason": "corrupt_journal"}),
    ],
    ids=["only-the-header", "torn"],
)
def test_c24_a_run_that_hung_at_once(tmp_path: Path, data: bytes, truncation: dict[str, Any]) -> None:
    """C24: with only the header written the record has no entries, and says how the journal ended."""
    workspace, run = tree(tmp_path, data), tmp_path / "run"
    assert gg.salvage(workspace, run) == run / RECORD
    document = json.loads(unpacked(run / RECORD))
    assert (document["entries"], document["truncation"]) == ([], truncation)
    assert (workspace / JOURNAL).read_bytes() == data
    assert [path.name for path in run.iterdir()] == [RECORD]


@pytest.mark.parametrize("data", [None, b"", b"not a journal\n"], ids=["no-journal", "empty", "refused"])
def test_c24_a_salvage_that_fails_says_nothing(tmp_path: Path, data: bytes | None) -> None:
    """Section 4.7: every failure is swallowed; the sign is the absent record."""
    workspace = tmp_path / "nowhere" if data is None else tree(tmp_path, data)
    run = tmp_path / "run"
    assert gg.salvage(workspace, run) is None
    assert not run.exists() or list(run.iterdir()) == []
