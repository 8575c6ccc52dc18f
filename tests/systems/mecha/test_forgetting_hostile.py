"""Names, links and headers that lead elsewhere: nothing outside of the stores is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessionlab.errors import UnknownName, WrongUse
from sessionlab.systems.mecha.forgetting import forget, places, unfinished
from sessionlab.systems.mecha.forgetting.search import BLOCK_BYTES
from tests.systems.mecha.forgetting.home import (
    CANARY,
    GONE,
    STAYS,
    AnsweringGraph,
    delete,
    holding,
    row,
    small,
    transcript,
    write,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the mecha home is to be."""
    return tmp_path / "home"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of somebody else."""
    return write(tmp_path / "elsewhere" / "theirs.txt", "theirs", GONE)


def test_workspace_that_is_a_link_out_of_the_home_is_not_followed(home: Path, outside: Path) -> None:
    """The header names a place below `work` that leads out: what it leads to is its owner's, and the link stays."""
    link = home / "work" / "web" / "heron"
    link.parent.mkdir(parents=True)
    link.symlink_to(outside.parent)
    report = delete(small(home, link))
    assert report.complete
    assert outside.read_text() == f"theirs\n{GONE}\n"
    assert link.is_symlink()
    assert any("they are yours" in sentence for sentence in report.kept)


def test_links_inside_the_workspace_are_removed_and_what_they_lead_to_stays(home: Path, outside: Path) -> None:
    """The workspace goes; a link in it is no way out."""
    workspace = home / "work" / "web" / "heron"
    workspace.mkdir(parents=True)
    (workspace / "out").symlink_to(outside.parent)
    assert delete(small(home, workspace)).complete
    assert not workspace.exists()
    assert outside.exists()


@pytest.mark.parametrize(
    "told", ["work", "work/web/..", "", "/", ".", "..", "relative/place", "/etc", "work/../sessions"]
)
def test_no_header_has_anything_removed_but_a_folder_below_work(home: Path, told: str) -> None:
    """The work directory itself, what is above it, and what is no full path, stay."""
    write(home / "work" / "web" / "wren" / "file.txt", "mine")
    where = small(home, f"{home}/{told}" if told.startswith("work") else told)
    before = sorted(path for path in home.rglob("*") if GONE not in path.name)
    report = delete(where)
    assert report.complete
    assert sorted(path for path in home.rglob("*") if GONE not in path.name) == before
    assert report.kept or report.traces


def test_workspace_with_another_sessions_workspace_in_it_is_kept(home: Path) -> None:
    """Removing it would remove that one too."""
    where = small(home, home / "work" / "web")
    transcript(home, STAYS, home / "work" / "web" / "wren", "mine")
    write(home / "work" / "web" / "wren" / "file.txt", "mine")
    report = delete(where)
    assert (home / "work" / "web" / "wren" / "file.txt").exists()
    assert any("shared with 1 other" in sentence for sentence in report.kept)


def test_workspace_that_a_set_aside_session_names_is_kept(home: Path) -> None:
    """It is not deleted yet, and says where its files are."""
    where = small(home)
    other = transcript(home, STAYS, home / "work" / "web" / "alone", "mine")
    other.rename(other.with_name(f"{STAYS}.jsonl.forgetting"))
    write(home / "work" / "web" / "alone" / "file.txt", "either's")
    delete(where)
    assert (home / "work" / "web" / "alone" / "file.txt").exists()
    assert unfinished(where.sessions) == [STAYS]
    assert delete(where, STAYS).complete
    assert not (home / "work" / "web" / "alone").exists()


def test_spilled_output_of_which_nobody_says_whose_it_is_is_kept_and_said(home: Path) -> None:
    """How mecha names a spill directory is not known to the last: what no header accounts for may be the session's."""
    where = small(home)
    write(home / "spill" / "0f3a" / "out.txt", CANARY)
    write(home / "spill" / GONE / "out.txt", CANARY)
    report = delete(where)
    assert (report.complete, report.exit_code) == (True, 1)
    assert [("0f3a" in sentence, str(home / "spill") in sentence) for sentence in report.traces] == [(True, True)]
    assert not (home / "spill" / GONE).exists()


def test_search_names_files_by_name_and_by_bytes_wherever_they_stand(home: Path) -> None:
    """A marker holds the id in its name alone; it may stand across two blocks of a file; locks are passed over."""
    where = small(home)
    named = write(home / "taskruns" / f"{GONE}.marker", "empty")
    folder = write(home / "remote" / GONE / "x.json", "{}").parent
    across = write(home / "remote" / "large.bin")
    across.write_bytes(b"x" * (BLOCK_BYTES - 5) + GONE.encode() + b"y" * 9)
    link = home / "remote" / "link"
    link.symlink_to(f"/nowhere/{GONE}")
    write(home / "remote" / ".lock", GONE)
    write(home / "remote" / ".git" / "HEAD", GONE)
    report = delete(where)
    assert [sentence.partition(" still names")[0] for sentence in report.traces] == [
        str(path) for path in (folder, across, link, named)
    ]


def test_an_item_that_is_a_link_is_neither_followed_nor_passed_over(home: Path, outside: Path) -> None:
    """What it leads to stays as it is; the report names the link."""
    where = small(home)
    outside.write_text(row(session_id=GONE))
    link = where.at("questions") / "q.json"
    link.parent.mkdir()
    link.symlink_to(outside)
    report = delete(where)
    assert (report.complete, outside.read_text()) == (True, row(session_id=GONE))
    assert any(str(link) in sentence and "not followed" in sentence for sentence in report.traces)


@pytest.mark.parametrize(
    "name", ["appraisals/scores.jsonl", "learning/rules", "sessions/.archived", "messages/.agents"]
)
def test_a_store_file_or_folder_that_is_a_link_is_an_error_of_its_store(home: Path, outside: Path, name: str) -> None:
    """It would be passed over; the transcript waits until what it leads to is in its place."""
    where = small(home)
    write(where.at("learning") / "reflections.jsonl", row(id="refl-1", session_id=GONE))
    link = home / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside.parent)
    write(outside.parent / GONE, "theirs")
    report = delete(where)
    assert not report.complete
    assert any(str(link) in error and "not followed" in error for error in report.errors)
    assert (outside.parent / GONE).exists()
    link.unlink()
    assert delete(where).complete


def test_a_store_directory_that_is_a_link_is_the_store(home: Path, tmp_path: Path) -> None:
    """Its owner moved it: it is purged and searched where it is."""
    where = small(home)
    write(tmp_path / "moved" / "d.json", row(session_id=GONE))
    write(tmp_path / "moved" / "e.json", row(note=f"about {GONE}"))
    (home / "outbox").symlink_to(tmp_path / "moved")
    report = delete(places(home))
    assert where.home == home
    assert dict(report.removed)["outbox"] == 1
    assert any("e.json" in sentence for sentence in report.traces)


def test_a_link_in_place_of_the_transcript_is_refused_and_untouched(home: Path, outside: Path) -> None:
    """Removing the link would not remove what it leads to."""
    where = small(home)
    live = where.sessions / f"{GONE}.jsonl"
    live.rename(outside)
    live.symlink_to(outside)
    with pytest.raises(WrongUse, match="found a link"):
        delete(where)
    assert live.is_symlink()


def test_a_transcript_under_another_sessions_name_is_refused(home: Path) -> None:
    """The id in the header decides, not the file name."""
    where = small(home)
    (where.sessions / f"{GONE}.jsonl").rename(where.sessions / f"{STAYS}.jsonl")
    with pytest.raises(WrongUse, match=GONE):
        delete(where, STAYS)
    assert delete(where, GONE).complete
    assert holding(home, GONE) == []


def test_an_unknown_id_is_an_error_that_looks_for_nothing_alike(home: Path) -> None:
    """A whole id of no session changes nothing."""
    where = small(home)
    with pytest.raises(UnknownName, match="whole id"):
        forget(where, GONE[:-2] + "00", graph=AnsweringGraph())
    assert (where.sessions / f"{GONE}.jsonl").exists()
    with pytest.raises(UnknownName):
        forget(places(home / "nowhere"), GONE, graph=AnsweringGraph())


def test_a_short_id_takes_only_what_is_exactly_its_own(home: Path) -> None:
    """An id such as `a` is in every file; rows go by equality, log lines by whole words."""
    transcript(home, "a", home / "work" / "a", "hello")
    ledger = write(home / "appraisals" / "scores.jsonl", row(session_id="a"), row(session_id="ab"), row(note="a"))
    write(home / "learning" / "mined.jsonl", "a", "ab", " a ")
    write(home / "learning" / "logs" / "n.log", "took a", "taken", "a-b")
    report = delete(places(home), "a")
    assert report.complete
    assert ledger.read_text() == row(session_id="ab") + "\n" + row(note="a") + "\n"
    assert (home / "learning" / "mined.jsonl").read_text() == "ab\n"
    assert (home / "learning" / "logs" / "n.log").read_text() == "taken\na-b\n"


@pytest.mark.parametrize(
    ("config", "words"),
    [("[outbox", "expected TOML"), ('[outbox]\ndir = "drafts"', "absolute"), ("[messages]\ndir = 7", "absolute")],
)
def test_a_configuration_that_cannot_be_followed_is_refused(home: Path, config: str, words: str) -> None:
    """The store it moves would be passed over, and the report would be clean."""
    write(home / "config.toml", config)
    with pytest.raises(WrongUse, match=words) as raised:
        places(home)
    assert "--store" in str(raised.value)
    moved = {name: home / name for name in ("outbox", "messages")}
    assert places(home, moved=moved).at("outbox") == home / "outbox"
