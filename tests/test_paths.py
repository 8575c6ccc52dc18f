"""What a user points at becomes a list of files, each once."""

from __future__ import annotations

import io
from pathlib import Path

import fsspec
import pytest

from sessionlab.errors import LoadError
from sessionlab.paths import find, known_stores


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with hidden folders, a repository, a set-aside transcript."""
    for name in ("a.jsonl", "deep/er/b.jsonl", ".gg/replay.ndjson", ".git/objects/c", "d.jsonl.forgetting"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def _names(tree: Path, *paths: object) -> list[str]:
    return [f.uri.removeprefix(f"{tree}/") for f in find(paths)]  # type: ignore[arg-type]


def test_a_folder_gives_its_files_at_any_depth(tree: Path) -> None:
    """Hidden folders too (gg keeps its journal in one); not repositories, not what is being forgotten."""
    assert _names(tree, tree) == [".gg/replay.ndjson", "a.jsonl", "deep/er/b.jsonl"]


def test_globs_home_and_overlaps(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`**`, `~` and paths that overlap: each file once."""
    monkeypatch.setenv("HOME", str(tree))
    assert _names(tree, "~/a.jsonl", tree / "**" / "*.jsonl", tree) == [
        ".gg/replay.ndjson",
        "a.jsonl",
        "deep/er/b.jsonl",
    ]


def test_a_file_named_outright_is_taken_whatever_its_ending(tree: Path) -> None:
    """Who names a set-aside transcript means it."""
    assert _names(tree, tree / "d.jsonl.forgetting") == ["d.jsonl.forgetting"]


def test_what_is_not_there_is_an_error_by_name(tree: Path) -> None:
    """A typo never reads as an empty corpus."""
    with pytest.raises(LoadError, match=r"no file at '.*nowhere': expected a file, a folder, a glob that matches"):
        find([str(tree / "nowhere")])
    with pytest.raises(LoadError, match="no file at"):
        find([str(tree / "*.nothing")])


def test_an_empty_folder_is_no_error(tmp_path: Path) -> None:
    """A store may be empty."""
    assert find([tmp_path]) == []


def test_open_files_are_read_where_they_are() -> None:
    """Any binary file object will do; its name, if it has one, is its uri."""
    [found] = find([io.BytesIO(b"x")])
    assert found.uri == "stream:0"
    assert found.open().read() == b"x"


def test_urls_go_through_fsspec() -> None:
    """A folder, a glob and a file of a remote store; here fsspec's own in-memory one."""
    fs = fsspec.filesystem("memory")
    for name in ("/store/x.jsonl", "/store/sub/y.jsonl"):
        fs.pipe_file(name, name.encode())
    try:
        found = find(["memory://store"])
        assert [f.uri for f in found] == ["memory:///store/sub/y.jsonl", "memory:///store/x.jsonl"]
        assert [f.size_bytes for f in found] == [18, 14]
        assert found[1].open().read() == b"/store/x.jsonl"
        assert [f.uri for f in find(["memory://store/*.jsonl"])] == ["memory:///store/x.jsonl"]
    finally:
        fs.rm("/store", recursive=True)


def test_known_stores_are_those_that_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment variables of mecha are heeded; a store that is not there is not named."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MECHA_SESSION_DIR", raising=False)
    monkeypatch.delenv("MECHA_HOME", raising=False)
    assert known_stores() == []
    (tmp_path / ".claude/projects").mkdir(parents=True)
    (tmp_path / "elsewhere/sessions").mkdir(parents=True)
    monkeypatch.setenv("MECHA_HOME", str(tmp_path / "elsewhere"))
    assert known_stores() == [str(tmp_path / "elsewhere/sessions"), str(tmp_path / ".claude/projects")]
    monkeypatch.setenv("MECHA_SESSION_DIR", str(tmp_path))
    assert known_stores()[0] == str(tmp_path)


def test_linked_folders_are_followed_once(tmp_path: Path) -> None:
    """A store may be a link, or hold links to folders; one that leads in a circle ends."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.jsonl").write_text("a")
    (tmp_path / "store").mkdir()
    (tmp_path / "store/linked").symlink_to(tmp_path / "real")
    (tmp_path / "store/round").symlink_to(tmp_path / "store")
    assert [f.uri for f in find([tmp_path / "store"])] == [f"{tmp_path}/store/linked/a.jsonl"]
    assert len(find([str(tmp_path / "store/**/*.jsonl")])) == 1


def test_what_cannot_be_looked_at_is_found_all_the_same(tmp_path: Path) -> None:
    """A link that leads nowhere or to itself, a folder that may not be read: they do not stop the walk."""
    (tmp_path / "good.jsonl").write_text("x")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    names = [Path(f.uri).name for f in find([tmp_path])]
    assert "good.jsonl" in names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["a.jsonl"], r"found list; pass its items one by one: load\(\*paths\)"),
        (iter(["a.jsonl"]), r"pass its items one by one"),
        (3, "found int"),
        (None, "found NoneType"),
        (io.StringIO("x"), "StringIO in text mode; open it with mode 'rb'"),
        ("", "no file at ''"),
    ],
)
def test_what_is_no_path_is_refused_in_words(given: object, words: str) -> None:
    """A list, a number, a text file: told at once, never an empty corpus."""
    with pytest.raises(LoadError, match=words):
        find([given])  # type: ignore[list-item]


def test_a_closed_file_is_refused_in_words(tmp_path: Path) -> None:
    """A file object that was closed cannot be read."""
    (tmp_path / "a").write_bytes(b"x")
    with (tmp_path / "a").open("rb") as stream:
        pass
    with pytest.raises(LoadError, match="closed file"):
        find([stream])


def test_open_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    """Two members of two archives may bear one name: each is a source of its own; each is read from its beginning."""
    (tmp_path / "a").write_bytes(b"one")
    with (tmp_path / "a").open("rb") as first, (tmp_path / "a").open("rb") as second:
        first.read()
        found = find([first, second])
        assert [f.uri for f in found] == [f"stream:{tmp_path}/a", f"stream:{tmp_path}/a#1"]
        assert found[0].open().read() == b"one"


def test_bytes_are_paths_too(tmp_path: Path) -> None:
    """`os.fsencode` gives paths as bytes."""
    (tmp_path / "a").write_bytes(b"one")
    assert [f.uri for f in find([str(tmp_path / "a").encode()])] == [f"{tmp_path}/a"]  # type: ignore[list-item]


def test_an_unknown_scheme_is_refused_in_words() -> None:
    """A URL of no known kind is told, not a traceback of another library."""
    with pytest.raises(LoadError, match="'nothing://x'"):
        find(["nothing://x"])
