"""A store looked at while another process writes, creates and takes away: nothing is raised, nothing is made up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessionlab.errors import Refused
from sessionlab.systems.mecha import Store, load, peek
from tests.conftest import ROOT
from tests.formats.mecha_lines import message
from tests.systems.mecha.transcripts import header, stored

WRITER = """
import sys
from sessionlab.systems.mecha import Store, TranscriptWriter
store, said = Store(sys.argv[1]), {"role": "user", "content": [{"type": "text", "text": "tern " * 200}]}
for number in range(40):
    writer = TranscriptWriter.create(store, provider="shore", model="m", workspace="/", title=str(number))
    for length in range(1, 6):
        writer.record([said] * length)
    if number % 2:
        writer.path.rename(f"{writer.path}.forgetting")
"""


def test_a_header_that_is_half_written_is_none_yet(tmp_path: Path) -> None:
    """At every cut of the line the file is skipped and counted; whole, it is listed."""
    path = tmp_path / "x.jsonl"
    whole = header("x")
    for cut in range(len(whole) - 1):
        path.write_bytes(whole[:cut])
        found = Store(tmp_path).listing()
        assert (len(found.sessions), found.skipped) == (0, 1)
    for cut in (len(whole) - 1, len(whole)):
        path.write_bytes(whole[:cut])
        assert len(Store(tmp_path).listing().sessions) == 1


def test_a_last_line_that_is_half_written_is_not_counted_in(tmp_path: Path) -> None:
    """8.3: everything before it counts, at every cut."""
    path = stored(tmp_path, "x")
    whole = message("user", "first") + b"\n"
    torn = message("assistant", "second \u2028 third")
    head = path.read_bytes() + whole
    for cut in range(len(torn)):
        path.write_bytes(head + torn[:cut])
        loaded = load(path)
        assert (len(loaded.messages), loaded.unreadable) == (1, min(cut, 1))
        assert len(Store(tmp_path).listing().sessions) == 1
    path.write_bytes(head + torn)
    assert len(load(path).messages) == 2


def test_a_file_that_goes_away_before_it_is_opened_was_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listed by the directory, gone when it is opened: neither a session nor a file without a header."""
    stored(tmp_path, "stays")
    going = stored(tmp_path, "goes")
    opened = os.open

    def vanishing(path: str, flags: int, mode: int = 0o777) -> int:
        if path == str(going):
            going.unlink()
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", vanishing)
    found = Store(tmp_path).listing()
    assert ([one.id for one in found.sessions], found.skipped) == (["stays"], 0)


def test_a_directory_that_goes_away_holds_nothing(tmp_path: Path) -> None:
    """The store is looked at anew each time."""
    store = Store(tmp_path / "sessions")
    path = stored(store.folder, "x")
    assert len(store.listing().sessions) == 1
    path.unlink()
    store.folder.rmdir()
    assert store.listing().sessions == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file(tmp_path: Path) -> None:
    """A pipe is not waited at, a link that leads nowhere is counted, one that leads to a transcript is followed."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "none")
    (tmp_path / "linked.jsonl").symlink_to(stored(tmp_path / "elsewhere", "there"))
    found = Store(tmp_path).listing()
    assert ([one.id for one in found.sessions], found.skipped) == (["there"], 2)


def test_a_headerless_tail_is_no_session(tmp_path: Path) -> None:
    """18.1: a recreated tail is not listed, and loading it says that there is no session header."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(message("user", "hi") + b"\n")
    assert peek(path) is None
    with pytest.raises(Refused, match="no session header"):
        load(path)


def test_while_another_process_writes(tmp_path: Path) -> None:
    """Listing, looking up and loading beside a writer that creates, appends and sets aside."""
    store = Store(tmp_path / "sessions")
    writing = subprocess.Popen([sys.executable, "-c", WRITER, str(store.folder)], cwd=ROOT)
    looked = 0
    while writing.poll() is None or not looked:
        looked += 1
        for one in store.listing().sessions:
            assert one.path.name == f"{one.id}.jsonl"
            try:
                loaded = load(one.path)
            except FileNotFoundError:  # set aside since
                continue
            assert (loaded.header.id, len(loaded.messages) <= 5) == (one.id, True)
    assert writing.returncode == 0
    found = store.listing()
    assert sorted(int(one.title or -1) for one in found.sessions) == list(range(0, 40, 2))
    assert (found.skipped, {len(load(one.path).messages) for one in found.sessions}) == (0, {5})
